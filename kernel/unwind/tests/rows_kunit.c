// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the rows that are kept: what is found again, what is not any more,
 * and what is never found. What drops them is tested in rows_drop_kunit.c.
 */

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/slab.h>

#include "../rows.h"
#include "row_compare.h"

/* An address, and others that have their place in the same set */
#define ADDR		0x401234UL

struct rows_test {
	struct unwind_rows	rows;
	unsigned long		same_set[UNWIND_ROWS_WAYS + 1];
};

/* Something else for each @i */
static struct unwind_kept_row row_nr(unsigned int i)
{
	return (struct unwind_kept_row){
		.cfa = i,
		.ra = (s16)(i * 3),
		.fp = (s16)(i * 5),
		.how = i * 7 + 1,
	};
}

static bool is_row_nr(const struct unwind_kept_row *row, unsigned int i)
{
	const struct unwind_kept_row want = row_nr(i);

	return !memcmp(row, &want, sizeof(want));
}

static bool find(struct rows_test *t, unsigned long addr,
		 struct unwind_kept_row *row)
{
	return unwind_rows_find(&t->rows, t->rows.entries, addr, row);
}

static bool finds_nr(struct rows_test *t, unsigned long addr, unsigned int i)
{
	struct unwind_kept_row row;

	return find(t, addr, &row) && is_row_nr(&row, i);
}

static bool finds_none(struct rows_test *t, unsigned long addr)
{
	struct unwind_kept_row row;

	return !find(t, addr, &row);
}

static void keep_nr(struct rows_test *t, u32 generation, unsigned long addr,
		    unsigned int i)
{
	const struct unwind_kept_row row = row_nr(i);

	unwind_rows_keep(&t->rows, generation, addr, &row);
}

static void keep_now(struct rows_test *t, unsigned long addr, unsigned int i)
{
	keep_nr(t, unwind_rows_generation(&t->rows), addr, i);
}

static int rows_test_init(struct kunit *test)
{
	struct unwind_rows_entry *set;
	struct rows_test *t;
	unsigned long addr;
	unsigned int nr = 0;

	t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	unwind_rows_init(&t->rows);
	unwind_rows_alloc(&t->rows);
	KUNIT_ASSERT_NOT_NULL(test, t->rows.entries);

	set = unwind_rows_set(t->rows.entries, ADDR);
	for (addr = ADDR; nr < ARRAY_SIZE(t->same_set); addr++)
		if (unwind_rows_set(t->rows.entries, addr) == set)
			t->same_set[nr++] = addr;
	return 0;
}

static void rows_test_exit(struct kunit *test)
{
	struct rows_test *t = test->priv;

	if (t)
		unwind_rows_free(&t->rows);
}

/*
 * One after the other
 */

static void rows_kept(struct kunit *test)
{
	struct rows_test *t = test->priv;
	unsigned long addr;

	/* Of nothing, nothing is known; entries that were never written have 0 */
	for (addr = 0; addr < 4096; addr++)
		KUNIT_EXPECT_TRUE(test, finds_none(t, addr));

	keep_now(t, ADDR, 1);
	KUNIT_EXPECT_TRUE(test, finds_nr(t, ADDR, 1));
	KUNIT_EXPECT_TRUE(test, finds_none(t, ADDR + 1));
	KUNIT_EXPECT_TRUE(test, finds_none(t, t->same_set[1]));

	/* The last one counts */
	keep_now(t, ADDR, 2);
	KUNIT_EXPECT_TRUE(test, finds_nr(t, ADDR, 2));
}

/* The first that come fill the set; then one of them goes for each */
static void rows_evicted(struct kunit *test)
{
	struct rows_test *t = test->priv;
	unsigned int i, found = 0;

	for (i = 0; i < UNWIND_ROWS_WAYS; i++)
		keep_now(t, t->same_set[i], i);
	for (i = 0; i < UNWIND_ROWS_WAYS; i++)
		KUNIT_EXPECT_TRUE(test, finds_nr(t, t->same_set[i], i));

	keep_now(t, t->same_set[i], i);
	KUNIT_EXPECT_TRUE(test, finds_nr(t, t->same_set[i], i));
	for (i = 0; i < UNWIND_ROWS_WAYS; i++)
		found += finds_nr(t, t->same_set[i], i);
	KUNIT_EXPECT_EQ(test, found, UNWIND_ROWS_WAYS - 1);
}

