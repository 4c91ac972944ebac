# SPDX-License-Identifier: GPL-2.0
"""All figures of "make bench" or "make accuracy":  report.py DIRECTORY PART...

DIRECTORY/PART/ has what programs printed.  Each function below turns a part into tables
and into what must hold.  All parts that are there are printed, and put together as JSON.
The exit status is 0 if all holds, 3 if not.  Of "quick", and of "worst" alone, what holds on
any machine is printed as TAP.

Costs are instructions.  An operation has many batches in each of some runs: the median
of a run leaves out what ticks do in some batches, and the least of the medians counts.
"""

import collections
import glob
import json
import math
import os
import re
import statistics
import sys

import stacks
from stacks import percent, share

median = statistics.median


class Part:
    """Tables of figures, {row: {column: figure}}, and (what must hold, does it?)"""

    def __init__(self, directory):
        self.directory, self.tables, self.holds = directory, {}, []

    def lines(self, name):
        """The words of each line that a program has printed"""
        with open(os.path.join(self.directory, name), encoding="utf-8") as file:
            lines = [line.split() for line in file]
        if not lines:
            sys.exit(f"{self.directory}/{name} has no figures")
        return lines

    def group(self, name, keys):
        """{first words: [the other words as numbers, of each line]}"""
        groups = {}
        for words in self.lines(name):
            groups.setdefault(tuple(words[:keys]), []).append([int(word) for word in words[keys:]])
        return groups

    def set(self, title, row, column, figure):
        """One cell of a table"""
        self.tables.setdefault(title, {}).setdefault(str(row), {})[column] = figure

    def at_most(self, what, figure, limit):
        """A limit on a figure"""
        self.holds.append((f"{what}: {figure:,.4g} (at most {limit:,.4g})", figure <= limit))

    def operations(self, title, limit=None):
        """Operations on the kernel with the feature, beside the one without it"""
        runs = {}
        for kernel in ("normal", "off"):
            last = None
            for name, times, count in self.lines(f"idle.{kernel}"):
                batches = runs.setdefault(name, {}).setdefault(kernel, [])
                if name != last:
                    batches.append([])
                last = name
                batches[-1].append(int(count) / int(times))
        for name, kernels in runs.items():
            least, mean = ([min(map(median, kernels[k])) for k in ("normal", "off")],
                           [statistics.fmean(sum(kernels[k], [])) for k in ("normal", "off")])
            spread = max(map(median, kernels["normal"])) - least[0]
            for column, figure in (
                    ("with", least[0]), ("without", least[1]), ("more", least[0] - least[1]),
                    ("more %", 100 * (least[0] / least[1] - 1)), ("spread", spread),
                    ("mean with", mean[0]), ("mean without", mean[1]),
                    ("mean more %", 100 * (mean[0] / mean[1] - 1))):
                self.set(title, name, column, round(figure, 3))
            if limit is not None:
                self.at_most(f"{name}, more than without the feature", least[0] - least[1], limit)


# Depths between which a frame is measured
LOW, HIGH = 40, 104


def per_frame(depths):
    """What a stack costs more where it is deeper, per frame: {depth: [instructions]}"""
    return round((median(depths[HIGH]) - median(depths[LOW])) / (HIGH - LOW), 1)


def decoder(part):
    """A lookup in an SFrame section, by the number of functions and of entries of each"""
    points = collections.defaultdict(dict)
    for path in glob.glob(os.path.join(part.directory, "out.*")):
        with open(path, encoding="ascii") as file:
            text = file.read()
        # "bench DECODER VERSION FUNCTIONS ENTRIES LOOKUPS", as sframe_bench has named it
        named = re.search(r"^desc: Trigger: .*\bbench (\w+) (\d+) (\d+) (\d+) (\d+)$", text, re.M)
        if named:
            name, version, fdes, fres, lookups = named.groups()
            counted = int(re.search(r"^summary: (\d+)$", text, re.M).group(1))
            points[int(version), int(fdes), int(fres)][name] = counted / int(lookups)
    if not points:
        sys.exit("callgrind left no figures")
    last = {}
    for (version, fdes, fres), counts in sorted(points.items()):
        # The other number is fixed: functions are searched, entries are walked
        many = fres == 4
        if not many and fdes != 10:
            continue
        title = f"version {version}, by {'functions' if many else 'entries per function'}"
        row = fdes if many else fres
        before, base = last.get(title, (None, None))
        for name in ("kernel", "libsframe"):
            part.set(title, row, name, round(counts[name], 1))
            if before:
                steps = math.log2(row / before) if many else (row - before) / 2
                part.set(title, row, f"{name}, more per {'doubling' if many else 'entry walked'}",
                         round((counts[name] - base[name]) / steps, 1))
        part.set(title, row, "share", round(counts["kernel"] / counts["libsframe"], 3))
        last[title] = row, counts


