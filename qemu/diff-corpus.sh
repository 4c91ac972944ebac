#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fetches what the differential test of the decoder cannot make itself: assembler,
# linker and libsframe of the binutils that write SFrame version 2, of the stable release.
# They come to $CACHE/diff-corpus/binutils2, beside the root's own, with all libraries that
# they need; x86_64/ and aarch64/ in there have as and ld.  They are fetched once.  Where
# they cannot be, the test goes without version 2, and says so.

. "$(dirname "$0")/common.sh"

OLD=$CACHE/diff-corpus/binutils2
PACKAGES=binutils-x86-64-linux-gnu,binutils-aarch64-linux-gnu,binutils-dev

fetch()
{
	local target tool

	rm -rf "$OLD"
	mkdir -p "$OLD"
	mmdebstrap --variant=extract --mode=root --aptopt='Acquire::Check-Valid-Until "false"' \
		--include=$PACKAGES trixie "$OLD" || return
	find "$OLD" -name '*.a' ! -name libsframe.a -delete
	rm -rf "${OLD:?}"/{usr/share,var}
	for target in x86_64 aarch64; do
		mkdir -p "$OLD/$target"
		for tool in as ld; do
			cat >"$OLD/$target/$tool" <<-'END'
				#!/bin/sh
				at=${0%/*} old=${0%/*/*}
				exec "$old/usr/lib64/ld-linux-x86-64.so.2" --library-path "$old/usr/lib/x86_64-linux-gnu" \
					"$old/usr/bin/${at##*/}-linux-gnu-${0##*/}" "$@"
			END
			chmod +x "$OLD/$target/$tool"
			in_root "/mnt/cache/diff-corpus/binutils2/$target/$tool" --version || return
		done
	done
}

key() { sha256sum <"$0" | cut -c1-16; }

need_machine
"$REPO/qemu/root.sh"
host_packages mmdebstrap
# In a subshell, so that a failure ends the step and not this script
(once diff-corpus-source "$OLD/x86_64/as" key step "fetching binutils for SFrame version 2" fetch) || {
	rm -rf "$OLD"
	say "the differential test goes without SFrame version 2"
}
