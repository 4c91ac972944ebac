#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Renew corpus/: the fewest inputs that reach what all of these reach together:
# the present ones, what "make fuzz" found here, generated tables, and tables
# that the assembler here writes for C of our own.
#
# usage: BUILD-DIRECTORY CC
set -eu

dir=$1
cc=$2
here=$(dirname "$0")
work=$dir/clang/merge

rm -rf "$work"
mkdir -p "$work/in" "$work/out" "$here/corpus"
"$dir/sframe_fuzz" -w "$work/in"

# The first byte of an input is the ABI, AMD64; then any seed
for opt in "-O2" "-O1 -fno-omit-frame-pointer" "-O0"; do
	name=$work/in/compiled$(printf '%s' "$opt" | tr -d ' ')
	awk -v n=12 -f "$here/../differential/diff_many.awk" >"$work/many.c"
	# shellcheck disable=SC2086 # options are words
	$cc $opt -w -fPIC -Wa,--gsframe -c -o "$work/many.o" "$work/many.c"
	"${LD:-ld}" -shared -o "$work/many.so" "$work/many.o" 2>"$work/ld.log"
	objcopy -O binary --only-section=.sframe "$work/many.so" "$work/section"
	{ printf '\003our own'; cat "$work/section"; } >"$name"
done

find "$dir/clang" -maxdepth 1 -name 'found.*' -exec cp -r {} "$work/in" \;
"$dir/clang/fuzz_ALL" -set_cover_merge=1 -max_len=8192 \
	"$work/out" "$here/corpus" "$work/in" >"$work/merge.log" 2>&1
rm -f "$here"/corpus/*
cp "$work"/out/* "$here/corpus"
echo "$(find "$here/corpus" -type f | wc -l) inputs, $(du -sb "$here/corpus" | cut -f1) bytes"
