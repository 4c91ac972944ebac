#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fetches what the differential test of the decoder cannot make itself: assembler,
# linker and libsframe of the binutils that write SFrame version 2, into
# $CACHE/diff-corpus/binutils2.  They are fetched once.  Where they cannot be, the test
# goes without version 2, and says so.

. "$(dirname "$0")/common.sh"

CORPUS=$CACHE/diff-corpus

need_machine
"$REPO/qemu/root.sh"
lock
key=$(sha256sum <"$REPO/qemu/diff-corpus/fetch.sh" | cut -c1-16)
[ "$(stamp diff-corpus-source)" != "$key" ] || [ ! -d "$CORPUS/binutils2" ] || exit 0
rm -rf "$CORPUS"
mkdir -p "$CORPUS"
root_network
# In a subshell, so that a failure ends the step and not this script
if (step "fetching binutils for SFrame version 2" in_root env \
	${http_proxy:+"http_proxy=$http_proxy"} \
	sh /mnt/repo/qemu/diff-corpus/fetch.sh /mnt/cache/diff-corpus); then
	set_stamp diff-corpus-source "$key"
else
	rm -rf "$CORPUS"
	say "the differential test goes without SFrame version 2"
fi
