#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Run libFuzzer on each target, an equal share of the time, several processes
# at once; they find each other's inputs in the directory that they share.  It
# is kept for the next time.
#
# Prints how often each target was executed.  An input that broke something is
# named, kept, and makes the exit status 1.
#
# usage: DIRECTORY SECONDS JOBS SIZE TARGET...   (SIZE: of the largest input, in bytes)
set -u

dir=$1
seconds=$2
jobs=$3
size=$4
shift 4
corpus=$(dirname "$0")/corpus
share=$(((seconds + $# - 1) / $#))
crashes=$dir/crashes
total=0
status=0

# Executions, of all logs of a target.  A process that died has no statistics,
# but numbers its lines of progress.
executions()
{
	for log in "$dir/$1".*.log; do
		awk '/^#[0-9]+/ { n = substr($1, 2) }
		     /^stat::number_of_executed_units:/ { n = $2 }
		     END { print n + 0 }' "$log"
	done | awk '{ n += $1 } END { print n + 0 }'
}

# shellcheck disable=SC2086 # a list of numbers
trap '[ -z "$pids" ] || kill $pids 2>/dev/null; exit 1' INT TERM
pids=

fuzz()
{
	target=$1
	job=1
	mkdir -p "$dir/found.$target" "$crashes"
	rm -f "$dir/$target".*.log
	while [ "$job" -le "$jobs" ]; do
		"$dir/fuzz_$target" -max_total_time="$share" -max_len="$size" \
			-timeout=20 -rss_limit_mb=2048 -reload=5 \
			-print_final_stats=1 \
			-artifact_prefix="$crashes/$target-" \
			"$dir/found.$target" "$corpus" \
			>"$dir/$target.$job.log" 2>&1 &
		pids="$pids $!"
		job=$((job + 1))
	done
	for pid in $pids; do
		wait "$pid" && continue
		status=1
	done
	pids=
	n=$(executions "$target")
	total=$((total + n))
	echo "$target: $n executions in $share s, $jobs at a time"
	sed -n "s/.*Test unit written to /$target: broken by /p" \
		"$dir/$target".*.log
	grep -h -m 1 -E '^(sframe_fuzz|SUMMARY): ' "$dir/$target".*.log
}

for target; do
	fuzz "$target"
done
echo "total: $total executions"
if [ $status -ne 0 ]; then
	echo "something broke: see $dir/*.log; try again with $dir/fuzz_TARGET FILE"
elif [ "$total" -eq 0 ]; then
	echo "nothing was executed: see $dir/*.log"
	status=1
fi
exit $status
