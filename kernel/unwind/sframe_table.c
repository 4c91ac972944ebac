// SPDX-License-Identifier: GPL-2.0
/*
 * Building a table from an SFrame section that was copied into the kernel.
 *
 * The file follows a build: collect the functions and sort them by offset, turn each
 * function's FREs into entries, number the different rules, then lay the arrays out as
 * struct sframe_table has them.
 *
 * A bad FRE costs its own addresses, a bad function its own, and both get
 * SFRAME_RULE_BAD.  Where functions overlap, the first one wins, and the rest of the
 * other one is bad.  Addresses between functions get SFRAME_RULE_NONE.  So a table says
 * for each address what sframe_find_rule() says, apart from overlaps, FREs that do not
 * ascend, and what exceeds a bound.
 *
 * The section is hostile.  Functions may share FREs, repeat them in small blocks, and
 * lie gigabytes apart.  The following bounds hold nevertheless: entries are at most
 * half as many as the section has bytes, plus MAX_REPEATED and two per function; there
 * are at most MAX_RULES rules, and at most 64 blocks per entry, plus MIN_BLOCKS.  Work
 * is bounded likewise: each FRE that is decoded makes an entry, or was counted as one.
 */

#include <linux/align.h>
#include <linux/array_size.h>
#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "sframe.h"
#include "sframe_format.h"
#include "sframe_table.h"

/* The section is a copy: reads cannot fail, and their bounds were checked */
#define sframe_get(val, addr)						\
({									\
	typeof(val) __val = (val);					\
									\
	*__val = get_unaligned((const typeof(*__val) *)(addr));		\
	0;								\
})
#include "sframe_decode.h"

/* Distributions' files have some hundreds of rules, fewer than ten of them complex */
#define MAX_RULES	4096
#define MAX_COMPLEX	1024
#define HASH_BITS	13
#define MEMO_BITS	8

/* Entries of functions that repeat their FREs, such as a PLT */
#define MAX_REPEATED	65536

/* Blocks that a table of few entries may have: 512 KiB of text */
#define MIN_BLOCKS	4096

/* A failed allocation only costs a table, so it must not invoke the OOM killer */
#define TABLE_GFP	(GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN)

/* Marks a function with more FREs than a table may have */
#define INDEX_BAD	U32_MAX

/* A function, before its FREs are read */
struct func_ref {
	u64	offset;
	u32	size;
	u32	index;		/* in the section */
};

/* Remembers the number of the rule of a short FRE */
struct memo {
	u64	fre;		/* the result of pack_fre(), and MEMO_VALID */
	u16	number;
};

#define MEMO_VALID	BIT_ULL(63)

/* The different rules; slots has their numbers plus one, by hash */
struct dictionary {
	u64			rules[MAX_RULES];
	struct unwind_frame_rule	complex[MAX_COMPLEX];
	u16			slots[BIT(HASH_BITS)];
	struct memo		memo[BIT(MEMO_BITS)];
	u32			nr_rules;
	u32			nr_complex;
	u32			seed;	/* or a process could have them collide */
	bool			pushed;	/* calls push the return address */
};

struct builder {
	const struct sframe_image *image;
	struct sframe_section	sec;
	struct func_ref		*funcs;
	u32			nr_funcs;
	struct dictionary	*dict;
	/* Entries, in order: offsets from @start, and rules */
	u64			start;
	u64			end;
	u32			*offsets;
	u16			*numbers;
	u32			nr;
};

/*
 * Functions
 */

/* The offset of a function's code, if one segment holds all of it */
static bool func_offset(const struct builder *b, u64 vaddr, u32 size, u64 *offset)
{
	unsigned int i;

	for (i = 0; i < b->image->nr_segments; i++) {
		const struct sframe_segment *seg = &b->image->segments[i];

		if (vaddr >= seg->vaddr && vaddr - seg->vaddr < seg->size &&
		    seg->size - (vaddr - seg->vaddr) >= size) {
			*offset = seg->offset + (vaddr - seg->vaddr);
			return *offset + size > *offset;
		}
	}
	return false;
}

/* There may be millions of functions: give way to others, and stop for a task that was killed */
static bool is_killed(void)
{
	cond_resched();
	return fatal_signal_pending(current);
}

