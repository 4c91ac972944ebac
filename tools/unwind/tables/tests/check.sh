#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# All tests, as one list of results in the Test Anything Protocol. "make check" calls
# this, and, with ROOTS, "make check-all".
#
#	check.sh OUTPUT [FILE...]

set -u

out=$1
shift
tests=$out/tests
work=$tests/check
here=$(dirname "$0")
nr=0
failed=0

# These are tried on any machine, in addition to FILE...: the C library, and files with
# odd CFI
usual=(/lib*/*/libc.so.6 /lib64/ld-linux-*.so.2 /lib/ld-linux-*.so.1
       /usr/lib/*/libcrypto.so.3 /usr/lib/*/libgnutls.so.30 /usr/bin/perl
       /opt/sframe/lib/*.so.* "$out/unwind-tables")

# Number the results again; print "not ok" also where a program ends without a plan
collect()
{
	local line rest plan=0

	while IFS= read -r line; do
		case $line in
		1..*)
			plan=1
			;;
		ok\ * | not\ ok\ *)
			nr=$((nr + 1))
			[ "${line%%ok *}" = "" ] || failed=$((failed + 1))
			rest=${line#not }
			rest=${rest#ok }
			printf '%sok %d %s\n' "${line%%ok *}" $nr "${rest#* }"
			;;
		*)
			printf '%s\n' "$line"
			;;
		esac
	done
	if [ $plan = 0 ]; then
		nr=$((nr + 1))
		failed=$((failed + 1))
		echo "not ok $nr - $1 did not end"
	fi
}

result()
{
	printf '%sok 1 - %s\n1..1\n' "$([ "$2" = 0 ] || echo "not ")" "$1"
}

# Each file once, even if it has several names
once()
{
	local file

	for file in "$@"; do
		[ -f "$file" ] && realpath "$file"
	done | sort -u
}

# Has the section of the converted file $1 rules that only the kernel reads?
has_sums()
{
	local flags

	"$out/unwind-tables" convert -o "$work/flags" "$1"
	flags=$(od -An -t u1 -j 3 -N 1 "$work/flags")
	[ $((flags & 0x80)) != 0 ]
}

# Can the tools that read the format read the output?  They have to refuse a section with
# other rules.
test_readers()
{
	local file=$1 sum

	"$out/unwind-tables" convert -e -a 0x10000 -o "$work/readers.elf" "$file" || return 1
	if has_sums "$file"; then
		readelf --sframe "$work/readers.elf" >"$work/readers.txt" 2>&1
		grep -q "Error: SFrame decode failure" "$work/readers.txt" &&
			! grep -q "func idx" "$work/readers.txt"
		return
	fi
	readelf --sframe "$work/readers.elf" >"$work/readers.txt" 2>&1 || return 1
	grep -qiE 'warning|error|corrupt|invalid' "$work/readers.txt" && return 1
	sum=$(sed -n 's/ *Num FDEs: //p' "$work/readers.txt")
	[ "$(grep -c 'func idx' "$work/readers.txt")" = "$sum" ] || return 1
	sum=$(sed -n 's/ *Num FREs: //p' "$work/readers.txt")
	[ "$(grep -cE '^ +[0-9a-f]{16} ' "$work/readers.txt")" = "$sum" ]
}

reads_version_3()
{
	readelf --sframe "$work/cases/x86_64-drap.sframe" 2>/dev/null |
		grep -q SFRAME_VERSION_3
}

run_readers()
{
	local file n=0

	"$out/unwind-tables" convert -e -o "$work/cases/x86_64-drap.sframe" \
		"$work/cases/x86_64-drap.elf"
	if ! reads_version_3; then
		echo "ok 1 - readelf # SKIP it does not read version 3"
		echo "1..1"
		return
	fi
	for file in $(once "${usual[@]}") "$work"/cases/*.elf; do
		n=$((n + 1))
		test_readers "$file" || printf 'not '
		echo "ok $n - readelf reads ${file##*/}"
	done
	echo "1..$n"
}

# Compare the kernel's decoder and libsframe at the same addresses, by the host harness
run_libsframe()
{
	local file sections=()

	if [ ! -x "$tests/harness/sframe_diff" ]; then
		echo "ok 1 - libsframe # SKIP there is none that reads version 3"
		echo "1..1"
		return
	fi
	for file in $(once "${usual[@]}") "$work"/cases/*.elf; do
		[ "${file%huge.elf}" = "$file" ] || continue
		! has_sums "$file" || continue
		sections+=("$work/${file##*/}.sframe")
		"$out/unwind-tables" convert -e -o "${sections[-1]}" "$file"
	done
	"$tests/harness/sframe_diff" "${sections[@]}"
}

