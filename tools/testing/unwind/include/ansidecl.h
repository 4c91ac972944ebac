/* SPDX-License-Identifier: GPL-2.0 */
/* The part of <ansidecl.h> that <sframe-api.h> needs; not every libsframe installs it. */
#ifndef _UNWIND_TEST_ANSIDECL_H
#define _UNWIND_TEST_ANSIDECL_H

#include <linux/compiler.h>

#define ATTRIBUTE_PACKED	__packed
#define ATTRIBUTE_UNUSED	__maybe_unused

#endif /* _UNWIND_TEST_ANSIDECL_H */
