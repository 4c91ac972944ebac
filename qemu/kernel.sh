#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Configure and build the guest's kernel, its modules and its headers for user space,
# inside the Debian root and out of tree: kernel.sh [KERNEL]
#
# The configuration is tinyconfig plus the fragments in qemu/config: of all kernels, of
# the architecture, of all but "be", of the kind. An option of a fragment that Kconfig
# drops is an error: otherwise a test that needs it would be skipped unnoticed.

KERNEL=${1:-${KERNEL:-normal}}
. "$(dirname "$0")/common.sh"

NAME=$ARCH-$KERNEL$OF_BASE
TREE=tree$OF_BASE
OUT=/mnt/cache/out/$NAME
WHAT="the $KERNEL kernel${TRIPLET:+ for $ARCH}"
case $KERNEL in cfi|kmsan) TOOLCHAIN+=(CC=clang) ;; esac # that no other can build

fragments()
{
	local name names="base $ARCH"

	[ "$KERNEL" = be ] || names+=" guest $ARCH-guest"
	for name in $names "$BASE" "$KERNEL" "$NAME"; do
		[ ! -e "$REPO/qemu/config/$name.config" ] || echo "$name.config"
	done
}
mapfile -t FRAGMENTS < <(fragments)
cd "$REPO/qemu/config" || exit

config_key() { { cat "${FRAGMENTS[@]}" "$CACHE/$TREE.base"; grep Kconfig "$CACHE/$TREE.sums"; } | sha256sum; }

# tree.sh's checksums cover the files that differ from the base
kernel_key()
{
	{
		echo "$(config_key) $(stamp root)"
		grep -vE '  (Documentation|tools/(perf|testing|unwind))/' "$CACHE/$TREE.sums"
	} | sha256sum
}

# lost_options FRAGMENT... LOG - merge_config.sh also reports tinyconfig's options, where
# a fragment selects another value
lost_options()
{
	awk 'FILENAME != ARGV[ARGC - 1] { if (match($0, /CONFIG_[A-Z0-9_]+/)) named[substr($0, RSTART, RLENGTH)] }
	     /Value requested for/ && match($0, /CONFIG_[A-Z0-9_]+/) { name = substr($0, RSTART, RLENGTH) }
	     /^Requested value:/ { off = /is not set/ }
	     /^Actual value:/ && name in named && !(off && NF == 2) { print name }' "$@"
}

configure()
{
	local lost

	step "configuring $WHAT" in_root make -C /mnt/cache/$TREE O="$OUT" "${TOOLCHAIN[@]}" -s tinyconfig
	# shellcheck disable=SC2016 # for the inner shell
	step "configuring $WHAT (options)" in_root env MAKEFLAGS="s -- ${TOOLCHAIN[*]}" sh -ec 'cd "$0"
		merge=$1; shift
		exec "$merge" .config "$@"' \
		"$OUT" "/mnt/cache/$TREE/scripts/kconfig/merge_config.sh" "${FRAGMENTS[@]/#//mnt/repo/qemu/config/}"
	# Mainline does not have all of them
	lost=$(lost_options "${FRAGMENTS[@]}" "$LOG" | { grep -vxFf <(cat "$BASE.lost" 2>&-) || true; } | paste -sd ' ')
	[ -z "$lost" ] || die "the configuration of $WHAT lost options: $lost"
}

build()
{
	share tree
	mkdir -p "$CACHE/out/$NAME"
	once "config-$NAME" "$CACHE/out/$NAME/.config" config_key configure
	step "building $WHAT" in_root make -C /mnt/cache/$TREE O="$OUT" "${TOOLCHAIN[@]}" -j"$JOBS" \
		"${IMAGE##*/}" modules headers
}

need_machine
once "kernel-$NAME" "$CACHE/out/$NAME/$IMAGE" kernel_key build
