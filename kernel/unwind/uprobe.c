// SPDX-License-Identifier: GPL-2.0
/*
 * Where uprobes have changed the stack, and where the program is: for the iterator
 * (user.c).
 *
 * A uretprobe replaces the return address of a function, while that runs, by
 * that of a trampoline, and keeps the true one in a list of the task.  The place
 * on the stack that was changed tells which of the list it is: longjmp() and
 * exceptions leave entries behind that are no longer on the stack, so the order
 * alone does not.
 *
 * The trampoline has instructions of its own, which call the kernel and return to
 * the true address.  A sample of the uretprobe itself is taken there.
 *
 * A probed instruction is executed in a copy outside of the program's text.  A
 * program that enters the kernel from the copy counts as being at the instruction.
 *
 * The list and the copy's address are changed by the task itself only, without
 * precautions against an interrupt that looks at them meanwhile.
 */

#include <linux/limits.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>
#include <asm/unwind_user.h>

#include "uprobe.h"

/**
 * unwind_uprobe_ip - where in its text is the program?
 * @ip: the topmost frame's instruction pointer
 *
 * Context: task, for itself.
 * Return: the probed instruction's address if @ip is that of its copy; else @ip.
 */
unsigned long unwind_uprobe_ip(unsigned long ip)
{
	const struct uprobe_task *utask = current->utask;

	if (likely(!utask || !utask->active_uprobe))
		return ip;
	/* Behind it, if it has been executed: it may fill its slot */
	if (ip < utask->xol_vaddr ||
	    ip - utask->xol_vaddr > UPROBE_XOL_SLOT_BYTES)
		return ip;
	return utask->vaddr + (ip - utask->xol_vaddr);
}

/**
 * unwind_uretprobe_ra - the return address that a uretprobe has put aside
 * @ra: return address as the stack has it; replaced by the true one
 * @cfa: the stack pointer after the return to it
 * @word_size: bytes in a stack word
 *
 * Context: task, for itself.
 * Return: false if it is the trampoline's, and belongs to no uretprobe of the task.
 */
bool unwind_uretprobe_ra(unsigned long *ra, unsigned long cfa,
			 unsigned int word_size)
{
	const struct uprobe_task *utask = current->utask;
	const struct return_instance *ri;

	if (likely(!utask || *ra != uprobe_get_trampoline_vaddr()))
		return true;

	/* @stack is the stack pointer at the function's first instruction */
	cfa -= UNWIND_USER_CFA_MIN_WORDS * word_size;
	for (ri = utask->return_instances; ri; ri = ri->next) {
		if (unwind_user_untag(ri->stack) != cfa)
			continue;
		*ra = unwind_user_strip_ra(ri->orig_ret_vaddr);
		return true;
	}
	return false;
}

static const struct return_instance *
first_between(const struct return_instance *ri, unsigned long from, unsigned long to)
{
	for (; ri; ri = ri->next) {
		unsigned long stack = unwind_user_untag(ri->stack);

		if (stack >= from && stack <= to)
			return ri;
	}
	return NULL;
}

/**
 * unwind_uretprobe_record_ra - the same, where a frame record is all that is known
 * @ra: return address as the record has it; replaced by the true one
 * @sp: end of the record, which lies in the frame of the function that returns;
 *	replaced by where that frame ends
 * @fp: the caller's frame pointer, which the record has
 *
 * The list's first entry from there on is that of the function: those of functions
 * that it has called, and which were left behind, are further in.  So is that of a
 * signal's handler, which may have a stack of its own further up: then it does not end
 * before the caller's record, if the caller has one.
 *
 * Context: task, for itself.
 * Return: false if it is the trampoline's, and belongs to no uretprobe of the task.
 */
bool unwind_uretprobe_record_ra(unsigned long *ra, unsigned long *sp,
				unsigned long fp)
{
	const struct uprobe_task *utask = current->utask;
	const struct return_instance *ri;

	if (likely(!utask || *ra != uprobe_get_trampoline_vaddr()))
		return true;

	ri = first_between(utask->return_instances, *sp, fp);
	/* What the caller keeps in the register may be anything */
	if (!ri)
		ri = first_between(utask->return_instances, *sp, ULONG_MAX);
	if (!ri)
		return false;
	*ra = unwind_user_strip_ra(ri->orig_ret_vaddr);
	*sp = unwind_user_untag(ri->stack);
	return true;
}

/**
 * unwind_uretprobe_leave - from a uretprobe's trampoline to where it will return
 * @ip: an interrupted frame's instruction pointer; changed if it is in a trampoline
 * @sp: its stack pointer; likewise
 * @word_size: bytes in a stack word
 *
 * Context: task, for itself; may sleep.
 */
void unwind_uretprobe_leave(unsigned long *ip, unsigned long *sp,
			    unsigned int word_size)
{
	unsigned long start, size, cfa, ra;
	unsigned int words;
	bool called;

	if (likely(!current->utask))
		return;
	start = uprobe_get_trampoline_vaddr();
	arch_uprobe_trampoline(&size);
	if (*ip < start || *ip - start >= size ||
	    !unwind_user_uretprobe_pushed(*ip - start, &words, &called))
		return;

	cfa = *sp + word_size * words;
	/* The call has removed the uretprobe, and left the address to return to */
	ra = start;
	if (called ? get_user(ra, (unsigned long __user *)(cfa - word_size)) :
		     !unwind_uretprobe_ra(&ra, cfa, word_size))
		return;
	/* From the program's stack, now or when the function was entered */
	if (!ra || ra >= TASK_SIZE_MAX)
		return;
	*ip = ra;
	*sp = cfa;
}
