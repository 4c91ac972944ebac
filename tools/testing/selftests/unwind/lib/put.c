// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "put.h"

int put_word(const char *dir, const char *name, const char *word)
{
	const ssize_t len = strlen(word);
	char path[256];
	int fd, ret;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	errno = EIO;
	ret = write(fd, word, len) == len ? 0 : -errno;
	close(fd);
	return ret;
}
