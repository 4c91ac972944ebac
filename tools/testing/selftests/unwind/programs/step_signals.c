// SPDX-License-Identifier: GPL-2.0
/*
 * Signal handlers on this stack and on another, nested handlers, and handlers left by a
 * jump.
 *
 * The test sends signals, at each instruction of this program and of its PLT.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define STACK_SIZE	0x100000UL

int handled[NSIG];
/* Unknown to the compiler: another file could change it */
int one = 1;
static sigjmp_buf away;

static int count(int sig)
{
	handled[sig]++;
	return sig * one;
}

static void handler(int sig)
{
	count(sig);
}

static void handler_info(int sig, siginfo_t *info, void *context)
{
	char locals[100];

	locals[count(sig)] = info->si_signo;
	asm volatile("" : : "r"(locals) : "memory");
}

static void handler_nests(int sig)
{
	raise(SIGUSR2);
	count(sig);
}

static void handler_jumps(int sig)
{
	count(sig);
	siglongjmp(away, 1);
}

static void set(int sig, void (*function)(int sig), int flags)
{
	struct sigaction action = { .sa_handler = function, .sa_flags = flags };

	sigaction(sig, &action, NULL);
}

static int leaf(int n)
{
	return n + one;
}

static int function(int n)
{
	char locals[n];

	memset(locals, n, n);
	return leaf(locals[n - 1]) + (int)getpid();
}

static void faults(void)
{
	int *nowhere = (int *)16;

	asm volatile("" : "+r"(nowhere));
	if (!sigsetjmp(away, 1))
		*nowhere = 0;
}

int main(void)
{
	const struct itimerval soon = { .it_value.tv_usec = 1000 };
	stack_t stack = { .ss_size = STACK_SIZE / 2 };
	char *memory;
	int i, sum = 0;

	memory = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	stack.ss_sp = memory + STACK_SIZE / 4;
	sigaltstack(&stack, NULL);
	set(SIGUSR1, handler, SA_NODEFER | SA_RESTART);
	set(SIGUSR2, handler, SA_ONSTACK | SA_NODEFER | SA_RESTART);
	set(SIGHUP, handler_nests, 0);
	set(SIGWINCH, (void (*)(int))handler_info, SA_SIGINFO | SA_RESTART);
	set(SIGALRM, handler, SA_RESTART);
	set(SIGSEGV, handler_jumps, SA_ONSTACK | SA_NODEFER);

	raise(SIGHUP);
	raise(SIGWINCH);
	for (i = 0; i < 4; i++)
		sum += function(i + 2);
	faults();
	setitimer(ITIMER_REAL, &soon, NULL);
	while (!__atomic_load_n(&handled[SIGALRM], __ATOMIC_RELAXED))
		sum += leaf(sum);
	return handled[SIGHUP] && handled[SIGUSR2] && handled[SIGSEGV] ? 0 : 2;
}
