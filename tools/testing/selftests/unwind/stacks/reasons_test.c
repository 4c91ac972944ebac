// SPDX-License-Identifier: GPL-2.0
/*
 * Why unwinds end: each reason is provoked once, by code that is made for it.
 *
 * The tracepoint then names the reason, the last frame, and the file in which
 * that lies with the offset there; and the reason's count has gone up.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image.h"
#include "trace.h"
#include "whole.h"
#include "../../kselftest_harness.h"

#define COUNTS		"/sys/kernel/debug/unwind/stops"

/* More than there is room for, and no more than fit on a stack */
#define TOO_DEEP	2000

/* Count of a reason, or -1 */
static long count_of(const char *reason)
{
	FILE *counts = fopen(COUNTS, "r");
	char line[128], name[128];
	long count, found = -1;

	while (counts && fgets(line, sizeof(line), counts))
		if (sscanf(line, "%ld %127[^\n]", &count, name) == 2 &&
		    !strcmp(name, reason))
			found = count;
	if (counts)
		fclose(counts);
	return found;
}

/* "file+0xoffset" of an address, as the tracepoint has it */
static void name_of(unsigned long ip, char *name, size_t size)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end, offset;
	char line[512], path[256], *file;

	*name = 0;
	while (maps && fgets(line, sizeof(line), maps)) {
		path[0] = 0;
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &start, &end,
			   &offset, path) < 3 || ip < start || ip >= end)
			continue;
		file = strrchr(path, '/');
		snprintf(name, size, "%s+%#lx", file ? file + 1 : "[anon]",
			 ip - start + offset);
	}
	if (maps)
		fclose(maps);
}

FIXTURE(reason)
{
	struct sampler sampler;
	struct trace trace;
	char why[64];
	long count;
};

