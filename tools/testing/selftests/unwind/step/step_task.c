// SPDX-License-Identifier: GPL-2.0
/*
 * Stepping through programs, see step_task.h.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "step_task.h"

#define PAGES		64
/* Number of steps between two readings of the clock */
#define CLOCK_STEPS	256

/*
 * Events
 */

static int open_event(struct stepper *stepper, struct perf_event_attr *attr)
{
	attr->exclude_callchain_kernel = 1;
	return event_open(attr, -1, stepper->cpu);
}

/* At the next instruction, because nothing else samples it */
static void arm(struct stepper *stepper, struct step_task *task)
{
	struct perf_event_attr attr;

	event_attr(&attr, PERF_TYPE_BREAKPOINT, 0);
	attr.bp_type = HW_BREAKPOINT_X;
	attr.bp_addr = task->regs.ip;
	attr.bp_len = sizeof(long);
	attr.exclude_kernel = 1;
	attr.defer_output = 0;
	if (task->breakpoint >= 0)
		close(task->breakpoint);
	task->breakpoint = open_event(stepper, &attr);
	if (task->breakpoint >= 0 &&
	    (ioctl(task->breakpoint, PERF_EVENT_IOC_SET_OUTPUT, stepper->event) ||
	     event_enable(task->breakpoint))) {
		close(task->breakpoint);
		task->breakpoint = -1;
	}
	if (task->breakpoint < 0)
		stepper->missing++;
}

static void disarm(struct step_task *task)
{
	if (task->breakpoint >= 0)
		close(task->breakpoint);
	task->breakpoint = -1;
}

int stepper_open(struct stepper *stepper, const struct step_ops *ops,
		 void *context)
{
	struct perf_event_attr attr;

	memset(stepper, 0, sizeof(*stepper));
	stepper->ops = ops;
	stepper->context = context;
	stepper->event = -1;
	stepper->cpu = sched_getcpu();
	if (tracepoint_attr(&attr, "signal/signal_generate"))
		return -1;
	stepper->event = open_event(stepper, &attr);
	if (stepper->event < 0)
		return -1;
	if (ioctl(stepper->event, PERF_EVENT_IOC_SET_FILTER, "sig == 5") ||
	    ring_map(&stepper->ring, stepper->event, PAGES) ||
	    event_enable(stepper->event)) {
		stepper_close(stepper);
		return -1;
	}
	return 0;
}

void stepper_close(struct stepper *stepper)
{
	ring_unmap(&stepper->ring);
	if (stepper->event >= 0)
		close(stepper->event);
}

/*
 * Tasks
 */

static struct step_task *find_task(struct stepper *stepper, pid_t tid)
{
	struct step_task *task;
	unsigned int i;

	for (i = 0; i < stepper->nr; i++)
		if (stepper->task[i]->tid == tid)
			return stepper->task[i];
	task = calloc(1, sizeof(*task));
	if (!task || stepper->nr == STEP_TASKS) {
		printf("Bail out! too many threads\n");
		exit(1);
	}
	task->tid = tid;
	task->breakpoint = -1;
	stepper->task[stepper->nr++] = task;
	return task;
}

static void drop_task(struct stepper *stepper, pid_t tid)
{
	unsigned int i;

	for (i = 0; i < stepper->nr; i++) {
		if (stepper->task[i]->tid != tid)
			continue;
		disarm(stepper->task[i]);
		free(stepper->task[i]);
		stepper->task[i] = stepper->task[--stepper->nr];
		return;
	}
}

static void note_stack(struct step_task *task, const struct record *rec)
{
	struct step_stack *stack;

	/* All threads hit another thread's breakpoint */
	if (task->sample_ip && (task->breakpoint < 0 ||
				task->sample_ip != task->regs.ip))
		return;
	/* There is at most a breakpoint and a step there */
	if (task->nr == 2)
		return;
	stack = &task->stack[task->nr++];
	stack->topmost = task->sample_ip;
	stack->nr = rec->nr;
	if (stack->nr > STEP_IPS)
		stack->nr = STEP_IPS;
	memcpy(stack->ip, rec->ips, stack->nr * sizeof(*stack->ip));
}

/* Distribute the buffer's stacks among the threads */
static void read_stacks(struct stepper *stepper)
{
	struct records recs = {};
	size_t i;

	if (records_read(&recs, &stepper->ring)) {
		printf("Bail out! the buffer cannot be read\n");
		exit(1);
	}
	for (i = 0; i < recs.nr; i++) {
		const struct record *rec = &recs.rec[i];
		struct step_task *task;

		if (rec->type != PERF_RECORD_SAMPLE &&
		    rec->type != PERF_RECORD_CALLCHAIN_DEFERRED)
			continue;
		task = find_task(stepper, rec->tid);
		if (rec->type == PERF_RECORD_SAMPLE)
			task->sample_ip = rec->misc == PERF_RECORD_MISC_USER ?
					  rec->ip : 0;
		else
			note_stack(task, rec);
	}
	records_free(&recs);
}

