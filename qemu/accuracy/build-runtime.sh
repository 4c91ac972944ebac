#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Build the compiler's runtime libraries for C++ with SFrame stack-trace data and
# put them in /opt/sframe; run in the Debian root.
#
#     build-runtime.sh DIR WORKDIR      (DIR: what fetch.sh fetched)
#
# A C++ program that throws is, each time, several frames deep in two libraries
# that are not its own: libstdc++, which begins a throw, and libgcc_s, which looks
# for the handler.  Debian's have neither frame pointers nor tables.  Both are
# built here from the source of the very compiler that the root has.
#
# libstdc++ is built as it comes, without the rest of the compiler.  libgcc is not
# made for that, and most of it (arithmetic that a processor lacks) is of no
# concern here: libgcc_s.so.1 is made of its unwinder alone, which is all that
# libstdc++ and libc take from it, with the symbol versions of Debian's.
set -eu

[ $# -eq 2 ] || { echo "usage: ${0##*/} DIR WORKDIR" >&2; exit 2; }
DIR=$1
WORK=$2
HERE=$(cd "$(dirname "$0")" && pwd)
DEMO=$HERE/../demo
# shellcheck source=../demo/build-lib.sh
. "$DEMO/build-lib.sh"

LIBC_STAMP=$DEST/.libc-stamp
[ -f "$LIBC_STAMP" ] || die "no libc in $DEST; run build-libc.sh first"
set -- "$DIR"/gcc/usr/src/gcc-14/gcc-*.tar.xz
[ $# -eq 1 ] && [ -f "$1" ] || die "no source of the compiler in $DIR"
TARBALL=$1
TARGET=$("$SFRAME_CC" -dumpmachine)
PLUGIN=$DIR/gcc/usr/lib/gcc${TRIPLET:+-cross}/$TARGET/14/plugin/include
# What is taken over is what Debian's library promises
DEBIAN=$GUEST/usr/lib/$TARGET/libgcc_s.so.1
LIBS="-B$DEST/lib -L$DEST/lib"
# The headers and sources of libgcc's own for this target (see its config.host)
case $TARGET in
aarch64-*)
	CPU=aarch64
	CPU_HEADERS=value-unwind.h
	# What its unwinder calls where it leaves a function that may use SME
	CPU_SOURCES="__aarch64_have_sme.c __arm_tpidr2_save.S __arm_za_disable.S"
	;;
*)
	CPU=i386
	CPU_HEADERS="elf-lib.h value-unwind.h"
	CPU_SOURCES=
	;;
esac

HASH=$({ cat "$0" "$DEMO/build-lib.sh" "$LIBC_STAMP"; basename "$TARBALL"; } | input_hash -)
STAMP=$DEST/.runtime-stamp
if [ -f "$STAMP" ] && [ "$(cat "$STAMP")" = "$HASH" ]; then
	say "libstdc++ with SFrame: up to date in $DEST"
	exit 0
fi

mkdir -p "$WORK"
WORK=$(cd "$WORK" && pwd)
LOG=$WORK/runtime.log
SOURCE=$WORK/runtime-source
BUILD=$WORK/runtime-build
: >"$LOG"
rm -rf "$SOURCE" "$BUILD"
mkdir -p "$SOURCE" "$BUILD/gcc" "$BUILD/v3"

say "libstdc++ with SFrame: building $(basename "$TARBALL"), log in $LOG"
must "unpack" tar -xf "$TARBALL" -C "$SOURCE" --strip-components=1 --wildcards \
	--exclude='*/testsuite/*/*' 'gcc-*/libstdc++-v3' 'gcc-*/libgcc' \
	'gcc-*/include' 'gcc-*/config' 'gcc-*/libiberty' 'gcc-*/gcc/BASE-VER' \
	'gcc-*/gcc/DATESTAMP' 'gcc-*/config*' 'gcc-*/*.sh' 'gcc-*/install-sh' \
	'gcc-*/missing' 'gcc-*/mkinstalldirs' 'gcc-*/move-if-change'

# The headers that libgcc's own build would put together, and the versions of Debian's
# symbols
cd "$BUILD/gcc"
printf '%s\n' '#define USED_FOR_TARGET' '#include "auto-host.h"' '#include "ansidecl.h"' >tconfig.h
for file in $CPU_HEADERS; do
	printf '#include "config/%s/%s"\n' "$CPU" "$file"
