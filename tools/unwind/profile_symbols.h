/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of addresses.  Those of a process are by file and offset, so that they are
 * good when the process is gone; the file has to have been seen once while it
 * was there.
 */
#ifndef UNWIND_PROFILE_SYMBOLS_H
#define UNWIND_PROFILE_SYMBOLS_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>

/* Takes a while: to be done before processes come and go */
void read_kernel_symbols(void);

/*
 * Write the name of an address in process @pid, or in a file, to @out.  One that a
 * @call returns to belongs to what is before it.
 */
void print_user(FILE *out, int pid, unsigned long long ip, bool call,
		const struct bpf_stack_build_id *id);
/* Or in the kernel */
void print_kernel(FILE *out, unsigned long long ip, bool call);

#endif /* UNWIND_PROFILE_SYMBOLS_H */
