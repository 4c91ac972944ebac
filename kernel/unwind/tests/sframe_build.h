/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From a description to the bytes of an SFrame section, version 2 or 3.
 *
 * Deliberately takes nothing from kernel/unwind/sframe_format.h: numbers and
 * offsets come from "The SFrame Format", so that a slip in the kernel's
 * header shows.  Describes only valid sections; a test that wants garbage
 * builds a table and changes bytes at the positions that the image names.
 *
 * Compiled in the kernel for KUnit, and by tools/testing/unwind for user space.
 */
#ifndef _KERNEL_UNWIND_TESTS_SFRAME_BUILD_H
#define _KERNEL_UNWIND_TESTS_SFRAME_BUILD_H

#include <linux/types.h>

#define SFB_SORTED		0x01
#define SFB_PCREL		0x04
/* Not of the format: see Documentation/core-api/unwind-sframe.rst */
#define SFB_CFA_SUM		0x80

#define SFB_AARCH64_BE		1
#define SFB_AARCH64		2
#define SFB_AMD64		3

/* Bits of a function's info byte besides the type of its FREs */
#define SFB_PCMASK		0x10
#define SFB_KEY_B		0x20
#define SFB_SIGNAL		0x80

/* Bits of an FRE's info byte besides number and size of its words */
#define SFB_SP			0x01
#define SFB_FP			0x00
#define SFB_MANGLED		0x80

#define SFB_MAX_WORDS		15

/* Offsets of fields in the header */
#define SFB_HDR_MAGIC		0
#define SFB_HDR_VERSION		2
#define SFB_HDR_FLAGS		3
#define SFB_HDR_ABI		4
#define SFB_HDR_FIXED_FP	5
#define SFB_HDR_FIXED_RA	6
#define SFB_HDR_AUX_LEN		7
#define SFB_HDR_NUM_FDES	8
#define SFB_HDR_NUM_FRES	12
#define SFB_HDR_FRE_LEN		16
#define SFB_HDR_FDEOFF		20
#define SFB_HDR_FREOFF		24
#define SFB_HDR_SIZE		28

struct sfb_fre {
	u32	start;
	u8	flags;
	u8	word_size;	/* as encoded: 0, 1, 2 for 1, 2, 4 bytes */
	u8	num_words;
	s32	words[SFB_MAX_WORDS];
};

struct sfb_func {
	s64	start;		/* relative to the section */
	u32	size;
	u8	fre_type;	/* as encoded: 0, 1, 2 for 1, 2, 4 bytes */
	u8	flags;
	u8	type;		/* 0 default, 1 flexible; version 3 */
	u8	rep_size;
	u32	num_fres;
	const struct sfb_fre *fres;
};

struct sfb_table {
	u8	version;
	u8	flags;
	u8	abi;
	s8	fixed_fp;
	s8	fixed_ra;
	u8	aux_len;
	u32	fde_gap;	/* bytes between header and FDEs */
	u32	fre_gap;	/* bytes between FDEs and FREs */
	u32	num_funcs;
	const struct sfb_func *funcs;
};

struct sfb_image {
	u8	*bytes;		/* allocated in its exact size */
	u32	size;
	u32	fde_size;
	u32	fdes;		/* position of the first FDE */
	u32	fres;		/* position of the FRE sub-section */
	u32	*func_fres;	/* per function, position of its attributes/FREs */
};

/* An FRE with words of @size_ (as encoded); an outermost one with none */
#define SFB_FRE(start_, flags_, size_, ...) {				\
	.start = (start_), .flags = (flags_), .word_size = (size_),	\
	.num_words = sizeof((s32[]){ __VA_ARGS__ }) / sizeof(s32),	\
	.words = { __VA_ARGS__ } }
#define SFB_FRE_OUTERMOST(start_) { .start = (start_) }

#define SFB_FRES(fres_) \
	.fres = (fres_), .num_fres = sizeof(fres_) / sizeof((fres_)[0])
#define SFB_FUNCS(funcs_) \
	.funcs = (funcs_), .num_funcs = sizeof(funcs_) / sizeof((funcs_)[0])

/* 0 or -ENOMEM */
int sfb_build(struct sfb_image *img, const struct sfb_table *table);
void sfb_free(struct sfb_image *img);

/* Write @size bytes of @val at @pos, whatever was there */
void sfb_put(struct sfb_image *img, u32 pos, unsigned int size, u64 val);

static inline u32 sfb_fde(const struct sfb_image *img, u32 i)
{
	return img->fdes + i * img->fde_size;
}

#endif /* _KERNEL_UNWIND_TESTS_SFRAME_BUILD_H */
