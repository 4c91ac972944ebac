#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs tests and counts them:  check.sh PART...
#
#   series-quick  base + patches + new files make the tree, "git am" makes it of the
#              mails; checkpatch, kernel-doc, get_maintainer.pl
#              (in two parts: round-trip, style)
#   series     that, and: each patch builds, and the whole with options off; no byte
#              more, no warning more; htmldocs.  Takes two hours the first time
#   host       the decoder, compiled for this machine, under sanitizers
#   kunit      KUnit, on the normal and on the debug kernel
#   selftests  kselftests, likewise
#   perf       the perf tool's own tests of the feature; Debian's newer perf
#   in-place   full stacks by Debian's unmodified bpftrace, bcc, perf and trace-cmd; of
#              arm64, bcc's are not part of all
#   demo       the figures of the demo, and its page in a browser
#   same       a part of "make accuracy": the kernel's stacks beside libdw's
#   link       what is seen by instructions in libraries, beside their .eh_frame; with
#              ARCH=arm64 only, without a guest
#   big-endian  a big-endian kernel: KUnit, and stacks; with ARCH=arm64 only
#   stress     a million requests from NMIs, on 2 and on 4 CPUs, 100,000 samples by
#              perf, and NMIs between any two instructions: slow, and not part of all
#
# "all" is what "make check" runs, each group of parts in a process of its own: one
# that gives up does not take the others along.  What they need is built by one more
# process, in the order in which it is needed, with what the guests leave of the
# machine: most of them keep but one of its processors busy.
#
# KERNELS=normal leaves the debug kernel out, for a quick look.  With ARCH=arm64, "all"
# is what differs by architecture, from kunit to big-endian; there,
# KERNELS='normal debug' takes the debug kernel in, which is slow to build and to run.
# ARCH='x86_64 arm64' is all of both; with MINUTES=n, nothing of the second begins later
# than that.  What is left out is skipped, each in one line.
#
# Every test prints one line when it did not pass, and those that failed once more
# at the end, with what is to be seen of each; the last line of all is "N passed,
# N failed, N skipped".  After each boot, the kernel's log is a test
# of its own: whatever a checker of the debug kernel finds stands there.

# Where there are two, "all" has processes that have one each
ARCHES=${ARCH:-x86_64}
ARCH=${ARCHES%% *}
export ARCH

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/needs.sh"

RESULTS=${RESULTS:-$REPO/build/check}
# As the guest sees them
SELFTESTS=/mnt/cache/$BUILT/selftests
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

# in_time NAME - may it still begin?  Else it is skipped
in_time()
{
	[ "$(seconds_left)" -le 0 ] || return 0
	skip "$1" "no time is left for it"
	return 1
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

# What a report has in it, whatever the architecture
REPORT='BUG[: ]|WARNING:|KASAN|UBSAN|Oops|[Cc]all [Tt]race|suspicious RCU|possible recursive|inconsistent lock|INFO: (task|rcu)|rcu: INFO|refcount_t|Uhhuh'

# The kernel's log must hold no report
kernel_log()
{
	local log=$RESULTS/$1.dmesg reports

	if [ ! -s "$log" ]; then
		fail "$1: kernel log: there is none"
		return
	fi
	reports=$(grep -nE "$REPORT" "$log" || true)
	if [ -n "$reports" ]; then
		# The first is what the others follow from
		fail "$1: kernel log: ${reports%%$'\n'*}" "see $log"
		echo "$reports" >&2
		grep -n -m 1 -A 30 -E "$REPORT" "$log" >"$RESULTS/$1.report" || true
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

check_round-trip()
{
	need root
	try round-trip "$Q/tree.sh" check
	try mail-series "$Q/series.sh"
}

# Of the mails that were made
check_style()
{
	local p

	for p in "$REPO"/build/series/*.patch; do
		[[ $p != *-cover-letter.patch ]] || continue
		# Messages; what they are about is looked at below
		try "checkpatch-message-$(basename "$p" .patch)" in_root sh -c \
			'perl /mnt/cache/tree/scripts/checkpatch.pl --root=/mnt/cache/tree --strict --quiet \
				--types COMMIT_MESSAGE,COMMIT_LOG_LONG_LINE,COMMIT_LOG_USE_LINK,EMAIL_SUBJECT,GIT_COMMIT_ID,MISSING_SIGN_OFF,NO_AUTHOR_SIGN_OFF,BAD_SIGN_OFF - <"$0"' "/mnt/repo/build/series/${p##*/}"
	done
	for p in "$REPO"/patches/*.patch; do
		# One that has but new files
		grep -q '^+++ ' "$p" || continue
		# On standard input, or a tracked file is taken for source; the
		# rest are checkpatch's names for the style of the code around
		try "checkpatch-$(basename "$p" .patch)" in_root sh -c \
			'perl /mnt/cache/tree/scripts/checkpatch.pl --root=/mnt/cache/tree --strict --no-signoff --quiet \
				--ignore "FILE_PATH_CHANGES,CAMELCASE,BIT_MACRO$1" - <"$0"' \
			"/mnt/repo/patches/${p##*/}" "$(ignored_patch "$p")"
	done
	style_of_files
	try report-tests in_root python3 /mnt/repo/qemu/demo/report_test.py
	"$Q/docs.sh" kernel-doc maintainers >"$RESULTS/docs.out" || true
	tap docs <"$RESULTS/docs.out"
}

