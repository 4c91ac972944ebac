/* SPDX-License-Identifier: GPL-2.0 */
/* x86's part of the unwinder of user stacks: see linux/unwind_arch.h. */
#ifndef _ASM_X86_UNWIND_ARCH_H
#define _ASM_X86_UNWIND_ARCH_H

#include <linux/errno.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/nospec.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/types.h>
#include <linux/unwind_arch.h>
#include <linux/unwind_base.h>
#include <asm/pkru.h>
#include <asm/ptrace.h>
#include <asm/segment.h>
#include <asm/stacktrace.h>
#include <asm/tlbflush.h>
#include <asm/unistd.h>
#include <asm/vdso.h>

/* The SFrame ABI whose tables are used (the value of SFRAME_ABI_AMD64_ENDIAN_LITTLE) */
#define UNWIND_ARCH_SFRAME_ABI		3

/*
 * The frame that "push %rbp; mov %rsp, %rbp" sets up: the frame pointer points to the
 * saved frame pointer.  Above that is the return address, and above that the CFA.
 */
#define UNWIND_ARCH_FP_CFA_WORDS	2
#define UNWIND_ARCH_FP_CFA_EXACT	true
#define UNWIND_ARCH_FP_RA_WORDS		1
#define UNWIND_ARCH_FP_FP_WORDS		0

/* A signal frame has no frame record of its own */
#define UNWIND_ARCH_SIGNAL_RECORD	0

/* There is no link register */
#define UNWIND_ARCH_LINK_REG		-1

/* An instruction can be at any address */
#define UNWIND_ARCH_INSN_ALIGN		1

/* The caller's stack pointer lies above the return address that the call pushed */
#define UNWIND_ARCH_CFA_MIN_WORDS	1

/**
 * unwind_arch_word_size - bytes in a stack word of the interrupted program
 * @regs: its registers
 *
 * Return: 8 or 4; or -EINVAL for 32-bit programs with other segments: their addresses
 * have no known meaning.
 */
static inline int unwind_arch_word_size(struct pt_regs *regs)
{
	if (user_64bit_mode(regs))
		return 8;
	/* Addresses count from 0 only in flat segments */
	return regs->cs == __USER32_CS && regs->ss == __USER_DS ? 4 : -EINVAL;
}

/**
 * unwind_arch_entry_saved - has entry code saved the program's registers?
 * @regs: registers of the kernel's code that an NMI interrupted
 *
 * They are not saved yet while the stack pointer is the program's, is on a stack on which
 * exceptions begin, or is in the place of the registers on the task's stack.  (On the way back
 * to the program, the stack pointer is in that place, too.)  So it has to be elsewhere on the
 * task's stack, or on the interrupts' stack.
 *
 * Return: true if they are saved for certain.
 */
static inline bool unwind_arch_entry_saved(const struct pt_regs *regs)
{
	const unsigned long saved = (unsigned long)task_pt_regs(current);
	struct stack_info info;

	return regs->sp >= TASK_SIZE_MAX &&
	       get_stack_info_noinstr((unsigned long *)regs->sp, current, &info) &&
	       (info.type == STACK_TYPE_TASK || info.type == STACK_TYPE_IRQ) &&
	       (regs->sp <= saved || regs->sp > saved + sizeof(*regs));
}

/**
 * unwind_arch_uaccess_okay - may user memory be read here, without faults?
 *
 * Context: any.
 * Return: whether it may.
 */
static inline bool unwind_arch_uaccess_okay(void)
{
	return nmi_uaccess_okay();
}

/**
 * unwind_vdso_image - the vDSO of 64-bit programs
 * @size: set to its size in bytes
 *
 * Return: the image, in kernel memory.
 */
static inline const void *unwind_vdso_image(u64 *size)
{
	*size = vdso64_image.size;
	return vdso64_image.data;
}

/**
 * unwind_arch_has_vdso - has an address space the vDSO of 64-bit programs?
 * @mm: the address space
 *
 * Return: false for x32's, too, whose code is elsewhere in the image.
 */
static inline bool unwind_arch_has_vdso(const struct mm_struct *mm)
{
	return mm->context.vdso_image == &vdso64_image;
}

/**
 * unwind_arch_keys_open - before user memory of any protection key is read
 *
 * A program may protect its stacks with keys.  A signal handler starts without access to these
 * keys, even if it interrupted a function on such a stack.  The unwinder reads the stack
 * anyway, as a debugger does, and only the tracer sees the addresses.
 *
 * The task may sleep before unwind_arch_keys_close(): the rights belong to the task, and are
 * switched with it.  They are left alone if the task has loaded a virtual CPU: KVM saves the
 * rights whenever such a task is scheduled in, and would save these.
 *
 * Context: any, with current->mm; unwind_arch_keys_close() must follow in the same context.
 *
 * Return: for unwind_arch_keys_close().
 */