static int cmp_func(const void *a, const void *b)
{
	const struct func_ref *fa = a, *fb = b;

	if (is_killed())
		return 0;
	if (fa->offset != fb->offset)
		return fa->offset < fb->offset ? -1 : 1;
	return fa->index < fb->index ? -1 : 1;
}

/* The range of text; an offset from its start has 32 bits */
static int set_bounds(struct builder *b)
{
	u32 i;

	b->start = ALIGN_DOWN(b->funcs[0].offset, SFRAME_BLOCK);
	for (i = 0; i < b->nr_funcs; i++)
		b->end = max(b->end, b->funcs[i].offset + b->funcs[i].size);
	return b->end - b->start <= U32_MAX - SFRAME_BLOCK ? 0 : -E2BIG;
}

/* Functions of size 0 were unreachable code: they describe nothing */
static int collect_funcs(struct builder *b)
{
	const u64 origin = b->image->vaddr + (b->sec.origin - b->sec.start);
	bool sorted = true;
	u32 i;

	b->funcs = kvmalloc_array(b->sec.num_fdes, sizeof(*b->funcs), TABLE_GFP);
	if (!b->funcs)
		return -ENOMEM;
	for (i = 0; i < b->sec.num_fdes; i++) {
		struct func_ref *func = &b->funcs[b->nr_funcs];
		s64 start;

		if (is_killed())
			return -EINTR;
		read_func_start(&b->sec, i, &start);
		read_func_size(&b->sec, i, &func->size);
		if (!func->size ||
		    !func_offset(b, origin + start, func->size, &func->offset))
			continue;
		func->index = i;
		if (b->nr_funcs && func->offset < func[-1].offset)
			sorted = false;
		b->nr_funcs++;
	}
	if (!b->nr_funcs)
		return -ENOENT;
	if (!sorted)
		sort(b->funcs, b->nr_funcs, sizeof(*b->funcs), cmp_func, NULL);
	return set_bounds(b);
}

/* Number of repeats of a function's FREs, and size of the blocks in bytes */
static bool read_repeats(const struct sframe_func *func, u32 *block, u32 *repeats)
{
	u8 rep_size = 0;

	*block = func->size;
	*repeats = 1;
	if (!(func->info & SFRAME_FDE_PCTYPE_MASK))
		return true;
	(void)sframe_get(&rep_size, func->rep_size);
	if (!rep_size)
		return false;
	*block = rep_size;
	*repeats = DIV_ROUND_UP(func->size, rep_size);
	return true;
}

/*
 * Count entries: at most one per FRE, one more where each block begins, and one where
 * the function ends.  A function whose FREs would exceed the bound is bad.
 */
static int count_entries(struct builder *b)
{
	u64 left = b->image->size / 2 + MAX_REPEATED;
	u32 nr = 1, i, block, repeats;

	for (i = 0; i < b->nr_funcs; i++) {
		struct func_ref *ref = &b->funcs[i];
		struct sframe_func func = { .index = ref->index, .size = ref->size };
		u64 fres;

		if (is_killed())
			return -EINTR;
		nr += 2;
		if (read_func(&b->sec, &func) || !func.num_fres ||
		    !read_repeats(&func, &block, &repeats))
			continue;
		/* The start of the first block is among the two */
		fres = (func.num_fres + 1ULL) * repeats - 1;
		if (fres > left) {
			ref->index = INDEX_BAD;
			continue;
		}
		left -= fres;
		nr += fres;
	}
	b->offsets = kvmalloc_array(nr, sizeof(*b->offsets), TABLE_GFP);
	b->numbers = kvmalloc_array(nr, sizeof(*b->numbers), TABLE_GFP);
	return b->offsets && b->numbers ? 0 : -ENOMEM;
}

/*
 * Rules
 */

/* Rule 0 is SFRAME_RULE_NONE, and rule 1 is SFRAME_RULE_BAD */
#define NUMBER_NONE	0
#define NUMBER_BAD	1

/* Fits an ordinary rule: a multiple of a word, and not too far */
static bool fits(s32 offset)
{
	return IS_ALIGNED(offset, 8) && offset / 8 == (s16)(offset / 8);
}

static u64 pack_offset(s32 offset, unsigned int shift)
{
	return (u64)(u16)(offset / 8) << shift;
}

static bool saved_in_frame(const struct unwind_reg_rule *rule)
{
	return rule->base == UNWIND_RULE_CFA && rule->deref && fits(rule->offset);
}

