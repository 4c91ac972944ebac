/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's, of arm64; only what is in its .c file is missing. */
#ifndef _UNWIND_LINK_INSN_H
#define _UNWIND_LINK_INSN_H

#include_next <asm/insn.h>

#endif /* _UNWIND_LINK_INSN_H */
