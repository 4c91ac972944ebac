/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The service's last answers, for "unwind-tables status".
 */
#ifndef _UNWIND_TABLES_ANSWERS_H
#define _UNWIND_TABLES_ANSWERS_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>

/* Limit of the files that are remembered; a later one may take the place of an earlier one */
#define ANSWERS_MAX	1024

/**
 * struct answered - what became of a file
 * @dev: its device
 * @ino: its inode
 * @ms: how long the service took for it, in milliseconds
 * @refused: it has no table
 * @why: the reason, if it has none
 * @path: its name, or the end of it
 */
struct answered {
	__u64	dev;
	__u64	ino;
	__u32	ms;
	__u32	refused;
	char	why[96];
	char	path[392];
};

int answers_create(bool keep);
void answers_note(int answers, int fd, __u64 ms, const char *why);

struct answered *answers_read(void);
const struct answered *answers_find(const struct answered *list, dev_t dev, ino_t ino);

#endif /* _UNWIND_TABLES_ANSWERS_H */
