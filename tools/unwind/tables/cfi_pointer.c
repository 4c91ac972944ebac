// SPDX-License-Identifier: GPL-2.0
/*
 * Encoded addresses of .eh_frame.
 */
#include <dwarf.h>

#include "cfi.h"
#include "elf_file.h"

static __u64 read_value(struct reader *r, __u8 format)
{
	switch (format) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return read_uint(r, 8);
	case DW_EH_PE_udata2:
		return read_uint(r, 2);
	case DW_EH_PE_sdata2:
		return read_sint(r, 2);
	case DW_EH_PE_udata4:
		return read_uint(r, 4);
	case DW_EH_PE_sdata4:
		return read_sint(r, 4);
	case DW_EH_PE_uleb128:
		return read_uleb(r);
	case DW_EH_PE_sleb128:
		return read_sleb(r);
	default:
		r->bad = true;
		return 0;
	}
}

/**
 * cfi_read_pointer - an address, or the size of a range of addresses
 * @r: where it is
 * @encoding: DW_EH_PE_*; without its upper bits for a size
 * @section: that @r reads
 *
 * Linkers do not write addresses of functions relative to text, data or a function,
 * nor indirect ones: these are bad.
 *
 * Return: the address.
 */
__u64 cfi_read_pointer(struct reader *r, __u8 encoding,
		       const struct cfi_section *section)
{
	const __u8 *base = section->data->d_buf;
	__u64 here = section->addr + (r->pos - base);
	__u64 val = read_value(r, encoding & 0x0f);

	switch (encoding & 0xf0) {
	case DW_EH_PE_absptr:
		return val;
	case DW_EH_PE_pcrel:
		return here + val;
	default:
		r->bad = true;
		return 0;
	}
}