/*
 * The packed rule of an ordinary frame, or of a function without a frame; else 0.  @pushed: calls
 * push the return address.
 */
static u64 pack_rule(const struct unwind_frame_rule *rule, bool pushed)
{
	u64 packed;

	if (rule->outermost || rule->signal || rule->cfa.deref || !fits(rule->cfa.offset))
		return 0;
	/* The return address has to be where a call pushes it, or else below the CFA */
	if (saved_in_frame(&rule->ra) && (pushed ? rule->ra.offset == -8 : rule->ra.offset < 0))
		packed = SFRAME_RULE_ORDINARY | pack_offset(rule->ra.offset, 32);
	else if (rule->ra.base == UNWIND_RULE_SAME)
		packed = SFRAME_RULE_LINK;
	else
		return 0;
	if (rule->cfa.base == UNWIND_RULE_FP)
		packed |= SFRAME_RULE_CFA_FP;
	else if (rule->cfa.base != UNWIND_RULE_SP)
		return 0;
	if (saved_in_frame(&rule->fp))
		packed |= SFRAME_RULE_FP_SAVED | pack_offset(rule->fp.offset, 48);
	else if (rule->fp.base != UNWIND_RULE_SAME)
		return 0;
	return packed | pack_offset(rule->cfa.offset, 16);
}

/* Find or assign the number of a rule.  The signing of return addresses does not matter here. */
static u16 number_of(struct dictionary *dict, struct unwind_frame_rule *rule)
{
	u64 packed = pack_rule(rule, dict->pushed);
	u16 number;
	u32 slot;

	static_assert(sizeof(*rule) == 3 * (2 * sizeof(u8) + sizeof(u16) + sizeof(s32)) +
				       6 * sizeof(u8) + sizeof(u16) + sizeof(s32));
	rule->mangled_ra = false;
	rule->pauth_key_b = false;
	slot = jhash2((const u32 *)rule, sizeof(*rule) / sizeof(u32), dict->seed) %
	       ARRAY_SIZE(dict->slots);
	for (; dict->slots[slot]; slot = (slot + 1) % ARRAY_SIZE(dict->slots)) {
		number = dict->slots[slot] - 1;
		if (packed ? dict->rules[number] == packed :
			   dict->rules[number] & SFRAME_RULE_COMPLEX &&
			   !memcmp(&dict->complex[dict->rules[number] >> 16], rule,
				   sizeof(*rule)))
			return number;
	}
	if (dict->nr_rules == MAX_RULES || (!packed && dict->nr_complex == MAX_COMPLEX))
		return NUMBER_BAD;
	if (!packed) {
		packed = SFRAME_RULE_COMPLEX | (u64)dict->nr_complex << 16;
		dict->complex[dict->nr_complex++] = *rule;
	}
	number = dict->nr_rules++;
	dict->rules[number] = packed;
	dict->slots[slot] = number + 1;
	return number;
}

/*
 * Entries
 */

/* From @offset on, rule @number is in force; offsets do not decrease */
static void add_entry(struct builder *b, u64 offset, u16 number)
{
	const u32 off = offset - b->start;

	/* The first one lies in no block: see sframe_table.h */
	if (b->nr > 1 && b->offsets[b->nr - 1] == off)
		b->nr--;
	if (b->numbers[b->nr - 1] == number)
		return;
	b->offsets[b->nr] = off;
	b->numbers[b->nr++] = number;
}

static u16 decode_rule(struct builder *b, const struct sframe_func *func,
		       const struct sframe_fre *fre)
{
	struct unwind_frame_rule rule = b->sec.fixed;

	set_func_flags(&b->sec, func, &rule);
	return read_rule(&b->sec, func, fre, &rule) ? NUMBER_BAD :
						      number_of(b->dict, &rule);
}

/* All inputs of an FRE's rule, packed, if its words have four bytes at most; else 0 */
static u64 pack_fre(const struct builder *b, const struct sframe_func *func,
		    const struct sframe_fre *fre)
{
	u32 words = 0;

	if (fre->end > fre->words + sizeof(words) || fre->words + sizeof(words) > b->sec.fre_len)
		return 0;
	(void)sframe_get(&words, b->sec.fres + fre->words);
	/* The bytes after them, which belong to the next FRE, are in the upper bits then */
	words = le32_to_cpu((__force __le32)words);
	words &= BIT_ULL(8 * (fre->end - fre->words)) - 1;
	return MEMO_VALID | (u64)func->type << 48 | (u64)func->info << 40 |
	       (u64)fre->info << 32 | words;
}

