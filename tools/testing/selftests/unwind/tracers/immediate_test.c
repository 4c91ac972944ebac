// SPDX-License-Identifier: GPL-2.0
/*
 * Immediate user stacks: the stacks of events that defer nothing, of unmodified tools.
 *
 * The result of such an event is either the deferred stack of the same moment, address by
 * address and up to a limit, or the stack as it was without tables, with the sysctl off;
 * the kernel counts which. This program keeps frame pointers and its C library has no
 * tables. The mapped chains (chain.h) have tables, and frame pointers skip them, so the
 * two kinds of stacks differ. (On arm64 the program has a table as well: without one,
 * nothing continues a stack through a chain.)
 */
#include <linux/btf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf.h"
#include "call.h"
#include "ftrace.h"
#include "immediate_counts.h"
#include "random_chains.h"
#include "sampled.h"
#include "shots.h"
#include "trace.h"
#include "../../kselftest_harness.h"

#define MAX_STACK	"/proc/sys/kernel/perf_event_max_stack"

/* Samples in the comparison of both kinds of stacks, and in each portion */
#define SAMPLES		10000
#define PORTION		50

/*
 * Frames: more than the kernel takes for one sample. It takes up to MOST ordinary ones,
 * as kernel.perf_event_max_stack says; others cost 5 times as much.
 */
#define DEEP		2500
#define DEEP_LIMIT	"2000"
#define MOST		2000
#define MOST_OTHERS	333

FIXTURE(immediate)
{
	struct subject subject;
};

FIXTURE_SETUP(immediate)
{
	ASSERT_FALSE(immediate_missing());
	if (subject_open(&self->subject))
		SKIP(return, CANNOT);
}

FIXTURE_TEARDOWN(immediate)
{
	subject_close(&self->subject);
}

/* The first sample has the frame pointers' stack, and requests tables; later ones use them */
TEST_F(immediate, stack_is_whole_from_the_second_sample)
{
	struct shot shots[4];
	struct stack expected;
	chain_fn fn;
	int i;

	fn = image_load(&self->subject.image, "chain_table.so");
	ASSERT_NE(NULL, fn);
	ASSERT_EQ(0, shoot(&self->subject, fn, "0110", shots, &expected));

	/* Off: nothing is tried */
	for (i = 0; i < NR_COUNTS; i++)
		EXPECT_EQ(0, shots[0].counts[i]);
	EXPECT_FALSE(shot_has(&shots[0], expected.ip[2]));

	EXPECT_TRUE(shot_is_same(&shots[0], &shots[1]));
	EXPECT_EQ(1, shots[1].counts[MISSING]);
	EXPECT_EQ(1, shots[1].counts[ASKED]);

	EXPECT_TRUE(shot_is_whole(&shots[2], &expected));
	EXPECT_EQ(1, shots[2].counts[TAKEN]);
	EXPECT_EQ(0, shots[2].counts[ASKED]);

	/* Off again, although tables are known */
	EXPECT_TRUE(shot_is_same(&shots[0], &shots[3]));
}

/* Compared with deferred stacks of the same moments */

/* The number of differing pairs in one portion; -1 if they are not pairs */
static int differing(struct subject *subject, const bool *by_table)
{
	const struct record *now, *later, *stack;
	int differ = 0;
	uint64_t nr;
	size_t i;

	for (i = 0; i < PORTION; i++) {
		now = records_get(&subject->now_recs, PERF_RECORD_SAMPLE, i);
		later = records_get(&subject->later_recs, PERF_RECORD_SAMPLE, i);
		stack = later ? records_stack(&subject->later_recs,
					      later->cookie) : NULL;
		if (!now || !stack)
			return -1;
		/* A sample has a context before its addresses */
		nr = now->nr ? now->nr - 1 : 0;
		differ += by_table[i] &&
			  !same_addresses(nr, now->ips + 1, stack->nr, stack->ips);
	}
	records_free(&subject->now_recs);
	records_free(&subject->later_recs);
	return differ;
}

