#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The working tree $CACHE/tree (of BASE=mainline: tree-mainline): the unpacked base kernel,
# plus the patches and the new files of this repository.
#
#   tree.sh sync     bring the tree up to date with the repository
#   tree.sh package  get the base's package, or fail
#   tree.sh carry    carry edits of the kernel's files back into patches/
#   tree.sh discard  drop edits that were not carried back
#   tree.sh check    prove: base + patches + new files == tree
#
# To change a kernel file, edit it in the tree and run "make carry".  A patch is its
# commit message, which stays as it is, and the difference of the files that
# patches/*/series gives it, made anew.  (What it changes in files with a "+" or "~" there,
# which other patches own, is edited by hand.)  New files are edited in the repository, at
# their in-tree path there or in bases/*/, and only copied into the tree.
#
# $CACHE/git has the base as "base", on top of it a commit for each patch as "series",
# and in its index what the last sync wrote.  So an edit is a file that differs from
# the index; sync writes only files that change, which spares builds, and it stops
# rather than overwrite an edit.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

TREE=$CACHE/tree$OF_BASE
GIT=$CACHE/git$OF_BASE
# Debian's package of the newest mainline kernel, whose name changes every two months
MAINLINE=$CACHE/sources/mainline
PATCHES=$REPO/patches/$BASE
# New files stand below these
HOMES=("$REPO" "$REPO/bases/$BASE")

# kgit COMMAND... - of the base and the series, without the user's configuration
kgit()
{
	GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 \
		git --git-dir="$GIT" --work-tree="${WORK:-$TREE}" -c core.quotePath=false "$@"
}

