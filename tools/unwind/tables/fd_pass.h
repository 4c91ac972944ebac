/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Send a descriptor through a socket, and receive one.
 */
#ifndef _UNWIND_TABLES_FD_PASS_H
#define _UNWIND_TABLES_FD_PASS_H

#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

union fd_pass {
	struct cmsghdr	align;
	char		bytes[CMSG_SPACE(sizeof(int))];
};

/* Send @fd; without one if it is -1 */
static inline ssize_t fd_send(int sock, int fd)
{
	struct iovec iov = { .iov_base = "", .iov_len = 1 };
	union fd_pass control = {};
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

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
	return sendmsg(sock, &msg, MSG_NOSIGNAL);
}

/* Receive what fd_send() has sent: the descriptor, or -1 */
static inline int fd_receive(int sock)
{
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	union fd_pass control = {};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	const struct cmsghdr *found;
	int fd;

	if (recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	found = CMSG_FIRSTHDR(&msg);
	if (!found || found->cmsg_level != SOL_SOCKET || found->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(found), sizeof(fd));
	return fd;
}

#endif /* _UNWIND_TABLES_FD_PASS_H */
