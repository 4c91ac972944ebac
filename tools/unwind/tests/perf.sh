#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf's and the table service's tests of deferred callchains, each way to record and to
# read them, beside a newer perf, unmodified.  Prints TAP.  It is run as root, from a
# kernel tree.  perf ($PERF), sframe-gcc, unwind-tables and unwind-profile are in PATH, the
# kernel's headers in $UNWIND_HEADERS; $THREADS is workloads/threads.cc, built.  With
# STRICT=1 also shares and rates, which a busy machine can miss; with ONLY=PATTERN the tests
# whose names match.
# shellcheck disable=SC2086,SC2094 # lists; perf reads one name and writes another

PERF=${PERF:-$(command -v perf)}
DEBIAN=/usr/bin/perf
# Programs and libraries whose files have tables
PREFIX=${PREFIX:-/opt/sframe}
SQLITE=$PREFIX/bin/sqlite3
HERE=$(realpath "$(dirname "$0")")
TREE=$(realpath "$HERE/../../perf")
FUNCTIONS=$(realpath "$HERE/../tables/tests")
SAMPLES=$(realpath "$HERE/../../../samples/unwind")
SWITCH=/proc/sys/kernel/unwind_immediate
USER='setpriv --reuid=65534 --regid=65534 --clear-groups'
PARANOID=/proc/sys/kernel/perf_event_paranoid
FIELDS=comm,tid,time,ip,sym
export HOME=/tmp PATH="${PERF%/*}:$PATH" PERF_PAGER=cat
n=0
cd /tmp || exit 1

# try NAME COMMAND... - nothing is left of the test before
try()
{
	name=$1
	shift
	! echo "$name" | grep -qv -e "${ONLY:-}" || return
	n=$((n + 1))
	rm -rf d.* stats script err
	if "$@" >log 2>&1; then
		echo "ok $n $name"
	else
		sed 's/^/# /' log
		echo "not ok $n $name"
	fi
}

work()
{
	rm -f work.db
	"$@" $SQLITE -batch -cmd '.parameter init' \
		-cmd ".parameter set @size ${SIZE:-1}" "${DATABASE:-work.db}" \
		<$HERE/workloads/workload.sql
}

# in_background - the same work, its process in $pid
in_background()
{
	DATABASE=:memory: work exec >/dev/null &
	pid=$!
}

record() { work "$PERF" record --no-bpf-event -F 299 -e cpu-clock -o d.data "$@" --; }

# reach_start - stacks of perf script, or one in a line: some reach _start
reach_start()
{
	awk -v strict="${STRICT:-}" '
		NF && (/;/ || !/^[ \t]/) { n += weight = /; *[0-9]+$/ ? $NF : 1 }
		/(^|;)_start;|[ \t]_start([ \t]|$)/ { c += weight; weight = 0 }
		END {
			print c + 0 " of " n + 0 " reach _start"
			exit !(strict ? n > 50 && c / n > 0.9 : c > 10)
		}'
}

# Nothing here looks at the kernel's symbols, and to read them all takes a second each time
script() { "$PERF" script --kallsyms kernel "$@"; }

# none_missing - each sample of d.data has its stack, as perf script says in "err".  If perf does
# not run for some seconds, its buffers are full and records are lost: no fault of the code
none_missing()
{
	"$PERF" report -i d.data --stats --stdio >stats 2>&1
	cat stats err
	if grep -q LOST stats; then [ -z "${STRICT:-}" ]; else ! grep -q missing err; fi
}

whole()
{
	script -i d.data -F $FIELDS >script 2>err
	none_missing && grep -q '^ *CALLCHAIN_DEFERRED events: *[1-9]' stats && reach_start <script
}

# A perf test by its title; "Skip" is not a pass
perf_test()
{
	number=$(cd $TREE && "$PERF" test list 2>&1 | sed -n "s/^ *\([0-9]*\): $1.*/\1/p")
	[ -n "$number" ] && (cd $TREE && "$PERF" test -v "$number" 2>&1) | tee d.test
	grep -q "^ *$number:.*: Ok" d.test
}

