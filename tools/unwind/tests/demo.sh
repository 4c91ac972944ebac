#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The demo's work, as root in the guest, with unwind-tables in PATH:
#
#     demo.sh record OUT PROGRAM...   python3 and these programs, as screen.py shows them
#     demo.sh cost OUT                what a sample costs, where time is instructions
#
# OUT/service has what the service did.  EVENT and BUILT as for record.sh.
set -eu

# The one that is shown, and others
OTHERS_METHODS='first@299 sframe@299 immediate@299 fp@299 dwarf-8192@99'
METHODS="$OTHERS_METHODS dwarf-65528@99"
WHAT=$1 OUT=$2
shift 2
RECORD=$(dirname "$0")/record.sh

if [ "$WHAT" = cost ]; then
	unwind-tables serve 2>"$OUT/service.cost" &
	sh "$RECORD" cost "$OUT" \
		'sframe@4999 immediate@4999 fp@4999 dwarf-8192@4999 dwarf-65528@499'
	exit
fi
unwind-tables serve -v 2>"$OUT/service" &
SIZE=4 sh "$RECORD" methods "$OUT" "$OTHERS_METHODS" "$@"
SIZE=6 KEEP=sframe sh "$RECORD" methods "$OUT" "$METHODS" python3
SIZE=4 sh "$RECORD" watch "$OUT" python3 "$@"
sh "$RECORD" short "$OUT"
unwind-tables status >"$OUT/status"
cat /proc/interrupts >"$OUT/interrupts"
