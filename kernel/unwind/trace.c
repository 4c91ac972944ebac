// SPDX-License-Identifier: GPL-2.0
/* The tracepoints of user space unwinding. */

#define CREATE_TRACE_POINTS
#include <trace/events/unwind.h>
