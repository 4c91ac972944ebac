// SPDX-License-Identifier: GPL-2.0
/* See sframe_data.h. */

#include <linux/bitfield.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "sframe_data.h"

/* An FRE's info byte: base register, number of 1-byte data words */
#define FRE_SP(num)	(SFRAME_FRE_BASE_SP | FIELD_PREP_CONST(SFRAME_FRE_DATAWORD_COUNT, num))
#define FRE_FP(num)	FIELD_PREP_CONST(SFRAME_FRE_DATAWORD_COUNT, num)

#define CFA_REG_DEREF(reg)	\
	((reg) << SFRAME_FLEX_REGNUM_SHIFT | SFRAME_FLEX_DEREF | SFRAME_FLEX_REG)

#define IN_REG(reg)	((reg) << SFRAME_FLEX_REGNUM_SHIFT | SFRAME_FLEX_REG)

static const u8 sp_fres[] = { 0, FRE_SP(1), 8, 4, FRE_SP(1), 24, 8, FRE_SP(2), 24, -16 };
static const u8 fp_fres[] = { 0, FRE_FP(2), 16, -16 };
static const u8 sig_fres[] = { 0, FRE_SP(1), 8 };
static const u8 flex_fres[] = { 0, FRE_SP(2), CFA_REG_DEREF(10), -8 };
/* The CFA is the stack pointer, and the return address is in register 10 */
static const u8 reg_fres[] = { 0, FRE_SP(4), IN_REG(7), 0, IN_REG(10), 0 };
/* The CFA was saved on the stack: at an offset, and after an array */
static const u8 sum_fres[] = { 0, FRE_SP(4), CFA_REG_DEREF(7) | SFRAME_FLEX_SUM, 16, 8, 0 };
static const u8 array_fres[] = {
	0, FRE_SP(4), CFA_REG_DEREF(7) | SFRAME_FLEX_SUM, 8, 8,
	IN_REG(10) | FIELD_PREP_CONST(SFRAME_INDEX_SCALE, 3),
};

/* The CFA is in a register, whatever is called */
static const u8 kept_fres[] = { 0, FRE_SP(2), IN_REG(10), 8 };

/* The frame pointer is lost: its rule has register 17, an SSE register, which is not known */
static const u8 lost_fres[] = { 0, FRE_SP(5), IN_REG(7), 8, 0, IN_REG(17), 0 };

static const struct {
	u8		start;
	u8		info;
	u8		info2;
	u8		num_fres;
	const u8	*fres;
	size_t		len;
} funcs[TEST_NUM_FUNCS] = {
	{ TEST_SP_FUNC, 0, 0, 3, sp_fres, sizeof(sp_fres) },
	{ TEST_END_FUNC, 0, 0, 0, NULL, 0 },
	{ TEST_BAD_FUNC, 0, 0, 1, NULL, 0 },
	{ TEST_FP_FUNC, 0, 0, 1, fp_fres, sizeof(fp_fres) },
	{ TEST_SIG_FUNC, SFRAME_FDE_SIGNAL, 0, 1, sig_fres, sizeof(sig_fres) },
	{ TEST_FLEX_FUNC, 0, SFRAME_FDE_TYPE_FLEX, 1, flex_fres, sizeof(flex_fres) },
	{ TEST_REG_FUNC, 0, SFRAME_FDE_TYPE_FLEX, 1, reg_fres, sizeof(reg_fres) },
	{ TEST_SUM_FUNC, 0, SFRAME_FDE_TYPE_FLEX, 1, sum_fres, sizeof(sum_fres) },
	{ TEST_ARRAY_FUNC, 0, SFRAME_FDE_TYPE_FLEX, 1, array_fres, sizeof(array_fres) },
	{ TEST_KEPT_FUNC, 0, SFRAME_FDE_TYPE_FLEX, 1, kept_fres, sizeof(kept_fres) },
	{ TEST_LOST_FUNC, 0, SFRAME_FDE_TYPE_FLEX, 1, lost_fres, sizeof(lost_fres) },
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
			.num_fres = funcs[i].num_fres,
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
		memcpy(&sframe->fres[pos], funcs[i].fres, funcs[i].len);
		pos += funcs[i].len;
	}
}
