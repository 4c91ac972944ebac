// SPDX-License-Identifier: GPL-2.0
/*
 * The sample JIT's code generator for x86-64, see jit_code.h.
 */
#include <stdint.h>
#include <string.h>

#include "jit_code.h"

#if !defined(__x86_64__)
#error "this generates code for x86-64"
#endif

/* SFrame: AMD64, little-endian; the return address is always at CFA - 8 */
const __u8 jit_code_abi = 3;
const __s8 jit_code_fixed_ra = -8;

/* The function's frame: its locals, and 8 bytes that align the stack for a call */
#define FRAME(func)	((func)->locals + 8)

/*
 * One function without its work.  All immediates are of full width, so functions
 * that differ only in their values have the same layout.
 */
static const __u8 template[] = {
	0x48, 0x81, 0xec, 0, 0, 0, 0,		/* sub	$frame, %rsp */
	0xb9, 0, 0, 0, 0,			/* mov	$words, %ecx */
	0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0,	/* movabs $decoy, %rax */
	0x48, 0x89, 0x44, 0xcc, 0xf8,		/* 1: mov %rax, -8(%rsp,%rcx,8) */
	0xff, 0xc9,				/* dec	%ecx */
	0x75, 0xf7,				/* jnz	1b */
	/* here is the work */
	0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0,	/* movabs $callee, %rax */
	0xff, 0xd0,				/* call	*%rax */
	0x48, 0x81, 0xc4, 0, 0, 0, 0,		/* add	$frame, %rsp */
	0xc3,					/* ret */
};

#define AT_SUB_IMM	3
#define AFTER_SUB	7
#define AT_WORDS	8
#define AT_DECOY	14
#define AT_WORK		31
/* These count from the end of the work */
#define AT_CALLEE	2
#define AFTER_CALL	12
#define AT_ADD_IMM	15
#define AFTER_ADD	19

#define NOP		0x90

__u32 jit_code_size(const struct jit_func *func)
{
	return sizeof(template) + func->work;
}

void jit_code_emit(void *to, const struct jit_func *func, struct jit_code *code)
{
	__u8 *head = to, *tail = head + AT_WORK + func->work;
	__u64 decoy = JIT_DECOY, callee = (uintptr_t)func->callee;
	__u32 frame = FRAME(func), words = FRAME(func) / 8;

	memcpy(head, template, AT_WORK);
	memset(head + AT_WORK, NOP, func->work);
	memcpy(tail, template + AT_WORK, sizeof(template) - AT_WORK);

	memcpy(head + AT_SUB_IMM, &frame, sizeof(frame));
	memcpy(head + AT_WORDS, &words, sizeof(words));
	memcpy(head + AT_DECOY, &decoy, sizeof(decoy));
	memcpy(tail + AT_CALLEE, &callee, sizeof(callee));
	memcpy(tail + AT_ADD_IMM, &frame, sizeof(frame));

	/* The call has pushed the return address */
	*code = (struct jit_code){
		.size = jit_code_size(func),
		.ra = tail - head + AFTER_CALL,
		.nr_rows = 3,
		.rows = {
			{ .start = 0, .cfa = 8 },
			{ .start = AFTER_SUB, .cfa = frame + 8 },
			{ .start = tail - head + AFTER_ADD, .cfa = 8 },
		},
	};
}
