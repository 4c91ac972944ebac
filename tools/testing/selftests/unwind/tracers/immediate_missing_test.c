// SPDX-License-Identifier: GPL-2.0
/*
 * Immediate user stacks where something is missing: the table of a file is not loaded,
 * memory is not resident, or mappings or a table may change just then.
 *
 * An immediate stack waits for nothing. If a table or a page is missing, the sample has
 * the stack by frame pointers, and the task is asked for a deferred unwind, which brings
 * in both. The task is not asked for what cannot be brought in. The kernel counts each
 * result.
 *
 * As in immediate_test.c, this program keeps frame pointers, and frame pointers skip the
 * mapped chains (chain.h), so the two kinds of stacks differ.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "call.h"
#include "code_register.h"
#include "image.h"
#include "shots.h"
#include "../../kselftest_harness.h"

/* By frame pointers alone: on arm64, this program has a table */
#ifdef __aarch64__
#define BY_FP	TAKEN
#else
#define BY_FP	NO_TABLE
#endif

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void call_next(struct notes *notes)
{
	notes->next[notes->nr_next++](notes);
	/* Not a jump */
	asm volatile("" : : : "memory");
}

/* Samples until this program's own files are known: a worker may have to read them */
static bool knows_this_program(struct subject *subject)
{
	const double end = seconds() + 20;
	struct stack expected;
	struct shot shot;

	do {
		usleep(1000);
		if (shoot(subject, call_next, "1", &shot, &expected))
			return false;
	} while (!shot.counts[BY_FP] && seconds() < end);
	return shot.counts[BY_FP];
}

FIXTURE(missing)
{
	struct subject subject;
	struct elf elf;
	struct code code;
	int fd;
};

FIXTURE_SETUP(missing)
{
	ASSERT_FALSE(immediate_missing());
	self->fd = -1;
	if (subject_open(&self->subject))
		SKIP(return, CANNOT);
	ASSERT_TRUE(knows_this_program(&self->subject));
}

FIXTURE_TEARDOWN(missing)
{
	image_unmap(&self->subject.image);
	code_unmap(&self->code);
	elf_free(&self->elf);
	if (self->fd >= 0)
		close(self->fd);
	subject_close(&self->subject);
}

/* Was the sample counted once, as @count, and was the task asked @asked times? */
static bool counted(const struct shot *shot, enum count count, long asked)
{
	bool right = shot->counts[ASKED] == asked;
	int i;

	for (i = 0; i < ASKED; i++)
		right &= shot->counts[i] == (i == count);
	for (i = 0; !right && i < NR_COUNTS; i++)
		printf("# count %d: %ld\n", i, shot->counts[i]);
	return right;
}

/*
 * Tables of files
 */

static chain_fn map_file(struct _test_data_missing *self, void *where)
{
	struct image *image = &self->subject.image;

	return image_map(image, &self->elf, self->fd, where) ? NULL : image->entry;
}

/* The file at an address has the table, not the address: other code has other frames */
TEST_F(missing, other_file_at_the_same_place_has_its_own_table)
{
	static const char * const twins[] = { "chain_table.so",
					      "chain_table_other.so" };
	struct stack expected;
	struct shot shots[3];
	void *where = NULL;
	chain_fn fn;
	int i;

	for (i = 0; i < 6; i++) {
		ASSERT_EQ(0, elf_read(&self->elf, twins[i % 2]));
		self->fd = elf_memfd(&self->elf);
		ASSERT_LE(0, self->fd);
		fn = map_file(self, where);
		ASSERT_NE(NULL, fn);
		where = self->subject.image.base;
		ASSERT_EQ(0, shoot(&self->subject, fn, "111", shots, &expected));
		EXPECT_TRUE(counted(&shots[0], MISSING, 1));
		EXPECT_TRUE(shot_is_whole(&shots[1], &expected));
		EXPECT_TRUE(shot_is_whole(&shots[2], &expected));
		close(self->fd);
		elf_free(&self->elf);
	}
	self->fd = -1;
}

