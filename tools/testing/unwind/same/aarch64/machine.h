/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The machine for same_record and same_compare: arm64.
 */
#ifndef _UNWIND_TEST_SAME_MACHINE_H
#define _UNWIND_TEST_SAME_MACHINE_H

#include <asm/perf_regs.h>
#include <stdbool.h>
#include <stdint.h>

/* X0 to X30, SP and PC, without the vectors' length */
#define SAME_REGS	((1ULL << (PERF_REG_ARM64_PC + 1)) - 1)
#define SAME_NUM_REGS	33

/* DWARF's numbers of registers; its column of the return address is X30 */
#define DWARF_FP	29
#define DWARF_RA	30
#define DWARF_SP	31
#define DWARF_IP	32
#define DWARF_NUM	33

/* perf's number of a register with DWARF number @num: the same */
static inline unsigned int machine_perf_reg(unsigned int num)
{
	return num;
}

/* A call leaves the return address in X30 */
#define MACHINE_HAS_LR	1

/*
 * Signed addresses have the signature above the bits of user space's addresses. Programs
 * use 48 bits unless they ask for more.
 */
static inline uint64_t machine_strip(uint64_t address)
{
	return address & ((1ULL << 48) - 1);
}

/* "svc #0" */
#define MACHINE_SYSCALL		{ 0x01, 0x00, 0x00, 0xd4 }

/* "mov x8, #__NR_rt_sigreturn; svc #0" */
#define MACHINE_SIGRETURN \
	{ 0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4 }

/*
 * "mrs" of registers that describe the processor or its caches: the kernel may trap such
 * reads, to give the same answer on every processor.
 */
#define MACHINE_EMULATED_SIZE	4
static inline bool machine_emulates(const uint8_t *code)
{
	return code[3] == 0xd5 && (code[2] & 0xf0) == 0x30;
}

#endif /* _UNWIND_TEST_SAME_MACHINE_H */