# checkpatch FLAGS FILE... - of new files
checkpatch_files()
{
	local flags=$1
	shift
	# shellcheck disable=SC2086 # several flags
	in_root perl /mnt/cache/tree/scripts/checkpatch.pl --root=/mnt/cache/tree --strict --quiet \
		$flags -f "${@/#//mnt/repo/}" >"$RESULTS/checkpatch.log" 2>&1
}

# All new files but data, and what has no style of the kernel's: those with the same
# flags at once, as checkpatch takes longer to begin than for most files, and one by one
# where something is wrong
style_of_files()
{
	local f flags tree=$CACHE/tree
	local -A groups=()
	local -a files

	for f in $(git -C "$REPO" ls-files -- arch include kernel samples tools Documentation); do
		[ -e "$tree/$f" ] || continue
		case $f in */corpus/*|*/.gitignore|*.py) continue ;; esac
		groups[$(ignored "$f")]+=" $f"
	done
	for flags in "${!groups[@]}"; do
		read -ra files <<<"${groups[$flags]}"
		checkpatch_files "$flags" "${files[@]}" && {
			printf 'pass checkpatch %s\n' "${files[@]}" >>"$RESULTS/results"
			continue
		}
		for f in "${files[@]}"; do
			checkpatch_files "$flags" "$f" && { pass "checkpatch $f"; continue; }
			fail "checkpatch $f"
			head -n 12 "$RESULTS/checkpatch.log" >&2
		done
	done
}

check_series-quick()
{
	check_round-trip
	check_style
}

check_series()
{
	local part

	check_series-quick
	for part in size options warnings patches debian; do
		"$Q/builds.sh" $part >"$RESULTS/builds-$part.out" || true
		tap "builds-$part" <"$RESULTS/builds-$part.out"
	done
	"$Q/docs.sh" html >"$RESULTS/html.out" || true
	tap html <"$RESULTS/html.out"
}

