#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Fetch the sources of the programs whose stacks "make accuracy" judges; run in
# the Debian root.
#
#     fetch.sh DIR
#
# DIR/src	the upstream part of source packages, of the stable release, whose
#		packages do not go away
# DIR/gcc	the source of the root's own compiler, and its descriptions of its
#		targets, from the packages that compilers and plugins are built from:
#		what its runtime library is made of (see build-runtime.sh)
#
# apt works on lists and a state of its own in DIR, so that it neither changes
# the root nor is led by what is installed there.
set -eu

[ $# -eq 1 ] || { echo "usage: ${0##*/} DIR" >&2; exit 2; }
DIR=$1
APT=$DIR/apt
SOURCES="libevent lua5.4 memcached muparser xz-utils"
RELEASE=trixie
PACKAGES="gcc-14-plugin-dev gcc-14-plugin-dev-aarch64-linux-gnu gcc-14-source"

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

rm -rf "$APT" "$DIR/src" "$DIR/gcc"
mkdir -p "$APT/lists/partial" "$APT/archives/partial" "$APT/debs" "$DIR/src" "$DIR/gcc"
: >"$APT/status"

# The root's own first line names a mirror that works
line=$(sed -n 's/^deb //p' /etc/apt/sources.list | head -n 1)
[ -n "$line" ] || { echo "${0##*/}: no deb line in sources.list" >&2; exit 1; }
printf 'deb %s\n' "$line" >"$APT/list"
printf 'deb-src %s\n' "$line" | sed "s/ [a-z]* main.*/ $RELEASE main/" >>"$APT/list"
apt update

cd "$DIR/src"
# shellcheck disable=SC2086 # a list
apt source --download-only --tar-only $SOURCES
rm -f ./*.asc

cd "$APT/debs"
# shellcheck disable=SC2086 # a list
apt download $PACKAGES
for deb in *.deb; do
	dpkg-deb -x "$deb" "$DIR/gcc"
done
rm -rf "$DIR/gcc/usr/share"
cd "$DIR"
rm -rf "$APT"
