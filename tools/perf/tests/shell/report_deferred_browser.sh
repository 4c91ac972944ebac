#!/bin/bash
# perf report browser of deferred user callchains
# SPDX-License-Identifier: GPL-2.0

# Once its callchains are unfolded, the terminal shows the callers of a function.

set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/perf_has_symbol.sh
. "${shelldir}"/lib/perf_has_symbol.sh
# shellcheck source=lib/setup_python.sh
. "${shelldir}"/lib/setup_python.sh

skip_test_missing_symbol entryloop

perfdata=$(mktemp /tmp/__perf_test.perf.data.XXXXX)
trap 'rm -f "${perfdata}"*' EXIT TERM INT

if ! perf record --no-bpf-event -F 499 -e cpu-clock --call-graph fp,defer \
    -o "${perfdata}" perf test -w entryloop > "${perfdata}".log 2>&1
then
  cat "${perfdata}".log
  echo "Skip: this kernel does not defer callchains for this user"
  exit 2
fi

timeout 300 "$PYTHON" "${shelldir}"/lib/deferred_terminal.py entry_inner E entry_outer q -- \
  perf report --tui --no-children -g caller,0.5 -i "${perfdata}" -S entry_inner
