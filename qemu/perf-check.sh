#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: the perf tool's own tests of deferred callchains, and Debian's
# newer perf, unmodified, on this kernel.  Prints TAP.  What reads recordings and
# what else records is in perf-check/.

PERF=${PERF:-/mnt/cache/out/perf/perf}
export HOME=/tmp
n=0

# result NAME COMMAND...
result()
{
	name=$1
	shift
	n=$((n + 1))
	# Nothing is left of the test before
	rm -f /tmp/d.data /tmp/stats /tmp/script /tmp/script.err
	if "$@" >/tmp/log 2>&1; then
		echo "ok $n $name"
	else
		sed 's/^/# /' /tmp/log
		echo "not ok $n $name"
	fi
}

# A perf test by its title; "Skip" is not a pass
perf_test()
{
	cd /mnt/cache/tree/tools/perf || return 1
	number=$("$PERF" test list 2>&1 | sed -n "s/^ *\([0-9]*\): $1.*/\1/p")
	[ -n "$number" ] || return 1
	PATH=${PERF%/*}:$PATH "$PERF" test -v "$number" >/tmp/test 2>&1
	cat /tmp/test
	grep -q "^ *$number:.*: Ok" /tmp/test
}

workload()
{
	rm -f /tmp/work.db
	"$@" -- /opt/sframe/bin/sqlite3 -batch -cmd '.parameter init' \
		-cmd ".parameter set @size ${SIZE:-3}" /tmp/work.db </mnt/repo/qemu/programs/workload.sql
}

# count WHAT: that many events of a kind
count() { sed -n "s/^ *$1 events: *\([0-9]*\).*/\1/p" /tmp/stats | head -n 1; }

# Most stacks arrive at _start; every sample got its record, nothing was lost.  Of
# records that are missing perf tells whoever wants to see samples, and not with
# their mere count.
check_data()
{
	perf=$1
	"$perf" report -i /tmp/d.data --stats --stdio >/tmp/stats 2>&1
	cat /tmp/stats
	[ "$(count SAMPLE)" -gt 50 ] && [ "$(count CALLCHAIN_DEFERRED)" -gt 50 ] || return 1
	! grep -q 'LOST' /tmp/stats || return 1
	"$perf" script -i /tmp/d.data -F comm,tid,time,ip,sym >/tmp/script 2>/tmp/script.err
	check_stacks </tmp/script && ! grep 'missing' /tmp/script.err
}

check_stacks()
{
	awk 'BEGIN { RS = "" } /_start/ { c++ } { n++ }
	     END { print c " of " n " reach _start"; exit !(n > 50 && c / n > 0.9) }'
}

debian_perf()
{
	workload perf record --call-graph fp,defer -F 299 -e cpu-clock -o /tmp/d.data &&
		check_data perf && check_data "$PERF"
}

our_perf()
{
	workload "$PERF" record --call-graph "$1" -F 299 -e cpu-clock -o /tmp/d.data &&
		check_data "$PERF"
}

system_wide()
{
	workload "$PERF" record -a --call-graph sframe -F 199 -e cpu-clock -o /tmp/d.data &&
		"$PERF" report -i /tmp/d.data --stats --stdio >/tmp/stats 2>&1 &&
		"$PERF" script -i /tmp/d.data -F comm,tid,time,ip,sym --comms sqlite3 \
			2>/tmp/script.err >/tmp/script || return 1
	cat /tmp/stats /tmp/script.err
	check_stacks </tmp/script && ! grep -q 'LOST\|missing' /tmp/stats /tmp/script.err
}

# Our recording, read by Debian's perf
debian_reads()
{
	workload "$PERF" record --call-graph sframe -F 299 -e cpu-clock -o /tmp/d.data &&
		check_data perf
}

# What is compressed unasked still has its build-ids, and goes through a pipe
build_ids()
{
	workload "$PERF" record --call-graph sframe -F 299 -e cpu-clock -o /tmp/d.data &&
		"$PERF" buildid-list -i /tmp/d.data >/tmp/ids
	cat /tmp/ids
	grep -q '^[0-9a-f]\{40\} .*libsqlite3' /tmp/ids
}

through_pipe()
{
	workload "$PERF" record --call-graph sframe -F 299 -e cpu-clock -o - >/tmp/d.pipe &&
		"$PERF" script -i - -F comm,tid,time,ip,sym </tmp/d.pipe | check_stacks
}

# Read while it is written
live_pipe()
{
	workload "$PERF" record --call-graph sframe -F 299 -e cpu-clock -o - |
		"$PERF" report -i - --stdio --no-children -g caller,0.5 \
			-S sqlite3VdbeExec >/tmp/report
	head -n 30 /tmp/report
	grep -q ' sqlite3_step' /tmp/report && grep -q '_start' /tmp/report
}

# Each of several outputs can be read by itself
switched_output()
{
	rm -f /tmp/sw.*
	SIZE=10 workload "$PERF" record --call-graph sframe -F 1999 -e cpu-clock \
		--switch-output=1s -o /tmp/sw || return 1
	set -- /tmp/sw.*
	# One may have but the first samples, or the last ones
	for file; do
		"$PERF" script -i "$file" -F comm,tid,time,ip,sym
	done | check_stacks && [ $# -gt 1 ]
}

. /mnt/repo/qemu/perf-check/readers.sh
. /mnt/repo/qemu/perf-check/live.sh

echo "TAP version 13"
result "perf test: merging of deferred callchains" perf_test "Merging of deferred callchains"
result "perf test: record deferred user callchains" perf_test "perf record deferred user callchains"
result "perf record --call-graph sframe" our_perf sframe
result "perf record --call-graph fp,defer" our_perf fp,defer
result "perf record -a --call-graph sframe: no sample without its record" system_wide
result "Debian's perf $(perf --version | cut -d' ' -f3): record and report fp,defer; ours reads that" debian_perf
result "Debian's perf reads our recording" debian_reads
result "build-ids of a compressed recording" build_ids
result "perf record --call-graph sframe into a pipe" through_pipe
result "perf record -o - | perf report -i -" live_pipe
result "perf record --call-graph sframe --switch-output" switched_output
echo 0 >$IN_PLACE
readers
live
echo "1..$n"
