#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boot the guest and run one shell command in it as root, or a shell:
#
#   CMD='...' guest.sh          standard output, standard error and the exit
#                               status are the command's own
#   guest.sh [shell]            a shell on this terminal, until it exits
#   SHARE=dir                   appears in the guest as /mnt/share, read-write
#   APPEND='...'                more kernel parameters (kunit.enable=1: run KUnit at boot)
#   KERNEL=debug                the debug kernel; off: without the feature; kcsan: with KCSAN
#   CPUS=n (2)  MEM=size (4G)   ICOUNT=n: count instructions (-icount shift=n)
#   CPU=model                   QEMU's name of the processor
#   MTE=1                       arm64: memory has tags
#   TURNS=1                     the guest's CPUs take turns on one of this machine's: for
#                               x86, where code that all execute is patched repeatedly
#   ONEINSN=1                   translate single instructions: an interrupt or
#                               NMI can come between any two; slow
#   TIMEOUT=s (1200)            then the guest is stopped, status 124; a shell has no limit
#   DMESG=file                  keep the guest's kernel log there
#
# The kernel must have been built (kernel.sh). The guest's root is the Debian root, or the
# root for its architecture (root.sh guest), read-only, over 9p. On arm64, counter
# interrupts are NMIs, and pointer authentication uses QEMU's own algorithm: the
# architected one takes long to emulate.

# shellcheck disable=SC2054,SC2153 # QEMU's options have commas; IMAGE is of common.sh
. "$(dirname "$0")/common.sh"

interactive=
if [ -z "${CMD:-}" ]; then
	{ [ -t 0 ] && [ -t 1 ]; } || die "there is no command (make guest CMD='uname -a'), and no terminal for a shell."
	interactive=1
fi
[ "${1:-}" != terminal ] || exit 0	# make asks before it builds anything
need_machine
host_packages "$QEMU_PACKAGE"

case $ARCH in
x86_64)
	machine=(qemu-system-x86_64 -machine q35 -cpu "${CPU:-max}")
	console=ttyS0
	# All CPUs have the host's time, but the watchdog doubts it where one has to wait
	# for a turn
	params="reboot=t no_timer_check tsc=reliable" ;;
arm64)
	machine=(qemu-system-aarch64 -machine "virt,gic-version=3${MTE:+,mte=on}"
		 -cpu "${CPU:-max,pauth-impdef=on}")
	console=ttyAMA0
	params="irqchip.gicv3_pseudo_nmi=1" ;;
esac
kind=${KERNEL:-normal}
# While x86 detects the processor's features, it briefly forgets that addresses have five
# levels. KASAN then reports the addresses of an interrupt at that moment. KMSAN knows but four
case $ARCH-$kind in x86_64-debug|x86_64-kmsan) params+=" no5lvl" ;; esac
# With the allocator of each object, faults_test sees what is left over
[ "$kind" != debug ] || params+=" slab_debug=U,kmalloc-*,filp"
image=$CACHE/out/$ARCH-$kind$OF_BASE/$IMAGE
[ -s "$image" ] || die "the $kind kernel is not built: run 'make kernel KERNEL=$kind'."

# In one step: another guest may be about to boot
cmp -s "$REPO/qemu/guest-init" "$GUEST_ROOT/sbin/unwind-init" || {
	install -m 755 "$REPO/qemu/guest-init" "$GUEST_ROOT/sbin/unwind-init.$$"
	mv "$GUEST_ROOT/sbin/unwind-init.$$" "$GUEST_ROOT/sbin/unwind-init"
}

: "${TIMEOUT:=$((interactive ? 0 : 1200))}"

