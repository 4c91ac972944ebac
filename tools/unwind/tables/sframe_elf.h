/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An SFrame section as an ELF file, for tools that read only ELF files.
 */
#ifndef _UNWIND_TABLES_SFRAME_ELF_H
#define _UNWIND_TABLES_SFRAME_ELF_H

#include <stdio.h>

#include "convert.h"

int sframe_elf_write(FILE *out, const struct unwind_table *table);

#endif /* _UNWIND_TABLES_SFRAME_ELF_H */
