/* SPDX-License-Identifier: GPL-2.0 */
/* What the iterator of user stacks has to know of arm64: linux/unwind_user_arch.h. */
#ifndef __ASM_UNWIND_USER_H
#define __ASM_UNWIND_USER_H

#include <linux/array_size.h>
#include <linux/cpufeature.h>
#include <linux/mm_types.h>
#include <linux/nospec.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/unwind_user_arch.h>
#include <asm/alternative.h>
#include <asm/byteorder.h>
#include <asm/compiler.h>
#include <asm/memory.h>
#include <asm/mmu.h>
#include <asm/ptrace.h>
#include <asm/sysreg.h>
#include <asm/unistd.h>

/* The SFrame ABI whose tables are used: SFRAME_ABI_AARCH64_ENDIAN_BIG or _LITTLE */
#ifdef CONFIG_CPU_BIG_ENDIAN
#define UNWIND_USER_SFRAME_ABI		1
#else
#define UNWIND_USER_SFRAME_ABI		2
#endif

/*
 * A frame record (AAPCS64, "The Frame Pointer"): the frame pointer points to the
 * caller's one, above which is the return address.  Where in the frame the record
 * lies is the compiler's choice, so that the CFA is at its end or further out.
 */
#define UNWIND_USER_FP_CFA_WORDS	2
#define UNWIND_USER_FP_CFA_EXACT	false
#define UNWIND_USER_FP_RA_WORDS		1
#define UNWIND_USER_FP_FP_WORDS		0

/* A call moves nothing: the return address is in the link register */
#define UNWIND_USER_CFA_MIN_WORDS	0
#define UNWIND_USER_LINK_REG		30

/* Where an instruction can be: at multiples of so many bytes */
#define UNWIND_USER_INSN_ALIGN		4

/*
 * Bytes from a signal frame without extra space to the frame record above it, which
 * the handler's frame pointer points to at its entry.
 */
#define UNWIND_USER_SIGNAL_RECORD	4688

/**
 * unwind_user_word_size - bytes in a stack word of the interrupted program
 * @regs: its registers
 *
 * Return: 8; or 0 for AArch32 programs, whose stack ends with where they are: their
 * ABI has no frame record that ARM and Thumb code agree on.
 */
static inline int unwind_user_word_size(struct pt_regs *regs)
{
	return compat_user_mode(regs) ? 0 : 8;
}

/**
 * unwind_user_uaccess_okay - may user memory be read here, without faults?
 *
 * A pseudo-NMI may find the next task's memory in place already, and the previous
 * one still current: in the middle of a switch, or in firmware's. With PAN by
 * software, the memory that can be read is what the thread has noted for itself:
 * that of current, but for exec's switch to a new mm, of which nothing is known yet.
 *
 * Context: any.
 * Return: whether it may.
 */
static inline bool unwind_user_uaccess_okay(void)
{
	u64 ttbr0;

	if (!current->mm)
		return false;
	if (system_uses_ttbr0_pan())
		return true;
	ttbr0 = read_sysreg(ttbr0_el1) & ~(TTBR_ASID_MASK | TTBR_CNP_BIT);
	return ttbr0 == phys_to_ttbr(virt_to_phys(current->mm->pgd));
}

/**
 * unwind_user_tags_off - before user memory is read, by an address without its tag
 *
 * Where memory has tags (MTE), a read by an address with another tag fails if the
 * program has its own reads checked. What is read here is the stack, tables and text,
 * by addresses that come from anywhere and are checked by the iterator or the decoder:
 * tags of memory add nothing.
 *
 * Context: any; until unwind_user_tags_on(), to which interrupts and faults come back.
 */
static __always_inline void unwind_user_tags_off(void)
{
	asm volatile(ALTERNATIVE("nop", SET_PSTATE_TCO(1), ARM64_MTE, CONFIG_ARM64_MTE)
		     : : : "memory");
}

