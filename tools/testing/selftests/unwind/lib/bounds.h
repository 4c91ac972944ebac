/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a function begins and ends: it has a section of its own, and the linker
 * defines symbols for both ends of a section whose name is an identifier.  And
 * where a label of assembly is.
 */
#ifndef SELFTEST_UNWIND_BOUNDS_H
#define SELFTEST_UNWIND_BOUNDS_H

#include <linux/compiler.h>
#include <linux/init.h>

/* Symbols of this object only, so that neither calls nor addresses need a GOT */
#define __hidden		__attribute__((visibility("hidden")))

#define SECTION_BOUNDS(name)						\
extern const char __start_##name[] __hidden;				\
extern const char __stop_##name[] __hidden

#define ASM_LABEL(name)	extern const char name[] __hidden

#endif /* SELFTEST_UNWIND_BOUNDS_H */
