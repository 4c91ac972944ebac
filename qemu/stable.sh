#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fetches programs of Debian's stable release that tests on the host need beside the
# root's own, which is of another release:  stable.sh NAME
#
#   binutils2   assembler, linker and libsframe that write SFrame version 2, for the
#               differential test of the decoder
#   cbmc        for the proofs about the decoder; the root's release has none
#
# They come to $CACHE/stable/NAME, once, with all libraries that they need.  A program runs
# in the root by its name in $CACHE/stable/NAME/run.

. "$(dirname "$0")/common.sh"

case ${1:-} in
binutils2)
	packages=binutils-x86-64-linux-gnu,binutils-aarch64-linux-gnu,binutils-dev
	programs=({x86_64,aarch64}-linux-gnu-{as,ld}) ;;
cbmc)
	packages=cbmc
	programs=(cbmc) ;;
*)
	die "usage: stable.sh binutils2|cbmc" ;;
esac
AT=$CACHE/stable/$1

fetch()
{
	local program

	rm -rf "$AT.new"
	mkdir -p "$AT.new"
	mmdebstrap --variant=extract --mode=root --aptopt='Acquire::Check-Valid-Until "false"' \
		--include="$packages" trixie "$AT.new" || return
	mkdir "$AT.new/run"
	for program in "${programs[@]}"; do
		cat >"$AT.new/run/$program" <<-'END'
			#!/bin/sh
			usr=${0%/*}/../usr
			exec "$usr/lib64/ld-linux-x86-64.so.2" --library-path "$usr/lib/x86_64-linux-gnu:$usr/lib" \
				"$usr/bin/${0##*/}" "$@"
		END
		chmod +x "$AT.new/run/$program"
		in_root "/mnt/cache/stable/$1.new/run/$program" --version || return
	done
	rm -rf "$AT"
	mv "$AT.new" "$AT"
}

key() { sha256sum <"$0" | cut -c1-16; }

need_machine
host_packages mmdebstrap
once "stable-$1" "$AT/run" key step "fetching $1 of Debian's stable release" fetch "$1"
