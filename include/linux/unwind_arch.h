/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Structures that asm/unwind_arch.h and the frame loop share.
 *
 * An architecture's asm/unwind_arch.h defines which SFrame ABI its tables have, what
 * a frame record looks like, and how to get the registers of the program that
 * entered the kernel, or that a signal interrupted.
 */
#ifndef _LINUX_UNWIND_ARCH_H
#define _LINUX_UNWIND_ARCH_H

struct page;

/* Pages of text that one unwind holds */
#define UNWIND_CODE_PAGES	4

/**
 * struct unwind_code - text of files that is not mapped, but in the page cache
 * @next: which page is replaced next
 * @start: the address of each
 * @page: and a reference to it; NULL if there is none
 */
struct unwind_code {
	unsigned int	next;
	unsigned long	start[UNWIND_CODE_PAGES];
	struct page	*page[UNWIND_CODE_PAGES];
};

bool unwind_code_read(const struct unwind_code *code, unsigned long addr, void *val,
		      size_t size);

/**
 * struct unwind_arch_caller - an interrupted function's caller, by the function's instructions
 * @cfa: bytes from the stack pointer up to the caller's, or 0, if @sp_known is false
 * @ra: bytes up to the return address, unless @ra_in_link
 * @fp: bytes up to the caller's frame pointer, if @fp_saved
 * @looked: number of instructions that were visited to find this out
 * @left: set by the caller to the work that may be done, in ordinary frames; reduced.  If it
 *	is 0 then, the instructions do not show the caller
 * @unread: address of an instruction that could not be read, and might have decided; 0 if
 *	all could be read
 * @code: text that is not mapped, or NULL
 * @ra_in_link: the return address is in the link register
 * @fp_saved: the function has saved its caller's frame pointer
 * @sp_known: whether @cfa is known
 */
struct unwind_arch_caller {
	unsigned int	cfa;
	unsigned int	ra;
	unsigned int	fp;
	unsigned int	looked;
	unsigned int	left;
	unsigned long	unread;
	const struct unwind_code *code;
	bool		ra_in_link;
	bool		fp_saved;
	bool		sp_known;
};

/**
 * struct unwind_arch_interrupted - the frame that a signal interrupted
 * @ip: its next instruction
 * @sp: its stack pointer
 * @fp: its frame pointer
 * @word_size: bytes in its stack word: 8 or 4; 0 if the signal's frame was not found:
 *	the frame pointer may then skip the interrupted frame
 * @regs: address of its saved registers in user memory, for
 *	unwind_arch_saved_reg(); 0 if these are of no use
 * @unread: address that could not be read on the path, also of the trampoline; 0 if all
 *	could be read, so that nothing was missed
 * @code: text that is not mapped, or NULL
 */
struct unwind_arch_interrupted {
	unsigned long	ip;
	unsigned long	sp;
	unsigned long	fp;
	unsigned int	word_size;
	unsigned long	regs;
	unsigned long	unread;
	const struct unwind_code *code;
};

/* get_user() at an address whose tag was removed: checks of tags (arm64's MTE) are off */
#define unwind_get_user(val, ptr)					\
({									\
	int __ret;							\
									\
	unwind_arch_tags_off();						\
	__ret = get_user(val, ptr);					\
	unwind_arch_tags_on();						\
	__ret;								\
})

/* The same for text, which may be in a struct unwind_code; whether it was read */
#define unwind_read_code(val, ptr, code)				\
({									\
	typeof(ptr) __at = (ptr);					\
									\
	!unwind_get_user(val, __at) ||					\
		unwind_code_read(code, (unsigned long)__at, &(val),	\
				 sizeof(val));				\
})

/*
 * The same for architecture code.  If it fails, it stores the address in @to, a struct
 * unwind_arch_interrupted.
 */
#define unwind_arch_read(val, ptr, to)					\
({									\
	struct unwind_arch_interrupted *__to = (to);			\
	typeof(ptr) __ptr = (ptr);					\
	bool __read = unwind_read_code(val, __ptr, __to->code);		\
									\
	if (!__read)							\
		__to->unread = (unsigned long)__ptr;			\
	__read;								\
})

#endif /* _LINUX_UNWIND_ARCH_H */
