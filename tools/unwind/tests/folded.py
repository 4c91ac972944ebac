# SPDX-License-Identifier: GPL-2.0
"""Print the stacks of a JSON file, outermost frame first: what perf's flamegraph script
leaves with "-f json", or "perf data convert --to-json"."""

import json
import sys


def flamegraph(node, path=()):
    """A node's value is its own, without its children's"""
    yield from [path] * node["v"]
    for child in node["c"]:
        yield from flamegraph(child, path + (child["n"],))


with open(sys.argv[1], encoding="utf-8") as file:
    data = json.load(file)
for frames in flamegraph(data) if "c" in data else (
        [frame.get("symbol", "[unknown]") for frame in sample["callchain"]][::-1]
        for sample in data["samples"]):
    print(";".join(frames) + ";")
