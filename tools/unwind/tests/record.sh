#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs programs and records them, as root.
#
#     record.sh same OUT PROGRAM...       by same_record, for same_compare
#     record.sh methods OUT 'METHOD@HZ...' PROGRAM...
#         by perf, each method once: leaves the tree of stacks in PROGRAM.METHOD.json,
#         a line in OUT/counts, and the recording if KEEP names the method
#     record.sh watch OUT PROGRAM...      all of them by one bpftrace, likewise
#     record.sh short OUT                 processes of milliseconds: see below
#     record.sh cost OUT 'METHOD@HZ...'   what a sample costs python3, where time is
#         instructions: leaves "METHOD SAMPLES INSTRUCTIONS" in OUT/cost
#     record.sh post DIR                  what reading recordings costs, where time is
#         instructions; DIR has recordings of threads that sleep,
#         merge-SAMPLES-THREADS
#
# Each program prints the same in each run, which is checked: all methods have seen
# the same work.  SIZE (10) scales it; 10 is some five seconds of the guest's time.
# EVENT is the event, BUILT where same_record and perf are; PERF is another perf, and NATIVE=
# says that it has no frames of languages.
set -eu

WHAT=$1
shift
SIZE=${SIZE:-10}
PERF=${PERF:-$BUILT/perf/perf}
# Of programs whose files have tables
BIN=${BIN:-/opt/sframe/bin}
HERE=$(realpath "$(dirname "$0")")
PROGRAMS=$HERE/workloads
SWITCH=/proc/sys/kernel/unwind_immediate
TRACING=/sys/kernel/tracing
# Frames; perf cuts longer stacks, however they were unwound
MAX_STACK=1024
export LC_ALL=C PERF_PAGER=cat HOME=/tmp/figures
mkdir -p $HOME
cd $HOME
echo $MAX_STACK >/proc/sys/kernel/perf_event_max_stack

# run_PROGRAM COMMAND... - the command is put in front of the program, and may be "env"

run_lua() { "$@" $BIN/lua $PROGRAMS/workload.lua $((SIZE * 25)); }

run_sqlite()
{
	rm -f work.db
	"$@" $BIN/sqlite3 -batch -cmd '.parameter init' \
		-cmd ".parameter set @size $((SIZE * 3 / 2))" \
		"${DATABASE:-work.db}" <$PROGRAMS/workload.sql
}

# Small blocks, so that there is work for two threads
run_xz()
{
	for part in 1 2 3 4; do cat $BIN/../lib/libc.so.6 $BIN/../lib/libm.so.6; done |
		head -c $((SIZE * 300000)) >input
	"$@" $BIN/xz -c -6 -T2 --block-size=300000 input | sha256sum
}

# Programs of Debian as they are

run_python3() { "$@" /usr/bin/python3 $PROGRAMS/workload.py $((SIZE * 20)); }
run_perl() { "$@" /usr/bin/perl $PROGRAMS/workload.pl $((SIZE * 200)); }

# In C++, with threads and exceptions
run_threads() { "$@" $BIN/threads $((SIZE / 3 + 1)); }

run_gawk()
{
	"$@" /usr/bin/gawk -v size=$((SIZE * 2000)) -f $PROGRAMS/expressions.awk | sha256sum
}

run_sort()
{
	awk -v size=$((SIZE * 60000)) 'BEGIN { for (; size; size--) print rand() }' >input
	"$@" /usr/bin/sort --parallel=1 input | sha256sum
}

# The compiler proper, which gcc would call
run_cc1()
{
	awk -v size=$((SIZE * 2)) -f $PROGRAMS/functions.awk >input.c
	"$@" "$(gcc-14 -print-prog-name=cc1)" -quiet -O2 input.c -o - | sha256sum
}

# The database and the work of run_sqlite, by Debian's shell and library
run_sqlite3() { BIN=/usr/bin run_sqlite "$@"; }

# Deltas between the versions of a file
run_git()
{
	[ -d history ] || make_history
	"$@" /usr/bin/git -C history pack-objects --all --stdout --no-reuse-delta \
		--no-reuse-object --threads=1 --window=$((SIZE * 10)) -q </dev/null | sha256sum
}

# A file of ten thousand lines; each version changes some of them
make_history()
{
	git init -q -b main history
	awk 'BEGIN {
		for (version = 1; version <= 32; version++) {
			text = ""
			for (i = 0; i < 10000; i++) {
				same = i * 7919 % 10007 % version
				text = text "line " i (same ? " same" : " version " version) "\n"
			}
			print "commit refs/heads/main\ncommitter a <b> " version " +0000\ndata 0"
			printf "M 644 inline file\ndata %d\n%s\n", length(text), text
		}
	}' | git -C history fast-import --quiet --depth=0
}

