/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Comparing and printing rows, for KUnit and for tools/testing/unwind.
 *
 * Two rows are equal if the frame loop would do the same with them.  The rules of an
 * outermost frame do not count, nor the register of a rule that uses none.
 */
#ifndef _KERNEL_UNWIND_TESTS_ROW_COMPARE_H
#define _KERNEL_UNWIND_TESTS_ROW_COMPARE_H

#include "../row.h"

bool row_equal(const struct unwind_row *a, const struct unwind_row *b);

/* A row in words, in a static buffer that two calls do not share */
const char *row_string(const struct unwind_row *row);

#endif /* _KERNEL_UNWIND_TESTS_ROW_COMPARE_H */
