// SPDX-License-Identifier: GPL-2.0
/*
 * For the tracepoints of registered tables: registers one that is refused, and one with an
 * entry that is wrong.  Then it runs that function while its stack is taken.  The rest of
 * unwind:* comes from the sample JIT and from files.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <linux/types.h>

#include "jit.h"

#define SIZE	65536

/* After the header and its padding: start, size, and the offset of the rows */
#define ROWS_OF_FIRST	(32 + 12)

static void work(void *arg)
{
	const time_t end = time(NULL) + 2;

	while (time(NULL) <= end)
		;
}

int main(void)
{
	struct jit_func func = { .callee = work, .locals = 64 };
	struct jit_window win, refused;
	struct jit_entry entry;
	__u8 *memory = mmap(NULL, 4 * SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED ||
	    jit_window_init(&refused, memory, SIZE, memory + SIZE, SIZE, true) ||
	    jit_window_init(&win, memory + 2 * SIZE, SIZE, memory + 3 * SIZE, SIZE, true))
		return 1;
	/* No header at all */
	refused.table[0] = 0;
	if (!jit_window_register(&refused)) {
		fprintf(stderr, "a table without its magic number was accepted\n");
		return 1;
	}
	if (jit_add(&win, &func, &entry) < 0 || jit_window_register(&win)) {
		perror("bad_entry");
		return 1;
	}
	*(__u32 *)(win.table + ROWS_OF_FIRST) = UINT32_MAX;
	((void (*)(void *))(uintptr_t)entry.code)(NULL);
	return 0;
}
