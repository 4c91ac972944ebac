/* SPDX-License-Identifier: GPL-2.0 */
/* arm64's part of the unwinder of user stacks: see linux/unwind_arch.h. */
#ifndef __ASM_UNWIND_ARCH_H
#define __ASM_UNWIND_ARCH_H

#include <linux/array_size.h>
#include <linux/cpufeature.h>
#include <linux/errno.h>
#include <linux/mm_types.h>
#include <linux/nospec.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/unwind_arch.h>
#include <linux/unwind_base.h>
#include <asm/alternative.h>
#include <asm/byteorder.h>
#include <asm/compiler.h>
#include <asm/memory.h>
#include <asm/mmu.h>
#include <asm/ptrace.h>
#include <asm/sysreg.h>
#include <asm/unistd.h>
#include <asm/vdso.h>

/* The SFrame ABI whose tables are used: SFRAME_ABI_AARCH64_ENDIAN_BIG or _LITTLE */
#ifdef CONFIG_CPU_BIG_ENDIAN
#define UNWIND_ARCH_SFRAME_ABI		1
#else
#define UNWIND_ARCH_SFRAME_ABI		2
#endif

/*
 * A frame record (AAPCS64, "The Frame Pointer"): the frame pointer points to the
 * caller's frame pointer, and the return address is above that.  The compiler chooses
 * where in the frame the record lies, so the CFA is at the record's end or further out.
 */
#define UNWIND_ARCH_FP_CFA_WORDS	2
#define UNWIND_ARCH_FP_CFA_EXACT	false
#define UNWIND_ARCH_FP_RA_WORDS		1
#define UNWIND_ARCH_FP_FP_WORDS		0

/* A call pushes nothing: the return address is in the link register */
#define UNWIND_ARCH_CFA_MIN_WORDS	0
#define UNWIND_ARCH_LINK_REG		30

/* Instructions are at multiples of this number of bytes */
#define UNWIND_ARCH_INSN_ALIGN		4

/*
 * Bytes from a signal frame without extra space to the frame record above it.  The
 * handler's frame pointer points to this record at its entry.
 */
#define UNWIND_ARCH_SIGNAL_RECORD	4688

/**
 * unwind_arch_word_size - bytes in a stack word of the interrupted program
 * @regs: its registers
 *
 * Return: 8; or 0 for AArch32 programs.  Their stack has the topmost address only: their
 * ABI has no frame record on which ARM and Thumb code agree.
 */
static inline int unwind_arch_word_size(struct pt_regs *regs)
{
	return compat_user_mode(regs) ? 0 : 8;
}

/* Entry code saves the program's registers with interrupts and NMIs masked */
static inline bool unwind_arch_entry_saved(const struct pt_regs *regs)
{
	return true;
}

/**
 * unwind_arch_uaccess_okay - may user memory be read here, without faults?
 *
 * A pseudo-NMI can come in the middle of a switch of tasks, or of a call to firmware.
 * The next task's memory may be in place then, while the previous task is still current.
 * With PAN by software, reads use the memory that the thread has noted for itself.  This
 * is current's memory, except during exec's switch to a new mm, which has no content yet.
 *
 * Context: any.
 * Return: whether it may.
 */
static inline bool unwind_arch_uaccess_okay(void)
{
	u64 ttbr0;

	if (!current->mm)
		return false;
	if (system_uses_ttbr0_pan())
		return true;
	ttbr0 = read_sysreg(ttbr0_el1) & ~(TTBRx_EL1_ASID_MASK | TTBRx_EL1_CnP_MASK);
	return ttbr0 == phys_to_ttbr(virt_to_phys(current->mm->pgd));
}

/**
 * unwind_vdso_image - the vDSO of 64-bit programs
 * @size: set to its size in bytes
 *
 * Return: the image, in kernel memory.
 */
static inline const void *unwind_vdso_image(u64 *size)
{
	*size = vdso_end - vdso_start;
	return vdso_start;
}

static inline bool unwind_arch_has_vdso(const struct mm_struct *mm)
{
	return true;
}

/* Memory with a protection key (FEAT_S1POE) is read with the program's rights */
static inline u32 unwind_arch_keys_open(void)
{
	return 0;
}

static inline void unwind_arch_keys_close(u32 rights)
{
}

/**
 * unwind_arch_tags_off - before user memory is read by an address without its tag
 *
 * With MTE, a read fails if the tags of address and memory differ and the program has its own
 * reads checked.  The unwinder reads stack, tables and text at addresses without tags, which
 * the frame loop or the decoder has checked, so tag checks would only make reads fail.
 *
 * Context: any; until unwind_arch_tags_on(), which must follow in the same context.
 * Interrupts and faults come back in between.
 */
