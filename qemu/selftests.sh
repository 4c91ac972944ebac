#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: run kselftest programs one after another, selftests.sh DIR NAME...
# A program that dies, or hangs, before it has printed a failure is one itself, and
# nothing of it is left to the next: neither its tests, each of which has a process
# group of its own, nor a module that sends NMIs.  Where something of it cannot be
# ended, there is no next.  Nor are those begun that come when SECONDS_LEFT are over.

# The host may take a virtual CPU away in the middle of an NMI; x86 would log that
# its handler took long, which is no report of ours
longest=/sys/kernel/debug/x86/nmi_longest_ns
[ ! -w $longest ] || echo 60000000000 >$longest

# Where in the kernel each task of the program is, and each that cannot be killed
where_tasks_are()
{
	for task in /proc/[0-9]*/task/[0-9]*; do
		name=$(cat "$task/comm" 2>/dev/null) || continue
		state=$(sed -n 's/^State:\t//p' "$task/status" 2>/dev/null)
		case $state,$name in
		D*|*,"$(echo "$1" | cut -c 1-15)") ;;
		*)	continue ;;
		esac
		echo "# ${task##*/} $name: $state"
		sed 's/^/#     /' "$task/stack" 2>/dev/null
	done
}

# What is left of a program.  What does not end within a minute never will
end_all()
{
	tries=600
	while pkill -KILL -f "^\./$1"; do
		[ $((tries -= 1)) -gt 0 ] || return 1
		sleep 0.1
	done
	for module in unwind_stress unwind_client; do
		while [ -d /sys/module/$module ]; do
			# Refused as long as somebody has a file of it; or it waits, which
			# is not to be waited for
			pgrep -x rmmod >/dev/null || rmmod $module &
			[ $((tries -= 1)) -gt 0 ] || return 1
			sleep 0.1
		done
	done
}

cd "$1" || exit 1
shift
until=$(($(date +%s) + ${SECONDS_LEFT:-1000000}))
for program; do
	begin=$(date +%s)
	if [ "$begin" -ge $until ]; then
		echo "ok 1 $program # SKIP no time is left for it"
		continue
	fi
	echo "# $program"
	timeout "${PROGRAM_SECONDS:-900}" "./$program" >/tmp/output 2>&1
	status=$?
	cat /tmp/output
	echo "# $program took $(($(date +%s) - begin)) s"
	case $status in
	0|4)	continue ;;
	124)	echo "# it was to end within ${PROGRAM_SECONDS:-900} s; what is left of it:"
		where_tasks_are "$program" ;;
	esac
	grep -q '^not ok' /tmp/output || echo "not ok 999 $program: exit status $status"
	end_all "$program" && continue
	where_tasks_are "$program"
	echo "not ok 1000 $program: something of it does not end; what comes after it is not run"
	exit 1
done
