#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Figures of samples from what the guest printed: sampling.py COUNTS

COUNTS is what bench/sampling printed, several lines for each method and rate, of which
the median counts.  A sample costs what the same work takes longer with it.  That is from the interrupt on: a sample without a stack is the
method "none", and what others cost beyond is for their stacks.  The share of a
program that is lost is that of a CPU with 1,000,000,000 instructions a second.
"""

import json
import sys
from statistics import median

from figures import read

# Of stacks that are taken whole
BAR_WHOLE = 0.99


def main():
    """Read, print JSON."""
    points, base, times = [], {}, {}
    for method, hz, *counts in read(sys.argv[1], {8}):
        times.setdefault((method, int(hz)), []).append(list(map(int, counts)))
    for (method, hz), counts in times.items():
        withouts, withs, num, wholes, sizes, lost = zip(*counts)
        samples, whole = sum(num), sum(wholes)
        if not all(num):
            sys.exit(f"sampling.py: no samples by {method} at {hz} Hz")
        if method in ("sframe", "fp", "in-place") and whole < BAR_WHOLE * samples:
            sys.exit(f"sampling.py: {method} at {hz} Hz: {whole} of {samples} stacks are whole")
        cost = median((b - a) / n for a, b, n in zip(withouts, withs, num))
        if method == "none":
            base[hz] = cost
        points.append({"method": method, "hz": hz, "samples": samples, "lost": lost[-1],
                       "per_sample": round(cost),
                       "for_stack": round(cost - base[hz]),
                       "bytes_per_sample": round(sum(sizes) / samples, 1),
                       "share_lost": round(median(1 - a / b for a, b in zip(withouts, withs)), 6)})
    json.dump({"unit": "instructions", "samples": points}, sys.stdout, indent=1)
    print()


main()
