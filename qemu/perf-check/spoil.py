#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Copy a recording, with other cookies in some records: spoil.py FROM TO

Every tenth PERF_RECORD_CALLCHAIN_DEFERRED gets a cookie that no sample has.  The
cookies that were there are printed, in hexadecimal.  The recording must not be
compressed.
"""

import struct
import sys

CALLCHAIN_DEFERRED = 22
# In the file's header: where the events are, and their size
DATA = struct.Struct("<QQ")
DATA_AT = 40
EVENT = struct.Struct("<IHH")
COOKIE = struct.Struct("<Q")


def main():
    """Copy all, change some."""
    with open(sys.argv[1], "rb") as file:
        data = bytearray(file.read())
    at, size = DATA.unpack_from(data, DATA_AT)
    end = at + size
    records = 0
    while at < end:
        kind, _, size = EVENT.unpack_from(data, at)
        if kind == CALLCHAIN_DEFERRED:
            records += 1
            if records % 10 == 0:
                cookie, = COOKIE.unpack_from(data, at + EVENT.size)
                print(f"{cookie:x}")
                COOKIE.pack_into(data, at + EVENT.size, cookie ^ 1 << 63)
        at += size
    with open(sys.argv[2], "wb") as file:
        file.write(data)


main()
