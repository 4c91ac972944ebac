#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fetch the library that draws the demo's flame graphs:  fetch-flamegraph.sh DIR
#
# d3-flame-graph is what "perf script report flamegraph" draws with as well. No
# release of Debian has it, so it comes from npm, with d3 that it stands on, in
# the versions named here and no other: a package whose checksum is not the one
# below is refused. DIR then holds two scripts that run in any browser.
#
# Nothing is fetched when DIR has these versions.

. "$(dirname "$0")/../common.sh"

# name, version, SHA-512 of the package, the script in it
LIBRARIES=(
	d3 7.9.2 \
		64a6ff98e34f54acda3b952571673037c6d2e1ecef41a62ef9bb28bbe5e034005d182f34d24c07eb9d400d36db4f130f1d6d77525bdb41a7dd989403935c3b32 \
		d3.min.js
	d3-flame-graph 5.0.0 \
		00b650e1ab7c0dec7c1c2a23f43e69e5363a80b344736bc0640cbe34a3bfe862c47e1609986c58b910a53ba44fa29967772387c504cf8a976519e3208248ed9d \
		d3-flamegraph.umd.min.js
)

# pack NAME@VERSION - fetch a package into the current directory, by this machine's
# npm or else by that of the root
pack()
{
	if command -v npm >/dev/null; then
		npm pack --silent "$1"
		return
	fi
	root_packages npm
	in_root npm pack --silent --pack-destination "/mnt/cache/${PWD#"$CACHE"/}" "$1"
}

[ $# -eq 1 ] || die "usage: ${0##*/} DIR"
dir=$1
key=$(printf '%s\n' "${LIBRARIES[@]}" | sha256sum | cut -c1-16)
[ "$(cat "$dir/.key" 2>/dev/null)" != "$key" ] || exit 0

rm -rf "$dir"
mkdir -p "$dir"
cd "$dir"
set -- "${LIBRARIES[@]}"
while [ $# -gt 0 ]; do
	pack "$1@$2" >/dev/null
	tarball=$1-$2.tgz
	sha512sum --check --quiet <<<"$3  $tarball" ||
		die "npm's $tarball is not the package that was asked for"
	tar -xzf "$tarball" --strip-components=2 "package/dist/$4"
	rm -f "$tarball"
	shift 4
done
echo "$key" >.key
