# SPDX-License-Identifier: GPL-2.0
"""Writer x mode x reader of deferred callchains:  readers.py PERF PERF7 SQLITE

Each perf records the same work in several ways, and each perf reads each recording. A cell
of the table counts what one of them prints:

    merged    whole stacks / samples
    apart     whole records / cookies in samples: --no-merge-callchains, of two modes

A stack is whole if it reaches _start. "lost" is the plain recording,
where each fourth record has the cookie of no sample. PERF must find each stack that is in
the recording, and no other. Perf 7 looks for it only after the sample: it may find none. With
STRICT=1 that is in 3 of 100, and the share of whole stacks is judged, too: a busy machine can
miss that, as it takes many samples of one stack, or loses records.
"""

import glob
import os
import re
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

SQL = ("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 200000) "
       "SELECT sum(x * x % 7) FROM c;")
WORK = [sys.argv[3], "-batch", ":memory:", SQL]
GRAPH = {"ours": ["--call-graph", "sframe", "--no-runtime"], "perf 7": ["--call-graph", "fp,defer"]}
MODES = {
    "plain": [], "lost": None, "compressed": ["-z"], "piped": [], "compressed, piped": ["-z"],
    "switched": ["--switch-output=32K"],
}
APART = ("plain", "lost")
STRICT = os.environ.get("STRICT") == "1"


def record(perf, writer, mode):
    """Files of a recording; a pipe's content is a file, too"""
    name = f"d.{writer[-1]}.{mode.replace(', ', '-')}"
    piped = "piped" in mode
    with open(name, "wb") as out:
        subprocess.run([perf, "record", "-q", "-B", "-e", "cpu-clock", "-F", "499", *GRAPH[writer],
                        *MODES[mode], "-o", "-" if piped else name, "--", *WORK],
                       check=True, stdout=out if piped else subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    return sorted(glob.glob(name + ".2*")) if mode == "switched" else [name]


def lose(path):
    """A copy where each fourth record has another cookie"""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    at, size = struct.unpack_from("<QQ", data, 40)
    end, records = at + size, 0
    while at < end:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        if kind == 22:
            records += 1
            if records % 4 == 0:
                cookie, = struct.unpack_from("<Q", data, at + 8)
                struct.pack_into("<Q", data, at + 8, cookie ^ 1 << 63)
        at += size
    with open(path.replace("plain", "lost"), "wb") as file:
        file.write(data)
    return [path.replace("plain", "lost")]


def lost_records(perf, path, piped):
    """Did perf record lose some, because it did not run for seconds?"""
    with open(path, "rb") as file:
        done = subprocess.run([perf, "report", "-i", "-" if piped else path, "--stats", "--stdio"],
                              check=True, text=True, stdin=file if piped else subprocess.DEVNULL,
                              capture_output=True)
    return "LOST" in done.stdout


def blocks(perf, path, piped, *options):
    """What perf script prints: lines of each sample, or half"""
    with open(path, "rb") as file:
        done = subprocess.run([perf, "script", "-i", "-" if piped else path, "--no-inline",
                               "--kallsyms", "d.kernel", "-F", "comm,tid,time,ip,sym",
                               "--comms", "sqlite3", *options], check=True,
                              text=True, stdin=file if piped else subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if "deferred callchains missing" in done.stderr and not path.endswith(".lost"):
        if STRICT or not lost_records(perf, path, piped):
            raise ValueError(f"{path}: {done.stderr}")
    return [block.splitlines() for block in done.stdout.split("\n\n") if block.strip()]


def is_whole(lines):
    """Does a stack reach the program's start?"""
    return bool(re.search(r"\s_start(\s|$)", lines[-1]))


def merged(perf, files, piped):
    """Whole stacks, samples"""
    found = [block for path in files for block in blocks(perf, path, piped)]
    return sum(map(is_whole, found)), len(found)


def apart(perf, files, piped):
    """Whole halves; the cookies of samples, some of them equal; and how many match"""
    found = [block for path in files
             for block in blocks(perf, path, piped, "--no-merge-callchains")]
    halves, cookies = {}, []
    for block in found:
        half = re.search(r"DEFERRED CALLCHAIN \[cookie: (\w+)\]", block[0])
        if half:
            halves[half[1]] = is_whole(block)
        cookies += re.findall(r"^\s*(\w+) \(cookie\)", "\n".join(block), re.M)
    return sum(halves.values()), len(cookies), sum(halves.get(cookie, False) for cookie in cookies)


def judge(reader, mode, together, halves):
    """What is wrong with what one reader prints, or nothing"""
    whole, samples = together
    # The first ones are of a program that starts, before its tables are loaded
    share = (0.5, 0.85) if mode == "lost" else (0.8, 1)
    if samples < 50 or not whole or (
            STRICT and not share[0] * samples <= whole <= share[1] * samples):
        return f"{whole} of {samples} are whole"
    if not halves:
        return None
    least = halves[2] if reader == "ours" else halves[2] - 0.03 * samples if STRICT else 1
    # One in _start itself reaches it without a record
    most = halves[2] + 3 if reader == "ours" else samples
    if not least <= whole <= most:
        return f"{whole} of {samples} are whole, but {halves[2]} have a whole record"
    return None


def rows(perfs):
    """Record and read: yields the writer, mode, number of files, cells of each reader"""
    with ThreadPoolExecutor(3) as pool:
        jobs = {(writer, mode): pool.submit(record, perf, writer, mode)
                for writer, perf in perfs.items() for mode in MODES if mode != "lost"}
        for writer in perfs:
            recorded = {mode: jobs[writer, mode].result() for mode in MODES if mode != "lost"}
            recorded["lost"] = lose(recorded["plain"][0])
            cells = {}
            for mode, files in recorded.items():
                for reader, reading in perfs.items():
                    for count in (merged, apart) if mode in APART else (merged,):
                        cells[mode, reader, count] = pool.submit(count, reading, files,
                                                                 "piped" in mode)
            for mode in MODES:
                yield writer, mode, len(recorded[mode]), {
                    reader: (cells[mode, reader, merged].result(),
                             cells[mode, reader, apart].result() if mode in APART else None)
                    for reader in perfs}


def main():
    """Print the table, judge"""
    perfs = dict(zip(GRAPH, sys.argv[1:]))
    faults = []
    # To read all of the kernel's takes a second each time
    with open("d.kernel", "w", encoding="ascii") as file:
        file.write("ffffffff81000000 T _text\nffffffff81000000 T _stext\n")
    print(f"{'writer':8}{'mode':20}" +
          "".join(f"{reader + ' merged':>18}{reader + ' apart':>18}" for reader in perfs))
    for writer, mode, files, cells in rows(perfs):
        row = f"{writer:8}{mode:20}"
        for reader, (together, halves) in cells.items():
            for numbers in together, (halves or ["-"])[:2]:
                row += f"{' / '.join(map(str, numbers)):>18}"
            fault = judge(reader, mode, together, halves)
            if fault:
                faults.append(f"{writer}, {mode}, read by {reader}: {fault}")
        print(row, flush=True)
        if mode == "switched" and files < 2:
            faults.append(f"{writer}: not switched")
    print("\n".join(faults))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