/* Get the number of an FRE's rule.  Most FREs of a section repeat others. */
static u16 number_of_fre(struct builder *b, const struct sframe_func *func,
			 const struct sframe_fre *fre)
{
	const u64 packed = pack_fre(b, func, fre);
	struct memo *memo = &b->dict->memo[hash_64(packed, MEMO_BITS)];

	if (!packed)
		return decode_rule(b, func, fre);
	if (memo->fre != packed)
		*memo = (struct memo){ .fre = packed, .number = decode_rule(b, func, fre) };
	return memo->number;
}

/*
 * The FREs of one block of code, from @offset on for @size bytes.  As in a lookup, a
 * FRE whose start cannot be read spoils the one before it, which may end anywhere.
 */
static void add_block(struct builder *b, const struct sframe_func *func,
		      u8 fre_type, u64 offset, u32 size)
{
	struct sframe_fre fre = { .end = func->fre_pos };
	u32 i, start, last = 0;

	add_entry(b, offset, NUMBER_NONE);
	for (i = 0; i < func->num_fres; i++) {
		if (i % 1024 == 1023 && is_killed())
			return;
		if (read_fre_start(&b->sec, fre.end, fre_type, &start)) {
			add_entry(b, offset + last, NUMBER_BAD);
			return;
		}
		if (start >= size)
			return;
		if (start < last || read_fre_info(&b->sec, fre_type, &fre)) {
			add_entry(b, offset + max(start, last), NUMBER_BAD);
			return;
		}
		add_entry(b, offset + start, number_of_fre(b, func, &fre));
		last = start;
	}
}

static void add_fres(struct builder *b, const struct sframe_func *func, u64 offset)
{
	u8 fre_type = FIELD_GET(SFRAME_FDE_FRE_TYPE, func->info);
	u32 i, block, repeats;

	if (fre_type > SFRAME_FRE_TYPE_ADDR4 || !read_repeats(func, &block, &repeats)) {
		add_entry(b, offset, NUMBER_BAD);
		return;
	}
	for (i = 0; i < repeats && !is_killed(); i++) {
		add_block(b, func, fre_type, offset + (u64)i * block,
			  min(block, func->size - i * block));
	}
}

static void add_func(struct builder *b, const struct func_ref *ref)
{
	struct unwind_frame_rule rule = b->sec.fixed;
	struct sframe_func func = { .index = ref->index, .size = ref->size };

	if (ref->index == INDEX_BAD || read_func(&b->sec, &func)) {
		add_entry(b, ref->offset, NUMBER_BAD);
	} else if (func.num_fres) {
		add_fres(b, &func, ref->offset);
	} else {
		set_func_flags(&b->sec, &func, &rule);
		add_entry(b, ref->offset, set_outermost(&b->sec, &func, &rule) ?
			  NUMBER_NONE : number_of(b->dict, &rule));
	}
}

/* Add all functions.  If a function overlaps the previous one, its rest is bad. */
static void add_funcs(struct builder *b)
{
	u64 end = b->start;
	u32 i;

	b->offsets[0] = 0;
	b->numbers[0] = NUMBER_NONE;
	b->nr = 1;
	for (i = 0; i < b->nr_funcs; i++) {
		const struct func_ref *ref = &b->funcs[i];

		if (is_killed())
			return;
		if (ref->offset + ref->size <= end)
			continue;
		if (ref->offset < end)
			add_entry(b, end, NUMBER_BAD);
		else
			add_func(b, ref);
		end = ref->offset + ref->size;
		add_entry(b, end, NUMBER_NONE);
	}
}

/*
 * The layout
 */

/* All arrays are in one allocation, those with the widest elements first */
static struct sframe_table *alloc_table(const struct builder *b, u32 blocks, u32 pages)
{
	const struct dictionary *dict = b->dict;
	struct sframe_table *table;
	size_t bytes;

