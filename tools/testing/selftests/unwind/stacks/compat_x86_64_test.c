// SPDX-License-Identifier: GPL-2.0
/*
 * 32-bit code: words of 4 bytes, frame pointers, its own kinds of signal frames, and
 * never a table, because tables describe 64-bit code only.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "code_register.h"
#include "image.h"
#include "sampled.h"
#include "trace.h"
#include "whole.h"
#include "../../kselftest_harness.h"

#define I386_GETPPID	64
#define BY_FP		"reason='end of stack by frame pointer'"

/*
 * Programs
 */

FIXTURE(signal_32)
{
	struct trace trace;
};

FIXTURE_VARIANT(signal_32)
{
	const char *how;
};

FIXTURE_VARIANT_ADD(signal_32, vdso) {
	.how = "s",
};

FIXTURE_VARIANT_ADD(signal_32, vdso_rt) {
	.how = "r",
};

FIXTURE_VARIANT_ADD(signal_32, own) {
	.how = "S",
};

FIXTURE_VARIANT_ADD(signal_32, own_rt) {
	.how = "R",
};

FIXTURE_SETUP(signal_32)
{
	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*");
}

FIXTURE_TEARDOWN(signal_32)
{
	trace_stop(&self->trace);
}

TEST_F(signal_32, frame_is_crossed)
{
	struct stack stack, expected = {};
	char path[64], message[256], c;
	uint64_t ip[NOTES_MAX];
	struct sampler sampler;
	int go[2], out[2], status;
	struct elf elf;
	ssize_t len;
	pid_t pid;

	if (elf_read(&elf, "prog_signal_32"))
		SKIP(return, "no 32-bit programs can be built");
	ASSERT_EQ(0, elf_program(&elf, path, sizeof(path)));
	elf_free(&elf);
	ASSERT_EQ(0, pipe(go));
	ASSERT_EQ(0, pipe(out));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (dup2(out[1], 1) == 1 && read(go[0], &c, 1) == 1)
			execl(path, path, variant->how, NULL);
		_exit(errno == ENOEXEC ? 126 : 127);
	}
	ASSERT_EQ(0, trace_of(&self->trace, pid));
	ASSERT_EQ(0, sampler_open_syscall(&sampler, pid, I386_GETPPID));
	ASSERT_EQ(1, write(go[1], "", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	unlink(path);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 126)
		SKIP(return, "the kernel does not run 32-bit programs");
	ASSERT_EQ(0, status);
	len = read(out[0], ip, sizeof(ip));
	ASSERT_LT(0, len);
	while (expected.nr < len / sizeof(*ip)) {
		expected.ip[expected.nr] = ip[expected.nr];
		expected.nr++;
	}
	/* The call, the restorer, the interrupted address, and two callers */
	ASSERT_EQ(5, expected.nr);
	ASSERT_EQ(0, sampler_stack(&sampler, &stack));
	EXPECT_TRUE(stack_is(&stack, &expected));
	sampler_close(&sampler);
	ASSERT_EQ(0, trace_read(&self->trace));
	ASSERT_EQ(1, trace_count(&self->trace, "stop", BY_FP, message,
				 sizeof(message)));
}

/*
 * 32-bit code in a 64-bit process, which has registered a table for it
 */

ASM_LABEL(code_32);
ASM_LABEL(code_32_back);
ASM_LABEL(code_32_end);
ASM_LABEL(code_32_call);
ASM_LABEL(code_32_outer_ra);
ASM_LABEL(code_32_entry_ra);
ASM_LABEL(code_32_entry);
ASM_LABEL(code_32_to);
ASM_LABEL(code_32_from);

