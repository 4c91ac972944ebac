#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: how often the row of a frame is kept already, while the programs of
# "make accuracy" are recorded that are there. Prints lines of what was recorded,
# frames and lookups before and after.
set -eu

PERF=${PERF:-perf}
COUNTS=/sys/kernel/debug/unwind/rows
HERE=$(cd "$(dirname "$0")" && pwd)
# Some five seconds of each
SIZE=10

# shellcheck source=../accuracy/programs.sh
. "$HERE/../accuracy/programs.sh"

counted() { awk '{ printf "%s ", $1 }' $COUNTS; }

# perf wants a home to write to
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work"
cd "$work"

for program in $PROGRAMS; do
	[ "$program" = sqlite ] && rates="99 999" || rates=999
	for freq in $rates; do
		before=$(counted)
		"run_$program" $SIZE "$PERF" record -q -e cpu-clock -F "$freq" \
			--call-graph sframe -o out.data -- >/dev/null
		echo "$program@$freq $before$(counted)"
	done
done
