// SPDX-License-Identifier: GPL-2.0
/*
 * Faults while a process registers tables, chains and handlers, and of what fork and munmap
 * do to tables, see faults_sites.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/unwind.h>

#include "code_register.h"
#include "faults_sites.h"

#define KEY_NEW		3
#define SIGNAL		(SIGRTMIN + 3)
#define STACK_SIZE	65536

struct code code, other_code;

void go_on_in_child(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		return;
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		_exit(1);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/*
 * Tables
 */

bool prepare_code(void)
{
	return !code_map(&code, 1) && !code_map(&other_code, 1);
}

static int add(void)
{
	return code_register(&code, KEY);
}

/* After an error, there is nothing under the key */
static int judge_add(int ret)
{
	return ret && unwind_table_del(KEY) != -ENOENT ? WRONG : ret;
}

static bool finish_add(void)
{
	return !unwind_table_del(KEY) && unwind_table_del(KEY) == -ENOENT;
}

/* A child shares what its parent registered, until it changes that */
bool prepare_shared(void)
{
	if (!prepare_code() || code_register(&code, KEY) ||
	    code_register(&other_code, KEY_OTHER))
		return false;
	go_on_in_child();
	return true;
}

static int add_new(void)
{
	struct unwind_table_attr attr;

	/* Nobody executes it */
	code_attr(&attr, &code, KEY_NEW);
	attr.text_start += attr.text_size;
	return unwind_table_add(&attr);
}

static bool finish_all(void)
{
	return !unwind_table_del(KEY) && !unwind_table_del(KEY_OTHER) &&
	       !unwind_table_del(KEY_NEW);
}

static int del(void)
{
	return unwind_table_del(KEY);
}

bool finish_both(void)
{
	return !unwind_table_del(KEY) && !unwind_table_del(KEY_OTHER);
}

static bool finish_del(void)
{
	return unwind_table_del(KEY) == -ENOENT && !unwind_table_del(KEY_OTHER);
}

/* The second time, there has to be something again */
static int unmap(void)
{
	static bool again;

	if (again && (code_map(&code, 1) || code_register(&code, KEY) ||
		      code_register(&other_code, KEY_OTHER)))
		return -errno;
	again = true;
	return munmap(code.text, code.text_mapped) ? -errno : 0;
}

/* It never fails; but this process may lose all that it shares */
static int judge_unmap(int ret)
{
	if (ret)
		return ret;
	if (unwind_table_del(KEY) != -ENOENT)
		return WRONG;
	ret = unwind_table_del(KEY_OTHER);
	return ret == -ENOENT ? LESS : ret;
}

static bool finish_unmap(void)
{
	return !code_map(&code, 1) && !code_register(&code, KEY) && !unwind_table_del(KEY);
}

/* The parent of the fork has a mark: one range is not its own any more */
static bool prepare_marks(void)
{
	return prepare_shared() && !munmap(code.text, code.text_mapped);
}

static int child_status;

static int forks(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(-unwind_table_del(KEY_OTHER));
	return pid > 0 && waitpid(pid, &child_status, 0) == pid ? 0 : -errno;
}

/* Without memory, the child has no tables */
static int judge_fork(int ret)
{
	if (ret)
		return ret;
	return WEXITSTATUS(child_status) == ENOENT ? LESS : child_status ? WRONG : 0;
}

static bool finish_fork(void)
{
	return !unwind_table_del(KEY_OTHER);
}

struct string {
	uint64_t	size;
	char		text[8];
};

struct function {
	const struct string	*name;
};

struct frame {
	const struct frame	*next;
	const struct function	*function;
};

static struct string names[2];
static const struct function functions[2] = { { &names[0] }, { &names[1] } };
static const struct frame outer = { NULL, &functions[1] }, inner = { &outer, &functions[0] };
static const struct frame *innermost = &inner;

