#!/usr/bin/env python3
"""Compare call stacks that several methods recorded for one workload.

    report.py --run NAME SCRIPT BYTES SAMPLES LOST [--run ...] [--json FILE]

There is one --run per method, the method of interest first: its name, the
output of "perf script -F comm,tid,time,event,ip,sym,dso" for it, the size of
its perf.data, and how many samples perf counted and lost.  The result is one
screen for a person and, with --json, the same figures for a test.

The idea is to ask the same questions of every method:

* Does a stack arrive at the start?  A stack is complete when its outermost
  frame is where the kernel lets a process or a thread begin.  Two shares are
  given: over samples that interrupted user code, and over all samples that
  have a user part, thus also those that interrupted a system call.
* What does it cost?  The runs do not have exactly the same number of samples,
  so sizes are compared per sample.
* What does it look like?  Of the functions that every method has caught
  directly (as a leaf), the one that the first method caught most often, with
  the chain that each method most often gives for it.

The text is read line by line, each line once; what is kept are distinct
stacks, not samples.  Names in it come from the profiled program, which may
call its functions what it likes: they are data, never layout.
"""

import argparse
import collections
import json
import os
import re
import sys

WIDTH = 100
HEIGHT = 40
# How else the same was recorded, beside what perf does unasked.
KINDS = {
    "packed": "all with -z",
    "raw": "all without",
}
# perf prefers one of several names that glibc gives to the same address.  The
# second is where the dynamic linker's _start goes on after its first call, the third
# where arm64's clone() and clone3() begin a thread.
CLONE = frozenset(prefix + name for name in ("clone", "clone3")
                  for prefix in ("", "__", "__GI_", "__GI___"))
OUTERMOST = CLONE | {"_start", "_dl_start_user", "thread_start"}
KERNEL_FROM = 1 << 63
UNKNOWN = "[unknown]"
# In a header line: 'COMM TID TIME: EVENT: FRAME'.
BEFORE_FRAME = re.compile(r"[ \t][0-9]+[ \t]+[0-9]+\.[0-9]+:[ \t]+[^ \t]+:[ \t]+(?=[^ \t])")


def is_complete(user):
    """Does a stack, of names from the innermost on, go to where the kernel lets a process
    or thread begin?  That which has not left the system call that made it has a stack
    with nothing on it.  Where a call leaves the return address in a register, that one is
    still its parent's, and one frame more.
    """
    return user[-1] in OUTERMOST or (len(user) == 2 and user[0] in CLONE)


class Malformed(Exception):
    """The input is not what perf script prints."""


def parse_frame(text):
    """Split 'ADDRESS NAME (OBJECT)' into a number and a name.

    The name may contain blanks and parentheses, so it is what remains when
    the address is taken from the left and the object from the right.  Return
    None if there is no address: then it is not a frame.
    """
    address, _, rest = text.strip(" \t").partition(" ")
    # int() alone would also take "+1", "0x1" and "1_0".
    if not address or len(address) > 16 or address.strip("0123456789abcdef"):
        return None
    tail = rest
    if tail.endswith(" (deleted))"):
        tail = tail[:-len(" (deleted))")] + ")"
    at = tail.rfind(" (") if tail.endswith(")") else -1
    if at < 0:
        # No name at all, only an object: "(OBJECT)".
        name = "" if tail.startswith("(") else rest
    else:
        name = tail[:at]
    return int(address, 16), name.strip(" \t") or UNKNOWN


def parse_header_frame(text):
    """The frame that perf puts on the header line if there is no chain.

    The command is hostile ground, so what must precede the frame (thread,
    time, event) is looked for, wherever it begins.
    """
    found = BEFORE_FRAME.search(text)
    return parse_frame(text[found.end():]) if found else None


