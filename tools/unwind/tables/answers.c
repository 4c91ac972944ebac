// SPDX-License-Identifier: GPL-2.0
/*
 * A small file in which the service leaves what it has answered:
 *
 *   serve ──> /run/unwind-tables/answers ──> status
 *
 * The kernel lists the tables that it has.  It does not know why a file has none, or how
 * long that took.  The file is an array of ANSWERS_MAX records, so it never grows, and a
 * reader needs no lock.  A record's place follows from the file's device and inode.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answers.h"
#include "mapped.h"

/* systemd says where, if RuntimeDirectory= is set */
#define DIR	"/run/unwind-tables"
#define NAME	"answers"

static unsigned int place_of(__u64 dev, __u64 ino)
{
	return (dev * 31 + ino) % ANSWERS_MAX;
}

static int open_file(int flags)
{
	const char *dir = getenv("RUNTIME_DIRECTORY") ?: DIR;
	char path[4096];

	if (flags & O_CREAT)
		mkdir(dir, 0755);
	if (snprintf(path, sizeof(path), "%s/" NAME, dir) >= (int)sizeof(path))
		return -1;
	/* It has names of files that not everybody may know */
	return open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/**
 * answers_create - begin to note answers
 * @keep: leave what an earlier instance has noted
 *
 * Return: a descriptor; or -1 with errno: then nothing is noted.
 */
int answers_create(bool keep)
{
	return open_file(O_WRONLY | O_CREAT | (keep ? 0 : O_TRUNC));
}

/**
 * answers_note - note an answer
 * @answers: from answers_create()
 * @fd: the file
 * @ms: how long the service took for it, in milliseconds
 * @why: the reason why it has no table; or NULL
 */
void answers_note(int answers, int fd, __u64 ms, const char *why)
{
	struct answered answered = { .ms = ms, .refused = !!why };
	char path[4096];
	struct stat st;
	size_t len;

	if (answers < 0 || fstat(fd, &st))
		return;
	name_of_file(fd, path, sizeof(path));
	len = strlen(path);
	if (len >= sizeof(answered.path))
		len = sizeof(answered.path) - 1;
	memcpy(answered.path, path + strlen(path) - len, len);
	snprintf(answered.why, sizeof(answered.why), "%s", why ?: "");
	answered.dev = st.st_dev;
	answered.ino = st.st_ino;
	/* If this fails, status shows no answer for the file */
	if (pwrite(answers, &answered, sizeof(answered),
		   place_of(answered.dev, answered.ino) * sizeof(answered)) < 0)
		return;
}

/**
 * answers_read - read what the service has answered
 *
 * Return: ANSWERS_MAX records, to be freed; those without a path are empty.  Or NULL.
 */
struct answered *answers_read(void)
{
	struct answered *list = calloc(ANSWERS_MAX, sizeof(*list));
	unsigned int i;
	int fd;

	if (!list)
		return NULL;
	fd = open_file(O_RDONLY);
	if (fd < 0)
		return list;
	if (read(fd, list, ANSWERS_MAX * sizeof(*list)) < 0)
		memset(list, 0, ANSWERS_MAX * sizeof(*list));
	close(fd);
	for (i = 0; i < ANSWERS_MAX; i++) {
		list[i].why[sizeof(list[i].why) - 1] = '\0';
		list[i].path[sizeof(list[i].path) - 1] = '\0';
		make_printable(list[i].why);
		make_printable(list[i].path);
	}
	return list;
}

/**
 * answers_find - find what became of a file
 * @list: from answers_read()
 * @dev: its device
 * @ino: its inode
 *
 * Return: the record, or NULL.
 */
const struct answered *answers_find(const struct answered *list, dev_t dev, ino_t ino)
{
	const struct answered *answered = &list[place_of(dev, ino)];

	return answered->dev == dev && answered->ino == ino && *answered->path ? answered : NULL;
}
