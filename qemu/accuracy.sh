#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Measures how right and how complete stacks are:  accuracy.sh PART...
#
#   same      each stack unwound twice from the same sample, by the kernel and by
#             libdw from a copy of the stack, and compared frame by frame
#   step      programs that are single-stepped, with the true stack known at each
#             instruction: what the kselftest of that name says
#   methods   how many stacks arrive at their start: sframe, fp, dwarf with 8 and
#             with 64 KiB
#   quick     of "same" a small part, which needs nothing that the demo does not
#             build; not a part of the report
#   programs  none of that: only builds the programs, for others to run
#
# A part leaves its figures in build/accuracy/PART.json or .txt; all that are there are put
# together in build/accuracy/accuracy.json, and into a table on standard output.
# The exit status says whether what must hold does.  With ARCH=arm64, it is
# build/accuracy-arm64.
#
#   PROGRAMS='lua xz ...'   only these (qemu/accuracy/programs.sh has them all)
#   SIZE=n                  how much work each of them does (10; on arm64 20)

. "$(dirname "$0")/common.sh"

Q=$REPO/qemu
RESULTS=$REPO/build/accuracy
[ "$ARCH" = x86_64 ] || RESULTS+=-$ARCH
FETCHED=$CACHE/accuracy
DATA=$CACHE/$BUILT/accuracy
# shellcheck source=accuracy/programs.sh
ALL=$(. "$Q/accuracy/programs.sh" && echo "$PROGRAMS")
PROGRAMS=${PROGRAMS:-$ALL}
# Of arm64, the C library's tables are wrong where it binds a function when that is first
# called: by what the PLT has pushed.  The kernel corrects that, libdw does not; it is a
# small part of a run that is long enough
[ "$ARCH" = x86_64 ] || SIZE=${SIZE:-20}
SIZE=${SIZE:-10}
mkdir -p "$RESULTS"

fetch()
{
	local key

	key=$(sha256sum <"$Q/accuracy/fetch.sh" | cut -c1-16)
	[ "$(stamp accuracy-source)" = "$key" ] && [ -d "$FETCHED/src" ] && return 0
	mkdir -p "$FETCHED"
	root_network
	step "fetching the programs' sources" in_root env ${http_proxy:+"http_proxy=$http_proxy"} \
		sh /mnt/repo/qemu/accuracy/fetch.sh /mnt/cache/accuracy
	set_stamp accuracy-source "$key"
}

build_programs()
{
	local what guest=

	[ "$GUEST_ROOT" = "$CACHE/root" ] || guest=/mnt/cache/${GUEST_ROOT##*/}
	[ -z "${TRIPLET:-}" ] || root_packages "g++-14-$TRIPLET"
	"$Q/programs.sh"
	fetch
	for what in runtime programs; do
		in_root env JOBS="$JOBS" TRIPLET="${TRIPLET:-}" GUEST="$guest" \
			sh "/mnt/repo/qemu/accuracy/build-$what.sh" \
			/mnt/cache/accuracy "/mnt/cache/accuracy/work${TRIPLET:+-$ARCH}" >&2 ||
			die "the $what could not be built"
	done
}

build_guest()
{
	"$Q/root.sh"
	"$Q/guest-root.sh"
	"$Q/tree.sh" sync
	"$Q/kernel.sh" normal
}

build_same()
{
	local machine=${TRIPLET:-x86_64}

	install_headers
	mkdir -p "$CACHE/$BUILT/same"
	step "building same_record and same_compare" in_root make \
		-C /mnt/cache/tree/tools/testing/unwind/same O="/mnt/cache/$BUILT/same" \
		CC=gcc-14 MACHINE="${machine%%-*}" TARGET_CC="${TRIPLET:+$TRIPLET-}gcc-14" \
		HEADERS="/mnt/cache/out/$ARCH-normal/usr/include"
}

# run WHAT PROGRAM... - in the guest; what is recorded is then in $DATA/WHAT
run()
{
	local what=$1
	shift
	rm -rf "${DATA:?}/$what"
	mkdir -p "$DATA/$what"
	CMD="SIZE=$SIZE EVENT=$EVENT BUILT=/mnt/cache/$BUILT sh /mnt/repo/qemu/accuracy/run.sh $what /mnt/share $*" \
		SHARE=$DATA/$what DMESG=$RESULTS/$what.dmesg TIMEOUT=${TIMEOUT:-3600} "$Q/guest.sh"
}

# compare PROGRAM... - one line of JSON each
compare()
{
	local program root=

	[ "$GUEST_ROOT" = "$CACHE/root" ] || root=/mnt/cache/${GUEST_ROOT##*/}
	for program; do
		# What it found is in its output, and judged there
		in_root "/mnt/cache/$BUILT/same/same_compare" \
			"/mnt/cache/$BUILT/accuracy/same/$program" "$program" "$root" 2>"$RESULTS/$program.differences" || true
		cat "$RESULTS/$program.differences" >&2
	done
}

accuracy_same()
{
	build_guest
	build_programs
	build_same
	# shellcheck disable=SC2086 # a list
	{
		run same $PROGRAMS
		compare $PROGRAMS >"$RESULTS/same.json.new"
	}
	mv "$RESULTS/same.json.new" "$RESULTS/same.json"
}

accuracy_methods()
{
	build_guest
	"$Q/perf.sh"
	build_programs
	# shellcheck disable=SC2086 # a list
	run methods $PROGRAMS
	in_root python3 /mnt/repo/qemu/accuracy/methods.py "/mnt/cache/$BUILT/accuracy/methods" \
		>"$RESULTS/methods.json.new"
	mv "$RESULTS/methods.json.new" "$RESULTS/methods.json"
}

accuracy_step()
{
	build_guest
	build_kselftests
	# Whether it passes is for make check to say; here it is figures
	CMD="sh /mnt/repo/qemu/selftests.sh /mnt/cache/$BUILT/selftests single_step" \
		DMESG=$RESULTS/step.dmesg "$Q/guest.sh" >"$RESULTS/step.txt.new" || true
	grep -q '^# truth:' "$RESULTS/step.txt.new" || die "single_step gave no figures"
	mv "$RESULTS/step.txt.new" "$RESULTS/step.txt"
}

# As many samples as make check has time for
quick()
{
	build_guest
	"$Q/programs.sh"
	build_same
	SIZE=10 run same sqlite
	compare sqlite >"$RESULTS/quick.json"
}

need_machine
lock
case "$*" in
quick)
	quick
	exit
	;;
programs)
	build_programs
	exit
	;;
esac
for part in "$@"; do
	case $part in
	same|step|methods) ;;
	*) die "there is no accuracy-$part" ;;
	esac
	"accuracy_$part"
done
in_root python3 /mnt/repo/qemu/accuracy/report.py "/mnt/repo/${RESULTS#"$REPO/"}"
