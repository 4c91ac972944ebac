/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A small SFrame section for the tests: eleven functions in a row, in version 3.
 *
 *	text +  0  sp_func    16 bytes: entry (CFA = SP+8), then SP+24 from +4,
 *	                      and from +8 with FP saved at CFA-16
 *	text + 16  end_func   16 bytes: outermost frame (no FREs)
 *	text + 32  bad_func   16 bytes: its FREs lie outside the section
 *	text + 48  fp_func    16 bytes: CFA = FP+16, FP saved at CFA-16
 *	text + 64  sig_func   16 bytes: a signal frame, CFA = SP+8
 *	text + 80  flex_func  16 bytes: CFA = *(R10 - 8), DWARF register 10
 *	text + 96  reg_func   16 bytes: CFA = SP, RA in R10
 *	text + 112 sum_func   16 bytes: CFA = *(SP + 16) + 8, if register 7 is SP
 *	text + 128 array_func 16 bytes: CFA = *(SP + R10 * 8 + 8) + 8, likewise
 *	text + 144 kept_func  16 bytes: CFA = R10 + 8
 *	text + 160 lost_func  16 bytes: CFA = SP + 8, FP in register 17, if register 7 is SP
 *	text + 176 nothing
 */
#ifndef _KERNEL_UNWIND_TESTS_SFRAME_DATA_H
#define _KERNEL_UNWIND_TESTS_SFRAME_DATA_H

#include <linux/types.h>

#include "../sframe_format.h"

#define TEST_SP_FUNC		0
#define TEST_END_FUNC		16
#define TEST_BAD_FUNC		32
#define TEST_FP_FUNC		48
#define TEST_SIG_FUNC		64
#define TEST_FLEX_FUNC		80
#define TEST_REG_FUNC		96
#define TEST_SUM_FUNC		112
#define TEST_ARRAY_FUNC		128
#define TEST_KEPT_FUNC		144
#define TEST_LOST_FUNC		160
#define TEST_TEXT_SIZE		176

#define TEST_NUM_FUNCS		11
#define TEST_FRES_LEN		108

struct test_sframe {
	struct sframe_header	hdr;
	/* The specification has the entries naturally aligned */
	u8			pad[4];
	struct sframe_fde_v3	fdes[TEST_NUM_FUNCS];
	u8			fres[TEST_FRES_LEN];
} __packed;

void test_sframe_init(struct test_sframe *sframe, s64 text_offset);

#endif /* _KERNEL_UNWIND_TESTS_SFRAME_DATA_H */
