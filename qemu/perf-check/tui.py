#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What perf shows on a terminal, to someone who presses keys: tui.py [SEE KEYS]... COMMAND...

Runs the command on a terminal of its own.  As soon as what was written there has the
text SEE, the keys are pressed, and the next text is waited for; "--" ends these pairs.
Prints what the terminal has got, without what is not text, and succeeds if all texts
were seen and the command ended by itself, with 0.
"""

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

ROWS, COLUMNS = 60, 160
PATIENCE = 120

# What moves the cursor or changes colours
CONTROL = re.compile(rb"\x1b(\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|[=>78])|[\x00-\x08\x0e-\x1f]")


def start(command):
    """On a terminal; its other end"""
    pid, terminal = pty.fork()
    if not pid:
        os.environ["TERM"] = "xterm"
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    return pid, terminal


def read(terminal, until):
    """What comes next, or nothing at the end or when it is too late"""
    if not select.select([terminal], [], [], max(0, until - time.monotonic()))[0]:
        return b""
    try:
        return os.read(terminal, 65536)
    except OSError:
        # The command has closed it
        return b""


def main():
    """Run, press, wait."""
    separator = sys.argv.index("--")
    words, command = sys.argv[1:separator], sys.argv[separator + 1:]
    steps = list(zip(words[::2], words[1::2]))
    pid, terminal = start(command)
    until = time.monotonic() + PATIENCE
    seen, shown = b"", b""
    while True:
        more = read(terminal, until)
        if not more:
            break
        seen += more
        if steps and steps[0][0].encode() in CONTROL.sub(b"", seen):
            os.write(terminal, steps.pop(0)[1].encode())
            shown, seen = shown + seen, b""
    late = time.monotonic() >= until
    if late:
        os.kill(pid, 9)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    print(CONTROL.sub(b"", shown + seen).decode(errors="replace"))
    if steps:
        print(f"not seen: {steps[0][0]}")
    if late or steps or status:
        sys.exit(f"late: {late}, exit status {status}")


main()
