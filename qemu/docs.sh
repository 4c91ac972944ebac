#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What is read of the series, beside its code.  Prints TAP.
#
#   docs.sh kernel-doc    the comments, and the files of Documentation/ABI, that become
#                         documentation: no warning
#   docs.sh maintainers   each new file belongs to the subsystem
#   docs.sh html          "make htmldocs" of the directories that the series touches,
#                         with the base and with the series: no warning more, and each
#                         page is there.  Takes some minutes

. "$(dirname "$0")/common.sh"

TREE=$CACHE/tree
SECTION="USER SPACE UNWINDING"
DIRS="core-api trace userspace-api admin-guide/sysctl"
n=0

# result STATUS TITLE [LOG]
result()
{
	n=$((n + 1))
	[ -z "${3:-}" ] || head -n 20 "$3" | sed 's/^/# /'
	if [ "$1" = 0 ]; then echo "ok $n $2"; else echo "not ok $n $2"; fi
}

new_files()
{
	git -C "$REPO" ls-files -- arch include kernel samples tools Documentation |
		while read -r f; do [ ! -e "$TREE/$f" ] || echo "$f"; done
}

kernel_doc()
{
	local log=$LOGS/kernel-doc.log files

	mapfile -t files < <(new_files | grep '\.[ch]$' | while read -r f; do
		! grep -q '^/\*\*$' "$TREE/$f" || echo "$f"; done)
	in_root sh -c 'cd /mnt/cache/tree && ./scripts/kernel-doc -none -Wall "$@"' sh "${files[@]}" \
		2>&1 | grep -E '(warning|error):' >"$log" || true
	echo "# ${#files[@]} files"
	[ ${#files[@]} -gt 0 ] || die "no file has a comment for kernel-doc."
	if [ -s "$log" ]; then result 1 "kernel-doc" "$log"; else result 0 "kernel-doc"; fi
}

# The files of Documentation/ABI
abi()
{
	local log=$LOGS/abi.log files

	mapfile -t files < <(new_files | grep '^Documentation/ABI/')
	[ ${#files[@]} -gt 0 ] || die "there is no file in Documentation/ABI."
	in_root sh -c 'cd /mnt/cache/tree && perl scripts/get_abi.pl --dir Documentation/ABI validate' \
		2>&1 | grep -F "$(printf '%s\n' "${files[@]##*/}")" >"$log" || true
	if [ -s "$log" ]; then result 1 "get_abi.pl" "$log"; else result 0 "get_abi.pl"; fi
}

# One file stands for all of a directory that is new
representatives()
{
	local f dir top done_=" "

	new_files | while read -r f; do
		dir=$(dirname "$f")
		top=
		while [ "$dir" != . ] && [ ! -e "$BASE/$dir" ]; do top=$dir; dir=$(dirname "$dir"); done
		case $done_ in *" $top "*) [ -z "$top" ] || continue ;; esac
		[ -z "$top" ] || done_="$done_$top "
		echo "$f"
	done
}

maintainers()
{
	local f log=$LOGS/maintainers.log bad=0 count=0

	: >"$log"
	while read -r f; do
		count=$((count + 1))
		in_root sh -c 'cd /mnt/cache/tree && perl scripts/get_maintainer.pl --no-git --no-git-fallback --sections -f "$1"' \
			sh "$f" </dev/null 2>/dev/null | grep -xF "$SECTION" >/dev/null || { echo "not found for $f" >>"$log"; bad=1; }
	done < <(representatives)
	echo "# $count files and directories"
	[ $count -gt 0 ] || bad=1
	result $bad "get_maintainer.pl finds the subsystem for each new file" "$log"
}

# warnings OF SOURCE - without line numbers, which differ
warnings()
{
	local out=$CACHE/builds/html-$1 src=$2

	rm -rf "$out"
	mkdir -p "$out"
	make -s -C "$src" O="$out" SPHINXDIRS="$DIRS" htmldocs >"$LOGS/html-$1.log" 2>&1 </dev/null ||
		die "make htmldocs failed on the $1; see $LOGS/html-$1.log"
	sed -nE "s,^($src/)?([^ :]+):([0-9]+:)* ?(WARNING|ERROR|warning|error)(.*),\2 \4\5,p" "$LOGS/html-$1.log" |
		sort >"$LOGS/html-$1.warnings"
}

html()
{
	local log=$LOGS/html.log page missing=0

	# The host's: a build of its own, and nothing that the guest needs
	host_packages python3-sphinx python3-yaml python3-docutils make perl graphviz imagemagick
	mkdir -p "$CACHE/builds"
	warnings base "$BASE"
	warnings series "$TREE"
	comm -13 "$LOGS/html-base.warnings" "$LOGS/html-series.warnings" >"$log"
	echo "# the base has $(wc -l <"$LOGS/html-base.warnings") warnings of its own"
	if [ -s "$log" ]; then result 1 "htmldocs: nothing new" "$log"; else result 0 "htmldocs: nothing new"; fi
	: >"$log"
	for page in $(new_files | sed -n 's,^Documentation/\(.*\)\.rst$,\1,p'); do
		find "$CACHE/builds/html-series" -path "*/${page##*/}.html" | grep -q . ||
			{ echo "no $page.html" >>"$log"; missing=1; }
	done
	result $missing "htmldocs: each page" "$log"
}

need_machine
"$REPO/qemu/tree.sh" sync
BASE=$("$REPO/qemu/tree.sh" base)
for part in "$@"; do
	case $part in
	kernel-doc)	kernel_doc; abi ;;
	maintainers|html) "$part" ;;
	*)	die "docs.sh has no part $part" ;;
	esac
done
echo "1..$n"
