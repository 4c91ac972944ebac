// SPDX-License-Identifier: GPL-2.0
/*
 * A program that spins at the end of a chain, see spin.h.
 */
#include <sys/syscall.h>

#include "bounds.h"
#include "image.h"
#include "spin.h"

ASM_LABEL(spin_begin);
ASM_LABEL(spin_end);

static struct notes *spin_notes;

static void spin(struct notes *notes)
{
	notes->ra[notes->nr++] = (unsigned long)__builtin_return_address(0);
	*spin_notes = *notes;
	/* The reader reads this one last */
	spin_notes->nr_next = 0;
	__atomic_store_n(&spin_notes->nr_next, 1, __ATOMIC_RELEASE);

#if defined(__x86_64__)
	asm volatile("spin_begin:\n"
		     "1:	movl	$20000, %%edx\n"
		     "2:	decl	%%edx\n"
		     "	jnz	2b\n"
		     "	movl	%[nr], %%eax\n"
		     "	syscall\n"
		     "	jmp	1b\n"
		     "spin_end:\n"
		     : : [nr] "i"(SYS_getppid)
		     : "rax", "rcx", "rdx", "r11", "memory");
#elif defined(__aarch64__)
	asm volatile("spin_begin:\n"
		     "1:	mov	w9, #20000\n"
		     "2:	subs	w9, w9, #1\n"
		     "	b.ne	2b\n"
		     "	mov	x8, %[nr]\n"
		     "	svc	#0\n"
		     "	b	1b\n"
		     "spin_end:\n"
		     : : [nr] "i"(SYS_getppid)
		     : "x0", "x8", "x9", "cc", "memory");
#endif
}

void spin_in_chain(struct notes *shared)
{
	struct notes notes = { .nr_next = 1 };
	struct image image;
	struct elf elf;
	int fd;

	spin_notes = shared;
	if (elf_read(&elf, "chain_table.so"))
		return;
	fd = elf_memfd(&elf);
	if (fd < 0 || image_map(&image, &elf, fd, NULL))
		return;
	notes.next[0] = (chain_fn)image.entry;
	notes.next[1] = spin;
	notes.next[0](&notes);
}

bool spin_has(unsigned long ip)
{
	return ip >= (unsigned long)spin_begin && ip < (unsigned long)spin_end;
}