TEST_F(missing, file_mapped_again_is_known_at_once)
{
	struct stack expected;
	struct shot shots[2];
	char *there;
	chain_fn fn;
	int i;

	ASSERT_EQ(0, elf_read(&self->elf, "chain_table.so"));
	self->fd = elf_memfd(&self->elf);
	ASSERT_LE(0, self->fd);
	fn = map_file(self, NULL);
	ASSERT_NE(NULL, fn);
	ASSERT_EQ(0, shoot(&self->subject, fn, "11", shots, &expected));
	EXPECT_TRUE(counted(&shots[0], MISSING, 1));
	EXPECT_TRUE(counted(&shots[1], TAKEN, 0));
	for (i = 0; i < 3; i++) {
		there = self->subject.image.base;
		image_unmap(&self->subject.image);
		/* Somewhere else */
		ASSERT_EQ(there, mmap(there, page_size(), PROT_NONE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
		fn = map_file(self, NULL);
		ASSERT_NE(NULL, fn);
		ASSERT_NE(there, self->subject.image.base);
		ASSERT_EQ(0, shoot(&self->subject, fn, "1", shots, &expected));
		EXPECT_TRUE(counted(&shots[0], TAKEN, 0));
		EXPECT_TRUE(shot_is_whole(&shots[0], &expected));
	}
}

FIXTURE(useless)
{
	struct subject subject;
};

FIXTURE_VARIANT(useless)
{
	const char *file;
	unsigned int version;
};

FIXTURE_VARIANT_ADD(useless, none) {
	.file = "chain_none.so",
};

FIXTURE_VARIANT_ADD(useless, bad) {
	.file = "chain_table.so", .version = 99,
};

FIXTURE_SETUP(useless)
{
	if (subject_open(&self->subject))
		SKIP(return, CANNOT);
	ASSERT_TRUE(knows_this_program(&self->subject));
}

FIXTURE_TEARDOWN(useless)
{
	subject_close(&self->subject);
}

/* The first sample makes the kernel look; the file has no table, or no good one */
TEST_F(useless, table_is_requested_once)
{
	static const char modes[] = "01111111111111111111";
	struct shot shots[sizeof(modes)];
	struct stack expected;
	struct elf elf;
	int i, fd;

	ASSERT_EQ(0, elf_read(&elf, variant->file));
	if (variant->version)
		elf_sframe(&elf)->version = variant->version;
	fd = elf_memfd(&elf);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, image_map(&self->subject.image, &elf, fd, NULL));
	ASSERT_EQ(0, shoot(&self->subject, (chain_fn)self->subject.image.entry, modes,
			   shots, &expected));
	EXPECT_TRUE(counted(&shots[1], MISSING, 1));
	for (i = 1; modes[i]; i++) {
		EXPECT_TRUE(shot_is_same(&shots[0], &shots[i]));
		EXPECT_TRUE(i == 1 || counted(&shots[i], BY_FP, 0));
	}
}

/* Samples until the stack is whole: the kernel tries again after a second at most */
static bool becomes_whole(struct subject *subject, chain_fn fn)
{
	const double end = seconds() + 20;
	struct stack expected;
	struct shot shot;

	do {
		usleep(1000);
		if (shoot(subject, fn, "1", &shot, &expected))
			return false;
		if (shot.counts[TAKEN] && shot_has(&shot, expected.ip[2]))
			return shot_is_whole(&shot, &expected);
	} while (seconds() < end);
	return false;
}

/*
 * One sample with the sysctl off and many with it on, of a file that is open for writing:
 * all have the same stack. The kernel tries again after a second.
 */
static bool is_rarely_requested(struct subject *subject, chain_fn fn)
{
	static const char modes[] = "01111111111111111111";
	struct shot shots[sizeof(modes)];
	const double begin = seconds();
	struct stack expected;
	long asked = 0;
	bool right;
	int i;

	if (shoot(subject, fn, modes, shots, &expected))
		return false;
	right = counted(&shots[1], MISSING, 1);
	for (i = 1; modes[i]; i++) {
		long now = shots[i].counts[ASKED];

		right &= shot_is_same(&shots[0], &shots[i]) &&
			 counted(&shots[i], now ? MISSING : BY_FP, now);
		asked += now;
	}
	return right && asked <= 3 + (seconds() - begin);
}

/* Its contents may change at any time, and there may be no trace of that */
TEST_F(missing, table_of_a_file_open_for_writing_is_not_used)
{
	char path[64];
	chain_fn fn;
	int writer;

	ASSERT_EQ(0, elf_read(&self->elf, "chain_table.so"));
	ASSERT_EQ(0, elf_program(&self->elf, path, sizeof(path)));
	self->fd = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	fn = map_file(self, NULL);
	ASSERT_NE(NULL, fn);

	/* Before it is loaded */
	writer = open(path, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, writer);
	EXPECT_TRUE(is_rarely_requested(&self->subject, fn));
	close(writer);
	EXPECT_TRUE(becomes_whole(&self->subject, fn));
	/* And after */
	writer = open(path, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, writer);
	EXPECT_TRUE(is_rarely_requested(&self->subject, fn));
	close(writer);
	EXPECT_TRUE(becomes_whole(&self->subject, fn));
	unlink(path);
}

/*
 * Registered tables
 */

/* The kernel makes its own table of it when a deferred stack needs it */
TEST_F(missing, registered_table_is_used_from_the_second_sample)
{
	struct stack expected;
	struct shot shots[4];
	chain_fn fn;

	ASSERT_EQ(0, code_map(&self->code, 1));
	ASSERT_EQ(0, code_register(&self->code, 1));
	fn = code_fn(&self->code, 0);
	ASSERT_EQ(0, shoot(&self->subject, fn, "0111", shots, &expected));
	EXPECT_TRUE(counted(&shots[1], MISSING, 1));
	EXPECT_TRUE(shot_is_same(&shots[0], &shots[1]));
	EXPECT_TRUE(counted(&shots[2], TAKEN, 0));
	EXPECT_TRUE(shot_is_whole(&shots[2], &expected));

	/* From then on, it does not matter what becomes of the section */
	memset(self->code.table, 0, self->code.table_size);
	ASSERT_EQ(0, mprotect(self->code.table, self->code.table_mapped, PROT_NONE));
	ASSERT_EQ(0, shoot(&self->subject, fn, "1", shots, &expected));
	EXPECT_TRUE(counted(&shots[0], TAKEN, 0));
	EXPECT_TRUE(shot_is_whole(&shots[0], &expected));
	EXPECT_EQ(0, unwind_table_del(1));
}

/* It may change while it is read: for deferred stacks alone */
TEST_F(missing, changing_table_is_not_used)
{
	struct unwind_table_attr attr;
	struct stack expected;
	struct shot shots[4];
	chain_fn fn;
	int i;

	ASSERT_EQ(0, code_map(&self->code, 1));
	code_attr(&attr, &self->code, 1);
	attr.flags = UNWIND_TABLE_JIT;
	ASSERT_EQ(0, unwind_table_add(&attr));
	fn = code_fn(&self->code, 0);
	ASSERT_EQ(0, shoot(&self->subject, fn, "0111", shots, &expected));
	for (i = 1; i < 4; i++) {
		EXPECT_TRUE(counted(&shots[i], CHANGING, 0));
		EXPECT_TRUE(shot_is_same(&shots[0], &shots[i]));
	}
	EXPECT_EQ(THROUGH, code_through_here(&self->code, 0));
	EXPECT_EQ(0, unwind_table_del(1));
}

/*
 * A sample inside a system call that changes mappings, while the task itself has the lock
 */

static char *protected;

static void protect(struct notes *notes)
{
	unsigned long ip;

	notes->ra[notes->nr++] = (unsigned long)__builtin_return_address(0);
	syscall3_at(SYS_mprotect, (long)protected, page_size(), PROT_READ, &ip);
	notes->ra[notes->nr++] = ip;
}

/* The records are kept: stacks point into them */
static int shoot_at_lock(struct _test_data_missing *self, chain_fn fn, const char *mode,
			 struct shot *shot, struct stack *expected)
{
	struct notes notes = { .nr_next = 1, .next = { fn, protect } };
	const size_t nr = self->subject.now_recs.nr;
	struct perf_event_attr attr;
	struct sampler sampler;
	long before[NR_COUNTS];
	int i, ret;

	if (tracepoint_attr(&attr, "mmap_lock/mmap_lock_acquire_returned") ||
	    write_text(IMMEDIATE_SYSCTL, mode) ||
	    mprotect(protected, page_size(), PROT_READ | PROT_WRITE))
		return -1;
	attr.defer_callchain = 0;
	attr.defer_output = 0;
	read_counts(before);
	if (sampler_open_attr(&sampler, &attr, 0, "write == 1"))
		return -1;
	fn(&notes);
	ret = event_disable(sampler.fd);
	read_counts(shot->counts);
	for (i = 0; i < NR_COUNTS; i++)
		shot->counts[i] -= before[i];
	expect_chain(expected, &notes);
	ret = ret ?: records_read(&self->subject.now_recs, &sampler.ring);
	sampler_close(&sampler);
	if (ret || self->subject.now_recs.nr != nr + 1)
		return -1;
	shot->rec = self->subject.now_recs.rec[nr];
	return 0;
}

/* By one call site, also where the compiler knows @modes: the stacks are compared */
static int shoot_at_locks(struct _test_data_missing *self, chain_fn fn, const char *modes,
			  struct shot *shots, struct stack *expected)
{
	int ret = 0;

	for (; *modes && !ret; modes++) {
		const char mode[] = { *modes, 0 };

		/* Not unrolled */
		asm volatile("" : "+r"(modes));
		ret = shoot_at_lock(self, fn, mode, shots++, expected);
	}
	return ret;
}

TEST_F(missing, stack_while_mappings_change_is_not_taken)
{
	struct stack expected;
	struct shot shots[3];
	chain_fn fn;
	int i;

	protected = mmap(NULL, page_size(), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, protected);
	fn = image_load(&self->subject.image, "chain_table.so");
	ASSERT_NE(NULL, fn);
	ASSERT_EQ(0, shoot(&self->subject, fn, "11", shots, &expected));
	EXPECT_TRUE(counted(&shots[1], TAKEN, 0));

	/* With the sysctl off, then on */
	if (shoot_at_locks(self, fn, "011", shots, &expected))
		SKIP(return, "no event of the mmap lock");
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(expected.ip[0], shots[i].rec.ips[1]);
		EXPECT_FALSE(shot_has(&shots[i], expected.ip[2]));
		EXPECT_TRUE(shot_is_same(&shots[0], &shots[i]));
		EXPECT_TRUE(!i || counted(&shots[i], CHANGING, 0));
	}
}

