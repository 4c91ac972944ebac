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
#
# A part leaves its figures in build/bench/PART.json; all that are there are put
# together in build/bench/bench.json, and into a table on standard output.  Every
# figure is a count of instructions, the same from run to run.

. "$(dirname "$0")/common.sh"

RESULTS=$REPO/build/bench
mkdir -p "$RESULTS"

# root_packages PACKAGE... - what only this needs, and the root may lack
root_packages()
{
	local missing=() p

	for p in "$@"; do
		[ -e "$CACHE/root/var/lib/dpkg/info/$p.list" ] || missing+=("$p")
	done
	[ ${#missing[@]} -eq 0 ] && return 0
	step "installing ${missing[*]} in the root" in_root sh -ec '
		export DEBIAN_FRONTEND=noninteractive
		# A frozen mirror counts as expired; its signature is checked
		apt-get -o Acquire::Check-Valid-Until=false update
		apt-get install -y --no-install-recommends "$@"' sh "${missing[@]}"
}

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
	in_root sh -ec 'python3 /mnt/repo/qemu/bench/decoder.py "$1"/out.* >/mnt/repo/build/bench/decoder.json.new' \
		sh "$out/callgrind"
	mv "$RESULTS/decoder.json.new" "$RESULTS/decoder.json"
}

# counted KERNEL COMMAND [TIMES] - run in the guest, where time is instructions
counted()
{
	step "counting instructions on the $1 kernel: ${2%% *}" \
		env KERNEL="$1" SHARE="$CACHE/out/bench/counted" ICOUNT=0 CPUS=1 \
		CMD="cd /mnt/cache/out/bench && for i in $(seq -s ' ' "${3:-1}"); do
			./$2 || exit
		done >/mnt/share/${2%% *}.$1" "$REPO/qemu/guest.sh"
}

bench_tables()
{
	local k out=/mnt/cache/out/bench counted=$CACHE/out/bench/counted

	"$REPO/qemu/root.sh"
	"$REPO/qemu/tree.sh" sync
	for k in normal off; do "$REPO/qemu/kernel.sh" $k; done
	step "installing the kernel's headers" in_root make -C /mnt/cache/tree \
		O="/mnt/cache/out/$ARCH-normal" CC=gcc-14 HOSTCC=gcc-14 headers
	step "building the guest's benchmarks" in_root make -C \
		/mnt/cache/tree/tools/testing/selftests/unwind/bench CC=gcc-14 O=$out \
		HEADERS="/mnt/cache/out/$ARCH-normal/usr/include"
	rm -rf "$counted"
	mkdir -p "$counted"
	for k in normal off; do counted $k "idle /tmp" 5; done
	counted normal "ranges 1 2 10 100 1000 10000"
	python3 "$REPO/qemu/bench/tables.py" "$counted/idle.normal" "$counted/idle.off" \
		"$counted/ranges.normal" >"$RESULTS/tables.json.new"
	mv "$RESULTS/tables.json.new" "$RESULTS/tables.json"
}

need_machine
lock
for part in "$@"; do
	case $part in
	decoder|tables) ;;
	*) die "there is no bench-$part" ;;
	esac
	"bench_$part"
done
in_root python3 /mnt/repo/qemu/bench/report.py /mnt/repo/build/bench
