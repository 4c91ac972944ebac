#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots the guest and runs one shell command in it as root:
#
#   CMD='...' guest.sh          standard output, standard error and the exit
#                               status are the command's own
#   SHARE=dir                   appears in the guest as /mnt/share, read-write
#   APPEND='...'                more kernel parameters
#   KERNEL=debug                the debug kernel; off: without the feature
#   CPUS=n (2)  MEM=size (4G)   ICOUNT=n: count instructions (-icount shift=n)
#   TIMEOUT=s (1200)            then the guest is stopped, status 124
#   DMESG=file                  keep the guest's kernel log there
#
# The kernel must have been built (kernel.sh); the Debian root is the guest's
# root, read-only, over 9p.

. "$(dirname "$0")/common.sh"

[ -n "${CMD:-}" ] || die "no command: make guest CMD='uname -a'"
need_machine
host_packages qemu-system-x86

kind=${KERNEL:-normal}
image=$CACHE/out/$ARCH-$kind/arch/x86/boot/bzImage
[ -s "$image" ] || die "the $kind kernel is not built: run 'make kernel KERNEL=$kind'."

cmp -s "$REPO/qemu/guest-init" "$CACHE/root/sbin/unwind-init" ||
	install -m 755 "$REPO/qemu/guest-init" "$CACHE/root/sbin/unwind-init"

run=$(mktemp -d "$CACHE/run.XXXXXX")
qemu='' out='' err=''
# shellcheck disable=SC2329
cleanup()
{
	for p in $qemu $out $err; do kill "$p" 2>/dev/null || true; done
	rm -rf "$run"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
printf '%s\n' "$CMD" >"$run/cmd"

# Through pipes, so that what is written goes on where our own output is
mkfifo "$run/out" "$run/err"
cat "$run/out" &
out=$!
cat "$run/err" >&2 &
err=$!

share()	# tag path [options]
{
	echo "-fsdev local,id=$1,path=$2,security_model=none,multidevs=remap${3:-} -device virtio-9p-pci,fsdev=$1,mount_tag=$1"
}

if [ -n "${ICOUNT:-}" ]; then
	accel=(-accel tcg,thread=single -icount "shift=$ICOUNT")
else
	accel=(-accel tcg,thread=multi)
fi

# shellcheck disable=SC2046
timeout --foreground "${TIMEOUT:-1200}" qemu-system-x86_64 \
	-machine q35 -cpu max "${accel[@]}" -smp "${CPUS:-2}" -m "${MEM:-4G}" \
	-nodefaults -no-user-config -display none -no-reboot \
	-kernel "$image" \
	-append "root=rootfs rootfstype=9p rootflags=trans=virtio,version=9p2000.L,msize=262144,cache=loose ro init=/sbin/unwind-init console=ttyS0 loglevel=5 panic=-1 reboot=t ${APPEND:-}" \
	-chardev "file,id=console,path=$run/console" -serial chardev:console \
	$(share rootfs "$CACHE/root" ,readonly=on) \
	$(share repo "$REPO" ,readonly=on) \
	$(share cache "$CACHE" ,readonly=on) \
	$(share run "$run") \
	${SHARE:+$(share share "$(realpath "$SHARE")")} \
	-device virtio-rng-pci \
	-device virtio-serial-pci \
	-chardev "file,id=out,path=$run/out" -device virtserialport,chardev=out,name=out \
	-chardev "file,id=err,path=$run/err" -device virtserialport,chardev=err,name=err \
	>"$run/qemu" 2>&1 </dev/null &
qemu=$!
rc=0
wait $qemu || rc=$?
qemu=
[ ! -s "$run/status" ] || wait "$out" "$err"
out=
err=

[ -z "${DMESG:-}" ] || cp "$run/dmesg" "$DMESG" 2>/dev/null || cp "$run/console" "$DMESG"
if [ ! -s "$run/status" ]; then
	[ $rc -ne 124 ] || say "the guest did not finish within ${TIMEOUT:-1200} s and was stopped"
	tail -n 40 "$run/qemu" "$run/console" >&2
	[ $rc -ne 0 ] || rc=125
	exit $rc
fi
exit "$(cat "$run/status")"