TEST_F_TIMEOUT(immediate, stack_equals_the_deferred_one, 300)
{
	struct subject *subject = &self->subject;
	long all = 0, tables = 0, differ = 0;
	long before[NR_COUNTS], counts[NR_COUNTS], missing, taken;
	bool by_table[PORTION];
	int i, more;

	ASSERT_EQ(0, random_chains_load());
	ASSERT_EQ(0, sampler_open(&subject->later, 0));
	read_counts(before);

	for (; all < SAMPLES; all += PORTION) {
		for (i = 0; i < PORTION; i++) {
			by_table[i] = random_chains_call(sampled_call);
			tables += by_table[i];
		}
		ASSERT_EQ(0, records_read(&subject->now_recs,
					  &subject->now.ring));
		ASSERT_EQ(0, records_read(&subject->later_recs,
					  &subject->later.ring));
		more = differing(subject, by_table);
		ASSERT_LE(0, more);
		differ += more;
	}
	read_counts(counts);
	missing = counts[MISSING] - before[MISSING];
	taken = counts[TAKEN] - before[TAKEN];
	TH_LOG("%ld samples, %ld through tables: %ld differ, %ld taken, %ld missing",
	       all, tables, differ, taken, missing);
	/* It is the same stack, or the kernel counts it as uncertain */
	EXPECT_LE(differ, missing);
	EXPECT_LE(tables - missing, taken);
	/* Only the first ones: no other task changes this memory, so time does not matter */
	EXPECT_GT(tables / 100, missing);
	EXPECT_LT(all / 2, tables);
}

/* Limits */

static chain_fn deep_fn;
static unsigned int deep;

/* One chain after another, with a frame of its own in between */
static void again(struct notes *notes)
{
	notes->nr = 0;
	notes->nr_next = 1;
	notes->next[1] = again;
	if (deep > CHAIN_FRAMES) {
		deep -= CHAIN_FRAMES + 1;
		deep_fn(notes);
	} else {
		sampled_call(notes);
	}
	/* Not a jump */
	asm volatile("" : : : "memory");
}

static void begin_deep(struct notes *notes)
{
	deep = DEEP;
	again(notes);
	asm volatile("" : : : "memory");
}

static void begin_less_deep(struct notes *notes)
{
	deep = DEEP / 10;
	again(notes);
	asm volatile("" : : : "memory");
}

FIXTURE(deep_stack)
{
	struct subject subject;
	long max_stack;
};

FIXTURE_SETUP(deep_stack)
{
	self->max_stack = read_number(MAX_STACK);
	/* Refused while any event has a callchain */
	if (self->max_stack < 0 || write_text(MAX_STACK, DEEP_LIMIT))
		SKIP(return, "cannot change kernel.perf_event_max_stack");
	if (subject_open(&self->subject))
		SKIP(return, CANNOT);
}

FIXTURE_TEARDOWN(deep_stack)
{
	char text[24];

	subject_close(&self->subject);
	snprintf(text, sizeof(text), "%ld", self->max_stack);
	write_text(MAX_STACK, text);
}

/* Does the deferred stack of the same call, the only one since the last time, begin like it? */
static bool begins_deferred(struct subject *subject, const struct shot *shot)
{
	const struct record *stack;
	bool right;

	if (records_read(&subject->later_recs, &subject->later.ring))
		return false;
	stack = records_get(&subject->later_recs, PERF_RECORD_CALLCHAIN_DEFERRED, 0);
	/* Without the context */
	right = stack && stack->nr >= shot->rec.nr &&
		same_addresses(shot->rec.nr - 1, shot->rec.ips + 1, shot->rec.nr - 1, stack->ips);
	records_free(&subject->later_recs);
	return right;
}

void probed(void);
asm(".pushsection .text\n"
	".type probed, %function\n"
	"probed:\n"
	"	nop\n"
	"	ret\n"
	".size probed, . - probed\n"
	".popsection\n");

/* Hit a uprobe: from then on, no frame of this task counts as ordinary; 0 or -1 */
static int hit_a_probe(void)
{
	struct perf_event_attr attr;
	int fd;

	if (uprobe_attr(&attr, (unsigned long)probed, 0))
		return -1;
	attr.disabled = 0;
	attr.defer_callchain = 0;
	attr.defer_output = 0;
	attr.sample_type = 0;
	fd = event_open(&attr, 0, -1);
	if (fd < 0)
		return -1;
	probed();
	close(fd);
	return 0;
}

