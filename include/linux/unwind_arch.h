/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Structures that asm/unwind_arch.h and the frame loop share.
 *
 * An architecture's asm/unwind_arch.h defines the SFrame ABI of its tables, the layout
 * of a frame record, and how to get the registers of the program that
 * entered the kernel, or that a signal interrupted.
 */
#ifndef _LINUX_UNWIND_ARCH_H
#define _LINUX_UNWIND_ARCH_H

struct page;

/* Pages of text that one unwind holds */
#define UNWIND_CODE_PAGES	4

/**
 * struct unwind_code - text of files that is not mapped, but in the page cache
 * @next: index of the page that is replaced next
 * @start: the address of each page
 * @page: a reference to each page; NULL if there is none
 */
struct unwind_code {
	unsigned int	next;
	unsigned long	start[UNWIND_CODE_PAGES];
	struct page	*page[UNWIND_CODE_PAGES];
};

bool unwind_code_read(const struct unwind_code *code, unsigned long addr, void *val,
		      size_t size);

/**
 * struct unwind_arch_caller - the caller of an interrupted function, found by the code there
 * @cfa: offset of the caller's stack pointer from the current one; 0 if not @sp_known
 * @ra: offset of the saved return address from the stack pointer, unless @ra_in_link
 * @fp: offset of the caller's saved frame pointer from the stack pointer, if @fp_saved
 * @looked: number of instructions that were examined
 * @left: remaining work, in units of ordinary frames.  The frame loop sets it, and
 *	unwind_arch_find_caller() subtracts what it used.  If it reaches 0, the search has failed
 * @unread: address of an unreadable instruction that might have shown the caller; 0 if there
 *	is none
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

/*
 * What instructions do to the frame pointer, if UNWIND_ARCH_FP_CFA_EXACT is false.  For both,
 * @left, @code and @unread of @insns are used as by unwind_arch_find_caller().
 */
bool unwind_arch_sets_fp(unsigned long from, unsigned long last, long offset,
			 struct unwind_arch_caller *insns);
int unwind_arch_goes_on(unsigned long ip, struct unwind_arch_caller *insns);

/**
 * struct unwind_arch_interrupted - the frame that a signal interrupted
 * @ip: its next instruction
 * @sp: its stack pointer
 * @fp: its frame pointer
 * @word_size: bytes in its stack word: 8 or 4; 0 if the signal's frame was not found:
 *	the frame pointer may then skip the interrupted frame
 * @regs: address of its saved registers in user memory, for
 *	unwind_arch_saved_reg(); 0 if these are of no use
 * @unread: address of the last read that failed, in the trampoline, the signal frame, or the
 *	registers that another signal saved; 0 if none failed
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

/* Cost of a read that fails, in ordinary frames: it takes an exception, and another lookup */
#define UNWIND_UNREAD_COST	8

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

/* The same for text, which may also be in @code.  Evaluates to true if the text was read. */
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
