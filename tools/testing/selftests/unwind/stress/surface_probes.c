// SPDX-License-Identifier: GPL-2.0
/*
 * Operations with probes in the text that stacks go through: breakpoints that a debugger writes,
 * uprobes, uretprobes, which replace return addresses on the stack, and hardware breakpoints.
 *
 * Hardware breakpoints are events of the drawer, which other operations read, change and close.
 * Uprobes and the debugger's breakpoints are in the hands of children of the drawer.
 */
#include <elf.h>
#include <errno.h>
#include <linux/compiler.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf.h"
#include "surface.h"
#include "surface_slots.h"
#include "../../kselftest.h"

/* Seconds until the debugger gives up, and until a signal ends it if it cannot even do that */
#define PATIENCE	5
#define END		60
#define PAGES		8
/* At most: others send signals to the thread all the time */
#define STOPS		200

#ifdef __x86_64__
#define TRAP		0xccUL
#define TRAP_MASK	0xffUL
/* The address of the next instruction */
#define TRAP_STEP	1
#define IP(regs)	((regs)->rip)
#else
#define TRAP		0xd4200000UL
#define TRAP_MASK	0xffffffffUL
#define TRAP_STEP	0
#define IP(regs)	((regs)->pc)
#endif

/*
 * Instructions with a rule of their own.  The debugger and a uprobe would write over each
 * other's breakpoint, so they have different ones.
 */
static unsigned long uprobe_offset(uint32_t n)
{
	const char * const at[] = { fn_begin, fn_in_frame, fn_popped };

	return at[n % ARRAY_SIZE(at)] - fn_begin;
}

static unsigned long debugger_offset(uint32_t n)
{
	const char * const at[] = { fn_pushed, fn_left };

	return at[n % ARRAY_SIZE(at)] - fn_begin;
}

static unsigned long function_at(unsigned int i, unsigned int function)
{
	return (unsigned long)text_of(i) + CODE_STRIDE * function;
}

/*
 * Perf
 */

/*
 * In text; or in data that the unwinder reads, too, so that the breakpoint is hit in the middle
 * of its work.  A word of the stack is written very often.
 */
static int open_breakpoint(void)
{
	const unsigned int i = find_slot(is_there), function = draw(FUNCTIONS), where = draw(3);
	const unsigned int n = draw(3), word = 1 + draw(200);
	struct perf_event_attr attr;
	int ret;

	event_attr(&attr, PERF_TYPE_BREAKPOINT, 0);
	attr.sample_period = 1 + draw(where == 2 ? 256 : 4);
	clients_choose_mode(&attr);
	attr.bp_type = where ? HW_BREAKPOINT_RW : HW_BREAKPOINT_X;
	attr.bp_len = sizeof(long);
	if (where < 2 && i == SLOTS)
		return 1;
	if (where == 0)
		attr.bp_addr = function_at(i, function) + uprobe_offset(n);
	else if (where == 1)
		attr.bp_addr = (unsigned long)table_of(i) + 8 * (word % 16);
	else
		attr.bp_addr = ((unsigned long)__builtin_frame_address(0) & -8UL) - 8 * word;
	ret = clients_open_event(&attr);
	memory_call();
	return ret;
}

/*
 * A child of the drawer has the uprobe.  If a task closes a uprobe while it is being killed, or
 * when the text is not there, the kernel complains and keeps the uprobe forever.
 */
static __thread struct {
	pid_t	pid;
	int	socket;
} prober = { .socket = -1 };

