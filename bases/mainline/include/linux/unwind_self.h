/* SPDX-License-Identifier: GPL-2.0 */
/* Threads do not find their own frames on this base: chains have found all there are. */
#ifndef _LINUX_UNWIND_SELF_H
#define _LINUX_UNWIND_SELF_H

struct unwind_chain_frame;
struct unwind_chain_name;
struct unwind_chain_reader;
struct unwind_chain_stack;

static inline void unwind_self_name(struct unwind_chain_reader *reader,
				    const struct unwind_chain_stack *stack,
				    const struct unwind_chain_frame *frame,
				    struct unwind_chain_name *name)
{
}

#endif /* _LINUX_UNWIND_SELF_H */
