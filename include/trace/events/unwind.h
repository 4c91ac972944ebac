/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM unwind

#if !defined(_TRACE_UNWIND_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_UNWIND_H

#include <linux/tracepoint.h>
#include <linux/unwind_stack_types.h>
#include <trace/misc/unwind.h>

#define UNWIND_METHODS							\
	EM(UNWIND_METHOD_NONE,		"none")				\
	EM(UNWIND_METHOD_FP,		"fp")				\
	EM(UNWIND_METHOD_SFRAME,		"sframe")			\
	EMe(UNWIND_METHOD_SIGNAL,		"signal")

#define UNWIND_STOPS							\
	EM(UNWIND_STOP_NONE,		"none")				\
	EM(UNWIND_STOP_END,		"end of stack")			\
	EM(UNWIND_STOP_END_FP,		"end of stack by frame pointer")\
	EM(UNWIND_STOP_NO_FRAME,	"no table and no frame pointer")\
	EM(UNWIND_STOP_NO_RULE,		"interrupted without a rule")	\
	EM(UNWIND_STOP_NO_CALL,		"not called")			\
	EM(UNWIND_STOP_UNREADABLE,	"unreadable memory")		\
	EM(UNWIND_STOP_BAD_TABLE,	"bad table")			\
	EM(UNWIND_STOP_BAD_FRAME,	"bad frame")			\
	EM(UNWIND_STOP_NOT_TEXT,	"return address not in text")	\
	EM(UNWIND_STOP_NO_REGISTER,	"register not known")		\
	EM(UNWIND_STOP_NOT_LOADED,	"table not loaded yet")		\
	EM(UNWIND_STOP_BUSY,		"mappings changing")		\
	EMe(UNWIND_STOP_LIMIT,		"limit")

#undef EM
#undef EMe
#define EM(a, b)	TRACE_DEFINE_ENUM(a);
#define EMe(a, b)	TRACE_DEFINE_ENUM(a);

UNWIND_METHODS
UNWIND_STOPS

#undef EM
#undef EMe
#define EM(a, b)	{ a, b },
#define EMe(a, b)	{ a, b }

/**
 * unwind_table_found - the kernel has loaded the table of a file
 * @dev: the file's device
 * @ino: the file's inode number
 * @entries: number of entries of the table
 * @bytes: its size in kernel memory
 * @name: the file's name, without its directory
 */
TRACE_EVENT(unwind_table_found,
	TP_PROTO(dev_t dev, u64 ino, unsigned int entries, size_t bytes, const char *name),
	TP_ARGS(dev, ino, entries, bytes, name),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, ino)
		__field(unsigned int, entries)
		__field(size_t, bytes)
		__string(name, name)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->ino = ino;
		__entry->entries = entries;
		__entry->bytes = bytes;
		__assign_str(name);
	),
	TP_printk("dev=%d:%d ino=%llu entries=%u bytes=%zu name=%s", MAJOR(__entry->dev),
		  MINOR(__entry->dev), __entry->ino, __entry->entries, __entry->bytes,
		  __get_str(name))
);

/**
 * unwind_file_invalid - the table of a file is not used
 * @dev: the file's device
 * @ino: the file's inode number
 * @error: -ENOEXEC, -EOPNOTSUPP (version), -E2BIG; or -EAGAIN, to be tried again
 * @name: the file's name, without its directory
 */
TRACE_EVENT(unwind_file_invalid,
	TP_PROTO(dev_t dev, u64 ino, int error, const char *name),
	TP_ARGS(dev, ino, error, name),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, ino)
		__field(int, error)
		__string(name, name)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->ino = ino;
		__entry->error = error;
		__assign_str(name);
	),
	TP_printk("dev=%d:%d ino=%llu error=%d (%s) name=%s", MAJOR(__entry->dev),
		  MINOR(__entry->dev), __entry->ino, __entry->error,
		  show_unwind_error(__entry->error), __get_str(name))
);

/**
 * unwind_entry_invalid - a table has no usable entry for an address
 * @ip: the address that was looked up
 * @error: -EINVAL, -EFAULT, -E2BIG or -EAGAIN; the frame pointer is tried instead
 */
TRACE_EVENT(unwind_entry_invalid,
	TP_PROTO(unsigned long ip, int error),
	TP_ARGS(ip, error),
	TP_STRUCT__entry(
		__field(unsigned long, ip)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->ip = ip;
		__entry->error = error;
	),
	TP_printk("ip=0x%lx error=%d (%s)", __entry->ip, __entry->error,
		  show_unwind_error(__entry->error))
);

/**
 * unwind_stop - an unwind ended
 * @ip: address of the last frame
 * @nr: frames found, that one included
 * @method: one of &enum unwind_method: how the last frame was found
 * @reason: one of &enum unwind_stop_reason
 * @object: name of the file that is mapped at @ip, without its directory; other kinds
 *	of mapping are in brackets; empty if it could not be looked up
 * @offset: of @ip in that file
 */
TRACE_EVENT(unwind_stop,
	TP_PROTO(unsigned long ip, unsigned int nr, unsigned int method,
		 unsigned int reason, const char *object, u64 offset),
	TP_ARGS(ip, nr, method, reason, object, offset),
	TP_STRUCT__entry(
		__field(unsigned long, ip)
		__field(unsigned int, nr)
		__field(unsigned int, method)
		__field(unsigned int, reason)
		__field(u64, offset)
		__string(object, object)
	),
	TP_fast_assign(
		__entry->ip = ip;
		__entry->nr = nr;
		__entry->method = method;
		__entry->reason = reason;
		__entry->offset = offset;
		__assign_str(object);
	),
	TP_printk("ip=0x%lx nr=%u method=%s reason='%s' object=%s+0x%llx",
		  __entry->ip, __entry->nr,
		  __print_symbolic(__entry->method, UNWIND_METHODS),
		  __print_symbolic(__entry->reason, UNWIND_STOPS),
		  __get_str(object), __entry->offset)
);

#endif /* _TRACE_UNWIND_H */

#include <trace/define_trace.h>
