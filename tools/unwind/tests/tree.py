# SPDX-License-Identifier: GPL-2.0
"""A tree of stacks:  perf script -F comm,pid,time,ip,sym,dso,dsoff | tree.py >JSON
                      bpftrace ... | tree.py TASK PROGRAM LIBRARY... >JSON
                      trace-cmd report ... | tree.py TASK >JSON

The tree has the form of perf's flamegraph.py, which stacks.py reads.  Stripped programs,
and Debian's dynamic linker, have no name for the function that the kernel starts, and
Debian's C library has none for where a thread starts.  The ELF header says where the one
is, and .eh_frame where there is no caller: both are called "_start" all the same.
"""

import bisect
import collections
import functools
import glob
import json
import os
import re
import struct
import sys

from stacks import is_complete

# Bytes of code at an entry point that no CFI describes, before it is left for good
ENTRY_SIZE = 64
HEAD = re.compile(r" *(.*?) +(\d+) *(?: (\d+\.\d+): *)?( [0-9a-f]+ .* \(.*\))?$")
# Of a language: in the place of its object there are its file and line
RUNTIME = re.compile(r":\d+$")
FRAME = re.compile(r"\s+[0-9a-f]+ (.*) \((.*?)(?:\+0x([0-9a-f]+))?\)$")
UNKNOWN = "[unknown]"


class Image:
    """An ELF file: where its code begins, and where its CFI says that nothing has called"""

    # DW_CFA_undefined and the return address's number, by the machine
    UNDEFINED = {62: b"\x07\x10", 183: b"\x07\x1e"}

    def __init__(self, path):
        self.loads, self.entry, self.undefined = [], None, b""
        self.starts, self.places, self.ranges = [], [], []
        with open(path, "rb") as file:
            self.data = file.read()
        if self.data[:5] != b"\x7fELF\x02":
            return
        machine, entry, offset, size, number = struct.unpack_from("<18xH4xQQ14xHH", self.data)
        self.undefined = self.UNDEFINED.get(machine, b"")
        headers = [struct.unpack_from("<IIQQQQ", self.data, offset + i * size) for i in range(number)]
        self.loads = [(place, address, length) for kind, _, place, address, _, length in headers if kind == 1]
        self.entry = self.place(entry)
        for kind, _, place, address, _, _ in headers:
            if kind == 0x6474e550:
                self.index(place, address)
        self.go_index()

    def place(self, address):
        """The offset in the file, or None"""
        for place, start, length in self.loads:
            if start <= address < start + length:
                return address - start + place
        return None

    def index(self, place, address):
        """Read .eh_frame_hdr, as all linkers write it"""
        if self.data[place:place + 4] != b"\x01\x1b\x03\x3b":
            return
        number, = struct.unpack_from("<I", self.data, place + 8)
        for start, description in struct.iter_unpack("<ii", self.data[place + 12:place + 12 + 8 * number]):
            begin, description = self.place(address + start), self.place(address + description)
            if begin is not None and description is not None:
                self.starts.append(begin)
                self.places.append(description)

    def sections(self):
        """{name: (its address, its place)}"""
        place, size, number, names = struct.unpack_from("<40xQ10xHHH", self.data)
        headers = [struct.unpack_from("<IIQQQQ", self.data, place + i * size) for i in range(number)]
        return {self.data[headers[names][4] + name:].split(b"\0", 1)[0].decode(): (address, place)
                for name, _, _, address, place, _ in headers} if number else {}

    def go_index(self):
        """Go's functions that have no caller: see tools/unwind/tables/go.c"""
        found = self.sections()
        table, place = found.get(".gopclntab", (0, 0))
        if self.data[place:place + 4] != b"\xf1\xff\xff\xff":
            return
        number, _, text, *_, functions = struct.unpack_from("<8Q", self.data, place + 8)
        if not text and ".go.module" in found:
            module = struct.unpack_from("<23Q", self.data, found[".go.module"][1])
            text = module[22] if module[0] == table else 0
        places = struct.unpack_from(f"<{2 * number + 1}I", self.data, place + functions)
        for i in range(0, 2 * number, 2):
            about = place + functions + places[i + 1]
            if self.data[about + 40] and self.data[about + 41] & 1:
                self.ranges.append((self.place(text + places[i]), self.place(text + places[i + 2] - 1)))

    def begins(self, offset):
        """Is this where a process or a thread begins?  The last byte of a call counts"""
        at = bisect.bisect_right(self.starts, offset) - 1
        if at >= 0 and self.undefined:
            # Length, CIE, two words of four bytes; no augmentation but its size
            place = self.places[at]
            length, back, _, size, more = struct.unpack_from("<IIiIB", self.data, place)
            if offset - self.starts[at] < size:
                # With "zR", both programs begin at the same place: an instruction may be
                # executed before the CFI says it
                program = self.data[place + 17 + more:place + 4 + length][:3]
                cie = place + 4 - back
                common = self.data[cie + 17:cie + 4 + struct.unpack_from("<I", self.data, cie)[0]]
                return self.undefined in (program[:2], program[1:]) or self.undefined in common
        if any(first is not None and last and first <= offset <= last for first, last in self.ranges):
            return True
        return self.entry is not None and 0 <= offset - self.entry < ENTRY_SIZE


