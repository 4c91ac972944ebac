// SPDX-License-Identifier: GPL-2.0
/*
 * The stress module and its files in debugfs.
 *
 * UNWIND_MODULES is the kernel's build directory, where modules are not installed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "stress_check.h"
#include "stress_module.h"
#include "../../kselftest.h"

#define NAME	"unwind_stress"
#define DIR	"/sys/kernel/debug/" NAME "/"
#define CHUNK	1024

int module_load(void)
{
	const char *build = getenv("UNWIND_MODULES");
	struct utsname uts;
	char path[256];
	int fd, err = 0;

	if (build) {
		snprintf(path, sizeof(path),
			 "%s/kernel/unwind/tests/" NAME ".ko", build);
	} else {
		uname(&uts);
		snprintf(path, sizeof(path),
			 "/lib/modules/%s/kernel/kernel/unwind/tests/" NAME ".ko",
			 uts.release);
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (syscall(SYS_finit_module, fd, "", 0))
		err = errno;
	close(fd);
	return err;
}

int module_unload(void)
{
	return syscall(SYS_delete_module, NAME, O_NONBLOCK) ? errno : 0;
}

static int file_open(const char *name, int flags)
{
	char path[128];

	snprintf(path, sizeof(path), DIR "%s", name);
	return open(path, flags | O_CLOEXEC);
}

bool module_set(const char *name, unsigned long value)
{
	int fd = file_open(name, O_WRONLY);
	char text[32];
	int len = snprintf(text, sizeof(text), "%lu\n", value);
	bool done = fd >= 0 && write(fd, text, len) == len;

	if (!done)
		ksft_print_msg("writing %lu to %s: %s\n", value, name,
			       strerror(errno));
	close(fd);
	return done;
}

bool module_wait(const char *name)
{
	int fd = file_open(name, O_RDONLY);
	char text[32];
	bool done = fd >= 0 && read(fd, text, sizeof(text)) > 0;

	close(fd);
	return done;
}

void module_show(const char *name)
{
	int fd = file_open(name, O_RDONLY);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		ksft_print_msg("%s", line);
	if (file)
		fclose(file);
}

bool module_check(struct check *check,
		  void (*each)(const struct unwind_stress_event *event))
{
	static struct unwind_stress_event event[CHUNK];
	int fd = file_open("events", O_RDONLY);
	ssize_t i, len = -1;

	while (fd >= 0 && (len = read(fd, event, sizeof(event))) > 0) {
		for (i = 0; i < len / (ssize_t)sizeof(*event); i++) {
			check_event(check, &event[i]);
			if (each)
				each(&event[i]);
		}
	}
	if (len)
		ksft_print_msg("reading the log: %s\n", strerror(errno));
	close(fd);
	return !len;
}
