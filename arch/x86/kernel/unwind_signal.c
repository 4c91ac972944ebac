// SPDX-License-Identifier: GPL-2.0
/*
 * Signal frames: from a signal's trampoline to the frame that the signal interrupted, for
 * the frame loop (kernel/unwind/walk.c).
 *
 * A handler returns to a few instructions of the C library, or of the 32-bit vDSO, that
 * only call sigreturn.  Such a trampoline has no caller.  Above its stack pointer lies the
 * frame that the kernel laid down, with all registers of the interrupted program.  Few C
 * libraries have a table for the trampoline.
 *
 * The trampoline is recognized by its instructions, as debuggers and the DWARF unwinders
 * of compilers do.  The kernel's record of the handler's return address does not help:
 * sigaction() may change it while the handler runs.  An interrupt can find the trampoline
 * at any of its instructions; then the system call's number may already be in its register.
 *
 * Instructions and frame belong to the process and may lie.  The result is a frame of that
 * process, true or not, and the number of frames is bounded.
 */

#include <linux/compat.h>
#include <linux/errno.h>
#include <linux/nospec.h>
#include <linux/ptrace.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <linux/wordpart.h>
#include <asm/ia32.h>
#include <asm/segment.h>
#include <asm/sigframe.h>
#include <asm/ucontext.h>
#include <asm/unistd.h>
#include <asm/unwind_arch.h>

/* mov $__NR_rt_sigreturn, %rax; syscall; the latter's second byte comes after */
#define MOVQ_SYSCALL		0x0f0000000fc0c748ULL
#define SYSCALL_LAST		0x05
/* mov $__NR_rt_sigreturn, %eax; syscall */
#define MOVL_SYSCALL		0x00050f0000000fb8ULL
#define MOVL_SYSCALL_MASK	0x00ffffffffffffffULL
/* syscall */
#define SYSCALL			0x050f

/* pop %eax; mov $__NR_ia32_sigreturn, %eax; int $0x80 */
#define IA32_POP_MOV_INT80	0x80cd00000077b858ULL
/* mov $__NR_ia32_sigreturn, %eax; int $0x80, and the same for rt_sigreturn */
#define IA32_MOV_INT80		0x0080cd00000077b8ULL
#define IA32_RT_MOV_INT80	0x0080cd000000adb8ULL
#define IA32_MOV_INT80_MASK	0x00ffffffffffffffULL
/* int $0x80 */
#define IA32_INT80		0x80cd

#define DWARF_RAX		0

#define IA32_NR_SIGRETURN	119
#define IA32_NR_RT_SIGRETURN	173

/* The trampoline's pop takes this off the stack: the signal's number */
#define IA32_POPPED		sizeof(u32)

static bool read_text(unsigned long ip, u64 *insns,
		      struct unwind_arch_interrupted *to)
{
	return unwind_arch_read(*insns, (const u64 __user *)ip, to);
}

/*
 * 64-bit
 */

/* Offsets of registers in struct sigcontext_64, by DWARF number */
static const u8 sigcontext_64_regs[] = {
	offsetof(struct sigcontext_64, ax), offsetof(struct sigcontext_64, dx),
	offsetof(struct sigcontext_64, cx), offsetof(struct sigcontext_64, bx),
	offsetof(struct sigcontext_64, si), offsetof(struct sigcontext_64, di),
	offsetof(struct sigcontext_64, bp), offsetof(struct sigcontext_64, sp),
	offsetof(struct sigcontext_64, r8), offsetof(struct sigcontext_64, r9),
	offsetof(struct sigcontext_64, r10), offsetof(struct sigcontext_64, r11),
	offsetof(struct sigcontext_64, r12), offsetof(struct sigcontext_64, r13),
	offsetof(struct sigcontext_64, r14), offsetof(struct sigcontext_64, r15),
};

/**
 * unwind_arch_saved_reg - a register of the program that a signal interrupted
 * @regs: as unwind_arch_signal_frame() found it for a 64-bit frame; not 0
 * @reg: number as in the psABI's "DWARF Register Number Mapping"
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

	if (reg >= ARRAY_SIZE(sigcontext_64_regs))
		return -ENOENT;
	/* @reg comes from a table, thus from the program */
	reg = array_index_nospec(reg, ARRAY_SIZE(sigcontext_64_regs));
	regs += sigcontext_64_regs[reg];
	if (get_user(saved, (const u64 __user *)regs)) {
		*at = regs;
		return -EFAULT;
	}
	*val = saved;
	return 0;
}

/* Get the number of the system call that an interrupted frame is about to make */
static bool syscall_nr_64(const struct pt_regs *topmost, unsigned long saved,
			  unsigned long *nr, struct unwind_arch_interrupted *to)
{
	if (topmost) {
		*nr = topmost->ax;
		return true;
	}
	if (!saved)
		return false;
	return !unwind_arch_saved_reg(saved, DWARF_RAX, nr, &to->unread);
}

static bool at_rt_sigreturn(unsigned long ip, const struct pt_regs *topmost,
			    unsigned long saved,
			    struct unwind_arch_interrupted *to)
{
	unsigned long nr;
	u64 insns;
	u8 last;

	BUILD_BUG_ON(lower_32_bits(MOVQ_SYSCALL) != UNWIND_ARCH_TRAMPOLINE_MOVQ ||
		     lower_32_bits(MOVL_SYSCALL) != UNWIND_ARCH_TRAMPOLINE_MOVL);

