/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sample client (samples/unwind/client.c) as tests see it: a module that is
 * loaded and unloaded, and a stream of its trace events.
 */
#ifndef SELFTEST_UNWIND_CLIENT_EVENTS_H
#define SELFTEST_UNWIND_CLIENT_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CLIENT_STACK_MAX	512

/*
 * Load it, to ask so often per second and CPU; 0, or -1 with errno. The file is
 * looked for below $UNWIND_MODULES, what the kernel was built in, or where "make
 * modules_install" puts it.
 */
int client_load(unsigned int rate);
int client_unload(void);

/* Something of one task that the client traced */
struct client_event {
	pid_t		pid;
	uint64_t	cookie;
	bool		is_stack;
	/* Of a request */
	int		ret;
	bool		in_nmi;
	/* Of a stack: the length that it had, and the addresses that are there */
	unsigned int	nr;
	unsigned int	nr_ip;
	unsigned long	ip[CLIENT_STACK_MAX];
};

/* A trace instance of its own, read as it is written */
struct client_events {
	char	dir[96];
	int	fd;
	size_t	used;
	char	text[1 << 16];
};

/* 0, or -1 with errno: ENOENT without tracefs */
int client_events_open(struct client_events *events);
void client_events_close(struct client_events *events);
/* Begin to trace; to be called each time that the module was loaded */
int client_events_enable(struct client_events *events, bool enable);

/*
 * The next event.  1; 0 if there is none, and @wait is not set; -1 if something
 * else was read, events were lost, or none came for a minute.
 */
int client_events_next(struct client_events *events, struct client_event *event,
		       bool wait);

#endif /* SELFTEST_UNWIND_CLIENT_EVENTS_H */
