#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Build the series as maintainers' machines would. Prints TAP, without numbers.
#
#   builds.sh patches    after each patch, by "git rebase -x": both architectures,
#                        allnoconfig as a whole, and the directories that the series
#                        touches, with the feature and without; perf.  FROM=commit
#                        begins after that one (series~3), ONLY=', on' is these alone
#   builds.sh options    the whole series, linked, with one option off at a time
#   builds.sh size       tinyconfig's image, with the series and without
#   builds.sh warnings   W=1 and sparse on each object that the series touches: nothing
#                        that the base did not say
#   builds.sh debian     the Debian kernel's own configuration, linked
#   builds.sh htmldocs   "make htmldocs" of the directories that the series touches: no
#                        warning that the base does not have, and each page is there
#
# The sources are a worktree of the base and the series, $CACHE/builds/tree. Objects are
# kept next to it, and ccache has the objects of files that change from patch to patch. A
# warning fails a build, and so does a build of more than LIMIT seconds.
#
# From nothing, all builds take hours. $CACHE/builds/passed names the builds that passed,
# by their sources, configuration and compilers: they are not repeated. A run that was
# stopped continues where it was, and a change of a document builds nothing.

unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
. "$(dirname "$0")/tree.sh"

BUILDS=$CACHE/builds$OF_BASE
SOURCE=$BUILDS/tree
IN=/mnt/cache/builds$OF_BASE
LIMIT=${LIMIT:-3600}

at() { in_worktree "$SOURCE" checkout -q --detach "$1"; }
compiling() { in_root env CCACHE_DIR=/mnt/cache/builds/ccache CCACHE_DEPEND=1 CCACHE_MAXSIZE=4G timeout "$LIMIT" make -s -j"$JOBS" "$@"; }

# kmake MACHINE OBJECTS ARGUMENT...
kmake()
{
	local toolchain=(ARCH=x86_64 "CC=ccache gcc-14")

	[ "$1" = x86 ] || toolchain=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- "CC=ccache aarch64-linux-gnu-gcc-14")
	mkdir -p "$BUILDS/$2"
	compiling -C $IN/tree O="$IN/$2" "${toolchain[@]}" HOSTCC=gcc-14 "${@:3}"
}

# build MACHINE OBJECTS START FRAGMENTS TARGET... - START is a target of make or a file
# in $BUILDS; FRAGMENTS are files below qemu/, or options with their values (OPTION=VALUE)
build()
{
	local machine=$1 out=$2 start=$3 config=$BUILDS/$2/.config word list=()

	mkdir -p "$BUILDS/$out"
	: >"$BUILDS/more.config"
	for word in $4; do
		case $word in
		*=*)	echo "$word" >>"$BUILDS/more.config" ;;
		*)	list+=("/mnt/repo/qemu/$word") ;;
		esac
	done
	{
		if [ -e "$BUILDS/$start" ]; then cp "$BUILDS/$start" "$config"; else kmake "$machine" "$out" "$start"; fi &&
			in_root $IN/tree/scripts/kconfig/merge_config.sh -m -O "$IN/$out" "$IN/$out/.config" \
				"${list[@]}" "$IN/more.config" &&
			kmake "$machine" "$out" olddefconfig
	} >"$BUILDS/configure.log" 2>&1 || { cat "$BUILDS/configure.log"; return 1; }
	[ $# = 4 ] || kmake "$machine" "$out" "${@:5}"
}

# result TITLE LOG - ok if the log is empty; else print its most useful lines
result()
{
	[ -s "$2" ] || { echo "ok $1"; return 0; }
	{ grep -E '(warning|error|undefined reference|Error [0-9]+)' "$2" || tail -n 5 "$2"; } | head -n 12 | sed 's/^/# /'
	echo "not ok $1"
}

