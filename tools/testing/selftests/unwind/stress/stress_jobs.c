// SPDX-License-Identifier: GPL-2.0
/*
 * The jobs of the load's processes: entries into the kernel, and exits from it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stress_load.h"

#define PROGRAM		"./prog_table"
#define PAGE		4096
#define NAPPERS		16

static unsigned int choose(unsigned int *seed, unsigned int of)
{
	return rand_r(seed) / 7 % of;
}

static void migrate(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu % sysconf(_SC_NPROCESSORS_ONLN), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void spin(unsigned int rounds)
{
	while (rounds--)
		asm volatile("");
}

static void step_spin(unsigned int *seed)
{
	spin(choose(seed, 100000));
	getppid();
}

/* Kernels need not have 32-bit system calls */
static bool has_compat;

/* The 32-bit entry; the call is getpid() */
static void compat_syscall(void)
{
#ifdef __x86_64__
	long ret = 20;

	if (!has_compat)
		return;
	asm volatile("int $0x80" : "+a"(ret) : : "memory", "r8", "r9", "r10",
		     "r11");
#endif
}

void jobs_init(void)
{
	int status = -1;
	pid_t pid;

	has_compat = true;
	pid = fork();
	if (!pid) {
		compat_syscall();
		_exit(0);
	}
	has_compat = waitpid(pid, &status, 0) == pid && !status;
}

static void step_syscalls(unsigned int *seed)
{
	unsigned int i;

	for (i = 0; i < 100; i++) {
		getppid();
		compat_syscall();
		spin(choose(seed, 200));
	}
	sched_yield();
	migrate(choose(seed, 64));
}

/* Faults from user mode, from the kernel, and one that kills */
static void step_faults(unsigned int *seed)
{
	char *buf = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/dev/zero", O_RDONLY);
	unsigned int i;

	if (buf == MAP_FAILED || fd < 0)
		load_failed("mapping");
	for (i = 0; i < 4; i++)
		buf[i * PAGE] = 1;
	if (read(fd, buf + 4 * PAGE, 4 * PAGE) != 4 * PAGE)
		load_failed("reading");
	close(fd);
	munmap(buf, 8 * PAGE);
}

/*
 * Signals: one handler is interrupted by another one on a stack of its own
 */

static void on_usr1(int sig)
{
	raise(SIGUSR2);
	getppid();
}

static void on_other(int sig)
{
	spin(100);
}

static void set_handler(int sig, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	if (sigaction(sig, &action, NULL))
		load_failed("sigaction");
}

static void step_signals(unsigned int *seed)
{
	static char stack[32768];
	const stack_t altstack = { .ss_sp = stack, .ss_size = sizeof(stack) };
	/* Repeat it: the first one may come before the sleep */
	const struct itimerval timer = {
		.it_value.tv_usec = 500,
		.it_interval.tv_usec = 20000,
	};
	const struct itimerval off = {};
	const struct timespec long_time = { .tv_sec = 1000 };
	unsigned int i;

	sigaltstack(&altstack, NULL);
	set_handler(SIGUSR1, on_usr1, 0);
	set_handler(SIGUSR2, on_other, SA_ONSTACK);
	set_handler(SIGALRM, on_usr1, 0);
	for (i = 0; i < 20; i++)
		raise(SIGUSR1);
	/* End what does not end otherwise */
	setitimer(ITIMER_REAL, &timer, NULL);
	nanosleep(&long_time, NULL);
	setitimer(ITIMER_REAL, &off, NULL);
}

/*
 * Threads
 */

struct pipes {
	int	there[2];
	int	back[2];
};

static void *echo(void *arg)
{
	struct pipes *pipes = arg;
	char c;

	while (read(pipes->there[0], &c, 1) == 1)
		if (write(pipes->back[1], &c, 1) != 1)
			load_failed("writing to a pipe");
	return NULL;
}

static void start_thread(pthread_t *thread, void *(*fn)(void *), void *arg)
{
	if (pthread_create(thread, NULL, fn, arg))
		load_failed("a thread");
}

/* System calls that block, until a thread has answered */
static void step_pipes(unsigned int *seed)
{
	struct pipes pipes;
	pthread_t thread;
	unsigned int i;
	char c = 0;

	if (pipe(pipes.there) || pipe(pipes.back))
		load_failed("a pipe");
	start_thread(&thread, echo, &pipes);
	for (i = 0; i < 20; i++)
		if (write(pipes.there[1], &c, 1) != 1 ||
		    read(pipes.back[0], &c, 1) != 1)
			load_failed("a pipe's other end");
	close(pipes.there[1]);
	pthread_join(thread, NULL);
	close(pipes.there[0]);
	close(pipes.back[0]);
	close(pipes.back[1]);
}