	bytes = sizeof(*table) + dict->nr_rules * sizeof(*table->rules) +
		dict->nr_complex * sizeof(*table->complex) + pages * sizeof(*table->page) +
		(blocks + 1) * sizeof(*table->block) +
		b->nr * (sizeof(*table->rule) + sizeof(*table->low)) + SFRAME_PADDING;
	table = kvmalloc(bytes, TABLE_GFP);
	if (!table)
		return NULL;
	*table = (struct sframe_table){
		.start = b->start,
		.span = b->end - b->start,
		.nr = b->nr,
		.nr_rules = dict->nr_rules,
		.nr_complex = dict->nr_complex,
		.bytes = bytes,
		.rules = (u64 *)(table + 1),
	};
	table->complex = (struct unwind_frame_rule *)(table->rules + dict->nr_rules);
	table->page = (u32 *)(table->complex + dict->nr_complex);
	table->block = (u16 *)(table->page + pages);
	table->rule = table->block + blocks + 1;
	table->low = (u8 *)(table->rule + b->nr);
	return table;
}

/* Number of the first entry at or after each block and page */
static void fill_index(const struct builder *b, u16 *block, u32 blocks, u32 *page)
{
	const u32 blocks_in_page = BIT(SFRAME_PAGE_SHIFT - SFRAME_BLOCK_SHIFT);
	u32 i, nr = 1;

	for (i = 0; i <= blocks; i++) {
		while (nr < b->nr && b->offsets[nr] < (u64)i << SFRAME_BLOCK_SHIFT)
			nr++;
		block[i] = nr;
		if (i < blocks && i % blocks_in_page == 0)
			page[i / blocks_in_page] = nr;
	}
}

static struct sframe_table *make_table(const struct builder *b)
{
	const u32 blocks = DIV_ROUND_UP(b->end - b->start, SFRAME_BLOCK);
	const u32 pages = DIV_ROUND_UP(b->end - b->start, BIT(SFRAME_PAGE_SHIFT));
	struct sframe_table *table;
	u8 *low;
	u32 i;

	/* Haskell's programs have entries for a tenth of their code */
	if (blocks > 64ULL * b->nr + MIN_BLOCKS)
		return ERR_PTR(-E2BIG);
	table = alloc_table(b, blocks, pages);
	if (!table)
		return ERR_PTR(-ENOMEM);
	memcpy((void *)table->rules, b->dict->rules,
	       table->nr_rules * sizeof(*table->rules));
	memcpy((void *)table->complex, b->dict->complex,
	       table->nr_complex * sizeof(*table->complex));
	memcpy((void *)table->rule, b->numbers, b->nr * sizeof(*table->rule));
	fill_index(b, (u16 *)table->block, blocks, (u32 *)table->page);
	low = (u8 *)table->low;
	for (i = 0; i < b->nr; i++)
		low[i] = b->offsets[i] % SFRAME_BLOCK;
	memset(low + b->nr, SFRAME_BLOCK, SFRAME_PADDING);
	return table;
}

static struct sframe_table *build(struct builder *b)
{
	int ret;

	ret = collect_funcs(b);
	if (!ret)
		ret = count_entries(b);
	if (ret)
		return ERR_PTR(ret);
	b->dict = kvzalloc(sizeof(*b->dict), TABLE_GFP);
	if (!b->dict)
		return ERR_PTR(-ENOMEM);
	b->dict->seed = get_random_u32();
	b->dict->pushed = !b->sec.aarch64;
	b->dict->rules[NUMBER_NONE] = SFRAME_RULE_NONE;
	b->dict->rules[NUMBER_BAD] = SFRAME_RULE_BAD;
	b->dict->nr_rules = 2;
	add_funcs(b);
	return is_killed() ? ERR_PTR(-EINTR) : make_table(b);
}

/**
 * sframe_table_build - build a table from an SFrame section
 * @image: the section and the text that it describes
 * @abi: the SFRAME_ABI_* that the section must be for
 *
 * Functions that do not lie in one segment are left out.  The section must be a copy, since page
 * cache and memory of processes can change while they are read.
 *
 * Context: task; may sleep.
 * Return: the table, to be freed by sframe_table_free(), or an error: -EOPNOTSUPP and
 * -ENOEXEC as sframe_read_header(); -ENOENT the section describes nothing of the text;
 * -E2BIG it has 2 GiB, or exceeds the bounds in this file's opening comment; -ENOMEM;
 * -EINTR the current task was killed.
 */
