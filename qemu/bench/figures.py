# SPDX-License-Identifier: GPL-2.0
"""What programs of bench/ print: lines of words, and figures of operations.

Of an operation there are many batches in each of some runs.  The median of a run
leaves out what ticks do in some batches.  The least of the medians is taken; the
spread says how far they lie apart.  The mean is that of all, and has also what is
put off until a tick.
"""

import statistics
import sys


def read(path, fields):
    """Lines of a file in words, all of them as there should be"""
    with open(path, encoding="ascii") as file:
        lines = [line.split() for line in file]
    if not lines or any(len(line) not in fields for line in lines):
        sys.exit(f"{path} does not hold figures")
    return lines


# Between these depths a frame is measured
LOW, HIGH = 40, 104


def per_frame(depths):
    """What a stack costs more where it is deeper, per frame: {depth: [instructions]}"""
    more = statistics.median(depths[HIGH]) - statistics.median(depths[LOW])
    return round(more / (HIGH - LOW), 1)


def operations(path):
    """What bench/idle printed: {operation: [[instructions of each batch] of each run]}"""
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


def compare(on_path, off_path):
    """Operations on the kernel with the feature beside the one without it"""
    on, off = operations(on_path), operations(off_path)
    if on.keys() != off.keys():
        sys.exit("the two kernels ran different operations")
    result = []
    for name in on:
        point = {"operation": name, "on": summary(on[name]), "off": summary(off[name])}
        for kind in ("median", "mean"):
            more = point["on"][kind] - point["off"][kind]
            point[f"more_{kind}"] = round(more, 2)
            point[f"percent_{kind}"] = round(100 * more / point["off"][kind], 4)
        result.append(point)
    return result
