// SPDX-License-Identifier: GPL-2.0
/*
 * Files whose tables or program headers are wrong, or change while the kernel reads them.
 *
 * The kernel checks a table when it loads it.  A bad table disables only the part that is
 * wrong: the kernel unwinds that code by its frame pointers, tracepoints report the fault,
 * the program continues, and the kernel log stays silent.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image.h"
#include "sampled.h"
#include "trace.h"
#include "../../kselftest_harness.h"

/*
 * Each variant changes some bytes of the file before it is mapped. The chain keeps frame
 * pointers and has a table, so its stack is the same either way. Files that the kernel's
 * ELF loader accepts are also run as programs.
 */

/* The possible faults: all functions that change a file are here */

/* Another machine's, in ELF and in SFrame */
#if defined(__x86_64__)
#define OTHER_MACHINE	EM_AARCH64
#define OTHER_ABI	2
#else
#define OTHER_MACHINE	EM_X86_64
#define OTHER_ABI	3
#endif

static struct elf64_phdr *sframe_phdr(struct elf *elf)
{
	return elf_phdr(elf, PT_GNU_SFRAME, 0);
}

static struct elf64_phdr *text_phdr(struct elf *elf)
{
	return elf_phdr(elf, PT_LOAD, PF_X);
}

#define CHANGE(name, change)						\
static void name(struct elf *elf)					\
{									\
	change;								\
}

/* The program header of the table */
CHANGE(size_0, sframe_phdr(elf)->p_filesz = 0)
CHANGE(size_27, sframe_phdr(elf)->p_filesz = 27)
CHANGE(size_28, sframe_phdr(elf)->p_filesz = 28)
CHANGE(size_64_mib_and_more, sframe_phdr(elf)->p_filesz = (64 << 20) + 1)
CHANGE(size_wraps, sframe_phdr(elf)->p_filesz = -1ULL)
CHANGE(size_beyond_file, sframe_phdr(elf)->p_filesz += 1 << 19)
CHANGE(offset_text, sframe_phdr(elf)->p_offset = text_phdr(elf)->p_offset)
CHANGE(offset_last, sframe_phdr(elf)->p_offset = elf->size - 1)
CHANGE(offset_beyond_file, sframe_phdr(elf)->p_offset = elf->size)
CHANGE(offset_negative, sframe_phdr(elf)->p_offset = -8ULL)
CHANGE(offset_huge, sframe_phdr(elf)->p_offset = INT64_MAX)
CHANGE(no_table, sframe_phdr(elf)->p_type = PT_NULL)
CHANGE(file_ends_before, elf->size = sframe_phdr(elf)->p_offset)
CHANGE(file_ends_within, elf->size = sframe_phdr(elf)->p_offset +
				     sframe_phdr(elf)->p_filesz - 1)
/* The process's mappings do not matter, so neither does their size */
CHANGE(memsz_0, sframe_phdr(elf)->p_memsz = 0)
CHANGE(memsz_wraps, sframe_phdr(elf)->p_memsz = -1ULL)
/* Functions have their addresses from the table's: none of them is in the text */
CHANGE(addr_nowhere, sframe_phdr(elf)->p_vaddr += 1ULL << 30)
CHANGE(addr_kernel, sframe_phdr(elf)->p_vaddr += 0xffff800000000000ULL)
CHANGE(addr_not_canonical, sframe_phdr(elf)->p_vaddr += 1ULL << 60)
CHANGE(addr_wraps, sframe_phdr(elf)->p_vaddr = -1ULL)

/* Other program headers: the table describes no text, or text elsewhere in the file */
CHANGE(text_not_executable, text_phdr(elf)->p_flags &= ~PF_X)
CHANGE(text_not_loaded, text_phdr(elf)->p_type = PT_NOTE)
CHANGE(text_filesz_0, text_phdr(elf)->p_filesz = 0)
CHANGE(text_addr_other, text_phdr(elf)->p_vaddr += 1ULL << 24)
CHANGE(text_addr_wraps, text_phdr(elf)->p_vaddr = -16ULL)
CHANGE(text_offset_other, text_phdr(elf)->p_offset += 1 << 20)
CHANGE(text_offset_negative, text_phdr(elf)->p_offset = -4096ULL)
CHANGE(text_offset_huge, text_phdr(elf)->p_offset = INT64_MAX - 4095)
CHANGE(text_filesz_wraps, text_phdr(elf)->p_filesz = -1ULL)

