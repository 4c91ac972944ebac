#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Figures of tables from what the guests printed: tables.py ON OFF RANGES

ON and OFF are what bench/idle printed on the kernel with the feature and on the
one without, RANGES is what bench/ranges printed.

Medians of fork and exec (see figures.py) differ from run to run, on one kernel, by
some 0.2 %: they depend on the state that the allocators are in.

A cold frame is one whose range and row are looked up. So there are at least as many
ranges as the chain has functions: of a function that comes again the row is kept.
"""

import json
import math
import sys

from figures import compare, per_frame, read


def by_ranges(path):
    depths, memory = {}, {}
    for kind, nr, *values in read(path, {3, 4}):
        if kind == "memory":
            memory[int(nr)] = int(values[0])
        else:
            depth, count = map(int, values)
            depths.setdefault(int(nr), {}).setdefault(kind, {}) \
                .setdefault(depth, []).append(count)
    result = []
    for nr, counts in sorted(depths.items()):
        point = {"ranges": nr, "per_frame": per_frame(counts["cold"]),
                 "warm": per_frame(counts["warm"])}
        if result:
            last = result[-1]
            point["growth"] = round((point["per_frame"] - last["per_frame"]) /
                                    math.log2(nr / last["ranges"]), 1)
        result.append(point)
    if not result or not memory:
        sys.exit(f"tables.py: {path} lacks figures")
    most = max(memory)
    return result, {"ranges": most, "bytes": memory[most],
                    "per_range": round(memory[most] / most)}


def main():
    on, off, ranges = sys.argv[1:]
    lookups, memory = by_ranges(ranges)
    json.dump({"unit": "instructions", "never_unwound": compare(on, off),
               "by_ranges": lookups, "memory": memory}, sys.stdout, indent=1)
    print()


main()