/*
 * Stack pages that are not resident: a stack in shared memory, whose outer pages the
 * process drops from its page tables just before the sample. Their contents stay.
 */

#define SHARED_PAGES	32

static struct {
	char		*stack;
	char		*outer;
	bool		drop;
	bool		is_back;
	chain_fn	fn;
	struct notes	*notes;
	ucontext_t	here;
	ucontext_t	there;
} shared;

/* Is the page in the process's page tables? */
static bool is_present(const void *at)
{
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || pread(fd, &entry, sizeof(entry),
			    (uintptr_t)at / page_size() * sizeof(entry)) != sizeof(entry))
		abort();
	close(fd);
	return entry >> 63;
}

static void sampled_without_outer_pages(struct notes *notes)
{
	const char *end = shared.stack + SHARED_PAGES * page_size();

	notes->ra[notes->nr++] = (unsigned long)__builtin_return_address(0);
	if (shared.drop && madvise(shared.outer, end - shared.outer, MADV_DONTNEED))
		abort();
	if (is_present(shared.outer) == shared.drop)
		abort();
	sampled_call(notes);
	shared.is_back = is_present(shared.outer);
}

/* The inner functions' frames are some pages away from the outer ones' */
static void far_away(struct notes *notes)
{
	const size_t page = page_size();
	char locals[4 * page];

	notes->ra[notes->nr++] = (unsigned long)__builtin_return_address(0);
	shared.outer = (char *)((uintptr_t)__builtin_frame_address(0) & -page);
	asm volatile("" : : "r"(locals) : "memory");
	notes->next[notes->nr_next++](notes);
	asm volatile("" : : "r"(locals) : "memory");
}

