// SPDX-License-Identifier: GPL-2.0
/*
 * Parts of the profiler (tools/unwind/profile) that need no kernel: how samples get their
 * stacks in any order and with losses, the bounds of its tables, and text of programs that
 * may be anything.
 */
#include "../../../../unwind/profile/counts.c"
#include "../../../../unwind/profile/join.c"
#include "../../../../unwind/profile/table.c"
#include "../../kselftest_harness.h"

#define USER		100
#define ALL		(PENDING + THREADS)

static struct {
	unsigned long long	time;
	unsigned int		user;
} got[ALL + 1];

static unsigned int nr_got;

static void note(const struct sample *sample, unsigned int user)
{
	got[nr_got].time = sample->time;
	got[nr_got++].user = user;
}

/* A sample of that thread; its time identifies it */
static void take(unsigned int tid, unsigned long long cookie, unsigned long long time)
{
	struct sample sample = {
		.thread = { .pid = tid, .tid = tid },
		.cookie = cookie,
		.time = time,
	};

	join_sample(&sample);
}

FIXTURE(join) {};

FIXTURE_SETUP(join)
{
	nr_got = 0;
	join_totals = (struct join_totals){};
	init_join(note);
}

FIXTURE_TEARDOWN(join)
{
	free(sets);
	free(pool);
}

TEST_F(join, samples_before_stack_get_it_in_order)
{
	take(1, 10, 1);
	take(1, 10, 2);
	EXPECT_EQ(0, nr_got);
	EXPECT_EQ(2, join_totals.pending);
	join_stack(1, 10, USER);
	ASSERT_EQ(2, nr_got);
	EXPECT_EQ(1, got[0].time);
	EXPECT_EQ(2, got[1].time);
	EXPECT_EQ(USER, got[0].user);
	EXPECT_EQ(USER, got[1].user);
	EXPECT_EQ(0, join_totals.pending);
	EXPECT_EQ(0, join_totals.missing);
}

TEST_F(join, sample_after_stack_gets_it)
{
	take(1, 10, 1);
	join_stack(1, 10, USER);
	take(1, 10, 2);
	ASSERT_EQ(2, nr_got);
	EXPECT_EQ(USER, got[1].user);
}

TEST_F(join, sample_without_cookie_has_no_stack)
{
	take(1, 10, 1);
	take(1, 0, 2);
	ASSERT_EQ(1, nr_got);
	EXPECT_EQ(2, got[0].time);
	EXPECT_EQ(NO_STACK, got[0].user);
	EXPECT_EQ(0, join_totals.missing);
}

/* The stack of 10 was lost, and the sample of 11 */
TEST_F(join, stack_of_another_cookie_is_not_used)
{
	take(1, 10, 1);
	join_stack(1, 11, USER);
	join_stack(2, 10, USER);
	EXPECT_EQ(0, nr_got);
	take(1, 12, 2);
	join_stack(1, 12, USER);
	ASSERT_EQ(1, nr_got);
	EXPECT_EQ(2, got[0].time);
	EXPECT_EQ(USER, got[0].user);
	end_join();
	ASSERT_EQ(2, nr_got);
	EXPECT_EQ(1, got[1].time);
	EXPECT_EQ(STACK_MISSING, got[1].user);
	EXPECT_EQ(1, join_totals.missing);
}

/* A thread that finds its own frames was sampled in its handler, more than once */
TEST_F(join, held_stack_comes_after_others)
{
	take(1, 10, 1);
	take(1, 11, 2);
	join_stack(1, 11, USER + 1);
	take(1, 12, 3);
	join_stack(1, 12, USER + 2);
	join_stack(1, 10, USER);
	ASSERT_EQ(3, nr_got);
	EXPECT_EQ(USER + 1, got[0].user);
	EXPECT_EQ(USER + 2, got[1].user);
	EXPECT_EQ(1, got[2].time);
	EXPECT_EQ(USER, got[2].user);
	EXPECT_EQ(0, join_totals.missing);
}

TEST_F(join, next_cookie_has_not_the_stack_before)
{
	take(1, 10, 1);
	join_stack(1, 10, USER);
	take(1, 11, 2);
	EXPECT_EQ(1, nr_got);
	join_stack(1, 11, USER + 1);
	ASSERT_EQ(2, nr_got);
	EXPECT_EQ(USER + 1, got[1].user);
}

TEST_F(join, least_recent_thread_gives_up_its_place)
{
	unsigned int i;

	/* All in one set */
	for (i = 0; i < WAYS; i++)
		take(1 + i * SETS, 10 + i, i);
	take(1, 10, WAYS);
	EXPECT_EQ(0, nr_got);
	take(1 + WAYS * SETS, 20, WAYS + 1);
	ASSERT_EQ(1, nr_got);
	EXPECT_EQ(1, got[0].time);
	EXPECT_EQ(STACK_MISSING, got[0].user);
	join_stack(1, 10, USER);
	EXPECT_EQ(3, nr_got);
}

