#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a maintainer's machines would build of the series.  Prints TAP.
#
#   builds.sh patches    after each patch: both architectures, allnoconfig as a whole,
#                        and the guest's configuration with the feature, of which the
#                        directories that the series touches, and without it, of which
#                        the objects of files that it touches; perf
#   builds.sh options    the whole series, linked, with one option off at a time
#   builds.sh size       tinyconfig's image, with the series and without
#   builds.sh warnings   W=1 and sparse on each object that the series touches: nothing
#                        that the base did not say
#   builds.sh debian     the Debian kernel's own configuration, linked
#
# The sources of the whole series are the working tree, which "make series" proves to
# be what the mails make; those of a part of it are a tree in $CACHE/builds.  Objects
# are there, too: they are kept, and a second run builds what has changed.  Going from
# patch to patch changes the same files again: what was compiled of them once is taken
# from ccache.  A warning fails a build, and so does taking longer than LIMIT.
#
# All of it takes hours, from nothing.  What passed is noted in $CACHE/builds/passed, by
# the sources of the kernel, the configuration and the compilers, and is not built again
# while these are the same: a run that was stopped goes on where it was, and a change of
# a document or a test builds nothing.

. "$(dirname "$0")/common.sh"

TREE=$CACHE/builds/tree
STATE=$CACHE/builds/state
IN=/mnt/cache/builds
# What is built: the tree above, or the working tree
SOURCE=$IN/tree
FRAGMENTS=$REPO/qemu/builds
# The directories, or the one file, of the kernel that the series touches
TOUCHED=(kernel/ mm/ fs/exec.o)
# Of one build, in seconds: an hour, where each has taken minutes
LIMIT=${LIMIT:-3600}
# The number of the patch to begin with after the base, to look at the last ones only
FROM=${FROM:-}
n=0

ok() { n=$((n + 1)); printf 'ok %s %s\n' $n "$1"; }
skip() { n=$((n + 1)); printf 'ok %s %s # SKIP %s\n' $n "$1" "$2"; }

# not_ok TITLE LOG
not_ok()
{
	n=$((n + 1))
	{ grep -E '(warning|error|undefined reference|Error [0-9]+)' "$2" || tail -n 5 "$2"; } |
		head -n 12 | sed 's/^/# /'
	printf 'not ok %s %s\n' $n "$1"
}

# quiet FILE COMMAND... - it succeeds, and warns of nothing
quiet()
{
	local log=$1
	shift
	"$@" >"$log" 2>&1 </dev/null && ! grep -q 'warning:' "$log"
}

# toolchain MACHINE - sets how make is told to build for it
toolchain()
{
	case $1 in
	x86)	TOOLCHAIN=(ARCH=x86_64 "CC=ccache gcc-14") ;;
	arm64)	TOOLCHAIN=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- "CC=ccache aarch64-linux-gnu-gcc-14") ;;
	esac
	TOOLCHAIN+=(HOSTCC=gcc-14)
}

# What ccache knows of its work.  The kernel's own options say what a file includes,
# which spares preprocessing it for the key.
compiling() { in_root env CCACHE_DIR="$IN/ccache" CCACHE_DEPEND=1 CCACHE_MAXSIZE=4G "$@"; }

# kmake MACHINE OBJECTS ARGUMENT...
kmake()
{
	local machine=$1 out=$2
	shift 2
	mkdir -p "$CACHE/builds/$out"
	toolchain "$machine"
	compiling timeout "$LIMIT" make -s -C "$SOURCE" O="$IN/$out" "${TOOLCHAIN[@]}" -j"$JOBS" "$@"
}

# What came of a part of the series is put together in $STATE, only the files that it
# changes; in the tree, those are written that differ.  A file that is written is new
# to make.
state_begin()
{
	if [ "$(cat "$TREE.base" 2>/dev/null)" != "$BASE" ]; then
		rm -rf "$TREE"
		cp -a "$BASE" "$TREE"
		: >"$TREE.changed"
		echo "$BASE" >"$TREE.base"
	fi
	rm -rf "$STATE"
	mkdir -p "$STATE"
}

# put FROM TO - as a new file
put()
{
	mkdir -p "$(dirname "$2")"
	rm -f "$2"
	cp "$1" "$2"
}

