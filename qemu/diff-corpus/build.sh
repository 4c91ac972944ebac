#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Build one package of the corpus for one target, with SFrame tables of version 3
# and of version 2; run in the Debian root.
#
#     build.sh DIR TARGET PACKAGE
#
# TARGET is x86_64, aarch64 or aarch64_be.  Programs and libraries come to stand
# in DIR/files/TARGET-v3/ and -v2/.  The two differ only in the assembler and
# linker, which the compiler finds by COMPILER_PATH: the package is configured
# once.
#
# There is no C library for aarch64_be here.  The package's sources are compiled
# and linked into a shared object that lacks all that is undefined: it could not
# run, but its tables are as good as any.
set -eu

[ $# -eq 3 ] || { echo "usage: ${0##*/} DIR TARGET PACKAGE" >&2; exit 2; }
DIR=$1
TARGET=$2
PACKAGE=$3
WORK=$DIR/work/$TARGET/$PACKAGE

unset CPP CXX CPPFLAGS LDFLAGS LIBS ASFLAGS CPATH LIBRARY_PATH LD_LIBRARY_PATH
CFLAGS="-O2 -fomit-frame-pointer -Wa,--gsframe"
HOST=${TARGET%_be}-linux-gnu
TOOLS=
# As Debian builds for arm64: return addresses are signed
[ "$TARGET" = x86_64 ] || {
	TOOLS=$HOST-
	CFLAGS="$CFLAGS -mbranch-protection=standard"
}
CC=${TOOLS}gcc-14
AR=${TOOLS}ar
RANLIB=${TOOLS}ranlib
export CC AR RANLIB CFLAGS

# Programs of coreutils that are not too much alike
COREUTILS="cp csplit date dd df du expr factor fmt join ls nl od pr ptx sort
	split stat tail tr tsort wc"

configure() {
	case $PACKAGE in
	zlib)
		CHOST=$HOST ./configure ;;
	coreutils)
		FORCE_UNSAFE_CONFIGURE=1 ./configure --host="$HOST" --disable-acl \
			--disable-dependency-tracking --disable-libcap \
			--disable-nls --disable-xattr --without-libgmp \
			--without-openssl --without-selinux ;;
	esac
}

build() {
	case $PACKAGE in
	bzip2)
		make -f Makefile-libbz2_so CC="$CC" CFLAGS="$CFLAGS -fPIC"
		make CC="$CC" CFLAGS="$CFLAGS" bzip2recover ;;
	lua5.4)
		make -C src CC="$CC" AR="$AR rcu" RANLIB="$RANLIB" \
			SYSCFLAGS=-DLUA_USE_LINUX SYSLIBS="-Wl,-E -ldl" \
			CFLAGS="$CFLAGS -DLUA_USE_LINUX" lua luac ;;
	lz4)
		make CFLAGS="$CFLAGS" lib lz4 ;;
	coreutils)
		# shellcheck disable=SC2086 # a list
		{
			echo 'include Makefile'
			echo "chosen: \$(BUILT_SOURCES)"
			echo "	\$(MAKE)$(printf ' src/%s' $COREUTILS)"
		} >chosen.mk
		make -f chosen.mk chosen ;;
	zlib)
		make shared ;;
	esac
}

clean() {
	case $PACKAGE in
	bzip2)	make -f Makefile-libbz2_so clean; make clean ;;
	lua5.4)	make -C src clean ;;
	# Its own goes through a directory of a thousand tests
	coreutils)
		find lib src -name '*.[oa]' -delete
		for program in $COREUTILS; do rm "src/$program"; done ;;
	*)	make clean ;;
	esac
}

# The sources for aarch64_be, and what they want to know
sources_be() {
	case $PACKAGE in
	bzip2)	echo "blocksort.c bzlib.c compress.c crctable.c decompress.c
			huffman.c randtable.c" ;;
	lua5.4)	echo "-Isrc"
		for file in src/l*.c; do
			case $file in */lua.c|*/luac.c) ;; *) echo "$file" ;; esac
		done ;;
	lz4)	echo "-Ilib $(ls lib/*.c)" ;;
	zlib)	echo "-DHAVE_UNISTD_H $(ls ./*.c)" ;;
	esac
}

# The C library's headers ask for one that tells what the library lacks
build_be() {
	mkdir -p be/gnu
	: >be/gnu/stubs-lp64_be.h
	# shellcheck disable=SC2046,SC2086 # lists
	"$CC" $CFLAGS -mbig-endian -fPIC -w -Ibe -shared -nostdlib \
		-Wl,-z,notext -o "lib$PACKAGE.so" $(sources_be)
}

# Which version the tables of an ELF file have; nothing: it has none
table_version() {
	"${TOOLS}objcopy" -O binary --only-section=.sframe "$1" table 2>/dev/null ||
		return 0
	od -An -tu1 -j2 -N1 table | tr -d ' '
	rm -f table
}

is_elf() { [ "$(head -c 4 "$1" | tail -c 3)" = ELF ]; }

# Whatever was linked and has tables; all of them must be of the wanted version
collect() {
	into=$DIR/files/$TARGET-v$1
	mkdir -p "$into"
	num=0
	# shellcheck disable=SC2044 # none of these names has spaces
	for file in $(find . -type f \( -perm -u+x -o -name '*.so*' \)); do
		is_elf "$file" || continue
		version=$(table_version "$file")
		[ -n "$version" ] || continue
		if [ "$version" != "$1" ]; then
			echo "$file has tables of version $version, not $1" >&2
			exit 1
		fi
		"${TOOLS}strip" -o "$into/$PACKAGE-${file##*/}" "$file"
		num=$((num + 1))
	done
	[ $num -gt 0 ] || { echo "$PACKAGE: nothing with tables" >&2; exit 1; }
	echo "$TARGET-v$1: $PACKAGE: $num files"
}

rm -rf "$WORK"
mkdir -p "$WORK"
cd "$WORK"
for tarball in "$DIR/src/${PACKAGE}_"*.orig.tar.*; do
	tar -xf "$tarball" --strip-components=1
done
[ "$TARGET" = aarch64_be ] || configure
for version in 3 2; do
	case $version in
	2)	export COMPILER_PATH="$DIR/binutils2/${TARGET%_be}" ;;
	3)	unset COMPILER_PATH ;;
	esac
	case $TARGET in
	*_be)	build_be ;;
	*)	build ;;
	esac
	collect $version
	case $TARGET in
	*_be)	;;
	*)	clean ;;
	esac
done
cd /
rm -rf "$WORK"
