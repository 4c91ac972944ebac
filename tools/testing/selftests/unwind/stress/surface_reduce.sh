#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The smallest part that still fails of a program that surface_test has drawn:
#
#	surface_reduce.sh SEED OPERATIONS
#
# Runs on the machine that has the guest, in the repository: each attempt boots one, because a
# kernel may not survive a failure.  It drops drawers, then operations, then the numbers at the
# end and at the start.  The interleaving differs each time, so a part that fails may pass: it is
# tried TIMES (3) times.  KERNEL is the guest's (debug).  Prints the environment for
# surface_test that runs this part.
set -u
seed=$1
all=$2
drawers=255
skip=0
first=0
last=$((all / 8))
log=$(mktemp)
trap 'rm -f "$log"' EXIT

part()
{
	echo "UNWIND_SURFACE_SEED=$seed UNWIND_SURFACE_OPERATIONS=$all" \
		"UNWIND_SURFACE_DRAWERS=$drawers UNWIND_SURFACE_SKIP=$skip" \
		"UNWIND_SURFACE_FIRST=$first UNWIND_SURFACE_LAST=$last"
}

fails()
{
	command=${TEST:-"cd /mnt/cache/out/x86_64-normal/kselftest/kselftest_install/unwind &&
		UNWIND_MODULES=/mnt/cache/out/x86_64-${KERNEL:-debug} $(part) ./surface_test"}
	for _ in $(seq "${TIMES:-3}"); do
		KERNEL=${KERNEL:-debug} CMD="$command" DMESG=$log \
			qemu/guest.sh >/dev/null 2>&1 || return 0
		! grep -Eq 'BUG[: ]|WARNING:|KASAN|KCSAN|UBSAN' "$log" || return 0
	done
	return 1
}

# shellcheck disable=SC2154 # old is set by eval
# smaller NAME VALUE - keep the value if the part still fails with it
smaller()
{
	eval "old=\$$1 $1=$2"
	if fails; then part >&2; else eval "$1=$old"; fi
}

fails || { echo "surface_reduce.sh: it does not fail" >&2; exit 1; }
for i in 0 1 2 3 4 5 6 7; do
	[ $((drawers & ~(1 << i))) = 0 ] || smaller drawers $((drawers & ~(1 << i)))
done
# Half of the operations, then a quarter of the rest, and so on
for width in 32 16 8 4 2 1; do
	for i in $(seq 0 $width 63); do
		mask=$((((1 << width) - 1) << i))
		[ $((skip & mask)) = $mask ] || smaller skip $((skip | mask))
	done
done
step=$(((last - first) / 2))
while [ $step -gt 0 ]; do
	[ $((last - step)) -le "$first" ] || smaller last $((last - step))
	[ $((first + step)) -ge "$last" ] || smaller first $((first + step))
	step=$((step / 2))
done
part
