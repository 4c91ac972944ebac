// SPDX-License-Identifier: GPL-2.0
/*
 * User stacks in place: those of events that defer nothing, of unmodified tools.
 *
 * What such an event has to say is either what a deferred one says of the same
 * moment, address by address, or what it said before there were tables, with the
 * sysctl off. And the kernel counts which.
 *
 * The program keeps frame pointers, and its C library has no tables; what has tables
 * are the chains that are mapped here (see chain.h). Frame pointers lead past these,
 * so the two kinds of stacks differ. (On arm64 the program has a table, too, without
 * which nothing leads on through a chain.)
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "code.h"
#include "ftrace.h"
#include "random_chains.h"
#include "shots.h"
#include "trace.h"
#include "../../kselftest_harness.h"

#define MAX_STACK	"/proc/sys/kernel/perf_event_max_stack"

/* Where both kinds of stacks are compared, and in what portions */
#define SAMPLES		10000
#define PORTION		50

/* Samples of a stack that cannot be had */
#define SEVERAL		400

/* Frames: too many for one sample, each of which is counted as 16 reads at least */
#define DEEP		2500
#define DEEP_LIMIT	"3000"

FIXTURE(in_place)
{
	struct subject subject;
};

FIXTURE_SETUP(in_place)
{
	ASSERT_FALSE(in_place_missing());
	if (subject_open(&self->subject))
		SKIP(return, CANNOT);
}

FIXTURE_TEARDOWN(in_place)
{
	subject_close(&self->subject);
}

/*
 * First as before, and asked for; then by tables
 */
TEST_F(in_place, is_there_from_the_second_sample)
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
	EXPECT_EQ(1, shots[1].counts[UNSURE]);
	EXPECT_EQ(1, shots[1].counts[ASKED]);
	EXPECT_EQ(1, shots[1].counts[HELPED]);

	EXPECT_TRUE(shot_is_whole(&shots[2], &expected));
	EXPECT_EQ(1, shots[2].counts[TAKEN]);
	EXPECT_EQ(0, shots[2].counts[ASKED]);

	/* Off again, although tables are known */
	EXPECT_TRUE(shot_is_same(&shots[0], &shots[3]));
}

/* Rows that are kept would do without their tables; what is registered drops them */
static int forget_rows(void)
{
	struct code code;
	int ret;

	if (code_map(&code, 1))
		return -1;
	ret = code_register(&code, 1) || unwind_table_del(1) ? -1 : 0;
	code_unmap(&code);
	return ret;
}

/* Tables whose pages have gone are as good as unknown, and are brought in */
TEST_F(in_place, pages_are_brought_in)
{
	struct image *image = &self->subject.image;
	struct stack expected;
	struct shot shots[3];
	chain_fn fn;
	int i;

	fn = image_load(image, "chain_table.so");
	ASSERT_NE(NULL, fn);
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, shoot(&self->subject, fn, "110", shots, &expected));
		EXPECT_EQ(1, shots[0].counts[UNSURE]);
		EXPECT_EQ(1, shots[0].counts[HELPED]);
		EXPECT_TRUE(shot_is_same(&shots[0], &shots[2]));
		EXPECT_EQ(1, shots[1].counts[TAKEN]);
		EXPECT_TRUE(shot_is_whole(&shots[1], &expected));
		ASSERT_EQ(0, madvise(image->base, image->size, MADV_DONTNEED));
		ASSERT_EQ(0, forget_rows());
	}
}

/* Where the table's page is, which describes all of the image's text */
static void *table_page(const struct image *image, const char *name)
{
	const unsigned long page = sysconf(_SC_PAGESIZE);
	unsigned long vaddr = 0;
	struct elf elf;

	if (!elf_read(&elf, name)) {
		vaddr = elf_phdr(&elf, PT_GNU_SFRAME, 0)->p_vaddr;
		elf_free(&elf);
	}
	return vaddr ? image->base + (vaddr & -page) : NULL;
}

