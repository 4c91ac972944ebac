/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ELF file, as the converter reads it.
 */
#ifndef _UNWIND_TABLES_ELF_FILE_H
#define _UNWIND_TABLES_ELF_FILE_H

#include <libelf.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "convert.h"
#include "reader.h"

struct cfi_list;
struct notes;

/**
 * struct machine - what differs by architecture
 * @elf: EM_*
 * @abi: SFRAME_ABI_*
 * @fixed_ra: offset of the return address from the CFA where it is fixed, else 0
 * @sp: DWARF number of the stack pointer
 * @fp: of the frame pointer
 * @ra: of the return address
 * @regs: how many general registers there are: 0 to @regs - 1
 */
struct machine {
	__u16	elf;
	__u8	abi;
	__s8	fixed_ra;
	__u8	sp;
	__u8	fp;
	__u8	ra;
	__u8	regs;
};

/**
 * struct cfi_section - bytes of CFI
 * @data: the section
 * @addr: its link-time address, 0 for .debug_frame
 * @is_eh: .eh_frame, not .debug_frame
 */
struct cfi_section {
	Elf_Data	*data;
	__u64		addr;
	bool		is_eh;
};

/**
 * struct text_range - executable addresses, or a symbol's
 * @start: first address
 * @end: first address after them
 */
struct text_range {
	__u64	start;
	__u64	end;
};

/**
 * struct elf_file - an ELF file
 * @bytes: the file, mapped
 * @size: of the file
 * @elf: libelf's
 * @ident: its first bytes
 * @machine: the architecture
 * @entry: where the program starts, or 0
 * @text: executable addresses, sorted, disjoint
 * @nr_text: how many ranges there are
 * @cfi: .eh_frame, .debug_frame, if there are
 * @nr_cfi: how many there are
 * @hdr_bytes: size of .eh_frame_hdr
 */
struct elf_file {
	void			*bytes;
	size_t			size;
	Elf			*elf;
	const unsigned char	*ident;
	const struct machine	*machine;
	__u64			entry;
	struct text_range	*text;
	size_t			nr_text;
	struct cfi_section	cfi[2];
	size_t			nr_cfi;
	__u64			hdr_bytes;
};

int elf_file_open(struct elf_file *file, int fd);
void elf_file_close(struct elf_file *file);
const struct text_range *elf_file_text(const struct elf_file *file, __u64 addr);
bool elf_file_section(const struct elf_file *file, const char *name, __u64 *addr,
		      struct reader *r);

bool elf_file_text_origin(const struct elf_file *file, __u64 *origin);

/* cpython.c */
bool cpython_chain(const struct elf_file *file, struct unwind_chain_attr *chain);

/* php.c */
bool php_chain(const struct elf_file *file, const struct cfi_list *list,
	       struct unwind_chain_attr *chain);

/* split.c */
bool split_part(const struct elf_file *file, const struct cfi_list *list,
		const struct text_range *func, struct text_range *part);

/* gaps.c */
int gaps_note(const struct elf_file *file, const struct cfi_list *list, struct notes *notes);

/* symbols.c */
bool elf_file_symbol(const struct elf_file *file, const char *name, struct text_range *range);
void elf_file_name_notes(const struct elf_file *file, struct unwind_note *notes,
			 size_t nr);

#endif /* _UNWIND_TABLES_ELF_FILE_H */