mails() { find "$REPO/build/series" -name '0*.patch' ! -name '*-cover-letter.patch' | sort; }

state_add()
{
	local f

	for f in $(git apply --numstat "$1" | cut -f 3); do
		[ ! -e "$STATE/$f" ] || continue
		[ ! -e "$BASE/$f" ] || put "$BASE/$f" "$STATE/$f"
	done
	# Not a part of the repository that it lies in, if it lies in one
	GIT_CEILING_DIRECTORIES=${STATE%/*} git -C "$STATE" apply "$1"
}

state_add_all() { local p; for p in $(mails); do state_add "$p"; done; }

# state_files - what the state differs in from the base
state_files() { (cd "$STATE" && find . -type f -printf '%P\n' | sort); }

# show - bring the tree there
show()
{
	local f from

	# Noted before it is done, or what is stopped half-way would not be known
	{ cat "$TREE.changed"; state_files; } | sort -u >"$TREE.new"
	cp "$TREE.new" "$TREE.changed"
	while read -r f; do
		from=$STATE/$f
		[ -e "$from" ] || from=$BASE/$f
		if [ ! -e "$from" ]; then
			rm -f "$TREE/$f"
		elif ! cmp -s "$from" "$TREE/$f"; then
			put "$from" "$TREE/$f"
		fi
	done <"$TREE.new"
	state_files >"$TREE.changed"
}

# sources KIND - a word for what the kernel, or the tool, is built from in this state
sources()
{
	(cd "$STATE" && state_files | case $1 in
		kernel)	grep -vE '^(Documentation|tools/(perf|testing|unwind))/|^MAINTAINERS$' || true ;;
		perf)	grep -E '^(tools/(perf|lib|include)|include/uapi)/' || true ;;
		esac | xargs -r -d '\n' sha256sum | sha256sum)
}

# The same of the working tree
tree_sources() { grep -vE '  ((Documentation|tools/(perf|testing|unwind))/|MAINTAINERS$)' "$CACHE/tree.sums" | sha256sum; }

# key WORD... - and standard input, of what decides about a build
key() { { printf '%s\n' "$BASE" "$COMPILERS" "$@"; cat; } | sha256sum | cut -c 1-32; }

# passed KEY TITLE - it did before, and is not to be built again
passed()
{
	[ -e "$CACHE/builds/passed/$1" ] || return 1
	ok "$2 (as built before)"
}

# passes KEY TITLE
passes()
{
	mkdir -p "$CACHE/builds/passed"
	echo "$2" >"$CACHE/builds/passed/$1"
	ok "$2"
}

# configure MACHINE OBJECTS START FRAGMENT... - START is a target of make, or a file
configure()
{
	local machine=$1 out=$2 start=$3
	shift 3
	mkdir -p "$CACHE/builds/$out"
	case $start in
	*/*)	cp "$start" "$CACHE/builds/$out/.config" ;;
	*)	kmake "$machine" "$out" "$start" ;;
	esac
	[ $# = 0 ] || cat "$@" | sed 's/^\(CONFIG_[A-Z0-9_]*\)=n$/# \1 is not set/' \
		>>"$CACHE/builds/$out/.config"
	kmake "$machine" "$out" olddefconfig
}

machine_config() { case $1 in x86) echo "$REPO/qemu/config/x86_64.config" ;; *) echo "$REPO/qemu/config/$1.config" ;; esac; }

# The objects of all C files of the kernel that the series changes or brings, for a
# machine.  Parts of user space are not among them, nor what is another machine's.
objects()
{
	local others

	case $1 in
	x86)	others='_(arm64)(_|\.o)' ;;
	arm64)	others='_(x86|x86_64)(_|\.o)' ;;
	esac
	mails | xargs sed -n 's,^+++ b/\([^[:space:]]*\)\.c.*,\1.o,p' | sort -u |
		grep -vE '^(tools|samples)/' | grep -vE "^arch/|$others" || true
	mails | xargs sed -n 's,^+++ b/\([^[:space:]]*\)\.c.*,\1.o,p' | sort -u |
		grep "^arch/$1/" | grep -v /vdso || true
}

# Those of files that the kernel has without the series, too, and that the machine was
# seen to have: they have been built with the feature on
objects_of_base()
{
	local o

	for o in $(objects "$1"); do
		[ ! -e "$BASE/${o%.o}.c" ] || [ ! -e "$CACHE/builds/$1-on/$o" ] || echo "$o"
	done
}

