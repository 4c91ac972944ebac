// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the SFrame decoder: lookups in user memory that is missing or changes.
 *
 * Sections are in a file that is mapped read-only, as in programs. Its
 * pages are not resident until somebody touches them, and come back with the same
 * contents after they were dropped. Two layouts:
 *
 *	spread	page 0		header and index
 *		page 1 + i	FREs of function i, at the page's end; the FREs of
 *				the last function continue in the page after
 *	index	page 0 ... 2	header and index
 *		page 3 ...	FREs
 *
 * Function i is FUNC_SIZE bytes at TEXT + i * FUNC_SIZE, its CFA SP + i + 1.
 */

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>
#include <linux/shmem_fs.h>
#include <linux/unwind_base.h>

#include "sframe_build.h"
#include "sframe_user.h"

#define ABI		SFB_AMD64
#define TEXT		0x1000000
#define FUNC_SIZE	16

#define SPREAD_FUNCS	4
#define SPREAD_PAGES	(SPREAD_FUNCS + 2)
#define INDEX_PAGES	3

/**
 * struct mem_test - a section in user memory
 * @version: of the section
 * @file: with the section
 * @addr: where it is mapped
 * @size: of the mapping
 * @num_funcs: in the section
 * @fdes: position of the index
 * @fde_size: of an entry of it
 * @sec: the section, its header read
 */
struct mem_test {
	u8			version;
	struct file		*file;
	unsigned long		addr;
	unsigned long		size;
	u32			num_funcs;
	u32			fdes;
	u32			fde_size;
	struct sframe_section	sec;
};

/*
 * Making a section
 */

static void put_file(void *file)
{
	fput(file);
}

static void make_file(struct kunit *test, struct mem_test *m, unsigned long size)
{
	m->size = size;
	m->file = shmem_file_setup("sframe", size, mk_vma_flags(VMA_NORESERVE_BIT));
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, m->file);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, put_file, m->file),
			0);
}

static void write_file(struct kunit *test, struct mem_test *m, const void *buf,
		       size_t len, loff_t pos)
{
	KUNIT_ASSERT_EQ(test, kernel_write(m->file, buf, len, &pos), len);
}

static void free_image(void *img)
{
	sfb_free(img);
}

/* @index_size: bytes up to the FREs, 0 for no gap */
static struct sfb_image *build(struct kunit *test, struct mem_test *m,
			       u32 num_funcs, u32 index_size)
{
	struct sfb_table table = {
		.version = m->version, .flags = SFB_SORTED | SFB_PCREL,
		.abi = ABI, .fixed_ra = -8, .num_funcs = num_funcs,
	};
	struct sfb_image *img;
	struct sfb_func *funcs;
	struct sfb_fre *fres;
	u32 i;

	img = kunit_kzalloc(test, sizeof(*img), GFP_KERNEL);
	funcs = kunit_kcalloc(test, num_funcs, sizeof(*funcs), GFP_KERNEL);
	fres = kunit_kcalloc(test, num_funcs, sizeof(*fres), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, img);
	KUNIT_ASSERT_NOT_NULL(test, funcs);
	KUNIT_ASSERT_NOT_NULL(test, fres);
	for (i = 0; i < num_funcs; i++) {
		fres[i] = (struct sfb_fre)SFB_FRE(0, SFB_SP, 1, i + 1);
		funcs[i] = (struct sfb_func){
			.start = TEXT + i * FUNC_SIZE, .size = FUNC_SIZE,
			.num_fres = 1, .fres = &fres[i],
		};
	}
	m->num_funcs = num_funcs;
	m->fde_size = m->version == 2 ? 20 : 16;
	m->fdes = SFB_HDR_SIZE;
	if (index_size)
		table.fre_gap = index_size - m->fdes - num_funcs * m->fde_size;
	table.funcs = funcs;
	KUNIT_ASSERT_EQ(test, sfb_build(img, &table), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_image, img), 0);
	return img;
}

static struct mem_test *mem_alloc(struct kunit *test)
{
	const u8 *version = test->param_value;
	struct mem_test *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, m);
	m->version = *version;
	return m;
}