TEST_F(deep_stack, is_cut_at_the_limit)
{
	struct stack expected;
	struct shot shots[2];

	if (!has_own_core())
		SKIP(return, "deferred stacks are no longer than immediate ones");
	deep_fn = image_load(&self->subject.image, "chain_table.so");
	ASSERT_NE(NULL, deep_fn);
	ASSERT_EQ(0, shoot(&self->subject, begin_less_deep, "11", shots,
			   &expected));
	EXPECT_EQ(1, shots[1].counts[TAKEN]);
	EXPECT_LT(DEEP / 10, shots[1].rec.nr);

	ASSERT_EQ(0, sampler_open(&self->subject.later, 0));
	ASSERT_EQ(0, shoot(&self->subject, begin_deep, "1", shots, &expected));
	EXPECT_EQ(1, shots[0].counts[TAKEN]);
	EXPECT_EQ(0, shots[0].counts[ASKED]);
	TH_LOG("%lu of %u frames", (unsigned long)shots[0].rec.nr - 1, DEEP);
	/* There is one frame more than steps */
	EXPECT_LE(MOST * 9 / 10, shots[0].rec.nr - 1);
	EXPECT_GE(MOST + 1, shots[0].rec.nr - 1);
	EXPECT_TRUE(begins_deferred(&self->subject, &shots[0]));

	if (hit_a_probe())
		SKIP(return, "no uprobes");
	ASSERT_EQ(0, shoot(&self->subject, begin_deep, "1", shots, &expected));
	EXPECT_EQ(1, shots[0].counts[TAKEN]);
	EXPECT_EQ(0, shots[0].counts[ASKED]);
	TH_LOG("%lu frames after a uprobe", (unsigned long)shots[0].rec.nr - 1);
	EXPECT_LE(MOST_OTHERS * 9 / 10, shots[0].rec.nr - 1);
	EXPECT_GE(MOST_OTHERS + 1, shots[0].rec.nr - 1);
	EXPECT_TRUE(begins_deferred(&self->subject, &shots[0]));
}

/*
 * The trace option userstacktrace
 */

FIXTURE(ftrace)
{
	struct trace trace;
	long was_on;
};

static int trace_set(const struct trace *trace, const char *file,
		     const char *value)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", trace->dir, file);
	return write_text(path, value);
}

FIXTURE_SETUP(ftrace)
{
	char filter[64];

	self->was_on = read_number(IMMEDIATE_SYSCTL);
	if (self->was_on < 0 || write_text(IMMEDIATE_SYSCTL, "1") ||
	    trace_start(&self->trace))
		SKIP(return, "no kernel.unwind_immediate, no tracefs, or not root");
	snprintf(filter, sizeof(filter), "id == %d && common_pid == %d",
		 SYS_getppid, getpid());
	ASSERT_EQ(0, trace_set(&self->trace, "events/unwind/enable", "0"));
	ASSERT_EQ(0, trace_set(&self->trace,
			       "events/raw_syscalls/sys_enter/filter", filter));
	ASSERT_EQ(0, trace_set(&self->trace, "options/userstacktrace", "1"));
	ASSERT_EQ(0, trace_set(&self->trace,
			       "events/raw_syscalls/sys_enter/enable", "1"));
}

FIXTURE_TEARDOWN(ftrace)
{
	if (self->was_on >= 0)
		write_text(IMMEDIATE_SYSCTL, self->was_on ? "1" : "0");
	if (self->trace.dir[0])
		trace_set(&self->trace, "events/raw_syscalls/enable", "0");
	trace_stop(&self->trace);
}

/* The last stack in the trace */
static void last_stack(const struct trace *trace, struct stack *stack)
{
	static const char head[] = "<user stack trace>\n";
	const char *line = trace->text, *next;

	while ((next = strstr(line, head)))
		line = next + strlen(head);
	stack->nr = 0;
	while (stack->nr < SAMPLED_MAX &&
	       sscanf(line, " => <%lx>", &stack->ip[stack->nr]) == 1) {
		stack->nr++;
		line = strchrnul(line, '\n');
		line += *line == '\n';
	}
}

static void trace_call(struct trace *trace, chain_fn fn, struct stack *stack,
		       struct stack *expected)
{
	struct notes notes = { .nr_next = 1, .next = { fn, sampled_call } };

