#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What tests need, and how it gets built:
#
#   . needs.sh       for check.sh: "need WHAT..." and "build_ahead"
#   needs.sh WHAT    builds it, with what other processes leave of the machine
#
# One part of the tests builds what it needs itself.  All of them together have it
# built by a process of its own, in the order in which it is needed: a guest keeps but
# one processor busy most of the time, and half of a run from nothing are builds.

[ "${BASH_SOURCE[0]}" != "$0" ] || . "$(dirname "$0")/common.sh"

Q=$REPO/qemu

# kernels ARCH - the kinds of kernel to test
kernels()
{
	case $1 in
	x86_64)	echo "${KERNELS:-normal debug}" ;;
	*)	echo "${KERNELS:-normal}" ;;
	esac
}

# needed ARCH - what its tests need, in the order in which they do
needed()
{
	echo root kernel-normal programs perf browser
	[ "$1" != arm64 ] || echo kernel-be
	[[ $(kernels "$1") != *debug* ]] || echo kernel-debug
}

build_root()
{
	# Where its caller looks at the result, a failure does not end a function
	host_packages "$QEMU_PACKAGE" && "$Q/root.sh" && "$Q/guest-root.sh" && "$Q/tree.sh" sync
}

build_kernel-normal() { build_root && "$Q/kernel.sh" normal; }
build_kernel-debug() { build_root && "$Q/kernel.sh" debug; }
build_kernel-be() { build_root && "$Q/kernel.sh" be; }

# The kselftests, and what they run
build_programs()
{
	build_kernel-normal
	"$Q/programs.sh"
	# Not while another check builds them
	(lock; build_kselftests)
}

build_perf() { build_root && "$Q/perf.sh"; }

# For the demo's page
build_browser() { build_root && root_packages chromium-headless-shell; }

# need WHAT... - have it built, here or by build_ahead(), whose process has said what
# was wrong if something was.  Where it is too late to begin with anything, it may not be
# there yet.
need()
{
	local what

	for what; do
		if [ -z "${UNWIND_AHEAD:-}" ]; then
			"build_$what"
			continue
		fi
		flock -s -w "$(seconds_left)" "$UNWIND_AHEAD/$ARCH-$what" true ||
			[ "$(seconds_left)" -gt 0 ] || return 0
		[ -s "$UNWIND_AHEAD/$ARCH-$what" ] || not_built "$what"
	done
}

# not_built WHAT - what its builder said last is to be seen at the end of all, too
not_built()
{
	tail -n 40 "$UNWIND_AHEAD/$ARCH-$1.log" >"$RESULTS/$1.report" || true
	die "$1 could not be built."
}

# build_ahead DIR ARCHES - build in the background what all tests need
#
# Who needs a thing waits for the lock on a file of its name in DIR.  The process that
# builds holds it from the beginning until the thing is there, or cannot be; a line in
# the file tells these two apart.  Whichever way that process ends, so do its locks.
build_ahead()
{
	local arch what fd
	local -A locks=()

	export UNWIND_AHEAD=$1
	rm -rf "$1"
	mkdir -p "$1"
	for arch in $2; do
		for what in $(needed "$arch"); do
			exec {fd}>"$1/$arch-$what"
			flock "$fd"
			locks[$arch-$what]=$fd
		done
	done
	builder "$2" &
	# shellcheck disable=SC2064 # that process
	trap "kill $! 2>/dev/null || true" EXIT
	for fd in "${locks[@]}"; do exec {fd}>&-; done
	# One process builds; what the others find is built
	export UNWIND_LOCKED=1
}

# builder ARCHES - build_ahead()'s other process, which has its locks
builder()
{
	local arch what fd child=

	trap '[ -z "$child" ] || kill -- "-$child" 2>/dev/null; exit 143' TERM
	trap - EXIT
	for arch in $1; do
		for what in $(needed "$arch"); do
			fd=${locks[$arch-$what]}
			# An archive may not answer, or memory be short: what is done is kept
			if build_once "$arch" "$what" || build_once "$arch" "$what"; then
				echo built >&"$fd"
			fi
			exec {fd}>&-
		done
	done
}

# build_once ARCH WHAT - wait for it; the builder's $child meanwhile
build_once()
{
	local rc=0

	build_one "$1" "$2" &
	child=$!
	wait "$child" || rc=$?
	child=
	[ $rc = 0 ] || echo "building $2 ended with status $rc" >>"$UNWIND_AHEAD/$1-$2.log"
	return $rc
}

# build_one ARCH WHAT - in a session of its own, without the locks: not even a daemon
# that is left behind has them
build_one()
{
	local fd log=$UNWIND_AHEAD/$1-$2.log me=$BASHPID

	echo "building $2" >>"$log"
	for fd in "${locks[@]}"; do exec {fd}>&-; done
	export ARCH=$1
	unset UNWIND_AHEAD
	# What it said is in the log as soon as it is over
	tail -n 1 -s 0.2 -f --pid="$me" "$log" 2>/dev/null | sed -u "s/^/ahead: $1: /" >&2 &
	exec setsid "$Q/needs.sh" "$2" </dev/null >>"$log" 2>&1
}

# Without weight beside others: neither of its own nor, if the scheduler groups
# processes by their session, of its group
yield_processors()
{
	[ ! -w /proc/self/autogroup ] || echo 19 >/proc/self/autogroup || true
	chrt --idle --pid 0 $$ || true
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	case ${1:-} in
	root|kernel-normal|kernel-debug|kernel-be|programs|perf|browser) ;;
	*) die "usage: needs.sh root|kernel-normal|kernel-debug|kernel-be|programs|perf|browser" ;;
	esac
	need_machine
	yield_processors
	"build_$1"
fi
