/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The text of an ELF file of arm64, and the call frame information of each instruction.
 */
#ifndef _UNWIND_LINK_TEXT_H
#define _UNWIND_LINK_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INSN_BYTES	4

/* The place of a caller's register */
enum where {
	NOWHERE,	/* or not described */
	IN_REGISTER,	/* its own register */
	SAVED,
};

/**
 * struct truth - call frame information for an instruction that comes next
 * @link: where the return address is
 * @fp: where the caller's frame pointer is
 * @link_at: if it is saved, bytes from the CFA
 * @fp_at: likewise
 * @cfa_by_sp: the CFA is an offset from the stack pointer
 * @cfa: that offset
 */
struct truth {
	uint8_t		link;
	uint8_t		fp;
	int32_t		link_at;
	int32_t		fp_at;
	bool		cfa_by_sp;
	int32_t		cfa;
};

/**
 * struct text - an executable segment
 * @addr: where it begins
 * @nr: number of its instructions
 * @insns: the instructions
 * @truths: for each instruction
 */
struct text {
	uint64_t	addr;
	size_t		nr;
	uint32_t	*insns;
	struct truth	*truths;
};

/* 0, or -1 after printing the reason */
int text_open(struct text *text, const char *path);
void text_close(struct text *text);

/* From the last opened text; 0, or -1 if it is not in there */
int text_read(unsigned long addr, void *to, size_t size);

#endif /* _UNWIND_LINK_TEXT_H */
