#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the Debian root: builds one package with SFrame tables and installs it in
# /opt/sframe of the guest's root.  qemu/programs.sh calls it.
#
#     build.sh key NAME     print what the result depends on, as one word
#     build.sh build NAME   build and install it
#
# A stack is only as good as its weakest function.  Debian's libraries have
# neither frame pointers nor tables, so each stack would end in the C library.
# Everything here is built from Debian's sources, with the flags of Debian's own
# packages (dpkg-buildflags) and the assembler's --gsframe.  .eh_frame stays for
# DWARF, .symtab for names.
#
# -fno-plt and -z now are not Debian's: a PLT has no source that an assembler
# could see, and binutils 2.47 writes a wrong table for .plt.got (sp+16 where
# .eh_frame says sp+8).
#
# TRIPLET names the tools and GUEST the guest's root where the guest is of
# another architecture than this machine.

# shellcheck disable=SC2086 # options are lists
set -euo pipefail

SOURCES=/mnt/cache/sources
HERE=/mnt/repo/tools/unwind/tests/workloads
PREFIX=/opt/sframe
LIB=$PREFIX/lib
DEST=${GUEST:=}$PREFIX
TOOL=${TRIPLET:+$TRIPLET-}
HOST=${TRIPLET:+--host=$TRIPLET --build=x86_64-linux-gnu}
export CC=${TOOL}gcc-14 CXX=${TOOL}g++-14
MACHINE=$($CC -dumpmachine)
case $MACHINE in
aarch64-*)
	LOADER=ld-linux-aarch64.so.1
	# Distributions have return addresses signed
	TABLES="-mbranch-protection=standard -Wa,--gsframe"
	export DEB_HOST_ARCH=arm64 ;;
*)
	LOADER=ld-linux-x86-64.so.2
	TABLES=-Wa,--gsframe ;;
esac

fail() { echo "$NAME: $*" >&2; exit 1; }

# fetch PACKAGE RELEASE - its source.  apt has lists of its own here, so it leaves the
# root's alone.
fetch()
{
	local apt=$SOURCES/apt options

	compgen -G "$SOURCES/$1_*.orig.tar.*" >/dev/null && return
	mkdir -p "$apt/lists/partial"
	sed -n "s/^deb \([^ ]*\) .*/deb-src \1 $2 main/p" /etc/apt/sources.list |
		head -n 1 >"$apt/list"
	options=(-q -o "Dir::Etc::SourceList=$apt/list" -o Dir::Etc::SourceParts=/dev/null
		 -o "Dir::State::Lists=$apt/lists" -o APT::Sandbox::User=root
		 -o Acquire::Check-Valid-Until=false)
	apt-get "${options[@]}" update
	(cd "$SOURCES" && apt-get "${options[@]}" source --download-only --tar-only "$1")
}

# unpack TARBALL [OPTION...] - in $WORK/source, and go there
unpack()
{
	[ -f "$1" ] || fail "there is no source $1"
	mkdir -p "$WORK/source"
	tar -xf "$1" -C "$WORK/source" --strip-components=1 "${@:2}"
	cd "$WORK/source"
}

# source_of PACKAGE [RELEASE] - unpack it, and set the flags of Debian's packages.  The
# stable release's sources do not go away.
source_of()
{
	fetch "$1" "${2:-trixie}"
	unpack "$(echo "$SOURCES/$1"_*.orig.tar.*[!c])"
	set_flags
}

set_flags()
{
	local compile="-fomit-frame-pointer -fno-plt -Wa,--gsframe"

	CFLAGS="$(dpkg-buildflags --get CFLAGS) $compile"
	CXXFLAGS="$(dpkg-buildflags --get CXXFLAGS) $compile"
	CPPFLAGS=$(dpkg-buildflags --get CPPFLAGS)
	# -B has the compiler take crt1.o, and the linker libc.so, from there
	LDFLAGS="$(dpkg-buildflags --get LDFLAGS) -Wl,-z,now -B$DEST/lib -L$DEST/lib"
	LDFLAGS+=" -Wl,-rpath,$LIB -Wl,-rpath-link,$DEST/lib -Wl,--dynamic-linker=$LIB/$LOADER"
	export CFLAGS CXXFLAGS CPPFLAGS LDFLAGS
}

