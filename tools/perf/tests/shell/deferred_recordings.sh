#!/bin/sh
# perf script of deferred user callchains as no run gives them reliably
# SPDX-License-Identifier: GPL-2.0

# Recordings are written by a script: threads that sleep throughout, lost records,
# threads of another namespace. They are read correctly, in linear time.

shelldir=$(dirname "$0")
# shellcheck source=lib/setup_python.sh
. "${shelldir}"/lib/setup_python.sh

exec "$PYTHON" "${shelldir}"/lib/deferred_recordings.py perf
