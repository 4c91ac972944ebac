/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Libraries that differ in their frame sizes only (see twin.c), and addresses to map
 * them.
 */
#ifndef SELFTEST_UNWIND_TWINS_H
#define SELFTEST_UNWIND_TWINS_H

#include "image.h"
#include "run.h"
#include "truth.h"

#define TWINS		3

/* Far from the kernel's own choices: such an address belongs to no other code, in any program. */
#define PLACE(i)	((void *)(0x1000000000UL + 0x1000000UL * (i)))

struct twins {
	struct elf	elf[TWINS];
	int		fd[TWINS];
};

extern const char * const twin_names[TWINS];

/* Read the files; 0, or -1 with errno */
int twins_open(struct twins *twins);
void twins_close(struct twins *twins);

/* Map a twin at @where, over existing mappings; return where its code begins, or NULL */
run_fn twins_map(const struct twins *twins, unsigned int i,
		 struct image *image, void *where);

/* Move it as a whole, over existing mappings; return where its code begins, or NULL */
run_fn twins_move(struct image *image, void *to);

/*
 * Map a twin at @where, and find its functions and their return addresses; -1 if these
 * are not the same for all twins.
 */
int twins_truth(const struct twins *twins, void *where, struct truth *truth);

/* Call @fn @rounds times; @run, if not NULL, receives its notes */
void twins_run(struct run *run, run_fn fn, unsigned long rounds);

#endif /* SELFTEST_UNWIND_TWINS_H */
