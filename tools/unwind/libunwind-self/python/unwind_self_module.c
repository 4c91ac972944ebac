// SPDX-License-Identifier: GPL-2.0
/*
 * import unwind_self: Python's functions in the stacks of profilers, by libunwind-self.
 *
 *	unwind_self.enable()	in each thread that is to report them
 *	unwind_self.disable()	in it, before it ends
 *
 * The frames are read in a signal handler, so nothing of Python's API is called there that
 * takes a reference, a lock or memory. CPython sets up a frame before it links it to the
 * thread, and unlinks it before it is cleared, so a thread's own list is whole at any time.
 */
#define PY_SSIZE_T_CLEAN
#define Py_BUILD_CORE_MODULE 1
#include <Python.h>
#include <internal/pycore_frame.h>
#if PY_VERSION_HEX >= 0x030e0000
#include <internal/pycore_interpframe.h>
#endif

#include "../unwind_self.h"

#if PY_VERSION_HEX < 0x030d0000
#error "The frames of Python before 3.13 have another layout"
#endif

/* Frames of the interpreter itself lie on the native stack, in the function that runs it */
#if PY_VERSION_HEX >= 0x030e0000
#define IS_ENTRY(frame)	((frame)->owner == FRAME_OWNED_BY_INTERPRETER)
#else
#define IS_ENTRY(frame)	((frame)->owner == FRAME_OWNED_BY_CSTACK)
#endif

/* Nearly all names are ASCII; functions with other names are reported without a name */
static struct unwind_self_text text_of(const struct _object *object)
{
	const PyASCIIObject *string = (const PyASCIIObject *)object;

	if (!string || !string->state.compact || !string->state.ascii)
		return (struct unwind_self_text){};
	return (struct unwind_self_text){ (const char *)(string + 1), string->length };
}

static const _PyInterpreterFrame *next_entry(const _PyInterpreterFrame *frame)
{
	while (frame && !IS_ENTRY(frame))
		frame = frame->previous;
	return frame;
}

static void walk(struct unwind_self_stack *stack, const ucontext_t *at, void *data)
{
	const PyThreadState *thread = data;
	const _PyInterpreterFrame *entry;
	_PyInterpreterFrame *frame;
	PyCodeObject *code;

	(void)at;
	/* The thread may go on after Python is done with it */
	if (PyGILState_GetThisThreadState() != thread)
		return;
	entry = next_entry(thread->current_frame);
	for (frame = thread->current_frame; frame; frame = frame->previous) {
		if (frame == entry) {
			entry = next_entry(frame->previous);
			continue;
		}
		code = _PyFrame_SafeGetCode(frame);
		if (code && !unwind_self_add_text(stack, code, entry, text_of(code->co_qualname),
						  text_of(code->co_filename),
						  code->co_firstlineno))
			return;
	}
}

static PyObject *enable(PyObject *module, PyObject *none)
{
	/* With the table service, the kernel may find the same frames by itself */
	const struct unwind_self_options options = { .all = true };

	(void)module;
	(void)none;
	errno = -unwind_self_start(walk, PyThreadState_Get(), &options);
	if (errno)
		return PyErr_SetFromErrno(PyExc_OSError);
	Py_RETURN_NONE;
}

static PyObject *disable(PyObject *module, PyObject *none)
{
	(void)module;
	(void)none;
	unwind_self_stop();
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
	{ "enable", enable, METH_NOARGS,
	  "Report this thread's functions to the kernel, when a profiler asks." },
	{ "disable", disable, METH_NOARGS, "Do not report them any more." },
	{}
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "unwind_self",
	.m_doc = "Python's functions in the stacks of profilers.",
	.m_size = 0,
	.m_methods = methods,
};

PyMODINIT_FUNC PyInit_unwind_self(void)
{
	return PyModuleDef_Init(&definition);
}
