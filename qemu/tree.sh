#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The working tree: the unpacked base kernel, plus patches/, plus the new files
# of this repository.
#
#   tree.sh sync    bring the tree up to date with the repository
#   tree.sh carry   carry edits of existing kernel files back into patches/
#   tree.sh check   prove: base + patches + new files == tree
#   tree.sh path    print where the tree is
#   tree.sh base    print where the base is
#
# To change a kernel file, edit it in the tree and run "make carry".  Every
# existing kernel file that is changed belongs to exactly one patch, the one
# whose "edit" lines in patches/series match it; a patch is its commit message,
# kept as it is, followed by the difference of its files, made anew.  New files
# are edited in the repository and only copied into the tree.
#
# Files whose contents do not change are not touched, so a build in the tree
# rebuilds only what changed.  An edit in the tree that was not carried back is
# never overwritten: sync stops and names it.

. "$(dirname "$0")/common.sh"

SERIES=$REPO/patches/series

# The base and its version: the packaged source, or KSRC=.
find_base()
{
	if [ -n "${KSRC:-}" ]; then
		[ -f "$KSRC/Kconfig" ] || die "KSRC=$KSRC is not a kernel source tree."
		BASE=$(cd "$KSRC" && pwd)
		BASE_ID=ksrc-$(printf '%s' "$BASE" | sha256sum | cut -c1-8)
	else
		host_packages linux-source-6.12 xz-utils
		BASE_ID=$(dpkg-query -W -f='${Version}' linux-source-6.12)
		BASE=$CACHE/base-$BASE_ID
		if [ ! -d "$BASE" ]; then
			rm -rf "$BASE.new"
			mkdir -p "$BASE.new"
			step "unpacking linux-source-6.12 $BASE_ID" \
				tar -C "$BASE.new" --strip-components=1 -xf /usr/src/linux-source-6.12.tar.xz
			mv "$BASE.new" "$BASE"
		fi
	fi
	TREE=$CACHE/tree
}

# A fresh copy of the base where there is none, or one of another base.
make_tree()
{
	[ "$(cat "$TREE.base" 2>/dev/null)" = "$BASE_ID" ] && [ -d "$TREE" ] && return 0
	rm -rf "$TREE" "$TREE.sums" "$TREE.base"
	step "copying the base to the working tree" cp -a "$BASE" "$TREE"
	: >"$TREE.sums"
	printf '%s\n' "$BASE_ID" >"$TREE.base"
}

# What of the repository goes into the kernel tree
new_files()
{
	git -C "$REPO" ls-files --cached --others --exclude-standard -- \
		arch include kernel samples tools Documentation mm lib fs |
		while read -r f; do [ -f "$REPO/$f" ] && printf '%s\n' "$f"; done
}

patches() { sed -n 's/^\([^#[:space:]].*\.patch\)$/\1/p' "$SERIES"; }

# Files that a patch changes
patch_files() { sed -n 's,^+++ b/\([^[:space:]]*\).*,\1,p' "$1"; }

# stage DIR - the desired state of every file that differs from the base
stage()
{
	local dir=$1 p f

	mkdir -p "$dir"
	for p in $(patches); do
		[ -f "$REPO/patches/$p" ] || die "patches/$p is in patches/series but does not exist."
		for f in $(patch_files "$REPO/patches/$p"); do
			[ -e "$dir/$f" ] && die "$f is changed by two patches; one must do."
			[ -e "$BASE/$f" ] || die "patches/$p changes $f, which the base does not have; new files stand in the repository."
			mkdir -p "$dir/$(dirname "$f")"
			cp -p "$BASE/$f" "$dir/$f"
		done
		# A patch that is new has no more than its message
		grep -q '^+++ ' "$REPO/patches/$p" || continue
		patch -d "$dir" -p1 -s --no-backup-if-mismatch -F2 <"$REPO/patches/$p" >"$LOGS/patch.log" 2>&1 || {
			cat "$LOGS/patch.log" >&2
			die "patches/$p does not apply to $BASE_ID."
		}
	done
	new_files | while read -r f; do
		[ ! -e "$BASE/$f" ] || die "$f is a file of the kernel: change it with a patch, not with a copy."
		mkdir -p "$dir/$(dirname "$f")"
		cp -p "$REPO/$f" "$dir/$f"
	done
}

