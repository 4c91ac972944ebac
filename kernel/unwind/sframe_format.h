/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The SFrame format, versions 2 and 3, as it lies in memory.
 *
 * From "The SFrame Format" (libsframe/doc/sframe-spec in GNU binutils).  The
 * comment at each item names the section that defines it.  Everything is in the
 * target's byte order and packed.
 *
 *	section:   header | auxiliary header | FDE index | FREs
 *	           (the offsets in the header count from the end of the header)
 *	FDE index: one fixed-size FDE per function, sorted by address if the
 *	           header says so
 *	FREs:      per function, in version 3 its attributes, then one FRE per
 *	           range of addresses: start, info byte, 0 ... 15 data words
 *
 * SFRAME_F_CFA_SUM and SFRAME_FLEX_SUM are not part of that format: see
 * Documentation/core-api/unwind-sframe.rst.
 */
#ifndef _KERNEL_UNWIND_SFRAME_FORMAT_H
#define _KERNEL_UNWIND_SFRAME_FORMAT_H

#include <linux/bits.h>
#include <linux/types.h>

/* SFrame Preamble */
#define SFRAME_MAGIC			0xdee2
#define SFRAME_PREAMBLE_SIZE		4	/* magic, version, flags */

#define SFRAME_VERSION_2		2
#define SFRAME_VERSION_3		3

/* SFrame Flags */
#define SFRAME_F_FDE_SORTED		BIT(0)
#define SFRAME_F_FRAME_POINTER		BIT(1)	/* version 2 only */
#define SFRAME_F_FDE_FUNC_START_PCREL	BIT(2)
#define SFRAME_F_CFA_SUM		BIT(7)	/* ours, in version 3 */

#define SFRAME_V2_FLAGS	(SFRAME_F_FDE_SORTED | SFRAME_F_FRAME_POINTER | \
			 SFRAME_F_FDE_FUNC_START_PCREL)
#define SFRAME_V3_FLAGS	(SFRAME_F_FDE_SORTED | SFRAME_F_FDE_FUNC_START_PCREL | \
			 SFRAME_F_CFA_SUM)

/* SFrame ABI/arch Identifier */
#define SFRAME_ABI_AARCH64_ENDIAN_BIG		1
#define SFRAME_ABI_AARCH64_ENDIAN_LITTLE	2
#define SFRAME_ABI_AMD64_ENDIAN_LITTLE		3
#define SFRAME_ABI_S390X_ENDIAN_BIG		4	/* not read */

/* SFrame Header */
struct sframe_header {
	__u16	magic;
	__u8	version;
	__u8	flags;
	__u8	abi_arch;
	__s8	cfa_fixed_fp_offset;	/* 0: not fixed */
	__s8	cfa_fixed_ra_offset;	/* 0: not fixed */
	__u8	auxhdr_len;
	__u32	num_fdes;
	__u32	num_fres;
	__u32	fre_len;		/* bytes of the FRE sub-section */
	__u32	fdeoff;
	__u32	freoff;
} __packed;

/* Version 2: one FDE holds everything about a function */
struct sframe_fde_v2 {
	__s32	start_offset;
	__u32	size;
	__u32	fre_off;		/* from the start of the FREs */
	__u32	num_fres;
	__u8	info;
	__u8	rep_size;
	__u16	padding;
} __packed;

/* The SFrame FDE Index (version 3) */
struct sframe_fde_v3 {
	__s64	start_offset;
	__u32	size;
	__u32	fre_off;		/* of the attributes, from the start of the FREs */
} __packed;

/* The SFrame FDE Attribute (version 3), not aligned */
struct sframe_fde_attr_v3 {
	__u16	num_fres;
	__u8	info;
	__u8	info2;
	__u8	rep_size;
} __packed;

/* The SFrame FDE Info Bytes */
#define SFRAME_FDE_FRE_TYPE		GENMASK(3, 0)
#define SFRAME_FDE_PCTYPE_MASK		BIT(4)
#define SFRAME_FDE_PAUTH_KEY_B		BIT(5)
#define SFRAME_FDE_SIGNAL		BIT(7)	/* version 3 */
#define SFRAME_FDE_TYPE			GENMASK(4, 0)	/* in info2 */

/* The SFrame FDE Types */
#define SFRAME_FDE_TYPE_DEFAULT		0
#define SFRAME_FDE_TYPE_FLEX		1

/* The SFrame FRE Types: bytes of an FRE's start are 1 << type */
#define SFRAME_FRE_TYPE_ADDR1		0
#define SFRAME_FRE_TYPE_ADDR2		1
#define SFRAME_FRE_TYPE_ADDR4		2

/* The SFrame FRE Info Word */
#define SFRAME_FRE_BASE_SP		BIT(0)	/* else the frame pointer */
#define SFRAME_FRE_DATAWORD_COUNT	GENMASK(4, 1)
#define SFRAME_FRE_DATAWORD_SIZE	GENMASK(6, 5)	/* bytes are 1 << size */
#define SFRAME_FRE_MANGLED_RA		BIT(7)

#define SFRAME_FRE_DATAWORD_1B		0
#define SFRAME_FRE_DATAWORD_2B		1
#define SFRAME_FRE_DATAWORD_4B		2

/* Flexible FDE Type Interpretation: the control data word */
#define SFRAME_FLEX_REG			BIT(0)
#define SFRAME_FLEX_DEREF		BIT(1)
#define SFRAME_FLEX_SUM			BIT(2)	/* unused without SFRAME_F_CFA_SUM */
#define SFRAME_FLEX_REGNUM_SHIFT	3

/* The index word of SFRAME_FLEX_SUM: 0, or a register as in a control word, and its scale */
#define SFRAME_INDEX_SCALE		GENMASK(2, 1)	/* the factor is 1 << scale */

#endif /* _KERNEL_UNWIND_SFRAME_FORMAT_H */
