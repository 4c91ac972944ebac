#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Figures of the decoder from what callgrind left: decoder.py FILE...

Each file is one series of lookups by one decoder; sframe_bench named it

    bench IMPLEMENTATION VERSION FDES FRES_PER_FDE LOOKUPS

A point is what both decoders needed for the same lookups, on average.  Points
that differ in one size only are a series, along which growth is worked out: per
doubling of the number of functions, which are searched; per row, which are
walked (on average one half of a function's).
"""

import json
import math
import re
import sys

NAMED = re.compile(r"^desc: Trigger: .*\bbench (\w+) (\d+) (\d+) (\d+) (\d+)$", re.M)
COUNTED = re.compile(r"^summary: (\d+)$", re.M)

# Where one of the two sizes grows, what the other one is
FEW_FDES = 10
FEW_FRES = 4


def read(paths):
    """{(version, fdes, fres): {decoder: instructions per lookup}}"""
    points = {}
    for path in paths:
        with open(path, encoding="ascii") as file:
            text = file.read()
        named = NAMED.search(text)
        if not named:
            continue
        decoder, *sizes, lookups = named.groups()
        count = int(COUNTED.search(text).group(1)) / int(lookups)
        points.setdefault(tuple(map(int, sizes)), {})[decoder] = count
    return points


def series(points, version, along):
    found = []
    for (v, fdes, fres), counts in sorted(points.items()):
        fixed = fres == FEW_FRES if along == "fdes" else fdes == FEW_FDES and fres != FEW_FRES
        if v != version or not fixed:
            continue
        point = {"fdes": fdes, "fres": fres,
                 "kernel": round(counts["kernel"], 1),
                 "libsframe": round(counts["libsframe"], 1),
                 "share": round(counts["kernel"] / counts["libsframe"], 3)}
        if found:
            last = found[-1]
            steps = (math.log2(fdes / last["fdes"]) if along == "fdes"
                     else (fres - last["fres"]) / 2)
            for decoder in ("kernel", "libsframe"):
                point[decoder + "_growth"] = round(
                    (point[decoder] - last[decoder]) / steps, 1)
        found.append(point)
    return found


def main():
    points = read(sys.argv[1:])
    versions = sorted({version for version, _, _ in points})
    result = {"unit": "instructions per lookup", "versions": {}}
    for version in versions:
        result["versions"][version] = {
            "by_fdes": series(points, version, "fdes"),
            "by_fres": series(points, version, "fres"),
        }
    if not versions or not all(all(s.values()) for s in result["versions"].values()):
        sys.exit("decoder.py: callgrind left no figures")
    json.dump(result, sys.stdout, indent=1)
    print()


main()
