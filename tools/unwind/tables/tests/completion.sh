#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What unwind-tables.bash offers is what the tool takes: results in the Test Anything
# Protocol.
#
#	completion.sh UNWIND-TABLES

set -u

tool=$1
cd "$(dirname "$0")/.." || exit 1
. ./unwind-tables.bash
nr=0

# offers WORD... - the completions of the last word, sorted, in one line
offers()
{
	COMP_WORDS=(unwind-tables "$@")
	COMP_CWORD=$#
	_unwind_tables
	printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd ' '
}

# is NAME GOT WANTED
is()
{
	nr=$((nr + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $nr - completion of $1"
	else
		echo "# offers '$2', not '$3'"
		echo "not ok $nr - completion of $1"
	fi
}

usage=$("$tool" --help)
commands=$(sed -n 's/.*unwind-tables \([a-z]*\).*/\1/p' <<<"$usage")

# options COMMAND - the options that --help has for it
options()
{
	sed -n "s/.*unwind-tables $1 //p" <<<"$usage" | grep -o -- '\[-[a-z]' | tr -d '[' | sort |
		paste -sd ' '
}

is "the commands" "$(offers '')" "$(printf '%s\n' --help "$commands" | sort | paste -sd ' ')"
is "a command's beginning" "$(offers con)" convert
for command in convert serve cache run; do
	is "$command's options" "$(offers $command -)" "$(options $command)"
done
is "a directory" "$(offers cache -d tes)" tests
is "files for the cache" "$(offers cache -v unwind-tables.b)" unwind-tables.bash
is "a program" "$(offers run unwind-tables.b)" unwind-tables.bash
is "an address" "$(offers convert -a '')" ""
is "files" "$(offers check unwind-tables.b)" unwind-tables.bash
is "what takes nothing" "$(offers status '')" ""
echo "1..$nr"
