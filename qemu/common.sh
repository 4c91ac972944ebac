# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # settings are for its callers
#
# Functions and settings that every step of the build shares: where files are kept, how
# progress and failure are shown, and how a command runs inside the Debian root.
#
# Nothing is built in the clone. Sources, objects and the root file system are kept in
# $CACHE at paths that do not depend on the clone, so that a second run (also one from a
# fresh clone) only builds changed files. A finished step leaves a stamp that names its
# inputs. An interrupted step leaves none and is repeated.

set -euo pipefail

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=$(realpath -m "${CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}}")
# A script that another one starts inherits its CACHE
[ "${CACHE##*/}" = unwind ] || CACHE+=/unwind
ARCH=${ARCH:-x86_64}
BASE=${BASE:-6.12}
# Trees and kernels of another base have this in their names
[ "$BASE" = 6.12 ] && OF_BASE= || OF_BASE=-$BASE
JOBS=${JOBS:-$(nproc)}
LOGS=$CACHE/log
SCRIPT="${0##*/}${*:+ $*}"

# One sentence, no trace.
die() { printf 'unwind: %s\n' "$*" >&2; exit 1; }
say() { printf '[%s] %s\n' "$(date +%H:%M:%S)" "$*" >&2; }

# takes NAME PATTERN WHAT - refuse another value of the argument NAME, if it has one
takes()
{
	[ -z "${!1:-}" ] || [[ ${!1} =~ ^($2)$ ]] || die "$1=${!1} is not valid: $1 takes $3."
}

# arguments - refuse arguments that a script would notice late, or never
arguments()
{
	local name number='[1-9][0-9]{0,8}' programs='lua|xz|sqlite|memcached'
	local kernels='normal|debug|off|kcsan|rt|none|cfi|kmsan'

	takes ARCH 'x86_64|arm64' "x86_64 or arm64"
	takes BASE '6\.12|mainline' "6.12 or mainline"
	[ "$ARCH" = x86_64 ] || kernels+='|16k|64k|be'
	takes KERNEL "$kernels" "one of: ${kernels//|/ } (16k, 64k and be are of arm64 only)"
	takes CONFIGS "($kernels)( ($kernels))*" "some of: ${kernels//|/ }"
	takes CPUS '[1-8]' "a number from 1 to 8"
	takes MEM '[5-9][0-9]{2}M?|[1-9][0-9]{3,5}M?|[1-9][0-9]{0,2}G' "500M or more, in M or G"
	takes ICOUNT '[0-9]|10|auto' "a number from 0 to 10, or auto"
	for name in MINUTES TIMEOUT JOBS SIZE FUZZ_SECONDS REQUESTS SAMPLES STEP_SECONDS; do
		takes $name "$number" "a number"
	done
	for name in MTE TURNS ONEINSN FUZZ_FAST; do takes $name 1 "1, or nothing"; done
	takes PROGRAMS "($programs)( ($programs))*" "some of: ${programs//|/ }"
	[ -z "${KSRC:-}" ] || [ -f "$KSRC/Kconfig" ] || die "KSRC=$KSRC is not a kernel source tree."
	[ -z "${SHARE:-}" ] || [ -d "$SHARE" ] || die "SHARE=$SHARE is not a directory."
	[ -z "${DMESG:-}" ] || [ -d "$(dirname "$DMESG")" ] || die "DMESG=$DMESG cannot be written: its directory does not exist."
	git -C "$REPO" rev-parse --git-dir >/dev/null 2>&1 ||
		die "git does not take $REPO for a clone of this user; run this in a clone (its files are found by git), as its owner or by sudo."
}
arguments

# Settings by architecture: the emulator's package, the kernel's image, the arguments of
# make, the guest's userland, and where programs for it are built. The compiler always
# runs in the root of this machine's own architecture, which is also the guest's userland
# if the guest has the same architecture; else that one is its SYSROOT.
case $ARCH in
x86_64)
	QEMU_PACKAGE=qemu-system-x86
	IMAGE=arch/x86/boot/bzImage
	TOOLCHAIN=(CC=gcc-14 HOSTCC=gcc-14)
	GUEST_ROOT=$CACHE/root
	SYSROOT=
	BUILT=out
	EVENT=cpu-clock ;;
