// SPDX-License-Identifier: GPL-2.0
/*
 * Deferred user stacks as the files trace, trace_pipe and snapshot print them.
 *
 *	bash-71 [001] d.... 16.39: sched_switch: ...
 *	bash-71 [001] d.... 16.39: <user stack is to come> cookie=0x9c1d42
 *	bash-71 [000] ..... 18.02: <file of user stacks> file=0x10 path=/usr/bin/bash ...
 *	bash-71 [000] ..... 18.02: <user stack> cookie=0x9c1d42
 *	 => /usr/lib/x86_64-linux-gnu/libc.so.6+0xe2a45 [5e5b2e53...]
 *	 => /usr/bin/bash+0x5c3a1 [80ff5f3c...]
 *
 * Other readers of the buffer find the formats in events/ftrace/user_unwind_*.
 */

#include <linux/init.h>

#include "trace_output.h"
#include "trace_user_unwind.h"

/* Maximum bytes of a frame; and of the text before an event */
#define FRAME_TEXT_MAX	1280
#define CONTEXT_SIZE	256

static enum print_line_t cookie_print(struct trace_iterator *iter, int flags,
				      struct trace_event *event)
{
	struct user_unwind_cookie_entry *entry;

	trace_assign_type(entry, iter->ent);
	trace_seq_printf(&iter->seq, "<user stack is to come> cookie=0x%llx\n",
			 entry->cookie);
	return trace_handle_return(&iter->seq);
}

/* The data of an event's field, bounded by the event; and its size */
static const void *data_of(const struct trace_iterator *iter, u32 loc,
			   unsigned int *size)
{
	unsigned int start = loc & U16_MAX;

	*size = loc >> 16;
	if (start + *size > iter->ent_size)
		*size = 0;
	return (const void *)iter->ent + start;
}

/*
 * If an event does not fit after others, it is printed again, alone.  If it does not
 * fit alone, it would not be printed at all.
 */
static bool has_room(struct trace_seq *s, bool alone)
{
	if (alone)
		return seq_buf_buffer_left(&s->seq) > FRAME_TEXT_MAX;
	return !trace_seq_has_overflowed(s);
}

static enum print_line_t stack_print(struct trace_iterator *iter, int flags,
				     struct trace_event *event)
{
	unsigned int i, nr, ip_size, file_size, offset_size;
	struct user_unwind_stack_entry *entry;
	struct trace_seq *s = &iter->seq;
	bool alone = trace_seq_used(s) < CONTEXT_SIZE;
	const unsigned long *ip;
	const u64 *offset;
	const u32 *file;

	trace_assign_type(entry, iter->ent);
	ip = data_of(iter, entry->__data_loc_ip, &ip_size);
	file = data_of(iter, entry->__data_loc_file, &file_size);
	offset = data_of(iter, entry->__data_loc_offset, &offset_size);
	nr = min3(ip_size / sizeof(*ip), file_size / sizeof(*file),
		  offset_size / sizeof(*offset));

	trace_seq_printf(s, "<user stack> cookie=0x%llx\n", entry->cookie);
	for (i = 0; i < nr && has_room(s, alone); i++) {
		trace_seq_puts(s, " => ");
		trace_user_file_print(&s->seq, iter->tr, file[i], offset[i],
				      !i || file[i] != file[i - 1]);
		if (flags & TRACE_ITER(SYM_ADDR))
			trace_seq_printf(s, " <%016lx>", ip[i]);
		trace_seq_putc(s, '\n');
	}
	if (i < nr || entry->omitted)
		trace_seq_printf(s, " => ... %u more\n",
				 nr - i + entry->omitted);
	return trace_handle_return(s);
}

static enum print_line_t file_print(struct trace_iterator *iter, int flags,
				    struct trace_event *event)
{
	struct user_unwind_file_entry *entry;
	struct trace_seq *s = &iter->seq;
	unsigned int size, id_size;
	const char *path;
	const u8 *id;

	trace_assign_type(entry, iter->ent);
	path = data_of(iter, entry->__data_loc_path, &size);
	id = data_of(iter, entry->__data_loc_build_id, &id_size);

	trace_seq_printf(s, "<file of user stacks> file=0x%x path=%.*s",
			 entry->file, (int)size, path);
	if (id_size)
		trace_seq_printf(s, " build_id=%*phN", (int)id_size, id);
	trace_seq_putc(s, '\n');
	return trace_handle_return(s);
}

static struct trace_event_functions cookie_funcs = { .trace = cookie_print };
static struct trace_event_functions stack_funcs = { .trace = stack_print };
static struct trace_event_functions file_funcs = { .trace = file_print };

static struct trace_event unwind_events[] = {
	{ .type = TRACE_USER_UNWIND_COOKIE,	.funcs = &cookie_funcs },
	{ .type = TRACE_USER_UNWIND_STACK,	.funcs = &stack_funcs },
	{ .type = TRACE_USER_UNWIND_FILE,	.funcs = &file_funcs },
};

static int __init trace_user_output_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(unwind_events); i++)
		WARN_ON_ONCE(!register_trace_event(&unwind_events[i]));
	return 0;
}
core_initcall(trace_user_output_init);