	fn(&notes);
	expect_chain(expected, &notes);
	if (!trace_read(trace))
		last_stack(trace, stack);
}

TEST_F(ftrace, userstacktrace_is_whole)
{
	struct stack stack = {}, expected = {};
	struct image image;
	chain_fn fn;

	if (!has_own_core())
		SKIP(return, "no tables for this option");
	fn = image_load(&image, "chain_table.so");
	ASSERT_NE(NULL, fn);
	/* By frame pointers, past the chain; tables are requested */
	trace_call(&self->trace, fn, &stack, &expected);
	ASSERT_LT(1, stack.nr);
	EXPECT_EQ(expected.ip[0], stack.ip[0]);
	EXPECT_NE(expected.ip[2], stack.ip[2]);
	trace_call(&self->trace, fn, &stack, &expected);
	EXPECT_TRUE(stack_begins_with(&stack, &expected));

	ASSERT_EQ(0, write_text(IMMEDIATE_SYSCTL, "0"));
	trace_call(&self->trace, fn, &stack, &expected);
	EXPECT_EQ(expected.ip[0], stack.ip[0]);
	EXPECT_NE(expected.ip[2], stack.ip[2]);
}

/*
 * The trace option userstacktrace has no count of its addresses: they end with the first
 * 0. So no address of an abandoned immediate stack may follow the frame pointers' stack,
 * which is shorter here.
 */

/* Call @fn with a frame pointer that leads nowhere */
void call_without_fp(chain_fn fn, struct notes *notes);

#if defined(__x86_64__)

asm(".pushsection .text\n"
	".type call_without_fp, %function\n"
	"call_without_fp:\n"
	"	pushq	%rbp\n"
	"	xorl	%ebp, %ebp\n"
	"	movq	%rdi, %rax\n"
	"	movq	%rsi, %rdi\n"
	"	callq	*%rax\n"
	"	popq	%rbp\n"
	"	ret\n"
	".size call_without_fp, . - call_without_fp\n"
	".popsection\n");

#elif defined(__aarch64__)

asm(".pushsection .text\n"
	".type call_without_fp, %function\n"
	"call_without_fp:\n"
	"	stp	x29, x30, [sp, #-16]!\n"
	"	mov	x29, xzr\n"
	"	mov	x9, x0\n"
	"	mov	x0, x1\n"
	"	blr	x9\n"
	"	ldp	x29, x30, [sp], #16\n"
	"	ret\n"
	".size call_without_fp, . - call_without_fp\n"
	".popsection\n");

#endif

FIXTURE(traced)
{
	struct subject subject;
	struct ftrace ft;
	struct image known;
	struct image unknown;
};

FIXTURE_SETUP(traced)
{
	ASSERT_FALSE(immediate_missing());
	if (subject_open(&self->subject) || ftrace_open(&self->ft, "p"))
		SKIP(return, CANNOT);
	ASSERT_EQ(0, ftrace_set(&self->ft, "options/userstacktrace", "1"));
	ASSERT_NE(NULL, image_load(&self->known, "chain_table.so"));
}

FIXTURE_TEARDOWN(traced)
{
	EXPECT_EQ(0, ftrace_close(&self->ft));
	subject_close(&self->subject);
}

static void call_traced(struct image *outer, struct image *inner)
{
	struct notes notes = {
		.next = { (chain_fn)inner->entry, sampled_call },
	};

	call_without_fp((chain_fn)outer->entry, &notes);
}

static int only_stack(const struct ftrace *ft, struct ftrace_log *log,
		      const struct ftrace_record **rec)
{
	size_t i;

	if (ftrace_read(ft, "trace", log) ||
	    ftrace_count(log, FTRACE_IMMEDIATE_STACK) != 1)
		return -1;
	for (i = 0; log->rec[i].type != FTRACE_IMMEDIATE_STACK; i++)
		;
	*rec = &log->rec[i];
	return ftrace_set(ft, "trace", "");
}

