/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keys of any length, each stored once, with numbers from 0
 *
 * A table holds up to a given number of keys and never forgets one. Its caller decides
 * what a key means, and keeps what belongs to it in an array by number. Numbers stay, and
 * so do the keys' addresses. The table grows with what is in it.
 */
#ifndef UNWIND_PROFILE_TABLE_H
#define UNWIND_PROFILE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct key {
	unsigned long long	hash;
	size_t			size;
	void			*bytes;
};

struct table {
	unsigned int		max;
	unsigned int		nr;
	/* Number of slots: a power of two, at least twice the keys; 0 before the first */
	unsigned int		nr_slots;
	/* Numbers, plus 1; 0 is free */
	unsigned int		*slots;
	struct key		*keys;
};

/* The key's number; -1 if it is not in the table */
int table_find(const struct table *table, const void *bytes, size_t size);

/* The same, but add it; -1 if the table is full. It ends the program without memory */
int table_add(struct table *table, const void *bytes, size_t size);

/*
 * An array by number has @room for elements of @size. It grows with the table: call this
 * after table_add(). New elements are zero.
 */
void *table_array(const struct table *table, void *array, size_t *room, size_t size);

/* Memory, or the end of the program */
void *need(void *memory);

#endif /* UNWIND_PROFILE_TABLE_H */
