#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Assemble and link each case in cases/, convert it, and compare the kernel's decoder with
# the expected rows of the case.
#
#	cases.sh TABLE_ROWS DIR
#
# Lines of a case that begin with "#:" have the expected output of table_rows. Lines that
# begin with "#!" say how to link it:
#
#	#! ld OPTION...		with these options
#	#! no-sections		and without section headers

rows=$1
dir=$2
cases=$(dirname "$0")/cases
nr=0
failed=0

result()
{
	nr=$((nr + 1))
	[ -z "$1" ] || failed=$((failed + 1))
	echo "${1}ok $nr - $2"
}

# The directive $2 of the case $1: print its text; succeed if it is there
directive()
{
	sed -n "s/^#! $2//p" "$1" | grep .
}

# Remove section headers: their offset and their number
cut_sections()
{
	printf '\0\0\0\0\0\0\0\0' | dd of="$1" bs=1 seek=40 conv=notrunc 2>/dev/null
	printf '\0\0\0\0\0\0' | dd of="$1" bs=1 seek=58 conv=notrunc 2>/dev/null
}

run_case()
{
	local name=$2 out=$dir/$2 options

	options=$(directive "$1" ld) || options="--eh-frame-hdr -pie"
	"$3as" -o "$out.o" "$1" || return 1
	# The linker's messages about hand-written entries do not matter
	# shellcheck disable=SC2086
	"$3ld" --no-dynamic-linker $options -o "$out.elf" "$out.o" 2>"$out.log" || {
		sed 's/^/# /' "$out.log"
		return 1
	}
	cp "$out.elf" "$out.symbols"
	if grep -q '^#! no-sections' "$1"; then
		cut_sections "$out.elf"
	fi
	sed -n 's/^#: //p' "$1" >"$out.want"
	[ -s "$out.want" ] || return 1
	"$rows" "$out.elf" "$out.symbols" >"$out.got" 2>&1
	diff "$out.want" "$out.got" >"$out.diff" && return 0
	sed "s/^/# $name: /" "$out.diff"
	return 1
}

run_cases()
{
	local case name

	for case in "$cases/$1"/*.s; do
		name=$1-$(basename "$case" .s)
		if ! command -v "$2as" >/dev/null; then
			result "" "$name # SKIP there is no ${2}as"
		elif run_case "$case" "$name" "$2"; then
			result "" "$name"
		else
			result "not " "$name"
		fi
	done
}

# The prefix of the tools for machine $1
prefix()
{
	[ "$(uname -m)" = "$1" ] || echo "$1-linux-gnu-"
}

mkdir -p "$dir"
run_cases x86_64 "$(prefix x86_64)"
run_cases arm64 "$(prefix aarch64)"
echo "1..$nr"
[ $failed = 0 ]
