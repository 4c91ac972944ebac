// SPDX-License-Identifier: GPL-2.0
/*
 * Convert files, and compare at every address the row that the kernel's decoder finds
 * with libdw's description of the address.
 *
 *	beside_libdw FILE...
 *	beside_libdw -s FILE...
 *
 * With -s, files are skipped that are not programs or libraries for x86-64 or arm64.
 *
 * If a file has a table of the assembler, that is compared as well. It may differ from
 * the CFI in three ways, which are faults of binutils (2.47): for .plt.got the linker
 * writes the rows of another PLT; after .cfi_def_cfa_register gas takes the CFA's offset
 * from an earlier row; it cuts offsets of registers to a byte.
 *
 * An address may have no row if a note says so. It may have one that libdw lacks only
 * where the converter knows the code by its shape: at the program's start, in arm64's PLT,
 * and in x86-64's .init and .fini.
 */
#include <elf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert.h"
#include "frame.h"
#include "kernel_table.h"

#define FRAMES		2
#define SHOWN_MAX	10

/**
 * struct figures - how many addresses
 * @same: have the same
 * @noted: have no row, as a note says
 * @unknown: have none in libdw's words either
 * @added: have one that libdw has not
 * @lost: have none, and no note
 * @different: have another one
 * @extra: have one for no reason
 * @as_same: have the same row in the assembler's table
 * @as_none: have none there
 * @as_faults: have one there that is wrong in a way that is known
 * @as_wrong: have another one that differs from the CFI
 * @as_more: have one there, but neither one of ours, nor a note
 */
struct figures {
	unsigned long	same;
	unsigned long	noted;
	unsigned long	unknown;
	unsigned long	added;
	unsigned long	lost;
	unsigned long	different;
	unsigned long	extra;
	unsigned long	as_same;
	unsigned long	as_none;
	unsigned long	as_faults;
	unsigned long	as_wrong;
	unsigned long	as_more;
};

/**
 * struct file - a file that is compared
 * @elf: libelf's
 * @eh: libdw's .eh_frame
 * @debug: its .debug_frame
 * @dwarf: that has it
 * @ehdr: the ELF header
 * @table: what it is converted to
 * @kernel: that, as the kernel reads it
 * @assembled: the assembler's
 * @has_assembled: there is one
 * @frames: that callers are computed for
 * @row: of libdw, at the current address
 * @row_end: first address after it
 * @same: what the kernel found in this row, if it was the same as libdw's
 * @is_same: it is known
 * @sum: what came out
 */
struct file {
	Elf			*elf;
	Dwarf_CFI		*eh;
	Dwarf_CFI		*debug;
	Dwarf			*dwarf;
	GElf_Ehdr		ehdr;
	struct unwind_table	table;
	struct kernel_table	kernel;
	struct kernel_table	assembled;
	bool			has_assembled;
	struct frame		frames[FRAMES];
	Dwarf_Frame		*row;
	u64			row_end;
	struct unwind_frame_rule	same;
	bool			is_same;
	struct figures		sum;
};

static Elf_Scn *find_section(struct file *f, const char *name, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;
	size_t names;
	char *this;

	if (elf_getshdrstrndx(f->elf, &names))
		return NULL;
	while ((scn = elf_nextscn(f->elf, scn))) {
		gelf_getshdr(scn, shdr);
		this = elf_strptr(f->elf, names, shdr->sh_name);
		if (this && !strcmp(this, name))
			return scn;
	}
	return NULL;
}

static bool in_section(struct file *f, u64 addr, const char *name)
{
	GElf_Shdr shdr;

	return find_section(f, name, &shdr) && addr - shdr.sh_addr < shdr.sh_size;
}

static bool is_added(struct file *f, u64 addr)
{
	if (addr - f->ehdr.e_entry < 128)
		return true;
	if (f->ehdr.e_machine == EM_AARCH64)
		return in_section(f, addr, ".plt") || in_section(f, addr, ".iplt");
	return in_section(f, addr, ".init") || in_section(f, addr, ".fini");
}

/* Notes are sorted by address; notes of one kind may lie within others */
static bool has_note(const struct file *f, u64 addr, bool (*is)(unsigned int type))
{
	size_t i;

	for (i = 0; i < f->table.nr_notes; i++) {
		const struct unwind_note *note = &f->table.notes[i];

		if (is(note->type) && addr >= note->start && addr < note->end)
			return true;
	}
	return false;
}

static bool is_noted(const struct file *f, u64 addr)
{
	return has_note(f, addr, unwind_note_is_gap);
}

static bool is_about_fp(unsigned int type)
{
	return type == UNWIND_NOTE_FP;
}

