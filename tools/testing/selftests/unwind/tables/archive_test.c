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

#define KEY	1

/* Map the image as a loader does that finds it in the archive; 0 or -1 */
static int map_archived(struct file_env *env, struct code_file *inside, const char *path)
{
	*inside = code_file_usual;
	inside->text[0].offset += ARCHIVED;
	inside->table.offset += ARCHIVED;
	env->fd = make_archive(path);
	return env->fd < 0 ? -1 : code_image_map(&env->image, inside, env->fd, NULL);
}

/* Loaders of some systems map libraries out of archives, and can register them */
TEST_F(archive, image_inside_an_archive_has_a_table_if_it_is_registered)
{
	struct file_env *env = &self->env;
	struct code_file inside;

	ASSERT_EQ(0, map_archived(env, &inside, self->path));
	EXPECT_TRUE(never_through(env, &env->image));
	ASSERT_EQ(0, code_image_register(&env->image, KEY));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	EXPECT_EQ(0, unwind_table_del(KEY));
	EXPECT_TRUE(never_through(env, &env->image));
}

/* The archive itself is no image, which is no fault of a file that is asked for its part */
TEST_F(archive, that_is_registered_for_an_image_is_not_invalid)
{
	struct file_env *env = &self->env;
	struct code_file inside;

	ASSERT_EQ(0, trace_all(&env->trace));
	ASSERT_EQ(0, map_archived(env, &inside, self->path));
	ASSERT_EQ(0, code_image_register(&env->image, KEY));
	EXPECT_EQ(THROUGH, through(env, &env->image));
	EXPECT_ONE_LOAD(env, env->fd);
	/* As text of its own, it is looked at, and reported once */
	EXPECT_EQ(0, unwind_table_del(KEY));
	EXPECT_TRUE(never_through(env, &env->image));
	EXPECT_EQ(1, faults(env, env->fd));
}

TEST_HARNESS_MAIN