/* The ELF header */
CHANGE(phnum_0, elf_ehdr(elf)->e_phnum = 0)
CHANGE(phnum_65535, elf_ehdr(elf)->e_phnum = 65535)
CHANGE(phnum_257, elf_ehdr(elf)->e_phnum = 257)
CHANGE(phnum_past_end, elf_ehdr(elf)->e_phnum = 256;
	elf_ehdr(elf)->e_phoff = elf->size - 64)
CHANGE(phoff_past_end, elf_ehdr(elf)->e_phoff = elf->size)
CHANGE(phoff_negative, elf_ehdr(elf)->e_phoff = -64ULL)
CHANGE(phoff_huge, elf_ehdr(elf)->e_phoff = INT64_MAX)
CHANGE(phentsize_0, elf_ehdr(elf)->e_phentsize = 0)
CHANGE(phentsize_other, elf_ehdr(elf)->e_phentsize = 32)
CHANGE(no_elf_magic, elf_ehdr(elf)->e_ident[EI_MAG0] = 0)
CHANGE(class_32, elf_ehdr(elf)->e_ident[EI_CLASS] = ELFCLASS32)
CHANGE(data_big_endian, elf_ehdr(elf)->e_ident[EI_DATA] = ELFDATA2MSB)
CHANGE(machine_other, elf_ehdr(elf)->e_machine = OTHER_MACHINE)

/* The table's header */
CHANGE(magic_other, elf_sframe(elf)->magic ^= 0x100)
CHANGE(magic_swapped, elf_sframe(elf)->magic = 0xe2de)
CHANGE(version_0, elf_sframe(elf)->version = 0)
CHANGE(version_1, elf_sframe(elf)->version = 1)
CHANGE(version_4, elf_sframe(elf)->version = 4)
CHANGE(version_255, elf_sframe(elf)->version = 255)
CHANGE(flag_unknown, elf_sframe(elf)->flags |= 0x40)
CHANGE(flag_of_version_2, elf_sframe(elf)->flags |= 0x2)
CHANGE(abi_other, elf_sframe(elf)->abi_arch = OTHER_ABI)
CHANGE(abi_0, elf_sframe(elf)->abi_arch = 0)
CHANGE(abi_unknown, elf_sframe(elf)->abi_arch = 77)
CHANGE(auxhdr_past_end, elf_sframe(elf)->auxhdr_len = 255;
	sframe_phdr(elf)->p_filesz = 28 + 254)
CHANGE(fdes_past_end, elf_sframe(elf)->fdeoff = 0x10000)
CHANGE(fdes_wrap, elf_sframe(elf)->fdeoff = -1U)
CHANGE(fres_past_end, elf_sframe(elf)->freoff = 0x10000)
CHANGE(fres_wrap, elf_sframe(elf)->freoff = -4U)
CHANGE(fres_within_fdes, elf_sframe(elf)->freoff = 8)
CHANGE(num_fdes_huge, elf_sframe(elf)->num_fdes = -1U)
CHANGE(num_fdes_wraps, elf_sframe(elf)->num_fdes = 0x10000001)
CHANGE(num_fdes_one_more, elf_sframe(elf)->num_fdes++)
CHANGE(fre_len_huge, elf_sframe(elf)->fre_len = -1U)
CHANGE(fre_len_one_more, elf_sframe(elf)->fre_len++;
	sframe_phdr(elf)->p_filesz = 28 + elf_sframe(elf)->freoff +
				     elf_sframe(elf)->fre_len - 1)

/* The entries: each gets the same change */
#define CHANGE_EACH(name, change)					\
static void name(struct elf *elf)					\
{									\
	struct sframe_fde *fde;						\
	struct sframe_attr *attr;					\
	unsigned char *fre;						\
	unsigned int i;							\
									\
	for (i = 0; (fde = elf_fde(elf, i)); i++) {			\
		attr = elf_fde_attr(elf, i);				\
		fre = (unsigned char *)(attr + 1);			\
		/* A change uses some of these */			\
		(void)fre;						\
		change;							\
	}								\
}

/* A row begins with its start (one byte, with FRE type 0), then its info */
#define ROW_INFO	1
#define ROW_WORDS	2

CHANGE_EACH(fre_off_past_end, fde->fre_off = 0x7fffffff)
CHANGE_EACH(fre_off_wraps, fde->fre_off = -1U)
CHANGE_EACH(fre_type_3, attr->info = (attr->info & ~0xf) | 3)
CHANGE_EACH(fre_type_15, attr->info |= 0xf)
CHANGE_EACH(mask_without_size, attr->info |= 0x10; attr->rep_size = 0)
CHANGE_EACH(fde_type_unknown, attr->info2 = 31)
CHANGE_EACH(row_word_size_8, fre[ROW_INFO] |= 0x60)
CHANGE_EACH(row_too_many_words, fre[ROW_INFO] |= 0x1e; attr->num_fres = 1)
CHANGE_EACH(flex_control_unused, attr->info2 = 1; attr->num_fres = 1;
	fre[ROW_INFO] = 2 << 1; fre[ROW_WORDS] = 0x4)
