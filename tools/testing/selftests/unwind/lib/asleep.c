// SPDX-License-Identifier: GPL-2.0
/* Read a task's system call from /proc, which knows it while the task does not run. */
#include <stdio.h>

#include "asleep.h"

int sleeps_in(pid_t pid)
{
	char path[64], line[512];
	FILE *file;
	int nr = -1;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	file = fopen(path, "r");
	if (!file)
		return -2;
	/* "running" has no number */
	if (fgets(line, sizeof(line), file))
		sscanf(line, "%d", &nr);
	fclose(file);
	return nr;
}
