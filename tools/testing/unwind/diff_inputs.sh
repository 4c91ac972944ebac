#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Make the ELF files that sframe_diff compares libsframe and the kernel on:
# whatever the assembler here writes for its own tests (if its source package is
# here), and for a few thousand functions of a few kinds, with and without frame
# pointers.  Files that were made by an earlier run are kept.
#
# Prints the names of all of them and of those FILEs that have SFrame, each once.
#
# usage: DIRECTORY CC [FILE...]
set -eu

dir=$1
cc=$2
shift 2
here=$(dirname "$0")
ld=${LD:-ld}
as=${AS:-as}

mkdir -p "$dir"

compile_many()
{
	for opt in "-O2" "-O1 -fno-omit-frame-pointer" "-O0" \
		   "-O2 -falign-functions=1"; do
		name=$dir/many$(printf '%s' "$opt" | tr -d ' ').so
		[ -e "$name" ] && continue
		awk -v n=2000 -f "$here/diff_many.awk" >"$dir/many.c"
		# shellcheck disable=SC2086 # options are words
		$cc $opt -w -fPIC -Wa,--gsframe -c -o "$dir/many.o" "$dir/many.c"
		$ld -shared -o "$name.new" "$dir/many.o" 2>"$dir/ld.log"
		mv "$name.new" "$name"
	done
	rm -f "$dir/many.c" "$dir/many.o"
}

# The assembler's own tests, of which some are there to see it complain
assemble_tests()
{
	[ -e "$dir/gas/done" ] && return
	mkdir -p "$dir/gas"
	tar -xf "$1" -C "$dir/gas" --strip-components=5 --wildcards \
		'*/gas/testsuite/gas/cfi-sframe/*x86_64*.s' \
		'*/gas/testsuite/gas/cfi-sframe/*common*.s'
	for src in "$dir"/gas/*.s; do
		$as --gsframe -o "$dir/gas/test.o" "$src" 2>/dev/null || continue
		$ld -shared -z notext --unresolved-symbols=ignore-all \
			-o "${src%.s}.so" "$dir/gas/test.o" 2>/dev/null || :
	done
	rm -f "$dir"/gas/*.s "$dir/gas/test.o"
	touch "$dir/gas/done"
}

if echo | $as --gsframe -o "$dir/probe.o" - 2>/dev/null; then
	compile_many
else
	echo "# diff: the assembler here writes no SFrame" >&2
fi
rm -f "$dir/probe.o"

tarball=$(find /usr/src/binutils -name 'binutils-*.tar.xz' 2>/dev/null | head -n 1)
if [ -n "$tarball" ]; then
	assemble_tests "$tarball"
else
	echo "# diff: no source of binutils here, its tests are left out" >&2
fi

{
	find "$dir" -name '*.so'
	[ $# -eq 0 ] || readlink -f "$@"
} | sort -u | while read -r file; do
	# The section may be there and empty: address, offset, size
	if readelf -SW "$file" 2>/dev/null | grep ' \.sframe ' |
	   grep -qv ' [0-9a-f]* [0-9a-f]* 0* 00 '; then
		echo "$file"
	fi
done