# What checkpatch does not understand, and where
ignored()
{
	case $1 in
	# The layout of trace headers is given by the macros
	include/trace/*|samples/unwind/*_trace.h) echo "--ignore SPACING,PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE,COMPLEX_MACRO,MACRO_ARG_UNUSED,TRAILING_SEMICOLON" ;;
	# The label in unsafe_get_user() is the kernel's idea
	tools/testing/unwind/*/uaccess.h) echo "--ignore MACRO_WITH_FLOW_CONTROL,MACRO_ARG_REUSE" ;;
	# What a loader sets before the program is loaded is "const volatile"
	tools/unwind/*.bpf.c) echo "--ignore VOLATILE" ;;
	# perf's tests have their title first
	tools/perf/tests/shell/*) echo "--ignore SPDX_LICENSE_TAG" ;;
	# User space: names of libelf, libFuzzer and inttypes.h; UAPI headers
	tools/*|samples/*) echo "--ignore CAMELCASE,EMBEDDED_FILENAME,INCLUDE_LINUX" ;;
	# <linux/nmi.h> has <asm/nmi.h> for the sake of watchdogs only
	kernel/unwind/tests/*_nmi_x86.c) echo "--ignore INCLUDE_LINUX" ;;
	# The arguments of test macros are names
	kernel/unwind/tests/*) echo "--ignore MACRO_ARG_REUSE" ;;
	*) echo "--ignore FILE_PATH_CHANGES" ;;
	esac
}

# The same for patches, to be added to a list
ignored_patch()
{
	case $1 in
	# bpf_trace.c declares what stackmap.c has
	*/bpf.patch) echo ",AVOID_EXTERNS" ;;
	# trace_entries.h has a layout of its own, as trace headers
	*/tracing-deferred.patch) echo ",SPACING,PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE,MACRO_ARG_UNUSED,TRAILING_SEMICOLON" ;;
	esac
}

check_host()
{
	local line

	need root
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

	for k in $(kernels "$ARCH"); do
		need kernel-$k
		in_time "kunit-$k" || continue
		APPEND=kunit.enable=1 guest "kunit-$k" $k true || fail "kunit-$k" "the guest failed"
		kunit_results "kunit-$k"
		kernel_log "kunit-$k"
	done
}

# What KUnit has printed into the kernel's log
kunit_results()
{
	sed -n 's/^\[[ 0-9.]*\] //p' "$RESULTS/$1.dmesg" |
		awk '/# Subtest: unwind/ { on = 1 } on; /^(not )?ok [0-9]+ unwind/ { on = 0 }' |
		tap "$1"
}

# Of libraries of Debian's, by GCC; what clang leaves of switches is not told from others'
check_link()
{
	local name lib=usr/lib/aarch64-linux-gnu built=/mnt/cache/$BUILT/link
	local -a files=()

	[ "$ARCH" = arm64 ] || die "only arm64 has a link register."
	need root
	in_time link || return 0
	for name in ld-linux-aarch64.so.1 libc.so.6 libm.so.6 libgcc_s.so.1 libstdc++.so.6 \
			libcrypto.so.3; do
		[ ! -e "$GUEST_ROOT/$lib/$name" ] ||
			files+=("/mnt/cache/${GUEST_ROOT##*/}/$lib/$name")
	done
	mkdir -p "$CACHE/$BUILT/link"
	in_root make -s -C /mnt/repo/tools/testing/unwind/link O="$built" KTREE=/mnt/cache/tree \
		CC=gcc-14 check FILES="${files[*]}" >"$RESULTS/link.out" 2>"$RESULTS/link.err" ||
		tail -n 15 "$RESULTS/link.err" >&2
	tap link <"$RESULTS/link.out"
}

check_big-endian()
{
	need root kernel-be
	in_time big-endian || return 0
	DMESG=$RESULTS/kunit-be.dmesg "$Q/big-endian.sh" >"$RESULTS/big-endian.out" ||
		fail big-endian "the guest failed"
	tap big-endian <"$RESULTS/big-endian.out"
	kunit_results kunit-be
	kernel_log kunit-be
}

check_selftests()
{
	local k

	need programs
	for k in $(kernels "$ARCH"); do
		need kernel-$k
		# On a slow machine; each program has a limit of its own
		# shellcheck disable=SC2046 # a list
		TIMEOUT=3600 some_selftests "selftests-$k" $k $(selftest_programs)
		stress_again nmi-stress-$k-4-cpus $k 4
		[ "$ARCH" = x86_64 ] || selftests_arm64 $k
	done
}

