// SPDX-License-Identifier: GPL-2.0
/*
 * Cases: headers, which are accepted and which error each of the others gets.
 *
 * One good section of two functions is the start of every case, which changes a
 * field or two. Refused is the whole section, so there is nothing to look up.
 */
#include <linux/errno.h>
#include <linux/kernel.h>

#include "sframe_cases.h"

/* Built, 28 + 2 * 16 + 2 * (5 + 3) = 76 bytes; in version 2, 74 */
#define GOOD(version_)							\
	.version = (version_), .abi = SFB_AMD64, .ra = -8, .last = true, \
	.flags = CASE_ONLY | SFB_SORTED | SFB_PCREL, .header = true,	\
	.fre = SFB_FRE(0, SFB_SP, 0, 8)

#define HEADER(name_, error_, version_, ...)				\
	{ .name = (name_), .error = (error_), GOOD(version_),		\
	  .changes = { __VA_ARGS__ } }

#define PUT(pos_, size_, val_)	CASE_PUT(CASE_HEADER, pos_, size_, val_)

/* The size that sframe_read_header() gets for the section */
#define SIZE(name_, error_, size_)					\
	{ .name = (name_), .error = (error_), GOOD(3), .claimed_size = (size_) }

#define UNREADABLE(name_, pos_)						\
	{ .name = (name_), .error = -EFAULT, GOOD(3),			\
	  .hole = CASE_AT(CASE_HEADER, pos_) }