static int chain_call(unsigned long op)
{
	const struct unwind_chain_attr attr = {
		.flags = UNWIND_CHAIN_NAME,
		.key = KEY, .head = (uintptr_t)&innermost,
		.function = offsetof(struct frame, function), .function_mask = ~0ULL,
		.name = offsetof(struct function, name),
		.string.length = offsetof(struct string, size),
		.string.data = offsetof(struct string, text),
	};

	return syscall(SYS_prctl, PR_UNWIND_CHAIN, op, &attr, sizeof(attr), 0) ? -errno : 0;
}

int add_chain(void)
{
	/* Written here, so that they are resident: a trace waits for no page */
	names[0] = (struct string){ strlen(NAME_INNER), NAME_INNER };
	names[1] = (struct string){ strlen(NAME_OUTER), NAME_OUTER };
	return chain_call(PR_UNWIND_CHAIN_ADD);
}

static int judge_chain(int ret)
{
	return ret && chain_call(PR_UNWIND_CHAIN_DEL) != -ENOENT ? WRONG : ret;
}

bool finish_chain(void)
{
	return !chain_call(PR_UNWIND_CHAIN_DEL) && chain_call(PR_UNWIND_CHAIN_DEL) == -ENOENT;
}

/*
 * Threads that find their own frames
 */

static char alternate_stack[STACK_SIZE];
static unsigned int handled;
static int answered;

static int self_call(unsigned long op, const void *attr, size_t size)
{
	return syscall(SYS_prctl, PR_UNWIND_SELF, op, attr, size, 0) < 0 ? -errno : 0;
}

static int enable_self(void)
{
	const struct unwind_self_attr attr = {
		.signal = SIGNAL,
		.stack_start = (uintptr_t)alternate_stack,
		.stack_size = STACK_SIZE,
		.timeout = UNWIND_SELF_TIMEOUT_MAX,
	};

	return self_call(PR_UNWIND_SELF_ENABLE, &attr, sizeof(attr));
}

static bool finish_self(void)
{
	return !self_call(PR_UNWIND_SELF_DISABLE, NULL, 0) &&
	       self_call(PR_UNWIND_SELF_DISABLE, NULL, 0) == -ENOENT;
}

static int judge_self(int ret)
{
	return ret && self_call(PR_UNWIND_SELF_DISABLE, NULL, 0) != -ENOENT ? WRONG : ret;
}

/* With the most of them, the copy is not in contiguous memory */
static struct unwind_self_frame frames[UNWIND_SELF_FRAMES];
static unsigned int nr_frames;

/* After an error, the request is still there: the next answer is right */
static void on_request(int signal, siginfo_t *info, void *context)
{
	const struct unwind_self_answer attr = {
		.nonce = (uintptr_t)info->si_value.sival_ptr,
		.frames = (uintptr_t)frames,
		.nr = nr_frames,
		.format = UNWIND_SELF_NAMES,
	};
	const int saved = errno;

	handled++;
	attempt_arm();
	answered = self_call(PR_UNWIND_SELF_ANSWER, &attr, sizeof(attr));
	attempt_disarm();
	if (answered && self_call(PR_UNWIND_SELF_ANSWER, &attr, sizeof(attr)))
		answered = WRONG;
	errno = saved;
}

static bool prepare_handler(void)
{
	const stack_t stack = { .ss_sp = alternate_stack, .ss_size = STACK_SIZE };
	const struct sigaction action = {
		.sa_sigaction = on_request, .sa_flags = SA_SIGINFO | SA_ONSTACK,
	};

	return !sigaltstack(&stack, NULL) && !sigaction(SIGNAL, &action, NULL) &&
	       open_sampler(true) && !enable_self();
}

static bool prepare_handler_of(unsigned int nr)
{
	for (nr_frames = 0; nr_frames < nr; nr_frames++)
		frames[nr_frames].function = 1;
	return prepare_handler();
}

static bool prepare_short(void)
{
	return prepare_handler_of(1);
}