struct sframe_table *sframe_table_build(const struct sframe_image *image, u8 abi)
{
	struct builder b = { .image = image };
	struct sframe_table *table;
	int ret;

	ret = sframe_check_header(&b.sec, image->section, image->size, abi);
	/* Entries have numbers of 32 bits */
	if (!ret && image->size > S32_MAX)
		ret = -E2BIG;
	if (ret)
		return ERR_PTR(ret);
	table = build(&b);
	kvfree(b.funcs);
	kvfree(b.offsets);
	kvfree(b.numbers);
	kvfree(b.dict);
	return table;
}

/**
 * sframe_table_free - free a table that nobody reads any more
 * @table: from sframe_table_build(), or NULL
 *
 * Context: any but NMI and hard interrupt, without a spinlock.
 */
void sframe_table_free(struct sframe_table *table)
{
	kvfree(table);
}

/**
 * sframe_table_rule - unpack a rule of a table
 * @table: the table
 * @packed: from sframe_table_find_edge()
 * @rule: filled in on success
 *
 * Context: any.
 * Return: 0; -ENOENT nothing describes the address; -EINVAL its entry is invalid.
 */
int sframe_table_rule(const struct sframe_table *table, u64 packed,
		      struct unwind_frame_rule *rule)
{
	if (packed & SFRAME_RULE_COMPLEX) {
		*rule = table->complex[(u16)(packed >> 16)];
		return 0;
	}
	if (!(packed & (SFRAME_RULE_ORDINARY | SFRAME_RULE_LINK)))
		return packed == SFRAME_RULE_NONE ? -ENOENT : -EINVAL;
	*rule = (struct unwind_frame_rule){
		.cfa.base = packed & SFRAME_RULE_CFA_FP ? UNWIND_RULE_FP : UNWIND_RULE_SP,
		.cfa.offset = sframe_rule_cfa(packed),
	};
	if (packed & SFRAME_RULE_ORDINARY)
		rule->ra = saved_at(sframe_rule_ra(packed));
	if (packed & SFRAME_RULE_FP_SAVED)
		rule->fp = saved_at(sframe_rule_fp(packed));
	return 0;
}

static u32 first_entry(const struct sframe_table *table, u64 block)
{
	const u32 first = table->page[block >> (SFRAME_PAGE_SHIFT - SFRAME_BLOCK_SHIFT)];

	return first + (u16)(table->block[block] - first);
}

/**
 * sframe_table_begin - find where the rule at an offset begins
 * @table: the table
 * @off: the offset from @start of @table, less than @span
 * @lowest: where to end the search; its time is proportional to the distance
 *
 * Context: any.
 * Return: the offset from which on the rule is in force; 0 if it is before @lowest.
 */
u64 sframe_table_begin(const struct sframe_table *table, u64 off, u64 lowest)
{
	/* As in sframe_table_find_inside() */
	const u64 inside = array_index_nospec(off, table->span);
	s64 block = inside >> SFRAME_BLOCK_SHIFT;
	u8 rest = inside % SFRAME_BLOCK;

	for (; block >= (s64)(lowest >> SFRAME_BLOCK_SHIFT); block--, rest = SFRAME_BLOCK - 1) {
		const u8 *low = table->low + first_entry(table, block);
		u16 n = table->block[block + 1] - table->block[block];

		while (n--)
			if (low[n] <= rest)
				return block * (s64)SFRAME_BLOCK + low[n];
	}
	return 0;
}

/* How far to look for other functions, in blocks, and how many entries these have at least */
#define AROUND		256
#define ENOUGH		12

/**
 * sframe_table_describes_around - does a table describe other functions near an offset?
 * @table: the table
 * @off: the offset from @start of @table
 *
 * If so, a function without a rule is one that its compiler or author did not describe, such
 * as assembly.  If not, its object has no table but of a few functions that it was linked with.
 *
 * Context: any.
 * Return: whether it describes some within 32 KiB.
 */
bool sframe_table_describes_around(const struct sframe_table *table, u64 off)
{
	const s64 block = (s64)off >> SFRAME_BLOCK_SHIFT;
	const s64 end = (table->span - 1) >> SFRAME_BLOCK_SHIFT;
	const s64 first = max_t(s64, block - AROUND, 0);
	const s64 last = min(block + AROUND, end);

	return first <= last && (u16)(table->block[last + 1] - table->block[first]) >= ENOUGH;
}
