/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests of the kernel to the table service, read from /dev/unwind.
 */
#ifndef SELFTEST_UNWIND_REQUESTS_H
#define SELFTEST_UNWIND_REQUESTS_H

#include <linux/unwind.h>
#include <stdbool.h>

bool same_file(int a, int b);

/* Read a request, for some seconds at most; 0 or a negative error */
int await_request(int device, struct unwind_request *request);

/* The request for @fd; others, of the system's own programs, get no table */
int await_request_for(int device, int fd, struct unwind_request *request);

/* Is there no request for @fd?  The device does not block. */
bool no_request_for(int device, int fd);

#endif /* SELFTEST_UNWIND_REQUESTS_H */
