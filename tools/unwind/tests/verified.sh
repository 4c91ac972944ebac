#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The verifier's work for the tools of bcc (libbpf-tools) and bpftrace, unmodified:
# for each its name, how many programs it has loaded, and how many instructions the
# verifier went through for all of them.  It is run as root.

# loaded PID - of the programs that it holds
loaded()
{
	cat /proc/"$1"/fdinfo/* 2>/dev/null |
		awk '$1 == "verified_insns:" { n++; sum += $2 } END { print n + 0, sum + 0 }'
}

# verified NAME COMMAND... - run it until it has loaded all: no more in three seconds
verified()
{
	name=$1 last= same=0 left=60
	shift
	"$@" >/dev/null 2>&1 </dev/null &
	while [ $left -gt 0 ] && [ $same -lt 3 ] && kill -0 $! 2>/dev/null; do
		now=$(loaded $!)
		same=$((same + 1)) left=$((left - 1))
		[ "$now" = "$last" ] && [ "$now" != "0 0" ] || same=0
		last=$now
		sleep 1
	done
	kill $! 2>/dev/null
	wait $! 2>/dev/null
	# It has ended by itself, before it was looked at twice, or without a program
	[ $same = 3 ] || last="0 0"
	echo "$name $last"
}

for tool in /usr/sbin/*-libbpf; do
	case $tool in
	*/funclatency-*) verified "${tool##*/}" "$tool" vfs_read ;;
	*/ksnoop-*) verified "${tool##*/}" "$tool" trace vfs_read ;;
	*) verified "${tool##*/}" "$tool" ;;
	esac
done
for tool in /usr/sbin/*.bt; do
	verified "${tool##*/}" bpftrace "$tool"
done
