# SPDX-License-Identifier: GPL-2.0
"""How many stacks are complete:  judge_tracers.py TOOL FILE PERCENT [strict]

FILE is what the tool has printed.  There must be complete stacks, and each must begin
as a process or a thread of these programs does.  With "strict", the share of complete
stacks must be PERCENT; of "-PERCENT", it must be less, strict or not.

Debian's perf 7 looks for a deferred stack only after its sample, and shows the cookie of
a sample that comes later.  Such samples do not count, and may be 1 %.

trace-cmd's immediate stacks have eight addresses at most: one is complete if it begins as
the deferred stack of the same cookie, which is complete, and has all of it or eight; a
stack with another address is wrong.  (Where tables lead nowhere, a deferred stack ends,
but an immediate one follows frame pointers.)  Whether a wrong stack would be seen is
tried with one of them: without its second caller, and with another.
"""

import bisect
import collections
import functools
import re
import subprocess
import sys

BEGIN = re.compile(r"(_start|_*(GI_+)?(clone3?|thread_start));")
RIGHT = re.compile(r"(_start;__libc_start_main[^;]*;((__libc_start_call_main|\[unknown\]|0x)[^;]*;)?"
                   r"(main|((\[unknown\]|0x[0-9a-f]+);)?Py_BytesMain)"
                   r"|_*(GI_+)?(clone3?|thread_start);start_thread;(work|wait_often))(;|$)")
IMMEDIATE = 8


def bpftrace(text):
    """Yields (functions, the innermost first; count)"""
    for stack, count in re.findall(r"@stacks\[(.*?)\]: (\d+)", text, re.S):
        yield re.findall(r"^\s*[0-9a-f]+ ([^+\s]+)", stack, re.M), int(count)


def bcc(text):
    """The same of folded stacks: the task, and functions with the outermost first"""
    for line in text.splitlines():
        stack, count = line.rsplit(" ", 1)
        yield stack.split(";")[:0:-1], int(count)


bcc_off_cpu = bcc


def perf(text):
    """The same of perf script, without the first second"""
    first = None
    for record in filter(None, map(str.strip, text.split("\n\n"))):
        head, *frames = record.splitlines()
        time = float(re.search(r"(\d+\.\d+):", head).group(1))
        first = first or time
        if time - first > 1:
            yield [frame.split()[1].split("+")[0] for frame in frames], 1, frames


def perf_deferred(text):
    """The same, without samples that came too late, whose last "address" is a cookie"""
    late = total = 0
    for functions, count, frames in perf(text):
        total += 1
        if functions and functions[-1] == "[unknown]" and int(frames[-1].split()[0], 16) >> 48 not in (0, 0xffff):
            late += 1
        else:
            yield functions, count
    print(f"{late} of {total} samples came after their stack")
    if late > 0.01 * total and "strict" in sys.argv:
        yield ["a stack that came before"], late


@functools.lru_cache(None)
def symbols(path):
    """(offset in the file, name) of functions; what is loaded where, readelf says"""
    loads = re.findall(r"^\s+LOAD +(\S+) +(\S+) +\S+ +(\S+)", subprocess.run(
        ["readelf", "-lW", path], check=True, text=True, capture_output=True).stdout, re.M)
    loads = [[int(word, 0) for word in load] for load in loads]
    found = []
    for line in subprocess.run(["nm", "--defined-only", path], check=True, text=True,
                               capture_output=True).stdout.splitlines():
        address, kind, name = line.split(maxsplit=2)
        found += [(int(address, 16) - vaddr + offset, name) for offset, vaddr, size in loads
                  if kind in "tTwWi" and vaddr <= int(address, 16) < vaddr + size]
    return sorted(found)


def function(path, offset):
    """The name at a return address: the call is before it; the vDSO is not a file"""
    found = symbols(path) if path.startswith("/") else []
    at = bisect.bisect_left(found, (offset,))
    return found[at - 1][1].partition("@")[0] if at else path


def numbers(line, name):
    """Of "name={0x1,0x2}" in a line"""
    return [int(word, 0) for word in re.search(rf"\b{name}={{([^}}]*)}}", line).group(1).split(",") if word]