static void *never_ends(void *arg)
{
	while (true) {
		spin(1000);
		getppid();
	}
	return NULL;
}

static void *waits(void *arg)
{
	while (true)
		pause();
	return NULL;
}

static void *ends(void *arg)
{
	step_faults(arg);
	return NULL;
}

static void step_threads(unsigned int *seed)
{
	pthread_t thread[3];
	unsigned int i, own = *seed;

	start_thread(&thread[0], ends, &own);
	start_thread(&thread[1], waits, NULL);
	start_thread(&thread[2], waits, NULL);
	spin(choose(seed, 10000));
	pthread_cancel(thread[1]);
	pthread_cancel(thread[2]);
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
}

/*
 * Processes
 */

static void reap(pid_t pid)
{
	int status;

	if (pid < 0)
		load_failed("fork");
	while (waitpid(pid, &status, 0) != pid)
		if (errno != EINTR)
			load_failed("waitpid");
}

static void step_fork(unsigned int *seed)
{
	char *bad = (char *)8;
	pid_t pid = fork();

	if (!pid) {
		step_syscalls(seed);
		/* Ends from outside: a fault, or a signal */
		switch (choose(seed, 4)) {
		case 0:
			asm volatile("" : "+r"(bad));
			*bad = 1;
			break;
		case 1:
			raise(SIGTERM);
			break;
		default:
			break;
		}
		_exit(0);
	}
	reap(pid);
}

static void step_vfork(unsigned int *seed)
{
	bool exec = choose(seed, 2);
	pid_t pid = vfork();

	if (!pid) {
		if (exec)
			execl(PROGRAM, PROGRAM, NULL);
		_exit(0);
	}
	reap(pid);
}

static void *execs(void *arg)
{
	execl(PROGRAM, PROGRAM, NULL);
	load_failed("exec in a thread");
}

/* Execute another program, also from a thread other than the first */
static void step_exec(unsigned int *seed)
{
	bool threads = choose(seed, 2);
	pid_t pid = fork();

	if (!pid) {
		pthread_t thread;

		if (threads) {
			start_thread(&thread, never_ends, NULL);
			start_thread(&thread, execs, NULL);
			never_ends(NULL);
		}
		execs(NULL);
	}
	reap(pid);
}

static pid_t fork_threads(void)
{
	pid_t pid = fork();

	if (!pid) {
		pthread_t thread;

		start_thread(&thread, never_ends, NULL);
		start_thread(&thread, waits, NULL);
		never_ends(NULL);
	}
	return pid;
}

static void step_kill(unsigned int *seed)
{
	pid_t pid = fork_threads();
	unsigned int i, rounds = choose(seed, 20);

	for (i = 0; i < rounds; i++)
		sched_yield();
	kill(pid, SIGKILL);
	reap(pid);
}

/* Threads that sleep until they are killed, with pending requests */
static void step_naps(unsigned int *seed)
{
	const struct timespec nap = { .tv_sec = 1 };
	pid_t pid = fork();
	unsigned int i;

	if (!pid) {
		pthread_t thread;

		for (i = 0; i < NAPPERS; i++)
			start_thread(&thread, waits, NULL);
		waits(NULL);
	}
	nanosleep(&nap, NULL);
	kill(pid, SIGKILL);
	reap(pid);
}

static void step_exit_group(unsigned int *seed)
{
	pid_t pid = fork();

	if (!pid) {
		pthread_t thread;

		start_thread(&thread, never_ends, NULL);
		start_thread(&thread, waits, NULL);
		spin(choose(seed, 10000));
		_exit(0);
	}
	reap(pid);
}

/* A tracer stops it at each entry and exit of a system call, then kills it */
static void step_ptrace(unsigned int *seed)
{
	pid_t pid = fork();
	unsigned int i;
	int status;

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		never_ends(NULL);
	}
	for (i = 0; i < 8; i++) {
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			break;
		ptrace(choose(seed, 2) ? PTRACE_SYSCALL : PTRACE_SINGLESTEP,
		       pid, NULL, NULL);
	}
	kill(pid, SIGKILL);
	reap(pid);
}

const struct job jobs[] = {
	{ "spin", step_spin },
	{ "syscalls", step_syscalls },
	{ "faults", step_faults },
	{ "signals", step_signals },
	{ "pipes", step_pipes },
	{ "threads", step_threads },
	{ "fork", step_fork },
	{ "vfork", step_vfork },
	{ "exec", step_exec },
	{ "kill", step_kill },
	{ "naps", step_naps },
	{ "exit_group", step_exit_group },
	{ "ptrace", step_ptrace },
	{ "uring_poll", step_uring_poll },
	{ "uring_worker", step_uring_worker },
};

const unsigned int nr_jobs = sizeof(jobs) / sizeof(*jobs);
