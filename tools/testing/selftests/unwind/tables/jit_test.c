// SPDX-License-Identifier: GPL-2.0
/*
 * Code that is made at run time, with a table that grows: the sample JIT
 * (samples/unwind/) under sampling.
 *
 * Each stack through a generated function is the true one or stops there: a table that is
 * being changed never gives a wrong caller. Published entries are used.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../../../../samples/unwind/jit_pool.h"
#include "run.h"
#include "sampled.h"
#include "../../kselftest_harness.h"

#define SIZE		(1024 * 1024)
#define PAGES		128
#define CALLS		4
#define DEPTH		40

#define WATCH	(WATCH_CALLS | WATCH_CLOCK)

/* Generated functions, the innermost first */
struct chain {
	struct jit_entry	entry[DEPTH];
	atomic_uint		depth;
};

static run_fn chain_fn_of(const struct jit_entry *entry)
{
	return (run_fn)(uintptr_t)entry->code;
}

/* Frames of all sizes: an entry for one function is wrong for the next */
static __u32 locals(unsigned int i)
{
	return 32 + 16 * (i * 7 % 61);
}

/* Add a function, which calls the one before it */
static int extend(struct jit_window *win, struct chain *chain,
		  unsigned int seed)
{
	const unsigned int depth = atomic_load(&chain->depth);
	struct jit_func func = {
		.callee = depth ? chain->entry[depth - 1].code :
				  (const void *)(uintptr_t)run_leaf,
		.locals = locals(seed + depth),
		.work = 16 * (seed % 8),
	};
	int index = jit_add(win, &func, &chain->entry[depth]);

	if (index >= 0)
		atomic_store(&chain->depth, depth + 1);
	return index;
}

/* The functions of a chain; run_enter() calls the last of them */
static void chain_truth(const struct chain *chain, unsigned int depth,
			struct truth *truth)
{
	unsigned int i;

	truth->nr = 0;
	truth->base = (unsigned long)run_base;
	for (i = 0; i < depth; i++) {
		const struct jit_entry *entry = &chain->entry[i];
		struct truth_func func = {
			.start = (uintptr_t)entry->code,
			.end = (uintptr_t)entry->code + entry->size,
			.ra = i + 1 < depth ? (uintptr_t)entry[1].ra :
					      truth->base,
		};

		truth_add(truth, &func, 1);
	}
}

/* Call the current functions of a chain, under sampling, and judge */
static int run_chain(struct watch *watch, const struct chain *chain,
		     unsigned int depth, unsigned long calls,
		     struct tally *tally)
{
	struct run run = { .leaf = run_leaf, .rounds = calls };
	struct truth truth;

	if (watch_enable(watch))
		return -1;
	run_enter(&run, chain_fn_of(&chain->entry[depth - 1]));
	if (watch_disable(watch))
		return -1;
	chain_truth(chain, depth, &truth);
	watch_judge(watch, &truth, tally);
	return 0;
}

static void log_tally(struct __test_metadata *_metadata,
		      const struct tally *tally)
{
	TH_LOG("right %lu, ended %lu, wrong %lu, elsewhere %lu, lost %lu",
	       tally->right, tally->ended, tally->wrong, tally->elsewhere,
	       tally->lost);
	EXPECT_EQ(0, tally->lost);
}

FIXTURE(jit)
{
	struct jit_window win;
	struct chain chain;
	struct watch watch;
	struct tally tally;
};

FIXTURE_VARIANT(jit)
{
	bool sorted;
};

FIXTURE_VARIANT_ADD(jit, sorted) {
	.sorted = true,
};

FIXTURE_VARIANT_ADD(jit, unsorted) {
	.sorted = false,
};

static int make_window(struct jit_window *win, bool sorted)
{
	void *code = mmap(NULL, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *table = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED || table == MAP_FAILED)
		return -1;
	return jit_window_init(win, code, SIZE, table, SIZE, sorted);
}

FIXTURE_SETUP(jit)
{
	ASSERT_EQ(0, make_window(&self->win, variant->sorted));
	ASSERT_EQ(0, jit_window_register(&self->win));
	if (watch_open(&self->watch, 0, -1, WATCH, PAGES))
		SKIP(return, "no perf events for raw_syscalls, or not root");
}

FIXTURE_TEARDOWN(jit)
{
	watch_close(&self->watch);
	munmap(self->win.code, SIZE);
	munmap(self->win.table, SIZE);
}

