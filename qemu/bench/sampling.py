#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Figures of samples from what the guest printed: sampling.py COUNTS

COUNTS is what bench/sampling printed.  A sample costs what the same work takes
longer with it.  That is from the interrupt on: a sample without a stack is the
method "none", and what others cost beyond is for their stacks.  The share of a
program that is lost is that of a CPU with 1,000,000,000 instructions a second.
"""

import json
import sys

from figures import read

# Of stacks that are taken whole
BAR_WHOLE = 0.99


def main():
    """Read, print JSON."""
    points, base = [], {}
    for method, *counts in read(sys.argv[1], {8}):
        hz, without, with_samples, samples, whole, size, lost = map(int, counts)
        if not samples:
            sys.exit(f"sampling.py: no samples by {method} at {hz} Hz")
        if method in ("sframe", "fp", "in-place") and whole < BAR_WHOLE * samples:
            sys.exit(f"sampling.py: {method} at {hz} Hz: {whole} of {samples} stacks are whole")
        cost = (with_samples - without) / samples
        if method == "none":
            base[hz] = cost
        points.append({"method": method, "hz": hz, "samples": samples, "lost": lost,
                       "per_sample": round(cost),
                       "for_stack": round(cost - base[hz]),
                       "bytes_per_sample": round(size / samples, 1),
                       "share_lost": round(1 - without / with_samples, 6)})
    json.dump({"unit": "instructions", "samples": points}, sys.stdout, indent=1)
    print()


main()
