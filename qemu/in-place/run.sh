#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: stacks of programs with tables, by tools that nobody changed, which
# are Debian's bpftrace and perf.  Prints TAP, and as comments what each tool saw.
#
#     run.sh DIR      (DIR: where the program "mixed" is)
#
# Each tool watches each program while it runs.  What is recorded in the first
# second is left out: tables are found meanwhile.  Then it is done once more
# with kernel.unwind_in_place=0, without which there would be nothing to see.

DIR=$1
HERE=$(cd "$(dirname "$0")" && pwd)
SECONDS_WATCHED=15
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
		<"$HERE/../demo/workload.sql" >/dev/null &
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

# watch TOOL PROGRAM SWITCH JUDGEMENT...
watch()
{
	tool=$1 program=$2
	n=$((n + 1))
	echo "$3" >$SWITCH
	"start_$program"
	pid=$!
	: >judged
	if "watch_$tool" $pid &&
	   python3 "$HERE/judge.py" "$tool" recorded "$4" "$5" >judged; then
		result=ok
	else
		result='not ok'
		sed 's/^/# /' log
	fi
	kill $pid
	wait $pid 2>/dev/null
	sed 's/^/# /' judged
	echo "$result $n $tool, $program, unwind_in_place=$3: complete stacks $4 $5 %"
}

[ -w $SWITCH ] || { echo "not ok 1 no $SWITCH"; exit 1; }
for program in sqlite3 mixed; do
	for tool in bpftrace perf; do
		watch $tool $program 1 at-least 95
	done
done
watch bpftrace sqlite3 0 below 50
watch perf sqlite3 0 below 50
echo 1 >$SWITCH
sed 's/^/# /' /sys/kernel/debug/unwind/in_place
echo "1..$n"