static __always_inline void unwind_arch_tags_off(void)
{
	asm volatile(ALTERNATIVE("nop", SET_PSTATE_TCO(1), ARM64_MTE, CONFIG_ARM64_MTE)
		     : : : "memory");
}

static __always_inline void unwind_arch_tags_on(void)
{
	asm volatile(ALTERNATIVE("nop", SET_PSTATE_TCO(0), ARM64_MTE, CONFIG_ARM64_MTE)
		     : : : "memory");
}

/**
 * unwind_arch_untag - remove the bits of an address that the hardware ignores
 * @addr: a value of a register, or from memory
 *
 * The top byte of an address of data may be a tag (TBI, MTE). The tag is no part of the
 * address, and get_user() refuses it unless the program asked for the tagged address ABI.
 *
 * Return: the address; an address outside of user space stays outside.
 */
static inline unsigned long unwind_arch_untag(unsigned long addr)
{
	return untagged_addr(addr);
}

/**
 * unwind_arch_strip_ra - remove authentication code and tag of a return address
 * @ra: from memory or from a register
 *
 * Only a table says whether a return address is signed, and the table need not be
 * right. This does not change an address that is not signed.
 *
 * Return: the address; an address outside of user space stays outside.
 */
static inline unsigned long unwind_arch_strip_ra(unsigned long ra)
{
	return untagged_addr(ptrauth_strip_user_insn_pac(ra));
}

/**
 * unwind_arch_reg - a register of the topmost frame by its DWARF number
 * @regs: the interrupted program's registers
 * @reg: number as in "DWARF for the Arm 64-bit Architecture"
 * @val: its value
 *
 * Return: whether there is such a register.
 */
static inline bool unwind_arch_reg(struct pt_regs *regs, unsigned int reg,
				   unsigned long *val)
{
	if (reg == 31) {
		*val = regs->sp;
		return true;
	}
	if (reg >= ARRAY_SIZE(regs->regs))
		return false;
	/* @reg comes from a table, thus from the program */
	reg = array_index_nospec(reg, ARRAY_SIZE(regs->regs));
	*val = regs->regs[reg];
	return true;
}

/**
 * unwind_arch_restores_regs - may sigreturn be replacing the registers by another frame's?
 * @regs: registers with which the task left user space
 *
 * rt_sigreturn() writes them one after the other. Once the program counter is written, the
 * trampoline's instructions do not show any more that this is a return from a signal.
 *
 * Context: any.
 * Return: whether @regs may be a mixture of two frames' registers.
 */
static inline bool unwind_arch_restores_regs(const struct pt_regs *regs)
{
	return regs->syscallno == __NR_rt_sigreturn;
}

/* The start of the trampoline to which a signal's handler returns: mov x8, #nr */
#define UNWIND_ARCH_TRAMPOLINE		(0xd2800008 | __NR_rt_sigreturn << 5)

/**
 * unwind_arch_maybe_trampoline - does a signal's trampoline begin like this?
 * @insns: the first four bytes of the code to which a function returns; little endian on
 *	any kernel
 *
 * Return: if false, unwind_arch_signal_frame() would not find a trampoline there either.
 */
static inline bool unwind_arch_maybe_trampoline(u32 insns)
{
	return insns == (__force u32)cpu_to_le32(UNWIND_ARCH_TRAMPOLINE);
}

/**
 * unwind_arch_follows_call - is there a call instruction before a return address?
 * @code: the eight bytes before it
 *
 * Return: whether there is one: BL, BLR, or BLR with authentication.
 */
static __always_inline bool unwind_arch_follows_call(u64 code)
{
	const u32 insn = le64_to_cpu((__force __le64)code) >> 32;

	return insn >> 26 == 0x25 || (insn & 0xfefff000) == 0xd63f0000;
}

/**
 * unwind_arch_uretprobe_pushed - words on the stack of a uretprobe's trampoline
 * @offset: of an instruction in the trampoline
 * @words: set to the number of words that it has pushed, and not popped again
 * @called: set to whether it has called the kernel
 *
 * Context: any.
 * Return: whether that is known. The trampoline is only a breakpoint.
 */
static inline bool unwind_arch_uretprobe_pushed(unsigned long offset,
						unsigned int *words,
						bool *called)
{
	*words = 0;
	*called = false;
	return !offset;
}

/* No compiler is known to describe such code wrongly */
static inline bool unwind_arch_dropped_word(u64 code)
{
	return false;
}

bool unwind_arch_signal_frame(unsigned long ip, unsigned long sp,
			      const struct pt_regs *topmost,
			      unsigned long saved, unsigned int word_size,
			      struct unwind_arch_interrupted *to);
int unwind_arch_saved_reg(unsigned long regs, unsigned int reg, unsigned long *val,
			  unsigned long *at);
int unwind_arch_find_caller(unsigned long ip, struct unwind_arch_caller *to);

#endif /* __ASM_UNWIND_ARCH_H */
