#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Figures of reading recordings from what the guest printed: post.py COUNTS

COUNTS is what bench/post.sh printed.  Samples of the methods are not equally many, so
instructions are those per sample, of many samples beyond few: what perf does once, such
as reading the kernel's symbols, is in both.  Merging is linear if a sample costs no more
among many than among few: growth is what one costs from each size to the next, as a
multiple of the one before.
"""

import json
import sys

from figures import read

# The most that "perf script" may execute for a sample, as a share of that for dwarf
BAR_SCRIPT = 1 / 20
# What a sample may cost more among ten times as many
BAR_GROWTH = 1.2


def slope(few, many):
    """Instructions of one sample"""
    return round((many["insns"] - few["insns"]) / (many["samples"] - few["samples"]))


def scripts(lines):
    """Of each method the recording with many samples, beside that with few"""
    methods = {}
    for method, *counts in lines:
        samples, lost, size, insns, kib, missing = map(int, counts)
        methods.setdefault(method, []).append({
            "method": method, "samples": samples, "lost": lost,
            "bytes_per_sample": round(size / samples, 1), "insns": insns,
            "peak_kib": kib, "missing": missing})
    for few, many in methods.values():
        many["insns_per_sample"] = slope(few, many)
    dwarf = methods["dwarf"][1]
    for _, many in methods.values():
        many["share"] = round(many["insns_per_sample"] / dwarf["insns_per_sample"], 4)
        many["share_whole"] = round(many["insns"] * dwarf["samples"] /
                                    (dwarf["insns"] * many["samples"]), 4)
    return [many for _, many in methods.values()]


def merges(lines):
    """By the number of samples"""
    names = ("samples", "threads", "insns", "peak_kib", "missing")
    points = sorted((dict(zip(names, map(int, line))) for line in lines),
                    key=lambda point: point["samples"])
    for last, point in zip(points, points[1:]):
        point["insns_per_sample"] = slope(last, point)
        if "insns_per_sample" in last:
            point["growth"] = round(point["insns_per_sample"] / last["insns_per_sample"], 3)
    return points


def rate(line):
    """What was lost of samples at the highest rate"""
    method, *counts = line
    samples, lost, size = map(int, counts)
    if not samples:
        sys.exit(f"post.py: no samples by {method} at the highest rate")
    return {"method": method, "samples": samples, "lost": lost,
            "share_lost": round(lost / (samples + lost), 4), "bytes": size,
            "bytes_per_sample": round(size / samples, 1)}


def main():
    """Read, print JSON."""
    lines = {"script": [], "merge": [], "rate": []}
    for kind, *words in read(sys.argv[1], {5, 6, 8}):
        lines[kind].append(words)
    json.dump({"unit": "instructions",
               "script": scripts(lines["script"]), "bar_script": BAR_SCRIPT,
               "merge": merges(lines["merge"]), "bar_growth": BAR_GROWTH,
               "highest_rate": [rate(line) for line in lines["rate"]]},
              sys.stdout, indent=1)
    print()


main()
