/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bounds of a function: it has its own section, and the linker defines symbols for both
 * ends of a section whose name is an identifier. Also, addresses of labels in assembly.
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
