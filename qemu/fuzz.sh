#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The fuzzers of the decoder, by libFuzzer, for $FUZZ_SECONDS in all.

. "$(dirname "$0")/common.sh"

FUZZ_SECONDS=${FUZZ_SECONDS:-60}
need_machine
"$REPO/qemu/root.sh"
"$REPO/qemu/tree.sh" sync
(lock; root_packages clang libclang-rt-dev)
say "fuzzing for $FUZZ_SECONDS s"
in_root make -s -C /mnt/repo/tools/testing/unwind fuzz "FUZZ_SECONDS=$FUZZ_SECONDS" "FUZZ_JOBS=$JOBS" ||
	die "an input broke something (or nothing ran); /mnt/cache above is $CACHE."
