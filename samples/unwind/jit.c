// SPDX-License-Identifier: GPL-2.0
/*
 * Windows of code and their tables, see jit.h.
 *
 * The table is an SFrame section of version 3, with room between its parts:
 *
 *	header | FDEs, room for more | FREs, room for more
 *
 * Here, an "entry" is an FDE and a "row" an FRE.  The kernel reads the header anew
 * each time, then the entry for an address, then its rows.  So a function is published
 * from the back to the front:
 *
 *	1. its rows
 *	2. the header's length of all rows
 *	3. its entry
 *	4. the header's number of entries, with a store-release: a reader that
 *	   sees it sees all stores before it
 *
 * An entry of size 0 describes no address.  That removes a function, and the
 * entry may be filled again: first all of it but the size, then the size with a
 * store-release.  Rows of a published entry never change while the table is
 * registered: nothing would inform the kernel in time.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <linux/unwind.h>

#include "jit.h"

/*
 * The parts of the SFrame format, version 3, that are used here
 */

#define SFRAME_MAGIC			0xdee2
#define SFRAME_VERSION_3		3
#define SFRAME_F_FDE_SORTED		0x1
#define SFRAME_F_FDE_FUNC_START_PCREL	0x4

/* Starts of rows are 32-bit; data words are 16-bit: the CFA from SP, maybe the RA */
#define FRE_TYPE_ADDR4			2
#define FRE_INFO_CFA			0x23
#define FRE_INFO_CFA_RA			0x25

struct header {
	__u16	magic;
	__u8		version;
	__u8		flags;
	__u8		abi_arch;
	__s8		cfa_fixed_fp_offset;
	__s8		cfa_fixed_ra_offset;
	__u8		auxhdr_len;
	__u32	num_fdes;
	__u32	num_fres;
	__u32	fre_len;
	__u32	fdeoff;
	__u32	freoff;
};

/* The entries begin here, after the header and its padding */
#define ENTRIES				32

struct fde {
	__s64		start_offset;	/* from here */
	__u32		size;
	__u32		fre_off;
};

/* A function's attributes, then its rows, not aligned; this is the longest form of a row */
#define ATTR_SIZE			5
#define ROW_SIZE			9

/* Maximum bytes of the rows of one function */
#define ROWS_SIZE			(ATTR_SIZE + JIT_ROWS_MAX * ROW_SIZE)

static struct header *header_of(const struct jit_window *win)
{
	return (struct header *)win->table;
}

static struct fde *fde_of(const struct jit_window *win, __u32 i)
{
	return (struct fde *)(win->table + ENTRIES) + i;
}

/*
 * Windows
 */

static void empty_table(struct jit_window *win)
{
	struct header *hdr = header_of(win);

	*hdr = (struct header){
		.magic = SFRAME_MAGIC,
		.version = SFRAME_VERSION_3,
		.flags = SFRAME_F_FDE_FUNC_START_PCREL |
			 (win->sorted ? SFRAME_F_FDE_SORTED : 0),
		.abi_arch = jit_code_abi,
		.cfa_fixed_ra_offset = jit_code_fixed_ra,
		.fdeoff = ENTRIES - sizeof(struct header),
		.freoff = ENTRIES - sizeof(struct header) +
			  win->entries_max * sizeof(struct fde),
	};
	win->rows_used = 0;
	win->nr_entries = 0;
	win->code_used = 0;
}

int jit_window_init(struct jit_window *win, void *code, size_t code_size,
		    void *table, size_t table_size, bool sorted)
{
	size_t room = table_size - ENTRIES;

	if (table_size < ENTRIES || room > UINT32_MAX) {
		errno = EINVAL;
		return -1;
	}
	*win = (struct jit_window){
		.code = code,
		.code_size = code_size,
		.table = table,
		.table_size = table_size,
		.entries_max = room / (sizeof(struct fde) + ROWS_SIZE),
		.sorted = sorted,
	};
	win->rows_max = room - win->entries_max * sizeof(struct fde);
	empty_table(win);
	return 0;
}

/* The window's address is a good key: each is used once */
static int tell_kernel(const struct jit_window *win, int op)
{
	struct unwind_table_attr attr = {
		.format = UNWIND_FORMAT_SFRAME,
		.flags = UNWIND_TABLE_JIT,
		.key = (uintptr_t)win->code,
		.table_start = (uintptr_t)win->table,
		.table_size = win->table_size,
		.text_start = (uintptr_t)win->code,
		.text_size = win->code_size,
	};

	return prctl(PR_UNWIND_TABLE, op, &attr, sizeof(attr), 0UL);
}

