# SPDX-License-Identifier: GPL-2.0
"""Copy a recording that is not compressed, and give every tenth of its
PERF_RECORD_CALLCHAIN_DEFERRED a cookie that no sample has: spoil.py FROM TO

The cookies that were there are printed, in hexadecimal.
"""

import struct
import sys

with open(sys.argv[1], "rb") as file:
    data = bytearray(file.read())
# The header says where the records are
at, size = struct.unpack_from("<QQ", data, 40)
end, records = at + size, 0
while at < end:
    kind, _, size = struct.unpack_from("<IHH", data, at)
    if kind == 22:
        records += 1
        if records % 10 == 0:
            cookie, = struct.unpack_from("<Q", data, at + 8)
            print(f"{cookie:x}")
            struct.pack_into("<Q", data, at + 8, cookie ^ 1 << 63)
    at += size
with open(sys.argv[2], "wb") as file:
    file.write(data)
