// SPDX-License-Identifier: GPL-2.0
/*
 * Undo the changes that uprobes made to the stack and the instruction pointer, for the
 * frame loop (walk.c).
 *
 * While a function with a uretprobe runs, the address of a trampoline replaces its
 * return address; a list of the task holds the true address.  The changed place on the
 * stack identifies the list's entry.  The order of the list does not: longjmp() and
 * exceptions leave entries that are no longer on the stack.
 *
 * The trampoline is code, too: it calls the kernel and returns to the true address.  A
 * sample of the uretprobe itself is taken there.
 *
 * A probed instruction runs in a copy outside of the program's text.  A program that
 * enters the kernel from the copy counts as being at the instruction.
 *
 * Some architectures replace a probed nop by a call of code that calls the kernel.  A
 * program in this code counts as being after the nop: unwind_uprobe_leave().
 *
 * Only the task itself changes the list and the copy's address.  It does so without
 * protection against interrupts, so they are read in task context only.
 *
 * All functions here need a task that has hit a probe: unwind_uprobed().
 */

#include <linux/limits.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/unwind_base.h>
#include <linux/uprobes.h>
#include <asm/unwind_arch.h>

#include "uprobe.h"

/**
 * unwind_uprobe_ip - find the probed instruction of a copy
 * @ip: the topmost frame's instruction pointer
 *
 * Context: task, for itself.
 * Return: the probed instruction's address if @ip is in its copy; else @ip.
 */
unsigned long unwind_uprobe_ip(unsigned long ip)
{
	const struct uprobe_task *utask = current->utask;

	if (likely(!utask->active_uprobe))
		return ip;
	/* Right after the copy, @ip may be the end of the slot, if the copy fills it */
	if (ip < utask->xol_vaddr ||
	    ip - utask->xol_vaddr > UPROBE_XOL_SLOT_BYTES)
		return ip;
	return utask->vaddr + (ip - utask->xol_vaddr);
}

/**
 * unwind_uretprobe_ra - replace a trampoline's address by the true return address
 * @ra: return address as the stack has it; replaced by the true one
 * @cfa: the stack pointer after the return to it
 * @word_size: bytes in a stack word
 *
 * Context: task, for itself.
 * Return: false if @ra is the trampoline's and no uretprobe of the task has put it there.
 */
bool unwind_uretprobe_ra(unsigned long *ra, unsigned long cfa,
			 unsigned int word_size)
{
	const struct uprobe_task *utask = current->utask;
	const struct return_instance *ri;

	if (likely(*ra != uprobe_get_trampoline_vaddr()))
		return true;

	/* @stack is the stack pointer at the function's first instruction */
	cfa -= UNWIND_ARCH_CFA_MIN_WORDS * word_size;
	for (ri = utask->return_instances; ri; ri = ri->next) {
		if (unwind_arch_untag(ri->stack) != cfa)
			continue;
		*ra = unwind_arch_strip_ra(ri->orig_ret_vaddr);
		return true;
	}
	return false;
}

static const struct return_instance *
first_between(const struct return_instance *ri, unsigned long from, unsigned long to)
{
	for (; ri; ri = ri->next) {
		unsigned long stack = unwind_arch_untag(ri->stack);

		if (stack >= from && stack <= to)
			return ri;
	}
	return NULL;
}

/**
 * unwind_uretprobe_record_ra - as unwind_uretprobe_ra(), if only a frame record is known
 * @ra: return address as the record has it; replaced by the true one
 * @sp: end of the record, which lies in the frame of the function that returns;
 *	replaced by the end of that frame
 * @fp: the caller's frame pointer, from the record
 *
 * The first of the list's entries from @sp outwards belongs to the function.  Entries
 * of functions that it called, and that longjmp() left in the list, lie further in.  So
 * do entries of a signal's handler, unless the handler has a stack of its own at higher
 * addresses.  To rule that out, the entry has to lie before the caller's record, if the
 * caller has one.
 *
 * Context: task, for itself.
 * Return: false if @ra is the trampoline's and no uretprobe of the task has put it there.
 */
bool unwind_uretprobe_record_ra(unsigned long *ra, unsigned long *sp,
				unsigned long fp)
{
	const struct uprobe_task *utask = current->utask;
	const struct return_instance *ri;

	if (likely(*ra != uprobe_get_trampoline_vaddr()))
		return true;

	ri = first_between(utask->return_instances, *sp, fp);
	/* The caller may use the register for anything: then @fp is no bound */
	if (!ri)
		ri = first_between(utask->return_instances, *sp, ULONG_MAX);
	if (!ri)
		return false;
	*ra = unwind_arch_strip_ra(ri->orig_ret_vaddr);
	*sp = unwind_arch_untag(ri->stack);
	return true;
}

/**
 * unwind_uretprobe_leave - go from a uretprobe's trampoline to its return address
 * @ip: an interrupted frame's instruction pointer; changed if it is in a trampoline
 * @sp: its stack pointer; changed in the same case
 * @word_size: bytes in a stack word
 *
 * Context: task, for itself; may sleep unless page faults are disabled.
 * Return: 0, or the address of a word of the stack that could not be read.
 */
unsigned long unwind_uretprobe_leave(unsigned long *ip, unsigned long *sp,
				     unsigned int word_size)
{
	unsigned long start, size, cfa, ra;
	unsigned int words;
	bool called;

	start = uprobe_get_trampoline_vaddr();
	arch_uretprobe_trampoline(&size);
	if (*ip < start || *ip - start >= size ||
	    !unwind_arch_uretprobe_pushed(*ip - start, &words, &called))
		return 0;

	cfa = *sp + word_size * words;
	/* The system call took the uretprobe off the list, and stored the true address here */
	ra = start;
	if (called && get_user(ra, (unsigned long __user *)(cfa - word_size)))
		return cfa - word_size;
	if (!called && !unwind_uretprobe_ra(&ra, cfa, word_size))
		return 0;
	/* Hostile: it was read from the program's stack, now or when the function was entered */
	if (!ra || ra >= TASK_SIZE_MAX)
		return 0;
	*ip = ra;
	*sp = cfa;
	return 0;
}