share root
run=$(mktemp -d "$CACHE/run.XXXXXX")
terminal=$([ -z "$interactive" ] || stty -g)
# shellcheck disable=SC2317,SC2329
cleanup()
{
	[ -z "${qemu:-}" ] || kill "$qemu" 2>/dev/null || true
	rm -rf "$run"
	[ -z "$terminal" ] || stty "$terminal"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

devices=()
# Without MSI-X: QEMU 7.2 sometimes dies when a guest sets that up ("msix_table_mmio_write:
# Assertion"), seen once with two busy guests
irq=vectors=0
# port NAME CHARDEV - a virtio port of that name in the guest, for bytes
port() { devices+=(-chardev "$2,id=$1" -device "virtserialport,chardev=$1,name=$1"); }

# directory TAG PATH [OPTIONS] - the guest mounts it by that tag; QEMU wants commas twice
directory()
{
	devices+=(-fsdev "local,id=$1,path=${2//,/,,},security_model=none,multidevs=remap${3:-}"
		  -device "virtio-9p-pci,$irq,fsdev=$1,mount_tag=$1")
}

directory rootfs "$GUEST_ROOT" ,readonly=on
directory repo "$REPO" ,readonly=on
directory cache "$CACHE" ,readonly=on
directory run "$run"
[ -z "${SHARE:-}" ] || directory share "$(realpath "$SHARE")"
cat >"$run/environment" <<-EOF
	export PATH=/mnt/repo/qemu/bin:/mnt/cache/$BUILT/tables-tool:\$PATH:$KSELFTEST/unwind
	export UNWIND_BUILT=/mnt/cache/$BUILT UNWIND_HEADERS=/mnt/cache/out/$ARCH-normal/usr/include
EOF
if [ -n "$interactive" ]; then
	# The guest cannot see the size of this terminal, or that it changes
	mkfifo "$run/size.in" "$run/size.out"
	exec {size}<>"$run/size.in"
	trap 'stty size >&$size' WINCH
	stty size >&$size
	: "${TERM:=dumb}"
	[ -e "$GUEST_ROOT/usr/share/terminfo/${TERM:0:1}/$TERM" ] || TERM=xterm
	echo "export TERM=$TERM" >>"$run/environment"
	port size "pipe,path=${run//,/,,}/size"
	devices+=(-chardev stdio,id=terminal,signal=off -device virtconsole,chardev=terminal)
else
	printf '%s\n' "$CMD" >"$run/cmd"
	# Through pipes, so that the output goes to our own. Both end when QEMU and this
	# script have closed them
	mkfifo "$run/out" "$run/err"
	cat "$run/out" &
	cat "$run/err" >&2 &
	exec {out}>"$run/out" {err}>"$run/err"
	port out "file,path=${run//,/,,}/out"
	port err "file,path=${run//,/,,}/err"
	exec </dev/null
fi

# TURNS=1 avoids a fault of QEMU (7.2 and 11.1): it drops its translation of an instruction
# before, not after, that is overwritten. In between, another processor may translate the old
# bytes. If these are a breakpoint, with which x86 patches a call, it dies of "int3" later
# (seen when trace_sched_switch()'s probe was turned on and off under load, within a minute)
accel=(-accel "tcg,thread=$([ -n "${ICOUNT:-}${TURNS:-}" ] && echo single || echo multi)")
[ -z "${ICOUNT:-}" ] || accel+=(-icount "shift=$ICOUNT")
if [ -n "${ONEINSN:-}" ]; then
	# Its name from QEMU 8.1 on, or the older one
	if "${machine[0]}" -help | grep -q one-insn-per-tb; then accel[1]+=,one-insn-per-tb=on; else accel+=(-singlestep); fi
fi

setpriv --pdeathsig TERM timeout --foreground "$TIMEOUT" \
	"${machine[@]}" "${accel[@]}" -smp "${CPUS:-2}" -m "${MEM:-4G}" \
	-nodefaults -no-user-config -display none -no-reboot \
	-kernel "$image" \
	-append "root=rootfs rootfstype=9p rootflags=trans=virtio,version=9p2000.L,msize=262144,cache=loose ro init=/sbin/unwind-init console=$console loglevel=5 panic=-1 $params kunit.enable=0 ${APPEND:-}" \
	-chardev "file,id=console,path=${run//,/,,}/console" -serial chardev:console \
	-device "virtio-rng-pci,$irq" -device "virtio-serial-pci,$irq" "${devices[@]}" \
	<&0 2>"$run/errors" &
qemu=$!
# A signal with a trap ends a wait, too
until wait $qemu; rc=$?; [ $rc -le 128 ] || ! kill -0 $qemu 2>/dev/null; do :; done
qemu=
[ -n "$interactive" ] || exec {out}>&- {err}>&-
wait

[ -z "${DMESG:-}" ] || cp "$run/dmesg" "$DMESG" 2>/dev/null || cp "$run/console" "$DMESG"
if [ ! -s "$run/status" ]; then
	[ $rc -ne 124 ] || say "the guest did not finish within $TIMEOUT s and was stopped"
	tail -n 40 "$run/errors" "$run/console" >&2
	[ $rc -ne 0 ] || rc=125
	exit $rc
fi
exit "$(cat "$run/status")"
