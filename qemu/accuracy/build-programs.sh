#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Build the programs whose stacks "make accuracy" judges, on top of the SFrame
# libc; run in the Debian root.
#
#     build-programs.sh DIR WORKDIR      (DIR: what fetch.sh fetched)
#
#	lua        an interpreter, which leaves its C functions by longjmp
#	xz         a compressor, with threads and a library of its own
#	muparser   a C++ library and the program that its package tests it with; it
#	           throws an exception for each wrong expression
#	memcached  a server with threads, and libevent, that it waits with
#	memload    what keeps memcached busy; ours
#
# The database is the demo's, built by build-program.sh there.
#
# Each is compiled and linked with the options that Debian's own packages are
# built with, as dpkg-buildflags tells them: optimisation, hardening, no frame
# pointers.  To the assembler's option are added -fno-plt and -z now, which are not
# Debian's (build-program.sh says why).  .eh_frame
# stays, for the rivals and the judge, and .symtab, so that frames have names.
set -eu

[ $# -eq 2 ] || { echo "usage: ${0##*/} DIR WORKDIR" >&2; exit 2; }
DIR=$1
WORK=$2
HERE=$(cd "$(dirname "$0")" && pwd)
DEMO=$HERE/../demo
# shellcheck source=../demo/build-lib.sh
. "$DEMO/build-lib.sh"

RUNTIME_STAMP=$DEST/.runtime-stamp
[ -f "$RUNTIME_STAMP" ] || die "no libstdc++ in $DEST; run build-runtime.sh first"

HASH=$({ cat "$0" "$HERE/../programs/memload.c" "$DEMO/build-lib.sh" "$DEST/.libc-stamp" "$RUNTIME_STAMP"
	 ls "$DIR/src"; } | input_hash -)
STAMP=$DEST/.accuracy-stamp
if [ -f "$STAMP" ] && [ "$(cat "$STAMP")" = "$HASH" ]; then
	say "programs with SFrame: up to date in $DEST"
	exit 0
fi

LIB=$PREFIX/lib
# The flags are those of the target: on arm64, also of signed return addresses
[ -z "$TRIPLET" ] || export DEB_HOST_ARCH=arm64
HOST=${TRIPLET:+--host=$TRIPLET}
COMPILE="-fomit-frame-pointer -fno-plt -Wa,--gsframe"
CFLAGS="$(dpkg-buildflags --get CFLAGS) $COMPILE"
CXXFLAGS="$(dpkg-buildflags --get CXXFLAGS) $COMPILE"
CPPFLAGS=$(dpkg-buildflags --get CPPFLAGS)
# -B makes the compiler driver take crt1.o and its kin, and the linker its libc,
# from our directory before the system's
LDFLAGS="$(dpkg-buildflags --get LDFLAGS) -Wl,-z,now -B$DEST/lib -L$DEST/lib
	-Wl,-rpath,$LIB -Wl,-rpath-link,$DEST/lib -Wl,--dynamic-linker=$LIB/$LOADER"
LDFLAGS=$(echo $LDFLAGS)
CC=$SFRAME_CC
CXX=${TOOL}g++-14
export CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS

mkdir -p "$WORK"
WORK=$(cd "$WORK" && pwd)
LOG=$WORK/programs.log
STAGE=$WORK/programs-stage
NEW=$STAGE$PREFIX
: >"$LOG"
rm -rf "$STAGE"
mkdir -p "$NEW/bin" "$NEW/lib"

# source PACKAGE: unpack it and go there
source_of() {
	rm -rf "$WORK/source"
	mkdir "$WORK/source"
	must "unpack $1" tar -xf "$(echo "$DIR/src/$1"_*.orig.tar.*)" \
		-C "$WORK/source" --strip-components=1
	cd "$WORK/source"
}

build_lua() {
	source_of lua5.4
	must "compile lua" make -C src "-j$JOBS" CC="$CC" CFLAGS="$CFLAGS $CPPFLAGS -DLUA_USE_LINUX" \
		MYLDFLAGS="$LDFLAGS" SYSLIBS="-Wl,-E -ldl" lua
	cp src/lua "$NEW/bin/"
}

build_xz() {
	source_of xz-utils
	must "configure xz" ./configure $HOST --prefix="$PREFIX" --disable-nls --disable-doc \
		--disable-static --disable-scripts --disable-xzdec --disable-lzmadec \
		--disable-lzmainfo --disable-lzma-links --disable-dependency-tracking
	must "compile xz" make "-j$JOBS"
	cp src/xz/.libs/xz "$NEW/bin/"
	cp -L src/liblzma/.libs/liblzma.so.5 "$NEW/lib/"
}

build_muparser() {
	source_of muparser
	# Its own build wants cmake for ten files; the test is part of the library
	cat >accuracy.mk <<-'END'
		OBJECTS := $(patsubst %.cpp,%.o,$(wildcard src/*.cpp))
		CPPFLAGS += -Iinclude -DMUPARSER_DLL -DMUPARSERLIB_EXPORTS
		muparser: samples/example1/example1.o libmuparser.so.2; $(CXX) $(LDFLAGS) -o $@ $^
		libmuparser.so.2: $(OBJECTS); $(CXX) $(LDFLAGS) -shared -Wl,-soname,$@ -o $@ $^
		$(OBJECTS): CXXFLAGS += -fPIC
	END
	must "compile muparser" make -f accuracy.mk "-j$JOBS"
	cp muparser "$NEW/bin/"
	cp libmuparser.so.2 "$NEW/lib/"
}

build_memcached() {
	source_of libevent
	must "configure libevent" ./configure $HOST --prefix="$WORK/libevent" --disable-openssl \
		--disable-samples --disable-libevent-regress --disable-static \
		--disable-debug-mode --disable-dependency-tracking
	must "compile libevent" make "-j$JOBS"
	must "install libevent aside" make install
	cp -L .libs/libevent-2.1.so.7 "$NEW/lib/"

	source_of memcached
	# What it finds out by running programs; both targets are like that
	must "configure memcached" env ac_cv_c_endian=little ac_cv_c_alignment=none \
		ac_cv_libevent_dir="$WORK/libevent" ./configure $HOST --prefix="$PREFIX" --with-libevent="$WORK/libevent" \
		--disable-coverage --disable-docs --disable-dependency-tracking
	must "compile memcached" make "-j$JOBS" memcached
	cp memcached "$NEW/bin/"
	# shellcheck disable=SC2086 # lists
	must "compile memload" "$CC" $CFLAGS $CPPFLAGS $LDFLAGS -Wall -o "$NEW/bin/memload" "$HERE/../programs/memload.c"
	rm -rf "$WORK/libevent"
}

say "programs with SFrame: building, log in $LOG"
for program in lua xz muparser memcached; do
	"build_$program"
done
for file in "$NEW"/bin/* "$NEW"/lib/*; do
	"${TOOL}strip" --strip-debug "$file"
	counts=$(sframe_counts "$file")
	[ "${counts%% *}" -gt 0 ] || failed "$file has no SFrame data"
	say "    ${file##*/}: ${counts% *} functions, ${counts#* } rows of SFrame"
	# What the program brings along comes from our directory, as does libc
	readelf -dW "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | while read -r needed; do
		[ -e "$NEW/lib/$needed" ] || [ -e "$DEST/lib/$needed" ] || exit 1
	done || failed "$file needs a library that is not ours"
done

rm -f "$STAMP"
for file in bin lib; do
	for path in "$NEW/$file"/*; do
		cp "$path" "$DEST/$file/${path##*/}.new"
		mv "$DEST/$file/${path##*/}.new" "$DEST/$file/${path##*/}"
	done
done
printf '%s\n' "$HASH" >"$STAMP.new"
mv "$STAMP.new" "$STAMP"
cd /
rm -rf "$STAGE" "$WORK/source"
say "programs with SFrame: installed in $DEST"
