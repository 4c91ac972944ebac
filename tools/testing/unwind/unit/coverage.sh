#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# How much of the decoder and of the builder of tables the unit tests and the corpus
# reach: lines, branches, and each line that is never reached.  The programs were built
# with --coverage.
#
# It succeeds if every line is reached: test or remove a line that nothing reaches.
#
# usage: BUILD-DIRECTORY GCOV
set -eu

dir=$1
gcov=$2
if ! command -v "$gcov" >/dev/null; then
	echo "ok 1 # SKIP coverage: there is no $gcov here"
	echo "1..1"
	exit 0
fi
here=$(cd "$(dirname "$0")/.." && pwd)

rm -f "$dir"/*.gcda "$dir"/*.gcov
"$dir/sframe_test" >"$dir/coverage.log" 2>&1 ||
	{ tail -n 5 "$dir/coverage.log"; exit 1; }
"$dir/sframe_fuzz" -r -o "$dir/coverage.crash" "$here"/fuzz/corpus/* \
	>>"$dir/coverage.log" 2>&1 ||
	{ tail -n 5 "$dir/coverage.log"; exit 1; }

# The summary, then counts per line: "count:number:text".  Names of sources are
# relative to where they were compiled.  Lines of sframe_decode.h are
# counted for the decoder alone: reads of a copy never fail.
cd "$here"
"$gcov" -b -n -o "$dir" "$dir/sframe.o" "$dir/sframe_table.o" >"$dir/gcov.log"
"$gcov" -t -o "$dir" "$dir/sframe.o" >"$dir/gcov.lines"
"$gcov" -t -o "$dir" "$dir/sframe_table.o" |
	awk '/^ *-: *0:Source:/ { on = /\/sframe_table\.[ch]$/ } on' >>"$dir/gcov.lines"

for name in sframe sframe_table; do
	awk -v name="$name" '
		/^File / { on = $0 ~ "/" name "\\.c.$" }
		on && /^Lines executed/ { split($2, l, ":"); lines = l[2]; nl = $4 }
		on && /^Taken at least/ { split($4, b, ":"); branches = b[2]; nb = $6 }
		END { printf "# coverage of %s.c: %s of %d lines, %s of %d branches\n",
			     name, lines, nl, branches, nb }' "$dir/gcov.log"
done

status=1
if ! grep -q '^ *[0-9]*\**: *[0-9]*:' "$dir/gcov.lines"; then
	echo "not ok 1 - coverage: there is no count of any line"
elif sed -n 's/^ *[#=][#=]*: *\([1-9][0-9]*\):[[:space:]]*/# never reached: line \1: /p' \
	"$dir/gcov.lines" | grep .; then
	echo "not ok 1 - coverage: every line is reached"
else
	echo "ok 1 - coverage: every line is reached"
	status=0
fi
echo "1..1"
exit $status
