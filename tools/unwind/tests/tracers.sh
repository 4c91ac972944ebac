#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Stacks of programs with tables, and of the system's python3, whose tables the service
# makes; by unmodified bpftrace, perf, trace-cmd and bcc, of Debian.  Prints TAP, and what
# each tool saw as comments.  It is run as root, with unwind-tables in PATH.
#
#     tracers.sh KERNEL    (where the kernel was built)
#
# Each tool watches a running program.  The first second is left out: tables are found
# meanwhile.  With kernel.unwind_immediate=0 there would be nothing to see, which comes
# last.  QUICK=1 is shorter: one program for each tool but trace-cmd, whose stacks are
# compared with others, and no bcc.  DEFERRED=1 is perf's deferred stacks alone, of more
# programs of Debian, too.

KERNEL=$1
HERE=$(realpath "$(dirname "$0")")
# Programs and libraries whose files have tables
PREFIX=${PREFIX:-/opt/sframe}
WATCHED=12
THREADS='bpftrace perf trace_cmd'
WITHOUT='bpftrace perf'
[ -z "$QUICK" ] || { WATCHED=4 THREADS=trace_cmd WITHOUT=perf BCC=no; }
SWITCH=/proc/sys/kernel/unwind_immediate
SERVICE=$(command -v unwind-tables)
# The tools of Debian, none of this project's
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C
cd /tmp || exit 1
n=0

# They run for longer than they are watched, and are then stopped
start_sqlite()
{
	rm -f work.db*
	$PREFIX/bin/sqlite3 -batch -cmd '.parameter init' -cmd '.parameter set @size 1000' \
		work.db <$HERE/workloads/workload.sql >/dev/null &
}

start_mixed() { $PREFIX/bin/mixed 600 & }

start_python3() { /usr/bin/python3 $HERE/workloads/workload.py 1000000 >/dev/null & }

watch_bpftrace()
{
	timeout 300 bpftrace -e "
		BEGIN { @begin = nsecs; }
		profile:hz:99 /pid == $1 && nsecs - @begin > 1000000000/ {
			@stacks[ustack(perf)] = count();
		}
		interval:s:$WATCHED { exit(); }" >recorded
}

# perf gives up to read a process's mappings after half a second, which a busy machine may take
SLOW="--proc-map-timeout 60000"

# perf_record HZ GRAPH PID
perf_record()
{
	perf record $SLOW -F "$1" --call-graph "$2" -p "$3" -o data -- sleep $WATCHED &&
		perf script -i data --no-inline -F comm,time,ip,sym >recorded
}

watch_perf() { perf_record 99 fp "$1"; }

# Newer ones know how to ask
watch_perf_deferred() { perf_record 199 fp,defer "$1"; }

# bcc compiles with the kernel's headers, which Debian's kernel has in a package.  It
# cannot leave out the first second, so another tool has that.
after_first_second()
{
	[ -e /sys/kernel/kheaders.tar.xz ] || insmod "$KERNEL/kernel/kheaders.ko"
	perf record $SLOW -F 99 -g -p "$1" -o data -- sleep 1
}

watch_bcc() { after_first_second "$1" && profile-bpfcc -F 99 -p "$1" -U -f $WATCHED >recorded; }

# Stacks of waiting: in microseconds
watch_bcc_off_cpu()
{
	after_first_second "$1" && offcputime-bpfcc -p "$1" -U -f $WATCHED >recorded
}

# At each tick that interrupts the program: the immediate stack, of eight addresses at
# most, and the deferred one, by which it is judged
watch_trace_cmd()
{
	trace-cmd record -q -B in-place -o trace.dat -e hrtimer_expire_entry \
		-O userstacktrace -O userstacktrace_deferred \
		-P "$(ls "/proc/$1/task" | paste -sd,)" sleep $((WATCHED + 1)) &&
		trace-cmd report trace.dat >recorded
}

# judge TOOL PROGRAM SWITCH PERCENT - of what was recorded; "-50": below 50
judge()
{
	n=$((n + 1))
	result='not ok'
	! python3 $HERE/judge_tracers.py "$1" recorded "$4" ${STRICT:+strict} >judged || result=ok
	sed 's/^/# /' judged
	echo "$result $n $1, $2, unwind_immediate=$3: complete stacks${STRICT:+ $4 %}"
}

# watch TOOL PROGRAM SWITCH PERCENT
watch()
{
	echo "$3" >$SWITCH
	"start_$2"
	pid=$!
	: >recorded
	"watch_$1" $pid >log 2>&1 || sed 's/^/# /' log
	kill $pid
	wait $pid 2>/dev/null
	judge "$@"
}

# watch_served TOOL... - Debian's python3, while the service runs
watch_served()
{
	"$SERVICE" serve 2>service &
	service=$!
	for tool; do watch "$tool" python3 1 95; done
	kill $service
	wait $service
	sed 's/^/# /' service
}

# Debian's programs, by Debian's perf.  Tables are made in the first run of each
watch_programs()
{
	mkdir programs
	"$SERVICE" serve 2>service &
	service=$!
	export EVENT=cpu-clock BUILT='' PERF=/usr/bin/perf NATIVE='' SIZE=4
	sh $HERE/record.sh methods $PWD/programs 'stock-defer@299 stock-defer@299' "$@" 2>log ||
		sed 's/^/# /' log
	kill $service
	wait $service
	for program; do
		n=$((n + 1))
		result='not ok'
		! python3 $HERE/shares.py programs $program stock-defer 99 ${STRICT:+strict} \
			>judged || result=ok
		sed 's/^/# /' judged
		echo "$result $n Debian's $program: complete stacks${STRICT:+ 99 %}"
	done
}

[ -w $SWITCH ] || { echo "not ok 1 no $SWITCH"; exit 1; }
if [ -n "$DEFERRED" ]; then
	watch perf_deferred sqlite 1 99.9
	watch_served perf_deferred
	watch_programs perl git openssl cc1 sqlite3 redis rg
	echo "1..$n"
	exit
fi
for tool in bpftrace perf trace_cmd; do watch $tool sqlite 1 95; done
judge trace_cmd_deferred sqlite 1 99.9
watch perf_deferred sqlite 1 99.9
for tool in $THREADS; do watch $tool mixed 1 95; done
# The C library calls malloc() and free() by its .plt.got.  binutils 2.47's ld writes a
# wrong table for it, and 1 % of the stacks end there
judge trace_cmd_deferred mixed 1 98
[ "$BCC" = no ] || for tool in bcc bcc_off_cpu; do watch $tool mixed 1 95; done
watch_served bpftrace perf perf_deferred
for tool in $WITHOUT; do watch $tool sqlite 0 -50; done
echo 1 >$SWITCH
sed 's/^/# /' /sys/kernel/debug/unwind/immediate
echo "1..$n"
