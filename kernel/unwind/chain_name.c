// SPDX-License-Identifier: GPL-2.0
/*
 * The names of a language's functions, copied from the memory of its runtime.
 *
 * A trace has the address of a function, and a check: the memory of a function that is
 * freed may become another one's.  Its name is written beside the stacks, once a second at
 * most.  So the reader of a trace has it although the program is gone.
 *
 * A name is whatever the process says.  Bytes that could do harm in a terminal are replaced.
 */

#include <linux/ctype.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/unwind_chain.h>
#include <asm/unwind_arch.h>

#include "chain.h"

/* Names that were announced in the last second; a name that takes another's place is early */
#define ANNOUNCED_BITS	12

/* The low half is when, in jiffies, the high half says what */
static u64 announced[1 << ANNOUNCED_BITS];

/* The upper half of the product has what the lower half is to depend on next */
static u64 mix(u64 val)
{
	val *= GOLDEN_RATIO_64;
	return val ^ val >> 32;
}

/* Anything else, in whatever encoding, becomes a question mark */
static void make_printable(char *string)
{
	for (; *string; string++) {
		if (!isascii(*string) || !isprint(*string))
			*string = '?';
	}
}

/* Read a string, or its end if it is too long; false if it is stored in another way */
static bool read_string(struct unwind_chain_reader *reader, const struct unwind_chain_attr *attr,
			u64 at, char *buf)
{
	const struct unwind_chain_string *string = &attr->string;
	const u64 room = UNWIND_CHAIN_NAME_SIZE - 1;
	u64 addr, size;
	u32 check;

	*buf = '\0';
	if (!unwind_chain_read_u64(reader, at, &addr) || !addr)
		return false;
	if (string->check_mask &&
	    (!unwind_chain_read_u32(reader, addr + string->check, &check) ||
	     (check & string->check_mask) != string->check_value))
		return false;
	if (!unwind_chain_read_u64(reader, addr + string->length, &size))
		return false;
	addr += string->data;
	if (size > room)
		addr += size - room;
	size = min(size, room);
	if (!unwind_chain_read(reader, addr, buf, size)) {
		*buf = '\0';
		return false;
	}
	buf[size] = '\0';
	make_printable(buf);
	return true;
}

/**
 * unwind_chain_name - find out what a function is called
 * @stack: from unwind_chain_take(), at this same delivery
 * @frame: one of its frames
 * @name: set
 *
 * Context: the callback of a client of deferred unwinding.
 */
void unwind_chain_name(const struct unwind_chain_stack *stack,
		       const struct unwind_chain_frame *frame,
		       struct unwind_chain_name *name)
{
	const struct unwind_chain_attr *attr = &stack->chains[frame->chain]->attr;
	struct unwind_chain_reader reader = { .waits = 4 };
	u32 rights;

	memset(name, 0, sizeof(*name));
	if (!frame->function)
		return;
	rights = unwind_arch_keys_open();
	if (attr->flags & UNWIND_CHAIN_NAME)
		read_string(&reader, attr, frame->function + attr->name, name->name);
	if (attr->flags & UNWIND_CHAIN_FILE &&
	    read_string(&reader, attr, frame->function + attr->file, name->file) &&
	    attr->flags & UNWIND_CHAIN_LINE)
		unwind_chain_read_u32(&reader, frame->function + attr->line, &name->line);
	unwind_arch_keys_close(rights);
}

/**
 * unwind_chain_announce - is it time to announce a name?
 * @reader: to whom
 * @frame: a frame of the current task whose name it is
 *
 * It is if this reader did not have it in the last second.  The caller announces it then.
 *
 * Context: any.
 * Return: whether it is.
 */
bool unwind_chain_announce(u64 reader, const struct unwind_chain_frame *frame)
{
	const u64 task = (u64)current->tgid << 32 | current->self_exec_id;
	const u32 now = jiffies;
	u64 key = mix(mix(mix(reader) ^ task) ^ frame->function);
	u64 *slot, old;

	key = mix(key ^ frame->check);
	slot = &announced[key >> (64 - ANNOUNCED_BITS)];
	old = READ_ONCE(*slot);
	if (old >> 32 == (u32)key && now - (u32)old < HZ)
		return false;
	WRITE_ONCE(*slot, key << 32 | now);
	return true;
}
