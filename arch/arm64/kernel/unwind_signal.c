// SPDX-License-Identifier: GPL-2.0
/*
 * Signal frames: from a handler's caller to what the signal interrupted.  Asked by the
 * iterator, kernel/unwind/user.c.
 *
 * A handler returns to two instructions, of the vDSO or of a C library that has
 * its own, that do nothing but call rt_sigreturn.  Above the stack pointer there
 * lies the frame that the kernel has laid down, with all registers of what was
 * interrupted.  No table describes them, and the vDSO's must not (sigreturn.S has
 * the reasons), so it is by these instructions that unwinders know a signal frame.
 * What interrupts the trampoline itself can find it at the second one.
 *
 * Above the frame is a frame record with the interrupted frame pointer and link
 * register.  It must not be followed: it leads to the caller of what was
 * interrupted at best.  But it shows where the frame is when only frame records
 * led here, and no stack pointer is known: below it, at the distance of a frame
 * without extra space.  Where vector registers took extra space, that is not its
 * place, and the stack ends.
 *
 * Instructions and frame belong to the process and may lie: what comes out is a
 * frame of that process, true or not, and the number of frames is limited.
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
#include <asm/unwind_user.h>

/* svc #0, behind UNWIND_USER_TRAMPOLINE */
#define SVC			0xd4000001

#define DWARF_X8		8
#define DWARF_X29		29
#define DWARF_SP		31

/* As setup_rt_frame() in signal.c lays it down, and the program may rely on it */
struct signal_frame {
	struct siginfo	info;
	struct ucontext	uc;
};

/* Registers, by DWARF number, and then the stack pointer and the next instruction */
#define SAVED_REGS(frame) \
	((frame) + offsetof(struct signal_frame, uc.uc_mcontext.regs))
/* And what else there is */
#define FURTHER_REGS(frame) \
	((frame) + offsetof(struct signal_frame, uc.uc_mcontext.__reserved))
#define SAVED(regs, reg)	((const u64 __user *)(regs) + (reg))
#define SAVED_PC		(DWARF_SP + 1)

/**
 * unwind_user_saved_reg - a register of what a signal interrupted
 * @regs: as unwind_user_signal_frame() found it; not 0
 * @reg: number as in "DWARF for the Arm 64-bit Architecture"
 * @val: its value
 *
 * Context: as unwind_user_start().
 * Return: 0; -ENOENT there is no such register; -EFAULT it cannot be read.
 */
int unwind_user_saved_reg(unsigned long regs, unsigned int reg,
			  unsigned long *val)
{
	u64 saved;
	int ret;

	if (reg > DWARF_SP)
		return -ENOENT;
	/* From a table, that is, from the program */
	reg = array_index_nospec(reg, DWARF_SP + 1);
	unwind_user_tags_off();
	ret = get_user(saved, SAVED(regs, reg));
	unwind_user_tags_on();
	if (ret)
		return -EFAULT;
	*val = saved;
	return 0;
}

/* The number of the system call that an interrupted frame is about to make */
static bool syscall_nr(const struct pt_regs *topmost, unsigned long saved,
		       unsigned long *nr, struct unwind_user_interrupted *to)
{
	if (topmost) {
		*nr = topmost->regs[DWARF_X8];
		return true;
	}
	if (!saved)
		return false;
	if (!unwind_user_saved_reg(saved, DWARF_X8, nr))
		return true;
	to->unread = saved;
	return false;
}

static bool read_insn(unsigned long ip, u32 *insn,
		      struct unwind_user_interrupted *to)
{
	__le32 val;

	if (!unwind_user_read(val, (const __le32 __user *)ip, to))
		return false;
	*insn = le32_to_cpu(val);
	return true;
}

static bool at_rt_sigreturn(unsigned long ip, const struct pt_regs *topmost,
			    unsigned long saved,
			    struct unwind_user_interrupted *to)
{
	unsigned long nr;
	u32 insn;

	if (!read_insn(ip, &insn, to))
		return false;
	if (insn == UNWIND_USER_TRAMPOLINE)
		return read_insn(ip + sizeof(insn), &insn, to) && insn == SVC;
	return insn == SVC && syscall_nr(topmost, saved, &nr, to) &&
	       nr == __NR_rt_sigreturn;
}

/* A frame begins its list of further registers with those of FP and SIMD */
static bool has_frame(unsigned long further, struct unwind_user_interrupted *to)
{
	const struct _aarch64_ctx __user *head = (void __user *)further;
	u32 magic, size;

	return unwind_user_read(magic, &head->magic, to) &&
	       unwind_user_read(size, &head->size, to) &&
	       magic == FPSIMD_MAGIC && size == sizeof(struct fpsimd_context);
}

/**
 * unwind_user_signal_frame - from a signal's trampoline to what was interrupted
 * @ip: the address that a function, perhaps a handler, returns to
 * @sp: the stack pointer there
 * @topmost: the registers, where @ip is the topmost frame's; else NULL
 * @saved: those of @ip where that is what another signal interrupted, as this
 *	function found them; else 0
 * @word_size: bytes in a stack word there
 * @to: filled in; its word_size is 0 where there is no trampoline, or no frame at @sp
 *
 * Context: as unwind_user_start().
 * Return: whether this is a signal's trampoline.
 */
bool unwind_user_signal_frame(unsigned long ip, unsigned long sp,
			      const struct pt_regs *topmost,
			      unsigned long saved, unsigned int word_size,
			      struct unwind_user_interrupted *to)
{
	unsigned long regs = SAVED_REGS(sp);
	u64 pc, stack, fp;

	BUILD_BUG_ON(UNWIND_USER_SIGNAL_RECORD !=
		     round_up(sizeof(struct signal_frame), 16));
	BUILD_BUG_ON(offsetof(struct sigcontext, sp) !=
		     offsetofend(struct sigcontext, regs));
	BUILD_BUG_ON(offsetof(struct sigcontext, pc) !=
		     offsetofend(struct sigcontext, sp));

	*to = (struct unwind_user_interrupted){};
	if (!at_rt_sigreturn(ip, topmost, saved, to))
		return false;
	if (!has_frame(FURTHER_REGS(sp), to))
		return true;
	if (!unwind_user_read(pc, SAVED(regs, SAVED_PC), to) ||
	    !unwind_user_read(stack, SAVED(regs, DWARF_SP), to) ||
	    !unwind_user_read(fp, SAVED(regs, DWARF_X29), to))
		return true;
	to->regs = regs;
	to->ip = pc;
	to->sp = unwind_user_untag(stack);
	to->fp = unwind_user_untag(fp);
	to->word_size = word_size;
	return true;
}
