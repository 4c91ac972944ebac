/* SPDX-License-Identifier: GPL-2.0 */
/* Names of errors, for the trace events of user space unwinding. */

/*
 * The name of an error.  libtraceevent takes a negative int for a large number.  Masked with
 * 0xfff (MAX_ERRNO), the value is the same there and in the kernel.
 */
#define show_unwind_error(error)					\
	__print_symbolic(-(error) & 0xfff,				\
		{ EPERM,	"EPERM" },				\
		{ ENOENT,	"ENOENT" },				\
		{ EINTR,	"EINTR" },				\
		{ EIO,		"EIO" },				\
		{ E2BIG,	"E2BIG" },				\
		{ ENOEXEC,	"ENOEXEC" },				\
		{ EAGAIN,	"EAGAIN" },				\
		{ ENOMEM,	"ENOMEM" },				\
		{ EACCES,	"EACCES" },				\
		{ EFAULT,	"EFAULT" },				\
		{ EBUSY,	"EBUSY" },				\
		{ EEXIST,	"EEXIST" },				\
		{ EINVAL,	"EINVAL" },				\
		{ EFBIG,	"EFBIG" },				\
		{ ENOSPC,	"ENOSPC" },				\
		{ ENODATA,	"ENODATA" },				\
		{ EOVERFLOW,	"EOVERFLOW" },				\
		{ EOPNOTSUPP,	"EOPNOTSUPP" },				\
		{ ESTALE,	"ESTALE" })
