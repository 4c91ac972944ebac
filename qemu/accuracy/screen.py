# SPDX-License-Identifier: GPL-2.0
"""The demo's report as a module: what a complete stack is, is said there, and how
what perf script prints is read."""

import importlib.util
import os

_SPEC = importlib.util.spec_from_file_location(
    "demo_report", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "demo", "report.py"))
_REPORT = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_REPORT)

KERNEL_FROM = _REPORT.KERNEL_FROM
OUTERMOST = _REPORT.OUTERMOST
is_complete = _REPORT.is_complete
Run = _REPORT.Run
parse_frame = _REPORT.parse_frame
share = _REPORT.share
