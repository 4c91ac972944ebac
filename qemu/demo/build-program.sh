#!/bin/sh
# Build the program of the demonstration, sqlite3, on top of the SFrame libc.
#
#     build-program.sh WORKDIR     (run as root inside the guest's root)
#
# sqlite3 is a good witness: a real program with deep stacks (an interpreter,
# a parser, a sorter, callbacks between a program and its library) that needs
# nothing but libc and libm.  It is built as a distribution builds it, from
# the source package in /usr/src/sqlite3: at -O2, without frame pointers,
# program and library apart.  SFrame data comes from the assembler; .eh_frame
# stays, because the same file also serves the rival that unwinds with it;
# .symtab stays, so that frames have names; debug information goes.
#
# Calls into libraries go through no PLT (-fno-plt, and -z now, which binds at the
# start); Debian's own packages are not built so.  A PLT has no source that an
# assembler could see: the linker makes its table, and binutils 2.47 makes that
# of .plt.got wrong (it says sp+16 where .eh_frame says sp+8).  Of the samples of
# this program, 0.7 % were there.
#
# Its interpreter is the libc of build-libc.sh, and so are its start files:
# the stack ends in _start, which must say so in its SFrame data.
#
# Nothing is redone when this script, the source and the libc are unchanged.
set -eu

[ $# -eq 1 ] || { echo "usage: ${0##*/} WORKDIR" >&2; exit 2; }
WORK=$1
HERE=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=build-lib.sh
. "$HERE/build-lib.sh"

LIBC_STAMP=$DEST/.libc-stamp
[ -f "$LIBC_STAMP" ] || die "no libc in $DEST; run build-libc.sh first"
TARBALL=
for file in /usr/src/sqlite3/sqlite3_*.orig.tar.*; do
	case $file in *.asc) continue ;; esac
	[ -f "$file" ] || die "no source of sqlite3 in /usr/src/sqlite3"
	[ -z "$TARBALL" ] || die "more than one source of sqlite3 in /usr/src/sqlite3"
	TARBALL=$file
done

HASH=$({ cat "$0" "$HERE/build-lib.sh" "$LIBC_STAMP"; basename "$TARBALL"; } |
	input_hash -)
STAMP=$DEST/.program-stamp
if [ -f "$STAMP" ] && [ "$(cat "$STAMP")" = "$HASH" ]; then
	say "sqlite3 with SFrame: up to date in $DEST"
	exit 0
fi

mkdir -p "$WORK"
WORK=$(cd "$WORK" && pwd)
LOG=$WORK/program.log
SOURCE=$WORK/program-source
STAGE=$WORK/program-stage
: >"$LOG"
rm -rf "$SOURCE" "$STAGE"
mkdir -p "$SOURCE" "$STAGE"

say "sqlite3 with SFrame: building $(basename "$TARBALL"), log in $LOG"
must "unpack" tar -xf "$TARBALL" -C "$SOURCE" --strip-components=1

# The package's makefile generates the two big C files, the same for all
# architectures.  They are compiled here, which leaves zlib out and keeps the
# library a library.
cd "$SOURCE"
must "configure" env CC_FOR_BUILD="$BUILD_CC" ./configure \
	--disable-tcl --disable-readline CC="$BUILD_CC"
must "generate" make "-j$JOBS" sqlite3.c shell.c sqlite3.h

# -B makes the compiler driver take crt1.o and its kin, and the linker its
# libc, from our directory before the system's.
LIB=$PREFIX/lib
NEW=$STAGE$PREFIX
BINARY=$NEW/bin/sqlite3
LIBRARY=$NEW/lib/libsqlite3.so.0
mkdir -p "$NEW/bin" "$NEW/lib"
FLAGS="-O2 -g -fomit-frame-pointer $PROTECTION -fno-plt -Wa,--gsframe -I. -DNDEBUG
	-DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE
	-DSQLITE_ENABLE_MATH_FUNCTIONS -DHAVE_USLEEP=1 -DHAVE_FDATASYNC=1"
LINK="-Wl,-z,now -B$DEST/lib -L$DEST/lib -Wl,-rpath,$LIB -Wl,--dynamic-linker=$LIB/$LOADER"
# shellcheck disable=SC2086 # the two lists are meant to be split
{
	must "compile the program" "$SFRAME_CC" $FLAGS -c -o shell.o shell.c
	must "compile the library" "$SFRAME_CC" $FLAGS $LINK -fPIC -shared \
		-Wl,-soname,libsqlite3.so.0 -o "$LIBRARY" sqlite3.c -lm
	must "link the program" "$SFRAME_CC" $LINK -o "$BINARY" shell.o "$LIBRARY" -lm
}
for file in "$BINARY" "$LIBRARY"; do
	[ -f "$file" ] || failed "compile: no $file"
done
"${TOOL}strip" --strip-debug "$BINARY" "$LIBRARY"

for file in "$BINARY" "$LIBRARY"; do
	counts=$(sframe_counts "$file")
	[ "${counts%% *}" -gt 100 ] || failed "$file has no SFrame data"
	say "    ${file##*/}: ${counts% *} functions, ${counts#* } rows of SFrame"
done
readelf -lW "$BINARY" | grep -q "interpreter: $LIB/" ||
	failed "sqlite3 does not ask for the interpreter in $LIB"
if [ -z "$TRIPLET" ]; then
	answer=$(LD_LIBRARY_PATH=$NEW/lib "$BINARY" :memory: 'SELECT 6*7') || answer=
	[ "$answer" = 42 ] || failed "the new sqlite3 cannot multiply"
fi

mkdir -p "$DEST/bin"
rm -f "$STAMP"
for file in lib/libsqlite3.so.0 bin/sqlite3; do
	cp -p "$NEW/$file" "$DEST/$file.new"
	mv "$DEST/$file.new" "$DEST/$file"
done
printf '%s\n' "$HASH" >"$STAMP.new"
mv "$STAMP.new" "$STAMP"
cd /
rm -rf "$SOURCE" "$STAGE"
say "sqlite3 with SFrame: installed in $DEST ($(du -sh "$DEST" | cut -f1) with libc)"
