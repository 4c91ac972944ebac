// SPDX-License-Identifier: GPL-2.0
/*
 * Compare unwind_insn.c (arch/arm64/kernel/), which reads instructions, with .eh_frame:
 *
 *	link_cfi FILE...
 *
 * A program may be interrupted at each instruction of each file. Call frame information
 * locates the return address, the caller's frame pointer, and its stack pointer. The
 * kernel's code must say the same, with few exceptions: otherwise a stack would be wrong.
 * If a register is saved, it may also be in its register, until that is written; then that
 * result is right, too.
 *
 * Where the code says nothing, the stack ends. How often is printed, and not judged: only
 * a table knows all cases.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/types.h>
#include <asm/insn.h>
#include <asm/unwind_arch.h>

#include "text.h"

#define FP	29
#define LINK	30

#define PRINT_MAX	4

/* Functions that are written by hand */
static const struct exception {
	const char	*file;
	unsigned long	wrong;
	const char	*reason;
} exceptions[] = {
	{ "ld-linux-aarch64.so.1", 2,
	  "_dl_runtime_resolve() tells of its stack as if it had popped nothing; "
	  "_dl_tlsdesc_dynamic() keeps its record elsewhere" },
};

/**
 * struct counts - counts of a file's instructions
 * @described: instructions with call frame information
 * @leaves: of these, both registers are the caller's
 * @told: the code says where the caller is
 * @leaves_told: likewise, of @leaves
 * @records: the code says that the frame pointer is the function's own
 * @wrong: it says something else than the call frame information
 */
struct counts {
	unsigned long	described;
	unsigned long	leaves;
	unsigned long	told;
	unsigned long	leaves_told;
	unsigned long	records;
	unsigned long	wrong;
};

/* The text is in memory as a whole: no page is kept for it */
bool unwind_code_read(const struct unwind_code *code, unsigned long addr, void *val, size_t size)
{
	return false;
}

/* Like the kernel's, in arch/arm64/lib/insn.c: the immediate of a branch, in bytes */
s32 aarch64_get_branch_offset(u32 insn)
{
	unsigned int low = 5, bits = 19;

	if (aarch64_insn_is_b(insn) || aarch64_insn_is_bl(insn)) {
		low = 0;
		bits = 26;
	} else if (aarch64_insn_is_tbz(insn) || aarch64_insn_is_tbnz(insn)) {
		bits = 14;
	}
	return ((s32)(insn << (32 - low - bits)) >> (32 - bits)) * INSN_BYTES;
}

/* See "Loads and stores" and "Data processing" in the Arm ARM */
static bool writes(u32 insn, unsigned int reg)
{
	const bool is_load = (insn & 0x0a000000) == 0x08000000;
	const bool is_pair = is_load && (insn & 0x38000000) == 0x28000000;
	const bool of_vectors = insn & 0x04000000;

	if (aarch64_insn_is_bl(insn) || aarch64_insn_is_blr(insn) ||
	    aarch64_insn_is_blr_auth(insn))
		return reg == LINK;
	if (is_pair)
		return !of_vectors && insn & BIT(22) &&
		       ((insn & 0x1f) == reg || (insn >> 10 & 0x1f) == reg);
	if (is_load)
		return !of_vectors && insn & 0x00c00000 && (insn & 0x1f) == reg;
	/* With an immediate, or with registers */
	return ((insn & 0x1c000000) == 0x10000000 ||
		(insn & 0x0e000000) == 0x0a000000) && (insn & 0x1f) == reg;
}

static bool is_saved(const struct truth *truth, unsigned int reg)
{
	return (reg == FP ? truth->fp : truth->link) == SAVED;
}

/* Does it load the register from its save slot? */
static bool restores(u32 insn, const struct truth *truth, unsigned int reg)
{
	const int slot = truth->cfa + (reg == FP ? truth->fp_at : truth->link_at);

	if (!is_saved(truth, reg))
		return false;
	/* ldp x29, x30, [sp, #]: no other load has both registers */
	if (!truth->cfa_by_sp)
		return (insn & 0xffc07fff) == 0xa9407bfd;
	/* ldp x, x, [sp, #]; ldr x, [sp, #] */
	if ((insn & 0xffc003e0) == 0xa94003e0)
		return ((int)sign_extend32(insn >> 15, 6) +
			((insn & 0x1f) != reg)) * 8 == slot;
	return (insn & 0xffc003e0) == 0xf94003e0 && (int)(insn >> 10 & 0xfff) * 8 == slot;
}