# The author of commits is "Name <address>" in $MAINTAINER, where these are mailed
author()
{
	local name=${MAINTAINER:-unwind <unwind@localhost>}
	local mail=${name##*<}

	name=${name% <*} mail=${mail%>}
	GIT_AUTHOR_NAME=$name GIT_AUTHOR_EMAIL=$mail \
		GIT_COMMITTER_NAME=$name GIT_COMMITTER_EMAIL=$mail "$@"
}

# in_worktree DIR COMMAND... - git there
in_worktree() { GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 author git -C "$@"; }

# new_worktree DIR COMMIT [OPTION]
new_worktree()
{
	rm -rf "$1"
	kgit worktree prune
	mkdir -p "$(dirname "$1")"
	kgit worktree add -q --detach "${@:3}" "$1" "$2"
}

# apt_mainline PROGRAM ARGUMENT... - with lists and state of its own; nothing is installed
apt_mainline()
{
	"$1" -o Dir::Etc::sourcelist="$MAINLINE/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::Lists="$MAINLINE/lists" -o Dir::Cache="$MAINLINE/cache" \
		-o APT::Sandbox::User=root -o Acquire::Check-Valid-Until=false "${@:2}"
}

download_mainline()
{
	local name site

	rm -rf "$MAINLINE"
	mkdir -p "$MAINLINE"/{lists/partial,cache,package}
	# From where this machine has its own packages
	# shellcheck disable=SC2016 # for apt
	site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Label: Debian' | head -n 1)
	[ -n "$site" ] || return
	echo "deb $site trixie-backports main" >"$MAINLINE/sources.list"
	apt_mainline apt-get update || return
	name=$(apt_mainline apt-cache search --names-only '^linux-source-[0-9.]+$' | cut -d ' ' -f 1 |
		sort -V | tail -n 1)
	[ -n "$name" ] || return
	(cd "$MAINLINE" && apt_mainline apt-get download "$name" && dpkg-deb -x "$name"_*.deb package) || return
	dpkg-deb -f "$MAINLINE/$name"_*.deb Version >"$MAINLINE/version"
}

# base_id - of the packaged source, or of KSRC=
base_id()
{
	if [ -n "${KSRC:-}" ]; then
		echo "ksrc-$({ realpath "$KSRC"; cat "$KSRC/Makefile"; } | sha256sum | cut -c 1-8)"
	elif [ "$BASE" = mainline ]; then
		cat "$MAINLINE/version" 2>&-
	else
		dpkg-query -W -f='${Version}' "linux-source-$BASE" 2>&-
	fi
}

# Get the package of the base
get_package()
{
	if [ "$BASE" != mainline ]; then
		host_packages "linux-source-$BASE" xz-utils git
		SOURCE=/usr/src/linux-source-$BASE.tar.xz
		return
	fi
	host_packages xz-utils git
	[ -e "$MAINLINE/version" ] || step "downloading the newest mainline kernel" download_mainline
	SOURCE=$(echo "$MAINLINE"/package/usr/src/linux-source-*.tar.xz)
}

# make_base - where the tree is not of that yet
make_base()
{
	local id

	[ -e "$PATCHES/series" ] || die "there is no series for BASE=$BASE yet."
	[ -n "${KSRC:-}" ] || get_package
	id=$(base_id)
	[ "$(cat "$TREE.base" 2>/dev/null)" != "$id" ] || [ ! -d "$GIT" ] || return 0

	rm -rf "$TREE" "$TREE".* "$GIT"
	mkdir -p "$TREE"
	if [ -n "${KSRC:-}" ]; then
		# shellcheck disable=SC2016 # for the inner shell
		step "copying $KSRC" sh -c 'tar -C "$1" --exclude=./.git -c . | tar -C "$2" -x' sh "$KSRC" "$TREE"
	else
		step "unpacking linux-source-$BASE $id" \
			tar -C "$TREE" --strip-components=1 -xf "$SOURCE"
	fi
	git init -q --bare "$GIT"
	# In the background, it would keep our lock
	kgit config gc.auto 0
	step "keeping the base in git" kgit -c core.compression=1 add -Af .
	author kgit commit -q -m "$id"
	kgit tag base
	printf '%s\n' "$id" >"$TREE.base"
}

# none MESSAGE LIST - stop, and name the first of the list
none() { [ -z "$2" ] || die "$1: $(head -n 5 <<<"$2" | xargs)"; }
patches() { sed -n 's/^\([^#[:space:]].*\.patch\)$/\1/p' "$PATCHES/series"; }

# new_files HOME - all that the repository has for the kernel's tree; also without git
new_files()
{
	WORK=$1 GIT_INDEX_FILE=$GIT/none kgit ls-files -o --exclude-standard -- \
		arch include kernel samples tools Documentation mm lib fs
}

# names - each patch and a name that the series gives it
names()
{
	awk '/^[^#[:space:]]/ { patch = $1 }
	     /^[[:space:]]/ { for (i = 1; i <= NF; i++) print patch, $i }' "$PATCHES/series"
}

# early - the patches that change files which a later one owns, and these files
early() { names | sed -n 's/ +/ /p'; }

# later - the patches that change new files of an earlier one, and these files
later() { names | sed -n 's/ ~/ /p'; }

# part early|later PATCH - what it changes in those files
part()
{
	awk -v p="$2" 'NR == FNR { if ($1 == p) files[$2]; next }
		/^diff --git / { file = $4; sub(/^b\//, "", file); part = file in files }
		part' <("$1") "$PATCHES/$2"
}

# owners - for each file on standard input: its patch, or "-"; the file; and the name
# in the series by which that is.  Files of "none" are no part of this series
owners()
{
	awk 'NR == FNR { owner[$2] = twice[$2]++ ? "-" : $1; next }
	     {
		name = $0
		while (name != "" && !(name in owner))
			sub(/[^\/]*\/?$/, "", name)
		print name == "" ? "-" : owner[name], $0, name
	     }' <(names | grep -v ' [+~]') -
}

# The kernel's MAINTAINERS, on standard input, with our entry at its place
with_entry()
{
	LC_ALL=C awk -v entry="$REPO/MAINTAINERS" -v maintainer="${MAINTAINER:-}" '
		BEGIN { getline title <entry }
		/^Maintainers List/ { list = 1 }
		list && last == "" && /^[0-9A-Z]/ && $0 > title {
			print title (maintainer ? "\nM:\t" maintainer : "")
			while ((getline line <entry) > 0)
				print line
			print ""
			list = 0
		}
		{ print; last = $0 }'
}

# commit PATCH - on top of $tip, with the new files that are its own
commit()
{
	local message blob
	local -a files

	message=$(sed -e '/^---$/,$d' -e '1s/^Subject: \(\[[^]]*\] \)\?//' "$PATCHES/$1" 2>/dev/null) ||
		die "patches/$BASE/$1 needs its commit message first: create it with that, ending in a line '---'."
	# One that changes no file of the kernel's has no more than its message
	! grep -q '^+++ ' "$PATCHES/$1" || kgit apply --cached "$PATCHES/$1" ||
		die "patches/$BASE/$1 does not apply to $(cat "$TREE.base")."
	mapfile -t files < <(awk -v p="$1" '$1 == p { print $2 }' <<<"$owned")
	[ ${#files[@]} = 0 ] || kgit ls-tree -r "$first" -- "${files[@]}" | kgit update-index --index-info
	if [[ $(echo MAINTAINERS | owners) = "$1 "* ]]; then
		blob=$(kgit show base:MAINTAINERS | with_entry | kgit hash-object -w --stdin)
		kgit update-index --cacheinfo "100644,$blob,MAINTAINERS"
	fi
	[ -z "${MAINTAINER:-}" ] ||
		message=$(git interpret-trailers --trailer "Signed-off-by: $MAINTAINER" <<<"$message")
	tip=$(author kgit commit-tree -p "$tip" "$(kgit write-tree)" <<<"$message")
}

# series_key - what the series is made of
series_key()
{
	local home

	{
		cat "$TREE.base" "$REPO/MAINTAINERS" "$REPO/qemu/tree.sh" "$PATCHES"/*
		echo "${MAINTAINER:-}"
		for home in "${HOMES[@]}"; do
			new_files "$home" | tar -C "$home" --mtime=@0 --owner=0 --group=0 -c -T -
		done
	} | sha256sum
}

# commits BRANCH - the base and a commit for each patch, where anything has changed
commits()
{
	local tip=base home p bad key owned new first
	local -x GIT_INDEX_FILE=$GIT/$1.index

	key=$(series_key)
	[ "$(cat "$GIT/$1.key" 2>/dev/null)" != "$key" ] || return 0

	owned=$(for home in "${HOMES[@]}"; do new_files "$home"; done | owners | grep -v '^none ' || true)
	bad=$(sed -n 's/^- \([^ ]*\).*/\1/p' <<<"$owned")
	none "patches/$BASE/series gives these files to no patch, or to two" "$bad"
	bad=$(for p in $(patches); do sed -n "s,^+++ b/,$p ,p" "$PATCHES/$p"; done | sort |
		comm -23 - <(cat <(early) <(later) | sort) | cut -d ' ' -f 2 | sort | uniq -d)
	none "two patches change the same files, and patches/$BASE/series has no '+' there" "$bad"
	kgit read-tree base
	for home in "${HOMES[@]}"; do new_files "$home" | WORK=$home kgit update-index --add --stdin; done
	new=$(kgit write-tree)
	for p in $(later | cut -d ' ' -f 1 | uniq | tac); do
		part later "$p" | kgit apply --cached -R ||
			die "patches/$BASE/$p has not the new files' lines: edit its part of those with '~' in series."
	done
	first=$(kgit write-tree)
	kgit read-tree base
	for p in $(patches); do commit "$p"; done
	bad=$(kgit diff --name-only "$new" "$tip" | sort | comm -12 - <(cut -d ' ' -f 2 <<<"$owned" | sort))
	none "patches/$BASE does not make these new files as they are" "$bad"
	bad=$(comm -3 --output-delimiter= <(cut -d ' ' -f 2 <<<"$owned" | sort) \
		<(kgit diff --no-renames --diff-filter=ADT --name-only base "$tip" | sort))
	none "these files are the kernel's and copies in the repository, or a patch adds or removes them" "$bad"
	kgit update-ref "refs/heads/$1" "$tip"
	printf '%s\n' "$key" >"$GIT/$1.key"
}

# edits - the kernel's files that were edited in the tree, and not carried back.  A new
# file's home is the repository: its copy is overwritten
edits()
{
	comm -12 <(kgit diff --name-only | sort) <(kgit diff --name-only series | sort) |
		comm -12 - <(kgit ls-tree -r --name-only base | sort)
}

# Nothing is to be done: then others may use the tree meanwhile, and for hours
up_to_date()
{
	[ -d "$GIT" ] && [ "$(cat "$TREE.base" 2>&-)" = "$(base_id)" ] &&
		[ "$(cat "$GIT/series.key" 2>&-)" = "$(series_key)" ] &&
		# Neither edited nor halfway brought up to date
		[ -z "$(kgit diff --name-only; kgit diff --cached --name-only series)" ]
}

write_tree()
{
	kgit read-tree --reset -u series
	# The state of each file that is not the base's
	kgit diff-index --cached base | awk '{ print $4 "  " $6 }' >"$TREE.sums"
}

sync_tree()
{
	local edited changed

	make_base
	commits series
	edited=$(edits)
	none "these files were edited in $TREE and not carried back ('make carry' does it, 'make discard' drops the edits)" "$edited"
	changed=$(kgit diff --name-only series | wc -l)
	write_tree
	[ "$changed" = 0 ] || say "working tree: $changed files brought up to date"
}

# base_of_owners - the base with all early parts
base_of_owners()
{
	local -x GIT_INDEX_FILE=$GIT/owners.index
	local p

	kgit read-tree base
	for p in $(early | cut -d ' ' -f 1 | uniq); do
		part early "$p" | kgit apply --cached ||
			die "patches/$BASE/$p does not apply to $(cat "$TREE.base")."
	done
	kgit write-tree
}

carry()
{
	local p owned files bad from

	[ -e "$TREE.base" ] || die "there is no working tree yet: run 'make tree' first."
	make_base
	owned=$(kgit diff --name-only base | grep -vx MAINTAINERS |
		comm -12 - <(kgit ls-tree -r --name-only base | sort) | owners)
	bad=$(sed -n 's/^- \([^ ]*\).*/\1/p' <<<"$owned")
	none "no name in patches/$BASE/series fits" "$bad"
	from=$(base_of_owners)
	for p in $(patches); do
		mapfile -t files < <(awk -v p="$p" '$1 == p { print $2 }' <<<"$owned")
		{
			sed '/^---$/q' "$PATCHES/$p"
			# These stay: nobody knows which of its lines an edit belongs to
			part early "$p"
			part later "$p"
			[ ${#files[@]} = 0 ] || kgit diff --no-renames "$from" -- "${files[@]}" | sed '/^index /d'
		} >"$GIT/carried"
		cmp -s "$GIT/carried" "$PATCHES/$p" && continue
		cp "$GIT/carried" "$PATCHES/$p"
		say "patches/$BASE/$p renewed"
	done
	commits series
	# The edits are there already, but new files may have gone or come
	write_tree
}

# added [PATTERN] - the new files
added() { kgit diff --diff-filter=A --name-only base series -- "$@"; }

discard()
{
	make_base
	kgit diff --name-only | while read -r f; do say "discarding the edit of $f"; done
	kgit checkout -q -f -- .
	sync_tree
}

check()
{
	local bad

	sync_tree
	bad=$(kgit diff --name-only series; kgit ls-files -o | grep -v '^\.checkpatch-camelcase\.' || true)
	none "the working tree is not base + patches + new files" "$bad"
	bad=$(kgit diff --name-only base series | owners | cut -d ' ' -f 3 | sort -u |
		comm -13 - <(names | grep -v '^none \| [+~]' | cut -d ' ' -f 2 | sort))
	none "patches/$BASE/series has names that fit no file" "$bad"
	say "round trip: base $(cat "$TREE.base") + $(patches | wc -l) patches + $(added | wc -l) new files == working tree"
}

[ "${BASH_SOURCE[0]}" = "$0" ] || return 0
need_machine
[ "${1:-}" != sync ] || ! (share tree && up_to_date) || exit 0
lock
case ${1:-} in
sync)	sync_tree ;;
package) get_package ;;
carry|discard|check) "$1" ;;
*)	die "usage: tree.sh sync|package|carry|discard|check" ;;
esac