FIXTURE_SETUP(reason)
{
	if (sampler_open(&self->sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*");
	if (access(COUNTS, R_OK))
		SKIP(return, "no debugfs");
}

FIXTURE_TEARDOWN(reason)
{
	sampler_close(&self->sampler);
	trace_stop(&self->trace);
}

/*
 * Run @fn, whose system call is sampled: does the unwind end for this reason,
 * with so many frames, of which the last is at @ip?
 */
#define expect_end(reason, nr_frames, at, fn, arg, stack)			\
do {									\
	const char *why = (reason);					\
	char message[512] = "", name[300], what[400];			\
	unsigned long _ip;						\
	long before = count_of(why);					\
									\
	ASSERT_LE(0, before);						\
	whole_run(fn, arg, stack);					\
	_ip = (unsigned long)(at);					\
	name_of(_ip, name, sizeof(name));				\
	ASSERT_EQ(0, trace_read(&self->trace));				\
	ASSERT_EQ(1, trace_count(&self->trace, "stop", NULL, message,	\
				 sizeof(message)));			\
	snprintf(what, sizeof(what), "reason=\"%s\" object=%s\n", why,	\
		 name);							\
	strcat(message, "\n");						\
	EXPECT_NE(NULL, strstr(message, what))				\
		TH_LOG("%s not in%s", what, message);			\
	EXPECT_EQ(_ip, trace_field(message, "ip"));			\
	EXPECT_EQ(nr_frames, trace_field(message, "nr"));		\
	EXPECT_LE(before + 1, count_of(why));				\
} while (0)

/*
 * Explicit ends
 */

/* Not static, as it is called from below in assembly, too */
void samples(void *arg)
{
	whole_note_ra();
	whole_sample();
}

TEST_F(reason, end_of_stack)
{
	expect_end("end of stack", 2, whole_end, samples, NULL, NULL);
	EXPECT_TRUE(whole_is_right(&self->sampler));
}

/*
 * No table: a function with a frame pointer of the test's choice
 */

void without_table(void *fp);
ASM_LABEL(without_table_at);

#if defined(__x86_64__)

asm(".pushsection .text\n"
	"without_table:\n"
	"	pushq	%rbp\n"
	"	movq	%rdi, %rbp\n"
	"	movl	$110, %eax\n"
	"	syscall\n"
	"without_table_at:\n"
	"	popq	%rbp\n"
	"	ret\n"
	"	nop\n"
	".popsection\n");

#elif defined(__aarch64__)

asm(".pushsection .text\n"
	"without_table:\n"
	"	stp	x29, x30, [sp, #-16]!\n"
	/* There is a record, as far as the instructions tell */
	"	mov	x29, sp\n"
	"	mov	x29, x0\n"
	"	mov	x8, #173\n"
	"	svc	#0\n"
	"without_table_at:\n"
	"	ldp	x29, x30, [sp], #16\n"
	"	ret\n"
	"	nop\n"
	".popsection\n");

#endif

TEST_F(reason, end_of_stack_by_frame_pointer)
{
	expect_end("end of stack by frame pointer", 1, without_table_at,
		   without_table, NULL, NULL);
}

TEST_F(reason, no_table_and_no_frame_pointer)
{
	expect_end("no table and no frame pointer", 1, without_table_at,
		   without_table, (void *)1, NULL);
}

#if defined(__aarch64__)

/*
 * Is the return address in the register, or in a frame record?  As far as the instructions
 * tell it may be either, and x29 leads to the caller's caller.
 */
void without_hint(void *arg);
ASM_LABEL(without_hint_at);

asm(".pushsection .text\n"
	"without_hint:\n"
	"	mov	x9, x30\n"
	"	mov	x8, #173\n"
	"	svc	#0\n"
	"without_hint_at:\n"
	"	ret	x9\n"
	"	nop\n"
	".popsection\n");

TEST_F(reason, link_register_or_frame_record)
{
	expect_end("link register or frame record", 1, without_hint_at, without_hint,
		   NULL, NULL);
}

#endif

/* What looks like a frame record, but leads to data, is none either */
TEST_F(reason, no_frame_record)
{
	unsigned long *stack = whole_stack();

	ASSERT_NE(NULL, stack);
	stack[-1] = (unsigned long)stack;
	stack[-2] = (unsigned long)stack;
	expect_end("no table and no frame pointer", 1, without_table_at,
		   without_table, stack - 2, stack - 2);
}

TEST_F(reason, unreadable_memory)
{
	char *stack = mmap(NULL, 2 * WHOLE_STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, stack);
	stack += WHOLE_STACK;
	ASSERT_EQ(0, mprotect(stack, WHOLE_STACK, PROT_NONE));
	expect_end("unreadable memory", 1, without_table_at, without_table,
		   stack, stack);
}

/*
 * Tables that say what is not so
 */

ASM_LABEL(bad_frame_at);
ASM_LABEL(not_text_at);

#if defined(__x86_64__)

ASM_LABEL(needs_register_at);

ASM_FUNCTION(bad_frame,
	     "	pushq	%rbp\n"
	     "	.cfi_adjust_cfa_offset 8\n"
	     "	movq	%rdi, %rbp\n"
	     "	.cfi_def_cfa %rbp, 16\n"
	     "	movl	$110, %eax\n"
	     "	syscall\n"
	     "bad_frame_at:\n"
	     "	popq	%rbp\n"
	     "	.cfi_def_cfa %rsp, 8\n");
/* What it pushes is where a return address should be */
ASM_FUNCTION(not_text,
	     "	pushq	%rdi\n"
	     "	movl	$110, %eax\n"
	     "	syscall\n"
	     "not_text_at:\n"
	     "	popq	%rdi\n");
/* Its frame is found by a register that is its caller's after the call */
ASM_FUNCTION(needs_register,
	     "	leaq	8(%rsp), %r10\n"
	     "	.cfi_def_cfa %r10, 0\n"
	     "	pushq	%r10\n"
	     "	call	samples\n"
	     "needs_register_at:\n"
	     "	popq	%r10\n"
	     "	.cfi_def_cfa %rsp, 8\n");

TEST_F(reason, register_not_known)
{
	expect_end("register not known", 2, needs_register_at, needs_register,
		   NULL, NULL);
	EXPECT_EQ((unsigned long)needs_register_at, whole.ra[0]);
	EXPECT_TRUE(whole_is_right(&self->sampler));
}

#elif defined(__aarch64__)

ASM_FUNCTION(bad_frame,
	     "	stp	x29, x30, [sp, #-16]!\n"
	     "	.cfi_def_cfa_offset 16\n"
	     "	.cfi_offset 29, -16\n"
	     "	.cfi_offset 30, -8\n"
	     "	mov	x29, x0\n"
	     "	.cfi_def_cfa x29, 16\n"
	     "	mov	x8, #173\n"
	     "	svc	#0\n"
	     "bad_frame_at:\n"
	     "	ldp	x29, x30, [sp], #16\n"
	     "	.cfi_restore 29\n"
	     "	.cfi_restore 30\n"
	     "	.cfi_def_cfa sp, 0\n");
/*
 * What it pushes is where a return address should be. That is elsewhere, and as far as
 * the instructions tell, the register need not have it any more.
 */
ASM_FUNCTION(not_text,
	     "	stp	x29, x0, [sp, #-32]!\n"
	     "	.cfi_def_cfa_offset 32\n"
	     "	.cfi_offset 29, -32\n"
	     "	.cfi_offset 30, -24\n"
	     "	str	x30, [sp, #16]\n"
	     "	mov	x8, #173\n"
	     "	svc	#0\n"
	     "not_text_at:\n"
	     "	ldr	x30, [sp, #16]\n"
	     "	add	sp, sp, #32\n"
	     "	.cfi_restore 29\n"
	     "	.cfi_restore 30\n"
	     "	.cfi_def_cfa sp, 0\n");

#endif

TEST_F(reason, bad_frame)
{
	expect_end("bad frame", 1, bad_frame_at, bad_frame, (void *)8, NULL);
}

TEST_F(reason, return_address_not_in_text)
{
	static char data[64] = "no text";

	expect_end("return address not in text", 1, not_text_at, not_text,
		   data, NULL);
}

static struct notes in_chain;

static void run_chain(void *entry)
{
	in_chain = (struct notes){ .next = { sampled_call } };
	((chain_fn)entry)(&in_chain);
	asm volatile("");
}

TEST_F(reason, bad_table)
{
	struct sframe_fde *fde;
	struct image image;
	unsigned int i;
	struct elf elf;
	int fd;

	ASSERT_EQ(0, elf_read(&elf, "chain_table.so"));
	for (i = 0; (fde = elf_fde(&elf, i)); i++)
		fde->fre_off = UINT32_MAX;
	ASSERT_LE(CHAIN_FRAMES, i);
	fd = elf_memfd(&elf);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, image_map(&image, &elf, fd, NULL));
	close(fd);
	elf_free(&elf);
	/* Where sampled_call() was called from, and that from the chain */
	expect_end("bad table", 2, in_chain.ra[CHAIN_FRAMES], run_chain,
		   image.entry, NULL);
}

/*
 * Too many frames
 */

static unsigned long deep_ra;

static void deep(void *arg)
{
	unsigned long *left = arg;

	if (--*left) {
		deep(arg);
	} else {
		deep_ra = (unsigned long)__builtin_return_address(0);
		whole_sample();
	}
	asm volatile("" : : : "memory");
}

TEST_F(reason, limit)
{
	unsigned long left = TOO_DEEP, nr;
	char message[512];

	whole_run(deep, &left, NULL);
	ASSERT_EQ(0, trace_read(&self->trace));
	ASSERT_EQ(1, trace_count(&self->trace, "stop", "reason=\"limit\"",
				 message, sizeof(message)));
	/* All of them are the same call */
	nr = trace_field(message, "nr");
	EXPECT_EQ(deep_ra, trace_field(message, "ip"));
	EXPECT_LE(127, nr);
	EXPECT_GT(TOO_DEEP, nr);
	ASSERT_EQ(0, trace_clear(&self->trace));
	left = TOO_DEEP;
	expect_end("limit", nr, deep_ra, deep, &left, NULL);
	/* One less is all of them: the call, the rest, and whole_end */
	ASSERT_EQ(0, trace_clear(&self->trace));
	left = nr - 1;
	expect_end("end of stack", nr, whole_end, deep, &left, NULL);
}

TEST_HARNESS_MAIN
