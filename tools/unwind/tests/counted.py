# SPDX-License-Identifier: GPL-2.0
"""Where time is instructions, as in QEMU with -icount:  counted.py WORD... -- COMMAND...

Runs COMMAND and prints the words, the instructions that it took (the kernel's for
it included), its most memory in KiB, and how many samples it missed the record of.
"""

import re
import resource
import subprocess
import sys

split = sys.argv.index("--")
done = subprocess.run(sys.argv[split + 1:], check=True, stdin=subprocess.DEVNULL,
                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
missing = re.search(rb"^(\d+) deferred callchains missing", done.stderr, re.M)
print(*sys.argv[1:split], round((used.ru_utime + used.ru_stime) * 1e9), used.ru_maxrss,
      int(missing.group(1)) if missing else 0)
