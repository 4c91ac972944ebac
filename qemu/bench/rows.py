#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""How often a row was kept already, from what the guest printed: rows.py COUNTS

COUNTS is what bench/rows.sh printed: what was recorded, frames and lookups before
and after.
"""

import json
import sys

from figures import read


def main():
    programs = []
    for name, *counts in read(sys.argv[1], {5}):
        frames, lookups, frames_after, lookups_after = map(int, counts)
        frames, lookups = frames_after - frames, lookups_after - lookups
        if not frames:
            sys.exit(f"rows.py: {name} had no frames")
        programs.append({"program": name, "frames": frames, "lookups": lookups,
                         "kept": round(1 - lookups / frames, 4)})
    json.dump({"unit": "frames", "programs": programs}, sys.stdout, indent=1)
    print()


main()
