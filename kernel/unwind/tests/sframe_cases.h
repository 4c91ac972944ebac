/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cases for the SFrame decoder: a section, an address in it, and the answer.
 *
 * KUnit runs them on user memory, tools/testing/unwind on the host under
 * sanitizers. A case describes one function; around it stand two good ones,
 * whose FREs must be found whatever is wrong with the one between them:
 *
 *	before      at CASE_START - 16, unless fillers push it further down
 *	fillers     @fill_before good functions of 16 bytes
 *	the case    at CASE_START
 *	empties     @empties functions of no size, at CASE_START too
 *	after       where the case's function ends, unless @last
 *	fillers     @fill_after
 *
 * The index has them in this order. Each case is made in both versions, with the
 * index sorted and not, PC-relative and section-relative, where it does not ask
 * for one of these.
 */
#ifndef _KERNEL_UNWIND_TESTS_SFRAME_CASES_H
#define _KERNEL_UNWIND_TESTS_SFRAME_CASES_H

#include "../sframe.h"
#include "sframe_build.h"

#define CASE_START	0x200000

/* Bytes of a section that cannot be read: as many as the largest page has */
#define CASE_HOLE	0x10000

/* Where positions of a case count from */
enum sframe_case_base {
	CASE_NOWHERE,
	CASE_HEADER,
	CASE_FDE,		/* of the case's function */
	CASE_FRES,		/* its FREs; in version 3 its attributes */
};

struct sframe_case_pos {
	u8	base;
	s32	pos;
};

/* Bytes that are changed when the section has been built */
struct sframe_case_change {
	struct sframe_case_pos	at;
	u8			size;
	u64			val;
};

/* Neighbours of the section that the case leaves readable */
enum sframe_case_neighbours {
	CASE_AROUND,
	CASE_BEFORE,
	CASE_AFTER,
	CASE_ALONE,
};

#define CASE_MAX_CHANGES	3

/* In @flags: these and no others; without it, every kind of index */
#define CASE_ONLY		0x100

/**
 * struct sframe_case - a section, a lookup, the answer
 * @name: of the case
 * @version: of the section; 0: either
 * @abi: one of SFB_*
 * @ra: fixed offset of RA, 0: none
 * @fp: fixed offset of FP, 0: none
 * @func_flags: flags of the function
 * @type: type of the function
 * @fre: the function's only FRE, unless @fres or @no_fres
 * @error: 0, or what sframe_find_rule() (for a @header case:
 *	sframe_read_header()) returns
 * @want: the rule, if @error is 0
 * @flags: section flags, with CASE_ONLY
 * @neighbours: an enum sframe_case_neighbours
 * @sums: the header allows CFAs that are sums
 * @header: it is reading the header that is tested; nothing is looked up
 * @last: there is no good function after
 * @no_fres: the function has none
 * @fre_type: size of FRE starts, as encoded
 * @rep_size: repetition size of the function
 * @aux_len: bytes of auxiliary header
 * @gap: bytes before the FDEs, and again before the FREs
 * @size: of the function, 0 for 16 bytes
 * @num_fres: of @fres
 * @fres: the function's FREs
 * @many_fres: that many FREs, one for each byte, with the CFA at SP + start
 * @fill_before: good functions before it
 * @fill_after: good functions after it
 * @empties: functions of size 0 at the same start
 * @claimed_size: size of the section that sframe_read_header() gets, 0 for the
 *	real one
 * @offset: the address that is looked up, from the function's start
 * @changes: bytes to change
 * @cut: the section and its FREs end here
 * @hole: from here on CASE_HOLE bytes of the section are not mapped
 * @tail: the FREs claim 4 GiB less one byte; the function's are the last bytes of
 *	that, and memory has only the FREs before them and this number of these bytes
 */
struct sframe_case {
	const char			*name;
	u8				version;
	u8				abi;
	s8				ra;
	s8				fp;
	u8				func_flags;
	u8				type;
	struct sfb_fre			fre;
	int				error;
	struct unwind_frame_rule	want;
	u16				flags;
	u8				neighbours;
	bool				sums;
	bool				header;
	bool				last;
	bool				no_fres;
	u8				fre_type;
	u8				rep_size;
	u8				aux_len;
	u32				gap;
	u32				size;
	u32				num_fres;
	const struct sfb_fre		*fres;
	u32				many_fres;
	u32				fill_before;
	u32				fill_after;
	u32				empties;
	unsigned long			claimed_size;
	s64				offset;
	struct sframe_case_change	changes[CASE_MAX_CHANGES];
	struct sframe_case_pos		cut;
	struct sframe_case_pos		hole;
	u32				tail;
};

