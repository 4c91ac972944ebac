#!/bin/bash
# perf record deferred user callchains
# SPDX-License-Identifier: GPL-2.0

# Record user callchains apart from their samples, and check that perf script,
# report and inject put them together again.

set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/perf_has_symbol.sh
. "${shelldir}"/lib/perf_has_symbol.sh

skip_test_missing_symbol entryloop

err=0
perfdata=$(mktemp /tmp/__perf_test.perf.data.XXXXX)
testprog="perf test -w entryloop"
methods=/sys/kernel/unwind/methods

cleanup() {
  rm -f "${perfdata}" "${perfdata}".old "${perfdata}".txt "${perfdata}".inj \
    "${perfdata}".resolved "${perfdata}".ends "${perfdata}".kernel

  trap - EXIT TERM INT
}

trap_cleanup() {
  echo "Unexpected signal in ${FUNCNAME[1]}"
  cleanup
  exit 1
}
trap trap_cleanup EXIT TERM INT

# The kernel has so many symbols that reading them would take most of the time; none
# is of interest here
printf 'ffffffff81000000 T %s\n' _text _stext > "${perfdata}".kernel

take_record() {
  perf record --no-bpf-event "$@"
}

read_script() {
  perf script --kallsyms "${perfdata}".kernel "$@"
}

read_report() {
  perf report --kallsyms "${perfdata}".kernel --stdio "$@"
}

fail() {
  echo "$1 [Failed: $2]"
  err=1
}

# On the stack of the workload: a function, its caller and the caller of that one,
# each on a line by itself.
complete_stacks() {
  tr '\n\t' '  ' < "${perfdata}".txt |
    grep -E -o ' entry_inner +[[:xdigit:]]+ entry_middle +[[:xdigit:]]+ entry_outer ' | wc -l
}

# The same of samples that were taken in the kernel. A function of the C library
# without frame pointer may hide the one that has called it.
complete_kernel_stacks() {
  awk 'BEGIN { RS = "" }
    /\n[ \t]+ffff[[:xdigit:]]+ / && /[ \t]entry_middle\n[ \t]+[[:xdigit:]]+ entry_outer\n/ { n++ }
    END { print n + 0 }' "${perfdata}".txt
}

check_kernel() {
  if take_record -e cpu-clock --call-graph fp,defer -o "${perfdata}" true \
      > "${perfdata}".txt 2>&1
  then
    return
  fi

  cat "${perfdata}".txt
  if grep -q "cannot defer callchains" "${perfdata}".txt ||
     grep -q "perf_event_paranoid" "${perfdata}".txt
  then
    echo "Skip: this kernel does not defer callchains for this user"
    cleanup
    exit 2
  fi

  echo "Deferred callchains [Failed: cannot record]"
  cleanup
  exit 1
}

# Stacks that end early: perf record says so if they are more than 1 %, perf report
# says where, and perf script marks them
check_ends() {
  local test="Ends of $1"
  local line early total sum marks

  line=$(sed -n 's/.* of \([0-9]*\) user stacks end early:.*/\1/p' "${perfdata}".txt)
  read_report -i "${perfdata}" > "${perfdata}".ends 2> /dev/null
  read -r early total sum <<< "$(awk '
    /^# User stacks that end early: / { early = $7; total = $9 }
    early && /^# +[0-9]+  [^ ]/ { sum += $2 }
    END { print early + 0, total + 0, sum + 0 }' "${perfdata}".ends)"
  read_script -i "${perfdata}" -F ip,sym,stack_end > "${perfdata}".ends
  marks=$(grep -c '\[stack ends early\]' "${perfdata}".ends || true)

  if [ "$early" != "$sum" ] || [ "$early" -gt "$total" ]
  then
    fail "$test" "$early of $total stacks end early, $sum of them in objects"
  elif [ "$early" != "$marks" ]
  then
    fail "$test" "$early of $total stacks end early, $marks are marked"
  elif [ "$((early * 100))" -gt "$total" ] && [ "$line" != "$total" ]
  then
    fail "$test" "perf record does not say that $early of $total stacks end early"
  elif [ "$((early * 100))" -le "$total" ] && [ -n "$line" ]
  then
    fail "$test" "perf record says that stacks end early"
  else
    echo "$test [Success]"
  fi
}

