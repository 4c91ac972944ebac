#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Test the tests: break the decoder, or the builder of tables, in one place after the
# other (mutants.awk says how), and see that the fuzzer, or else a unit test, notices.
#
# What keeps the decoder within the section and its bounds is for the fuzzer to
# notice, mostly by the corpus alone; that an entry is refused which merely makes
# no sense, only a unit test can.  That an error is another one, the cases that
# KUnit shares have to notice; of a table, its own tests.
#
# usage: BUILD-DIRECTORY FUZZ_RUNS [table]
set -u

dir=$1
runs=$2
if [ "${3:-}" = table ]; then
	# With sanitizers: much of what is wrong is a write beyond an array
	name=table_mutants
	test_program=$dir/sframe_test_$name
	first=tables
	shared=tables
else
	name=mutants
	test_program=$dir/coverage/sframe_test_$name
	first=first
	shared=cases
fi
fuzz_program=$dir/sframe_fuzz_$name
list=$dir/$name.list
log=$dir/$name.log
crash=$dir/$name.crash
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
	{ ! (export UNWIND_MUTANT="$id"; ulimit -t 60; exec "$@") >"$log" 2>&1
	} 2>/dev/null # where the shell says that it was killed
}

corpus() { notices "$fuzz_program" -r -o "$crash" "$here"/corpus/*; }
tests() { notices "$test_program" "$first"; }
cases()
{
	notices "$test_program" "$shared" &&
		grep -q '^not ok ' "$log"
}
fuzzer()
{
	notices "$fuzz_program" -n "$runs" -o "$crash" "$here"/corpus/*
}

# Without a mutant nothing may fail, or the rest proves nothing
id=0
if corpus || tests || cases || fuzzer; then
	tail -n 5 "$log" | sed 's/^/# /'
	echo "not ok 1 - $name: without a mutant all pass"
	echo "1..1"
	exit 1
fi
echo "ok 1 - $name: without a mutant all pass"

tab=$(printf '\t')
while IFS=$tab read -r id line what; do
	num=$((id + 1))
	case $what in
	"another error: "*)
		if cases; then
			errors=$((errors + 1))
			echo "ok $num - $name: a case notices line $line, $what"
		else
			echo "not ok $num - $name: no case notices line $line, $what"
		fi
		continue ;;
	esac
	if corpus; then
		by_corpus=$((by_corpus + 1))
		echo "ok $num - $name: the corpus notices line $line, $what"
	elif tests; then
		by_test=$((by_test + 1))
		echo "ok $num - $name: a unit test notices line $line, $what"
	elif fuzzer; then
		by_fuzzer=$((by_fuzzer + 1))
		echo "ok $num - $name: the fuzzer notices line $line, $what"
	else
		echo "not ok $num - $name: nothing notices line $line, $what"
	fi
done <"$list"
echo "# $name: $by_corpus noticed by the corpus, $by_test by unit tests, $by_fuzzer by the fuzzer"
echo "# $name: $errors other errors noticed by the cases"
echo "1..$(($(wc -l <"$list") + 1))"
rm -f "$log" "$crash"