/* One more than there is room for, round and round: each is found now and then */
static void rows_round_and_round(struct kunit *test)
{
	unsigned int found[UNWIND_ROWS_WAYS + 1] = {};
	struct rows_test *t = test->priv;
	unsigned int i, round;

	for (round = 0; round < 100; round++) {
		for (i = 0; i <= UNWIND_ROWS_WAYS; i++) {
			if (finds_nr(t, t->same_set[i], i))
				found[i]++;
			else
				keep_now(t, t->same_set[i], i);
		}
	}
	for (i = 0; i <= UNWIND_ROWS_WAYS; i++)
		KUNIT_EXPECT_GE(test, found[i], 100 / 4);
}

/* What is stale goes before what is not */
static void rows_evicts_stale(struct kunit *test)
{
	struct rows_test *t = test->priv;
	unsigned int i;

	for (i = 0; i < UNWIND_ROWS_WAYS; i++)
		keep_now(t, t->same_set[i], i);
	unwind_rows_drop(&t->rows);
	for (i = 1; i <= UNWIND_ROWS_WAYS; i++)
		keep_now(t, t->same_set[i], i);
	for (i = 1; i <= UNWIND_ROWS_WAYS; i++)
		KUNIT_EXPECT_TRUE(test, finds_nr(t, t->same_set[i], i));
}

/* As many as there is room for, most of which must be found */
static void rows_many(struct kunit *test)
{
	struct rows_test *t = test->priv;
	unsigned int i, found = 0;

	for (i = 0; i < UNWIND_ROWS; i++)
		keep_now(t, ADDR + 5 * i, i);
	for (i = 0; i < UNWIND_ROWS; i++) {
		KUNIT_EXPECT_TRUE(test, finds_nr(t, ADDR + 5 * i, i) ||
				  finds_none(t, ADDR + 5 * i));
		found += finds_nr(t, ADDR + 5 * i, i);
	}
	KUNIT_EXPECT_GT(test, found, UNWIND_ROWS / 2);
}

/* Without memory, nothing is kept */
static void rows_no_memory(struct kunit *test)
{
	const struct unwind_kept_row row = row_nr(1);
	struct unwind_rows rows;

	unwind_rows_init(&rows);
	unwind_rows_keep(&rows, unwind_rows_generation(&rows), ADDR, &row);
	KUNIT_EXPECT_NULL(test, rows.entries);
	unwind_rows_drop(&rows);
	unwind_rows_free(&rows);
}

/*
 * A change between any two steps of who looks up: what is kept then must be found
 * only if the change came before the first.
 */
static void rows_drop_between_steps(struct kunit *test)
{
	struct rows_test *t = test->priv;
	enum { GENERATION, LOOKUP, KEEP, FIND, STEPS };
	unsigned int drop, step;

	for (drop = 0; drop <= STEPS; drop++) {
		u32 generation = 0;
		bool found = false;

		for (step = 0; step < STEPS; step++) {
			if (step == drop)
				unwind_rows_drop(&t->rows);
			switch (step) {
			case GENERATION:
				generation = unwind_rows_generation(&t->rows);
				break;
			case KEEP:
				keep_nr(t, generation, ADDR, drop);
				break;
			case FIND:
				found = finds_nr(t, ADDR, drop);
				break;
			}
		}
		KUNIT_EXPECT_EQ_MSG(test, found, drop == 0 || drop == STEPS,
				    "drop before step %u", drop);
		if (drop == STEPS) {
			unwind_rows_drop(&t->rows);
			KUNIT_EXPECT_TRUE(test, finds_none(t, ADDR));
		}
	}
}

/* It does not begin anew: what is from the first must not be true again */
static void rows_last_generation(struct kunit *test)
{
	struct rows_test *t = test->priv;
	unsigned int i;

	keep_now(t, t->same_set[0], 1);
	t->rows.generation = UNWIND_ROWS_LAST - 1;
	keep_now(t, t->same_set[1], 2);
	KUNIT_EXPECT_TRUE(test, finds_nr(t, t->same_set[1], 2));

	for (i = 0; i < 3; i++) {
		unwind_rows_drop(&t->rows);
		KUNIT_EXPECT_EQ(test, unwind_rows_generation(&t->rows), 0);
		KUNIT_EXPECT_TRUE(test, finds_none(t, t->same_set[0]));
		KUNIT_EXPECT_TRUE(test, finds_none(t, t->same_set[1]));
	}
}

