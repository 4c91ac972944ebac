// SPDX-License-Identifier: GPL-2.0
/*
 * The stack of a uretprobe's trampoline at each of its instructions, for
 * kernel/unwind/uprobe.c.
 *
 * The instructions are those at uretprobe_trampoline_entry in uprobes.c.  Programs have
 * copies of them without unwind information.  This file has the bytes that it expects.  If
 * the real ones differ, it makes no statement about them.
 */

#include <linux/string.h>
#include <linux/types.h>
#include <asm/unistd.h>
#include <asm/unwind_user.h>

#ifdef CONFIG_UPROBES

static const struct {
	u8	insns[13];
	u8	after_call[4];
} expected = {
	.insns = {
		0x50,					/* push %rax */
		0x51,					/* push %rcx */
		0x41, 0x53,				/* push %r11 */
		0x48, 0xc7, 0xc0,			/* mov $nr, %rax */
		__NR_uretprobe & 0xff, __NR_uretprobe >> 8, 0, 0,
		0x0f, 0x05,				/* syscall */
	},
	.after_call = {
		0x41, 0x5b,				/* pop %r11 */
		0x59,					/* pop %rcx */
		0xc3,					/* ret */
	},
};

/**
 * unwind_user_uretprobe_pushed - words on the stack of a uretprobe's trampoline
 * @offset: of an instruction in the trampoline
 * @words: set to the number of words that it has pushed, and not popped again
 * @called: set to whether it has called the kernel; then the first word that it
 *	pushed has become the address to which it will return
 *
 * Context: any.
 * Return: whether that is known.
 */
bool unwind_user_uretprobe_pushed(unsigned long offset, unsigned int *words,
				  bool *called)
{
	static const u8 before[] = { 0, 1, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3 };
	static const u8 after[] = { 3, 3, 2, 1 };

	*words = 0;
	*called = false;
	/* The 32-bit trampoline is only an int3 */
	if (!offset)
		return true;
	if (uretprobe_trampoline_end - uretprobe_trampoline_entry != sizeof(expected) ||
	    memcmp(uretprobe_trampoline_entry, &expected, sizeof(expected)) ||
	    offset >= sizeof(expected))
		return false;

	*called = offset >= sizeof(expected.insns);
	*words = *called ? after[offset - sizeof(expected.insns)] : before[offset];
	return true;
}

#endif /* CONFIG_UPROBES */
