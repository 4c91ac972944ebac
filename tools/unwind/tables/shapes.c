// SPDX-License-Identifier: GPL-2.0
/*
 * Code without CFI that is known by its shape: the program's start; arm64's PLT, for which
 * no linker writes CFI; and x86-64's .init and .fini, which are put together from parts of
 * several objects, libcrypto's for example. They become entries like the file's own, which
 * take precedence.
 */
#include <dwarf.h>
#include <libelf.h>
#include <string.h>

#include "shapes.h"

/*
 * Maximum size of the program's start, if no other function follows. In x86-64's ld.so it
 * has 61 bytes.
 */
#define ENTRY_MAX	128

/* Initial rules: no caller; the CFA is the stack pointer, or two words above it */
static const __u8 outermost_x86[] = { DW_CFA_undefined, 16 };
static const __u8 outermost_arm64[] = { DW_CFA_undefined, 30 };
static const __u8 nothing_pushed[] = { DW_CFA_def_cfa, 31, 0 };
static const __u8 two_pushed[] = { DW_CFA_def_cfa, 31, 16 };

/* Add @program as a CIE, for the FDEs that follow */
static int add_cie(struct cfi_list *list, const struct elf_file *file,
		   const __u8 *program, size_t size)
{
	struct cfi_cie cie = {
		.program.pos = program,
		.program.end = program + size,
		.code_factor = 1,
		.data_factor = 1,
		.ra_reg = file->machine->ra,
	};

	cfi_run_cie(&cie, file->machine);
	return cfi_list_add_cie(list, &cie);
}

static int add_fde(struct cfi_list *list, size_t cie, __u64 start, __u64 end)
{
	const struct cfi_fde fde = {
		.start = start,
		.end = end,
		.cie = cie,
		.source = CFI_FROM_SHAPE,
	};

	return start < end ? cfi_list_add_fde(list, &fde) : 0;
}

/*
 * Where the program starts
 */

static int add_entry(struct cfi_list *list, const struct elf_file *file)
{
	bool arm64 = file->machine->elf == EM_AARCH64;
	int ret;

	if (!file->entry || file->entry > -1ULL - ENTRY_MAX)
		return 0;
	ret = arm64 ? add_cie(list, file, outermost_arm64, sizeof(outermost_arm64)) :
		      add_cie(list, file, outermost_x86, sizeof(outermost_x86));
	if (ret)
		return ret;
	return add_fde(list, list->nr_cies - 1, file->entry,
		       file->entry + ENTRY_MAX);
}

/*
 * arm64's PLT
 */

enum plt_insn { PLT_OTHER, PLT_ANY, PLT_PUSH, PLT_BRANCH };

/* Instructions of a PLT: of its header, its entries, and its TLS descriptors */
static const struct {
	__u32		mask;
	__u32		insn;
	enum plt_insn	what;
} plt_insns[] = {
	{ 0xffffffff, 0xa9bf7bf0, PLT_PUSH },	/* stp x16, x30, [sp, #-16]! */
	{ 0xffffffff, 0xa9bf0fe2, PLT_PUSH },	/* stp x2, x3, [sp, #-16]! */
	{ 0x9f00001f, 0x90000010, PLT_ANY },	/* adrp x16, ... */
	{ 0x9f00001e, 0x90000002, PLT_ANY },	/* adrp x2 or x3, ... */
	{ 0xffc003ff, 0xf9400211, PLT_ANY },	/* ldr x17, [x16, ...] */
	{ 0xffc003ff, 0xf9400042, PLT_ANY },	/* ldr x2, [x2, ...] */
	{ 0xff8003ff, 0x91000210, PLT_ANY },	/* add x16, x16, ... */
	{ 0xff8003ff, 0x91000063, PLT_ANY },	/* add x3, x3, ... */
	{ 0xffffffff, 0xd503201f, PLT_ANY },	/* nop */
	{ 0xffffffff, 0xd503245f, PLT_ANY },	/* bti c */
	{ 0xffffffff, 0xd503219f, PLT_ANY },	/* autia1716 */
	{ 0xffffffff, 0xd61f0220, PLT_BRANCH },	/* br x17 */
	{ 0xffffffff, 0xd61f0040, PLT_BRANCH },	/* br x2 */
};

static enum plt_insn plt_insn(__u32 insn)
{
	size_t i;

	for (i = 0; i < sizeof(plt_insns) / sizeof(*plt_insns); i++) {
		if ((insn & plt_insns[i].mask) == plt_insns[i].insn)
			return plt_insns[i].what;
	}
	return PLT_OTHER;
}

