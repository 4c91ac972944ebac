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

DEMO=$REPO/build/demo${TRIPLET:+-$ARCH}
# The one that is shown, and others
OTHERS_METHODS="first@299 sframe@299 fp@299 dwarf-8192@99 immediate@299"
METHODS=${OTHERS_METHODS/immediate/dwarf-65528@99 immediate}
OTHERS=${OTHERS-perl gawk sort cc1}

rm -rf "$DEMO"
mkdir -p "$DEMO"
say "booting the guest and recording (some two minutes)"
CMD="unwind-tables serve -v 2>/mnt/share/service &
	export EVENT=$EVENT BUILT=/mnt/cache/$BUILT record=/mnt/repo/tools/unwind/tests/record.sh
	SIZE=4 sh \$record methods /mnt/share '$OTHERS_METHODS' $OTHERS &&
	SIZE=6 KEEP=sframe sh \$record methods /mnt/share '$METHODS' python3 &&
	unwind-tables status >/mnt/share/status && cat /proc/interrupts >/mnt/share/interrupts" \
	SHARE=$DEMO DMESG=$DEMO/dmesg "$REPO/qemu/guest.sh"
in_root env ARCH="$ARCH" python3 /mnt/repo/tools/unwind/tests/screen.py "/mnt/repo/build/${DEMO##*/}" \
	"/mnt/cache${TEMPLATE#"$CACHE"}"
echo "Flame graphs: build/${DEMO##*/}/*.html"
echo "To open its perf.data: make shell SHARE=build/${DEMO##*/}, then perf report -i /mnt/share/perf.data"
