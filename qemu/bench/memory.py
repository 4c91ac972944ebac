#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Figures of memory: memory.py COUNTS COUNTS_OFF ON OFF OBJECTS

COUNTS is what bench/memory printed, COUNTS_OFF on the kernel without the feature, where
a process that is not unwound keeps something, too.  ON and OFF are what "size" says of the objects of
the kernel with the feature and of the one without.  OBJECTS names those that matter:
the one with the feature also has its tests, and types for BPF.
"""

import json
import sys

from figures import read

NR_LIBRARIES = 1000


def text(path, objects):
    """Bytes of text and data, of "size"'s lines below its heads"""
    total = {"text": 0, "data": 0}
    with open(path, encoding="ascii") as file:
        next(file)
        for line in file:
            code, data, bss, _, _, name = line.split()[:6]
            if name in objects:
                total["text"] += int(code)
                total["data"] += int(data) + int(bss)
    if not total["text"]:
        sys.exit(f"memory.py: {path} has none of the objects")
    return total


def main():
    """Read, print JSON."""
    counts, counts_off, on, off, objects = sys.argv[1:]
    steps = {name: int(count) for name, count in read(counts, {2})}
    steps_off = {name: int(count) for name, count in read(counts_off, {2})}
    with open(objects, encoding="ascii") as file:
        objects = set(file.read().split())
    with_it, without = text(on, objects), text(off, objects)
    json.dump({"unit": "bytes", "process": {
        "before": steps["before"] - steps_off["before"],
        "first_unwind": steps["unwound"],
        "unwound_again": steps["again"],
        "task_deferred": steps["deferred"],
        "first_table": steps["table"],
        "libraries": NR_LIBRARIES,
        "with_libraries": steps["libraries"],
        "per_library": round(steps["libraries"] / NR_LIBRARIES, 1)},
        "kernel": {name: with_it[name] - without[name] for name in with_it}},
        sys.stdout, indent=1)
    print()


main()
