#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: what it takes to read recordings.  post.sh DIR, where DIR has the
# recordings of merge_data.py, merge-SAMPLES-THREADS.  Prints lines of
#
#	script METHOD SAMPLES LOST BYTES INSTRUCTIONS KIB MISSING
#	merge SAMPLES THREADS INSTRUCTIONS KIB MISSING
#	rate METHOD SAMPLES LOST BYTES
#
# The last is what of samples at the highest rate, with buffers as perf has them
# unasked, gets into a file.
set -eu

PERF=${PERF:-perf}
EVENT=${EVENT:-cpu-clock}
PROGRAM=${PROGRAM:-/opt/sframe/bin/sqlite3}
HERE=$(cd "$(dirname "$0")" && pwd)

# perf wants a home to write to
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work"
MERGE=$1
cd "$work"

# total WHAT: that many events of a kind, of all events
total()
{
	awk -v what="$1" '
		/^[^ ].*stats:$/ { event = !/^Aggregated/ }
		event && $1 == what { n += $3 }
		END { print n + 0 }' stats
}

# record METHOD HZ SIZE OPTION... - "in-place" has tables at the sample, "fp" has none
record()
{
	graph=$1 hz=$2 size=$3
	shift 3
	echo $([ $graph = in-place ] && echo 1 || echo 0) >/proc/sys/kernel/unwind_in_place
	[ $graph != in-place ] || graph=fp
	"$PERF" record -q -e "$EVENT" -F "$hz" --call-graph "$graph" "$@" \
		--no-buildid -o data -- "$PROGRAM" -batch -cmd '.parameter init' \
		-cmd ".parameter set @size $size" :memory: \
		<"$HERE/../programs/workload.sql" >/dev/null
	"$PERF" report -i data --stats --stdio >stats 2>/dev/null
}

# read_script WORD...
read_script()
{
	python3 "$HERE/counted.py" "$@" -- \
		"$PERF" script -i data --no-inline -F comm,tid,time,ip,sym
}

# Once for nothing: from then on, files are where they can be read
record in-place 299 7 -m 64M
read_script >/dev/null
# Few samples and many: what perf does once is the same
for method in sframe in-place dwarf; do
	for hz in 299 2999; do
		record $method $hz 7 -m 64M
		read_script script $method "$(total SAMPLE)" "$(total LOST_SAMPLES)" \
			"$(wc -c <data)"
		rm -f data
	done
done

for file in "$MERGE"/merge-*; do
	cp "$file" merge.data
	sizes=${file##*/merge-}
	python3 "$HERE/counted.py" merge "${sizes%-*}" "${sizes#*-}" -- \
		"$PERF" report -i merge.data --stdio --no-children -g none --sort dso
done

for method in sframe fp in-place dwarf dwarf,65528; do
	record $method max 1
	echo rate $method "$(total SAMPLE)" "$(total LOST_SAMPLES)" "$(wc -c <data)"
	rm -f data
done