TEST_F(join, waiting_samples_are_bounded)
{
	unsigned int i;

	for (i = 0; i < PENDING; i++)
		take(1, 10, i);
	EXPECT_EQ(0, nr_got);
	take(1, 10, PENDING);
	ASSERT_EQ(1, nr_got);
	EXPECT_EQ(STACK_MISSING, got[0].user);
	join_stack(1, 10, USER);
	EXPECT_EQ(PENDING + 1, nr_got);
	EXPECT_EQ(USER, got[PENDING].user);
	EXPECT_EQ(1, join_totals.missing);
	/* The room is there again */
	nr_got = 0;
	for (i = 0; i < PENDING; i++)
		take(2, 11, i);
	EXPECT_EQ(0, nr_got);
	end_join();
	EXPECT_EQ(PENDING, nr_got);
	EXPECT_EQ(PENDING + 1, join_totals.missing);
}

TEST(text_is_printable_utf_8)
{
	static const struct {
		const char *is;
		const char *want;
	} texts[] = {
		{ "plain text", "plain text" },
		{ "a\033[2Jb\nc\177", "a?[2Jb?c?" },
		{ "\303\244\342\202\254\360\237\220\247", "\303\244\342\202\254\360\237\220\247" },
		/* Cut, too long, a surrogate, too large, a control character */
		{ "\342\202", "??" },
		{ "\300\257", "??" },
		{ "\340\200\257", "???" },
		{ "\360\202\202\254", "????" },
		{ "\355\240\200", "???" },
		{ "\364\220\200\200", "????" },
		{ "\302\233", "??" },
		/* The rest would be shown from the right, or on another line */
		{ "a\342\200\256b", "a???b" },
		{ "a\342\200\250b", "a???b" },
		{ "a\341\201\246b", "a\341\201\246b" },
		{ "\377x", "?x" },
	};
	unsigned int i;

	set_bound(16);
	for (i = 0; i < ARRAY_SIZE(texts); i++)
		EXPECT_STREQ(texts[i].want,
			     string(add_string(texts[i].is, strlen(texts[i].is))));
	/* Without an end */
	EXPECT_STREQ("abc", string(add_string("abcdef", 3)));
}

TEST(tables_are_bounded)
{
	struct location location = { .kind = AT_KERNEL };
	struct row row = {};
	unsigned int i, number;

	set_bound(16);
	for (i = 0; i < 1000; i++) {
		location.at = i;
		number = add_location(&location);
		add_stack(&number, 1);
		row.thread.tid = i;
		count(&row, 1, 0);
		add_string((char *)&(int){ 0x41414141 + i }, 4);
	}
	EXPECT_EQ(16, nr_stacks());
	EXPECT_EQ(64, nr_locations());
	EXPECT_EQ(64, nr_rows());
	EXPECT_EQ(64, nr_strings());
	EXPECT_EQ(1000 - 64, totals.dropped_samples);
	EXPECT_STREQ("[dropped]", string(add_string("another", 7)));
	EXPECT_EQ(LOCATION_DROPPED, number);
	EXPECT_EQ(STACK_DROPPED, add_stack((unsigned int []){ 5, 6 }, 2));
	/* Those that are there are found, and counted once */
	row.thread.tid = 7;
	count(&row, 2, 30);
	EXPECT_EQ(3, row_count(7)->samples);
	EXPECT_EQ(30, row_count(7)->asleep);
	location.at = 7;
	EXPECT_LT(LOCATION_MISSING, add_location(&location));
}

/* Names may be long: there are not as many then */
TEST(text_is_bounded)
{
	static char text[4096];
	unsigned long long size = 0, dropped;
	unsigned int i;

	set_bound(DEFAULT_STACKS);
	memset(text, 'x', sizeof(text));
	dropped = totals.dropped_locations;
	for (i = 0; i < DEFAULT_STACKS; i++) {
		sprintf(text, "%08x", i);
		text[8] = 'x';
		if (add_string(text, sizeof(text)) != STRING_DROPPED)
			size += sizeof(text);
	}
	EXPECT_LT(TEXT_MAX - sizeof(text), size);
	EXPECT_GE(TEXT_MAX + sizeof(text), size);
	EXPECT_LT(dropped, totals.dropped_locations);
	/* One that is there is found */
	memcpy(text, "00000000", 8);
	EXPECT_NE(STRING_DROPPED, add_string(text, sizeof(text)));
	EXPECT_EQ(STRING_DROPPED, add_string("new", 3));
}

TEST(table_keeps_what_it_has_while_it_grows)
{
	struct table table = { .max = 100000 };
	unsigned int *array = NULL;
	size_t room = 0;
	int i;

	for (i = 0; i < 100000; i++) {
		ASSERT_EQ(i, table_add(&table, &i, sizeof(i)));
		array = table_array(&table, array, &room, sizeof(*array));
		ASSERT_EQ(0, array[i]);
		array[i] = i + 1;
	}
	for (i = 0; i < 100000; i++) {
		ASSERT_EQ(i, table_find(&table, &i, sizeof(i)));
		ASSERT_EQ(i + 1, array[i]);
	}
	EXPECT_EQ(-1, table_find(&table, &i, sizeof(i)));
	EXPECT_EQ(-1, table_add(&table, &i, sizeof(i)));
	/* Another length is another key */
	i = 7;
	EXPECT_EQ(7, table_find(&table, &i, sizeof(i)));
	EXPECT_EQ(-1, table_find(&table, &i, 2));
}

TEST_HARNESS_MAIN
