#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Read a profile in pprof's form, by another program than the one that writes it.

    read_pprof.py PROFILE ELF

It prints the types of values, then each sample as "VALUES THREAD PID TID STACK", the
outermost function first.  It fails if a number refers to nothing, if a build-id or an
address is not what the ELF file has, or if the file's functions are not found by it.
"""
import gzip
import struct
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """{number: [value or bytes, ...]} of a message"""
    at, found = 0, {}
    while at < len(data):
        tag, at = varint(data, at)
        value, at = varint(data, at)
        if tag & 7 == 2:
            assert at + value <= len(data), "bytes beyond the message"
            value, at = data[at:at + value], at + value
        else:
            assert tag & 7 == 0, f"type {tag & 7}"
        found.setdefault(tag >> 3, []).append(value)
    return found


def one(message, field, default=0):
    return message.get(field, [default])[-1]


def packed(message, field):
    values = []
    for data in message.get(field, []):
        at = 0
        while at < len(data):
            value, at = varint(data, at)
            values.append(value)
    return values


def by_id(messages):
    found = {one(m, 1): m for m in map(fields, messages)}
    assert 0 not in found and len(found) == len(messages), "numbers are not unique"
    return found


class Elf:
    """The build-id, the functions and the executable segments of a 64-bit file"""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        phoff, shoff = struct.unpack_from("<QQ", data, 32)
        phnum, _, shnum = struct.unpack_from("<HHH", data, 56)
        self.build_id, self.functions, self.segments = "", {}, []
        for i in range(phnum):
            kind, flags, offset, addr, _, size, _, _ = struct.unpack_from(
                "<IIQQQQQQ", data, phoff + 56 * i)
            if kind == 1 and flags & 1:
                self.segments.append((addr, addr + size, offset))
            if kind == 4 and data[offset + 8:offset + 16] == b"\3\0\0\0GNU\0":
                length, = struct.unpack_from("<I", data, offset + 4)
                self.build_id = data[offset + 16:offset + 16 + length].hex()
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + 64 * i) for i in range(shnum)]
        for _, kind, _, _, offset, size, link, *_ in sections:
            for at in range(offset, offset + size, 24) if kind == 2 else ():
                name, info, _, _, value, length = struct.unpack_from("<IBBHQQ", data, at)
                name += sections[link][4]
                if info & 15 == 2:
                    text = data[name:data.index(b"\0", name)].decode()
                    self.functions[text] = (value, value + length)


def main(path, elf_path):
    with gzip.open(path) as file:
        profile = fields(file.read())
    strings = [s.decode() for s in profile[6]]
    assert strings[0] == "", "the first string is not empty"
    mappings, locations, functions = (by_id(profile.get(f, [])) for f in (3, 4, 5))
    elf, seen = Elf(elf_path), 0

    types = [(strings[one(t, 1)], strings[one(t, 2)]) for t in map(fields, profile[1])]
    print(" ".join(f"{kind}/{unit}" for kind, unit in types))
    assert one(profile, 9) > 1e18 and one(profile, 10) > 0 and one(profile, 12) > 0

    def is_file(number):
        mapping = mappings[number]
        if strings[one(mapping, 5)].rpartition("/")[2] != elf_path.rpartition("/")[2]:
            return False
        assert strings[one(mapping, 6)] == elf.build_id, "another build-id"
        limits = one(mapping, 2), one(mapping, 3), one(mapping, 4)
        assert limits == elf.segments[0], f"{limits} is not {elf.segments[0]}"
        return True

    files = {number: is_file(number) for number in mappings}

    def names(number):
        nonlocal seen
        location = locations[number]
        lines = [fields(line) for line in location.get(4, [])]
        found = [strings[one(functions[one(line, 1)], 2)] for line in lines]
        if one(location, 2) and files[one(location, 2)]:
            seen += 1
            start, end = elf.functions[found[0]]
            assert start <= one(location, 3) < end, f"{found[0]} is not at {one(location, 3):#x}"
        return found or [f"{one(location, 3):#x}"]

    for sample in map(fields, profile.get(2, [])):
        labels = {}
        for label in map(fields, sample.get(3, [])):
            labels[strings[one(label, 1)]] = strings[one(label, 2)] or one(label, 3)
        values = packed(sample, 2)
        assert len(values) == len(types), "values without a type"
        stack = [name for number in packed(sample, 1) for name in names(number)]
        print(*values, labels["thread_name"], labels["pid"], labels["tid"],
              ";".join(reversed(stack)))
    assert seen, f"no address in {elf_path}"


main(*sys.argv[1:])
