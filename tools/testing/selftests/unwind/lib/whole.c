// SPDX-License-Identifier: GPL-2.0
/*
 * Whole stacks, see whole.h.
 */
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "whole.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ	22
#endif

struct notes whole;
long whole_pid, whole_tid;

#if defined(__x86_64__)

asm(".pushsection .data\n"
	".balign 8\n"
	"whole_no_frame:\n"
	"	.quad	whole_no_frame, whole_no_frame\n"
	".popsection\n"
	".pushsection .text\n"
	".globl whole_call, whole_end\n"
	".type whole_call, @function\n"
	"whole_call:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	pushq	%rbp\n"
	"	pushq	%rbx\n"
	"	movq	%rsp, %rbx\n"
	"	testq	%rdx, %rdx\n"
	"	cmovzq	%rsp, %rdx\n"
	"	andq	$-16, %rdx\n"
	"	movq	%rdx, %rsp\n"
	"	leaq	whole_no_frame(%rip), %rbp\n"
	"	movq	%rdi, %rax\n"
	"	movq	%rsi, %rdi\n"
	"	call	*%rax\n"
	"whole_end:\n"
	"	movq	%rbx, %rsp\n"
	"	popq	%rbx\n"
	"	popq	%rbp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size whole_call, . - whole_call\n"
	".popsection\n");

#elif defined(__aarch64__)

asm(".pushsection .data\n"
	".balign 8\n"
	"whole_no_frame:\n"
	"	.quad	whole_no_frame, whole_no_frame\n"
	".popsection\n"
	".pushsection .text\n"
	".globl whole_call, whole_end\n"
	".type whole_call, %function\n"
	"whole_call:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined x30\n"
	"	stp	x29, x30, [sp, #-32]!\n"
	"	str	x19, [sp, #16]\n"
	"	mov	x19, sp\n"
	"	cmp	x2, #0\n"
	"	csel	x2, x19, x2, eq\n"
	"	and	x2, x2, #-16\n"
	"	mov	sp, x2\n"
	"	adrp	x29, whole_no_frame\n"
	"	add	x29, x29, :lo12:whole_no_frame\n"
	"	mov	x9, x0\n"
	"	mov	x0, x1\n"
	"	blr	x9\n"
	"whole_end:\n"
	"	mov	sp, x19\n"
	"	ldr	x19, [sp, #16]\n"
	"	ldp	x29, x30, [sp], #32\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size whole_call, . - whole_call\n"
	".popsection\n");

#endif

/*
 * Bring this program and its libraries into the page cache: only then the kernel has their
 * tables in time for the first stack.
 */
static int populate(struct dl_phdr_info *info, size_t size, void *unused)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	unsigned int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const typeof(*info->dlpi_phdr) *phdr = &info->dlpi_phdr[i];
		size_t slack = phdr->p_vaddr % page;

		if (phdr->p_type == PT_LOAD)
			madvise((char *)info->dlpi_addr + phdr->p_vaddr - slack,
				phdr->p_filesz + slack, MADV_POPULATE_READ);
	}
	return 0;
}

static void __attribute__((constructor)) populate_all(void)
{
	dl_iterate_phdr(populate, NULL);
}

void whole_raise_init(void)
{
	whole_pid = getpid();
	whole_tid = gettid();
}

void whole_run(void (*fn)(void *arg), void *arg, void *stack)
{
	whole = (struct notes){};
	whole_raise_init();
	whole_call(fn, arg, stack);
}

bool stack_is(const struct stack *stack, const struct stack *expected)
{
	struct stack longer = *expected;

	/* Print surplus frames, too */
	if (stack->nr > expected->nr)
		longer.ip[longer.nr++] = 0;
	return stack_begins_with(stack, &longer);
}

bool whole_is_right(struct sampler *sampler)
{
	struct stack stack, expected;

	expect_chain(&expected, &whole);
	/* A stack without notes cannot be judged right */
	return expected.nr && !sampler_stack(sampler, &stack) &&
	       stack_is(&stack, &expected);
}

void *whole_stack(void)
{
	char *stack = mmap(NULL, WHOLE_STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return stack == MAP_FAILED ? NULL : stack + WHOLE_STACK;
}

#if defined(__x86_64__)
#define LOADER	"ld-linux-x86-64.so.2"
#elif defined(__aarch64__)
#define LOADER	"ld-linux-aarch64.so.1"
#endif

int whole_with_tables(const char *fixture)
{
	char loader[PATH_MAX], command[4 * PATH_MAX], line[512];
	const char *dir = getenv("UNWIND_LIBC");
	FILE *output;
	int status;

	if (!dir)
		dir = "/opt/sframe/lib";
	snprintf(loader, sizeof(loader), "%s/" LOADER, dir);
	if (access(loader, X_OK))
		return -1;
	snprintf(command, sizeof(command),
		 "'%s' --library-path '%s' '%s' -f %s 2>&1", loader, dir,
		 program_invocation_name, fixture);
	output = popen(command, "r");
	if (!output)
		return 127;
	while (fgets(line, sizeof(line), output))
		printf("#   %s", line);
	status = pclose(output);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}
