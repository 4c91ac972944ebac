// SPDX-License-Identifier: GPL-2.0
/*
 * Registered tables are dropped with the text that they describe, or with the
 * memory that they lie in, as a whole and before anything else can be there.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "code.h"
#include "trace.h"
#include "../../kselftest_harness.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP	4
#endif

#define KEY		0x2001
#define KEY_OTHER	0x2002

/* Text and table of several pages each */
#define FUNCTIONS	600

/* Is the key known?  Whoever asks is left without it. */
#define EXPECT_KNOWN(key)	EXPECT_EQ(0, unwind_table_del(key))
#define EXPECT_UNKNOWN(key)	EXPECT_EQ(-ENOENT, unwind_table_del(key))

static size_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

/*
 * All ways to lose memory are here
 */

#define RW	(PROT_READ | PROT_WRITE)

/* One of the two mappings, and a place of the same size to move it to */
struct victim {
	char	*start;
	char	*end;
	size_t	size;
	char	*other;
	bool	done;
};

#define LOSE(how, done_)						\
static void how(struct victim *v)					\
{									\
	const size_t page = page_size();				\
									\
	(void)page;							\
	v->done = (done_);						\
}

static bool map_over(const void *at, size_t size, int prot)
{
	return mmap((void *)at, size, prot,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at;
}

static bool moved(const void *from, size_t old, size_t new, int flags,
		  const void *to)
{
	return mremap((void *)from, old, new, MREMAP_MAYMOVE | flags, to) !=
	       MAP_FAILED;
}

/* System V shared memory over what is mapped */
static bool shm_over(void *at)
{
	int id = shmget(IPC_PRIVATE, page_size(), IPC_CREAT | 0600);
	bool done = id >= 0 && shmat(id, at, SHM_REMAP) == at;

	if (id >= 0)
		shmctl(id, IPC_RMID, NULL);
	return done;
}

/* There and back again: the contents are the same, but it was gone */
static bool back_and_forth(struct victim *victim)
{
	return moved(victim->start, victim->size, victim->size, MREMAP_FIXED,
		     victim->other) &&
	       moved(victim->other, victim->size, victim->size, MREMAP_FIXED,
		     victim->start);
}

static bool unmap_beside(struct victim *victim)
{
	const size_t page = page_size();

	return !munmap(victim->start - page, page) && !munmap(victim->end, page);
}

static bool map_over_beside(struct victim *victim)
{
	const size_t page = page_size();

	return map_over(victim->start - page, page, RW) &&
	       map_over(victim->end, page, RW);
}

LOSE(unmap, !munmap(v->start, v->size))
LOSE(unmap_first_page, !munmap(v->start, page))
LOSE(unmap_last_page, !munmap(v->end - page, page))
LOSE(unmap_inner_page, !munmap(v->start + page, page))
LOSE(unmap_around, !munmap(v->start - page, v->size + 2 * page))
LOSE(map_fixed, map_over(v->start, v->size, RW))
LOSE(map_fixed_first_page, map_over(v->start, page, RW))
LOSE(map_fixed_last_page, map_over(v->end - page, page, RW))
LOSE(map_fixed_inner_page, map_over(v->start + page, page, RW))
LOSE(map_fixed_no_access, map_over(v->start, v->size, PROT_NONE))
LOSE(move, moved(v->start, v->size, v->size, MREMAP_FIXED, v->other))
LOSE(move_inner_page, moved(v->start + page, page, page, MREMAP_FIXED,
			    v->other))
LOSE(move_and_grow, moved(v->start, v->size, 8 * v->size, 0, NULL))
LOSE(move_back_and_forth, back_and_forth(v))
LOSE(shrink, moved(v->start, v->size, v->size - page, 0, NULL))
LOSE(moved_over, moved(v->other, page, page, MREMAP_FIXED, v->start + page))
LOSE(dont_unmap, moved(v->start, v->size, v->size, MREMAP_DONTUNMAP, NULL))
LOSE(shared_memory_over, shm_over(v->start + page))

/* What leaves the mapping where it is */
LOSE(protect, !mprotect(v->start + page, page, PROT_NONE))
LOSE(lock, !mlock(v->start, v->size))
LOSE(unmap_neighbours, unmap_beside(v))
LOSE(move_neighbour, moved(v->start - page, page, page, MREMAP_FIXED,
			   v->other))
LOSE(map_over_neighbours, map_over_beside(v))

FIXTURE(lost)
{
	struct sampler sampler;
	struct trace trace;
	struct code code;
	char text[64];
	int klog;
};

/* @keeps: nothing is lost, so nothing is dropped */
FIXTURE_VARIANT(lost)
{
	void (*lose)(struct victim *victim);
	bool keeps;
};

FIXTURE_VARIANT_ADD(lost, unmap) {
	.lose = unmap,
};

FIXTURE_VARIANT_ADD(lost, unmap_first_page) {
	.lose = unmap_first_page,
};

FIXTURE_VARIANT_ADD(lost, unmap_last_page) {
	.lose = unmap_last_page,
};

FIXTURE_VARIANT_ADD(lost, unmap_inner_page) {
	.lose = unmap_inner_page,
};

FIXTURE_VARIANT_ADD(lost, unmap_around) {
	.lose = unmap_around,
};

FIXTURE_VARIANT_ADD(lost, map_fixed) {
	.lose = map_fixed,
};

FIXTURE_VARIANT_ADD(lost, map_fixed_first_page) {
	.lose = map_fixed_first_page,
};

FIXTURE_VARIANT_ADD(lost, map_fixed_last_page) {
	.lose = map_fixed_last_page,
};

FIXTURE_VARIANT_ADD(lost, map_fixed_inner_page) {
	.lose = map_fixed_inner_page,
};

FIXTURE_VARIANT_ADD(lost, map_fixed_no_access) {
	.lose = map_fixed_no_access,
};

FIXTURE_VARIANT_ADD(lost, move) {
	.lose = move,
};

FIXTURE_VARIANT_ADD(lost, move_inner_page) {
	.lose = move_inner_page,
};

FIXTURE_VARIANT_ADD(lost, move_and_grow) {
	.lose = move_and_grow,
};

FIXTURE_VARIANT_ADD(lost, move_back_and_forth) {
	.lose = move_back_and_forth,
};

FIXTURE_VARIANT_ADD(lost, shrink) {
	.lose = shrink,
};

FIXTURE_VARIANT_ADD(lost, moved_over) {
	.lose = moved_over,
};

FIXTURE_VARIANT_ADD(lost, dont_unmap) {
	.lose = dont_unmap,
};

FIXTURE_VARIANT_ADD(lost, shared_memory_over) {
	.lose = shared_memory_over,
};

FIXTURE_VARIANT_ADD(lost, protect) {
	.lose = protect,
	.keeps = true,
};

FIXTURE_VARIANT_ADD(lost, lock) {
	.lose = lock,
	.keeps = true,
};

FIXTURE_VARIANT_ADD(lost, unmap_neighbours) {
	.lose = unmap_neighbours,
	.keeps = true,
};

FIXTURE_VARIANT_ADD(lost, move_neighbour) {
	.lose = move_neighbour,
	.keeps = true,
};

FIXTURE_VARIANT_ADD(lost, map_over_neighbours) {
	.lose = map_over_neighbours,
	.keeps = true,
};

/* Text and table where they have neighbours that may be unmapped */
FIXTURE_SETUP(lost)
{
	const size_t page = page_size(), room = 64 * page;
	struct code at;

	if (sampler_open(&self->sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*");
	self->klog = klog_open();
	ASSERT_LE(0, self->klog);

	at.text = mmap(NULL, 2 * room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	ASSERT_NE(MAP_FAILED, at.text);
	ASSERT_EQ(0, munmap(at.text, 2 * room));
	at.text += page;
	at.table = at.text + room;
	ASSERT_EQ(0, code_map_at(&self->code, FUNCTIONS, CODE_FRAME, CODE_FRAME,
				 &at));
	ASSERT_LE(3 * page, self->code.table_mapped);
	ASSERT_LE(3 * page, self->code.text_mapped);
	ASSERT_TRUE(map_over(at.text - page, page, RW));
	ASSERT_TRUE(map_over(at.text + self->code.text_mapped, page, RW));
	ASSERT_TRUE(map_over(at.table - page, page, RW));
	ASSERT_TRUE(map_over(at.table + self->code.table_mapped, page, RW));
	snprintf(self->text, sizeof(self->text), "text=0x%lx-0x%lx",
		 (unsigned long)self->code.text,
		 (unsigned long)self->code.text + self->code.text_size);
}

FIXTURE_TEARDOWN(lost)
{
	sampler_close(&self->sampler);
	trace_stop(&self->trace);
	close(self->klog);
}

static void expect_lost(struct __test_metadata *_metadata,
			struct _test_data_lost *self,
			const struct _fixture_variant_lost *variant,
			struct victim *victim)
{
	victim->other = mmap(NULL, victim->size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, victim->other);
	ASSERT_EQ(0, code_register(&self->code, KEY));
	EXPECT_EQ(THROUGH, code_through(&self->sampler, code_fn(&self->code, 0)));
	ASSERT_EQ(0, trace_clear(&self->trace));

	variant->lose(victim);
	ASSERT_TRUE(victim->done)
		TH_LOG("%s", strerror(errno));

	ASSERT_EQ(0, trace_read(&self->trace));
	EXPECT_EQ(!variant->keeps, trace_count(&self->trace, "table_dropped",
					       self->text, NULL, 0));
	EXPECT_EQ(variant->keeps ? 0 : -ENOENT, unwind_table_del(KEY));
	EXPECT_TRUE(klog_silent(self->klog));

	/* It can come back only by being registered */
	munmap(self->code.text, self->code.text_mapped);
	munmap(self->code.table, self->code.table_mapped);
	ASSERT_EQ(0, code_map_at(&self->code, FUNCTIONS, CODE_FRAME, CODE_FRAME,
				 &self->code));
	EXPECT_EQ(THROUGH_NOT, code_through(&self->sampler,
					    code_fn(&self->code, 0)));
	EXPECT_EQ(0, code_register(&self->code, KEY));
	EXPECT_EQ(THROUGH, code_through(&self->sampler, code_fn(&self->code, 0)));
}

TEST_F(lost, text)
{
	struct victim victim = {
		.start = self->code.text,
		.end = self->code.text + self->code.text_mapped,
		.size = self->code.text_mapped,
	};

	expect_lost(_metadata, self, variant, &victim);
}

TEST_F(lost, table)
{
	struct victim victim = {
		.start = self->code.table,
		.end = self->code.table + self->code.table_mapped,
		.size = self->code.table_mapped,
	};

	expect_lost(_metadata, self, variant, &victim);
}

/*
 * Other ways
 */

FIXTURE(drop)
{
	struct sampler sampler;
	struct code code;
};

FIXTURE_SETUP(drop)
{
	if (sampler_open(&self->sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	ASSERT_EQ(0, code_map(&self->code, FUNCTIONS));
}

FIXTURE_TEARDOWN(drop)
{
	sampler_close(&self->sampler);
	code_unmap(&self->code);
}

/* What becomes of a stack through the first function, or any other */
static enum through through_fn(struct _test_data_drop *self, unsigned int i)
{
	return code_through(&self->sampler, code_fn(&self->code, i));
}

static enum through through(struct _test_data_drop *self)
{
	return through_fn(self, 0);
}

/* In the heap, which shrinks in a way of its own */
TEST_F(drop, dropped_with_the_heap)
{
	const size_t page = page_size();
	struct unwind_table_attr attr;
	uintptr_t table, end;
	uint64_t fn;

	table = (uintptr_t)sbrk(2 * page);
	end = table + 2 * page;
	ASSERT_NE(-1UL, table);
	table = (table + page - 1) & -page;
	fn = (uintptr_t)code_fn(&self->code, 0);
	code_table_write((void *)table, table, &fn, 1, CODE_FRAME);
	code_attr_fn(&attr, &self->code, 0, KEY);
	attr.table_start = table;
	attr.table_size = code_table_size(1);
	ASSERT_EQ(0, unwind_table_add(&attr));
	EXPECT_EQ(THROUGH, through(self));
	/* Nobody else took more */
	ASSERT_EQ(end, (uintptr_t)sbrk(0));
	ASSERT_EQ(0, brk((void *)table));
	EXPECT_EQ(THROUGH_NOT, through(self));
	EXPECT_UNKNOWN(KEY);
}

/* One table of several ranges: all go with it, and no others */
TEST_F(drop, dropped_with_the_table_of_several)
{
	struct unwind_table_attr attr;
	struct code other;
	unsigned int i;

	ASSERT_EQ(0, code_map(&other, 1));
	ASSERT_EQ(0, code_register(&other, KEY));
	for (i = 0; i < 10; i++) {
		code_attr_fn(&attr, &self->code, 2 * i, i ? KEY : KEY_OTHER);
		ASSERT_EQ(0, unwind_table_add(&attr));
	}
	ASSERT_EQ(0, munmap(self->code.table, self->code.table_mapped));
	for (i = 0; i < 10; i++)
		EXPECT_EQ(THROUGH_NOT, through_fn(self, 2 * i));
	EXPECT_UNKNOWN(KEY_OTHER);
	EXPECT_EQ(THROUGH, code_through(&self->sampler, code_fn(&other, 0)));
	EXPECT_KNOWN(KEY);
	EXPECT_UNKNOWN(KEY);
}

/* Tables that claim more and more of the same memory */
TEST_F(drop, dropped_with_overlapping_tables)
{
	const size_t page = page_size();
	struct unwind_table_attr attr;
	uint64_t fn[4];
	unsigned int i;
	char *table;

	table = mmap(NULL, 4 * page, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, table);
	for (i = 0; i < 4; i++)
		fn[i] = (uintptr_t)code_fn(&self->code, i);
	code_table_write(table, (uintptr_t)table, fn, 4, CODE_FRAME);
	for (i = 0; i < 4; i++) {
		code_attr_fn(&attr, &self->code, i, KEY + i);
		attr.table_start = (uintptr_t)table;
		attr.table_size = (i + 1) * page;
		ASSERT_EQ(0, unwind_table_add(&attr));
	}
	ASSERT_EQ(0, munmap(table + 2 * page, 2 * page));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(i < 2 ? THROUGH : THROUGH_NOT, through_fn(self, i));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(i < 2 ? 0 : -ENOENT, unwind_table_del(KEY + i));
	munmap(table, 2 * page);
}

/* Text that is mapped after it was registered */
TEST_F(drop, text_mapped_later)
{
	char *text = self->code.text;

	ASSERT_EQ(0, munmap(text, self->code.text_mapped));
	ASSERT_EQ(0, code_register(&self->code, KEY));
	ASSERT_EQ(text, mmap(text, self->code.text_mapped, RW, MAP_PRIVATE |
			     MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
	code_write(text, CODE_FRAME);
	ASSERT_EQ(0, mprotect(text, self->code.text_mapped,
			      PROT_READ | PROT_EXEC));
	EXPECT_EQ(THROUGH, through(self));
	EXPECT_KNOWN(KEY);
}

TEST_HARNESS_MAIN
