#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# How long files wait for their tables, from the first stack that misses one on, as the
# service says: prints "HOW FILE FUNCTIONS BYTES MILLISECONDS".  First nobody knows the
# file, then its table is in the cache.  The processor has nothing else to do meanwhile:
# the program that was sampled waits for input.
#
# As root, in the guest; EVENT is the event, BUILT where perf is.
set -eu

cc1=$(gcc-14 -print-prog-name=cc1)
cd "$(mktemp -d)"
mkfifo input

# meet HOW FILE... - record the last file, a compiler, until all have their tables
meet()
{
	how=$1
	shift
	for file; do program=$file; done
	cat "$@" >/dev/null
	"$BUILT/perf/perf" record -q -o data -e "$EVENT" --call-graph sframe \
		"$program" -quiet -o /dev/null <input &
	exec 3>input
	for file; do
		until grep -F "$(realpath "$file"): " served >line; do
			kill -0 $service
			sleep 0.1
		done
		sed "s,.*/\(.*\): ,$how \1 ,; s, functions\, , ,; s, bytes.*(, ,; s, ms)$,," line
	done
	exec 3>&-
	wait $!
}

unwind-tables serve -v -d cache 2>served &
service=$!
meet first "$(ldd "$cc1" | awk '$1 ~ /^libc[.]/ { print $3 }')" "$cc1"
mkdir copy
cp "$cc1" copy
meet cached copy/cc1
kill $service
