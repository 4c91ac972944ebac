#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: run kselftest programs one after another, selftests.sh DIR NAME...
# A program that dies, or hangs, before it has printed a failure is one itself.

cd "$1" || exit 1
shift
for program; do
	echo "# $program"
	timeout 600 "./$program" >/tmp/output
	status=$?
	cat /tmp/output
	case $status in
	0|4)	;;
	*)	grep -q '^not ok' /tmp/output || echo "not ok 999 $program: exit status $status" ;;
	esac
done
