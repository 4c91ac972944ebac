#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs tests and counts them:  check.sh NAME...
#
#   check      what has to pass before a change lands (make check)
#   all        every test; it takes hours (make check-all)
#   NAME       one test of $ARCH, for example "tables"; its output is shown
#   fuzz       the decoder's fuzzers, for $FUZZ_SECONDS (make fuzz)
#
# Documentation/core-api/unwind-testing.rst lists the tests; check.mk says which of
# them belong to "check" and what each needs built.  make builds and runs them side by
# side, one more than there are processors: a guest keeps one busy, but some tests wait.
#
# Each test is a function below, test_NAME, and prints KTAP on standard output, which
# goes to build/check/NAME@ARCH/tap.  The kernel's kunit.py parses it.  After each boot
# the kernel's log is one more test: a report of any checker fails it.  The last line is
# "N passed, N failed, N skipped".

# make's targets name the architecture
[[ ${2:-} != *@* ]] || export ARCH=${2#*@}

. "$(dirname "$0")/tree.sh"

# make takes no path with a space
cd "$REPO" || exit
by_make() { make --no-print-directory -f qemu/check.mk "$@"; }
Q=$REPO/qemu
RESULTS=${UNWIND_RESULTS:-$REPO/build/check$OF_BASE}
UNWIND=$REPO/tools/testing/selftests/unwind

# Tests that race, whose faults a checker of the debug kernel sees: the deferred core and
# tables under load, tracers together, tasks that end.  Others take minutes there; random
# programs, which may fail long after the change that is the cause, are in "make check-all"
STRESS_TESTS='stress/[f-r]* stress/se* stress/t*'
TRACER_TESTS='tracers/*'
# Mainline's core has no test modules, and its perf no frames of languages
if [ "$BASE" = mainline ]; then
	STRESS_TESTS='stress/file* stress/perf* stress/table*'
	TRACER_TESTS='tracers/perf* tracers/immediate* tracers/ftrace* tracers/bpf* tracers/tracers* tracers/chain_t*'
fi
# A model's tests take a minute where all is checked or emulated, and show nothing else there
NO_MODEL='kunit.filter=speed>slow'

n=0

# result STATUS TITLE
result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n $2"; else echo "not ok $n $2"; fi
}

# try TITLE COMMAND... - a test that is a command; its last words stand before a failure
try()
{
	local title=$1 rc=0
	shift
	"$@" >"$OUT/log" 2>&1 </dev/null || rc=$?
	[ $rc = 0 ] || tail -n 15 "$OUT/log" | sed 's/^/# /'
	result $rc "$title"
}

# nested TITLE COMMAND... - a test that is a command that prints KTAP: it has failed if
# there is no result in it, or not as many as it announced, or if the command failed
# and no result says why
nested()
{
	local title=$1 rc=0 plan results
	shift
	"$@" >"$OUT/nested" || rc=$?
	plan=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$OUT/nested" | tail -n 1)
	results=$(grep -cE '^(not )?ok ' "$OUT/nested" || true)
	! grep -qE '^ *not ok ' "$OUT/nested" || rc=0
	[ "$results" != 0 ] && [ "${plan:-$results}" = "$results" ] || rc=1
	if [ "$results" != 0 ]; then
		# kunit.py wants their number first; and of each, the number and a name
		printf '  TAP version 13\n  1..%s\n' "$results"
		awk '/^(TAP version|KTAP version|1\.\.)/ { next }
			/^(not )?ok / { n++ }
			/^(not )?ok [^0-9]/ { sub(/ok /, "ok " n " ") }
			/ok [0-9]+( -)? # SKIP/ { sub(/( -)? # SKIP/, " - left out # SKIP") }
			{ print "  " $0 }' "$OUT/nested"
	fi
	result $rc "$title"
}

REPORT='BUG[: ]|WARNING:|KASAN|UBSAN|Oops|[Cc]all [Tt]race|suspicious RCU|possible recursive|inconsistent lock|INFO: (task|rcu)|rcu: INFO|refcount_t|Uhhuh'