static __always_inline void unwind_user_tags_on(void)
{
	asm volatile(ALTERNATIVE("nop", SET_PSTATE_TCO(0), ARM64_MTE, CONFIG_ARM64_MTE)
		     : : : "memory");
}

/**
 * unwind_user_untag - an address without what the hardware ignores in it
 * @addr: a value of a register, or from memory
 *
 * The top byte of an address of data may be a tag (TBI, MTE). It is no part of where
 * the stack is, and get_user() refuses it unless the program asked for the tagged
 * address ABI.
 *
 * Return: the address; what is not one of user space stays so.
 */
static inline unsigned long unwind_user_untag(unsigned long addr)
{
	return untagged_addr(addr);
}

/**
 * unwind_user_strip_ra - a return address without its authentication code and tag
 * @ra: from memory or from a register
 *
 * Whether a return address is signed is known from a table only, and what a table
 * says need not be true. An address that is not signed is the same afterwards.
 *
 * Return: the address; what is not one of user space stays so.
 */
static inline unsigned long unwind_user_strip_ra(unsigned long ra)
{
	return untagged_addr(ptrauth_strip_user_insn_pac(ra));
}

/**
 * unwind_user_reg - a register of the topmost frame by its DWARF number
 * @regs: the interrupted program's registers
 * @reg: number as in "DWARF for the Arm 64-bit Architecture"
 * @val: its value
 *
 * Return: whether there is such a register.
 */
static inline bool unwind_user_reg(struct pt_regs *regs, unsigned int reg,
				   unsigned long *val)
{
	if (reg == 31) {
		*val = regs->sp;
		return true;
	}
	if (reg >= ARRAY_SIZE(regs->regs))
		return false;
	/* From a table, that is, from the program */
	reg = array_index_nospec(reg, ARRAY_SIZE(regs->regs));
	*val = regs->regs[reg];
	return true;
}

/**
 * unwind_user_restores_regs - are the registers about to be those of another frame?
 * @regs: with which the task left user space
 *
 * rt_sigreturn() writes them one after the other. Nor is the trampoline known by its
 * instructions once the program counter has left them.
 *
 * Context: any.
 * Return: whether they may be half the one's and half the other's.
 */
static inline bool unwind_user_restores_regs(const struct pt_regs *regs)
{
	return regs->syscallno == __NR_rt_sigreturn;
}

/* What a signal's trampoline begins with, where a handler returns to: mov x8, #nr */
#define UNWIND_USER_TRAMPOLINE		(0xd2800008 | __NR_rt_sigreturn << 5)

/**
 * unwind_user_maybe_trampoline - does a signal's trampoline begin like this?
 * @insns: the first four bytes of code that a function returns to, which are of
 *	little endian on any kernel
 *
 * Return: if false, unwind_user_signal_frame() would not find one there either.
 */
static inline bool unwind_user_maybe_trampoline(u32 insns)
{
	return insns == (__force u32)cpu_to_le32(UNWIND_USER_TRAMPOLINE);
}

/**
 * unwind_user_uretprobe_pushed - words on the stack of a uretprobe's trampoline
 * @offset: of an instruction in the trampoline
 * @words: set to the number of words that it has pushed, and not popped again
 * @called: set to whether it has called the kernel
 *
 * Context: any.
 * Return: whether that is known. The trampoline is but a breakpoint.
 */
static inline bool unwind_user_uretprobe_pushed(unsigned long offset,
						unsigned int *words,
						bool *called)
{
	*words = 0;
	*called = false;
	return !offset;
}

bool unwind_user_signal_frame(unsigned long ip, unsigned long sp,
			      const struct pt_regs *topmost,
			      unsigned long saved, unsigned int word_size,
			      struct unwind_user_interrupted *to);
int unwind_user_saved_reg(unsigned long regs, unsigned int reg,
			  unsigned long *val);
int unwind_user_link_holds_ra(unsigned long ip, struct unwind_user_link *link);
int unwind_user_link_called(unsigned long ip, unsigned long ra,
			    struct unwind_user_link *link);

#endif /* __ASM_UNWIND_USER_H */
