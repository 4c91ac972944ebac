// SPDX-License-Identifier: GPL-2.0
/*
 * Code that is made at run time, see code.h.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "code.h"
#include "image.h"

/* Parts that depend on the architecture: the function, and its rows */

/* A row of one table entry: offset of the first instruction, and up to three values */
struct row {
	uint8_t		start;
	uint8_t		info;
	int16_t		word[3];
} __packed;

#define ROW_BASE_SP	0x1
#define ROW_WORDS(n)	((n) << 1)
#define ROW_WORDS_OF_2	0x20

/* Offsets in struct notes, as literals for assembly */
#define NR	"0"
#define RA	"8"
#define NR_NEXT	"136"
#define NEXT	"144"
_Static_assert(offsetof(struct notes, nr) == 0, "NR");
_Static_assert(offsetof(struct notes, ra) == 8, "RA");
_Static_assert(offsetof(struct notes, nr_next) == 136, "NR_NEXT");
_Static_assert(offsetof(struct notes, next) == 144, "NEXT");

#if defined(__x86_64__)
#define CODE_ABI	3	/* AMD64, little-endian */
#define CODE_FIXED_RA	-8

/* The frame size is filled in, in "sub $frame, %rsp" and "add $frame, %rsp" */
asm(".pushsection .rodata\n"
	"fn_begin:\n"
	"	push	%rbp\n"
	"fn_pushed:\n"
	"	mov	8(%rsp), %rcx\n"
	"	mov	" NR "(%rdi), %rax\n"
	"	mov	%rcx, " RA "(%rdi, %rax, 8)\n"
	"	incq	" NR "(%rdi)\n"
	"	mov	" NR_NEXT "(%rdi), %rax\n"
	"	incq	" NR_NEXT "(%rdi)\n"
	"	mov	$1, %ebp\n"
	"	.byte	0x48, 0x81, 0xec\n"
	"fn_frame:\n"
	"	.long	0\n"
	"fn_in_frame:\n"
	"	call	*" NEXT "(%rdi, %rax, 8)\n"
	"	.byte	0x48, 0x81, 0xc4\n"
	"fn_frame_again:\n"
	"	.long	0\n"
	"fn_left:\n"
	"	pop	%rbp\n"
	"fn_popped:\n"
	"	ret\n"
	"fn_end:\n"
	"	.popsection\n");

static void set_frame(char *code, unsigned int frame)
{
	memcpy(code + (fn_frame - fn_begin), &frame, 4);
	memcpy(code + (fn_frame_again - fn_begin), &frame, 4);
}

/*
 * Values are the CFA's and the frame pointer's. A row has no value for a frame pointer
 * that is still, or again, the caller's.
 */
#define NR_VALUES	2
#define AT_BEGIN	{ 8 }
#define PUSHED		{ 16, -16 }
#define IN_FRAME(size)	{ 16 + (size), -16 }

#elif defined(__aarch64__)
#define CODE_ABI	2	/* AArch64, little-endian */
#define CODE_FIXED_RA	0

/* As above, in "sub sp, sp, #frame" and "add sp, sp, #frame" */
asm(".pushsection .rodata\n"
	".balign 4\n"
	"fn_begin:\n"
	"	stp	x29, x30, [sp, #-16]!\n"
	"fn_pushed:\n"
	"	ldr	x9, [x0, #" NR "]\n"
	"	add	x10, x0, x9, lsl #3\n"
	"	str	x30, [x10, #" RA "]\n"
	"	add	x9, x9, #1\n"
	"	str	x9, [x0, #" NR "]\n"
	"	ldr	x9, [x0, #" NR_NEXT "]\n"
	"	add	x10, x0, x9, lsl #3\n"
	"	add	x9, x9, #1\n"
	"	str	x9, [x0, #" NR_NEXT "]\n"
	"	ldr	x9, [x10, #" NEXT "]\n"
	"	mov	x29, #1\n"
	"fn_frame:\n"
	"	sub	sp, sp, #0\n"
	"fn_in_frame:\n"
	"	blr	x9\n"
	"fn_frame_again:\n"
	"	add	sp, sp, #0\n"
	"fn_left:\n"
	"	ldp	x29, x30, [sp], #16\n"
	"fn_popped:\n"
	"	ret\n"
	"fn_end:\n"
	"	.popsection\n");

static void set_frame(char *code, unsigned int frame)
{
	uint32_t *sub = (uint32_t *)(code + (fn_frame - fn_begin));
	uint32_t *add = (uint32_t *)(code + (fn_frame_again - fn_begin));

	*sub |= frame << 10;
	*add |= frame << 10;
}

/* Values are the CFA's, the return address's and the frame pointer's */
#define NR_VALUES	3
#define AT_BEGIN	{ 0 }
#define PUSHED		{ 16, -8, -16 }
#define IN_FRAME(size)	{ 16 + (size), -8, -16 }
#endif

/* For tests that need the address of an instruction */
asm(".globl	fn_begin, fn_pushed, fn_in_frame, fn_left, fn_popped\n");

static size_t code_size(void)
{
	return fn_end - fn_begin;
}

void code_write(void *to, unsigned int frame)
{
	memcpy(to, fn_begin, code_size());
	set_frame(to, frame);
	__builtin___clear_cache(to, (char *)to + code_size());
}

#define ROW(at, words, ...) {						\
	.start = (at) - fn_begin,					\
	.info = ROW_BASE_SP | ROW_WORDS(words) | ROW_WORDS_OF_2,	\
	.word = __VA_ARGS__,						\
}

