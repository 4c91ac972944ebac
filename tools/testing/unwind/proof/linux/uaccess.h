/* SPDX-License-Identifier: GPL-2.0 */
/*
 * User memory in a proof: each read asserts that it stays inside the section, and yields
 * any value or fails.  So a proof covers all contents, and memory that changes between any
 * two reads.
 */
#ifndef _UNWIND_PROOF_UACCESS_H
#define _UNWIND_PROOF_UACCESS_H

#include <linux/types.h>
#include <stdbool.h>

bool proof_open(unsigned long start, unsigned long size);
void proof_close(void);
bool proof_read(unsigned long addr, unsigned long size, u64 *val);

#define might_fault()	((void)0)
/* Memory that was not set before may be anything */
#define copy_from_user(to, ptr, size) ({				\
	u64 __any;							\
									\
	(void)(to);							\
	proof_read((unsigned long)(ptr), (size), &__any) ? 0 : (size);	\
})

#define user_read_access_begin(ptr, size)	proof_open((unsigned long)(ptr), (size))
#define user_read_access_end()			proof_close()

#define unsafe_get_user(x, ptr, label) do {				\
	u64 __any;							\
									\
	if (!proof_read((unsigned long)(ptr), sizeof(x), &__any))	\
		goto label;						\
	(x) = __any;							\
} while (0)

#endif /* _UNWIND_PROOF_UACCESS_H */
