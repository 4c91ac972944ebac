# SPDX-License-Identifier: GPL-2.0
"""Is a share of stacks complete?  shares.py DIRECTORY PROGRAM METHOD PERCENT [strict]

The directory has what record.sh left.  There must be complete stacks; with "strict", their
share must be PERCENT.
"""

import sys

import stacks


def main():
    """Print, judge"""
    directory, program, method, percent, *strict = sys.argv[1:]
    run = stacks.load(directory)[program][method]
    share = stacks.share(run.in_user_complete, run.in_user) or 0
    print(f"{run.in_user} stacks in user space, {run.in_user_complete} complete: {100 * share:.2f} %")
    print(f"{run.with_user} with system calls, {run.complete} complete; {run.lost} lost, "
          f"{run.size / max(run.samples, 1):.0f} bytes a sample")
    for name, number in run.ends.most_common(5):
        print(f"{number} end in {name}")
    sys.exit(not run.in_user_complete or (bool(strict) and 100 * share < float(percent)))


if __name__ == "__main__":
    main()
