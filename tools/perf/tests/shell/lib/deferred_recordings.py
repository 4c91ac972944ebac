# SPDX-License-Identifier: GPL-2.0
"""Recordings that no run gives reliably, written here and read by perf:

    deferred_recordings.py PERF [OTHER...]
    deferred_recordings.py --sleepers FILE THREADS ROUNDS     only make such a file, for "make bench"

Each case makes its file, has it read, and compares what is printed with the right answer.
Prints TAP. Times and memory are compared with the same perf's on a file of the same size
without the difficulty: a slow machine does not matter. A busy one can miss a time, so each
file is read once, and times are only printed. With STRICT=1 they are judged, too, and the
best of three readings counts.
OTHER is another perf, which must print the same of what any can read.
"""

import os
import re
import resource
import struct
import subprocess
import sys
import tempfile
import time

# Of perf's sources, for filters
INCLUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 3, "include")
ID = 1
KERNEL, USER, DEFERRED = (2**64 - context for context in (128, 512, 640))
IP, TID, TIME, CALLCHAIN, IDENTIFIER = 1, 2, 4, 1 << 5, 1 << 16
SAMPLE_ID_ALL, DEFER_CALLCHAIN, DEFER_OUTPUT = 1 << 18, 1 << 38, 1 << 39
KERNEL_IP = 0xffffffff81000010
TEXT = 0x400000
FUNCTIONS = [TEXT + 0x100 * i for i in range(1, 21)]
ROUND = struct.pack("<IHH", 68, 0, 8)
MS = 10**6
SECOND = 10**9
STRICT = os.environ.get("STRICT") == "1"


def event(kind, misc, payload):
    """A header and what follows"""
    return struct.pack("<IHH", kind, misc, 8 + len(payload)) + payload


def sample_id(task, when):
    """What ends all but samples"""
    return struct.pack("<IIQQ", task, task, when, ID)


def string(text):
    """With its 0, to a multiple of 8"""
    return text.encode() + b"\0" * (8 - len(text) % 8)


def comm(task, name, when):
    """PERF_RECORD_COMM"""
    return event(3, 0, struct.pack("<II", task, task) + string(name) + sample_id(task, when))


def mmap(task, path, when):
    """PERF_RECORD_MMAP of a whole file at TEXT"""
    return event(1, 2, struct.pack("<IIQQQ", task, task, TEXT, 1 << 22, 0) + string(path) +
                 sample_id(task, when))


def sample(task, when, cookie, user=None):
    """PERF_RECORD_SAMPLE in the kernel, or at an address of user space"""
    chain = ([] if user else [KERNEL, KERNEL_IP]) + [DEFERRED, cookie]
    return event(9, 2 if user else 1,
                 struct.pack(f"<QQIIQQ{len(chain)}Q", ID, user or KERNEL_IP, task, task, when,
                             len(chain), *chain))


def record(task, when, cookie, ips=tuple(FUNCTIONS), context=False):
    """PERF_RECORD_CALLCHAIN_DEFERRED: as mainline has it, or with a context as once 6.12"""
    ips = [USER, *ips] if context else ips
    return event(22, 2, struct.pack(f"<QQ{len(ips)}Q", cookie, len(ips), *ips) +
                 sample_id(task, when))


def compressed(events):
    """PERF_RECORD_COMPRESSED: a zstd frame with one block, stored as it is (RFC 8878, 3.1.1)"""
    return event(81, 0, struct.pack("<IBB", 0xfd2fb528, 0, 0x58) +
                 (len(events) << 3 | 1).to_bytes(3, "little") + events)


def in_rounds(events):
    """Each 2,000 records are one round"""
    for number, one in enumerate(events, 1):
        yield one if number % 2000 else one + ROUND
    yield ROUND


def packed(events):
    """The same, compressed by the 60,000 bytes"""
    some = b""
    for one in in_rounds(events):
        if len(some) + len(one) > 60000:
            yield compressed(some)
            some = b""
        some += one
    yield compressed(some)


