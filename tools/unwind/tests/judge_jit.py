# SPDX-License-Identifier: GPL-2.0
"""Are the sample JIT's stacks right?  judge_jit.py SCRIPT [PERCENT]

SCRIPT is what perf script prints.  jit_0 calls work(), each other generated function the
one before it, and runner() the newest one, which can be any.  So a stack with one of them
has all from there to the last, without a gap, and runner() after it: what has not is wrong,
if it goes on at all.  Of the stacks with such functions, PERCENT must reach the start of
their thread.
"""

import collections
import re
import sys

BEGIN = re.compile(r"_*(GI_+)?(clone3?|thread_start)$")
NAME = re.compile(r"jit_(\d+)$")


def stacks(path):
    """Yields lists of functions, the innermost first"""
    with open(path, encoding="utf-8") as file:
        for record in filter(None, map(str.strip, file.read().split("\n\n"))):
            yield [(line.split(maxsplit=1) + ["?"])[1].split("+")[0]
                   for line in record.splitlines()[1:]]


def wrong(functions):
    """What is wrong with a stack that has generated functions, or nothing"""
    numbers = [int(NAME.match(name)[1]) if NAME.match(name) else None for name in functions]
    first = next(i for i, number in enumerate(numbers) if number is not None)
    last = max(i for i, number in enumerate(numbers) if number is not None)
    if numbers[first:last + 1] != list(range(numbers[first], numbers[last] + 1)):
        return "not each calls the one before it"
    if functions[first - 1:first] == ["work"] and numbers[first]:
        return "work() is called by jit_0 alone"
    if functions[last + 1:last + 2] not in ([], ["runner"]):
        return "called by another than runner()"
    return None


def main():
    """Count, print, judge"""
    total = complete = bad = 0
    seen = set()
    ends = collections.Counter()
    for functions in stacks(sys.argv[1]):
        if not any(map(NAME.match, functions)):
            continue
        total += 1
        seen.update(filter(NAME.match, functions))
        complete += "runner" in functions and bool(BEGIN.match(functions[-1]))
        ends[functions[-1]] += 1
        fault = wrong(functions)
        if fault:
            bad += 1
            print(f"{fault}: {' < '.join(functions)}")
    share = 100 * complete / max(total, 1)
    print(f"{total} stacks with {len(seen)} generated functions, {complete} complete: "
          f"{share:.2f} %; {bad} wrong")
    least = float(sys.argv[2]) if len(sys.argv) > 2 else 50
    print("they end in " + ", ".join(f"{name}: {number}" for name, number in ends.most_common(5)))
    sys.exit(bad > 0 or total < 20 or len(seen) != 12 or share < least)


if __name__ == "__main__":
    main()