# one_patch NAME MACHINE - all configurations of a machine, with the state's sources
one_patch()
{
	local machine=$2 kind log=$CACHE/builds/log targets start fragments id title

	for kind in allno on off; do
		title="$1: $machine, $kind"
		start=tinyconfig
		fragments=("$REPO/qemu/config/guest.config" "$(machine_config "$machine")")
		targets=("${TOUCHED[@]}" "arch/$machine/")
		case $kind in
		allno)	start=allnoconfig fragments=() targets=(vmlinux) ;;
		on)	fragments+=("$FRAGMENTS/quick.config")
			targets+=(samples/) ;;
		off)	fragments+=("$REPO/qemu/config/off.config" "$FRAGMENTS/quick.config")
			mapfile -t targets < <(objects_of_base "$machine") ;;
		esac
		id=$(cat /dev/null "${fragments[@]}" | key "$(sources kernel)" "$machine" "$kind" "${targets[@]}")
		! passed "$id" "$title" || continue
		show
		if configure "$machine" "$machine-$kind" $start "${fragments[@]}" >"$log" 2>&1 &&
			quiet "$log" kmake "$machine" "$machine-$kind" "${targets[@]}"; then
			passes "$id" "$title"
		else
			cp "$log" "$log-$1-$machine-$kind"
			not_ok "$title" "$log"
		fi
	done
}

# What the compiler says of the tool, without line numbers
perf_complaints() { sed -nE 's,^([^: ]+):[0-9]+:([0-9]+:)? (warning: .*),\1 \3,p' "$1" | sort -u; }

# The tool, where a patch is one of the tool's: no warning that the base did not have,
# of which a newer C library's headers make some
perf_of()
{
	local log=$CACHE/builds/log complaints=$CACHE/builds/perf-complaints-base id

	id=$(key "$(sources perf)" perf </dev/null)
	! passed "$id" "$1: perf" || return 0
	show
	# All that it says of the base
	[ "$1" != base ] || rm -rf "${CACHE:?}/builds/perf"
	mkdir -p "$CACHE/builds/perf"
	if ! compiling timeout "$LIMIT" make -s -C "$IN/tree/tools/perf" O="$IN/perf" -j"$JOBS" "CC=ccache gcc-14" HOSTCC=gcc-14 \
		NO_LIBPYTHON=1 NO_LIBPERL=1 NO_JEVENTS=1 BUILD_BPF_SKEL=0 WERROR=0 >"$log" 2>&1; then
		not_ok "$1: perf" "$log"
		return
	fi
	[ "$1" != base ] || perf_complaints "$log" >"$complaints"
	perf_complaints "$log" | comm -23 - "$complaints" >"$log-perf"
	if [ -s "$log-perf" ]; then
		not_ok "$1: perf" "$log-perf"
	else
		passes "$id" "$1: perf"
	fi
}

patches()
{
	local p name machine

	state_begin
	for p in '' $(mails); do
		name=base
		[ -z "$p" ] || { name=$(basename "$p" .patch); state_add "$p"; }
		[[ -z $FROM || $name = base || ! $name < $FROM ]] || continue
		say "builds: $name"
		for machine in x86 arm64; do one_patch "$name" $machine; done
		[ -n "$p" ] && ! grep -q '^+++ b/tools/perf/' "$p" || perf_of "$name"
	done
}

