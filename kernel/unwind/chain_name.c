// SPDX-License-Identifier: GPL-2.0
/*
 * The names of a language's functions, copied from the memory of its runtime.
 *
 * A trace identifies a function by its address and a check value, since the memory of a freed
 * function may be used for another one.  Its name is written along with the stacks, at most
 * once a second, so that the trace can be read after the program has gone.
 *
 * The process chooses the name.  Bytes that could do harm in a terminal are replaced.
 */

#include <linux/bitops.h>
#include <linux/ctype.h>
#include <linux/hash.h>
#include <linux/hex.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <linux/unwind_chain.h>
#include <linux/unwind_self.h>
#include <asm/unwind_arch.h>

#include "chain.h"

/* Names announced in the last second; after a hash collision, one is announced again early */
#define ANNOUNCED_BITS	12

/*
 * Limit of the names that are announced for one stack; the others come with the next stacks.
 * A process could make up new names all the time, and fill the buffers of its profiler.
 */
#define MAX_NAMES	64

/* The low half is a time in jiffies, the high half is part of the hash */
static u64 announced[1 << ANNOUNCED_BITS];
/* Without a secret, a process could make its functions displace another process's */
static u64 seed __read_mostly;

/* A product's low half depends on the low halves of its factors alone: fold in the high half */
static u64 mix(u64 val)
{
	val *= GOLDEN_RATIO_64;
	return val ^ val >> 32;
}

static u64 name_key(u64 base, const struct unwind_chain_frame *frame)
{
	return mix(base ^ frame->function ^ (u64)frame->check << 32);
}

static u64 *name_slot(u64 key)
{
	return &announced[key >> (64 - ANNOUNCED_BITS)];
}

/* Replace all bytes that are not printable ASCII by question marks */
static void make_printable(char *string, size_t size)
{
	for (; size; size--, string++) {
		if (*string && (!isascii(*string) || !isprint(*string)))
			*string = '?';
	}
}

/**
 * unwind_chain_read_text - read text that may be shown
 * @reader: limits of the remaining work
 * @addr: its address
 * @size: its size in bytes
 * @buf: set to the text, or to its end if it is too long: UNWIND_CHAIN_NAME_SIZE bytes
 *
 * Context: as unwind_chain_read().
 */
void unwind_chain_read_text(struct unwind_chain_reader *reader, u64 addr, u64 size, char *buf)
{
	const u64 room = UNWIND_CHAIN_NAME_SIZE - 1;

	if (size > room)
		addr += size - room;
	size = min(size, room);
	if (!unwind_chain_read(reader, addr, buf, size)) {
		/* A part may be there, which is not to be shown as it is */
		memset(buf, 0, size);
		size = 0;
	}
	buf[size] = '\0';
	make_printable(buf, size);
}

/**
 * unwind_chain_read_bytes - read bytes and show them in hexadecimal
 * @reader: limits of the remaining work
 * @tag: four letters for the kind of bytes, the first one in the lowest bits
 * @addr: their address
 * @size: their number; bytes for which there is no room are left out
 * @buf: set to the letters, a colon and the digits: UNWIND_CHAIN_NAME_SIZE bytes
 *
 * Context: as unwind_chain_read().
 */
void unwind_chain_read_bytes(struct unwind_chain_reader *reader, u32 tag, u64 addr, u64 size,
			     char *buf)
{
	u8 bytes[(UNWIND_CHAIN_NAME_SIZE - sizeof(tag) - sizeof(":")) / 2];

	size = min(size, sizeof(bytes));
	if (!unwind_chain_read(reader, addr, bytes, size))
		size = 0;
	put_unaligned_le32(tag, buf);
	make_printable(buf, sizeof(tag));
	buf[sizeof(tag)] = ':';
	buf = bin2hex(buf + sizeof(tag) + 1, bytes, size);
	*buf = '\0';
}

/* Read a string, or its end if it is too long; it is empty if it is stored in another way */
static void read_string(struct unwind_chain_reader *reader, const struct unwind_chain_attr *attr,
			u64 at, char *buf)
{
	const struct unwind_chain_string *string = &attr->string;
	u64 addr, size;
	u32 check;

	*buf = '\0';
	if (!unwind_chain_read(reader, at, &addr, sizeof(addr)) || !addr)
		return;
	if (string->check_mask &&
	    (!unwind_chain_read(reader, addr + string->check, &check, sizeof(check)) ||
	     (check & string->check_mask) != string->check_value))
		return;
	if (!unwind_chain_read(reader, addr + string->length, &size, sizeof(size)))
		return;
	unwind_chain_read_text(reader, addr + string->data, size, buf);
}