@functools.lru_cache(None)
def image(path):
    """An ELF file that can be read, or None"""
    try:
        return Image(path)
    except (OSError, struct.error):
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
            file = image(dso)
            if file and file.begins(int(offset, 16) - (len(lines) > 1)):
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
    """(task, process, time, lines of frames) of each; one that has no stack has its address in
    its first line, and no empty line after it"""
    head, stack = None, []
    for line in lines:
        line = line.rstrip("\n")
        if line.startswith("\t"):
            stack.append(line)
        elif line:
            if head:
                yield *head, stack
            task, process, time, address = HEAD.match(line).groups()
            head, stack = (task, process, float(time or 0)), [address] if address else []
    if head:
        yield *head, stack


def waited(found):
    """Milliseconds from the first stack that ends early to the first complete one after it, of
    (time, frames); 0 if none ends early, None if all do"""
    miss = complete = None
    for time, stack in found:
        user = [name for name, kind in stack if not kind]
        if user and is_complete(user):
            complete = time
            if miss is not None:
                return round(1000 * (time - miss))
        elif user and miss is None:
            miss = time
    return 0 if complete is not None and miss is None else None


NUMBER = re.compile(rb"\x04\0\0\0(.\0\0\0)\x03\0\0\0GNU\0", re.S)


def build_ids(patterns):
    """{build ID: path}, of files"""
    result = {}
    for path in filter(os.path.isfile, sum(map(glob.glob, patterns), [])):
        with open(path, "rb") as file:
            start = file.read(4096)
        note = NUMBER.search(start)
        if start[:4] == b"\x7fELF" and note:
            result[start[note.end():note.end() + note.group(1)[0]].hex()] = path
    return result


def by_bpftrace(text, program, files, path):
    """The same of what bpftrace has counted, by task, stack in the kernel and in the program

    The outermost frame has a name, if it is one of a complete stack.  bpftrace writes the
    address where the kernel had no build ID; it is then the address in a program that is
    always at the same place, or is compared with one of the same place in a page, which was
    in a file."""
    found = []
    for task, stack, count in re.findall(r"^@\[([^,]*), (\d+, .*?)\]: (\d+)$", text, re.S | re.M):
        process, kernel, user = (part.strip() for part in re.split(r", *\n", stack, maxsplit=2))
        if task == program and user:
            found.append((f"{task} ({process})", "kernel" if kernel else "", user.splitlines(), int(count)))
    pages = set()
    for again in (False, True):
        for process, kind, user, count in found:
            *build, place = user[-1].split()
            place = int(place, 16)
            file = image(files.get("".join(build), path))
            if not build and file:
                place = file.place(place) or place
            if file and file.begins(place - (len(user) > 1)):
                pages.add(place % 4096)
                begins = True
            else:
                begins = not build and place % 4096 in pages
            if again:
                names = [("_start" if begins else UNKNOWN, "")] + [(UNKNOWN, "")] * (len(user) - 1)
                yield process, names + [(UNKNOWN, kind)] * bool(kind), count


def numbers(line, name):
    """Of "name={0x1,0x2}" in a line"""
    return [int(word, 0) for word in re.search(rf"\b{name}={{([^}}]*)}}", line).group(1).split(",") if word]


def by_trace_cmd(lines, program):
    """The same of deferred stacks that trace-cmd has recorded; a file is announced before"""
    paths = {}
    for line in lines:
        # The buffer's name comes first, see record.sh
        match = re.match(r"(?:watch:)? *(.*?)-(\d+) .*?: (\w+): ", line)
        # Not an event: the number of CPUs, or how many events were lost
        if not match:
            continue
        task, process, event = match.groups()
        if event == "user_unwind_file":
            number, path = re.search(r"file=(\S+) path=(\S+)", line).groups()
            paths[int(number, 0)] = path
        elif event == "user_unwind_stack" and task == program:
            places = list(zip(numbers(line, "file"), numbers(line, "offset")))
            where, offset = places[-1] if places else (0, 0)
            file = image(paths.get(where, ""))
            begins = file and file.begins(offset - (len(places) > 1))
            yield (f"{task} ({process})", [("_start" if begins else UNKNOWN, "")] +
                   [(UNKNOWN, "")] * (len(places) - 1), 1)


def main():
    """Read, write"""
    root, wait = Node(), {}
    if len(sys.argv) == 2:
        stacks = by_trace_cmd(sys.stdin, sys.argv[1])
    elif len(sys.argv) > 1:
        stacks = by_bpftrace(sys.stdin.read(), sys.argv[1], build_ids(sys.argv[2:]), sys.argv[2])
    else:
        found = [(f"{task} ({process})", time, list(frames(stack)))
                 for task, process, time, stack in samples(sys.stdin)]
        stacks = ((task, stack, 1) for task, _, stack in found)
        wait = {"waited": waited((time, stack) for _, time, stack in found)}
    for task, stack, count in stacks:
        node = root.children[task, ""]
        for key in stack:
            node = node.children[key]
        node.value += count
    # Stacks are as deep as perf cuts them
    sys.setrecursionlimit(20000)
    json.dump(dict(root.plain(), **wait), sys.stdout)


if __name__ == "__main__":
    main()
