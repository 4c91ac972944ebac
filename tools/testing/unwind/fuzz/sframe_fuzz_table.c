// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzing the builder of tables: any bytes as a section.
 *
 * The invariants of tables must hold, and a table must answer as the decoder does.  A
 * section that makes no sense may have two answers for an address.  Then the table's has
 * to be what the opening comment of sframe_table.c says:
 *
 * - Of functions that overlap, the first one counts, and the rest of the other is bad.
 *   So the decoder is asked again, about a section that has only this function.
 * - Rows are bad from the first one on that does not ascend.
 * - Functions that exceed a bound are bad.
 *
 * A lookup that exceeds its bound on FREs has no answer to compare.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/err.h>
#include <linux/kernel.h>

#include "sframe_build.h"
#include "sframe_fuzz.h"
#include "sframe_fuzz_table.h"
#include "table.h"

#define MAX_REPEATED	65536
#define MIN_SPAN	(4096 * 128)
#define MAX_RULES	4096
#define MAX_COMPLEX	1024

/* A function with code, as the section has it */
struct func {
	u64	start;		/* offset in the text */
	u32	size;
	u32	index;
	u64	fres;		/* position in the section */
	u32	num_fres;
	u8	info;
	u8	rep_size;
	bool	there;		/* else what follows its size could not be read */
};

static struct sframe_table *table;
static const u8 *bytes;
static size_t size;
static u64 base;
static const struct sframe_section *sec;
/* Functions in order, if they were asked for */
static struct func *funcs;
static u32 num_funcs;
static u64 num_entries;	/* that functions say they need */

static u64 get(u64 pos, unsigned int bytes_of_it)
{
	u64 val = 0;

	memcpy(&val, bytes + pos, bytes_of_it);
	return val;
}

/* Where it is, and what is known of its FREs */
static void read_func(struct func *func, u32 i)
{
	bool v2 = sec->version == 2;
	u64 pos = sec->fdes - sec->start + (u64)i * (v2 ? 20 : 16);
	u64 fres = sec->fres - sec->start;
	u64 start = v2 ? (u64)(s32)get(pos, 4) : get(pos, 8);

	*func = (struct func){
		.start = start + (sec->flags & SFB_PCREL ? pos : 0) + TABLE_REACH,
		.size = get(pos + (v2 ? 4 : 8), 4),
		.index = i,
		.fres = get(pos + (v2 ? 8 : 12), 4),
		.there = v2,
	};
	if (v2) {
		func->num_fres = get(pos + 12, 4);
		func->info = get(pos + 16, 1);
		func->rep_size = get(pos + 17, 1);
	} else if (func->fres + 5 <= sec->fre_len) {
		func->there = true;
		func->num_fres = get(fres + func->fres, 2);
		func->info = get(fres + func->fres + 2, 1);
		func->rep_size = get(fres + func->fres + 4, 1);
		func->fres += 5;
	}
}

static bool in_text(const struct func *func)
{
	return func->size && func->start < 2 * TABLE_REACH &&
	       func->size <= 2 * TABLE_REACH - func->start;
}

static int compare_funcs(const void *a, const void *b)
{
	const struct func *fa = a, *fb = b;

	if (fa->start != fb->start)
		return fa->start < fb->start ? -1 : 1;
	return fa->index < fb->index ? -1 : 1;
}

static void count_entries(const struct func *func)
{
	u64 repeats = 1;

	if (func->info & SFB_PCMASK)
		repeats = func->rep_size ? func->size / func->rep_size + 1 : 0;
	/* One more per block, whose first FRE may start late: a bound, not the exact number */
	num_entries += (func->num_fres + 1ULL) * repeats;
	if (num_entries > 1ULL << 40)
		num_entries = 1ULL << 40;
}

static void read_funcs(void)
{
	u32 i;

	if (funcs)
		return;
	funcs = calloc(sec->num_fdes + 1, sizeof(*funcs));
	num_entries = 0;
	num_funcs = 0;
	for (i = 0; i < sec->num_fdes; i++) {
		struct func *func = &funcs[num_funcs];

		read_func(func, i);
		if (!in_text(func))
			continue;
		count_entries(func);
		num_funcs++;
	}
	qsort(funcs, num_funcs, sizeof(*funcs), compare_funcs);
}

