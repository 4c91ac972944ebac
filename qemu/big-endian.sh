#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Build a big-endian kernel for arm64 and boot it into a program that tests user stacks
# there (tools/testing/selftests/unwind/programs/big_endian.c). The script prints that
# program's TAP on standard output; the kernel's log, with the results of KUnit, goes into
# $DMESG.
#
# Debian has no big-endian userland, so nothing else can be run there.

. "$(dirname "$0")/common.sh"

[ "$ARCH" = arm64 ] || die "a big-endian kernel is there with ARCH=arm64 only."
need_machine
host_packages "$QEMU_PACKAGE"

OUT=out/arm64-be
BIN=$OUT/programs
mkdir -p "$CACHE/$BIN"
step "installing the big-endian kernel's headers" in_root make -C /mnt/cache/tree \
	O="/mnt/cache/$OUT" "${TOOLCHAIN[@]}" headers
step "building the big-endian program" in_root make -C /mnt/cache/tree/tools/testing/selftests/unwind \
	CC="$TRIPLET-gcc-14" OUTPUT="/mnt/cache/$BIN" \
	KHDR_INCLUDES="-isystem /mnt/cache/$OUT/usr/include" big_endian

run=$(mktemp -d "$CACHE/run.XXXXXX")
trap 'rm -rf "$run"' EXIT
cat >"$run/list" <<-EOF
	dir /dev 755 0 0
	nod /dev/console 600 0 0 c 5 1
	file /init $CACHE/$BIN/big_endian 755 0 0
	file /chain_big.so $CACHE/$BIN/chain_big.so 755 0 0
	file /chain_little.so $CACHE/$BIN/chain_little.so 755 0 0
EOF
"$CACHE/$OUT/usr/gen_init_cpio" "$run/list" >"$run/initramfs"

rc=0
timeout "${TIMEOUT:-600}" qemu-system-aarch64 -machine virt,gic-version=3 \
	-cpu "${CPU:-max,pauth-impdef=on}" -accel tcg,thread=multi -smp "${CPUS:-2}" -m 1G \
	-nodefaults -no-user-config -display none -no-reboot \
	-kernel "$CACHE/$OUT/$IMAGE" -initrd "$run/initramfs" \
	-append "console=ttyAMA0 printk.time=1 panic=-1 irqchip.gicv3_pseudo_nmi=1 kunit.enable=1" \
	-chardev "file,id=console,path=$run/console" -serial chardev:console </dev/null || rc=$?
tr -d '\r' <"$run/console" >"$run/text"
# Lines without a time are the program's
grep -v '^\[ *[0-9.]*\] ' "$run/text" || true
grep '^\[ *[0-9.]*\] ' "$run/text" >"${DMESG:-/dev/null}" || true
exit $rc
