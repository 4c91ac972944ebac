#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The one Debian root file system: it holds the toolchain that everything is
# built with, and it is what the guest boots from (read-only, over 9p).  A newer
# Debian than the host's is needed, because only binutils 2.46 and later write
# SFrame version 3.

. "$(dirname "$0")/common.sh"

PACKAGES=(
	# toolchain and kernel build
	gcc-14 g++-14 make binutils libc6-dev flex bison bc libelf-dev libdw-dev
	libssl-dev pahole cpio kmod python3 perl rsync xz-utils zstd gawk gettext
	patch pkgconf dpkg-dev sparse
	# the same for arm64
	gcc-14-aarch64-linux-gnu binutils-aarch64-linux-gnu libc6-dev-arm64-cross
	# tools/perf and the host harness
	libsframe-dev libtraceevent-dev libslang2-dev libcap-dev zlib1g-dev
	libzstd-dev python3-dev clang
	# the profiler by BPF
	libbpf-dev
	# sources that the demo and the tests build or read
	glibc-source binutils-source
	# the guest's userland
	linux-perf bpftrace bpfcc-tools trace-cmd bpftool gdb strace procps iproute2 util-linux less
	# a runtime besides Python, whose frames are read
	php-cli
	# file systems and devices whose pages a test delays or fails
	e2fsprogs btrfs-progs dmsetup fuse3 libfuse3-dev
)

# Fetches the source of the demonstration's program while there is a network
HOOK=$REPO/qemu/demo/fetch-source.sh

need_machine
key=$({ printf '%s\n' "${PACKAGES[@]}"; cat "$HOOK" "$0"; } | sha256sum | cut -c1-16)
made() { [ "$(stamp root)" = "$key" ] && [ -d "$CACHE/root" ]; }
! made || exit 0
lock root
! made || exit 0

host_packages mmdebstrap
rm -rf "$CACHE/root.new"
# A frozen mirror's Release file counts as expired; its signature is
# checked all the same.
step "Debian root file system" setpriv --pdeathsig TERM mmdebstrap --variant=minbase --mode=root \
	--aptopt='Acquire::Check-Valid-Until "false"' \
	--customize-hook="$(printf %q "$HOOK") \"\$1\"" \
	--customize-hook='mkdir -p "$1/mnt/cache" "$1/mnt/repo" "$1/mnt/share" "$1/mnt/run" "$1/opt/sframe"' \
	--include="$(IFS=,; echo "${PACKAGES[*]}")" \
	forky "$CACHE/root.new"
# What was built for the root before is not built again: its own stamp
# names the compiler and everything else that it was made from.
[ ! -d "$CACHE/root/opt/sframe" ] || cp -a "$CACHE/root/opt/sframe" "$CACHE/root.new/opt/"
rm -rf "$CACHE/root"
mv "$CACHE/root.new" "$CACHE/root"
set_stamp root "$key"
