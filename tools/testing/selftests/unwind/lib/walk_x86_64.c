// SPDX-License-Identifier: GPL-2.0
/*
 * Stepping through code, see walk_x86_64.h.
 */
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <unistd.h>

#include "walk_x86_64.h"
#include "whole.h"

#define TRAP_FLAG	0x100
#define SA_RESTORER	0x04000000

/*
 * After this number of steps, the rest runs at full speed. Code that reads a clock starts
 * again when the clock ticks, so slow steps would never finish it.
 */
#define STEPS_MAX	10000

/* Longest instruction that is a call, with all of its prefixes */
#define CALL_MAX	15

/* struct sigaction as the kernel has it */
struct kernel_sigaction {
	void		*handler;
	unsigned long	flags;
	void		*restorer;
	uint64_t	mask;
};

static long rt_sigaction(int sig, const struct kernel_sigaction *action,
			 struct kernel_sigaction *old)
{
	return syscall(SYS_rt_sigaction, sig, action, old, sizeof(old->mask));
}

int walk_handler(int sig, void *handler, unsigned long flags,
		 void (*restorer)(void))
{
	struct sigaction libc = { .sa_handler = handler };
	struct kernel_sigaction action;

	/* From now on the kernel knows libc's restorer */
	if (sigaction(sig, &libc, NULL) || rt_sigaction(sig, NULL, &action))
		return -1;
	action.flags = flags | SA_RESTORER;
	if (restorer)
		action.restorer = restorer;
	return rt_sigaction(sig, &action, NULL);
}

unsigned long walk_restorer(int sig)
{
	struct kernel_sigaction action = {};

	rt_sigaction(sig, NULL, &action);
	return (unsigned long)action.restorer;
}

/* The known stack */

struct call {
	unsigned long	sp;	/* where the return address lies */
	unsigned long	ra;
};

static struct {
	walk_visit	visit;
	void		(*fn)(void *arg);
	void		*arg;
	unsigned long	last_ip;
	unsigned long	last_sp;
	unsigned int	steps;
	unsigned int	nr;
	struct call	call[SAMPLED_MAX];
} walker;

static void follow(unsigned long ip, unsigned long sp)
{
	unsigned long top = *(unsigned long *)sp;

	while (walker.nr && walker.call[walker.nr - 1].sp < sp)
		walker.nr--;
	if (sp == walker.last_sp - sizeof(long) && top > walker.last_ip &&
	    top - walker.last_ip <= CALL_MAX &&
	    walker.nr < SAMPLED_MAX - 2)
		walker.call[walker.nr++] = (struct call){ .sp = sp, .ra = top };
	walker.last_ip = ip;
	walker.last_sp = sp;
}

static void on_step(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct stack stack = { .nr = 1 };
	unsigned int i;

	if (++walker.steps == STEPS_MAX)
		regs[REG_EFL] &= ~TRAP_FLAG;
	follow(regs[REG_RIP], regs[REG_RSP]);
	/* Before and after the call, where gcc pushes flags without CFI */
	if (!walker.nr)
		return;
	stack.ip[0] = regs[REG_RIP];
	for (i = walker.nr; i; i--)
		stack.ip[stack.nr++] = walker.call[i - 1].ra;
	stack.ip[stack.nr++] = (unsigned long)whole_end;
	walker.visit(&stack, (unsigned long)__builtin_return_address(0));
}

static __always_inline void set_trap_flag(int on)
{
	unsigned long flags = __builtin_ia32_readeflags_u64();

	__builtin_ia32_writeeflags_u64(on ? flags | TRAP_FLAG :
					    flags & ~TRAP_FLAG);
}

static void step_through(void *arg)
{
	set_trap_flag(1);
	/* The first trap comes after the second instruction, before the call */
	asm volatile("nop\n\tnop" : : : "memory");
	walker.fn(walker.arg);
	set_trap_flag(0);
}

int walk(void (*fn)(void *arg), void *arg, void (*restorer)(void),
	 walk_visit visit)
{
	walker.visit = visit;
	walker.fn = fn;
	walker.arg = arg;
	walker.last_ip = 0;
	walker.last_sp = 0;
	walker.steps = 0;
	walker.nr = 0;
	if (walk_handler(SIGTRAP, on_step, SA_SIGINFO, restorer))
		return -1;
	whole_call(step_through, NULL, NULL);
	signal(SIGTRAP, SIG_DFL);
	return 0;
}
