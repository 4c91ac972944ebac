#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The demo: boots the guest, starts the table service, records programs of Debian with
# each method and prints one screen.  build/demo/ (of arm64, build/demo-arm64/) then has
#
#   perf.data      the last recording by SFrame, to be opened
#   service        what the service did
#   METHOD.html    a flame graph of each, by perf's flamegraph.py and d3-flame-graph.
#                  No release of Debian has the latter: where npm is not to be had,
#                  there are no pages
#   report.json    the figures
#   report.tap     what must hold on any machine

. "$(dirname "$0")/common.sh"

DEMO=$REPO/build/demo
[ "$ARCH" = x86_64 ] || DEMO+=-$ARCH
# The one that is shown, and others
METHODS="first@299 sframe@299 fp@299 dwarf-8192@99 dwarf-65528@99 immediate@299"
OTHERS_METHODS="first@299 sframe@299 fp@299 dwarf-8192@99 immediate@299"
OTHERS=${OTHERS-perl gawk sort cc1}
# The version that perf's script names; its template loads nothing
D3=d3-flame-graph
D3_VERSION=4.1.3
D3_SUM=3628ee849661693330a1b560c0643aef1f4fa2fa8c3075c16ecd0530710626fb16646b8be0ceceb01d37bfc9877725721e19d0606b189dbe70d36d5ef7e47e45

# fetch_template FILE - by this machine's npm, or else by the root's
fetch_template()
{
	local dir=$CACHE/sources

	[ ! -e "$1" ] || return 0
	mkdir -p "$dir"
	if command -v npm >/dev/null; then
		npm pack --silent --pack-destination "$dir" "$D3@$D3_VERSION" >/dev/null
	else
		(root_packages npm) &&
			in_root npm pack --silent --pack-destination /mnt/cache/sources "$D3@$D3_VERSION" >/dev/null
	fi && sha512sum --check --quiet <<<"$D3_SUM  $dir/$D3-$D3_VERSION.tgz" &&
		tar -xOf "$dir/$D3-$D3_VERSION.tgz" package/dist/templates/d3-flamegraph-base.html >"$1.new" &&
		mv "$1.new" "$1"
}

rm -rf "$DEMO"
mkdir -p "$DEMO"
template=$CACHE/sources/$D3-$D3_VERSION.html
fetch_template "$template" || say "no flame graphs: npm could not give the library that draws them"
say "booting the guest and recording (some two minutes)"
CMD="unwind-tables serve -v 2>/mnt/share/service &
	export EVENT=$EVENT BUILT=/mnt/cache/$BUILT figures=/mnt/repo/qemu/figures/guest.sh
	SIZE=4 sh \$figures methods /mnt/share '$OTHERS_METHODS' $OTHERS &&
	SIZE=6 KEEP=sframe sh \$figures methods /mnt/share '$METHODS' python3 &&
	unwind-tables status >/mnt/share/status && cat /proc/interrupts >/mnt/share/interrupts" \
	SHARE=$DEMO DMESG=$DEMO/dmesg "$REPO/qemu/guest.sh"
in_root env ARCH="$ARCH" python3 /mnt/repo/qemu/demo/report.py "/mnt/repo/build/${DEMO##*/}" \
	"/mnt/cache${template#"$CACHE"}"
