// SPDX-License-Identifier: GPL-2.0
/*
 * Compare unwind_link.c and unwind_record.c (arch/arm64/kernel/), which read
 * instructions, with .eh_frame:
 *
 *	link_cfi FILE...
 *
 * A program may be interrupted at each instruction of each file. Call frame information
 * locates the return address and the caller's frame pointer. If both are in their
 * registers, the kernel's code must see that, with few exceptions: only a table knows all
 * cases. If one is saved, it may also be in its register, until that is written; then
 * that result is right, too. Otherwise a stack would be wrong, which must not happen even
 * once.
 *
 * Where that is not enough, a value that a call has left in the link register may be
 * (unwind_called.c). That code is tried with a call of the function, if the file has one;
 * and, where the register has another use, with values that calls in the function have
 * left there. These must not be taken for the return address.
 *
 * Otherwise the unwinder follows the frame pointer, if the instructions show that it
 * leads to a frame record of the function. If it is the caller's instead, a caller is
 * skipped, which must not happen either. Where there is a record, the code must see it,
 * with few exceptions.
 *
 * A known distance from the stack pointer to the caller's is compared with the CFA.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/types.h>
#include <asm/insn.h>
#include <asm/unwind_user.h>

#include "text.h"

#define FP	29
#define LINK	30

/* The required percentage of the cases that can be seen */
#define SEEN_MIN	99
#define RECORDED_MIN	99
#define PRINT_MAX	4

/* Functions that are written by hand */
static const struct exception {
	const char	*file;
	unsigned long	wrong;
	unsigned long	wrong_sp;
	const char	*reason;
} exceptions[] = {
	{ "ld-linux-aarch64.so.1", 1, 4,
	  "_dl_runtime_resolve() tells of its stack as if it had popped nothing; "
	  "_dl_tlsdesc_dynamic() pushes before it branches, and tells of it too late" },
	{ "libc.so.6", 7, 0, "__longjmp() tells of the stack that it goes to" },
};

/**
 * struct counts - counts of a file's instructions
 * @truths: instructions where both are in their registers, for the caller
 * @seen: of these, the code sees that
 * @called: of these, by the call
 * @known: the code also knows how far the stack pointer is below the caller's
 * @wrong: the code says so, but one of them already has another value
 * @wrong_sp: the code has a wrong distance of the stack pointer
 * @records: the frame pointer is the function's own, and both are saved
 * @recorded: of these, the code sees that
 * @skipped: the frame pointer is followed although it is the caller's
 */
struct counts {
	unsigned long	truths;
	unsigned long	seen;
	unsigned long	called;
	unsigned long	known;
	unsigned long	wrong;
	unsigned long	wrong_sp;
	unsigned long	records;
	unsigned long	recorded;
	unsigned long	skipped;
};

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

/* Likewise: the page that adrp refers to, from this one */
s32 aarch64_insn_adrp_get_offset(u32 insn)
{
	return (s32)((insn >> 5 & 0x7ffff) << 2 | (insn >> 29 & 3)) << 11 >> 11 << 12;
}

static bool is_call(u32 insn)
{
	return aarch64_insn_is_bl(insn) || aarch64_insn_is_blr(insn) ||
	       aarch64_insn_is_blr_auth(insn);
}