sum() { sha256sum <"$1" | cut -d' ' -f1; }

# Files in the tree that differ from what the last sync left there
edited()
{
	local want f

	[ -s "$TREE.sums" ] && (cd "$TREE" && sha256sum --quiet -c "$TREE.sums" 2>/dev/null) |
		sed -n 's/: FAILED.*//p'
	# Files that sync never wrote, changed since it last ran
	find "$TREE" -newer "$TREE.base" -type f -printf '%P\n' | while read -r f; do
		[ -e "$BASE/$f" ] || continue
		grep -qF "  $f" "$TREE.sums" && grep -qxE "[0-9a-f]+  $f" "$TREE.sums" && continue
		cmp -s "$BASE/$f" "$TREE/$f" || printf '%s\n' "$f"
	done
}

sync_tree()
{
	local want f changed=0

	find_base
	make_tree
	want=$(mktemp -d "$CACHE/stage.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$want'" EXIT
	stage "$want"

	for f in $(edited); do
		[ -e "$want/$f" ] && cmp -s "$want/$f" "$TREE/$f" && continue
		# A new file's home is the repository; its copy is overwritten.
		[ -e "$REPO/$f" ] && [ ! -e "$BASE/$f" ] && continue
		die "$TREE/$f was edited and not carried back: run 'make carry', or 'make discard' to drop such edits."
	done

	# What the last sync wrote and this one does not want
	while read -r _ f; do
		[ -e "$want/$f" ] && continue
		if [ -e "$BASE/$f" ]; then cp -p "$BASE/$f" "$TREE/$f"; touch "$TREE/$f"
		else rm -f "$TREE/$f"; fi
		changed=$((changed + 1))
	done <"$TREE.sums"

	while read -r f; do
		cmp -s "$want/$f" "$TREE/$f" && continue
		mkdir -p "$TREE/$(dirname "$f")"
		cp "$want/$f" "$TREE/$f"
		changed=$((changed + 1))
	done < <(cd "$want" && find . -type f -printf '%P\n')

	(cd "$want" && find . -type f -printf '%P\0' | sort -z | xargs -0r sha256sum) >"$TREE.sums.$$"
	mv "$TREE.sums.$$" "$TREE.sums"
	touch "$TREE.base"
	[ $changed -eq 0 ] || say "working tree: $changed files brought up to date"
}

# The patch that a kernel file belongs to: the first whose "edit" pattern fits
owner()
{
	awk -v f="$1" '
		/^[^#[:space:]]/ { p = $1 }
		$1 == "edit" {
			for (i = 2; i <= NF; i++)
				if (f == $i || ($i ~ /\/$/ && index(f, $i) == 1)) { print p; exit }
		}' "$SERIES"
}

carry()
{
	local tmp p f o files

	find_base
	[ -d "$TREE" ] || die "there is no working tree yet: run 'make tree' first."
	tmp=$(mktemp -d "$CACHE/carry.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$tmp'" EXIT

	files=$({ for p in $(patches); do [ -f "$REPO/patches/$p" ] && patch_files "$REPO/patches/$p"; done
		 edited; } | sort -u)
	for f in $files; do
		[ -e "$BASE/$f" ] || continue
		cmp -s "$BASE/$f" "$TREE/$f" && continue
		o=$(owner "$f")
		[ -n "$o" ] || die "$f was edited, but no 'edit' line of patches/series names it."
		diff -u --label "a/$f" --label "b/$f" "$BASE/$f" "$TREE/$f" >"$tmp/hunk" || true
		{ printf 'diff --git a/%s b/%s\n' "$f" "$f"; cat "$tmp/hunk"; } >>"$tmp/$o"
	done
	for p in $(patches); do
		[ -f "$REPO/patches/$p" ] || die "patches/$p needs its commit message first: create it with the message, ending in a line '---'."
		{ sed '/^---$/q' "$REPO/patches/$p"; [ ! -e "$tmp/$p" ] || cat "$tmp/$p"; } >"$tmp/new"
		cmp -s "$tmp/new" "$REPO/patches/$p" || { cp "$tmp/new" "$REPO/patches/$p"; say "patches/$p renewed"; }
	done
	# What was carried is now what sync would write
	trap - EXIT
	rm -rf "$tmp"
	accept
}

# Record the present state of carried files, so that sync finds nothing to do
accept()
{
	local want sum f

	want=$(mktemp -d "$CACHE/stage.XXXXXX")
	stage "$want"
	{
		(cd "$want" && find . -type f -printf '%P\0' | sort -z | xargs -0r sha256sum)
		# What is not wanted any more: the next sync has to know it
		while read -r sum f; do
			[ -e "$want/$f" ] || printf '%s  %s\n' "$sum" "$f"
		done <"$TREE.sums"
	} >"$want.sums"
	mv "$want.sums" "$TREE.sums"
	rm -rf "$want"
	touch "$TREE.base"
}

# Drop edits that were not carried back
discard()
{
	local f

	find_base
	for f in $(edited); do
		[ -e "$BASE/$f" ] || continue
		say "discarding the edit of $f"
		cp -p "$BASE/$f" "$TREE/$f"
		touch "$TREE/$f"
	done
	: >"$TREE.sums"
	sync_tree
}

# What the "new" lines of patches/series name.  One that ends in / names all of
# those on standard input that stand below it.
named_files()
{
	awk 'NR == FNR { file[NR] = $0; files = NR; next }
	     $1 != "new" { next }
	     {
		for (i = 2; i <= NF; i++) {
			found = 0
			for (f = 1; $i ~ /\/$/ && f <= files; f++)
				if (index(file[f], $i) == 1) { print file[f]; found = 1 }
			if (!found)
				print $i
		}
	     }' - "$SERIES"
}

# base + patches + new files == tree, file for file, and patches/series names
# every new file exactly once
check()
{
	local want diffs f

	sync_tree
	want=$(mktemp -d "$CACHE/check.XXXXXX")
	stage "$want"
	diffs=$(diff -rq --no-dereference --exclude='.checkpatch-camelcase.*' "$BASE" "$TREE" || true)
	printf '%s\n' "$diffs" | sed -n \
		-e "s,^Only in $TREE/\?\(.*\): \(.*\),\1/\2,p" \
		-e "s,^Only in $BASE/\?\(.*\): \(.*\),\1/\2,p" \
		-e "s,^Files $BASE/\(.*\) and .* differ$,\1,p" | sed 's,^/,,' | while read -r f; do
			if [ -d "$TREE/$f" ]; then (cd "$TREE" && find "$f" -type f); else printf '%s\n' "$f"; fi
		done | sort >"$want.found"
	(cd "$want" && find . -type f -printf '%P\n') | sort >"$want.wanted"
	if ! diff -u "$want.wanted" "$want.found" >&2; then
		rm -rf "$want" "$want".*
		die "the working tree is not base + patches + new files."
	fi
	while read -r f; do
		cmp -s "$want/$f" "$TREE/$f" || die "$f in the working tree differs from what the repository says."
	done <"$want.wanted"
	new_files | sort >"$want.new"
	named_files <"$want.new" | sort >"$want.series"
	if ! diff -u "$want.series" "$want.new" >&2; then
		rm -rf "$want" "$want".*
		die "patches/series does not name every new file exactly once."
	fi
	say "round trip: base $BASE_ID + $(patches | wc -l) patches + $(wc -l <"$want.new") new files == working tree"
	rm -rf "$want" "$want".*
}

need_machine
lock
case ${1:-} in
sync)	sync_tree ;;
carry)	carry ;;
accept)	find_base; accept ;;
discard) discard ;;
check)	check ;;
path)	echo "$CACHE/tree" ;;
base)	find_base; echo "$BASE" ;;
*)	die "usage: tree.sh sync|carry|discard|check|path|base" ;;
esac
