#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make one page of the demo's stacks, to be looked at in a browser.

    page.py --report REPORT.JSON --library FILE... --out PAGE NAME=SCRIPT...

REPORT.JSON is what report.py left, NAME=SCRIPT a method and what "perf script"
printed for it, the libraries are scripts that draw.  The page holds all of it:
it loads nothing, so it can be mailed, and read in ten years.

What perf printed comes from the profiled program, which may call its functions
what it likes.  It is put where it can only be data: names go through JSON, in
which no character is left that ends a script, and text is escaped.
"""

import argparse
import html
import json
import os
import re

import report

TEMPLATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page.html")

# The table: a title, the key of the figure, how it is written
ROWS = (
    ("samples", "samples", report.number),
    ("lost", "lost", report.number),
    ("complete stacks of samples in user space", "complete_share_in_user", report.percent),
    ("complete stacks, with those in system calls", "complete_share_with_user", report.percent),
    ("user frames, median", "median_depth", report.number),
    ("perf.data", "bytes", report.volume),
    ("bytes per sample", "bytes_per_sample", report.volume),
    ("dwarf's, as a multiple of it", "dwarf_ratio_per_sample", lambda v: f"{v:.1f}"),
    ("bytes per sample, all compressed", "packed_bytes_per_sample", report.volume),
    ("bytes per sample, none compressed", "raw_bytes_per_sample", report.volume),
)


def tree(lines):
    """All stacks as one tree, of the form that the library takes"""
    root = {"n": "all", "l": "", "v": 0, "c": {}}
    for frames in report.read_samples(lines):
        node = root
        node["v"] += 1
        for address, name in reversed(frames):
            kind = "kernel" if address >= report.KERNEL_FROM else ""
            node = node["c"].setdefault((name, kind), {"n": name, "l": kind, "v": 0, "c": {}})
            node["v"] += 1
    return finish(root)


def finish(node):
    """The same with lists of children, in the order of names"""
    node["c"] = [finish(child) for child in
                 sorted(node["c"].values(), key=lambda child: child["n"])]
    return node


def data(value):
    """JSON that no HTML parser takes for the end of a script"""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def table(methods):
    """The figures of report.py, a column per method"""
    lines = ["<table>", "<tr><th></th>" + "".join(
        f"<th>{html.escape(name)}</th>" for name in methods) + "</tr>"]
    for title, key, written in ROWS:
        cells = []
        for entry in methods.values():
            value = entry.get(key)
            mark = ""
            if key.startswith("complete_share") and value is not None:
                mark = ' class="good"' if value >= 0.95 else ' class="poor"'
            text = "-" if value is None else html.escape(written(value))
            cells.append(f"<td{mark}>{text}</td>")
        lines.append(f"<tr><td>{title}</td>{''.join(cells)}</tr>")
    return "\n".join(lines + ["</table>"])


def section(name, entry):
    """Where one method's graph will be"""
    name = html.escape(name)
    return (f'<section class="method" data-method="{name}">\n<h2>{name}</h2>\n'
            f'<div class="summary">{report.percent(entry["complete_share_in_user"])} complete, '
            f'{report.volume(entry["bytes_per_sample"])} per sample</div>\n'
            '<div class="details"></div>\n<div class="chart"></div>\n</section>')


def library(path):
    """A script as it is, unless it would end where it does not end"""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if "</script" in text.lower() or "<!--" in text:
        raise report.Malformed(f"{path}: cannot be put into a page")
    return f"<script>\n{text}\n</script>"


def main():
    """Read everything, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--report", required=True)
    parser.add_argument("--library", action="append", default=[])
    parser.add_argument("--out", required=True)
    parser.add_argument("scripts", nargs="+", metavar="NAME=SCRIPT")
    arguments = parser.parse_args()
    with open(arguments.report, encoding="ascii") as file:
        figures = json.load(file)
    methods = figures["methods"]
    trees = {}
    for pair in arguments.scripts:
        name, _, path = pair.partition("=")
        with open(path, encoding="utf-8", errors="replace", newline="\n") as lines:
            trees[name] = tree(lines)
    title = (f"{figures['program']} on Linux {figures['kernel']}, {figures['event']}: "
             f"the same work, recorded in {len(methods)} ways")
    values = {
        "TITLE": html.escape(title),
        "TABLE": table(methods),
        "NOTES": "\n".join(f"<p>{html.escape(note)}</p>" for note in figures["notes"]),
        "COLUMNS": str(len(methods)),
        "METHODS": "\n".join(section(name, entry) for name, entry in methods.items()),
        "LIBRARIES": "\n".join(library(path) for path in arguments.library),
        "TREES": data(trees),
    }
    with open(TEMPLATE, encoding="utf-8") as file:
        # In one pass: a value may have what looks like a place for another
        parts = re.split("@([A-Z]+)@", file.read())
    page = "".join(part if at % 2 == 0 else values[part] for at, part in enumerate(parts))
    with open(arguments.out + ".new", "w", encoding="utf-8") as file:
        file.write(page)
    os.replace(arguments.out + ".new", arguments.out)


if __name__ == "__main__":
    main()
