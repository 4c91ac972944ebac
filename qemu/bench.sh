#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Measures what things cost:  bench.sh PART...
#
#   decoder   instructions per lookup in an SFrame section, the kernel's decoder
#             and libsframe's, by the number of functions and of rows
#   tables    in the guest: what processes pay that are never unwound, beside a
#             kernel without the feature; a frame by the number of registered
#             ranges, and their memory
#   frames    in the guest: a frame by frame pointer and by tables of many sizes,
#             with nothing kept of what was decoded before, and with all of it, and
#             with page faults at first touch; with perf's record, without, and where
#             nothing may fault; frames.svg is a picture of it.  Of arm64, also the
#             topmost frame where no table tells of it
#   rows      in the guest: how often the row of a frame was kept already, while
#             the programs of "make accuracy" are recorded
#   deferred  in the guest: a request from NMI and other contexts, the core's own
#             work per unwind, from a request to its callback, and the return to
#             user space beside a kernel without the feature
#   sampling  in the guest: what samples cost the program that is sampled, with its
#             stack taken in several ways, and at several rates
#   memory    in the guest: what the kernel keeps for a process once it was unwound,
#             and with how many tables; how much larger the kernel is
#   post      in the guest: reading recordings, the same work by several methods;
#             merging what many threads that sleep left; and what is lost of samples
#             at the highest rate
#
# A part leaves its figures in build/bench/PART.json; all that are there are put
# together in build/bench/bench.json, and into a table on standard output.  Costs
# are counts of instructions, the same from run to run; memory is in bytes, and what
# was kept or lost is counted in one recording.
#
# With ARCH=arm64 it is build/bench-arm64, and all parts but the first are that
# machine's: the decoder's instructions are always those of the one that builds.

. "$(dirname "$0")/common.sh"

RESULTS=$REPO/build/bench
[ "$ARCH" = x86_64 ] || RESULTS+=-$ARCH
mkdir -p "$RESULTS"

# As the guest sees them, and where it leaves its figures
BENCH=/mnt/cache/$BUILT/bench
COUNTED=$CACHE/$BUILT/bench/counted
MODULE=/mnt/cache/out/$ARCH-normal/kernel/unwind/tests/unwind_bench.ko
# The counter that counts instructions: a nanosecond each
[ "$ARCH" = x86_64 ] || export CPU=max,pauth-impdef=on,cntfrq=1000000000

bench_decoder()
{
	local out=/mnt/cache/out/host

	"$REPO/qemu/root.sh"
	"$REPO/qemu/tree.sh" sync
	root_packages valgrind
	step "building the decoder's benchmark" \
		in_root make -s -C /mnt/repo/tools/testing/unwind bench O=$out
	rm -rf "$CACHE/out/host/callgrind"
	mkdir -p "$CACHE/out/host/callgrind"
	# Counted is what the two functions execute, and nothing else
	step "counting the decoder's instructions" in_root \
		valgrind --tool=callgrind --instr-atstart=no \
		--toggle-collect=sframe_find_row --toggle-collect=sframe_find_fre \
		--callgrind-out-file=$out/callgrind/out $out/sframe_bench
	in_root sh -ec 'python3 /mnt/repo/qemu/bench/decoder.py "$1"/out.*' \
		sh "$out/callgrind" >"$RESULTS/decoder.json.new"
	mv "$RESULTS/decoder.json.new" "$RESULTS/decoder.json"
}

# Programs lie at the same addresses in each run: by where its pages are in those of a
# table, a fault brings more or fewer of a file's
SAME_PLACES=norandmaps

# counted KERNEL COMMAND [TIMES [CPUS]] - run in the guest, where time is
# instructions; what it prints goes to a file named by its first word and KERNEL,
# and the number of CPUs where that is not one
counted()
{
	local cpus=${4:-1}
	local to=${2%% *}.$1

	[ "$cpus" = 1 ] || to=$to.$cpus
	step "counting instructions on the $1 kernel: ${2%% *}" \
		env KERNEL="$1" SHARE="$COUNTED" ICOUNT=0 CPUS="$cpus" \
		APPEND="$SAME_PLACES" \
		CMD="cd $BENCH && for i in $(seq -s ' ' "${3:-1}"); do
			./$2 || exit
		done >/mnt/share/$to" "$REPO/qemu/guest.sh"
}

# build_guest_benchmarks KERNEL... - what runs in the guest, and on which kernels
build_guest_benchmarks()
{
	local k

	"$REPO/qemu/root.sh"
	"$REPO/qemu/guest-root.sh"
	"$REPO/qemu/tree.sh" sync
	for k in "$@"; do "$REPO/qemu/kernel.sh" "$k"; done
	install_headers
	step "building the guest's benchmarks" in_root make -C \
		/mnt/cache/tree/tools/testing/selftests/unwind/bench \
		CC="${TRIPLET:+$TRIPLET-}gcc-14" O="$BENCH" \
		HEADERS="/mnt/cache/out/$ARCH-normal/usr/include"
	mkdir -p "$COUNTED"
}

bench_tables()
{
	local k

	build_guest_benchmarks normal off
	for k in normal off; do counted $k "idle /tmp" 5; done
	counted normal "ranges 128 1024 8192 32768"
	python3 "$REPO/qemu/bench/tables.py" "$COUNTED/idle.normal" "$COUNTED/idle.off" \
		"$COUNTED/ranges.normal" >"$RESULTS/tables.json.new"
	mv "$RESULTS/tables.json.new" "$RESULTS/tables.json"
}

