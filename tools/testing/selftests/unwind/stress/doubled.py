#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Count the stacks in a perf.data file, and the doubled ones:  doubled.py FILE

A stack is written once to the buffer of each event that waits for it.  So the file may have
a cookie several times, but not twice from the same event.  Each record has to end with
thread, time, CPU and event, by "perf record -a --sample-identifier".  Those that are there
twice are printed as errors.
"""
import struct
import sys

CALLCHAIN_DEFERRED = 22

with open(sys.argv[1], "rb") as file:
    data = file.read()
at, size = struct.unpack_from("=QQ", data, 40)
end = at + size
seen = {}
doubled = 0
while at < end:
    kind, _misc, length = struct.unpack_from("=IHH", data, at)
    if kind == CALLCHAIN_DEFERRED:
        cookie, nr = struct.unpack_from("=QQ", data, at + 8)
        ips = ["%x" % ip for ip in struct.unpack_from("=%dQ" % nr, data, at + 24)]
        pid, tid, time, cpu, event = struct.unpack_from("=IIQIxxxxQ", data, at + length - 32)
        record = "%d/%d at %d on CPU %d: %s" % (pid, tid, time, cpu, " ".join(ips))
        if (cookie, event) in seen:
            doubled += 1
            print("# cookie %x of event %d twice:\n#   %s\n#   %s" %
                  (cookie, event, seen[cookie, event], record), file=sys.stderr)
        seen[cookie, event] = record
    at += length
print(len(seen), doubled)
