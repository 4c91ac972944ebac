# SPDX-License-Identifier: GPL-2.0
"""Are the Python functions of stacks right?  judge_functions.py SCRIPT [PERCENT]

SCRIPT is perf script's output for functions.py.  In each stack, a function of the program
must have its caller next to it, out to <module>, and be executed by a native frame of
the interpreter that follows.  PERCENT of the stacks that have a function of the program
must be whole.  A wrong one is never right.
"""

import collections
import re
import sys

from functions import PARENT, RECURSIVE

FRAME = re.compile(r"^\s*([0-9a-f]+) (.*?)(?:\+0x[0-9a-f]+)? \((.*)\)$")
PROGRAM = re.compile(r"functions\.py:\d+$")
# Python's functions have addresses that no program has
RUNTIME = re.compile(r"^7f[0-9a-f]{14}$")


def stacks(text):
    """Yields [(is Python's, name, object)], the innermost first"""
    for record in text.split("\n\n"):
        frames = [FRAME.match(line) for line in record.strip("\n").splitlines()[1:]]
        yield [(bool(RUNTIME.match(f[1])), f[2], f[3]) for f in frames if f]


def judge(frames):
    """"whole", "none" of the program's functions, "cut", or what is wrong"""
    python = [(name, place) for is_python, name, place in frames if is_python]
    own = [name for name, place in python if PROGRAM.search(place)]
    if not own:
        return "none"
    if any(name.startswith("[") for name, _ in python):
        return "unnamed"
    # A frame of Python is executed by a native one, which comes after it
    if frames[-1][0]:
        return "cut" if len(frames) >= 126 else "apart"
    names = [name for name, _ in python]
    for i, (name, place) in enumerate(python):
        if not PROGRAM.search(place):
            continue
        caller = names[i + 1] if i + 1 < len(names) else None
        if name == "<module>":
            if caller:
                return f"<module> called by {caller}"
        elif name in RECURSIVE:
            if caller and caller not in (name, RECURSIVE[name]):
                return f"{name} called by {caller}"
            if not caller:
                return "cut"
        elif name in PARENT and PARENT[name]:
            if caller != PARENT[name]:
                return f"{name} called by {caller}"
        elif not caller:
            return f"{name} called by nothing"
    return "whole"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        counts = collections.Counter(map(judge, stacks(file.read())))
    whole, cut, none = (counts.pop(what, 0) for what in ("whole", "cut", "none"))
    apart, unnamed = (counts.pop(what, 0) for what in ("apart", "unnamed"))
    total = whole + apart + unnamed + sum(counts.values())
    print(f"{whole} of {total} whole, {apart} apart, {unnamed} without a name; "
          f"{cut} cut by perf's limit; {none} without the program's functions")
    for wrong, nr in counts.most_common(20):
        print(f"wrong: {wrong}: {nr}")
    share = float(sys.argv[2]) / 100 if len(sys.argv) > 2 else 0.5
    sys.exit(bool(counts) or not total or whole / total < share)


main()