# as_user OPTION... - record as somebody to whom the kernel refuses its own half of callchains
as_user()
{
	DATABASE=:memory: work $USER env HOME=/tmp/user "$PERF" record --no-bpf-event -F 299 \
		-o /tmp/user/data "$@" -- && cat /tmp/user/data >d.data
}

ordinary_user()
{
	mkdir -p /tmp/user && chown 65534 /tmp/user
	cat $PARANOID >d.paranoid
	echo 2 >$PARANOID
	as_user --call-graph sframe && whole && as_user --call-graph fp,defer && whole &&
		as_user -g && script -i d.data -F $FIELDS >script && reach_start <script
	status=$?
	cat d.paranoid >$PARANOID
	return $status
}

recorded() { record "$@" && whole; }

system_wide()
{
	record -a --call-graph sframe -F 199 &&
		script -i d.data -F $FIELDS --comms sqlite3 2>err >script &&
		reach_start <script && none_missing
}

# functions PROGRAM RUNTIME PERCENT [COMMAND...] - the functions of a stock interpreter: all
# that are there are right.  Files that are met for the first time have their tables from the
# next run on
functions()
{
	program=$1 runtime=$2 least=$3
	shift 3
	for seconds in 1 1 $((${STRICT:+2 +} 2)); do
		"$PERF" record --no-bpf-event -F 499 -e cpu-clock -o d.data --call-graph sframe \
			"$@" $program $FUNCTIONS/functions.$runtime $seconds || break
	done
	script -i d.data --no-inline --comms $program -F comm,tid,time,ip,sym,dso 2>err >script
	[ $# -gt 0 ] || cp d.data functions.$runtime.data
	none_missing && python3 $FUNCTIONS/judge_functions.py script $runtime ${STRICT:+$least}
}

# registered_functions PROGRAM RUNTIME - an ordinary user's program registers its tables and
# its runtime.  The helper of "run" ends after the program, and has its output: cat waits for
# both.  A process that is still running when the recording ends may leave a sample there
# without its stack.
registered_functions()
{
	mkdir -p /tmp/user && chown 65534 /tmp/user
	functions "$@" 99 $USER env HOME=/tmp/user sh -c 'unwind-tables run -- "$@" | cat' sh
}

# A program in C++ with threads, in memory: the service has mapped the libraries
cplusplus()
{
	cp "$THREADS" d.threads &&
		"$PERF" record --no-bpf-event -F 299 -o d.data --call-graph sframe ./d.threads ||
		return 1
	script -i d.data --no-inline -F comm,ip,sym,dso | awk -v least="${STRICT:+0.99}" '
		BEGIN { RS = "" }
		/libstdc\+\+/ { n++; c += /clone|_start/ }
		END {
			print c + 0 " of " n + 0 " reach the start"
			exit !(n > 50 && c > n * (least ? least : 0.5))
		}'
}

# The service says how long a table took, and why a file has none
status()
{
	echo 'void work(void) { for (volatile int i = 0; i < 100000000; i++) ; }' >d.c
	gcc-14 -nostdlib -shared -fno-asynchronous-unwind-tables -o d.without d.c
	"$PERF" record -q --no-bpf-event -F 499 -e cpu-clock -o d.data --call-graph sframe \
		python3 -c 'import ctypes; ctypes.CDLL("/tmp/d.without").work()'
	for _ in $(seq 60); do
		unwind-tables status >d.status
		! grep -q ' /tmp/d\.without: ' d.status || break
		sleep 1
	done
	cat served d.status
	awk 'NR == 1 { title = $0 == "     bytes   entries processes  from         ms  file" }
		$1 > 1000 && $2 > 100 && $3 > 0 && $4 == "service" && $5 ~ /^[0-9]+$/ &&
			$6 ~ /\/libc\.so\.6$/ { libc++ }
		$1 == "-" && $2 == "-" && $4 == "none" && $5 ~ /^[0-9]+$/ &&
			/ \/tmp\/d\.without: no call frame information$/ { without++ }
		/^[0-9]+ tables, [0-9]+ of them by the service, [0-9]+ kB; [0-9]+ files have none$/{
			sum = NR
		}
		END { exit !(title && libc == 1 && without == 1 && sum == NR) }' d.status
}

# Processes of a few milliseconds, whose files are known, have whole stacks from their first
# sample to their last, but for those in GCC's crtbegin.o, which has no CFI: less than one in
# a thousand.  Lazy binding is a limit of tables.
short_processes()
{
	local short='for i in $(seq 50); do LD_BIND_NOW=1 /usr/bin/true; done'

	for _ in $(seq 50); do
		"$PERF" record -q -F 5000 -e cpu-clock -o d.data --call-graph sframe sh -c "$short"
		unwind-tables status >d.status
		! grep -q ' service .*/bin/true$' d.status || break
	done
	"$PERF" record -q -F 5000 -e cpu-clock -o d.data --call-graph sframe sh -c "$short"
	"$PERF" script -i d.data --comm true -F comm,tid,ip,sym,stack_end >d.script
	# By stack, not by sample: a machine that is busy takes many while one is unwound.  A few
	# begin in code without unwind information, which the C runtime has: few addresses, so
	# load does not change their share
	awk 'BEGIN { RS = ""; FS = "\n" }
		{
			for (i = 2; i < NF && $i ~ /^[ \t]*ffff/; i++)
				;
			split($1, of, " ")
			tasks[of[2]]
			stack = of[2] $i
			all += !(stack in seen)
			seen[stack]
		}
		/stack ends early/ && !(stack in cut) { cut[stack]; early++; print }
		END {
			print all " stacks of " length(tasks) " processes, " early + 0 " end early"
			exit !(length(tasks) > 40 && all > 100 && early * 100 <= all)
		}' d.script
}

# Whatever resolves callchains, with callees and without
read_functions()
{
	for children in --children --no-children; do
		"$PERF" report --kallsyms kernel -i functions.py.data --stdio $children \
			-g caller,0 >d.report 2>err && grep -q plain_leaf d.report || return 1
	done
	"$PERF" data convert --to-json d.json -i functions.py.data &&
		grep -q '"symbol": "plain_leaf"' d.json
}

traced_functions()
{
	"$PERF" trace --call-graph sframe -e getppid -o d.trace python3 -c '
import os
def called(): os.getppid()
called()'
	cat d.trace
	grep -q 'called (<string>:3)' d.trace
}

# The BPF profiler has them as well: some, above the interpreter, and each has its caller in
# the line
profiled_functions()
{
	unwind-profile -F 199 python3 $FUNCTIONS/functions.py 2 >d.folded 2>err
	head -n 3 d.folded
	grep -q '_start;.*;<module>;main;.*_leaf' d.folded &&
		! grep plain_leaf d.folded | grep -v ';<module>;main;plain;plain_leaf' &&
		! grep sort_leaf d.folded | grep -v ';<module>;main;sort;.*;sort_key;sort_leaf'
}

build_samples()
{
	mkdir -p built
	make -s -C $SAMPLES O=/tmp/built CC=sframe-gcc KHDR_INCLUDES="-isystem $UNWIND_HEADERS"
}

# The sample JIT: generated functions have names and their callers, and stacks reach
# the start of their thread
jitted()
{
	build_samples && built/jit --help >d.help && grep -q '^Usage: jit \[SECONDS\]' d.help ||
		return 1
	for wrong in --unknown 0 -1 3x '1 2'; do
		timeout 60 built/jit $wrong >d.out 2>err
		[ $? = 2 ] && [ ! -s d.out ] && grep -q '^Usage' err || return 1
	done
	"$PERF" record --no-bpf-event -F 499 -e cpu-clock -o d.data --call-graph sframe \
		built/jit 4 && script -i d.data --comms jit -F comm,tid,time,ip,sym 2>err >script
	none_missing && python3 $HERE/judge_jit.py script ${STRICT:+99}
}

# make_old - a program whose table has the version of binutils 2.40
make_old()
{
	offset=$(readelf -lW $SQLITE | awk '$1 == "GNU_SFRAME" { print $2 }')
	cp $SQLITE d.old &&
		printf '\1' | dd of=d.old bs=1 seek=$((offset + 2)) conv=notrunc 2>/dev/null
}

# It is not read; perf says so
old_table()
{
	make_old &&
		"$PERF" record -F 299 -e cpu-clock --call-graph sframe -o d.data ./d.old -batch \
			-cmd '.parameter init' -cmd '.parameter set @size 1' :memory: \
			<$HERE/workloads/workload.sql >d.out 2>err
	cat err
	"$PERF" report -i d.data --stdio >d.report 2>&1
	grep 'd.old (table of version 1, not read)' err d.report
}

# As in a container
masked_methods()
{
	# shellcheck disable=SC2016
	! unshare -m sh -c 'mount -t tmpfs none /sys/kernel/unwind &&
		exec "$1" record --call-graph sframe -e cpu-clock -o d.data true' sh "$PERF" 2>err
	cat err
	grep -q '^Cannot read /sys/kernel/unwind/methods' err
}

no_functions()
{
	script -i functions.py.data --no-runtime -F comm,tid,time,ip,sym,dso >script &&
		reach_start <script && ! grep functions.py: script
}

build_ids()
{
	record --call-graph sframe -z --buildid-mmap &&
		"$PERF" buildid-list -i d.data | grep '^[0-9a-f]\{40\} .*libsqlite3'
}

# Callers of the interpreter's main function
callers() { "$PERF" report --no-children -g caller,0.5 -S sqlite3VdbeExec "$@"; }

show_callers()
{
	callers --stdio "$@" >d.report
	head -n 40 d.report
	grep -q ' sqlite3_step' d.report && grep -q _start d.report
}

piped_live() { record --call-graph sframe -o - | show_callers -i -; }

# by_script SCRIPT OPTION... - one of perf's own, which read "perf.data"
by_script() { ln -sf m.data perf.data && PERF_EXEC_PATH=$TREE "$PERF" script report "$@"; }

folded() { python3 $HERE/folded.py d.json | reach_start; }

flamegraph() { by_script flamegraph -f json -o d.json && folded; }

converted() { "$PERF" data convert --to-json d.json -i m.data && folded; }

# Each event of unwind:* happens: by a file that is met for the first time, one whose table
# is of another version, tables that are registered, dropped and refused, a bad entry
all_events()
{
	build_samples && sframe-gcc -O2 -isystem "$UNWIND_HEADERS" -I$SAMPLES -o d.entry \
		$HERE/bad_entry.c $SAMPLES/jit.c \
		"$SAMPLES/jit_$(uname -m | sed s/aarch64/arm64/).c" || return 1
	cp $SQLITE d.new && make_old
	cat >d.sh <<-END
		built/jit 1
		./d.entry
		for program in ./d.new ./d.old; do
			\$program -batch -cmd '.parameter init' -cmd '.parameter set @size 1' \\
				:memory: <$HERE/workloads/workload.sql >/dev/null
		done
	END
	# Tables are loaded from files that have not changed a moment ago
	sleep 1
	"$PERF" record -q -e 'unwind:*' -e cpu-clock -F 199 --call-graph sframe -o d.events -- \
		sh d.sh
}

# printed FILE - each event is there, and each one is printed
printed()
{
	for event in table_found file_invalid table_added table_dropped table_invalid \
			entry_invalid stop; do
		printf '%6d unwind_%s\n' "$(grep -c "unwind_$event:" "$1")" $event
	done | tee d.counts
	! awk '!$1' d.counts | grep . && ! grep -m 3 'FAILED TO PARSE\|%[sdl]' "$1" &&
		grep -q "unwind_stop:.*reason='end of stack'" "$1" &&
		grep -q 'unwind_file_invalid:.* error=-95 (EOPNOTSUPP) name=d\.old$' "$1" &&
		grep -q 'unwind_table_found:.* name=d\.new$' "$1" &&
		grep -q 'unwind_table_invalid:.* error=-8 (ENOEXEC) object=\[anon\]$' "$1" &&
		grep -q 'unwind_entry_invalid:.* error=-[0-9]* (E[A-Z0-9]*)$' "$1"
}

# All formats, and all events by both readers
parsed_events()
{
	! trace-cmd check-events 2>&1 | grep unwind || return 1
	trace-cmd start -B unwind -b 20000 -e unwind >/dev/null && all_events >log.events 2>&1
	trace-cmd stop -B unwind
	trace-cmd extract -B unwind -o d.dat >/dev/null 2>&1
	trace-cmd reset -B unwind -d >/dev/null 2>&1
	trace-cmd report -i d.dat 2>&1 | sed 's/ *$//' >d.reported
	script -i d.events -F event,trace 2>&1 | sed 's/ *$//' >d.script
	echo "perf script:" && printed d.script && echo "trace-cmd report:" &&
		printed d.reported && return
	head -n 5 d.script d.reported log.events
	return 1
}

# injected FILE
injected()
{
	"$PERF" inject -i "$1" -o d.injected &&
		script -i d.injected --no-merge-callchains -F $FIELDS >script &&
		! grep cookie script && reach_start <script
}

injected_compressed()
{
	record --call-graph sframe -z &&
		"$PERF" report --header-only -i d.data | grep '^# compressed' && injected d.data
}

# Of what was hit most
annotated()
{
	symbol=$("$PERF" report --stdio --no-children -g none -F overhead,sym -i m.data |
		awk '$2 == "[.]" { print $3; exit }')
	"$PERF" annotate --stdio -i m.data -s "$symbol" >d.annotated
	grep -q 'Percent.*Source code' d.annotated && grep -q mov d.annotated
}

# away HOME - perf script on a machine that does not have these programs
away()
{
	mkdir -p "$1/.debug"
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount -t tmpfs none "$4" &&
		HOME=$1 exec "$2" script --kallsyms kernel -i d.data -F "$3"' \
		sh "$1" "$PERF" $FIELDS $PREFIX
}

# An archive has what the callers' names are taken from, where samples hit others, and the
# kernel's symbols
archived()
{
	mkdir -p d.home d.there/.debug
	HOME=/tmp/d.home record --call-graph sframe &&
		HOME=/tmp/d.home PATH=/usr/bin:/bin PERF_EXEC_PATH=$TREE "$PERF" archive d.data &&
		tar xvf d.data.tar.bz2 -C d.there/.debug | grep 'kernel.kallsyms' &&
		away /tmp/d.there >script && reach_start <script &&
		away /tmp/d.elsewhere >script && ! grep ' _start' script
}

header()
{
	"$PERF" report --header-only -i m.data |
		grep '^# callchains .*cpu-clock.*: user half deferred'
}

# Another tool's configuration does not stand in the way of reading
configured()
{
	mkdir d.config
	export HOME=/tmp/d.config
	"$PERF" config --user call-graph.record-mode=sframe &&
		"$PERF" config call-graph.record-mode && record -g &&
		"$PERF" evlist -v -i d.data | grep 'defer_callchain: 1' && whole
	status=$?
	export HOME=/tmp
	return $status
}

# A switch is a sample of a thread that sleeps before it gets to its record
scheduled()
{
	work "$PERF" sched record --call-graph sframe -o d.data -- &&
		"$PERF" sched timehist -i d.data --max-stack 60 >d.hist &&
		grep 'sqlite3\[' d.hist | grep _start
}

# A soft interrupt is on its way back to the program that it interrupted
softirqs()
{
	work "$PERF" kwork -k softirq record --call-graph sframe -o d.data -- &&
		"$PERF" kwork -k softirq timehist -g --max-stack 60 -i d.data >d.hist &&
		"$PERF" kwork -k softirq report -i d.data >d.kwork &&
		grep 'sqlite3_step .*_start' d.hist && grep '(s)TIMER' d.kwork
}

on_top() { grep -a -q -e '--.*sqlite3_step' d.top && grep -a -q -e _start d.top; }

# The work goes on until it was shown: perf top takes its time to start
topped()
{
	: >d.top
	{
		for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
			SIZE=6 work env >/dev/null
			! on_top || break
		done
		echo q
	} | "$PERF" top --stdio --call-graph sframe,0.5,caller -F 199 -e cpu-clock >d.top 2>&1
	grep -a -m 20 -A 20 sqlite3VdbeExec d.top | head -n 40
	on_top
}

# Each system call is followed by its stack
traced()
{
	work "$PERF" trace --call-graph sframe -e pwrite64 -m 16M -o d.trace -- >/dev/null ||
		return 1
	head -n 20 d.trace
	# perf reads 16 MiB late, if it has to: more than all of these calls take
	! grep 'missing\|LOST' d.trace && awk -v least="${STRICT:+0.9}" '
		/ pwrite64\(/ { n++ }
		/ _start / { c++ }
		END {
			print c + 0 " of " n + 0 " reach _start"
			exit !(n > 5 && c / n > least + 0)
		}' d.trace
}

# A task that is sampled on this CPU goes on at another
traced_on_cpu()
{
	"$PERF" trace -C 0 --no-syscalls -e sched:sched_switch --call-graph sframe -o d.trace \
		python3 -c 'import os; [os.sched_setaffinity(0, {i & 1}) for i in range(400)]'
	grep -c 'sched:sched_switch' d.trace
	grep -q 'sched:sched_switch' d.trace && ! grep missing d.trace
}

# A thread that sleeps is shown asleep: what enters does not wait for its stack
traced_asleep()
{
	"$PERF" trace --call-graph sframe -e clock_nanosleep -o d.trace sleep 2
	cat d.trace
	grep -q 'clock_nanosleep(.*) *= 0' d.trace
}

# attached OPTION... - to a program that runs
attached()
{
	SIZE=6 in_background
	"$PERF" record --call-graph sframe -F 299 -e cpu-clock -o d.data "$@" "$pid" || return 1
	wait "$pid"
	whole
}

# The alarm comes when perf is ready for it, however long that took
switched_by_time()
{
	rm -f d.time.*
	"$PERF" record -e cpu-clock -F 99 --call-graph sframe --switch-output=1s -o d.time sleep 4
	ls d.time.*
	[ "$(ls d.time.* | wc -l)" -gt 1 ]
}

# Both CPUs busy, buffers as perf has them unasked
at_999_hz()
{
	in_background
	record -a --call-graph sframe -F 999 || return 1
	wait "$pid"
	"$PERF" report -i d.data --stats --stdio >stats 2>&1
	script -i d.data -F cpu | sort | uniq -c | tee d.cpus
	cat stats
	[ "$(wc -l <d.cpus)" -gt 1 ] && { [ -z "${STRICT:-}" ] || ! grep -q LOST stats; }
}

# BPF takes these stacks where the thread goes to sleep, thus immediately: the first may
# be cut; one that waits for its input is not.  The program outlives its recording:
# perf knows nothing of one that has ended.
off_cpu()
{
	mkfifo d.statements
	echo 1 >$SWITCH
	$SQLITE -batch <d.statements >/dev/null &
	pid=$!
	exec 9>d.statements
	# shellcheck disable=SC2016
	"$PERF" record --off-cpu --call-graph sframe -e cpu-clock -o d.data -p $pid -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do echo "SELECT $i;" >&9; sleep 0.2; done'
	exec 9>&-
	wait $pid
	echo 0 >$SWITCH
	script -i d.data -F comm,event,ip,sym | awk '
		BEGIN { RS = "" }
		/^[^\n]*offcpu-time/ { n++; print }
		/^[^\n]*offcpu-time/ && /process_input/ && /_start/ { c++ }
		END { print c + 0 " of " n + 0 " reach _start"; exit !c }'
}

printf 'ffffffff81000000 T %s\n' _text _stext >kernel
echo "TAP version 13"
try "perf test: merging of deferred callchains" perf_test "Merging of deferred callchains"
try "perf test: record deferred user callchains" perf_test "perf record deferred user callchains"
try "perf test: perf report's browser" perf_test "perf report browser of deferred"
try "perf record as an ordinary user: sframe, fp,defer, -g" ordinary_user
try "perf record -a --call-graph sframe: no sample without its record" system_wide
try "each writer's recordings, in each way, by each reader" \
	python3 $HERE/readers.py "$PERF" $DEBIAN $SQLITE
# The service makes the interpreters' tables
LD_PRELOAD="libstdc++.so.6 libgcc_s.so.1" unwind-tables serve 2>served &
service=$!
try "Python's functions: each has its caller, and its place" functions python3 py 99.8
try "PHP's functions: each has its caller, and its place" functions php8.4 php 99.8
[ -z "${THREADS:-}" ] || try "C++ with threads: stacks through Debian's libstdc++" cplusplus
try "unwind-tables status: times of tables, and why files have none" status
try "processes of milliseconds have whole stacks" short_processes
try "Python's functions: perf trace" traced_functions
try "Python's functions: unwind-profile" profiled_functions
kill $service
wait $service
try "Python's functions: without a service and privileges" registered_functions python3 py
try "PHP's functions: without a service and privileges" registered_functions php8.4 php
try "Python's functions: perf script --no-runtime shows native frames alone" no_functions
try "Python's functions: perf report, perf data convert" read_functions
try "the sample JIT's functions: each has its name and its caller" jitted
try "a table of version 1 is named where stacks end" old_table
try "perf record --call-graph sframe: the kernel's methods are masked" masked_methods
try "build-ids of a compressed recording" build_ids
try "perf record -o - | perf report -i -" piped_live
# From here on, a callchain that is whole came with a record of its own.  All that reads
# has one recording
echo 0 >$SWITCH
record --call-graph sframe -o m.data >/dev/null 2>&1
try "perf script report flamegraph" flamegraph
try "perf data convert --to-json" converted
try "perf inject" injected m.data
try "perf inject, of what is compressed" injected_compressed
try "perf script and trace-cmd parse unwind:*" parsed_events
try "perf annotate" annotated
try "perf report -g caller" show_callers -i m.data
try "perf archive" archived
try "perf report --header: how callchains were taken" header
try "call-graph.record-mode = sframe" configured
try "perf sched record --call-graph sframe" scheduled
try "perf kwork record --call-graph sframe" softirqs
try "perf top --call-graph sframe" topped
try "perf trace --call-graph sframe" traced
try "perf trace -C --call-graph sframe: tasks that migrate" traced_on_cpu
try "perf trace --call-graph sframe: a system call that sleeps" traced_asleep
try "perf record -p" attached -p
try "perf record -t" attached -t
try "perf record --per-thread -p" attached --per-thread -p
try "perf record --switch-output=1s" switched_by_time
try "perf record -a, 999 Hz${STRICT:+: no sample lost}" at_999_hz
try "perf record --overwrite" recorded --overwrite --call-graph sframe
try "perf record --off-cpu" off_cpu
echo "1..$n"
