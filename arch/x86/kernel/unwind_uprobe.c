// SPDX-License-Identifier: GPL-2.0
/*
 * The stack of a uretprobe's trampoline at each of its instructions, for
 * kernel/unwind/uprobe.c.
 *
 * The trampoline is at uretprobe_trampoline_entry in uprobes.c.  Programs have a copy of
 * it without unwind information.  A label follows each of its instructions that change
 * the stack, and the system call.
 */

#include <linux/array_size.h>
#include <linux/types.h>
#include <asm/unwind_arch.h>

#ifdef CONFIG_UPROBES

/* Number of pushed words, from each label on */
static const struct {
	const u8	*label;
	unsigned int	words;
	bool		called;
} states[] = {
	{ uretprobe_popped_cx,		1, true },
	{ uretprobe_popped_r11,		2, true },
	{ uretprobe_syscall_check,	3, true },
	{ uretprobe_pushed_r11,		3, false },
	{ uretprobe_pushed_cx,		2, false },
	{ uretprobe_pushed_ax,		1, false },
	{ uretprobe_trampoline_entry,	0, false },
};

/**
 * unwind_arch_uretprobe_pushed - words on the stack of a uretprobe's trampoline
 * @offset: of an instruction in the trampoline
 * @words: set to the number of words that it has pushed, and not popped again
 * @called: set to whether it has called the kernel; then the first word that it
 *	pushed has become the address to which it will return
 *
 * Context: any.
 * Return: whether both are known.
 */
bool unwind_arch_uretprobe_pushed(unsigned long offset, unsigned int *words,
				  bool *called)
{
	const u8 *insn = uretprobe_trampoline_entry + offset;
	unsigned int i;

	*words = 0;
	*called = false;
	/* The 32-bit trampoline is only an int3 */
	if (!offset)
		return true;
	if (insn >= uretprobe_trampoline_end)
		return false;
	for (i = 0; insn < states[i].label; i++)
		;
	*words = states[i].words;
	*called = states[i].called;
	return true;
}

#endif /* CONFIG_UPROBES */