static void begin_on_shared_stack(void)
{
	shared.fn(shared.notes);
}

static void on_shared_stack(struct notes *notes)
{
	*notes = (struct notes){
		.next = { far_away, shared.fn, sampled_without_outer_pages },
	};
	shared.notes = notes;
	if (getcontext(&shared.there))
		abort();
	shared.there.uc_stack.ss_sp = shared.stack;
	shared.there.uc_stack.ss_size = SHARED_PAGES * page_size();
	shared.there.uc_link = &shared.here;
	makecontext(&shared.there, begin_on_shared_stack, 0);
	if (swapcontext(&shared.here, &shared.there))
		abort();
}

TEST_F(missing, stack_page_is_brought_in)
{
	struct stack expected;
	struct shot shots[2];
	int i;

	shared.stack = mmap(NULL, SHARED_PAGES * page_size(), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, shared.stack);
	shared.fn = image_load(&self->subject.image, "chain_table.so");
	ASSERT_NE(NULL, shared.fn);
	shared.drop = false;
	ASSERT_EQ(0, shoot(&self->subject, on_shared_stack, "11", shots, &expected));
	EXPECT_TRUE(counted(&shots[1], TAKEN, 0));
	EXPECT_TRUE(shot_is_whole(&shots[1], &expected));

	for (i = 0; i < 4; i++) {
		shared.drop = true;
		ASSERT_EQ(0, shoot(&self->subject, on_shared_stack, "0", &shots[0], &expected));
		EXPECT_FALSE(shared.is_back);
		ASSERT_EQ(0, shoot(&self->subject, on_shared_stack, "1", &shots[1], &expected));
		EXPECT_TRUE(shared.is_back);
		EXPECT_TRUE(counted(&shots[1], MISSING, 1));
		EXPECT_TRUE(shot_is_same(&shots[0], &shots[1]));
		shared.drop = false;
		ASSERT_EQ(0, shoot(&self->subject, on_shared_stack, "1", &shots[1], &expected));
		EXPECT_TRUE(counted(&shots[1], TAKEN, 0));
		EXPECT_TRUE(shot_is_whole(&shots[1], &expected));
	}
}

