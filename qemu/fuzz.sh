#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The fuzzers of the decoder, by libFuzzer, for $FUZZ_SECONDS in all.
#
# Clang is large and only this needs it, so it is no part of the root: it is
# installed when it is missing there, also from a root that was made anew.

. "$(dirname "$0")/common.sh"

FUZZ_SECONDS=${FUZZ_SECONDS:-60}
PACKAGES=(clang libclang-rt-dev)

install_clang()
{
	in_root apt-get -o Acquire::Check-Valid-Until=false update
	in_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y --no-install-recommends "${PACKAGES[@]}"
}

need_clang()
{
	in_root dpkg-query -W -f='${db:Status-Status}\n' "${PACKAGES[@]}" 2>/dev/null |
		awk -v want=${#PACKAGES[@]} '$1 == "installed" { n++ } END { exit n != want }' && return 0
	# The root was perhaps made where the network was another
	cp -L /etc/resolv.conf "$CACHE/root/etc/resolv.conf"
	step "installing clang" install_clang
}

need_machine
[[ $FUZZ_SECONDS =~ ^[1-9][0-9]*$ ]] ||
	die "FUZZ_SECONDS=$FUZZ_SECONDS is not a number of seconds."
"$REPO/qemu/root.sh"
"$REPO/qemu/tree.sh" sync
(lock; need_clang)
say "fuzzing for $FUZZ_SECONDS s"
in_root make -s -C /mnt/repo/tools/testing/unwind fuzz "FUZZ_SECONDS=$FUZZ_SECONDS" "FUZZ_JOBS=$JOBS" ||
	die "an input broke something (or nothing ran); /mnt/cache above is $CACHE."
