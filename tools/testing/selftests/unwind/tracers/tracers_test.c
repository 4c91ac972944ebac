// SPDX-License-Identifier: GPL-2.0
/*
 * perf, ftrace and BPF at once: each gets every stack that it requested, and no other.
 *
 * Their requests overlap in every way. An entry into the kernel has one cookie for all
 * tracers, so two of them get the same cookie and the same stack for one entry. The test
 * compares whole stacks (whole.h).
 *
 * The same holds for a task that waits for a futex, or for a block device whose requests
 * take a set time (null_blk), until it is woken or killed.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf_session.h"
#include "ftrace.h"
#include "perf.h"
#include "waiter.h"
#include "whole.h"
#include "../../kselftest_harness.h"

#define ROUNDS		200

enum tracer { PERF, FTRACE, BPF, NR_TRACERS };

static const char * const names[NR_TRACERS] = { "perf", "ftrace", "BPF" };

/* Stacks in the order of their delivery to a tracer, and their cookies */
#define GIVEN_MAX	64

struct given {
	unsigned int	nr;
	uint64_t	cookie[GIVEN_MAX];
	struct stack	stack[GIVEN_MAX];
};

struct tracers {
	struct sampler	perf;
	struct ftrace	ft;
	struct session	bpf;
	struct bpf_attached more[3];
};

static void init(struct tracers *tracers)
{
	static const struct bpf_attached none = { -1, -1 };
	int i;

	memset(tracers, 0, sizeof(*tracers));
	tracers->perf.fd = -1;
	for (i = 0; i < 3; i++)
		tracers->more[i] = none;
}

static int close_all(struct tracers *tracers)
{
	int i;

	sampler_close(&tracers->perf);
	for (i = 0; i < 3; i++)
		bpf_attached_close(&tracers->more[i]);
	session_close(&tracers->bpf);
	return tracers->ft.dir[0] ? ftrace_close(&tracers->ft) : 0;
}

static int trace_event(struct ftrace *ft, const char *event, const char *filter)
{
	char file[128];

	snprintf(file, sizeof(file), "events/%s/filter", event);
	if (ftrace_set(ft, file, filter))
		return -1;
	snprintf(file, sizeof(file), "events/%s/enable", event);
	return ftrace_set(ft, file, "1");
}

static struct stack *give(struct given *given, uint64_t cookie)
{
	if (given->nr == GIVEN_MAX)
		return NULL;
	given->cookie[given->nr] = cookie;
	return &given->stack[given->nr++];
}

/* Each cookie in a sample must have its record, and no other cookie has one */
static int read_perf(struct tracers *tracers, struct given *given)
{
	struct records recs = {};
	const struct record *rec;
	struct stack *stack;
	size_t i, late;
	int ret = -1;

	if (records_read(&recs, &tracers->perf.ring) ||
	    !records_match(&recs, &late))
		goto out;
	for (i = 0; (rec = records_get(&recs, PERF_RECORD_CALLCHAIN_DEFERRED, i)); i++) {
		stack = give(given, rec->cookie);
		if (!stack || rec->nr > SAMPLED_MAX)
			goto out;
		stack->nr = rec->nr;
		memcpy(stack->ip, rec->ips, stack->nr * sizeof(*stack->ip));
	}
	ret = 0;
out:
	records_free(&recs);
	return ret;
}

static int read_ftrace(struct tracers *tracers, struct given *given)
{
	struct ftrace_log log;
	struct stack *stack;
	size_t i, k, late;
	int ret = -1;

	if (ftrace_read(&tracers->ft, "trace", &log))
		return -1;
	if (!ftrace_pairs(&log, &late))
		goto out;
	for (i = 0; i < log.nr; i++) {
		const struct ftrace_record *rec = &log.rec[i];

		if (rec->type != FTRACE_STACK)
			continue;
		stack = give(given, rec->cookie);
		if (!stack || rec->nr > SAMPLED_MAX)
			goto out;
		for (k = 0; k < rec->nr; k++)
			stack->ip[k] = rec->frame[k].ip;
		stack->nr = rec->nr;
	}
	ret = ftrace_set(&tracers->ft, "trace", "");
out:
	ftrace_free(&log);
	return ret;
}

/* Number of times that a cookie is among these */
static unsigned int count(const uint64_t *cookies, unsigned int nr, uint64_t cookie)
{
	unsigned int i, n = 0;

	for (i = 0; i < nr; i++)
		n += cookies[i] == cookie;
	return n;
}

