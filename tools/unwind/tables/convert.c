// SPDX-License-Identifier: GPL-2.0
/*
 * The conversion: each entry of the CFI is run once, in order of addresses, and its rows
 * are written at once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cfi.h"
#include "convert.h"
#include "elf_file.h"
#include "go.h"
#include "notes.h"
#include "rules.h"
#include "sframe_write.h"
#include "shapes.h"

#define BLOCK_MAX	64	/* expr.c has no longer period */

/**
 * struct conversion - a file that is being converted
 * @file: it
 * @list: its CFI
 * @writer: the section
 * @notes: addresses without a row, and faults of the CFI
 * @func: start of the current function
 * @cie: its CIE
 * @low: first address that rows are wanted of
 * @high: first address after them
 * @said: the current function has a row
 */
struct conversion {
	struct elf_file		file;
	struct cfi_list		list;
	struct sframe_writer	writer;
	struct notes		notes;
	__u64			func;
	const struct cfi_cie	*cie;
	__u64			low;
	__u64			high;
	bool			said;
};

/*
 * Rows
 */

static int make_row(const struct conversion *c, const struct cfi_state *state,
		    __u64 pc, struct row *row, unsigned int *period)
{
	return rules_row(c->file.machine, c->cie, state, pc, row, period);
}

/* The row depends on the address: write one for each address of the block */
static int add_block(struct conversion *c, __u64 start, __u64 end,
		     const struct cfi_state *state, unsigned int size)
{
	struct row rows[BLOCK_MAX];
	unsigned int i, unused = 1;
	bool lost = false;

	for (i = 0; i < size; i++) {
		int note = make_row(c, state, start + i, &rows[i], &unused);

		if (note >= 0) {
			notes_add(&c->notes, note, start, end, c->func);
			return 0;
		}
		lost |= rules_fp_is_lost(&rows[i]);
	}
	if (lost)
		notes_add(&c->notes, UNWIND_NOTE_FP, start, end, c->func);
	c->said = true;
	return sframe_add_block(&c->writer, start, end, rows, size);
}

static int add_row(void *data, __u64 start, __u64 end,
		   const struct cfi_state *state)
{
	struct conversion *c = data;
	unsigned int period = 1;
	struct row row;
	int note;

	if (start < c->low)
		start = c->low;
	if (end > c->high)
		end = c->high;
	if (start >= end)
		return 0;
	note = make_row(c, state, start, &row, &period);
	if (period > 1)
		return add_block(c, start, end, state, period);
	if (note >= 0) {
		notes_add(&c->notes, note, start, end, c->func);
		return 0;
	}
	if (rules_fp_is_lost(&row))
		notes_add(&c->notes, UNWIND_NOTE_FP, start, end, c->func);
	c->said = true;
	return sframe_add_row(&c->writer, start, end, &row);
}

/*
 * Functions
 */

static int convert_fde(struct conversion *c, const struct cfi_fde *fde)
{
	enum cfi_end how;
	__u64 where;
	int ret;

	c->func = fde->start;
	c->cie = &c->list.cies[fde->cie];
	c->said = false;
	sframe_begin(&c->writer, c->cie->signal, c->cie->key_b);
	ret = cfi_run_fde(c->cie, fde, c->file.machine, add_row, c, &how, &where);
	if (!ret)
		ret = sframe_end(&c->writer);
	if (ret)
		return ret;
	if (how == CFI_BAD)
		notes_add(&c->notes, UNWIND_NOTE_PROGRAM, where, fde->end,
			  fde->start);
	else if (how == CFI_BEYOND)
		notes_add(&c->notes, UNWIND_NOTE_BEYOND, fde->start, fde->end,
			  fde->start);
	return 0;
}

/* Limit the function to executable addresses; false if none is left */
static bool keep_to_text(struct conversion *c, const struct cfi_fde *fde)
{
	const struct text_range *text = elf_file_text(&c->file, fde->start);

	c->low = fde->start;
	c->high = fde->end;
	if (text && fde->end > text->end)
		c->high = text->end;
	if (text && c->high == fde->end)
		return true;
	/* Linkers leave such entries for functions that they have discarded */
	if (fde->source == CFI_FROM_SHAPE)
		return text;
	if (!text && fde->source != CFI_FROM_EH_FRAME)
		return false;
	notes_add(&c->notes, UNWIND_NOTE_OUTSIDE, text ? c->high : fde->start,
		  fde->end, fde->start);
	return text;
}

/* Another entry describes what is between @start and @end, in @fde's function */
static void note_overlap(struct conversion *c, const struct cfi_fde *fde,
			 __u64 start, __u64 end)
{
	if (end > c->high)
		end = c->high;
	notes_add(&c->notes, UNWIND_NOTE_OVERLAP, start, end, fde->start);
	if (end < c->high)
		notes_add(&c->notes, UNWIND_NOTE_HIDDEN, end, c->high,
			  fde->start);
}

/*
 * Skip the addresses of an entry that takes precedence: of two from the same section, the
 * one that starts last, as in the search table of .eh_frame_hdr. @done is the end of the
 * addresses that have rows already.
 */
