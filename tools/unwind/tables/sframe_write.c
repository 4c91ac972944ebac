// SPDX-License-Identifier: GPL-2.0
/*
 * Write an SFrame section. Functions come in order of addresses. Each is written as
 * pieces: a new one begins after a gap, after SFRAME_PIECE_ROWS rows, and where a
 * repeating block of code begins.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sframe_write.h"

#define SFRAME_MAGIC		0xdee2
#define SFRAME_VERSION_3	3
#define SFRAME_HEADER_SIZE	28
#define SFRAME_FDE_SIZE		16

/* Flags of the header */
#define SFRAME_F_FDE_SORTED	0x1
#define SFRAME_F_START_PCREL	0x4
/* Not of the format, but the kernel's: some rules have FLEX_SUM */
#define SFRAME_F_CFA_SUM	0x80

/* The FDE's first info byte; its low bits are the width of starts, as a shift */
#define FDE_PCTYPE_MASK		0x10
#define FDE_KEY_B		0x20
#define FDE_SIGNAL		0x80
/* The FDE's second info byte */
#define FDE_TYPE_DEFAULT	0
#define FDE_TYPE_FLEX		1

/* The FRE's info byte */
#define FRE_BASE_SP		0x01
#define FRE_COUNT_SHIFT		1
#define FRE_SIZE_SHIFT		5
#define FRE_MANGLED_RA		0x80

/* A control word of FDE_TYPE_FLEX */
#define FLEX_REG		0x1
#define FLEX_DEREF		0x2
#define FLEX_SUM		0x4
#define FLEX_REG_SHIFT		3
/* The index of FLEX_SUM */
#define INDEX_SCALE_SHIFT	1

#define WORDS_MAX		8
#define ROW_SIZE_MAX		(4 + 1 + WORDS_MAX * 4)

/* Bytes that put() writes, of a smaller value, too: the next value overwrites the rest */
#define PUT_SIZE		8

static __u8 *room_for(struct bytes *bytes, size_t size)
{
	size_t room = bytes->room;
	__u8 *buf;

	size += PUT_SIZE;
	if (size > room - bytes->len) {
		room = room + room / 2 + size + 4096;
		buf = realloc(bytes->buf, room);
		if (!buf)
			return NULL;
		bytes->buf = buf;
		bytes->room = room;
	}
	return bytes->buf + bytes->len;
}

static __u8 *put(__u8 *to, __u64 val, unsigned int size)
{
	val = htole64(val);
	memcpy(to, &val, PUT_SIZE);
	return to + size;
}

/*
 * Rows
 */

static bool is_saved(const struct rule *rule)
{
	return rule->base == RULE_CFA && rule->deref;
}

/* Can this row be in an FDE of the default type? */
static bool is_plain(const struct machine *machine, const struct row *row)
{
	if (row->outermost)
		return true;
	if (row->cfa.deref ||
	    (row->cfa.reg != machine->sp && row->cfa.reg != machine->fp))
		return false;
	if (row->fp.base != RULE_DEFAULT && !is_saved(&row->fp))
		return false;
	if (machine->fixed_ra)
		return row->ra.base == RULE_DEFAULT;
	/* The frame pointer's word comes third */
	return row->ra.base == RULE_DEFAULT ? row->fp.base == RULE_DEFAULT :
					      is_saved(&row->ra);
}

static unsigned int plain_words(const struct row *row, __s64 *words)
{
	unsigned int nr = 0;

	words[nr++] = row->cfa.offset;
	if (row->ra.base != RULE_DEFAULT)
		words[nr++] = row->ra.offset;
	if (row->fp.base != RULE_DEFAULT)
		words[nr++] = row->fp.offset;
	return nr;
}

static unsigned int flex_rule(const struct rule *rule, __s64 *words)
{
	__u32 control = 0;

	words[0] = 0;
	if (rule->base == RULE_DEFAULT)
		return 1;
	if (rule->base == RULE_REG)
		control = rule->reg << FLEX_REG_SHIFT | FLEX_REG;
	words[0] = control | (rule->deref ? FLEX_DEREF : 0);
	words[1] = rule->offset;
	return 2;
}

/* The CFA, with two words more if it is a sum: see kernel/unwind/sframe_format.h */
static unsigned int flex_cfa(const struct row *row, __s64 *words)
{
	unsigned int nr = flex_rule(&row->cfa, words);

	if (!rules_is_sum(row))
		return nr;
	words[0] |= FLEX_SUM;
	words[nr++] = row->cfa_addend;
	words[nr] = 0;
	if (row->cfa_scale)
		words[nr] = row->cfa_index << FLEX_REG_SHIFT | FLEX_REG |
			    __builtin_ctz(row->cfa_scale) << INDEX_SCALE_SHIFT;
	return nr + 1;
}

