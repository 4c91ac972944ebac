#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""All figures: report.py DIRECTORY

Puts the parts that are in the directory together in its bench.json, and prints
them as tables.  A part is a file PART.json and a function here that prints it.
"""

import json
import os
import sys


def decoder(part):
    """A lookup in an SFrame section"""
    for version, tables in part["versions"].items():
        for key, along, title, step in (
                ("by_fdes", "fdes", "functions", "doubling"),
                ("by_fres", "fres", "rows per function", "row walked")):
            print(f"\n  version {version}, {title:>18}{'kernel':>10}{'libsframe':>11}{'share':>7}"
                  f"{'kernel':>12}{'libsframe':>11}  more per {step}")
            for p in tables[key]:
                line = f"{p[along]:>31,}{p['kernel']:>10,.0f}{p['libsframe']:>11,.0f}{p['share']:>7.2f}"
                if "kernel_growth" in p:
                    line += f"{p['kernel_growth']:>12,.1f}{p['libsframe_growth']:>11,.1f}"
                print(line)
    print()


def tables(part):
    """Tables of processes"""
    print(f"\n  {'never unwound':<15}{'with':>11}{'without':>11}{'more':>10}"
          f"{'spread':>9}{'mean: with':>13}{'without':>11}{'more':>10}")
    for p in part["never_unwound"]:
        on, off = p["on"], p["off"]
        print(f"  {p['operation']:<15}{on['median']:>11,.1f}{off['median']:>11,.1f}"
              f"{p['percent_median']:>+9.3f}%{on['spread']:>9,.1f}"
              f"{on['mean']:>13,.1f}{off['mean']:>11,.1f}{p['percent_mean']:>+9.3f}%")
    print(f"\n  registered ranges{'frame':>9}{'its lookup':>13}  more per doubling")
    for p in part["by_ranges"]:
        print(f"{p['ranges']:>19,}{p['per_frame']:>9,.0f}"
              + (f"{p['lookup']:>13,.0f}" if "lookup" in p else "")
              + (f"{p['growth']:>8,.1f}" if "growth" in p else ""))
    memory = part["memory"]
    print(f"\n  kernel memory per range: {memory['per_range']} bytes, with {memory['ranges']:,} of them\n")


PARTS = [decoder, tables]


def main():
    directory = sys.argv[1]
    bench = {}
    for part in PARTS:
        path = os.path.join(directory, part.__name__ + ".json")
        if not os.path.exists(path):
            continue
        with open(path, encoding="ascii") as file:
            bench[part.__name__] = json.load(file)
        print(f"{part.__doc__}: {bench[part.__name__]['unit']}")
        part(bench[part.__name__])
    path = os.path.join(directory, "bench.json")
    with open(path + ".new", "w", encoding="ascii") as file:
        json.dump(bench, file, indent=1)
        file.write("\n")
    os.replace(path + ".new", path)


main()
