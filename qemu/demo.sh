#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The demo: boots the guest, starts the table service, records programs of Debian with
# each method and prints one screen.  build/demo/ (of arm64, build/demo-arm64/) then has
#
#   perf.data      the last recording by SFrame, to be opened
#   service        what the service did
#   METHOD.html    a flame graph of each, where there is a template (see perf.sh)
#   report.tap     what must hold on any machine

. "$(dirname "$0")/common.sh"

# A test has another directory of this clone
DEMO=${DEMO:-$REPO/build/demo${TRIPLET:+-$ARCH}}
[ "$ARCH" = x86_64 ] || STOCK=() OTHERS=${OTHERS-perl gawk sort}
[ -n "${OTHERS+set}" ] || root_packages "${STOCK[@]}"
WORK="EVENT=$EVENT BUILT=/mnt/cache/$BUILT sh /mnt/repo/tools/unwind/tests/demo.sh"

rm -rf "$DEMO"
mkdir -p "$DEMO"
say "booting the guest and recording (some ten minutes)"
export SHARE=$DEMO
CMD="$WORK record /mnt/share ${OTHERS-perl git openssl cc1 sqlite3 redis rg}" DMESG=$DEMO/dmesg "$REPO/qemu/guest.sh"
ICOUNT=0 CPUS=1 APPEND=norandmaps CMD="$WORK cost /mnt/share" DMESG=$DEMO/dmesg.cost "$REPO/qemu/guest.sh"
in_root env ARCH="$ARCH" python3 /mnt/repo/tools/unwind/tests/screen.py "/mnt/repo/${DEMO#"$REPO/"}" \
	"/mnt/cache${TEMPLATE#"$CACHE"}"
echo "Flame graphs: ${DEMO#"$REPO/"}/*.html"
echo "To open its perf.data: make shell SHARE=${DEMO#"$REPO/"}, then perf report -i /mnt/share/perf.data"
