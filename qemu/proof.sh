#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The proofs about the decoder (tools/testing/unwind/proof), by CBMC of Debian's stable
# release, which is unpacked into $CACHE/cbmc with all libraries that it needs: the root's
# release has none.

. "$(dirname "$0")/common.sh"

AT=$CACHE/cbmc

fetch()
{
	rm -rf "$AT"
	mmdebstrap --variant=extract --mode=root --aptopt='Acquire::Check-Valid-Until "false"' \
		--include=cbmc trixie "$AT" || return
	cat >"$AT/run" <<-'END'
		#!/bin/sh
		at=${0%/*}
		exec "$at/usr/lib64/ld-linux-x86-64.so.2" \
			--library-path "$at/usr/lib/x86_64-linux-gnu:$at/usr/lib" "$at/usr/bin/cbmc" "$@"
	END
	chmod +x "$AT/run"
	in_root /mnt/cache/cbmc/run --version
}

need_machine
"$REPO/qemu/root.sh"
"$REPO/qemu/tree.sh" sync
(
	lock
	key=$(sha256sum <"$0" | cut -c1-16)
	[ "$(stamp cbmc)" != "$key" ] || [ ! -d "$AT" ] || exit 0
	host_packages mmdebstrap
	step "fetching CBMC" fetch
	set_stamp cbmc "$key"
)
in_root env CBMC=/mnt/cache/cbmc/run make -s -C /mnt/repo/tools/testing/unwind proof