/* Only an unsorted table allows an entry to be filled again */
FIXTURE(refill)
{
	struct jit_window win;
	struct chain chain;
	struct watch watch;
	struct tally tally;
};

FIXTURE_SETUP(refill)
{
	ASSERT_EQ(0, make_window(&self->win, false));
	ASSERT_EQ(0, jit_window_register(&self->win));
	if (watch_open(&self->watch, 0, -1, WATCH, PAGES))
		SKIP(return, "no perf events for raw_syscalls, or not root");
}

FIXTURE_TEARDOWN(refill)
{
	watch_close(&self->watch);
	munmap(self->win.code, SIZE);
	munmap(self->win.table, SIZE);
}

/* The test detects a mismatch of code and table: otherwise no test here could fail */
TEST_F(jit, check_finds_a_wrong_table)
{
	struct jit_func other = { .callee = (void *)(uintptr_t)run_leaf };
	struct jit_code code;

	ASSERT_EQ(0, extend(&self->win, &self->chain, 0));
	ASSERT_EQ(1, extend(&self->win, &self->chain, 0));
	other.locals = locals(0) + 48;
	jit_code_emit(self->win.code, &other, &code);
	TH_LOG("the next ones are meant to be wrong");
	ASSERT_EQ(0, run_chain(&self->watch, &self->chain, 2, 1, &self->tally));
	log_tally(_metadata, &self->tally);
	EXPECT_LE(1, self->tally.wrong);
}

/* The generated functions lie between C functions, which are found as well */
struct through {
	unsigned long	ra;
	struct run	run;
};

static void call_through(struct through *through, run_fn fn)
{
	through->ra = (unsigned long)__builtin_return_address(0);
	fn(&through->run);
	/* Not a jump */
	asm volatile("" : : : "memory");
}

TEST_F(jit, stack_goes_through)
{
	struct through through = { .run.rounds = 1 };
	struct sampler sampler;
	struct stack stack;
	unsigned int i;

	for (i = 0; i < 5; i++)
		ASSERT_EQ(i, extend(&self->win, &self->chain, 3));
	ASSERT_EQ(0, sampler_open(&sampler, 0));
	call_through(&through, chain_fn_of(&self->chain.entry[4]));
	ASSERT_EQ(0, sampler_stack(&sampler, &stack));
	sampler_close(&sampler);

	/* run_leaf(), the functions, call_through(), this one */
	ASSERT_LT(8, stack.nr);
	for (i = 0; i < 5; i++)
		EXPECT_EQ((uintptr_t)self->chain.entry[i].ra, stack.ip[1 + i]);
	EXPECT_EQ(through.ra, stack.ip[7]);
}

/* Each function is found as soon as it has been published */
TEST_F(jit, growing_table_is_used)
{
	unsigned int i;

	for (i = 1; i <= DEPTH; i++) {
		ASSERT_EQ(i - 1, extend(&self->win, &self->chain, 0));
		ASSERT_EQ(0, run_chain(&self->watch, &self->chain, i, CALLS,
				       &self->tally));
		ASSERT_LE(i * CALLS, self->tally.right);
	}
	log_tally(_metadata, &self->tally);
	EXPECT_EQ(0, self->tally.wrong);
	EXPECT_EQ(0, self->tally.ended);
}

/* A table that is not registered is not used; nor is a retired one */
TEST_F(jit, retired_table_is_not_used)
{
	struct jit_window win;

	ASSERT_EQ(0, extend(&self->win, &self->chain, 0));
	ASSERT_EQ(0, run_chain(&self->watch, &self->chain, 1, CALLS,
			       &self->tally));
	ASSERT_LE(CALLS, self->tally.right);
	EXPECT_EQ(0, self->tally.ended);

	win = self->win;
	ASSERT_EQ(0, jit_window_retire(&win));
	self->tally = (struct tally){};
	ASSERT_EQ(0, run_chain(&self->watch, &self->chain, 1, CALLS,
			       &self->tally));
	EXPECT_EQ(0, self->tally.right);
	EXPECT_LE(CALLS, self->tally.ended);

	/* Again, for other functions at the same addresses */
	self->chain.depth = 0;
	ASSERT_EQ(0, jit_window_register(&win));
	ASSERT_EQ(0, extend(&win, &self->chain, 5));
	ASSERT_EQ(1, extend(&win, &self->chain, 5));
	self->tally = (struct tally){};
	ASSERT_EQ(0, run_chain(&self->watch, &self->chain, 2, CALLS,
			       &self->tally));
	EXPECT_LE(CALLS, self->tally.right);
	EXPECT_EQ(0, self->tally.ended);
	EXPECT_EQ(0, self->tally.wrong);
}