# The limit of a file's first table, in milliseconds of 10^6 instructions
FIRST = {"libc.so.6": 100, "cc1": 600}


def tables(part):
    """Processes that are never unwound, many registered ranges, and first tables"""
    # fork and exec differ by some 0.2 % from run to run, by the allocators' state
    part.operations("never unwound")
    counts = collections.defaultdict(lambda: collections.defaultdict(list))
    for kind, nr, *values in part.lines("ranges.normal"):
        if kind == "memory":
            part.set("registered ranges", nr, "bytes each", round(int(values[0]) / int(nr)))
        else:
            counts[int(nr), kind][int(values[0])].append(int(values[1]))
    for (nr, kind), depths in sorted(counts.items()):
        part.set("registered ranges", nr, f"{kind} frame", per_frame(depths))
    # Only one architecture's guest has the compiler
    served = part.lines("first") if os.path.exists(f"{part.directory}/first") else []
    for how, file, functions, size, time in served:
        for column, figure in ("functions", functions), ("bytes", size), (f"ms, {how}", time):
            part.set("from a miss to the table", file, column, int(figure))
        if how == "first" and file in FIRST:
            part.at_most(f"{file}, ms from the first miss to the table", int(time), FIRST[file])


def frames(part):
    """A frame, by frame pointer or by a table, by its number of functions; 2x: in two files"""
    limit = 100 if "bench-arm64" in part.directory else 90
    counts = collections.defaultdict(lambda: collections.defaultdict(list))
    for kernel in "normal", "off":
        for kind, how, state, depth, count in part.lines(f"frames.{kernel}"):
            counts[kind, how, state, kernel][int(depth)].append(int(count))
    cost = {}
    for (kind, how, state, kernel), depths in counts.items():
        if how == "sample":
            continue
        row = "frame pointer" if kind == "fp" else f"{kind} functions"
        cost[row, how, state] = figure = per_frame(depths)
        part.set("a frame", row, f"{how}, {state}", figure)
        if how == "deferred":
            for depth in (8, 64, 500):
                part.set("a deferred stack", row, f"{depth} {state}", median(depths[depth]))
        if how == "deferred" or (how == "inplace" and kind != "fp"):
            part.at_most(f"a frame by {row}, {how}, {state}", figure,
                         limit + 10 if kind == "fp" else limit + 25 * kind.startswith("2x"))
        if (how, state) == ("deferred", "warm"):
            part.set("a frame", row, "its address in the record",
                     round(figure - per_frame(counts[kind, "faultable", state, kernel]), 1))
    # What a stack costs more that has frames of a second file, but for the frames
    for how in "deferred", "inplace":
        one, two = (counts[f"{files}x7936", how, "warm", "normal"] for files in (1, 2))
        more = median(two[LOW]) - median(one[LOW]) - LOW * (per_frame(two) - per_frame(one))
        part.set("a file of a stack", how, "instructions", round(more))
        part.at_most(f"a file of a stack, {how}", more, 320)
    # A sample, of a system call, with its stack; without a table, perf's own loop takes it.
    # The program has tables on arm64.
    for depth in () if limit > 90 else (8, 104):
        cost = {kernel: median(counts["fp", "sample", "warm", kernel][depth]) for kernel in ("normal", "off")}
        more = round(100 * (cost["normal"] / cost["off"] - 1), 1)
        title = "a sample of a process without tables"
        part.set(title, f"{depth + 5} frames", "with", cost["normal"])
        part.set(title, f"{depth + 5} frames", "without", cost["off"])
        part.set(title, f"{depth + 5} frames", "more %", more)
        part.at_most(f"{title}, {depth + 5} frames, more %", more, 5)


# The most instructions that a sample may take, and that interrupts may be disabled for
MOST = 50000
# perf lowers its rate where samples take longer on average: a quarter of the time, at 100,000 Hz
PERF_NS = 2500