check_attributes() {
  local test="Attributes of $1"
  local outputs

  perf evlist -v -i "${perfdata}" > "${perfdata}".txt
  if ! grep -q "defer_callchain: 1" "${perfdata}".txt
  then
    fail "$test" "no event defers callchains"
    return
  fi

  outputs=$(grep -c "defer_output: 1" "${perfdata}".txt || true)
  if [ "$outputs" -ne 1 ]
  then
    fail "$test" "$outputs events output them"
    return
  fi

  # On arm64, where callers of leaf functions are guessed by it otherwise
  if grep "defer_callchain: 1" "${perfdata}".txt | grep -q "sample_regs_user"
  then
    fail "$test" "the link register was recorded, which the kernel follows itself"
    return
  fi

  echo "$test [Success]"
}

check_merged() {
  local test="Merged callchains of $1"

  read_script -i "$2" -F comm,ip,sym > "${perfdata}".txt
  if grep -q "(cookie)\|DEFERRED CALLCHAIN" "${perfdata}".txt
  then
    fail "$test" "left apart"
    return
  fi

  if [ "$(complete_stacks)" -eq 0 ]
  then
    head -n 20 "${perfdata}".txt
    fail "$test" "no user stacks in samples"
    return
  fi

  if [ "$(id -u)" -eq 0 ] && [ "$(complete_kernel_stacks)" -eq 0 ]
  then
    head -n 20 "${perfdata}".txt
    fail "$test" "no user stacks in samples of the kernel"
    return
  fi

  echo "$test [Success]"
}

check_not_merged() {
  local test="Unmerged callchains of $1"
  local cookie

  read_script -i "${perfdata}" --no-merge-callchains > "${perfdata}".txt
  cookie=$(awk '$2 == "(cookie)" { print $1; exit }' "${perfdata}".txt)
  if [ -z "$cookie" ]
  then
    fail "$test" "no marker in samples"
    return
  fi

  if ! grep -q "DEFERRED CALLCHAIN \[cookie: ${cookie}\]" "${perfdata}".txt
  then
    fail "$test" "no record for the first cookie"
    return
  fi

  echo "$test [Success]"
}

# With a symbol to stop at, perf script resolves every frame of every callchain;
# without, it prints again what it has printed of the same address before.
check_lines() {
  local test="Lines of $1"
  local fields

  for fields in ip,sym comm,tid,time,ip,sym,symoff,dso
  do
    read_script -i "${perfdata}" -F $fields > "${perfdata}".txt
    read_script -i "${perfdata}" -F $fields --stop-bt no_such_symbol \
      > "${perfdata}".resolved
    if [ ! -s "${perfdata}".txt ] ||
       ! cmp "${perfdata}".txt "${perfdata}".resolved
    then
      fail "$test" "$fields are not those that resolving gives"
      return
    fi
  done

  echo "$test [Success]"
}

check_report() {
  local test="Report of $1"

  read_report --no-children -g caller -i "${perfdata}" > "${perfdata}".txt 2>&1
  if ! grep -q "entry_middle" "${perfdata}".txt
  then
    fail "$test" "caller not found"
    return
  fi

  echo "$test [Success]"
}

# The arguments are the mode, and more arguments for perf record
record_and_check() {
  local mode="$1"

  shift
  # shellcheck disable=SC2086
  if ! take_record -F 499 "$@" --call-graph "$mode" -o "${perfdata}" $testprog \
      > "${perfdata}".txt 2>&1
  then
    cat "${perfdata}".txt
    fail "Recording $mode $*" "cannot record"
    return
  fi

  check_ends "$mode $*"
  check_attributes "$mode $*"
  check_merged "$mode $*" "${perfdata}"
}

# Each way to read the last recording
check_readers() {
  local mode="$1"

  check_not_merged "$mode"
  check_lines "$mode"
  check_report "$mode"

  rm -f "${perfdata}".inj
  perf inject -i "${perfdata}" -o "${perfdata}".inj
  check_merged "$mode, injected" "${perfdata}".inj
  if read_script -i "${perfdata}".inj --no-merge-callchains -F ip,sym | grep -q "(cookie)"
  then
    fail "Injection of $mode" "callchains were written without their other half"
  fi
}

