/* SPDX-License-Identifier: GPL-2.0 */
/* Functions whose instructions are known, see bench_known.h. */
#include <linux/linkage.h>

#include "bench_known.h"

	.text

SYM_FUNC_START(bench_nothing)
	xorl	%eax, %eax
	RET
SYM_FUNC_END(bench_nothing)

SYM_FUNC_START(bench_nops)
	.rept	BENCH_NOPS - BENCH_NOTHING
	nop
	.endr
	xorl	%eax, %eax
	RET
SYM_FUNC_END(bench_nops)
