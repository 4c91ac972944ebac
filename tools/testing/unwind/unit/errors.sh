#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Has each error that the decoder returns a case that shows it?  In each place of
# sframe.c that names an error, another is named; some case must fail then.
#
# usage: DIRECTORY SOURCE TEST-OBJECTS COMPILER [FLAG...]
set -u

dir=$1/errors
source=$2
objects=$3
shift 3
num=0
bad=0

# The lines of code, not of comment, that name an error
places()
{
	grep -nE -- '-E[A-Z0-9]+' "$source" | grep -vE '^[0-9]+:[[:space:]]*/?\*' |
		cut -d: -f1
}

# failing_cases LINE COMPILER [FLAG...]
failing_cases()
{
	sed -E "$1s/-E[A-Z0-9]+/-EXDEV/g" "$source" >"$dir/sframe.c"
	shift
	# shellcheck disable=SC2086 # a list
	"$@" -o "$dir/sframe_test" "$dir/sframe.c" $objects &&
		"$dir/sframe_test" cases | grep -c '^not ok '
}

mkdir -p "$dir"
for line in $(places); do
	text=$(sed -n "${line}s/^[[:space:]]*//p" "$source")
	fail=$(failing_cases "$line" "$@")
	num=$((num + 1))
	if [ "${fail:-0}" -gt 0 ]; then
		echo "ok $num - errors: line $line, $text"
	else
		echo "# no case fails if that error is another one"
		echo "not ok $num - errors: line $line, $text"
		bad=$((bad + 1))
	fi
done
echo "1..$num"
[ $bad -eq 0 ] && [ $num -ne 0 ]
