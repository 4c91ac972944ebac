/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random programs over the whole surface of the feature, see surface_test.c.
 *
 * A drawer is a thread that draws operations.  An operation depends on the seed, the number
 * of its drawer and its own number alone, and on no outcome.  So the same seed makes
 * the same programs, in another interleaving.
 *
 * Each drawer has addresses, keys and files of its own.  It knows what it has registered
 * there, and with which result each operation must end.  Structures are right, but for one
 * word in some of them; then any result is right.
 */
#ifndef SELFTEST_UNWIND_SURFACE_H
#define SELFTEST_UNWIND_SURFACE_H

#include <linux/types.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SURFACE_PROCESSES	4
#define SURFACE_THREADS		2
#define SURFACE_DRAWERS		(SURFACE_PROCESSES * SURFACE_THREADS)
#define SURFACE_LAST		16
#define SURFACE_OPERATIONS	64
#define SURFACE_SETTINGS	3
/* The descriptor of what is shared, across exec */
#define SURFACE_FD		200

/* One for each process */
#define SURFACE_INSTANCE	"/sys/kernel/tracing/instances/unwind-surface-%u"

/* An operation, for the report of a failure */
struct surface_done {
	unsigned int	number;
	unsigned int	operation;
	int		ret;
	bool		in_child;
	bool		begun;
};

/* All processes share this */
struct surface_shared {
	uint64_t		seed;
	/* Operations that are left out, a bit each */
	uint64_t		skipped;
	atomic_uint		stop;
	atomic_uint		errors;
	struct surface_drawer {
		/* The next operation, and the number after the last one */
		atomic_uint		next;
		unsigned int		end;
		struct surface_done	last[SURFACE_LAST];
	}			drawer[SURFACE_DRAWERS];
	atomic_int		process[SURFACE_PROCESSES];
	atomic_ulong		done[SURFACE_OPERATIONS];
	atomic_ulong		answers;
	atomic_ulong		restarts;
	/* File servers that run */
	atomic_int		servers;
	/* The sysctls before the test */
	long			usual[SURFACE_SETTINGS];
	/* A process could have few ranges at some time, so the kernel may have refused some */
	atomic_bool		few_ranges;
	/* The root of the control groups; empty without them */
	char			groups[64];
};

extern struct surface_shared *surface;

/* The drawer of this thread, and the random numbers of its operation */
extern __thread unsigned int drawer;
extern __thread bool in_child;
uint32_t draw(uint32_t below);
bool one_in(uint32_t n);

/* Let one word of a structure be another, at times; was it? */
bool spoil(void *what, size_t size);

/* A result that must not be: report it; and what this drawer did before */
void surface_error(const char *what, long ret);
void surface_print_last(unsigned int of_drawer);

/* An operation returns 0, -errno or a positive number; it reports what is wrong itself */
struct surface_operation {
	const char	*name;
	unsigned int	weight;
	int		(*operate)(void);
	/* Not in a child, which has one thread and little time */
	bool		not_in_child;
};

/* Lists end with a name of NULL */
extern const struct surface_operation surface_memory[];
extern const struct surface_operation surface_frames[];
extern const struct surface_operation surface_tasks[];
extern const struct surface_operation surface_clients[];
extern const struct surface_operation surface_files[];
extern const struct surface_operation surface_text[];
extern const struct surface_operation surface_probes[];
extern const struct surface_operation surface_settings[];

/* Draw some operations that a child may do */
void surface_draw_in_child(unsigned int nr);

/* Before a drawer's first operation; after its last one */
void memory_start(void);
void tasks_start(void);
void tasks_end(void);
void clients_end(void);
/* This process is a new child, which has no buffers of events */
void clients_in_child(void);
struct perf_event_attr;
/* Choose how stacks are taken; open an event of this thread, which other operations use */
void clients_choose_mode(struct perf_event_attr *attr);
int clients_open_event(const struct perf_event_attr *attr);
/* No uprobe is left, when this returns */
void probes_end(void);
/* Call some code that the drawer has mapped */
int memory_call(void);

/*
 * A file of code (code_file_usual) on a file system of the drawer, which is mounted if it is
 * not; or -1.  @whole: all of it is read
 */
int files_open_served(bool whole);
int files_open_overlaid(void);
/* Unmount all, and count the file servers that still run */
int files_unmount(void);
/* This program is such a server */
int files_serve(int fd);

/* Trace instances outlive processes.  Remove them all; true if there is none */
void clients_change_instances(unsigned int number);
bool clients_clean(void);

/*
 * The main process saves and restores the sysctls, and makes and removes control groups:
 * drawers may be killed before they have undone anything.
 */
void settings_save(void);
void settings_restore(void);
void groups_start(void);
void groups_change(unsigned int number);
/* Remove all groups, and count the ones that are still there */
int groups_remove(void);

#endif /* SELFTEST_UNWIND_SURFACE_H */
