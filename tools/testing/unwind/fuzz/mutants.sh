#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Test the tests: break the decoder in one place after the other (mutants.awk says
# how), and see that the fuzzer, or else a unit test, notices.
#
# What keeps the decoder within the section and its bounds is for the fuzzer to
# notice, mostly by the corpus alone; that an entry is refused which merely makes
# no sense, only a unit test can.  That an error is another one, the cases that
# KUnit shares have to notice.
#
# usage: BUILD-DIRECTORY FUZZ_RUNS
set -u

dir=$1
runs=$2
here=$(dirname "$0")
by_corpus=0
by_fuzzer=0
by_test=0
errors=0

# A sanitizer's report is as good as a failed test, and so is a loop without end,
# which the limit on processor time ends
export ASAN_OPTIONS=symbolize=0 UBSAN_OPTIONS=symbolize=0
notices()
{
	# shellcheck disable=SC3045 # sh has it
	{ ! (export UNWIND_MUTANT="$id"; ulimit -t 60; exec "$@") >"$dir/mutants.log" 2>&1
	} 2>/dev/null # where the shell says that it was killed
}

corpus() { notices "$dir/sframe_fuzz_mutants" -r -o "$dir/mutants.crash" "$here"/corpus/*; }
tests() { notices "$dir/coverage/sframe_test_mutants" first; }
cases()
{
	notices "$dir/coverage/sframe_test_mutants" cases &&
		grep -q '^not ok ' "$dir/mutants.log"
}
fuzzer()
{
	notices "$dir/sframe_fuzz_mutants" -n "$runs" -o "$dir/mutants.crash" "$here"/corpus/*
}

# Without a mutant nothing may fail, or the rest proves nothing
id=0
if corpus || tests || cases || fuzzer; then
	tail -n 5 "$dir/mutants.log" | sed 's/^/# /'
	echo "not ok 1 - mutants: the decoder without a mutant passes"
	echo "1..1"
	exit 1
fi
echo "ok 1 - mutants: the decoder without a mutant passes"

tab=$(printf '\t')
while IFS=$tab read -r id line what; do
	num=$((id + 1))
	case $what in
	"another error: "*)
		if cases; then
			errors=$((errors + 1))
			echo "ok $num - errors: a case notices line $line, $what"
		else
			echo "not ok $num - errors: no case notices line $line, $what"
		fi
		continue ;;
	esac
	if corpus; then
		by_corpus=$((by_corpus + 1))
		echo "ok $num - mutants: the corpus notices line $line, $what"
	elif tests; then
		by_test=$((by_test + 1))
		echo "ok $num - mutants: a unit test notices line $line, $what"
	elif fuzzer; then
		by_fuzzer=$((by_fuzzer + 1))
		echo "ok $num - mutants: the fuzzer notices line $line, $what"
	else
		echo "not ok $num - mutants: nothing notices line $line, $what"
	fi
done <"$dir/mutants.list"
echo "# mutants: $by_corpus noticed by the corpus, $by_test by unit tests, $by_fuzzer by the fuzzer"
echo "# errors: $errors noticed by the cases"
echo "1..$(($(wc -l <"$dir/mutants.list") + 1))"
rm -f "$dir/mutants.log" "$dir/mutants.crash"