#define NR_ROWS	5

static size_t write_rows(char *to, unsigned int frame)
{
	const struct row rows[NR_ROWS] = {
		ROW(fn_begin, 1, AT_BEGIN),
		ROW(fn_pushed, NR_VALUES, PUSHED),
		ROW(fn_in_frame, NR_VALUES, IN_FRAME(frame)),
		ROW(fn_left, NR_VALUES, PUSHED),
		ROW(fn_popped, 1, AT_BEGIN),
	};
	size_t size = 0, len;
	unsigned int i;

	for (i = 0; i < NR_ROWS; i++) {
		len = offsetof(struct row, word[rows[i].info >> 1 & 0xf]);
		if (to)
			memcpy(to + size, &rows[i], len);
		size += len;
	}
	return size;
}

/*
 * Tables: all entries have the same rows
 */

static size_t rows_size(void)
{
	return write_rows(NULL, 0);
}

size_t code_table_size(unsigned int nr)
{
	return sizeof(struct sframe_header) + nr * sizeof(struct sframe_fde) +
	       sizeof(struct sframe_attr) + rows_size();
}

void code_table_write(void *to, uint64_t table, const uint64_t *fn,
		      unsigned int nr, unsigned int frame)
{
	struct sframe_header *hdr = to;
	struct sframe_fde *fde = (struct sframe_fde *)(hdr + 1);
	struct sframe_attr *attr = (struct sframe_attr *)(fde + nr);
	unsigned int i;

	*hdr = (struct sframe_header){
		.magic = SFRAME_MAGIC,
		.version = 3,
		.flags = SFRAME_F_FDE_SORTED,
		.abi_arch = CODE_ABI,
		.cfa_fixed_ra_offset = CODE_FIXED_RA,
		.num_fdes = nr,
		.num_fres = NR_ROWS,
		.fre_len = sizeof(*attr) + rows_size(),
		.freoff = nr * sizeof(*fde),
	};
	for (i = 0; i < nr; i++)
		fde[i] = (struct sframe_fde){
			.start_offset = fn[i] - table,
			.size = code_size(),
		};
	*attr = (struct sframe_attr){ .num_fres = NR_ROWS };
	write_rows((char *)(attr + 1), frame);
}

/*
 * Mappings
 */

static char *map_at(const void *at, size_t size)
{
	char *to = mmap((void *)at, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS |
			(at ? MAP_FIXED_NOREPLACE : 0), -1, 0);

	return to == MAP_FAILED || (at && to != at) ? NULL : to;
}

static int fill(struct code *code, unsigned int frame, unsigned int frame_table)
{
	uint64_t *fn;
	unsigned int i;

	fn = mmap(NULL, code->nr * sizeof(*fn), PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fn == MAP_FAILED)
		return -1;
	for (i = 0; i < code->nr; i++) {
		fn[i] = (uintptr_t)code_fn(code, i);
		code_write((void *)fn[i], frame);
	}
	code_table_write(code->table, (uintptr_t)code->table, fn, code->nr,
			 frame_table);
	munmap(fn, code->nr * sizeof(*fn));
	return mprotect(code->text, code->text_mapped, PROT_READ | PROT_EXEC);
}

int code_map_at(struct code *code, unsigned int nr, unsigned int frame,
		unsigned int frame_table, const struct code *at)
{
	const size_t page = sysconf(_SC_PAGESIZE);

	*code = (struct code){
		.nr = nr,
		.text_size = (size_t)nr * CODE_STRIDE,
		.table_size = code_table_size(nr),
	};
	code->text_mapped = (code->text_size + page - 1) & -page;
	code->table_mapped = (code->table_size + page - 1) & -page;
	code->text = map_at(at ? at->text : NULL, code->text_mapped);
	code->table = map_at(at ? at->table : NULL, code->table_mapped);
	if (!code->text || !code->table)
		return -1;
	return fill(code, frame, frame_table);
}

int code_map(struct code *code, unsigned int nr)
{
	return code_map_at(code, nr, CODE_FRAME, CODE_FRAME, NULL);
}

void code_unmap(struct code *code)
{
	if (code->text)
		munmap(code->text, code->text_mapped);
	if (code->table)
		munmap(code->table, code->table_mapped);
	*code = (struct code){};
}

chain_fn code_fn(const struct code *code, unsigned int i)
{
	return (chain_fn)(code->text + (size_t)i * CODE_STRIDE);
}

/* Stacks: the system call, the function that made it, the generated function, its caller */

#define IN_FUNCTION	2

enum through code_through(struct sampler *sampler, chain_fn fn)
{
	struct stack stack, expected;

	if (sample_chain(sampler, &stack, &expected, 2, fn, sampled_call))
		return THROUGH_ERROR;
	if (stack.nr == IN_FUNCTION) {
		expected.nr = IN_FUNCTION;
		return stack_begins_with(&stack, &expected) ? THROUGH_NOT :
							      THROUGH_ERROR;
	}
	return stack_begins_with(&stack, &expected) ? THROUGH : THROUGH_ERROR;
}

enum through code_through_here(const struct code *code, unsigned int i)
{
	struct sampler sampler;
	enum through ret;

	if (sampler_open(&sampler, 0))
		return THROUGH_ERROR;
	ret = code_through(&sampler, code_fn(code, i));
	sampler_close(&sampler);
	return ret;
}