def worst(part):
    """The most expensive stacks that a program can have, and the longest time without interrupts"""
    for kind, name, *counts in part.lines("worst.normal"):
        insns = int(counts[-1])
        if kind == "stack":
            title = "an immediate stack"
            part.set(title, name, "frames", int(counts[0]))
            part.set(title, name, "instructions", insns)
            part.set(title, name, "per ns, for perf to keep its rate", round(insns / PERF_NS, 1))
        else:
            title = "interrupts are disabled"
            part.set(title, name, "instructions", insns)
        part.holds.append((f"{title}, {name}: {insns:,} instructions ({MOST:,})", insns <= MOST))


# The limits of a request in NMI: an entry's first, and each other
REQUEST = {"first": 300, "again": 60, "other": 60, "other_again": 60}


def deferred(part):
    """A request for a stack, and what becomes of it (least/median/largest)"""
    counts = collections.defaultdict(list)
    for name in ("deferred.normal", "deferred.normal.2"):
        for context, what, which, count in part.lines(name):
            counts[what, context, which].append(int(count))
    for (what, context, which), values in counts.items():
        middle = median(values)
        if which == "known":
            # 100 instructions that were counted as a test
            part.holds.append((f"{context}: instructions are counted", middle == 100))
            continue
        column = which if what == "requests" else f"{what} {which}"
        part.set(what.rstrip("0123456789"), context if what in ("requests", "latency") else what,
                 column if what == "requests" else which, [min(values), middle, max(values)])
        if what == "requests" and context in ("nmi", "user"):
            part.at_most(f"request in {context}, {which}", middle, REQUEST[which])
    part.operations("return to user space, nothing pending", 2)


def sampling(part):
    """A sample, and what the sampled program loses to them"""
    groups = part.group("sampling", 2)
    base = {}
    for (method, hz), lines in groups.items():
        cost = median((line[1] - line[0]) / line[2] for line in lines)
        base.setdefault(hz, cost)
        samples, whole, size = (sum(line[at] for line in lines) for at in (2, 3, 4))
        part.set(f"at {hz} Hz", method, "a sample", round(cost))
        part.set(f"at {hz} Hz", method, "its stack", round(cost - base[hz]))
        part.set(f"at {hz} Hz", method, "bytes", round(size / samples, 1))
        part.set(f"at {hz} Hz", method, "lost of 1e9/s, %",
                 round(100 * median(1 - line[0] / line[1] for line in lines), 4))
        part.set(f"at {hz} Hz", method, "records lost", lines[-1][5])
        if method in ("sframe", "fp", "in-place"):
            part.holds.append((f"{method} at {hz} Hz: {percent(whole / samples)} of stacks are "
                               "whole (99 %)", whole >= 0.99 * samples))


def memory(part):
    """Memory of the kernel, in bytes"""
    on, off = ({name: int(count) for name, count in part.lines(f"memory.{kernel}")}
               for kernel in ("normal", "off"))
    for row, figure in (
            ("a process that runs, never unwound", on["before"] - off["before"]),
            ("one that was unwound", on["unwound"]), ("unwound once more", on["again"]),
            ("a task with a deferred stack", on["deferred"]),
            ("the first registered table", on["table"]),
            ("1,000 more", on["libraries"]), ("each of these", round(on["libraries"] / 1000, 1))):
        part.set("a process", row, "bytes", figure)
    # Objects that the series changes or adds; others have tests, and types for BPF
    objects = {name for name, in part.lines("objects")}
    size = {}
    for kernel in ("normal", "off"):
        found = [line for line in part.lines(f"size.{kernel}")[1:] if line[5] in objects]
        size[kernel] = (sum(int(line[0]) for line in found),
                        sum(int(line[1]) + int(line[2]) for line in found))
        if not found:
            sys.exit(f"size.{kernel} has none of the objects")
    for row, with_it, without in zip(("text", "data"), size["normal"], size["off"]):
        part.set("the kernel, tests left out", row, "bytes", with_it - without)
    files, functions, entries, tables, cfi, beyond = (int(word) for word in part.lines("tables")[0])
    for row, unit, figure in (("files with CFI", "files", files), ("their functions", "functions", functions),
                              ("entries", "entries", entries), ("tables", "bytes", tables),
                              (".eh_frame and .eh_frame_hdr", "bytes", cfi),
                              ("tables beyond 0.65 times these and 4 KiB", "files", beyond)):
        part.set("all files of the root", row, unit, figure)
    part.holds.append((f"tables take {tables / cfi:.2f} times their CFI (0.65)", tables <= 0.65 * cfi))


