#!/bin/sh
# Fetch Debian's source of the demonstration's program while its root is made.
#
#     mmdebstrap ... --customize-hook='.../fetch-source.sh "$1"' ...
#
# A customize hook of mmdebstrap; its argument is the new root.  The package
# source comes from where the root's packages came from: the deb line that
# mmdebstrap wrote for the release is turned into a deb-src line, in a file
# that only this script uses and that does not stay.
# apt runs with mmdebstrap's own configuration, therefore with its keys and
# its state in the new root.  What stays is in /usr/src/sqlite3.
set -eu

ROOT=$1
LIST=$ROOT/tmp/fetch-source.list
DEST=$ROOT/usr/src/sqlite3

sed -n 's/^deb /deb-src /p' "$ROOT/etc/apt/sources.list" | head -n 1 >"$LIST"
[ -s "$LIST" ] || { echo "${0##*/}: no deb line in the root's sources.list" >&2; exit 1; }

export APT_CONFIG="${MMDEBSTRAP_APT_CONFIG:-}"
apt() {
	command=$1
	shift
	apt-get -q "$command" -o Dir::Etc::SourceList="$LIST" \
		-o Dir::Etc::SourceParts=/dev/null \
		-o APT::Sandbox::User=root "$@"
}

rm -rf "$DEST"
mkdir -p "$DEST"
cd "$DEST"
apt update
apt source --download-only sqlite3
rm -f "$LIST" sqlite3_*.orig-www.tar.*
for tarball in sqlite3_*.orig.tar.*; do
	[ -f "$tarball" ] || { echo "${0##*/}: no source came" >&2; exit 1; }
done
