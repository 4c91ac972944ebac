#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Make the files that sframe_diff compares libsframe and the kernel on, in
# DIRECTORY/TARGET-vVERSION/, for each target that there is a compiler for:
#
# - functions of each kind that diff_many.awk has, by each option that changes
#   frames; all kinds linked together, besides;
# - the assembler's own tests of SFrame;
# - in DIRECTORY/libsframe/, the sections of libsframe's own tests, as they are.
#
# The compiler runs once per kind, option and target.  Both versions come from
# its one output, by two assemblers.  The tests are read from the source package
# of binutils; without it they are left out with a word.  What an earlier run
# made of the same is kept.
#
# Prints the names of all of them and of those FILEs that have SFrame, each once.
#
# BINUTILS2=	where run/ARCH-linux-gnu-{as,ld} are that write version 2
#
# usage: DIRECTORY CC [FILE...]
set -eu

dir=$1
cc=$2
shift 2
here=$(dirname "$0")
old=${BINUTILS2:-}

have() { command -v "$1" >/dev/null; }

# Commands for an architecture: the machine's own have no prefix
prefix()
{
	[ "$1" = "$(uname -m)" ] || echo "$1-linux-gnu-"
}

compiler()
{
	if [ "$1" = "$(uname -m)" ]; then
		echo "$cc"
	elif have "$1-linux-gnu-gcc"; then
		echo "$1-linux-gnu-gcc"
	else
		echo "$1-linux-gnu-gcc-14"
	fi
}

# Names of options of the compiler, and the options
options()
{
	cat <<-END
		O0 -O0
		fp -O1 -fno-omit-frame-pointer
		nofp -O2 -fomit-frame-pointer
		packed -O2 -falign-functions=1
	END
}

# What the files are made from
key()
{
	cat "$0" "$here/diff_many.awk"
	for arch in x86_64 aarch64; do
		for tool in "$(compiler $arch)" "$(prefix $arch)as" "$(prefix $arch)ld" \
			    "$old/run/$arch-linux-gnu-as" "$old/run/$arch-linux-gnu-ld"; do
			! have "$tool" || "$tool" --version
		done
	done
	ls /usr/src/binutils 2>/dev/null || :
}

# compile TARGET ARCH - each kind by each option, to assembly in $dir/source/TARGET
compile()
{
	gcc=$(compiler "$2")
	mkdir -p "$dir/source/$1"
	if ! have "$gcc"; then
		echo "# diff: no compiler for $1" >&2
		return
	fi
	flags="-w -fPIC -S"
	# As Debian builds for arm64: return addresses are signed
	[ "$2" != aarch64 ] || flags="$flags -mbranch-protection=standard"
	[ "$1" = "$2" ] || flags="$flags -mbig-endian"
	awk -f "$here/diff_many.awk" | while read -r kind; do
		awk -v n=40 -v KIND="$kind" -f "$here/diff_many.awk" >"$dir/source/$1.c"
		options | while read -r name opt; do
			# shellcheck disable=SC2086 # options are words
			$gcc $flags $opt -o "$dir/source/$1/$kind-$name.s" "$dir/source/$1.c"
		done
	done
}

# written_version AS ENDIAN - the version of the format that it writes; nothing if none
written_version()
{
	# shellcheck disable=SC2086 # it may be empty
	printf 'f:\n.cfi_startproc\nret\n.cfi_endproc\n' |
		"$1" $2 --gsframe -o "$dir/source/$target.o" - 2>/dev/null || return 0
	readelf -x .sframe "$dir/source/$target.o" 2>/dev/null |
		awk '/^ *0x/ { print substr($2, 6, 1); exit }'
}

# link NAME OBJECT... - for assemble()
link()
{
	name=$1
	shift
	[ -e "$1" ] || return 0
	# shellcheck disable=SC2086 # it may be empty
	"$ld" $endian -shared -z notext --unresolved-symbols=ignore-all \
		-o "$into/$name.so" "$@"
}

# assemble TARGET ARCH AS LD - some of the assembler's tests are there to see it
# complain, and some are for a later version
assemble()
{
	target=$1
	as=$3
	ld=$4
	endian=
	num=0
	all=0
	[ "$1" = "$2" ] || endian=-EB
	if ! have "$as" || ! have "$ld"; then
		echo "# diff: no $as" >&2
		return
	fi
	version=$(written_version "$as" "$endian")
	into=$dir/$1-v$version
	objects=$dir/source/$1-objects
	mkdir -p "$into" "$objects"
	for src in "$dir/source/$1"/*.s "$dir/source/tests"/*"$2"*.s \
		   "$dir/source/tests"/*common*.s; do
		file=${src##*/}
		all=$((all + 1))
		# shellcheck disable=SC2086 # it may be empty
		if "$as" $endian --gsframe -o "$objects/$file.o" "$src" 2>/dev/null &&
		   link "${file%.s}" "$objects/$file.o" 2>/dev/null; then
			num=$((num + 1))
		fi
	done
	options | while read -r name _; do
		link "all-$name" "$objects"/*-"$name".s.o
	done
	rm -r "$objects"
	echo "# diff: $num of $all files of assembly for $1, version ${version:-none}" >&2
}

read_binutils()
{
	tarball=$(find /usr/src/binutils -name 'binutils-*.tar.xz' 2>/dev/null | head -n 1)
	if [ -z "$tarball" ]; then
		echo "# diff: no source of binutils here, its tests are left out" >&2
		return
	fi
	tar -xf "$tarball" -C "$dir/source/tests" --strip-components=5 --wildcards \
		'*/gas/testsuite/gas/cfi-sframe/*.s'
	tar -xf "$tarball" -C "$dir/libsframe" --strip-components=4 --wildcards \
		'*/libsframe/testsuite/libsframe.decode/DATA*'
}

make_target()
{
	compile "$1" "${1%_be}"
	assemble "$1" "${1%_be}" "$(prefix "${1%_be}")as" "$(prefix "${1%_be}")ld"
	assemble "$1" "${1%_be}" "$old/run/${1%_be}-linux-gnu-as" "$old/run/${1%_be}-linux-gnu-ld"
	: >"$dir/source/$1.done"
}

make_all()
{
	rm -rf "$dir"
	mkdir -p "$dir/source/tests" "$dir/libsframe"
	read_binutils
	for target in x86_64 aarch64 aarch64_be; do
		make_target $target &
	done
	wait
	for target in x86_64 aarch64 aarch64_be; do
		[ -e "$dir/source/$target.done" ]
	done
	rm -rf "$dir/source"
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
	for file in "$dir"/*/*.so; do
		! has_table "$file" || echo "$file"
	done >"$dir/list"
	find "$dir/libsframe" -type f >>"$dir/list"
	echo "$key" >"$dir/key"
fi

cat "$dir/list"
[ $# -eq 0 ] || readlink -f "$@" | sort -u | while read -r file; do
	! has_table "$file" || echo "$file"
done
