# SPDX-License-Identifier: GPL-2.0
"""Are the functions of a runtime in stacks right?  judge_functions.py SCRIPT RUNTIME [PERCENT]

SCRIPT is perf script's output for functions.py or functions.php, RUNTIME is py or php.  In
each stack, a function of the program must have its caller next to it, out to the program's
file, and be executed by a native frame of the interpreter that follows.  PERCENT of the
stacks that have a function of the program must be whole.  A wrong one is never right.
"""

import collections
import re
import sys

import functions

FRAME = re.compile(r"^\s*([0-9a-f]+) (.*?)(?:\+0x[0-9a-f]+)? \((.*)\)$")
PROGRAM = re.compile(r"functions\.(py|php)(\(\d+\) : eval\(\)'d code)?:\d+$")
# Functions of a runtime have addresses that no program has
RUNTIME = re.compile(r"^7f[0-9a-f]{14}$")

# The callers of functions.php.  Its files have no name; others than these are called by many.
PHP = {
    "main": "[unnamed]", "[unnamed]": "evaluating",
    "plain": "main", "plain_leaf": "plain",
    "sorting": "main", "usort": "sorting", "sort_key": "usort", "sort_leaf": "sort_key",
    "mapping": "main", "map_function": "array_map", "map_leaf": "map_function",
    "generate": "main", "generator": "generate", "generator_leaf": "generator",
    "catching": "main", "throwing": "catching", "throw_leaf": "throwing",
    "getting": "main", "__get": "getting", "get_leaf": "__get",
    "iterate": "main", "next": "iterate", "next_leaf": "next",
    "calling": "main", "called": "calling", "static_leaf": "called",
    "destroy": "main", "__destruct": "destroy", "end_leaf": "__destruct",
    "replacing": "main", "preg_replace_callback": "replacing",
    "replaced": "preg_replace_callback", "replace_leaf": "replaced",
    "evaluating": "main", "eval_leaf": "[unnamed]",
    "deep": "main", "strings": "main", "md5": "array_map",
    "waiting": "main", "wait_leaf": "waiting", "usleep": "wait_leaf",
}

# By runtime: the callers, functions that call themselves, how the program's file is called
TABLES = {
    "py": (functions.PARENT, functions.RECURSIVE, "<module>"),
    "php": (PHP, {"recurse": "deep"}, "[unnamed]"),
}


def stacks(text):
    """Yields [(is a runtime's, name, object)], the innermost first"""
    for record in text.split("\n\n"):
        frames = [FRAME.match(line) for line in record.strip("\n").splitlines()[1:]]
        yield [(bool(RUNTIME.match(f[1])), f[2], f[3]) for f in frames if f]


def judge(frames, parent, recursive, outermost):
    """"whole", "none" of the program's functions, "cut", or what is wrong"""
    ours = [(name, place) for is_ours, name, place in frames if is_ours]
    if not any(PROGRAM.search(place) for _, place in ours):
        return "none"
    if any(name.startswith("[function ") or (name == "[unnamed]" != outermost)
           for name, _ in ours):
        return "unnamed"
    if any(name == "[more functions]" for name, _ in ours):
        return "cut"
    # A frame of a runtime is executed by a native one, which comes after it
    if frames[-1][0]:
        return "cut" if sum(not ours for ours, _, _ in frames) >= 126 else "apart"
    names = [name for name, _ in ours]
    for i, (name, place) in enumerate(ours):
        caller = names[i + 1] if i + 1 < len(names) else None
        if not PROGRAM.search(place) and place != "[runtime]":
            continue
        if name == outermost and not caller:
            continue
        if name in recursive:
            if caller and caller not in (name, recursive[name]):
                return f"{name} called by {caller}"
            if not caller:
                return "cut"
        elif name == "generator" and not caller and outermost == "[unnamed]":
            # PHP links a generator to its caller just after it begins to be executed
            return "apart"
        elif parent.get(name):
            if caller != parent[name]:
                return f"{name} called by {caller}"
        elif not caller:
            return f"{name} called by nothing"
        elif name == outermost:
            return f"{name} called by {caller}"
    return "whole"


def main():
    table = TABLES[sys.argv[2]]
    with open(sys.argv[1], encoding="utf-8") as file:
        counts = collections.Counter(judge(frames, *table) for frames in stacks(file.read()))
    whole, cut, none = (counts.pop(what, 0) for what in ("whole", "cut", "none"))
    apart, unnamed = (counts.pop(what, 0) for what in ("apart", "unnamed"))
    total = whole + apart + unnamed + sum(counts.values())
    print(f"{whole} of {total} whole, {apart} apart, {unnamed} without a name; "
          f"{cut} cut by perf's limit; {none} without the program's functions")
    for wrong, nr in counts.most_common(20):
        print(f"wrong: {wrong}: {nr}")
    share = float(sys.argv[3]) / 100 if len(sys.argv) > 3 else 0.5
    sys.exit(bool(counts) or not total or whole / total < share)


main()