static int read_bpf(struct tracers *tracers, struct given *given)
{
	uint64_t asked[GIVEN_MAX];
	struct bpf_event event;
	unsigned int nr = 0, i;
	struct stack *stack;

	while (bpf_ring_next(&tracers->bpf.ring, &event, false)) {
		if (event.kind == BPF_DELIVERED) {
			stack = give(given, event.cookie);
			if (!stack)
				return -1;
			bpf_event_stack(&event, stack);
		} else if (event.ret > 0 && !count(asked, nr, event.cookie)) {
			/* Accepted; a request for a task that is gone is refused */
			if (nr == GIVEN_MAX)
				return -1;
			asked[nr++] = event.cookie;
		}
	}
	for (i = 0; i < nr; i++)
		if (count(given->cookie, given->nr, asked[i]) != 1)
			return -1;
	return given->nr == nr ? 0 : -1;
}

/* Read the deliveries to each tracer since the last call; 0 or -1 */
static int read_all(struct tracers *tracers, struct given given[NR_TRACERS])
{
	static int (*const fns[NR_TRACERS])(struct tracers *, struct given *) = {
		[PERF] = read_perf, [FTRACE] = read_ftrace, [BPF] = read_bpf,
	};
	int i;

	for (i = 0; i < NR_TRACERS; i++) {
		given[i].nr = 0;
		if (fns[i](tracers, &given[i])) {
			printf("# %s: requests and stacks do not agree\n", names[i]);
			return -1;
		}
	}
	return 0;
}

/* The calls at which each tracer makes requests */

/* A call's index says which tracers make requests at it: a bit for each */
static const int calls[] = {
	SYS_gettid, SYS_getppid, SYS_getuid, SYS_getgid,
	SYS_geteuid, SYS_getegid, SYS_getpgid, SYS_getsid,
};

#define NR_CALLS	ARRAY_SIZE(calls)

static bool asks(enum tracer tracer, unsigned int call)
{
	return call & 1 << tracer;
}

/* A filter for all of a tracer's calls, in this task */
static void make_filter(char *filter, size_t size, enum tracer tracer)
{
	const char *join = "(";
	size_t i, len = 0;

	for (i = 0; i < NR_CALLS; i++) {
		if (!asks(tracer, i))
			continue;
		len += snprintf(filter + len, size - len, "%sid == %d", join,
				calls[i]);
		join = " || ";
	}
	snprintf(filter + len, size - len, ") && common_pid == %d", getpid());
}

static int open_callers(struct tracers *tracers)
{
	struct bpf_asker asker = {
		.at = BPF_AT_RAW_TP, .where = "sys_enter", .tgid = getpid(),
		.flags = DEFER,
	};
	struct bpf_attached *next = tracers->more;
	char filter[256];
	size_t i;

	if (session_open(&tracers->bpf) || ftrace_open(&tracers->ft, "t"))
		return -1;
	for (i = 0; i < NR_CALLS; i++) {
		if (!asks(BPF, i))
			continue;
		asker.syscall = calls[i];
		if (bpf_asker_open(i == 1 << BPF ? &tracers->bpf.asker : next++,
				   &asker, &tracers->bpf.ring))
			return -1;
	}
	make_filter(filter, sizeof(filter), FTRACE);
	if (ftrace_set(&tracers->ft, FTRACE_OPTION, "1") ||
	    trace_event(&tracers->ft, "raw_syscalls/sys_enter", filter))
		return -1;
	make_filter(filter, sizeof(filter), PERF);
	return sampler_open_tracepoint(&tracers->perf, 0, "raw_syscalls/sys_enter",
				       filter);
}

FIXTURE(tracers_at_once)
{
	struct tracers tracers;
	struct given *given;
};

FIXTURE_SETUP(tracers_at_once)
{
	init(&self->tracers);
	self->given = calloc(NR_TRACERS, sizeof(*self->given));
	ASSERT_NE(NULL, self->given);
	if (open_callers(&self->tracers))
		SKIP(return, "no deferred stacks for BPF or in traces, or not root");
}

FIXTURE_TEARDOWN(tracers_at_once)
{
	free(self->given);
	EXPECT_EQ(0, close_all(&self->tracers));
}

/* In random order, each with a stack of its own */
static unsigned int order[NR_CALLS];
static struct stack expected[NR_CALLS];

