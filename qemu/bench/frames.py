#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Figures of frames from what the guest printed: frames.py FRAMES [TOPMOST]

FRAMES is what bench/frames printed, TOPMOST what bench/topmost did.  A frame costs
what the same stack costs more at a depth of 104 than at one of 40, per frame.  First
touches have page faults: how many is a figure like others, for a stack and per frame.
"""

import json
import statistics
import sys

from figures import per_frame, read

# What a frame may cost, in instructions: {(by frame pointer?, how, state): bar}
BARS = {(True, "deferred", "warm"): 100,
        (False, "deferred", "warm"): 150,
        (False, "inplace", "warm"): 100}
# A cold one, by a table of at most so many functions
BAR_COLD = 600
BAR_COLD_FUNCTIONS = 30000


def bar(kind, how, state):
    if (how, state) == ("deferred", "cold"):
        small = kind != "fp" and int(kind) <= BAR_COLD_FUNCTIONS
        return BAR_COLD if small else None
    return BARS.get((kind == "fp", how, state))


def topmost(path):
    """What a stack costs by how its topmost frame is found"""
    counts = {}
    for how, state, count in read(path, {3}):
        counts.setdefault(state, {}).setdefault(how, []).append(int(count))
    return {state: {how: statistics.median(at) for how, at in hows.items()}
            for state, hows in counts.items()}


def main():
    counts = {}
    for kind, how, state, depth, count in read(sys.argv[1], {5}):
        counts.setdefault((kind, how, state), {}) \
            .setdefault(int(depth), []).append(int(count))
    frames = []
    for (kind, how, state), depths in counts.items():
        point = {"kind": kind, "how": how, "state": state,
                 "per_frame": per_frame(depths),
                 "stack": {depth: statistics.median(at) for depth, at in sorted(depths.items())}}
        limit = bar(kind, how, state)
        if limit:
            point["bar"] = limit
        frames.append(point)
    part = {"unit": "instructions", "frames": frames}
    if len(sys.argv) > 2:
        part["topmost"] = topmost(sys.argv[2])
    json.dump(part, sys.stdout, indent=1)
    print()


main()