# It works by the clock, a second or more on each, and prints how much it did
run_openssl()
{
	algorithms='sha256 ecdsap256'
	[ "$SIZE" -lt 6 ] || algorithms="$algorithms sha512 md5 aes-128-cbc rsa2048"
	# shellcheck disable=SC2086 # several
	"$@" /usr/bin/openssl speed -seconds $(((SIZE + 5) / 6)) -bytes 4096 $algorithms >/dev/null
}

# In Rust, with two threads
run_rg()
{
	if [ ! -d searched ]; then
		mkdir searched
		awk -v size=$((SIZE * 50)) -f $PROGRAMS/expressions.awk >input
		for part in 1 2 3 4 5 6 7 8; do
			for _ in $(seq 64); do cat input; done >searched/$part
		done
	fi
	"$@" /usr/bin/rg -j2 --no-config -c \
		'[a-z]+\([^()]*\*[^()]*[0-9]{2}\).*\w+\s\w*$|(\d+)\.\d*[57]' searched | sort
}

# In Go, whose compiler writes no .eh_frame and keeps frame pointers
run_gojq()
{
	"$@" /usr/bin/gojq -n "[range($((SIZE * 6000)))] |
		map(. * 7919 % 10007 | tostring) | group_by(.[-1:]) |
		map([.[] | tonumber | . * 3] | add)"
}

# The program that keeps it busy is not recorded
run_redis()
{
	rm -f redis.socket
	"$@" /usr/bin/redis-server --save '' --appendonly no --port 0 \
		--unixsocket $HOME/redis.socket >/dev/null &
	until redis-cli -s redis.socket ping 2>/dev/null | grep -q PONG; do :; done
	redis-benchmark -s redis.socket -q -c 10 -n $((SIZE * 500)) -P 4 \
		-t set,get,incr,lpush,lrange_100,sadd,hset,zadd,zpopmin,mset >/dev/null
	redis-cli -s redis.socket shutdown nosave
	wait $!
}

# The same
run_memcached()
{
	rm -f socket
	"$@" $BIN/memcached -A -u root -t 4 -m 16 -s socket &
	python3 $PROGRAMS/memload.py socket 4 $((SIZE * 150))
	wait $!
}

fail()
{
	cat log >&2
	echo "${0##*/}: $*" >&2
	exit 1
}

# run PROGRAM COMMAND... - messages in log; the first run says what it prints
run()
{
	name=$1
	shift
	"run_$name" "$@" >result 2>log || fail "$name failed"
	[ -e "$name.expected" ] || cp result "$name.expected"
	cmp -s "$name.expected" result || fail "$name: the work differs"
}

# record PROGRAM METHOD OPTION... - in "data", what perf counts of it in $counts.
# Without deferral, "fp" has frame pointers alone, as before there were tables.
record()
{
	program=$1 method=$2 by=$PERF
	shift 2
	echo 0 >$SWITCH
	case $method in
	sframe-z) set -- --call-graph sframe -z "$@" ;;
	first) set -- --call-graph sframe "$@" ;;
	dwarf-*) set -- --call-graph "dwarf,${method#dwarf-}" "$@" ;;
	immediate) echo 1 >$SWITCH; set -- -g "$@" ;;
	# By Debian's perf
	stock) echo 1 >$SWITCH; set -- -g "$@"; by=/usr/bin/perf ;;
	stock-defer) set -- --call-graph fp,defer "$@"; by=/usr/bin/perf ;;
	*) set -- --call-graph "$method" "$@" ;;
	esac
	run "$program" "$by" record -q -e "$EVENT" --no-buildid -o data "$@" -- ${TIMED:-}
	echo 1 >$SWITCH
	"$PERF" report -i data --stats --stdio >stats 2>log
	# The program's end comes last; without it the file is not complete, unless it was lost
	grep -qE '^ *(EXIT|LOST) events: *[1-9]' stats ||
		fail "$program, $method: the end is missing"
	counts=$(awk '
		/^[^ ].*stats:$/ { event = !/^Aggregated/ }
		event && $1 == "SAMPLE" { samples += $3 }
		event && $1 == "LOST_SAMPLES" { lost += $3 }
		!event && $1 == "LOST" { chunks += $3 }
		END { print samples + 0, lost ? lost : chunks + 0 }' stats)
}