def trace_cmd_stacks(text):
    """A list of deferred stacks: functions, addresses, immediate stacks of that cookie

    An event that interrupts the last steps to user space may come after its stack."""
    paths, stacks, immediate = {}, {}, collections.defaultdict(list)
    waiting, first, stack = {}, None, []
    for line in text.splitlines():
        head = re.match(r".*-(\d+)\s+\[\d+\]\s+\S+\s+(\d+\.\d+):\s+(\w+):", line)
        if head:
            task, time, event = head.groups()
            first = first or float(time)
            cookie = re.search(r"\bcookie=(\S+)|$", line).group(1)
            stack = []
        # The first one stands beside the event's name
        address = re.search(r"\t=> 0x0*([1-9a-f][0-9a-f]*)", line)
        if address:
            stack.append(int(address.group(1), 16))
        if not head:
            continue
        if event == "user_stack":
            waiting[task] = stack
        elif event == "user_unwind_cookie":
            immediate[cookie].append(waiting.pop(task))
        elif event == "user_unwind_file":
            number, path = re.search(r"file=(\S+) path=(\S+)", line).groups()
            paths[int(number, 0)] = path
        elif event == "user_unwind_stack" and float(time) - first > 1:
            places = zip(numbers(line, "file"), numbers(line, "offset"))
            stacks[cookie] = ([function(paths[file], offset) if file in paths else "?"
                               for file, offset in places], numbers(line, "ip"))
    return [(*stack, immediate[cookie]) for cookie, stack in stacks.items()]


def trace_cmd_deferred(text):
    """The same of trace-cmd's deferred stacks"""
    for functions, _, _ in trace_cmd_stacks(text):
        yield functions, 1


def compare(stacks):
    """The same of its immediate stacks"""
    for functions, ips, immediate in stacks:
        complete = BEGIN.match(functions[-1] + ";") if functions else None
        for stack in immediate:
            if stack == ips[:IMMEDIATE]:
                yield functions, 1
            elif stack[:len(ips)] != ips[:len(stack)] or (complete and len(stack) > len(ips)):
                yield ["another stack", "_start"], 1
            else:
                yield ["cut" if complete else "where the deferred one ends, or after it"], 1


def trace_cmd(text):
    """The same, if a wrong one among them would be seen"""
    stacks = trace_cmd_stacks(text)
    for i, (functions, ips, immediate) in enumerate(stacks):
        if not immediate or len(ips) < 3 or ips[1] == ips[2]:
            continue
        for wrong in (ips[:1] + ips[2:IMMEDIATE], ips[:1] + [ips[1] + 1] + ips[2:IMMEDIATE]):
            spoilt = stacks[:i] + [(functions, ips, immediate + [wrong])] + stacks[i + 1:]
            if not count(compare(spoilt))[3]:
                sys.exit("a stack with a wrong caller is taken for a right one")
        return compare(stacks)
    sys.exit("there is no immediate stack with two callers")


def count(found):
    """How many stacks there are and how many are complete; where others end, and wrong ones"""
    total = complete = 0
    ends, wrong = collections.Counter(), collections.Counter()
    for functions, number, *_ in found:
        stack = ";".join(reversed(functions)) + ";"
        total += number
        if not BEGIN.match(stack):
            ends[functions[-1] if functions else "nothing"] += number
        elif RIGHT.match(stack):
            complete += number
        else:
            wrong[stack] += number
    return total, complete, ends, wrong


def main():
    """Count, print, judge"""
    tool, path, percent, *strict = sys.argv[1:]
    with open(path, encoding="utf-8", errors="replace") as file:
        total, complete, ends, wrong = count(globals()[tool](file.read()))
    share, limit = 100 * complete / max(total, 1), float(percent)
    print(f"{total} stacks, {complete} complete: {share:.2f} %")
    for kind, counter in (("end in", ends), ("wrong:", wrong)):
        for what, number in counter.most_common(5):
            print(f"{number} {kind} {what}")
    good = total >= (100 if strict else 10) and not wrong
    if limit < 0:
        good &= share < -limit
    else:
        good &= complete > 0 and (not strict or share >= limit)
    sys.exit(not good)


if __name__ == "__main__":
    main()
