#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Measures:  figures.sh bench|accuracy [PART...]
#
# bench: what things cost, in instructions, the same from run to run ("worst" alone: TAP).
# accuracy: how right and how complete stacks are.  tools/unwind/tests/report.py says what
# each part shows.  Besides, there are of accuracy
#
#   tools     the unmodified tools' and perf's tests, with the shares and rates that a
#             busy machine can miss: "make check" leaves those out
#   quick     a small part of "same", judged by what holds on any machine: TAP
#
# Without PART: all but quick; with PROGRAMS, same and methods.  build/bench/ or build/accuracy/ (with
# ARCH=arm64, build/bench-arm64/ ...) has what programs printed, by part, and all
# figures as JSON.  The exit status says whether all holds.
#
#   PROGRAMS='lua xz ...'   accuracy of only these     SIZE=n   their work (10; arm64 20)

. "$(dirname "$0")/common.sh"

Q=$REPO/qemu
ALL="lua xz sqlite memcached"
STOCK_METHODS="first@299 sframe@299 stock@299 stock-defer@299 bpftrace@299 trace-cmd fp@299 dwarf-8192@99"
METHODS="sframe@997 sframe-z@997 fp@997 immediate@997 dwarf-8192@297 dwarf-65528@297"
# As the guest sees them
BENCH=/mnt/cache/$BUILT/bench
MODULE=/mnt/cache/out/$ARCH-normal/kernel/unwind/tests/unwind_bench.ko
TESTS=/mnt/repo/tools/unwind/tests

# build WHAT... - and what that needs
build() { make -s -f qemu/check.mk "${@/%/@$ARCH}" >&2; }

prepare_bench()
{
	build kernel-normal
	[ "$BASE" = 6.12 ] || BASE=6.12 build kernel-normal	# its headers are for both
	[[ ${parts[*]} =~ ^(worst|readers)$ ]] || build kernel-off perf-tool
	step "building the guest's benchmarks" in_root make O="$BENCH" \
		-C /mnt/cache/tree/tools/testing/selftests/unwind/bench \
		CC="${TRIPLET:+$TRIPLET-}gcc-14" HEADERS="/mnt/cache/out/$ARCH-normal/usr/include"
}

# boot TITLE COMMAND - in the guest, where the part's directory is /mnt/share
boot()
{
	step "$1" env SHARE="$OUT" DMESG="$OUT/dmesg" TIMEOUT="${TIMEOUT:-3600}" \
		CMD="export SIZE=$SIZE EVENT=$EVENT BUILT=/mnt/cache/$BUILT; $2" "$Q/guest.sh"
}

# counting TITLE COMMAND - where time is instructions.  Programs lie at the same
# addresses in each run: those decide how much of a file a page fault brings.
counting()
{
	ICOUNT=0 CPUS=${CPUS:-1} APPEND=norandmaps boot "$1" "cd $BENCH && $2"
}

# counted KERNEL COMMAND [TIMES] - what it prints goes to COMMAND.KERNEL, with the number
# of CPUs where that is not one
counted()
{
	KERNEL=$1 counting "counting instructions on the $1 kernel: ${2%% *}" \
		"for i in $(seq -s ' ' "${3:-1}"); do ./$2 || exit; done >/mnt/share/${2%% *}.$1${CPUS:+.$CPUS}"
}