same()
{
	run "$1" "$BUILT/same/same_record" "$HOME/$1" 997001
	# A program's output may go through a pipe, which has a status of its own
	tail -n 1 log | grep -q ', 0 lost$' || fail "$1: records were lost"
	printf '%s: %s\n' "$1" "$(tail -n 1 log)" >&2
	# Made in memory, as nothing may be lost
	cp -r "$1" "$OUT/"
	rm -rf "$1"
}

# task_of PROGRAM - its name
task_of() { [ "$1" != redis ] && echo "$1" || echo redis-server; }

# The whole system's stacks, by bpftrace, while programs run one after the other; the stacks
# of each are in PROGRAM.bpftrace.json
watch_bpftrace()
{
	echo 1 >$SWITCH
	BPFTRACE_MAX_MAP_KEYS=100000 bpftrace -e 'BEGIN { printf("begins\n"); }
		profile:hz:299 { @[comm, pid, kstack(1), ustack(build_id)] = count(); }' \
		>data 2>watching &
	watching=$!
	until grep -q begins data; do kill -0 $watching || fail "bpftrace failed"; sleep 0.2; done
	for watched; do run "$watched" env; done
	kill -INT $watching
	wait $watching
	for watched; do
		task=$(task_of "$watched")
		case $watched in
		cc1) file=$(gcc-14 -print-prog-name=cc1) ;;
		threads) file=$BIN/threads ;;
		*) file=$task ;;
		esac
		python3 $HERE/tree.py "$task" "$(command -v "$file")" \
			'/usr/lib/*-linux-gnu/*.so*' '/usr/lib/python3*/lib-dynload/*.so' \
			<data >"$OUT/$watched.bpftrace.json"
		awk -v p="$watched" -v task="$task" '
			/^@\[/ { of_task = index($0, "@[" task ", ") == 1 }
			of_task && /\]: [0-9]+$/ { n += $NF }
			END { print p, "bpftrace", n + 0, 0, 0, 0 }' data |
			tee -a "$OUT/counts" >&2
	done
}

# The same by trace-cmd: a deferred stack at each tick that found the program running
watch_trace_cmd()
{
	trace-cmd record -B watch -o trace.dat -e hrtimer_expire_entry -O userstacktrace_deferred \
		>watching 2>&1 &
	watching=$!
	until [ "$(cat $TRACING/instances/watch/events/timer/hrtimer_expire_entry/enable)" = 1 ]; do
		kill -0 $watching || fail "trace-cmd failed"
		sleep 0.2
	done
	run "$1" env
	kill -INT $watching
	wait $watching
	trace-cmd report -N trace.dat >data
	python3 $HERE/tree.py "$(task_of "$1")" <data >"$OUT/$1.trace-cmd.json"
	echo "$1 trace-cmd $(grep -c user_unwind_stack data) 0 0 0" | tee -a "$OUT/counts" >&2
}

print_stacks()
{
	"$PERF" script -i data --no-inline --max-stack $MAX_STACK "$@" \
		-F comm,pid,time,ip,sym,dso,dsoff >text 2>log || fail "perf script failed"
}

methods()
{
	for method in $METHODS; do
		hz=${method#*@} method=${method%@*}
		case $method in
		bpftrace) watch_bpftrace "$1"; continue ;;
		trace-cmd) watch_trace_cmd "$1"; continue ;;
		esac
		record "$1" "$method" -F "$hz" -m 32M
		# All methods have native frames; by sframe, Python has its functions besides
		print_stacks ${NATIVE---no-runtime}
		python3 $HERE/tree.py <text >"$OUT/$1.$method.json"
		if [ "$1 $method" = "python3 sframe" ]; then
			print_stacks
			python3 $HERE/tree.py <text >"$OUT/$1.functions.json"
		fi
		missing=$(sed -n 's/^\([0-9]*\) deferred callchains missing.*/\1/p' log)
		echo "$1 $method $counts ${missing:-0} $(wc -c <data)" | tee -a "$OUT/counts" |
			awk '{ print $1 " by " $2 ": " $3 " samples, " $4 " lost" }' >&2
		[ "${KEEP:-}" != "$method" ] || cp data "$OUT/perf.data"
		rm -f data
	done
}

# read_data WORD... - the words, and what "perf script" costs: see counted.py
read_data()
{
	python3 $HERE/counted.py "$@" -- "$PERF" script -i data --no-inline -F comm,tid,time,ip,sym
}

