#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Arguments that nothing can be done with: each is refused in one sentence, with a status
# other than 0, before anything is built.  And commands: the guest gets each as it stands.
# Prints TAP; takes seconds, and needs no root once make's function is built.

# shellcheck disable=SC2016 # for other shells
cd "$(dirname "$0")/.." || exit 1
unset ARCH BASE CMD CONFIGS KERNEL SHARE UNWIND_LOCKED
# make ends with the command's status by it
[ build/make_exit.so -nt qemu/make_exit.c ] || make -s build/make_exit.so || exit
cache=$(mktemp -d)
trap 'rm -rf "$cache" "$cache.copy"' EXIT
export CACHE=$cache
n=0

# same TITLE GOT WANTED
same()
{
	n=$((n + 1))
	if [ "$2" = "$3" ]; then echo "ok $n $1"; else echo "not ok $n $1"; sed 's/^/# /' <<<"$2"; fi
}

# refused COMMAND... - what it says is one line, this project's own; make adds its
# "*** Error", and nothing is left in the cache
refused()
{
	local output status=0

	output=$(timeout 120 "$@" 2>&1 </dev/null) || status=$?
	output=$(grep -v '^make: \*\*\*' <<<"$output")
	if [[ $output =~ ^unwind:\ [^$'\n']+$ ]] && [ $status -ne 0 ] && [ $status -ne 124 ] &&
		[ -z "$(ls -A "$cache")" ]; then output=refused; else output+=" (status $status)"; fi
	same "$*" "$output" refused
	rm -rf "${cache:?}"/*
}

for argument in ARCH='x86_64 foo' ARCH=foo BASE=5.4 KERNEL=foo KERNEL=be KERNEL='normal debug' \
	CONFIGS=foo CPUS=abc CPUS=0 CPUS=9 MEM=1M MEM=abc MEM=0G ICOUNT=abc JOBS=0 MINUTES=abc \
	TIMEOUT=abc TIMEOUT=0 SIZE=abc FUZZ_SECONDS=abc REQUESTS=0 SAMPLES=x PROGRAMS=foo PROGRAMS='lua foo' \
	ONEINSN=0 SHARE=/nonexistent KSRC=/nonexistent DMESG=/nonexistent/x; do
	refused make demo "$argument"
done
refused env TIMEOUT=abc qemu/guest.sh
refused env CMD=true KERNEL=foo qemu/guest.sh
refused qemu/kernel.sh foo
refused qemu/guest.sh
for target in check-big-endian check-nothing check-worst' ARCH=arm64' check-fixes shell guest; do
	# shellcheck disable=SC2086 # target and argument
	refused make $target
done
# An unpacked archive is no clone
copy="$cache.copy/a, b"
mkdir -p "$copy/bin"
cp -r Makefile qemu "$copy"
refused make -s -C "$copy" demo
# All commands of "make check" are there where the path has a space
same "make check where the path has a space" \
	"$(make -n -s -C "$copy" -f "$copy/qemu/check.mk" check all | cut -d ' ' -f 1 | sort -u)" qemu/check.sh

# There, all is built, and the emulator is a script that runs the command, or a shell, on
# this machine
stub() { printf '#!/bin/sh\n%s\n' "$2" >"$copy/$1"; chmod +x "$copy/$1"; }
install -D -t "$copy/build" build/make_exit.so
cd "$copy" || exit
git init -q
for name in root tree kernel perf programs; do stub qemu/$name.sh; done
stub bin/id 'echo 0'
stub bin/dpkg-query 'echo ok installed'
stub bin/qemu-system-x86_64 'all=$*; run=${all#*id=run,path=}
	cd "${run%%,security_model*}" || exit
	case $all in
	*stdio,id=terminal*) sh; echo 0 >status ;;
	*) sh ./cmd >out 2>err </dev/null; echo $? >status ;;
	esac'
for name in root/sbin/init stamp/root out/x86_64-normal/arch/x86/boot/bzImage; do
	install -D Makefile "$cache/unwind/$name"
done

# passed TITLE COMMAND - it does what it does without make
passed()
{
	same "make guest passes $1" "$( (PATH=$copy/bin:$PATH timeout 120 make -s guest CMD="$2"; echo "status $?") 2>&1 | sort)" \
		"$( (sh -c "$2"; echo "status $?") 2>&1 | sort)"
}

passed "variables" 'x=5; false; echo "$? ${x}8 $(echo a)" '\''$$ $@ $(HOME) $(shell echo b)'\'
passed "awk's fields" "echo a b | awk '{ print \$2, \$1 }'"
passed "quotes, backslashes and signs of make's" 'echo "it'\''s" \\ \" "a # b" %s :=, @'
passed "two lines, two outputs and a status" $'echo a\necho b >&2\nexit 7'
for target in shell guest; do
	same "make $target has a terminal" 1 "$(PATH=$copy/bin:$PATH timeout 120 script -qec "make -s $target" /dev/null \
		<<<"echo \$((6 * 7)), \$(tty -s && echo at a terminal)" | grep -c '^42, at a terminal')"
done
echo "1..$n"
