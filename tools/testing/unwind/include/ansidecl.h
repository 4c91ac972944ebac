/* SPDX-License-Identifier: GPL-2.0 */
/* What <sframe-api.h> needs of a header that not every libsframe comes with. */
#ifndef _UNWIND_TEST_ANSIDECL_H
#define _UNWIND_TEST_ANSIDECL_H

#include <linux/compiler.h>

#define ATTRIBUTE_PACKED	__packed
#define ATTRIBUTE_UNUSED	__maybe_unused

#endif /* _UNWIND_TEST_ANSIDECL_H */
