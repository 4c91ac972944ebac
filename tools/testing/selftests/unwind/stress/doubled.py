#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Count the stacks in a perf.data file, and those that are there twice:  doubled.py FILE

A stack is written once to the buffer of each event that waits for it.  So the file may have
a cookie several times, but not twice from the same event, which "perf record
--sample-identifier" puts at the end of each record.
"""
import collections
import struct
import sys

CALLCHAIN_DEFERRED = 22

with open(sys.argv[1], "rb") as file:
    data = file.read()
at, size = struct.unpack_from("=QQ", data, 40)
end = at + size
seen = collections.Counter()
while at < end:
    kind, _misc, length = struct.unpack_from("=IHH", data, at)
    if kind == CALLCHAIN_DEFERRED:
        cookie, = struct.unpack_from("=Q", data, at + 8)
        event, = struct.unpack_from("=Q", data, at + length - 8)
        seen[cookie, event] += 1
    at += length
print(len(seen), sum(times - 1 for times in seen.values()))
