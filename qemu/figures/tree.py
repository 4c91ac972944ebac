# SPDX-License-Identifier: GPL-2.0
"""A tree of stacks:  perf script -F comm,pid,ip,sym,dso,dsoff | tree.py >JSON

The tree has the form of perf's flamegraph.py, which stacks.py reads.  Stripped programs,
and Debian's dynamic linker, have no name for the function that the kernel starts.  The
ELF header says where it is, so it is called "_start" all the same.
"""

import collections
import functools
import json
import re
import struct
import sys

# Bytes of code at an entry point, before it is left for good
ENTRY_SIZE = 64
HEAD = re.compile(r" *(.*?) +(\d+) *( [0-9a-f]+ .* \(.*\))?$")
# Of a language: in the place of its object there are its file and line
RUNTIME = re.compile(r":\d+$")
FRAME = re.compile(r"\s+[0-9a-f]+ (.*) \((.*?)(?:\+0x([0-9a-f]+))?\)$")
UNKNOWN = "[unknown]"


@functools.lru_cache(None)
def entry(path):
    """The offset of a file's entry point, or None"""
    try:
        with open(path, "rb") as file:
            header = file.read(64)
            if header[:5] != b"\x7fELF\x02":
                return None
            start, offset, size, number = struct.unpack("<24xQQ14xHH6x", header)
            file.seek(offset)
            for _ in range(number):
                kind, _, place, address, _, length = struct.unpack("<IIQQQQ", file.read(size)[:40])
                if kind == 1 and address <= start < address + length:
                    return start - address + place
    except (OSError, struct.error):
        pass
    return None


def frames(lines):
    """(name, kind) of a sample's frames, the outermost first

    perf shows none of a stack in which a number cannot be an address: it was cut off there."""
    if not lines:
        yield UNKNOWN, ""
    for number, line in enumerate(reversed(lines)):
        name, dso, offset = FRAME.match(line).groups()
        name = name.partition("+0x")[0] if not name.startswith("[") else name
        if name == UNKNOWN and not number and offset:
            begin = entry(dso)
            if begin is not None and 0 <= int(offset, 16) - begin < ENTRY_SIZE:
                name = "_start"
        kind = "runtime" if RUNTIME.search(dso) else ""
        yield name, "kernel" if dso.startswith(("[kernel", "[guest.kernel")) else kind


class Node:  # pylint: disable=too-few-public-methods
    """A function and its callees"""

    def __init__(self):
        self.value, self.children = 0, collections.defaultdict(Node)

    def plain(self, name="all", kind="root"):
        """For JSON"""
        return {"n": name, "l": kind, "v": self.value,
                "c": [child.plain(*key) for key, child in self.children.items()]}


def samples(lines):
    """(task, process, lines of frames) of each; one that has no stack has its address in its
    first line, and no empty line after it"""
    head, stack = None, []
    for line in lines:
        line = line.rstrip("\n")
        if line.startswith("\t"):
            stack.append(line)
        elif line:
            if head:
                yield *head, stack
            task, process, address = HEAD.match(line).groups()
            head, stack = (task, process), [address] if address else []
    if head:
        yield *head, stack


def main():
    """Read, write"""
    root = Node()
    for task, process, stack in samples(sys.stdin):
        node = root.children[f"{task} ({process})", ""]
        for key in frames(stack):
            node = node.children[key]
        node.value += 1
    # Stacks are as deep as perf cuts them
    sys.setrecursionlimit(20000)
    json.dump(root.plain(), sys.stdout)


if __name__ == "__main__":
    main()