/* Without a buffer of its own, it has the CPU's, in which no stack can wait for an answer */
static bool prepare_own_buffer(void)
{
	return stay() && prepare_short();
}

static bool prepare_long(void)
{
	return prepare_handler_of(UNWIND_SELF_FRAMES);
}

static int call_handled(void)
{
	handled = 0;
	return call_sampled();
}

static int judge_answer(int ret)
{
	return ret || handled != 1 || judge_records() ? WRONG : answered;
}

/* The handler is not called, if its frame cannot be written */
static int judge_asked(int ret)
{
	const int records = judge_records();

	if (ret || records == WRONG || handled != !records || answered)
		return WRONG;
	return handled ? 0 : LESS;
}

#define ADD	.prepare = prepare_code, .operate = add, .judge = judge_add, .finish = finish_add
#define CHAIN	.operate = add_chain, .judge = judge_chain, .finish = finish_chain
#define SELF	.operate = enable_self, .judge = judge_self, .finish = finish_self
#define ANSWER	.operate = call_handled, .judge = judge_answer, .finish = finish_self, .arms = true

const struct site sites_registering[] = {
	/* The process's tables, its set of ranges, the range, a node of the set's tree */
	MEMORY("table add", "unwind_table_prctl", 4, -ENOMEM, ADD),
	/* The set is copied, with the two ranges that are in it, and a node */
	MEMORY("table add, shared", "unwind_table_prctl", 5, -ENOMEM,
	       .prepare = prepare_shared, .operate = add_new, .finish = finish_all),
	MEMORY("table del, shared", "unwind_tables_unregister", 4, -ENOMEM,
	       .prepare = prepare_shared, .operate = del, .finish = finish_del),
	/* Marks: the process loses all its tables, but never keeps one too many */
	MEMORY("munmap, shared", "__unwind_tables_drop", 1, LESS,
	       .prepare = prepare_shared, .operate = unmap, .judge = judge_unmap,
	       .finish = finish_unmap),
	MEMORY("fork", "__unwind_tables_fork", 1, LESS,
	       .prepare = prepare_shared, .operate = forks, .judge = judge_fork,
	       .finish = finish_fork),
	MEMORY("fork, with marks", "__unwind_tables_fork", 2, LESS,
	       .prepare = prepare_marks, .operate = forks, .judge = judge_fork,
	       .finish = finish_fork),
	MEMORY("chain add", "unwind_chain_prctl", 2, -ENOMEM, CHAIN),
	MEMORY("self enable", "unwind_self_prctl", 1, -ENOMEM, SELF),
	MEMORY("self answer", "unwind_self_prctl", 2, -ENOMEM, .prepare = prepare_short, ANSWER),
	MEMORY("self answer, long", "unwind_self_prctl", 2, -ENOMEM, .prepare = prepare_long,
	       ANSWER),
	MEMORY("stack, buffer of a thread that answers", "deliver unwind_deferred_work", 1, LESS,
	       .prepare = prepare_own_buffer, .operate = call_handled, .judge = judge_asked,
	       .finish = finish_self),
	/* The structure, and the header of the table in two pieces */
	COPIES("table add", "unwind_table_prctl", 3, -EFAULT, ADD),
	COPIES("table del", "unwind_table_prctl", 1, -EFAULT,
	       .prepare = prepare_shared, .operate = del, .finish = finish_del),
	COPIES("chain add", "unwind_chain_prctl", 1, -EFAULT, CHAIN),
	COPIES("self enable", "unwind_self_prctl", 1, -EFAULT, SELF),
	COPIES("self answer", "unwind_self_prctl", 2, -EFAULT, .prepare = prepare_short, ANSWER),
	COPIES("stack, request to a thread", "unwind_self_ask", 1, LESS,
	       .prepare = prepare_short, .operate = call_handled, .judge = judge_asked,
	       .finish = finish_self),
	{}
};
