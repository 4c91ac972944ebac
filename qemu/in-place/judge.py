#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""How many stacks are complete: judge.py TOOL FILE at-least|below PERCENT

FILE is what "bpftrace" has printed of a map @stacks[ustack(perf)], or what "perf" script,
"bcc"'s profile -f or offcputime -f, or trace-cmd's report has printed.  A stack is complete if
its last function is one in which a thread begins.  Stacks of the first second of perf's
and trace-cmd's are left out; the others were told to.  Exits with 0 if the share is as it
should be, and there is enough to tell.

Of "perf_deferred", those samples do not count that came once the stack of their entry into
the kernel had been delivered: perf 7 looks for it behind them only, and shows the cookie.
How many they are is printed, and they are not to be more than 1 %.  A stack that never came
looks the same here; that each cookie has its record is what the kselftest perf_cookies says.

"trace_cmd_deferred" looks at trace-cmd's deferred stacks.  "trace_cmd" looks at those in
place, which have eight addresses at most: one is complete if it begins as the deferred
stack of the same entry into the kernel does, that being complete, and has all of it or
eight."""

import bisect
import collections
import functools
import re
import struct
import subprocess
import sys

BEGIN = {"_start", "__clone3", "__GI___clone3", "clone3", "__clone", "thread_start"}
ENOUGH = 100
# The share of samples that may come when the stack is already delivered
LATE = 0.01
# Of ftrace's user stacks
IN_PLACE = 8


def bpftrace(text):
    """Yields (functions, count)"""
    for stack, count in re.findall(r"@stacks\[(.*?)\]: (\d+)", text, re.S):
        lines = [line.split() for line in stack.strip().splitlines()]
        yield [words[1].split("+")[0] for words in lines if words], int(count)


def perf_samples(text):
    """Yields (functions, address of the last)"""
    first = None
    for record in text.split("\n\n"):
        lines = record.strip().splitlines()
        if not lines:
            continue
        time = float(re.search(r"(\d+\.\d+):", lines[0]).group(1))
        if first is None:
            first = time
        if time - first > 1:
            functions = [line.split()[1].split("+")[0] for line in lines[1:]]
            yield functions, int(lines[-1].split()[0], 16) if functions else 0


def perf(text):
    """Yields (functions, count)"""
    for functions, _ in perf_samples(text):
        yield functions, 1


def perf_deferred(text):
    """Yields (functions, count)"""
    late = total = 0
    for functions, address in perf_samples(text):
        total += 1
        # A cookie is any number; of an address, the upper 16 bits are the same
        if functions and functions[-1] == "[unknown]" and address >> 48 not in (0, 0xffff):
            late += 1
        else:
            yield functions, 1
    print(f"{late} of {total} samples came after their stack")
    if late > LATE * total:
        yield ["a stack that came before"], late


def bcc(text):
    """Yields (functions, count); the outermost function is the first, after the task"""
    for line in text.splitlines():
        stack, count = line.rsplit(" ", 1)
        yield stack.split(";")[:0:-1], int(count)


class File:
    """The functions of a file, by the offset in it"""

    def __init__(self, path):
        with open(path, "rb") as file:
            head = file.read(64)
            phoff, = struct.unpack_from("<Q", head, 32)
            phentsize, phnum = struct.unpack_from("<HH", head, 54)
            file.seek(phoff)
            phdrs = file.read(phentsize * phnum)
        self.segments = []
        for i in range(phnum):
            kind, _, offset, vaddr, _, size = struct.unpack_from("<IIQQQQ", phdrs, i * phentsize)
            if kind == 1:
                self.segments.append((offset, size, vaddr))
        symbols = subprocess.run(["nm", "-n", "--defined-only", path], check=True, text=True,
                                 capture_output=True).stdout.split("\n")
        symbols = [line.split() for line in symbols if re.match(r"\S+ [tTwWi] ", line)]
        self.starts = [int(words[0], 16) for words in symbols]
        self.names = [words[2] for words in symbols]

    def function(self, offset):
        """The name, or None"""
        for start, size, vaddr in self.segments:
            if start <= offset < start + size:
                # A return address; the call is before it
                at = bisect.bisect_left(self.starts, offset - start + vaddr)
                return self.names[at - 1] if at else None
        return None


@functools.lru_cache(None)
def load(path):
    """The file, read once"""
    return File(path)


def numbers(line, name):
    """Of "name={0x1,0x2}" in a line"""
    words = re.search(rf"\b{name}={{([^}}]*)}}", line).group(1)
    return [int(word, 0) for word in words.split(",") if word]


Deferred = collections.namedtuple("Deferred", "time functions ips in_place")


def trace_cmd_stacks(text):
    """Yields each deferred stack, with those of its entry that were taken in place"""
    paths = {}
    waiting = collections.defaultdict(list)
    for line in text.splitlines():
        head = re.match(r".*-(\d+)\s+\[\d+\]\s+\S+\s+(\d+\.\d+):\s+(\w+):", line)
        if head:
            task, time, event = head.groups()
            stack = []
            if event == "user_stack":
                waiting[task].append(stack)
        frame = re.search(r"\t=> 0x([0-9a-f]+)", line)
        if frame:
            if frame.group(1) != "0":
                stack.append(int(frame.group(1), 16))
        elif not head:
            continue
        elif event == "user_unwind_file":
            number, path = re.search(r"file=(\S+) path=(\S+)", line).groups()
            paths[int(number, 0)] = path
        elif event == "user_unwind_stack":
            files, offsets = numbers(line, "file"), numbers(line, "offset")
            last = "nothing"
            if files and files[-1] in paths:
                path = paths[files[-1]]
                last = load(path).function(offsets[-1]) or f"{path}+{offsets[-1]:#x}"
            yield Deferred(float(time), [last], numbers(line, "ip"), waiting.pop(task, []))


def after_first_second(text):
    """Leaves out what trace-cmd has recorded before"""
    stacks = list(trace_cmd_stacks(text))
    return [stack for stack in stacks if stack.time - stacks[0].time > 1]


def trace_cmd_deferred(text):
    """Yields (functions, count)"""
    for stack in after_first_second(text):
        yield stack.functions * len(stack.ips), 1


def trace_cmd(text):
    """Yields (functions, count)"""
    for deferred in after_first_second(text):
        for ips in deferred.in_place:
            if ips == deferred.ips[:IN_PLACE]:
                yield deferred.functions * len(ips), 1
            else:
                yield ["another stack"] * max(len(ips), 1), 1


TOOLS = {"bpftrace": bpftrace, "perf": perf, "perf_deferred": perf_deferred,
         "bcc": bcc, "bcc_off_cpu": bcc, "trace_cmd": trace_cmd,
         "trace_cmd_deferred": trace_cmd_deferred}


def main():
    tool, path, relation, percent = sys.argv[1:]
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    complete = total = depth = 0
    ends = {}
    for functions, count in TOOLS[tool](text):
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
