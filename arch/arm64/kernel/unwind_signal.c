// SPDX-License-Identifier: GPL-2.0
/*
 * Signal frames: from a signal's trampoline to the frame that the signal interrupted, for
 * the frame loop (kernel/unwind/walk.c).
 *
 * A handler returns to two instructions, of the vDSO or of the C library, that only call
 * rt_sigreturn.  The stack pointer then points to the frame that the kernel
 * laid down, with all registers of the interrupted program.  No table describes these
 * instructions, and the vDSO's must not (sigreturn.S has the reasons), so unwinders
 * recognize them by their bytes.  An interrupt can find the trampoline at its second one.
 *
 *   frame record   the interrupted frame pointer and link register
 *   extra space    for vector registers, if they need it
 *   signal frame   <-- stack pointer of the trampoline
 *
 * The unwinder must not follow the record: at best it leads to the caller of the
 * interrupted function.  But if only frame records led here and the stack pointer is not
 * known, the record shows where the signal frame is: below it, at the distance of a frame
 * without extra space.  With extra space, the frame is not there, and the stack ends.
 *
 * Instructions and frame belong to the process and may lie.  The result is a frame of that
 * process, true or not, and the number of frames is bounded.
 */

#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/math.h>
#include <linux/nospec.h>
#include <linux/ptrace.h>
#include <linux/signal_types.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <asm/ucontext.h>
#include <asm/unistd.h>
#include <asm/unwind_arch.h>

/* svc #0, after UNWIND_ARCH_TRAMPOLINE */
#define SVC			0xd4000001

#define DWARF_X8		8
#define DWARF_X29		29
#define DWARF_SP		31

/* The layout of setup_rt_frame() in signal.c; programs may rely on it */
struct signal_frame {
	struct siginfo	info;
	struct ucontext	uc;
};

/* Saved registers by DWARF number, then the stack pointer and the next instruction */
#define SAVED_REGS(frame) \
	((frame) + offsetof(struct signal_frame, uc.uc_mcontext.regs))
/* The list of further registers */
#define FURTHER_REGS(frame) \
	((frame) + offsetof(struct signal_frame, uc.uc_mcontext.__reserved))
#define SAVED(regs, reg)	((const u64 __user *)(regs) + (reg))
#define SAVED_PC		(DWARF_SP + 1)

/**
 * unwind_arch_saved_reg - a register of the program that a signal interrupted
 * @regs: as unwind_arch_signal_frame() found it; not 0
 * @reg: number as in "DWARF for the Arm 64-bit Architecture"
 * @val: its value
 * @at: set to its address, if it cannot be read
 *
 * Context: as unwind_walk_start().
 * Return: 0; -ENOENT there is no such register; -EFAULT it cannot be read.
 */
int unwind_arch_saved_reg(unsigned long regs, unsigned int reg, unsigned long *val,
			  unsigned long *at)
{
	u64 saved;
	int ret;

	if (reg > DWARF_SP)
		return -ENOENT;
	/* @reg comes from a table, thus from the program */
	reg = array_index_nospec(reg, DWARF_SP + 1);
	unwind_arch_tags_off();
	ret = get_user(saved, SAVED(regs, reg));
	unwind_arch_tags_on();
	if (ret) {
		*at = (unsigned long)SAVED(regs, reg);
		return -EFAULT;
	}
	*val = saved;
	return 0;
}

/* Get the number of the system call that an interrupted frame is about to make */
static bool syscall_nr(const struct pt_regs *topmost, unsigned long saved,
		       unsigned long *nr, struct unwind_arch_interrupted *to)
{
	if (topmost) {
		*nr = topmost->regs[DWARF_X8];
		return true;
	}
	if (!saved)
		return false;
	return !unwind_arch_saved_reg(saved, DWARF_X8, nr, &to->unread);
}

static bool read_insn(unsigned long ip, u32 *insn,
		      struct unwind_arch_interrupted *to)
{
	__le32 val;

	if (!unwind_arch_read(val, (const __le32 __user *)ip, to))
		return false;
	*insn = le32_to_cpu(val);
	return true;
}

static bool at_rt_sigreturn(unsigned long ip, const struct pt_regs *topmost,
			    unsigned long saved,
			    struct unwind_arch_interrupted *to)
{
	unsigned long nr;
	u32 insn;

	if (!read_insn(ip, &insn, to))
		return false;
	if (insn == UNWIND_ARCH_TRAMPOLINE)
		return read_insn(ip + sizeof(insn), &insn, to) && insn == SVC;
	return insn == SVC && syscall_nr(topmost, saved, &nr, to) &&
	       nr == __NR_rt_sigreturn;
}

/* A frame's list of further registers begins with FP and SIMD registers */
static bool has_frame(unsigned long further, struct unwind_arch_interrupted *to)
{
	const struct _aarch64_ctx __user *head = (void __user *)further;
	u32 magic, size;

	return unwind_arch_read(magic, &head->magic, to) &&
	       unwind_arch_read(size, &head->size, to) &&
	       magic == FPSIMD_MAGIC && size == sizeof(struct fpsimd_context);
}

/**
 * unwind_arch_signal_frame - from a signal's trampoline to the interrupted frame
 * @ip: the address to which a function, perhaps a handler, returns
 * @sp: the stack pointer there
 * @topmost: the registers, if @ip is the topmost frame's; else NULL
 * @saved: registers of @ip, as this function found them, if another signal interrupted
 *	that frame; else 0
 * @word_size: bytes in a stack word there
 * @to: filled in, but for @code, which is the caller's; its word_size is 0 if there is no
 *	trampoline, or no frame at @sp
 *
 * Context: as unwind_walk_start().
 * Return: whether this is a signal's trampoline.
 */
bool unwind_arch_signal_frame(unsigned long ip, unsigned long sp,
			      const struct pt_regs *topmost,
			      unsigned long saved, unsigned int word_size,
			      struct unwind_arch_interrupted *to)
{
	unsigned long regs = SAVED_REGS(sp);
	u64 pc, stack, fp;

	BUILD_BUG_ON(UNWIND_ARCH_SIGNAL_RECORD !=
		     round_up(sizeof(struct signal_frame), 16));
	BUILD_BUG_ON(offsetof(struct sigcontext, sp) !=
		     offsetofend(struct sigcontext, regs));
	BUILD_BUG_ON(offsetof(struct sigcontext, pc) !=
		     offsetofend(struct sigcontext, sp));

	*to = (struct unwind_arch_interrupted){ .code = to->code };
	if (!at_rt_sigreturn(ip, topmost, saved, to))
		return false;
	if (!has_frame(FURTHER_REGS(sp), to))
		return true;
	if (!unwind_arch_read(pc, SAVED(regs, SAVED_PC), to) ||
	    !unwind_arch_read(stack, SAVED(regs, DWARF_SP), to) ||
	    !unwind_arch_read(fp, SAVED(regs, DWARF_X29), to))
		return true;
	to->regs = regs;
	to->ip = pc;
	to->sp = unwind_arch_untag(stack);
	to->fp = unwind_arch_untag(fp);
	to->word_size = word_size;
	return true;
}