TEST_F(traced, cancelled_stack_leaves_nothing)
{
	const struct ftrace_record *without, *with;
	struct ftrace_log log[2] = {};
	long before[NR_COUNTS], after[NR_COUNTS];
	struct sampler later;
	unsigned int i;

	/* A deferred stack makes the kernel load its tables */
	ASSERT_EQ(0, sampler_open(&later, 0));
	call_traced(&self->known, &self->known);
	sampler_close(&later);
	ASSERT_NE(NULL, image_load(&self->unknown, "chain_table_other.so"));

	ASSERT_EQ(0, ftrace_event(&self->ft, FTRACE_ENTER, getpid()));
	ASSERT_EQ(0, write_text(IMMEDIATE_SYSCTL, "0"));
	call_traced(&self->unknown, &self->known);
	ASSERT_EQ(0, only_stack(&self->ft, &log[0], &without));

	ASSERT_EQ(0, write_text(IMMEDIATE_SYSCTL, "1"));
	read_counts(before);
	call_traced(&self->unknown, &self->known);
	read_counts(after);
	ASSERT_EQ(0, only_stack(&self->ft, &log[1], &with));
	ASSERT_LT(before[MISSING], after[MISSING]);
	/* There was room for addresses of the abandoned stack */
	ASSERT_GT(CHAIN_FRAMES, without->nr);
	ASSERT_EQ(without->nr, with->nr);
	for (i = 0; i < with->nr; i++)
		EXPECT_EQ(without->frame[i].ip, with->frame[i].ip);
	ftrace_free(&log[0]);
	ftrace_free(&log[1]);
}

/*
 * At the return from a signal. x86-64 replaces the registers at once. On arm64 a sample
 * there, for example a page fault's, may find a mixture.
 */
#ifdef __aarch64__
#define MAY_BE_HALF	1
#else
#define MAY_BE_HALF	0
#endif

static void on_signal(int sig)
{
	(void)sig;
}

TEST(sigreturn_is_crossed)
{
	long before[NR_COUNTS], after[NR_COUNTS];
	struct perf_event_attr attr;
	struct sampler sampler;
	char filter[32];

	ASSERT_FALSE(immediate_missing());
	snprintf(filter, sizeof(filter), "id == %d", SYS_rt_sigreturn);
	if (tracepoint_attr(&attr, "raw_syscalls/sys_enter"))
		SKIP(return, CANNOT);
	attr.defer_callchain = 0;
	attr.defer_output = 0;
	if (read_number(IMMEDIATE_SYSCTL) != 1 ||
	    sampler_open_attr(&sampler, &attr, 0, filter))
		SKIP(return, CANNOT);
	signal(SIGUSR1, on_signal);
	read_counts(before);
	raise(SIGUSR1);
	read_counts(after);
	sampler_close(&sampler);
	if (before[TAKEN] < 0)
		SKIP(return, CANNOT);
	EXPECT_EQ(MAY_BE_HALF, after[SIGRETURN] - before[SIGRETURN]);
	EXPECT_EQ(1 - MAY_BE_HALF, after[TAKEN] - before[TAKEN] +
				   after[NO_TABLE] - before[NO_TABLE] +
				   after[MISSING] - before[MISSING]);
}

/*
 * The same moments, all tracers: each takes the same stack.
 *
 * A moment is one entry into the kernel, with one cookie for all clients of deferred
 * unwinding. The entry is a bpf system call that runs the kernel's own test function, so
 * all kinds of BPF programs can run in it, including sleepable ones. Perf's events are at
 * the tracepoint of the same system call.
 *
 * A tracer that waits must have the whole stack: the same addresses for each entry. An
 * immediate one has it, or the kernel counts that it could not; this includes BPF programs
 * that may sleep. Where no table is used, an immediate stack is not compared. Ftrace's
 * userstacktrace has room for the first eight addresses only.
 *
 * Another tracer is another line in @takers, and code in collect() that fills it.
 */

/* In portions that fit into the buffers */
#define RING_SIZE	0x100000

#define FUNCTION	"bpf_fentry_test1"

enum taker {
	PERF_DEFERRED,
	FTRACE_DEFERRED,
	BPF_DEFERRED,
	BPF_SLEEPABLE,
	PERF_IMMEDIATE,
	FTRACE_IMMEDIATE,
	BPF_IMMEDIATE,
	NR_TAKERS
};