static void find_row(struct file *f, u64 addr)
{
	Dwarf_Addr start, end;
	bool is_signal;

	if (f->row && addr < f->row_end)
		return;
	free(f->row);
	f->row = NULL;
	f->is_same = false;
	if ((!f->eh || dwarf_cfi_addrframe(f->eh, addr, &f->row)) &&
	    (!f->debug || dwarf_cfi_addrframe(f->debug, addr, &f->row))) {
		f->row = NULL;
		return;
	}
	dwarf_frame_info(f->row, &start, &end, &is_signal);
	f->row_end = end;
}

static void show(const struct file *f, u64 addr, const char *what)
{
	const struct figures *sum = &f->sum;

	if (sum->lost + sum->different + sum->extra <= SHOWN_MAX)
		printf("# 0x%llx: %s\n", (unsigned long long)addr, what);
}

static void compare_without_row(struct file *f, u64 addr, bool known)
{
	struct caller want;

	if (!known)
		return;
	frame_by_libdw(&f->frames[0], f->row, addr, &want);
	if (is_noted(f, addr)) {
		f->sum.noted++;
	} else {
		f->sum.lost++;
		show(f, addr, "no row, and no note");
	}
}

static void compare_with_row(struct file *f, u64 addr,
			     const struct unwind_frame_rule *row)
{
	struct caller want, got;
	unsigned int i;

	if (f->is_same && kernel_rows_equal(&f->same, row)) {
		f->sum.same++;
		return;
	}
	for (i = 0; i < FRAMES; i++) {
		frame_by_libdw(&f->frames[i], f->row, addr, &want);
		frame_by_row(&f->frames[i], row, &got);
		/* The CFI may say more than SFrame can */
		if (got.fp_lost)
			want.fp_lost = has_note(f, addr, is_about_fp);
		if (want.unknown || !frame_callers_equal(&want, &got)) {
			f->sum.different++;
			show(f, addr, want.unknown ? "libdw knows no caller" :
						     "another caller");
			return;
		}
	}
	f->sum.same++;
	f->same = *row;
	f->is_same = !want.uses_pc;
}

/* Does @theirs have one of binutils' faults? See above. */
static bool is_known_fault(struct file *f, u64 addr, const struct unwind_frame_rule *row,
			   const struct unwind_frame_rule *theirs)
{
	struct unwind_frame_rule fixed = *theirs;

	if (in_section(f, addr, ".plt.got"))
		return true;
	fixed.cfa.offset = row->cfa.offset;
	if (kernel_rows_equal(&fixed, row))
		return true;
	return row->ra.offset != theirs->ra.offset &&
	       (s8)row->ra.offset == theirs->ra.offset;
}

/* @row is ours, or NULL */
static void compare_assembled(struct file *f, u64 addr,
			      const struct unwind_frame_rule *row)
{
	struct caller want, got;
	struct unwind_frame_rule theirs;

	if (kernel_table_row(&f->assembled, addr, &theirs)) {
		f->sum.as_none += !!row;
		return;
	}
	/* Version 2 cannot say that a frame is a signal's */
	if (row && f->assembled.section.version == 2)
		theirs.signal = row->signal;
	if (row && kernel_rows_equal(row, &theirs)) {
		f->sum.as_same++;
		return;
	}
	if (f->row) {
		frame_by_libdw(&f->frames[0], f->row, addr, &want);
		frame_by_row(&f->frames[0], &theirs, &got);
		got.signal = want.signal;
		if (!want.unknown && frame_callers_equal(&want, &got)) {
			f->sum.as_same += !!row;
			f->sum.as_more += !row && !is_noted(f, addr);
			return;
		}
	}
	if (row && is_known_fault(f, addr, row, &theirs))
		f->sum.as_faults++;
	else if (!f->sum.as_wrong++)
		show(f, addr, "the assembler's row differs from the CFI");
}

static void compare(struct file *f, u64 addr)
{
	struct unwind_frame_rule row;
	int ret = kernel_table_row(&f->kernel, addr, &row);

	find_row(f, addr);
	if (f->has_assembled)
		compare_assembled(f, addr, ret ? NULL : &row);
	if (ret && ret != -ENOENT) {
		f->sum.different++;
		show(f, addr, "the kernel rejects the row");
	} else if (ret) {
		compare_without_row(f, addr, f->row);
	} else if (f->row) {
		compare_with_row(f, addr, &row);
	/* The rows of a Go program are made of its own tables (go.c); others have no rows then */
	} else if (is_added(f, addr) || (!f->eh && !f->debug)) {
		f->sum.added++;
	} else {
		f->sum.extra++;
		show(f, addr, "a row, but no CFI");
	}
}