/* Functions that no native frame executes have neither file nor line */
static bool has_file(struct unwind_chain_reader *reader, const struct unwind_chain_attr *attr,
		     u64 function)
{
	u32 kind;

	return !attr->kind_mask ||
	       (unwind_chain_read(reader, function + attr->kind, &kind, sizeof(kind)) &&
		(kind & attr->kind_mask) == attr->kind_value);
}

static void add_missing(struct unwind_chain_stack *stack, const struct unwind_chain_reader *reader)
{
	if (stack->nr_missing < UNWIND_CHAIN_MISSING)
		stack->missing[stack->nr_missing++] = (struct unwind_chain_missing){
			.addr = reader->missing,
			.size = reader->missing_size,
		};
}

static void read_name(struct unwind_chain_reader *reader, const struct unwind_chain_attr *attr,
		      u64 function, struct unwind_chain_name *name)
{
	if (attr->flags & UNWIND_CHAIN_NAME)
		read_string(reader, attr, function + attr->name, name->name);
	if (!(attr->flags & UNWIND_CHAIN_FILE) || !has_file(reader, attr, function))
		return;
	read_string(reader, attr, function + attr->file, name->file);
	if (attr->flags & UNWIND_CHAIN_LINE)
		unwind_chain_read(reader, function + attr->line, &name->line,
				  sizeof(name->line));
}

/**
 * unwind_chain_name - get the name of a function
 * @stack: from unwind_deferred_chains(), at this same delivery
 * @frame: one of its frames
 * @name: set
 * @wait: whether to wait for pages that are missing, and for the mmap lock: only
 *	if the client is never cancelled.  Otherwise they are brought in after the callbacks.
 *
 * Context: the callback of a client of deferred unwinding.
 * Return: false if something is missing, which the next stack may have.
 */
bool unwind_chain_name(struct unwind_chain_stack *stack,
		       const struct unwind_chain_frame *frame,
		       struct unwind_chain_name *name, bool wait)
{
	const struct unwind_chain *chain = stack->chains[frame->chain];
	struct unwind_chain_reader reader = { .waits = wait ? stack->waits : 0 };
	u32 rights;

	memset(name, 0, sizeof(*name));
	if (!frame->function)
		return true;
	rights = unwind_arch_keys_open();
	if (chain)
		read_name(&reader, &chain->attr, frame->function, name);
	else
		unwind_self_name(&reader, stack, frame, name);
	unwind_arch_keys_close(rights);
	if (wait)
		stack->waits = reader.waits;
	else if (reader.missing)
		add_missing(stack, &reader);
	return !reader.missing;
}

/**
 * unwind_chain_unknown - find out which names a reader lacks
 * @reader: the reader of a trace
 * @stack: from unwind_deferred_chains(), of the current task
 * @unknown: a bit for each frame, set if the reader was not given its function in the last
 *	second.  The caller then announces these functions.
 *
 * Context: any.
 */
void unwind_chain_unknown(u64 reader, const struct unwind_chain_stack *stack,
			  unsigned long *unknown)
{
	const u64 base = mix(mix(reader ^ seed) ^ (u64)current->tgid << 32 ^ current->self_exec_id);
	DECLARE_BITMAP(again, UNWIND_CHAIN_FRAMES) = {};
	const u32 now = jiffies;
	unsigned int i, nr = 0;
	u64 key, *slot, old;

	for (i = 0; i < stack->nr && nr < MAX_NAMES; i++) {
		key = name_key(base, &stack->frames[i]);
		slot = name_slot(key);
		old = READ_ONCE(*slot);
		if (old >> 32 == (u32)key) {
			if (now - (u32)old >= HZ)
				__set_bit(i, again);
			continue;
		}
		WRITE_ONCE(*slot, key << 32 | now);
		__set_bit(i, unknown);
		nr++;
	}
	/* Names that are due again come after names that the reader may never have had */
	for_each_set_bit(i, again, stack->nr) {
		if (nr++ == MAX_NAMES)
			return;
		key = name_key(base, &stack->frames[i]);
		WRITE_ONCE(*name_slot(key), key << 32 | now);
		__set_bit(i, unknown);
	}
}

static int __init unwind_chain_init(void)
{
	seed = get_random_u64();
	return 0;
}
late_initcall(unwind_chain_init);
