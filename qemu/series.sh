#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The series as it is mailed, in build/series/: a cover letter and one file per
# patch of patches/series, for "git send-email" and "git am".
#
# Only files that the series touches are kept in a git repository meanwhile; that
# is all that git looks at.  To prove the result, it is applied by "git am" to the
# base's own files, and must give, file for file, what the working tree has.  With
# KSRC= it is also applied to those of another 6.12 tree.
#
# The cover letter is patches/cover-letter and the figures of "make bench" and
# "make accuracy", of each architecture, as far as these have left any in build/.

. "$(dirname "$0")/common.sh"

SERIES=$REPO/patches/series
OUT=$REPO/build/series
PREFIX="PATCH 6.12"

# words PATCH WHAT - the words on its lines that begin with WHAT
words()
{
	awk -v p="$1.patch" -v what="$2" '
		/^[^#[:space:]]/ { on = $1 == p }
		on && $1 == what { for (i = 2; i <= NF; i++) print $i }' "$SERIES"
}

names() { sed -n 's/^\([^#[:space:]].*\)\.patch$/\1/p' "$SERIES"; }

# Of the kernel's files, those that a patch changes
changed() { sed -n 's,^+++ b/\([^[:space:]]*\).*,\1,p' "$REPO/patches/$1.patch"; }

# What of the repository a patch adds
added() { words "$1" new | while read -r f; do git -C "$REPO" ls-files -- "$f"; done; }

in_git() { git -C "$WORK/$1" -c core.hooksPath=/dev/null "${@:2}"; }

# new_repository DIR - with the base's own files that are changed
new_repository()
{
	local p f

	mkdir -p "$WORK/$1"
	in_git "$1" init -q
	in_git "$1" config user.name "$(git -C "$REPO" log -1 --format=%an)"
	in_git "$1" config user.email "$(git -C "$REPO" log -1 --format=%ae)"
	for p in $(names); do
		for f in $(changed "$p"); do
			mkdir -p "$WORK/$1/$(dirname "$f")"
			cp -p "$BASE/$f" "$WORK/$1/$f"
		done
	done
	in_git "$1" add -A
	in_git "$1" commit -q -m base
}

# What stands before the line "---", the subject without its tag
message() { sed -e '/^---$/,$d' -e '1s/^Subject: \(\[[^]]*\] \)\?//' "$REPO/patches/$1.patch"; }

commit_patch()
{
	local p=$1 f

	if grep -q '^+++ ' "$REPO/patches/$p.patch"; then
		patch -d "$WORK/series" -p1 -s --no-backup-if-mismatch -F2 <"$REPO/patches/$p.patch" ||
			die "patches/$p.patch does not apply to $BASE."
	fi
	added "$p" | while read -r f; do
		mkdir -p "$WORK/series/$(dirname "$f")"
		cp -p "$REPO/$f" "$WORK/series/$f"
	done
	# What .gitignore of the selftests names is wanted all the same
	in_git series add -A -f
	message "$p" | in_git series commit -q -s -F -
}

# figures TITLE KIND DIR - a section of the cover letter: bench or accuracy, from build/DIR
figures()
{
	if ! ls "$REPO/build/$3"/*.json >/dev/null 2>&1; then
		say "the cover letter has no figures of build/$3: 'make $2' has left none"
		return
	fi
	printf '\n%s\n%s\n\n' "$1" "$(printf '%s' "$1" | tr -c '\n' '=')"
	in_root python3 "/mnt/repo/qemu/$2/report.py" "/mnt/repo/build/$3" || true
}

cover_letter()
{
	local letter

	letter=$(echo "$OUT"/*-cover-letter.patch)
	{
		sed '1d' "$REPO/patches/cover-letter"
		figures "What it costs, on x86-64" bench bench
		figures "What it costs, on arm64" bench bench-arm64
		figures "How right and how complete stacks are, on x86-64" accuracy accuracy
		figures "How right and how complete stacks are, on arm64" accuracy accuracy-arm64
	} >"$WORK/blurb"
	awk -v subject="$(head -n 1 "$REPO/patches/cover-letter")" -v blurb="$WORK/blurb" '
		/^Subject: / { sub(/\*\*\* SUBJECT HERE \*\*\*/, subject) }
		$0 == "*** BLURB HERE ***" {
			while ((getline line <blurb) > 0)
				print line
			next
		}
		{ print }' "$letter" >"$WORK/letter"
	mv "$WORK/letter" "$letter"
}

make_series()
{
	local p

	new_repository series
	in_git series tag base
	for p in $(names); do commit_patch "$p"; done
	rm -rf "$OUT"
	mkdir -p "$OUT"
	in_git series format-patch -q --cover-letter --subject-prefix="$PREFIX" \
		-o "$OUT" base..HEAD
	cover_letter
}

# apply DIR - "git am" of all patches; where the base has changed since, by the
# base's own files, which the other repository has
apply()
{
	local mails

	mapfile -t mails < <(find "$OUT" -name '*.patch' ! -name '*-cover-letter.patch' | sort)
	echo "$WORK/series/.git/objects" >"$WORK/$1/.git/objects/info/alternates"
	in_git "$1" am -q -3 "${mails[@]}" >"$LOGS/git-am.log" 2>&1 || {
		cat "$LOGS/git-am.log" >&2
		die "git am does not take the series."
	}
}

# Applied as whoever gets it would, it is the working tree
prove()
{
	local f bad=0 n=0

	new_repository applied
	apply applied
	while read -r f; do
		n=$((n + 1))
		cmp -s "$WORK/applied/$f" "$CACHE/tree/$f" && continue
		say "differs from the working tree: $f"
		bad=1
	done < <(in_git applied ls-files)
	[ $bad = 0 ] || die "the series does not make the working tree."
	say "git am: $(names | wc -l) patches, $n files, all as in the working tree"
}

# It applies to another tree, too
prove_elsewhere()
{
	BASE=$1
	new_repository elsewhere
	apply elsewhere
	say "git am: likewise applied to $1"
}

need_machine
other=${KSRC:-}
unset KSRC
"$REPO/qemu/tree.sh" check
BASE=$("$REPO/qemu/tree.sh" base)
WORK=$(mktemp -d "$CACHE/series.XXXXXX")
trap 'rm -rf "$WORK"' EXIT
make_series
prove
[ -z "$other" ] || prove_elsewhere "$(cd "$other" && pwd)"
say "the series is in build/series/"
