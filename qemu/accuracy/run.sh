#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: record the programs.
#
#     run.sh same OUTDIR PROGRAM...        by same_record
#     run.sh methods OUTDIR PROGRAM...     by perf, once per method
#
# OUTDIR is on the host, where the recordings of "same" are compared later; they
# are made in memory first, because nothing must be lost.  Of "methods" it is perf's
# own reading of them that is kept, as text: it needs the guest's vDSO.
#
#     BUILT    where same_record and perf are                       (/mnt/cache/out)
#     SIZE     how much work, see programs.sh                       (10)
#     EVENT    what "methods" samples by                            (cpu-clock)
#     PERIOD   of "same", in nanoseconds of processor time          (997001)
set -eu

HERE=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=programs.sh
. "$HERE/programs.sh"
WHAT=$1
OUT=$2
shift 2
SIZE=${SIZE:-10}
EVENT=${EVENT:-cpu-clock}
PERIOD=${PERIOD:-997001}
BUILT=${BUILT:-/mnt/cache/out}
PERF=$BUILT/perf/perf
IN_PLACE=/proc/sys/kernel/unwind_in_place
WORK=/tmp/accuracy
# Room for what waits to be written
BUFFER=32M
# Frames; by default perf cuts longer stacks, however they were unwound
MAX_STACK=1024

export LC_ALL=C PERF_PAGER=cat HOME=$WORK

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# The first run of a program says what it prints
check_result() {
	[ -e "$1.expected" ] || cp "$2" "$1.expected"
	cmp -s "$1.expected" "$2" || die "$1: the work differs"
}

same() {
	program=$1
	"run_$program" "$SIZE" "$BUILT/same/same_record" "$WORK/$program" "$PERIOD" \
		>"$program.result" 2>"$program.log" || { cat "$program.log" >&2; die "$program failed"; }
	# What a program prints may go through a pipe, which has a status of its own
	tail -n 1 "$program.log" | grep -q ', 0 lost$' ||
		{ cat "$program.log" >&2; die "$program: records were lost"; }
	check_result "$program" "$program.result"
	rm -rf "${OUT:?}/$program"
	cp -r "$program" "$OUT/$program"
	printf '%s: %s\n' "$program" "$(tail -n 1 "$program.log")" >&2
	rm -rf "$program"
}

# samples STATISTICS: "SAMPLES LOST" of the event
samples() {
	awk -v event="$EVENT" '
		/^[^ ].*stats:$/ { ours = index($0, event) == 1 }
		ours && /^ *SAMPLE events:/ { samples += $3 }
		/^ *LOST_SAMPLES events:/ { lost += $3 }
		END { print samples + 0, lost + 0 }' "$1"
}

# method NAME FREQUENCY OPTION...
method() {
	name=$1
	frequency=$2
	shift 2
	"run_$program" "$SIZE" "$PERF" record -q -F "$frequency" -e "$EVENT" -m "$BUFFER" \
		--no-buildid -o data "$@" -- >"$program.result" 2>log ||
		{ cat log >&2; die "$program: perf record failed"; }
	check_result "$program" "$program.result"
	begin=$(date +%s)
	"$PERF" report -i data --stats --stdio >stats 2>log
	"$PERF" script -i data --no-inline --max-stack "$MAX_STACK" -F comm,tid,time,event,ip,sym,dso \
		>"$OUT/$program.$name.script" 2>>log || { cat log >&2; die "perf script failed"; }
	! grep "deferred callchains missing" log >&2 || die "$program: stacks are missing"
	counts=$(samples stats)
	printf '%s %s\n' "$counts" "$(wc -c <data)" >"$OUT/$program.$name.counts"
	printf '%s, %s: %s samples, %s lost, read in %s s\n' "$program" "$name" "${counts% *}" \
		"${counts#* }" $(($(date +%s) - begin)) >&2
	rm -f data
}

methods() {
	echo "$MAX_STACK" >/proc/sys/kernel/perf_event_max_stack
	program=$1
	method sframe 997 --call-graph sframe
	# By frame pointers alone, as it was before there were tables
	in_place=$(cat "$IN_PLACE")
	echo 0 >"$IN_PLACE"
	method fp 997 --call-graph fp
	echo "$in_place" >"$IN_PLACE"
	# A lot of memory, and of time to unwind
	method dwarf8 297 --call-graph dwarf,8192
	method dwarf64 297 --call-graph dwarf,65528
}

case $WHAT in
same|methods) ;;
*) die "there is no $WHAT" ;;
esac
mkdir -p "$WORK"
cd "$WORK"
for name; do
	"$WHAT" "$name"
done