CHANGE_EACH(start_0, fde->start_offset = 0)
CHANGE_EACH(start_min, fde->start_offset = INT64_MIN)
CHANGE_EACH(start_max, fde->start_offset = INT64_MAX)
CHANGE_EACH(func_size_0, fde->size = 0)
/*
 * CFA below, or not far enough above, the stack pointer; or not aligned. Where the header
 * does not locate the return address, the row does. The CFA counts from the frame
 * pointer: after a frame that the unwinder left by it, the stack pointer is not known.
 * In words of two bytes, it is further below than all frames of the chain reach.
 */
#if defined(__x86_64__)
#define CFA_INFO	(1 | 1 << 1)
#define CFA_ROW(cfa)	(attr->num_fres = 1, fre[ROW_INFO] = CFA_INFO,	\
			 fre[ROW_WORDS] = (cfa))
#else
#define CFA_INFO	(2 << 1)
#define CFA_ROW(cfa)	(attr->num_fres = 1, fre[ROW_INFO] = CFA_INFO,	\
			 fre[ROW_WORDS] = (cfa), fre[ROW_WORDS + 1] = -8)
#endif

static void set_cfa_below(struct sframe_attr *attr, unsigned char *fre)
{
	const int16_t words[] = { -16384, -8 };

	/* Others have no frame, and no room for it */
	if (attr->num_fres < 2)
		return;
	attr->num_fres = 1;
	fre[ROW_INFO] = CFA_INFO | 1 << 5;
	memcpy(fre + ROW_WORDS, words, (CFA_INFO >> 1 & 3) * sizeof(*words));
}

CHANGE_EACH(cfa_below, set_cfa_below(attr, fre))
#if defined(__x86_64__)
/* On other machines a call pushes nothing */
CHANGE_EACH(cfa_no_progress, CFA_ROW(0))
#endif
CHANGE_EACH(cfa_not_aligned, CFA_ROW(12))

/*
 * The tests
 */

struct env {
	struct sampler sampler;
	struct trace trace;
	struct elf elf;
	int klog;
};

/* Return NULL, or the reason why the tests cannot run */
static const char *env_setup(struct env *env)
{
	if (sampler_open(&env->sampler, 0))
		return "no perf events for raw_syscalls, or not root";
	/* Workers load what the header says is large */
	if (trace_start(&env->trace) || trace_all(&env->trace))
		return "no tracepoints unwind:*";
	env->klog = klog_open();
	return env->klog < 0 ? "/dev/kmsg cannot be read" : NULL;
}

static void env_teardown(struct env *env)
{
	sampler_close(&env->sampler);
	trace_stop(&env->trace);
	elf_free(&env->elf);
	close(env->klog);
}

FIXTURE(bad_file)
{
	struct env env;
};

/*
 * @file_error, @entry_error: the errors that unwind_file_invalid and
 * unwind_entry_invalid report, 0 for no such event
 * @is_none: the file has no table of its text, and nothing is wrong with that
 * @runs: does the kernel's ELF loader accept such a program?
 */
FIXTURE_VARIANT(bad_file)
{
	void (*change)(struct elf *elf);
	int file_error;
	int entry_error;
	bool is_none;
	bool runs;
};

FIXTURE_SETUP(bad_file)
{
	const char *why = env_setup(&self->env);

	if (why)
		SKIP(return, "%s", why);
}

FIXTURE_TEARDOWN(bad_file)
{
	env_teardown(&self->env);
}

FIXTURE_VARIANT_ADD(bad_file, size_0) {
	.change = size_0,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, size_27) {
	.change = size_27,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, size_28) {
	.change = size_28,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, size_64_mib_and_more) {
	.change = size_64_mib_and_more,
	.file_error = -E2BIG,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, size_wraps) {
	.change = size_wraps,
	.file_error = -E2BIG,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, size_beyond_file) {
	.change = size_beyond_file,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, offset_text) {
	.change = offset_text,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, offset_last) {
	.change = offset_last,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, offset_beyond_file) {
	.change = offset_beyond_file,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, offset_negative) {
	.change = offset_negative,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, offset_huge) {
	.change = offset_huge,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, no_table) {
	.change = no_table,
	.is_none = true,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, file_ends_before) {
	.change = file_ends_before,
	.file_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, file_ends_within) {
	.change = file_ends_within,
	.file_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, memsz_0) {
	.change = memsz_0,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, memsz_wraps) {
	.change = memsz_wraps,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, addr_nowhere) {
	.change = addr_nowhere,
	.is_none = true,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, addr_kernel) {
	.change = addr_kernel,
	.is_none = true,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, addr_not_canonical) {
	.change = addr_not_canonical,
	.is_none = true,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, addr_wraps) {
	.change = addr_wraps,
	.is_none = true,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, text_not_executable) {
	.change = text_not_executable,
	.is_none = true,
};