bench_decoder()
{
	local out=/mnt/cache/out/host

	root_packages valgrind
	# Counted is what the two functions execute, and nothing else
	step "counting the decoder's instructions" in_root sh -ec "
		make -s -C /mnt/repo/tools/testing/unwind bench O=$out
		valgrind --tool=callgrind --instr-atstart=no --toggle-collect=sframe_find_rule \
			--toggle-collect=sframe_find_fre \
			--callgrind-out-file=/mnt/repo/${OUT#"$REPO/"}/out $out/sframe_bench"
}

bench_tables()
{
	counted normal "idle /tmp" 5
	counted off "idle /tmp" 5
	counted normal "ranges 128 1024 8192 32768"
	[ "$ARCH" != x86_64 ] || counting "counting instructions of first tables" "sh $TESTS/first.sh >/mnt/share/first"
}

bench_frames()
{
	counted normal "frames $MODULE fp 100 1000 10000 30000 100000 1x7936 2x7936"
	counted off "frames - fp"
}

# By a program of x86-64
bench_worst() { counted normal "worst $MODULE"; }

bench_deferred()
{
	counted normal "deferred $MODULE own"
	# The second CPU sends the NMIs that hit the first in user space
	CPUS=2 counted normal "deferred $MODULE other"
	counted normal "idle /tmp null fault" 5
	counted off "idle /tmp null fault" 5
}

# The first run does not count: right after boot, the kernel has work of its own.  "fp", by
# frame pointers alone, shows the cost of stacks before there were tables.
bench_sampling()
{
	counting "counting instructions of samples" "./sampling none 999 >/dev/null &&
		for method in none sframe fp in-place dwarf-8192 dwarf-65528; do
			[ \$method = in-place ]
			echo \$((! \$?)) >/proc/sys/kernel/unwind_immediate
			./sampling \$method 99 999 9999 || exit
		done >/mnt/share/sampling"
}

bench_memory()
{
	local kernel

	counted normal "memory $MODULE"
	counted off memory
	for kernel in normal off; do
		in_root env -C "/mnt/cache/out/$ARCH-$kernel" "${TRIPLET:+$TRIPLET-}size" vmlinux.a >"$OUT/size.$kernel"
	done
	# Objects of what the series changes and adds, and of what it selects
	{ find "$REPO/patches" -name '*.patch' -exec sed -n 's,^+++ b/\([^[:space:]]*\)\.c.*,\1.o,p' {} +
		git -C "$REPO" ls-files -- '*.c' | sed 's/c$/o/'; echo lib/interval_tree.o; } |
		grep -v /tests/ >"$OUT/objects"
	step "converting all files of the root" in_root sh -ec "
		make -s -C /mnt/repo/tools/unwind/tables OUTPUT=/mnt/cache/out/tables CC=gcc-14 \
			UAPI=/mnt/cache/tree/include/uapi /mnt/cache/out/tables/tests/table_sizes
		find /usr -xdev -type f | /mnt/cache/out/tables/tests/table_sizes >$OUT_IN_ROOT/tables"
}

# Frames of a language: by a chain, and from the thread itself
bench_language() { counted normal language 3; }

# User stacks by ftrace and BPF; for both bases
bench_readers() { counted normal readers; }

# The verifier's work for unmodified tools
bench_bpf()
{
	local kernel

	root_packages libbpf-tools
	for kernel in normal off; do
		KERNEL=$kernel boot "loading BPF tools on the $kernel kernel" \
			"sh $TESTS/verified.sh >/mnt/share/verified.$kernel"
	done
}

bench_post()
{
	local n

	"$Q/programs.sh" sqlite
	for n in 1000 5000 10000; do
		in_root python3 /mnt/repo/tools/perf/tests/shell/lib/deferred_recordings.py \
			--sleepers "$OUT_IN_ROOT/merge-${n}0-$n" $n 10
	done
	counting "counting instructions of perf" "sh $TESTS/record.sh post /mnt/share >/mnt/share/post"
	rm "$OUT"/merge-*
}

prepare_accuracy() { build kernel-normal perf-tool; }

# same_of COMMAND PROGRAM... - run the command first; -s in $served for the service's tables
same_of()
{
	local p machine=${TRIPLET:-x86_64} command=$1
	shift

	step "building same_record and same_compare" in_root make \
		-C /mnt/cache/tree/tools/testing/unwind/same O="/mnt/cache/$BUILT/same" \
		CC=gcc-14 MACHINE="${machine%%-*}" TARGET_CC="${TRIPLET:+$TRIPLET-}gcc-14" \
		HEADERS="/mnt/cache/out/$ARCH-normal/usr/include"
	boot "recording $*" "$command sh $TESTS/record.sh same /mnt/share $*"
	for p; do
		# Differences are in its output, and judged there
		# shellcheck disable=SC2086 # perhaps nothing
		in_root "/mnt/cache/$BUILT/same/same_compare" ${served:-} "$OUT_IN_ROOT/$p" "$p" "$SYSROOT" \
			2>"$OUT/$p.differences" >>"$OUT/figures" || true
		cat "$OUT/$p.differences" >&2
		rm -r "${OUT:?}/$p"
	done
}

accuracy_same() { "$Q/programs.sh" "${programs[@]}"; same_of "" "${programs[@]}"; }
accuracy_quick() { local programs=(sqlite); accuracy_same; }

# Debian's programs.  Those that only these parts need are installed in the root of x86-64
build_stock()
{
	"$Q/programs.sh" threads
	stock=(python3 perl gawk sort threads)
	[ "$ARCH" = x86_64 ] || return 0
	root_packages "${STOCK[@]}" gojq
	stock+=(cc1 git openssl sqlite3 redis rg)
}

SERVE="unwind-tables serve -v 2>/mnt/share/service &"

accuracy_served()
{
	local served=-s stock

	build_stock
	same_of "$SERVE" "${stock[@]}"
}

accuracy_stock()
{
	local stock

	build_stock
	[ "$ARCH" != x86_64 ] || stock+=(gojq)
	boot "recording ${stock[*]}" "$SERVE
		sh $TESTS/record.sh methods /mnt/share '$STOCK_METHODS' ${stock[*]}"
}

accuracy_methods()
{
	"$Q/programs.sh" "${programs[@]}"
	boot "recording ${programs[*]}" "sh $TESTS/record.sh methods /mnt/share '$METHODS' ${programs[*]}"
}

# "make check" judges the result of this test; here only its figures are wanted
accuracy_step()
{
	build selftests
	boot "single steps" "cd $KSELFTEST/unwind &&
		./single_step_test >/mnt/share/single_step || true"
}

accuracy_tools()
{
	local name

	for name in tools-all perf; do
		STRICT=1 UNWIND_RESULTS="$OUT" "$Q/check.sh" "$name" >&2 || true
	done
}

kind=${1:-}
case $kind in
bench)	parts=(decoder tables frames deferred sampling memory language readers bpf post)
	[ "$ARCH" != x86_64 ] || parts+=(worst)
	[ "$BASE" = 6.12 ] || parts=(readers) ;;