def write(path, events, pack=False):
    """A file of one event"""
    header = struct.Struct("<8sQQ" + "QQ" * 3 + "4Q")
    attr = struct.pack("<IIQQQQQ", 1, 136, 0, 1, IP | TID | TIME | CALLCHAIN | IDENTIFIER, 0,
                       SAMPLE_ID_ALL | DEFER_CALLCHAIN | DEFER_OUTPUT).ljust(136, b"\0")
    attrs = header.size + 8
    data = attrs + len(attr) + 16
    with open(path, "wb") as file:
        file.seek(data)
        for one in packed(events) if pack else in_rounds(events):
            file.write(one)
        size = file.tell() - data
        if pack:
            # Where the only feature is: version, type, level, ratio, length of the buffers
            file.write(struct.pack("<QQ5I", data + size + 16, 20, 1, 1, 1, 1, 1 << 19))
        file.seek(0)
        file.write(header.pack(b"PERFILE2", header.size, len(attr) + 16, attrs, len(attr) + 16,
                               data, size, 0, 0, (1 << 27) * pack, 0, 0, 0))
        file.write(struct.pack("<Q", ID) + attr + struct.pack("<QQ", header.size, 8))
    return path


def run(command):
    """What a command prints"""
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    if done.returncode:
        raise Wrong(f"{command[0]}: {done.stderr}")
    return done.stdout


