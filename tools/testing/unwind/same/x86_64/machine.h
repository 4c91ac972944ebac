/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The machine for same_record and same_compare: x86-64.
 */
#ifndef _UNWIND_TEST_SAME_MACHINE_H
#define _UNWIND_TEST_SAME_MACHINE_H

#include <asm/perf_regs.h>
#include <stdbool.h>
#include <stdint.h>

/* All registers; a 64-bit sample lacks the old segment registers */
#define SAME_REGS	(((1ULL << PERF_REG_X86_64_MAX) - 1) &		\
			 ~(1ULL << PERF_REG_X86_DS | 1ULL << PERF_REG_X86_ES | \
			   1ULL << PERF_REG_X86_FS | 1ULL << PERF_REG_X86_GS))
#define SAME_NUM_REGS	20

/* DWARF's numbers of registers; the last is the return address's column */
#define DWARF_FP	6
#define DWARF_SP	7
#define DWARF_RA	16
#define DWARF_IP	16
#define DWARF_NUM	17

/* perf's number of a register with DWARF number @num */
static inline unsigned int machine_perf_reg(unsigned int num)
{
	static const unsigned char perf_reg[DWARF_NUM] = {
		PERF_REG_X86_AX, PERF_REG_X86_DX, PERF_REG_X86_CX,
		PERF_REG_X86_BX, PERF_REG_X86_SI, PERF_REG_X86_DI,
		PERF_REG_X86_BP, PERF_REG_X86_SP, PERF_REG_X86_R8,
		PERF_REG_X86_R9, PERF_REG_X86_R10, PERF_REG_X86_R11,
		PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14,
		PERF_REG_X86_R15, PERF_REG_X86_IP,
	};

	return perf_reg[num];
}

/* A call leaves the return address on the stack, and nowhere else */
#define MACHINE_HAS_LR	0

/* Return addresses are not signed */
static inline uint64_t machine_strip(uint64_t address)
{
	return address;
}

/* "syscall" */
#define MACHINE_SYSCALL		{ 0x0f, 0x05 }

/* "mov $__NR_rt_sigreturn,%rax; syscall" */
#define MACHINE_SIGRETURN \
	{ 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 }

/* No current program has the instructions that are emulated here (UMIP) */
#define MACHINE_EMULATED_SIZE	1
static inline bool machine_emulates(const uint8_t *code)
{
	return false;
}

#endif /* _UNWIND_TEST_SAME_MACHINE_H */