/* Children of other threads may have the socket, too */
void probes_end(void)
{
	if (prober.socket < 0)
		return;
	shutdown(prober.socket, SHUT_RDWR);
	close(prober.socket);
	prober.socket = -1;
	while (waitpid(prober.pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Files and code of the drawer are to go away when the drawer wants it */
static void keep_only(int *event, int *socket)
{
	*socket = dup2(*socket, SURFACE_FD + 1);
	*event = dup2(*event, SURFACE_FD + 2);
	close_range(3, SURFACE_FD, 0);
	close_range(SURFACE_FD + 3, ~0U, 0);
	munmap((void *)DRAWER_AT(0), DRAWER_AT(SURFACE_DRAWERS) - DRAWER_AT(0));
}

/* The child: it has the uprobe until the drawer shuts the socket down, or is gone */
static int probe(const struct perf_event_attr *attr, pid_t tid, int socket)
{
	int event = event_open(attr, tid, -1), ret = event < 0 ? -errno : 0;
	struct ring ring;
	char end;

	if (!ret) {
		keep_only(&event, &socket);
		ring_map(&ring, event, PAGES);
	}
	if (send(socket, &ret, sizeof(ret), MSG_NOSIGNAL) == sizeof(ret) && !ret)
		while (read(socket, &end, 1) < 0 && errno == EINTR)
			;
	return 0;
}

static int start_prober(const struct perf_event_attr *attr)
{
	const pid_t tid = gettid();
	int sockets[2], ret = -EIO;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	prober.pid = fork();
	if (!prober.pid) {
		close(sockets[0]);
		_exit(probe(attr, tid, sockets[1]));
	}
	close(sockets[1]);
	prober.socket = sockets[0];
	if (prober.pid < 0) {
		close(sockets[0]);
		prober.socket = -1;
		return -EAGAIN;
	}
	while (read(prober.socket, &ret, sizeof(ret)) < 0 && errno == EINTR)
		;
	if (ret)
		probes_end();
	return ret;
}

static bool can_probe(const struct slot *slot)
{
	return slot->callable && slot->kind != ANONYMOUS;
}

/* A uretprobe replaces the return address, so it works at the first instruction only */
static int open_uprobe(void)
{
	const unsigned int i = find_slot(can_probe), function = draw(FUNCTIONS), n = draw(3);
	const bool returns = one_in(2), of_program = one_in(4);
	struct perf_event_attr attr;
	unsigned long ip;
	char path[32];
	int ret;

	probes_end();
	if (!of_program && i == SLOTS)
		return 1;
	ip = of_program ? (unsigned long)call_code :
			  function_at(i, function) + (returns ? 0 : uprobe_offset(n));
	if (uprobe_attr(&attr, ip, returns))
		return -ENOENT;
	clients_choose_mode(&attr);
	/* Children may be killed; and nobody enables it later */
	attr.inherit = 0;
	attr.inherit_thread = 0;
	attr.disabled = 0;
	if (!of_program) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", slots[i].fd);
		attr.uprobe_path = (unsigned long)path;
	}
	ret = start_prober(&attr);
	memory_call();
	return ret;
}

static int close_uprobe(void)
{
	if (prober.socket < 0)
		return 1;
	probes_end();
	return 0;
}

/*
 * A debugger
 */

static void on_alarm(int signal)
{
}

/* Continue the thread until it stops; its status, 0 if it did not stop, or -1 if it has ended */
static int next_stop(pid_t tid, int request, unsigned long signal)
{
	int status, ret;

	if (ptrace(request, tid, NULL, signal))
		return -1;
	alarm(PATIENCE);
	ret = waitpid(tid, &status, __WALL);
	if (ret < 0 && errno == EINTR)
		return 0;
	return ret == tid && WIFSTOPPED(status) ? status : -1;
}

/* Stop it, wherever it is; its status, or -1 if it has ended */
static int interrupt(pid_t tid)
{
	int status;

	signal(SIGALRM, SIG_DFL);
	alarm(END);
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		return -1;
	return waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status) ? status : -1;
}

/* The signal that the thread gets when it continues, and none for a step or an event */
static int signal_of(pid_t tid, int status)
{
	siginfo_t info;

	if (status <= 0 || status >> 16 || ptrace(PTRACE_GETSIGINFO, tid, NULL, &info))
		return 0;
	if (info.si_signo == SIGTRAP && info.si_code != SI_KERNEL && info.si_code != TRAP_BRKPT)
		return 0;
	return info.si_signo;
}

/* Has the thread executed the breakpoint?  Then it continues with the instruction there */
static bool is_hit(pid_t tid, int signal, unsigned long at)
{
	struct user_regs_struct regs;
	struct iovec io = { &regs, sizeof(regs) };

	if (signal != SIGTRAP || ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &io) ||
	    IP(&regs) != at + TRAP_STEP)
		return false;
	IP(&regs) = at;
	return !ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &io);
}