arm64)
	QEMU_PACKAGE=qemu-system-arm
	IMAGE=arch/arm64/boot/Image
	TRIPLET=aarch64-linux-gnu
	TOOLCHAIN=(ARCH=arm64 "CROSS_COMPILE=$TRIPLET-" "CC=$TRIPLET-gcc-14"
		   HOSTCC=gcc-14)
	GUEST_ROOT=$CACHE/root-arm64
	SYSROOT=/mnt/cache/root-arm64
	BUILT=out/arm64-programs
	# By NMIs. Nor would the clock do for DWARF: perf requests the length of vectors
	# with the other registers, and software events have none to give
	EVENT=cycles ;;
esac

STOCK=(git openssl sqlite3 redis-server redis-tools ripgrep) # packages, recorded as they are
# As the guest sees the kselftests.  They are the same for both bases, and are built with
# 6.12's headers
KSELFTEST=/mnt/cache/out/$ARCH-normal/kselftest/kselftest_install
# The template of flame graphs, at the place where perf's script looks for it in the guest
TEMPLATE=$GUEST_ROOT/usr/share/d3-flame-graph/d3-flamegraph-base.html

# need_machine - stop with one sentence if this machine cannot do the work below
# Root is needed for chroot, mounts and the ownership of the guest's files.
need_machine()
{
	local free needed=12

	[ "$(id -u)" = 0 ] ||
		die "this needs root (it makes a Debian root file system and boots it); run it with sudo."
	[ "$(uname -m)" = x86_64 ] ||
		die "this builds on an x86-64 machine; this one is $(uname -m)."
	command -v apt-get >/dev/null ||
		die "this needs a Debian machine (12 or 13): it installs what it lacks with apt-get."
	[ -d "$CACHE" ] || say "sources, objects and Debian go to $CACHE (CACHE=dir takes another place)"
	mkdir -p "$LOGS" || die "cannot write to $CACHE; CACHE=dir takes another place, with 12 GB free."
	free=$(df --output=avail -BG "$CACHE" | tail -1 | tr -dc 0-9)
	[ ! -e "$CACHE/stamp/root" ] || needed=1
	[ "$free" -ge $needed ] ||
		die "only $free GB free under $CACHE and $needed GB needed; free some, or give CACHE=dir on a larger disk."
}

# step TITLE COMMAND... - run a long command, its output to a log, with a line of progress
# every ten seconds and the log's end when it fails. The command runs in the foreground,
# where a terminal's ^C reaches it
step()
{
	local title=$1 log start=$SECONDS rc=0 progress clock
	shift
	log=$LOGS/$(printf '%s' "$title" | tr -cs 'A-Za-z0-9' '-' | sed 's/-$//').log
	# For the caller to read
	LOG=$log
	say "$title"
	# No data comes from that pipe. A sleep would outlive the script, with its locks
	until read -r -t 10 -u "$clock" || ! kill -0 $$ 2>/dev/null; do
		printf '           %4ds  %6d lines  %s\n' $((SECONDS - start)) "$(wc -l <"$log")" \
			"$(tail -n 1 "$log" | tr -d '\r' | cut -c1-90)" >&2
	done {clock}<> <(:) &
	progress=$!
	"$@" >"$log" 2>&1 </dev/null || rc=$?
	kill $progress
	if [ $rc -ne 0 ] && grep -qE 'Temporary failure resolving|Could not (resolve|connect)|Unable to connect|Network is unreachable|Failed to fetch' "$log"; then
		die "'$title' needs packages from Debian's archive, which cannot be reached: is there a network?  (log: $log)"
	fi
	if [ $rc -ne 0 ]; then
		tail -n 30 "$log" >&2
		die "'$title' failed; the whole log is $log"
	fi
	say "$title: done in $((SECONDS - start)) s"
}