# kernel_log NAME - the kernel's log of a boot holds no report
kernel_log()
{
	local log=$OUT/$1.dmesg rc=0
	[ -s "$log" ] || rc=1
	# What comes first is the cause of the rest
	! grep -m 1 -A 30 -E "$REPORT" "$log" | cut -c 1-200 | sed 's/^/# /' | grep . || rc=1
	result $rc "$1: kernel log"
}

# guest NAME KERNEL COMMAND [DIRECTORY] - run in the guest; its log is kept
guest() { KERNEL=$2 CMD=$3 SHARE=${4:-$OUT} DMESG=$OUT/$1.dmesg "$Q/guest.sh"; }

# Results of KUnit, from the log of a boot
kunit_results()
{
	sed -n 's/^\[[ 0-9.]*\] //p' "$OUT/$1.dmesg" | sed -n '/^KTAP version/,$p' |
		grep -E '^ *(KTAP version|1\.\.|# |ok |not ok )'
}

# tests_of PATTERN... - test programs as run_kselftest.sh names them, by their source below
# $UNWIND
tests_of()
{
	local foreign=arm64
	[ "$ARCH" = x86_64 ] || foreign=x86_64
	# shellcheck disable=SC2068,SC2012 # patterns, of names that are plain
	(cd "$UNWIND" && ls $@) | sed -n -e "/_${foreign}_test/d" -e 's,.*/\(.*_test\)\.c$,unwind:\1,p'
}

# selftests NAME KERNEL TEST... - kselftests, one after the other in one guest
selftests()
{
	local name=$1 kernel=$2 t list=
	for t in "${@:3}"; do list+=" -t $t"; done
	[ "$BASE" != mainline ] || local -x TURNS=1 # or calls that are patched get lost, see guest.sh
	# A virtual CPU may lose its processor in the middle of an NMI, which x86 logs
	TIMEOUT=${TIMEOUT:-3600} guest "$name" "$kernel" "
		longest=/sys/kernel/debug/x86/nmi_longest_ns
		[ ! -w \$longest ] || echo 60000000000 >\$longest
		export UNWIND_MODULES=/mnt/cache/out/$ARCH-$kernel$OF_BASE $(settings "$kernel")
		# It opens /dev/stdout again, which a pipe allows
		$KSELFTEST/run_kselftest.sh $list | cat" |
		sed -u -e 's/^# /  /' -e '/^ *1\.\.0/d' | tee "$OUT/$name.out"
}

# How much the long tests do: what finds faults in a minute or two
settings()
{
	local requests=50000 seconds=60 samples=2000 rate=
	[ "$1" = normal ] || requests=20000
	# An emulated arm64 with all checkers would do nothing but take NMIs
	[ "$ARCH-$1" != arm64-debug ] || rate=500
	[ "$ARCH" = x86_64 ] || [ -z "${ONEINSN:-}" ] || rate=50
	echo "UNWIND_STRESS_REQUESTS=${REQUESTS:-$requests}" \
		"UNWIND_PERF_SAMPLES=${SAMPLES:-$samples}" \
		"UNWIND_STRESS_RATE=$rate UNWIND_STEP_SECONDS=${STEP_SECONDS:-$seconds} STRICT=${STRICT:-}"
}

# selftests_on NAME KERNEL PATTERN...
selftests_on()
{
	# shellcheck disable=SC2046 # a list
	nested "$1" selftests "$1" "$2" $(tests_of "${@:3}")
	kernel_log "$1"
}

# both KERNEL PATTERNS [PARAMETER] - KUnit and kselftests in one boot, which can take a minute
both()
{
	# shellcheck disable=SC2086 # patterns
	APPEND="kunit.enable=1 ${3:-}" selftests_on "$1" "$1" $2
	nested kunit kunit_results "$1"
}

test_kunit()
{
	# Any directory can be shared
	mkdir "$OUT/a, b"
	APPEND="kunit.enable=1 trace_options=userstacktrace_deferred $([ "$ARCH" = x86_64 ] || echo "$NO_MODEL")" \
		try "guest" guest kunit normal 'mountpoint -q /mnt/share && grep -qx 1 /sys/kernel/tracing/options/userst*_deferred' "$OUT/a, b"
	nested kunit kunit_results kunit
	kernel_log kunit
}

