// SPDX-License-Identifier: GPL-2.0
/*
 * The part of a function that its compiler has moved away.
 *
 * Code that is seldom executed goes to another place.  That has an entry of its own in the
 * CFI, and in a stripped file no symbol.  Jumps of the function lead into the midst of it.
 * Jumps to other functions lead to their beginnings, or to the PLT.  So the part is where
 * more than half of those lead that leave the function and do not lead to a beginning.
 */
#include <elf.h>

#include "cfi.h"
#include "elf_file.h"

/* Fewer jumps may be bytes that only look like some */
#define MIN_JUMPS	3

/**
 * struct jump - a jump in the text
 * @target: where to
 * @size: bytes of the instruction; 0 if there is no jump
 */
struct jump {
	__u64	target;
	size_t	size;
};

/* Any byte may begin a jump.  Bytes that only look like one hardly ever lead to text. */
static struct jump jump_x86(struct reader r, __u64 addr)
{
	size_t size = 5;
	__u8 opcode = read_u8(&r);
	__s64 distance;

	if (opcode == 0x0f) {
		opcode = read_u8(&r) & 0xf0;
		size = 6;
	}
	if (opcode != (size == 5 ? 0xe9 : 0x80))
		return (struct jump){};
	distance = read_sint(&r, 4);
	return r.bad ? (struct jump){} : (struct jump){ addr + size + distance, size };
}

/* The signed number of @bits bits from bit @low on, in instructions */
static __s64 distance_arm64(__u32 insn, unsigned int low, unsigned int bits)
{
	return ((__s64)((__u64)insn << (64 - low - bits)) >> (64 - bits)) * 4;
}

static struct jump jump_arm64(struct reader r, __u64 addr)
{
	__u32 insn = read_uint(&r, 4);

	if (r.bad)
		return (struct jump){};
	if (insn >> 26 == 0x05)				/* b */
		return (struct jump){ addr + distance_arm64(insn, 0, 26), 4 };
	if (insn >> 24 == 0x54 || (insn & 0x7e000000) == 0x34000000)	/* b.cond, cbz */
		return (struct jump){ addr + distance_arm64(insn, 5, 19), 4 };
	if ((insn & 0x7e000000) == 0x36000000)		/* tbz */
		return (struct jump){ addr + distance_arm64(insn, 5, 14), 4 };
	return (struct jump){};
}

/* The entry that has an address, if it does not begin there; else NULL */
static const struct cfi_fde *find_fde(const struct cfi_list *list, __u64 addr)
{
	size_t low = 0, high = list->nr_fdes;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (addr < list->fdes[mid].end)
			high = mid;
		else
			low = mid + 1;
	}
	return low < list->nr_fdes && addr > list->fdes[low].start ? &list->fdes[low] : NULL;
}

/**
 * struct vote - finds the entry that has more than half of all votes, if one has
 * @fde: the entry that leads
 * @lead: its votes less the votes for others, since it leads
 * @votes: votes for it
 * @all: all votes
 */
struct vote {
	const struct cfi_fde	*fde;
	size_t			lead;
	size_t			votes;
	size_t			all;
};

/* Call it with all votes, then again with @count, to count the votes for the one that leads */
static void add_vote(struct vote *vote, const struct cfi_fde *fde, bool count)
{
	if (count) {
		vote->all++;
		vote->votes += fde == vote->fde;
	} else if (!vote->lead) {
		vote->fde = fde;
		vote->lead = 1;
	} else {
		vote->lead += fde == vote->fde ? 1 : -1;
	}
}

static void add_votes(struct vote *vote, const struct elf_file *file,
		      const struct cfi_list *list, const struct text_range *func,
		      const struct text_range *section, struct reader r, bool count)
{
	const bool x86 = file->machine->elf == EM_X86_64;
	const struct cfi_fde *fde;
	__u64 addr = func->start;
	struct jump jump;
	size_t size;

	for (; reader_left(&r); addr += size) {
		jump = x86 ? jump_x86(r, addr) : jump_arm64(r, addr);
		size = jump.size ?: x86 ? 1 : 4;
		if (jump.size && jump.target - func->start >= func->end - func->start) {
			fde = find_fde(list, jump.target);
			if (fde && fde->start >= section->start && fde->end <= section->end)
				add_vote(vote, fde, count);
		}
		if (!read_bytes(&r, size))
			break;
	}
}

/**
 * split_part - find the part of a function that was moved away
 * @file: its file
 * @list: the file's CFI, sorted
 * @func: the function
 * @part: set on success
 *
 * Return: whether there is one.
 */
bool split_part(const struct elf_file *file, const struct cfi_list *list,
		const struct text_range *func, struct text_range *part)
{
	struct text_range section;
	struct vote vote = {};
	struct reader r;

	if (!elf_file_section(file, ".text", &section.start, &r) ||
	    func->start < section.start)
		return false;
	section.end = section.start + reader_left(&r);
	if (!read_bytes(&r, func->start - section.start) ||
	    func->end - func->start > reader_left(&r))
		return false;
	r.end = r.pos + (func->end - func->start);
	add_votes(&vote, file, list, func, &section, r, false);
	add_votes(&vote, file, list, func, &section, r, true);
	if (vote.votes < MIN_JUMPS || vote.votes <= vote.all / 2)
		return false;
	*part = (struct text_range){ vote.fde->start, vote.fde->end };
	return true;
}
