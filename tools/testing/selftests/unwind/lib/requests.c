// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to the table service, see requests.h.
 */
#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "requests.h"

bool same_file(int a, int b)
{
	struct stat sa, sb;

	return !fstat(a, &sa) && !fstat(b, &sb) && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

int await_request(int device, struct unwind_request *request)
{
	struct pollfd poll_fd = { .fd = device, .events = POLLIN };

	if (poll(&poll_fd, 1, 5000) != 1)
		return -ETIMEDOUT;
	if (read(device, request, sizeof(*request)) != sizeof(*request))
		return -errno;
	return 0;
}

int await_request_for(int device, int fd, struct unwind_request *request)
{
	struct unwind_answer none = {};
	int ret;

	for (;;) {
		ret = await_request(device, request);
		if (ret || same_file(request->fd, fd))
			return ret;
		none.id = request->id;
		none.fd = request->fd;
		ioctl(device, UNWIND_IOC_NONE, &none);
		close(request->fd);
	}
}

bool no_request_for(int device, int fd)
{
	struct unwind_request request;
	bool found = false;

	while (read(device, &request, sizeof(request)) == sizeof(request)) {
		found |= same_file(request.fd, fd);
		close(request.fd);
	}
	return !found;
}
