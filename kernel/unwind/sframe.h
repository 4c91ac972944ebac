/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The decoder's interface: an SFrame section whose header was checked, and the frame
 * rule of an address in it.  The implementation is sframe.c.
 */
#ifndef _KERNEL_UNWIND_SFRAME_H
#define _KERNEL_UNWIND_SFRAME_H

#include <linux/types.h>

#include "rule.h"

/**
 * struct sframe_section - an SFrame section whose header was checked
 * @start: address of the section
 * @end: first address after it
 * @fdes: address of the first FDE
 * @fres: address of the first FRE
 * @origin: starts of functions are compared as offsets from here: from @fdes if
 *	they count from their own entries, else from @start
 * @num_fdes: number of FDEs
 * @fre_len: bytes of the FRE sub-section
 * @version: SFRAME_VERSION_2 or SFRAME_VERSION_3
 * @flags: section-wide flags
 * @changes: the section may grow and change while it is used; set by the caller,
 *	after the header was read, if the process registered it as such
 * @aarch64: its ABI is one of AArch64: registers' numbers, pointer authentication
 * @fixed: every rule starts as this: RA and FP by their fixed offsets,
 *	UNWIND_RULE_SAME if they have none
 *
 * The header is read once.  Lookups use the values read then, so a section that
 * changes meanwhile cannot move their bounds.  Only @num_fdes and @fre_len are read
 * anew by each lookup, into a copy, and bounded by @fres and @end.
 */
struct sframe_section {
	unsigned long	start;
	unsigned long	end;
	unsigned long	fdes;
	unsigned long	fres;
	unsigned long	origin;
	u32		num_fdes;
	u32		fre_len;
	u8		version;
	u8		flags;
	bool		changes;
	bool		aarch64;
	struct unwind_frame_rule fixed;
};

int sframe_read_header(struct sframe_section *sec, unsigned long start,
		       unsigned long size, u8 abi);
int sframe_check_header(struct sframe_section *sec, const void *copy,
			size_t size, u8 abi);
int sframe_find_rule(const struct sframe_section *sec, unsigned long ip,
		     struct unwind_frame_rule *rule);

#endif /* _KERNEL_UNWIND_SFRAME_H */
