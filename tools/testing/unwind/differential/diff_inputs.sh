#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Make the files that sframe_diff compares libsframe and the kernel on:
#
# - a few thousand functions of a few kinds, with and without frame pointers, for
#   this machine;
# - the assembler's own tests of SFrame, for each target and version that there
#   is an assembler for;
# - the sections that libsframe has for its own tests, as they are.
#
# The latter two are read from the source package of binutils, and left out with
# a word if it is not here.  What an earlier run made of the same is kept.
#
# Prints the names of all of them and of those FILEs that have SFrame, each once.
#
# BINUTILS2=	where as and ld that write version 2 are: x86_64/, aarch64/
#
# usage: DIRECTORY CC [FILE...]
set -eu

dir=$1
cc=$2
shift 2
here=$(dirname "$0")
old=${BINUTILS2:-}

have() { command -v "$1" >/dev/null; }

# What the files are made from
key()
{
	cat "$0" "$here/diff_many.awk"
	$cc --version
	for tool in as ld aarch64-linux-gnu-as aarch64-linux-gnu-ld \
		    "$old/x86_64/as" "$old/aarch64/as"; do
		have "$tool" && $tool --version
	done
	ls /usr/src/binutils 2>/dev/null || :
}

compile_many()
{
	for opt in "-O2" "-O1 -fno-omit-frame-pointer" "-O0" \
		   "-O2 -falign-functions=1"; do
		name=$dir/many$(printf '%s' "$opt" | tr -d ' ').so
		awk -v n=2000 -f "$here/diff_many.awk" >"$dir/many.c"
		# shellcheck disable=SC2086 # options are words
		$cc $opt -w -fPIC -Wa,--gsframe -c -o "$dir/many.o" "$dir/many.c"
		ld -shared -o "$name" "$dir/many.o" 2>"$dir/ld.log"
	done
	rm -f "$dir/many.c" "$dir/many.o"
}

# assemble_tests TARGET VERSION AS LD [OPTION] - of the assembler's tests, of
# which some are there to see it complain, and some are for a later version
assemble_tests()
{
	into=$dir/gas-$1${5:-}-v$2
	arch=$1
	as=$3
	ld=$4
	opt=${5:-}
	num=0
	all=0
	if ! have "$as" || ! have "$ld"; then
		echo "# diff: no assembler for $arch${opt:+ $opt}, version $2" >&2
		return
	fi
	mkdir -p "$into"
	for src in "$dir"/source/*"$arch"*.s "$dir"/source/*common*.s; do
		name=${src##*/}
		all=$((all + 1))
		# shellcheck disable=SC2086 # there may be none
		$as $opt --gsframe -o "$dir/test.o" "$src" 2>/dev/null &&
			$ld $opt -shared -z notext \
				--unresolved-symbols=ignore-all \
				-o "$into/${name%.s}.so" "$dir/test.o" \
				2>/dev/null || continue
		num=$((num + 1))
	done
	rm -f "$dir/test.o"
	echo "# diff: $num of $all tests of the assembler for $arch${opt:+ $opt}, version $2" >&2
}

read_binutils()
{
	mkdir -p "$dir/source" "$dir/libsframe"
	tar -xf "$1" -C "$dir/source" --strip-components=5 --wildcards \
		'*/gas/testsuite/gas/cfi-sframe/*.s'
	tar -xf "$1" -C "$dir/libsframe" --strip-components=4 --wildcards \
		'*/libsframe/testsuite/libsframe.decode/DATA*'
	assemble_tests x86_64 3 as ld
	assemble_tests aarch64 3 aarch64-linux-gnu-as aarch64-linux-gnu-ld
	assemble_tests aarch64 3 aarch64-linux-gnu-as aarch64-linux-gnu-ld -EB
	assemble_tests x86_64 2 "$old/x86_64/as" "$old/x86_64/ld"
	assemble_tests aarch64 2 "$old/aarch64/as" "$old/aarch64/ld"
	assemble_tests aarch64 2 "$old/aarch64/as" "$old/aarch64/ld" -EB
	rm -rf "$dir/source"
}

make_all()
{
	rm -rf "$dir"
	mkdir -p "$dir"
	if echo | as --gsframe -o "$dir/probe.o" - 2>/dev/null; then
		compile_many
	else
		echo "# diff: the assembler here writes no SFrame" >&2
	fi
	rm -f "$dir/probe.o"

	tarball=$(find /usr/src/binutils -name 'binutils-*.tar.xz' 2>/dev/null |
		  head -n 1)
	if [ -n "$tarball" ]; then
		read_binutils "$tarball"
	else
		echo "# diff: no source of binutils here, its tests are left out" >&2
	fi
}

# The section may be there and empty: address, offset, size
has_table()
{
	readelf -SW "$1" 2>/dev/null | grep ' \.sframe ' |
		grep -qv ' [0-9a-f]* [0-9a-f]* 0* 00 '
}

key=$(key | cksum)
if [ "$(cat "$dir/key" 2>/dev/null)" != "$key" ]; then
	make_all
	echo "$key" >"$dir/key"
fi

{
	find "$dir" -name '*.so'
	[ $# -eq 0 ] || readlink -f "$@"
} | sort -u | while read -r file; do
	! has_table "$file" || echo "$file"
done
find "$dir" -path '*/libsframe/*' -type f
