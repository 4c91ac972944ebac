/* SPDX-License-Identifier: GPL-2.0 */
/* The SFrame section of a file. */
#ifndef _UNWIND_TEST_DIFF_ELF_H
#define _UNWIND_TEST_DIFF_ELF_H

#include <linux/types.h>

/* The section in a buffer of its exact size, malloc()ed; NULL: there is none */
u8 *elf_sframe(const char *path, size_t *size);

#endif /* _UNWIND_TEST_DIFF_ELF_H */