/*
 * Steps
 */

static uint64_t word_at(struct stepper *stepper, uint64_t addr)
{
	uint64_t word = 0;

	code_read(&stepper->code, addr, &word, sizeof(word));
	return word;
}

static bool is_tabled(struct stepper *stepper, uint64_t addr)
{
	return code_at(&stepper->code, addr)->tabled;
}

/* Are both in one function, and neither at its start? */
static bool in_one_function(struct stepper *stepper, uint64_t a, uint64_t b)
{
	const struct module *module = code_module(&stepper->code, a);
	const struct step_fde *fde;

	if (!module)
		return false;
	a -= module->bias;
	b -= module->bias;
	fde = section_fde(&module->section, a);
	return fde && a > fde->start && b > fde->start && b < fde->end;
}

/*
 * On machines where a return address may be in a register only: a frame without one on
 * the stack ends by the function's return, or by a jump into the middle of its caller, as
 * longjmp() does. A tail call jumps to a start.
 */
static void follow_jump(struct stepper *stepper, struct step_task *task,
			uint64_t to, uint8_t kind)
{
	const struct shadow_frame *top = shadow_top(&task->shadow);

	if (!top || top->slot != task->shadow.sp)
		return;
	if (to == top->ra || (kind == INSN_JUMP &&
			      in_one_function(stepper, to, top->ra - 1)))
		shadow_return(&task->shadow);
}

/* Mappings may have changed: mmap, mprotect, munmap, mremap */
static bool may_map(uint64_t call)
{
	return call == SYS_mmap || call == SYS_mprotect || call == SYS_munmap ||
	       call == SYS_mremap;
}

/* The return address of a function whose first instruction is next */
static uint64_t returns_to(struct stepper *stepper, const struct step_regs *regs)
{
#if CALLS_PUSH
	return word_at(stepper, regs->sp);
#else
	return regs->reg[STEP_REG_RA];
#endif
}

/* Was the last instruction's transfer a call? */
static bool has_called(const struct step_task *task, const struct step_regs *regs)
{
	return !CALLS_PUSH || regs->sp == task->regs.sp - sizeof(long);
}

/* Apply the effect of the executed instruction to the stack */
static void follow(struct stepper *stepper, struct step_task *task,
		   const struct step_regs *regs)
{
	const struct shadow_stack *stack = task->shadow.stack;
	uint8_t kind = code_at(&stepper->code, task->regs.ip)->kind;
	uint64_t ra = 0;
	bool empty;

	if (kind == INSN_SYSCALL && may_map(task->regs.call))
		code_changed(&stepper->code);
	empty = shadow_move(&task->shadow, regs->sp);
	if (stack != task->shadow.stack)
		task->entering = empty;
	if (kind == INSN_CALL && has_called(task, regs))
		ra = returns_to(stepper, regs);
	else if ((kind == INSN_RET || kind == INSN_JUMP) && task->entering)
		/* makecontext() puts the return address where a call would */
		ra = returns_to(stepper, regs);
	else if (!CALLS_PUSH && (kind == INSN_RET || kind == INSN_JUMP))
		follow_jump(stepper, task, regs->ip, kind);
	if (ra)
		shadow_call(&task->shadow, ra, task->regs.fp,
			    is_tabled(stepper, ra - 1));
	if (kind == INSN_CALL || kind == INSN_RET || kind == INSN_JUMP)
		task->entering = false;
}

/* The kernel has put a signal frame on the stack */
static void follow_signal(struct stepper *stepper, struct step_task *task,
			  const struct step_regs *regs)
{
	struct shadow_signal signal = {
		.ip = word_at(stepper, regs->sp + FRAME_IP),
		.saved_ip = regs->sp + FRAME_IP,
		.sp = regs->sp,
		.fp = regs->fp,
		.restorer = returns_to(stepper, regs),
	};

	signal.tabled_ip = is_tabled(stepper, signal.ip);
	signal.tabled_restorer = is_tabled(stepper, signal.restorer);
	shadow_signal(&task->shadow, &signal);
}

static void judge(struct stepper *stepper, struct step_task *task,
		  const struct step_stack *stack)
{
	if (stack)
		stepper->ops->judge(stepper, task, stack);
	else
		stepper->missing++;
}

/* A thread has stopped before its own first instruction, or before a handler's */
static void stopped_elsewhere(struct stepper *stepper, struct step_task *task)
{
	struct step_regs regs;

	if (machine_regs(task->tid, &regs))
		return;
	if (!task->begun) {
		shadow_init(&task->shadow, regs.sp);
		task->begun = true;
	} else if (regs.ip != task->regs.ip || regs.sp != task->regs.sp) {
		follow_signal(stepper, task, &regs);
	} else {
		return;
	}
	task->regs = regs;
	stepper->steps++;
	arm(stepper, task);
}

