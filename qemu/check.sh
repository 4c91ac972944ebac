#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs tests and counts them:  check.sh PART...
#
#   series     base + patches + new files make the tree; checkpatch
#   host       the decoder, compiled for this machine, under sanitizers
#   kunit      KUnit, on the normal and on the debug kernel
#   selftests  kselftests, likewise
#   perf       the perf tool's own tests of the feature; Debian's newer perf
#   demo       the figures of the demo
#
# KERNELS=normal leaves the debug kernel out, for a quick look.
#
# Every test prints one line when it did not pass; the last line of all is
# "N passed, N failed, N skipped".  After each boot, the kernel's log is a test
# of its own: whatever a checker of the debug kernel finds stands there.

. "$(dirname "$0")/common.sh"

Q=$REPO/qemu
RESULTS=$REPO/build/check
KERNELS=${KERNELS:-normal debug}
mkdir -p "$RESULTS"
: >"$RESULTS/results"

pass() { printf 'pass %s\n' "$1" >>"$RESULTS/results"; }
skip() { printf 'skip %s\n' "$1" >>"$RESULTS/results"; say "SKIP $1: $2"; }
fail() { printf 'fail %s\n' "$1" >>"$RESULTS/results"; say "FAIL $1${2:+: $2}"; }

# try NAME COMMAND... - a test that is a command
try()
{
	local name=$1
	shift
	if "$@" >"$RESULTS/$name.log" 2>&1; then
		pass "$name"
	else
		fail "$name" "see $RESULTS/$name.log"
		tail -n 15 "$RESULTS/$name.log" >&2
	fi
}

# tap NAME - count the results of (K)TAP on standard input; those that have
# sub-tests are counted by these.  No result at all is a failure.
tap()
{
	awk -v name="$1" '
		{ sub(/^\[[ 0-9.]*\] /, "") }
		match($0, /^ *(not )?ok [0-9]+/) {
			indent = match($0, /[^ ]/)
			line = $0
			sub(/^ */, "", line)
			ok = line !~ /^not /
			skip = line ~ /# *SKIP/
			title = line
			sub(/^(not )?ok [0-9]+ *-? */, "", title)
			# the summary of the deeper lines just before
			if (indent < last) { last = indent; next }
			last = indent
			n++
			print (skip ? "skip" : ok ? "pass" : "fail") " " name ": " title
		}
		END { if (!n) print "fail " name ": printed no result" }' >"$RESULTS/tap"
	cat "$RESULTS/tap" >>"$RESULTS/results"
	{ grep -E '^(fail|skip)' "$RESULTS/tap" || true; } | while read -r line; do say "$line"; done
	say "$1: $(grep -c ^pass "$RESULTS/tap" || true) passed"
}

# The kernel's log must hold no report
kernel_log()
{
	local log=$RESULTS/$1.dmesg

	if [ ! -s "$log" ]; then
		fail "$1: kernel log" "there is none"
	elif grep -nE 'BUG[: ]|WARNING:|KASAN|UBSAN|Oops|Call Trace|suspicious RCU|possible recursive|inconsistent lock|INFO: task|refcount_t' "$log" >&2; then
		fail "$1: kernel log" "see $log"
	else
		pass "$1: kernel log"
	fi
}

# guest NAME KERNEL COMMAND - run in the guest; output and kernel log are kept
guest()
{
	CMD=$3 KERNEL=$2 DMESG=$RESULTS/$1.dmesg SHARE=$RESULTS \
		"$Q/guest.sh" >"$RESULTS/$1.out" 2>"$RESULTS/$1.err"
}

build_kernel() { "$Q/root.sh" && "$Q/tree.sh" sync && "$Q/kernel.sh" "$1"; }

check_series()
{
	local p f tree=$CACHE/tree

	"$Q/root.sh"
	try round-trip "$Q/tree.sh" check
	for p in "$REPO"/patches/*.patch; do
		# On standard input, or a tracked file is taken for source; the
		# rest are checkpatch's names for the style of the code around
		try "checkpatch-$(basename "$p" .patch)" in_root sh -c \
			'perl /mnt/cache/tree/scripts/checkpatch.pl --root=/mnt/cache/tree --strict --no-signoff --quiet \
				--ignore FILE_PATH_CHANGES,CAMELCASE,BIT_MACRO - <"$0"' "/mnt/repo/patches/${p##*/}"
	done
	for f in $(git -C "$REPO" ls-files -- '*.c' '*.h'); do
		[ -e "$tree/$f" ] || continue
		in_root perl /mnt/cache/tree/scripts/checkpatch.pl --root=/mnt/cache/tree --strict --quiet \
			$(ignored "$f") -f "/mnt/repo/$f" >"$RESULTS/checkpatch.log" 2>&1 &&
			{ pass "checkpatch $f"; continue; }
		fail "checkpatch $f"
		head -n 12 "$RESULTS/checkpatch.log" >&2
	done
	try report-tests in_root python3 /mnt/repo/qemu/demo/report_test.py
}

