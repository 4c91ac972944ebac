#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: stacks of programs with tables, by tools that nobody changed, which
# are Debian's bpftrace, perf, trace-cmd and bcc.  Prints TAP, and as comments what
# each tool saw.
#
#     run.sh DIR KERNEL    (where the program "mixed" is; where the kernel was built)
#
# Each tool watches each program while it runs.  What is recorded in the first
# second is left out: tables are found meanwhile.  Then it is done once more
# with kernel.unwind_in_place=0, without which there would be nothing to see.
#
# trace-cmd records deferred stacks beside those taken in place, of which a trace has
# eight addresses: these are judged by that one.
#
# With BCC=no, bcc's are left out.

DIR=$1
KERNEL=$2
HERE=$(cd "$(dirname "$0")" && pwd)
SECONDS_WATCHED=12
SWITCH=/proc/sys/kernel/unwind_in_place
export HOME=/tmp LC_ALL=C
cd /tmp || exit 1
n=0

# They run for longer than they are watched, and are then stopped
start_sqlite3()
{
	rm -f work.db*
	/opt/sframe/bin/sqlite3 -batch -cmd '.parameter init' \
		-cmd '.parameter set @size 1000' work.db \
		<"$HERE/../programs/workload.sql" >/dev/null &
}

start_mixed()
{
	"$DIR/mixed" 600 &
}

watch_bpftrace()
{
	timeout 300 bpftrace -e "
		BEGIN { @begin = nsecs; }
		profile:hz:99 /pid == $1 && nsecs - @begin > 1000000000/ {
			@stacks[ustack(perf)] = count();
		}
		interval:s:$SECONDS_WATCHED { exit(); }" >recorded 2>log
}

watch_perf()
{
	perf record -F 99 -g -p "$1" -o data -- sleep $SECONDS_WATCHED >log 2>&1 &&
		perf script -i data --no-inline -F comm,time,ip,sym >recorded 2>>log
}

# Newer ones know how to ask
watch_perf_deferred()
{
	perf record -F 199 --call-graph fp,defer -p "$1" -o data -- sleep $SECONDS_WATCHED >log 2>&1 &&
		perf script -i data --no-inline -F comm,time,ip,sym >recorded 2>>log
}

# What it compiles its programs with; Debian's kernel has its headers in a package
need_headers()
{
	[ -e /sys/kernel/kheaders.tar.xz ] || insmod "$KERNEL/kernel/kheaders.ko"
}

# It cannot be told to leave out the first second, so that is another tool's
watch_bcc()
{
	need_headers &&
		perf record -F 99 -g -p "$1" -o data -- sleep 1 >log 2>&1 &&
		profile-bpfcc -F 99 -p "$1" -U -f $SECONDS_WATCHED >recorded 2>>log
}

# What it waits for: in microseconds
watch_bcc_off_cpu()
{
	need_headers &&
		perf record -F 99 -g -p "$1" -o data -- sleep 1 >log 2>&1 &&
		offcputime-bpfcc -p "$1" -U -f $SECONDS_WATCHED >recorded 2>>log
}

# At each tick of the clock that interrupts the program
watch_trace_cmd()
{
	trace-cmd record -q -B in-place -o trace.dat -e hrtimer_expire_entry \
		-O userstacktrace -O userstacktrace_deferred \
		-P "$(ls "/proc/$1/task" | paste -sd,)" \
		sleep $((SECONDS_WATCHED + 1)) >log 2>&1 &&
		trace-cmd report trace.dat >recorded 2>>log
}

# judge TOOL PROGRAM SWITCH JUDGEMENT... - of what was recorded, if anything was
judge()
{
	n=$((n + 1))
	result='not ok'
	! python3 "$HERE/judge.py" "$1" recorded "$4" "$5" >judged || result=ok
	sed 's/^/# /' judged
	echo "$result $n $1, $2, unwind_in_place=$3: complete stacks $4 $5 %"
}

# watch TOOL PROGRAM SWITCH JUDGEMENT...
watch()
{
	echo "$3" >$SWITCH
	"start_$2"
	pid=$!
	: >recorded
	"watch_$1" $pid || sed 's/^/# /' log
	kill $pid
	wait $pid 2>/dev/null
	judge "$@"
}

[ -w $SWITCH ] || { echo "not ok 1 no $SWITCH"; exit 1; }
for tool in bpftrace perf trace_cmd; do
	watch $tool sqlite3 1 at-least 95
done
judge trace_cmd_deferred sqlite3 1 at-least 99.9
watch perf_deferred sqlite3 1 at-least 99.9
bcc='bcc bcc_off_cpu'
[ "${BCC:-yes}" = yes ] || bcc=
for tool in bpftrace perf $bcc trace_cmd; do
	watch $tool mixed 1 at-least 95
done
# By its .plt.got the C library calls malloc() and free(), and of that, binutils 2.47's
# ld says in its table that the stack has a word more than it has: 1 % of the stacks end
# there
judge trace_cmd_deferred mixed 1 at-least 98
for tool in bpftrace perf; do
	watch $tool sqlite3 0 below 50
done
echo 1 >$SWITCH
sed 's/^/# /' /sys/kernel/debug/unwind/in_place
echo "1..$n"