static bool keep_to_own(struct conversion *c, const struct cfi_fde *fde,
			__u64 done)
{
	const struct cfi_fde *end = c->list.fdes + c->list.nr_fdes, *next;
	bool cut = false;

	if (done > c->low) {
		/* The assumed shape was wrong */
		if (fde->source == CFI_FROM_SHAPE)
			return false;
		c->low = done;
	}
	for (next = fde + 1; next < end && next->start < c->high; next++) {
		if (next->source > fde->source || next->start == fde->start)
			continue;
		/* The size of a shape is a guess */
		if (next->source == fde->source && fde->source != CFI_FROM_SHAPE)
			note_overlap(c, fde, next->start, next->end);
		c->high = next->start;
		cut = true;
		break;
	}
	if (c->low < c->high)
		return true;
	if (!cut && fde->source == CFI_FROM_EH_FRAME)
		notes_add(&c->notes, UNWIND_NOTE_OVERLAP, fde->start, fde->end,
			  fde->start);
	return false;
}

static int convert_fdes(struct conversion *c, struct unwind_stats *stats)
{
	__u64 done = 0;
	size_t i;
	int ret;

	for (i = 0; i < c->list.nr_fdes; i++) {
		const struct cfi_fde *fde = &c->list.fdes[i];

		stats->fdes += fde->source != CFI_FROM_SHAPE;
		if (!keep_to_text(c, fde) || !keep_to_own(c, fde, done))
			continue;
		ret = convert_fde(c, fde);
		if (ret)
			return ret;
		done = c->high;
		if (fde->source == CFI_FROM_SHAPE)
			stats->added += c->said;
		else
			stats->functions += c->said;
	}
	return 0;
}

static int convert(struct conversion *c, int fd, __u64 addr, bool with_gaps,
		   struct unwind_table *table)
{
	size_t i;
	int ret;

	ret = elf_file_open(&c->file, fd);
	if (ret)
		return ret;
	table->machine = c->file.machine->elf;
	c->writer.machine = c->file.machine;
	for (i = 0; i < c->file.nr_cfi; i++) {
		table->stats.cfi_bytes += c->file.cfi[i].data->d_size;
		ret = cfi_list_read(&c->list, &c->file, &c->file.cfi[i],
				    &c->notes);
		if (ret)
			return ret;
	}
	ret = go_add(&c->list, &c->file);
	if (!ret)
		ret = shapes_add(&c->list, &c->file);
	if (ret)
		return ret;
	cfi_list_sort(&c->list);
	table->has_chain = cpython_chain(&c->file, &table->chain) ||
			   php_chain(&c->file, &c->list, &table->chain);
	ret = convert_fdes(c, &table->stats);
	if (!ret && with_gaps)
		ret = gaps_note(&c->file, &c->list, &c->notes);
	if (ret)
		return ret;
	return sframe_finish(&c->writer, addr, &table->sframe, &table->size);
}

static int make_table(int fd, __u64 addr, bool with_gaps, struct unwind_table *table)
{
	struct conversion *c = calloc(1, sizeof(*c));
	int ret;

	memset(table, 0, sizeof(*table));
	if (!c)
		return -ENOMEM;
	table->addr = addr;
	ret = convert(c, fd, addr, with_gaps, table);
	table->stats.rows = c->writer.nr_rows;
	table->stats.hdr_bytes = c->file.hdr_bytes;
	elf_file_name_notes(&c->file, c->notes.list, c->notes.nr);
	memcpy(table->stats.notes, c->notes.counts, sizeof(c->notes.counts));
	table->notes = c->notes.list;
	table->nr_notes = c->notes.nr;
	sframe_free(&c->writer);
	cfi_list_free(&c->list);
	elf_file_close(&c->file);
	free(c);
	return ret;
}

/**
 * unwind_convert - make a table of a file's CFI
 * @fd: a descriptor to read the file from
 * @addr: link-time address that the section is made for
 * @table: filled in; to be freed by unwind_table_free(), also after an error
 *
 * The file is parsed in this process.  A hostile file may take long, and more memory
 * than there is: see unwind_convert_sandboxed().
 *
 * Return: 0, or a negative error: -ENOEXEC it is no ELF file, or a broken one; -ENODATA
 * it is cut short; -EOPNOTSUPP it is of an architecture or a type that is not converted; -EFBIG its
 * table would be too large; -ENOMEM.
 */
int unwind_convert(int fd, __u64 addr, struct unwind_table *table)
{
	return make_table(fd, addr, false, table);
}

/**
 * unwind_check - make the same table, with notes also about code that no entry describes
 * @fd: a descriptor to read the file from
 * @addr: link-time address that the section is made for
 * @table: filled in; to be freed by unwind_table_free(), also after an error
 *
 * That takes longer, as it reads all symbols.
 *
 * Return: as unwind_convert().
 */
int unwind_check(int fd, __u64 addr, struct unwind_table *table)
{
	return make_table(fd, addr, true, table);
}

/**
 * unwind_table_free - free what a table has
 * @table: the table
 */
void unwind_table_free(struct unwind_table *table)
{
	free(table->sframe);
	free(table->notes);
	memset(table, 0, sizeof(*table));
}

/**
 * unwind_convert_error - why a file was not converted
 * @err: what a conversion returned, not 0
 *
 * Return: a few words.
 */
const char *unwind_convert_error(int err)
{
	switch (err) {
	case -ENOEXEC:
		return "no ELF file, or a broken one";
	case -ENODATA:
		return "the file is cut short";
	case -EOPNOTSUPP:
		return "not a linked file for x86-64 or little-endian arm64";
	case -EFBIG:
		return "it, or its table, is too large";
	case -EPROTO:
		return "it made the parser fail";
	case -ETIMEDOUT:
		return "it took too long";
	case -EBUSY:
		return "the processor, or the file's device, is too busy";
	case -EPERM:
		return "no sandbox to read it in";
	default:
		return strerror(-err);
	}
}