FIXTURE_VARIANT_ADD(bad_file, text_not_loaded) {
	.change = text_not_loaded,
	.is_none = true,
};

FIXTURE_VARIANT_ADD(bad_file, text_filesz_0) {
	.change = text_filesz_0,
	.is_none = true,
};

FIXTURE_VARIANT_ADD(bad_file, text_addr_other) {
	.change = text_addr_other,
	.is_none = true,
};

FIXTURE_VARIANT_ADD(bad_file, text_addr_wraps) {
	.change = text_addr_wraps,
	.is_none = true,
};

FIXTURE_VARIANT_ADD(bad_file, text_offset_other) {
	.change = text_offset_other,
};

FIXTURE_VARIANT_ADD(bad_file, text_offset_negative) {
	.change = text_offset_negative,
};

FIXTURE_VARIANT_ADD(bad_file, text_offset_huge) {
	.change = text_offset_huge,
};

FIXTURE_VARIANT_ADD(bad_file, text_filesz_wraps) {
	.change = text_filesz_wraps,
};

FIXTURE_VARIANT_ADD(bad_file, phnum_0) {
	.change = phnum_0,
	.file_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, phnum_65535) {
	.change = phnum_65535,
	.file_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, phnum_257) {
	.change = phnum_257,
	.file_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, phnum_past_end) {
	.change = phnum_past_end,
	.file_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, phoff_past_end) {
	.change = phoff_past_end,
	.file_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, phoff_negative) {
	.change = phoff_negative,
	.file_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, phoff_huge) {
	.change = phoff_huge,
	.file_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, phentsize_0) {
	.change = phentsize_0,
	.file_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, phentsize_other) {
	.change = phentsize_other,
	.file_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, no_elf_magic) {
	.change = no_elf_magic,
	.file_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, class_32) {
	.change = class_32,
	.is_none = true,
};

FIXTURE_VARIANT_ADD(bad_file, data_big_endian) {
	.change = data_big_endian,
	.file_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, machine_other) {
	.change = machine_other,
	.file_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, magic_other) {
	.change = magic_other,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, magic_swapped) {
	.change = magic_swapped,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, version_0) {
	.change = version_0,
	.file_error = -EOPNOTSUPP,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, version_1) {
	.change = version_1,
	.file_error = -EOPNOTSUPP,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, version_4) {
	.change = version_4,
	.file_error = -EOPNOTSUPP,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, version_255) {
	.change = version_255,
	.file_error = -EOPNOTSUPP,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, flag_unknown) {
	.change = flag_unknown,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, flag_of_version_2) {
	.change = flag_of_version_2,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, abi_other) {
	.change = abi_other,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, abi_0) {
	.change = abi_0,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, abi_unknown) {
	.change = abi_unknown,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, auxhdr_past_end) {
	.change = auxhdr_past_end,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, fdes_past_end) {
	.change = fdes_past_end,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, fdes_wrap) {
	.change = fdes_wrap,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, fres_past_end) {
	.change = fres_past_end,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, fres_wrap) {
	.change = fres_wrap,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, fres_within_fdes) {
	.change = fres_within_fdes,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, num_fdes_huge) {
	.change = num_fdes_huge,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, num_fdes_wraps) {
	.change = num_fdes_wraps,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, num_fdes_one_more) {
	.change = num_fdes_one_more,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, fre_len_huge) {
	.change = fre_len_huge,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, fre_len_one_more) {
	.change = fre_len_one_more,
	.file_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, fre_off_past_end) {
	.change = fre_off_past_end,
	.entry_error = -EINVAL,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, fre_off_wraps) {
	.change = fre_off_wraps,
	.entry_error = -EINVAL,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, fre_type_3) {
	.change = fre_type_3,
	.entry_error = -EINVAL,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, fre_type_15) {
	.change = fre_type_15,
	.entry_error = -EINVAL,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, mask_without_size) {
	.change = mask_without_size,
	.entry_error = -EINVAL,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, fde_type_unknown) {
	.change = fde_type_unknown,
	.entry_error = -EINVAL,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, row_word_size_8) {
	.change = row_word_size_8,
	.entry_error = -EINVAL,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, row_too_many_words) {
	.change = row_too_many_words,
	.entry_error = -EINVAL,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, flex_control_unused) {
	.change = flex_control_unused,
	.entry_error = -EINVAL,
	.runs = true,
};

