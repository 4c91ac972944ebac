/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The machine as stepping needs it: its registers, its instructions, and the frame that
 * the kernel lays on the stack for a signal handler.
 */
#ifndef SELFTEST_UNWIND_STEP_MACHINE_H
#define SELFTEST_UNWIND_STEP_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * STEP_REG_*: numbers of DWARF. FRAME_*: from a handler's first stack pointer to the
 * kernel's copy of the interrupted registers; HANDLER_POPS: how far the handler's return
 * moves the pointer. CALLS_PUSH: does a call push the return address? If not, it is in
 * the register STEP_REG_RA.
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

/* @INSN_JUMP: jumps to an address in a register */
enum insn_kind {
	INSN_OTHER,
	INSN_CALL,
	INSN_RET,
	INSN_JUMP,
	INSN_SYSCALL,
};

#define INSN_MAX	15

/* Read the registers of a stopped thread; 0 or -1 */
int machine_regs(pid_t tid, struct step_regs *regs);

/* Run a process up to an address that it will reach; 0 or -1 */
int machine_run_to(pid_t pid, uint64_t addr);

/* @insn: INSN_MAX bytes */
enum insn_kind machine_kind(const uint8_t *insn);

/*
 * Bytes that call rt_sigreturn(); the second instruction is at @call. The kernel
 * identifies signal frames by them.
 */
struct machine_restorer {
	const void	*bytes;
	unsigned int	size;
	unsigned int	call;
};

extern const struct machine_restorer machine_restorer;

/* Strip the authentication code from a return address */
uint64_t machine_ra(uint64_t ra);

#endif /* SELFTEST_UNWIND_STEP_MACHINE_H */
