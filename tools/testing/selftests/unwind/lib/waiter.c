// SPDX-License-Identifier: GPL-2.0
/*
 * A child that waits in a system call, see waiter.h.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "waiter.h"

struct waiter_shared {
	struct notes		notes;
	/* The return address of its system call */
	unsigned long		ip;
	struct waiter_call	call;
	int			turn;
	uint32_t		futex;
};

int waiter_init(struct waiter *waiter)
{
	*waiter = (struct waiter){ .start = { -1, -1 } };
	waiter->shared = mmap(NULL, sizeof(*waiter->shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (waiter->shared != MAP_FAILED)
		return 0;
	waiter->shared = NULL;
	return -1;
}

void waiter_futex_call(struct waiter *waiter, struct waiter_call *call)
{
	*call = (struct waiter_call){
		SYS_futex, { (long)&waiter->shared->futex, FUTEX_WAIT },
	};
}

void waiter_futex_wake(struct waiter *waiter)
{
	__atomic_store_n(&waiter->shared->futex, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &waiter->shared->futex, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/*
 * The child
 */

static struct waiter_shared *shared;

static void sleeps(const struct waiter_call *call)
{
	whole_note_ra();
	shared->notes = whole;
	__atomic_add_fetch(&shared->turn, 1, __ATOMIC_RELEASE);
	syscall4_at(call->nr, call->arg[0], call->arg[1], call->arg[2], call->arg[3],
		    &shared->ip);
}

static void outer_sleeps(void *call)
{
	char locals[80];

	asm volatile("" : : "r"(locals) : "memory");
	whole_note_ra();
	sleeps(call);
	asm volatile("" : : "r"(locals) : "memory");
}

static void child(struct waiter *waiter)
{
	char c;
	struct waiter_call for_parent = {
		SYS_read, { waiter->start[0], (long)&c, 1 },
	};
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	shared = waiter->shared;
	for (i = 0; i < 2; i++)
		whole_run(outer_sleeps, &for_parent, NULL);
	whole_run(outer_sleeps, &shared->call, NULL);
	_exit(0);
}

static int pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

/*
 * The parent
 */

int waiter_start(struct waiter *waiter, const struct waiter_call *call)
{
	waiter->shared->call = *call;
	if (pipe(waiter->start) || pin())
		return -1;
	waiter->pid = fork();
	if (!waiter->pid)
		child(waiter);
	return waiter->pid > 0 ? 0 : -1;
}

/* Is the child blocked? It blocks in no other place. */
static bool has_state(pid_t pid, char wanted)
{
	char path[32], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (file)
		fclose(file);
	return state == wanted;
}

int waiter_sleep(struct waiter *waiter, char state)
{
	int i;

	for (i = 0; i < 3; i++) {
		while (__atomic_load_n(&waiter->shared->turn, __ATOMIC_ACQUIRE) <= i ||
		       !has_state(waiter->pid, i < 2 ? 'S' : state)) {
			if (waitpid(waiter->pid, NULL, WNOHANG))
				return -1;
			sched_yield();
		}
		if (i < 2 && write(waiter->start[1], "", 1) != 1)
			return -1;
	}
	return 0;
}

void waiter_stack(const struct waiter *waiter, struct stack *expected)
{
	struct notes notes = waiter->shared->notes;

	notes.ra[notes.nr++] = waiter->shared->ip;
	expect_chain(expected, &notes);
}

void waiter_taken_back(struct waiter *waiter)
{
	waiter->shared->ip -= TAKEN_BACK_BYTES;
}

int waiter_end(struct waiter *waiter)
{
	int status;

	if (waitpid(waiter->pid, &status, 0) != waiter->pid)
		return -1;
	waiter->pid = 0;
	return status;
}

void waiter_free(struct waiter *waiter)
{
	if (waiter->pid > 0) {
		kill(waiter->pid, SIGKILL);
		waiter_end(waiter);
	}
	if (waiter->start[0] >= 0) {
		close(waiter->start[0]);
		close(waiter->start[1]);
	}
	if (waiter->shared)
		munmap(waiter->shared, sizeof(*waiter->shared));
}