# host_packages PACKAGE... - install the packages that this machine lacks
host_packages()
{
	local missing=() p

	for p in "$@"; do
		dpkg-query -W -f='${Status}' "$p" 2>/dev/null |
			grep -q 'ok installed' || missing+=("$p")
	done
	[ ${#missing[@]} -eq 0 ] && return 0
	# The package lists may be missing, old, or fine: try before fetching.
	if ! apt-get install -y --no-install-recommends -s "${missing[@]}" >/dev/null 2>&1; then
		apt-get update >"$LOGS/apt-update.log" 2>&1 ||
			die "no package lists could be fetched (no network?); needed: ${missing[*]}"
	fi
	DEBIAN_FRONTEND=noninteractive step "installing ${missing[*]}" \
		apt-get -o DPkg::Lock::Timeout=600 install -y --no-install-recommends "${missing[@]}"
}

# stamp NAME - the recorded key of a finished step
stamp() { cat "$CACHE/stamp/$1" 2>/dev/null || true; }

# set_stamp NAME KEY
set_stamp()
{
	mkdir -p "$CACHE/stamp"
	printf '%s\n' "$2" >"$CACHE/stamp/$1.new"
	mv "$CACHE/stamp/$1.new" "$CACHE/stamp/$1"
}

# in_root COMMAND... - run in the Debian root, with $CACHE as /mnt/cache and the clone as
# /mnt/repo. The mounts are in a separate namespace and disappear with the command,
# however it ends; and it ends with this script.
in_root()
(
	share root
	# shellcheck disable=SC2016,SC2097,SC2098 # for the inner shell
	ROOT=$CACHE/root CACHE=$CACHE REPO=$REPO exec setpriv --pdeathsig TERM \
		unshare -m --propagation private bash -euc '
		mount -t proc proc "$ROOT/proc"
		mount --rbind /dev "$ROOT/dev"
		mount --bind "$CACHE" "$ROOT/mnt/cache"
		mount --bind "$REPO" "$ROOT/mnt/repo"
		exec chroot "$ROOT" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
			HOME=/root LC_ALL=C.UTF-8 TERM=dumb \
			KBUILD_BUILD_USER=unwind KBUILD_BUILD_HOST=unwind \
			"KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 2026" "$@"
	' bash "$@"
)

# root_network - give the root this machine's current resolver
root_network()
{
	[ ! -e /etc/resolv.conf ] ||
		cp -L --remove-destination /etc/resolv.conf "$CACHE/root/etc/resolv.conf"
}

# root_packages PACKAGE... - install packages that only some steps need
root_packages()
{
	local missing=() p info=$CACHE/root/var/lib/dpkg/info

	for p in "$@"; do
		[ -e "$info/$p.list" ] || [ -e "$info/$p:amd64.list" ] || missing+=("$p")
	done
	[ ${#missing[@]} -eq 0 ] && return 0
	root_network
	step "installing ${missing[*]} in the root" in_root sh -ec '
		export DEBIAN_FRONTEND=noninteractive
		# A frozen mirror counts as expired; its signature is checked
		apt-get -o Acquire::Check-Valid-Until=false update
		apt-get -o DPkg::Lock::Timeout=600 install -y --no-install-recommends "$@"' sh "${missing[@]}"
}

# holders NAME - the processes that have that lock
holders()
{
	local record

	for record in "$CACHE/locks/$1".*; do
		if [ -d "/proc/${record##*.}" ]; then cat "$record"; else rm -f "$record"; fi
	done | paste -sd ';' | sed 's/;/; /g'
}

# take -x|-s NAME... - hold locks until the script ends; while waiting, name the holder
take()
{
	local how=$1 name fd patience=0
	shift
	mkdir -p "$CACHE/locks"
	for name; do
		# A caller has this lock, or all locks
		case " ${UNWIND_LOCKED:-} " in *" $name "*|*" 1 "*) continue ;; esac
		exec {fd}>>"$CACHE/locks/$name"
		until flock "$how" -w $patience "$fd"; do
			say "waiting for $name: $(holders "$name")"
			patience=60
		done
		# Remove records of processes that have ended
		holders "$name" >/dev/null
		echo "$SCRIPT (process $$) has it since $(date +%H:%M:%S)" >"$CACHE/locks/$name.$$"
		[ "$how" = -s ] || export UNWIND_LOCKED="${UNWIND_LOCKED:-} $name"
	done
}

# lock [NAME...] - build these alone, until the script ends; without a name, the script's
# own lock
lock() { take -x "${@:-$(basename "$0" .sh)}"; }

# share NAME... - use these while nobody builds them
share() { take -s "$@"; }

# once NAME FILE KEY COMMAND... - make the file, unless it is there and was made of what the
# function KEY prints
once()
{
	local name=$1 file=$2 of=$3 key
	shift 3
	made() { key=$($of); [ "$(stamp "$name")" = "$key" ] && [ -s "$file" ]; }
	! made || return 0
	lock "$name"
	! made || return 0
	"$@"
	set_stamp "$name" "$key"
}
