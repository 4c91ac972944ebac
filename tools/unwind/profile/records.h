/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From the records of the ring buffer to samples and stacks
 */
#ifndef UNWIND_PROFILE_RECORDS_H
#define UNWIND_PROFILE_RECORDS_H

#include <stddef.h>

/* @sent: the kernel's table of digests. @max_stacks: as for set_bound() */
void init_records(int sent, unsigned int max_stacks);
/* From here on, on_record() takes a number of records and then an error */
void begin_turn(void);
int on_record(void *ctx, void *data, size_t size);

#endif /* UNWIND_PROFILE_RECORDS_H */
