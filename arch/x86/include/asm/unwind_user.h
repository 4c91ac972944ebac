/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_UNWIND_USER_H
#define _ASM_X86_UNWIND_USER_H

#include <linux/types.h>
#include <asm/processor-flags.h>
#include <asm/ptrace.h>
#include <asm/segment.h>
#include <asm/tlbflush.h>

/* The SFrame ABI whose tables are used (the value of SFRAME_ABI_AMD64_ENDIAN_LITTLE) */
#define UNWIND_USER_SFRAME_ABI		3

/*
 * A frame that "push %rbp; mov %rsp, %rbp" has set up: the frame pointer points
 * to the saved one, above which is the return address, above which is the CFA.
 */
#define UNWIND_USER_FP_CFA_WORDS	2
#define UNWIND_USER_FP_RA_WORDS		1
#define UNWIND_USER_FP_FP_WORDS		0

/* The caller's stack pointer lies above the return address that the call pushed */
#define UNWIND_USER_CFA_MIN_WORDS	1

/**
 * unwind_user_word_size - bytes in a stack word of the interrupted program
 * @regs: its registers
 *
 * Return: 8, 4, or 0 for programs whose stack cannot be followed: those of
 * virtual 8086 mode, and 32-bit ones with segments of their own.
 */
static inline unsigned int unwind_user_word_size(struct pt_regs *regs)
{
	if (regs->flags & X86_VM_MASK)
		return 0;
#ifdef CONFIG_X86_64
	if (user_64bit_mode(regs))
		return 8;
	/* Flat, or addresses would not be what they seem */
	return regs->cs == __USER32_CS && regs->ss == __USER_DS ? 4 : 0;
#else
	return 0;
#endif
}

/**
 * unwind_user_uaccess_okay - may user memory be read here, without faults?
 *
 * Context: any.
 */
static inline bool unwind_user_uaccess_okay(void)
{
	return nmi_uaccess_okay();
}

/**
 * unwind_user_reg - a register of the topmost frame by its DWARF number
 * @regs: the interrupted program's registers
 * @reg: number as in the psABI's "DWARF Register Number Mapping"
 * @val: its value
 *
 * Return: whether there is such a register.
 */
static inline bool unwind_user_reg(struct pt_regs *regs, unsigned int reg,
				   unsigned long *val)
{
#ifdef CONFIG_X86_64
	static const u8 offsets[] = {
		offsetof(struct pt_regs, ax), offsetof(struct pt_regs, dx),
		offsetof(struct pt_regs, cx), offsetof(struct pt_regs, bx),
		offsetof(struct pt_regs, si), offsetof(struct pt_regs, di),
		offsetof(struct pt_regs, bp), offsetof(struct pt_regs, sp),
		offsetof(struct pt_regs, r8), offsetof(struct pt_regs, r9),
		offsetof(struct pt_regs, r10), offsetof(struct pt_regs, r11),
		offsetof(struct pt_regs, r12), offsetof(struct pt_regs, r13),
		offsetof(struct pt_regs, r14), offsetof(struct pt_regs, r15),
	};

	if (reg < ARRAY_SIZE(offsets)) {
		*val = regs_get_register(regs, offsets[reg]);
		return true;
	}
#endif
	return false;
}

/**
 * unwind_user_link_register - the return address of a frame that has not saved it
 * @regs: the interrupted program's registers
 * @ra: the return address
 *
 * Return: whether the architecture has a link register. This one does not.
 */
static inline bool unwind_user_link_register(struct pt_regs *regs,
					     unsigned long *ra)
{
	return false;
}

#endif /* _ASM_X86_UNWIND_USER_H */
