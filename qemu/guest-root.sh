#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The guest's userland where it is of another architecture than this machine:
# Debian's packages of it, unpacked but not configured, because nothing of it can
# be run here.  What a package's scripts would have set up, and the guest needs,
# is set up below.
#
# Its -dev packages make it the sysroot that perf is linked against.
#
# For this machine's own architecture, the Debian root is the guest's userland.

. "$(dirname "$0")/common.sh"

PACKAGES=(
	# a shell and what the scripts that run in the guest use
	base-files base-passwd bash coreutils dash diffutils findutils gawk grep
	bzip2 gzip hostname iproute2 kmod mount ncurses-base procps python3 sed
	strace tar time util-linux xz-utils
	# Debian's own perf, and what it shells out to; its other tracers
	linux-perf binutils trace-cmd bpftrace bpfcc-tools
	# what this perf, and the profiler by BPF, are linked against
	libc6-dev libelf-dev libdw-dev libtraceevent-dev libslang2-dev libcap-dev
	zlib1g-dev libzstd-dev libpython3-dev libbpf-dev
	# what sframe-gcc and sframe-g++ call
	gcc-14 g++-14 less
	# a runtime besides Python, whose frames are read
	php-cli
	# file systems and devices whose pages a test delays or fails
	e2fsprogs btrfs-progs dmsetup fuse3 libfuse3-dev
)

# What the packages' scripts are for
configure()
{
	local root=$1

	install -m 644 "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
	install -m 644 "$root/usr/share/base-passwd/group.master" "$root/etc/group"
	[ -e "$root/usr/bin/sh" ] || ln -s dash "$root/usr/bin/sh"
	[ -e "$root/usr/bin/awk" ] || ln -s gawk "$root/usr/bin/awk"
	mkdir -p "$root/mnt/cache" "$root/mnt/repo" "$root/mnt/share" "$root/mnt/run" \
		"$root/opt/sframe"
}

need_machine
[ "$GUEST_ROOT" != "$CACHE/root" ] || exit 0
key=$({ printf '%s\n' "${PACKAGES[@]}"; cat "$0"; } | sha256sum | cut -c1-16)
made() { [ "$(stamp "root-$ARCH")" = "$key" ] && [ -d "$GUEST_ROOT" ]; }
! made || exit 0
lock "root-$ARCH"
! made || exit 0

host_packages mmdebstrap
rm -rf "$GUEST_ROOT.new"
step "the guest's root file system for $ARCH" setpriv --pdeathsig TERM mmdebstrap \
	--variant=extract --mode=root --architectures="$ARCH" --skip=check/qemu \
	--aptopt='Acquire::Check-Valid-Until "false"' \
	--include="$(IFS=,; echo "${PACKAGES[*]}")" \
	forky "$GUEST_ROOT.new"
configure "$GUEST_ROOT.new"
# What was built for it before has stamps of its own
[ ! -d "$GUEST_ROOT/opt/sframe" ] ||
	cp -a "$GUEST_ROOT/opt/sframe" "$GUEST_ROOT.new/opt/"
rm -rf "$GUEST_ROOT"
mv "$GUEST_ROOT.new" "$GUEST_ROOT"
set_stamp "root-$ARCH" "$key"
