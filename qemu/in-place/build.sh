#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Build the program "mixed" on top of the SFrame libc:  build.sh DIR  (in the root)
set -eu

HERE=$(cd "$(dirname "$0")" && pwd)
LIB=/opt/sframe/lib
mkdir -p "$1"
gcc-14 -O2 -Wall -D_GNU_SOURCE -fomit-frame-pointer -fno-plt -Wa,--gsframe -Wl,-z,now \
	-B$LIB -Wl,-rpath,$LIB -Wl,--dynamic-linker=$LIB/ld-linux-x86-64.so.2 \
	-o "$1/mixed" "$HERE/mixed.c"
