#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Checks documents of the series.  Prints TAP.
#
#   docs.sh kernel-doc    the comments, and the files of Documentation/ABI, that become
#                         documentation: no warning
#   docs.sh maintainers   each new file belongs to the subsystem
#   docs.sh html          "make htmldocs" of the directories that the series touches,
#                         with the base and with the series: no warning more, and each
#                         page is there.  Takes some minutes

. "$(dirname "$0")/tree.sh"

DIRS="admin-guide bpf core-api trace userspace-api"

# result TITLE LOG - ok where nothing is in the log
result()
{
	n=$((${n:-0} + 1))
	head -n 20 "$2" | sed 's/^/# /'
	if [ -s "$2" ]; then echo "not ok $n $1"; else echo "ok $n $1"; fi
}

in_tree() { in_root sh -c 'cd /mnt/cache/tree && "$@"' sh "$@"; }

kernel_doc()
{
	local log=$LOGS/kernel-doc.log files

	mapfile -t files < <(cd "$TREE" && added '*.[ch]' | xargs grep -l '^/\*\*$')
	echo "# ${#files[@]} files"
	[ ${#files[@]} -gt 0 ] || die "no file has a comment for kernel-doc."
	in_tree ./scripts/kernel-doc -none -Wall "${files[@]}" 2>&1 | grep -E '(warning|error):' >"$log" || true
	result "kernel-doc" "$log"

	mapfile -t files < <(added 'Documentation/ABI/*')
	[ ${#files[@]} -gt 0 ] || die "there is no file in Documentation/ABI."
	in_tree perl scripts/get_abi.pl --dir Documentation/ABI validate 2>&1 |
		grep -F "$(printf '%s\n' "${files[@]##*/}")" >"$log" || true
	result "get_abi.pl" "$log"
}

# New files; git names a directory that is new instead of what is below it
maintainers()
{
	local log=$LOGS/maintainers.log list

	GIT_INDEX_FILE=$GIT/base.index kgit read-tree base
	mapfile -t list < <(GIT_INDEX_FILE=$GIT/base.index kgit ls-files -o --directory | grep -v camelcase)
	echo "# ${#list[@]} files and directories"
	[ ${#list[@]} -gt 0 ] || die "the series has no new file."
	# shellcheck disable=SC2016 # for the inner shell
	in_tree sh -c 'section=$1; shift; for f; do
			perl scripts/get_maintainer.pl --no-git --no-git-fallback --sections -f "$f" 2>/dev/null |
				grep -qxF "$section" || echo "not found for $f"
		done' sh "$(head -n 1 "$REPO/MAINTAINERS")" "${list[@]}" >"$log"
	result "get_maintainer.pl finds the subsystem for each new file" "$log"
}

# warnings BRANCH - of the documents there, without line numbers, which differ
warnings()
{
	local at=$CACHE/builds/html log=$LOGS/html-$1

	# One path for both, as warnings name it
	new_worktree "$at" "$1"
	make -s -C "$at" SPHINXDIRS="$DIRS" htmldocs >"$log.log" 2>&1 </dev/null ||
		die "make htmldocs failed on the $1; see $log.log"
	sed -nE "s,^($at/)?([^ :]+):([0-9]+:)* ?(WARNING|ERROR|warning|error)(.*),\2 \4\5,p" "$log.log" |
		sort >"$log.warnings"
}

html()
{
	local log=$LOGS/html.log page

	# The host's: a build of its own, and nothing that the guest needs
	host_packages python3-sphinx python3-yaml python3-docutils make perl graphviz imagemagick
	warnings base
	warnings series
	comm -13 "$LOGS/html-base.warnings" "$LOGS/html-series.warnings" >"$log"
	echo "# the base has $(wc -l <"$LOGS/html-base.warnings") warnings of its own"
	result "htmldocs: nothing new" "$log"
	added 'Documentation/*.rst' | sed 's,^Documentation/\(.*\)\.rst$,\1.html,' | while read -r page; do
		[ -n "$(find "$CACHE/builds/html/Documentation/output" -path "*/${page#*/}")" ] || echo "no $page"
	done >"$log"
	result "htmldocs: each page" "$log"
}

need_machine
(lock tree; sync_tree)
for part in "$@"; do
	case $part in
	kernel-doc) kernel_doc ;;
	maintainers|html) "$part" ;;
	*)	die "docs.sh has no part $part" ;;
	esac
done
echo "1..${n:-0}"
