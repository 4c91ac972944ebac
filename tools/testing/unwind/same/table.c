// SPDX-License-Identifier: GPL-2.0
/*
 * Unwind a stack copy by rules that libsframe finds.
 *
 * A table of the service can have rules that only the kernel reads, which libsframe refuses
 * as a whole. Stacks through such an object are compared with .eh_frame's alone.
 */
#include <err.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>

#include "convert.h"
#include "diff_oracle.h"
#include "map.h"
#include "table.h"

struct table {
	struct oracle	*oracle;
	uint64_t	start;
};

struct frame {
	uint64_t	ip;
	uint64_t	sp;
	uint64_t	fp;
	bool		topmost;
	bool		exact;
};

static bool serve;

void table_serve(void)
{
	serve = true;
}

static struct table *new_table(const void *bytes, size_t size, uint64_t start)
{
	struct table *table = malloc(sizeof(*table));

	if (!table)
		err(1, "table");
	table->start = start;
	table->oracle = oracle_open(bytes, size);
	if (table->oracle)
		return table;
	free(table);
	return NULL;
}

/* The section's bytes are kept: libsframe may refer to them */
static struct table *convert(int fd, uint64_t bias)
{
	struct unwind_table made;

	if (unwind_convert(fd, 0, &made)) {
		unwind_table_free(&made);
		return NULL;
	}
	return new_table(made.sframe, made.size, bias);
}

struct table *table_open(int fd, Elf *elf, uint64_t bias)
{
	struct table *table;
	size_t i, names;
	GElf_Shdr shdr;
	Elf_Scn *scn;
	void *bytes;
	char *raw;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	for (i = 1; (scn = elf_getscn(elf, i)); i++) {
		const char *name;

		if (!gelf_getshdr(scn, &shdr))
			return NULL;
		name = elf_strptr(elf, names, shdr.sh_name);
		if (name && !strcmp(name, ".sframe"))
			break;
	}
	if (!scn && serve)
		return convert(fd, bias);
	raw = scn ? elf_rawfile(elf, NULL) : NULL;
	if (!raw)
		return NULL;

	bytes = malloc(shdr.sh_size);
	if (!bytes)
		err(1, "table");
	memcpy(bytes, raw + shdr.sh_offset, shdr.sh_size);
	table = new_table(bytes, shdr.sh_size, shdr.sh_addr + bias);
	if (!table)
		errx(1, "libsframe does not like a table");
	return table;
}

static bool find_rule(uint64_t ip, struct unwind_frame_rule *rule)
{
	const struct object *object = map_find(ip);

	return object && object->table &&
	       !oracle_find_rule(object->table->oracle, ip - object->table->start,
				 rule);
}

/* A frame pointer that is lost; the caller may do without */
#define FP_LOST	1

/* A caller's register is not known */
static bool is_known(const struct frame *frame, const struct unwind_reg_rule *rule)
{
	return rule->base != UNWIND_RULE_REG || (frame->topmost && rule->reg < DWARF_NUM);
}

static bool apply(const struct same_sample *sample, const struct frame *frame,
		  const struct unwind_reg_rule *rule, uint64_t cfa, uint64_t *val,
		  enum end *end)
{
	switch (rule->base) {
	case UNWIND_RULE_SP:
		*val = frame->sp;
		break;
	case UNWIND_RULE_FP:
		*val = frame->fp;
		if (frame->fp == FP_LOST) {
			*end = END_OTHER;
			return false;
		}
		break;
	case UNWIND_RULE_CFA:
		*val = cfa;
		break;
	case UNWIND_RULE_REG:
		if (!is_known(frame, rule)) {
			*end = END_OTHER;
			return false;
		}
		*val = same_dwarf_reg(sample, rule->reg);
		break;
	default:
		*end = END_OTHER;
		return false;
	}
	*val += rule->offset;
	return !rule->deref ||
	       stack_word(sample, same_dwarf_reg(sample, DWARF_SP), *val, val, end);
}

/* A caller's link register is not known; its rule locates the return address */
static bool link_register(const struct same_sample *sample, const struct frame *frame,
			  uint64_t *val, enum end *end)
{
	*end = END_OTHER;
	if (!MACHINE_HAS_LR || !frame->topmost)
		return false;
	*val = same_dwarf_reg(sample, DWARF_RA);
	return true;
}

static bool return_address(const struct same_sample *sample, const struct frame *frame,
			   const struct unwind_frame_rule *rule, uint64_t cfa, uint64_t *val,
			   enum end *end)
{
	bool found = rule->ra.base == UNWIND_RULE_SAME ?
		link_register(sample, frame, val, end) :
		apply(sample, frame, &rule->ra, cfa, val, end);

	if (found && rule->mangled_ra)
		*val = machine_strip(*val);
	return found;
}

static bool next_frame(const struct same_sample *sample, struct frame *frame,
		       enum end *end)
{
	struct frame next = { .fp = frame->fp };
	struct unwind_frame_rule rule;

	if (!find_rule(frame->exact ? frame->ip : frame->ip - 1, &rule)) {
		*end = END_NOTHING;
		return false;
	}
	if (rule.outermost) {
		*end = END_OUTERMOST;
		return false;
	}
	if (!apply(sample, frame, &rule.cfa, 0, &next.sp, end) ||
	    !return_address(sample, frame, &rule, next.sp, &next.ip, end) ||
	    (rule.fp.base != UNWIND_RULE_SAME && is_known(frame, &rule.fp) &&
	     !apply(sample, frame, &rule.fp, next.sp, &next.fp, end)))
		return false;
	if (!is_known(frame, &rule.fp))
		next.fp = FP_LOST;
	next.exact = rule.signal;
	*end = END_NO_TEXT;
	if (!map_find(next.exact ? next.ip : next.ip - 1))
		return false;
	*frame = next;
	return true;
}

void table_unwind(const struct same_sample *sample, struct stack *stack)
{
	struct frame frame = {
		.ip = same_dwarf_reg(sample, DWARF_IP),
		.sp = same_dwarf_reg(sample, DWARF_SP),
		.fp = same_dwarf_reg(sample, DWARF_FP),
		.topmost = true,
		.exact = true,
	};

	stack->num = 0;
	stack->end = END_OTHER;
	do {
		if (stack->num == MAX_FRAMES)
			return;
		stack->ip[stack->num++] = frame.ip;
	} while (next_frame(sample, &frame, &stack->end));
}

static int print_rule(char *buf, size_t size, const char *what,
		      const struct unwind_reg_rule *rule)
{
	static const char *const base[] = { "same", "sp", "fp", "cfa", "reg" };
	char reg[8] = "";

	if (rule->base == UNWIND_RULE_REG)
		snprintf(reg, sizeof(reg), "%u", rule->reg);
	return snprintf(buf, size, rule->deref ? " %s=*(%s%s%+d)" : " %s=%s%s%+d",
			what, base[rule->base], reg, rule->offset);
}

const char *table_rule(uint64_t ip)
{
	static char buf[192];
	struct unwind_frame_rule rule;
	int len;

	if (!find_rule(ip, &rule))
		return "no rule";
	if (rule.outermost)
		return "outermost";
	len = snprintf(buf, sizeof(buf), rule.signal ? "signal" : "rule");
	len += print_rule(buf + len, sizeof(buf) - len, "cfa", &rule.cfa);
	len += print_rule(buf + len, sizeof(buf) - len, "ra", &rule.ra);
	print_rule(buf + len, sizeof(buf) - len, "fp", &rule.fp);
	return buf;
}