bench_frames()
{
	local topmost=()

	build_guest_benchmarks normal
	counted normal "frames $MODULE fp 100 1000 10000 30000 100000"
	if [ "$ARCH" = arm64 ]; then
		counted normal "topmost $MODULE"
		topmost=("$COUNTED/topmost.normal")
	fi
	python3 "$REPO/qemu/bench/frames.py" "$COUNTED/frames.normal" "${topmost[@]}" \
		>"$RESULTS/frames.json.new"
	mv "$RESULTS/frames.json.new" "$RESULTS/frames.json"
	python3 "$REPO/qemu/bench/picture.py" "$RESULTS/frames.json" >"$RESULTS/frames.svg"
}

bench_rows()
{
	build_guest_benchmarks normal
	"$REPO/qemu/perf.sh"
	"$REPO/qemu/accuracy.sh" programs
	step "recording programs" env KERNEL=normal \
		SHARE="$COUNTED" CMD="PERF=/mnt/cache/$BUILT/perf/perf \
		sh /mnt/repo/qemu/bench/rows.sh >/mnt/share/rows" "$REPO/qemu/guest.sh"
	python3 "$REPO/qemu/bench/rows.py" "$COUNTED/rows" >"$RESULTS/rows.json.new"
	mv "$RESULTS/rows.json.new" "$RESULTS/rows.json"
}

bench_deferred()
{
	local k

	build_guest_benchmarks normal off
	counted normal "deferred $MODULE own"
	# The second CPU sends the NMIs that hit the first in user space
	counted normal "deferred $MODULE other" 1 2
	for k in normal off; do counted $k "idle /tmp null fault" 5; done
	python3 "$REPO/qemu/bench/deferred.py" "$COUNTED/deferred.normal" \
		"$COUNTED/deferred.normal.2" "$COUNTED/idle.normal" "$COUNTED/idle.off" \
		>"$RESULTS/deferred.json.new"
	mv "$RESULTS/deferred.json.new" "$RESULTS/deferred.json"
}

bench_sampling()
{
	build_guest_benchmarks normal
	# By frame pointers alone is how it was before there were tables
	step "counting instructions of samples" env KERNEL=normal SHARE="$COUNTED" \
		ICOUNT=0 CPUS=1 APPEND="$SAME_PLACES" CMD="set -e
		# Right after boot, the kernel still has work of its own
		$BENCH/sampling none 999 >/dev/null
		for method in none sframe fp in-place dwarf-8192 dwarf-65528; do
			[ \$method = in-place ] && in_place=1 || in_place=0
			echo \$in_place >/proc/sys/kernel/unwind_in_place
			$BENCH/sampling \$method 99 999 9999
		done >/mnt/share/sampling" "$REPO/qemu/guest.sh"
	python3 "$REPO/qemu/bench/sampling.py" "$COUNTED/sampling" >"$RESULTS/sampling.json.new"
	mv "$RESULTS/sampling.json.new" "$RESULTS/sampling.json"
}

bench_memory()
{
	local k

	build_guest_benchmarks normal off
	counted normal "memory $MODULE"
	counted off memory
	for k in normal off; do
		in_root sh -c 'cd "$0" && "$1"size vmlinux.a' "/mnt/cache/out/$ARCH-$k" "${TRIPLET:+$TRIPLET-}" >"$COUNTED/size.$k"
	done
	# Objects of what the series changes and brings, and of what it selects
	{ sed -n 's,^+++ b/\([^[:space:]]*\)\.c.*,\1.o,p' "$REPO"/patches/*.patch
		git -C "$REPO" ls-files -- '*.c' | sed 's/c$/o/'; echo lib/interval_tree.o; } |
		grep -v /tests/ >"$COUNTED/objects"
	python3 "$REPO/qemu/bench/memory.py" "$COUNTED/memory.normal" "$COUNTED/memory.off" \
		"$COUNTED/size.normal" "$COUNTED/size.off" "$COUNTED/objects" >"$RESULTS/memory.json.new"
	mv "$RESULTS/memory.json.new" "$RESULTS/memory.json"
}

bench_post()
{
	local threads merge=$BUILT/bench/merge

	build_guest_benchmarks normal
	"$REPO/qemu/perf.sh"
	"$REPO/qemu/programs.sh"
	rm -rf "${CACHE:?}/$merge"
	mkdir "$CACHE/$merge"
	for threads in 1000 5000 10000; do
		in_root python3 /mnt/repo/qemu/bench/merge_data.py \
			"/mnt/cache/$merge/merge-${threads}0-$threads" $threads 10
	done
	step "counting instructions of perf" env KERNEL=normal SHARE="$COUNTED" \
		ICOUNT=0 CPUS=1 APPEND="$SAME_PLACES" CMD="PERF=/mnt/cache/$BUILT/perf/perf EVENT=$EVENT sh /mnt/repo/qemu/bench/post.sh \
		/mnt/cache/$merge >/mnt/share/post" "$REPO/qemu/guest.sh"
	rm -rf "${CACHE:?}/$merge"
	python3 "$REPO/qemu/bench/post.py" "$COUNTED/post" >"$RESULTS/post.json.new"
	mv "$RESULTS/post.json.new" "$RESULTS/post.json"
}

need_machine
lock
for part in "$@"; do
	case $part in
	decoder|tables|frames|rows|deferred|sampling|memory|post) ;;
	*) die "there is no bench-$part" ;;
	esac
	"bench_$part"
done
in_root python3 /mnt/repo/qemu/bench/report.py "/mnt/repo/${RESULTS#"$REPO/"}"
