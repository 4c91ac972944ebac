#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Configures and builds the guest's kernel, inside the Debian root and out of
# tree:  kernel.sh [normal|debug|off|kcsan|be]
#
# The configuration is tinyconfig plus the fragments in qemu/config: of all, of
# the architecture, of the kind, of both.  An option of a fragment that does not
# survive "make olddefconfig" is an error: a test that needs it would otherwise be
# skipped without anybody noticing.

. "$(dirname "$0")/common.sh"

KIND=${1:-normal}
OUT=$CACHE/out/$ARCH-$KIND
WHAT="the $KIND kernel"
[ "$ARCH" = x86_64 ] || WHAT+=" for $ARCH"

kmake() { in_root make -C /mnt/cache/tree O="/mnt/cache/out/$ARCH-$KIND" "${TOOLCHAIN[@]}" -j"$JOBS" "$@"; }

fragments()
{
	local config=$REPO/qemu/config

	echo "$config/guest.config" "$config/$ARCH.config"
	[ "$KIND" = normal ] || echo "$config/$KIND.config"
	[ ! -e "$config/$ARCH-$KIND.config" ] || echo "$config/$ARCH-$KIND.config"
}

configure()
{
	local key line bad=0

	# shellcheck disable=SC2046
	key=$(cat $(fragments) "$CACHE/tree.base" | sha256sum | cut -c1-16)
	[ "$(stamp "config-$ARCH-$KIND")" = "$key" ] && [ -s "$OUT/.config" ] && return 0
	mkdir -p "$OUT"
	step "configuring $WHAT" kmake -s tinyconfig
	# A later line wins; "n" is spelled as Kconfig spells it.
	# shellcheck disable=SC2046
	cat $(fragments) | sed 's/^\(CONFIG_[A-Z0-9_]*\)=n$/# \1 is not set/' >>"$OUT/.config"
	step "configuring $WHAT (options)" kmake -s olddefconfig
	# shellcheck disable=SC2046
	while read -r line; do
		case $line in
		CONFIG_*=n) grep -q "^${line%=n}=" "$OUT/.config" && { say "not unset: $line"; bad=1; } ;;
		CONFIG_*) grep -qxF "$line" "$OUT/.config" || { say "not set: $line"; bad=1; } ;;
		esac
	done < <(cat $(fragments) | awk -F= '/^CONFIG/ { v[$1] = $0 } END { for (k in v) print v[k] }')
	[ $bad = 0 ] || die "the configuration of $WHAT lost options."
	set_stamp "config-$ARCH-$KIND" "$key"
}

need_machine
lock
configure
step "building $WHAT" kmake "${IMAGE##*/}" modules
