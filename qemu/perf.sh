#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds what the guest's people use, inside the Debian root: the working tree's
# tools/perf, and unwind-tables.  Gets the template of perf's flame graphs as well.

. "$(dirname "$0")/common.sh"

need_machine
out=$BUILT/perf

# Python is for scripts on recordings, BPF programs for "--off-cpu". The libraries of
# another architecture are in the guest's root.
options=(WERROR=0 NO_LIBPERL=1 NO_JEVENTS=1 BUILD_BPF_SKEL=1 CLANG=clang)
tables=(CC=gcc-14)
if [ -n "$SYSROOT" ]; then
	# A part of the compiler's name, because flags would also apply to programs that
	# run here
	options+=("CC=$TRIPLET-gcc-14 --sysroot=$SYSROOT"
		  PKG_CONFIG=pkg-config PKG_CONFIG_SYSROOT_DIR="$SYSROOT"
		  PKG_CONFIG_LIBDIR="$SYSROOT/usr/lib/$TRIPLET/pkgconfig"
		  NO_DEMANGLE=1)
	# The guest's root has no headers of OpenSSL; these are the same for all machines
	# with 64 bits
	headers="-idirafter /usr/include -idirafter /usr/include/x86_64-linux-gnu"
	tables=("CC=$TRIPLET-gcc-14 --sysroot=$SYSROOT $headers" LIBCRYPTO=-l:libcrypto.so.3)
fi
stamp=$(tr / - <<<"${out#out/}")
# The key covers perf's own inputs: a new kernel does not rebuild it.
key()
{
	{
		grep -E '  (tools/(perf|lib|include)|include/uapi)/' "$CACHE/tree.sums"
		cat "$CACHE/tree.base"
		printf '%s\n' "${options[@]}"
	} | sha256sum | cut -c1-16
}

build_perf()
{
	share tree
	# perf's build caches the libraries that it has found, unless all is built again
	if ! printf '%s\n' "${options[@]}" | cmp -s - "$CACHE/$out/unwind-options"; then
		rm -rf "${CACHE:?}/$out"
		mkdir -p "$CACHE/$out"
		printf '%s\n' "${options[@]}" >"$CACHE/$out/unwind-options"
	fi
	step "building perf${TRIPLET:+ for $ARCH}" in_root make -C /mnt/cache/tree/tools/perf O="/mnt/cache/$out" -j"$JOBS" \
		"${TOOLCHAIN[@]}" CXX=g++-14 "${options[@]}"
}

# d3-flame-graph's, of the version that perf's script names; it loads nothing.  No release of
# Debian has it: it comes by this machine's npm, or else by the root's
get_template()
{
	local sources=$CACHE/sources file=d3-flame-graph-4.1.3 npm=(in_root npm) to=/mnt/cache/sources
	local sum=3628ee849661693330a1b560c0643aef1f4fa2fa8c3075c16ecd0530710626fb16646b8be0ceceb01d37bfc9877725721e19d0606b189dbe70d36d5ef7e47e45

	if [ ! -e "$sources/$file.html" ]; then
		mkdir -p "$sources"
		if command -v npm >/dev/null; then npm=(npm) to=$sources; else root_packages npm; fi
		"${npm[@]}" pack --silent --pack-destination "$to" "${file/-4/@4}" >/dev/null &&
			sha512sum --check --quiet <<<"$sum  $sources/$file.tgz" &&
			tar -xOf "$sources/$file.tgz" package/dist/templates/d3-flamegraph-base.html >"$sources/$file.new" &&
			mv "$sources/$file.new" "$sources/$file.html" || return
	fi
	install -D -m 644 "$sources/$file.html" "$TEMPLATE"
}

[ "$BASE" = 6.12 ] || BASE=6.12 KSRC='' "$REPO/qemu/tree.sh" sync # both bases' guests have its perf
once "$stamp" "$CACHE/$out/perf" key build_perf
lock "${BUILT//\//-}-tables-tool"
mkdir -p "$CACHE/$BUILT/tables-tool"
in_root make -s -C /mnt/repo/tools/unwind/tables OUTPUT="/mnt/cache/$BUILT/tables-tool" "${tables[@]}" all
[ -e "$TEMPLATE" ] || (get_template) || say "no flame graphs: npm could not give the library that draws them"
