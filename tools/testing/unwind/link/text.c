// SPDX-License-Identifier: GPL-2.0
/*
 * Text and its .eh_frame, by libdw: see text.h.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

/* Numbers of "DWARF for the Arm 64-bit Architecture" */
#define DWARF_FP	29
#define DWARF_LINK	30
#define DWARF_SP	31

static const struct text *opened;

int text_read(unsigned long addr, void *to, size_t size)
{
	const uint64_t bytes = opened->nr * INSN_BYTES;

	if (addr < opened->addr || addr - opened->addr >= bytes ||
	    bytes - (addr - opened->addr) < size)
		return -1;
	memcpy(to, (const char *)opened->insns + (addr - opened->addr), size);
	return 0;
}

/* @at: bytes from the CFA, if the register is saved there */
static enum where where_is(Dwarf_Frame *frame, int reg, int32_t *at)
{
	Dwarf_Op mem[3], *ops;
	size_t nr;

	if (dwarf_frame_register(frame, reg, mem, &ops, &nr))
		return NOWHERE;
	/* No operations at all, or operations that need more room */
	if (!nr)
		return ops ? NOWHERE : IN_REGISTER;
	if (nr != 2 || ops[0].atom != DW_OP_call_frame_cfa ||
	    ops[1].atom != DW_OP_plus_uconst)
		return NOWHERE;
	*at = ops[1].number;
	return SAVED;
}

static void find_cfa(Dwarf_Frame *frame, struct truth *truth)
{
	Dwarf_Op *ops;
	size_t nr;

	if (dwarf_frame_cfa(frame, &ops, &nr) || nr != 1)
		return;
	if (ops->atom == DW_OP_bregx && ops->number == DWARF_SP) {
		truth->cfa_by_sp = true;
		truth->cfa = ops->number2;
	} else if (ops->atom == DW_OP_breg0 + DWARF_SP) {
		truth->cfa_by_sp = true;
		truth->cfa = ops->number;
	}
}

/* All rules, in the order of their addresses */
static void read_truths(struct text *text, Dwarf_CFI *cfi)
{
	uint64_t addr = text->addr, end = addr + text->nr * INSN_BYTES;
	Dwarf_Addr from, to;
	Dwarf_Frame *frame;
	bool is_signal;

	for (; addr < end; addr = to) {
		struct truth truth = {};

		to = addr + INSN_BYTES;
		if (dwarf_cfi_addrframe(cfi, addr, &frame))
			continue;
		dwarf_frame_info(frame, &from, &to, &is_signal);
		if (!is_signal) {
			truth.link = where_is(frame, DWARF_LINK, &truth.link_at);
			truth.fp = where_is(frame, DWARF_FP, &truth.fp_at);
			find_cfa(frame, &truth);
		}
		free(frame);
		if (to <= addr || to > end)
			to = to <= addr ? addr + INSN_BYTES : end;
		for (from = addr; from < to; from += INSN_BYTES)
			text->truths[(from - text->addr) / INSN_BYTES] = truth;
	}
}

/* The first segment with that type and these flags; linkers write one executable segment */
static int find_segment(Elf *elf, uint32_t type, uint32_t flags, GElf_Phdr *segment)
{
	size_t i, nr;

	if (elf_getphdrnum(elf, &nr))
		return -1;
	for (i = 0; i < nr; i++)
		if (gelf_getphdr(elf, i, segment) && segment->p_type == type &&
		    (segment->p_flags & flags) == flags)
			return 0;
	return -1;
}

static int read_text(struct text *text, Elf *elf)
{
	GElf_Phdr segment;
	const char *file;
	GElf_Ehdr ehdr;
	size_t size;

	file = elf_rawfile(elf, &size);
	if (!file || !gelf_getehdr(elf, &ehdr) || ehdr.e_machine != EM_AARCH64 ||
	    ehdr.e_ident[EI_DATA] != ELFDATA2LSB || find_segment(elf, PT_LOAD, PF_X, &segment) ||
	    segment.p_offset > size || size - segment.p_offset < segment.p_filesz)
		return -1;
	text->addr = segment.p_vaddr;
	text->nr = segment.p_filesz / INSN_BYTES;
	text->insns = malloc(text->nr * INSN_BYTES);
	text->truths = calloc(text->nr, sizeof(*text->truths));
	if (!text->insns || !text->truths)
		return -1;
	memcpy(text->insns, file + segment.p_offset, text->nr * INSN_BYTES);
	return 0;
}

int text_open(struct text *text, const char *path)
{
	Dwarf_CFI *cfi = NULL;
	Elf *elf = NULL;
	int fd, ret;

	*text = (struct text){};
	fd = open(path, O_RDONLY);
	if (fd < 0) {
		printf("# %s: %s\n", path, strerror(errno));
		return -1;
	}
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	ret = elf ? read_text(text, elf) : -1;
	if (!ret)
		cfi = dwarf_getcfi_elf(elf);
	if (cfi)
		read_truths(text, cfi);
	else
		printf("# %s: no text of arm64, or no .eh_frame\n", path);
	if (cfi)
		dwarf_cfi_end(cfi);
	if (elf)
		elf_end(elf);
	close(fd);
	opened = text;
	return cfi ? 0 : -1;
}

void text_close(struct text *text)
{
	free(text->insns);
	free(text->truths);
}