/* @depth: maximum number of addresses, if not 0 */
static const struct {
	const char	*name;
	enum { WAITS, IMMEDIATE } how;
	unsigned int	depth;
} takers[NR_TAKERS] = {
	[PERF_DEFERRED]	= { "perf, deferred", WAITS },
	[FTRACE_DEFERRED] = { "ftrace, deferred", WAITS },
	[BPF_DEFERRED]	= { "BPF, deferred", WAITS },
	[BPF_SLEEPABLE]	= { "BPF, sleepable", IMMEDIATE },
	[PERF_IMMEDIATE]	= { "perf, immediate", IMMEDIATE },
	[FTRACE_IMMEDIATE] = { "ftrace, immediate", IMMEDIATE, 8 },
	[BPF_IMMEDIATE]	= { "BPF, immediate", IMMEDIATE },
};

/* The moments of a portion, as each tracer has seen them */
struct moment {
	uint64_t	cookie;
	bool		by_table;
	unsigned int	times[NR_TAKERS];
	struct stack	stack[NR_TAKERS];
};

static union bpf_attr run_attr;

/* The end of a chain */
static void call_bpf(struct notes *notes)
{
	unsigned long ip;

	syscall3_at(SYS_bpf, BPF_PROG_TEST_RUN, (long)&run_attr,
		    sizeof(run_attr), &ip);
	notes->ra[notes->nr++] = ip;
}

FIXTURE(all_tracers)
{
	struct sampler now;
	struct sampler later;
	struct ftrace trace_now;
	struct ftrace trace_later;
	struct bpf_ring ring;
	struct bpf_attached deliver;
	struct bpf_attached asker;
	struct bpf_attached sleepable;
	struct bpf_attached immediate;
	struct moment *moments;
	unsigned long same[NR_TAKERS];
	unsigned long differ[NR_TAKERS];
	unsigned long unlike[NR_TAKERS];
	unsigned long tables;
};

static int open_samplers(struct _test_data_all_tracers *self)
{
	struct perf_event_attr attr;
	char filter[32];

	snprintf(filter, sizeof(filter), "id == %d", SYS_bpf);
	if (tracepoint_attr(&attr, "raw_syscalls/sys_enter") ||
	    sampler_open_attr(&self->later, &attr, 0, filter))
		return -1;
	attr.defer_callchain = 0;
	attr.defer_output = 0;
	return sampler_open_attr(&self->now, &attr, 0, filter);
}

static int open_instance(struct ftrace *ft, const char *name, const char *option)
{
	char filter[64];

	snprintf(filter, sizeof(filter), "id == %d && common_pid == %d", SYS_bpf,
		 getpid());
	if (ftrace_open(ft, name) || ftrace_set(ft, option, "1") ||
	    ftrace_set(ft, FTRACE_ENTER "/filter", filter))
		return -1;
	return ftrace_set(ft, FTRACE_ENTER "/enable", "1");
}

static int open_instances(struct _test_data_all_tracers *self)
{
	return open_instance(&self->trace_later, "later", FTRACE_OPTION) ?:
	       open_instance(&self->trace_now, "now", "options/userstacktrace");
}

static int open_programs(struct _test_data_all_tracers *self)
{
	struct bpf_asker asker = {
		.at = BPF_AT_FENTRY, .where = FUNCTION, .tgid = getpid(),
		.flags = BPF_F_USER_STACK | BPF_F_USER_DEFER,
	};

	if (bpf_ring_open(&self->ring, RING_SIZE) ||
	    bpf_deliver_open(&self->deliver, 0, &self->ring) ||
	    bpf_asker_open(&self->asker, &asker, &self->ring))
		return -1;
	asker.flags = BPF_F_USER_STACK;
	asker.take = true;
	asker.tag = BPF_IMMEDIATE;
	if (bpf_asker_open(&self->immediate, &asker, &self->ring))
		return -1;
	asker.at = BPF_AT_FENTRY_SLEEPABLE;
	asker.tag = BPF_SLEEPABLE;
	return bpf_asker_open(&self->sleepable, &asker, &self->ring);
}