/* See "Loads and stores" and "Data processing" in the Arm ARM */
static bool writes(u32 insn, unsigned int reg)
{
	const bool is_load = (insn & 0x0a000000) == 0x08000000;
	const bool is_pair = is_load && (insn & 0x38000000) == 0x28000000;
	const bool of_vectors = insn & 0x04000000;

	if (is_call(insn))
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

static void print_wrong(const struct text *text, size_t at, const char *what,
			const struct unwind_user_link *link)
{
	printf("# %s at %#lx: sp + %u%s, CFA sp + %d%s\n", what,
	       text->addr + at * INSN_BYTES, link->pushed, link->sp_known ? "" : "?",
	       text->truths[at].cfa, text->truths[at].cfa_by_sp ? "" : "?");
}

/* Is that seen, if the link register has the value that the call at @call left there? */
static bool is_called(const struct text *text, size_t at, size_t call,
		      struct unwind_user_link *link)
{
	return !unwind_user_link_called(text->addr + at * INSN_BYTES,
					text->addr + (call + 1) * INSN_BYTES, link);
}

/* Try a call of the function; if there is none, any call */
static bool was_called(const struct text *text, size_t at, struct unwind_user_link *link)
{
	uint32_t call = text->calls[text->starts[at]];

	if (call == NO_CALL)
		call = text->any_call;
	return call != NO_CALL && is_called(text, at, call, link);
}

/* Try a call that the function itself has made: the previous one, or the next */
static bool was_left(const struct text *text, size_t at, struct unwind_user_link *link)
{
	const uint32_t start = text->starts[at];
	size_t i;

	for (i = at; i > start; i--)
		if (is_call(text->insns[i - 1]) && is_called(text, at, i - 1, link))
			return true;
	for (i = at; i < text->nr && text->starts[i] == start; i++) {
		/* Code without a description belongs to another function */
		if (text->truths[i].link == NOWHERE)
			break;
		if (is_call(text->insns[i]))
			return is_called(text, at, i, link);
	}
	return false;
}

/* Compare a positive result with the truth */
static void compare(const struct text *text, size_t at, struct counts *counts,
		    const struct unwind_user_link *link)
{
	const struct truth *truth = &text->truths[at];

	/* While another register has the return address, the code reports that register */
	if (link->reg == LINK && (!is_there(text, at, LINK) || !is_there(text, at, FP))) {
		if (counts->wrong++ < PRINT_MAX)
			print_wrong(text, at, "not the return address", link);
		return;
	}
	if (!link->sp_known || !truth->cfa_by_sp)
		return;
	counts->known++;
	if ((int)link->pushed != truth->cfa && counts->wrong_sp++ < PRINT_MAX)
		print_wrong(text, at, "not the stack pointer", link);
}

/* Is the frame pointer followed, or would it be, and does it lead to the caller? */
static void compare_record(const struct text *text, size_t at, struct counts *counts,
			   const struct unwind_user_link *link)
{
	if (is_there(text, at, FP) || !text->records[text->starts[at]]) {
		if (!link->ambiguous && counts->skipped++ < PRINT_MAX)
			print_wrong(text, at, "no frame record", link);
	} else if (is_saved(&text->truths[at], FP) && is_saved(&text->truths[at], LINK)) {
		counts->records++;
		counts->recorded += !link->ambiguous;
	}
}

static void judge(const struct text *text, size_t at, struct counts *counts)
{
	const struct truth *truth = &text->truths[at];
	struct unwind_user_link link;
	bool seen, there;

	if (truth->link == NOWHERE)
		return;
	there = truth->link == IN_REGISTER && truth->fp == IN_REGISTER;
	seen = !unwind_user_link_holds_ra(text->addr + at * INSN_BYTES, &link);
	if (!seen)
		compare_record(text, at, counts, &link);
	if (!seen && link.ambiguous) {
		seen = there ? was_called(text, at, &link) : was_left(text, at, &link);
		counts->called += seen && there;
	}
	if (there) {
		counts->truths++;
		counts->seen += seen;
	}
	if (seen)
		compare(text, at, counts, &link);
}

/* The target of a call, if it is in the text */
static void find_calls(struct text *text)
{
	size_t at, to;

	for (at = 0; at < text->nr; at++) {
		if (!is_call(text->insns[at]))
			continue;
		text->any_call = at;
		if (!aarch64_insn_is_bl(text->insns[at]))
			continue;
		to = at + aarch64_get_branch_offset(text->insns[at]) / INSN_BYTES;
		if (to < text->nr)
			text->calls[to] = at;
	}
}

/* add x29, sp, #; sub x29, sp, #; or mov */
static bool makes_fp(u32 insn)
{
	return (insn & 0xbf8003ff) == 0x910003fd;
}

/*
 * Find the functions with frame records. A part that starts in the middle of a function,
 * as cold code does, has both saved from its first instruction on.
 */
static void find_records(struct text *text)
{
	size_t at;

	for (at = 0; at < text->nr; at++) {
		/* Code without a description belongs to another function */
		if (text->truths[at].link == NOWHERE)
			continue;
		if (makes_fp(text->insns[at]) ||
		    (text->starts[at] == at && is_saved(&text->truths[at], LINK)))
			text->records[text->starts[at]] = true;
	}
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
	if (good) {
		find_calls(&text);
		find_records(&text);
	}
	for (at = 0; good && at < text.nr; at++)
		judge(&text, at, &counts);
	good &= counts.truths &&
		counts.wrong <= (exception ? exception->wrong : 0) &&
		counts.wrong_sp <= (exception ? exception->wrong_sp : 0) &&
		!counts.skipped &&
		counts.recorded * 100 >= counts.records * RECORDED_MIN &&
		counts.seen * 100 >= counts.truths * SEEN_MIN;
	printf("# link: file=%s insns=%zu truths=%lu seen=%lu called=%lu", file, text.nr,
	       counts.truths, counts.seen, counts.called);
	printf(" known=%lu wrong=%lu wrong_sp=%lu", counts.known, counts.wrong,
	       counts.wrong_sp);
	printf(" records=%lu recorded=%lu skipped=%lu\n", counts.records, counts.recorded,
	       counts.skipped);
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
