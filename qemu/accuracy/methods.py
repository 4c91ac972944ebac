#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""How many stacks arrive at their start: methods.py DIRECTORY prints JSON.

In the directory are, of each program and method, what perf script printed of the
recording (PROGRAM.METHOD.script) and how many samples perf counted and lost
(PROGRAM.METHOD.counts).  What a complete stack is, and how it is read, the demo's
report says (qemu/demo/report.py): its outermost frame is where the kernel lets a
process or a thread begin.
"""

import collections
import glob
import json
import os
import sys

import screen

# How many of the places where stacks end early are listed
LISTED = 10


class Run(screen.Run):
    """A run that also knows where its incomplete stacks end."""

    def __init__(self, *args):
        super().__init__(*args)
        self.ends = collections.Counter()

    def read(self, lines):
        super().read(self.noting_ends(lines))

    def noting_ends(self, lines):
        """The same lines; what is noted is where each stack ends."""
        stack = []
        for line in lines:
            if line.startswith((" ", "\t")):
                stack.append(line.rstrip("\n"))
            elif stack:
                self.note(stack)
                stack = []
            yield line
        if stack:
            self.note(stack)

    def note(self, stack):
        """The outermost frame of one stack that is not complete."""
        frames = filter(None, map(screen.parse_frame, stack))
        user = [name for address, name in frames if address < screen.KERNEL_FROM]
        if user and not screen.is_complete(user):
            dso = stack[-1].rpartition(" (")[2].rstrip(")")
            self.ends[f"{os.path.basename(dso)}:{user[-1]}"] += 1


def read_run(path):
    """The figures of one program by one method."""
    with open(path[:-len("script")] + "counts", encoding="ascii") as file:
        samples, lost, size = map(int, file.read().split())
    run = Run(os.path.basename(path), size, samples, lost)
    with open(path, encoding="utf-8", errors="replace", newline="\n") as lines:
        run.read(lines)
    return {
        "samples": run.samples,
        "lost": run.lost,
        "with_user": run.with_user,
        "complete": run.with_user_complete,
        "complete_share": screen.share(run.with_user_complete, run.with_user),
        "median_depth": run.median_depth(),
        "bytes_per_sample": run.per_sample(),
        "ends": dict(run.ends.most_common(LISTED)),
    }


def main():
    """All programs and methods that are there."""
    result = {}
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.script"))):
        program, method, _ = os.path.basename(path).split(".")
        result.setdefault(program, {})[method] = read_run(path)
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
