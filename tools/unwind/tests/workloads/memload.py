# SPDX-License-Identifier: GPL-2.0
"""A load for memcached: memload.py SOCKET THREADS REQUESTS

Each thread stores a value, fetches it and nine others, and increments a counter,
REQUESTS times; answers are compared with what was stored.  At the end it shuts the
server down.
"""

import concurrent.futures
import socket
import sys
import time

KEYS, FETCHED = 1000, 10
PATH, THREADS, REQUESTS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def connect():
    """The server may still be about to make its socket, and gives no sign of it"""
    until = time.monotonic() + 60
    while True:
        try:
            sock = socket.socket(socket.AF_UNIX)
            sock.connect(PATH)
            return sock.makefile("rwb")
        except (FileNotFoundError, ConnectionRefusedError):
            if time.monotonic() > until:
                raise
            time.sleep(0.01)


def ask(stream, request, answer):
    """A request, and what has to come back"""
    stream.write(request.encode())
    stream.flush()
    got = stream.read(len(answer)).decode()
    if got != answer:
        raise ValueError(f"not {answer!r}: {got!r}")


def work(thread):
    """One connection; values are longer for later keys"""
    stream = connect()
    values = [f"{thread}-{key:0{key % 64 + 1}}" for key in range(KEYS)]
    ask(stream, f"set n{thread} 0 0 1\r\n0\r\n", "STORED\r\n")
    for i in range(KEYS + REQUESTS):
        key = i % KEYS
        ask(stream, f"set k{thread}-{key} 0 0 {len(values[key])}\r\n{values[key]}\r\n", "STORED\r\n")
        if i >= KEYS:
            keys = [(key + KEYS - back) % KEYS for back in range(FETCHED)]
            ask(stream, "get" + "".join(f" k{thread}-{k}" for k in keys) + "\r\n", "".join(
                f"VALUE k{thread}-{k} 0 {len(values[k])}\r\n{values[k]}\r\n" for k in keys) + "END\r\n")
            ask(stream, f"incr n{thread} 1\r\n", f"{i + 1 - KEYS}\r\n")


with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
    list(pool.map(work, range(THREADS)))
ask(connect(), "shutdown\r\n", "")
print(f"{THREADS} threads, {3 * REQUESTS} requests each: all answered")
