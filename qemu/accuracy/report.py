#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""How right and how complete stacks are: report.py DIRECTORY

Puts the parts that are in the directory together in its accuracy.json, prints them
as tables, and then what must hold, with the exit status.  A part is a file and a
class here:

  same.json     a line for each program, from same_compare
  methods.json  from methods.py
  step.txt      what the kselftest single_step prints
"""

import json
import os
import sys

import screen

METHODS = ("sframe", "fp", "dwarf8", "dwarf64")
# What must hold
SAMPLES = 20000
STEPS = 200000
COMPLETE = 0.999


def percent(share):
    """A share; never rounded up to the whole."""
    if share is None:
        return "-"
    return f"{min(100 * share, 100 if share == 1 else 99.99):.2f} %"


def load_lines(file):
    """A JSON object per line."""
    return [json.loads(line) for line in file]


class Same:
    """The same sample: the kernel's stack, and libdw's from a copy of the stack"""

    FILE = "same.json"
    load = staticmethod(load_lines)
    # Neither for nor against: DWARF has no answer there, or there is no stack
    UNJUDGED = ("left_out", "sigreturn", "signal", "copy_short", "dwarf_missing", "dwarf_failed")
    RIGHT = ("same_complete", "same_cut")
    COLUMNS = (("same_complete", "same"), ("same_cut", "both cut"),
               ("table_wrong", "table"), ("no_table_cut", "no table"),
               ("no_table_other", "guess"), ("ours", "ours"))

    @classmethod
    def figures(cls, programs):
        """Adds the shares."""
        for program in programs:
            verdicts = program["verdicts"]
            judged = sum(n for key, n in verdicts.items() if key not in cls.UNJUDGED)
            program["judged"] = judged
            program["right"] = sum(verdicts[key] for key in cls.RIGHT)
            program["right_share"] = screen.share(program["right"], judged)
            # Parts of the start of a process and of a thread have no table
            for cut in program["cuts"]:
                cut["complete"] = cut["where"].partition(":")[2] in screen.OUTERMOST
            begun = sum(cut["count"] for cut in program["cuts"] if cut["complete"])
            program["complete"] += begun
            with_stack = program["samples"] - verdicts["left_out"]
            program["complete_share"] = screen.share(program["complete"], with_stack)
            # Where .eh_frame is cut as well, the compiler or the C library says too little
            less = max(judged - program["right"] - begun, 0)
            program["as_dwarf_share"] = screen.share(judged - less, judged)
        return programs

    @classmethod
    def show(cls, programs):
        """The table, then why stacks end early and where."""
        print(f"\n  {'':<11}{'samples':>9}{'judged':>9}{'right':>11}"
              + "".join(f"{title:>10}" for _, title in cls.COLUMNS) + f"{'complete':>12}")
        for p in programs:
            print(f"  {p['program']:<11}{p['samples']:>9,}{p['judged']:>9,}"
                  f"{percent(p['right_share']):>11}"
                  + "".join(f"{p['verdicts'][key]:>10,}" for key, _ in cls.COLUMNS)
                  + f"{percent(p['complete_share']):>12}")
        print("""
  table     the table says other than .eh_frame, and the kernel did as it says
  no table  the stack ends where .eh_frame goes on, for lack of a table
  guess     likewise, but the frame pointer led to some other address
  complete  to the outermost frame, of all that had a stack""")
        print("\n  Why the kernel's stacks ended early, and the last address' object:\n")
        for p in programs:
            cuts = [cut for cut in p["cuts"] if not cut["complete"]]
            for reason, where, count in by_object(cuts):
                print(f"  {p['program']:<11}{count:>7,}  {reason}: {where}")
            if not cuts:
                print(f"  {p['program']:<11}   none")

    @staticmethod
    def holds(programs):
        """(what, whether)"""
        judged = sum(p["judged"] for p in programs)
        ours = sum(p["verdicts"]["ours"] for p in programs)
        yield f"same sample: {ours} differences are ours (0)", ours == 0
        yield f"same sample: {judged:,} were judged ({SAMPLES:,})", judged >= SAMPLES
        for p in programs:
            yield (f"{p['program']}: as complete as by .eh_frame "
                   f"{percent(p['as_dwarf_share'])} (99.9 %)",
                   (p["as_dwarf_share"] or 0) >= COMPLETE)


def by_object(cuts):
    """(reason, object and its most frequent symbols, count), most frequent first."""
    groups = {}
    for cut in cuts:
        name, _, symbol = cut["where"].partition(":")
        group = groups.setdefault((cut["reason"], name), {})
        group[symbol] = group.get(symbol, 0) + cut["count"]
    for (reason, name), symbols in sorted(
            groups.items(), key=lambda item: -sum(item[1].values())):
        most = sorted(symbols, key=lambda s: -symbols[s])
        text = ", ".join(most[:3]) + (", ..." if most[3:] else "")
        yield reason, f"{name} ({text})", sum(symbols.values())


class Methods:
    """Complete stacks by method, of the samples that have a user part"""

    FILE = "methods.json"
    load = staticmethod(json.load)

    @staticmethod
    def figures(part):
        """As they are."""
        return part

    @staticmethod
    def show(part):
        """Shares, and sizes beside them."""
        print(f"\n  {'':<11}" + "".join(f"{m:>11}" for m in METHODS)
              + f"{'samples':>14}{'bytes per sample':>26}")
        for program, methods in part.items():
            print(f"  {program:<11}"
                  + "".join(f"{percent(methods[m]['complete_share']):>11}" for m in METHODS)
                  + f"{'/'.join(str(methods[m]['samples']) for m in METHODS):>22}"
                  + f"{'/'.join(str(round(methods[m]['bytes_per_sample'])) for m in METHODS):>22}")
        print("\n  Where those of sframe end that are not complete:\n")
        for program, methods in part.items():
            ends = methods["sframe"]["ends"]
            text = ", ".join(f"{name} {count}" for name, count in list(ends.items())[:5])
            print(f"  {program:<11}  {text or 'none'}")

    @staticmethod
    def holds(part):
        """(what, whether)"""
        for program, methods in part.items():
            share = methods["sframe"]["complete_share"]
            yield (f"{program}: complete by perf --call-graph sframe {percent(share)} (99.9 %)",
                   (share or 0) >= COMPLETE)
            lost = sum(methods[m]["lost"] for m in METHODS)
            yield f"{program}: {lost} samples were lost (0)", lost == 0


def load_truth(file):
    """The lines "# truth: program=NAME KEY=NUMBER ..." among others."""
    tests = []
    for line in file:
        if not line.startswith("# truth: "):
            continue
        fields = dict(word.split("=", 1) for word in line[len("# truth: "):].split())
        fields.pop("seconds", None)
        program = fields.pop("program")
        # A test of the test: its stacks are changed before they are judged
        if not program.endswith("(tampered)"):
            tests.append(dict({key: int(value) for key, value in fields.items()},
                              program=program))
    return tests


class Step:
    """Single step: the kernel's stack at each instruction, beside the true one"""

    FILE = "step.txt"
    load = staticmethod(load_truth)
    COLUMNS = ("steps", "distinct", "tabled", "right", "exceptions", "wrong", "short",
               "unlisted")

    @staticmethod
    def figures(tests):
        """Adds the shares, of the steps in code that has tables."""
        for test in tests:
            test["right_share"] = screen.share(test["right"],
                                               test["tabled"] - test["exceptions"])
        return tests

    @classmethod
    def show(cls, tests):
        """Each program."""
        print(f"\n  {'':<22}" + "".join(f"{key:>11}" for key in cls.COLUMNS) + f"{'right':>11}")
        for test in tests:
            print(f"  {test['program']:<22}"
                  + "".join(f"{test[key]:>11,}" for key in cls.COLUMNS)
                  + f"{percent(test['right_share']):>11}")
        print("\n  exceptions are those whose cause stands in the table, and is listed")

    @staticmethod
    def holds(tests):
        """(what, whether)"""
        bad = sum(test["wrong"] + test["short"] + test["unlisted"] for test in tests)
        distinct = sum(test["distinct"] for test in tests)
        yield f"single step: {bad} steps in code with tables are not right (0)", bad == 0
        yield f"single step: {distinct:,} distinct steps ({STEPS:,})", distinct >= STEPS


def main():
    """Read, print, judge."""
    directory = sys.argv[1]
    whole, held = {}, []
    for part in (Same, Methods, Step):
        path = os.path.join(directory, part.FILE)
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            figures = part.figures(part.load(file))
        whole[part.__name__.lower()] = figures
        print(part.__doc__)
        part.show(figures)
        print()
        held += part.holds(figures)
    whole["holds"] = [{"what": what, "holds": good} for what, good in held]
    path = os.path.join(directory, "accuracy.json")
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(whole, file, indent=1)
        file.write("\n")
    os.replace(path + ".new", path)
    for what, good in held:
        print(f"{'holds' if good else 'FAILS':<7}{what}")
    sys.exit(not held or not all(good for _, good in held))


if __name__ == "__main__":
    main()
