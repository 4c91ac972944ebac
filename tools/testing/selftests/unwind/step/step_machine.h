/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What stepping through programs has to know of the machine: its registers, its
 * instructions, and what the kernel lays on the stack for a signal's handler.
 */
#ifndef SELFTEST_UNWIND_STEP_MACHINE_H
#define SELFTEST_UNWIND_STEP_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * STEP_REG_*: numbers of DWARF. FRAME_*: from a handler's first stack pointer to
 * what the kernel saved of the interrupted registers; HANDLER_POPS: how far the
 * pointer is moved by the handler's return. CALLS_PUSH: does a call put the return
 * address on the stack?  If not, it is in the register STEP_REG_RA.
 */
#if defined(__x86_64__)
#define STEP_REGS	16
#define STEP_REG_FP	6
#define STEP_REG_SP	7
#define CALLS_PUSH	1
#define FRAME_FP	128
#define FRAME_SP	168
#define FRAME_IP	176
#define HANDLER_POPS	8
#elif defined(__aarch64__)
#define STEP_REGS	32
#define STEP_REG_FP	29
#define STEP_REG_RA	30
#define STEP_REG_SP	31
#define CALLS_PUSH	0
#define FRAME_FP	544
#define FRAME_SP	560
#define FRAME_IP	568
#define HANDLER_POPS	0
#endif

/* @call: the number of the system call, if the next instruction makes one */
struct step_regs {
	uint64_t	ip;
	uint64_t	sp;
	uint64_t	fp;
	uint64_t	call;
	uint64_t	reg[STEP_REGS];
};

/* @INSN_JUMP: to an address in a register */
enum insn_kind {
	INSN_OTHER,
	INSN_CALL,
	INSN_RET,
	INSN_JUMP,
	INSN_SYSCALL,
};

#define INSN_MAX	15

/* Of a thread that has stopped; 0 or -1 */
int machine_regs(pid_t tid, struct step_regs *regs);

/* Let a process run up to an address that it comes to; 0 or -1 */
int machine_run_to(pid_t pid, uint64_t addr);

/* @insn: INSN_MAX bytes */
enum insn_kind machine_kind(const uint8_t *insn);

/*
 * Bytes that call rt_sigreturn(), the second instruction of them at @call: from
 * them the kernel knows signal frames.
 */
struct machine_restorer {
	const void	*bytes;
	unsigned int	size;
	unsigned int	call;
};

extern const struct machine_restorer machine_restorer;

/* A return address without what authenticates it */
uint64_t machine_ra(uint64_t ra);

#endif /* SELFTEST_UNWIND_STEP_MACHINE_H */