def spent():
    """Processor time of what has ended: the sum is exact, and how it is divided a guess"""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Read:
    """What perf script prints, how long it takes and how much memory"""

    def __init__(self, perf, path, *options):
        begin, before = time.monotonic(), spent()
        with subprocess.Popen([perf, "script", "-i", path, "--no-inline", "-F",
                               "comm,tid,time,ip,sym", *options],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            first = process.stdout.readline()
            self.first = time.monotonic() - begin
            status = f"/proc/{process.pid}/status"
            self.kb, text = 0, [first]
            while True:
                chunk = process.stdout.read(1 << 20)
                with open(status, encoding="utf-8") as file:
                    peak = re.search(r"VmHWM:\s*(\d+)", file.read())
                self.kb = max(self.kb, int(peak[1]) if peak else 0)
                if not chunk:
                    break
                text.append(chunk)
            self.err = process.stderr.read().decode()
        self.all = time.monotonic() - begin
        self.cpu = spent() - before
        if process.returncode:
            raise Wrong(f"perf script: {self.err}")
        self.samples = []
        for block in b"".join(text).decode().split("\n\n"):
            if block.strip():
                lines = block.strip("\n").splitlines()[1:]
                self.samples.append([line.split(maxsplit=1) for line in lines])

    def whole(self):
        """Samples with all of FUNCTIONS"""
        return sum([int(line[0], 16) for line in lines][-len(FUNCTIONS):] == FUNCTIONS
                   for lines in self.samples)

    def missing(self):
        """What perf reports"""
        found = re.search(r"(\d+) deferred callchains missing", self.err)
        return int(found[1]) if found else 0

    def shown(self):
        """All of it, to compare"""
        return [[line[0] for line in lines] for lines in self.samples]


class Wrong(Exception):
    """Another answer than the right one"""


def expect(what, got, right):
    """Print, and end the case where it is wrong"""
    print(f"# {what}: {got}")
    if got != right:
        raise Wrong(f"{what} must be {right}")


def bound(what, got, limit):
    """The same for what is measured"""
    print(f"# {what}: {got:.2f}, at most {limit}")
    if got > limit:
        raise Wrong(what)


def bound_time(what, time_of, beside, limit):
    """The same for a time beside another, which may be too short to be measured"""
    times = f"{time_of / beside:.2f} times" if beside else f"{time_of:.2f} s, beside nothing"
    print(f"# {what}: {times}, at most {limit}{'' if STRICT else ' with STRICT=1'}")
    if STRICT and time_of > limit * beside:
        raise Wrong(what)


def best(perf, path):
    """The quickest of three, where times are judged"""
    return min((Read(perf, path) for _ in range(3 if STRICT else 1)), key=lambda read: read.cpu)


def like_others(read, path, others):
    """It takes at most a tenth more than other versions, in time and memory"""
    for perf in others:
        other = best(perf, path)
        bound("memory, of another perf's", read.kb / other.kb, 1.1)
        bound_time("processor time, of another perf's", read.cpu, other.cpu, 1.1)


def same_elsewhere(read, path, others):
    """Other versions print these addresses, too"""
    for perf in others:
        expect("another perf prints the same", Read(perf, path).shown() == read.shown(), True)


def program(path, events, task=1000):
    """A recording of a process"""
    return write(path, [comm(task, "prog", 1), mmap(task, "/bin/none", 2), *events])


def case_context(perf, others):
    """records with and without PERF_CONTEXT_USER are read alike"""
    shown = []
    for context in (False, True):
        path = program("d.rec", [
            sample(1000, 10, 77), record(1000, 11, 77, context=context),
            sample(1000, 20, 78, FUNCTIONS[0]), record(1000, 21, 78, context=context)])
        read = Read(perf, path)
        expect("samples, whole", (len(read.samples), read.whole()), (2, 2))
        shown.append(read.shown())
        if not context:
            same_elsewhere(read, path, others)
    expect("both are printed alike", shown[0] == shown[1], True)
    expect("in the kernel and in user space", [len(lines) for lines in shown[0]], [21, 20])


def busy(count, lose=0, sleeper=False, every=2000):
    """A thread that enters the kernel each EVERY ns; of LOSE in 100 the record is lost"""
    yield comm(1000, "busy", 1)
    yield mmap(1000, "/bin/none", 2)
    if sleeper:
        yield comm(2000, "sleeper", 3)
        yield sample(2000, 10, 1)
    for i in range(count):
        when = 100 + every * i
        yield sample(1000, when, 10 + i)
        if i % 100 >= lose:
            yield record(1000, when + 1000, 10 + i)
    if sleeper:
        yield record(2000, 100 + every * count, 1)


def case_sleeper(perf, others):
    """a thread that sleeps throughout holds nothing up"""
    count = 50000
    alone = best(perf, write("d.rec", busy(count)))
    read = best(perf, write("d.rec", busy(count, sleeper=True)))
    expect("samples, whole", (len(read.samples), read.whole()), (count + 1, count + 1))
    bound("memory, times that without the sleeper", read.kb / alone.kb, 1.1)
    bound_time("processor time, of that without the sleeper", read.cpu, alone.cpu, 1.5)
    bound_time("the first line, of the whole time", read.first, read.all, 0.6)
    like_others(read, "d.rec", others)


def case_compressed_sleeper(perf, others):
    """nor in a compressed file, and perf inject puts all in order"""
    count, every = 50000, MS // 5
    alone = best(perf, write("d.rec", busy(count, every=every), pack=True))
    read = best(perf, write("d.rec", busy(count, sleeper=True, every=every), pack=True))
    expect("samples, whole", (len(read.samples), read.whole()), (count + 1, count + 1))
    bound("memory, times that without the sleeper", read.kb / alone.kb, 1.1)
    bound_time("processor time, of that without the sleeper", read.cpu, alone.cpu, 1.5)
    like_others(read, "d.rec", others)
    run([perf, "inject", "-i", "d.rec", "-o", "ordered.rec"])
    times = [float(when) for when in re.findall(
        r"([\d.]+):", run([perf, "script", "-F", "time", "-i", "ordered.rec"]))]
    expect("in order after perf inject", (len(times), times == sorted(times)), (count + 1, True))


def case_lost(perf, others):
    """half of the records are lost: it takes no longer"""
    count = 50000
    none = best(perf, write("d.rec", busy(count)))
    read = best(perf, write("d.rec", busy(count, lose=50)))
    expect("samples, whole, missing", (len(read.samples), read.whole(), read.missing()),
           (count, count // 2, count // 2))
    bound_time("processor time, of that with none lost", read.cpu, none.cpu, 1.5)
    like_others(read, "d.rec", others)


def case_own_address(perf, _):
    """a sample in user space without its record has its own address"""
    read = Read(perf, program("d.rec", [
        sample(1000, 10, 77, FUNCTIONS[3]),
        sample(1000, 20, 78, FUNCTIONS[0]), record(1000, 21, 78)]))
    expect("the address without a record", read.shown()[0], [f"{FUNCTIONS[3]:x}"])
    expect("whole", read.whole(), 1)
    expect("missing", read.missing(), 1)


def case_long_entry(perf, _):
    """one record and the samples of that entry for seconds, as of a virtual machine"""
    read = Read(perf, program("d.rec", [
        sample(1000, SECOND, 77), record(1000, SECOND + 5, 77),
        *[sample(1000, i * SECOND, 77) for i in range(2, 8)]]))
    expect("whole", read.whole(), 7)


def case_namespace(perf, _):
    """threads of another pid namespace, which all are thread 0"""
    threads = range(100)
    read = Read(perf, program("d.rec", [
        *[sample(0, SECOND + i * MS, 1000 + i) for i in threads],
        *[record(0, 2 * SECOND + i * MS, 1000 + i) for i in threads]], task=0))
    expect("whole, missing", (read.whole(), read.missing()), (100, 0))


def off_cpu(count):
    """Daemons that sleep throughout, and threads that come and go"""
    for i in range(200):
        yield sample(2000 + i, 10 * (i + 1), 5 + i)
    for i in range(count):
        when = 10000 + 2000 * i
        yield sample(10000 + i % 500, when, 10**6 + i)
        yield record(10000 + i % 500, when + 1000, 10**6 + i)


def case_off_cpu(perf, others):
    """200 threads that sleep throughout among 500: linear time, bounded memory"""
    count = 25000
    part = best(perf, write("d.rec", off_cpu(count)))
    size = os.path.getsize("d.rec")
    read = best(perf, write("d.rec", off_cpu(4 * count)))
    expect("samples, whole, missing", (len(read.samples), read.whole(), read.missing()),
           (4 * count + 200, 4 * count, 200))
    bound_time("processor time, beside a quarter of the file", read.cpu, part.cpu, 8)
    bound("memory, more than for a quarter, of its size", (read.kb - part.kb) * 1024 / size, 4.5)
    like_others(read, "d.rec", others)


SCRIPT = """
import sys
def process_event(event):
    print(len(event["callchain"]), event.get("deferred_cookie"))
"""

FILTER = """
#include <stdio.h>
#include <perf/perf_dlfilter.h>
int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	printf("%llu %llu\\n", (unsigned long long)sample->raw_callchain_nr,
	       (unsigned long long)sample->deferred_cookie);
	return 1;
}
"""


def case_scripts(perf, _):
    """Python scripts and dlfilters get merged callchains, or the cookie, which is no address"""
    path = program("d.rec", [sample(1000, 10, 77), record(1000, 11, 77), sample(1000, 20, 78)])
    for name, text in ("d.py", SCRIPT), ("d.c", FILTER):
        with open(name, "w", encoding="ascii") as file:
            file.write(text)
    for option, right in ("--merge-callchains", ["21 None", "1 None"]), (
            "--no-merge-callchains", ["1 77", "1 78"]):
        said = run([perf, "script", option, "-i", path, "-s", "d.py"])
        expect(f"frames and cookies, {option}", re.findall(r"^\d+ \w+$", said, re.M), right)
    run([*os.environ.get("CC", "cc").split(), "-shared", "-fPIC", f"-I{INCLUDE}", "-o", "d.so", "d.c"])
    # With a word for each context
    for option, right in ("--merge-callchains", ["23 0", "2 0"]), (
            "--no-merge-callchains", ["2 77", "2 78"]):
        said = run([perf, "script", option, "-i", path, "--dlfilter", "./d.so"])
        expect(f"words of raw callchains, cookies, {option}",
               re.findall(r"^\d+ \d+$", said, re.M), right)


def sleepers(threads, rounds):
    """In each round every thread is sampled in the kernel, and only then do all return

    With the first record, as many samples wait as there are threads.  In the last round, one
    in a hundred threads never returns."""
    for first in range(0, rounds * threads, threads):
        for kind, ahead in (sample, 0), (record, threads):
            for i in range(threads):
                if kind == sample or first + threads < rounds * threads or i % 100:
                    yield kind(1000 + i, 1 + 2 * first + ahead + i, first + i + 1)
            yield ROUND


CASES = {name[5:]: value for name, value in list(globals().items()) if name.startswith("case_")}


def main():
    """Run all"""
    if sys.argv[1] == "--sleepers":
        write(sys.argv[2], sleepers(*map(int, sys.argv[3:])))
        return
    perf, *others = sys.argv[1:]
    failed = 0
    print(f"TAP version 13\n1..{len(CASES)}")
    for number, (name, case) in enumerate(CASES.items(), 1):
        with tempfile.TemporaryDirectory() as directory:
            os.chdir(directory)
            try:
                case(perf, others)
                result = "ok"
            except Wrong as wrong:
                print(f"# {wrong}")
                result = "not ok"
                failed += 1
            os.chdir("/")
        print(f"{result} {number} {name.replace('_', ' ')}: {case.__doc__}", flush=True)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