FIXTURE_SETUP(all_tracers)
{
	static const struct bpf_attached none = { -1, -1 };
	long counts[NR_COUNTS];

	self->now.fd = -1;
	self->later.fd = -1;
	self->deliver = none;
	self->asker = none;
	self->sleepable = none;
	self->immediate = none;
	read_counts(counts);
	if (counts[TAKEN] < 0 || write_text(IMMEDIATE_SYSCTL, "1") ||
	    open_programs(self) || open_samplers(self) || open_instances(self))
		SKIP(return, "no immediate or deferred stacks for BPF and ftrace, or not root");
	run_attr.test.prog_fd = self->asker.prog;
	self->moments = calloc(PORTION, sizeof(*self->moments));
	ASSERT_NE(NULL, self->moments);
	ASSERT_EQ(0, random_chains_load());
}

FIXTURE_TEARDOWN(all_tracers)
{
	if (self->trace_now.dir[0])
		EXPECT_EQ(0, ftrace_close(&self->trace_now));
	if (self->trace_later.dir[0])
		EXPECT_EQ(0, ftrace_close(&self->trace_later));
	sampler_close(&self->now);
	sampler_close(&self->later);
	bpf_attached_close(&self->immediate);
	bpf_attached_close(&self->sleepable);
	bpf_attached_close(&self->asker);
	bpf_attached_close(&self->deliver);
	bpf_ring_close(&self->ring);
	free(self->moments);
}

static struct moment *find_moment(struct _test_data_all_tracers *self, uint64_t cookie)
{
	int i;

	for (i = 0; i < PORTION; i++)
		if (self->moments[i].cookie == cookie)
			return &self->moments[i];
	return NULL;
}

static void took(struct moment *moment, enum taker taker, const uint64_t *ips,
		 uint64_t nr)
{
	struct stack *stack = &moment->stack[taker];

	moment->times[taker]++;
	for (stack->nr = 0; stack->nr < nr && stack->nr < SAMPLED_MAX; stack->nr++)
		stack->ip[stack->nr] = ips[stack->nr];
}

/* Perf's samples come in the order of the calls: the i'th is the i'th call's; 0 or -1 */
static int collect_perf(struct _test_data_all_tracers *self)
{
	const struct record *now, *later, *stack;
	struct records now_recs = {}, recs = {};
	int i, ret = -1;

	if (records_read(&now_recs, &self->now.ring) ||
	    records_read(&recs, &self->later.ring))
		goto out;
	for (i = 0; i < PORTION; i++) {
		struct moment *moment = &self->moments[i];

		now = records_get(&now_recs, PERF_RECORD_SAMPLE, i);
		later = records_get(&recs, PERF_RECORD_SAMPLE, i);
		stack = later ? records_stack(&recs, later->cookie) : NULL;
		if (!now || !stack || !now->nr || !stack->nr)
			goto out;
		moment->cookie = later->cookie;
		/* Without the context */
		took(moment, PERF_IMMEDIATE, now->ips + 1, now->nr - 1);
		took(moment, PERF_DEFERRED, stack->ips, stack->nr);
	}
	if (!records_get(&recs, PERF_RECORD_SAMPLE, PORTION) &&
	    records_match(&recs, NULL))
		ret = 0;
out:
	records_free(&now_recs);
	records_free(&recs);
	return ret;
}

/* Each cookie must be one of these entries' */
static int collect_bpf(struct _test_data_all_tracers *self)
{
	struct bpf_event event;
	struct moment *moment;

	while (bpf_ring_next(&self->ring, &event, false)) {
		moment = find_moment(self, event.cookie);
		if (!moment || event.ret <= 0)
			return -1;
		if (event.kind == BPF_ASKED)
			continue;
		took(moment, event.kind == BPF_DELIVERED ? BPF_DEFERRED : event.tag,
		     event.ips, event.ret / sizeof(*event.ips));
	}
	return 0;
}

static int took_frames(struct moment *moment, enum taker taker,
		       const struct ftrace_record *rec)
{
	uint64_t ips[SAMPLED_MAX];
	unsigned int i;

	if (!moment || !rec->nr || rec->nr > SAMPLED_MAX)
		return -1;
	for (i = 0; i < rec->nr; i++)
		ips[i] = rec->frame[i].ip;
	took(moment, taker, ips, rec->nr);
	return 0;
}

