/* SPDX-License-Identifier: GPL-2.0 */
/* Nobody else runs here, so nothing is hidden from speculation. */
#ifndef _UNWIND_TEST_NOSPEC_H
#define _UNWIND_TEST_NOSPEC_H

#define array_index_nospec(index, size)	({ (void)(size); (index); })

#endif /* _UNWIND_TEST_NOSPEC_H */
