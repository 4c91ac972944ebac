/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Notes while the converter writes them.
 */
#ifndef _UNWIND_TABLES_NOTES_H
#define _UNWIND_TABLES_NOTES_H

#include "convert.h"

/**
 * struct notes - notes of a file
 * @list: at most UNWIND_NOTES_MAX
 * @nr: how many there are
 * @room: for how many there is memory
 * @counts: by type, including notes that are not in the list
 */
struct notes {
	struct unwind_note	*list;
	size_t			nr;
	size_t			room;
	__u64			counts[UNWIND_NOTE_TYPES];
};

void notes_add(struct notes *notes, unsigned int type, __u64 start, __u64 end,
	       __u64 func);

#endif /* _UNWIND_TABLES_NOTES_H */