# one_option MACHINE OPTION
one_option()
{
	local machine=$1 option=$2 log=$CACHE/builds/log out=$1-options/$2 title feature=UNWIND_USER_SFRAME id

	title="$machine without $option"
	[ "$option" != "$feature" ] || feature=UNWIND_USER_FP
	id=$(cat "$FRAGMENTS/options.config" "$FRAGMENTS/$machine.config" |
		key "$(tree_sources)" "$machine" "without $option")
	! passed "$id" "$title" || return 0
	# What does not depend on an option is not built again
	[ -d "$CACHE/builds/$out" ] || [ "$option" = NOTHING ] ||
		cp -a "$CACHE/builds/$machine-options/NOTHING" "$CACHE/builds/$out"
	echo "CONFIG_$option=n" >"$CACHE/builds/one.config"
	case $option in
	# Frame pointers alone are a choice of their own
	UNWIND_USER_SFRAME)
		{ echo CONFIG_UNWIND_USER_FP=y; echo CONFIG_UNWIND_USER_KUNIT_TEST=n; } >>"$CACHE/builds/one.config" ;;
	# Selected by these
	SYSCTL)	echo CONFIG_PROC_SYSCTL=n >>"$CACHE/builds/one.config" ;;
	UPROBES) echo CONFIG_UPROBE_EVENTS=n >>"$CACHE/builds/one.config" ;;
	esac
	if ! configure "$machine" "$out" tinyconfig "$FRAGMENTS/options.config" \
		"$FRAGMENTS/$machine.config" "$CACHE/builds/one.config" >"$log" 2>&1; then
		not_ok "$title: configure" "$log"
	elif grep -q "^CONFIG_$option=" "$CACHE/builds/$out/.config"; then
		skip "$title" "always on there"
	elif ! grep -q "^CONFIG_$feature=y" "$CACHE/builds/$out/.config"; then
		echo "# the feature went with it" >"$log"
		not_ok "$title" "$log"
	elif quiet "$log" kmake "$machine" "$out" vmlinux; then
		passes "$id" "$title"
	else
		not_ok "$title" "$log"
	fi
}

options()
{
	local machine option

	SOURCE=/mnt/cache/tree
	for machine in x86 arm64; do
		for option in NOTHING PERF_EVENTS FTRACE BPF_SYSCALL SMP COMPAT IA32_EMULATION \
			DEBUG_FS SYSCTL PROC_FS UPROBES MODULES UNWIND_USER_KUNIT_TEST UNWIND_USER_SFRAME; do
			case $machine-$option in
			x86-PERF_EVENTS|x86-COMPAT|arm64-SMP|arm64-IA32_EMULATION)
				# COMPAT is IA32_EMULATION there; the others are selected, or not there
				skip "$machine without $option" "no such choice" ;;
			*)	one_option $machine $option ;;
			esac
		done
	done
}

# sizes OBJECTS - name and size of what takes room in memory: sections, and, as these
# are padded, functions and data.  The build-id and the compiler's version are not the
# series', nor are the numbers that the compiler gives to what has no name.
sizes()
{
	in_root size -A -d "$IN/$1/vmlinux" |
		awk '$2 > 0 && $1 ~ /^[._]/ && $1 !~ /note|comment|debug/ { print "section", $1, $2 }'
	in_root nm -S "$IN/$1/vmlinux" | awk 'NF == 4 { sub(/\.[0-9]+$/, "", $4); print $4, $2 }' |
		grep -vE '__UNIQUE_ID|linux_banner|linux_proc_banner|vdso_image' | LC_ALL=C sort
}

size_of()
{
	local machine which log=$CACHE/builds/log id title

	state_begin
	state_add_all
	id=$(sources kernel)
	for machine in x86 arm64; do
		title="$machine, tinyconfig: not a byte more"
		! passed "$(key "$id" "$machine" size </dev/null)" "$title" || continue
		for which in base series; do
			state_begin
			[ $which = base ] || state_add_all
			show
			{ configure $machine $machine-tiny tinyconfig &&
				kmake $machine $machine-tiny vmlinux; } >"$log" 2>&1 || {
				not_ok "$machine, tinyconfig, $which" "$log"
				return
			}
			sizes $machine-tiny >"$CACHE/builds/size-$machine-$which"
		done
		if diff "$CACHE/builds/size-$machine-base" "$CACHE/builds/size-$machine-series" >"$log"; then
			echo "# $machine: $(awk '$1 == "section" { s += $3 } END { print s }' "$CACHE/builds/size-$machine-base") bytes"
			passes "$(key "$id" "$machine" size </dev/null)" "$title"
		else
			sed -i 's/^/error: /' "$log"
			not_ok "$title" "$log"
		fi
	done
}

