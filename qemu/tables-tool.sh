#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds unwind-tables inside the Debian root, for the guest.

. "$(dirname "$0")/common.sh"

need_machine
out=$BUILT/tables-tool
options=("CC=gcc-14")
# The libraries of another architecture are in the guest's root.  It has no headers of
# OpenSSL; these are the same for all machines with 64 bits.
if [ "$GUEST_ROOT" != "$CACHE/root" ]; then
	headers="-idirafter /usr/include -idirafter /usr/include/x86_64-linux-gnu"
	options=("CC=$TRIPLET-gcc-14 --sysroot=/mnt/cache/${GUEST_ROOT##*/} $headers"
		 "LIBCRYPTO=-l:libcrypto.so.3")
fi
lock "${out//\//-}"
mkdir -p "$CACHE/$out"
in_root make -s -C /mnt/repo/tools/unwind/tables OUTPUT="/mnt/cache/$out" "${options[@]}" all