/*
 * A stack that stops at a page of another mapping, which is one page of a file. The
 * return address of the outermost function is there, or a frame pointer points there.
 */

static struct {
	char		*end;
	int		fd;
	chain_fn	fn;
	unsigned long	fp;
	void		(*before)(void);
	void		(*after)(void);
	bool		is_back;
	jmp_buf		back;
} guarded;

#define GUARDED_PAGES	16

static void sampled_with_guard(struct notes *notes)
{
	notes->ra[notes->nr++] = (unsigned long)__builtin_return_address(0);
	guarded.before();
	sampled_call(notes);
	guarded.is_back = is_present(guarded.end);
	guarded.after();
	/* Its caller's caller has no return address */
	longjmp(guarded.back, 1);
}

/*
 * Call @fn on the stack that stops at @end, with frame pointer @fp. The return address is
 * beyond the end. It does not return.
 */
void call_at_end(chain_fn fn, struct notes *notes, void *end, unsigned long fp);

#if defined(__x86_64__)

asm(".pushsection .text\n"
	".type call_at_end, %function\n"
	"call_at_end:\n"
	"	movq	%rdx, %rsp\n"
	"	movq	%rcx, %rbp\n"
	"	movq	%rdi, %rax\n"
	"	movq	%rsi, %rdi\n"
	"	jmp	*%rax\n"
	".size call_at_end, . - call_at_end\n"
	".popsection\n");

#elif defined(__aarch64__)

/* The call's return address is in a register, so this function's own frame is beyond the end */
asm(".pushsection .text\n"
	".type call_at_end, %function\n"
	"call_at_end:\n"
	"	.cfi_startproc\n"
	"	add	sp, x2, #16\n"
	"	mov	x29, x3\n"
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
	call_at_end(guarded.fn, notes, guarded.end, guarded.fp);
}

