/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What asm/unwind_user.h and the iterator agree on, beside single values.
 *
 * An architecture's asm/unwind_user.h says which SFrame ABI its tables have, what
 * a frame record looks like, and how to get at the registers of the program that
 * entered the kernel, or that a signal interrupted.
 */
#ifndef _LINUX_UNWIND_USER_ARCH_H
#define _LINUX_UNWIND_USER_ARCH_H

/**
 * struct unwind_user_link - of a function whose return address is in the link register
 * @reg: or in another one, for the moment; its DWARF number
 * @pushed: how many bytes the stack pointer is below that of the caller; 0 if that is
 *	not known
 * @sp_known: whether it is
 * @looked: how many instructions were looked at to find out
 * @unread: the address of one that could not be read, and may have told more; 0 if all could
 * @ambiguous: if it was not found there: nor is it seen that there is a frame record, so
 *	that only what the register has may tell, by the call that has left it there
 * @lasting: what was found out is so each time: all could be read, and none is a
 *	breakpoint in another's place
 */
struct unwind_user_link {
	unsigned int	reg;
	unsigned int	pushed;
	unsigned int	looked;
	unsigned long	unread;
	bool		sp_known;
	bool		ambiguous;
	bool		lasting;
};

/**
 * struct unwind_user_interrupted - what a signal interrupted
 * @ip: its next instruction
 * @sp: its stack pointer
 * @fp: its frame pointer
 * @word_size: bytes in its stack word: 8 or 4; 0 where the signal's frame was not
 *	found, and the frame pointer may lead past what it interrupted
 * @regs: address of its saved registers in user memory, for
 *	unwind_user_saved_reg(); 0 where these are of no use
 * @unread: address of what could not be read on the way, also of the trampoline; 0
 *	where all could be, so that what was not found is not there
 */
struct unwind_user_interrupted {
	unsigned long	ip;
	unsigned long	sp;
	unsigned long	fp;
	unsigned int	word_size;
	unsigned long	regs;
	unsigned long	unread;
};

/*
 * get_user() for the architecture's part, and where it fails, the address is noted in
 * @to, a struct unwind_user_interrupted
 */
#define unwind_user_read(val, ptr, to)					\
({									\
	typeof(ptr) __ptr = (ptr);					\
	bool __read;							\
									\
	unwind_user_tags_off();						\
	__read = !get_user(val, __ptr);					\
	unwind_user_tags_on();						\
	if (!__read)							\
		(to)->unread = (unsigned long)__ptr;			\
	__read;								\
})

#endif /* _LINUX_UNWIND_USER_ARCH_H */