# The program: its output and its exit status
run_tool()
{
	local tool=$out/unwind-tables elf=$work/cases/x86_64-unsaid.elf status said

	head -c 100 "$tool" >"$work/broken"
	said=$("$tool" check "$elf" "$work/cases/x86_64-many_rows.elf")
	[ $? = 1 ] && [ "$(grep -c 'not in the table' <<<"$said")" = 5 ] &&
		grep -q "unsaid.elf: 0x.*-0x.* sum+0x1: SFrame has no rule" <<<"$said"
	result "check lists what stays unsaid" $?
	"$tool" check "$work/cases/x86_64-many_rows.elf"
	result "check has nothing to say about a good file" $?
	"$tool" check "$work/cases/x86_64-no_entry.elf" |
		grep -q " assembly+0x0: no entry describes this code; not in the table$"
	result "check lists code that no entry describes" $?
	! has_sums "$work/cases/x86_64-drap.elf" &&
		has_sums "$work/cases/x86_64-sums.elf"
	result "a section without sums is plain SFrame" $?
	said=$("$tool" check "$work/broken" /dev/null "$work/nothing" "$elf" 2>&1)
	status=$?
	[ $status = 2 ] && [ "$(grep -c "^unwind-tables: " <<<"$said")" = 3 ] &&
		grep -q sum+0x1 <<<"$said"
	result "a file that cannot be read costs that file" $?
	head -c 20000 "$tool" >"$work/cut" && head -c 70 "$tool" >"$work/cut70"
	said=$("$tool" convert -r "$work/cut" 2>&1; "$tool" check "$work/cut70" 2>&1)
	[ $? = 2 ] && [ "$(grep -c "^unwind-tables: .*: the file is cut short$" <<<"$said")" = 2 ]
	result "a file that is cut short is named so" $?
	rm -f "$work/fifo" && mkfifo "$work/fifo" &&
		said=$(timeout 120 "$tool" check "$work/fifo" "$work" "$elf" 2>&1)
	[ $? = 2 ] && [ "$(grep -c "^unwind-tables: .*: not a regular file$" <<<"$said")" = 2 ] &&
		grep -q sum+0x1 <<<"$said"
	result "what is no regular file is not opened" $?
	"$tool" convert -a 0x1000 -o "$work/a" "$elf" &&
		"$tool" convert -a 0x2000 -o "$work/b" "$elf" &&
		[ "$(stat -c %s "$work/a")" = "$(stat -c %s "$work/b")" ] &&
		! cmp -s "$work/a" "$work/b" &&
		"$tool" convert -a 0x1000 -o - "$elf" | cmp -s "$work/a"
	result "the section depends on its address, and on nothing else" $?
	"$tool" convert -r "$elf" | grep -q "unsaid.elf: 2 functions of 4, 0 added, 3 rows" &&
		[ "$("$tool" convert "$elf")" = "$("$tool" convert -r "$elf")" ]
	result "convert reports, with -r and without an output" $?
	said=$("$tool" convert "$work/nothing" 2>&1)
	[ $? = 2 ] && [ "$said" = "unwind-tables: $work/nothing: No such file or directory" ]
	result "convert says that there is no file" $?
	! "$tool" convert -o /dev/full "$elf" 2>/dev/null
	result "what cannot be written is an error" $?
	! "$tool" convert -o "$work/a" 2>/dev/null && ! "$tool" convert "$elf" "$elf" 2>/dev/null &&
		! "$tool" convert -a 12x -o "$work/a" "$elf" 2>/dev/null && ! "$tool" 2>/dev/null
	result "wrong usage is an error" $?
}

