#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Make the Debian root file systems, from which guests boot (read-only, over 9p):
#
#   root.sh          the root of this machine's architecture: the toolchain that builds
#                    everything, and the guest's userland.  A newer Debian than the host's
#                    is needed, because only binutils 2.46 and later write SFrame version 3
#   root.sh guest    the guest's userland, where that is of another architecture: packages
#                    that are unpacked but not configured, as none of their programs can
#                    run here.  With its -dev packages, it is the sysroot of the guest's perf

. "$(dirname "$0")/common.sh"

# For the guest's scripts, on all architectures: Debian's own perf and other tracers;
# a runtime besides Python, whose frames are read; file systems and devices whose pages a
# test delays or fails
GUEST=(
	linux-perf bpftrace bpfcc-tools trace-cmd iproute2 kmod procps python3 strace util-linux
	gawk xz-utils binutils gcc-14 g++-14 less php-cli e2fsprogs btrfs-progs dmsetup fuse3
	libfuse3-dev
	# what perf, and the profiler by BPF, are linked against
	libc6-dev libelf-dev libdw-dev libtraceevent-dev libslang2-dev libcap-dev zlib1g-dev
	libzstd-dev libbpf-dev
)
TOOLCHAIN_PACKAGES=(
	make flex bison bc libssl-dev pahole cpio perl rsync zstd gettext patch pkgconf dpkg-dev
	sparse gcc-14-aarch64-linux-gnu binutils-aarch64-linux-gnu libc6-dev-arm64-cross
	libsframe-dev python3-dev clang bpftool gdb
	# sources that the tests build or read
	glibc-source binutils-source
)
# A shell and what a configured root has unasked
BARE=(
	base-files base-passwd bash bzip2 coreutils dash diffutils findutils grep gzip hostname
	libpython3-dev mount ncurses-base sed tar time
)

# set_up ROOT - what the packages' scripts would have done
set_up()
{
	install -m 644 "$1/usr/share/base-passwd/passwd.master" "$1/etc/passwd"
	install -m 644 "$1/usr/share/base-passwd/group.master" "$1/etc/group"
	[ -e "$1/usr/bin/sh" ] || ln -s dash "$1/usr/bin/sh"
	[ -e "$1/usr/bin/awk" ] || ln -s gawk "$1/usr/bin/awk"
}

need_machine
if [ "${1:-}" = guest ]; then
	[ "$GUEST_ROOT" != "$CACHE/root" ] || exit 0
	name=root-$ARCH root=$GUEST_ROOT packages=("${GUEST[@]}" "${BARE[@]}")
	options=(--variant=extract "--architectures=$ARCH" --skip=check/qemu)
else
	name=root root=$CACHE/root packages=("${GUEST[@]}" "${TOOLCHAIN_PACKAGES[@]}")
	options=(--variant=minbase)
fi
key=$(printf '%s\n' "${packages[@]}" "${options[@]}" | cat - "$0" | sha256sum | cut -c1-16)
made() { [ "$(stamp "$name")" = "$key" ] && [ -d "$root" ]; }
! made || exit 0
lock "$name"
! made || exit 0

host_packages mmdebstrap
rm -rf "$root.new"
# A frozen mirror's Release file counts as expired; its signature is checked all the same
step "Debian root file system ($name)" setpriv --pdeathsig TERM mmdebstrap "${options[@]}" --mode=root \
	--aptopt='Acquire::Check-Valid-Until "false"' --include="$(IFS=,; echo "${packages[*]}")" \
	forky "$root.new"
mkdir -p "$root.new"/mnt/{cache,repo,share,run} "$root.new/opt/sframe"
[ "$name" = root ] || set_up "$root.new"
# Programs that were built for it before have stamps of their own
[ ! -d "$root/opt/sframe" ] || cp -a "$root/opt/sframe" "$root.new/opt/"
rm -rf "$root"
mv "$root.new" "$root"
set_stamp "$name" "$key"
