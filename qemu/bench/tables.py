#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Figures of tables from what the guests printed: tables.py ON OFF RANGES

ON and OFF are what bench/idle printed on the kernel with the feature and on the
one without, RANGES is what bench/ranges printed.

Of an operation there are many batches in each of some runs.  The median of a run
leaves out what ticks do in some batches.  Medians of fork and exec differ from run
to run, on one kernel, by some 0.2 %: they depend on the state that the allocators
are in.  The least of them is compared; the spread says how far they lie apart.
The mean is that of all, and has also what is put off until a tick.

A frame costs what the same stack costs more at a larger depth, per frame.  What
the lookup is of that is seen beside a single range: its frames follow each other,
and it is looked up once for all of them.
"""

import json
import math
import statistics
import sys


def read(path, fields):
    """Lines of a file in words, all of them as there should be"""
    with open(path, encoding="ascii") as file:
        lines = [line.split() for line in file]
    if not lines or any(len(line) not in fields for line in lines):
        sys.exit(f"tables.py: {path} does not hold figures")
    return lines


def operations(path):
    """{operation: [[instructions of each batch] of each run]}"""
    runs, last = {}, None
    for name, times, count in read(path, {3}):
        if name != last:
            runs.setdefault(name, []).append([])
            last = name
        runs[name][-1].append(int(count) / int(times))
    return runs


def summary(runs):
    medians = [statistics.median(counts) for counts in runs]
    return {"median": round(min(medians), 2),
            "spread": round(max(medians) - min(medians), 2),
            "mean": round(statistics.fmean(c for counts in runs for c in counts), 2)}


def never_unwound(on_path, off_path):
    on, off = operations(on_path), operations(off_path)
    if on.keys() != off.keys():
        sys.exit("tables.py: the two kernels ran different operations")
    result = []
    for name in on:
        point = {"operation": name, "on": summary(on[name]), "off": summary(off[name])}
        for kind in ("median", "mean"):
            more = point["on"][kind] - point["off"][kind]
            point[f"more_{kind}"] = round(more, 2)
            point[f"percent_{kind}"] = round(100 * more / point["off"][kind], 4)
        result.append(point)
    return result


def by_ranges(path):
    depths, memory = {}, {}
    for kind, nr, *values in read(path, {3, 4}):
        if kind == "memory":
            memory[int(nr)] = int(values[0])
        else:
            depth, count = map(int, values)
            depths.setdefault(int(nr), {}).setdefault(depth, []).append(count)
    result = []
    for nr, counts in sorted(depths.items()):
        low, high = sorted(counts)
        more = statistics.median(counts[high]) - statistics.median(counts[low])
        point = {"ranges": nr, "per_frame": round(more / (high - low), 1)}
        # One range is not looked up again for the next frame in it
        if nr > 1 and result and result[0]["ranges"] == 1:
            point["lookup"] = round(point["per_frame"] - result[0]["per_frame"], 1)
        if result and result[-1]["ranges"] > 1:
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
    json.dump({"unit": "instructions", "never_unwound": never_unwound(on, off),
               "by_ranges": lookups, "memory": memory}, sys.stdout, indent=1)
    print()


main()
