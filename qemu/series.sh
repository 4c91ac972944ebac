#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The series as it is mailed, in build/series/: a cover letter and a mail per patch, for
# "git send-email" and "git am".  Author, sign-off and maintainer are the user of git's
# configuration.  Where "# B: ..." in patches/*/series begins a part, that is a series of
# its own, on top of the parts before it: build/series/B/, with cover-letter-B.
#
#   series.sh          make the mails, and prove them: "git am" makes the working tree of
#                      the base.  With KSRC=, "git am" also takes them in that 6.12 tree
#   series.sh check    the same in build/check/series/, by nobody
#
# The cover letter is patches/*/cover-letter and the figures of "make bench" and
# "make accuracy", of each architecture, as far as these have left any in build/.

. "$(dirname "$0")/tree.sh"

# The user of make, also under sudo
identity()
{
	local as=()

	[ -z "${SUDO_USER:-}" ] || as=(sudo -H -u "$SUDO_USER")
	"${as[@]}" git -C "$REPO" -c user.useConfigOnly=true var GIT_AUTHOR_IDENT 2>/dev/null |
		sed 's/>.*/>/' || true
}

# figures TITLE KIND DIR - a section of the cover letter: bench or accuracy, from DIR
figures()
{
	local dir=${FIGURES#"$REPO"/}/$3 rc=0

	if ! ls "$REPO/$dir"/*.json >/dev/null 2>&1; then
		say "the cover letter has no figures of $dir: 'make $2' has left none"
		return
	fi
	printf '\n%s\n%s\n' "$1" "$(printf '%s' "$1" | tr -c '\n' '=')"
	# 3: not everything holds, as the figures show
	in_root python3 /mnt/repo/tools/unwind/tests/report.py "/mnt/repo/$dir" || rc=$?
	[ $rc = 0 ] || [ $rc = 3 ] || die "$dir has no figures that can be read; 'make $2' makes them anew."
}

# Made-up figures, in the places where the cover letter has figures
sample_figures()
{
	mkdir -p "$FIGURES"/{bench/sampling,accuracy/step}
	touch "$FIGURES"/{bench/bench,accuracy/accuracy}.json
	echo "sframe 99 1000000 1012345 1 1 4321 0" >"$FIGURES/bench/sampling/sampling"
	echo "# truth: program=sample steps=9 distinct=54321 tabled=9 right=9 exceptions=0 wrong=0" \
		"short=0 unlisted=0" >"$FIGURES/accuracy/step/single_step"
}

# cover_letter [-PART]
cover_letter()
{
	cat "$PATCHES/cover-letter$1"
	# They are counted and compared there
	[ "$BASE" = 6.12 ] || return 0
	figures "What it costs, on x86-64" bench bench
	figures "What it costs, on arm64" bench bench-arm64
	figures "How right and how complete stacks are, on x86-64" accuracy accuracy
	figures "How right and how complete stacks are, on arm64" accuracy accuracy-arm64
}

# parts - of each, the number of its last patch; then "-" and its letter, and "RFC", if so
parts()
{
	awk '/^# [A-Z]: / { if (nr) print nr, part; part = "-" substr($2, 1, 1) (/RFC/ ? " RFC" : "") }
	     /^[^#[:space:]].*\.patch$/ { nr++ }
	     END { print nr, part }' "$PATCHES/series"
}

make_mails()
{
	local from=base nr part rfc letter

	commits mails
	rm -rf "$OUT"
	while read -r nr part rfc; do
		letter=$(cover_letter "$part")
		kgit update-ref refs/heads/part "$(kgit rev-list --reverse base..mails | sed -n "${nr}p")"
		kgit config branch.part.description "$letter"
		author kgit format-patch -q --cover-letter --cover-from-description=subject \
			--subject-prefix="${rfc:+RFC }PATCH $BASE" -o "$OUT/${part#-}" "$from..part"
		from=$(kgit rev-parse part)
	done < <(parts)
}

# apply COMMIT - "git am" of all mails there.  git fetches from it only the files that
# the mails change
apply()
{
	local mails

	mapfile -t mails < <(find "$OUT" -name '0*.patch' ! -name '0000-*' | sort)
	new_worktree "$WORKTREE" "$1" --no-checkout
	in_worktree "$WORKTREE" read-tree HEAD
	in_worktree "$WORKTREE" am -q -3 "${mails[@]}" >"$LOGS/git-am.log" 2>&1 || {
		cat "$LOGS/git-am.log" >&2
		die "git am does not take the series."
	}
}

# Apply the mails as a reader would: each makes its commit, and all make the working tree
prove()
{
	local named=

	# Its entry names who mails it
	[ ! -e "$PATCHES/maintainers.patch" ] || named=$'1\t0\tMAINTAINERS'
	apply base
	[ "$(in_worktree "$WORKTREE" log --format=%T base..)" = "$(kgit log --format=%T base..mails)" ] ||
		die "the mails do not make the commits that they were made of."
	[ "$(kgit diff --numstat series mails)" = "$named" ] ||
		die "the series does not make the working tree."
	say "git am: $(patches | wc -l) patches, $(kgit diff --name-only base mails | wc -l) files, all as in the working tree"
}

# prove_elsewhere DIR - they apply to another tree, too: the base with its files
prove_elsewhere()
{
	local -x GIT_INDEX_FILE=$GIT/elsewhere.index

	kgit read-tree base
	kgit diff --diff-filter=M --name-only base series | WORK=$1 kgit update-index --stdin
	kgit tag -f elsewhere "$(author kgit commit-tree -p base -m "$1" "$(kgit write-tree)")" >/dev/null
	unset GIT_INDEX_FILE
	apply elsewhere
	say "git am: likewise applied to $1"
}

need_machine
lock tree
other=${KSRC:+$(realpath "$KSRC")}
unset KSRC
case ${1:-} in
check)	OUT=$REPO/build/check$OF_BASE/series MAINTAINER="Nobody <nobody@localhost>"
	FIGURES=$OUT.figures
	sample_figures ;;
'')	OUT=$REPO/build/series MAINTAINER=$(identity) FIGURES=$REPO/build
	[ -n "$MAINTAINER" ] || die "the mails need an author: run 'git config --global user.name' and 'user.email' with yours." ;;
*)	die "usage: series.sh [check]" ;;
esac
WORKTREE=$CACHE/applied
MAINTAINER='' check
make_mails
prove
[ "${1:-} $BASE" != "check 6.12" ] ||
	[ "$(grep -cE '^  sframe +12,345 |^  sample +9 +54,321 ' "$OUT/0000-cover-letter.patch")" = 2 ] ||
	die "the cover letter lacks figures that there are."
[ -z "$other" ] || prove_elsewhere "$other"
rm -rf "$WORKTREE"
say "the series is in ${OUT#"$REPO"/}/"
