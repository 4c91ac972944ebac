// SPDX-License-Identifier: GPL-2.0
/*
 * Operations on tasks: fork, exec, exit, kill, signals, alternate stacks, ptrace, and threads
 * that find their own frames.
 *
 * A process that executes itself, exits or is killed goes on as another one: its drawers
 * draw their next operations there (surface_test.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <linux/unwind.h>

#include "call.h"
#include "code_register.h"
#include "surface.h"
#include "surface_slots.h"
#include "../../kselftest.h"

#define REQUEST		(SIGRTMIN + 3)
#define STACK_SIZE	65536
#define STACKS		2

static char stacks[SURFACE_DRAWERS][STACKS][STACK_SIZE];
static __thread bool is_self;
/* Of the handler, which draws nothing */
static __thread unsigned int requests;

static int self_call(unsigned long op, const void *attr, size_t size)
{
	return syscall(SYS_prctl, PR_UNWIND_SELF, op, attr, size, 0) < 0 ? -errno : 0;
}

/*
 * Signals
 */

/* Answers, answers wrongly, or not at all */
static void on_request(int signal, siginfo_t *info, void *context)
{
	struct unwind_self_frame frames[4];
	struct unwind_self_answer answer = {
		.nonce = (uintptr_t)info->si_value.sival_ptr,
		.frames = (uintptr_t)frames,
		.nr = ARRAY_SIZE(frames),
		.format = UNWIND_SELF_NAMES,
	};
	const unsigned int turn = requests++, end = turn % 8;
	const int saved = errno;
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(frames); i++)
		frames[i] = (struct unwind_self_frame){
			.function = 1 + i, .name = (uintptr_t)"name", .name_size = 4,
			.sp = (uintptr_t)&frames[i],
			.file = i % 2 ? 0 : (uintptr_t)"file", .file_size = i % 2 ? 0 : 4,
		};
	answer.flags = turn / 8 % 4;
	if (turn / 32 % 2) {
		answer.format = UNWIND_SELF_BYTES;
		answer.tag = 'b' | 'y' << 8 | 't' << 16 | 'e' << 24;
	}
	if (end == 7)
		answer.nr = 0;
	if (end == 1)
		answer.frames = 16;
	if (end == 2)
		answer.nr = UNWIND_SELF_FRAMES + 1;
	if (end == 3)
		answer.nonce++;
	if (end == 4)
		frames[2].function = 0;
	if (end != 5) {
		ret = self_call(PR_UNWIND_SELF_ANSWER, &answer, sizeof(answer));
		if (!ret && end)
			ret = end == 6 || end == 7 ? 0 : 1;
		if (!ret)
			atomic_fetch_add(&surface->answers, 1);
		/* It may be late, or there was no request: any task may have sent the signal */
		if (ret > 0 || (ret && (end == 0 || end > 5) && ret != -ETIMEDOUT &&
				ret != -ESRCH && ret != -ENOENT))
			surface_error("answer", ret);
	}
	errno = saved;
}

static void on_signal(int signal)
{
	const int saved = errno;

	syscall(SYS_getppid);
	errno = saved;
}

/* Report where this process has crashed, before it ends */
static void on_crash(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;

#ifdef __x86_64__
	surface_error("crash at", uc->uc_mcontext.gregs[REG_RIP]);
#else
	surface_error("crash at", uc->uc_mcontext.pc);
#endif
	surface_error("crash about", (long)info->si_addr);
	surface_print_last(drawer);
	fflush(stdout);
	_exit(1);
}

static int set_stack(void)
{
	const stack_t stack = {
		.ss_sp = stacks[drawer][draw(STACKS)], .ss_size = STACK_SIZE,
	};

	return sigaltstack(&stack, NULL) ? -errno : 0;
}

void tasks_start(void)
{
	const stack_t stack = { .ss_sp = stacks[drawer][0], .ss_size = STACK_SIZE };
	const struct sigaction request = {
		.sa_sigaction = on_request, .sa_flags = SA_SIGINFO | SA_ONSTACK,
	};
	const struct sigaction other = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	const struct sigaction on_stack = {
		.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK,
	};
	const struct sigaction crash = {
		.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK,
	};

	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &crash, NULL);
	sigaction(SIGBUS, &crash, NULL);
	sigaction(SIGILL, &crash, NULL);
	sigaction(REQUEST, &request, NULL);
	sigaction(SIGUSR1, &other, NULL);
	/* Of an event, if a structure was spoilt */
	sigaction(SIGTRAP, &other, NULL);
	sigaction(SIGUSR2, &on_stack, NULL);
}

static int signal_self(void)
{
	return raise(one_in(2) ? SIGUSR1 : SIGUSR2) ? -errno : 0;
}

