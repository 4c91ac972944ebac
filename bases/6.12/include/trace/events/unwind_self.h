/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM unwind

#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE unwind_self

#if !defined(_TRACE_UNWIND_SELF_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_UNWIND_SELF_H

#include <linux/tracepoint.h>
#include <linux/unwind_self.h>

#define UNWIND_SELF_OUTCOMES						\
	EM(UNWIND_SELF_ANSWERED,	"answered")			\
	EM(UNWIND_SELF_LATE,		"not in time")			\
	EM(UNWIND_SELF_EXITED,		"exited")			\
	EM(UNWIND_SELF_EXECED,		"executed another program")	\
	EM(UNWIND_SELF_BUSY,		"refused: one is outstanding")	\
	EM(UNWIND_SELF_RATE,		"refused: too soon")		\
	EM(UNWIND_SELF_SIGNAL,		"refused: signal pending")	\
	EM(UNWIND_SELF_RESTART,		"refused: system call restarts")\
	EM(UNWIND_SELF_BLOCKED,		"refused: blocked")		\
	EM(UNWIND_SELF_HANDLER,		"refused: no handler")		\
	EM(UNWIND_SELF_STACK,		"refused: alternate stack")	\
	EM(UNWIND_SELF_TRACED,		"refused: traced")		\
	EM(UNWIND_SELF_FILTERED,	"refused: filtered")		\
	EM(UNWIND_SELF_INSIDE,		"refused: in a system call")	\
	EMe(UNWIND_SELF_MEMORY,		"refused: no memory")

#undef EM
#undef EMe
#define EM(a, b)	TRACE_DEFINE_ENUM(a);
#define EMe(a, b)	TRACE_DEFINE_ENUM(a);

UNWIND_SELF_OUTCOMES

#undef EM
#undef EMe
#define EM(a, b)	{ a, b },
#define EMe(a, b)	{ a, b }

/**
 * unwind_self - a request to the current thread for its own frames has ended
 * @outcome: one of &enum unwind_self_outcome
 * @nr: number of frames of the answer
 */
TRACE_EVENT(unwind_self,
	TP_PROTO(unsigned int outcome, unsigned int nr),
	TP_ARGS(outcome, nr),
	TP_STRUCT__entry(
		__field(unsigned int, outcome)
		__field(unsigned int, nr)
	),
	TP_fast_assign(
		__entry->outcome = outcome;
		__entry->nr = nr;
	),
	TP_printk("outcome='%s' nr=%u",
		  __print_symbolic(__entry->outcome, UNWIND_SELF_OUTCOMES), __entry->nr)
);

#endif /* _TRACE_UNWIND_SELF_H */

#include <trace/define_trace.h>
