/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The registration of tables, and of the code of code.h and code_file.h.
 */
#ifndef SELFTEST_UNWIND_CODE_REGISTER_H
#define SELFTEST_UNWIND_CODE_REGISTER_H

#include <linux/unwind.h>
#include <stddef.h>
#include <stdint.h>

#include "code.h"
#include "code_file.h"

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

/* Register the image's section for its text from @start to @end, or for its first segment */
int code_image_register_range(const struct code_image *image, uint64_t start, uint64_t end,
			      uint64_t key);
int code_image_register(const struct code_image *image, uint64_t key);

#endif /* SELFTEST_UNWIND_CODE_REGISTER_H */