# complaints MACHINE WHICH - of the compiler at W=1 and of sparse, without line numbers
complaints()
{
	local machine=$1 o list=() log=$CACHE/builds/log-$1-$2

	configure "$machine" "$machine-warn" tinyconfig "$REPO/qemu/config/guest.config" \
		"$(machine_config "$machine")" "$FRAGMENTS/quick.config" >"$log" 2>&1
	for o in $(objects "$machine"); do
		[ ! -e "$TREE/${o%.o}.c" ] || list+=("$o")
	done
	# As long as there is one that this configuration does not have, go on
	find "$CACHE/builds/$machine-warn/kernel" -name '*.o' -delete 2>/dev/null || true
	kmake "$machine" "$machine-warn" -k W=1 C=2 CF=-D__CHECK_ENDIAN__ "${list[@]}" >"$log" 2>&1 </dev/null || true
	sed -nE 's,^(\.\./tree/|\./|/mnt/cache/builds/tree/)?([^: ]+):[0-9]+:([0-9]+:)? ((warning|error): .*),\2 \4,p' "$log" |
		sort >"$CACHE/builds/complaints-$machine-$2"
	printf '%s\n' "${list[@]}"
}

warnings()
{
	local machine log=$CACHE/builds/log count

	for machine in x86 arm64; do
		state_begin
		show
		complaints $machine base >/dev/null
		state_add_all
		show
		count=$(complaints $machine series | wc -l)
		comm -13 "$CACHE/builds/complaints-$machine-base" \
			"$CACHE/builds/complaints-$machine-series" >"$log"
		if grep -q 'No rule to make target' "$CACHE/builds/log-$machine-series"; then
			not_ok "$machine, W=1 and sparse" "$CACHE/builds/log-$machine-series"
		elif [ -s "$log" ]; then
			not_ok "$machine, W=1 and sparse: nothing new" "$log"
		else
			echo "# $machine: $count objects; the base has $(wc -l <"$CACHE/builds/complaints-$machine-base") complaints of its own"
			ok "$machine, W=1 and sparse: nothing new"
		fi
	done
}

# kept CONFIG RESULT - it is that configuration, but for a few options that a fragment
# or another compiler turns off; says how many are still on
kept()
{
	local all on

	all=$(grep -c '=y$' "$1")
	on=$(comm -12 <(grep '=y$' "$1" | sort) <(grep '=y$' "$2" | sort) | wc -l)
	echo "# $on of its $all options are on"
	[ $((on * 50)) -ge $((all * 49)) ]
}

# The example of a distributor: the configuration of Debian's kernel, the feature on,
# and nothing else that Debian has not.  Modules are left out; none is touched.
debian()
{
	local log=$CACHE/builds/log config title="Debian's configuration: bzImage" id

	host_packages linux-config-6.12 xz-utils
	config=$(dpkg -L linux-config-6.12 | grep '/config.amd64_none_amd64.xz$')
	[ -n "$config" ] || die "linux-config-6.12 has no configuration for amd64."
	xz -dc "$config" >"$CACHE/builds/debian.config"
	id=$(cat "$CACHE/builds/debian.config" "$FRAGMENTS/debian.config" | key "$(tree_sources)" debian)
	! passed "$id" "$title" || return 0
	SOURCE=/mnt/cache/tree
	if ! configure x86 x86-debian "$CACHE/builds/debian.config" "$FRAGMENTS/debian.config" >"$log" 2>&1 ||
		! grep -q '^CONFIG_UNWIND_USER_SFRAME=y' "$CACHE/builds/x86-debian/.config" ||
		! kept "$CACHE/builds/debian.config" "$CACHE/builds/x86-debian/.config"; then
		not_ok "Debian's configuration" "$log"
	elif quiet "$log" kmake x86 x86-debian bzImage; then
		passes "$id" "$title"
	else
		cp "$log" "$log-debian"
		not_ok "$title" "$log"
	fi
}

need_machine
# The series is made by its own script, which proves it
[ -n "$(ls "$REPO"/build/series/0001-*.patch 2>/dev/null)" ] || die "there is no series yet: run 'make series' first."
"$REPO/qemu/tree.sh" sync
root_packages ccache
BASE=$("$REPO/qemu/tree.sh" base)
COMPILERS=$(in_root sh -c 'for of in "" aarch64-linux-gnu-; do "${of}gcc-14" --version; "${of}ld" --version; done' | sha256sum)
mkdir -p "$CACHE/builds"
exec 9>"$CACHE/builds/lock"
flock 9
for part in "$@"; do
	case $part in
	patches|options|warnings|debian) "$part" ;;
	size)	size_of ;;
	*)	die "builds.sh has no part $part" ;;
	esac
done
echo "1..$n"
