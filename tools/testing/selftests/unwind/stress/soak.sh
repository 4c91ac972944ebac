#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# All clients together, for long:  soak.sh MINUTES COMMAND...
#
# The command runs again and again, on all processors at once, while perf, bpftrace,
# unwind-profile and ftrace take stacks of the whole system, and the table service makes
# tables.  Each client runs for 50 s, again and again: a round.  Prints TAP:
#
#   - the kernel's memory (slab that cannot be reclaimed, vmalloc, per CPU) and the
#     service's do not grow: the last quarter's mean is at most 5 % and 2 MiB above the
#     second quarter's.  The first is for caches.
#   - perf lost no sample, and each has its stack, once; unwind-profile likewise
#   - no client failed
#
# MINUTES is at least 8; on a busy machine a round takes several.  Figures, by the minute,
# are in soak.log.
set -u

MINUTES=$1
shift
HERE=$(dirname "$0")
TRACING=/sys/kernel/tracing
INSTANCE=$TRACING/instances/soak
n=0 failed=0

result()
{
	n=$((n + 1))
	[ "$1" = 0 ] && echo "ok $n $2" || echo "not ok $n $2"
	[ "$1" = 0 ] || failed=1
}

# The load, until it is stopped: in a group of its own, to be stopped as a whole
load()
{
	# shellcheck disable=SC2016 # for the other shell
	exec setsid sh -c 'while "$@" >/dev/null 2>command.says || ! status=$?; do :; done
		echo "the command: status $status: $(tail -n 3 command.says)" >>errors' load "$@"
}

trace_by_ftrace()
{
	cat $INSTANCE/trace_pipe >/dev/null &
	echo 1 >$INSTANCE/events/timer/hrtimer_expire_entry/enable
	sleep 50
	echo 0 >$INSTANCE/events/timer/hrtimer_expire_entry/enable
	kill $!
	wait $! 2>/dev/null
}

# field FILE PATTERN N - the sum of a field, in lines that match.  perf prints statistics of
# all events first, then of each event: read only the first ones.
field()
{
	awk -v n="$3" -v pattern="$2" '
		/stats:$/ && titles++ { exit }
		$0 ~ pattern { sum += $n }
		END { print sum + 0 }' "$1"
}

# One round
clients()
{
	perf record -q -a -F 199 --sample-identifier --call-graph sframe -o perf.data \
		sleep 50 2>>errors &
	running=$!
	unwind-profile -a -F 99 -d 50 -o profile.folded 2>profile.says &
	running="$running $!"
	# It may take a minute to begin
	bpftrace -e 'profile:hz:99 { @[ustack] = count(); } interval:s:50 { exit(); }' \
		>bpftrace.says 2>&1 &
	running="$running $!"
	trace_by_ftrace &
	# shellcheck disable=SC2086 # several
	wait $running $!
	perf report -i perf.data --stats --stdio >stats 2>&1
	perf script -i perf.data -F ip 2>missing >/dev/null
	samples=$((samples + $(field stats '^ *SAMPLE events:' 3)))
	lost=$((lost + $(field stats LOST 3)))
	without=$((without + $(field missing 'deferred callchains missing' 1)))
	# shellcheck disable=SC2046 # two numbers
	set -- $("$HERE/doubled.py" perf.data)
	stacks=$((stacks + $1)) doubled=$((doubled + $2))
	[ -s profile.folded ] || echo "unwind-profile: $(cat profile.says)" >>errors
	grep -q '^@' bpftrace.says || echo "bpftrace: $(tail -n 3 bpftrace.says)" >>errors
}

memory()
{
	awk -v minute="$1" -v rss="$(awk '/^VmRSS/ { print $2 }' /proc/$service/status)" '
		/^(SUnreclaim|VmallocUsed|Percpu):/ { figure[$1] = $2 }
		END {
			print minute, figure["SUnreclaim:"], figure["VmallocUsed:"],
			      figure["Percpu:"], rss
		}' /proc/meminfo >>soak.log
}

# grown COLUMN - prints the means of the second and last quarter; fails if it has grown
grown()
{
	awk -v column="$1" -v all="$MINUTES" '
		$1 > all / 4 && $1 <= all / 2 { before += $column; b++ }
		$1 > all * 3 / 4 { after += $column; a++ }
		END {
			printf "# column %d: %d kB, then %d kB\n", column, before / b, after / a
			exit after / a > before / b * 1.05 + 2048
		}' soak.log
}

rm -f soak.log errors
touch errors
unwind-tables serve 2>served &
service=$!
mkdir -p $INSTANCE
echo 1 >$INSTANCE/options/userstacktrace_deferred
loads=
for _ in $(seq "$(nproc)"); do
	load "$@" &
	loads="$loads -$!"
done
samples=0 lost=0 without=0 stacks=0 doubled=0 rounds=0 minute=0
begin=$(date +%s)
while [ $minute -lt "$MINUTES" ]; do
	clients
	rounds=$((rounds + 1))
	minute=$((($(date +%s) - begin) / 60))
	memory $minute
	echo "# $rounds rounds: $samples samples, $lost lost, $without without, $doubled twice;" \
		"$(tail -n 1 soak.log)"
done
# shellcheck disable=SC2086 # several
kill -- $loads
kill $service
wait
rmdir $INSTANCE
for column in 2 3 4 5; do
	grown $column
	result $? "memory, column $column of minute, slab, vmalloc, percpu, service: does not grow"
done
[ $samples -gt 0 ] && [ $lost = 0 ]
result $? "perf: $samples samples, none lost ($lost)"
# A task may still be in the kernel when a recording ends: see perf-record(1)
[ $without -le $((rounds * $(nproc))) ]
result $? "perf: each sample has its stack, but for the last moment ($without)"
[ $stacks -gt 0 ] && [ $doubled = 0 ]
result $? "perf: $stacks stacks, none twice ($doubled)"
sort errors | uniq -c | sed 's/^/# /'
[ ! -s errors ]
result $? "no client and no command failed"
echo "1..$n"
exit $failed