/* A table that cannot be read, however often one looks */
TEST_F(in_place, asks_seldom_where_it_does_not_help)
{
	static const char file[] = "chain_table.so";
	const size_t page = sysconf(_SC_PAGESIZE);
	static struct shot shots[SEVERAL];
	static char modes[SEVERAL + 1];
	struct stack expected;
	int i, asked = 0;
	chain_fn fn;
	void *table;

	memset(modes, '1', SEVERAL);
	modes[0] = '0';
	fn = image_load(&self->subject.image, file);
	ASSERT_NE(NULL, fn);
	table = table_page(&self->subject.image, file);
	ASSERT_NE(NULL, table);
	ASSERT_EQ(0, shoot(&self->subject, fn, "11", shots, &expected));
	EXPECT_EQ(1, shots[1].counts[TAKEN]);

	ASSERT_EQ(0, mprotect(table, page, PROT_NONE));
	ASSERT_EQ(0, forget_rows());
	ASSERT_EQ(0, shoot(&self->subject, fn, modes, shots, &expected));
	for (i = 1; i < SEVERAL; i++) {
		EXPECT_TRUE(shot_is_same(&shots[0], &shots[i]));
		EXPECT_EQ(1, shots[i].counts[UNSURE]);
		EXPECT_EQ(0, shots[i].counts[HELPED]);
		asked += shots[i].counts[ASKED];
	}
	TH_LOG("asked for %d times in %d samples", asked, SEVERAL - 1);
	/* After each time, twice as many samples ask no more, and 63 at most */
	EXPECT_LE((SEVERAL - 1) / 64, asked);
	EXPECT_GE(6 + (SEVERAL - 1) / 64, asked);

	/* Nothing keeps it from being used again, at once */
	ASSERT_EQ(0, mprotect(table, page, PROT_READ));
	ASSERT_EQ(0, shoot(&self->subject, fn, "1", shots, &expected));
	EXPECT_TRUE(shot_is_whole(&shots[0], &expected));
}

/*
 * A stack whose outermost frame has its return address in memory that could be read but
 * is not there: behind the end of a file
 */
static struct {
	char	*end;
	int	fd;
	chain_fn fn;
	jmp_buf	back;
} guarded;

#define GUARDED_PAGES	16

static void sampled_with_guard(struct notes *notes)
{
	const size_t page = sysconf(_SC_PAGESIZE);

	if (!ftruncate(guarded.fd, 0))
		sampled_call(notes);
	if (ftruncate(guarded.fd, page))
		abort();
	/* Its caller's caller has nowhere to go */
	longjmp(guarded.back, 1);
}

/*
 * Call @fn on the stack that ends at @end, from where the return address is read
 * beyond that; and no frame pointer leads on. It does not return.
 */
void call_at_end(chain_fn fn, struct notes *notes, void *end);

#if defined(__x86_64__)

asm(".pushsection .text\n"
	".type call_at_end, %function\n"
	"call_at_end:\n"
	"	movq	%rdx, %rsp\n"
	"	xorl	%ebp, %ebp\n"
	"	movq	%rdi, %rax\n"
	"	movq	%rsi, %rdi\n"
	"	jmp	*%rax\n"
	".size call_at_end, . - call_at_end\n"
	".popsection\n");

#elif defined(__aarch64__)

/* A return address comes in a register: this one's own frame is beyond the end */
asm(".pushsection .text\n"
	".type call_at_end, %function\n"
	"call_at_end:\n"
	"	.cfi_startproc\n"
	"	add	sp, x2, #16\n"
	"	mov	x29, xzr\n"
	"	stp	x29, x30, [sp, #-16]!\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset 29, -16\n"
	"	.cfi_offset 30, -8\n"
	"	mov	x9, x0\n"
	"	mov	x0, x1\n"
	"	blr	x9\n"
	"	brk	#0\n"
	"	.cfi_endproc\n"
	".size call_at_end, . - call_at_end\n"
	".popsection\n");

#endif

static void on_guarded_stack(struct notes *notes)
{
	notes->next[1] = sampled_with_guard;
	if (setjmp(guarded.back))
		return;
	call_at_end(guarded.fn, notes, guarded.end);
}

static bool make_guarded_stack(chain_fn fn)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	char *stack = mmap(NULL, GUARDED_PAGES * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	guarded.end = stack + (GUARDED_PAGES - 1) * page;
	guarded.fn = fn;
	guarded.fd = memfd_create("guard", MFD_CLOEXEC);
	return stack != MAP_FAILED && guarded.fd >= 0 &&
	       !ftruncate(guarded.fd, page) &&
	       mmap(guarded.end, page, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_FIXED, guarded.fd, 0) == guarded.end;
}

static void free_guarded_stack(void)
{
	const size_t page = sysconf(_SC_PAGESIZE);

	munmap(guarded.end - (GUARDED_PAGES - 1) * page, GUARDED_PAGES * page);
	close(guarded.fd);
}

