// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz targets: any bytes as a section, any address looked up in it.
 *
 * Whatever the bytes are, and however their memory changes, the guarantees of
 * lookup.h must hold.  In addition:
 *
 * - The run is short: a read too many is noticed when it happens.
 * - The answer is a function of what was read: the same reads, the same answer.
 * - The first read that fails ends the lookup, with -EFAULT; and nothing else
 *   does.  A page that is missing changes no answer to another one.
 * - A table of the section has the same answers: sframe_fuzz_table.c.
 *
 * ASan and UBSan watch the rest.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lookup.h"
#include "sframe_build.h"
#include "sframe_fuzz.h"
#include "sframe_fuzz_table.h"
#include "sframe_gen.h"
#include "umem.h"

#define BASE		0x7f1234567000UL
#define MAX_FUNCS	4	/* looked at per input */
#define HEADER_READS	2

struct answer {
	int			ret;
	unsigned long		reads;
	struct unwind_frame_rule	rule;
};

unsigned long fuzz_outcomes[FUZZ_OUTCOMES];

/* The memory of the present input */
static enum fuzz_target target;
static u64 input_seed;
static u64 change_state;	/* next change */
static unsigned int page_shift, missing_rate;
static unsigned long fres_start, index_reads_left, fre_reads_left;
static unsigned long failed_after; /* reads, the last of which failed; or 0 */
static u32 num_fdes;	/* as the header says, or 1 for a function alone */

void fuzz_die(const char *why)
{
	fprintf(stderr, "sframe_fuzz: %s\n", why);
	abort();
}

/*
 * Counts reads by the part of the section, and changes one value in eight, as if
 * another thread wrote to the section at the same time.
 */
static void observe(unsigned long addr, void *val, size_t size)
{
	unsigned long *left;
	u8 *bytes = val;

	left = addr >= fres_start ? &fre_reads_left : &index_reads_left;
	if (!(*left)--)
		fuzz_die("more reads than the stated bound");
	if (left == &index_reads_left && addr == BASE + SFB_HDR_NUM_FDES)
		memcpy(val, &num_fdes, sizeof(num_fdes));
	if (target != FUZZ_CHANGING || gen_below(&change_state, 8))
		return;
	while (size--)
		*bytes++ ^= gen_random(&change_state);
}

static bool page_missing(unsigned long addr)
{
	u64 page = input_seed ^ addr >> page_shift;

	return !gen_below(&page, missing_rate);
}

static bool missing(unsigned long addr, size_t size)
{
	if (!page_missing(addr) && !page_missing(addr + size - 1))
		return false;
	if (!failed_after)
		failed_after = umem_reads;
	return true;
}

/* Each lookup starts with the memory in the same state */
static void reset_memory(void)
{
	change_state = input_seed ^ 0xfedcba;
	failed_after = 0;
	umem_set_fault(target == FUZZ_MISSING ? missing : NULL);
}

static void check_failure(int ret)
{
	if ((ret == -EFAULT) != !!failed_after)
		fuzz_die("-EFAULT without a failed read, or the reverse");
	if (failed_after && umem_reads != failed_after)
		fuzz_die("a read after one that failed");
}

/*
 * A lookup reads the start and size of each entry, and the start and info of each
 * FRE.  Of the ones that it finds, it reads up to four more fields, the start of the
 * next FRE, and the words.  It reads two counts first, and three fields again.
 */
static void set_bounds(const struct sframe_section *sec)
{
	num_fdes = sec->num_fdes;
	fres_start = sec->fres;
	index_reads_left = 2 * MAX_SCAN + 9 + (sec->flags & SFB_SORTED ? 32 : 0);
	fre_reads_left = 4 + 2 * MAX_FRES + 1 + SFB_MAX_WORDS;
}

static void look_up(const struct sframe_section *sec, unsigned long ip,
		    struct answer *answer)
{
	const char *broken;

	set_bounds(sec);
	answer->ret = lookup_rule(sec, ip, &answer->rule, &broken);
	if (broken)
		fuzz_die(broken);
	check_failure(answer->ret);
	answer->reads = umem_reads;
}

int fuzz_look_up(const struct sframe_section *sec, unsigned long ip,
		 struct unwind_frame_rule *rule)
{
	struct answer answer;

	look_up(sec, ip, &answer);
	*rule = answer.rule;
	return answer.ret;
}

static bool same_frame_rule(const struct answer *a, const struct answer *b)
{
	return a->ret == b->ret &&
	       (a->ret || (frame_rule_equal(&a->rule, &b->rule) &&
			   a->rule.at_end == b->rule.at_end));
}

static void note(const struct answer *answer)
{
	enum fuzz_outcome outcome;

	switch (answer->ret) {
	case 0:
		outcome = answer->rule.outermost ? FUZZ_OUTERMOST : FUZZ_FRE;
		break;
	case -ENOENT:
		outcome = FUZZ_NONE;
		break;
	case -EINVAL:
		outcome = FUZZ_INVALID;
		break;
	case -E2BIG:
		outcome = FUZZ_TOO_BIG;
		break;
	default:
		outcome = FUZZ_UNREADABLE;
		break;
	}
	fuzz_outcomes[outcome]++;
}

static void repeat(const struct sframe_section *sec, unsigned long ip,
		   const struct answer *answer)
{
	struct answer again;

	reset_memory();
	look_up(sec, ip, &again);
	if (!same_frame_rule(answer, &again) || answer->reads != again.reads)
		fuzz_die("the same lookup gives another answer");
}