static bool make_guarded_stack(chain_fn fn)
{
	const size_t page = page_size();
	char *stack = mmap(NULL, GUARDED_PAGES * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	guarded.end = stack + (GUARDED_PAGES - 1) * page;
	guarded.fn = fn;
	guarded.fp = 0;
	guarded.fd = memfd_create("guard", MFD_CLOEXEC);
	return stack != MAP_FAILED && guarded.fd >= 0 &&
	       !ftruncate(guarded.fd, page) &&
	       mmap(guarded.end, page, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_FIXED, guarded.fd, 0) == guarded.end;
}

static void free_guarded_stack(void)
{
	munmap(guarded.end - (GUARDED_PAGES - 1) * page_size(), GUARDED_PAGES * page_size());
	close(guarded.fd);
}

static void nothing(void)
{
}

static void file_ends(void)
{
	if (ftruncate(guarded.fd, 0))
		abort();
}

static void file_has_page(void)
{
	if (ftruncate(guarded.fd, page_size()))
		abort();
}

/* It lies after the end of a file, so it can never be brought in; but the mapping allows it */
TEST_F(missing, absent_memory_is_requested_each_time)
{
	struct stack expected;
	struct shot shots[12];
	chain_fn fn;
	int i;

	fn = image_load(&self->subject.image, "chain_table.so");
	ASSERT_NE(NULL, fn);
	ASSERT_TRUE(make_guarded_stack(fn));
	guarded.before = file_ends;
	guarded.after = file_has_page;
	ASSERT_EQ(0, shoot(&self->subject, on_guarded_stack, "011111111111", shots, &expected));
	for (i = 1; i < 12; i++) {
		EXPECT_TRUE(counted(&shots[i], MISSING, 1));
		EXPECT_TRUE(shot_is_same(&shots[0], &shots[i]));
		EXPECT_FALSE(guarded.is_back);
	}
	free_guarded_stack();
}

static void page_closes(void)
{
	if (mprotect(guarded.end, page_size(), PROT_NONE))
		abort();
}

static void page_opens(void)
{
	if (mprotect(guarded.end, page_size(), PROT_READ | PROT_WRITE))
		abort();
}

/* Nothing can be brought in there: the stack is what there is */
TEST_F(missing, inaccessible_memory_ends_the_stack)
{
	struct stack expected;
	struct shot shots[4];
	chain_fn fn;
	int i;

	fn = image_load(&self->subject.image, "chain_table.so");
	ASSERT_NE(NULL, fn);
	ASSERT_TRUE(make_guarded_stack(fn));
	guarded.before = page_closes;
	guarded.after = page_opens;
	ASSERT_EQ(0, shoot(&self->subject, on_guarded_stack, "1111", shots, &expected));
	/* But for the outermost return address */
	expected.nr--;
	for (i = 1; i < 4; i++) {
		EXPECT_TRUE(counted(&shots[i], TAKEN, 0));
		EXPECT_TRUE(shot_is_whole(&shots[i], &expected));
		EXPECT_GE(expected.nr + 2, shots[i].rec.nr);
	}
	free_guarded_stack();
}

static void drop_page(void)
{
	if (madvise(guarded.end, page_size(), MADV_DONTNEED))
		abort();
}

/* The frame pointer is a guess: its target may be anything */
TEST_F(missing, frame_pointer_to_other_memory_brings_nothing_in)
{
	struct stack expected;
	struct shot shots[4];
	chain_fn fn;
	int i;

	fn = image_load(&self->subject.image, "chain_none.so");
	ASSERT_NE(NULL, fn);
	ASSERT_TRUE(make_guarded_stack(fn));
	guarded.fp = (unsigned long)guarded.end + page_size() / 2;
	guarded.before = drop_page;
	guarded.after = nothing;
	/* In deferred stacks, too: the first sample asks for one */
	ASSERT_EQ(0, shoot(&self->subject, on_guarded_stack, "1", shots, &expected));
	EXPECT_TRUE(counted(&shots[0], MISSING, 1));
	EXPECT_FALSE(guarded.is_back);
	ASSERT_EQ(0, shoot(&self->subject, on_guarded_stack, "0111", shots, &expected));
	for (i = 1; i < 4; i++) {
		EXPECT_TRUE(counted(&shots[i], BY_FP, 0));
		EXPECT_TRUE(shot_is_same(&shots[0], &shots[i]));
	}
	EXPECT_FALSE(guarded.is_back);
	free_guarded_stack();
}

TEST_HARNESS_MAIN
