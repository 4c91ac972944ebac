#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds the working tree's tools/perf inside the Debian root.

. "$(dirname "$0")/common.sh"

need_machine
lock
mkdir -p "$CACHE/out/perf"
# Only what perf is made from decides: a new kernel does not rebuild it.
key=$(grep -E '  (tools/(perf|lib|include)|include/uapi)/' "$CACHE/tree.sums" | cat - "$CACHE/tree.base" |
	sha256sum | cut -c1-16)
[ "$(stamp perf)" = "$key" ] && [ -x "$CACHE/out/perf/perf" ] && exit 0
step "building perf" in_root make -C /mnt/cache/tree/tools/perf O=/mnt/cache/out/perf -j"$JOBS" \
	CC=gcc-14 HOSTCC=gcc-14 CXX=g++-14 WERROR=0 NO_LIBPYTHON=1 NO_LIBPERL=1 \
	NO_JEVENTS=1 BUILD_BPF_SKEL=0
set_stamp perf "$key"