test_stacks() { selftests_on stacks normal 'stacks/*'; }
test_tables() { selftests_on tables normal 'tables/*'; }
test_step() { selftests_on step normal 'step/*'; }
test_tracers() { selftests_on tracers normal "$TRACER_TESTS"; }
test_stress() { selftests_on stress normal "$STRESS_TESTS"; }
test_debug() { both debug "$STRESS_TESTS tracers/tracers* stacks/exit*" "$NO_MODEL"; }
test_debug-all() { REQUESTS=100000 both debug '*/*'; }

# All clients together for hours, on what builds a kernel
test_soak()
{
	# shellcheck disable=SC2016 # for the guest
	local cpus build='o=$(mktemp -d) && for t in tinyconfig kernel/ lib/ mm/
		do make -s -C /tmp/tree O="$o" CC=gcc-14 HOSTCC=gcc-14 "$t" || exit
		done && rm -r "$o"'

	for cpus in ${CPUS:-4 8}; do
		CPUS=$cpus MEM=8G TIMEOUT=$((${MINUTES:-120} * 60 + 3600)) \
			nested "soak, $cpus CPUs" guest "soak-$cpus" normal "mkdir /tmp/soak; cd /tmp/soak && cp -r /mnt/cache/tree /tmp/tree &&
			/mnt/repo/tools/testing/selftests/unwind/stress/soak.sh ${MINUTES:-120} sh -c '$build'
			status=\$?; cp soak.log served /mnt/share; exit \$status"
		kernel_log "soak-$cpus"
	done
}

# A part of "make bench": what the worst program costs, in instructions
test_worst() { nested worst "$Q/figures.sh" bench worst; }

# Kernels that are configured otherwise; each is built for this
test_configs()
{
	local kernel kernels="rt none cfi" tests few=

	[ "$ARCH" = x86_64 ] || kernels="64k 16k"
	for kernel in ${CONFIGS:-$kernels}; do
		"$Q/kernel.sh" "$kernel"
		tests="stacks/* tables/* tracers/* $STRESS_TESTS"
		# Each instruction is a call there: a minute becomes ten
		[ "$kernel" != kmsan ] || { few=$NO_MODEL tests="$STRESS_TESTS tracers/tracers* stacks/st*"; }
		both "$kernel" "$tests" "$few"
	done
}

# A million requests and more samples, with few and with many processors
test_stress-long()
{
	for cpus in 2 4; do
		CPUS=$cpus TIMEOUT=7200 REQUESTS=1000000 SAMPLES=100000 STRICT=1 \
			selftests_on "stress-$cpus-cpus" normal 'stress/*'
	done
}

# An NMI between any two instructions; a processor that cannot sign return addresses; tags
test_one-insn() { ONEINSN=1 TIMEOUT=7200 REQUESTS=50000 selftests_on one-insn normal 'stress/nmi*'; }
test_unsigned() { CPU=max,pauth=off selftests_on unsigned normal 'stacks/*' 'step/*'; }
test_tags() { MTE=1 selftests_on tags normal 'stacks/tags*'; }

# Debian has no big-endian userland: the program is all that runs
test_big-endian()
{
	local out=out/arm64-be

	mkdir -p "$CACHE/$out/programs"
	try "the program builds" in_root make -C /mnt/cache/tree/tools/testing/selftests/unwind \
		CC="$TRIPLET-gcc-14" OUTPUT="/mnt/cache/$out/programs" \
		KHDR_INCLUDES="-isystem /mnt/cache/$out/usr/include" big_endian
	cat >"$OUT/list" <<-EOF
		dir /dev 755 0 0
		nod /dev/console 600 0 0 c 5 1
		file /init $CACHE/$out/programs/big_endian 755 0 0
		file /chain_big.so $CACHE/$out/programs/chain_big.so 755 0 0
		file /chain_little.so $CACHE/$out/programs/chain_little.so 755 0 0
	EOF
	"$CACHE/$out/usr/gen_init_cpio" "$OUT/list" >"$OUT/initramfs"
	nested program big_endian "$CACHE/$out/$IMAGE"
	nested kunit kunit_results kunit-be
	kernel_log kunit-be
}

