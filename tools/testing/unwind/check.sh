#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Run the tests and add up what they report.  A program that dies, hangs, or stops
# before its plan is done, is one failure more, whatever it printed until then.
#
# usage: DIRECTORY CC FUZZ_RUNS FUZZ_SEED PROGRAM... -- [ELF-FILE...], with the name
# of gcov in $GCOV
set -u

dir=$1
cc=$2
runs=$3
seed=$4
shift 4
here=$(dirname "$0")
log=$dir/check.log
passed=0
failed=0
skipped=0
programs=
while [ "$1" != -- ]; do
	programs="$programs $1"
	shift
done
shift

built() { case "$programs " in *" $1 "*) ;; *) return 1 ;; esac; }

# The tests' output goes to the log, and what did not pass to the terminal too.
# The limit is one of processor time: a busy machine makes no test fail.
run()
{
	status=0
	# shellcheck disable=SC3045 # sh has it
	(ulimit -t 300; exec "$@") >"$log.one" 2>&1 || status=$?
	cat "$log.one" >>"$log"
	grep -v '^ok [0-9]* - \|^1\.\.' "$log.one"
	total=$(grep -c '^ok \|^not ok ' "$log.one")
	skip=$(grep -c '^ok .*# SKIP' "$log.one")
	bad=$(grep -c '^not ok ' "$log.one")
	plan=$(sed -n 's/^1\.\.//p' "$log.one")
	passed=$((passed + total - skip - bad))
	skipped=$((skipped + skip))
	failed=$((failed + bad))
	if [ "$plan" != "$total" ] ||
	   { [ $status -ne 0 ] && [ "$bad" -eq 0 ]; }; then
		echo "not ok - ${1##*/}: status $status, $total of ${plan:-?} tests" |
			tee -a "$log"
		failed=$((failed + 1))
	fi
	rm -f "$log.one"
}

skip()
{
	echo "ok - # SKIP $1" | tee -a "$log"
	skipped=$((skipped + 1))
}

: >"$log"
run "$dir/sframe_test"
if built sframe_diff; then
	run "$dir/diff_quirks3"
	"$here/differential/diff_inputs.sh" "$dir/diff" "$cc" "$@" >"$dir/diff.list" || {
		echo "not ok - diff: its files could not be made" | tee -a "$log"
		failed=$((failed + 1))
	}
	# shellcheck disable=SC2046 # a list
	run "$dir/sframe_diff" -g 2000 $(cat "$dir/diff.list")
else
	skip "diff: no libelf, or no libsframe that reads version 3"
fi
if built sframe_diff2; then
	run "$dir/diff_quirks2"
	# shellcheck disable=SC2046 # a list
	run "$dir/sframe_diff2" $(cat "$dir/diff.list")
else
	skip "diff: no libsframe of version 2"
fi
run "$dir/sframe_fuzz" -n "$runs" -s "$seed" -o "$dir/sframe_fuzz.crash" "$here"/fuzz/corpus/*
run "$here/fuzz/mutants.sh" "$dir" 200
run "$here/fuzz/mutants.sh" "$dir" 200 table
run "$here/unit/coverage.sh" "$dir/coverage" "$GCOV"

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