/* A thread has executed an instruction */
static void stepped(struct stepper *stepper, struct step_task *task)
{
	const struct step_stack *stack = task->stack;
	struct step_regs regs;

	if (task->breakpoint >= 0) {
		if (task->nr && stack->topmost == task->regs.ip)
			judge(stepper, task, stack++);
		else
			judge(stepper, task, NULL);
		disarm(task);
	}
	if (machine_regs(task->tid, &regs))
		return;
	follow(stepper, task, &regs);
	task->regs = regs;
	stepper->steps++;
	judge(stepper, task, stack < task->stack + task->nr ? stack : NULL);
}

/*
 * Stops
 */

/* Handle a stop; return the signal to continue with */
static int handle_stop(struct stepper *stepper, struct step_task *task, int status)
{
	int signal = WSTOPSIG(status), ret = 0;
	bool sampled = task->nr && !task->stack[task->nr - 1].topmost;
	/* A trap's signal was generated; a handler's start generates none */
	bool step = signal == SIGTRAP && !(status >> 16) &&
		    (sampled || !task->signal);

	if (!task->begun) {
		if (!(status >> 16))
			stopped_elsewhere(stepper, task);
	} else if (step) {
		stepped(stepper, task);
		ret = stepper->ops->signal(stepper, task);
	} else if (signal == SIGTRAP) {
		/* In clone(), nothing has happened; otherwise a handler begins */
		if (!(status >> 16))
			stopped_elsewhere(stepper, task);
	} else {
		ret = signal;
	}
	task->nr = 0;
	task->signal = ret;
	return ret;
}

static bool time_is_up(const struct stepper *stepper, const struct timespec *start,
		       unsigned int seconds)
{
	struct timespec now;

	if (stepper->steps % CLOCK_STEPS)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - start->tv_sec >= seconds;
}

/* Step until the program ends */
static int step_all(struct stepper *stepper, pid_t pid, unsigned int seconds)
{
	struct timespec start;
	int status, signal;
	pid_t tid;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		struct step_task *task;

		read_stacks(stepper);
		if (!WIFSTOPPED(status)) {
			drop_task(stepper, tid);
			if (tid != pid)
				continue;
			stepper->status = status;
			return 0;
		}
		task = find_task(stepper, tid);
		signal = handle_stop(stepper, task, status);
		if (!stepper->cut && time_is_up(stepper, &start, seconds)) {
			stepper->cut = true;
			kill(pid, SIGKILL);
		}
		ptrace(PTRACE_SINGLESTEP, tid, 0, signal);
	}
	return -1;
}

static void run_child(int cpu, char *path)
{
	int null = open("/dev/null", O_RDWR);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) ||
	    personality(ADDR_NO_RANDOMIZE) < 0 ||
	    dup2(null, 1) < 0 || dup2(null, 0) < 0 ||
	    ptrace(PTRACE_TRACEME, 0, 0, 0))
		_exit(126);
	execve(path, (char *[]){ path, NULL }, (char *[]){ NULL });
	_exit(127);
}

/* The program's own first instruction, from the kernel's auxiliary vector; or 0 */
static uint64_t entry_of(pid_t pid)
{
	uint64_t pair[2];
	char path[64];
	FILE *auxv;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	auxv = fopen(path, "r");
	while (auxv && fread(pair, sizeof(pair), 1, auxv) == 1)
		if (pair[0] == AT_ENTRY)
			break;
	if (auxv)
		fclose(auxv);
	return auxv && pair[0] == AT_ENTRY ? pair[1] : 0;
}

/* Run the dynamic linker up to that instruction, where none of its frames is left */
static int run_to_entry(pid_t pid)
{
	uint64_t entry = entry_of(pid);

	return entry ? machine_run_to(pid, entry) : -1;
}

int stepper_run(struct stepper *stepper, char *path, bool from_entry,
		unsigned int seconds)
{
	int status, ret = -1;
	pid_t pid = fork();

	if (!pid)
		run_child(stepper->cpu, path);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return -1;
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE);
	if ((!from_entry || !run_to_entry(pid)) &&
	    !code_open(&stepper->code, pid)) {
		/* Stacks so far belong to no step: drop them from the buffer */
		read_stacks(stepper);
		find_task(stepper, pid)->nr = 0;
		stopped_elsewhere(stepper, find_task(stepper, pid));
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
		ret = step_all(stepper, pid, seconds);
	}
	if (ret)
		kill(pid, SIGKILL);
	code_close(&stepper->code);
	while (stepper->nr)
		drop_task(stepper, stepper->task[0]->tid);
	return ret;
}
