#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: run kselftest programs one after another, selftests.sh DIR NAME...
# A program that dies, or hangs, before it has printed a failure is one itself, and
# nothing of it is left to the next: neither its tests, each of which has a process
# group of its own, nor a module that sends NMIs.

# The host may take a virtual CPU away in the middle of an NMI; x86 would log that
# its handler took long, which is no report of ours
longest=/sys/kernel/debug/x86/nmi_longest_ns
[ ! -w $longest ] || echo 60000000000 >$longest

cd "$1" || exit 1
shift
for program; do
	echo "# $program"
	begin=$(date +%s)
	timeout "${PROGRAM_SECONDS:-900}" "./$program" >/tmp/output
	status=$?
	cat /tmp/output
	echo "# $program took $(($(date +%s) - begin)) s"
	case $status in
	0|4)	;;
	*)	grep -q '^not ok' /tmp/output || echo "not ok 999 $program: exit status $status"
		while pkill -KILL -f "^\./$program"; do sleep 0.1; done
		for module in unwind_stress unwind_client; do
			[ ! -d /sys/module/$module ] || rmmod $module
		done ;;
	esac
done
