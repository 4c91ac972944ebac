// SPDX-License-Identifier: GPL-2.0
/*
 * Code without CFI that is known by its shape: the program's start, and arm64's PLT, for
 * which no linker writes CFI. Both become entries like the file's own, which take
 * precedence.
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

	if (!ret && file->machine->elf == EM_AARCH64)
		ret = add_plts(list, file);
	return ret;
}
