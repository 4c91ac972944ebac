// SPDX-License-Identifier: GPL-2.0
/*
 * Notes: addresses without a row, and faults of the CFI.
 */
#include <stdlib.h>

#include "notes.h"

static const char * const texts[UNWIND_NOTE_TYPES] = {
	[UNWIND_NOTE_CFA] = "SFrame has no rule for the CFA",
	[UNWIND_NOTE_RA] = "SFrame has no rule for the return address",
	[UNWIND_NOTE_SP] = "the stack pointer is not the CFA",
	[UNWIND_NOTE_OFFSET] = "an offset is too large",
	[UNWIND_NOTE_PROGRAM] = "the CFI makes no sense",
	[UNWIND_NOTE_ENTRY] = "the entry makes no sense",
	[UNWIND_NOTE_OUTSIDE] = "the address is not executable",
	[UNWIND_NOTE_HIDDEN] = "another entry lies within this function",
	[UNWIND_NOTE_SECTION] = "the section makes no sense from here on",
	[UNWIND_NOTE_NO_ENTRY] = "no entry describes this code",
	[UNWIND_NOTE_FP] = "the caller's frame pointer is lost",
	[UNWIND_NOTE_OVERLAP] = "two entries describe this",
	[UNWIND_NOTE_BEYOND] = "the CFI goes on after the function's end",
};

/**
 * unwind_note_text - what a note is about, in words
 * @type: one of &enum unwind_note_type
 *
 * Return: a few words.
 */
const char *unwind_note_text(unsigned int type)
{
	return type < UNWIND_NOTE_TYPES ? texts[type] : "?";
}

/**
 * unwind_note_is_gap - do the note's addresses have no row?
 * @type: one of &enum unwind_note_type
 *
 * Return: true if so; false if the CFI is wrong, or SFrame says less, but it is used.
 */
bool unwind_note_is_gap(unsigned int type)
{
	return type <= UNWIND_NOTE_NO_ENTRY;
}

/* A note that continues the last one is merged with it */
static bool extend_last(struct notes *notes, unsigned int type, __u64 start,
			__u64 end)
{
	struct unwind_note *last;

	if (!notes->nr)
		return false;
	last = &notes->list[notes->nr - 1];
	if (last->type != type || last->end != start || start == end)
		return false;
	last->end = end;
	return true;
}

/* Without memory for the list, the note is still counted. @func is the start of the function. */
void notes_add(struct notes *notes, unsigned int type, __u64 start, __u64 end,
	       __u64 func)
{
	struct unwind_note *list = notes->list;
	size_t room = notes->room;

	if (start != func && extend_last(notes, type, start, end))
		return;
	notes->counts[type]++;
	if (notes->nr == UNWIND_NOTES_MAX)
		return;
	if (notes->nr == room) {
		room = room ? 2 * room : 64;
		list = realloc(list, room * sizeof(*list));
		if (!list)
			return;
		notes->list = list;
		notes->room = room;
	}
	list[notes->nr++] = (struct unwind_note){
		.start = start,
		.end = end,
		.type = type,
		.offset = start - func,
	};
}