/* A stack ends at a function that was removed */
TEST_F(jit, removed_functions_are_not_used)
{
	unsigned int i;

	/* Samples at the call only: others need not pass all of it */
	watch_close(&self->watch);
	ASSERT_EQ(0, watch_open(&self->watch, 0, -1, WATCH_CALLS, PAGES));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(i, extend(&self->win, &self->chain, 0));
	jit_remove(&self->win, 1);
	ASSERT_EQ(0, run_chain(&self->watch, &self->chain, 4, CALLS,
			       &self->tally));
	log_tally(_metadata, &self->tally);
	EXPECT_EQ(CALLS, self->tally.ended);
	EXPECT_EQ(0, self->tally.wrong);
	EXPECT_EQ(0, self->tally.right);
}

/* The same entry, and the same memory, for successive functions */
TEST_F(refill, entries_are_used_again)
{
	struct chain *chain = &self->chain;
	unsigned int i;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(i, extend(&self->win, chain, 0));
	for (i = 0; i < 200; i++) {
		struct jit_func func = {
			.callee = chain->entry[0].code,
			.locals = locals(i),
		};

		jit_remove(&self->win, 1);
		ASSERT_EQ(1, jit_refill(&self->win, 1, &func,
					(void *)chain->entry[1].code,
					&chain->entry[1]));
		ASSERT_EQ(0, run_chain(&self->watch, chain, 3, CALLS,
				       &self->tally));
	}
	log_tally(_metadata, &self->tally);
	EXPECT_LE(200 * CALLS, self->tally.right);
	EXPECT_EQ(0, self->tally.ended);
	EXPECT_EQ(0, self->tally.wrong);
}

/*
 * Several threads
 */

#define RUNNERS		3

struct runner {
	struct jit_pool		*pool;
	struct chain		*chain;
	atomic_bool		*stop;
	unsigned int		i;
	pthread_t		thread;
	struct tally		tally;
	atomic_ulong		runs;
	bool			failed;
};

/*
 * A torn entry. It is filled alternately with a short function that lies right before a
 * function in use, and with a long one that lies elsewhere. The address of the short one
 * with the size of the long one would cover the function in use.
 */
#define FAR		(SIZE / 2)
#define LONG		4096

static void *run_neighbour(void *arg)
{
	struct runner *runner = arg;
	struct watch watch;

	if (watch_open(&watch, 0, -1, WATCH, PAGES)) {
		runner->failed = true;
		return NULL;
	}
	while (!atomic_load(runner->stop))
		if (run_chain(&watch, runner->chain, 1, 50, &runner->tally))
			runner->failed = true;
	watch_close(&watch);
	return NULL;
}

static unsigned long refill_by_turns(struct jit_window *win, int index)
{
	struct jit_func func = { .callee = (void *)(uintptr_t)run_leaf };
	struct jit_entry entry;
	unsigned long i;

	for (i = 0;; i++) {
		bool away = i % 2;

		func.locals = away ? 512 : 256;
		func.work = away ? LONG : 0;
		jit_remove(win, index);
		if (jit_refill(win, index, &func, win->code + (away ? FAR : 0),
			       &entry) < 0)
			return i;
		/* Leave time for samples of it as it is */
		if (!(i % 64))
			sched_yield();
	}
}

TEST_F_TIMEOUT(refill, entries_are_not_torn, 120)
{
	struct jit_func func = { .callee = (void *)(uintptr_t)run_leaf };
	struct runner runner[RUNNERS] = {};
	struct jit_entry entry;
	atomic_bool stop = false;
	unsigned long fills;
	unsigned int i;

	func.locals = 256;
	ASSERT_EQ(0, jit_add(&self->win, &func, &entry));
	self->win.code_used = (entry.size + 15) & -16;
	/* The neighbour */
	func.locals = 64;
	ASSERT_EQ(1, jit_add(&self->win, &func, &self->chain.entry[0]));
	for (i = 0; i < RUNNERS; i++) {
		runner[i].chain = &self->chain;
		runner[i].stop = &stop;
		ASSERT_EQ(0, pthread_create(&runner[i].thread, NULL,
					    run_neighbour, &runner[i]));
	}
	fills = refill_by_turns(&self->win, 0);
	atomic_store(&stop, true);
	for (i = 0; i < RUNNERS; i++) {
		pthread_join(runner[i].thread, NULL);
		EXPECT_FALSE(runner[i].failed);
		tally_add(&self->tally, &runner[i].tally);
	}
	log_tally(_metadata, &self->tally);
	TH_LOG("%lu times filled", fills);
	EXPECT_LT(1000, fills);
	EXPECT_LT(0, self->tally.right);
	EXPECT_EQ(0, self->tally.wrong);
}