/* No function in the text, or an entry whose caller cannot be right: nothing is invalid */

FIXTURE_VARIANT_ADD(bad_file, start_0) {
	.change = start_0,
	.is_none = true,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, start_min) {
	.change = start_min,
	.is_none = true,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, start_max) {
	.change = start_max,
	.is_none = true,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, func_size_0) {
	.change = func_size_0,
	.is_none = true,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, cfa_below) {
	.change = cfa_below,
	.runs = true,
};

#if defined(__x86_64__)
FIXTURE_VARIANT_ADD(bad_file, cfa_no_progress) {
	.change = cfa_no_progress,
	.runs = true,
};
#endif

FIXTURE_VARIANT_ADD(bad_file, cfa_not_aligned) {
	.change = cfa_not_aligned,
	.runs = true,
};

static int sample_image(struct sampler *sampler, const struct image *image,
			struct stack *stack, struct stack *expected)
{
	return sample_chain(sampler, stack, expected, 2,
			    (chain_fn)image->entry, sampled_call);
}

/* Number of events about a file.  One of them may be expected from a worker */
static size_t file_events(struct env *env, const char *name, int fd, bool expected,
			  char *message, size_t size)
{
	size_t nr;
	int i;

	for (i = 0; i < 5000; i++) {
		if (trace_read(&env->trace))
			return -1;
		nr = trace_count_file(&env->trace, name, fd, message, size);
		if (nr || !expected)
			return nr;
		usleep(1000);
	}
	return 0;
}

/* Run a program's bytes and take the stack of its call; return its wait status */
static int run_program(const struct elf *elf, struct stack *stack, int *fd)
{
	struct sampler sampler;
	int go[2], status = -1;
	char path[64], c;
	pid_t pid;

	if (elf_program(elf, path, sizeof(path)) || pipe(go))
		return -1;
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	pid = fork();
	if (!pid) {
		close(go[1]);
		if (read(go[0], &c, 1) == 1)
			execl(path, path, NULL);
		_exit(127);
	}
	if (sampler_open(&sampler, pid) || write(go[1], "", 1) != 1)
		kill(pid, SIGKILL);
	close(go[0]);
	close(go[1]);
	if (waitpid(pid, &status, 0) != pid || sampler_stack(&sampler, stack))
		status = -1;
	sampler_close(&sampler);
	unlink(path);
	return status;
}

/* The event has the error's name, and the file's */
static void expect_named(struct __test_metadata *_metadata, const char *message, int error)
{
	char name[32];

	EXPECT_EQ(error, trace_field(message, "error"));
	snprintf(name, sizeof(name), "error=%d (%s) ", error, strerrorname_np(-error));
	EXPECT_NE(NULL, strstr(message, name));
	EXPECT_NE(NULL, strstr(message, " name=memfd:"));
}

static void expect_mapped(struct __test_metadata *_metadata, struct env *env,
			  const struct _fixture_variant_bad_file *variant)
{
	struct stack stack, expected;
	struct image image;
	char message[256];
	size_t invalid;
	int fd;

	ASSERT_EQ(0, elf_read(&env->elf, "chain_both.so"));
	ASSERT_EQ(3, elf_sframe(&env->elf)->version);
	variant->change(&env->elf);
	fd = elf_memfd(&env->elf);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, image_map(&image, &env->elf, fd, NULL));

	ASSERT_EQ(0, sample_image(&env->sampler, &image, &stack, &expected));
	EXPECT_TRUE(stack_begins_with(&stack, &expected));
	/* Again: the kernel remembers the file's fault */
	ASSERT_EQ(0, sample_image(&env->sampler, &image, &stack, &expected));
	EXPECT_TRUE(stack_begins_with(&stack, &expected));

	invalid = file_events(env, "file_invalid", fd, variant->file_error, message,
			      sizeof(message));
	EXPECT_EQ(!!variant->file_error, invalid);
	if (invalid)
		expect_named(_metadata, message, variant->file_error);
	EXPECT_EQ(!variant->file_error && !variant->is_none,
		  trace_count_file(&env->trace, "table_found", fd, NULL, 0));

	invalid = trace_count(&env->trace, "entry_invalid", NULL, message,
			      sizeof(message));
	if (variant->entry_error) {
		/* Each of the three functions, in each of the two stacks */
		EXPECT_EQ(2 * CHAIN_FRAMES, invalid);
		EXPECT_EQ(variant->entry_error, trace_field(message, "error"));
		EXPECT_LE(image.text, trace_field(message, "ip"));
		EXPECT_GT(image.text_end, trace_field(message, "ip"));
	} else {
		EXPECT_EQ(0, invalid);
	}
	EXPECT_TRUE(klog_silent(env->klog));
	image_unmap(&image);
	close(fd);
}

