#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a maintainer's machines would build of the series.  Prints TAP.
#
#   builds.sh patches    after each patch: both architectures, allnoconfig as a whole,
#                        and the guest's configuration with and without the feature,
#                        of which the directories that the series touches; perf
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
# from ccache.  A warning fails a build.

. "$(dirname "$0")/common.sh"

TREE=$CACHE/builds/tree
IN=/mnt/cache/builds
# What is built: the tree above, or the working tree
SOURCE=$IN/tree
FRAGMENTS=$REPO/qemu/builds
# The directories, or the one file, of the kernel that the series touches
TOUCHED=(kernel/ mm/ fs/exec.o)
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
	compiling make -s -C "$SOURCE" O="$IN/$out" "${TOOLCHAIN[@]}" -j"$JOBS" "$@"
}

# reset - the base as it is.  A file that is put back is new to make.
reset()
{
	local f

	if [ "$(cat "$TREE.base" 2>/dev/null)" != "$BASE" ]; then
		rm -rf "$TREE"
		cp -a "$BASE" "$TREE"
		: >"$TREE.changed"
		echo "$BASE" >"$TREE.base"
	fi
	while read -r f; do
		cmp -s "$BASE/$f" "$TREE/$f" && continue
		rm -f "$TREE/$f"
		[ ! -e "$BASE/$f" ] || cp "$BASE/$f" "$TREE/$f"
	done <"$TREE.changed"
	: >"$TREE.changed"
}

mails() { find "$REPO/build/series" -name '0*.patch' ! -name '*-cover-letter.patch' | sort; }

apply()
{
	git apply --numstat "$1" | cut -f 3 >>"$TREE.changed"
	git -C "$TREE" apply "$1"
}

apply_all() { local p; for p in $(mails); do apply "$p"; done; }

# configure MACHINE OBJECTS START FRAGMENT... - START is a target of make, or a file
configure()
{
	local machine=$1 out=$2 start=$3
	shift 3
	mkdir -p "$CACHE/builds/$out"
	case $start in
	*config) kmake "$machine" "$out" "$start" ;;
	*)	cp "$start" "$CACHE/builds/$out/.config" ;;
	esac
	[ $# = 0 ] || cat "$@" | sed 's/^\(CONFIG_[A-Z0-9_]*\)=n$/# \1 is not set/' \
		>>"$CACHE/builds/$out/.config"
	kmake "$machine" "$out" olddefconfig
}

machine_config() { case $1 in x86) echo "$REPO/qemu/config/x86_64.config" ;; *) echo "$REPO/qemu/config/$1.config" ;; esac; }

# one_patch NAME MACHINE - all configurations of a machine
one_patch()
{
	local machine=$2 kind log=$CACHE/builds/log targets

	for kind in allno on off; do
		case $kind in
		allno)	configure "$machine" "$machine-allno" allnoconfig
			targets=vmlinux ;;
		on)	configure "$machine" "$machine-on" tinyconfig "$REPO/qemu/config/guest.config" \
				"$(machine_config "$machine")" "$FRAGMENTS/quick.config"
			targets=("${TOUCHED[@]}" "arch/$machine/" samples/) ;;
		off)	configure "$machine" "$machine-off" tinyconfig "$REPO/qemu/config/guest.config" \
				"$(machine_config "$machine")" "$REPO/qemu/config/off.config" "$FRAGMENTS/quick.config"
			targets=("${TOUCHED[@]}" "arch/$machine/") ;;
		esac >"$log" 2>&1
		if quiet "$log" kmake "$machine" "$machine-$kind" "${targets[@]}"; then
			ok "$1: $machine, $kind"
		else
			cp "$log" "$log-$1-$machine-$kind"
			not_ok "$1: $machine, $kind" "$log"
		fi
	done
}

# The tool, where a patch is one of the tool's
perf_of()
{
	local log=$CACHE/builds/log

	mkdir -p "$CACHE/builds/perf"
	if compiling make -s -C "$IN/tree/tools/perf" O="$IN/perf" -j"$JOBS" "CC=ccache gcc-14" HOSTCC=gcc-14 \
		NO_LIBPYTHON=1 NO_LIBPERL=1 NO_JEVENTS=1 BUILD_BPF_SKEL=0 WERROR=1 >"$log" 2>&1; then
		ok "$1: perf"
	else
		not_ok "$1: perf" "$log"
	fi
}

