/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM unwind_client

#if !defined(_SAMPLES_UNWIND_CLIENT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SAMPLES_UNWIND_CLIENT_TRACE_H

#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/tracepoint.h>

/* A trace event is no larger than a page; a longer stack loses its outer end */
#define CLIENT_TRACE_MAX	448

/**
 * unwind_client_request - the client asked for the current task's stack
 * @cookie: names the stack, if there will be one
 * @ret: result of unwind_deferred_request()
 */
TRACE_EVENT(unwind_client_request,
	TP_PROTO(u64 cookie, int ret),
	TP_ARGS(cookie, ret),
	TP_STRUCT__entry(
		__field(u64, cookie)
		__field(int, ret)
		__field(bool, in_nmi)
	),
	TP_fast_assign(
		__entry->cookie = cookie;
		__entry->ret = ret;
		__entry->in_nmi = in_nmi();
	),
	TP_printk("cookie=%#llx ret=%d in_nmi=%d",
		  __entry->cookie, __entry->ret, __entry->in_nmi)
);

/**
 * unwind_client_stack - the stack of the current task
 * @cookie: as the request returned it
 * @nr: number of addresses
 * @entries: the addresses, innermost first
 */
TRACE_EVENT(unwind_client_stack,
	TP_PROTO(u64 cookie, unsigned int nr, const unsigned long *entries),
	TP_ARGS(cookie, nr, entries),
	TP_STRUCT__entry(
		__field(u64, cookie)
		__field(unsigned int, nr)
		__dynamic_array(unsigned long, stack,
				min_t(unsigned int, nr, CLIENT_TRACE_MAX))
	),
	TP_fast_assign(
		__entry->cookie = cookie;
		__entry->nr = nr;
		memcpy(__get_dynamic_array(stack), entries,
		       __get_dynamic_array_len(stack));
	),
	TP_printk("cookie=%#llx nr=%u stack=%s", __entry->cookie, __entry->nr,
		  __print_dynamic_array(stack, sizeof(unsigned long)))
);

#endif /* _SAMPLES_UNWIND_CLIENT_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE client_trace
#include <trace/define_trace.h>
