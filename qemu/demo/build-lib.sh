# shellcheck shell=sh
# What build-libc.sh and build-program.sh share.  It is sourced, not run.
#
# Both scripts promise the same things: an unchanged input costs nothing, a
# long step shows that it is alive, and a failed step leaves the reader with
# the end of its log rather than with a wall of compiler output.
#
# The sourcing script sets WORK (a directory it may fill) and LOG (a file).

# A build must not depend on what the caller happens to have exported.
unset CC CXX CPP CFLAGS CXXFLAGS CPPFLAGS LDFLAGS ASFLAGS LIBS MAKEFLAGS
unset LIBRARY_PATH LD_LIBRARY_PATH LD_PRELOAD CPATH C_INCLUDE_PATH
export LC_ALL=C

# Programs are found and run below $PREFIX of the guest's root.  For another
# architecture than this machine's, that is below $GUEST here, and $TRIPLET names
# its tools.
TRIPLET=${TRIPLET:-}
GUEST=${GUEST:-}
TOOL=${TRIPLET:+$TRIPLET-}
BUILD_CC=gcc-14
SFRAME_CC=${TOOL}gcc-14
PREFIX=/opt/sframe
# shellcheck disable=SC2034 # used where this file is sourced
DEST=$GUEST$PREFIX
# On arm64 distributions have return addresses signed and landing pads.
PROTECTION=
case $TRIPLET in
aarch64-*)
	LOADER=ld-linux-aarch64.so.1
	PROTECTION=-mbranch-protection=standard
	;;
*)
	LOADER=ld-linux-x86-64.so.2
	;;
esac
JOBS=${JOBS:-$(nproc)}

say() {
	printf '%s\n' "$*"
}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# input_hash [FILE...]: one word that changes when the contents of a file, the
# compiler or the assembler changes.
input_hash() {
	{
		cat "$@"
		"$SFRAME_CC" --version
		"${TOOL}as" --version
	} | sha256sum | cut -c1-64
}

# logged TITLE COMMAND...: run COMMAND with its output in $LOG.  Every ten
# seconds, say how long it has been running and, if it calls the compiler more
# than once, how many of the log's lines are calls that produce an object.
logged() {
	title=$1
	shift
	say "  $title"
	printf '\n=== %s: %s\n' "$title" "$*" >>"$LOG"
	from=$(wc -l <"$LOG")
	begin=$(date +%s)
	nice "$@" >>"$LOG" 2>&1 </dev/null &
	child=$!
	trap 'kill "$child" 2>/dev/null || :' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	tick=0
	while kill -0 "$child" 2>/dev/null; do
		sleep 1
		tick=$((tick + 1))
		[ $((tick % 10)) -eq 0 ] || continue
		objects=$(tail -n "+$from" "$LOG" |
			grep -Ec '(^| )-o [^ ]*\.(o|os|oS|lo)( |$)' || :)
		note=
		[ "$objects" -eq 0 ] || note=", $objects objects compiled"
		say "    $(($(date +%s) - begin)) s$note"
	done
	status=0
	wait "$child" || status=$?
	trap - EXIT INT TERM
	say "    took $(($(date +%s) - begin)) s"
	return "$status"
}

# must TITLE COMMAND...: the same, and a failure ends the script.
must() {
	logged "$@" || failed "$1"
}

failed() {
	{
		printf '%s: failed: %s\n' "${0##*/}" "$1"
		printf -- '--- last 30 lines of %s\n' "$LOG"
		tail -n 30 "$LOG"
	} >&2
	exit 1
}

# sframe_counts FILE: "FDEs FREs" from the header of its .sframe section.
sframe_counts() {
	"${TOOL}objdump" --sframe "$1" 2>/dev/null | awk '
		/Num FDEs:/ { fdes = $NF }
		/Num FREs:/ { fres = $NF }
		END { print fdes + 0, fres + 0 }'
}