struct sframe_case_set {
	const char			*name;
	unsigned int			num;
	const struct sframe_case	*cases;
};

extern const struct sframe_case_set sframe_header_set;
extern const struct sframe_case_set sframe_amd64_set;
extern const struct sframe_case_set sframe_aarch64_set;
extern const struct sframe_case_set sframe_flex_set;
extern const struct sframe_case_set sframe_lookup_set;
extern const struct sframe_case_set sframe_invalid_set;
extern const struct sframe_case_set sframe_limit_set;
extern const struct sframe_case_set sframe_unreadable_set;

/* @len bytes of the image, at @pos of it, belong at @at of the section */
struct sframe_case_piece {
	u32	pos;
	u32	len;
	u64	at;
};

/**
 * struct sframe_case_image - the section of a case
 * @img: its bytes
 * @size: of the section, for sframe_read_header()
 * @pieces: what to put into memory; nothing else of the section is there
 * @num_pieces: 1 or 2
 */
struct sframe_case_image {
	struct sfb_image		img;
	unsigned long			size;
	struct sframe_case_piece	pieces[2];
	unsigned int			num_pieces;
};

/* A lookup that a case asks for: an address from the section's start */
struct sframe_case_lookup {
	s64				offset;
	int				error;
	struct unwind_frame_rule	want;
};

/* A way to make a case's section */
struct sframe_case_variant {
	u8	version;
	u8	flags;
};

#define CASE_MAX_VARIANTS	8
#define CASE_MAX_LOOKUPS	3

/* Returns how many variants there are of the case */
unsigned int sframe_case_variants(const struct sframe_case *c,
				  struct sframe_case_variant v[CASE_MAX_VARIANTS]);

/* Returns 0 or -ENOMEM; the image is freed with sfb_free() */
int sframe_case_build(const struct sframe_case *c,
		      const struct sframe_case_variant *v,
		      struct sframe_case_image *image);

/* Returns how many lookups there are */
unsigned int sframe_case_lookups(const struct sframe_case *c,
				 struct sframe_case_lookup lookups[CASE_MAX_LOOKUPS]);

/*
 * Build a table of the case's section and look up in it what the case does: NULL if the
 * case expects these answers, else a description of the difference.  Cases about reads
 * of user memory pass.  The cases of the limit set are not for tables, which have other
 * limits.
 */
const char *sframe_case_table(const struct sframe_case *c,
			      const struct sframe_case_variant *v);

/* For the tables */

#define CASE_SET(name_, cases_) \
	{ .name = (name_), .num = ARRAY_SIZE(cases_), .cases = (cases_) }

#define CASE_AT(base_, pos_)	{ .base = (base_), .pos = (pos_) }
#define CASE_PUT(base_, pos_, size_, val_) \
	{ .at = CASE_AT(base_, pos_), .size = (size_), .val = (val_) }

#define CASE_FRES(...)							\
	.fres = (const struct sfb_fre[]){ __VA_ARGS__ },		\
	.num_fres = ARRAY_SIZE(((const struct sfb_fre[]){ __VA_ARGS__ }))

/* Rules, in the words of enum unwind_rule_base */
#define AT_CFA(offset_)	{ .base = UNWIND_RULE_CFA, .deref = true, \
			  .offset = (offset_) }
#define AT_SP(offset_)	{ .base = UNWIND_RULE_SP, .deref = true, \
			  .offset = (offset_) }
#define AT_FP(offset_)	{ .base = UNWIND_RULE_FP, .deref = true, \
			  .offset = (offset_) }
#define CFA(offset_)	{ .base = UNWIND_RULE_CFA, .offset = (offset_) }
#define SP(offset_)	{ .base = UNWIND_RULE_SP, .offset = (offset_) }
#define FP(offset_)	{ .base = UNWIND_RULE_FP, .offset = (offset_) }
#define REG(reg_, offset_) { .base = UNWIND_RULE_REG, .reg = (reg_), \
			     .offset = (offset_) }
#define AT_REG(reg_, offset_) { .base = UNWIND_RULE_REG, .deref = true, \
				.reg = (reg_), .offset = (offset_) }
#define SAME		{ .base = UNWIND_RULE_SAME }

#endif /* _KERNEL_UNWIND_TESTS_SFRAME_CASES_H */
