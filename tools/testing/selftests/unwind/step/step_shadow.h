/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The true stack of a thread, kept by watching what its instructions do.
 *
 * A call pushes its return address and remembers in which slot of the stack that
 * is.  A frame lives until the stack pointer has moved past its slot: so a return
 * ends one, and longjmp() and the landing of an exception end as many as they
 * skip, whatever instruction moved the pointer.  A tail call changes nothing.
 * (Where calls do not push, the pointer at the call stands for the slot, and the
 * frame of a function that moves it by nothing ends as step_task.c says.)
 * No table, no frame pointer and no heuristic about code is involved.
 *
 * A thread may have several stacks (sigaltstack(), makecontext()).  A stack
 * pointer that jumps by SHADOW_FAR or more has gone to another one: one that was
 * seen there before, with what is on it, or a new one.  So stacks of the programs
 * that are watched must lie that far apart, and their frames be smaller.
 */
#ifndef SELFTEST_UNWIND_STEP_SHADOW_H
#define SELFTEST_UNWIND_STEP_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

#define SHADOW_FAR	(256UL * 1024)
#define SHADOW_FRAMES	512
#define SHADOW_STACKS	16

/*
 * @ra: the return address of the frame's callee
 * @slot: its place on the stack
 * @fp: the frame pointer after that return, because callees preserve it
 * @hash: of the return addresses of this frame and all further out
 * @exact: @ra was interrupted by a signal, it does not follow a call
 * @tabled: tables cover this frame and all further out
 */
struct shadow_frame {
	uint64_t	ra;
	uint64_t	slot;
	uint64_t	fp;
	uint64_t	hash;
	bool		exact;
	bool		tabled;
};

/* @caller: the stack that was current when a signal switched to this one */
struct shadow_stack {
	uint64_t		low;
	uint64_t		high;
	struct shadow_stack	*caller;
	unsigned int		nr;
	struct shadow_frame	frame[SHADOW_FRAMES];
};

struct shadow {
	uint64_t		sp;
	unsigned int		nr;
	struct shadow_stack	*stack;
	struct shadow_stack	stacks[SHADOW_STACKS];
};

void shadow_init(struct shadow *shadow, uint64_t sp);

/* Set the stack pointer; true if it is now on a stack without frames */
bool shadow_move(struct shadow *shadow, uint64_t sp);

/*
 * A call was made: @ra is in the slot at the stack pointer, or in a register. After the
 * function has returned, the pointer is at the slot again.
 */
void shadow_call(struct shadow *shadow, uint64_t ra, uint64_t fp, bool tabled);

/* The innermost frame has ended, with the stack pointer at its slot */
void shadow_return(struct shadow *shadow);

/*
 * A signal interrupted @ip. Its handler runs with the stack pointer at @sp, where the
 * handler's return address @restorer is. @saved_ip is the place where @ip was saved.
 * Neither kernel nor handler changes the frame pointer.
 */
struct shadow_signal {
	uint64_t	ip;
	uint64_t	saved_ip;
	uint64_t	sp;
	uint64_t	fp;
	uint64_t	restorer;
	bool		tabled_ip;
	bool		tabled_restorer;
};

void shadow_signal(struct shadow *shadow, const struct shadow_signal *signal);

/* The next frame further out than @frame, or the innermost for NULL; NULL at the end */
struct shadow_iter {
	const struct shadow_stack	*stack;
	unsigned int			left;
};

void shadow_walk(struct shadow_iter *iter, const struct shadow *shadow);
const struct shadow_frame *shadow_next(struct shadow_iter *iter);

/* The innermost frame, without a walk */
const struct shadow_frame *shadow_top(const struct shadow *shadow);

#endif /* SELFTEST_UNWIND_STEP_SHADOW_H */
