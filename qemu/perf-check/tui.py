# SPDX-License-Identifier: GPL-2.0
"""Run a command on a terminal of its own and press keys: tui.py [SEE KEYS]... -- COMMAND...

As soon as the terminal has been shown the text SEE, the keys are pressed, and the next
text is waited for.  Succeeds if all texts were seen and the command ended with 0.
"""

import os
import pty
import re
import sys

# Escapes that move the cursor or change colours
CONTROL = re.compile(rb"\x1b(\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|[=>78])|[\x00-\x08\x0e-\x1f]")
split = sys.argv.index("--")
steps = list(zip(sys.argv[1:split:2], sys.argv[2:split:2]))
seen = b""


def look(terminal):
    """What comes next; the terminal is not shown to anybody else"""
    global seen
    data = os.read(terminal, 65536)
    seen += data
    if steps and steps[0][0].encode() in CONTROL.sub(b"", seen):
        os.write(terminal, steps.pop(0)[1].encode())
        seen = b""
    return CONTROL.sub(b"", data)


os.environ["TERM"] = "xterm"
status = pty.spawn(["sh", "-c", 'stty rows 60 cols 160; exec "$@"', "sh"] + sys.argv[split + 1:], look)
sys.exit(f"not seen: {steps}, exit status {os.waitstatus_to_exitcode(status)}" if steps or status else 0)
