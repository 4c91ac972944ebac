// SPDX-License-Identifier: GPL-2.0
/* Frames of a language, reported by the thread that executes them: see unwind_self.h. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/unwind.h>

#include "unwind_self.h"

/* The handler's part of the alternate stack */
#define HANDLER_SIZE	(16 << 10)
#define TIMEOUT_MS	100

struct unwind_self_stack {
	struct unwind_self_answer	answer;
	struct unwind_self_frame	frames[UNWIND_SELF_FRAMES];
};

/**
 * struct self - a thread that reports its frames
 * @walk: finds them
 * @data: for @walk
 * @stack: memory for the frames of one stack: the kernel makes one request at a time
 * @mapping: the alternate stack with its guard page; NULL if the thread had its own
 * @size: of @mapping
 * @flags: of answers
 * @walking: the handler runs
 */
struct self {
	unwind_self_walk	walk;
	void			*data;
	struct unwind_self_stack *stack;
	void			*mapping;
	size_t			size;
	unsigned int		flags;
	bool			walking;
};

static __thread struct self self;

/* One signal for all threads */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int installed;

static int call(unsigned long op, const void *attr, size_t size)
{
	return syscall(SYS_prctl, PR_UNWIND_SELF, op, attr, size, 0) < 0 ? -errno : 0;
}

bool unwind_self_add_text(struct unwind_self_stack *stack, const void *function,
			  const void *within, struct unwind_self_text name,
			  struct unwind_self_text file, unsigned int line)
{
	struct unwind_self_answer *answer = &stack->answer;

	if (answer->nr == UNWIND_SELF_FRAMES) {
		answer->flags |= UNWIND_SELF_CUT;
		return false;
	}
	stack->frames[answer->nr++] = (struct unwind_self_frame){
		.function = (uintptr_t)function,
		.sp = (uintptr_t)within,
		.name = (uintptr_t)name.text,
		.name_size = name.size,
		.file = (uintptr_t)file.text,
		.file_size = file.size,
		.line = line,
	};
	return true;
}

static struct unwind_self_text text(const char *string)
{
	return (struct unwind_self_text){ string, string ? strlen(string) : 0 };
}

bool unwind_self_add(struct unwind_self_stack *stack, const void *function, const void *within,
		     const char *name, const char *file, unsigned int line)
{
	return unwind_self_add_text(stack, function, within, text(name), text(file), line);
}

static void on_request(int signal, siginfo_t *info, void *context)
{
	struct unwind_self_stack *stack = self.stack;
	const int saved = errno;

	(void)signal;
	/* Anybody can send a signal, but not with this code */
	if (info->si_code != SI_KERNEL || !self.walk)
		return;
	stack->answer = (struct unwind_self_answer){
		.nonce = (uintptr_t)info->si_value.sival_ptr,
		.frames = (uintptr_t)stack->frames,
		.flags = self.flags,
		.format = UNWIND_SELF_NAMES,
	};
	self.walking = true;
	self.walk(stack, context, self.data);
	self.walking = false;
	/* Errors are ignored: an answer may come too late */
	call(PR_UNWIND_SELF_ANSWER, &stack->answer, sizeof(stack->answer));
	errno = saved;
}

/* The kernel does not ask a child: it has to start anew */
static void after_fork(void)
{
	self = (struct self){};
}

static bool is_free(int signal)
{
	struct sigaction action;

	return !sigaction(signal, NULL, &action) && !(action.sa_flags & SA_SIGINFO) &&
	       action.sa_handler == SIG_DFL;
}

/* Install the handler, for the first thread: the signal, or 0 */
static int install(int signal)
{
	struct sigaction action = {
		.sa_sigaction = on_request,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART,
	};
	int ret;

	pthread_mutex_lock(&lock);
	if (!installed && !signal) {
		for (signal = SIGRTMAX; signal >= SIGRTMIN && !is_free(signal); signal--)
			;
		if (signal < SIGRTMIN)
			signal = 0;
	}
	if (!installed && signal && !sigaction(signal, &action, NULL)) {
		pthread_atfork(NULL, NULL, after_fork);
		installed = signal;
	}
	ret = !signal || signal == installed ? installed : 0;
	pthread_mutex_unlock(&lock);
	return ret;
}

static size_t page_size(void)
{
	return getauxval(AT_PAGESZ);
}

/* The thread's alternate stack: its own, if it is large enough, or a new one */
static int take_stack(stack_t *stack)
{
	const size_t size = getauxval(AT_MINSIGSTKSZ) + HANDLER_SIZE, guard = page_size();
	char *mapping;

	if (sigaltstack(NULL, stack))
		return -errno;
	if (!(stack->ss_flags & SS_DISABLE))
		return stack->ss_size >= size ? 0 : -ENOSPC;
	self.size = guard + ((size + guard - 1) & -guard);
	mapping = mmap(NULL, self.size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (mapping == MAP_FAILED)
		return -errno;
	self.mapping = mapping;
	*stack = (stack_t){ .ss_sp = mapping + guard, .ss_size = self.size - guard };
	if (mprotect(mapping, guard, PROT_NONE) || sigaltstack(stack, NULL))
		return -errno;
	return 0;
}

static void free_memory(void)
{
	const stack_t none = { .ss_flags = SS_DISABLE };
	stack_t now;

	/* Disable the stack, unless it was replaced; a stack that the thread runs on has to stay */
	if (self.mapping && !sigaltstack(NULL, &now) &&
	    now.ss_sp == (char *)self.mapping + page_size() && sigaltstack(&none, NULL))
		self.mapping = NULL;
	if (self.mapping)
		munmap(self.mapping, self.size);
	free(self.stack);
	self = (struct self){};
}

int unwind_self_start(unwind_self_walk walk, void *data,
		      const struct unwind_self_options *options)
{
	static const struct unwind_self_options defaults;
	struct unwind_self_attr attr = {};
	stack_t stack;
	int error;

	options = options ?: &defaults;
	if (self.walk)
		return -EEXIST;
	error = call(PR_UNWIND_SELF_VERSION, NULL, 0);
	if (error)
		return error;
	attr.signal = install(options->signal);
	if (!attr.signal)
		return -EAGAIN;
	self.stack = malloc(sizeof(*self.stack));
	error = self.stack ? take_stack(&stack) : -ENOMEM;
	if (!error) {
		attr.stack_start = (uintptr_t)stack.ss_sp;
		attr.stack_size = stack.ss_size;
		attr.interval = options->interval;
		attr.timeout = options->timeout ?: TIMEOUT_MS;
		self.data = data;
		self.flags = options->all ? UNWIND_SELF_ALL : 0;
		/* The handler may be called from here on */
		__atomic_store_n(&self.walk, walk, __ATOMIC_RELEASE);
		error = call(PR_UNWIND_SELF_ENABLE, &attr, sizeof(attr));
	}
	if (error)
		free_memory();
	return error;
}

void unwind_self_stop(void)
{
	if (!self.walk || self.walking)
		return;
	call(PR_UNWIND_SELF_DISABLE, NULL, 0);
	free_memory();
}
