#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The demo: boots the guest, records the same program with each method, and
# prints one screen.  The figures stay in build/demo/ of the clone.

. "$(dirname "$0")/common.sh"

mkdir -p "$REPO/build/demo"
say "booting the guest and recording (about a minute)"
CMD='PERF=/mnt/cache/out/perf/perf sh /mnt/repo/qemu/demo/run.sh /tmp/demo &&
	cp /tmp/demo/report.json /mnt/share/' \
SHARE=$REPO/build/demo DMESG=$REPO/build/demo/dmesg "$(dirname "$0")/guest.sh"