static void shuffle(unsigned int *seed)
{
	unsigned int i, k, call;

	for (i = 0; i < NR_CALLS; i++)
		order[i] = i;
	for (i = NR_CALLS - 1; i > 0; i--) {
		k = rand_r(seed) % (i + 1);
		call = order[i];
		order[i] = order[k];
		order[k] = call;
	}
}

static void call_from(unsigned int depth, unsigned int call)
{
	unsigned long ip;

	whole_note_ra();
	if (depth) {
		call_from(depth - 1, call);
		asm volatile("" : : : "memory");
		return;
	}
	syscall0_at(calls[call], &ip);
	whole_note(ip);
	expect_chain(&expected[call], &whole);
}

static void call_all(void *arg)
{
	unsigned int i, nr;

	whole_note_ra();
	nr = whole.nr;
	for (i = 0; i < NR_CALLS; i++) {
		whole_forget(nr);
		call_from(order[i], order[i]);
	}
}

/* Does each tracer have the stacks of its calls, in order? @cookie: of each call */
static bool right(const struct given given[NR_TRACERS], uint64_t cookie[NR_CALLS])
{
	unsigned int tracer, i;

	memset(cookie, 0, NR_CALLS * sizeof(*cookie));
	for (tracer = 0; tracer < NR_TRACERS; tracer++) {
		const struct given *g = &given[tracer];
		unsigned int nr = 0;

		for (i = 0; i < NR_CALLS; i++) {
			unsigned int call = order[i];

			if (!asks(tracer, call))
				continue;
			if (nr == g->nr || !stack_is(&g->stack[nr], &expected[call]))
				return false;
			if (cookie[call] && cookie[call] != g->cookie[nr])
				return false;
			cookie[call] = g->cookie[nr++];
		}
		if (nr != g->nr) {
			printf("# %s: %u stacks, not %u\n", names[tracer], g->nr, nr);
			return false;
		}
	}
	return true;
}

TEST_F_TIMEOUT(tracers_at_once, each_gets_what_it_asked_for, 300)
{
	uint64_t cookie[NR_CALLS];
	unsigned int seed = 1, i;

	/* Discard the stacks of setting up */
	ASSERT_EQ(0, read_all(&self->tracers, self->given));
	for (i = 0; i < ROUNDS; i++) {
		unsigned int k;

		shuffle(&seed);
		whole_run(call_all, NULL, NULL);
		ASSERT_EQ(0, read_all(&self->tracers, self->given));
		ASSERT_TRUE(right(self->given, cookie));
		/* Each entry has one cookie, which no other has */
		for (k = 1; k < NR_CALLS; k++)
			EXPECT_EQ(1, count(cookie, NR_CALLS, cookie[k]));
	}
}

/*
 * A task that waits
 */

/* The file that the task reads, past the page cache, and its buffer */
#define DISK_BLOCK	4096

static int disk = -1;
static char *block;

#define NULLB	"/sys/kernel/config/nullb"
/* Duration of a request: longer than a test needs to see the task wait */
#define REQUEST	"2000000000"