def read_samples(lines):
    """Yield, per sample, its list of (address, name), innermost first.

    A record is a header line, frames on lines that begin with a blank, and
    an empty line.  A sample without a chain has its only frame on the header
    line and no empty line after it.
    """
    frames = None
    for line in lines:
        line = line.rstrip("\n")
        if not line:
            if frames is not None:
                yield frames
            frames = None
        elif frames is not None and line[0] in " \t":
            frame = parse_frame(line)
            if frame:
                frames.append(frame)
        else:
            if frames is not None:
                yield frames
            frames = []
            frame = parse_header_frame(line)
            if frame:
                yield [frame]
                frames = None
    if frames is not None:
        yield frames


class Run:
    """What one method recorded."""

    def __init__(self, name, size, samples, lost):
        self.name = name
        self.size = size
        self.samples = samples
        self.lost = lost
        self.others = {}
        self.printed = 0
        self.in_user = 0
        self.in_user_complete = 0
        self.with_user = 0
        self.with_user_complete = 0
        self.depths = collections.Counter()
        self.stacks = collections.defaultdict(collections.Counter)

    def read(self, lines):
        """Count the samples in the lines of a script."""
        for frames in read_samples(lines):
            self.printed += 1
            user = tuple(sys.intern(name) for address, name in frames
                         if address < KERNEL_FROM)
            if not user:
                continue
            complete = is_complete(user)
            self.with_user += 1
            self.with_user_complete += complete
            if frames[0][0] < KERNEL_FROM:
                self.in_user += 1
                self.in_user_complete += complete
                self.depths[len(user)] += 1
                self.stacks[user[0]][user] += 1

    def hits(self, leaf):
        """How many samples were taken directly in that function."""
        return sum(self.stacks[leaf].values()) if leaf in self.stacks else 0

    def chain(self, leaf):
        """The most frequent chain for the leaf, and how often it occurred.

        Of equally frequent ones the last in the order of names is taken, so
        that the same input always gives the same screen.
        """
        stack, count = max(self.stacks[leaf].items(),
                           key=lambda item: (item[1], item[0]))
        return stack, count

    def median_depth(self):
        """Median number of user frames, of samples taken in user space."""
        middle = (self.in_user + 1) // 2
        seen = 0
        for depth in sorted(self.depths):
            seen += self.depths[depth]
            if seen >= middle:
                return depth
        return 0

    def per_sample(self):
        """Bytes of perf.data per sample."""
        return self.size / self.samples if self.samples else 0.0

    def other(self, kind):
        """Bytes, samples and lost ones when recorded with (packed) or without
        (raw) compression; the plain run where that is what it is."""
        return self.others.get(kind, (self.size, self.samples, self.lost))

    def other_per_sample(self, kind):
        """Bytes of such a perf.data per sample."""
        size, samples, _ = self.other(kind)
        return size / samples if samples else 0.0


def share(part, whole):
    """A share, or None if there is nothing to have a share of."""
    return part / whole if whole else None


def pick_leaf(runs):
    """The hottest leaf of the first run that has a name in every run."""
    common = [leaf for leaf in runs[0].stacks
              if leaf != UNKNOWN and all(leaf in run.stacks for run in runs)]
    return max(common, key=lambda leaf: (runs[0].hits(leaf), leaf), default=None)


def figures(runs, leaf, context):
    """All that is on the screen, for a program."""
    base = next((run for run in runs if run.name == "dwarf"), None)
    result = dict(context, leaf=leaf, methods={})
    for run in runs:
        entry = {
            "samples": run.samples,
            "samples_printed": run.printed,
            "lost": run.lost,
            "samples_in_user": run.in_user,
            "complete_in_user": run.in_user_complete,
            "complete_share_in_user": share(run.in_user_complete, run.in_user),
            "samples_with_user": run.with_user,
            "complete_with_user": run.with_user_complete,
            "complete_share_with_user":
                share(run.with_user_complete, run.with_user),
            "median_depth": run.median_depth(),
            "bytes": run.size,
            "bytes_per_sample": run.per_sample(),
            "dwarf_ratio_per_sample":
                share(base.per_sample(), run.per_sample()) if base else None,
        }
        for kind in KINDS:
            entry[kind + "_bytes_per_sample"] = run.other_per_sample(kind)
            entry[kind + "_lost"] = run.other(kind)[2]
            entry[kind + "_dwarf_ratio_per_sample"] = share(
                base.other_per_sample(kind),
                run.other_per_sample(kind)) if base else None
        if leaf is not None:
            stack, count = run.chain(leaf)
            entry["leaf_samples"] = run.hits(leaf)
            entry["chain"] = list(stack)
            entry["chain_samples"] = count
            entry["chain_complete"] = is_complete(stack)
        result["methods"][run.name] = entry
    return result


