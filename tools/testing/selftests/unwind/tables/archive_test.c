// SPDX-License-Identifier: GPL-2.0
/*
 * A table of a file that only its process can name: file_test.c has files whose tables the
 * kernel finds.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "code_register.h"
#include "file_env.h"
#include "image.h"
#include "../../kselftest_harness.h"

FIXTURE(archive)
{
	struct file_env env;
	char path[64];
};

FIXTURE_VARIANT(archive)
{
	const char *fs;
};

FOR_EACH_COUNTING_FS(archive);

FIXTURE_SETUP(archive)
{
	const char *why = env_setup(&self->env);

	if (why)
		SKIP(return, "%s", why);
	if (!is_mounted(variant->fs))
		SKIP(return, "no %s, or not root", fs_name(variant->fs));
	snprintf(self->path, sizeof(self->path), "%s/archive", variant->fs);
}

FIXTURE_TEARDOWN(archive)
{
	env_teardown(&self->env);
	unlink(self->path);
}

/* Where the archive has the image */
#define ARCHIVED	0x40000

static int make_archive(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	char *image;
	size_t size;
	bool done;

	if (fd < 0)
		return -1;
	image = file_bytes(&code_file_usual, &size);
	done = image && pwrite(fd, "PK\3\4", 4, 0) == 4 &&
	       pwrite(fd, image, size, ARCHIVED) == (ssize_t)size && !file_settle(fd);
	free(image);
	close(fd);
	return done ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

/* Loaders of some systems map libraries out of archives, and can register them */
TEST_F(archive, image_inside_an_archive_has_a_table_if_it_is_registered)
{
	struct code_file inside = code_file_usual;
	struct file_env *env = &self->env;
	struct unwind_table_attr attr = {
		.format = UNWIND_FORMAT_SFRAME,
		.key = 1,
		.table_size = code_file_table_size(&inside),
		.text_size = sysconf(_SC_PAGESIZE),
	};

	inside.text[0].offset += ARCHIVED;
	inside.table.offset += ARCHIVED;
	env->fd = make_archive(self->path);
	ASSERT_LE(0, env->fd);
	ASSERT_EQ(0, code_image_map(&env->image, &inside, env->fd, NULL));
	EXPECT_TRUE(never_through(env, &env->image));

	attr.table_start = (uintptr_t)env->image.base + inside.table.vaddr;
	attr.text_start = (uintptr_t)env->image.base + inside.text[0].vaddr;
	ASSERT_EQ(0, unwind_table_add(&attr));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	EXPECT_EQ(0, unwind_table_del(attr.key));
	EXPECT_TRUE(never_through(env, &env->image));
}

TEST_HARNESS_MAIN
