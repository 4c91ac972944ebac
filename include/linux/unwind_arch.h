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

/**
 * struct unwind_arch_caller - an interrupted function's caller, by the function's instructions
 * @cfa: bytes from the stack pointer up to the caller's, or 0, if @sp_known is false
 * @ra: bytes up to the return address, unless @ra_in_link
 * @fp: bytes up to the caller's frame pointer, if @fp_saved
 * @looked: number of instructions that were visited to find this out
 * @unread: address of an instruction that could not be read, and might have decided; 0 if
 *	all could be read
 * @ra_in_link: the return address is in the link register
 * @fp_saved: the function has saved its caller's frame pointer
 * @sp_known: whether @cfa is known
 */
struct unwind_arch_caller {
	unsigned int	cfa;
	unsigned int	ra;
	unsigned int	fp;
	unsigned int	looked;
	unsigned long	unread;
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
 */
struct unwind_arch_interrupted {
	unsigned long	ip;
	unsigned long	sp;
	unsigned long	fp;
	unsigned int	word_size;
	unsigned long	regs;
	unsigned long	unread;
};

/*
 * get_user() for architecture code.  If it fails, it stores the address in @to, a struct
 * unwind_arch_interrupted.
 */
#define unwind_arch_read(val, ptr, to)					\
({									\
	typeof(ptr) __ptr = (ptr);					\
	bool __read;							\
									\
	unwind_arch_tags_off();						\
	__read = !get_user(val, __ptr);					\
	unwind_arch_tags_on();						\
	if (!__read)							\
		(to)->unread = (unsigned long)__ptr;			\
	__read;								\
})

#endif /* _LINUX_UNWIND_ARCH_H */
