// SPDX-License-Identifier: GPL-2.0
/* The profile, see counts.h */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "counts.h"
#include "table.h"

/* In a process's stacks, most locations are shared */
#define PER_STACK	4
/* Names can be long: bytes of all */
#define TEXT_MAX	(64UL << 20)

struct totals totals;

static struct table strings, locations, stacks, rows;
static struct count *counts;
static size_t counts_room, text_size;

/* Does it change what comes before or after, or cannot be seen? */
static bool is_control(unsigned int code)
{
	return code < 0xa0 || code == 0x061c || (code >= 0x200b && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
	       code == 0xfeff;
}

/* The length of the character at @text, if it is one of UTF-8 that a terminal prints; or 0 */
static size_t character(const unsigned char *text, size_t size)
{
	static const unsigned int least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int code = *text, len, i;

	if (code < 0x80)
		return code >= ' ' && code != 0x7f;
	len = code >= 0xf0 ? 4 : code >= 0xe0 ? 3 : 2;
	if (code < 0xc2 || code > 0xf4 || len > size)
		return 0;
	code &= 0x7f >> len;
	for (i = 1; i < len; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	/* Nor are there surrogates */
	if (code < least[len] || code > 0x10ffff || (code & ~0x7ff) == 0xd800 || is_control(code))
		return 0;
	return len;
}

unsigned int add_string(const char *text, size_t size)
{
	char clean[4096];
	const unsigned int before = strings.nr;
	size_t at, len, to = 0;
	int number;

	if (size > sizeof(clean))
		size = sizeof(clean);
	for (at = 0; at < size && text[at]; at += len ?: 1) {
		len = character((const unsigned char *)text + at, size - at);
		if (len)
			memcpy(clean + to, text + at, len);
		else
			clean[to] = '?';
		to += len ?: 1;
	}
	number = text_size > TEXT_MAX ? table_find(&strings, clean, to) :
		 table_add(&strings, clean, to);
	totals.dropped_locations += number < 0;
	text_size += strings.nr != before ? to : 0;
	return number < 0 ? STRING_DROPPED : number;
}

const char *string(unsigned int number)
{
	return strings.keys[number].bytes;
}

unsigned int nr_strings(void)
{
	return strings.nr;
}

unsigned int add_location(const struct location *location)
{
	int number = table_add(&locations, location, sizeof(*location));

	totals.dropped_locations += number < 0;
	return number < 0 ? LOCATION_DROPPED : number;
}

const struct location *location(unsigned int number)
{
	return locations.keys[number].bytes;
}

unsigned int nr_locations(void)
{
	return locations.nr;
}

unsigned int add_stack(const unsigned int *location, unsigned int nr)
{
	int number = table_add(&stacks, location, nr * sizeof(*location));

	return number < 0 ? STACK_DROPPED : number;
}

struct stack stack(unsigned int number)
{
	const struct key *key = &stacks.keys[number];

	return (struct stack){ key->bytes, key->size / sizeof(unsigned int) };
}

unsigned int nr_stacks(void)
{
	return stacks.nr;
}

void count(const struct row *row, unsigned long long samples, unsigned long long asleep)
{
	int number = table_add(&rows, row, sizeof(*row));

	if (number < 0) {
		totals.dropped_samples += samples;
		return;
	}
	counts = table_array(&rows, counts, &counts_room, sizeof(*counts));
	counts[number].samples += samples;
	counts[number].asleep += asleep;
}

const struct row *row(unsigned int number)
{
	return rows.keys[number].bytes;
}

const struct count *row_count(unsigned int number)
{
	return &counts[number];
}

unsigned int nr_rows(void)
{
	return rows.nr;
}

static unsigned int add_note(const char *text)
{
	struct location note = { .kind = AT_NOTE, .of = add_string(text, strlen(text)) };

	return add_location(&note);
}

void set_bound(unsigned int max_stacks)
{
	unsigned int note;

	stacks.max = max_stacks;
	/* Enough for what is always there */
	strings.max = PER_STACK * max_stacks;
	locations.max = PER_STACK * max_stacks;
	rows.max = PER_STACK * max_stacks;
	add_string("", 0);
	/* In the order of their numbers */
	note = add_note("[dropped]");
	add_stack(&note, 1);
	note = add_note("[missing]");
	add_stack(&note, 1);
	add_stack(&note, 0);
}