static unsigned int flex_words(const struct row *row, __s64 *words)
{
	unsigned int nr = flex_cfa(row, words);

	if (row->ra.base == RULE_DEFAULT && row->fp.base == RULE_DEFAULT)
		return nr;
	nr += flex_rule(&row->ra, words + nr);
	if (row->fp.base != RULE_DEFAULT)
		nr += flex_rule(&row->fp, words + nr);
	return nr;
}

/* log2 of the bytes that each word needs; control words are unsigned, but have room */
static unsigned int word_shift(const __s64 *words, unsigned int nr)
{
	__u64 bits = 0;

	/* A word needs as many as its complement */
	while (nr--)
		bits |= words[nr] < 0 ? ~words[nr] : words[nr];
	if (bits > 0x7fff)
		return 2;
	return bits > 0x7f ? 1 : 0;
}

static __u8 *put_row(const struct sframe_writer *w, __u8 *to,
		     const struct sframe_row *r, unsigned int start_shift)
{
	const struct row *row = &r->row;
	unsigned int i, nr = 0, shift;
	__u8 info = 0;
	__s64 words[WORDS_MAX];

	if (!row->outermost)
		nr = w->flex ? flex_words(row, words) : plain_words(row, words);
	shift = word_shift(words, nr);
	info = nr << FRE_COUNT_SHIFT | shift << FRE_SIZE_SHIFT;
	if (!w->flex && nr && row->cfa.reg == w->machine->sp)
		info |= FRE_BASE_SP;
	if (nr && row->mangled)
		info |= FRE_MANGLED_RA;

	to = put(to, r->offset, 1 << start_shift);
	to = put(to, info, 1);
	for (i = 0; i < nr; i++)
		to = put(to, words[i], 1 << shift);
	return to;
}

/*
 * Pieces
 */

/* log2 of the bytes that the rows' starts need */
static unsigned int start_shift(const struct sframe_writer *w)
{
	__u32 last = w->rows[w->nr - 1].offset;

	if (last > 0xffff)
		return 2;
	return last > 0xff ? 1 : 0;
}

static __u8 *put_attributes(const struct sframe_writer *w, __u8 *to,
			    unsigned int shift)
{
	__u8 info = shift;

	if (w->block)
		info |= FDE_PCTYPE_MASK;
	if (w->key_b)
		info |= FDE_KEY_B;
	if (w->signal)
		info |= FDE_SIGNAL;
	to = put(to, w->nr, 2);
	to = put(to, info, 1);
	to = put(to, w->flex ? FDE_TYPE_FLEX : FDE_TYPE_DEFAULT, 1);
	return put(to, w->block, 1);
}

static int put_piece(struct sframe_writer *w)
{
	__u8 *index = room_for(&w->index, SFRAME_FDE_SIZE);
	__u8 *fres = room_for(&w->fres, 5 + w->nr * ROW_SIZE_MAX);
	unsigned int i, shift = start_shift(w);

	if (!index || !fres)
		return -ENOMEM;
	if (w->fres.len > 0xffffffffU || w->nr_fdes >= 0x7fffffff)
		return -EFBIG;
	index = put(index, w->start, 8);
	index = put(index, w->end - w->start, 4);
	put(index, w->fres.len, 4);
	w->index.len += SFRAME_FDE_SIZE;

	fres = put_attributes(w, fres, shift);
	for (i = 0; i < w->nr; i++)
		fres = put_row(w, fres, &w->rows[i], shift);
	w->fres.len = fres - w->fres.buf;
	w->nr_fdes++;
	w->nr_rows += w->nr;
	return 0;
}

static int flush(struct sframe_writer *w)
{
	int ret = w->nr ? put_piece(w) : 0;

	w->nr = 0;
	w->block = 0;
	w->flex = false;
	return ret;
}

/* Equal adjacent rows become one, within a piece */
static void add(struct sframe_writer *w, __u32 offset, const struct row *row)
{
	if (w->nr && rules_same_row(&w->rows[w->nr - 1].row, row))
		return;
	w->rows[w->nr++] = (struct sframe_row){ .offset = offset, .row = *row };
	w->has_sums |= rules_is_sum(row);
	w->flex |= !is_plain(w->machine, row);
}

