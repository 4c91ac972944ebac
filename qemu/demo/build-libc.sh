#!/bin/sh
# Build the C library with SFrame stack-trace data and put it in /opt/sframe.
#
#     build-libc.sh WORKDIR        (run as root inside the guest's root)
#
# A stack is only as good as its weakest function.  Debian's libc has neither
# frame pointers nor a .sframe section, so every stack that passes through it
# (each one does: main is called by libc) would end there.  This script builds
# the library from Debian's own source, from the package glibc-source, with
# the optimisation every distribution uses, which drops frame pointers, plus
# one assembler option, --gsframe.  It is installed beside the system's libc,
# not over it; a program chooses it by its interpreter (see build-program.sh).
#
# The option is made part of the compiler's name, because glibc passes CFLAGS
# to C files only, and the hand-written assembler files (memcpy, strlen, ...)
# are exactly where a profile likes to find itself.
#
# Nothing is redone when the inputs are unchanged: this script, the tarball's
# name, the compiler and the assembler.  The new tree is built aside and takes
# the place of the old one in the last step.
set -eu

[ $# -eq 1 ] || { echo "usage: ${0##*/} WORKDIR" >&2; exit 2; }
WORK=$1
HERE=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=build-lib.sh
. "$HERE/build-lib.sh"

set -- /usr/src/glibc/glibc-*.tar.xz
[ $# -eq 1 ] || die "more than one glibc tarball in /usr/src/glibc"
[ -f "$1" ] || die "no glibc tarball in /usr/src/glibc"
TARBALL=$1

HASH=$({ cat "$0" "$HERE/build-lib.sh"; basename "$TARBALL"; } | input_hash -)
STAMP=$DEST/.libc-stamp
if [ -f "$STAMP" ] && [ "$(cat "$STAMP")" = "$HASH" ]; then
	say "libc with SFrame: up to date in $DEST"
	exit 0
fi

mkdir -p "$WORK"
WORK=$(cd "$WORK" && pwd)
LOG=$WORK/libc.log
SOURCE=$WORK/libc-source
BUILD=$WORK/libc-build
STAGE=$WORK/libc-stage
: >"$LOG"
rm -rf "$SOURCE" "$BUILD" "$STAGE"
mkdir -p "$SOURCE" "$BUILD"

say "libc with SFrame: building $(basename "$TARBALL" .tar.xz), log in $LOG"
must "unpack" tar -xf "$TARBALL" -C "$SOURCE" --strip-components=1

# No C++, which would serve tests only: what is found is this machine's.  Left out is
# what no program of the demonstration loads: programs, static libraries (for which each
# file would be compiled a second time), and what only these and tests need.  make's
# variables on its command line go for its sub-makes as well.
LEFT_OUT="iconvdata manual po localedata timezone conform support mathvec"
subdirs=$(sed -n '/^all-subdirs = /,/[^\\]$/p' "$SOURCE/Makeconfig" |
	tr -s '\\ \t\n' '\n' | sed '/^all-subdirs$/d; /^=$/d' |
	grep -vxF "$(printf '%s\n' $LEFT_OUT)" | tr '\n' ' ')
[ "$(printf '%s' "$subdirs" | wc -w)" -ge 20 ] || failed "list of the source's directories"
set -- build-programs=no object-suffixes=.os all-subdirs="$subdirs"
cd "$BUILD"
must "configure" "$SOURCE/configure" --prefix="$PREFIX" --disable-werror \
	--without-selinux --disable-nscd --disable-build-nscd \
	--disable-timezone-tools --disable-mathvec --disable-profile \
	${TRIPLET:+--host="$TRIPLET" --build="$($BUILD_CC -dumpmachine)"} \
	BUILD_CC="$BUILD_CC" CC="$SFRAME_CC ${PROTECTION:+$PROTECTION }-Wa,--gsframe" CXX="${TRIPLET:+false}" CFLAGS="-O2 -fomit-frame-pointer"
must "compile" make "-j$JOBS" "$@"
# Debian's tarball comes without the manual, so "install" has something to
# complain about.  Keep going, and check below what has to be there.
logged "install aside" make -k install "install_root=$STAGE" "$@" || :

NEW=$STAGE$PREFIX
for file in "$LOADER" libc.so.6 libm.so.6 libc.so libm.so \
	libc_nonshared.a crt1.o Scrt1.o crti.o crtn.o
do
	[ -f "$NEW/lib/$file" ] || failed "install aside: no lib/$file"
done

# What is left must serve a dynamically linked program and a profiler: strip
# debug information, keep .symtab for names and .eh_frame for the rivals.
cd "$NEW"
rm -rf bin etc include libexec sbin share var lib/audit lib/gconv \
	lib/libmemusage.so lib/libpcprofile.so
mkdir bin
find "$NEW/lib" -type f \( -name '*.so.*' -o -name '*.o' -o -name '*.a' \) \
	-exec sh -c 'strip=$1; shift; for f; do "$strip" --strip-debug -p "$f" || exit 1; done' \
	sh "${TOOL}strip" {} + >>"$LOG" 2>&1 || failed "strip"

for file in libc.so.6 "$LOADER" libm.so.6; do
	counts=$(sframe_counts "$NEW/lib/$file")
	[ "${counts%% *}" -gt 100 ] || failed "$file has no SFrame data"
	say "    $file: ${counts% *} functions, ${counts#* } rows of SFrame"
done
if [ -z "$TRIPLET" ]; then
	"$NEW/lib/$LOADER" --library-path "$NEW/lib" /bin/true ||
		failed "the new libc does not run /bin/true"
else
	# What is linked against is not where the linker's script says
	sed -i "s,$PREFIX/lib/,,g" "$NEW/lib/libc.so"
fi

# The program in there was linked with the old library; it goes with it.
printf '%s\n' "$HASH" >"$NEW/.libc-stamp"
rm -rf "$DEST.old" "$DEST.new"
mv "$NEW" "$DEST.new"
[ ! -e "$DEST" ] || mv "$DEST" "$DEST.old"
mv "$DEST.new" "$DEST"
rm -rf "$DEST.old"
cd /
rm -rf "$SOURCE" "$BUILD" "$STAGE"
say "libc with SFrame: installed in $DEST ($(du -sh "$DEST" | cut -f1))"