# Programs that it starts, and directories that it reads
# shellcheck disable=SC2016 # for the inner shells
run_cache()
{
	local tool=$out/unwind-tables dir=$work/cache said client

	client=$(realpath "$tests/cache_test")
	rm -rf "$dir" "$work/tree" && mkdir -p "$work/tree/below"
	cp "$tool" "$work/tree/below" && echo text >"$work/tree/text"
	said=$("$tool" cache -v -d "$dir" "$work/tree" 2>&1)
	[ "$said" = "$(realpath "$work/tree/below/unwind-tables"): converted" ] &&
		[ "$(stat -c %a "$dir"/*)" = 644 ] &&
		[ -z "$("$tool" cache -v -d "$dir" "$work/tree" 2>&1)" ]
	result "cache converts what a directory has, once" $?
	touch -d "1 hour" "$work/later" && rm "$dir"/* &&
		"$tool" cache -c "$work/later" -d "$dir" "$work/tree" && [ -z "$(ls "$dir")" ] &&
		"$tool" cache -c "$work/nothing" -d "$dir" "$work/tree" && [ -n "$(ls "$dir")" ]
	result "cache -c leaves out what is older" $?
	! said=$("$tool" cache -d "$dir" "$work/tree/text" "$work/nothing" "$tool" 2>&1) &&
		[ "$(wc -l <<<"$said")" = 2 ] && [ "$(find "$dir" -type f | wc -l)" = 1 ]
	result "cache names the files that have no table" $?
	chmod 600 "$work/tree/below/unwind-tables" && rm "$dir"/* &&
		"$tool" cache -d "$dir" "$work/tree" && [ "$(stat -c %a "$dir"/*)" = 600 ]
	result "the table of a private file is private" $?
	! said=$("$tool" cache -d "$work/tree/text" "$tool" 2>&1) &&
		[ "$said" = "unwind-tables: the cache's directory $work/tree/text: "\
"Not a directory" ] &&
		"$tool" run -d "$work/tree/text" true 2>&1 | grep -qFx "$said"
	result "cache without a cache is an error, which names it" $?
	"$tool" run -d "$dir" -- "$client" ask "$client" 2>/dev/null
	result "run answers for a file that is not in the cache" $?
	said=$("$tool" run -v -d "$dir" -- sh -c '"$1" ask "$1" && "$1" ask "$1"' sh "$client" 2>&1)
	[ "$(grep -c "cache_test: from the cache" <<<"$said")" = 2 ]
	result "run answers twice, also for children, from the cache" $?
	[ "$("$tool" run -d "$dir" sh -c 'echo "$1"' sh -v 2>/dev/null)" = -v ] &&
		{ "$tool" run -d "$dir" false 2>/dev/null; [ $? = 1 ]; } &&
		{ "$tool" run -d "$dir" "$work/nothing" 2>/dev/null; [ $? = 127 ]; }
	result "run leaves arguments and the exit status as they are" $?
	! "$client" ask "$client"
	result "without run nobody answers" $?
}

run_tests()
{
	local files root

	collect cases < <("$here/cases.sh" "$tests/table_rows" "$work/cases")
	collect sandbox < <("$tests/sandbox_test")
	collect worker < <("$tests/worker_test")
	collect budget < <("$tests/budget_test")
	collect answers < <("$tests/answers_test" "$work/answers")
	collect mapped < <("$tests/mapped_test" "$work/mapped")
	collect serve < <("$tests/serve_test" 2>/dev/null)
	collect go < <("$tests/go_test" 2>&1)
	collect unwind-tables < <(run_tool)
	rm -rf "$work/entries"
	mapfile -t files < <(once "${usual[@]}" /usr/bin/php* /usr/bin/python3)
	collect cache < <("$tests/cache_test" "$work/entries" "${files[@]}")
	collect "cache and run" < <(run_cache)
	collect completion < <("$here/completion.sh" "$(realpath "$out/unwind-tables")")
	collect "make install" < <("$here/install.sh" "$out" "$work/installed")
	collect "the unit" < <("$here/unit.sh")
	collect readelf < <(run_readers)
	collect libsframe < <(run_libsframe)
	mapfile -t files < <(once "${usual[@]}" "$@")
	collect beside_libdw < <("$tests/beside_libdw" "${files[@]}")
	for root in ${ROOTS:-}; do
		collect "beside_libdw of $root" < <(find "$root" -xdev -type f -size +3 \
			-print0 | xargs -0 "$tests/beside_libdw" -s)
	done
	# Without the test that takes too long
	rm -f "$work/cases/x86_64-huge.elf"
	collect fuzz < <("$tests/fuzz" "$FUZZ_RUNS" "$FUZZ_SEED" "$work"/cases/*.elf \
		"$out/unwind-tables" 2>&1)
	echo "1..$nr"
}

mkdir -p "$work"
run_tests "$@"
[ $failed = 0 ]