/* Nothing is missing but what would come after the last frame there is */
TEST_F(in_place, asks_seldom_behind_the_last_frame)
{
	static struct shot shots[SEVERAL];
	static char modes[SEVERAL + 1];
	struct stack expected;
	int i, asked = 0;
	chain_fn fn;

	memset(modes, '1', SEVERAL);
	fn = image_load(&self->subject.image, "chain_table.so");
	ASSERT_NE(NULL, fn);
	ASSERT_TRUE(make_guarded_stack(fn));
	ASSERT_EQ(0, shoot(&self->subject, on_guarded_stack, modes, shots, &expected));
	for (i = 1; i < SEVERAL; i++) {
		EXPECT_EQ(1, shots[i].counts[UNSURE]);
		EXPECT_EQ(0, shots[i].counts[HELPED]);
		asked += shots[i].counts[ASKED];
	}
	EXPECT_LE((SEVERAL - 1) / 64, asked);
	EXPECT_GE(6 + (SEVERAL - 1) / 64, asked);
	free_guarded_stack();
}

/* A table does not outlive its mapping: other code, with other frames */
TEST_F(in_place, forgets_with_the_mapping)
{
	static const char * const twins[] = { "chain_table.so",
					      "chain_table_other.so" };
	struct stack expected;
	struct shot shots[3];
	chain_fn fn;
	int i;

	for (i = 0; i < 6; i++) {
		fn = image_load(&self->subject.image, twins[i % 2]);
		ASSERT_NE(NULL, fn);
		ASSERT_EQ(0, shoot(&self->subject, fn, "111", shots, &expected));
		EXPECT_EQ(1, shots[0].counts[UNSURE]);
		EXPECT_TRUE(shot_is_whole(&shots[1], &expected));
		EXPECT_TRUE(shot_is_whole(&shots[2], &expected));
		image_unmap(&self->subject.image);
	}
}

/*
 * Beside deferred stacks of the same moments
 */

/* Of the pairs of one portion, those that differ; -1 if they are not pairs */
static int differing(struct subject *subject, const bool *by_table)
{
	const struct record *now, *later, *stack;
	int differ = 0;
	size_t i;

	for (i = 0; i < PORTION; i++) {
		now = records_get(&subject->now_recs, PERF_RECORD_SAMPLE, i);
		later = records_get(&subject->later_recs, PERF_RECORD_SAMPLE, i);
		stack = later ? records_stack(&subject->later_recs,
					      later->cookie) : NULL;
		if (!now || !stack)
			return -1;
		differ += by_table[i] &&
			  !same_addresses(now->nr, now->ips, stack->nr, stack->ips);
	}
	records_free(&subject->now_recs);
	records_free(&subject->later_recs);
	return differ;
}

TEST_F_TIMEOUT(in_place, is_what_is_deferred, 300)
{
	struct subject *subject = &self->subject;
	long all = 0, tables = 0, differ = 0;
	long before[NR_COUNTS], counts[NR_COUNTS], unsure, taken;
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
	unsure = counts[UNSURE] - before[UNSURE];
	taken = counts[TAKEN] - before[TAKEN];
	TH_LOG("%ld samples, %ld through tables: %ld differ, %ld taken, %ld not sure",
	       all, tables, differ, taken, unsure);
	/* It is the same stack, or the kernel says that it could not tell */
	EXPECT_LE(differ, unsure);
	EXPECT_LE(tables - unsure, taken);
	EXPECT_GT(tables / 100, unsure);
	EXPECT_LT(all / 2, tables);
}

/*
 * Bounds
 */

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

FIXTURE(deep)
{
	struct subject subject;
	long max_stack;
};

FIXTURE_SETUP(deep)
{
	self->max_stack = read_number(MAX_STACK);
	/* Refused while anybody has a callchain */
	if (self->max_stack < 0 || write_text(MAX_STACK, DEEP_LIMIT))
		SKIP(return, "cannot change kernel.perf_event_max_stack");
	if (subject_open(&self->subject))
		SKIP(return, CANNOT);
}

FIXTURE_TEARDOWN(deep)
{
	char text[24];

	subject_close(&self->subject);
	snprintf(text, sizeof(text), "%ld", self->max_stack);
	write_text(MAX_STACK, text);
}

