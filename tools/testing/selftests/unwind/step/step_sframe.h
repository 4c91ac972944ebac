/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A reader of SFrame version 3 that shares nothing with the kernel's.
 *
 * It reports which code a table covers, and the exact contents of its rows. Where the
 * kernel's stack is not the true one, the rows show whether the table or the kernel is
 * wrong. It reads files of the test's own programs, trusts them, and is slow.
 */
#ifndef SELFTEST_UNWIND_STEP_SFRAME_H
#define SELFTEST_UNWIND_STEP_SFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "step_machine.h"

/* Code from @start up to @end, as addresses of the file; @attr: its attributes */
struct step_fde {
	uint64_t	start;
	uint64_t	end;
	const uint8_t	*attr;
};

struct step_section {
	const uint8_t	*data;
	size_t		size;
	int8_t		ra_offset;
	unsigned int	nr;
	struct step_fde	*fde;
};

/* A rule without a base (0) means: unchanged. Registers have DWARF numbers. */
enum step_base {
	STEP_SAME,
	STEP_CFA,
	STEP_REG,
};

struct step_rule {
	enum step_base	base;
	unsigned int	reg;
	bool		deref;
	int32_t		offset;
};

struct step_row {
	bool			outermost;
	bool			signal;
	struct step_rule	cfa;
	struct step_rule	ra;
	struct step_rule	fp;
};

/* The table at @data, mapped at address @vaddr of the file; 0 or -1 */
int section_read(struct step_section *section, const void *data, size_t size,
		 uint64_t vaddr);
void section_free(struct step_section *section);

const struct step_fde *section_fde(const struct step_section *section,
				   uint64_t addr);

/* The row at an address that the FDE covers; false if there is none */
bool section_row(const struct step_section *section, const struct step_fde *fde,
		 uint64_t addr, struct step_row *row);

/* As readelf and objdump write it: "sp+16 u f" */
void row_print(const struct step_row *row, char *text, size_t size);

#endif /* SELFTEST_UNWIND_STEP_SFRAME_H */
