// SPDX-License-Identifier: GPL-2.0
/*
 * Functions whose tables are wrong without a fault of the kernel, and functions without a
 * table whose frame pointer misleads.
 *
 * An entry excuses only a result that a walk without the kernel confirms, see
 * step_walk.h, or one that is right, see step_judge.h. "readelf --sframe" shows the rows
 * that the test prints.
 */
#include "step_judge.h"

const struct exception exceptions[] = {
	{ "*", ".plt.got",
	  "ld writes CFA sp+16 for entries that push nothing, sp+8 is right" },
	{ "ld-linux-*", "_dl_runtime_resolve_*",
	  "the CFA is in rbx, which is known for the topmost frame only" },
	{ "ld-linux-*", "_dl_runtime_resolve",
	  "glibc's CFI does not tell of the two words that the PLT has pushed" },
	{ "*", "_start",
	  "glibc's CFI says only from the second instruction on that there is no caller" },
	{ "libc.so.6", "swapcontext",
	  "glibc's CFI is that of the stack that is left, to the end" },
#if defined(__x86_64__)
	{ "libc.so.6", "setcontext",
	  "gas cuts the offset of the RA, 168, to eight bits; at the end, as swapcontext",
	  .pushes = true },
#elif defined(__aarch64__)
	{ "libc.so.6", "setcontext",
	  "swapcontext() jumps there with what it called before in the link register" },
	{ "libc.so.6", "__clone3",
	  "a new thread has its parent's link register until it comes to its start" },
	{ "libc.so.6", "__longjmp",
	  "no table; in a handler, the frame pointer leads to what the signal interrupted" },
#endif
	{ "libc.so.6", "__mpn_*mul_1",
	  "glibc's CFI does not tell of the registers that are pushed" },
	{ "step_throw", "uw_install_context_1",
	  "libgcc has no table, and overwrites what its frame saved with what is landed in" },
	{ "step_throw", "_Unwind_*", "as uw_install_context_1" },
	{ "step_calls_*", "realigned_arguments",
	  "gcc tells of no \"pop %rbp\" where the CFA is in a register of its own" },
	{ "step_calls_*", "jumps_back*",
	  "gcc tells nothing of the frame that __builtin_longjmp() leaves for" },
};

const unsigned int nr_exceptions = sizeof(exceptions) / sizeof(*exceptions);
