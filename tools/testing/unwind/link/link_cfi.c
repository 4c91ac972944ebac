// SPDX-License-Identifier: GPL-2.0
/*
 * What arch/arm64/kernel/unwind_link.c and unwind_record.c see by instructions, beside what
 * .eh_frame says:
 *
 *	link_cfi FILE...
 *
 * Each instruction of each file is one at which a program may be interrupted.  Call frame
 * information says where the return address and the caller's frame pointer are.  If both
 * are in their registers, that is to be seen, for all but a few: it takes a table to know
 * that of all.  If one is saved, it may be in its register as well, up to what is next
 * written there; then to say so is right, too, and otherwise a stack would be wrong: that
 * must not be, not once.
 *
 * Where the instructions around do not tell, what the link register has may, if that was
 * left there by a call (unwind_called.c).  So it is asked for a call of the function, if
 * the file has one; and where the register has another use, for what calls on the way have
 * left there, which must not be taken for the return address.
 *
 * Where neither tells, the frame pointer is followed, if it is seen that it leads to a frame
 * record of the function.  If it is the caller's instead, a caller is skipped: that must not
 * be, either.  Where there is a record, it is to be seen, for all but a few.
 *
 * Where the stack pointer is said to be below the caller's is compared with the CFA.
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

/* Of those that could be seen, so many in a hundred have to be */
#define SEEN_MIN	99
#define RECORDED_MIN	99
#define PRINT_MAX	4

/* What was written by hand */
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
 * struct counts - of a file's instructions
 * @truths: at so many both are in their registers, for the caller
 * @seen: that is seen
 * @called: by the call, of these
 * @known: so many times with how far the stack pointer is below the caller's
 * @wrong: so many times it is said where one of them has another value already
 * @wrong_sp: so many times the stack pointer is elsewhere
 * @records: at so many the frame pointer is the function's own, and both are saved
 * @recorded: that is seen
 * @skipped: so many times the frame pointer is followed although it is the caller's
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

/* As the kernel's, in arch/arm64/lib/insn.c: the immediate of a branch, in bytes */
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

/* Likewise: of the page that adrp tells, from this one */
s32 aarch64_insn_adrp_get_offset(u32 insn)
{
	return (s32)((insn >> 5 & 0x7ffff) << 2 | (insn >> 29 & 3)) << 11 >> 11 << 12;
}

static bool is_call(u32 insn)
{
	return aarch64_insn_is_bl(insn) || aarch64_insn_is_blr(insn) ||
	       aarch64_insn_is_blr_auth(insn);
}

/* By "Loads and stores" and "Data processing" of the Arm ARM */
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

/* Does it load the register from where it is saved? */
static bool restores(u32 insn, const struct truth *truth, unsigned int reg)
{
	const int slot = truth->cfa + (reg == FP ? truth->fp_at : truth->link_at);

	if (!is_saved(truth, reg))
		return false;
	/* ldp x29, x30, [sp, #]: what else would be loaded into both? */
	if (!truth->cfa_by_sp)
		return (insn & 0xffc07fff) == 0xa9407bfd;
	/* ldp x, x, [sp, #]; ldr x, [sp, #] */
	if ((insn & 0xffc003e0) == 0xa94003e0)
		return ((int)sign_extend32(insn >> 15, 6) +
			((insn & 0x1f) != reg)) * 8 == slot;
	return (insn & 0xffc003e0) == 0xf94003e0 && (int)(insn >> 10 & 0xfff) * 8 == slot;
}

/* It was saved: has it been written since, or is that not to be seen? */
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

/* Is that to be seen, if the link register has what the call at @call left there? */
static bool is_called(const struct text *text, size_t at, size_t call,
		      struct unwind_user_link *link)
{
	return !unwind_user_link_called(text->addr + at * INSN_BYTES,
					text->addr + (call + 1) * INSN_BYTES, link);
}

/* By the call of its function, if there is one; else by its address, or from elsewhere */
static bool was_called(const struct text *text, size_t at, struct unwind_user_link *link)
{
	uint32_t call = text->calls[text->starts[at]];

	if (call == NO_CALL)
		call = text->any_call;
	return call != NO_CALL && is_called(text, at, call, link);
}

/* By a call that the function has made itself, the one before or the one after? */
static bool was_left(const struct text *text, size_t at, struct unwind_user_link *link)
{
	const uint32_t start = text->starts[at];
	size_t i;

	for (i = at; i > start; i--)
		if (is_call(text->insns[i - 1]) && is_called(text, at, i - 1, link))
			return true;
	for (i = at; i < text->nr && text->starts[i] == start; i++) {
		/* What nothing is said of belongs to another function */
		if (text->truths[i].link == NOWHERE)
			break;
		if (is_call(text->insns[i]))
			return is_called(text, at, i, link);
	}
	return false;
}

/* Of what is seen: is it so? */
static void compare(const struct text *text, size_t at, struct counts *counts,
		    const struct unwind_user_link *link)
{
	const struct truth *truth = &text->truths[at];

	/* For the moment that one keeps it, another register says so itself */
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

/* The frame pointer is followed, or would be: to the caller? */
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

/* Where a call leads to, as far as the text has it */
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
 * Which functions keep frame records?  What begins in the midst of one, as a part that is
 * seldom executed does, has both saved from its first instruction on.
 */
static void find_records(struct text *text)
{
	size_t at;

	for (at = 0; at < text->nr; at++) {
		/* What nothing is said of belongs to another function */
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

/* Is it good? */
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
