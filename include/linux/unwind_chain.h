/* SPDX-License-Identifier: GPL-2.0 */
/* Frames of a language, from the current task's runtime: kernel/unwind/chain.c. */
#ifndef _LINUX_UNWIND_CHAIN_H
#define _LINUX_UNWIND_CHAIN_H

#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/types.h>

struct unwind_chain;

/* More frames than this are cut off; with them, the structure has less than 8 KiB */
#define UNWIND_CHAIN_FRAMES	500
/* Chains per stack: registered chains, chains of files, and NULL for the thread's own answer */
#define UNWIND_CHAINS		9
/* Value of @place if the native frame that executes the frame is not known */
#define UNWIND_CHAIN_APART	U16_MAX
/* Bytes of a name, with the 0 at its end */
#define UNWIND_CHAIN_NAME_SIZE	128

/**
 * struct unwind_chain_frame - a frame of a language
 * @function: address of its function, which names it together with @check
 * @check: differs if there was another function at this address
 * @place: number of the native frame that executes it, 0 for the topmost one;
 *	or UNWIND_CHAIN_APART
 * @chain: index into the stack's chains: frames with the same one are of one runtime
 */
struct unwind_chain_frame {
	u64	function;
	u32	check;
	u16	place;
	u16	chain;
};

/* Pieces of memory that are brought in after the callbacks */
#define UNWIND_CHAIN_MISSING	4

/**
 * struct unwind_chain_missing - memory that was missing for a name
 * @addr: its address
 * @size: its size in bytes
 */
struct unwind_chain_missing {
	unsigned long	addr;
	unsigned int	size;
};

/**
 * struct unwind_chain_stack - frames that belong to a native stack
 * @nr: number of frames
 * @nr_chains: number of chains
 * @waits: number of pages that may still be brought in for names
 * @nr_missing: number of pieces in @missing
 * @cut: there are more frames, or some could not be read or found
 * @missing: memory that was missing for names
 * @chains: the chains of the frames; NULL for the thread's own answer, see linux/unwind.h
 * @rcu: frees the memory of this, without its contents
 * @frames: each chain's frames, the innermost first
 */
struct unwind_chain_stack {
	unsigned int			nr;
	unsigned int			nr_chains;
	unsigned int			waits;
	bool				cut;
	unsigned int			nr_missing;
	struct unwind_chain_missing	missing[UNWIND_CHAIN_MISSING];
	struct unwind_chain		*chains[UNWIND_CHAINS];
	union {
		struct rcu_head			rcu;
		struct unwind_chain_frame	frames[UNWIND_CHAIN_FRAMES];
	};
};

/**
 * struct unwind_chain_name - name and place of a function
 * @line: its first line in @file; 0 if that is not known
 * @name: its name, printable; empty if that is not known
 * @file: the name of its file, likewise; its end, if it is too long
 */
struct unwind_chain_name {
	u32	line;
	char	name[UNWIND_CHAIN_NAME_SIZE];
	char	file[UNWIND_CHAIN_NAME_SIZE];
};

#ifdef CONFIG_UNWIND_USER_LANGUAGES

void unwind_chain_add_reader(void);
void unwind_chain_del_reader(void);
bool unwind_chain_has_readers(void);
bool unwind_chain_name(struct unwind_chain_stack *stack,
		       const struct unwind_chain_frame *frame,
		       struct unwind_chain_name *name, bool wait);
void unwind_chain_unknown(u64 reader, const struct unwind_chain_stack *stack,
			  unsigned long *unknown);
int unwind_chain_prctl(unsigned long op, unsigned long uattr, unsigned long size,
		       unsigned long arg5);

#else

static inline void unwind_chain_add_reader(void) { }
static inline void unwind_chain_del_reader(void) { }

static inline bool unwind_chain_has_readers(void)
{
	return false;
}

static inline bool unwind_chain_name(struct unwind_chain_stack *stack,
				     const struct unwind_chain_frame *frame,
				     struct unwind_chain_name *name, bool wait)
{
	*name = (struct unwind_chain_name){};
	return false;
}

static inline void unwind_chain_unknown(u64 reader, const struct unwind_chain_stack *stack,
					unsigned long *unknown)
{
}

static inline int unwind_chain_prctl(unsigned long op, unsigned long uattr,
				     unsigned long size, unsigned long arg5)
{
	return -EINVAL;
}

#endif /* CONFIG_UNWIND_USER_LANGUAGES */

#endif /* _LINUX_UNWIND_CHAIN_H */
