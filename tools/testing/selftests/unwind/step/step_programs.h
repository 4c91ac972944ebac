/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The variants of "calls"; programs/rules.mk says how each is compiled.
 */
CALLS("O0") CALLS("O1") CALLS("O2") CALLS("O3") CALLS("Os")
CALLS("O0_fp") CALLS("O1_fp") CALLS("O2_fp") CALLS("O3_fp") CALLS("Os_fp")
CALLS("general_regs") CALLS("clash")
CALLS("mixed_fp") CALLS("mixed_none") CALLS("only_fp")
#if defined(__x86_64__)
CALLS("cf_protection") CALLS("avx2") CALLS("asm")
#elif defined(__aarch64__)
CALLS("signed") CALLS("signed_b") CALLS("sve")
#endif