asm(".pushsection .rodata\n"
	/*
	 * This code is copied to an address of 32 bits. rdi is its copy of code_32, rsi
	 * the end of a stack. It uses far jumps, because QEMU fails at far returns.
	 */
	"code_32:\n"
	"	pushq	%rbx\n"
	"	pushq	%rbp\n"
	"	pushq	%r12\n"
	"	pushq	%r13\n"
	"	pushq	%r14\n"
	"	pushq	%r15\n"
	"	movq	%rsp, code_32_saved(%rip)\n"
	"	ljmp	*code_32_to(%rip)\n"
	".code32\n"
	"code_32_entry:\n"
	"	movl	%esi, %esp\n"
	"	xorl	%ebp, %ebp\n"
	"	call	3f\n"
	"code_32_entry_ra:\n"
	/* The stack's data segment is the only one that is set up */
	"	ljmp	*%ss:(%edi)\n"
	"2:	pushl	%ebp\n"
	"	movl	%esp, %ebp\n"
	"	subl	$20, %esp\n"
	"	movl	$64, %eax\n"
	"	int	$0x80\n"
	"code_32_call:\n"
	"	leave\n"
	"	ret\n"
	"3:	pushl	%ebp\n"
	"	movl	%esp, %ebp\n"
	"	subl	$36, %esp\n"
	"	call	2b\n"
	"code_32_outer_ra:\n"
	"	leave\n"
	"	ret\n"
	".code64\n"
	"code_32_back:\n"
	"	movq	code_32_saved(%rip), %rsp\n"
	"	popq	%r15\n"
	"	popq	%r14\n"
	"	popq	%r13\n"
	"	popq	%r12\n"
	"	popq	%rbp\n"
	"	popq	%rbx\n"
	"	ret\n"
	"code_32_saved:\n"
	"	.quad	0\n"
	/* Far pointers, filled in later */
	"code_32_to:\n"
	"	.long	0, 0x23\n"
	"code_32_from:\n"
	"	.long	0, 0x33\n"
	"code_32_end:\n"
	".popsection\n");

#define LOW_SIZE	(64 * 1024)

FIXTURE(mode_32)
{
	struct trace trace;
};

FIXTURE_SETUP(mode_32)
{
	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*");
}

FIXTURE_TEARDOWN(mode_32)
{
	trace_stop(&self->trace);
}

TEST_F(mode_32, uses_no_table)
{
	struct stack stack, expected = {};
	struct unwind_table_attr attr = {
		.format = UNWIND_FORMAT_SFRAME, .key = 1,
	};
	char *low, *text, message[256];
	struct sampler sampler;
	uint64_t fn;
	int i;

	low = mmap(NULL, 2 * LOW_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	ASSERT_NE(MAP_FAILED, low);
	text = low + LOW_SIZE;
	memcpy(text, code_32, code_32_end - code_32);
#define LOW(label)	((unsigned long)text + ((label) - code_32))
	*(uint32_t *)LOW(code_32_to) = LOW(code_32_entry);
	*(uint32_t *)LOW(code_32_from) = LOW(code_32_back);
	if (sampler_open_syscall(&sampler, 0, I386_GETPPID) ||
	    access("/proc/sys/abi/vsyscall32", F_OK))
		SKIP(return, "no 32-bit system calls, or not root");

	expected.ip[expected.nr++] = LOW(code_32_call);
	expected.ip[expected.nr++] = LOW(code_32_outer_ra);
	expected.ip[expected.nr++] = LOW(code_32_entry_ra);

	/* Without the table, and with a table that contradicts the stack */
	for (i = 0; i < 2; i++) {
		((void (*)(unsigned long, char *))text)(LOW(code_32_from),
							low + LOW_SIZE - 16);
		ASSERT_EQ(0, sampler_stack(&sampler, &stack));
		EXPECT_TRUE(stack_is(&stack, &expected));
		ASSERT_EQ(0, trace_read(&self->trace));
		EXPECT_EQ(1, trace_count(&self->trace, "stop", BY_FP, message,
					 sizeof(message)));
		ASSERT_EQ(0, trace_clear(&self->trace));

		fn = LOW(code_32);
		code_table_write(low, (uintptr_t)low, &fn, 1, CODE_FRAME);
		attr.table_start = (uintptr_t)low;
		attr.table_size = code_table_size(1);
		attr.text_start = (uintptr_t)text;
		attr.text_size = LOW_SIZE;
		if (!i)
			ASSERT_EQ(0, unwind_table_add(&attr));
	}
}

TEST_HARNESS_MAIN