accuracy) parts=(same methods)
	[ -n "${PROGRAMS:-}" ] || parts+=(stock served step tools) ;;
*) die "usage: figures.sh bench|accuracy [PART...]" ;;
esac
shift
[ $# = 0 ] || parts=("$@")
for part in "${parts[@]}"; do
	declare -F "${kind}_$part" >/dev/null || die "there is no $kind-$part."
done
read -ra programs <<<"${PROGRAMS:-$ALL}"
# With a function's first call, arm64's C library has a wrong table in its PLT: a small
# part of a run that is long enough
[ -n "${SIZE:-}" ] || SIZE=$([ "$ARCH" = x86_64 ] && echo 10 || echo 20)
# The counter that counts instructions: a nanosecond each
[ "$ARCH-$kind" != arm64-bench ] || export CPU=max,pauth-impdef=on,cntfrq=1000000000
need_machine
cd "$REPO"
lock
"prepare_$kind"
RESULTS=$REPO/build/$kind${TRIPLET:+-$ARCH}$OF_BASE
for part in "${parts[@]}"; do
	OUT=$RESULTS/$part.new
	OUT_IN_ROOT=/mnt/repo/${OUT#"$REPO/"}
	rm -rf "$OUT"
	mkdir -p "$OUT"
	"${kind}_$part"
	rm -rf "${RESULTS:?}/$part"
	mv "$OUT" "$RESULTS/$part"
done
in_root env SIZE="$SIZE" python3 $TESTS/report.py "/mnt/repo/${RESULTS#"$REPO/"}" "${parts[@]}"