/* Windows in turn, by epochs: retired, and used again for other functions */
#define WINDOWS		100
#define WINDOW_DEPTH	12

static void *run_pool(void *arg)
{
	struct runner *runner = arg;
	struct watch watch;

	if (watch_open(&watch, 0, -1, WATCH, PAGES)) {
		runner->failed = true;
		return NULL;
	}
	while (!atomic_load(runner->stop)) {
		unsigned int win = jit_pool_enter(runner->pool, runner->i);
		struct chain *chain = &runner->chain[win];

		if (run_chain(&watch, chain, atomic_load(&chain->depth), CALLS,
			      &runner->tally))
			runner->failed = true;
		jit_pool_leave(runner->pool, runner->i);
		atomic_fetch_add(&runner->runs, 1);
	}
	watch_close(&watch);
	return NULL;
}

/* Runners start when there is one function, and find more and more of them */
static int compile_window(struct jit_pool *pool, struct chain *chains,
			  unsigned int seed)
{
	struct jit_window *win = jit_pool_begin(pool);
	struct chain *chain;
	unsigned int i;

	if (!win)
		return -1;
	chain = &chains[win - pool->win];
	atomic_store(&chain->depth, 0);
	for (i = 0; i < WINDOW_DEPTH; i++) {
		if (extend(win, chain, seed) < 0)
			return -1;
		if (!i)
			jit_pool_publish(pool);
		sched_yield();
	}
	return 0;
}

/* Has each runner been there, and in several windows? */
static bool all_ran(struct runner *runner)
{
	unsigned int i;

	for (i = 0; i < RUNNERS; i++)
		if (atomic_load(&runner[i].runs) < WINDOWS)
			return false;
	return true;
}

FIXTURE(pool)
{
	struct jit_pool pool;
	struct chain chain[JIT_WINDOWS];
};

FIXTURE_VARIANT(pool)
{
	bool sorted;
};

FIXTURE_VARIANT_ADD(pool, sorted) {
	.sorted = true,
};

FIXTURE_VARIANT_ADD(pool, unsorted) {
	.sorted = false,
};

FIXTURE_SETUP(pool)
{
	struct watch watch;

	if (watch_open(&watch, 0, -1, WATCH, PAGES))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	watch_close(&watch);
	ASSERT_EQ(0, jit_pool_init(&self->pool, RUNNERS, 64 * 1024, 16 * 1024,
				   variant->sorted));
}

FIXTURE_TEARDOWN(pool)
{
	jit_pool_free(&self->pool);
}

TEST_F_TIMEOUT(pool, windows_are_used_in_turn, 120)
{
	struct runner runner[RUNNERS] = {};
	atomic_bool stop = false;
	struct tally tally = {};
	unsigned int i;

	ASSERT_EQ(0, compile_window(&self->pool, self->chain, 0));
	for (i = 0; i < RUNNERS; i++) {
		runner[i].pool = &self->pool;
		runner[i].chain = self->chain;
		runner[i].stop = &stop;
		runner[i].i = i;
		ASSERT_EQ(0, pthread_create(&runner[i].thread, NULL, run_pool,
					    &runner[i]));
	}
	for (i = 1; i < WINDOWS || !all_ran(runner); i++)
		ASSERT_EQ(0, compile_window(&self->pool, self->chain, i));
	TH_LOG("%u windows", i);
	atomic_store(&stop, true);
	for (i = 0; i < RUNNERS; i++) {
		pthread_join(runner[i].thread, NULL);
		EXPECT_FALSE(runner[i].failed);
		tally_add(&tally, &runner[i].tally);
	}
	log_tally(_metadata, &tally);
	EXPECT_LT(WINDOWS, tally.right);
	EXPECT_EQ(0, tally.wrong);
	/* A window stays registered while any thread is in it */
	EXPECT_EQ(0, tally.ended);
}

TEST_HARNESS_MAIN
