# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The programs whose stacks "make accuracy" judges, and their work.  It is sourced.
#
#     run_PROGRAM SIZE COMMAND...
#
# COMMAND is what the program is to be run by, such as "perf record"; the program
# and its arguments follow.  What it prints is the same in each run, which the
# caller checks: all methods have seen the same work.  SIZE scales it; 10 is
# some five seconds of processor time in the guest.
#
# It is run in a directory that may be written to.

PROGRAMS="lua xz sqlite muparser memcached"
BIN=/opt/sframe/bin

run_lua() {
	size=$1
	shift
	"$@" $BIN/lua /mnt/repo/qemu/programs/workload.lua $((size * 25))
}

# Blocks are small, so that there is work for two threads
run_xz() {
	head -c $(($1 * 300000)) /opt/sframe/lib/libstdc++.so.6 >input
	shift
	"$@" $BIN/xz -c -6 -T2 --block-size=300000 input | sha256sum
}

run_sqlite() {
	size=$(($1 * 3 / 2))
	shift
	rm -f work.db
	"$@" $BIN/sqlite3 -batch -cmd '.parameter init' -cmd ".parameter set @size $size" \
		work.db </mnt/repo/qemu/programs/workload.sql
}

run_muparser() {
	awk -v size=$(($1 * 400)) -f /mnt/repo/qemu/programs/expressions.awk >input
	shift
	# Where it has put a variable is different each time
	"$@" $BIN/muparser <input | sed 's/0x[0-9a-f]*/0x/'
}

# What keeps it busy is not recorded
run_memcached() {
	size=$1
	shift
	rm -f socket
	"$@" $BIN/memcached -A -u root -t 4 -m 16 -s socket &
	$BIN/memload socket 4 $((size * 150))
	wait $!
}