def language(part):
    """A sample with 20 frames of a language; beside it, a signal to itself"""
    for (how,), lines in part.group("language.normal", 1).items():
        part.set("a system call", how, "instructions", median(line[0] for line in lines))


def readers(part):
    """An event of ftrace, and its user stack by ftrace or BPF"""
    counts = {key: median(line[0] for line in lines) for key, lines in part.group("readers.normal", 2).items()}
    for (reader, depth), insns in counts.items():
        part.set("an event", reader, f"{depth} frames", insns)
    few, many = sorted({int(depth) for _, depth in counts})
    for reader in ("ftrace", "languages", "bpf"):
        more = counts[reader, str(many)] - counts[reader, str(few)]
        part.set("an event", reader, "a frame more", round(more / (many - few)))


def bpf(part):
    """Programs of bcc's and bpftrace's tools, and the instructions that the verifier went through"""
    on, off = ({name: (int(programs), int(insns)) for name, programs, insns in part.lines(f"verified.{kernel}")}
               for kernel in ("normal", "off"))
    for title, tools in (("tools that load", [name for name in off if off[name][0]]),
                         ("tools that differ", [name for name in off if on[name] != off[name]])):
        part.set("BPF", title, "tools", len(tools))
        for at, column in enumerate(("programs", "instructions")):
            for kernel, loads in (("with", on), ("without", off)):
                part.set("BPF", title, f"{column} {kernel}", sum(loads[name][at] for name in tools))
    for name in off:
        if on[name] != off[name]:
            part.set("BPF tools that differ", name, "with/without", f"{on[name]} {off[name]}")
    worse = [name for name in off if on[name][0] < off[name][0] or on[name][1] > off[name][1]]
    part.holds += [(f"{sum(1 for name in off if off[name][0])} BPF tools load (50)",
                    sum(1 for name in off if off[name][0]) >= 50),
                   (f"{len(worse)} BPF tools load worse (0)", not worse)]


def post(part):
    """Reading recordings: what a sample of many costs beyond few"""
    lines = collections.defaultdict(list)
    for kind, *words in part.lines("post"):
        lines[kind].append([words[0]] + [int(word) for word in words[1:]])
    reads = collections.defaultdict(list)
    for method, samples, lost, size, cost, kib, missing in lines["script"]:
        reads[method].append((samples, cost))
        for column, figure in (("samples", samples), ("in all", cost), ("peak KiB", kib), ("lost", lost),
                               ("missing", missing), ("bytes", round(size / samples, 1))):
            part.set("perf script", method, column, figure)
    each = {method: (many[1] - few[1]) / (many[0] - few[0]) for method, (few, many) in reads.items()}
    for method, figure in each.items():
        part.set("perf script", method, "a sample", round(figure))
        part.set("perf script", method, "of dwarf's", round(figure / each["dwarf-8192"], 4))
    part.at_most("perf script, a sample by sframe, of dwarf's", each["sframe"] / each["dwarf-8192"], 1 / 20)
    before = growth = None
    for samples, threads, cost, kib, missing in sorted([int(a), *rest] for a, *rest in lines["merge"]):
        for column, figure in (("threads", threads), ("in all", cost), ("peak KiB", kib), ("missing", missing)):
            part.set("merged samples", samples, column, figure)
        if before:
            figure = (cost - before[1]) / (samples - before[0])
            part.set("merged samples", samples, "a sample", round(figure))
            if growth:
                # Linear: a sample costs no more among many
                part.at_most(f"merging, a sample among {samples:,}, of among fewer", figure / growth, 1.2)
            growth = figure
        before = samples, cost
    for method, samples, lost, size in lines["rate"]:
        for column, figure in (("in the file", samples), ("lost %", round(100 * lost / (samples + lost), 2)),
                               ("bytes", size), ("bytes per sample", round(size / samples, 1))):
            part.set("highest rate", method, column, figure)


# Neither for nor against: DWARF has no answer there, or there is no stack
UNJUDGED = ("left_out", "not_yet", "not_yet_other", "sigreturn", "signal", "copy_short", "dwarf_missing", "dwarf_failed")