static void map_file(struct kunit *test, struct mem_test *m)
{
	m->addr = kunit_vm_mmap(test, m->file, 0, m->size, PROT_READ,
				MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, m->addr, 0);
	KUNIT_ASSERT_LT(test, m->addr, TASK_SIZE);
}

static void read_header(struct kunit *test, struct mem_test *m)
{
	KUNIT_ASSERT_EQ(test, user_read_header(&m->sec, m->addr, m->size, ABI, USER_FAULTS), 0);
}

/* Position of function @i's FREs in the spread layout */
static u32 spread_pos(u32 i)
{
	/* The last two bytes of a page have the start of them */
	return i == SPREAD_FUNCS - 1 ? (i + 2) * PAGE_SIZE - 2 :
				       (i + 1) * PAGE_SIZE + 128;
}

static struct mem_test *make_spread(struct kunit *test)
{
	struct mem_test *m = mem_alloc(test);
	struct sfb_image *img;
	u32 i;

	img = build(test, m, SPREAD_FUNCS, 0);
	make_file(test, m, SPREAD_PAGES * PAGE_SIZE);
	for (i = 0; i < SPREAD_FUNCS; i++) {
		u32 end = i + 1 < SPREAD_FUNCS ? img->func_fres[i + 1] : img->size;

		write_file(test, m, img->bytes + img->func_fres[i],
			   end - img->func_fres[i], spread_pos(i));
		sfb_put(img, sfb_fde(img, i) + (m->version == 2 ? 8 : 12), 4,
			spread_pos(i) - PAGE_SIZE);
	}
	sfb_put(img, SFB_HDR_FREOFF, 4, PAGE_SIZE - SFB_HDR_SIZE);
	sfb_put(img, SFB_HDR_FRE_LEN, 4, m->size - PAGE_SIZE);
	write_file(test, m, img->bytes, img->fres, 0);
	map_file(test, m);
	return m;
}

static struct mem_test *make_index(struct kunit *test)
{
	struct mem_test *m = mem_alloc(test);
	struct sfb_image *img;
	u32 num;

	num = (INDEX_PAGES * PAGE_SIZE - SFB_HDR_SIZE) /
	      (m->version == 2 ? 20 : 16);
	img = build(test, m, num, INDEX_PAGES * PAGE_SIZE);
	make_file(test, m, PAGE_ALIGN(img->size));
	write_file(test, m, img->bytes, img->size, 0);
	map_file(test, m);
	read_header(test, m);
	return m;
}

/*
 * Changing its memory; @num pages from @page on
 */

static void remap(struct kunit *test, struct mem_test *m, unsigned long page,
		  unsigned long num)
{
	unsigned long addr = m->addr + page * PAGE_SIZE;

	KUNIT_ASSERT_EQ(test, vm_mmap(m->file, addr, num * PAGE_SIZE, PROT_READ,
				      MAP_PRIVATE | MAP_FIXED, page * PAGE_SIZE),
			addr);
}

static void remap_all(struct kunit *test, struct mem_test *m)
{
	remap(test, m, 0, m->size / PAGE_SIZE);
}

static void take_page(struct kunit *test, struct mem_test *m,
		      unsigned long page, bool prot_none)
{
	unsigned long addr = m->addr + page * PAGE_SIZE;

	if (prot_none)
		KUNIT_ASSERT_EQ(test, vm_mmap(m->file, addr, PAGE_SIZE, PROT_NONE,
					      MAP_PRIVATE | MAP_FIXED,
					      page * PAGE_SIZE), addr);
	else
		KUNIT_ASSERT_EQ(test, vm_munmap(addr, PAGE_SIZE), 0);
}

/*
 * Looking up
 */

static int find(struct mem_test *m, u32 func, enum user_faults faults,
		struct unwind_frame_rule *rule)
{
	return user_find_rule(&m->sec, TEXT + func * FUNC_SIZE + 8, faults, rule);
}

static bool rule_is(const struct unwind_frame_rule *rule, u32 func)
{
	return !rule->outermost && rule->cfa.base == UNWIND_RULE_SP &&
	       !rule->cfa.deref && rule->cfa.offset == func + 1 &&
	       rule->ra.base == UNWIND_RULE_CFA && rule->ra.deref &&
	       rule->ra.offset == -8 && rule->fp.base == UNWIND_RULE_SAME;
}

