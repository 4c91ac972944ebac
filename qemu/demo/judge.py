#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Turn what the demo has to hold into tests: judge.py REPORT.JSON prints TAP."""

import json
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        methods = json.load(file)["methods"]
    sframe, fp, dwarf, in_place = (
        methods[name] for name in ("sframe", "fp", "dwarf", "in-place"))
    checks = [
        ("sframe: at least 1000 samples", sframe["samples"] >= 1000),
        ("sframe: no sample lost", sframe["lost"] == 0),
        ("sframe: at least 99 % of the samples in user space complete",
         sframe["complete_share_in_user"] >= 0.99),
        ("fp: its stacks are shorter", fp["median_depth"] < sframe["median_depth"]),
        ("fp: less than half of its samples in user space complete",
         fp["complete_share_in_user"] < 0.5),
        ("in place: at least 95 % of the samples in user space complete",
         in_place["complete_share_in_user"] >= 0.95),
        ("perf.data of sframe: at least 50 times smaller than dwarf's",
         dwarf["bytes_per_sample"] >= 50 * sframe["bytes_per_sample"]),
        ("the same, neither compressed: at least 30 times",
         dwarf["raw_bytes_per_sample"] >= 30 * sframe["raw_bytes_per_sample"]),
        ("sframe without compression: no sample lost", sframe["raw_lost"] == 0),
    ]
    for number, (name, good) in enumerate(checks, 1):
        print(f"{'ok' if good else 'not ok'} {number} {name}")


if __name__ == "__main__":
    main()