# What checkpatch does not understand, and where
ignored()
{
	case $1 in
	# The layout of trace headers is given by the macros
	include/trace/*) echo "--ignore SPACING,PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE,COMPLEX_MACRO,MACRO_ARG_UNUSED,TRAILING_SEMICOLON" ;;
	# The label in unsafe_get_user() is the kernel's idea
	tools/testing/unwind/*/uaccess.h) echo "--ignore MACRO_WITH_FLOW_CONTROL,MACRO_ARG_REUSE" ;;
	# User space: names of libelf, libFuzzer and inttypes.h
	tools/*|samples/*) echo "--ignore CAMELCASE,EMBEDDED_FILENAME" ;;
	# The arguments of test macros are names
	kernel/unwind/tests/*) echo "--ignore MACRO_ARG_REUSE" ;;
	*) echo "--ignore FILE_PATH_CHANGES" ;;
	esac
}

check_host()
{
	local line

	"$Q/root.sh"
	"$Q/tree.sh" sync
	"$Q/diff-corpus.sh" || fail "host corpus" "the differential test lacks files"
	in_root make -s -C /mnt/repo/tools/testing/unwind check >"$RESULTS/host.log" 2>&1 || true
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$RESULTS/host.log" | tail -n 1)
	if [ -z "$line" ]; then
		fail "host harness" "see $RESULTS/host.log"
		tail -n 15 "$RESULTS/host.log" >&2
		return
	fi
	awk -v line="$line" 'BEGIN {
		n = split(line, w, /[ ,]+/)
		for (i = 1; i < n; i += 2) {
			kind = w[i + 1] == "passed" ? "pass" : w[i + 1] == "failed" ? "fail" : "skip"
			for (k = 0; k < w[i]; k++) print kind " host harness"
		}
	}' >>"$RESULTS/results"
	grep -E '^not ok|# *SKIP|^# (by|version|[23]|total:) |executions|coverage of' "$RESULTS/host.log" >&2 || true
	say "host harness: $line"
}

check_kunit()
{
	local k

	for k in $KERNELS; do
		build_kernel $k
		guest "kunit-$k" $k true || fail "kunit-$k" "the guest failed"
		sed -n 's/^\[[ 0-9.]*\] //p' "$RESULTS/kunit-$k.dmesg" |
			awk '/# Subtest: unwind/ { on = 1 } on; /^(not )?ok [0-9]+ unwind/ { on = 0 }' |
			tap "kunit-$k"
		kernel_log "kunit-$k"
	done
}

check_selftests()
{
	local k t=/mnt/cache/out/selftests

	build_kernel normal
	"$Q/programs.sh"
	step "installing the kernel's headers" in_root make -C /mnt/cache/tree \
		O=/mnt/cache/out/$ARCH-normal CC=gcc-14 HOSTCC=gcc-14 headers
	mkdir -p "$CACHE/out/selftests"
	step "building the kselftests" in_root make -C /mnt/cache/tree/tools/testing/selftests/unwind \
		CC=gcc-14 OUTPUT=$t KHDR_INCLUDES="-isystem /mnt/cache/out/$ARCH-normal/usr/include"
	for k in $KERNELS; do
		build_kernel $k
		guest "selftests-$k" $k "sh /mnt/repo/qemu/selftests.sh $t $(selftest_programs)" || true
		tap "selftests-$k" <"$RESULTS/selftests-$k.out"
		kernel_log "selftests-$k"
	done
}

# The names that the selftests' Makefile has in TEST_GEN_PROGS
selftest_programs()
{
	sed -n 's/^TEST_GEN_PROGS *[:+]*= *//p' "$REPO/tools/testing/selftests/unwind/Makefile" | tr '\n' ' '
}

check_perf()
{
	build_kernel normal
	"$Q/perf.sh"
	"$Q/programs.sh"
	guest perf normal 'sh /mnt/repo/qemu/perf-check.sh' || true
	tap perf <"$RESULTS/perf.out"
	kernel_log perf
}

check_demo()
{
	build_kernel normal
	"$Q/perf.sh"
	"$Q/programs.sh"
	if ! "$Q/demo.sh" >"$RESULTS/demo.out" 2>"$RESULTS/demo.err"; then
		tail -n 20 "$RESULTS/demo.err" >&2
		fail demo "see $RESULTS/demo.err"
		return
	fi
	cp "$REPO/build/demo/dmesg" "$RESULTS/demo.dmesg"
	cat "$RESULTS/demo.out" >&2
	python3 "$Q/demo/judge.py" "$REPO/build/demo/report.json" | tap demo
	kernel_log demo
}

need_machine
for part in "$@"; do
	case $part in
	series|host|kunit|selftests|perf|demo) ;;
	*) die "there is no check-$part" ;;
	esac
	say "check-$part"
	"check_$part"
done

passed=$(grep -c '^pass' "$RESULTS/results" || true)
failed=$(grep -c '^fail' "$RESULTS/results" || true)
skipped=$(grep -c '^skip' "$RESULTS/results" || true)
printf '%s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