/* The same program with a good table and with this one: the stack is the same */
static void expect_program(struct __test_metadata *_metadata, struct env *env,
			   const struct _fixture_variant_bad_file *variant)
{
	struct stack good, bad;
	int fd;

	ASSERT_EQ(0, elf_read(&env->elf, "prog_both"));
	ASSERT_EQ(0, trace_clear(&env->trace));
	ASSERT_EQ(0, run_program(&env->elf, &good, &fd));
	EXPECT_EQ(CHAIN_FRAMES + 3, good.nr);
	EXPECT_EQ(1, file_events(env, "table_found", fd, true, NULL, 0));
	close(fd);

	ASSERT_EQ(0, trace_clear(&env->trace));
	variant->change(&env->elf);
	ASSERT_EQ(0, run_program(&env->elf, &bad, &fd));
	EXPECT_TRUE(stack_begins_with(&bad, &good));
	EXPECT_EQ(good.nr, bad.nr);
	EXPECT_EQ(!!variant->file_error,
		  file_events(env, "file_invalid", fd, variant->file_error, NULL, 0));
	EXPECT_EQ(!!variant->entry_error,
		  !!trace_count(&env->trace, "entry_invalid", NULL, NULL, 0));
	EXPECT_TRUE(klog_silent(env->klog));
	close(fd);
}

TEST_F(bad_file, has_the_stack_of_a_good_one)
{
	expect_mapped(_metadata, &self->env, variant);
	if (!variant->runs)
		return;
	elf_free(&self->env.elf);
	expect_program(_metadata, &self->env, variant);
}

/*
 * Faults in the mapping of a good file: the kernel reads the file, so they change nothing.
 * This chain keeps no frame pointers: its stack is right by its table only.
 */

FIXTURE(mapping)
{
	struct env env;
	struct image image;
	char *section;
	int fd;
};

FIXTURE_SETUP(mapping)
{
	const char *why = env_setup(&self->env);

	if (why)
		SKIP(return, "%s", why);
	ASSERT_EQ(0, elf_read(&self->env.elf, "chain_table.so"));
	self->fd = elf_memfd(&self->env.elf);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, image_map(&self->image, &self->env.elf, self->fd, NULL));
	/* Its page, at least */
	self->section = self->image.base +
			(sframe_phdr(&self->env.elf)->p_vaddr & -sysconf(_SC_PAGESIZE));
}

FIXTURE_TEARDOWN(mapping)
{
	image_unmap(&self->image);
	close(self->fd);
	env_teardown(&self->env);
}

/* Two right stacks, and one load of the table */
static bool is_used(struct _test_data_mapping *self)
{
	struct stack stack, expected;
	size_t invalid, found;
	int i;

	for (i = 0; i < 2; i++)
		if (sample_image(&self->env.sampler, &self->image, &stack,
				 &expected) ||
		    !stack_begins_with(&stack, &expected))
			return false;
	if (trace_read(&self->env.trace))
		return false;
	invalid = trace_count_file(&self->env.trace, "file_invalid", self->fd, NULL, 0);
	found = trace_count_file(&self->env.trace, "table_found", self->fd, NULL, 0);
	if (found == 1 && !invalid)
		return klog_silent(self->env.klog);
	printf("# %zu times found, %zu times invalid\n", found, invalid);
	return false;
}

TEST_F(mapping, of_good_file_uses_its_table)
{
	EXPECT_TRUE(is_used(self));
}

TEST_F(mapping, with_section_of_another_file_uses_its_table)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	struct elf other;
	int fd;

	ASSERT_EQ(0, elf_read(&other, "chain_table_other.so"));
	fd = elf_memfd(&other);
	ASSERT_LE(0, fd);
	ASSERT_EQ(self->section,
		  mmap(self->section, page, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd,
		       elf_phdr(&other, PT_GNU_SFRAME, 0)->p_offset & -page));
	EXPECT_TRUE(is_used(self));
}

