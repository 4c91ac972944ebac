// SPDX-License-Identifier: GPL-2.0
/*
 * systemd's protocols, as sd_notify(3) and sd_listen_fds(3) describe them for programs
 * that do without its library: a datagram to $NOTIFY_SOCKET, and descriptors from number
 * 3 on, with their number in $LISTEN_FDS and names in $LISTEN_FDNAMES.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "service.h"

#define FIRST_FD	3

/* The name of the descriptor @fd, and its size; NULL if there are no more */
static const char *stored_name(int fd, size_t *size)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	const char *name = getenv("LISTEN_FDNAMES");

	if (!pid || !fds || !name || atoi(pid) != getpid() || fd >= FIRST_FD + atoi(fds))
		return NULL;
	for (; fd > FIRST_FD; fd--) {
		name += strcspn(name, ":");
		if (*name)
			name++;
	}
	*size = strcspn(name, ":");
	return name;
}

/**
 * service_stored_fd - find a descriptor that an earlier instance has stored
 * @name: the name that it was stored under
 *
 * Return: the descriptor, or -1.
 */
int service_stored_fd(const char *name)
{
	const char *here;
	size_t size;
	int fd;

	for (fd = FIRST_FD; (here = stored_name(fd, &size)); fd++) {
		if (size == strlen(name) && !memcmp(here, name, size)) {
			fcntl(fd, F_SETFD, FD_CLOEXEC);
			return fd;
		}
	}
	return -1;
}

/**
 * service_drop_stored - close descriptors that an earlier instance has stored
 * @prefix: how their names begin
 *
 * systemd closes its own copies a little later.
 *
 * Return: whether there were some.
 */
bool service_drop_stored(const char *prefix)
{
	char message[sizeof("FDSTOREREMOVE=1\nFDNAME=") + NAME_MAX];
	bool found = false;
	const char *name;
	size_t size;
	int fd;

	for (fd = FIRST_FD; (name = stored_name(fd, &size)); fd++) {
		if (size < strlen(prefix) || memcmp(name, prefix, strlen(prefix)))
			continue;
		snprintf(message, sizeof(message), "FDSTOREREMOVE=1\nFDNAME=%.*s", (int)size, name);
		close(fd);
		service_notify(message, -1);
		found = true;
	}
	return found;
}

/**
 * service_notify - send a message to systemd
 * @message: the message
 * @fd: a descriptor to send along; or -1
 *
 * Return: 0, also if there is no systemd; or a negative error.
 */
int service_notify(const char *message, int fd)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct iovec iov = {
		.iov_base = (void *)message,
		.iov_len = strlen(message),
	};
	union {
		struct cmsghdr	align;
		char		bytes[CMSG_SPACE(sizeof(int))];
	} control = {};
	struct msghdr msg = {
		.msg_name = &addr,
		.msg_iov = &iov,
		.msg_iovlen = 1,
	};
	int sock, ret = 0;

	if (!path || !*path || strlen(path) >= sizeof(addr.sun_path))
		return 0;
	memcpy(addr.sun_path, path, strlen(path));
	msg.msg_namelen = offsetof(struct sockaddr_un, sun_path) + strlen(path);
	if (*path == '@')
		addr.sun_path[0] = '\0';
	if (fd >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		control.align = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
		};
		memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
	}
	sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return -errno;
	if (sendmsg(sock, &msg, MSG_NOSIGNAL) < 0)
		ret = -errno;
	close(sock);
	return ret;
}