# big_endian IMAGE - what the program prints: lines without a time
big_endian()
{
	local rc=0

	timeout "${TIMEOUT:-600}" qemu-system-aarch64 -machine virt,gic-version=3 \
		-cpu "${CPU:-max,pauth-impdef=on}" -accel tcg,thread=multi -smp "${CPUS:-2}" -m 1G \
		-nodefaults -no-user-config -display none -no-reboot -kernel "$1" -initrd "$OUT/initramfs" \
		-append "console=ttyAMA0 printk.time=1 panic=-1 irqchip.gicv3_pseudo_nmi=1 kunit.enable=1" \
		-serial stdio </dev/null | tr -d '\r' >"$OUT/console" || rc=$?
	grep '^\[ *[0-9.]*\] ' "$OUT/console" >"$OUT/kunit-be.dmesg" || true
	grep -v '^\[ *[0-9.]*\] ' "$OUT/console" || true
	return $rc
}

# The host harness prints what did not pass; all results are in its log, of several programs
harness()
{
	local rc=0

	in_root make -s -C /mnt/repo/tools/testing/unwind check >"$OUT/harness" 2>&1 || rc=$?
	sed 's/^/# /' "$OUT/harness"
	sed -nE 's/^((not )?ok)( [0-9]+)?( .*)/\1\4/p' "$CACHE/out/host/check.log"
	return $rc
}

# The decoder compiled for this machine, and the scripts' own tests
test_host()
{
	# Without a network, the differential test goes without version 2, and says so
	"$Q/stable.sh" binutils2 || true
	nested harness harness
	nested converter in_root make -s -C /mnt/repo/tools/unwind/tables \
		OUTPUT=/mnt/cache/out/unwind-tables KTREE=/mnt/cache/tree CC=gcc-14 check
	nested "the service's unit" "$REPO/tools/unwind/tables/tests/unit.sh"
	# It calls make, for which this is no part of another make
	nested arguments env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS "$Q/arguments_test.sh"
	try "stacks' figures, and the screen" in_root python3 /mnt/repo/tools/unwind/tests/stacks_test.py
}

# Nothing that a section may contain leads the decoder out of it
test_proof() { "$Q/stable.sh" cbmc && nested proof in_root make -s -C /mnt/repo/tools/testing/unwind proof; }

# Debian's libraries: the caller that instructions show, beside the one of .eh_frame
test_link()
{
	local lib=usr/lib/aarch64-linux-gnu built=/mnt/cache/$BUILT/link
	local -a files

	mapfile -t files < <(cd "$GUEST_ROOT/$lib" && ls ld-linux-aarch64.so.1 libc.so.6 libm.so.6 \
		libgcc_s.so.1 libstdc++.so.6 libcrypto.so.3 2>/dev/null)
	mkdir -p "$CACHE/$BUILT/link"
	nested link in_root make -s -C /mnt/repo/tools/testing/unwind/link O="$built" \
		KTREE=/mnt/cache/tree CC=gcc-14 check FILES="${files[*]/#/$SYSROOT/$lib/}"
}

