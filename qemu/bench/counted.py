#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In the guest, where time is instructions: counted.py WORD... -- COMMAND...

Runs COMMAND, and prints the words, the instructions that it took (those of the
kernel on its behalf included), the most memory that it had in KiB, and of how many
samples it said that their record is missing.
"""

import re
import resource
import subprocess
import sys

MISSING = re.compile(rb"^(\d+) deferred callchains missing", re.M)


def main():
    """Run it, print one line."""
    split = sys.argv.index("--")
    done = subprocess.run(sys.argv[split + 1:], check=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    missing = MISSING.search(done.stderr)
    print(*sys.argv[1:split], round((used.ru_utime + used.ru_stime) * 1e9),
          used.ru_maxrss, int(missing.group(1)) if missing else 0)


main()
