#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""How many stacks are complete: judge.py TOOL FILE at-least|below PERCENT

FILE is what "bpftrace" has printed of a map @stacks[ustack(perf)], or what "perf"
script has printed.  A stack is complete if its last function is one in which a
thread begins.  Stacks of the first second of perf's are left out; bpftrace was told
to.  Exits with 0 if the share is as it should be, and there is enough to tell."""

import re
import sys

BEGIN = {"_start", "__clone3", "__GI___clone3", "clone3", "__clone"}
ENOUGH = 100


def bpftrace(text):
    """Yields (functions, count)"""
    for stack, count in re.findall(r"@stacks\[(.*?)\]: (\d+)", text, re.S):
        lines = [line.split() for line in stack.strip().splitlines()]
        yield [words[1].split("+")[0] for words in lines if words], int(count)


def perf(text):
    """Yields (functions, count)"""
    first = None
    for record in text.split("\n\n"):
        lines = record.strip().splitlines()
        if not lines:
            continue
        time = float(re.search(r"(\d+\.\d+):", lines[0]).group(1))
        if first is None:
            first = time
        if time - first > 1:
            yield [line.split()[1].split("+")[0] for line in lines[1:]], 1


def main():
    tool, path, relation, percent = sys.argv[1:]
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    complete = total = depth = 0
    ends = {}
    for functions, count in {"bpftrace": bpftrace, "perf": perf}[tool](text):
        total += count
        depth += count * len(functions)
        if functions and functions[-1] in BEGIN:
            complete += count
        else:
            end = functions[-1] if functions else "nothing"
            ends[end] = ends.get(end, 0) + count
    share = 100 * complete / total if total else 0
    print(f"{total} stacks, {complete} complete: {share:.2f} %, "
          f"{depth / max(total, 1):.1f} frames each")
    for end, count in sorted(ends.items(), key=lambda item: -item[1])[:5]:
        print(f"{count} end in {end}")
    good = share >= float(percent) if relation == "at-least" else share < float(percent)
    sys.exit(0 if good and total >= ENOUGH else 1)


if __name__ == "__main__":
    main()