# base + patches + new files are the tree, and so are the mails
test_series()
{
	local f message
	try "round trip" "$Q/tree.sh" check
	try mails "$Q/series.sh" check
	message=COMMIT_MESSAGE,COMMIT_LOG_LONG_LINE,COMMIT_LOG_USE_LINK,EMAIL_SUBJECT
	message+=,GIT_COMMIT_ID,MISSING_SIGN_OFF,NO_AUTHOR_SIGN_OFF,BAD_SIGN_OFF
	for f in $(find "build/check$OF_BASE/series" -name '0*.patch' | sort); do
		# Of a mail, the message: the style of patches is another test's
		[[ $f == *-cover-letter.patch ]] || sed '/^diff --git /q' "$f" >"$OUT/${f##*/}"
		try "size of ${f##*/}" awk '/^--- / { n = /null|unwind/ } /^[+-]/ && !/^(---|\+\+\+) / { nr[n]++ }; END { exit nr[1] > 2500 || nr[0] > 400 }' "$f"
	done
	try "messages of the mails" checkpatch "--types $message" "${OUT#"$REPO/"}"/*.patch
}

# checkpatch FLAGS FILE... - the repository's files, by the tree's checkpatch.  It runs in /:
# inside a repository, it would take a tracked patch for source
checkpatch()
{
	local flags=$1
	shift
	# shellcheck disable=SC2086 # several flags
	in_root perl "/mnt/cache/tree$OF_BASE/scripts/checkpatch.pl" --root="/mnt/cache/tree$OF_BASE" \
		--strict --quiet $flags "${@/#//mnt/repo/}"
}

# unless_passed FLAGS FILE... - checkpatch, for files that have not passed as they are now
unless_passed()
{
	local flags=$1 passed=$CACHE/stamp/checkpatch f
	local -A new=()
	shift
	for f; do
		new[$f]=$({ echo "$CHECKER $flags $f"; cat "$f"; } | sha256sum)
		! grep -qsxF "${new[$f]}" "$passed" || unset "new[$f]"
	done
	[ ${#new[@]} = 0 ] || {
		checkpatch "$flags" "${!new[@]}" || return
		mkdir -p "$CACHE/stamp"
		printf '%s\n' "${new[@]}" >>"$passed"
	}
}

# What checkpatch does not understand, by where it is
ignored()
{
	case $1 in
	# The layout of trace headers is given by the macros
	*include/trace/*|samples/unwind/*_trace.h|*/tracing-deferred.patch)
		echo "SPACING,PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE,COMPLEX_MACRO,MACRO_ARG_UNUSED,TRAILING_SEMICOLON" ;;
	tools/testing/unwind/*/uaccess.h) echo "MACRO_WITH_FLOW_CONTROL,MACRO_ARG_REUSE" ;;
	# What a loader sets before the program is loaded is "const volatile"
	tools/unwind/*.bpf.c) echo "VOLATILE" ;;
	tools/perf/tests/shell/*) echo "SPDX_LICENSE_TAG" ;;
	# A macro that lists what a test is repeated with
	*/unwind/lib/file_env.h) echo "MULTISTATEMENT_MACRO_USE_DO_WHILE,MACRO_ARG_REUSE" ;;
	# User space: names of libelf, libFuzzer and inttypes.h; UAPI headers; no macros of the kernel
	tools/*|samples/*) echo "EMBEDDED_FILENAME,INCLUDE_LINUX,PREFER_DEFINED_ATTRIBUTE_MACRO" ;;
	# <linux/nmi.h> has <asm/nmi.h> for the sake of watchdogs only
	kernel/unwind/tests/*_nmi_x86.c) echo "INCLUDE_LINUX" ;;
	# The arguments of test macros are names; others set one, as get_user() does
	*kernel/unwind/tests/*|include/linux/unwind_arch.h|*/arm64/include/asm/unwind_user.h)
		echo "MACRO_ARG_REUSE" ;;
	# bpf_trace.c declares what stackmap.c has
	*/bpf.patch|*/bpf-sleepable.patch) echo "BIT_MACRO,AVOID_EXTERNS" ;;
	*/selftests/perf_events/*) echo "PREFER_DEFINED_ATTRIBUTE_MACRO,INCLUDE_LINUX" ;;
	*/perf-script.patch) echo "BIT_MACRO,SPLIT_STRING" ;;
	*.patch) echo "BIT_MACRO" ;;
	*) echo "FILE_PATH_CHANGES" ;;
	esac
}

in_tree() { in_root sh -c 'cd /mnt/cache/tree && "$@"' sh "$@"; }

