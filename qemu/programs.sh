#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds, in the Debian root, the programs that carry SFrame tables: the C
# library and the demo's program.  The scripts know what is up to date.

. "$(dirname "$0")/common.sh"

need_machine
lock
guest=
[ "$GUEST_ROOT" = "$CACHE/root" ] || guest=/mnt/cache/${GUEST_ROOT##*/}
for what in libc program; do
	in_root env JOBS="$JOBS" TRIPLET="${TRIPLET:-}" GUEST="$guest" \
		sh "/mnt/repo/qemu/demo/build-$what.sh" \
		"/mnt/cache/programs${TRIPLET:+-$ARCH}" >&2 ||
		die "the demo's $what could not be built"
done