/* Write the breakpoint, wait for it, restore the instruction, step, and again */
static int debug(pid_t tid, unsigned long at, unsigned int hits, int signal)
{
	const unsigned long was = ptrace(PTRACE_PEEKTEXT, tid, at, NULL);
	const unsigned long trap = (was & ~TRAP_MASK) | TRAP;
	int status = 1, request = PTRACE_CONT;
	unsigned int i;

	for (i = 0; i < STOPS && hits; i++) {
		if (request == PTRACE_CONT && ptrace(PTRACE_POKETEXT, tid, at, trap))
			break;
		status = next_stop(tid, request, signal);
		if (status <= 0)
			break;
		signal = signal_of(tid, status);
		request = PTRACE_CONT;
		if (is_hit(tid, signal, at)) {
			ptrace(PTRACE_POKETEXT, tid, at, was);
			request = PTRACE_SINGLESTEP;
			signal = 0;
			hits--;
		}
	}
	if (!status)
		status = interrupt(tid);
	ptrace(PTRACE_POKETEXT, tid, at, was);
	/* It may have executed the breakpoint, and not reported it yet */
	if (hits && status > 0) {
		signal = signal_of(tid, next_stop(tid, PTRACE_SINGLESTEP, signal));
		if (is_hit(tid, signal, at))
			signal = 0;
	}
	return ptrace(PTRACE_DETACH, tid, NULL, (unsigned long)signal);
}

/* 0, or 1 if the thread cannot be traced, or has ended */
static int debugger(pid_t tid, unsigned long at, unsigned int hits)
{
	const struct sigaction action = { .sa_handler = on_alarm };
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
		return 1;
	status = interrupt(tid);
	errno = 0;
	if (status < 0 || (ptrace(PTRACE_PEEKTEXT, tid, at, NULL) == -1 && errno))
		return 1;
	/* It interrupts waitpid() */
	sigaction(SIGALRM, &action, NULL);
	return debug(tid, at, hits, signal_of(tid, status)) ? 1 : 0;
}

/* The kernel copies the page of a file for the breakpoint.  Code is called until all is over */
static int be_debugged(void)
{
	const unsigned int i = find_slot(is_callable), function = draw(FUNCTIONS), n = draw(2);
	const unsigned int hits = 1 + draw(4);
	const pid_t tid = gettid();
	unsigned long at;
	int status = 0;
	pid_t pid, ret;

	if (i == SLOTS)
		return 1;
	at = function_at(i, function);
	pid = fork();
	if (!pid)
		_exit(debugger(tid, at + debugger_offset(n), hits));
	if (pid < 0)
		return -errno;
	do {
		call_code((chain_fn)at);
		poll(NULL, 0, 1);
		ret = waitpid(pid, &status, WNOHANG);
	} while (!ret);
	/* The breakpoint may still be there, if something has killed the debugger */
	if (ret != pid || !WIFEXITED(status))
		clear_slot(i);
	return status ? -EPERM : 0;
}

const struct surface_operation surface_probes[] = {
	{ "breakpoint", 3, open_breakpoint },
	{ "uprobe", 3, open_uprobe, true },
	{ "uprobe end", 1, close_uprobe, true },
	{ "debugger", 2, be_debugged, true },
	{}
};