TEST_F(deep, work_is_bounded)
{
	struct stack expected;
	struct shot shots[3];

	deep_fn = image_load(&self->subject.image, "chain_table.so");
	ASSERT_NE(NULL, deep_fn);
	ASSERT_EQ(0, shoot(&self->subject, begin_less_deep, "011", shots,
			   &expected));
	EXPECT_EQ(1, shots[2].counts[TAKEN]);
	EXPECT_LT(DEEP / 10, shots[2].rec.nr);

	ASSERT_EQ(0, shoot(&self->subject, begin_deep, "011", shots, &expected));
	EXPECT_EQ(1, shots[1].counts[BUDGET]);
	EXPECT_EQ(1, shots[2].counts[BUDGET]);
	EXPECT_EQ(0, shots[2].counts[ASKED]);
	EXPECT_TRUE(shot_is_same(&shots[0], &shots[1]));
	EXPECT_TRUE(shot_is_same(&shots[0], &shots[2]));
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

	self->was_on = read_number(IN_PLACE_SYSCTL);
	if (self->was_on < 0 || write_text(IN_PLACE_SYSCTL, "1") ||
	    trace_start(&self->trace))
		SKIP(return, "no kernel.unwind_in_place, no tracefs, or not root");
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
		write_text(IN_PLACE_SYSCTL, self->was_on ? "1" : "0");
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

TEST_F(ftrace, has_user_stacks)
{
	struct stack stack = {}, expected = {};
	struct image image;
	chain_fn fn;

	fn = image_load(&image, "chain_table.so");
	ASSERT_NE(NULL, fn);
	/* By frame pointers, past the chain; it is asked for */
	trace_call(&self->trace, fn, &stack, &expected);
	ASSERT_LT(1, stack.nr);
	EXPECT_EQ(expected.ip[0], stack.ip[0]);
	EXPECT_NE(expected.ip[2], stack.ip[2]);
	trace_call(&self->trace, fn, &stack, &expected);
	EXPECT_TRUE(stack_begins_with(&stack, &expected));

	ASSERT_EQ(0, write_text(IN_PLACE_SYSCTL, "0"));
	trace_call(&self->trace, fn, &stack, &expected);
	EXPECT_EQ(expected.ip[0], stack.ip[0]);
	EXPECT_NE(expected.ip[2], stack.ip[2]);
}

/*
 * The trace option userstacktrace has no count of its addresses: they end with the
 * first 0. So what was found in place until that had to be given up must not be left
 * behind the frame pointers' stack, which is shorter here.
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
	ASSERT_FALSE(in_place_missing());
	if (subject_open(&self->subject) || ftrace_open(&self->ft, "p"))
		SKIP(return, CANNOT);
	ASSERT_EQ(0, ftrace_set(&self->ft, "options/userstacktrace", "1"));
	ASSERT_NE(NULL, image_load(&self->known, "chain_table.so"));
	ASSERT_NE(NULL, image_load(&self->unknown, "chain_table_other.so"));
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
	    ftrace_count(log, FTRACE_IN_PLACE_STACK) != 1)
		return -1;
	for (i = 0; log->rec[i].type != FTRACE_IN_PLACE_STACK; i++)
		;
	*rec = &log->rec[i];
	return ftrace_set(ft, "trace", "");
}

TEST_F(traced, nothing_is_left_of_what_was_given_up)
{
	const struct ftrace_record *without, *with;
	struct ftrace_log log[2] = {};
	long before[NR_COUNTS], after[NR_COUNTS];
	struct sampler later;
	unsigned int i;

	/* Who waits for the stack has its tables found */
	ASSERT_EQ(0, sampler_open(&later, 0));
	call_traced(&self->known, &self->known);
	sampler_close(&later);

	ASSERT_EQ(0, ftrace_event(&self->ft, FTRACE_ENTER, getpid()));
	ASSERT_EQ(0, write_text(IN_PLACE_SYSCTL, "0"));
	call_traced(&self->unknown, &self->known);
	ASSERT_EQ(0, only_stack(&self->ft, &log[0], &without));

	ASSERT_EQ(0, write_text(IN_PLACE_SYSCTL, "1"));
	read_counts(before);
	call_traced(&self->unknown, &self->known);
	read_counts(after);
	ASSERT_EQ(0, only_stack(&self->ft, &log[1], &with));
	EXPECT_LT(before[UNSURE], after[UNSURE]);
	/* There would have been room for what is not to be left */
	ASSERT_GT(CHAIN_FRAMES, without->nr);
	ASSERT_EQ(without->nr, with->nr);
	for (i = 0; i < with->nr; i++)
		EXPECT_EQ(without->frame[i].ip, with->frame[i].ip);
	ftrace_free(&log[0]);
	ftrace_free(&log[1]);
}

/*
 * At the return from a signal.  x86-64 replaces the registers when it has all of them;
 * on arm64 a sample there, of a page fault for one, may find some of either.
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

TEST(in_place_sigreturn)
{
	long before[NR_COUNTS], after[NR_COUNTS];
	struct perf_event_attr attr;
	struct sampler sampler;
	char filter[32];

	ASSERT_FALSE(in_place_missing());
	snprintf(filter, sizeof(filter), "id == %d", SYS_rt_sigreturn);
	if (tracepoint_attr(&attr, "raw_syscalls/sys_enter"))
		SKIP(return, CANNOT);
	attr.defer_callchain = 0;
	attr.defer_output = 0;
	if (read_number(IN_PLACE_SYSCTL) != 1 ||
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
				   after[UNSURE] - before[UNSURE]);
}

TEST_HARNESS_MAIN
