/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Call frame information as it is in the file: entries (CIE, FDE), and the rules that
 * their programs yield. See DWARF 5, section 6.4; the Linux Standard Base defines the
 * augmentations of .eh_frame.
 */
#ifndef _UNWIND_TABLES_CFI_H
#define _UNWIND_TABLES_CFI_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "reader.h"

struct cfi_section;
struct elf_file;
struct machine;
struct notes;

/**
 * enum cfi_rule_kind - how a register of the caller is found
 * @CFI_SAME: it has the value that it had
 * @CFI_UNDEFINED: it cannot be found
 * @CFI_OFFSET: saved at CFA + offset
 * @CFI_VAL_OFFSET: is CFA + offset
 * @CFI_REGISTER: is in another register (the CFA's rule: plus offset)
 * @CFI_EXPR: saved at the address that an expression yields
 * @CFI_VAL_EXPR: is what an expression yields
 * @CFI_BROKEN: the program has changed half of what was no register and offset
 */
enum cfi_rule_kind {
	CFI_SAME,
	CFI_UNDEFINED,
	CFI_OFFSET,
	CFI_VAL_OFFSET,
	CFI_REGISTER,
	CFI_EXPR,
	CFI_VAL_EXPR,
	CFI_BROKEN,
};

/**
 * struct cfi_rule - the rule of one register
 * @kind: one of &enum cfi_rule_kind
 * @reg: for CFI_REGISTER
 * @offset: for CFI_OFFSET, CFI_VAL_OFFSET and the CFA's CFI_REGISTER
 * @expr: for CFI_EXPR and CFI_VAL_EXPR
 * @expr_len: bytes of it
 */
struct cfi_rule {
	__u32		kind;
	__u32		reg;
	__s64		offset;
	const __u8	*expr;
	__u64		expr_len;
};

/* The followed registers */
enum cfi_reg {
	CFI_CFA,
	CFI_RA,
	CFI_FP,
	CFI_SP,
	CFI_REGS,
};

/**
 * struct cfi_state - the rules that hold at an address
 * @rules: by &enum cfi_reg; the CFA's is CFI_UNDEFINED as long as there is none
 * @mangled: the return address is signed (arm64)
 */
struct cfi_state {
	struct cfi_rule	rules[CFI_REGS];
	bool		mangled;
};

/**
 * struct cfi_cie - what FDEs have in common
 * @offset: in its section; FDEs refer to it
 * @section: that section
 * @program: its instructions
 * @code_factor: code alignment factor
 * @data_factor: data alignment factor
 * @ra_reg: column of the return address
 * @pointer: encoding of addresses in FDEs (DW_EH_PE_*)
 * @augmented: FDEs have augmentation data
 * @signal: FDEs are about signal frames
 * @key_b: return addresses are signed with key B (arm64)
 * @bad: it makes no sense, nor does any FDE that refers to it
 * @initial: the rules at the start of each function
 */
struct cfi_cie {
	__u64				offset;
	const struct cfi_section	*section;
	struct reader			program;
	__u64				code_factor;
	__s64				data_factor;
	__u64				ra_reg;
	__u8				pointer;
	bool				augmented;
	bool				signal;
	bool				key_b;
	bool				bad;
	struct cfi_state		initial;
};

/**
 * struct cfi_fde - a function
 * @start: first address
 * @end: first address after it
 * @program: its instructions
 * @program_len: bytes of them
 * @cie: index of its CIE
 * @source: where it is from; if two describe the same address, the lower source counts
 */
struct cfi_fde {
	__u64		start;
	__u64		end;
	const __u8	*program;
	__u32		program_len;
	__u32		cie:30;
	__u32		source:2;
};

enum cfi_source {
	CFI_FROM_EH_FRAME,
	CFI_FROM_DEBUG_FRAME,
	CFI_FROM_GO,
	CFI_FROM_SHAPE,
};

/**
 * struct cfi_made - programs that are in no file
 * @next: more of them
 * @bytes: the programs
 */
struct cfi_made {
	struct cfi_made	*next;
	__u8		bytes[];
};

/**
 * struct cfi_list - all entries of a file
 * @cies: in the order of the sections
 * @fdes: sorted by address once cfi_list_sort() was called
 * @nr_cies: number of @cies
 * @nr_fdes: number of @fdes
 * @room_cies: how many @cies the allocation holds
 * @room_fdes: how many @fdes the allocation holds
 * @made: programs to be freed with it
 */
struct cfi_list {
	struct cfi_cie	*cies;
	struct cfi_fde	*fdes;
	size_t		nr_cies;
	size_t		nr_fdes;
	size_t		room_cies;
	size_t		room_fdes;
	struct cfi_made	*made;
};

/**
 * typedef cfi_row_fn - what is called for each row of a function
 * @data: the caller's
 * @start: first address
 * @end: first address after it, more than @start
 * @state: the rules that hold there
 *
 * Return: 0, or a negative error, which ends the function.
 */
typedef int (*cfi_row_fn)(void *data, __u64 start, __u64 end,
			  const struct cfi_state *state);

/**
 * enum cfi_end - how the run of a function's program ended
 * @CFI_END: with the function
 * @CFI_BEYOND: the program goes on after the function's end
 * @CFI_BAD: it makes no sense
 */
enum cfi_end {
	CFI_END,
	CFI_BEYOND,
	CFI_BAD,
};

/* cfi_list.c */
int cfi_list_read(struct cfi_list *list, const struct elf_file *file,
		  const struct cfi_section *section, struct notes *notes);
int cfi_list_add_fde(struct cfi_list *list, const struct cfi_fde *fde);
int cfi_list_add_cie(struct cfi_list *list, const struct cfi_cie *cie);
void cfi_list_sort(struct cfi_list *list);
void cfi_list_free(struct cfi_list *list);

/* cfi_pointer.c */
__u64 cfi_read_pointer(struct reader *r, __u8 encoding,
		       const struct cfi_section *section);

/* cfi_run.c */
void cfi_run_cie(struct cfi_cie *cie, const struct machine *machine);
int cfi_run_fde(const struct cfi_cie *cie, const struct cfi_fde *fde,
		const struct machine *machine, cfi_row_fn row, void *data,
		enum cfi_end *how, __u64 *where);

#endif /* _UNWIND_TABLES_CFI_H */
