#!/bin/sh
# Record one workload with each call-graph method and compare the results.
#
#     run.sh [OUTDIR]              (run as root in the guest)
#
# The same program does the same work once per method; only --call-graph
# differs.  That it was the same work is checked: the program prints what it
# computed, and the outputs have to be equal.  A run that lost samples would
# flatter or slander its method, so that is checked too; it is an error.
#
# Everything goes to OUTDIR (default: /tmp/demo), which must be writable and,
# for stacks copied by the dwarf method, of some size: SIZE 25 and FREQ 299
# need some 20 MB.  What can be changed, by environment variables:
#
#     PERF     the perf to use                       (default: perf)
#     METHODS  arguments of --call-graph, by blanks; "in-place" is fp on a
#              kernel that takes tables where it can   (sframe fp dwarf in-place)
#     EVENT    what to sample                        (cpu-clock)
#     FREQ     how often per second                  (299)
#     SIZE     how much work; 50 is about a second on a real machine  (25)
set -eu

HERE=$(cd "$(dirname "$0")" && pwd)
OUT=${1:-/tmp/demo}
PERF=${PERF:-perf}
METHODS=${METHODS:-sframe fp dwarf in-place}
EVENT=${EVENT:-cpu-clock}
FREQ=${FREQ:-299}
SIZE=${SIZE:-25}
PROGRAM=/opt/sframe/bin/sqlite3
# Whether a stack taken at the sample itself, as fp's is, may come from tables.
IN_PLACE=/proc/sys/kernel/unwind_in_place
# Room for two seconds of copied stacks; the default is an eighth of one.
BUFFER=16M

export LC_ALL=C PERF_PAGER=cat

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# attempt LOG COMMAND...: run it with its messages in LOG, show them if it fails.
attempt() {
	log=$1
	shift
	"$@" 2>"$log" && return
	cat "$log" >&2
	die "failed: $*"
}

# samples STATISTICS: "SAMPLES LOST" of all events, from perf report --stats.
samples() {
	awk '
		/^[^ ].*stats:$/ { event = !/^Aggregated/ }
		event && /^ *SAMPLE events:/ { samples += $3 }
		event && /^ *LOST_SAMPLES events:/ { lost += $3 }
		!event && /^ *LOST events:/ { chunks += $3 }
		END { print samples + 0, lost + (lost ? 0 : chunks) }' "$1"
}

[ -x "$PROGRAM" ] || die "no $PROGRAM; it is built by build-program.sh"
command -v "$PERF" >/dev/null || die "no perf at $PERF"
before=$(cat "$IN_PLACE")
trap 'echo "$before" >"$IN_PLACE"' EXIT
mkdir -p "$OUT"
cd "$OUT"
# perf wants a home to write to, and the guest's own cannot be written.
export HOME="$OUT"

# record METHOD FILE OPTION...: the same work once more
record() {
	method=$1
	file=$2
	shift 2
	rm -f work.db work.db-journal "$file.data"
	# By frame pointers alone is how it was before there were tables
	case $method in
	in-place) arg=fp tables=1 ;;
	*) arg=$method tables=0 ;;
	esac
	echo "$tables" >"$IN_PLACE"
	attempt "$file.record-log" "$PERF" record -F "$FREQ" -e "$EVENT" \
		--call-graph "$arg" -m "$BUFFER" --no-buildid "$@" \
		-o "$file.data" -- "$PROGRAM" -batch -cmd '.parameter init' \
		-cmd ".parameter set @size $SIZE" work.db \
		</mnt/repo/qemu/programs/workload.sql >"$file.result"
	rm -f work.db
	attempt "$file.stats-log" "$PERF" report -i "$file.data" --stats \
		--stdio >"$file.stats"
	# The program's end comes last; without it, there is no telling how
	# much of what was recorded is not in the file
	grep -q '^ *EXIT events: *[1-9]' "$file.stats" ||
		die "$file.data does not reach the program's end"
	counts=$(samples "$file.stats")
	bytes=$(wc -c <"$file.data")
}

set --
first=
failed=
for method in $METHODS; do
	begin=$(date +%s)
	printf 'recording with --call-graph %s: ' "$method" >&2
	# First the other way round, for its size alone: perf compresses what
	# it records by SFrame unless told not to, and the rest if told to
	case $method in
	sframe) kind=raw option=--no-compression-level ;;
	*) kind=packed option=-z ;;
	esac
	record "$method" other "$option"
	set -- "$@" --other "$kind" "$method" "$bytes" "${counts% *}" "${counts#* }"
	[ "${counts#* }" -eq 0 ] || failed="$failed $method"
	rm -f other.data
	record "$method" "$method"
	recorded=$(date +%s)
	attempt "$method.script-log" "$PERF" script -i "$method.data" --no-inline \
		-F comm,tid,time,event,ip,sym,dso >"$method.script"
	# What perf says of samples whose stack never came
	if grep -h "deferred callchains missing" "$method".*-log >&2; then
		failed="$failed $method"
	fi
	printf '%s samples, %s lost, in %s s; read in %s s\n' "${counts% *}" \
		"${counts#* }" $((recorded - begin)) $(($(date +%s) - recorded)) >&2
	[ "${counts#* }" -eq 0 ] || failed="$failed $method"

	[ -n "$first" ] || first=$method
	cmp -s "$first.result" "$method.result" ||
		die "the work differs: $OUT/$first.result, $OUT/$method.result"
	set -- "$@" --run "$method" "$method.script" "$bytes" \
		"${counts% *}" "${counts#* }"
done
[ -n "$first" ] || die "METHODS is empty"

# Where the dwarf method is cut off is a choice, and so is where fp may look;
# so both are stated.
for method in $METHODS; do
	case $method in
	dwarf) note="copies at most 8192 bytes of the stack; what lies beyond is lost" ;;
	dwarf,*) note="copies at most ${method#*,} bytes of the stack; what lies beyond is lost" ;;
	fp) note="with kernel.unwind_in_place=0, thus by frame pointers alone" ;;
	in-place) note="perf record -g of any perf, with kernel.unwind_in_place=1" ;;
	*) continue ;;
	esac
	set -- "$@" --note "$method: $note"
done

printf '\n' >&2
python3 "$HERE/report.py" --program "${PROGRAM##*/}" \
	--event "$EVENT at $FREQ Hz" --json report.json "$@"
[ -z "$failed" ] || die "samples or stacks were lost by:$failed"
