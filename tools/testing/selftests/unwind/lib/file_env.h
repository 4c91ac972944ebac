/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of the tables of files: a mapped file of code, what the kernel reports of its
 * table, and file systems to put it on.
 *
 * The code keeps no frame pointer (code.h).  So a stack that passes it continues only by
 * the right table.  Without a table it ends there, THROUGH_NOT.  With one that is out of
 * date it ends there, too, or has a wrong frame, THROUGH_ERROR.
 */
#ifndef SELFTEST_UNWIND_FILE_ENV_H
#define SELFTEST_UNWIND_FILE_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code.h"
#include "code_file.h"
#include "trace.h"

struct file_env {
	struct sampler sampler;
	struct trace trace;
	struct code_image image;
	int fd;
};

/* Return NULL, or the reason why the tests cannot run */
const char *env_setup(struct file_env *env);
void env_teardown(struct file_env *env);

/* A right table, for frames of another size */
struct code_file with_frame(const struct code_file *file, unsigned int frame);

/* A new file, which has settled, opened for reading; or -1 */
int make_file(const struct code_file *file, const char *path);
/* The same, and map it; 0 or -1 */
int map_file(struct file_env *env, const struct code_file *file, const char *path);

/* The contents of a file, to be freed; or NULL */
char *file_bytes(const struct code_file *file, size_t *size);

/* A usual file, whose section is so large that a worker loads its table; or -1 */
int large_memfd(void);

/*
 * Stacks
 */

enum through through(struct file_env *env, const struct code_image *image);

/* Do three stacks end in the function? */
bool never_through(struct file_env *env, const struct code_image *image);

/* Take stacks until one passes the function, or one is wrong; for some seconds at most */
enum through await_through(struct file_env *env, const struct code_image *image);

/* Take stacks until the kernel reports that the file is invalid, or one does not end there */
enum through await_fault(struct file_env *env, const struct code_image *image, int fd);

/* A clock that nobody sets */
int64_t now_ms(void);

/*
 * Events since the trace was cleared: tables of a file that were loaded, and reports that
 * it has a bad one
 */

size_t loads(struct file_env *env, int fd);
/* The same; a worker's event may come after its table */
size_t await_loads(struct file_env *env, int fd);
size_t faults(struct file_env *env, int fd);

/* One table, for all segments, mappings and processes */
#define EXPECT_ONE_LOAD(env, fd)					\
	do {								\
		struct file_env *_one_env = (env);			\
		const int _one_fd = (fd);				\
									\
		EXPECT_EQ(1, await_loads(_one_env, _one_fd));		\
		EXPECT_EQ(0, faults(_one_env, _one_fd));		\
	} while (0)

/*
 * File systems.  They belong to the test program, and are gone when it exits.
 */

#define TMPFS	"/tmp/tmpfs"
#define RAMFS	"/tmp/ramfs"
#define EXT4	"/tmp/ext4"
#define BTRFS	"/tmp/btrfs"

/* Is there such a file system? */
bool is_mounted(const char *dir);
#define fs_name(dir)	((dir) + sizeof("/tmp/") - 1)

/*
 * Those that count the changes of a file (i_version).  ramfs does not: a file there has
 * a table only 3 s after its last change, for which few tests wait.
 */
#define FOR_EACH_COUNTING_FS(fixture)					\
	FIXTURE_VARIANT_ADD(fixture, on_tmpfs) { .fs = TMPFS };		\
	FIXTURE_VARIANT_ADD(fixture, on_ext4) { .fs = EXT4 };		\
	FIXTURE_VARIANT_ADD(fixture, on_btrfs) { .fs = BTRFS }

/* Mount a new file system at @dir; @size is NULL if it has no image */
bool make_fs(const char *type, const char *size, const char *dir);

/* With smaller blocks, a page that was written in part is not in the page cache */
#define EXT4_OF_PAGES	"ext4 -b 4096"

#endif /* SELFTEST_UNWIND_FILE_ENV_H */