/* The register was saved. Was it written since, or can that not be seen? */
static bool was_written(const struct text *text, size_t at, unsigned int reg)
{
	u32 insn;

	while (at--) {
		insn = text->insns[at];
		if (writes(insn, reg) && restores(insn, &text->truths[at], reg))
			return false;
		if (writes(insn, reg) || aarch64_insn_is_b(insn) ||
		    aarch64_insn_is_ret(insn) || aarch64_insn_is_br(insn))
			return true;
		if (!is_saved(&text->truths[at], reg))
			return false;
	}
	return true;
}

static bool is_there(const struct text *text, size_t at, unsigned int reg)
{
	const struct truth *truth = &text->truths[at];

	if (is_saved(truth, reg))
		return !was_written(text, at, reg);
	return (reg == FP ? truth->fp : truth->link) == IN_REGISTER;
}

/* Is the caller's register where the code says? @slot is its place, if it was found there. */
static bool is_right(const struct text *text, size_t at, unsigned int reg, bool on_stack,
		     unsigned int slot)
{
	const struct truth *truth = &text->truths[at];

	if (!on_stack)
		return is_there(text, at, reg);
	if (!is_saved(truth, reg))
		return false;
	return !truth->cfa_by_sp ||
	       truth->cfa + (reg == FP ? truth->fp_at : truth->link_at) == (int)slot;
}

static bool caller_is_right(const struct text *text, size_t at,
			    const struct unwind_arch_caller *caller)
{
	const struct truth *truth = &text->truths[at];

	if (caller->sp_known && truth->cfa_by_sp && (int)caller->cfa != truth->cfa)
		return false;
	return is_right(text, at, LINK, !caller->ra_in_link, caller->ra) &&
	       is_right(text, at, FP, caller->fp_saved, caller->fp);
}

static void print_wrong(const struct text *text, size_t at, int ret,
			const struct unwind_arch_caller *caller)
{
	const struct truth *truth = &text->truths[at];

	printf("# %#lx: ", text->addr + at * INSN_BYTES);
	if (ret)
		printf("a record");
	else
		printf("CFA sp + %d%s, RA %s%d, FP %s%d", caller->cfa,
		       caller->sp_known ? "" : "?", caller->ra_in_link ? "reg " : "",
		       caller->ra, caller->fp_saved ? "" : "reg ", caller->fp);
	printf(" in place of CFA sp + %d%s, RA %d, FP %d\n", truth->cfa,
	       truth->cfa_by_sp ? "" : "?",
	       is_saved(truth, LINK) ? truth->cfa + truth->link_at : -1,
	       is_saved(truth, FP) ? truth->cfa + truth->fp_at : -1);
}

static void judge(const struct text *text, size_t at, struct counts *counts)
{
	const struct truth *truth = &text->truths[at];
	const bool leaf = truth->link == IN_REGISTER && truth->fp == IN_REGISTER;
	struct unwind_arch_caller caller = { .left = -1 };
	bool right;
	int ret;

	if (truth->link == NOWHERE)
		return;
	counts->described++;
	counts->leaves += leaf;
	ret = unwind_arch_find_caller(text->addr + at * INSN_BYTES, &caller);
	if (ret == -ENOENT)
		return;
	counts->told++;
	counts->leaves_told += leaf;
	counts->records += !!ret;
	right = ret ? is_saved(truth, FP) && is_saved(truth, LINK) && !is_there(text, at, FP) :
		      caller_is_right(text, at, &caller);
	if (!right && counts->wrong++ < PRINT_MAX)
		print_wrong(text, at, ret, &caller);
}

static const struct exception *find_exception(const char *file)
{
	size_t i;

	for (i = 0; i < sizeof(exceptions) / sizeof(*exceptions); i++)
		if (!strcmp(exceptions[i].file, file))
			return &exceptions[i];
	return NULL;
}

/* Does the file pass? */
static bool test(const char *path)
{
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
	const struct exception *exception = find_exception(file);
	struct counts counts = {};
	struct text text;
	bool good;
	size_t at;

	good = !text_open(&text, path);
	for (at = 0; good && at < text.nr; at++)
		judge(&text, at, &counts);
	good &= counts.told && counts.wrong <= (exception ? exception->wrong : 0);
	printf("# link: file=%s insns=%zu described=%lu told=%lu records=%lu", file, text.nr,
	       counts.described, counts.told, counts.records);
	printf(" leaves=%lu leaves_told=%lu wrong=%lu\n", counts.leaves, counts.leaves_told,
	       counts.wrong);
	if (exception)
		printf("# exception: %s\n", exception->reason);
	text_close(&text);
	return good;
}

int main(int argc, char **argv)
{
	int i, failed = 0;
	bool good;

	for (i = 1; i < argc; i++) {
		good = test(argv[i]);
		failed += !good;
		printf("%sok %d - %s\n", good ? "" : "not ", i, argv[i]);
	}
	printf("1..%d\n", argc - 1);
	return failed || argc < 2;
}
