/* SPDX-License-Identifier: GPL-2.0 */
/* Functions whose instructions are known, see bench_known.h. */
#include <linux/linkage.h>

#include "bench_known.h"

#ifdef CONFIG_ARM64
#define RETURN_0	mov w0, wzr ASM_NL ret
#else
#define RETURN_0	xorl %eax, %eax ASM_NL RET
#endif

	.text

SYM_FUNC_START(bench_nothing)
	RETURN_0
SYM_FUNC_END(bench_nothing)

SYM_FUNC_START(bench_nops)
	.rept	BENCH_NOPS - BENCH_NOTHING
	nop
	.endr
	RETURN_0
SYM_FUNC_END(bench_nops)