/*
 * At the same time
 */

/*
 * Who is interrupted while writing has done some of it, in whatever order. An
 * interrupt finds nothing, whatever it looks for, and leaves the entry alone.
 */
static void rows_half_written(struct kunit *test)
{
	struct rows_test *t = test->priv;
	struct unwind_rows_entry *entry, before;
	const unsigned long other = t->same_set[1];
	const struct unwind_kept_row row = row_nr(2);
	unsigned int done, i;

	for (done = 0; done < 8; done++) {
		keep_now(t, ADDR, 1);
		entry = unwind_rows_set(t->rows.entries, ADDR);
		KUNIT_ASSERT_EQ(test, entry->addr, ADDR);
		/* All others are taken, so that it could be this one's turn */
		for (i = 2; i <= UNWIND_ROWS_WAYS; i++)
			keep_now(t, t->same_set[i], i);

		entry->seq++;
		if (done & 1)
			entry->addr = other;
		if (done & 2)
			entry->row = row;
		if (done & 4)
			entry->generation = t->rows.generation - 1;
		KUNIT_EXPECT_TRUE(test, finds_none(t, ADDR));
		KUNIT_EXPECT_TRUE(test, finds_none(t, other));
		/* One that would have to be written there */
		before = *entry;
		keep_now(t, entry->addr, 3);
		KUNIT_EXPECT_FALSE(test, memcmp(entry, &before, sizeof(before)));
		KUNIT_EXPECT_TRUE(test, finds_none(t, ADDR));
		KUNIT_EXPECT_TRUE(test, finds_none(t, other));

		entry->addr = ADDR;
		entry->row = row;
		entry->generation = t->rows.generation;
		entry->seq++;
		KUNIT_EXPECT_TRUE(test, finds_nr(t, ADDR, 2));
	}
}

#define RACE_ADDRS	3
#define RACE_ROWS	256
#define RACE_HITS	300000

struct race {
	struct rows_test	*t;
	struct completion	done;
	bool			stop;
};

/* Row @i belongs to address @i % RACE_ADDRS, and to no other */
static int race_writer(void *arg)
{
	struct race *race = arg;
	unsigned int i;

	for (i = 0; !READ_ONCE(race->stop); i++) {
		keep_now(race->t, race->t->same_set[i % RACE_ADDRS],
			 i % (RACE_ROWS * RACE_ADDRS));
		if (i % 64 == 0)
			unwind_rows_drop(&race->t->rows);
		if (i % 1024 == 0)
			cond_resched();
	}
	complete(&race->done);
	return 0;
}