/* An entry pushes two words, or none, and leaves; @cie is the CIE for no words */
static int add_plt(struct cfi_list *list, size_t cie, __u64 addr, struct reader r)
{
	__u64 start = addr;
	bool pushed = false;
	int ret = 0;

	for (; reader_left(&r) >= 4 && !ret; addr += 4) {
		enum plt_insn insn = plt_insn(read_uint(&r, 4));

		if (insn == PLT_OTHER)
			break;
		if (insn == PLT_ANY || (insn == PLT_BRANCH && !pushed))
			continue;
		ret = add_fde(list, cie + pushed, start, addr + 4);
		start = addr + 4;
		pushed = insn == PLT_PUSH;
	}
	return ret ? ret : add_fde(list, cie + pushed, start, addr);
}

static int add_plts(struct cfi_list *list, const struct elf_file *file)
{
	static const char * const names[] = { ".plt", ".iplt" };
	int ret = add_cie(list, file, nothing_pushed, sizeof(nothing_pushed));
	size_t i;

	if (!ret)
		ret = add_cie(list, file, two_pushed, sizeof(two_pushed));
	for (i = 0; i < sizeof(names) / sizeof(*names) && !ret; i++) {
		struct reader r;
		__u64 addr;

		if (elf_file_section(file, names[i], &addr, &r))
			ret = add_plt(list, list->nr_cies - 2, addr, r);
	}
	return ret;
}

/*
 * x86-64's .init and .fini
 */

/* Instructions there: how they begin, their size, and how far they move the stack pointer */
static const struct {
	__u8	start[4];
	__u8	start_size;
	__u8	size;
	__s8	moves;
} init_insns[] = {
	{ { 0xf3, 0x0f, 0x1e, 0xfa }, 4, 4, 0 },	/* endbr64 */
	{ { 0x48, 0x83, 0xec, 0x08 }, 4, 4, 8 },	/* sub $8, %rsp */
	{ { 0x48, 0x83, 0xc4, 0x08 }, 4, 4, -8 },	/* add $8, %rsp */
	{ { 0x48, 0x8b, 0x05 }, 3, 7, 0 },		/* mov ...(%rip), %rax */
	{ { 0x48, 0x85, 0xc0 }, 3, 3, 0 },		/* test %rax, %rax */
	{ { 0x74, 0x02 }, 2, 2, 0 },			/* je, over a call */
	{ { 0xff, 0xd0 }, 2, 2, 0 },			/* call *%rax */
	{ { 0xe8 }, 1, 5, 0 },				/* call ... */
	{ { 0xc3 }, 1, 1, 0 },				/* ret */
};

static const __u8 called_x86[] = { DW_CFA_def_cfa, 7, 8, DW_CFA_offset_extended_sf, 16, 0x78 };
static const __u8 moved_x86[] = { DW_CFA_def_cfa, 7, 16, DW_CFA_offset_extended_sf, 16, 0x78 };

/* The index of the next instruction, or -1 */
static int init_insn(const struct reader *r)
{
	size_t i;

	for (i = 0; i < sizeof(init_insns) / sizeof(*init_insns); i++) {
		if (init_insns[i].size <= reader_left(r) &&
		    !memcmp(r->pos, init_insns[i].start, init_insns[i].start_size))
			return i;
	}
	return -1;
}

/* Up to what is not known; @cie is the CIE for a stack pointer that was not moved */
static int add_init(struct cfi_list *list, size_t cie, __u64 addr, struct reader r)
{
	__u64 start = addr;
	int moved = 0, ret = 0, insn;

	while (!ret && (insn = init_insn(&r)) >= 0) {
		read_bytes(&r, init_insns[insn].size);
		addr += init_insns[insn].size;
		if (!init_insns[insn].moves)
			continue;
		ret = add_fde(list, cie + !!moved, start, addr);
		start = addr;
		moved += init_insns[insn].moves;
		if (moved != 0 && moved != 8)
			return ret;
	}
	return ret ? ret : add_fde(list, cie + !!moved, start, addr);
}

static int add_inits(struct cfi_list *list, const struct elf_file *file)
{
	static const char * const names[] = { ".init", ".fini" };
	int ret = add_cie(list, file, called_x86, sizeof(called_x86));
	size_t i;

	if (!ret)
		ret = add_cie(list, file, moved_x86, sizeof(moved_x86));
	for (i = 0; i < sizeof(names) / sizeof(*names) && !ret; i++) {
		struct reader r;
		__u64 addr;

		if (elf_file_section(file, names[i], &addr, &r))
			ret = add_init(list, list->nr_cies - 2, addr, r);
	}
	return ret;
}

/**
 * shapes_add - add entries for code that is known by its shape
 * @list: the CFI of @file
 * @file: the file
 *
 * Return: 0, or -ENOMEM.
 */
int shapes_add(struct cfi_list *list, const struct elf_file *file)
{
	int ret = add_entry(list, file);

	if (ret)
		return ret;
	return file->machine->elf == EM_AARCH64 ? add_plts(list, file) : add_inits(list, file);
}
