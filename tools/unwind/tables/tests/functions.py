# SPDX-License-Identifier: GPL-2.0
"""A program whose functions have one caller each:  functions.py SECONDS

So the name of a function says which functions have called it: PARENT below has each
one's caller, and a stack must be the whole path from <module>.  The program calls from
Python to Python, through C (sorted, map, a method of a C type), by generators, coroutines,
exceptions and descriptors, in threads, after fork(), and recurses.
"""

import asyncio
import functools
import os
import sys
import threading
import time
import types

PARENT = {
    "main": "<module>",
    "plain": "main", "plain_leaf": "plain",
    "sort": "main", "sort_key": "sort", "sort_leaf": "sort_key",
    "mapped": "main", "map_function": "mapped", "map_leaf": "map_function",
    "generate": "main", "generator": "generate", "generator_leaf": "generator",
    "comprehend": "main", "element": "comprehend",
    "catch": "main", "throw": "catch", "throw_leaf": "throw",
    "Descriptor.__get__": "describe", "describe": "main", "get_leaf": "Descriptor.__get__",
    "start_loop": "main",
    "fork": "main", "child": "fork", "child_leaf": "child",
    "deep": "main",
    "construct": "main", "Constructed.__init__": "construct",
    "init_leaf": "Constructed.__init__",
    # Coroutines and threads begin in the standard library
    "coroutine": None, "awaited": "coroutine", "awaited_leaf": "awaited",
    "in_thread": None, "thread_leaf": "in_thread", "sleep_leaf": "in_thread",
}
# Functions that call themselves
RECURSIVE = {"recurse": "deep"}


def work(n=300):
    total = 0
    for i in range(n):
        total += i * i
    return total


def leaf(name):
    """A function of this name that works, with a code object of its own

    The module around it is not executed: a sample could hit that, called by this function.
    """
    module = compile(f"def {name}(n):\n t = 0\n for i in range(n):\n  t += i * i\n return t\n",
                     __file__, "exec")
    code = next(const for const in module.co_consts if isinstance(const, types.CodeType))
    return types.FunctionType(code, {"range": range}, name, (300,))


LEAVES = {name: leaf(name) for name in PARENT if name.endswith("_leaf") and name != "sleep_leaf"}
globals().update(LEAVES)


def plain():
    for _ in range(5):
        plain_leaf()


def sort_key(item):
    return sort_leaf(100) * 0 - item


def sort():
    return sorted(range(20), key=sort_key)


def map_function(item):
    return map_leaf(100)


def mapped():
    return functools.reduce(max, map(map_function, range(20)))


def generator():
    for i in range(10):
        generator_leaf(200)
        yield i


def generate():
    return sum(generator())


def element():
    return sum(i * i for i in ()) or len(str(2 ** 2000))


def comprehend():
    return [element() for _ in range(20)]


def throw():
    throw_leaf(200)
    raise ValueError


def catch():
    for _ in range(5):
        try:
            throw()
        except ValueError:
            pass


class Descriptor:
    def __get__(self, instance, owner):
        return get_leaf(200)


class Described:
    value = Descriptor()


def describe():
    described = Described()
    for _ in range(5):
        described.value


async def awaited():
    awaited_leaf(200)
    await asyncio.sleep(0)


async def coroutine():
    for _ in range(5):
        await awaited()


async def gathered():
    await asyncio.gather(*(coroutine() for _ in range(3)))


def start_loop():
    asyncio.run(gathered())


def recurse(depth):
    return recurse(depth - 1) if depth else work(2000)


class Constructed:
    def __init__(self):
        init_leaf(200)


def construct():
    for _ in range(5):
        Constructed()


def deep():
    recurse(800)


def child():
    for _ in range(20):
        child_leaf()


def fork():
    pid = os.fork()
    if not pid:
        child()
        os._exit(0)
    os.waitpid(pid, 0)


def sleep_leaf():
    time.sleep(0.001)


def in_thread(end):
    while time.monotonic() < end:
        for _ in range(5):
            thread_leaf()
        sleep_leaf()


def main():
    end = time.monotonic() + float(sys.argv[1])
    threads = [threading.Thread(target=in_thread, args=(end,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    while time.monotonic() < end:
        plain()
        sort()
        mapped()
        generate()
        comprehend()
        catch()
        describe()
        start_loop()
        deep()
        construct()
        fork()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    sys.setrecursionlimit(20000)
    main()