# passes TITLE PATHS COMMAND... - ok if the command prints nothing and succeeds; it is
# then not repeated for the same PATHS of the sources
passes()
{
	local title=$1 log=$BUILDS/log id

	[[ $title = *"${ONLY:-}"* ]] || return 0
	id=$({
		# Without documents and tests
		# shellcheck disable=SC2086 # a list
		in_worktree "$SOURCE" ls-tree HEAD $2 | grep -vE '\s(Documentation|MAINTAINERS|tools|tools/(perf|testing|unwind))$'
		cat "$REPO"/qemu/config/* "$REPO"/qemu/builds/*
		printf '%s\n' "$COMPILERS" "${@:3}"
	} | sha256sum | cut -c 1-32)
	[ ! -e "$BUILDS/passed/$id" ] || { echo "ok $title (as built before)"; return 0; }
	"${@:3}" >"$log" 2>&1 </dev/null || echo "error: it ended with status $?" >>"$log"
	grep -qE 'warning:|error:' "$log" || : >"$log"
	result "$title" "$log"
	if [ -s "$log" ]; then cp "$log" "$log-${title//[: \/]/-}"; else echo "$title" >"$BUILDS/passed/$id"; fi
}
KERNEL=". tools/"

# guest_config MACHINE [FRAGMENT] - fragments of the guest's configuration; the feature is on
guest_config() { echo "config/base.config config/guest.config config/${1/x86/x86_64}.config ${2:-} builds/quick.config"; }

# perf, with no warnings that the base does not have
perf()
{
	local out=$BUILDS/perf

	[ "$1" != base ] || rm -rf "$out" "$out-base"
	mkdir -p "$out"
	compiling -C $IN/tree/tools/perf O=$IN/perf "CC=ccache gcc-14" HOSTCC=gcc-14 NO_LIBPYTHON=1 NO_LIBPERL=1 \
		NO_JEVENTS=1 BUILD_BPF_SKEL=0 WERROR=0 >"$out-log" 2>&1 || { cat "$out-log"; return 1; }
	sed -nE 's,^([^: ]+):[0-9]+:([0-9]+:)? (warning: .*),\1 \3,p' "$out-log" | sort -u >"$out-said"
	[ "$1" != base ] || cp "$out-said" "$out-base"
	comm -23 "$out-said" "$out-base"
}

# one - build the commit that git has checked out
one()
{
	local name machine

	name=$(in_worktree "$SOURCE" log -1 --format=%f)
	[ "$(kgit rev-parse base)" != "$(in_worktree "$SOURCE" rev-parse HEAD)" ] || name=base
	say "builds: $name"
	for machine in x86 arm64; do
		passes "$name: $machine, allno" "$KERNEL" build $machine $machine-allno allnoconfig "" vmlinux
		passes "$name: $machine, on" "$KERNEL" build $machine $machine-on tinyconfig "$(guest_config $machine)" \
			kernel/ mm/ fs/exec.o fs/inode.o arch/$machine/ samples/
		passes "$name: $machine, off" "$KERNEL" build $machine $machine-off tinyconfig \
			"$(guest_config $machine config/off.config)" kernel/ mm/ fs/exec.o fs/inode.o arch/$machine/
	done
	passes "$name: perf" "tools/perf/ tools/lib tools/include tools/arch tools/build include/uapi" perf "$name"
}

patches_part()
{
	in_worktree "$SOURCE" rebase --quit 2>/dev/null || true
	at base
	one
	at series
	in_worktree "$SOURCE" rebase -q -x "$(printf '%q one' "$REPO/qemu/builds.sh")" "${FROM:-base}"
}

options_part()
{
	local machine option off out

	at series
	for machine in x86 arm64; do
		for option in NOTHING PERF_EVENTS FTRACE BPF_SYSCALL SMP COMPAT IA32_EMULATION DEBUG_FS SYSCTL PROC_FS UPROBES \
			MODULES UNWIND_USER_{KUNIT_TEST,SFRAME,IMMEDIATE,SERVICE,REGISTER,LANGUAGES}; do
			off="CONFIG_$option=n"
			case $machine-$option in
			# Selected, another option's, or always on
			x86-PERF_EVENTS|x86-COMPAT|arm64-PERF_EVENTS|arm64-SMP|arm64-IA32_EMULATION)
				echo "ok $machine without $option # SKIP no such choice"
				continue ;;
			# Frame pointers alone are a separate option
			*-UNWIND_USER_SFRAME) off+=" CONFIG_UNWIND_USER_FP=y CONFIG_UNWIND_USER_KUNIT_TEST=n" ;;
			# These options select it
			*-SYSCTL) off+=" CONFIG_PROC_SYSCTL=n" ;;
			*-UPROBES) off+=" CONFIG_UPROBE_EVENTS=n" ;;
			esac
			# Objects that do not depend on an option are not built again
			out=$machine-options-$option
			[ -d "$BUILDS/$out" ] || [ ! -d "$BUILDS/$machine-options-NOTHING" ] ||
				cp -a "$BUILDS/$machine-options-NOTHING" "$BUILDS/$out"
			passes "$machine without $option" "$KERNEL" without "$option" $machine "$out" tinyconfig \
				"config/base.config config/${machine/x86/x86_64}.config builds/options.config builds/quick.config $off" vmlinux
		done
	done
}

# without OPTION ARGUMENT... - build(), with the option off and the feature on; it needs
# locks of areas, and these need SMP
without()
{
	local -A feature=([UNWIND_USER_SFRAME]=UNWIND_USER_FP [SMP]=64BIT)

	build "${@:2:4}" || return
	if grep "^CONFIG_$1=" "$BUILDS/$3/.config" || ! grep -q "^CONFIG_${feature[$1]:-UNWIND_USER_SFRAME}=y" "$BUILDS/$3/.config"; then
		echo "error: the option is on, or the feature went with it"; return 1
	fi
	build "${@:2}"
}

size_part()
{
	local machine which log=$BUILDS/size.log

	for machine in x86 arm64; do
		for which in base series; do
			at $which
			build $machine $machine-tiny tinyconfig "" vmlinux >"$log" 2>&1 || { result "$machine, tinyconfig, $which" "$log"; return; }
			cp "$BUILDS/$machine-tiny/vmlinux" "$BUILDS/$which.vmlinux"
			# Images are padded; but all that takes memory is in one of these sections
			in_root size -A $IN/$which.vmlinux | awk '/^[._]/ && !/note|comment|debug/ { print $1, $2 }' >"$BUILDS/$which.sections"
		done
		{
			in_root $IN/tree/scripts/bloat-o-meter $IN/base.vmlinux $IN/series.vmlinux |
				grep -E '[+-][0-9]+$' | grep -vE '^(add/remove|__UNIQUE_ID|vdso_image)' || true
			diff "$BUILDS/base.sections" "$BUILDS/series.sections" || true
		} >"$log"
		result "$machine, tinyconfig: not a byte more" "$log"
	done
}

# complaints MACHINE COMMIT - warnings of the compiler (W=1) and sparse, without line numbers
complaints()
{
	local out=$BUILDS/$1-warn log=$BUILDS/$1-warn-$2.log list

	at "$2"
	build "$1" "$1-warn" tinyconfig "$(guest_config "$1")" >"$log" 2>&1 || return
	# The objects of C files that the series touches and this machine has
	mapfile -t list < <(kgit diff --name-only base series -- '*.c' ':!tools' ':!samples' ':!arch' |
		grep -vE "_($([ "$1" = x86 ] && echo arm64 || echo 'x86|x86_64'))(_|\.c)"
		kgit diff --name-only base series -- "arch/$1/**.c" ':!*vdso*')
	mapfile -t list < <(cd "$SOURCE" && find "${list[@]}" 2>/dev/null | sed 's/c$/o/')
	find "$out" -name '*.o' -delete
	kmake "$1" "$1-warn" -k W=1 C=2 CF=-D__CHECK_ENDIAN__ "${list[@]}" >"$log" 2>&1 </dev/null || true
	sed -nE 's,^(\.\./tree/|\./|/mnt/cache/builds/tree/)?([^: ]+):[0-9]+:([0-9]+:)? ((warning|error): .*),\2 \4,p' "$log" |
		sort >"$out.$2"
	echo "# $1, $2: ${#list[@]} objects, $(wc -l <"$out.$2") complaints"
}

warnings_part()
{
	local machine log=$BUILDS/warnings.log

	for machine in x86 arm64; do
		complaints $machine base
		complaints $machine series
		{
			comm -13 "$BUILDS/$machine-warn.base" "$BUILDS/$machine-warn.series"
			grep 'No rule to make target' "$BUILDS/$machine-warn-series.log" || true
		} >"$log"
		result "$machine, W=1 and sparse: nothing new" "$log"
	done
}

# The example of a distributor: the configuration of Debian's kernel, the feature on, and
# nothing else that Debian lacks. The series has no modules
debian_part()
{
	at series
	host_packages linux-config-6.12 xz-utils
	xz -dc "$(dpkg -L linux-config-6.12 | grep '/config.amd64_none_amd64.xz$')" >"$BUILDS/debian.config"
	passes "Debian's configuration: bzImage" "$KERNEL" debian_image x86 x86-debian debian.config \
		"builds/debian.config builds/quick.config" bzImage
}

# All but a few options are on; a fragment or another compiler turns these off
debian_image()
{
	local all on config=$BUILDS/x86-debian/.config

	build "${@:1:4}" || return
	all=$(grep -c '=y$' "$BUILDS/debian.config")
	on=$(comm -12 <(grep '=y$' "$BUILDS/debian.config" | sort) <(grep '=y$' "$config" | sort) | wc -l)
	if ! grep -q '^CONFIG_UNWIND_USER_SFRAME=y' "$config" || [ $((on * 50)) -lt $((all * 49)) ]; then
		echo "error: $on of its $all options are on, or the feature is not"; return 1
	fi
	build "$@"
}

# warnings BRANCH - collect its documents' warnings, without line numbers, which differ
warnings()
{
	local at=$BUILDS/html log=$BUILDS/html-$1

	# One path for both, as warnings name it
	new_worktree "$at" "$1"
	make -s -C "$at" SPHINXDIRS="admin-guide bpf core-api trace userspace-api" htmldocs >"$log.log" 2>&1 </dev/null ||
		die "make htmldocs failed on the $1; see $log.log"
	sed -nE "s,^($at/)?([^ :]+):([0-9]+:)* ?(WARNING|ERROR|warning|error)(.*),\2 \4\5,p" "$log.log" |
		sort >"$log.warnings"
}

htmldocs_part()
{
	local log=$BUILDS/html.log page

	# The host's: a build of its own, and nothing that the guest needs
	host_packages python3-sphinx python3-yaml python3-docutils make perl graphviz imagemagick
	warnings base
	warnings series
	comm -13 "$BUILDS/html-base.warnings" "$BUILDS/html-series.warnings" >"$log"
	result "htmldocs: nothing new beside $(wc -l <"$BUILDS/html-base.warnings") warnings of the base" "$log"
	added 'Documentation/*.rst' | sed 's,^Documentation/\(.*\)\.rst$,\1.html,' | while read -r page; do
		[ -n "$(find "$BUILDS/html/Documentation/output" -path "*/${page#*/}")" ] || echo "no $page"
	done >"$log"
	result "htmldocs: each page" "$log"
}

need_machine
# shellcheck disable=SC2016 # for the inner shell
COMPILERS=$(in_root sh -c 'for of in "" aarch64-linux-gnu-; do "${of}gcc-14" --version; "${of}ld" --version; done' | sha256sum)
[ "${1:-}" != one ] || { one; exit; }
"$REPO/qemu/tree.sh" sync
root_packages ccache
mkdir -p "$BUILDS/passed"
lock
in_worktree "$SOURCE" rev-parse -q --verify HEAD >/dev/null 2>&1 || new_worktree "$SOURCE" base
for part; do
	case $part in
	patches|options|size|warnings|debian|htmldocs) "${part}_part" ;;
	*)	die "builds.sh has no part $part" ;;
	esac
done