# The comments that become documentation
kernel_doc()
{
	local -a files

	mapfile -t files < <(cd "$TREE" && added '*.[ch]' | xargs grep -l '^/\*\*$')
	[ ${#files[@]} -gt 0 ] || return
	{ in_tree ./scripts/kernel-doc -none -Wall "${files[@]}" 2>&1 || true; } | { ! grep -E '(warning|error):'; }
}

# ... and files
abi()
{
	local -a files

	mapfile -t files < <(added 'Documentation/ABI/*')
	[ ${#files[@]} -gt 0 ] || return
	{ in_tree perl scripts/get_abi.pl --dir Documentation/ABI validate 2>&1 || true; } |
		{ ! grep -F "$(printf '%s\n' "${files[@]##*/}")"; }
}

# New files; git names a directory that is new instead of what is below it
maintainers()
{
	local -x GIT_INDEX_FILE=$GIT/base.index
	local -a list

	kgit read-tree base
	mapfile -t list < <(kgit ls-files -o --directory | grep -v camelcase)
	[ ${#list[@]} -gt 0 ] || return
	# shellcheck disable=SC2016 # for the inner shell
	in_tree sh -c 'section=$1; shift; for f; do
			perl scripts/get_maintainer.pl --no-git --no-git-fallback --sections -f "$f" 2>/dev/null |
				grep -qxF "$section" || echo "not found for $f"
		done' sh "$(head -n 1 "$REPO/MAINTAINERS")" "${list[@]}" | { ! grep .; }
}

test_style()
{
	local f CHECKER
	local -A files=()

	CHECKER=$(cat "$CACHE/tree.base" \
		"$CACHE"/tree/scripts/{checkpatch.pl,spelling.txt,const_structs.checkpatch} | sha256sum)
	for f in patches/*/*.patch; do
		# Some have but new files; no kernel's history is here
		! grep -q '^+++ ' "$f" || try "$f" unless_passed \
			"--no-signoff --ignore FILE_PATH_CHANGES,CAMELCASE,UNKNOWN_COMMIT_ID,$(ignored "$f")" "$f"
	done
	# One call for all files with the same flags: it takes longer to begin than to read
	while read -r f; do files[$(ignored "$f")]+=" $f"; done < <(git ls-files -- arch bases include kernel \
		samples tools Documentation ':!*/corpus/*' ':!*/tests/cases/*' ':!*/.gitignore' ':!*.py' ':!*.php')
	for f in "${!files[@]}"; do
		# shellcheck disable=SC2086 # several files
		try "files but $f" unless_passed \
			"--ignore CAMELCASE,FILE_PATH_CHANGES,$f -f" ${files[$f]}
	done
	try kernel-doc kernel_doc
	try get_abi.pl abi
	try "get_maintainer.pl finds the subsystem for each new file" maintainers
	try "language's own test" "$Q/language.py" --self-test
	git ls-files -z README.md Documentation | xargs -0 "$Q/language.py" --files >"$OUT/language" ||
		sed 's/^/# /' "$OUT/language"
	try "language of documents" [ ! -s "$OUT/language" ]
	# Of what was added since the branch that this one is for, or by the last commit
	try "language of the change" "$Q/language.py" "$(git merge-base HEAD~ origin/HEAD 2>/dev/null || echo HEAD~)"
}

# What takes hours: each patch is built, options are off, the kernel is no larger
test_builds()
{
	for part in size options warnings patches debian htmldocs; do
		nested "$part" "$Q/builds.sh" "$part"
	done
}

# perf's own tests of the feature; recordings by other versions are read on this machine
test_perf()
{
	[ "$ARCH" != x86_64 ] || nested recordings in_root env CC=gcc-14 "STRICT=${STRICT:-}" \
		python3 /mnt/cache/tree/tools/perf/tests/shell/lib/deferred_recordings.py "/mnt/cache/$BUILT/perf/perf" /usr/bin/perf
	[ "$ARCH" != x86_64 ] || try "sframe-g++ builds a program" in_root /mnt/repo/qemu/bin/sframe-g++ \
		-O2 -g -pthread -o "/mnt/repo/${OUT#"$REPO/"}/threads" /mnt/repo/tools/unwind/tests/workloads/threads.cc
	TIMEOUT=${TIMEOUT:-3600} nested perf guest perf normal \
		"[ ! -e /mnt/share/threads ] || export THREADS=/mnt/share/threads
		PERF=/mnt/cache/$BUILT/perf/perf STRICT=${STRICT:-} sh /mnt/cache/tree/tools/unwind/tests/perf.sh"
	kernel_log perf
}

# Full stacks by Debian's unmodified bpftrace, perf and trace-cmd; for longer, and by bcc,
# whose compiler is slow in an emulator.  With STRICT=1 also shares and rates
test_tools() { QUICK=1 test_tools-all; }
test_tools-all() { [ "$ARCH" = x86_64 ] || BCC=no; tracers tools; }

# Debian's perf on a kernel whose perf events are its own: mainline's
test_stock() { root_packages "${STOCK[@]}" && DEFERRED=1 tracers stock; }

# trace-cmd has x86 patch what all processors execute: QEMU's have to take turns then (see guest.sh)
tracers()
{
	try "programs with tables" "$Q/programs.sh" sqlite mixed
	[ "$ARCH" != x86_64 ] || local -x TURNS=1
	TIMEOUT=${TIMEOUT:-3600} nested "$1" guest "$1" normal "
		export BCC=${BCC:-yes} STRICT=${STRICT:-} QUICK=${QUICK:-} DEFERRED=${DEFERRED:-}
		sh /mnt/repo/tools/unwind/tests/tracers.sh /mnt/cache/out/$ARCH-normal"
	kernel_log "$1"
}

# Mainline's own tests of what is mended there first
test_fixes()
{
	local selftests=/mnt/cache/tree$OF_BASE/tools/testing/selftests
	local out=/mnt/cache/out/$ARCH-normal$OF_BASE

	try "perf builds" in_root make -s -C "/mnt/cache/tree$OF_BASE/tools" perf O="$out" -j"$JOBS" \
		"${TOOLCHAIN[@]}" WERROR=0 NO_LIBPYTHON=1 NO_LIBPERL=1 NO_JEVENTS=1 BUILD_BPF_SKEL=0
	try "perf adds the vDSO under its lock, and compresses all data" in_root sh -c \
		"[ \$($out/tools/perf/perf test 'vDSO is added' 'hold all data' 2>&1 | grep -c ': Ok') = 2 ]"
	try "perf_events builds" in_root make -s -C "$selftests" TARGETS=perf_events \
		FORCE_TARGETS=1 O="$out" INSTALL_PATH="$out/kselftest/fixes" "${TOOLCHAIN[@]}" install
	KSELFTEST=$out/kselftest/fixes nested fixes selftests fixes normal perf_events:defer_callchain
	kernel_log fixes
}

test_demo()
{
	local -x DEMO=$OUT/demo

	# One program beside the one that is shown: the others take the same way
	OTHERS=sort try "demo runs" "$Q/demo.sh"
	nested demo cat "$DEMO/report.tap"
	cat "$DEMO"/dmesg* >"$OUT/demo.dmesg"
	kernel_log demo
}

# A part of "make accuracy": the kernel's stacks beside libdw's
test_same() { nested same "$Q/figures.sh" accuracy quick; }

# The kselftests, installed with the kernel's runner
build_selftests()
{
	# One of them is in C++
	[ -z "${TRIPLET:-}" ] || root_packages "g++-14-$TRIPLET"
	share tree
	step "building the kselftests for $ARCH" in_root make -s -C /mnt/cache/tree/tools/testing/selftests \
		TARGETS=unwind FORCE_TARGETS=1 O="/mnt/cache/out/$ARCH-normal" "${TOOLCHAIN[@]}" \
		SFRAME_ROOT="$SYSROOT" install
}

# run_build WHAT@ARCH - without weight beside the tests; what fails says so
run_build()
{
	local kind

	renice -n 10 $$ >/dev/null
	case ${1%@*} in
	root)		"$Q/root.sh" ;;
	tree)		"$Q/root.sh"; "$Q/tree.sh" sync ;;
	guest-root)	host_packages "$QEMU_PACKAGE"; "$Q/root.sh" guest ;;
	kernel-*)	kind=${1%@*}; "$Q/kernel.sh" "${kind#kernel-}" ;;
	libc)		"$Q/programs.sh" libc ;;
	programs)	"$Q/programs.sh" ;;
	perf-tool)	"$Q/perf.sh" ;;
	selftests)
		[ "$BASE" = 6.12 ] || for kind in tree kernel-normal; do BASE=6.12 "$Q/check.sh" build "$kind@$ARCH"; done
		build_selftests ;;
	*)		die "nothing is called $1." ;;
	esac
}

