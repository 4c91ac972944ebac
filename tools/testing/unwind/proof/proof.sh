#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Have CBMC check the proofs of decoder.c, for both versions of the format; then see that
# each proof fails where one of the decoder's checks is left out.
#
# A loop that may go on longer than assumed fails its proof.  Wrapping of unsigned sums is
# not checked as such: starts of functions may wrap, and what must not is asserted.
#
# usage: BUILD-DIRECTORY INCLUDE-DIRECTORY SOURCE-DIRECTORY, with CBMC in $CBMC
set -u

dir=$1
include=$2
src=$3
here=$(dirname "$0")
num=0
failed=0

# CBMC preprocesses by "gcc"
mkdir -p "$dir/bin"
ln -sf "$(command -v "${CC:-gcc}")" "$dir/bin/gcc"
PATH=$dir/bin:$PATH
sed -e "/#include \"sframe_decode.h\"/{r $src/sframe_decode.h" -e 'd}' \
	"$src/sframe.c" >"$dir/plain.c"
awk -v LIST="$dir/mutants.list" -f "$here/../fuzz/mutants.awk" "$dir/plain.c" >"$dir/mutants.c"

# proof DECODER NAME UNWIND OPTION...
proof()
{
	decoder=$1
	name=$2
	bound=$3
	shift 3
	"$CBMC" --function "prove_$name" --object-bits 12 --bounds-check --pointer-check \
		--undefined-shift-check --signed-overflow-check \
		--unwind "$bound" --unwinding-assertions "-I$here" "-I$here/../include" \
		"-I$include" "-I$src" "-DDECODER=\"$decoder\"" "$@" "$here/decoder.c" \
		>"$dir/$name.log" 2>&1
}

# holds NAME UNWIND OPTION...
holds()
{
	num=$((num + 1))
	if proof "$dir/plain.c" "$@" && grep -q '^VERIFICATION SUCCESSFUL' "$dir/$1.log"; then
		echo "ok $num - proof: $*"
	else
		failed=$((failed + 1))
		grep -E ': FAILURE$|ERROR' "$dir/$1.log" | head -n 5 | sed 's/^/# /'
		echo "not ok $num - proof: $*"
	fi
}

# breaks TEXT NAME UNWIND OPTION... - without the check whose line begins with TEXT
breaks()
{
	text=$1
	shift
	id=$(grep -F "left out: $text" "$dir/mutants.list" | cut -f 1 | head -n 1)
	num=$((num + 1))
	if [ -n "$id" ] && ! proof "$dir/mutants.c" "$@" "-DMUTANT=$id" &&
	   grep -q '^VERIFICATION FAILED' "$dir/$1.log"; then
		echo "ok $num - proof: $1 fails without: $text"
	else
		failed=$((failed + 1))
		echo "not ok $num - proof: $1 fails without: $text"
	fi
}

holds header 8
for version in 2 3; do
	holds search 8 -DVERSION=$version
	holds entry 2 -DVERSION=$version
	holds fre 2 -DVERSION=$version
	for word in 0 1 2; do
		holds rules 17 -DVERSION=$version -DWORD=$word
	done
done
breaks "if (size < sizeof(hdr))" header 8
breaks "base + hdr->freoff + hdr->fre_len > size)" header 8
breaks "if (func->fre_pos > sec->fre_len)" entry 2 -DVERSION=3
breaks "if (pos + (1U << fre_type) + sizeof(u8) > sec->fre_len)" fre 2 -DVERSION=3
breaks "if (fre_word_size(info) > SFRAME_FRE_DATAWORD_4B)" fre 2 -DVERSION=3
breaks "if (fre->end > sec->fre_len)" rules 17 -DVERSION=3 -DWORD=0
breaks "if (*pos + (2U << word_size) > fre->end)" rules 17 -DVERSION=3 -DWORD=0
echo "1..$num"
[ $failed -eq 0 ]
