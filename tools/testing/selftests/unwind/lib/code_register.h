/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The registration of tables, and of the code of code.h.
 */
#ifndef SELFTEST_UNWIND_CODE_REGISTER_H
#define SELFTEST_UNWIND_CODE_REGISTER_H

#include <linux/unwind.h>
#include <stddef.h>
#include <stdint.h>

#include "code.h"

/* Fill in the attributes to register all of the code, or one function */
void code_attr(struct unwind_table_attr *attr, const struct code *code,
	       uint64_t key);
void code_attr_fn(struct unwind_table_attr *attr, const struct code *code,
		  unsigned int i, uint64_t key);

/* prctl(PR_UNWIND_TABLE, ...); its return value, or -errno */
int unwind_table(unsigned long op, const void *attr, size_t size);
int unwind_table_add(const struct unwind_table_attr *attr);
int unwind_table_del(uint64_t key);

/* Register all of the code */
int code_register(const struct code *code, uint64_t key);

#endif /* SELFTEST_UNWIND_CODE_REGISTER_H */
