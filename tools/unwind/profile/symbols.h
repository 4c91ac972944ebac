/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of addresses. A process's addresses are kept by file and offset, so they stay
 * valid after it is gone; but the file must have been looked up once before that.
 */
#ifndef UNWIND_PROFILE_SYMBOLS_H
#define UNWIND_PROFILE_SYMBOLS_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>

/* Takes a while: call it before processes come and go */
void read_kernel_symbols(void);

/*
 * Write the name of an address in process @pid, or in a file, to @out. The return address
 * of a @call belongs to the instruction before it.
 */
void print_user(FILE *out, int pid, unsigned long long ip, bool call,
		const struct bpf_stack_build_id *id);
/* The same for the kernel */
void print_kernel(FILE *out, unsigned long long ip, bool call);

#endif /* UNWIND_PROFILE_SYMBOLS_H */