/* Deferred stacks are assigned by cookie, the others by their place in the trace */
static int collect_trace(struct _test_data_all_tracers *self, struct ftrace *ft,
			 enum ftrace_type type)
{
	struct ftrace_log log = {};
	unsigned int nr = 0;
	size_t i;
	int ret;

	ret = ftrace_read(ft, "trace", &log);
	for (i = 0; !ret && i < log.nr; i++) {
		const struct ftrace_record *rec = &log.rec[i];

		if (rec->type != type)
			continue;
		if (type == FTRACE_STACK)
			ret = took_frames(find_moment(self, rec->cookie),
					  FTRACE_DEFERRED, rec);
		else if (nr < PORTION)
			ret = took_frames(&self->moments[nr], FTRACE_IMMEDIATE, rec);
		nr++;
	}
	if (nr != PORTION || (type == FTRACE_STACK && !ftrace_pairs(&log, NULL)))
		ret = -1;
	ftrace_free(&log);
	return ret ?: ftrace_set(ft, "trace", "");
}

static bool same(const struct moment *moment, enum taker taker)
{
	const struct stack *want = &moment->stack[PERF_DEFERRED];
	const struct stack *is = &moment->stack[taker];
	unsigned int nr = want->nr;

	if (takers[taker].depth && nr > takers[taker].depth)
		nr = takers[taker].depth;
	return is->nr == nr && !memcmp(is->ip, want->ip, nr * sizeof(*is->ip));
}

/* Each tracer has it once; is it the same? */
static int compare(struct _test_data_all_tracers *self, const struct moment *moment)
{
	int i;

	for (i = 0; i < NR_TAKERS; i++) {
		if (moment->times[i] != 1) {
			printf("# %s: %u times\n", takers[i].name, moment->times[i]);
			return -1;
		}
		if (takers[i].how != WAITS && !moment->by_table)
			self->unlike[i]++;
		else if (same(moment, i))
			self->same[i]++;
		else
			self->differ[i]++;
	}
	self->tables += moment->by_table;
	return 0;
}

static int take_portion(struct _test_data_all_tracers *self)
{
	int i;

	memset(self->moments, 0, PORTION * sizeof(*self->moments));
	for (i = 0; i < PORTION; i++)
		self->moments[i].by_table = random_chains_call(call_bpf);
	if (collect_perf(self) || collect_bpf(self) ||
	    collect_trace(self, &self->trace_later, FTRACE_STACK) ||
	    collect_trace(self, &self->trace_now, FTRACE_IMMEDIATE_STACK))
		return -1;
	for (i = 0; i < PORTION; i++)
		if (compare(self, &self->moments[i]))
			return -1;
	return 0;
}

TEST_F_TIMEOUT(all_tracers, take_the_same_stack, 600)
{
	long before[NR_COUNTS], after[NR_COUNTS], missing;
	unsigned long differ = 0, nr;
	int i;

	/* Until all tables are loaded */
	ASSERT_EQ(0, take_portion(self));
	memset(self->same, 0, sizeof(self->same));
	memset(self->differ, 0, sizeof(self->differ));
	memset(self->unlike, 0, sizeof(self->unlike));
	self->tables = 0;

	read_counts(before);
	for (nr = 0; nr < SAMPLES; nr += PORTION)
		ASSERT_EQ(0, take_portion(self));
	read_counts(after);
	missing = after[MISSING] - before[MISSING];

	TH_LOG("%lu entries, %lu of them through tables", nr, self->tables);
	for (i = 0; i < NR_TAKERS; i++) {
		TH_LOG("%s: %lu the same, %lu not, %lu not compared",
		       takers[i].name, self->same[i], self->differ[i],
		       self->unlike[i]);
		EXPECT_EQ(takers[i].how == WAITS ? nr : self->tables,
			  self->same[i] + self->differ[i]);
		if (takers[i].how == IMMEDIATE)
			differ += self->differ[i];
		else
			EXPECT_EQ(0, self->differ[i]);
	}
	TH_LOG("missing immediate ones: %ld times", missing);
	EXPECT_LE(differ, missing);
	/* No other task changes this memory, so time does not matter */
	EXPECT_GT(self->tables / 100, missing);
	EXPECT_LT(nr / 2, self->tables);
}

TEST_HARNESS_MAIN
