// SPDX-License-Identifier: GPL-2.0
/*
 * Stepping on x86-64, see step_machine.h.
 */
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "step_machine.h"

int machine_regs(pid_t tid, struct step_regs *regs)
{
	struct user_regs_struct user;

	if (ptrace(PTRACE_GETREGS, tid, 0, &user))
		return -1;
	*regs = (struct step_regs){
		.ip = user.rip,
		.sp = user.rsp,
		.fp = user.rbp,
		.call = user.rax,
		.reg = {
			user.rax, user.rdx, user.rcx, user.rbx, user.rsi,
			user.rdi, user.rbp, user.rsp, user.r8, user.r9,
			user.r10, user.r11, user.r12, user.r13, user.r14,
			user.r15,
		},
	};
	return 0;
}

int machine_run_to(pid_t pid, uint64_t addr)
{
	const unsigned long int3 = 0xcc;
	struct user_regs_struct user;
	int status;
	long insn;

	insn = ptrace(PTRACE_PEEKTEXT, pid, addr, 0);
	if (ptrace(PTRACE_POKETEXT, pid, addr, (insn & ~0xffUL) | int3) ||
	    ptrace(PTRACE_CONT, pid, 0, 0) || waitpid(pid, &status, 0) != pid ||
	    !WIFSTOPPED(status) || ptrace(PTRACE_GETREGS, pid, 0, &user) ||
	    user.rip != addr + 1)
		return -1;
	user.rip = addr;
	return ptrace(PTRACE_SETREGS, pid, 0, &user) ||
	       ptrace(PTRACE_POKETEXT, pid, addr, insn) ? -1 : 0;
}

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64 ... 0x67:
	case 0xf2: case 0xf3: case 0x40 ... 0x4f:
		return true;
	default:
		return false;
	}
}

enum insn_kind machine_kind(const uint8_t *insn)
{
	const uint8_t *end = insn + INSN_MAX;

	while (insn < end && is_prefix(*insn))
		insn++;
	switch (insn[0]) {
	case 0xe8:
		return INSN_CALL;
	case 0xff:
		/* The operation is in the middle of the ModRM byte */
		return (insn[1] >> 3 & 7) == 2 ? INSN_CALL : INSN_OTHER;
	case 0xc2: case 0xc3:
		return INSN_RET;
	case 0x0f:
		return insn[1] == 0x05 ? INSN_SYSCALL : INSN_OTHER;
	default:
		return INSN_OTHER;
	}
}

/* "mov $SYS_rt_sigreturn, %rax; syscall" */
static const uint8_t restorer[] = {
	0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05,
};

const struct machine_restorer machine_restorer = {
	.bytes = restorer, .size = sizeof(restorer), .call = 7,
};

uint64_t machine_ra(uint64_t ra)
{
	return ra;
}
