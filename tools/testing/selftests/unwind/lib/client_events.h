/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sample client (samples/unwind/client.c) as tests use it: they load and unload a
 * module, and read its trace events.
 */
#ifndef SELFTEST_UNWIND_CLIENT_EVENTS_H
#define SELFTEST_UNWIND_CLIENT_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CLIENT_STACK_MAX	512

/*
 * Load it with a number of requests per second and CPU; 0, or -1 with errno. The file is
 * searched below $UNWIND_MODULES, the kernel's build directory, and where "make
 * modules_install" puts it.
 */
int client_load(unsigned int rate);
int client_unload(void);

/* An event that the client traced for a task */
struct client_event {
	pid_t		pid;
	uint64_t	cookie;
	bool		is_stack;
	/* For a request */
	int		ret;
	bool		in_nmi;
	/* For a stack: its full length, and the addresses that were recorded */
	unsigned int	nr;
	unsigned int	nr_ip;
	unsigned long	ip[CLIENT_STACK_MAX];
};

/* A separate trace instance, read while it is written */
struct client_events {
	char	dir[96];
	int	fd;
	size_t	used;
	char	text[1 << 16];
};

/* 0, or -1 with errno: ENOENT without tracefs */
int client_events_open(struct client_events *events);
void client_events_close(struct client_events *events);
/* Start tracing; call it after each load of the module */
int client_events_enable(struct client_events *events, bool enable);

/*
 * Get the next event. Return 1; 0 if there is none and @wait is not set; -1 if something
 * else was read, events were lost, or none came for a minute.
 */
int client_events_next(struct client_events *events, struct client_event *event,
		       bool wait);

#endif /* SELFTEST_UNWIND_CLIENT_EVENTS_H */
