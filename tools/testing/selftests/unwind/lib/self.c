// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that are asked for their own frames, see self.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "call.h"
#include "self.h"

#define PAGES		64
#define OUTCOMES	"/sys/kernel/debug/unwind/self"

char self_stack[SELF_STACK_SIZE];
struct self_handler handler;

int self_call(unsigned long op, const void *attr, size_t size)
{
	return syscall(SYS_prctl, PR_UNWIND_SELF, op, attr, size, 0) < 0 ? -errno : 0;
}

int self_enable(const struct unwind_self_attr *attr)
{
	return self_call(PR_UNWIND_SELF_ENABLE, attr, sizeof(*attr));
}

int self_disable(void)
{
	return self_call(PR_UNWIND_SELF_DISABLE, NULL, 0);
}

int self_submit(const struct unwind_self_answer *answer)
{
	return self_call(PR_UNWIND_SELF_ANSWER, answer, sizeof(*answer));
}

struct unwind_self_attr self_attr(void)
{
	return (struct unwind_self_attr){
		.signal = SELF_SIGNAL,
		.stack_start = (uintptr_t)self_stack,
		.stack_size = SELF_STACK_SIZE,
		.timeout = UNWIND_SELF_TIMEOUT_MAX,
	};
}

unsigned long self_count(const char *outcome)
{
	FILE *file = fopen(OUTCOMES, "r");
	unsigned long nr, found = 0;
	char name[64];

	while (file && fscanf(file, "%lu %63[^\n]", &nr, name) == 2) {
		if (!outcome || !strcmp(name, outcome))
			found += nr;
	}
	if (file)
		fclose(file);
	return found;
}

/*
 * The handler
 */

void self_on_request(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	int saved = errno;

	handler.nr++;
	handler.code = info->si_code;
#ifdef __x86_64__
	handler.ip = uc->uc_mcontext.gregs[REG_RIP];
#else
	handler.ip = uc->uc_mcontext.pc;
#endif
	handler.answer.nonce = (uintptr_t)info->si_value.sival_ptr;
	handler.result = handler.fn ? handler.fn() : self_submit(&handler.answer);
	errno = saved;
}

void self_reset(void)
{
	int i;

	memset(&handler, 0, sizeof(handler));
	for (i = 0; i <= UNWIND_SELF_FRAMES; i++)
		handler.frames[i].function = 1000 + i;
	handler.answer = (struct unwind_self_answer){
		.format = UNWIND_SELF_NAMES,
		.frames = (uintptr_t)handler.frames,
		.nr = 2,
	};
}

int self_install(int flags)
{
	struct sigaction action = {
		.sa_sigaction = self_on_request,
		.sa_flags = flags,
	};

	return sigaction(SELF_SIGNAL, &action, NULL);
}

int self_set_stack(void *stack, size_t size)
{
	const stack_t alternate = { .ss_sp = stack, .ss_size = size };

	return sigaltstack(&alternate, NULL);
}

void self_sample(void)
{
	unsigned long ip;

	syscall0_at(SYS_getppid, &ip);
	asm volatile("" : : : "memory");
}

#ifdef __x86_64__
#define JUMP_INSN	"jmp 1f"
#define OTHER_INSN	"xorl %eax, %eax"
#else
#define JUMP_INSN	"b 1f"
#define OTHER_INSN	"mov x0, xzr"
#endif

asm(".pushsection .text\n"
	".type self_probed_jump, %function\n"
	".globl self_probed_jump\n"
	"self_probed_jump:\n"
	"	" JUMP_INSN "\n"
	"1:	ret\n"
	".size self_probed_jump, . - self_probed_jump\n"
	".type self_probed_other, %function\n"
	".globl self_probed_other\n"
	"self_probed_other:\n"
	"	" OTHER_INSN "\n"
	"	ret\n"
	".size self_probed_other, . - self_probed_other\n"
	".popsection\n");

/*
 * The event
 */

int asked_open_event(struct asked *asked, pid_t pid)
{
	asked->event.defer_runtime = 1;
	asked->fd = event_open(&asked->event, pid, -1);
	return asked->fd < 0 ? -1 : ring_map(&asked->ring, asked->fd, PAGES);
}

int asked_open(struct asked *asked, pid_t pid, long nr)
{
	if (access(OUTCOMES, R_OK) || tracepoint_attr(&asked->event, "raw_syscalls/sys_enter") ||
	    asked_open_event(asked, pid) || event_filter_syscall(asked->fd, nr))
		return -1;
	return event_enable(asked->fd);
}

void asked_close(struct asked *asked)
{
	ring_unmap(&asked->ring);
	if (asked->fd >= 0)
		close(asked->fd);
	asked->fd = -1;
}

const struct asked_frame *asked_frames(struct asked *asked, uint64_t *nr)
{
	const struct record *rec;
	const uint64_t *words;

	*nr = 0;
	if (records_read(&asked->recs, &asked->ring) || !records_match(&asked->recs, NULL) ||
	    records_count(&asked->recs, PERF_RECORD_CALLCHAIN_RUNTIME) != 1)
		return NULL;
	rec = records_get(&asked->recs, PERF_RECORD_CALLCHAIN_RUNTIME, 0);
	words = (const uint64_t *)(rec->raw + 1);
	if (!records_stack(&asked->recs, words[0]))
		return NULL;
	*nr = words[1];
	return (const struct asked_frame *)&words[2];
}

const char *asked_name(const struct asked *asked, uint64_t function)
{
	const struct record *rec;
	size_t i;

	for (i = 0; (rec = records_get(&asked->recs, PERF_RECORD_RUNTIME_NAME, i)); i++) {
		if (((const uint64_t *)(rec->raw + 1))[1] == function)
			return (const char *)(rec->raw + 1) + 24;
	}
	return NULL;
}

bool asked_native_only(struct asked *asked)
{
	return !records_read(&asked->recs, &asked->ring) && records_match(&asked->recs, NULL) &&
	       records_count(&asked->recs, PERF_RECORD_CALLCHAIN_DEFERRED) == 1 &&
	       records_get(&asked->recs, PERF_RECORD_CALLCHAIN_DEFERRED, 0)->nr > 2 &&
	       !records_count(&asked->recs, PERF_RECORD_CALLCHAIN_RUNTIME);
}