static inline u32 unwind_arch_keys_open(void)
{
	u32 rights = 0;

#ifdef CONFIG_PREEMPT_NOTIFIERS
	if (in_task() && !hlist_empty(&current->preempt_notifiers))
		return 0;
#endif
#ifdef CONFIG_X86_INTEL_MEMORY_PROTECTION_KEYS
	/* Most processes have only key 0: do not change their rights, which is not cheap */
	if (READ_ONCE(current->mm->context.pkey_allocation_map) != BIT(0))
		rights = read_pkru();
#endif
	if (rights)
		write_pkru(0);
	return rights;
}

/**
 * unwind_arch_keys_close - after user memory was read
 * @rights: what unwind_arch_keys_open() has returned
 */
static inline void unwind_arch_keys_close(u32 rights)
{
	if (rights)
		write_pkru(rights);
}

/* Memory has no tags */
static __always_inline void unwind_arch_tags_off(void)
{
}

static __always_inline void unwind_arch_tags_on(void)
{
}

/* Addresses have neither tag nor authentication code */
static inline unsigned long unwind_arch_untag(unsigned long addr)
{
	return addr;
}

static inline unsigned long unwind_arch_strip_ra(unsigned long ra)
{
	return ra;
}

/**
 * unwind_arch_reg - a register of the topmost frame by its DWARF number
 * @regs: the interrupted program's registers
 * @reg: number as in the psABI's "DWARF Register Number Mapping"
 * @val: its value
 *
 * Return: whether there is such a register.
 */
static inline bool unwind_arch_reg(struct pt_regs *regs, unsigned int reg,
				   unsigned long *val)
{
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
		/* @reg comes from a table, thus from the program */
		reg = array_index_nospec(reg, ARRAY_SIZE(offsets));
		*val = regs_get_register(regs, offsets[reg]);
		return true;
	}
	return false;
}

/**
 * unwind_arch_restores_regs - may sigreturn be replacing the registers by another frame's?
 * @regs: registers with which the task left user space
 *
 * rt_sigreturn() reads all of them before it writes the first.  So only interrupts can
 * come between two writes.
 *
 * Context: any.
 * Return: whether @regs may be a mixture of two frames' registers.
 */
static inline bool unwind_arch_restores_regs(const struct pt_regs *regs)
{
	return !in_task() && regs->orig_ax == __NR_rt_sigreturn;
}

/* The start of the trampoline to which a signal's handler returns: a mov to %rax, or %eax */
#define UNWIND_ARCH_TRAMPOLINE_MOVQ	0x0fc0c748U
#define UNWIND_ARCH_TRAMPOLINE_MOVL	0x00000fb8U

/**
 * unwind_arch_maybe_trampoline - does a signal's trampoline begin like this?
 * @insns: the first four bytes of the code to which a 64-bit function returns
 *
 * Return: if false, unwind_arch_signal_frame() would not find a trampoline there either.
 */
static inline bool unwind_arch_maybe_trampoline(u32 insns)
{
	return insns == UNWIND_ARCH_TRAMPOLINE_MOVQ ||
	       insns == UNWIND_ARCH_TRAMPOLINE_MOVL;
}

/* Labels in arch/x86/kernel/uprobes.c */
extern u8 uretprobe_trampoline_entry[];
extern u8 uretprobe_pushed_ax[];
extern u8 uretprobe_pushed_cx[];
extern u8 uretprobe_pushed_r11[];
extern u8 uretprobe_syscall_check[];
extern u8 uretprobe_popped_r11[];
extern u8 uretprobe_popped_cx[];
extern u8 uretprobe_trampoline_end[];

bool unwind_arch_uretprobe_pushed(unsigned long offset, unsigned int *words,
				  bool *called);
bool unwind_arch_signal_frame(unsigned long ip, unsigned long sp,
			      const struct pt_regs *topmost,
			      unsigned long saved, unsigned int word_size,
			      struct unwind_arch_interrupted *to);
int unwind_arch_saved_reg(unsigned long regs, unsigned int reg, unsigned long *val,
			  unsigned long *at);

int unwind_arch_find_caller(unsigned long ip, struct unwind_arch_caller *to);

/**
 * unwind_arch_follows_call - is there a call instruction before a return address?
 * @code: the eight bytes before it
 *
 * Return: whether there may be one: other instructions can end with the same bytes.
 */
static __always_inline bool unwind_arch_follows_call(u64 code)
{
	/* call *r/m: 0xff, and the register field of the next byte is 2 */
	const u64 mask = 0x38ff, call = 0x10ff;

	/* call rel32 */
	if (likely((code >> 24 & 0xff) == 0xe8))
		return true;
	return (code >> 48 & mask) == call || (code >> 40 & mask) == call ||
	       (code >> 32 & mask) == call || (code >> 16 & mask) == call ||
	       (code >> 8 & mask) == call;
}

/**
 * unwind_arch_dropped_word - has the instruction before a return dropped a word of the stack?
 * @code: the eight bytes up to the interrupted instruction's first one
 *
 * Return: whether it is a ret after lea 8(%rsp), %rsp.
 */
static __always_inline bool unwind_arch_dropped_word(u64 code)
{
	return code >> 16 == 0xc30824648d48ULL;
}

#endif /* _ASM_X86_UNWIND_ARCH_H */