def same(part, strict=True):
    """The same sample: the kernel's stack, and libdw's from a copy of the stack"""
    per_program = 400 * min(int(os.environ.get("SIZE") or 10), 10) if strict else 100
    with open(os.path.join(part.directory, "figures"), encoding="utf-8") as file:
        programs = [json.loads(line) for line in file]
    part.holds.append(("programs were compared", bool(programs)))
    for p in programs:
        name, verdicts = p["program"], p["verdicts"]
        judged = sum(n for key, n in verdicts.items() if key not in UNJUDGED)
        right = verdicts["same_complete"] + verdicts["same_cut"]
        # Parts of the start of a process and of a thread have no table
        cuts = [cut for cut in p["cuts"] if cut["where"].partition(":")[2] not in stacks.OUTERMOST]
        begun = sum(cut["count"] for cut in p["cuts"]) - sum(cut["count"] for cut in cuts)
        as_dwarf = share(min(right + begun, judged), judged)
        title = "stacks"
        for column, figure in (
                ("samples", p["samples"]), ("judged", judged), ("right", percent(share(right, judged))),
                ("same", verdicts["same_complete"]), ("both cut", verdicts["same_cut"]),
                ("table: other than .eh_frame", verdicts["table_wrong"]),
                ("no table", verdicts["no_table_cut"]), ("guess", verdicts["no_table_other"]),
                ("ours", verdicts["ours"]), ("complete", percent(
                    share(p["complete"] + begun, p["samples"] - verdicts["left_out"])))):
            part.set(title, name, column, figure)
        for cut in cuts[:5]:
            part.set("ended early", f"{name}, {cut['reason']}: {cut['where']}", "stacks", cut["count"])
        part.holds += [
            (f"{name}: {verdicts['ours']} differences are ours (0)", verdicts["ours"] == 0),
            (f"{name}: {judged:,} samples were judged ({per_program:,})", judged >= per_program),
            (f"{name}: some complete stacks are the same", verdicts["same_complete"] > 0)]
        if strict:
            part.holds += [
                (f"{name}: the same {percent(share(right, judged))} (98 %)", right >= 0.98 * judged),
                (f"{name}: as complete as by .eh_frame {percent(as_dwarf)} (99.9 %)",
                 (as_dwarf or 0) >= 0.999)]


def served(part):
    """The same of Debian's programs, whose tables the service makes"""
    with open(os.path.join(part.directory, "figures"), encoding="utf-8") as file:
        programs = [json.loads(line) for line in file]
    samples = differences = 0
    for p in programs:
        verdicts = p["verdicts"]
        samples += sum(n for key, n in verdicts.items() if key not in UNJUDGED)
        differences += verdicts["ours"] + verdicts["no_table_other"]
        for key, number in verdicts.items():
            part.set("stacks", p["program"], key, number)
        for cut in p["cuts"][:5]:
            part.set("ended early", f"{p['program']}, {cut['reason']}: {cut['where']}", "stacks", cut["count"])
    part.holds += [("programs were compared", bool(programs)),
                   (f"{differences} differences are ours (0)", differences == 0),
                   (f"{samples:,} samples were judged (1,000 of each program)",
                    samples >= 1000 * len(programs))]


# Methods by which all stacks of Debian's programs are complete, and the first run's are not
COMPLETE = ("sframe", "stock", "stock-defer", "bpftrace", "trace-cmd")
# Go's runtime switches to another stack and back, for example to collect garbage.  A stack is
# not followed across that
SWITCHES = ("gojq",)
# Its threads change mappings all the time, by malloc(): one immediate stack in twenty ends
# early
MAPS = ("threads",)


def stock(part):
    """Complete stacks in user space of Debian's programs as they are, by the table service.
    stock and stock-defer: perf record -g and --call-graph fp,defer by Debian's perf"""
    for program, runs in stacks.load(part.directory).items():
        for method, run in runs.items():
            figure = share(run.in_user_complete, run.in_user) or 0
            part.set("complete", program, method, percent(figure))
            part.set("samples in user space", program, method, run.in_user)
            if run.size:
                part.set("bytes per sample", program, method, round(share(run.size, run.samples) or 0, 1))
            if method == "first":
                part.set("ms from the first miss to the first complete stack", program, method, run.waited)
            immediate = method in ("stock", "bpftrace")
            if method in COMPLETE and program not in SWITCHES and not (immediate and program in MAPS):
                part.holds.append((f"{program}: complete by {method} {percent(figure)} (99.5 %)",
                                   figure >= 0.995))
            for name, count in run.ends.most_common(3) if method in COMPLETE else ():
                part.set("stacks end in", f"{program} by {method}, {name}", "samples", count)


