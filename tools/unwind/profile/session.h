/* SPDX-License-Identifier: GPL-2.0 */
/* The BPF programs while they are loaded */
#ifndef UNWIND_PROFILE_SESSION_H
#define UNWIND_PROFILE_SESSION_H

#include <stdbool.h>

#include "options.h"

/*
 * Load the programs for these options, without sampling. All print what fails, and return
 * 0 or -1.
 */
int open_session(const struct options *options);
int add_target(unsigned int pid);
int begin_sampling(const struct options *options);
void end_sampling(void);

/*
 * Handle the records that have come, after at most that time, but not any number of them; false
 * if there was none
 */
bool read_records(int milliseconds);

unsigned long long lost_samples(void);
unsigned long long lost_stacks(void);

#endif /* UNWIND_PROFILE_SESSION_H */
