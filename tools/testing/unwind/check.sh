#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Run the tests and add up what they report.  A program that dies, hangs, or stops
# before its plan is done, is one failure more, whatever it printed until then.
#
# usage: DIRECTORY FUZZ_RUNS [ELF-FILE...], with the name of gcov in $GCOV
set -u

dir=$1
runs=$2
shift 2
here=$(dirname "$0")
log=$dir/check.log
passed=0
failed=0
skipped=0

# The tests' output goes to the log, and what did not pass to the terminal too
run()
{
	status=0
	timeout 300 "$@" >"$log.one" 2>&1 || status=$?
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

: >"$log"
run "$dir/sframe_test"
run cat "$dir/errors.tap"
if [ -x "$dir/sframe_diff" ]; then
	run "$dir/diff_quirks3"
	run "$dir/sframe_diff" -g 2000 "$@"
else
	echo "ok - # SKIP diff: no libelf, or no libsframe that reads version 3" |
		tee -a "$log"
	skipped=$((skipped + 1))
fi
if [ -x "$dir/sframe_diff2" ]; then
	run "$dir/diff_quirks2"
	run "$dir/sframe_diff2" "$@"
else
	echo "ok - # SKIP diff: no libsframe of version 2" | tee -a "$log"
	skipped=$((skipped + 1))
fi
run "$dir/sframe_fuzz" -n "$runs" -o "$dir/sframe_fuzz.crash" "$here"/fuzz/corpus/*
run "$here/fuzz/mutants.sh" "$dir" 200
run "$here/unit/coverage.sh" "$dir/coverage" "$GCOV"

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
