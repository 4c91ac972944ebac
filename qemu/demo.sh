#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The demo: boots the guest, records the same program with each method, and
# prints one screen.  The figures stay in build/demo/ of the clone, with a page
# of flame graphs to be opened in a browser, flamegraphs.html.
#
# The page needs a library from npm.  Where that cannot be had, the rest is as it
# is, and the page is not there.

. "$(dirname "$0")/common.sh"

Q=$REPO/qemu
DEMO=$REPO/build/demo
LIBRARY=$CACHE/flamegraph
METHODS="sframe fp dwarf in-place"

# page_of_graphs - the page, from what the guest left
page_of_graphs()
{
	local method scripts=()

	for method in $METHODS; do
		scripts+=("$method=/mnt/repo/build/demo/$method.script")
	done
	in_root python3 /mnt/repo/qemu/demo/page.py \
		--report /mnt/repo/build/demo/report.json \
		--library /mnt/cache/flamegraph/d3.min.js \
		--library /mnt/cache/flamegraph/d3-flamegraph.umd.min.js \
		--out /mnt/repo/build/demo/flamegraphs.html "${scripts[@]}"
}

mkdir -p "$DEMO"
rm -f "$DEMO/flamegraphs.html"
say "booting the guest and recording (about a minute)"
CMD="PERF=/mnt/cache/$BUILT/perf/perf EVENT=$EVENT METHODS='$METHODS' sh /mnt/repo/qemu/demo/run.sh /tmp/demo &&
	cp /tmp/demo/report.json /tmp/demo/*.script /proc/interrupts /mnt/share/" \
SHARE=$DEMO DMESG=$DEMO/dmesg "$Q/guest.sh"

if "$Q/demo/fetch-flamegraph.sh" "$LIBRARY"; then
	page_of_graphs
	say "flame graphs of all methods: $DEMO/flamegraphs.html"
else
	say "no page of flame graphs: npm could not give the library that draws them"
fi
rm -f "$DEMO"/*.script