static int nullb_set(const char *name, const char *value)
{
	char path[128];
	int fd, ret;

	snprintf(path, sizeof(path), NULLB "/unwind%d/%s", getpid(), name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ret = write(fd, value, strlen(value)) == (ssize_t)strlen(value) ? 0 : -1;
	close(fd);
	return ret;
}

static int disk_open(void)
{
	char path[128];

	if (access(NULLB, F_OK))
		mount("configfs", "/sys/kernel/config", "configfs", 0, NULL);
	snprintf(path, sizeof(path), NULLB "/unwind%d", getpid());
	if (mkdir(path, 0700))
		return -1;
	/* A timer completes requests */
	if (nullb_set("irqmode", "2") || nullb_set("completion_nsec", REQUEST) ||
	    nullb_set("size", "16") || nullb_set("power", "1"))
		return -1;
	snprintf(path, sizeof(path), "/dev/unwind%d", getpid());
	disk = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	block = mmap(NULL, DISK_BLOCK, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return disk < 0 || block == MAP_FAILED ? -1 : 0;
}

static void disk_close(void)
{
	char path[128];

	if (disk >= 0)
		close(disk);
	disk = -1;
	nullb_set("power", "0");
	snprintf(path, sizeof(path), NULLB "/unwind%d", getpid());
	rmdir(path);
}

static void disk_call(struct waiter_call *call)
{
	*call = (struct waiter_call){
		SYS_pread64, { disk, (long)block, DISK_BLOCK, 0 },
	};
}

FIXTURE(task_waits)
{
	struct tracers tracers;
	struct ftrace known;
	struct given *given;
	struct waiter waiter;
};

FIXTURE_VARIANT(task_waits)
{
	const char	*event;
	const char	*raw;
	bool		block;
};

FIXTURE_VARIANT_ADD(task_waits, for_a_futex) {
	.event = "sched/sched_switch", .raw = "sched_switch",
};

FIXTURE_VARIANT_ADD(task_waits, for_a_block) {
	.event = "sched/sched_switch", .raw = "sched_switch", .block = true,
};

FIXTURE_VARIANT_ADD(task_waits, for_a_block_that_it_requests) {
	.event = "block/block_rq_issue", .raw = "block_rq_issue", .block = true,
};

static int open_trace(struct ftrace *ft, const char *name, pid_t pid,
		      const char *event)
{
	char filter[64];

	snprintf(filter, sizeof(filter), "common_pid == %d", pid);
	if (ftrace_open(ft, name) || ftrace_set(ft, FTRACE_OPTION, "1"))
		return -1;
	return trace_event(ft, event, filter);
}

static int open_waiters(struct tracers *tracers, pid_t pid, const char *event,
			const char *raw)
{
	struct bpf_asker asker = {
		.at = BPF_AT_RAW_TP, .where = raw, .tgid = pid, .flags = DEFER,
	};

	if (session_open(&tracers->bpf) ||
	    bpf_asker_open(&tracers->bpf.asker, &asker, &tracers->bpf.ring) ||
	    open_trace(&tracers->ft, "w", pid, event))
		return -1;
	return sampler_open_tracepoint(&tracers->perf, pid, event, NULL);
}

FIXTURE_SETUP(task_waits)
{
	struct waiter_call call;
	pid_t pid;

	init(&self->tracers);
	self->known.dir[0] = 0;
	self->given = calloc(NR_TRACERS, sizeof(*self->given));
	ASSERT_NE(NULL, self->given);
	ASSERT_EQ(0, waiter_init(&self->waiter));
	waiter_futex_call(&self->waiter, &call);
	if (variant->block) {
		if (disk_open())
			SKIP(return, "no null_blk in configfs");
		disk_call(&call);
	}
	ASSERT_EQ(0, waiter_start(&self->waiter, &call));
	pid = self->waiter.pid;
	if (open_waiters(&self->tracers, pid, variant->event, variant->raw))
		SKIP(return, "no deferred stacks for BPF or in traces, or not root");
	/* A tracer with a request at each sleep, whatever the variant's event is */
	ASSERT_EQ(0, open_trace(&self->known, "k", pid, "sched/sched_switch"));
	ASSERT_EQ(0, waiter_sleep(&self->waiter, variant->block ? 'D' : 'S'));
}

FIXTURE_TEARDOWN(task_waits)
{
	waiter_free(&self->waiter);
	free(self->given);
	if (self->known.dir[0])
		EXPECT_EQ(0, ftrace_close(&self->known));
	EXPECT_EQ(0, close_all(&self->tracers));
	if (variant->block)
		disk_close();
}

/* The tracer's last stack from the place of all sleeps; or -1 */
static int last_sleep(const struct given *given, const struct stack *stack)
{
	int i;

	for (i = given->nr - 1; i >= 0; i--)
		if (given->stack[i].ip[0] == stack->ip[0])
			break;
	return i;
}

/* Does each tracer have the stack of the last sleep, with one cookie? */
static bool slept_there(const struct waiter *waiter,
			const struct given given[NR_TRACERS])
{
	uint64_t cookie = 0;
	struct stack stack;
	int tracer, i;

	waiter_stack(waiter, &stack);
	for (tracer = 0; tracer < NR_TRACERS; tracer++) {
		const struct given *g = &given[tracer];

		i = last_sleep(g, &stack);
		if (i < 0 || (cookie && cookie != g->cookie[i])) {
			printf("# %s has not the stack of the sleep\n", names[tracer]);
			return false;
		}
		if (!stack_is(&g->stack[i], &stack))
			return false;
		cookie = g->cookie[i];
	}
	return true;
}

TEST_F(task_waits, and_is_woken_each_gets_its_stack)
{
	waiter_futex_wake(&self->waiter);
	EXPECT_EQ(0, waiter_end(&self->waiter));
	ASSERT_EQ(0, read_all(&self->tracers, self->given));
	EXPECT_TRUE(slept_there(&self->waiter, self->given));
}

/* The task still waits for a request for a block */
TEST_F(task_waits, and_is_killed_each_gets_its_stack)
{
	int status;

	ASSERT_EQ(0, kill(self->waiter.pid, SIGKILL));
	status = waiter_end(&self->waiter);
	EXPECT_TRUE(WIFSIGNALED(status));
	ASSERT_EQ(0, read_all(&self->tracers, self->given));
	EXPECT_TRUE(slept_there(&self->waiter, self->given));
}

/*
 * Events on the first and last steps in the kernel
 */

/* Calls, of some hundred events each */
#define STEPS		20

/*
 * One that comes after the stack was delivered has its cookie; without a stack yet, it has an
 * interrupt deliver it, whose last steps have the same event
 */
static void goes_on_with(struct __test_metadata *_metadata, const char *first, const char *second)
{
	struct ftrace_log log;
	char filter[32];
	struct ftrace ft;
	size_t late;
	int i;

	if (ftrace_open(&ft, "steps"))
		SKIP(return, "no deferred user stacks in traces");
	snprintf(filter, sizeof(filter), "common_pid == %d", getpid());
	ASSERT_EQ(0, ftrace_set(&ft, FTRACE_OPTION, "1"));
	ASSERT_EQ(0, ftrace_set(&ft, "buffer_size_kb", "8192"));
	if (trace_event(&ft, first, filter) || (second && trace_event(&ft, second, filter))) {
		ftrace_close(&ft);
		SKIP(return, "no such event");
	}
	for (i = 0; i < STEPS; i++)
		syscall(SYS_getppid);
	/* The stack of the call that disables them comes, too */
	ASSERT_EQ(0, ftrace_set(&ft, "events/enable", "0"));
	ASSERT_EQ(0, ftrace_set(&ft, "tracing_on", "0"));
	ASSERT_EQ(0, ftrace_read(&ft, "trace", &log));
	EXPECT_TRUE(ftrace_pairs(&log, &late));
	/* One of each call, at least */
	EXPECT_LE(STEPS, ftrace_count(&log, FTRACE_STACK));
	ftrace_free(&log);
	EXPECT_EQ(0, ftrace_close(&ft));
}

TEST(program_goes_on_with_events_of_its_last_steps)
{
	goes_on_with(_metadata, "preemptirq/irq_enable", NULL);
}

TEST(program_goes_on_with_events_of_its_first_steps)
{
	goes_on_with(_metadata, "preemptirq/irq_disable", NULL);
}

TEST(program_goes_on_with_events_of_both)
{
	goes_on_with(_metadata, "preemptirq/irq_enable", "preemptirq/irq_disable");
}

#define LAST_EVENT	"unwind_last_steps"

/* On the last steps, each time that a task leaves the kernel whose stack was taken */
#define LAST_FUNCTION	"unwind_chain_clear_notes"

/* The function's size, or 0 */
static unsigned long size_of_function(const char *name)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	unsigned long start = 0, end = -1UL, at;
	char line[256], symbol[200];

	/* The symbols are not in order */
	while (file && !start && fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx %*c %199s", &at, symbol) == 2 && !strcmp(symbol, name))
			start = at;
	if (start)
		rewind(file);
	while (start && fgets(line, sizeof(line), file)) {
		at = strtoul(line, NULL, 16);
		if (at > start && at < end)
			end = at;
	}
	if (file)
		fclose(file);
	return start ? end - start : 0;
}

/*
 * A kprobe on each instruction: none is replaced by a jump, as there is no room, so all but the
 * first are breakpoints. On x86-64, these are like NMIs.
 */
static int probe_function(const char *name)
{
	const unsigned long size = size_of_function(name);
	unsigned long i, nr = 0;
	char text[128];

	for (i = 0; i < size; i++) {
		snprintf(text, sizeof(text), "p:" LAST_EVENT " %s+%lu", name, i);
		/* Refused in the middle of an instruction */
		nr += !ftrace_kprobe(text);
	}
	return nr > 1 ? 0 : -1;
}

TEST(program_goes_on_with_breakpoints_on_its_last_steps)
{
	if (probe_function(LAST_FUNCTION)) {
		ftrace_kprobe("-:" LAST_EVENT);
		SKIP(return, "no kprobe events in " LAST_FUNCTION "()");
	}
	goes_on_with(_metadata, "raw_syscalls/sys_enter", "kprobes/" LAST_EVENT);
	EXPECT_EQ(0, ftrace_kprobe("-:" LAST_EVENT));
}

TEST_HARNESS_MAIN