# Both halves of a callchain count
check_limited() {
  local test="Recording at most 2 entries with $1"
  local longest

  take_record -F 499 -e cpu-clock --call-graph "$1" -o "${perfdata}" $testprog \
    > "${perfdata}".txt 2>&1 || true
  read_script -i "${perfdata}" -F ip,sym > "${perfdata}".txt
  longest=$(awk 'NF { n++; if (n > longest) longest = n } !NF { n = 0 }
    END { print longest + 0 }' "${perfdata}".txt)
  if [ "$longest" -ne 2 ]
  then
    fail "$test" "there are $longest"
    return
  fi

  echo "$test [Success]"
}

# Each of these arguments of perf record gives user stacks
check_recorded() {
  local test="Recording $*"

  # shellcheck disable=SC2086
  if ! take_record -F 499 "$@" -o "${perfdata}" $testprog > "${perfdata}".txt 2>&1
  then
    cat "${perfdata}".txt
    fail "$test" "cannot record"
    return
  fi

  read_script -i "${perfdata}" -F comm,ip,sym > "${perfdata}".txt
  if [ "$(complete_stacks)" -eq 0 ]
  then
    head -n 20 "${perfdata}".txt
    fail "$test" "no user stacks in samples"
    return
  fi

  echo "$test [Success]"
}

# As many as there are while the program runs
check_attached() {
  local pid

  perf test -w entryloop 60 > /dev/null 2>&1 &
  pid=$!
  # Its second thread comes when all is ready
  until [ -d /proc/$pid ] && [ "$(ls /proc/$pid/task | wc -l)" -eq 2 ]
  do
    kill -0 $pid || break
    sleep 0.1
  done
  take_record -F 499 -e cpu-clock --call-graph "$1" -o "${perfdata}" -p $pid sleep 1 \
    > "${perfdata}".txt 2>&1 || true
  kill -INT $pid
  wait $pid || true
  check_merged "a program that runs, $1" "${perfdata}"
}

# Each stack follows its system call
check_traced() {
  local test="Tracing with $1"

  perf trace -e clock_nanosleep --call-graph "$1" -o "${perfdata}".txt $testprog 2>&1 || true
  if ! grep -A 20 "clock_nanosleep(" "${perfdata}".txt | grep -q entry_middle
  then
    head -n 20 "${perfdata}".txt
    fail "$test" "no user stacks"
    return
  fi

  echo "$test [Success]"
}

# It must be refused instead of being replaced with something else
check_refused() {
  local test="Recording sframe without the kernel supporting it"

  if take_record -e cpu-clock --call-graph sframe -o "${perfdata}" true \
      > "${perfdata}".txt 2>&1
  then
    fail "$test" "not refused"
    return
  fi

  if ! grep -q "does not unwind user stacks by SFrame" "${perfdata}".txt
  then
    cat "${perfdata}".txt
    fail "$test" "not explained"
    return
  fi

  echo "$test [Success]"
}

check_kernel

record_and_check fp,defer -e page-faults/call-graph=no/ -e cpu-clock
record_and_check fp,defer -e cpu-clock --per-thread
record_and_check fp,defer -e cpu-clock
check_readers fp,defer
check_limited fp,2,defer
# Ordinary users have these, too, without the kernel's half
check_recorded -e cpu-clock -g
check_recorded -e cpu-clock:u -g
if [ "$(id -u)" -eq 0 ]
then
  check_recorded -e cpu-clock --call-graph fp,defer -a
  check_attached fp,defer
  check_traced fp,defer
fi
# The event's own mode instead of the copied stack
check_recorded -e cpu-clock/call-graph=fp/ --call-graph dwarf

if [ -r $methods ] && grep -q -w sframe $methods
then
  # Binaries without .sframe sections are unwound by frame pointers
  record_and_check sframe -e cpu-clock
  check_limited sframe,2
  check_recorded -e cpu-clock/call-graph=sframe/ --call-graph dwarf
else
  check_refused
fi

cleanup
exit $err