def visible(text, width):
    """The text with nothing in it that a terminal obeys, cut to a width."""
    # Beyond ASCII a character's width on the screen is a guess; don't.
    text = "".join(c if " " <= c <= "~" else "?" for c in text)
    return text if len(text) <= width else text[:width - 2] + ".."


class Style:
    """Colours, if the output is a terminal."""

    CODES = {"bold": "1", "good": "32", "poor": "31", "dim": "2"}

    def __init__(self, active):
        self.active = active

    def __call__(self, kind, text):
        if not self.active or kind is None:
            return text
        return "\033[%sm%s\033[0m" % (self.CODES[kind], text)


def column(stack, rows):
    """A stack as at most that many lines (three or more); the middle gives way."""
    if len(stack) <= rows:
        return list(stack)
    tail = rows // 2
    head = rows - tail - 1
    return (list(stack[:head])
            + ["   ... %d more ..." % (len(stack) - head - tail)]
            + list(stack[len(stack) - tail:]))


def number(value):
    """An integer with its digits in groups."""
    return "{:,}".format(value).replace(",", " ")


def percent(value):
    """A share; never rounded up to the whole."""
    if value is None:
        return "-"
    return "%.1f %%" % (100 if value == 1 else min(99.9, 100 * value))


def volume(size):
    """Bytes for a reader."""
    if size < 10000:
        return "%d B" % size
    if size < 10000000:
        return "%.0f kB" % (size / 1e3)
    return "%.1f MB" % (size / 1e6)


