# SPDX-License-Identifier: GPL-2.0
"""Run a command on a terminal of its own and press keys:

    deferred_terminal.py [SEE KEYS]... -- COMMAND...

As soon as the terminal has been shown the word SEE, the keys are pressed, and the next
word is waited for.  What asks for any key is given one.  Succeeds if all words were seen
and the command ended with 0.
"""

import os
import pty
import re
import signal
import sys
import termios

# Escapes that move the cursor, and what else begins new text
MOVE = re.compile(rb"\x1b\[[0-9;?]*[A-HJ-Mdf]|[\x00-\x1a\x1c-\x1f]+")
# Escapes that change colours or modes
OTHER = re.compile(rb"\x1b(\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|[=>78])")
ANY_KEY = "Press any key"


def text(shown):
    """What the terminal was shown, as lines"""
    return OTHER.sub(b"", MOVE.sub(b"\n", shown)).decode(errors="replace")


def log(shown):
    """For the one who reads why it failed"""
    print(*filter(str.strip, text(shown).splitlines()), sep="\n")


def follow(terminal, steps):
    """Reads until the command has closed its end; removes the steps that were done"""
    shown = b""
    while True:
        try:
            shown += os.read(terminal, 65536)
        except OSError:
            # Only this is the end: a read may return escapes without text
            log(shown)
            return
        # A warning stands before the rest
        if ANY_KEY in text(shown):
            keys = " "
        elif steps and re.search(rf"(?<!\w){re.escape(steps[0][0])}(?!\w)", text(shown)):
            keys = steps.pop(0)[1]
        else:
            continue
        log(shown)
        shown = b""
        os.write(terminal, keys.encode())


def main():
    """Start it, follow it, judge"""
    split = sys.argv.index("--")
    steps = list(zip(sys.argv[1:split:2], sys.argv[2:split:2]))
    pid, terminal = pty.fork()
    if not pid:
        termios.tcsetwinsize(0, (60, 160))
        os.environ["TERM"] = "xterm"
        os.execvp(sys.argv[split + 1], sys.argv[split + 1:])
    # One that hangs is ended, and what it has shown is printed
    signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
    follow(terminal, steps)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if steps or status:
        sys.exit(f"not seen: {steps}, exit status {status}")


if __name__ == "__main__":
    main()