# selftests_arm64 KERNEL - stacks are the same where the same programs sign nothing,
# as the processor cannot; and where memory has tags
selftests_arm64()
{
	CPU=max,pauth=off some_selftests "selftests-$1-unsigned" "$1" \
		stacks signals_arm64 single_step
	MTE=1 some_selftests "selftests-$1-tags" "$1" tags_arm64
}

# some_selftests NAME KERNEL PROGRAM...
some_selftests()
{
	local name=$1 kernel=$2
	shift 2
	in_time "$name" || return 0
	guest "$name" "$kernel" \
		"$(settings "$kernel") sh /mnt/repo/qemu/selftests.sh $SELFTESTS $*" || true
	tap "$name" <"$RESULTS/$name.out"
	kernel_log "$name"
}

# settings KERNEL - what tests are told by their environment: where modules are, and
# how much to do on this kernel
settings()
{
	local requests=100000 seconds=120 samples=2000 rate=

	# What fits into a minute or two; "stress" makes five times as many or more.
	# On arm64, two of three are from NMIs, and so are perf's samples
	[ "$ARCH" = x86_64 ] || requests=200000 seconds=300 samples=20000
	[ "$1" = normal ] || requests=20000 seconds=60 samples=2000
	# Nothing but NMIs would be left of an emulated arm64 with all checkers, or where
	# each instruction is translated
	[ "$ARCH-$1" != arm64-debug ] || rate=500
	[ "$ARCH" = x86_64 ] || [ -z "${ONEINSN:-}" ] || rate=50
	echo "PROGRAM_SECONDS=${PROGRAM_SECONDS:-900}" \
		"UNWIND_MODULES=/mnt/cache/out/$ARCH-$1" \
		"UNWIND_STRESS_REQUESTS=${STRESS_REQUESTS:-$requests}" \
		"UNWIND_PERF_SAMPLES=${PERF_SAMPLES:-$samples}" \
		"UNWIND_STRESS_RATE=$rate" \
		"UNWIND_STEP_SECONDS=$seconds" "SECONDS_LEFT=$(seconds_left)"
}

# stress_again NAME KERNEL CPUS - the stress tests alone, with another number of CPUs
stress_again()
{
	in_time "$1" || return 0
	CPUS=$3 guest "$1" "$2" \
		"$(settings "$2") sh /mnt/repo/qemu/selftests.sh $SELFTESTS nmi_stress perf_cookies" || true
	tap "$1" <"$RESULTS/$1.out"
	grep -hE ' (requests, .* callbacks|lost, .* double|stacks, .* after theirs)|samples of the clock|^# CPU ' \
		"$RESULTS/$1.out" "$RESULTS/$1.err" >&2 || true
	kernel_log "$1"
}

check_stress()
{
	local cpus

	need kernel-normal programs
	export PROGRAM_SECONDS=3600 TIMEOUT=3600
	for cpus in 2 4; do
		STRESS_REQUESTS=${STRESS_REQUESTS:-1000000} PERF_SAMPLES=${PERF_SAMPLES:-100000} \
			stress_again nmi-stress-$cpus-cpus-many normal $cpus
	done
	STRESS_REQUESTS=${STRESS_REQUESTS:-50000} ONEINSN=1 \
		stress_again nmi-stress-one-insn normal 2
}

# The names that the selftests' Makefile has in TEST_GEN_PROGS, and in that of the
# machine's own
selftest_programs()
{
	local machine=${TRIPLET:-x86_64}

	sed -nE "s/^TEST_GEN_PROGS(_${machine%%-*})? *[:+]*= *([^$]*)\$/\2/p" \
		"$REPO/tools/testing/selftests/unwind/Makefile" | tr '\n' ' '
}

check_perf()
{
	need kernel-normal programs perf
	in_time perf || return 0
	guest perf normal "PERF=/mnt/cache/$BUILT/perf/perf sh /mnt/repo/qemu/perf-check.sh" || true
	tap perf <"$RESULTS/perf.out"
	kernel_log perf
}

