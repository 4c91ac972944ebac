#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Arguments that nothing can be done with: each is refused in one sentence, with a status
# other than 0, before anything is built.  Prints TAP; takes seconds, and needs no root.

cd "$(dirname "$0")/.." || exit 1
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
export CACHE=$cache
unset ARCH BASE KERNEL KERNELS UNWIND_LOCKED
n=0

# refused COMMAND... - what it says is one line, this project's own; make adds its
# "*** Error", and nothing is left in the cache
refused()
{
	local output status=0 verdict=ok

	output=$(timeout 20 "$@" 2>&1 </dev/null) || status=$?
	output=$(grep -v '^make: \*\*\*' <<<"$output")
	{ [[ $output =~ ^unwind:\ [^$'\n']+$ ]] && [ $status -ne 0 ] && [ $status -ne 124 ] &&
		[ -z "$(ls -A "$cache")" ]; } || verdict="not ok"
	echo "$verdict $((n += 1)) $*"
	[ "$verdict" = ok ] || sed 's/^/# /' <<<"$output (status $status)"
	rm -rf "${cache:?}"/*
}

for argument in ARCH='x86_64 foo' ARCH=foo BASE=5.4 KERNEL=foo KERNEL=be KERNEL='normal debug' \
	KERNELS=foo CPUS=abc CPUS=0 CPUS=9 MEM=1M MEM=abc MEM=0G ICOUNT=abc JOBS=0 MINUTES=abc \
	TIMEOUT=abc TIMEOUT=0 SIZE=abc FUZZ_SECONDS=abc REQUESTS=0 SAMPLES=x PROGRAMS=foo PROGRAMS='lua foo' \
	ONEINSN=0 SHARE=/nonexistent KSRC=/nonexistent DMESG=/nonexistent/x; do
	refused make demo "$argument"
done
refused env TIMEOUT=abc qemu/guest.sh
refused env CMD=true KERNEL=foo qemu/guest.sh
refused qemu/kernel.sh foo
refused qemu/guest.sh
refused make check-big-endian
refused make check-nothing
# An unpacked archive is no clone
copy="$(mktemp -d)/a, b"
mkdir "$copy"
cp -r Makefile qemu "$copy"
refused make -s -C "$copy" demo
# All commands of "make check" are there where the path has a space
commands=$(make -n -s -C "$copy" -f "$copy/qemu/check.mk" check all | cut -d ' ' -f 1 | sort -u)
[ "$commands" = qemu/check.sh ] || verdict="not ok"
echo "${verdict:-ok} $((n += 1)) make check where the path has a space"
rm -rf "${copy%/*}"
echo "1..$n"
