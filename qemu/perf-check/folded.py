#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print the stacks of a JSON file, outermost frame first: folded.py KIND FILE

KIND is flamegraph, for what perf's flamegraph script leaves with "-f json", or
convert, for what "perf data convert --to-json" does.
"""

import json
import sys


def flamegraph(node, path=()):
    """The value of a node is its own, without that of its children"""
    if node["v"]:
        yield path, node["v"]
    for child in node["c"]:
        yield from flamegraph(child, path + (child["n"],))


def convert(data):
    """A list of samples, each with its frames, innermost first"""
    for sample in data["samples"]:
        frames = (frame.get("symbol", "[unknown]") for frame in sample["callchain"])
        yield tuple(frames)[::-1], 1


def main():
    """Read, print."""
    kind, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    for frames, count in {"flamegraph": flamegraph, "convert": convert}[kind](data):
        print(";".join(frames), count)


main()