# run_one NAME@ARCH - its output and result are in a directory of its own
run_one()
{
	local name=${1%@*} begin=$SECONDS

	OUT=$RESULTS/$1
	rm -rf "${OUT:?}"
	mkdir -p "$OUT"
	say "$1: begins"
	# In a process of its own, whose end is seen
	("test_$name") >"$OUT/results" 2>"$OUT/err" || {
		tail -n 15 "$OUT/err" | sed 's/^/# /'
		echo "not ok 9999 $1 ended early"
	} >>"$OUT/results"
	# kunit.py wants the number of tests first
	printf 'TAP version 13\n1..%s\n' "$(grep -cE '^(not )?ok ' "$OUT/results")" | cat - "$OUT/results" >"$OUT/tap"
	say "$1: $(count "$OUT") in $((SECONDS - begin)) s"
}

# count DIR... - by kunit.py
count()
{
	local dir

	for dir; do
		[ -s "$dir/tap" ] || { echo "errors: 1"; continue; }
		timeout 60 python3 "$CACHE/tree/tools/testing/kunit/kunit.py" parse "$dir/tap" >"$dir/parsed" 2>&1 || true
		grep 'Testing complete' "$dir/parsed" || echo "errors: 1"
		# It does not count a program that failed after its cases had passed
		! grep -qE '^ *not ok ' "$dir/tap" ||
			grep -qE 'complete.*(failed|crashed|errors): ' "$dir/parsed" || echo "errors: 1"
	done | awk -F'[ ,]+' '
		{
			for (i = 1; i < NF; i++) {
				if ($i == "passed:") passed += $(i + 1)
				else if ($i ~ /^(failed|crashed|errors):/) failed += $(i + 1)
				else if ($i == "skipped:") skipped += $(i + 1)
			}
		}
		END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }'
}

