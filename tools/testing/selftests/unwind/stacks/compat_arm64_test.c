// SPDX-License-Identifier: GPL-2.0
/*
 * AArch32 programs: ARM and Thumb code share no frame record. So the stack has one
 * address, the current instruction, and no guessed ones.
 */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image.h"
#include "sampled.h"
#include "trace.h"
#include "../../kselftest_harness.h"

#define LOAD		0x10000
#define ARM_GETPPID	64
#define NO_FRAME	"reason='no table and no frame pointer'"

/* The file of such a program */
struct program {
	struct elf32_hdr	ehdr;
	struct elf32_phdr	phdr;
	uint32_t		code[8];
};

FIXTURE(aarch32)
{
	struct trace trace;
};

/* @call: address of the instruction after the system call */
FIXTURE_VARIANT(aarch32)
{
	uint32_t	code[8];
	uint32_t	thumb;
	uint32_t	call;
};

/* The possible frame pointer registers point to readable memory: the code */
FIXTURE_VARIANT_ADD(aarch32, arm) {
	.code = {
		0xe24fb008,	/* sub fp, pc, #8: the first instruction */
		0xe1a0700b,	/* mov r7, fp */
		0xe3a07040,	/* mov r7, #__NR_getppid */
		0xef000000,	/* svc #0 */
		0xe3a07001,	/* mov r7, #__NR_exit */
		0xe3a00000,	/* mov r0, #0 */
		0xef000000,	/* svc #0 */
	},
	.call = 16,
};

FIXTURE_VARIANT_ADD(aarch32, thumb) {
	.code = {
		0x46bb467f,	/* mov r7, pc; mov fp, r7 */
		0xdf002740,	/* movs r7, #__NR_getppid; svc #0 */
		0x20002701,	/* movs r7, #__NR_exit; movs r0, #0 */
		0xdf00df00,	/* svc #0; svc #0 */
	},
	.thumb = 1,
	.call = 8,
};

FIXTURE_SETUP(aarch32)
{
	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*");
}

FIXTURE_TEARDOWN(aarch32)
{
	trace_stop(&self->trace);
}

static void make_program(struct program *program, const uint32_t *code, uint32_t thumb)
{
	const uint32_t start = LOAD + offsetof(struct program, code);

	*program = (struct program){
		.ehdr = {
			.e_ident = {
				0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT,
			},
			.e_type = ET_EXEC,
			.e_machine = EM_ARM,
			.e_version = EV_CURRENT,
			.e_entry = start | thumb,
			.e_phoff = offsetof(struct program, phdr),
			/* The ABI's version, 5 */
			.e_flags = 0x05000000,
			.e_ehsize = sizeof(struct elf32_hdr),
			.e_phentsize = sizeof(struct elf32_phdr),
			.e_phnum = 1,
		},
		.phdr = {
			.p_type = PT_LOAD,
			.p_vaddr = LOAD,
			.p_paddr = LOAD,
			.p_filesz = sizeof(*program),
			.p_memsz = sizeof(*program),
			.p_flags = PF_R | PF_X,
			.p_align = 0x1000,
		},
	};
	memcpy(program->code, code, sizeof(program->code));
}

TEST_F(aarch32, stack_is_one_frame)
{
	struct program program;
	struct elf elf = { .data = (void *)&program, .size = sizeof(program) };
	const unsigned long start = LOAD + offsetof(struct program, code);
	char path[64], message[256], c;
	struct sampler sampler;
	struct stack stack;
	int go[2], status;
	pid_t pid;

	make_program(&program, variant->code, variant->thumb);
	ASSERT_EQ(0, elf_program(&elf, path, sizeof(path)));
	ASSERT_EQ(0, pipe(go));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (read(go[0], &c, 1) == 1)
			execl(path, path, NULL);
		_exit(errno == ENOEXEC ? 126 : 127);
	}
	ASSERT_EQ(0, trace_of(&self->trace, pid));
	ASSERT_EQ(0, sampler_open_syscall(&sampler, pid, ARM_GETPPID));
	ASSERT_EQ(1, write(go[1], "", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	unlink(path);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 126)
		SKIP(return, "the kernel or the processor does not run AArch32 programs");
	ASSERT_EQ(0, status);
	ASSERT_EQ(0, sampler_stack(&sampler, &stack));
	sampler_close(&sampler);
	ASSERT_EQ(1, stack.nr);
	EXPECT_EQ(start + variant->call, stack.ip[0]);
	ASSERT_EQ(0, trace_read(&self->trace));
	ASSERT_EQ(1, trace_count(&self->trace, "stop", NO_FRAME, message, sizeof(message)));
}

TEST_HARNESS_MAIN
