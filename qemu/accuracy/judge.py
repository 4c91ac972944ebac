#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the quick comparison has to hold, as tests: judge.py QUICK.JSON prints TAP."""

import sys

import report

# So many that some of each kind are among them, and few enough for each check
SAMPLES = 2000


def main():
    """Each program of the file."""
    with open(sys.argv[1], encoding="utf-8") as file:
        programs = report.Same.figures(report.load_lines(file))
    checks = [("same sample: there are programs", bool(programs))]
    for p in programs:
        name, verdicts = p["program"], p["verdicts"]
        checks += [
            (f"{name}: at least {SAMPLES} samples judged, of {p['judged']}",
             p["judged"] >= SAMPLES),
            (f"{name}: no difference is ours, of {verdicts['ours']}", verdicts["ours"] == 0),
            (f"{name}: at least 98 % are the same, of {report.percent(p['right_share'])}",
             (p["right_share"] or 0) >= 0.98),
        ]
    for number, (what, good) in enumerate(checks, 1):
        print(f"{'ok' if good else 'not ok'} {number} {what}")


if __name__ == "__main__":
    main()
