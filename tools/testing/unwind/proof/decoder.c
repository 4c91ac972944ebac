// SPDX-License-Identifier: GPL-2.0
/*
 * Proofs about the decoder, to be checked by CBMC; see proof.sh.
 *
 * A section has any size, at one address, and its contents are whatever each read yields
 * (linux/uaccess.h).  Each function here is one proof:
 *
 *	prove_header	accepted headers describe a section that satisfies is_valid()
 *	prove_search	the search of an index of fewer than 64 entries
 *	prove_entry	one entry of an index, at any number
 *	prove_fre	one FRE, at any position: the step of a walk over any number of FREs
 *	prove_rules	the data words of an FRE, at any position
 *
 * All but prove_header assume is_valid(), which prove_header proves of accepted headers.  A
 * lookup is a sequence of these steps; that sframe.c puts them together as it says is not
 * proved.  DECODER is sframe.c.
 */
#include "proof.h"

#include DECODER

/* Of sframe.c as it is; else a number, of its mutants (fuzz/mutants.awk) */
#ifndef MUTANT
#define MUTANT 0
static int unwind_mutant;
#endif

/* The section's version, and the size of a rule's words, as rules have it */
#ifndef VERSION
#define VERSION 3
#endif
#ifndef WORD
#define WORD 0
#endif
/* The section's address.  Reads are relative to it, so a proof for one is good for all. */
#define START 0x7f1234567000UL

/* The stretch in which reads may be, and how many have been made */
static unsigned long first, bytes;
static bool is_open;
static unsigned long reads;

bool proof_open(unsigned long start, unsigned long size)
{
	__CPROVER_assert(!is_open, "user memory is opened once");
	__CPROVER_assert(start >= first && size <= bytes && start - first <= bytes - size,
			 "what is opened lies in the section");
	is_open = nondet_bool();
	return is_open;
}

void proof_close(void)
{
	__CPROVER_assert(is_open, "user memory is closed once");
	is_open = false;
}

bool proof_read(unsigned long addr, unsigned long size, u64 *val)
{
	__CPROVER_assert(addr >= first && size <= bytes && addr - first <= bytes - size,
			 "a read lies in the section");
	reads++;
	*val = nondet_u64();
	return nondet_bool();
}

/* The header guarantees this to lookups */
static bool is_valid(const struct sframe_section *sec)
{
	const u64 fdes = fde_pos(sec, sec->num_fdes);

	return (sec->version == SFRAME_VERSION_2 || sec->version == SFRAME_VERSION_3) &&
	       sec->end >= sec->start && sec->fdes >= sec->start && sec->fres >= sec->fdes &&
	       sec->fres <= sec->end && fdes <= sec->fres - sec->fdes &&
	       sec->fre_len <= sec->end - sec->fres && sec->fdes - sec->start >= 28 &&
	       sec->fres - sec->start <= 3ULL << 32;
}

static struct sframe_section any_section(void)
{
	struct sframe_section sec;

	unwind_mutant = MUTANT;
	/* A constant, which spares CBMC a multiplication by a variable */
	sec.version = VERSION;
	sec.start = START;
	__CPROVER_assume(is_valid(&sec));
	__CPROVER_assume(sec.fixed.cfa.base == UNWIND_RULE_SAME);
	__CPROVER_assume(sec.origin == sec.start || sec.origin == sec.fdes);
	first = sec.start;
	bytes = sec.end - sec.start;
	return sec;
}

/* The FREs alone may be read.  Their place does not matter: addresses are relative to it. */
static void only_fres(struct sframe_section *sec)
{
	sec->fres = START;
	first = START;
	bytes = sec->fre_len;
}

/* The index alone */
static void only_index(struct sframe_section *sec)
{
	sec->fdes = START;
	first = START;
	bytes = fde_pos(sec, sec->num_fdes);
}

void prove_header(void)
{
	const unsigned long start = START, size = nondet_u64();
	struct sframe_section sec;
	int ret;

	unwind_mutant = MUTANT;
	/* Where the section wraps around, nothing may be read */
	first = start;
	bytes = start + size >= start ? size : 0;
	ret = sframe_read_header(&sec, start, size, nondet_u8());
	__CPROVER_assert(ret == 0 || ret == -EFAULT || ret == -ENOEXEC || ret == -EOPNOTSUPP,
			 "an error is one of the documented ones");
	__CPROVER_assert(ret || is_valid(&sec), "an accepted section lies inside its bytes");
	__CPROVER_assert(ret || (sec.start == start && sec.end == start + size),
			 "an accepted section is the one that was asked about");
	__CPROVER_assert(reads <= 2, "the header takes two reads");
}

