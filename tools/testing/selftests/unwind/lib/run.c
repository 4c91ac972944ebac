// SPDX-License-Identifier: GPL-2.0
/*
 * Start and end of runs, see run.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bounds.h"
#include "call.h"
#include "run.h"

#if defined(__x86_64__)

asm(".pushsection .text\n"
	".globl run_enter, run_base, run_probe, run_probe_end\n"
	".type run_enter, @function\n"
	"run_enter:\n"
	"	pushq	%rbp\n"
	"	movl	$1, %ebp\n"
	"	call	*%rsi\n"
	"run_base:\n"
	"	popq	%rbp\n"
	"	ret\n"
	".size run_enter, . - run_enter\n"
	".type run_probe, @function\n"
	"run_probe:\n"
	"	pushq	%rbp\n"
	"	movq	%rdi, %rbp\n"
	"1:	movl	$110, %eax\n"
	"	syscall\n"
	/*
	 * The path that is taken ends at a call, so it shows nothing. The other path
	 * shows a frame record: it is for errors, which getppid() does not have.
	 */
	"	testl	%eax, %eax\n"
	"	js	3f\n"
	"	call	2f\n"
	"	decq	%rsi\n"
	"	jnz	1b\n"
	"	popq	%rbp\n"
	"2:	ret\n"
	"3:	leave\n"
	"	ret\n"
	"run_probe_end:\n"
	".size run_probe, . - run_probe\n"
	".popsection\n");

_Static_assert(SYS_getppid == 110, "run_probe() calls getppid()");

#elif defined(__aarch64__)

asm(".pushsection .text\n"
	".globl run_enter, run_base, run_probe, run_probe_end\n"
	".type run_enter, %function\n"
	"run_enter:\n"
	"	stp	x29, x30, [sp, #-16]!\n"
	"	mov	x29, #1\n"
	"	blr	x1\n"
	"run_base:\n"
	"	ldp	x29, x30, [sp], #16\n"
	"	ret\n"
	".size run_enter, . - run_enter\n"
	".type run_probe, %function\n"
	"run_probe:\n"
	"	stp	x29, x30, [sp, #-16]!\n"
	"	mov	x29, x0\n"
	"	mov	x9, x1\n"
	"1:	mov	x8, #173\n"
	"	svc	#0\n"
	/*
	 * Instructions are followed past a condition. They show a frame record: it is for
	 * errors, which getppid() does not have.
	 */
	"	tbz	x0, #63, 2f\n"
	"	mov	sp, x29\n"
	"2:	subs	x9, x9, #1\n"
	"	b.ne	1b\n"
	"	ldp	x29, x30, [sp], #16\n"
	"	ret\n"
	"run_probe_end:\n"
	".size run_probe, . - run_probe\n"
	".popsection\n");

_Static_assert(SYS_getppid == 173, "run_probe() calls getppid()");

#endif

/* Run before main(), in each program and after each exec that has runs */
static void __attribute__((constructor)) map_decoy(void)
{
	long page = sysconf(_SC_PAGESIZE);
	void *at = (void *)(RUN_DECOY - page);

	/* The unwinder looks up the byte before a return address */
	if (mmap(at, 2 * page, PROT_READ | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != at) {
		perror("mmap of the decoy");
		exit(EXIT_FAILURE);
	}
}

#define SPIN	200

SECTION_BOUNDS(text_leaf);

void __section("text_leaf") run_leaf(struct run *run)
{
	unsigned long i, ip;
	unsigned int j;

	/* The function calls nobody, but must have a frame pointer */
	asm volatile("" : : "r"(__builtin_frame_address(0)));
	for (i = 0; i < run->rounds; i++) {
		syscall0_at(SYS_getppid, &ip);
		for (j = 0; j < SPIN; j++)
			asm volatile("");
	}
}

bool run_in_leaf(unsigned long ip)
{
	return ip >= (unsigned long)__start_text_leaf &&
	       ip < (unsigned long)__stop_text_leaf;
}

bool run_in_probe(unsigned long ip)
{
	return ip >= (unsigned long)run_probe &&
	       ip < (unsigned long)run_probe_end;
}