/* @answer came from memory with holes: ask again without them */
static void compare_whole(const struct sframe_section *sec, unsigned long ip,
			  const struct answer *answer)
{
	struct answer whole;

	reset_memory();
	umem_set_fault(NULL);
	look_up(sec, ip, &whole);
	if (answer->ret == -EFAULT ? answer->reads > whole.reads :
				     !same_frame_rule(answer, &whole))
		fuzz_die("a missing page changes an answer");
}

static void find(const struct sframe_section *sec, unsigned long ip)
{
	struct answer answer;

	reset_memory();
	look_up(sec, ip, &answer);
	note(&answer);
	repeat(sec, ip, &answer);
	if (target == FUZZ_MISSING)
		compare_whole(sec, ip, &answer);
	if (target == FUZZ_PLAIN)
		fuzz_table_compare(ip, answer.ret, &answer.rule);
}

/* Where function @i starts by its entry, which lies inside the section (the caller checks) */
static unsigned long func_start(const struct sframe_section *sec,
				const u8 *bytes, u32 i, u32 *size)
{
	u32 fde_size = sec->version == 2 ? 20 : 16;
	unsigned long addr = sec->fdes + (u64)i * fde_size;
	const u8 *fde = bytes + (addr - BASE);
	unsigned long base = sec->flags & SFB_PCREL ? addr : BASE;
	s32 start32;
	u64 start;

	if (sec->version == 2) {
		memcpy(&start32, fde, sizeof(start32));
		memcpy(size, fde + 4, sizeof(*size));
		return base + (u64)(s64)start32;
	}
	memcpy(&start, fde, sizeof(start));
	memcpy(size, fde + 8, sizeof(*size));
	return base + start;
}

/* Addresses that the section itself names: those in and around a function */
static void find_around_func(const struct sframe_section *sec, const u8 *bytes,
			     u32 i, u64 *seed)
{
	u32 size;
	unsigned long start = func_start(sec, bytes, i, &size);

	find(sec, start - 1);
	find(sec, start);
	find(sec, start + size / 2);
	find(sec, start + gen_below(seed, size ? size : 1));
	find(sec, start + size - 1);
	find(sec, start + size);
}

static int read_header(struct sframe_section *sec, size_t size, u8 abi)
{
	unsigned long violations = umem_violations;
	int ret;

	reset_memory();
	umem_start();
	fres_start = BASE;
	fre_reads_left = HEADER_READS;
	memset(sec, 0xa5, sizeof(*sec));
	ret = sframe_read_header(sec, BASE, size, abi);
	if (umem_violations != violations)
		fuzz_die("a read outside the section, of the header");
	if (umem_rereads)
		fuzz_die("a value of the header was read twice");
	check_failure(ret);
	if (ret && ret != -EFAULT && ret != -ENOEXEC && ret != -EOPNOTSUPP)
		fuzz_die("an error of the header that is not documented");
	return ret;
}

static void check_section(const struct sframe_section *sec, size_t size)
{
	u64 fde_size = sec->version == 2 ? 20 : 16;

	if (sec->version != 2 && sec->version != 3)
		fuzz_die("a header of another version was accepted");
	if (sec->fdes < BASE || sec->fdes > BASE + size ||
	    sec->fres < sec->fdes || sec->fres > BASE + size ||
	    sec->num_fdes * fde_size > sec->fres - sec->fdes ||
	    sec->fre_len > BASE + size - sec->fres)
		fuzz_die("a header was accepted that leaves the section");
}

static void run(const u8 *bytes, size_t size, u8 abi)
{
	struct sframe_section sec;
	u64 seed = input_seed;
	int ret = read_header(&sec, size, abi);
	u32 i;

	/* A table is built from a copy, which does not change and has no missing pages */
	if (target == FUZZ_PLAIN)
		fuzz_table_open(bytes, size, BASE, abi, ret, &sec);
	if (ret) {
		fuzz_outcomes[FUZZ_REFUSED]++;
		return;
	}
	check_section(&sec, size);

	for (i = 0; i < MAX_FUNCS && i < sec.num_fdes; i++)
		find_around_func(&sec, bytes, sec.num_fdes <= MAX_FUNCS ?
				 i : gen_below(&seed, sec.num_fdes), &seed);
	find(&sec, BASE + gen_below(&seed, 0x2000000) - 0x1000000);
	find(&sec, gen_random(&seed) << 11 ^ gen_random(&seed));
	find(&sec, 0);
	find(&sec, -1UL);
}

void fuzz_one(enum fuzz_target which, const u8 *data, size_t size)
{
	static const u16 rates[] = { 3, 16, 128, 1024 };
	u8 *bytes;

	if (size < FUZZ_CONTROL)
		return;
	target = which;
	input_seed = 0;
	memcpy(&input_seed, data + 1, FUZZ_CONTROL - 1);
	page_shift = input_seed % 13;
	missing_rate = rates[input_seed / 13 % 4];
	/* No state of a generator may be zero, and no seed makes these so */
	input_seed += 1ULL << 60;

	size -= FUZZ_CONTROL;
	bytes = malloc(size);
	memcpy(bytes, data + FUZZ_CONTROL, size);
	umem_map(BASE, bytes, size);
	umem_set_hook(observe);
	run(bytes, size, data[0] & 3);
	fuzz_table_close();
	umem_set_hook(NULL);
	umem_set_fault(NULL);
	umem_unmap_all();
	free(bytes);
}