static void compare_segment(struct file *f, const GElf_Phdr *phdr)
{
	unsigned int step = f->ehdr.e_machine == EM_AARCH64 ? 4 : 1;
	u64 addr;

	for (addr = phdr->p_vaddr; addr - phdr->p_vaddr < phdr->p_memsz;
	     addr += step)
		compare(f, addr);
}

static void compare_all(struct file *f)
{
	size_t i, nr;
	GElf_Phdr phdr;

	if (elf_getphdrnum(f->elf, &nr))
		return;
	for (i = 0; i < nr; i++) {
		if (gelf_getphdr(f->elf, i, &phdr) && phdr.p_type == PT_LOAD &&
		    phdr.p_flags & PF_X)
			compare_segment(f, &phdr);
	}
}

static void open_assembled(struct file *f)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = find_section(f, ".sframe", &shdr);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;

	f->has_assembled = data && !kernel_table_open(&f->assembled, data->d_buf,
						      data->d_size, shdr.sh_addr,
						      f->ehdr.e_machine);
}

static void open_libdw(struct file *f, int fd)
{
	unsigned int i;

	f->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	gelf_getehdr(f->elf, &f->ehdr);
	f->eh = dwarf_getcfi_elf(f->elf);
	f->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	f->debug = f->dwarf ? dwarf_getcfi(f->dwarf) : NULL;
	for (i = 0; i < FRAMES; i++)
		frame_init(&f->frames[i], f->ehdr.e_machine, i);
}

static void close_libdw(struct file *f)
{
	free(f->row);
	if (f->eh)
		dwarf_cfi_end(f->eh);
	dwarf_end(f->dwarf);
	elf_end(f->elf);
}

static void print_figures(const char *path, const struct file *f)
{
	const struct unwind_stats *stats = &f->table.stats;
	const struct figures *sum = &f->sum;

	printf("# %s: functions %llu of %llu, added %llu, rows %llu, bytes %zu, CFI %llu + %llu",
	       path, stats->functions, stats->fdes, stats->added, stats->rows,
	       f->table.size, stats->cfi_bytes, stats->hdr_bytes);
	printf("; addresses: same %lu, noted %lu, added %lu, lost %lu, different %lu, extra %lu\n",
	       sum->same, sum->noted, sum->added, sum->lost, sum->different,
	       sum->extra);
	if (!f->has_assembled)
		return;
	printf("# %s: the assembler's, of version %u: same %lu, none %lu, known faults %lu",
	       path, f->assembled.section.version, sum->as_same, sum->as_none,
	       sum->as_faults);
	printf(", wrong %lu, more %lu\n", sum->as_wrong, sum->as_more);
}

static bool compare_file(const char *path, int fd)
{
	struct file f = {};
	struct figures *sum = &f.sum;
	int ret = unwind_convert(fd, 0, &f.table);

	if (ret) {
		printf("# %s: %s\n", path, unwind_convert_error(ret));
		return false;
	}
	if (kernel_table_open(&f.kernel, f.table.sframe, f.table.size, 0,
			      f.table.machine)) {
		printf("# %s: the kernel rejects the section\n", path);
		return false;
	}
	open_libdw(&f, fd);
	open_assembled(&f);
	compare_all(&f);
	print_figures(path, &f);
	close_libdw(&f);
	unwind_table_free(&f.table);
	return !sum->lost && !sum->different && !sum->extra &&
	       !sum->as_wrong && !sum->as_more;
}

/* By the first bytes alone, so that a file that fails to convert is noticed */
static bool is_linked(int fd)
{
	Elf64_Ehdr ehdr;

	return pread(fd, &ehdr, sizeof(ehdr), 0) == sizeof(ehdr) &&
	       !memcmp(ehdr.e_ident, ELFMAG, SELFMAG) &&
	       ehdr.e_ident[EI_CLASS] == ELFCLASS64 &&
	       (ehdr.e_type == ET_EXEC || ehdr.e_type == ET_DYN) &&
	       (ehdr.e_machine == EM_X86_64 || ehdr.e_machine == EM_AARCH64);
}

int main(int argc, char **argv)
{
	bool some = argc > 1 && !strcmp(argv[1], "-s");
	int i, nr = 0, failed = 0;

	elf_version(EV_CURRENT);
	for (i = some ? 2 : 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY);
		bool ok;

		if (some && (fd < 0 || !is_linked(fd))) {
			close(fd);
			continue;
		}
		ok = fd >= 0 && compare_file(argv[i], fd);
		failed += !ok;
		printf("%sok %d - %s: as libdw says\n", ok ? "" : "not ", ++nr,
		       argv[i]);
		fflush(stdout);
		close(fd);
	}
	printf("1..%d\n", nr);
	return !!failed;
}
