# SPDX-License-Identifier: GPL-2.0
"""Make a recording in which many threads sleep: merge.py FILE THREADS ROUNDS

In each round every thread is sampled in the kernel, and only then do they return
to user space, one after the other: with the first record as many samples wait as
there are threads.  In the last round, one in a hundred threads never returns.
"""

import struct
import sys

ATTR_SIZE, PID, DEPTH, MISSED = 136, 1000, 12, 100
# perf_event_attr: bits of sample_type, and flags
IP, TID, TIME, CALLCHAIN, IDENTIFIER = 1 << 0, 1 << 1, 1 << 2, 1 << 5, 1 << 16
SAMPLE_ID_ALL, DEFER_CALLCHAIN, DEFER_OUTPUT = 1 << 18, 1 << 38, 1 << 39
SAMPLE, CALLCHAIN_DEFERRED, FINISHED_ROUND = 9, 22, 68
MISC_KERNEL, MISC_USER = 1, 2
CONTEXT_KERNEL, CONTEXT_USER, CONTEXT_USER_DEFERRED = (
    (1 << 64) - context for context in (128, 512, 640))
KERNEL_IP = 0xffffffff81000010
USER_IPS = [CONTEXT_USER] + [0x401000 + 0x100 * frame for frame in range(DEPTH)]


def event(kind, misc, form="<", *words):
    """A record, as it is in the file"""
    return struct.pack("<IHH", kind, misc, 8 + struct.calcsize(form)) + struct.pack(form, *words)


def events(threads, rounds):
    """All records; the event's id is 1"""
    time = 0
    for at in range(rounds):
        for thread in range(threads):
            time += 1
            yield event(SAMPLE, MISC_KERNEL, "<QQIIQQ4Q", 1, KERNEL_IP, PID, PID + thread, time,
                        4, CONTEXT_KERNEL, KERNEL_IP, CONTEXT_USER_DEFERRED, at * threads + thread + 1)
        yield event(FINISHED_ROUND, 0)
        for thread in range(threads):
            time += 1
            if at < rounds - 1 or thread % MISSED:
                yield event(CALLCHAIN_DEFERRED, MISC_USER, f"<QQ{len(USER_IPS)}QIIQQ",
                            at * threads + thread + 1, len(USER_IPS), *USER_IPS,
                            PID, PID + thread, time, 1)
        yield event(FINISHED_ROUND, 0)


def main():
    """Header, the event's id, its attributes, the records"""
    data = b"".join(events(int(sys.argv[2]), int(sys.argv[3])))
    header, attrs = 104, 112
    size = ATTR_SIZE + 16
    attr = struct.pack("<IIQQQQQ", 1, ATTR_SIZE, 0, 1, IP | TID | TIME | CALLCHAIN | IDENTIFIER,
                       0, SAMPLE_ID_ALL | DEFER_CALLCHAIN | DEFER_OUTPUT).ljust(ATTR_SIZE, b"\0")
    with open(sys.argv[1], "wb") as file:
        file.write(struct.pack("<8s12Q", b"PERFILE2", header, size, attrs, size, attrs + size,
                               len(data), 0, 0, 0, 0, 0, 0))
        file.write(struct.pack("<Q", 1) + attr + struct.pack("<QQ", header, 8) + data)


main()