def render(data, style):
    """The screen, as a list of lines."""
    methods = data["methods"]
    names = list(methods)
    entries = [methods[name] for name in names]
    lines = []
    title = "%s on Linux %s, %s: the same work, recorded in %d ways" % (
        data["program"], data["kernel"], data["event"], len(names))
    lines.append(style("bold", visible(title, WIDTH)))
    lines.append("")

    # The figures are made first: the lines they leave are for the stacks.
    label = 43
    cell = min(19, (WIDTH - label) // len(names))

    def row(text, values, kinds=None):
        kinds = kinds or [None] * len(values)
        return "  " + text.ljust(label - 2) + "".join(
            style(kind, visible(value, cell - 1).rjust(cell))
            for value, kind in zip(values, kinds))

    def judge(key):
        return [None if e[key] is None else
                "good" if e[key] >= 0.95 else "poor" for e in entries]

    def ratio(value):
        return "-" if value is None else "%.1f" % value

    lost = ["poor" if e["lost"] else None for e in entries]
    table = [
        style("bold", row("", names)),
        row("samples", [number(e["samples"]) for e in entries]),
        row("  lost", [number(e["lost"]) for e in entries], lost),
        row("  taken in user space",
            [number(e["samples_in_user"]) for e in entries]),
        row("    complete, from _start to the leaf",
            [percent(e["complete_share_in_user"]) for e in entries],
            judge("complete_share_in_user")),
        row("  with a user part (and system calls)",
            [number(e["samples_with_user"]) for e in entries]),
        row("    complete",
            [percent(e["complete_share_with_user"]) for e in entries],
            judge("complete_share_with_user")),
        row("user frames, median",
            [number(e["median_depth"]) for e in entries]),
        row("perf.data", [volume(e["bytes"]) for e in entries]),
        row("  per sample", [volume(e["bytes_per_sample"]) for e in entries]),
    ]
    if "dwarf" in methods:
        table.append(row("  dwarf's, as a multiple of it",
                         [ratio(e["dwarf_ratio_per_sample"]) for e in entries]))
    for kind, title in KINDS.items():
        table.append(row("per sample, %s" % title, [
            volume(e[kind + "_bytes_per_sample"]) for e in entries]))
        if "dwarf" in methods:
            table.append(row("  dwarf's, as a multiple of it", [
                ratio(e[kind + "_dwarf_ratio_per_sample"]) for e in entries]))
    notes = [
        "%s: perf counted %s samples but printed %s"
        % (name, number(e["samples"]), number(e["samples_printed"]))
        for name, e in methods.items() if e["samples"] != e["samples_printed"]]
    notes += data["notes"]

    if data["leaf"] is None:
        lines.append("No function was caught by all of the methods.")
    else:
        wide = (WIDTH - 2 * len(names)) // len(names)
        # Five: two headings, the ends, a blank line, and one for the prompt.
        rows = max(3, HEIGHT - len(lines) - 5 - len(table) - len(notes))
        # The version of a symbol is noise here.
        columns = [[name.partition("@@")[0] for name in column(e["chain"], rows)]
                   for e in entries]
        lines.append("Most often interrupted: %s.  The usual stack there, "
                     "innermost first:" % visible(data["leaf"], 32))

        def across(cells, kinds):
            return "".join(
                "  " + style(kind, visible(text, wide).ljust(wide))
                for text, kind in zip(cells, kinds)).rstrip()

        lines.append(across(
            ["%s (%s of %s)" % (name, number(e["chain_samples"]),
                                number(e["leaf_samples"]))
             for name, e in methods.items()], ["bold"] * len(names)))
        ends = ["= complete" if e["chain_complete"] else "= cut off here"
                for e in entries]
        kinds = ["good" if e["chain_complete"] else "poor" for e in entries]
        for i in range(max(len(c) for c in columns) + 1):
            cells, paint = [], []
            for stack, end, kind in zip(columns, ends, kinds):
                at_end = i == len(stack)
                cells.append(stack[i] if i < len(stack) else
                             end if at_end else "")
                paint.append(kind if at_end else None)
            lines.append(across(cells, paint))
    lines.append("")
    return lines + table + [visible("  note: " + note, WIDTH) for note in notes]


def whole(text):
    """A count on the command line."""
    value = int(text)
    if value < 0:
        raise ValueError(text)
    return value


def main(argv=None):
    """Read the runs, print the screen."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--run", action="append", required=True, nargs=5,
                        metavar=("NAME", "SCRIPT", "BYTES", "SAMPLES", "LOST"))
    parser.add_argument("--other", action="append", default=[], nargs=5,
                        metavar=("KIND", "NAME", "BYTES", "SAMPLES", "LOST"),
                        help="the same run, recorded with (packed) or without "
                        "(raw) compression")
    parser.add_argument("--program", default="program")
    parser.add_argument("--kernel", default=os.uname().release)
    parser.add_argument("--event", default="cpu-clock")
    parser.add_argument("--note", action="append", default=[],
                        help="a line to print below the figures")
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args(argv)
    runs = []
    for name, script, size, samples, lost in arguments.run:
        if name in (run.name for run in runs):
            parser.error("two runs are called %s" % name)
        try:
            run = Run(name, whole(size), whole(samples), whole(lost))
        except ValueError:
            parser.error("run %s: a count is not a number" % name)
        with open(script, encoding="utf-8", errors="replace",
                  newline="\n") as lines:
            run.read(lines)
        if not run.printed:
            raise Malformed("%s: no sample in it" % script)
        runs.append(run)
    for kind, name, *counts in arguments.other:
        for run in runs:
            if run.name == name:
                run.others[kind] = tuple(whole(count) for count in counts)
    data = figures(runs, pick_leaf(runs), {
        "program": arguments.program,
        "kernel": arguments.kernel,
        "event": arguments.event,
        "notes": arguments.note,
    })
    if arguments.json:
        with open(arguments.json, "w", encoding="ascii") as out:
            json.dump(data, out, indent=1)
            out.write("\n")
    print("\n".join(render(data, Style(sys.stdout.isatty()))))


if __name__ == "__main__":
    try:
        main()
    except (Malformed, OSError) as error:
        sys.exit("%s: %s" % (os.path.basename(sys.argv[0]), error))