static void expect(struct kunit *test, struct mem_test *m, u32 func,
		   enum user_faults faults, int error)
{
	struct unwind_frame_rule rule;
	int ret = find(m, func, faults, &rule);

	KUNIT_EXPECT_EQ_MSG(test, ret, error, "function %u, faults %d", func, faults);
	if (!ret)
		KUNIT_EXPECT_TRUE_MSG(test, rule_is(&rule, func),
				      "function %u, faults %d", func, faults);
}

/* With faults first: memory in which a rule was found is resident then */
static void expect_both(struct kunit *test, struct mem_test *m, u32 func,
			int error)
{
	expect(test, m, func, USER_FAULTS, error);
	expect(test, m, func, USER_NO_FAULTS, error);
}

static void expect_header(struct kunit *test, struct mem_test *m,
			  enum user_faults faults, int error)
{
	struct sframe_section sec;

	KUNIT_EXPECT_EQ(test, user_read_header(&sec, m->addr, m->size, ABI, faults),
			error);
}

/*
 * The tests
 */

/* The last page that the spread layout has of @func */
static unsigned long spread_last_page(u32 func)
{
	return func == SPREAD_FUNCS - 1 ? func + 2 : func + 1;
}

/* Does it need @page for @func? */
static bool spread_needs(u32 func, unsigned long page)
{
	return !page || page == func + 1 || page == spread_last_page(func);
}

static void missing_page(struct kunit *test, bool prot_none)
{
	struct mem_test *m = make_spread(test);
	unsigned long page;
	u32 func;

	read_header(test, m);
	for (page = 0; page < SPREAD_PAGES; page++) {
		take_page(test, m, page, prot_none);
		for (func = 0; func < SPREAD_FUNCS; func++)
			expect_both(test, m, func,
				    spread_needs(func, page) ? -EFAULT : 0);
		expect_header(test, m, USER_FAULTS, page ? 0 : -EFAULT);
		expect_header(test, m, USER_NO_FAULTS, page ? 0 : -EFAULT);

		remap_all(test, m);
		for (func = 0; func < SPREAD_FUNCS; func++)
			expect_both(test, m, func, 0);
	}
}

static void mem_page_unmapped(struct kunit *test)
{
	missing_page(test, false);
}

static void mem_page_prot_none(struct kunit *test)
{
	missing_page(test, true);
}

/* The file ends before the section does: its last pages raise SIGBUS */
static void mem_file_truncated(struct kunit *test)
{
	struct mem_test *m = make_spread(test);
	struct inode *inode = file_inode(m->file);
	unsigned long page;
	u32 func;

	read_header(test, m);
	for (page = 0; page <= SPREAD_PAGES; page++) {
		inode_lock(inode);
		i_size_write(inode, page * PAGE_SIZE);
		inode_unlock(inode);
		remap_all(test, m);
		for (func = 0; func < SPREAD_FUNCS; func++)
			expect_both(test, m, func,
				    page > spread_last_page(func) ? 0 : -EFAULT);
	}
}

/* Is part of @func's entry in @page? */
static bool entry_in(const struct mem_test *m, u32 func, unsigned long page)
{
	unsigned long first = m->fdes + func * m->fde_size;
	unsigned long last = first + m->fde_size - 1;

	return first / PAGE_SIZE == page || last / PAGE_SIZE == page;
}

/*
 * Does the search for @func read an entry in @page?  It begins at the largest power of two of
 * entries from the end, and goes on in steps of half as many each time.
 */
static bool search_meets(const struct mem_test *m, u32 func, unsigned long page)
{
	u32 step = rounddown_pow_of_two(m->num_funcs);
	u32 at = m->num_funcs - step;

	if (entry_in(m, at, page))
		return true;
	if (func < at)
		at = 0;
	while (step /= 2) {
		if (entry_in(m, at + step, page))
			return true;
		if (func >= at + step)
			at += step;
	}
	return entry_in(m, at, page);
}