TEST_F(mapping, with_anonymous_section_uses_its_table)
{
	ASSERT_EQ(self->section,
		  mmap(self->section, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	EXPECT_TRUE(is_used(self));
}

TEST_F(mapping, with_changed_section_uses_its_table)
{
	const size_t page = sysconf(_SC_PAGESIZE);

	ASSERT_EQ(0, mprotect(self->section, page, PROT_READ | PROT_WRITE));
	memset(self->section, 0xff, page);
	EXPECT_TRUE(is_used(self));
}

TEST_F(mapping, with_unreadable_section_uses_its_table)
{
	ASSERT_EQ(0, mprotect(self->section, sysconf(_SC_PAGESIZE), PROT_NONE));
	EXPECT_TRUE(is_used(self));
}

TEST_F(mapping, without_section_uses_its_table)
{
	ASSERT_EQ(0, munmap(self->section, sysconf(_SC_PAGESIZE)));
	EXPECT_TRUE(is_used(self));
}

TEST_F(mapping, without_section_after_a_stack_uses_its_table)
{
	EXPECT_TRUE(is_used(self));
	ASSERT_EQ(0, munmap(self->section, sysconf(_SC_PAGESIZE)));
	EXPECT_TRUE(is_used(self));
}

/*
 * Random changes of the section: each is a new file, or the file changes while the kernel
 * loads its table.  A stack may be wrong then, but each sample has one, and with the good
 * table the stacks are right again.  The generator has a fixed seed, which the test prints.
 */

#define SEED		0x5eed0f5f4a3eULL
#define MUTATIONS	1000

/* xorshift64* */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

struct table {
	unsigned char	*bytes;
	size_t		size;
};

/* A byte, a bit, or a word that is likely to hit a bound */
static void mutate(const struct table *table, uint64_t *state)
{
	static const uint32_t words[] = {
		0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff,
		0x80000000, 0xffffffff, 0xfffffffc, 0x10000000, 0x10000001,
	};
	size_t pos = next_random(state) % table->size;

	switch (next_random(state) % 3) {
	case 0:
		table->bytes[pos] = next_random(state);
		break;
	case 1:
		table->bytes[pos] ^= 1 << next_random(state) % 8;
		break;
	default:
		pos = pos / 4 * 4;
		if (pos + 4 > table->size)
			pos = 0;
		memcpy(table->bytes + pos,
		       &words[next_random(state) % (sizeof(words) / 4)], 4);
	}
}

FIXTURE(mutated_file)
{
	struct sampler sampler;
	struct trace trace;
	struct elf elf;
	struct image image;
	int klog;
};

FIXTURE_SETUP(mutated_file)
{
	if (sampler_open(&self->sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*");
	self->klog = klog_open();
	if (self->klog < 0)
		SKIP(return, "/dev/kmsg cannot be read");
	ASSERT_EQ(0, elf_read(&self->elf, "chain_table.so"));
	TH_LOG("seed %#llx, %d mutations", SEED, MUTATIONS);
}

FIXTURE_TEARDOWN(mutated_file)
{
	image_unmap(&self->image);
	sampler_close(&self->sampler);
	trace_stop(&self->trace);
	elf_free(&self->elf);
	close(self->klog);
}

/* The section in bytes of the file */
static struct table table_in(const struct elf *elf, unsigned char *bytes)
{
	const struct elf64_phdr *phdr = elf_phdr(elf, PT_GNU_SFRAME, 0);

	return (struct table){ bytes + phdr->p_offset, phdr->p_filesz };
}

static int sample(struct _test_data_mutated_file *self, struct stack *stack,
		  struct stack *expected)
{
	return sample_chain(&self->sampler, stack, expected, 2,
			    (chain_fn)self->image.entry, sampled_call);
}

/* Map the bytes as they are now, as a new file */
static int map_bytes(struct _test_data_mutated_file *self)
{
	int fd = elf_memfd(&self->elf), ret;

	image_unmap(&self->image);
	ret = fd < 0 ? -1 : image_map(&self->image, &self->elf, fd, NULL);
	close(fd);
	return ret;
}

/* Is the stack right with the original bytes? */
static bool is_right(struct _test_data_mutated_file *self)
{
	struct stack stack, expected;

	elf_restore(&self->elf);
	return !map_bytes(self) && !sample(self, &stack, &expected) &&
	       stack_begins_with(&stack, &expected);
}

static size_t count(struct _test_data_mutated_file *self, const char *name)
{
	return trace_count(&self->trace, name, NULL, NULL, 0);
}

TEST_F_TIMEOUT(mutated_file, does_no_harm, 90)
{
	const struct table table = table_in(&self->elf, self->elf.data);
	size_t wrong = 0, invalid = 0, found = 0;
	struct stack stack, expected;
	uint64_t state = SEED;
	int i;

	ASSERT_TRUE(is_right(self));
	for (i = 0; i < MUTATIONS; i++) {
		mutate(&table, &state);
		ASSERT_EQ(0, map_bytes(self));
		/* Any stack will do, but there must be one, and its top must be right */
		ASSERT_EQ(0, sample(self, &stack, &expected));
		ASSERT_LE(1, stack.nr);
		EXPECT_EQ(expected.ip[0], stack.ip[0]);
		wrong += stack.nr < expected.nr ||
			 memcmp(stack.ip, expected.ip,
				expected.nr * sizeof(*stack.ip));
		/* Only a few at a time: otherwise only the first would be tested */
		if (i % 4 == 3)
			elf_restore(&self->elf);
		if (i % 100 == 99) {
			ASSERT_EQ(0, trace_read(&self->trace));
			found += count(self, "table_found");
			invalid += count(self, "file_invalid") +
				   count(self, "entry_invalid");
			ASSERT_EQ(0, trace_clear(&self->trace));
		}
	}
	EXPECT_TRUE(is_right(self));
	EXPECT_TRUE(klog_silent(self->klog));
	TH_LOG("%zu stacks were wrong, %zu tables found, %zu entries and tables invalid",
	       wrong, found, invalid);
	/* The changes hit headers, entries, and rows with different contents */
	EXPECT_NE(0, wrong);
	EXPECT_NE(0, found);
	EXPECT_NE(0, invalid);
}

struct mutator {
	struct table		table;
	const unsigned char	*good;
	atomic_bool		stop;
	atomic_ulong		mutations;
};

static void *mutator(void *arg)
{
	struct mutator *m = arg;
	uint64_t state = SEED;
	unsigned long i;

	while (!atomic_load(&m->stop)) {
		i = atomic_fetch_add(&m->mutations, 1);
		if (i % 4)
			mutate(&m->table, &state);
		else
			memcpy(m->table.bytes, m->good, m->table.size);
	}
	return NULL;
}

/* A new file with the bytes, to be mapped shared and written; or -1 */
static int shared_file(const struct elf *elf)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0700);

	if (fd >= 0 && write(fd, elf->orig, elf->size) != (ssize_t)elf->size) {
		close(fd);
		return -1;
	}
	return fd;
}

#define LOADS	100

/*
 * The kernel loads a table once and then finds that the file is open for writing.  So each
 * load is of a new file, and none of these tables is used.
 */
TEST_F_TIMEOUT(mutated_file, that_changes_while_it_is_loaded_does_no_harm, 90)
{
	struct mutator m = {
		.good = table_in(&self->elf, self->elf.orig).bytes,
	};
	unsigned long mutations = 0;
	struct stack stack, expected;
	unsigned char *shared;
	pthread_t thread;
	int i, fd;

	ASSERT_TRUE(is_right(self));
	for (i = 0; i < LOADS || mutations < MUTATIONS; i++) {
		fd = shared_file(&self->elf);
		ASSERT_LE(0, fd);
		shared = mmap(NULL, self->elf.size, PROT_READ | PROT_WRITE,
			      MAP_SHARED, fd, 0);
		ASSERT_NE(MAP_FAILED, shared);
		image_unmap(&self->image);
		ASSERT_EQ(0, image_map(&self->image, &self->elf, fd, NULL));
		m.table = table_in(&self->elf, shared);
		atomic_store(&m.stop, false);
		ASSERT_EQ(0, pthread_create(&thread, NULL, mutator, &m));
		while (atomic_load(&m.mutations) == mutations)
			sched_yield();
		ASSERT_EQ(0, sample(self, &stack, &expected));
		ASSERT_LE(1, stack.nr);
		EXPECT_EQ(expected.ip[0], stack.ip[0]);
		/* Only a table knows the second function of the chain */
		EXPECT_TRUE(stack.nr < 3 || stack.ip[2] != expected.ip[2]);
		atomic_store(&m.stop, true);
		ASSERT_EQ(0, pthread_join(thread, NULL));
		mutations = atomic_load(&m.mutations);
		munmap(shared, self->elf.size);
		close(fd);
	}
	EXPECT_TRUE(is_right(self));
	EXPECT_TRUE(klog_silent(self->klog));
	TH_LOG("%d files, %lu mutations", i, mutations);
}

TEST_HARNESS_MAIN
