# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What shows samples as they come, and other ways to record.  Sourced by
# perf-check.sh, with kernel.unwind_in_place = 0.

IN_PLACE=/proc/sys/kernel/unwind_in_place

# in_background - start the workload, its process id in $pid
in_background()
{
	/opt/sframe/bin/sqlite3 -batch -cmd '.parameter init' \
		-cmd ".parameter set @size ${SIZE:-3}" :memory: \
		</mnt/repo/qemu/programs/workload.sql >/dev/null &
	pid=$!
}

# A function and its callers, in what perf top has shown so far
on_top() { grep -a -q -e '--.*sqlite3_step' /tmp/top && grep -a -q -e '_start' /tmp/top; }

# Other tasks may not come back from the kernel in time, the workload does.  It runs
# until it was shown: perf top takes its time to start.
top()
{
	: >/tmp/top
	{
		for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
			SIZE=6 workload env >/dev/null
			! on_top || break
		done
		echo q
	} | "$PERF" top --stdio --call-graph sframe,0.5,caller -F 199 -e cpu-clock >/tmp/top 2>&1
	grep -a -m 20 -A 20 'sqlite3VdbeExec' /tmp/top | head -n 40
	on_top
}

# Each system call is followed by its stack.  Buffers are large enough for a reader
# that is slower than what it reads of.
trace()
{
	workload "$PERF" trace --call-graph sframe -e pwrite64 -m 16M -o /tmp/trace >/dev/null ||
		return 1
	head -n 20 /tmp/trace
	! grep 'missing\|LOST' /tmp/trace || return 1
	awk '/ pwrite64\(/ { n++ } / _start / { c++ }
	     END { print c + 0 " of " n + 0 " reach _start"; exit !(n > 5 && c / n > 0.9) }' /tmp/trace
}

# A thread that sleeps is shown asleep: what enters does not wait for its stack
trace_order()
{
	"$PERF" trace --call-graph sframe -e clock_nanosleep -o /tmp/trace \
		sleep 2 || return 1
	cat /tmp/trace
	grep -q 'clock_nanosleep(.*) *= 0' /tmp/trace
}

attached()
{
	SIZE=6 in_background
	"$PERF" record --call-graph sframe -F 299 -e cpu-clock -o /tmp/d.data "$@" "$pid"
	recorded=$?
	wait "$pid"
	[ $recorded = 0 ] && check_data "$PERF"
}

# Both CPUs busy, buffers as perf has them unasked, and no sample lost
at_999_hz()
{
	in_background
	workload "$PERF" record -a --call-graph sframe -F 999 -e cpu-clock -o /tmp/d.data
	recorded=$?
	wait "$pid"
	[ $recorded = 0 ] && "$PERF" report -i /tmp/d.data --stats --stdio >/tmp/stats 2>&1
	cat /tmp/stats
	"$PERF" script -i /tmp/d.data -F cpu | sort | uniq -c | tee /tmp/cpus
	[ "$(count SAMPLE)" -gt 1000 ] && [ "$(wc -l </tmp/cpus)" -gt 1 ] &&
		! grep -q LOST /tmp/stats
}

overwritten()
{
	workload "$PERF" record --overwrite --call-graph sframe -F 299 -e cpu-clock -o /tmp/d.data &&
		check_data "$PERF"
}

# BPF takes these stacks where the thread goes to sleep, thus in place: the first may
# be cut, of a program of which nothing is known yet; one that waits for its input is
# not. The program outlives its recording: perf knows nothing of one that has ended.
off_cpu()
{
	rm -f /tmp/statements
	mkfifo /tmp/statements
	echo 1 >$IN_PLACE
	/opt/sframe/bin/sqlite3 -batch </tmp/statements >/dev/null &
	pid=$!
	exec 9>/tmp/statements
	"$PERF" record --off-cpu --call-graph sframe -e cpu-clock -o /tmp/d.data -p $pid -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do echo "SELECT $i;" >&9; sleep 0.2; done'
	recorded=$?
	exec 9>&-
	wait $pid
	echo 0 >$IN_PLACE
	[ $recorded = 0 ] || return 1
	"$PERF" script -i /tmp/d.data -F comm,event,ip,sym | awk '
		BEGIN { RS = "" }
		/^[^\n]*offcpu-time/ { n++; print }
		/^[^\n]*offcpu-time/ && /process_input/ && /_start/ { c++ }
		END { print c + 0 " of " n + 0 " reach _start"; exit !c }'
}

live()
{
	result "perf top --call-graph sframe" top
	result "perf trace --call-graph sframe" trace
	result "perf trace --call-graph sframe: a system call that sleeps" trace_order
	result "perf record -p" attached -p
	result "perf record -t" attached -t
	result "perf record --per-thread -p" attached --per-thread -p
	result "perf record -a, 999 Hz: no sample lost" at_999_hz
	result "perf record --overwrite" overwritten
	result "perf record --off-cpu" off_cpu
}