/* Some thread of this process, which may be in any operation */
static int signal_other(void)
{
	return kill(getpid(), one_in(2) ? SIGUSR1 : SIGUSR2) ? -errno : 0;
}

static int block(void)
{
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, REQUEST);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	syscall(SYS_getppid);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return 0;
}

static int opt_in(void)
{
	struct unwind_self_attr attr = {
		.signal = REQUEST,
		.stack_start = (uintptr_t)stacks[drawer][draw(STACKS)],
		.stack_size = STACK_SIZE,
		.timeout = 1 + draw(20),
	};
	const bool spoilt = spoil(&attr, sizeof(attr));
	int ret = self_call(PR_UNWIND_SELF_ENABLE, &attr, sizeof(attr));

	if (!spoilt && ret != (is_self ? -EEXIST : 0))
		surface_error("self enable", ret);
	/* The signal has to be one that does no harm, if it is another */
	if (!ret && spoilt)
		return self_call(PR_UNWIND_SELF_DISABLE, NULL, 0);
	is_self |= !ret;
	return ret;
}

static int opt_out(void)
{
	int ret = self_call(PR_UNWIND_SELF_DISABLE, NULL, 0);

	if (ret != (is_self ? 0 : -ENOENT))
		surface_error("self disable", ret);
	is_self = false;
	return ret;
}

void tasks_end(void)
{
	if (is_self)
		opt_out();
}

/* Some system calls, which others sample */
static int call(void)
{
	const struct timespec moment = { .tv_nsec = 1000 * draw(1000) };
	unsigned int i, nr = draw(8);

	for (i = 0; i < nr; i++)
		syscall(SYS_getppid);
	if (one_in(4))
		nanosleep(&moment, NULL);
	return 0;
}

static int touch(void)
{
	const size_t size = 16 * 4096;
	char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	if (pages == MAP_FAILED)
		return -errno;
	for (i = 0; i < size; i += 4096)
		pages[i] = 1;
	return munmap(pages, size);
}

/*
 * Children
 */

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, __WALL) != pid) {
		if (errno != EINTR)
			return -errno;
	}
	return status;
}

/* Children inherit tables and chains, but are not asked for their frames */
static int fork_child(void)
{
	const unsigned int end = draw(4), nr = draw(5);
	pid_t pid = fork();
	int status;

	if (!pid) {
		in_child = true;
		is_self = false;
		clients_in_child();
		surface_draw_in_child(nr);
		if (end == 0)
			execl("/bin/true", "true", NULL);
		if (end == 1)
			kill(getpid(), SIGKILL);
		if (end == 2)
			syscall(SYS_exit, 0);
		_exit(0);
	}
	if (pid < 0)
		return -errno;
	status = wait_for(pid);
	if (status != (end == 1 ? SIGKILL : 0)) {
		surface_error("status of a child", status);
		surface_print_last(drawer);
	}
	return 0;
}

static int vfork_exec(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	return pid < 0 ? -errno : wait_for(pid);
}

/*
 * Processes that share the memory
 */

enum sharer_end { BY_EXIT, BY_EXIT_GROUP, BY_EXEC, BY_SIGNAL, SHARER_ENDS };

struct sharer {
	struct unwind_table_attr	attr;
	enum sharer_end			end;
	unsigned int			calls;
};

static struct sharer sharers[SURFACE_DRAWERS];
static char sharer_stacks[SURFACE_DRAWERS][STACK_SIZE] __aligned(16);

/*
 * The process has the drawer's thread-local variables, and so its errno, which the C library's
 * system calls would change.
 */
static int share(void *arg)
{
	static const char * const args[] = { "true", NULL };
	const struct sharer *of = arg;
	unsigned long ip;
	unsigned int i;

	syscall3_at(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, &ip);
	if (of->attr.key)
		syscall5_at(SYS_prctl, PR_UNWIND_TABLE, PR_UNWIND_TABLE_ADD, (long)&of->attr,
			    sizeof(of->attr), 0, &ip);
	for (i = 0; i < of->calls; i++)
		syscall0_at(SYS_getppid, &ip);
	if (of->end == BY_EXIT_GROUP)
		syscall3_at(SYS_exit_group, 0, 0, 0, &ip);
	if (of->end == BY_EXEC)
		syscall3_at(SYS_execve, (long)"/bin/true", (long)args, (long)environ, &ip);
	return of->end == BY_EXEC;
}

/* With CLONE_VFORK the drawer sleeps until the process ends, and could not kill it */
static int draw_flags(enum sharer_end end)
{
	int flags = CLONE_VM | (one_in(4) ? 0 : SIGCHLD);

	if (one_in(3) && end != BY_SIGNAL)
		flags |= CLONE_VFORK;
	if (one_in(2))
		flags |= CLONE_FILES | CLONE_FS;
	if (one_in(2))
		flags |= CLONE_SIGHAND;
	return flags;
}