int jit_window_register(struct jit_window *win)
{
	if (tell_kernel(win, PR_UNWIND_TABLE_ADD))
		return -1;
	win->registered = true;
	return 0;
}

int jit_window_retire(struct jit_window *win)
{
	if (win->registered && tell_kernel(win, PR_UNWIND_TABLE_DEL))
		return -1;
	win->registered = false;
	empty_table(win);
	return 0;
}

/*
 * Functions
 */

static void put(struct jit_window *win, const void *bytes, size_t size)
{
	memcpy(win->table + ENTRIES + win->entries_max * sizeof(struct fde) +
	       win->rows_used, bytes, size);
	win->rows_used += size;
}

static void write_row(struct jit_window *win, const struct jit_row *row)
{
	const __u8 fre_info = row->ra ? FRE_INFO_CFA_RA : FRE_INFO_CFA;

	put(win, &row->start, sizeof(row->start));
	put(win, &fre_info, sizeof(fre_info));
	put(win, &row->cfa, sizeof(row->cfa));
	if (row->ra)
		put(win, &row->ra, sizeof(row->ra));
}

/* Write rows after the existing ones; return their offset */
static __u32 write_rows(struct jit_window *win, const struct jit_code *code)
{
	const __u8 fre_type = FRE_TYPE_ADDR4, none[2] = {};
	const __u16 num_fres = code->nr_rows;
	__u32 offset = win->rows_used;
	unsigned int i;

	put(win, &num_fres, sizeof(num_fres));
	put(win, &fre_type, sizeof(fre_type));
	put(win, none, sizeof(none));
	for (i = 0; i < code->nr_rows; i++)
		write_row(win, &code->rows[i]);
	/* Store the rows before the length that includes them */
	header_of(win)->num_fres += code->nr_rows;
	__atomic_store_n(&header_of(win)->fre_len, win->rows_used,
			 __ATOMIC_RELEASE);
	return offset;
}

/* Fill in an entry that no reader uses yet; its size makes readers use it */
static void write_entry(struct jit_window *win, __u32 index,
			const struct jit_entry *entry, __u32 fre_off)
{
	struct fde *fde = fde_of(win, index);

	fde->start_offset = (uintptr_t)entry->code - (uintptr_t)fde;
	fde->fre_off = fre_off;
	__atomic_store_n(&fde->size, entry->size, __ATOMIC_RELEASE);
}

static bool has_room(const struct jit_window *win, const void *at, __u32 size)
{
	size_t offset = (const __u8 *)at - win->code;

	return offset <= win->code_size && size <= win->code_size - offset &&
	       win->rows_max - win->rows_used >= ROWS_SIZE;
}

/* Code and rows, then the entry */
static int fill(struct jit_window *win, __u32 index,
		const struct jit_func *func, __u8 *at,
		struct jit_entry *entry)
{
	struct jit_code code;
	size_t end = at - win->code + jit_code_size(func);

	if (!has_room(win, at, jit_code_size(func))) {
		errno = ENOSPC;
		return -1;
	}
	jit_code_emit(at, func, &code);
	__builtin___clear_cache((char *)at, (char *)at + code.size);
	/* Functions begin at multiples of 16 */
	if (end > win->code_used)
		win->code_used = (end + 15) & -16;

	*entry = (struct jit_entry){
		.code = at,
		.size = code.size,
		.ra = at + code.ra,
	};
	write_entry(win, index, entry, write_rows(win, &code));
	return index;
}

int jit_add(struct jit_window *win, const struct jit_func *func,
	    struct jit_entry *entry)
{
	if (win->nr_entries == win->entries_max) {
		errno = ENOSPC;
		return -1;
	}
	if (fill(win, win->nr_entries, func, win->code + win->code_used,
		 entry) < 0)
		return -1;
	__atomic_store_n(&header_of(win)->num_fdes, win->nr_entries + 1,
			 __ATOMIC_RELEASE);
	return win->nr_entries++;
}

int jit_refill(struct jit_window *win, int index, const struct jit_func *func,
	       void *at, struct jit_entry *entry)
{
	return fill(win, index, func, at ? at : win->code + win->code_used,
		    entry);
}

void jit_remove(struct jit_window *win, int index)
{
	/*
	 * Later stores to the entry or the code must not be seen together with
	 * the old size.
	 */
	__atomic_store_n(&fde_of(win, index)->size, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
