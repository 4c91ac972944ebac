#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Figures of memory: memory.py COUNTS ON OFF

COUNTS is what bench/memory printed, ON and OFF are what "size" says of the kernel
with the feature and of the one without.
"""

import json
import sys

from figures import read

NR_LIBRARIES = 1000


def text(path):
    """Bytes of text and data, of "size"'s one line below its heads"""
    with open(path, encoding="ascii") as file:
        heads, sizes = (line.split() for line in file)
    named = dict(zip(heads, sizes))
    return {"text": int(named["text"]), "data": int(named["data"]) + int(named["bss"])}


def main():
    """Read, print JSON."""
    counts, on, off = sys.argv[1:]
    steps = {name: int(count) for name, count in read(counts, {2})}
    with_it, without = text(on), text(off)
    json.dump({"unit": "bytes", "process": {
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