def methods(part):
    """Complete stacks by method, of samples that have a user part"""
    for program, runs in stacks.load(part.directory).items():
        for method, run in runs.items():
            part.set("complete", program, method, percent(share(run.complete, run.with_user)))
            part.set("samples", program, method, run.samples)
            part.set("bytes per sample", program, method, round(run.size / run.samples, 1))
        for name, count in runs["sframe"].ends.most_common(5):
            part.set("stacks by sframe end in", f"{program}, {name}", "samples", count)
        part.holds += stacks.strict(program, runs)
        if program == "sqlite":
            part.holds += ((f"{program}, {what}", good) for what, good in stacks.holds(runs))


def step(part):
    """Single step: the kernel's stack at each instruction, beside the true one"""
    with open(os.path.join(part.directory, "single_step"), encoding="utf-8") as file:
        found = re.findall(r"^# truth: program=(\S+)((?: \w+=\d+)+)", file.read(), re.M)
    bad = distinct = 0
    for program, words in found:
        # A test of the test: its stacks are changed before they are judged
        if program.endswith("(tampered)"):
            continue
        figures = {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", words)}
        for key in ("steps", "distinct", "tabled", "right", "exceptions", "wrong", "short", "unlisted"):
            part.set("steps", program, key, figures[key])
        bad += figures["wrong"] + figures["short"] + figures["unlisted"]
        distinct += figures["distinct"]
    part.holds += [(f"{bad} steps in code with tables are not right (0)", bad == 0),
                   (f"{distinct:,} distinct steps (200,000)", distinct >= 200000)]


def tools(part):
    """Debian's tools, and perf's own tests"""
    for path in glob.glob(os.path.join(part.directory, "*/tap")):
        with open(path, encoding="utf-8") as file:
            part.holds += [(what, result == "ok") for result, what in
                           re.findall(r"^ *(not ok|ok) \d+ (.*)", file.read(), re.M)]


PARTS = {"bench": (decoder, tables, frames, worst, deferred, sampling, memory, language, readers, bpf, post),
         "accuracy": (same, methods, stock, served, step, tools)}


def written(figure):
    """A cell"""
    if isinstance(figure, list):
        return "/".join(f"{value:,.0f}" for value in figure)
    return figure if isinstance(figure, str) else f"{figure:,}"


def show(title, table):
    """A table, aligned"""
    columns = list(dict.fromkeys(column for row in table.values() for column in row))
    lines = [[title] + columns] + [
        [name] + [written(row[c]) if c in row else "" for c in columns] for name, row in table.items()]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns) + 1)]
    print()
    for line in lines:
        print("  " + line[0].ljust(widths[0]) + "".join(
            cell.rjust(width + 2) for cell, width in zip(line[1:], widths[1:])))


# Parts that are tests by themselves
TAP = {"quick": lambda part: same(part, strict=False), "worst": worst}


def main():
    """Read, write, print, judge"""
    directory = sys.argv[1]
    if len(sys.argv) == 3 and sys.argv[2] in TAP:
        part = Part(os.path.join(directory, sys.argv[2]))
        TAP[sys.argv[2]](part)
        for number, (what, good) in enumerate(part.holds, 1):
            print(f"{'ok' if good else 'not ok'} {number} {what}")
        return
    kind = os.path.basename(directory).partition("-")[0]
    result, held = {}, []
    for function in PARTS[kind]:
        part = Part(os.path.join(directory, function.__name__))
        if not os.path.isdir(part.directory):
            continue
        function(part)
        result[function.__name__] = {"tables": part.tables, "holds": dict(part.holds)}
        held += ((f"{function.__name__}: {what}", good) for what, good in part.holds)
        print(f"\n{function.__doc__}")
        for title, table in part.tables.items():
            show(title, table)
    with open(os.path.join(directory, f"{kind}.json"), "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    print()
    for what, good in held:
        print(f"{'holds' if good else 'FAILS':<7}{what}")
    sys.exit(0 if result and all(good for _, good in held) else 3)


if __name__ == "__main__":
    main()
