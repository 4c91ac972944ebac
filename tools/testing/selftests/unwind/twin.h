/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SELFTEST_UNWIND_TWIN_H
#define SELFTEST_UNWIND_TWIN_H

#include <linux/compiler.h>
#include <linux/init.h>

/* Symbols of this object only, so that neither calls nor addresses need a GOT */
#define __hidden		__attribute__((visibility("hidden")))

/* What the linker defines for a section with such a name */
#define SECTION_BOUNDS(name)						\
extern const char __start_##name[] __hidden;				\
extern const char __stop_##name[] __hidden

#endif /* SELFTEST_UNWIND_TWIN_H */