# failures DIR... - what failed, and what was printed before
failures()
{
	local dir

	for dir; do
		[ -s "$dir/parsed" ] || { echo "${dir##*/}: did not run: what it needs was not built"; continue; }
		grep -B 6 -E '\[(FAILED|CRASHED|ERROR)\]' "$dir/parsed" | cut -c 1-200 |
			sed "s,^,${dir##*/}: ," | head -n 40 || true
	done
}

# several check|all - the tests and what they need, by make
several()
{
	local begin=$SECONDS name
	local -a names dirs

	read -ra names <<<"$(by_make -s "print-$1")"
	dirs=("${names[@]/#/$RESULTS/}")
	rm -rf "${RESULTS:?}"
	mkdir -p "${dirs[@]}"
	by_make -k -j"$(($(nproc) + 1))" "$1" >&2 || true
	count "${dirs[@]}" >"$RESULTS/count"
	failures "${dirs[@]}"
	say "$((SECONDS - begin)) s in all"
	cat "$RESULTS/count"
	grep -qE '^[1-9][0-9]* passed, 0 failed' "$RESULTS/count"
}

# The newest mainline kernel has another name every two months, and is not everywhere
have_base()
{
	[ "$BASE" != mainline ] || [ -n "${KSRC:-}" ] || "$Q/tree.sh" package && return
	say "no mainline kernel to be had here: KSRC= names an unpacked one"
	echo "0 passed, 0 failed, 1 skipped"
	return 1
}

case ${1:-} in
check|all)
	need_machine
	have_base || exit 0
	several "$1" ;;
fuzz)
	need_machine
	root_packages clang libclang-rt-dev
	say "fuzzing for ${FUZZ_SECONDS:=60} s"
	in_root make -s -C /mnt/repo/tools/testing/unwind fuzz "FUZZ_SECONDS=$FUZZ_SECONDS" "FUZZ_JOBS=$JOBS" "FUZZ_FAST=${FUZZ_FAST:-}" ||
		die "an input broke something (or nothing ran); /mnt/cache above is $CACHE." ;;
one|build)
	[ $# = 2 ] || die "usage: check.sh $1 NAME@ARCH"
	"run_$1" "$2" ;;
*)
	parts=$(by_make -s "print-$([ "$BASE" = 6.12 ] && echo all || echo check)")
	[[ " $parts " = *" ${1:-}@$ARCH "* ]] ||
		die "there is no check-${1:-} for ARCH=$ARCH and BASE=$BASE: there are ${parts// /, }."
	need_machine
	have_base || exit 0
	by_make -k "$1@$ARCH" >&2 || true
	cat "$RESULTS/$1@$ARCH/parsed" 2>/dev/null || true
	count "$RESULTS/$1@$ARCH" | tee "$RESULTS/count"
	grep -qE '^[1-9][0-9]* passed, 0 failed' "$RESULTS/count" ;;
esac
