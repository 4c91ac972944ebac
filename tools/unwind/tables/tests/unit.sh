#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# systemd understands each line of the service's unit, and finds its sandbox tight: results in
# the Test Anything Protocol.  Nothing is started.
#
#	unit.sh [UNIT]

set -u

unit=${1:-$(dirname "$0")/../unwind-tables.service}
version=$(systemd-analyze --version 2>/dev/null | sed -n 's/^systemd \([0-9]*\).*/\1/p')
# Of 100; a service that nothing confines has 96
EXPOSURE=45
# Versions before 254 do not know this line
unknown=FileDescriptorStorePreserve
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
copy=$dir/unwind-tables.service
nr=0

result()
{
	nr=$((nr + 1))
	echo "$([ "$2" = 0 ] || echo "not ")ok $nr - unit: $1"
}

# variant SED - change the copy; the program need not be installed
variant()
{
	sed -e 's|^ExecStart=[^ ]*|ExecStart=/bin/true|' -e "$1" "$unit" >"$copy"
}

verify() { systemd-analyze --man=no verify "$copy" 2>&1; }

# Print what systemd says of the unit
complaints() { verify | grep -F unwind-tables.service | grep -v "'$unknown'"; }

is_exposed()
{
	! systemd-analyze security --offline=true --threshold=$EXPOSURE --no-pager "$copy" \
		>/dev/null 2>&1
}

variant ''
if [ -z "$version" ] || verify | grep -q '^Failed to .* manager'; then
	echo "ok 1 - unit # SKIP there is no systemd-analyze, or it cannot run here"
	echo "1..1"
	exit
fi
# systemd cannot look into the flags of openat2(), so this line forbids the call
! grep -q '^RestrictSUIDSGID=' "$unit"
result "files that are mapped at the start can be opened" $?
[ "$version" -lt 254 ] || unknown=nothing
variant 's/^ProtectSystem=strict/ProtectSystem=strikt/'
complaints | grep -q strikt
result "a wrong value is seen" $?
variant 's/^LockPersonality=/LockPersonalities=/'
complaints | grep -q LockPersonalities
result "an unknown line is seen" $?
variant ''
complaints | sed 's/^/# /' | { ! grep .; }
result "systemd understands each line" $?
if [ "$version" -lt 250 ]; then
	nr=$((nr + 1))
	echo "ok $nr - unit: exposure # SKIP systemd $version does not judge files"
else
	! is_exposed
	result "the service's exposure is at most $((EXPOSURE / 10)).$((EXPOSURE % 10))" $?
	variant '/^\(Capability\|Device\|Protect\|Private\|Restrict\|System\|NoNew\|Lock\)/d'
	is_exposed
	result "without its sandbox it is more" $?
fi
echo "1..$nr"
