/* SPDX-License-Identifier: GPL-2.0 */
/* Options and results of an unwind: kernel/unwind/walk.c. */
#ifndef _LINUX_UNWIND_STACK_TYPES_H
#define _LINUX_UNWIND_STACK_TYPES_H

/**
 * enum unwind_method - how the caller of a frame was found
 * @UNWIND_METHOD_NONE: it was not found (so far)
 * @UNWIND_METHOD_FP: by the frame pointer, or by the instructions of an interrupted function
 * @UNWIND_METHOD_SFRAME: by a rule of an SFrame table
 * @UNWIND_METHOD_SIGNAL: by the frame that the kernel laid down for a signal
 */
enum unwind_method {
	UNWIND_METHOD_NONE,
	UNWIND_METHOD_FP,
	UNWIND_METHOD_SFRAME,
	UNWIND_METHOD_SIGNAL,
};

/**
 * enum unwind_stop_reason - stop reasons: why an unwind ended
 * @UNWIND_STOP_NONE: it has not ended
 * @UNWIND_STOP_END: the table says that this is the outermost frame
 * @UNWIND_STOP_END_FP: the frame pointer or return address is zero, which marks
 *	the outermost frame if no table does
 * @UNWIND_STOP_NO_FRAME: no table describes the address, and the frame pointer
 *	does not point to a frame
 * @UNWIND_STOP_NO_RULE: an interrupted function has no rule in its object's table, and its
 *	instructions do not show where its return address is
 * @UNWIND_STOP_NO_CALL: no table describes the address, and no call is before it
 * @UNWIND_STOP_UNREADABLE: stack or table memory could not be read; or, on arm64,
 *	there is no signal's frame where one should be
 * @UNWIND_STOP_BAD_TABLE: the table's entry makes no sense, and the frame
 *	pointer did not help
 * @UNWIND_STOP_BAD_FRAME: the caller's frame would not lie further out, or is
 *	not aligned; its address is outside of user space; or its address is a
 *	uretprobe's trampoline, and the address that this replaced is not known
 * @UNWIND_STOP_NOT_TEXT: the return address is not in executable memory
 * @UNWIND_STOP_NO_REGISTER: the rule needs a register that is known only for an
 *	interrupted frame: the topmost one, or the caller of a signal frame; or the value
 *	that the signal saved could not be read; or a callee has not kept the register
 * @UNWIND_STOP_NOT_LOADED: the file's table is being loaded, or is to be loaded later, and
 *	the frame pointer did not help; or this holds for a file further in, and the frame
 *	pointer may have led elsewhere
 * @UNWIND_STOP_BUSY: the mappings were being changed, and the task could not wait: it was
 *	exiting, executing another program or killed, or it had waited 128 times for this stack
 * @UNWIND_STOP_LIMIT: more frames than there is room for, or more work than one stack may take
 */
enum unwind_stop_reason {
	UNWIND_STOP_NONE,
	UNWIND_STOP_END,
	UNWIND_STOP_END_FP,
	UNWIND_STOP_NO_FRAME,
	UNWIND_STOP_NO_RULE,
	UNWIND_STOP_NO_CALL,
	UNWIND_STOP_UNREADABLE,
	UNWIND_STOP_BAD_TABLE,
	UNWIND_STOP_BAD_FRAME,
	UNWIND_STOP_NOT_TEXT,
	UNWIND_STOP_NO_REGISTER,
	UNWIND_STOP_NOT_LOADED,
	UNWIND_STOP_BUSY,
	UNWIND_STOP_LIMIT,
};

/**
 * enum unwind_text_kind - the kind of text at an address
 * @UNWIND_TEXT_NONE: nothing is mapped there, or it could not be read
 * @UNWIND_TEXT_ANON: memory that comes from no file
 * @UNWIND_TEXT_JIT: code compiled at run time: its process registered it with
 *	UNWIND_TABLE_JIT, or it is registered and in memory that comes from no file
 * @UNWIND_TEXT_VDSO: the vDSO
 * @UNWIND_TEXT_FILE: a mapped file
 * @UNWIND_TEXT_FUNCTION: no text: a function of an interpreted language
 * @UNWIND_TEXT_UNNAMED: such a function whose name could not be read
 */
enum unwind_text_kind {
	UNWIND_TEXT_NONE,
	UNWIND_TEXT_ANON,
	UNWIND_TEXT_JIT,
	UNWIND_TEXT_VDSO,
	UNWIND_TEXT_FILE,
	UNWIND_TEXT_FUNCTION,
	UNWIND_TEXT_UNNAMED,
};

#endif /* _LINUX_UNWIND_STACK_TYPES_H */