patches()
{
	local p name machine

	reset
	for p in '' $(mails); do
		name=base
		[ -z "$p" ] || { name=$(basename "$p" .patch); apply "$p"; }
		say "builds: $name"
		for machine in x86 arm64; do one_patch "$name" $machine; done
		[ -z "$p" ] || ! grep -q '^+++ b/tools/perf/' "$p" || perf_of "$name"
	done
}

# one_option MACHINE OPTION
one_option()
{
	local machine=$1 option=$2 log=$CACHE/builds/log out=$1-options/$2 title feature=UNWIND_USER_SFRAME

	title="$machine without $option"
	[ "$option" != "$feature" ] || feature=UNWIND_USER_FP
	# What does not depend on an option is not built again
	[ -d "$CACHE/builds/$out" ] || [ "$option" = NOTHING ] ||
		cp -a "$CACHE/builds/$machine-options/NOTHING" "$CACHE/builds/$out"
	echo "CONFIG_$option=n" >"$CACHE/builds/one.config"
	# Frame pointers alone are a choice of their own
	[ "$option" != UNWIND_USER_SFRAME ] ||
		{ echo CONFIG_UNWIND_USER_FP=y; echo CONFIG_UNWIND_USER_KUNIT_TEST=n; } >>"$CACHE/builds/one.config"
	if ! configure "$machine" "$out" tinyconfig "$FRAGMENTS/options.config" \
		"$FRAGMENTS/$machine.config" "$CACHE/builds/one.config" >"$log" 2>&1; then
		not_ok "$title: configure" "$log"
	elif grep -q "^CONFIG_$option=" "$CACHE/builds/$out/.config"; then
		skip "$title" "always on there"
	elif ! grep -q "^CONFIG_$feature=y" "$CACHE/builds/$out/.config"; then
		echo "# the feature went with it" >"$log"
		not_ok "$title" "$log"
	elif quiet "$log" kmake "$machine" "$out" vmlinux; then
		ok "$title"
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
	local machine which log=$CACHE/builds/log

	for machine in x86 arm64; do
		for which in base series; do
			reset
			[ $which = base ] || apply_all
			{ configure $machine $machine-tiny tinyconfig &&
				kmake $machine $machine-tiny vmlinux; } >"$log" 2>&1 || {
				not_ok "$machine, tinyconfig, $which" "$log"
				return
			}
			sizes $machine-tiny >"$CACHE/builds/size-$machine-$which"
		done
		if diff "$CACHE/builds/size-$machine-base" "$CACHE/builds/size-$machine-series" >"$log"; then
			echo "# $machine: $(awk '$1 == "section" { s += $3 } END { print s }' "$CACHE/builds/size-$machine-base") bytes"
			ok "$machine, tinyconfig: not a byte more"
		else
			sed -i 's/^/error: /' "$log"
			not_ok "$machine, tinyconfig: not a byte more" "$log"
		fi
	done
}

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
		reset
		complaints $machine base >/dev/null
		apply_all
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

# The example of a distributor: the configuration of Debian's kernel, the feature on,
# and nothing else that Debian has not.  Modules are left out; none is touched.
debian()
{
	local log=$CACHE/builds/log config

	host_packages linux-config-6.12 xz-utils
	config=$(dpkg -L linux-config-6.12 | grep '/config.amd64_none_amd64.xz$')
	[ -n "$config" ] || die "linux-config-6.12 has no configuration for amd64."
	xz -dc "$config" >"$CACHE/builds/debian.config"
	SOURCE=/mnt/cache/tree
	if ! configure x86 x86-debian "$CACHE/builds/debian.config" "$FRAGMENTS/debian.config" >"$log" 2>&1 ||
		! grep -q '^CONFIG_UNWIND_USER_SFRAME=y' "$CACHE/builds/x86-debian/.config"; then
		not_ok "Debian's configuration" "$log"
	elif quiet "$log" kmake x86 x86-debian bzImage; then
		ok "Debian's configuration: bzImage"
	else
		cp "$log" "$log-debian"
		not_ok "Debian's configuration: bzImage" "$log"
	fi
}

need_machine
# The series is made by its own script, which proves it
[ -n "$(ls "$REPO"/build/series/0001-*.patch 2>/dev/null)" ] || die "there is no series yet: run 'make series' first."
"$REPO/qemu/tree.sh" sync
root_packages ccache
BASE=$("$REPO/qemu/tree.sh" base)
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
