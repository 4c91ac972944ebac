#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds the corpus that the differential test of the decoder reads: programs and
# libraries with SFrame tables of version 2 and 3, for x86-64 and arm64, in
# $CACHE/diff-corpus/files.  Sources and the binutils for version 2 are fetched once;
# where they cannot be, that is said, and the test goes without.

. "$(dirname "$0")/common.sh"

CORPUS=$CACHE/diff-corpus
RECIPES=$REPO/qemu/diff-corpus

fetch()
{
	local key

	key=$(sha256sum <"$RECIPES/fetch.sh" | cut -c1-16)
	[ "$(stamp diff-corpus-source)" = "$key" ] && [ -d "$CORPUS/src" ] && return 0
	mkdir -p "$CORPUS"
	root_network
	# In a subshell, so that a failure ends the step and not this script
	(step "fetching the corpus" in_root env \
		${http_proxy:+"http_proxy=$http_proxy"} \
		sh /mnt/repo/qemu/diff-corpus/fetch.sh /mnt/cache/diff-corpus) || return 1
	set_stamp diff-corpus-source "$key"
}

build()
{
	local key

	key=$({
		cat "$RECIPES/build.sh" "$RECIPES/Makefile"
		stamp diff-corpus-source
		ls "$CORPUS/src"
		for tool in gcc-14 as ld; do
			in_root $tool --version
			in_root aarch64-linux-gnu-$tool --version
		done
	} | sha256sum | cut -c1-16)
	[ "$(stamp diff-corpus)" = "$key" ] && [ -d "$CORPUS/files" ] && return 0
	rm -rf "$CORPUS/files" "$CORPUS/work"
	step "building the corpus" in_root make -j"$JOBS" -f /mnt/repo/qemu/diff-corpus/Makefile \
		DIR=/mnt/cache/diff-corpus
	rm -rf "$CORPUS/work"
	set_stamp diff-corpus "$key"
}

need_machine
"$REPO/qemu/root.sh"
lock
if fetch; then
	build
else
	rm -rf "$CORPUS"
	say "the differential test goes without its corpus"
fi