/* The function that counts at @offset, or NULL.  @rest: another one overlaps it there. */
static const struct func *func_at(u64 offset, bool *rest)
{
	u64 end = 0;
	u32 i;

	for (i = 0; i < num_funcs; i++) {
		const struct func *func = &funcs[i];

		if (func->start + func->size <= end)
			continue;
		*rest = func->start < end;
		if (offset < max(func->start, end))
			return NULL;
		end = func->start + func->size;
		if (offset < end)
			return func;
	}
	return NULL;
}

/* Does a lookup meet an FRE that starts before the one before it? */
static bool fres_descend(const struct func *func, u64 offset)
{
	u32 type = func->info & 15, last = 0, start, i;
	u64 pos = func->fres, fres = sec->fres - sec->start;
	u8 info;

	if (type > 2)
		return false;
	if (func->info & SFB_PCMASK)
		offset %= func->rep_size ?: 1;
	for (i = 0; i < func->num_fres; i++, last = start) {
		if (pos + (1 << type) + 1 > sec->fre_len)
			return false;
		start = get(fres + pos, 1 << type);
		info = get(fres + pos + (1 << type), 1);
		if (start > offset)
			return false;
		if (start < last)
			return true;
		pos += (1 << type) + 1 + ((info >> 1 & 15) << (info >> 5 & 3));
	}
	return false;
}

/* A lookup in a section that has this function alone */
static int look_up_alone(const struct func *func, u64 ip, struct unwind_frame_rule *rule)
{
	u64 skip = (u64)func->index * (sec->version == 2 ? 20 : 16);
	struct sframe_section alone = *sec;

	alone.fdes += skip;
	alone.num_fdes = 1;
	alone.flags &= ~SFB_SORTED;
	if (alone.flags & SFB_PCREL)
		alone.origin += skip;
	return fuzz_look_up(&alone, ip, rule);
}

static bool exceeds_bounds(void)
{
	return table->nr_rules == MAX_RULES || table->nr_complex == MAX_COMPLEX ||
	       num_entries > size / 2 + MAX_REPEATED;
}

/* The decoder's answer is another one: has the table the right one? */
static const char *table_wrong(u64 ip)
{
	const u64 offset = ip - (base - TABLE_REACH);
	const struct func *func;
	struct unwind_frame_rule rule;
	bool rest;
	int ret;

	read_funcs();
	func = func_at(offset, &rest);
	if (func && exceeds_bounds() &&
	    sframe_table_find(table, offset) == SFRAME_RULE_BAD)
		return NULL;
	if (!func)
		ret = -ENOENT;
	else if (rest || fres_descend(func, offset - func->start))
		ret = -EINVAL;
	else
		ret = look_up_alone(func, ip, &rule);
	if (ret == -E2BIG)
		return NULL;
	return table_differs(table, base, ip, ret, &rule);
}

static void check_no_table(int ret)
{
	u64 last = 0;
	u32 i;

	read_funcs();
	for (i = 0; i < num_funcs; i++)
		last = max(last, funcs[i].start + funcs[i].size);
	if (ret == -ENOENT ? num_funcs :
	    ret != -E2BIG || last - funcs[0].start + 128 <= MIN_SPAN)
		fuzz_die("no table of what has one");
	fuzz_outcomes[FUZZ_NO_TABLE]++;
}

void fuzz_table_open(const u8 *section, size_t section_size, u64 at, u8 abi,
		     int header, const struct sframe_section *description)
{
	const char *broken;
	int ret;

	bytes = section;
	size = section_size;
	base = at;
	sec = description;
	table = table_of(bytes, size, base, abi);
	ret = PTR_ERR_OR_ZERO(table);
	if (ret)
		table = NULL;
	if (header && ret != header)
		fuzz_die("a table of a section whose header makes no sense");
	if (header)
		return;
	if (!table) {
		check_no_table(ret);
		return;
	}
	broken = table_broken(table, size);
	if (broken)
		fuzz_die(broken);
}

void fuzz_table_compare(u64 ip, int ret, const struct unwind_frame_rule *rule)
{
	const char *wrong;

	if (!table)
		return;
	if (!table_differs(table, base, ip, ret, rule)) {
		fuzz_outcomes[FUZZ_TABLE]++;
		return;
	}
	wrong = table_wrong(ip);
	if (wrong)
		fuzz_die(wrong);
	fuzz_outcomes[FUZZ_OTHER_TABLE]++;
}

void fuzz_table_close(void)
{
	sframe_table_free(table);
	free(funcs);
	table = NULL;
	funcs = NULL;
}
