#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Test the tests: break one check of the decoder after the other (mutants.awk
# says how), and see that the fuzzer, or else a unit test, notices.
#
# What keeps the decoder within the section and its bounds is for the fuzzer to
# notice, mostly by the corpus alone; that an entry is refused which merely makes
# no sense, only a unit test can.
#
# usage: BUILD-DIRECTORY FUZZ_RUNS
set -u

dir=$1
runs=$2
here=$(dirname "$0")
by_corpus=0
by_fuzzer=0
by_test=0

# A sanitizer's report is as good as a failed test, and so is a hang
export ASAN_OPTIONS=symbolize=0 UBSAN_OPTIONS=symbolize=0
notices()
{
	! UNWIND_MUTANT=$id timeout 60 "$@" >"$dir/mutants.log" 2>&1
}

tab=$(printf '\t')
while IFS=$tab read -r id line what; do
	if notices "$dir/sframe_fuzz_mutants" -r -o "$dir/mutants.crash" \
		"$here"/corpus/*; then
		by_corpus=$((by_corpus + 1))
		echo "ok $id - mutants: the corpus notices line $line, $what"
	elif notices "$dir/coverage/sframe_test_mutants"; then
		by_test=$((by_test + 1))
		echo "ok $id - mutants: a unit test notices line $line, $what"
	elif notices "$dir/sframe_fuzz_mutants" -n "$runs" \
		-o "$dir/mutants.crash" "$here"/corpus/*; then
		by_fuzzer=$((by_fuzzer + 1))
		echo "ok $id - mutants: the fuzzer notices line $line, $what"
	else
		echo "not ok $id - mutants: nothing notices line $line, $what"
	fi
done <"$dir/mutants.list"
echo "# mutants: $by_corpus noticed by the corpus, $by_test by unit tests, $by_fuzzer by the fuzzer"
echo "1..$(wc -l <"$dir/mutants.list")"
rm -f "$dir/mutants.log" "$dir/mutants.crash"
