// SPDX-License-Identifier: GPL-2.0
/*
 * A 32-bit program without libc: a signal, getppid() in its handler, then exit.
 *
 * Its argument says how the handler returns: from either kind of frame, for sigreturn (s)
 * or rt_sigreturn (r), through the vDSO; or likewise through the program's own restorer
 * (S, R).
 *
 * It writes the expected stack at that system call to its standard output: addresses as
 * 64-bit numbers, innermost first.
 */
#include <linux/compiler.h>

#include "bounds.h"
#include "chain.h"

#define NR_exit			1
#define NR_write		4
#define NR_getpid		20
#define NR_getppid		64
#define NR_rt_sigaction		174
#define NR_gettid		224
#define NR_tgkill		270

#define SIGUSR1			10
#define SA_SIGINFO		0x4
#define SA_RESTORER		0x04000000

/* struct sigcontext: registers; this one is the instruction pointer */
#define SIGCONTEXT_EIP		14
/* struct ucontext: flags, link, stack, then a sigcontext */
#define UCONTEXT_EIP		(5 + SIGCONTEXT_EIP)

struct sigcontext_32 {
	unsigned long	reg[SIGCONTEXT_EIP + 1];
};

struct sigaction_32 {
	void		*handler;
	unsigned long	flags;
	const void	*restorer;
	unsigned long	mask[2];
};

ASM_LABEL(restore);
ASM_LABEL(restore_rt);

asm(".globl _start\n"
	"_start:\n"
	"	xorl	%ebp, %ebp\n"
	"	movl	8(%esp), %eax\n"
	"	andl	$-16, %esp\n"
	"	subl	$12, %esp\n"
	"	pushl	%eax\n"
	"	call	prog\n"
	"restore:\n"
	"	popl	%eax\n"
	"	movl	$119, %eax\n"
	"	int	$0x80\n"
	"restore_rt:\n"
	"	movl	$173, %eax\n"
	"	int	$0x80\n");

static struct notes notes;

static void note(unsigned long ip)
{
	notes.ra[notes.nr++] = ip;
}

/* @ip is the return address; there is no vDSO in between */
static __always_inline long
sys4(long nr, long a, long b, long c, long d, unsigned long *ip)
{
	long ret;

	asm volatile("movl $1f, %[ip]\n\t"
		     "int $0x80\n"
		     "1:"
		     : "=a"(ret), [ip] "=m"(*ip)
		     : "0"(nr), "b"(a), "c"(b), "d"(c), "S"(d)
		     : "memory");
	return ret;
}

static __always_inline void sample(void)
{
	unsigned long ip;

	note((unsigned long)__builtin_return_address(0));
	sys4(NR_getppid, 0, 0, 0, 0, &ip);
	note(ip);
}

/* The frame holds the registers in place of further arguments */
static void handler(int sig, struct sigcontext_32 sigcontext)
{
	note(sigcontext.reg[SIGCONTEXT_EIP]);
	sample();
}

static void handler_rt(int sig, void *info, const unsigned long *ucontext)
{
	note(ucontext[UCONTEXT_EIP]);
	sample();
}

static void raise(void)
{
	unsigned long ip;
	long pid = sys4(NR_getpid, 0, 0, 0, 0, &ip);
	long tid = sys4(NR_gettid, 0, 0, 0, 0, &ip);

	note((unsigned long)__builtin_return_address(0));
	sys4(NR_tgkill, pid, tid, SIGUSR1, 0, &ip);
}

/* Not static, because the assembly above calls it */
void __noreturn prog(const char *how)
{
	const int own = *how == 'S' || *how == 'R';
	const int rt = *how == 'r' || *how == 'R';
	struct sigaction_32 action = {
		.handler = rt ? (void *)handler_rt : (void *)handler,
		.flags = (rt ? SA_SIGINFO : 0) | (own ? SA_RESTORER : 0),
		.restorer = rt ? restore_rt : restore,
	};
	unsigned long long out[NOTES_MAX];
	unsigned long i, ip;

	note((unsigned long)__builtin_return_address(0));
	sys4(NR_rt_sigaction, SIGUSR1, (long)&action, 0, sizeof(action.mask),
	     &ip);
	raise();
	for (i = 0; i < notes.nr; i++)
		out[i] = notes.ra[notes.nr - 1 - i];
	sys4(NR_write, 1, (long)out, notes.nr * sizeof(*out), 0, &ip);
	sys4(NR_exit, 0, 0, 0, 0, &ip);
	__builtin_unreachable();
}
