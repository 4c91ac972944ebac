# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What reads a recording: each reader has to see samples with their whole
# callchains.  Sourced by perf-check.sh.  All read one recording, made first;
# kernel.unwind_in_place is 0 by then, so that a callchain that is whole can only
# have come with a record of its own.

HERE=/mnt/repo/qemu/perf-check

recorded()
{
	[ -s /tmp/m.data ] ||
		workload "$PERF" record --call-graph sframe --no-compression-level \
			-F 299 -e cpu-clock -o /tmp/m.data
}

# Stacks as "frame;frame;...;frame N", outermost first: most begin at _start
check_folded()
{
	awk '{ n += $NF } /(^|;)_start;/ { c += $NF }
	     END { print c + 0 " of " n + 0 " reach _start"; exit !(n > 50 && c / n > 0.9) }'
}

# reported_by SCRIPT OPTION... - by a script that perf has.  It finds scripts by the
# first of these, they find perf by the second, and the recording where they are.
reported_by()
{
	(
		cd /tmp && ln -sf m.data perf.data &&
			PERF_EXEC_PATH=/mnt/cache/tree/tools/perf PATH=${PERF%/*}:$PATH \
				"$PERF" script report "$@"
	)
}

python_hooks()
{
	recorded && reported_by stackcollapse >/tmp/folded && check_folded </tmp/folded
}

flamegraph()
{
	recorded && reported_by flamegraph -f json -o /tmp/flamegraph.json &&
		python3 $HERE/folded.py flamegraph /tmp/flamegraph.json | check_folded
}

to_json()
{
	rm -f /tmp/m.json
	recorded && "$PERF" data convert --to-json /tmp/m.json -i /tmp/m.data &&
		python3 $HERE/folded.py convert /tmp/m.json | check_folded
}

check_injected()
{
	"$PERF" inject -i "$1" -o /tmp/d.data &&
		"$PERF" script -i /tmp/d.data --no-merge-callchains \
			-F comm,tid,time,ip,sym >/tmp/script || return 1
	! grep -q 'cookie' /tmp/script && check_stacks </tmp/script
}

injected()
{
	recorded && check_injected /tmp/m.data
}

# As it is unasked
injected_compressed()
{
	workload "$PERF" record --call-graph sframe -F 299 -e cpu-clock -o /tmp/z.data &&
		"$PERF" report --header-only -i /tmp/z.data | grep '^# compressed' &&
		check_injected /tmp/z.data
}

# Of whatever was hit most
annotated()
{
	recorded && "$PERF" report --stdio --no-children -g none -F overhead,sym \
		-i /tmp/m.data >/tmp/report || return 1
	symbol=$(awk '$2 == "[.]" { print $3; exit }' /tmp/report)
	"$PERF" annotate --stdio -i /tmp/m.data -s "$symbol" >/tmp/annotated || return 1
	grep -q 'Percent.*Source code' /tmp/annotated && grep -q 'mov' /tmp/annotated
}

# By whom each function was called
reported()
{
	recorded && "$PERF" report --stdio --no-children -g caller,0.5 -i /tmp/m.data \
		-S sqlite3VdbeExec >/tmp/report
	head -n 40 /tmp/report
	grep -q ' sqlite3_step' /tmp/report && grep -q '_start' /tmp/report
}

# The same in perf's browser, once all callchains are unfolded
browsed()
{
	recorded && python3 $HERE/tui.py sqlite3VdbeExec E _start q -- \
		"$PERF" report --tui --no-children -g caller,0.5 -i /tmp/m.data \
		-S sqlite3VdbeExec
}

# away_from_home HOME COMMAND... - as on a machine that does not have these programs
away_from_home()
{
	mkdir -p "$1/.debug"
	unshare -m sh -c 'mount -t tmpfs none /opt/sframe && export HOME=$1 && shift && exec "$@"' \
		sh "$@"
}

# An archive has what the callers' names are to be had from, where samples hit others
archived()
{
	rm -rf /tmp/archive
	mkdir -p /tmp/archive/home
	(
		cd /tmp/archive && HOME=$PWD/home || return 1
		workload "$PERF" record --call-graph sframe -F 299 -e cpu-clock -o data
		PERF_EXEC_PATH=${PERF%/*} PATH=${PERF%/*}:$PATH "$PERF" archive data &&
			mkdir -p there/.debug && tar xf data.tar.bz2 -C there/.debug &&
			away_from_home "$PWD/there" "$PERF" script -i data \
				-F comm,tid,time,ip,sym >script && check_stacks <script || return 1
		away_from_home "$PWD/elsewhere" "$PERF" script -i data -F comm,tid,time,ip,sym >script
		! grep -q ' _start' script
	)
}

header()
{
	recorded && "$PERF" report --header-only -i /tmp/m.data >/tmp/header
	cat /tmp/header
	grep -q '^# callchains .*cpu-clock.*: user half deferred' /tmp/header
}

# Records whose cookie is another are missed by as many samples as had the right
# one, and go to no other
missing()
{
	recorded && python3 $HERE/spoil.py /tmp/m.data /tmp/d.data >/tmp/cookies || return 1
	"$PERF" script -i /tmp/m.data --no-merge-callchains -F ip,sym 2>/dev/null |
		awk 'NR == FNR { spoilt[$1] = 1; next }
		     $2 == "(cookie)" && $1 in spoilt { n++ }
		     END { print n + 0 }' /tmp/cookies - >/tmp/expected
	"$PERF" script -i /tmp/d.data -F ip >/dev/null 2>/tmp/script.err
	expected=$(cat /tmp/expected)
	echo "$(wc -l </tmp/cookies) records spoilt, $expected samples had them"
	cat /tmp/script.err
	[ "$expected" -gt 0 ] && grep -q "^$expected deferred callchains missing" /tmp/script.err
}

# Another tool's configuration does not stand in the way of what only reads
configured()
{
	(
		HOME=/tmp/configured
		mkdir -p $HOME
		"$PERF" config --user call-graph.record-mode=sframe
		"$PERF" config call-graph.record-mode
		workload "$PERF" record -g -F 299 -e cpu-clock -o /tmp/d.data &&
			"$PERF" evlist -v -i /tmp/d.data | grep 'defer_callchain: 1' &&
			check_data "$PERF"
	)
}

# A switch is a sample of a thread that sleeps before it gets to its record
scheduled()
{
	workload "$PERF" sched record --call-graph sframe -o /tmp/d.data &&
		"$PERF" sched timehist -i /tmp/d.data --max-stack 60 >/tmp/timehist || return 1
	grep 'sqlite3\[' /tmp/timehist >/tmp/switches
	head -n 20 /tmp/switches
	grep -q '_start' /tmp/switches
}

# A soft interrupt is on its way back to the program it had interrupted
kworked()
{
	workload "$PERF" kwork -k softirq record --call-graph sframe -o /tmp/d.data &&
		"$PERF" kwork -k softirq timehist -g --max-stack 60 -i /tmp/d.data >/tmp/timehist &&
		"$PERF" kwork -k softirq report -i /tmp/d.data >/tmp/kwork || return 1
	head -n 20 /tmp/timehist /tmp/kwork
	grep -q 'sqlite3_step .*_start' /tmp/timehist && grep -q '(s)TIMER' /tmp/kwork
}

readers()
{
	result "perf script report stackcollapse (Python)" python_hooks
	result "perf script report flamegraph" flamegraph
	result "perf data convert --to-json" to_json
	result "perf inject" injected
	result "perf inject, of what is compressed" injected_compressed
	result "perf annotate" annotated
	result "perf report -g caller" reported
	result "perf report's browser" browsed
	result "perf archive" archived
	result "perf report --header: how callchains were taken" header
	result "samples without their record are counted, and get no other" missing
	result "call-graph.record-mode = sframe" configured
	result "perf sched record --call-graph sframe" scheduled
	result "perf kwork record --call-graph sframe" kworked
}