# check_tables FILE - what a stack passes through has tables, and no library of
# Debian's is in between
check_tables()
{
	local needed

	"${TOOL}objdump" --sframe "$1" | awk '
		/Version:/ { version = $NF }
		/Num FDEs:/ { fdes = $NF }
		END { exit !(version == "SFRAME_VERSION_3" && fdes > 5) }' ||
		fail "$1 has no SFrame section of version 3"
	for needed in $(readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
		[ -e "$DEST/lib/$needed" ] || fail "$1 needs $needed, which has no tables"
	done
}

# install_files DIR FILE... - each in one step, as a guest may be running it
install_files()
{
	local dir=$DEST/$1 file

	for file in "${@:2}"; do
		"${TOOL}strip" --strip-debug "$file"
		check_tables "$file"
		[ "$1" = lib ] || readelf -lW "$file" | grep -q "interpreter: $LIB/" ||
			fail "$file does not ask for the interpreter in $LIB"
		cp "$file" "$dir/.new"
		mv "$dir/.new" "$dir/${file##*/}"
	done
}

# glibc's assembler files (memcpy, strlen, ...) need the option as well, and its
# CFLAGS are for C only: so the option is part of the compiler's name.
build_libc()
{
	local left_out subdirs options file new=$WORK/stage$PREFIX

	unpack "$(echo /usr/src/glibc/glibc-*.tar.xz)"
	# Programs, static libraries and what only these and tests need
	left_out="iconvdata manual po localedata timezone conform support mathvec"
	subdirs=$(sed -n '/^all-subdirs = /,/[^\\]$/p' Makeconfig | tr -s '\\ \t\n' '\n' |
		sed '/^all-subdirs$/d; /^=$/d' | grep -vxF "${left_out// /$'\n'}" | tr '\n' ' ')
	[ "$(wc -w <<<"$subdirs")" -ge 20 ] || fail "no list of the source's directories"
	options=(build-programs=no object-suffixes=.os "all-subdirs=$subdirs")
	mkdir "$WORK/build"
	cd "$WORK/build"
	# C++ would serve tests only
	"$WORK/source/configure" $HOST --prefix="$PREFIX" --disable-werror --without-selinux \
		--disable-nscd --disable-build-nscd --disable-timezone-tools --disable-mathvec \
		--disable-profile BUILD_CC=gcc-14 CC="$CC $TABLES" \
		CXX="${TRIPLET:+false}" CFLAGS="-O2 -fomit-frame-pointer"
	make -j"$JOBS" "${options[@]}"
	# make complains that the tarball lacks the manual
	make -k install "install_root=$WORK/stage" "${options[@]}" || true
	for file in "$LOADER" libc.so.6 libm.so.6 libc.so libm.so libc_nonshared.a \
			crt1.o Scrt1.o crti.o crtn.o; do
		[ -f "$new/lib/$file" ] || fail "no lib/$file was installed"
	done
	cd "$new"
	rm -rf bin etc include libexec sbin share var lib/audit lib/gconv lib/libmemusage.so \
		lib/libpcprofile.so
	mkdir bin
	find lib -type f \( -name '*.so.*' -o -name '*.o' -o -name '*.a' \) \
		-exec "${TOOL}strip" --strip-debug -p {} +
	# The linker's script names paths of the guest
	[ -z "$GUEST" ] || sed -i "s,$LIB/,,g" lib/libc.so
	[ -n "$GUEST" ] || "lib/$LOADER" --library-path lib /bin/true
	# Programs that were linked with the old one go with it
	rm -rf "$DEST.old" "$DEST.new"
	mv "$new" "$DEST.new"
	[ ! -e "$DEST" ] || mv "$DEST" "$DEST.old"
	mv "$DEST.new" "$DEST"
	rm -rf "$DEST.old"
	for file in libc.so.6 libm.so.6 "$LOADER"; do check_tables "$DEST/lib/$file"; done
}

# Its own build would make the shell of one file with the library; the stable release's
# needs Tcl
build_sqlite()
{
	local features="-DNDEBUG -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE
		-DSQLITE_ENABLE_MATH_FUNCTIONS -DHAVE_USLEEP=1 -DHAVE_FDATASYNC=1"

	source_of sqlite3 forky
	env -u CFLAGS -u LDFLAGS -u CXX CC_FOR_BUILD=gcc-14 CC=gcc-14 ./configure --disable-tcl --disable-readline
	make -j"$JOBS" sqlite3.c shell.c sqlite3.h
	{
		"$CC" $CFLAGS $CPPFLAGS $features $LDFLAGS -fPIC -shared -Wl,-soname,libsqlite3.so.0 \
			-o libsqlite3.so.0 sqlite3.c -lm
		"$CC" $CFLAGS $CPPFLAGS $features $LDFLAGS -I. -o sqlite3 shell.c libsqlite3.so.0 -lm
	}
	install_files lib libsqlite3.so.0
	install_files bin sqlite3
	[ -n "$GUEST" ] || [ "$("$DEST/bin/sqlite3" :memory: 'SELECT 6*7')" = 42 ] ||
		fail "the new sqlite3 cannot multiply"
}

build_lua()
{
	source_of lua5.4
	make -C src -j"$JOBS" CC="$CC" CFLAGS="$CFLAGS $CPPFLAGS -DLUA_USE_LINUX" \
		MYLDFLAGS="$LDFLAGS" SYSLIBS="-Wl,-E -ldl" lua
	install_files bin src/lua
}

build_xz()
{
	source_of xz-utils
	./configure $HOST --prefix="$PREFIX" --disable-nls --disable-doc --disable-static --disable-scripts
	make -j"$JOBS"
	cp src/liblzma/.libs/liblzma.so.5.*[0-9] liblzma.so.5
	install_files lib liblzma.so.5
	install_files bin src/xz/.libs/xz
}

# memcached's configure runs a program that is linked with libevent: that is installed
# by then.  The first two of its results are of programs that cannot run for arm64.
build_memcached()
{
	source_of libevent
	./configure $HOST --prefix="$WORK/libevent" --disable-openssl --disable-samples \
		--disable-libevent-regress --disable-static
	make -j"$JOBS"
	make install
	cp .libs/libevent-2.1.so.7.*[0-9] libevent-2.1.so.7
	install_files lib libevent-2.1.so.7
	rm -rf "$WORK/source"

	source_of memcached
	ac_cv_c_endian=little ac_cv_c_alignment=none ac_cv_libevent_dir=$WORK/libevent ./configure $HOST \
		--prefix="$PREFIX" --with-libevent="$WORK/libevent" --disable-coverage --disable-docs
	make -j"$JOBS" memcached
	install_files bin memcached
}

build_mixed()
{
	set_flags
	"$CC" $CFLAGS $CPPFLAGS $LDFLAGS -Wall -D_GNU_SOURCE -o "$WORK/mixed" "$HERE/mixed.c"
	install_files bin "$WORK/mixed"
}

# As anybody would: it stands for programs in C++ among Debian's
build_threads() { "$CXX" -O2 -pthread -o "$DEST/bin/threads" "$HERE/threads.cc"; }

NAME=$2
case $1 in
key)
	{
		declare -f "build_$NAME" set_flags
		echo "$TABLES"
		cat "$HERE/$NAME".c* 2>&- || true
		ls /usr/src/glibc
		dpkg-buildflags
		"$CC" --version
		"${TOOL}as" --version
	} | sha256sum | cut -c 1-16 ;;
build)
	WORK=/mnt/cache/out/programs${TRIPLET:+-$TRIPLET}/$NAME
	rm -rf "$WORK"
	mkdir -p "$WORK" "$SOURCES"
	set -x
	"build_$NAME"
	cd /
	rm -rf "$WORK" ;;
esac