check_in-place()
{
	local programs=/mnt/cache/$BUILT/in-place guest= bcc=yes turns=

	[ "$GUEST_ROOT" = "$CACHE/root" ] || guest=/mnt/cache/${GUEST_ROOT##*/}
	need kernel-normal programs
	in_time in-place || return 0
	step "building a program to profile" in_root env TRIPLET="${TRIPLET:-}" GUEST="$guest" \
		sh /mnt/repo/qemu/in-place/build.sh "$programs"
	# bcc brings a compiler, which an emulator is slow to run: with all the rest, on
	# one architecture only
	[ -z "${UNWIND_AHEAD:-}" ] || [ "$ARCH" = x86_64 ] || bcc=no
	# trace-cmd turns on what all processors execute when they switch, many times
	[ "$ARCH" != x86_64 ] || turns=1
	TURNS=$turns TIMEOUT=3600 guest in-place normal "BCC=$bcc sh /mnt/repo/qemu/in-place/run.sh $programs /mnt/cache/out/$ARCH-normal" || true
	grep -E '^# .*(complete|taken|had a say|resident|asked|came after)' "$RESULTS/in-place.out" >&2 || true
	tap in-place <"$RESULTS/in-place.out"
	kernel_log in-place
}

check_demo()
{
	need kernel-normal programs perf
	in_time demo || { skip demo-page "there is no demo"; return 0; }
	if ! "$Q/demo.sh" >"$RESULTS/demo.out" 2>"$RESULTS/demo.err"; then
		tail -n 20 "$RESULTS/demo.err" >&2
		fail demo "see $RESULTS/demo.err"
		return
	fi
	cp "$REPO/build/demo/dmesg" "$RESULTS/demo.dmesg"
	cat "$RESULTS/demo.out" >&2
	python3 "$Q/demo/judge.py" "$REPO/build/demo/report.json" | tap demo
	[ "$ARCH" = x86_64 ] || sampled_by_nmis
	kernel_log demo
	check_demo_page
}

# The counters' interrupts are NMIs, and there was one for each sample at least
sampled_by_nmis()
{
	local interrupts samples

	try demo-pmu-uses-nmis grep -E 'hw perfevents: .*using NMIs' "$RESULTS/demo.dmesg"
	interrupts=$(awk '/arm-pmu/ { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i } END { print n + 0 }' \
		"$REPO/build/demo/interrupts")
	samples=$(python3 -c 'import json, sys
print(sum(m["samples"] for m in json.load(open(sys.argv[1]))["methods"].values()))' \
		"$REPO/build/demo/report.json")
	say "$interrupts interrupts of the counters, $samples samples"
	try demo-an-nmi-for-each-sample [ "$interrupts" -ge "$samples" ]
}

# The demo's page as a browser shows it
check_demo_page()
{
	if [ ! -e "$REPO/build/demo/flamegraphs.html" ]; then
		skip demo-page "npm could not give the library that draws it"
		return
	fi
	need browser
	in_time demo-page || return 0
	# It runs as root, which its sandbox is not made for, on a file of our own
	in_root sh -euc '
		HOME=$(mktemp -d)
		trap "rm -rf $HOME" EXIT
		chromium-headless-shell --no-sandbox --disable-gpu --window-size=1920,1200 \
			--virtual-time-budget=10000 --dump-dom \
			file:///mnt/repo/build/demo/flamegraphs.html' \
		>"$RESULTS/demo-page.dom" 2>"$RESULTS/demo-page.err" || true
	python3 "$Q/demo/page_check.py" "$REPO/build/demo/flamegraphs.html" \
		"$RESULTS/demo-page.dom" "$REPO/build/demo/report.json" | tap demo-page
}

check_same()
{
	local figures=$REPO/build/accuracy

	need kernel-normal programs
	in_time same || return 0
	[ "$ARCH" = x86_64 ] || figures+=-$ARCH
	if ! "$Q/accuracy.sh" quick >"$RESULTS/same.out" 2>&1; then
		tail -n 20 "$RESULTS/same.out" >&2
		fail same "see $RESULTS/same.out"
		return
	fi
	cp "$figures/same.dmesg" "$RESULTS/same.dmesg"
	python3 "$Q/accuracy/judge.py" "$figures/quick.json" | tap same
	kernel_log same
}

# run_part NAME PART... - in a process of its own, with results of its own
run_part()
{
	local name=$1
	shift
	rm -rf "${RESULTS:?}/$name"
	mkdir -p "$RESULTS/$name"
	RESULTS=$RESULTS/$name "$0" "$@" 2>&1 | sed -u "s/^/$name: /" >&2 || true
	# A part that gave up said so, and has no results
	[ "$(tail -n 1 "$RESULTS/$name/results")" = end ] || fail "$name" "ended early"
}

check_all()
{
	local arch until=

	[ -z "${MINUTES:-}" ] || until=$(($(date +%s) + MINUTES * 60))
	rm -rf "$RESULTS"/*/
	build_ahead "$RESULTS/ahead" "$ARCHES"
	for arch in $ARCHES; do
		ARCH=$arch check_arch
		export UNTIL=$until
	done
	cat "$RESULTS"/*/results | grep -v '^end$' >>"$RESULTS/results"
}

# All of one architecture
check_arch()
{
	local name=${ARCH#x86_64}

	name=${name:+$name-}
	# What is the same for all is tested once
	if [ "$ARCH" = x86_64 ]; then
		run_part series round-trip
		# Neither of these two runs a guest, which other work would disturb
		run_part style style &
		run_part host host
		wait $!
	fi
	# One guest at a time while there is something to build with what it leaves of the
	# machine; arm64's comes last, and there is not much of it
	if [ "$ARCH" = x86_64 ]; then
		check_kernel normal
		run_part tools perf in-place demo same
	else
		check_kernel normal &
		run_part "${name}tools" link perf in-place demo same
		run_part "${name}big-endian" big-endian
		wait $!
	fi
	# It takes longest to build
	check_kernel debug
}

# check_kernel KIND - KUnit and kselftests on one of the kernels, if it is to be tested
check_kernel()
{
	[[ $(kernels "$ARCH") = *$1* ]] || return 0
	KERNELS=$1 run_part "$name$1" kunit selftests
}

need_machine
[ "$ARCH" = "$ARCHES" ] || [ "$*" = all ] || die "of two architectures at once, only all is checked."
for part in "$@"; do
	case $part in
	all|series-quick|round-trip|style|series|host|kunit|selftests|perf|in-place|demo|same|stress|link|big-endian) ;;
	*) die "there is no check-$part" ;;
	esac
	say "check-$part"
	"check_$part"
done

# Whoever sees but the end of a run is to see what went wrong in it.  The program's
# own words stand before its result, each after a "#".
failures()
{
	local log

	for log in "$RESULTS"/*.out "$RESULTS"/*.dmesg "$RESULTS"/*/*.out "$RESULTS"/*/*.dmesg; do
		[ -e "$log" ] || continue
		awk -v name="${log##*/}" '
			/not ok [0-9]/ && !/# *SKIP/ {
				print name ": " $0
				for (i = n > 6 ? n - 5 : 1; i <= n; i++) print "    " seen[i]
			}
			/^ *(not )?ok [0-9]/ { n = 0; next }
			{ seen[++n] = substr($0, 1, 300) }' "$log"
	done | head -n 120
	cat "$RESULTS"/*.report "$RESULTS"/*/*.report 2>/dev/null | cut -c 1-200 | head -n 60 || true
	grep '^fail' "$RESULTS/results" | uniq -c | head -n 40 || true
}

passed=$(grep -c '^pass' "$RESULTS/results" || true)
failed=$(grep -c '^fail' "$RESULTS/results" || true)
skipped=$(grep -c '^skip' "$RESULTS/results" || true)
echo end >>"$RESULTS/results"
[ "$failed" = 0 ] || failures
printf '%s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