/* The process registers the code of a slot, if there is some; meanwhile the drawer calls code */
static int share_memory(void)
{
	const unsigned int i = find_slot(is_there), nr = draw(4);
	const enum sharer_end end = draw(SHARER_ENDS);
	const int flags = draw_flags(end);
	struct sharer *of = &sharers[drawer];
	unsigned int n;
	int status;
	pid_t pid;

	*of = (struct sharer){ .end = end, .calls = end == BY_SIGNAL ? 100000 : draw(64) };
	if (i < SLOTS) {
		of->attr = attr_of_slot(i);
		of->attr.key = 2000 + drawer;
	}
	pid = clone(share, sharer_stacks[drawer] + STACK_SIZE, flags, of);
	if (pid < 0)
		return -errno;
	for (n = 0; n < nr; n++)
		memory_call();
	if (end == BY_SIGNAL)
		kill(pid, SIGKILL);
	status = wait_for(pid);
	if (status && !(end == BY_SIGNAL && status == SIGKILL))
		surface_error("status of a process that shares the memory", status);
	if (of->attr.key)
		unwind_table_del(of->attr.key);
	return 0;
}

static int exec_self(void)
{
	char number[16];

	if (!one_in(4))
		return 1;
	/* A signal that is pending would end the new program before it has handlers */
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	snprintf(number, sizeof(number), "%u", drawer / SURFACE_THREADS);
	atomic_fetch_add(&surface->restarts, 1);
	execl("/proc/self/exe", "surface_test", "again", number, NULL);
	return -errno;
}

static int exit_self(void)
{
	if (!one_in(4))
		return 1;
	atomic_fetch_add(&surface->restarts, 1);
	_exit(0);
}

/* It may be in any operation.  No other process has its number yet, as it was not reaped. */
static int kill_other(void)
{
	const unsigned int i = draw(SURFACE_PROCESSES);
	const pid_t pid = atomic_load(&surface->process[i]);

	if (!one_in(4) || i == drawer / SURFACE_THREADS || pid <= 0)
		return 1;
	atomic_fetch_add(&surface->restarts, 1);
	return kill(pid, SIGKILL) ? -errno : 0;
}

static int stop_other(void)
{
	const unsigned int i = draw(SURFACE_PROCESSES);
	const pid_t pid = atomic_load(&surface->process[i]);

	if (i == drawer / SURFACE_THREADS || pid <= 0)
		return 1;
	kill(pid, SIGSTOP);
	syscall(SYS_getppid);
	return kill(pid, SIGCONT) ? -errno : 0;
}

static void *thread(void *arg)
{
	const unsigned int nr = (uintptr_t)arg;
	unsigned int i;

	for (i = 0; i < nr; i++)
		syscall(SYS_getppid);
	return NULL;
}

static int make_thread(void)
{
	pthread_t id;

	if (pthread_create(&id, NULL, thread, (void *)(uintptr_t)draw(8)))
		return -EAGAIN;
	return -pthread_join(id, NULL);
}

/* A child is stopped in system calls, stepped, and let go */
static int trace_child(void)
{
	const unsigned int steps = draw(16);
	const bool killed = one_in(2);
	const pid_t parent = getpid();
	unsigned int i;
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (syscall(SYS_getppid) == parent)
			;
		_exit(0);
	}
	if (pid < 0)
		return -errno;
	if (!ptrace(PTRACE_SEIZE, pid, NULL, NULL) && !ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) &&
	    waitpid(pid, &status, __WALL) == pid) {
		for (i = 0; i < steps; i++) {
			if (ptrace(i % 4 ? PTRACE_SINGLESTEP : PTRACE_SYSCALL, pid, NULL, NULL) ||
			    waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
				break;
		}
		if (!killed)
			ptrace(PTRACE_DETACH, pid, NULL, NULL);
	}
	kill(pid, SIGKILL);
	status = wait_for(pid);
	if (status != SIGKILL)
		surface_error("status of a traced child", status);
	return 0;
}

const struct surface_operation surface_tasks[] = {
	{ "system calls", 16, call },
	{ "touch", 2, touch },
	{ "signal", 3, signal_self },
	{ "signal to some thread", 2, signal_other, true },
	{ "block", 2, block },
	{ "altstack", 3, set_stack },
	{ "self enable", 5, opt_in },
	{ "self disable", 3, opt_out },
	{ "fork", 4, fork_child, true },
	{ "vfork", 2, vfork_exec },
	{ "shared memory", 3, share_memory },
	{ "exec", 2, exec_self, true },
	{ "exit", 2, exit_self, true },
	{ "kill", 2, kill_other, true },
	{ "stop", 2, stop_other, true },
	{ "thread", 3, make_thread, true },
	{ "ptrace", 2, trace_child, true },
	{}
};
