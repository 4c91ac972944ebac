#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Build the program "mixed" on top of the SFrame libc:  build.sh DIR  (in the root)
#
# For another architecture, TRIPLET and GUEST are set, see demo/build-lib.sh.
set -eu

HERE=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../demo/build-lib.sh
. "$HERE/../demo/build-lib.sh"

LIB=$PREFIX/lib
mkdir -p "$1"
# shellcheck disable=SC2086 # a list
"$SFRAME_CC" -O2 -Wall -D_GNU_SOURCE -fomit-frame-pointer $PROTECTION -fno-plt -Wa,--gsframe \
	-Wl,-z,now -B"$DEST/lib" -L"$DEST/lib" -Wl,-rpath,"$LIB" \
	-Wl,--dynamic-linker="$LIB/$LOADER" -o "$1/mixed" /mnt/repo/qemu/programs/mixed.c
