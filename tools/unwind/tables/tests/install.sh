#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "make install" installs what the program, its unit and its man page name, and what the man
# page says of the program is true: results in the Test Anything Protocol.
#
#	install.sh OUTPUT DIR
#
# OUTPUT is where it was built; DIR is removed, and made anew.

set -u

out=$(realpath "$1")
rm -rf "$2"
mkdir -p "$2"
root=$(realpath "$2")
cd "$(dirname "$0")/.." || exit 1
tool=$root/usr/bin/unwind-tables
man=$root/usr/share/man/man1/unwind-tables.1
unit=$root/usr/lib/systemd/system/unwind-tables.service
nr=0

# result WHAT STATUS
result()
{
	nr=$((nr + 1))
	echo "$([ "$2" = 0 ] || echo "not ")ok $nr - install: $1"
}

# is WHAT GOT WANTED
is()
{
	[ "$2" = "$3" ] || printf '# it is: %s\n# wanted: %s\n' "$2" "$3"
	[ "$2" = "$3" ]
	result "$1" $?
}

# install_to PREFIX
install_to() { make -s install OUTPUT="$out" DESTDIR="$root" prefix="$1" >&2; }

# values NAME - of the lines of the unit
values() { sed -n "s/^$1=//p" "$unit"; }

# section NAME - the words of a section of the man page, without its macros and fonts
section()
{
	sed -n "/^\.SH $1/,/^\.SH/p" "$man" | sed -e '/^\.SH/d' -e 's/^\.[A-Z]\{1,2\} //' \
		-e '/^\.[a-zA-Z]*$/d' -e 's/\\//g' -e 's/"//g'
}

# The same text without spaces, which the man page has between fonts
packed() { tr -d ' \n'; }

# options COMMAND - that the man page lists
options()
{
	awk -v command="$1" '
		/^\.SH/ { listed = $2 == "COMMANDS" }
		listed && last == ".TP" {
			gsub(/\\/, "", $2)
			if ($2 !~ /^-/)
				found = $2 == command
			else if (found)
				print $2
		}
		{ last = $0 }' "$man" | sort | paste -sd ' '
}

# described - the commands that the man page lists
described()
{
	awk '/^\.SH/ { listed = $2 == "COMMANDS" }
		listed && last == ".TP" && $2 ~ /^[a-z]/ { print $2 }
		{ last = $0 }' "$man"
}

install_to /usr
result "it ends well" $?
is "all files" "$(cd "$root" && find . ! -type d -printf '%m %P\n' | LC_ALL=C sort -k 2)" \
"755 usr/bin/unwind-tables
644 usr/lib/systemd/system/unwind-tables.service
755 usr/lib/unwind_audit.so
644 usr/share/bash-completion/completions/unwind-tables
644 usr/share/man/man1/unwind-tables.1"
usage=$("$tool" --help)
result "the program runs" $?
# shellcheck disable=SC2016 # for the inner shell
library=$("$tool" run -d "$root/cache" sh -c 'echo "$LD_AUDIT"' 2>/dev/null)
is "the program finds its library" "$(realpath -q "$library")" "$root/usr/lib/unwind_audit.so"
is "the unit starts the program" "$(values ExecStart)" "${tool#"$root"} serve"
is "the unit names the man page" "$(values Documentation)" "man:unwind-tables(1)"
is "the unit's cache is the program's" "/var/cache/$(values CacheDirectory)" \
	"$(sed -n 's/^#define SYSTEM_DIR\t*"\(.*\)"/\1/p' cache.c)"
is "the unit's directory is the program's" "/run/$(values RuntimeDirectory)" \
	"$(sed -n 's/^#define DIR\t*"\(.*\)"/\1/p' answers.c)"
for path in "/run/$(values RuntimeDirectory)/answers" "/var/cache/$(values CacheDirectory)" \
	"$(values DeviceAllow | cut -d ' ' -f 1)"; do
	section FILES | grep -qxF -e "$path"
	result "the man page has $path" $?
done
( . "$root/usr/share/bash-completion/completions/unwind-tables" && complete -p unwind-tables ) \
	>/dev/null
result "the completion is the program's" $?
is "the man page's synopsis is the program's" "$(section SYNOPSIS | packed)" \
	"$(packed <<<"${usage#usage:}")"
commands=$(sed -n 's/.*unwind-tables \([a-z]*\).*/\1/p' <<<"$usage")
is "the man page describes the commands" "$(described)" "$commands"
for command in $commands; do
	is "the man page has the options of $command" "$(options "$command")" \
		"$(sed -n "s/.*unwind-tables $command //p" <<<"$usage" |
			grep -o -- '\[-[a-z]' | tr -d '[' | sort | paste -sd ' ')"
done
install_to /opt/unwind
is "the unit has the prefix" \
	"$(sed -n 's/^ExecStart=//p' "$root/opt/unwind/lib/systemd/system/unwind-tables.service")" \
	"/opt/unwind/bin/unwind-tables serve"
echo "1..$nr"