watch()
{
	# Another SIZE may have printed something else
	rm -f ./*.expected
	watch_bpftrace "$@"
}

# await_served PATTERN COMMAND... - until the service has made the table of such a file;
# repeat the command meanwhile
await_served()
{
	file=$1 left=60
	shift
	until unwind-tables status | grep -q " service .*$file\$"; do
		[ $left != 0 ] || fail "$file has no table"
		left=$((left - 1))
		"$@"
	done
}

record_short()
{
	# shellcheck disable=SC2016 # for the inner shell
	"$PERF" record -q -F 5000 -e "$EVENT" -o data --call-graph sframe \
		sh -c 'for i in $(seq 50); do LD_BIND_NOW=1 /usr/bin/true; done' 2>log ||
		fail "perf record failed"
}

# Prints how many processes there were, how many microseconds they lived, their samples with
# a user stack, and how many of these are whole; how many stacks differ in the process or the
# first address in user space, and how many of these ended early.  Their files have tables
# before.  Lazy binding is a limit of tables
short()
{
	await_served /bin/true record_short
	record_short
	"$PERF" script -i data --no-inline --comm true -F comm,tid,time,ip,sym,dso,stack_end \
		>text 2>log
	awk 'BEGIN { RS = "" }
		!($2 in first) { first[$2] = $3; n++ }
		{
			last[$2] = $3
			early = gsub(/\[stack ends early\]/, "&")
			in_user = gsub(/\n/, "&") - gsub(/\(\[kernel/, "&") - early > 0
			user += in_user
			whole += in_user && !early
			if (!in_user)
				next
			lines = split($0, line, "\n")
			for (i = 2; i < lines && line[i] ~ /\(\[kernel/; i++)
				;
			stack = $2 line[i]
			stacks += !(stack in seen)
			seen[stack]
			cut += early && !(stack in ended)
			if (early)
				ended[stack]
		}
		END {
			for (task in first)
				lived += last[task] - first[task] + 1 / 5000
			print n + 0, n ? int(1e6 * lived / n) : 0, user + 0, whole + 0,
				stacks + 0, cut + 0
		}' text
}

# The work is the same each time only if strings have the same hashes
cost()
{
	export PYTHONHASHSEED=0
	SIZE=1
	cat >timed <<-'EOF'
		#!/usr/bin/python3
		import resource, subprocess, sys
		status = subprocess.run(sys.argv[1:]).returncode
		used = resource.getrusage(resource.RUSAGE_CHILDREN)
		with open("elapsed", "w") as file:
		    print(round((used.ru_utime + used.ru_stime) * 1e9), file=file)
		sys.exit(status)
	EOF
	chmod +x timed
	TIMED=$HOME/timed
	record python3 sframe -F 999 -m 64M
	await_served '/python3[.0-9]*' sleep 1
	run python3 "$TIMED"
	without=$(cat elapsed)
	for method in $METHODS; do
		record python3 "${method%@*}" -F "${method#*@}" -m 64M
		echo "${method%@*} ${counts% *} $(($(cat elapsed) - without))"
	done
}

post()
{
	export DATABASE=:memory:
	SIZE=5
	# Once for nothing: from then on, files are where they can be read
	record sqlite immediate -F 299 -m 64M
	read_data >/dev/null
	# Few samples and many: what perf does once is the same
	for method in sframe immediate dwarf-8192; do
		for hz in 299 2999; do
			record sqlite $method -F $hz -m 64M
			read_data script $method $counts "$(wc -c <data)"
		done
	done
	for file in "$1"/merge-*; do
		cp "$file" merge.data
		sizes=${file##*/merge-}
		python3 $HERE/counted.py merge "${sizes%-*}" "${sizes#*-}" -- \
			"$PERF" report -i merge.data --stdio --no-children -g none --sort dso
	done
	SIZE=1
	rm -f sqlite.expected
	for method in sframe fp immediate dwarf-8192 dwarf-65528; do
		record sqlite $method -F max
		echo rate $method $counts "$(wc -c <data)"
	done
}

case $WHAT in
post)	post "$1"
	exit ;;
same)	OUT=$1
	shift ;;
watch)	OUT=$1
	shift
	watch "$@"
	exit ;;
short)	short >"$1/short"
	exit ;;
cost)	METHODS=$2
	cost >"$1/cost"
	exit ;;
methods)
	OUT=$1 METHODS=$2
	shift 2 ;;
esac
for program; do "$WHAT" "$program"; done