/* An entry that is not there is not found, others are */
static void mem_index_page_unmapped(struct kunit *test)
{
	struct mem_test *m = make_index(test);
	u32 func, faults, fres = 0;
	unsigned long page;

	for (page = 0; page < INDEX_PAGES; page++) {
		take_page(test, m, page, false);
		faults = 0;
		for (func = 0; func < m->num_funcs; func++) {
			if (entry_in(m, func, page)) {
				expect_both(test, m, func, -EFAULT);
				faults++;
			} else if (!search_meets(m, func, page)) {
				expect_both(test, m, func, 0);
				fres++;
			}
		}
		KUNIT_EXPECT_GT(test, faults, 0);
		remap_all(test, m);
	}
	/* Some searches read nothing in the missing page */
	KUNIT_EXPECT_GT(test, fres, 0);
	for (func = 0; func < m->num_funcs; func++)
		expect_both(test, m, func, 0);
}

/* The mapping is read-only: writing fails, reading does not care */
static void mem_read_only(struct kunit *test)
{
	struct mem_test *m = make_spread(test);
	unsigned long page;
	u32 func, byte = 0;

	read_header(test, m);
	for (page = 0; page < SPREAD_PAGES; page++)
		KUNIT_EXPECT_NE(test, put_user(byte, (u32 __user *)
					(m->addr + page * PAGE_SIZE)), 0);
	for (func = 0; func < SPREAD_FUNCS; func++)
		expect_both(test, m, func, 0);
}

/* Pages are in the file, but were never touched: only a fault brings them */
static void mem_not_resident(struct kunit *test)
{
	struct mem_test *m = make_spread(test);
	u32 func;

	expect_header(test, m, USER_NO_FAULTS, -EFAULT);
	expect_header(test, m, USER_FAULTS, 0);
	expect_header(test, m, USER_NO_FAULTS, 0);

	read_header(test, m);
	for (func = 0; func < SPREAD_FUNCS; func++) {
		remap_all(test, m);
		expect(test, m, func, USER_NO_FAULTS, -EFAULT);
		expect(test, m, func, USER_FAULTS, 0);
		expect(test, m, func, USER_NO_FAULTS, 0);
	}

	/* All but the page of one function's FREs */
	for (func = 0; func < SPREAD_FUNCS; func++)
		expect(test, m, func, USER_FAULTS, 0);
	for (func = 0; func < SPREAD_FUNCS; func++) {
		remap(test, m, 1 + func, 1);
		expect(test, m, func, USER_NO_FAULTS, -EFAULT);
		expect(test, m, (func + 2) % SPREAD_FUNCS, USER_NO_FAULTS, 0);
		expect(test, m, func, USER_FAULTS, 0);
		expect(test, m, func, USER_NO_FAULTS, 0);
	}
}

/* Lookups use the header as it was read, not as it is now, apart from its counts */
static void mem_header_changes(struct kunit *test)
{
	struct mem_test *m = make_spread(test);
	struct unwind_frame_rule rule;
	u8 ones[SFB_HDR_SIZE];
	u32 func;

	read_header(test, m);
	memset(ones, 0xff, sizeof(ones));
	write_file(test, m, ones, SFB_HDR_NUM_FDES, 0);
	write_file(test, m, ones, SFB_HDR_SIZE - SFB_HDR_FDEOFF, SFB_HDR_FDEOFF);
	expect_header(test, m, USER_FAULTS, -ENOEXEC);
	for (func = 0; func < SPREAD_FUNCS; func++)
		expect_both(test, m, func, 0);
	KUNIT_EXPECT_EQ(test, find(m, SPREAD_FUNCS, USER_FAULTS, &rule),
			-ENOENT);
}

/*
 * Memory that goes while it is read
 *
 * A second task in the same address space takes the section away and brings it
 * back, over and over, while lookups go on. Now and then both wait for each
 * other, so that both kinds of answers are known to have been seen.
 */

#define RACE_ROUNDS	20
#define RACE_LOOKUPS	2000	/* per round */

enum mapper_command {
	MAPPER_TAKE,		/* unmap the section */
	MAPPER_GIVE,		/* map it again */
	MAPPER_RACE,		/* both, until mapper::stop is set; it is mapped then */
	MAPPER_EXIT,
};

