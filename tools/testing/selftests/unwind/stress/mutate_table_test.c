// SPDX-License-Identifier: GPL-2.0
/*
 * Tables that change at random, while and between the times they are read.
 *
 * The file's pages are mapped a second time, shared and writable, and what is
 * written there the kernel reads as a table. Whatever that leads to, it is a
 * wrong stack at worst: the program goes on, each sample has its stack, the
 * kernel log stays silent, and when the table is good again the stacks are.
 *
 * The bytes come from a generator with a fixed seed, which is printed.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image.h"
#include "sampled.h"
#include "trace.h"
#include "../../kselftest_harness.h"

#define SEED		0x5eed0f5f4a3eULL
#define MUTATIONS	2000

/* xorshift64* */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

struct table {
	unsigned char	*bytes;
	size_t		size;
};

/* A byte, a bit, or a word that is likely to hit a bound */
static void mutate(const struct table *table, uint64_t *state)
{
	static const uint32_t words[] = {
		0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff,
		0x80000000, 0xffffffff, 0xfffffffc, 0x10000000, 0x10000001,
	};
	size_t pos = next_random(state) % table->size;

	switch (next_random(state) % 3) {
	case 0:
		table->bytes[pos] = next_random(state);
		break;
	case 1:
		table->bytes[pos] ^= 1 << next_random(state) % 8;
		break;
	default:
		pos = pos / 4 * 4;
		if (pos + 4 > table->size)
			pos = 0;
		memcpy(table->bytes + pos,
		       &words[next_random(state) % (sizeof(words) / 4)], 4);
	}
}

FIXTURE(mutated)
{
	struct sampler sampler;
	struct trace trace;
	struct elf elf;
	struct image image;
	struct table table;
	unsigned char *shared;
	int klog;
	int fd;
};

FIXTURE_SETUP(mutated)
{
	const struct elf64_phdr *phdr;

	if (sampler_open(&self->sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*");
	self->klog = klog_open();
	if (self->klog < 0)
		SKIP(return, "/dev/kmsg cannot be read");

	ASSERT_EQ(0, elf_read(&self->elf, "chain_table.so"));
	self->fd = elf_memfd(&self->elf);
	ASSERT_LE(0, self->fd);
	self->shared = mmap(NULL, self->elf.size, PROT_READ | PROT_WRITE,
			    MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	phdr = elf_phdr(&self->elf, PT_GNU_SFRAME, 0);
	ASSERT_NE(NULL, phdr);
	self->table.bytes = self->shared + phdr->p_offset;
	self->table.size = phdr->p_memsz;
	ASSERT_EQ(0, image_map(&self->image, &self->elf, self->fd, NULL));
	TH_LOG("seed %#llx, %d mutations", SEED, MUTATIONS);
}

FIXTURE_TEARDOWN(mutated)
{
	image_unmap(&self->image);
	sampler_close(&self->sampler);
	trace_stop(&self->trace);
	elf_free(&self->elf);
	close(self->klog);
	close(self->fd);
}

static int sample(struct _test_data_mutated *self, struct stack *stack,
		  struct stack *expected)
{
	return sample_chain(&self->sampler, stack, expected, 2,
			    (chain_fn)self->image.entry, sampled_call);
}

/* What the tables of the image led to */
static bool is_right(struct _test_data_mutated *self)
{
	struct stack stack, expected;

	memcpy(self->shared, self->elf.orig, self->elf.size);
	/* What was remembered of the table goes with its mapping */
	image_unmap(&self->image);
	return !image_map(&self->image, &self->elf, self->fd, NULL) &&
	       !sample(self, &stack, &expected) &&
	       stack_begins_with(&stack, &expected);
}

static size_t count(struct _test_data_mutated *self, const char *name)
{
	return trace_count(&self->trace, name, NULL, NULL, 0);
}

TEST_F_TIMEOUT(mutated, between_unwinds, 90)
{
	size_t wrong = 0, invalid = 0, found = 0;
	struct stack stack, expected;
	uint64_t state = SEED;
	int i;

	ASSERT_TRUE(is_right(self));
	for (i = 0; i < MUTATIONS; i++) {
		mutate(&self->table, &state);
		/* Now and then the header is read anew */
		if (i % 4 == 0) {
			image_unmap(&self->image);
			ASSERT_EQ(0, image_map(&self->image, &self->elf,
					       self->fd, NULL));
		}
		/* Any stack will do, but one there must be, and its top */
		ASSERT_EQ(0, sample(self, &stack, &expected));
		ASSERT_LE(1, stack.nr);
		EXPECT_EQ(expected.ip[0], stack.ip[0]);
		wrong += stack.nr < expected.nr ||
			 memcmp(stack.ip, expected.ip,
				expected.nr * sizeof(*stack.ip));
		/* A few at a time, or nothing but the first would be tested */
		if (i % 4 == 3)
			memcpy(self->shared, self->elf.orig, self->elf.size);
		if (i % 100 == 99) {
			ASSERT_EQ(0, trace_read(&self->trace));
			found += count(self, "table_found");
			invalid += count(self, "table_invalid") +
				   count(self, "entry_invalid");
			ASSERT_EQ(0, trace_clear(&self->trace));
		}
	}
	EXPECT_TRUE(is_right(self));
	EXPECT_TRUE(klog_silent(self->klog));
	TH_LOG("%zu stacks were wrong, %zu tables found, %zu entries and tables invalid",
	       wrong, found, invalid);
	/* It did hit: headers, entries, and rows that say something else */
	EXPECT_NE(0, wrong);
	EXPECT_NE(0, found);
	EXPECT_NE(0, invalid);
}

struct mutator {
	const struct table	*table;
	const unsigned char	*good;
	atomic_bool		stop;
	atomic_ulong		mutations;
};

static void *mutator(void *arg)
{
	struct mutator *m = arg;
	uint64_t state = SEED;
	unsigned long i;

	while (!atomic_load(&m->stop)) {
		i = atomic_fetch_add(&m->mutations, 1);
		if (i % 4)
			mutate(m->table, &state);
		else
			memcpy(m->table->bytes, m->good, m->table->size);
	}
	return NULL;
}

TEST_F_TIMEOUT(mutated, while_unwinding, 90)
{
	struct mutator m = {
		.table = &self->table,
		.good = self->elf.orig + (self->table.bytes - self->shared),
	};
	struct stack stack, expected;
	pthread_t thread;
	int i;

	ASSERT_TRUE(is_right(self));
	ASSERT_EQ(0, pthread_create(&thread, NULL, mutator, &m));
	for (i = 0; i < MUTATIONS / 4 || atomic_load(&m.mutations) < MUTATIONS;
	     i++) {
		if (i % 8 == 0) {
			image_unmap(&self->image);
			ASSERT_EQ(0, image_map(&self->image, &self->elf,
					       self->fd, NULL));
		}
		ASSERT_EQ(0, sample(self, &stack, &expected));
		ASSERT_LE(1, stack.nr);
		EXPECT_EQ(expected.ip[0], stack.ip[0]);
	}
	atomic_store(&m.stop, true);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_TRUE(is_right(self));
	EXPECT_TRUE(klog_silent(self->klog));
	TH_LOG("%d stacks during %lu mutations", i, m.mutations);
}

TEST_HARNESS_MAIN
