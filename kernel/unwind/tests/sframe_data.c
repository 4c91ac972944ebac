// SPDX-License-Identifier: GPL-2.0
/* See sframe_data.h. */

#include <linux/bitfield.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "sframe_data.h"

/* A row's info byte: base register, number of 1-byte data words */
#define ROW_SP(num)	(SFRAME_FRE_BASE_SP | FIELD_PREP_CONST(SFRAME_FRE_DATAWORD_COUNT, num))
#define ROW_FP(num)	FIELD_PREP_CONST(SFRAME_FRE_DATAWORD_COUNT, num)

#define CFA_REG_DEREF(reg)	\
	((reg) << SFRAME_FLEX_REGNUM_SHIFT | SFRAME_FLEX_DEREF | SFRAME_FLEX_REG)

#define IN_REG(reg)	((reg) << SFRAME_FLEX_REGNUM_SHIFT | SFRAME_FLEX_REG)

static const u8 sp_rows[] = { 0, ROW_SP(1), 8, 4, ROW_SP(1), 24, 8, ROW_SP(2), 24, -16 };
static const u8 fp_rows[] = { 0, ROW_FP(2), 16, -16 };
static const u8 sig_rows[] = { 0, ROW_SP(1), 8 };
static const u8 flex_rows[] = { 0, ROW_SP(2), CFA_REG_DEREF(10), -8 };
/* The CFA is the stack pointer, and the return address is in register 10 */
static const u8 reg_rows[] = { 0, ROW_SP(4), IN_REG(7), 0, IN_REG(10), 0 };
/* The CFA was saved on the stack: at an offset, and after an array */
static const u8 sum_rows[] = { 0, ROW_SP(4), CFA_REG_DEREF(7) | SFRAME_FLEX_SUM, 16, 8, 0 };
static const u8 array_rows[] = {
	0, ROW_SP(4), CFA_REG_DEREF(7) | SFRAME_FLEX_SUM, 8, 8,
	IN_REG(10) | FIELD_PREP_CONST(SFRAME_INDEX_SCALE, 3),
};

/* The CFA is in a register, whatever is called */
static const u8 kept_rows[] = { 0, ROW_SP(2), IN_REG(10), 8 };

static const struct {
	u8		start;
	u8		info;
	u8		info2;
	u8		num_rows;
	const u8	*rows;
	size_t		len;
} funcs[TEST_NUM_FUNCS] = {
	{ TEST_SP_FUNC, 0, 0, 3, sp_rows, sizeof(sp_rows) },
	{ TEST_END_FUNC, 0, 0, 0, NULL, 0 },
	{ TEST_BAD_FUNC, 0, 0, 1, NULL, 0 },
	{ TEST_FP_FUNC, 0, 0, 1, fp_rows, sizeof(fp_rows) },
	{ TEST_SIG_FUNC, SFRAME_FDE_SIGNAL, 0, 1, sig_rows, sizeof(sig_rows) },
	{ TEST_FLEX_FUNC, 0, SFRAME_FDE_TYPE_FLEX, 1, flex_rows, sizeof(flex_rows) },
	{ TEST_REG_FUNC, 0, SFRAME_FDE_TYPE_FLEX, 1, reg_rows, sizeof(reg_rows) },
	{ TEST_SUM_FUNC, 0, SFRAME_FDE_TYPE_FLEX, 1, sum_rows, sizeof(sum_rows) },
	{ TEST_ARRAY_FUNC, 0, SFRAME_FDE_TYPE_FLEX, 1, array_rows, sizeof(array_rows) },
	{ TEST_KEPT_FUNC, 0, SFRAME_FDE_TYPE_FLEX, 1, kept_rows, sizeof(kept_rows) },
};

/* @text_offset: where the text is, relative to the section */
void test_sframe_init(struct test_sframe *sframe, s64 text_offset)
{
	unsigned int i;
	u32 pos = 0;

	memset(sframe, 0, sizeof(*sframe));
	sframe->hdr = (struct sframe_header){
		.magic = SFRAME_MAGIC,
		.version = SFRAME_VERSION_3,
		.flags = SFRAME_F_FDE_SORTED | SFRAME_F_CFA_SUM,
		.abi_arch = SFRAME_ABI_AMD64_ENDIAN_LITTLE,
		.cfa_fixed_ra_offset = -8,
		.num_fdes = TEST_NUM_FUNCS,
		.num_fres = TEST_NUM_FUNCS,
		.fre_len = TEST_FRES_LEN,
		.fdeoff = sizeof(sframe->pad),
		.freoff = sizeof(sframe->pad) + sizeof(sframe->fdes),
	};
	for (i = 0; i < TEST_NUM_FUNCS; i++) {
		struct sframe_fde_attr_v3 attr = {
			.num_fres = funcs[i].num_rows,
			.info = funcs[i].info,
			.info2 = funcs[i].info2,
		};

		sframe->fdes[i] = (struct sframe_fde_v3){
			.start_offset = text_offset + funcs[i].start,
			.size = 16,
			.fre_off = funcs[i].start == TEST_BAD_FUNC ? TEST_FRES_LEN : pos,
		};
		memcpy(&sframe->fres[pos], &attr, sizeof(attr));
		pos += sizeof(attr);
		memcpy(&sframe->fres[pos], funcs[i].rows, funcs[i].len);
		pos += funcs[i].len;
	}
}
