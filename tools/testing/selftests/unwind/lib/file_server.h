/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file system that a process of the test serves (FUSE).
 *
 * Its directory has some files of code (code_file_usual), each with the same contents.  The
 * test can have the server hold back what is read of them, but for the text.
 */
#ifndef SELFTEST_UNWIND_FILE_SERVER_H
#define SELFTEST_UNWIND_FILE_SERVER_H

#include <stdatomic.h>

#define FILE_SERVER_FILES	2
extern const char * const file_server_names[FILE_SERVER_FILES];

/*
 * Shared with the server: whether to hold reads back, and how many were; and whether files that
 * are opened have no pages in memory
 */
struct file_server_control {
	atomic_bool	hold;
	atomic_uint	nr_held;
	atomic_bool	direct;
};

/* Mount it, at a directory that is made for it; return the server's descriptor, or -1 */
int file_server_mount(const char *dir);

/* Serve until the file system is gone; return 0, or 1 without memory */
int file_server_run(int fd, struct file_server_control *control);

#endif /* SELFTEST_UNWIND_FILE_SERVER_H */