void prove_search(void)
{
	struct sframe_section sec = any_section();
	u64 index;
	s64 start;

	only_index(&sec);
	__CPROVER_assume(sec.num_fdes < 64);
	if (!search(&sec, nondet_u64(), &index, &start))
		__CPROVER_assert(index < sec.num_fdes, "the search finds an entry of the index");
	__CPROVER_assert(reads <= 7, "a search reads once per bit of the number, and once more");
}

void prove_entry(void)
{
	struct sframe_section sec = any_section();
	u64 i = nondet_u64();
	struct sframe_func func;
	u32 word;
	s64 start;
	int ret;

	only_index(&sec);
	__CPROVER_assume(i < sec.num_fdes);
	(void)read_func_start(&sec, i, &start);
	(void)read_func_size(&sec, i, &word);
	(void)read_fre_off(&sec, i, &func.fre_off);
	func.fde = sec.fdes + fde_pos(&sec, i);
	if (is_v2(&sec)) {
		ret = read_func_v2(&func);
	} else {
		only_fres(&sec);
		ret = read_func_attr_v3(&sec, &func);
		__CPROVER_assert(ret || func.fre_pos <= sec.fre_len,
				 "the first rule begins inside the rules, or at their end");
	}
	if (!ret) {
		u8 rep_size;

		__CPROVER_assert(func.fre_pos <= U32_MAX, "a rule's position has 32 bits");
		(void)sframe_get(&rep_size, func.rep_size);
	}
}

/*
 * A walk begins at any position of 32 bits, and each FRE moves it on.  So a walk over any
 * number of FREs leads to no position that is not checked here.
 */
void prove_fre(void)
{
	struct sframe_section sec = any_section();
	u8 fre_type = nondet_u8();
	struct sframe_fre fre;
	const u64 before = fre.end;
	u32 start;

	only_fres(&sec);
	__CPROVER_assume(fre_type <= SFRAME_FRE_TYPE_ADDR4);
	__CPROVER_assume(fre.end <= U32_MAX + 65ULL);
	if (read_fre_start(&sec, fre.end, fre_type, &start) ||
	    read_fre_info(&sec, fre_type, &fre))
		return;
	__CPROVER_assert(fre.words > before && fre.words <= sec.fre_len,
			 "a rule's start and info lie in the section");
	__CPROVER_assert(fre.end >= fre.words && fre.end <= sec.fre_len + 60ULL,
			 "a rule ends at most 15 words beyond the section");
	__CPROVER_assert(fre.end <= U32_MAX + 65ULL, "the next rule begins where this proof does");
	__CPROVER_assert(fre_word_size(fre.info) <= SFRAME_FRE_DATAWORD_4B,
			 "a word has 1, 2 or 4 bytes");
}

static bool is_rule(const struct unwind_reg_rule *rule)
{
	return rule->base <= UNWIND_RULE_REG;
}

void prove_rules(void)
{
	struct sframe_section sec = any_section();
	struct unwind_frame_rule rule = sec.fixed;
	struct sframe_func func;
	struct sframe_fre fre;

	only_fres(&sec);
	/* As prove_fre leaves it, but with a constant word size and position, which is cheaper */
	fre.info = (fre.info & ~SFRAME_FRE_DATAWORD_SIZE) | WORD << 5;
	fre.words = 1000;
	__CPROVER_assume(fre.words <= sec.fre_len);
	__CPROVER_assume(fre.end == fre.words +
			 (FIELD_GET(SFRAME_FRE_DATAWORD_COUNT, fre.info) << WORD));
	__CPROVER_assume(is_rule(&rule.ra) && is_rule(&rule.fp));
	if (read_rule(&sec, &func, &fre, &rule))
		return;
	__CPROVER_assert(reads <= 15, "a rule has up to 15 words");
	if (rule.outermost)
		return;
	__CPROVER_assert(is_rule(&rule.cfa) && is_rule(&rule.ra) && is_rule(&rule.fp),
			 "rules have bases that there are");
	__CPROVER_assert(rule.cfa.base != UNWIND_RULE_SAME && rule.cfa.base != UNWIND_RULE_CFA,
			 "a CFA has a base");
	__CPROVER_assert(rule.cfa.deref || rule.cfa_scale == 0 ||
			 rule.cfa_scale == sec.fixed.cfa_scale,
			 "only a CFA that is read from memory is a sum");
}
