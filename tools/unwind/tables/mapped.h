/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files that processes have mapped as text.
 */
#ifndef _UNWIND_TABLES_MAPPED_H
#define _UNWIND_TABLES_MAPPED_H

#include <stddef.h>
#include <sys/types.h>

/**
 * struct mapped - a file that is mapped as text
 * @dev: its device
 * @ino: its inode
 * @path: the path that one of the processes has for it
 * @users: how many processes have it mapped
 * @pid: the last of them
 */
struct mapped {
	dev_t		dev;
	ino_t		ino;
	char		*path;
	unsigned int	users;
	pid_t		pid;
};

/**
 * struct mapped_list - all of them
 * @files: sorted by device and inode
 * @nr: number of files
 */
struct mapped_list {
	struct mapped	*files;
	size_t		nr;
};

void make_printable(char *text);
void name_of_file(int fd, char *name, size_t size);
int mapped_read(struct mapped_list *list);
const struct mapped *mapped_find(const struct mapped_list *list, dev_t dev, ino_t ino);
void mapped_free(struct mapped_list *list);
void mapped_files(void (*visit)(int fd, void *arg), void *arg);

#endif /* _UNWIND_TABLES_MAPPED_H */
