// SPDX-License-Identifier: GPL-2.0
/* Is the deferred core of the kernel that runs this project's own?  Mainline has another. */
#include <linux/perf_event.h>
#include <unistd.h>

#include "perf.h"

bool has_own_core(void)
{
	struct perf_event_attr attr;
	int fd;

	event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr.defer_runtime = 1;
	fd = event_open(&attr, 0, -1);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}