static const struct sframe_case header[] = {
	HEADER("v2 as it is", 0, 2),
	HEADER("v3 as it is", 0, 3),
	HEADER("magic", -ENOEXEC, 3, PUT(SFB_HDR_MAGIC, 2, 0xdee3)),
	HEADER("magic zero", -ENOEXEC, 3, PUT(SFB_HDR_MAGIC, 2, 0)),
	HEADER("magic of the other byte order", -ENOEXEC, 3,
	       PUT(SFB_HDR_MAGIC, 2, 0xe2de)),
	HEADER("bad magic comes before bad version", -ENOEXEC, 3,
	       PUT(SFB_HDR_MAGIC, 2, 0), PUT(SFB_HDR_VERSION, 1, 4)),
	HEADER("version 0", -EOPNOTSUPP, 3, PUT(SFB_HDR_VERSION, 1, 0)),
	HEADER("version 1", -EOPNOTSUPP, 3, PUT(SFB_HDR_VERSION, 1, 1)),
	HEADER("version 4", -EOPNOTSUPP, 3, PUT(SFB_HDR_VERSION, 1, 4)),
	HEADER("version 255", -EOPNOTSUPP, 3, PUT(SFB_HDR_VERSION, 1, 255)),
	HEADER("a version unknown may have flags unknown", -EOPNOTSUPP, 3,
	       PUT(SFB_HDR_VERSION, 1, 4), PUT(SFB_HDR_FLAGS, 1, 0xff)),
	HEADER("v2 no flags", 0, 2, PUT(SFB_HDR_FLAGS, 1, 0)),
	HEADER("v3 no flags", 0, 3, PUT(SFB_HDR_FLAGS, 1, 0)),
	HEADER("v2 frame pointer flag", 0, 2, PUT(SFB_HDR_FLAGS, 1, 7)),
	HEADER("v3 frame pointer flag", -ENOEXEC, 3, PUT(SFB_HDR_FLAGS, 1, 7)),
	HEADER("v2 unknown flag 3", -ENOEXEC, 2, PUT(SFB_HDR_FLAGS, 1, 9)),
	HEADER("v3 unknown flag 3", -ENOEXEC, 3, PUT(SFB_HDR_FLAGS, 1, 9)),
	HEADER("v2 unknown flag 7", -ENOEXEC, 2, PUT(SFB_HDR_FLAGS, 1, 0x80)),
	HEADER("v3 unknown flag 6", -ENOEXEC, 3, PUT(SFB_HDR_FLAGS, 1, 0x40)),
	HEADER("v3 CFAs may be sums", 0, 3, PUT(SFB_HDR_FLAGS, 1, 0x80)),
	HEADER("ABI 0", -ENOEXEC, 3, PUT(SFB_HDR_ABI, 1, 0)),
	HEADER("ABI AArch64", -ENOEXEC, 3, PUT(SFB_HDR_ABI, 1, SFB_AARCH64)),
	HEADER("ABI s390x", -ENOEXEC, 3, PUT(SFB_HDR_ABI, 1, 4)),
	HEADER("ABI 255", -ENOEXEC, 2, PUT(SFB_HDR_ABI, 1, 255)),
	HEADER("no functions", 0, 3, PUT(SFB_HDR_NUM_FDES, 4, 0)),
	HEADER("no functions, no FREs", 0, 3, PUT(SFB_HDR_NUM_FDES, 4, 0),
	       PUT(SFB_HDR_FRE_LEN, 4, 0)),
	HEADER("number of FREs is not used", 0, 3,
	       PUT(SFB_HDR_NUM_FRES, 4, 0xffffffff)),
	HEADER("v2 FDEs one past FREs", -ENOEXEC, 2,
	       PUT(SFB_HDR_NUM_FDES, 4, 3)),
	HEADER("v3 FDEs one past FREs", -ENOEXEC, 3,
	       PUT(SFB_HDR_NUM_FDES, 4, 3)),
	HEADER("FDEs one byte past FREs", -ENOEXEC, 3,
	       PUT(SFB_HDR_FDEOFF, 4, 1)),
	HEADER("FREs one byte before end of FDEs", -ENOEXEC, 3,
	       PUT(SFB_HDR_FREOFF, 4, 31), PUT(SFB_HDR_FRE_LEN, 4, 1)),
	HEADER("aux header over everything", -ENOEXEC, 3,
	       PUT(SFB_HDR_AUX_LEN, 1, 255)),
	HEADER("aux header one byte too long", -ENOEXEC, 3,
	       PUT(SFB_HDR_AUX_LEN, 1, 1)),
	HEADER("aux header in place of an FDE", 0, 3,
	       PUT(SFB_HDR_AUX_LEN, 1, 16), PUT(SFB_HDR_NUM_FDES, 4, 1),
	       PUT(SFB_HDR_FREOFF, 4, 16)),
	HEADER("FREs one byte past end", -ENOEXEC, 3,
	       PUT(SFB_HDR_FRE_LEN, 4, 17)),
	HEADER("FREs one byte short", 0, 3, PUT(SFB_HDR_FRE_LEN, 4, 15)),
	HEADER("FREs huge", -ENOEXEC, 3, PUT(SFB_HDR_FRE_LEN, 4, 0xffffffff)),
	HEADER("FRE offset at end, none there", 0, 3,
	       PUT(SFB_HDR_FREOFF, 4, 48), PUT(SFB_HDR_FRE_LEN, 4, 0)),
	HEADER("FRE offset past end, none there", -ENOEXEC, 3,
	       PUT(SFB_HDR_FREOFF, 4, 49), PUT(SFB_HDR_FRE_LEN, 4, 0)),
	HEADER("FDE offset past FRE offset, none there", -ENOEXEC, 3,
	       PUT(SFB_HDR_FDEOFF, 4, 33), PUT(SFB_HDR_NUM_FDES, 4, 0)),
	/* In 32 bits each of the following would wrap to something small */
	HEADER("v3 2^28 FDEs", -ENOEXEC, 3,
	       PUT(SFB_HDR_NUM_FDES, 4, 0x10000000)),
	HEADER("v2 2^32 / 20 FDEs", -ENOEXEC, 2,
	       PUT(SFB_HDR_NUM_FDES, 4, 0x0ccccccd)),
	HEADER("2^32 - 1 FDEs", -ENOEXEC, 3,
	       PUT(SFB_HDR_NUM_FDES, 4, 0xffffffff)),
	HEADER("v2 FDE offset wraps", -ENOEXEC, 2,
	       PUT(SFB_HDR_FDEOFF, 4, 0xffffffd8)),
	HEADER("v3 FDE offset wraps", -ENOEXEC, 3,
	       PUT(SFB_HDR_FDEOFF, 4, 0xffffffe0)),
	HEADER("FDE offset + header wraps", -ENOEXEC, 3,
	       PUT(SFB_HDR_FDEOFF, 4, 0xffffffe4)),
	HEADER("FRE offset + length wraps", -ENOEXEC, 3,
	       PUT(SFB_HDR_FREOFF, 4, 0xfffffff0)),
	HEADER("FRE offset + header wraps", -ENOEXEC, 3,
	       PUT(SFB_HDR_FREOFF, 4, 0xfffffffc)),
	HEADER("FRE offset wraps with its length", -ENOEXEC, 3,
	       PUT(SFB_HDR_FREOFF, 4, 0x20),
	       PUT(SFB_HDR_FRE_LEN, 4, 0xffffffe0)),
	HEADER("all offsets huge", -ENOEXEC, 3,
	       PUT(SFB_HDR_FDEOFF, 4, 0xffffffff),
	       PUT(SFB_HDR_FREOFF, 4, 0xffffffff),
	       PUT(SFB_HDR_FRE_LEN, 4, 0xffffffff)),
	SIZE("its exact size", 0, 76),
	SIZE("a larger size", 0, 77),
	SIZE("one byte short", -ENOEXEC, 75),
	SIZE("a header alone", -ENOEXEC, 28),
	SIZE("less than a header", -ENOEXEC, 27),
	SIZE("less than magic, version and flags", -ENOEXEC, 3),
	{ .name = "magic, version and flags alone, of a version unknown",
	  .error = -EOPNOTSUPP, GOOD(3), .claimed_size = 4,
	  .changes = { PUT(SFB_HDR_VERSION, 1, 4) } },
	{ .name = "a header alone, and nothing said of more", .error = 0, GOOD(3),
	  .claimed_size = 28,
	  .changes = { PUT(SFB_HDR_NUM_FDES, 4, 0), PUT(SFB_HDR_FRE_LEN, 4, 0),
		       PUT(SFB_HDR_FREOFF, 4, 0) } },
	SIZE("a size that wraps", -ENOEXEC, -1UL),
	SIZE("a size that makes the start wrap", -ENOEXEC, -4096UL),
	UNREADABLE("magic, version, flags unreadable", 0),
	UNREADABLE("ABI, fixed offsets, aux length unreadable", 4),
	UNREADABLE("number of functions unreadable", 8),
	UNREADABLE("number of FREs unreadable", 12),
	UNREADABLE("length of FREs unreadable", 16),
	UNREADABLE("offset of FDEs unreadable", 20),
	UNREADABLE("offset of FREs unreadable", 24),
};

const struct sframe_case_set sframe_header_set = CASE_SET("header", header);
