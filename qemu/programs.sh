#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Build programs and libraries with SFrame tables, and install them in /opt/sframe of the
# guest's root: programs.sh [NAME...]
#
#   libc       the C library and its start files
#   sqlite     the demo's program and its library
#   lua        an interpreter: it leaves its C functions by longjmp
#   xz         a compressor with threads and a library
#   memcached  a server with threads, and libevent
#   mixed      threads that the C library calls back; of our own
#   threads    C++ with threads and exceptions; of our own, with no table but .eh_frame
#
# Without a NAME: libc sqlite. A package that is up to date costs nothing; its
# dependencies are built first. qemu/programs/build.sh says how.

. "$(dirname "$0")/common.sh"

in_build()
{
	in_root env ${http_proxy:+"http_proxy=$http_proxy"} JOBS="$JOBS" \
		TRIPLET="${TRIPLET:-}" GUEST="$SYSROOT" bash /mnt/repo/qemu/programs/build.sh "$@"
}

built() { [ "$(cat "$stamp" 2>/dev/null)" = "$key" ]; }

# build NAME - $key names what it was made from
build()
{
	local stamp=$GUEST_ROOT/opt/sframe/.$1-stamp

	key=
	[ "$1" = libc ] || build libc
	[ "$1" != threads ] || root_packages "g++-14${TRIPLET:+-$TRIPLET}"
	key=$(in_build key "$1")${key:+-$key}
	! built || return 0
	# Only who builds waits for others, who may have built it meanwhile
	lock "programs-$ARCH"
	! built || return 0
	root_network
	rm -f "$stamp"
	step "building $1 with tables${TRIPLET:+ for $ARCH}" in_build build "$1"
	echo "$key" >"$stamp"
}

[ $# -gt 0 ] || set -- libc sqlite
need_machine
for name; do build "$name"; done
