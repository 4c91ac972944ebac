// SPDX-License-Identifier: GPL-2.0
/*
 * Tables, see table.h: open addressing with linear probing, half empty at least.
 *
 * Keys come from the profiled programs, which must not be able to choose ones that collide.
 * So the hash starts from a random number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "table.h"

#define LEAST_SLOTS	64

void *need(void *memory)
{
	if (!memory) {
		perror("unwind-profile");
		exit(1);
	}
	return memory;
}

static unsigned long long add_word(unsigned long long hash, unsigned long long word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

static unsigned long long hash_of(const void *bytes, size_t size)
{
	static unsigned long long seed;
	unsigned long long hash, word;
	size_t at;

	/* Without entropy, at least differ between runs */
	if (!seed && getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (unsigned long long)&word;
	hash = add_word(seed, size);
	for (at = 0; at < size; at += sizeof(word)) {
		word = 0;
		memcpy(&word, bytes + at, size - at < sizeof(word) ? size - at : sizeof(word));
		hash = add_word(hash, word);
	}
	return hash;
}

/* The slot that has the key, or where it would be */
static unsigned int *find_slot(const struct table *table, unsigned long long hash,
			       const void *bytes, size_t size)
{
	unsigned int at = hash;
	const struct key *key;

	for (;; at++) {
		unsigned int *slot = &table->slots[at & (table->nr_slots - 1)];

		if (!*slot)
			return slot;
		key = &table->keys[*slot - 1];
		if (key->hash == hash && key->size == size && !memcmp(key->bytes, bytes, size))
			return slot;
	}
}

int table_find(const struct table *table, const void *bytes, size_t size)
{
	if (!table->nr_slots)
		return -1;
	return (int)*find_slot(table, hash_of(bytes, size), bytes, size) - 1;
}

static void grow(struct table *table)
{
	unsigned int i, nr = table->nr_slots ? 2 * table->nr_slots : LEAST_SLOTS;
	const struct key *key;

	free(table->slots);
	table->slots = need(calloc(nr, sizeof(*table->slots)));
	table->nr_slots = nr;
	table->keys = need(realloc(table->keys, nr / 2 * sizeof(*table->keys)));
	for (i = 0; i < table->nr; i++) {
		key = &table->keys[i];
		*find_slot(table, key->hash, key->bytes, key->size) = i + 1;
	}
}

int table_add(struct table *table, const void *bytes, size_t size)
{
	unsigned long long hash = hash_of(bytes, size);
	unsigned int *slot;
	struct key *key;

	if (table->nr >= table->nr_slots / 2 && table->nr < table->max)
		grow(table);
	slot = find_slot(table, hash, bytes, size);
	if (*slot)
		return *slot - 1;
	if (table->nr >= table->max)
		return -1;
	key = &table->keys[table->nr++];
	*slot = table->nr;
	/* One byte more than nothing, and a zero after a string */
	*key = (struct key){ hash, size, need(calloc(1, size + 1)) };
	memcpy(key->bytes, bytes, size);
	return table->nr - 1;
}

void *table_array(const struct table *table, void *array, size_t *room, size_t size)
{
	size_t old = *room;

	if (table->nr <= old)
		return array;
	*room = table->nr_slots / 2;
	array = need(realloc(array, *room * size));
	memset(array + old * size, 0, (*room - old) * size);
	return array;
}