/**
 * sframe_begin - begin a function
 * @w: the section
 * @is_signal: it is a signal frame
 * @key_b: its return addresses are signed with key B
 */
void sframe_begin(struct sframe_writer *w, bool is_signal, bool key_b)
{
	w->signal = is_signal;
	w->key_b = key_b;
}

/**
 * sframe_add_row - add a row
 * @w: the section
 * @start: first address, at or after the end of what was added before
 * @end: first address after it; a function has at most 4 GiB
 * @row: the rules
 *
 * Return: 0, or -ENOMEM, or -EFBIG where the format has no room.
 */
int sframe_add_row(struct sframe_writer *w, __u64 start, __u64 end,
		   const struct row *row)
{
	if (w->nr && (w->end != start || w->block ||
		      w->nr == SFRAME_PIECE_ROWS || end - w->start > 0xffffffffU)) {
		int ret = flush(w);

		if (ret)
			return ret;
	}
	if (!w->nr)
		w->start = start;
	add(w, start - w->start, row);
	w->end = end;
	return 0;
}

/**
 * sframe_add_block - add code that repeats itself
 * @w: the section
 * @start: first address, at or after the end of what was added before
 * @end: first address after it
 * @rows: one for each address of a block of code
 * @size: of a block, at most 255; it need not fit in @end - @start
 *
 * Return: as sframe_add_row().
 */
int sframe_add_block(struct sframe_writer *w, __u64 start, __u64 end,
		     const struct row *rows, unsigned int size)
{
	unsigned int i;
	int ret = flush(w);

	if (ret)
		return ret;
	w->start = start;
	w->end = end;
	w->block = size;
	for (i = 0; i < size; i++)
		add(w, i, &rows[i]);
	return 0;
}

/**
 * sframe_end - end the function
 * @w: the section
 *
 * Return: as sframe_add_row().
 */
int sframe_end(struct sframe_writer *w)
{
	return flush(w);
}

/*
 * The section
 */

static void put_header(const struct sframe_writer *w, __u8 *to)
{
	to = put(to, SFRAME_MAGIC, 2);
	to = put(to, SFRAME_VERSION_3, 1);
	to = put(to, SFRAME_F_FDE_SORTED | SFRAME_F_START_PCREL |
		 (w->has_sums ? SFRAME_F_CFA_SUM : 0), 1);
	to = put(to, w->machine->abi, 1);
	to = put(to, 0, 1);
	to = put(to, w->machine->fixed_ra, 1);
	to = put(to, 0, 1);
	to = put(to, w->nr_fdes, 4);
	to = put(to, w->nr_rows, 4);
	to = put(to, w->fres.len, 4);
	to = put(to, 0, 4);
	put(to, w->index.len, 4);
}

/* Starts were addresses; in the section they count from their own address */
static void put_index(const struct sframe_writer *w, __u8 *to, __u64 addr)
{
	__u64 i, start, at = addr + SFRAME_HEADER_SIZE;

	memcpy(to, w->index.buf, w->index.len);
	for (i = 0; i < w->nr_fdes; i++) {
		memcpy(&start, to, sizeof(start));
		put(to, le64toh(start) - at, sizeof(start));
		to += SFRAME_FDE_SIZE;
		at += SFRAME_FDE_SIZE;
	}
}

/**
 * sframe_finish - make the section of what was added
 * @w: what was added
 * @addr: address of the section
 * @section: set to the section, to be freed
 * @size: set to its size
 *
 * Return: as sframe_add_row().
 */
int sframe_finish(struct sframe_writer *w, __u64 addr, __u8 **section,
		  size_t *size)
{
	__u8 *buf;

	if (w->fres.len > 0xffffffffU || w->index.len > 0xffffffffU ||
	    w->nr_rows > 0xffffffffU)
		return -EFBIG;
	*size = SFRAME_HEADER_SIZE + w->index.len + w->fres.len;
	buf = malloc(*size + PUT_SIZE);
	if (!buf)
		return -ENOMEM;
	put_header(w, buf);
	if (w->nr_fdes) {
		put_index(w, buf + SFRAME_HEADER_SIZE, addr);
		memcpy(buf + SFRAME_HEADER_SIZE + w->index.len, w->fres.buf,
		       w->fres.len);
	}
	*section = buf;
	return 0;
}

void sframe_free(struct sframe_writer *w)
{
	free(w->index.buf);
	free(w->fres.buf);
}
