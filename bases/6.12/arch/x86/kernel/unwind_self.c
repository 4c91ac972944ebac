// SPDX-License-Identifier: GPL-2.0
/* Signal frames without signals: see kernel/unwind/self.c. */

#include <linux/elf.h>
#include <linux/errno.h>
#include <linux/ptrace.h>
#include <linux/rseq.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/thread_info.h>
#include <linux/unwind_self.h>
#include <asm/fpu/signal.h>
#include <asm/pkru.h>
#include <asm/sighandling.h>
#include <asm/unistd.h>

unsigned long unwind_arch_signal_size(void)
{
	return get_sigframe_size();
}

bool unwind_arch_is_restart(const struct pt_regs *regs)
{
	/* A 64-bit program may make calls of the others, too */
	if (current->restart_block.arch_data & TS_COMPAT)
		return regs->ax == 0;
	return (regs->ax & ~__X32_SYSCALL_BIT) == __NR_restart_syscall;
}

int unwind_arch_call_handler(struct ksignal *ksig, struct pt_regs *regs)
{
	const u32 rights = read_pkru();

	/* Only frames of 64-bit programs return with all registers */
	if (!user_64bit_mode(regs) || ksig->ka.sa.sa_flags & (SA_IA32_ABI | SA_X32_ABI))
		return -EFAULT;
	rseq_signal_deliver(ksig, regs);
	if (x64_setup_rt_frame(ksig, regs)) {
		/* All keys may have been opened to write the frame */
		write_pkru(rights);
		return -EFAULT;
	}
	/* As for any handler: strings go upwards, nobody steps, registers are fresh */
	regs->flags &= ~(X86_EFLAGS_DF | X86_EFLAGS_RF | X86_EFLAGS_TF);
	fpu__clear_user_states(&current->thread.fpu);
	return 0;
}