	if (!read_text(ip, &insns, to))
		return false;
	if (insns == MOVQ_SYSCALL)
		return unwind_arch_read(last, (const u8 __user *)(ip + sizeof(insns)), to) &&
		       last == SYSCALL_LAST;
	if ((insns & MOVL_SYSCALL_MASK) == MOVL_SYSCALL)
		return true;
	return (u16)insns == SYSCALL && syscall_nr_64(topmost, saved, &nr, to) &&
	       nr == __NR_rt_sigreturn;
}

static unsigned long find_sigcontext_64(unsigned long ip, unsigned long sp,
					const struct pt_regs *topmost,
					unsigned long saved,
					struct unwind_arch_interrupted *to)
{
	/* The handler's return has taken the trampoline's address off the stack */
	BUILD_BUG_ON(offsetof(struct rt_sigframe, uc) != sizeof(u64));

	if (!at_rt_sigreturn(ip, topmost, saved, to))
		return 0;
	return sp + offsetof(struct ucontext, uc_mcontext);
}

static void read_sigcontext_64(unsigned long addr,
			       struct unwind_arch_interrupted *to)
{
	const struct sigcontext_64 __user *sc = (void __user *)addr;
	u64 ip, sp, fp;
	u16 cs;

	if (!unwind_arch_read(ip, &sc->ip, to) || !unwind_arch_read(sp, &sc->sp, to) ||
	    !unwind_arch_read(fp, &sc->bp, to) || !unwind_arch_read(cs, &sc->cs, to))
		return;
	/* A 64-bit handler may have interrupted 32-bit code */
	if (cs != __USER_CS && cs != __USER32_CS)
		return;

	to->ip = ip;
	to->sp = sp;
	to->fp = fp;
	to->word_size = cs == __USER_CS ? sizeof(u64) : sizeof(u32);
	to->regs = cs == __USER_CS ? addr : 0;
}

/*
 * 32-bit
 */

#ifdef CONFIG_IA32_EMULATION

static u32 syscall_nr_32(const struct pt_regs *topmost, unsigned long saved,
			 struct unwind_arch_interrupted *to)
{
	const struct sigcontext_32 __user *sc = (void __user *)saved;
	u32 nr;

	if (topmost)
		return topmost->ax;
	return saved && unwind_arch_read(nr, &sc->ax, to) ? nr : 0;
}

static unsigned long sigcontext_32_of(u32 nr, unsigned long sp)
{
	switch (nr) {
	case IA32_NR_SIGRETURN:
		return sp;
	case IA32_NR_RT_SIGRETURN:
		return sp + offsetof(struct rt_sigframe_ia32, uc.uc_mcontext) -
		       sizeof(u32);
	default:
		return 0;
	}
}

static unsigned long find_sigcontext_32(unsigned long ip, unsigned long sp,
					const struct pt_regs *topmost,
					unsigned long saved,
					struct unwind_arch_interrupted *to)
{
	u64 insns;

	BUILD_BUG_ON(offsetof(struct sigframe_ia32, sc) !=
		     sizeof(u32) + IA32_POPPED);

	if (!read_text(ip, &insns, to))
		return 0;
	if (insns == IA32_POP_MOV_INT80)
		return sp + IA32_POPPED;
	switch (insns & IA32_MOV_INT80_MASK) {
	case IA32_MOV_INT80:
		return sigcontext_32_of(IA32_NR_SIGRETURN, sp);
	case IA32_RT_MOV_INT80:
		return sigcontext_32_of(IA32_NR_RT_SIGRETURN, sp);
	}
	if ((u16)insns != IA32_INT80)
		return 0;
	return sigcontext_32_of(syscall_nr_32(topmost, saved, to), sp);
}

static void read_sigcontext_32(unsigned long addr,
			       struct unwind_arch_interrupted *to)
{
	const struct sigcontext_32 __user *sc = (void __user *)addr;
	u32 ip, sp, fp;
	u16 cs;

	if (!unwind_arch_read(ip, &sc->ip, to) || !unwind_arch_read(sp, &sc->sp, to) ||
	    !unwind_arch_read(fp, &sc->bp, to) || !unwind_arch_read(cs, &sc->cs, to))
		return;
	if (cs != __USER32_CS)
		return;

	to->ip = ip;
	to->sp = sp;
	to->fp = fp;
	to->word_size = sizeof(u32);
	to->regs = addr;
}

#else

static unsigned long find_sigcontext_32(unsigned long ip, unsigned long sp,
					const struct pt_regs *topmost,
					unsigned long saved,
					struct unwind_arch_interrupted *to)
{
	return 0;
}

static void read_sigcontext_32(unsigned long addr,
			       struct unwind_arch_interrupted *to)
{
}

#endif /* CONFIG_IA32_EMULATION */

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
	unsigned long sc;

	*to = (struct unwind_arch_interrupted){ .code = to->code };
	if (word_size == sizeof(u32)) {
		sc = find_sigcontext_32(ip, sp, topmost, saved, to);
		if (sc)
			read_sigcontext_32(sc, to);
	} else {
		sc = find_sigcontext_64(ip, sp, topmost, saved, to);
		if (sc)
			read_sigcontext_64(sc, to);
	}
	return sc != 0;
}
