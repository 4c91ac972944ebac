/* SPDX-License-Identifier: GPL-2.0 */
/*
 * User memory as the code under test sees it.
 *
 * A test maps buffers at addresses of its choice. A read of any other address returns
 * -EFAULT and counts as a violation, unless holes are allowed between and after the
 * buffers. Buffers should come from malloc() in their exact size, so that ASan checks
 * their ends as well.
 *
 * Between two calls of umem_start() the reads are counted, and repeated reads of a byte
 * are noticed. One read can be made to fail, and a hook can change the values.
 */
#ifndef _UNWIND_TEST_UMEM_H
#define _UNWIND_TEST_UMEM_H

#include <linux/types.h>
#include <stdbool.h>

extern unsigned long umem_reads;	/* since umem_start() */
extern unsigned long umem_rereads;	/* of these, reads of bytes already read */
extern unsigned long umem_violations;	/* since the start of the program */

void umem_map(unsigned long addr, const void *host, unsigned long size);
void umem_unmap_all(void);
void umem_allow_holes(bool allow);
void umem_start(void);

/* Fail the @k-th read after umem_start(); 0: none */
void umem_fail_at(unsigned long k);

/* Let @hook change values between memory and reader; NULL: none */
void umem_set_hook(void (*hook)(unsigned long addr, void *val, size_t size));

/* Let @fault say which reads of what is mapped fail; NULL: none */
void umem_set_fault(bool (*fault)(unsigned long addr, size_t size));

int umem_get_user(void *val, unsigned long addr, size_t size);

/*
 * Windows of memory that is open to unchecked reads; there is one at a time. A read
 * outside of it is a violation, and so is a window that is opened or closed twice. No
 * window can be opened that ends beyond the end of user memory.
 */
bool umem_begin(unsigned long addr, size_t size);
void umem_end(void);
bool umem_is_open(void);
void umem_set_end_of_memory(unsigned long addr);
int umem_unsafe_get_user(void *val, unsigned long addr, size_t size);

#endif /* _UNWIND_TEST_UMEM_H */