/**
 * struct mapper - the second task
 * @m: the section
 * @mm: the address space
 * @command: what is to be done
 * @go: there is a command
 * @done: it was carried out
 * @started: the race is on
 * @stop: end the race
 * @zeroes: what takes the section's place is zeroed memory
 * @changes: how often the section was taken away
 * @failed: mapping it did
 */
struct mapper {
	struct mem_test		*m;
	struct mm_struct	*mm;
	struct completion	go;
	struct completion	done;
	struct completion	started;
	enum mapper_command	command;
	bool			stop;
	bool			zeroes;
	unsigned int		changes;
	unsigned int		failed;
};

static void mapper_take(struct mapper *p)
{
	struct mem_test *m = p->m;

	if (p->zeroes)
		p->failed += vm_mmap(NULL, m->addr, m->size, PROT_READ,
				     MAP_ANONYMOUS | MAP_PRIVATE | MAP_FIXED,
				     0) != m->addr;
	else
		p->failed += vm_munmap(m->addr, m->size) != 0;
	WRITE_ONCE(p->changes, p->changes + 1);
}

static void mapper_give(struct mapper *p)
{
	struct mem_test *m = p->m;

	p->failed += vm_mmap(m->file, m->addr, m->size, PROT_READ,
			     MAP_PRIVATE | MAP_FIXED, 0) != m->addr;
}

static void mapper_race(struct mapper *p)
{
	complete(&p->started);
	while (!READ_ONCE(p->stop)) {
		mapper_take(p);
		mapper_give(p);
		/* Mapped again, its pages are not resident, but can be read all the time */
		mapper_give(p);
		cond_resched();
	}
}

static int mapper_thread(void *arg)
{
	struct mapper *p = arg;
	bool exit = false;

	kthread_use_mm(p->mm);
	while (!exit) {
		wait_for_completion(&p->go);
		switch (p->command) {
		case MAPPER_TAKE:
			mapper_take(p);
			break;
		case MAPPER_GIVE:
			mapper_give(p);
			break;
		case MAPPER_RACE:
			mapper_race(p);
			break;
		case MAPPER_EXIT:
			exit = true;
			break;
		}
		if (!exit)
			complete(&p->done);
	}
	kthread_unuse_mm(p->mm);
	mmput(p->mm);
	complete(&p->done);
	return 0;
}

static void mapper_start(struct mapper *p, enum mapper_command command)
{
	p->command = command;
	complete(&p->go);
}

static void mapper_do(struct mapper *p, enum mapper_command command)
{
	mapper_start(p, command);
	wait_for_completion(&p->done);
}

static void mapper_exit(void *p)
{
	mapper_do(p, MAPPER_EXIT);
}

static void mapper_init(struct kunit *test, struct mapper *p, struct mem_test *m,
			bool zeroes)
{
	struct task_struct *task;

	p->m = m;
	p->mm = current->mm;
	p->zeroes = zeroes;
	init_completion(&p->go);
	init_completion(&p->done);
	init_completion(&p->started);
	mmget(p->mm);
	task = kthread_run(mapper_thread, p, "unwind_kunit");
	if (IS_ERR(task))
		mmput(p->mm);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, mapper_exit, p), 0);
}

/* Answers by kind, and how many of them came while the section went away */
struct answers {
	unsigned int	fres;
	unsigned int	faults;
	unsigned int	zeroes;
	unsigned int	wrong;
	unsigned int	amid;
};

/*
 * Where zeroes may stand in for any part of what is read, there may be no
 * function, no FRE, an entry that makes no sense or has changed, or no caller; or the
 * FRE's word may be zero.
 */
static bool zeroes_say(int ret, const struct unwind_frame_rule *rule)
{
	if (ret)
		return ret == -ENOENT || ret == -EINVAL || ret == -EAGAIN;
	return rule->outermost ||
	       (rule->cfa.base == UNWIND_RULE_SP && !rule->cfa.deref &&
		rule->cfa.offset >= 0 && rule->cfa.offset <= SPREAD_FUNCS);
}

static void race_lookup(struct mapper *p, u32 func, enum user_faults faults,
			struct answers *a)
{
	unsigned int changes = READ_ONCE(p->changes);
	struct unwind_frame_rule rule;
	int ret = find(p->m, func, faults, &rule);

