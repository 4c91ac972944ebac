// SPDX-License-Identifier: GPL-2.0
/*
 * Stepping on arm64, see step_machine.h.
 */
#include <elf.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "step_machine.h"

static int transfer(int request, pid_t tid, struct user_regs_struct *user)
{
	struct iovec iov = { .iov_base = user, .iov_len = sizeof(*user) };

	return ptrace(request, tid, NT_PRSTATUS, &iov) ? -1 : 0;
}

int machine_regs(pid_t tid, struct step_regs *regs)
{
	struct user_regs_struct user;

	if (transfer(PTRACE_GETREGSET, tid, &user))
		return -1;
	regs->ip = user.pc;
	regs->sp = user.sp;
	regs->fp = user.regs[STEP_REG_FP];
	regs->call = user.regs[8];
	memcpy(regs->reg, user.regs, sizeof(user.regs));
	regs->reg[STEP_REG_SP] = user.sp;
	return 0;
}

int machine_run_to(pid_t pid, uint64_t addr)
{
	const unsigned long brk = 0xd4200000;
	struct user_regs_struct user;
	int status;
	long insn;

	insn = ptrace(PTRACE_PEEKTEXT, pid, addr, 0);
	if (ptrace(PTRACE_POKETEXT, pid, addr, (insn & ~0xffffffffUL) | brk) ||
	    ptrace(PTRACE_CONT, pid, 0, 0) || waitpid(pid, &status, 0) != pid ||
	    !WIFSTOPPED(status) || transfer(PTRACE_GETREGSET, pid, &user) ||
	    user.pc != addr)
		return -1;
	return ptrace(PTRACE_POKETEXT, pid, addr, insn) ? -1 : 0;
}

enum insn_kind machine_kind(const uint8_t *bytes)
{
	uint32_t insn;

	memcpy(&insn, bytes, sizeof(insn));
	if ((insn & 0xfc000000) == 0x94000000)
		return INSN_CALL;
	if ((insn & 0xffe0001f) == 0xd4000001)
		return INSN_SYSCALL;
	/* Branches to a register, with or without authentication */
	if ((insn & 0xfe000000) != 0xd6000000)
		return INSN_OTHER;
	switch (insn >> 21 & 7) {
	case 0:
		return INSN_JUMP;
	case 1:
		return INSN_CALL;
	case 2:
		return INSN_RET;
	default:
		return INSN_OTHER;
	}
}

/* "mov x8, #__NR_rt_sigreturn; svc #0" */
static const uint32_t restorer[] = { 0xd2801168, 0xd4000001 };

const struct machine_restorer machine_restorer = {
	.bytes = restorer, .size = sizeof(restorer), .call = 4,
};

uint64_t machine_ra(uint64_t ra)
{
	return ra & ((1UL << 48) - 1);
}
