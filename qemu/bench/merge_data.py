#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a recording in which many threads sleep: merge_data.py FILE THREADS ROUNDS

In each round every thread is sampled in the kernel, and only then do they get back
to user space, one after the other: with the first record as many samples wait as
there are threads.  In the last round, one in a hundred threads never gets back.
"""

import struct
import sys

# perf's file: a header, one event with its id, and what was recorded
MAGIC = b"PERFILE2"
HEADER = struct.Struct("<8sQQ" + "QQ" * 3 + "4Q")
ATTR_SIZE = 136
SECTION = struct.Struct("<QQ")
ID = 1

SOFTWARE, CPU_CLOCK = 1, 0
# In perf_event_attr: of sample_type, and of the bits
IP, TID, TIME, CALLCHAIN, IDENTIFIER = 1 << 0, 1 << 1, 1 << 2, 1 << 5, 1 << 16
SAMPLE_ID_ALL, DEFER_CALLCHAIN, DEFER_OUTPUT = 1 << 18, 1 << 38, 1 << 39

SAMPLE, CALLCHAIN_DEFERRED, FINISHED_ROUND = 9, 22, 68
MISC_KERNEL, MISC_USER = 1, 2
CONTEXT_KERNEL, CONTEXT_USER, CONTEXT_USER_DEFERRED = (
    (1 << 64) - context for context in (128, 512, 640))

PID = 1000
DEPTH = 12
KERNEL_IP = 0xffffffff81000010
USER_IPS = [0x401000 + 0x100 * frame for frame in range(DEPTH)]
LOST = 100


def event(kind, misc, payload=b""):
    """An event, as it is in the file"""
    return struct.pack("<IHH", kind, misc, 8 + len(payload)) + payload


def sample(thread, time, cookie):
    """In the kernel, with the user half of its stack to come"""
    chain = (CONTEXT_KERNEL, KERNEL_IP, CONTEXT_USER_DEFERRED, cookie)
    return event(SAMPLE, MISC_KERNEL, struct.pack(
        "<QQIIQQ4Q", ID, KERNEL_IP, PID, PID + thread, time, len(chain), *chain))


def record(thread, time, cookie):
    """The user half"""
    chain = [CONTEXT_USER] + USER_IPS
    return event(CALLCHAIN_DEFERRED, MISC_USER, struct.pack(
        f"<QQ{len(chain)}QIIQQ", cookie, len(chain), *chain,
        PID, PID + thread, time, ID))


def events(threads, rounds):
    """All that is recorded"""
    time = 0
    for at in range(rounds):
        for thread in range(threads):
            time += 1
            yield sample(thread, time, at * threads + thread + 1)
        yield event(FINISHED_ROUND, 0)
        for thread in range(threads):
            time += 1
            if at < rounds - 1 or thread % LOST:
                yield record(thread, time, at * threads + thread + 1)
        yield event(FINISHED_ROUND, 0)


def main():
    """Write the file."""
    path, threads, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    data = b"".join(events(threads, rounds))
    ids_at = HEADER.size
    attrs_at = ids_at + 8
    attrs_size = ATTR_SIZE + SECTION.size
    attr = struct.pack("<IIQQQQQ", SOFTWARE, ATTR_SIZE, CPU_CLOCK, 1,
                       IP | TID | TIME | CALLCHAIN | IDENTIFIER, 0,
                       SAMPLE_ID_ALL | DEFER_CALLCHAIN | DEFER_OUTPUT)
    with open(path, "wb") as file:
        file.write(HEADER.pack(MAGIC, HEADER.size, attrs_size, attrs_at, attrs_size,
                               attrs_at + attrs_size, len(data), 0, 0, 0, 0, 0, 0))
        file.write(struct.pack("<Q", ID))
        file.write(attr.ljust(ATTR_SIZE, b"\0") + SECTION.pack(ids_at, 8))
        file.write(data)


main()
