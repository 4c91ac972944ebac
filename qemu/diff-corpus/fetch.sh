#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Fetch assembler, linker and libsframe that know SFrame version 2; run in the
# Debian root.
#
#     fetch.sh DIR
#
# They come to DIR/binutils2, beside the root's own: installed, their libraries
# would get into the way of the root's.  x86_64/ and aarch64/ in there have as and
# ld.  They are those of the stable release, whose packages do not go away.
#
# apt works on lists and a state of its own in DIR.  It neither changes the root nor
# depends on what is installed there.
set -eu

[ $# -eq 1 ] || { echo "usage: ${0##*/} DIR" >&2; exit 2; }
DIR=$1
APT=$DIR/apt
OLD=$DIR/binutils2

RELEASE=trixie
PACKAGES="binutils-aarch64-linux-gnu binutils-dev binutils-x86-64-linux-gnu
	libbinutils libctf0 libsframe1"

apt() {
	command=$1
	shift
	apt-get -q "$command" -o Dir::Etc::SourceList="$APT/list" \
		-o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$APT/lists" \
		-o Dir::State::Status="$APT/status" -o Dir::Cache="$APT" \
		-o APT::Sandbox::User=root \
		-o Acquire::Check-Valid-Until=false "$@"
}

rm -rf "$APT" "$OLD"
mkdir -p "$APT/lists/partial" "$APT/archives/partial" "$APT/debs" "$OLD"
: >"$APT/status"

# The root's own first line, for that release: it names a mirror that works
line=$(sed -n "s/^deb \(.*\) [a-z]* main.*/\1 $RELEASE main/p" \
	/etc/apt/sources.list | head -n 1)
[ -n "$line" ] || { echo "${0##*/}: no deb line in sources.list" >&2; exit 1; }
echo "deb $line" >"$APT/list"
apt update

cd "$APT/debs"
# shellcheck disable=SC2086 # a list
apt download $PACKAGES
for deb in *.deb; do
	dpkg-deb -x "$deb" "$OLD"
done

# What is large, and not needed
find "$OLD" -name '*.a' ! -name libsframe.a -delete
rm -rf "${OLD:?}/usr/share"

for target in x86_64 aarch64; do
	mkdir -p "$OLD/$target"
	for tool in as ld; do
		cat >"$OLD/$target/$tool" <<-END
			#!/bin/sh
			LD_LIBRARY_PATH=$OLD/usr/lib/x86_64-linux-gnu exec \\
				$OLD/usr/bin/$target-linux-gnu-$tool "\$@"
		END
		chmod +x "$OLD/$target/$tool"
		"$OLD/$target/$tool" --version | head -n 1
	done
done
rm -rf "$APT"
