/* SPDX-License-Identifier: GPL-2.0 */
/* Events about the tables that processes register. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM unwind

#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE unwind_tables

#if !defined(_TRACE_UNWIND_TABLES_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_UNWIND_TABLES_H

#include <linux/tracepoint.h>
#include <trace/misc/unwind.h>

/**
 * unwind_table_added - the process registered a table
 * @text_start: first address of the text that it describes
 * @text_end: first address after it
 * @table: address of the table
 * @size: its size in bytes
 * @key: the key that the process gave it
 */
TRACE_EVENT(unwind_table_added,
	TP_PROTO(unsigned long text_start, unsigned long text_end,
		 unsigned long table, unsigned long size, u64 key),
	TP_ARGS(text_start, text_end, table, size, key),
	TP_STRUCT__entry(
		__field(unsigned long, text_start)
		__field(unsigned long, text_end)
		__field(unsigned long, table)
		__field(unsigned long, size)
		__field(u64, key)
	),
	TP_fast_assign(
		__entry->text_start = text_start;
		__entry->text_end = text_end;
		__entry->table = table;
		__entry->size = size;
		__entry->key = key;
	),
	TP_printk("text=0x%lx-0x%lx table=0x%lx size=%lu key=0x%llx",
		  __entry->text_start, __entry->text_end, __entry->table,
		  __entry->size, __entry->key)
);

/**
 * unwind_table_dropped - the kernel has dropped a range and its table
 * @text_start: first address of the range
 * @text_end: first address after it
 */
TRACE_EVENT(unwind_table_dropped,
	TP_PROTO(unsigned long text_start, unsigned long text_end),
	TP_ARGS(text_start, text_end),
	TP_STRUCT__entry(
		__field(unsigned long, text_start)
		__field(unsigned long, text_end)
	),
	TP_fast_assign(
		__entry->text_start = text_start;
		__entry->text_end = text_end;
	),
	TP_printk("text=0x%lx-0x%lx", __entry->text_start, __entry->text_end)
);

/**
 * unwind_table_invalid - a table that the process wants to register is refused, or one
 *	that it registered is not used
 * @text_start: first address of the text
 * @text_end: first address after it
 * @table: address of the table
 * @error: -ENOEXEC, -EOPNOTSUPP (version), -EFAULT, -EEXIST, -ENOSPC, ...
 * @object: what is mapped at @text_start, as for unwind_stop
 */
TRACE_EVENT(unwind_table_invalid,
	TP_PROTO(unsigned long text_start, unsigned long text_end,
		 unsigned long table, int error, const char *object),
	TP_ARGS(text_start, text_end, table, error, object),
	TP_STRUCT__entry(
		__field(unsigned long, text_start)
		__field(unsigned long, text_end)
		__field(unsigned long, table)
		__field(int, error)
		__string(object, object)
	),
	TP_fast_assign(
		__entry->text_start = text_start;
		__entry->text_end = text_end;
		__entry->table = table;
		__entry->error = error;
		__assign_str(object);
	),
	TP_printk("text=0x%lx-0x%lx table=0x%lx error=%d (%s) object=%s",
		  __entry->text_start, __entry->text_end, __entry->table,
		  __entry->error, show_unwind_error(__entry->error),
		  __get_str(object))
);

#endif /* _TRACE_UNWIND_TABLES_H */

#include <trace/define_trace.h>