done >libgcc_tm.h
: >auto-target.h
cp "$SOURCE/libgcc/unwind-generic.h" unwind.h
cp "$SOURCE/libgcc/gthr-posix.h" gthr-default.h
cp "$SOURCE/libgcc/config/$CPU/linux-unwind.h" md-unwind-support.h
# shellcheck disable=SC2086 # lists
for file in unwind-dw2.c unwind-dw2-fde-dip.c unwind-c.c $CPU_SOURCES; do
	[ -e "$SOURCE/libgcc/$file" ] || file=config/$CPU/$file
	must "compile $file" "$SFRAME_CC" -O2 -fomit-frame-pointer $PROTECTION -fno-plt -Wa,--gsframe \
		-fPIC -DPIC -DSHARED -DIN_GCC -DIN_LIBGCC2 -DHAVE_CC_TLS -DUSE_TLS \
		-fexceptions -fno-stack-protector -fbuilding-libgcc -pthread \
		-I. -I"$SOURCE/libgcc" -I"$SOURCE/libgcc/config/$CPU" -I"$PLUGIN" -I"$SOURCE/include" \
		-c "$SOURCE/libgcc/$file" -o "$(basename "$file").o"
done
"${TOOL}nm" -g --defined-only ./*.o | awk 'NF == 3 { print $3 }' | sort -u >defined
readelf --dyn-syms -W "$DEBIAN" | awk '
	NR == FNR { defined[$1] = 1; next }
	match($8, /@@?[A-Z]+_/) {
		name = substr($8, 1, RSTART - 1)
		version = $8
		sub(/^.*@/, "", version)
		if ($7 != "UND" && name in defined)
			symbols[version] = symbols[version] " " name ";"
	}
	END {
		# No version contains another: each symbol has its one
		for (version in symbols)
			printf "%s { global:%s%s };\n", version, symbols[version],
				n++ ? "" : " local: *;"
	}' defined - >map
grep -q _Unwind_RaiseException map || failed "no versions in $DEBIAN"
# shellcheck disable=SC2086 # a list: link with the libc in there
must "link libgcc_s" "$SFRAME_CC" $LIBS -shared -nodefaultlibs \
	-Wl,-soname,libgcc_s.so.1 -Wl,-z,now -Wl,--version-script=map -Wl,-z,defs \
	-o libgcc_s.so.1 ./*.o -lc -lgcc

cd "$BUILD/v3"
# As the compiler's build has it: the threads of this target, and none of the
# installed headers
ln -s gthr-posix.h "$SOURCE/libgcc/gthr-default.h"
must "configure" env CC="$SFRAME_CC ${PROTECTION:+$PROTECTION }-Wa,--gsframe" \
	CXX="${TOOL}g++-14 -nostdinc++ ${PROTECTION:+$PROTECTION }-Wa,--gsframe" \
	CFLAGS="-O2 -fomit-frame-pointer -fno-plt" \
	CXXFLAGS="-O2 -fomit-frame-pointer -fno-plt" LDFLAGS="$LIBS" \
	"$SOURCE/libstdc++-v3/configure" --prefix="$PREFIX" --disable-multilib \
	${TRIPLET:+--host="$TRIPLET" --build="$($BUILD_CC -dumpmachine)"} \
	--disable-nls --disable-libstdcxx-pch --disable-static --disable-werror
# The parts of the shared library, and no others
for part in include libsupc++ src/c++98 src/c++11 src/c++17 src/c++20; do
	must "compile $part" make -C "$part" "-j$JOBS"
done
# What libgcc has in arithmetic becomes a part of it: our libgcc_s has none
must "link" make -C src libstdc++.la OPT_LDFLAGS="-Wl,-O1 -Wl,-z,now -lgcc"
cp src/.libs/libstdc++.so.6.*[0-9] libstdc++.so.6

cd "$BUILD"
# shellcheck disable=SC2086 # a list
must "link with both" "$SFRAME_CC" $LIBS -shared \
	-Wl,--no-allow-shlib-undefined,--no-as-needed,-rpath-link,gcc,-rpath-link,"$DEST/lib" \
	-o both v3/libstdc++.so.6 gcc/libgcc_s.so.1
for file in gcc/libgcc_s.so.1 v3/libstdc++.so.6; do
	"${TOOL}strip" --strip-debug "$file"
	counts=$(sframe_counts "$file")
	[ "${counts%% *}" -gt 20 ] || failed "$file has no SFrame data"
	say "    ${file##*/}: ${counts% *} functions, ${counts#* } rows of SFrame"
done
rm -f "$STAMP"
for file in gcc/libgcc_s.so.1 v3/libstdc++.so.6; do
	cp "$file" "$DEST/lib/${file##*/}.new"
	mv "$DEST/lib/${file##*/}.new" "$DEST/lib/${file##*/}"
done
# What the linker looks for
ln -sf libstdc++.so.6 "$DEST/lib/libstdc++.so"
printf '%s\n' "$HASH" >"$STAMP.new"
mv "$STAMP.new" "$STAMP"
cd /
rm -rf "$SOURCE" "$BUILD"
say "libstdc++ with SFrame: installed in $DEST"