/* A row that is found is one that was kept for the address, of one piece */
static void rows_torn(struct kunit *test)
{
	struct race race = { .t = test->priv };
	struct unwind_kept_row row;
	unsigned int i, hits = 0, wrong = 0;
	struct task_struct *writer;

	init_completion(&race.done);
	writer = kthread_run(race_writer, &race, "unwind-rows-test");
	KUNIT_ASSERT_FALSE(test, IS_ERR(writer));
	for (i = 0; hits < RACE_HITS; i++) {
		if (i % 1024 == 0)
			cond_resched();
		if (!find(race.t, race.t->same_set[i % RACE_ADDRS], &row))
			continue;
		hits++;
		wrong += !is_row_nr(&row, row.cfa) ||
			 row.cfa % RACE_ADDRS != i % RACE_ADDRS;
	}
	WRITE_ONCE(race.stop, true);
	wait_for_completion(&race.done);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/*
 * The form in which rows are kept
 */

static const struct unwind_rule rules[] = {
	{ .base = UNWIND_RULE_SAME },
	{ .base = UNWIND_RULE_SP, .offset = 8 },
	{ .base = UNWIND_RULE_SP, .offset = -16, .deref = true },
	{ .base = UNWIND_RULE_FP, .offset = 16 },
	{ .base = UNWIND_RULE_FP, .offset = 24, .deref = true },
	{ .base = UNWIND_RULE_CFA, .offset = -8 },
	{ .base = UNWIND_RULE_CFA, .offset = -8, .deref = true },
	{ .base = UNWIND_RULE_CFA, .offset = S16_MIN, .deref = true },
	{ .base = UNWIND_RULE_CFA, .offset = S16_MAX, .deref = true },
	{ .base = UNWIND_RULE_REG, .reg = 10, .offset = -8, .deref = true },
	{ .base = UNWIND_RULE_REG, .reg = 255, .offset = 0x7fff },
	{ .base = UNWIND_RULE_CFA, .offset = S16_MAX + 1, .deref = true },
	{ .base = UNWIND_RULE_SP, .offset = S16_MIN - 1 },
	{ .base = UNWIND_RULE_SP, .offset = S32_MAX },
	{ .base = UNWIND_RULE_FP, .offset = S32_MIN },
};

static bool rule_fits(const struct unwind_rule *rule)
{
	return rule->offset == (s16)rule->offset && rule->base != UNWIND_RULE_REG;
}

static bool simple_by_hand(const struct unwind_row *row)
{
	return !row->outermost && !row->signal && !row->at_end &&
	       (row->cfa.base == UNWIND_RULE_SP || row->cfa.base == UNWIND_RULE_FP) &&
	       !row->cfa.deref &&
	       row->ra.base == UNWIND_RULE_CFA && row->ra.deref &&
	       (row->fp.base == UNWIND_RULE_SAME ||
		(row->fp.base == UNWIND_RULE_CFA && row->fp.deref));
}

/* Every rule for CFA, RA and FP, with every flag */
static void rows_packed(struct kunit *test)
{
	const unsigned int nr = ARRAY_SIZE(rules);
	struct unwind_kept_row kept;
	struct unwind_row row, back;
	unsigned int i, simple = 0;
	bool fits;

	for (i = 0; i < nr * nr * nr * 32; i++) {
		row = (struct unwind_row){
			.cfa = rules[i / 32 % nr],
			.ra = rules[i / 32 / nr % nr],
			.fp = rules[i / 32 / nr / nr],
			.outermost = i & 1,
			.signal = i & 2,
			.mangled_ra = i & 4,
			.pauth_key_b = i & 8,
			.at_end = i & 16,
		};
		fits = unwind_rows_pack(&kept, &row);
		/* A row that says nothing at all need not be kept */
		if (rule_fits(&row.ra) && rule_fits(&row.fp))
			KUNIT_EXPECT_EQ(test, fits, i != 0);
		else
			KUNIT_EXPECT_FALSE(test, fits);
		if (!fits)
			continue;

		unwind_rows_unpack(&back, &kept);
		KUNIT_EXPECT_TRUE_MSG(test, row_equal(&back, &row), "%s: %s",
				      row_string(&row), row_string(&back));
		KUNIT_EXPECT_EQ(test, back.at_end, row.at_end);

		KUNIT_EXPECT_FALSE(test, kept.how & UNWIND_KEPT_NONE);
		KUNIT_EXPECT_EQ(test, !!(kept.how & UNWIND_KEPT_SIMPLE),
				simple_by_hand(&row));
		if (!(kept.how & UNWIND_KEPT_SIMPLE))
			continue;
		simple++;
		KUNIT_EXPECT_EQ(test, !!(kept.how & UNWIND_KEPT_CFA_FP),
				row.cfa.base == UNWIND_RULE_FP);
		KUNIT_EXPECT_EQ(test, !!(kept.how & UNWIND_KEPT_FP_SAVED),
				row.fp.base == UNWIND_RULE_CFA);
	}
	KUNIT_EXPECT_GT(test, simple, 0);
}

static struct kunit_case rows_cases[] = {
	KUNIT_CASE(rows_kept),
	KUNIT_CASE(rows_evicted),
	KUNIT_CASE(rows_round_and_round),
	KUNIT_CASE(rows_evicts_stale),
	KUNIT_CASE(rows_many),
	KUNIT_CASE(rows_no_memory),
	KUNIT_CASE(rows_drop_between_steps),
	KUNIT_CASE(rows_last_generation),
	KUNIT_CASE(rows_half_written),
	KUNIT_CASE_SLOW(rows_torn),
	KUNIT_CASE(rows_packed),
	{}
};

static struct kunit_suite rows_suite = {
	.name = "unwind_rows",
	.init = rows_test_init,
	.exit = rows_test_exit,
	.test_cases = rows_cases,
};

kunit_test_suite(rows_suite);

MODULE_DESCRIPTION("KUnit tests of the rows that are kept");
MODULE_LICENSE("GPL");
