#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Figures of the deferred core from what the guests printed:
deferred.py OWN OTHER ON OFF

OWN and OTHER are what bench/deferred printed of requests in its own entries into
the kernel, and in NMIs that hit another task in user space; ON and OFF what
bench/idle printed on the kernel with the feature and on the one without.

Of each figure there are many.  An NMI is not interrupted, so that also the largest
one is the core's; in the other contexts it may have a tick.
"""

import json
import statistics
import sys

from figures import compare, read

# The figure that shows that instructions are what is counted
KNOWN = 100

# What a request may execute, in NMI: the first of an entry, and each other
BARS = {"first": 300, "again": 60, "other": 60, "other_again": 60}
# What a return to user space may execute more than without the feature
BAR_RETURN = 2


def figures(*paths):
    """{what: {context: {name: least, median and largest}}}"""
    counts = {}
    for path in paths:
        for context, what, name, count in read(path, {4}):
            counts.setdefault(what, {}).setdefault(context, {}) \
                .setdefault(name, []).append(int(count))
    return {what: {context: {name: {"min": min(c), "median": statistics.median(c),
                                    "max": max(c)}
                             for name, c in names.items()}
                   for context, names in contexts.items()}
            for what, contexts in counts.items()}


def main():
    own, other, on, off = sys.argv[1:]
    found = figures(own, other)
    for context, names in found["requests"].items():
        if names.pop("known")["median"] != KNOWN:
            sys.exit(f"deferred.py: it is not instructions that were counted ({context})")
    json.dump({"unit": "instructions", "bars": BARS, "bar_return": BAR_RETURN,
               "requests": found["requests"],
               "latency": {context: names["latency"]
                           for context, names in found["latency"].items()},
               "work": {what.removeprefix("deliver"): found[what]["task"]
                        for what in found if what.startswith("deliver")},
               "return": compare(on, off)}, sys.stdout, indent=1)
    print()


main()
