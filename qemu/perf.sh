#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds the working tree's tools/perf inside the Debian root.

. "$(dirname "$0")/common.sh"

need_machine
out=$BUILT/perf

# Python is for scripts on recordings, BPF programs for "--off-cpu". The libraries of
# another architecture are in the guest's root.
options=(WERROR=0 NO_LIBPERL=1 NO_JEVENTS=1 BUILD_BPF_SKEL=1 CLANG=clang)
if [ "$GUEST_ROOT" != "$CACHE/root" ]; then
	sysroot=/mnt/cache/${GUEST_ROOT##*/}
	# A part of the compiler's name, because flags would also apply to programs that
	# run here
	options+=("CC=$TRIPLET-gcc-14 --sysroot=$sysroot"
		  PKG_CONFIG=pkg-config PKG_CONFIG_SYSROOT_DIR="$sysroot"
		  PKG_CONFIG_LIBDIR="$sysroot/usr/lib/$TRIPLET/pkgconfig"
		  NO_DEMANGLE=1)
fi
stamp=${out#out/}
stamp=${stamp//\//-}
# The key covers perf's own inputs: a new kernel does not rebuild it.
key()
{
	{
		grep -E '  (tools/(perf|lib|include)|include/uapi)/' "$CACHE/tree.sums"
		cat "$CACHE/tree.base"
		printf '%s\n' "${options[@]}"
	} | sha256sum | cut -c1-16
}
built() { [ "$(stamp "$stamp")" = "$(key)" ] && [ -x "$CACHE/$out/perf" ]; }
! built || exit 0
lock "$stamp"
share tree
! built || exit 0
key=$(key)
mkdir -p "$CACHE/$out"
# perf's build caches the libraries that it has found, unless all is built again
if ! printf '%s\n' "${options[@]}" | cmp -s - "$CACHE/$out/unwind-options"; then
	rm -rf "${CACHE:?}/$out"
	mkdir -p "$CACHE/$out"
	printf '%s\n' "${options[@]}" >"$CACHE/$out/unwind-options"
fi
step "building perf${TRIPLET:+ for $ARCH}" in_root make -C /mnt/cache/tree/tools/perf O="/mnt/cache/$out" -j"$JOBS" \
	"${TOOLCHAIN[@]}" CXX=g++-14 "${options[@]}"
set_stamp "$stamp" "$key"
