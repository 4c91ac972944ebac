#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Full stacks by Debian's unmodified tools: boots the guest for
# tools/unwind/tests/tracers.sh, prints its TAP.  With STRICT=1 also shares and rates; with BCC=no without bcc, which brings
# a compiler that an emulator is slow to run; with QUICK=1 less of all; with DEFERRED=1
# perf's deferred stacks alone.

. "$(dirname "$0")/common.sh"

"$REPO/qemu/programs.sh" sqlite mixed
# trace-cmd turns on what all processors execute when they switch, many times: x86
# patches that, and QEMU's processors have to take turns then (see guest.sh)
[ "$ARCH" != x86_64 ] || export TURNS=1
CMD="BCC=${BCC:-yes} STRICT=${STRICT:-} QUICK=${QUICK:-} DEFERRED=${DEFERRED:-} sh /mnt/repo/tools/unwind/tests/tracers.sh /mnt/cache/out/$ARCH-normal" \
	TIMEOUT=${TIMEOUT:-3600} exec "$REPO/qemu/guest.sh"
