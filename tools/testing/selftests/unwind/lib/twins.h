/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The libraries that differ in their frames only (see twin.c), and places to map
 * them at.
 */
#ifndef SELFTEST_UNWIND_TWINS_H
#define SELFTEST_UNWIND_TWINS_H

#include "image.h"
#include "run.h"
#include "truth.h"

#define TWINS		3

/*
 * Far from where the kernel maps anything by itself: such an address belongs to
 * no other code, in no program.
 */
#define PLACE(i)	((void *)(0x1000000000UL + 0x1000000UL * (i)))

struct twins {
	struct elf	elf[TWINS];
	int		fd[TWINS];
};

extern const char * const twin_names[TWINS];

/* Read the files; 0, or -1 with errno */
int twins_open(struct twins *twins);
void twins_close(struct twins *twins);

/* Map one at a place, over what is there; where its code begins, or NULL */
run_fn twins_map(const struct twins *twins, unsigned int i,
		 struct image *image, void *where);

/* Move it as a whole, over what is there; where its code begins, or NULL */
run_fn twins_move(struct image *image, void *to);

/*
 * The functions of a twin at @where, which it is mapped at for that, and what
 * they return to; -1 if that is not the same for all of them.
 */
int twins_truth(const struct twins *twins, void *where, struct truth *truth);

/* Call @fn @rounds times; what it notes is in @run, if not NULL */
void twins_run(struct run *run, run_fn fn, unsigned long rounds);

#endif /* SELFTEST_UNWIND_TWINS_H */
