/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The profile: how often, and for how long, which thread was where
 *
 *	row      process, thread, kernel's stack, user's stack -> samples, time asleep
 *	stack    numbers of locations, the innermost first
 *	location a file and an offset; or an address; or a function of a language
 *	string
 *
 * Each is stored once and has a number. All memory that grows with the profile is here,
 * and bounded: set_bound() says how many stacks there may be, and the other tables hold
 * a multiple of that. A stack that finds no room is counted as "[dropped]".
 */
#ifndef UNWIND_PROFILE_COUNTS_H
#define UNWIND_PROFILE_COUNTS_H

#include <stddef.h>

#include "profile.h"

enum location_kind {
	AT_NOTE, AT_KERNEL, AT_FILE, AT_ADDRESS, AT_FUNCTION
};

/*
 * The return address of a call belongs to the call, so @at is one less. No padding: this
 * is a key.
 */
struct location {
	unsigned int		kind;
	/* A file's number; of a note and a function, its name's */
	unsigned int		of;
	/* The address in the kernel or process, or the offset in the file */
	unsigned long long	at;
	/* Of a function: where it is defined */
	unsigned int		source;
	unsigned int		line;
};

/* Strings, locations and stacks that are always there */
enum { NO_STRING, STRING_DROPPED };
enum { LOCATION_DROPPED, LOCATION_MISSING };
enum { STACK_DROPPED, STACK_MISSING, NO_STACK };

/* More than a stack can have: each frame, and functions that they execute */
#define LOCATIONS	(FRAMES + LANGUAGE_FRAMES)

struct stack {
	const unsigned int	*location;
	unsigned int		nr;
};

/* A sample without its stacks. No padding: this is a key */
struct thread {
	unsigned int		pid;
	unsigned int		tid;
	char			comm[COMM_LEN];
};

struct row {
	struct thread		thread;
	unsigned int		kernel;
	unsigned int		user;
};

struct count {
	unsigned long long	samples;
	unsigned long long	asleep;
};

struct totals {
	unsigned long long	samples;
	/* Samples without a row, or with a stack that found no room */
	unsigned long long	dropped_samples;
	unsigned long long	dropped_stacks;
	/* Frames and names, each time that one found no room */
	unsigned long long	dropped_locations;
};

extern struct totals totals;

#define DEFAULT_STACKS	65536

/* Once, before all others */
void set_bound(unsigned int max_stacks);

/* Text of other programs: bytes that are not UTF-8, or control other text, become "?" */
unsigned int add_string(const char *text, size_t size);
const char *string(unsigned int number);
unsigned int nr_strings(void);

unsigned int add_location(const struct location *location);
const struct location *location(unsigned int number);
unsigned int nr_locations(void);

unsigned int add_stack(const unsigned int *location, unsigned int nr);
struct stack stack(unsigned int number);
unsigned int nr_stacks(void);

void count(const struct row *row, unsigned long long samples, unsigned long long asleep);
const struct row *row(unsigned int number);
const struct count *row_count(unsigned int number);
unsigned int nr_rows(void);

#endif /* UNWIND_PROFILE_COUNTS_H */
