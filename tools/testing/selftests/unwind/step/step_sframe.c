// SPDX-License-Identifier: GPL-2.0
/*
 * Reading SFrame version 3, see step_sframe.h and "The SFrame Format".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "step_sframe.h"

#define F_PCREL		0x4

/* Bits of an FDE's info byte */
#define FDE_REPEATS	0x10
#define FDE_SIGNAL	0x80

/* Words of a flexible row */
#define FLEX_REG	0x1
#define FLEX_DEREF	0x2

static int by_start(const void *a, const void *b)
{
	const struct step_fde *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

int section_read(struct step_section *section, const void *data, size_t size,
		 uint64_t vaddr)
{
	const struct sframe_header *header = data;
	const struct sframe_fde *fde;
	const uint8_t *fdes, *fres;
	unsigned int i;

	*section = (struct step_section){ .data = data, .size = size };
	if (size < sizeof(*header) || header->magic != SFRAME_MAGIC ||
	    header->version != 3)
		return -1;
	fdes = (const uint8_t *)(header + 1) + header->auxhdr_len + header->fdeoff;
	fres = (const uint8_t *)(header + 1) + header->auxhdr_len + header->freoff;
	section->ra_offset = header->cfa_fixed_ra_offset;
	section->fde = calloc(header->num_fdes + 1, sizeof(*section->fde));
	if (!section->fde)
		return -1;

	for (i = 0; i < header->num_fdes; i++) {
		uint64_t origin = vaddr;

		fde = (const struct sframe_fde *)fdes + i;
		if (header->flags & F_PCREL)
			origin += (const uint8_t *)fde - section->data;
		if (!fde->size)
			continue;
		section->fde[section->nr++] = (struct step_fde){
			.start = origin + fde->start_offset,
			.end = origin + fde->start_offset + fde->size,
			.attr = fres + fde->fre_off,
		};
	}
	qsort(section->fde, section->nr, sizeof(*section->fde), by_start);
	return 0;
}

void section_free(struct step_section *section)
{
	free(section->fde);
	*section = (struct step_section){};
}

const struct step_fde *section_fde(const struct step_section *section,
				   uint64_t addr)
{
	unsigned int low = 0, high = section->nr;

	while (low < high) {
		unsigned int mid = (low + high) / 2;
		const struct step_fde *fde = &section->fde[mid];

		if (addr < fde->start)
			high = mid;
		else if (addr >= fde->end)
			low = mid + 1;
		else
			return fde;
	}
	return NULL;
}

/* Little-endian, of 1, 2 or 4 bytes */
static uint32_t number(const uint8_t *at, unsigned int bytes)
{
	uint32_t value = 0;

	memcpy(&value, at, bytes);
	return value;
}

static int32_t signed_number(const uint8_t *at, unsigned int bytes)
{
	unsigned int shift = 32 - 8 * bytes;

	return (int32_t)(number(at, bytes) << shift) >> shift;
}

/* The return address's place at the call, which may still hold it */
static struct step_rule rule_at_call(const struct step_section *section)
{
#if CALLS_PUSH
	return (struct step_rule){
		.base = STEP_CFA, .deref = true, .offset = section->ra_offset,
	};
#else
	return (struct step_rule){ .base = STEP_REG, .reg = STEP_REG_RA };
#endif
}

static void default_rules(const struct step_section *section, struct step_row *row,
			  uint8_t info, const uint8_t *word, unsigned int words,
			  unsigned int bytes)
{
	struct step_rule saved = { .base = STEP_CFA, .deref = true };

	row->cfa = (struct step_rule){
		.base = STEP_REG,
		.reg = info & 1 ? STEP_REG_SP : STEP_REG_FP,
		.offset = signed_number(word, bytes),
	};
	row->ra = rule_at_call(section);
	/* Unless its place is fixed, it precedes the FP; 0: nowhere */
	if (!CALLS_PUSH && words > 1) {
		word += bytes;
		words--;
		if (number(word, bytes)) {
			row->ra = saved;
			row->ra.offset = signed_number(word, bytes);
		}
	}
	if (words > 1) {
		row->fp = saved;
		row->fp.offset = signed_number(word + bytes, bytes);
	}
}

static void flex_rules(const struct step_section *section, struct step_row *row,
		       const uint8_t *word, unsigned int words, unsigned int bytes)
{
	struct step_rule *rules[] = { &row->cfa, &row->ra, &row->fp };
	const uint8_t *end = word + words * bytes;
	unsigned int i;

	row->ra = rule_at_call(section);
	for (i = 0; i < 3 && word < end; i++) {
		uint32_t control = number(word, bytes);

		word += bytes;
		if (!control)
			continue;
		*rules[i] = (struct step_rule){
			.base = control & FLEX_REG ? STEP_REG : STEP_CFA,
			.reg = control >> 3,
			.deref = control & FLEX_DEREF,
			.offset = signed_number(word, bytes),
		};
		word += bytes;
	}
}

bool section_row(const struct step_section *section, const struct step_fde *fde,
		 uint64_t addr, struct step_row *row)
{
	const struct sframe_attr *attr = (const struct sframe_attr *)fde->attr;
	const uint8_t *at = (const uint8_t *)(attr + 1), *words = NULL;
	unsigned int i, bytes, nr = 0, start_bytes = 1 << (attr->info & 0xf);
	uint64_t offset = addr - fde->start;
	uint8_t info = 0;

	if (attr->info & FDE_REPEATS && attr->rep_size)
		offset %= attr->rep_size;
	for (i = 0; i < attr->num_fres; i++) {
		if (number(at, start_bytes) > offset)
			break;
		info = at[start_bytes];
		nr = info >> 1 & 0xf;
		words = at + start_bytes + 1;
		at = words + (nr << (info >> 5 & 3));
	}
	*row = (struct step_row){ .signal = attr->info & FDE_SIGNAL };
	if (!words)
		return false;
	bytes = 1 << (info >> 5 & 3);
	if (!nr)
		row->outermost = true;
	else if (attr->info2 & 0x1f)
		flex_rules(section, row, words, nr, bytes);
	else
		default_rules(section, row, info, words, nr, bytes);
	return true;
}

static int print_rule(const struct step_rule *rule, char *text, size_t size)
{
	char number[16], *base = number;

	snprintf(number, sizeof(number), "r%u", rule->reg);
	if (rule->base == STEP_CFA)
		base = "c";
	else if (rule->reg == STEP_REG_SP)
		base = "sp";
	else if (rule->reg == STEP_REG_FP)
		base = "fp";
	if (rule->base == STEP_SAME)
		return snprintf(text, size, "u");
	return snprintf(text, size, rule->deref ? "(%s%+d)" : "%s%+d", base,
			rule->offset);
}

void row_print(const struct step_row *row, char *text, size_t size)
{
	int len;

	if (row->outermost) {
		snprintf(text, size, "RA undefined");
		return;
	}
	len = snprintf(text, size, "CFA ");
	len += print_rule(&row->cfa, text + len, size - len);
	len += snprintf(text + len, size - len, ", FP ");
	len += print_rule(&row->fp, text + len, size - len);
	len += snprintf(text + len, size - len, ", RA ");
	print_rule(&row->ra, text + len, size - len);
}
