# SPDX-License-Identifier: GPL-2.0
"""Recordings of one program by several methods, as record.sh leaves them

tree.py has made a tree of each recording's stacks: a node has a name,
a kind ("kernel", "runtime" for a function of a language, or ""), the number of samples that end in it, and its children, with
the outermost frame at the root.
"""

import collections
import json
import os

# perf prefers one of several names that glibc gives to an address.  _dl_start_user is
# where the dynamic linker's _start continues after its first call, thread_start where
# arm64's clone() begins a thread.
CLONE = frozenset(prefix + name for name in ("clone", "clone3")
                  for prefix in ("", "__", "__GI_", "__GI___"))
OUTERMOST = CLONE | {"_start", "_dl_start_user", "thread_start"}
UNKNOWN = "[unknown]"


def is_complete(user):
    """Does a stack, outermost frame first, begin where the kernel starts a task?

    A thread that has not left clone() has nothing on its stack; with a link register,
    the parent's return address still follows.  A stripped program has no name for
    _start, but the C library has one for the function that it calls.
    """
    if user[0] in OUTERMOST or (len(user) == 2 and user[1] in CLONE):
        return True
    return user[0] == UNKNOWN and len(user) > 1 and user[1].startswith("__libc_start_main")


def stacks(root):
    """Yields (user frames, outermost first; sampled in the kernel?; number of samples)"""
    todo = [((), False, node) for task in root["c"] for node in task["c"]]
    while todo:
        user, in_kernel, node = todo.pop()
        if node["l"] == "kernel":
            in_kernel = True
        else:
            user += (node["n"],)
        if node["v"]:
            yield user, in_kernel, node["v"]
        todo += [(user, in_kernel, child) for child in node["c"]]


def functions(root):
    """(the most frequent stack of functions of a language, outermost first; its number of
    samples; how many samples have such functions; how many there are)"""
    counter, todo, read = collections.Counter(), [((), root)], 0
    while todo:
        path, node = todo.pop()
        if node["l"] == "runtime":
            path += (node["n"],)
        read += node["v"]
        if path and node["v"]:
            counter[path] += node["v"]
        todo += [(path, child) for child in node["c"]]
    usual, count = max(counter.items(), key=lambda item: (item[1], item[0]), default=((), 0))
    return usual, count, sum(counter.values()), read


def median(counter):
    """Of numbers that a counter counts, or 0"""
    middle, seen = (sum(counter.values()) + 1) // 2, 0
    for value in sorted(counter):
        seen += counter[value]
        if seen >= middle:
            return value
    return 0


def share(part, whole):
    """A share, or None if there is nothing to have a share of"""
    return part / whole if whole else None


def percent(value):
    """A share; never rounded up to the whole"""
    if value is None:
        return "-"
    return f"{100 if value == 1 else min(99.99, 100 * value):.2f} %"


class Run:
    """One recording"""

    def __init__(self, tree, samples, lost=0, missing=0, size=0):
        self.samples, self.lost, self.missing, self.size = samples, lost, missing, size
        self.waited = tree.get("waited")
        self.read = self.complete = self.with_user = 0
        self.in_user = self.in_user_complete = 0
        self.depths, self.ends = collections.Counter(), collections.Counter()
        self.paths = collections.defaultdict(collections.Counter)
        for user, in_kernel, count in stacks(tree):
            self.read += count
            if not user:
                continue
            complete = is_complete(user)
            self.with_user += count
            self.complete += count * complete
            if not complete:
                self.ends[user[0]] += count
            if not in_kernel:
                self.in_user += count
                self.in_user_complete += count * complete
                self.depths[len(user)] += count
                self.paths[user[-1]][user] += count

    def path(self, leaf):
        """The most frequent stack of a function, and how often it occurred"""
        return max(self.paths[leaf].items(), key=lambda item: (item[1], item[0]))


def hot_leaf(runs):
    """Among the functions that all runs caught, the one that the first caught most often"""
    first = next(iter(runs.values()))
    common = [leaf for leaf in first.paths
              if leaf != UNKNOWN and all(leaf in run.paths for run in runs.values())]
    return max(common, key=lambda leaf: (sum(first.paths[leaf].values()), leaf), default=None)


def load(directory):
    """{program: {method: run}}, of what record.sh left there"""
    result = {}
    with open(os.path.join(directory, "counts"), encoding="ascii") as lines:
        for line in lines:
            program, method, *counts = line.split()
            path = os.path.join(directory, f"{program}.{method}.json")
            with open(path, encoding="utf-8") as file:
                result.setdefault(program, {})[method] = Run(json.load(file), *map(int, counts))
    return result


def holds(runs):
    """(what must hold of a program on any machine, whether it does)"""
    sframe, leaf = runs["sframe"], hot_leaf(runs)
    path, _ = sframe.path(leaf) if leaf else ((UNKNOWN,), 0)
    packed = runs.get("sframe-z", sframe)
    dwarf = share(runs["dwarf-8192"].size, runs["dwarf-8192"].samples) or 0
    yield "all methods caught some function", leaf is not None
    yield "sframe: its usual stack is complete", is_complete(path)
    for name in ("dwarf-65528", "immediate"):
        yield f"{name}: has complete stacks", runs[name].in_user_complete > 0
    yield ("fp: its stacks are shorter",
           median(runs["fp"].depths) < median(sframe.depths))
    # perf's buffers of 32 MiB hold all of such a recording, however late perf reads them
    for run, name in ((sframe, "sframe"), (packed, "sframe -z")):
        yield f"{name}: no sample lost, or without its stack", not run.lost + run.missing
        yield (f"{name}: perf.data less than a tenth of dwarf-8192's",
               run.size * 10 < dwarf * run.samples)


def strict(program, runs):
    """The same of shares and rates, which a busy machine can miss"""
    sframe = share(runs["sframe"].complete, runs["sframe"].with_user) or 0
    yield f"{program}: complete by sframe {percent(sframe)} (99.9 %)", sframe >= 0.999
    lost = sum(run.lost + run.missing for run in runs.values())
    yield f"{program}: {lost} samples lost (0)", lost == 0
    if program != "sqlite":
        return
    now, few = (share(runs[name].in_user_complete, runs[name].in_user) or 0
                for name in ("immediate", "fp"))
    yield f"{program}: complete in user space, immediate {percent(now)} (95 %)", now >= 0.95
    yield f"{program}: complete in user space by fp {percent(few)} (below 50 %)", few < 0.5
    dwarf = share(runs["dwarf-8192"].size, runs["dwarf-8192"].samples) or 0
    for name, times in (("sframe", 30), ("sframe-z", 50)):
        ratio = dwarf * runs[name].samples / runs[name].size
        yield f"{program}: dwarf-8192's bytes are {ratio:.0f} times {name}'s ({times})", ratio >= times