	a->amid += READ_ONCE(p->changes) != changes;
	if (!ret && rule_is(&rule, func))
		a->fres++;
	else if (ret == -EFAULT)
		a->faults++;
	else if (p->zeroes && zeroes_say(ret, &rule))
		a->zeroes++;
	else
		a->wrong++;
}

/* Nobody changes anything now */
static void quiet_lookups(struct kunit *test, struct mapper *p)
{
	int gone = p->zeroes ? -ENOENT : -EFAULT;
	u32 func;

	mapper_do(p, MAPPER_TAKE);
	for (func = 0; func < SPREAD_FUNCS; func++) {
		/* A page of zeroes is not resident either, until a lookup has touched it */
		expect(test, p->m, func, USER_NO_FAULTS, func ? gone : -EFAULT);
		expect(test, p->m, func, USER_FAULTS, gone);
	}
	mapper_do(p, MAPPER_GIVE);
	for (func = 0; func < SPREAD_FUNCS; func++)
		expect_both(test, p->m, func, 0);
}

static void show_answers(struct kunit *test, const char *faults, const struct answers *a)
{
	kunit_info(test, "%s: %u FREs, %u faults, %u zeroes; %u amid a change\n",
		   faults, a->fres, a->faults, a->zeroes, a->amid);
}

static void race(struct kunit *test, bool zeroes)
{
	struct mem_test *m = make_spread(test);
	struct answers fault = {}, nofault = {};
	unsigned int round, i;
	struct mapper *p;

	read_header(test, m);
	p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	mapper_init(test, p, m, zeroes);

	for (round = 0; round < RACE_ROUNDS; round++) {
		WRITE_ONCE(p->stop, false);
		mapper_start(p, MAPPER_RACE);
		wait_for_completion(&p->started);
		for (i = 0; i < RACE_LOOKUPS; i++) {
			race_lookup(p, i % SPREAD_FUNCS, USER_FAULTS, &fault);
			race_lookup(p, i % SPREAD_FUNCS, USER_NO_FAULTS, &nofault);
		}
		WRITE_ONCE(p->stop, true);
		wait_for_completion(&p->done);
		quiet_lookups(test, p);
	}
	kunit_release_action(test, mapper_exit, p);

	/* quiet_lookups() has seen each kind of answer; in a race, any may be missing */
	KUNIT_EXPECT_EQ(test, fault.wrong, 0);
	KUNIT_EXPECT_EQ(test, nofault.wrong, 0);
	KUNIT_EXPECT_EQ(test, p->failed, 0);
	KUNIT_EXPECT_GE(test, p->changes, RACE_ROUNDS);
	kunit_info(test, "taken away %u times\n", p->changes);
	show_answers(test, "with faults", &fault);
	show_answers(test, "without faults", &nofault);
}

static void mem_unmapped_while_reading(struct kunit *test)
{
	race(test, false);
}

static void mem_zeroed_while_reading(struct kunit *test)
{
	race(test, true);
}

static const u8 versions[] = { 2, 3 };

static void version_desc(const u8 *version, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "v%u", *version);
}

KUNIT_ARRAY_PARAM(version, versions, version_desc);

static struct kunit_case mem_cases[] = {
	KUNIT_CASE_PARAM(mem_page_unmapped, version_gen_params),
	KUNIT_CASE_PARAM(mem_page_prot_none, version_gen_params),
	KUNIT_CASE_PARAM(mem_file_truncated, version_gen_params),
	KUNIT_CASE_PARAM(mem_index_page_unmapped, version_gen_params),
	KUNIT_CASE_PARAM(mem_read_only, version_gen_params),
	KUNIT_CASE_PARAM(mem_not_resident, version_gen_params),
	KUNIT_CASE_PARAM(mem_header_changes, version_gen_params),
	KUNIT_CASE_PARAM(mem_unmapped_while_reading, version_gen_params),
	KUNIT_CASE_PARAM(mem_zeroed_while_reading, version_gen_params),
	{}
};

static struct kunit_suite mem_suite = {
	.name = "unwind_sframe_mem",
	.test_cases = mem_cases,
};

kunit_test_suite(mem_suite);

MODULE_DESCRIPTION("KUnit tests of the SFrame decoder's reads of user memory");
MODULE_LICENSE("GPL");
