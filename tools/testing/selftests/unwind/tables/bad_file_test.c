// SPDX-License-Identifier: GPL-2.0
/*
 * Files whose tables or program headers are wrong, or change while the kernel reads them.
 *
 * A bad table disables only the part that is wrong: the kernel unwinds that code by its
 * frame pointers, tracepoints report the fault, the program continues, and the kernel log
 * stays silent.
 */
#include <errno.h>
#include <pthread.h>
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
CHANGE(size_0, sframe_phdr(elf)->p_memsz = 0)
CHANGE(size_27, sframe_phdr(elf)->p_memsz = 27)
CHANGE(size_28, sframe_phdr(elf)->p_memsz = 28)
CHANGE(size_wraps, sframe_phdr(elf)->p_memsz = -1ULL)
CHANGE(size_beyond_mapping, sframe_phdr(elf)->p_memsz += 1 << 20)
CHANGE(addr_nowhere, sframe_phdr(elf)->p_vaddr += 1ULL << 30)
CHANGE(addr_kernel, sframe_phdr(elf)->p_vaddr += 0xffff800000000000ULL)
CHANGE(addr_not_canonical, sframe_phdr(elf)->p_vaddr += 1ULL << 60)
CHANGE(addr_text, sframe_phdr(elf)->p_vaddr = text_phdr(elf)->p_vaddr)
CHANGE(offset_other, sframe_phdr(elf)->p_offset += 4096)
CHANGE(no_table, sframe_phdr(elf)->p_type = PT_NULL)

/* Other program headers */
CHANGE(text_not_executable, text_phdr(elf)->p_flags &= ~PF_X)
CHANGE(text_not_loaded, text_phdr(elf)->p_type = PT_NOTE)
CHANGE(text_filesz_0, text_phdr(elf)->p_filesz = 0)
CHANGE(text_offset_huge, text_phdr(elf)->p_offset = -4096ULL)
CHANGE(text_addr_other, text_phdr(elf)->p_vaddr += 1ULL << 24)

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
CHANGE(flag_unknown, elf_sframe(elf)->flags |= 0x80)
CHANGE(flag_of_version_2, elf_sframe(elf)->flags |= 0x2)
CHANGE(abi_other, elf_sframe(elf)->abi_arch = OTHER_ABI)
CHANGE(abi_0, elf_sframe(elf)->abi_arch = 0)
CHANGE(abi_unknown, elf_sframe(elf)->abi_arch = 77)
CHANGE(auxhdr_past_end, elf_sframe(elf)->auxhdr_len = 255;
	sframe_phdr(elf)->p_memsz = 28 + 254)
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
	sframe_phdr(elf)->p_memsz = 28 + elf_sframe(elf)->freoff +
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
 */
#if defined(__x86_64__)
#define CFA_ROW(cfa)	(attr->num_fres = 1, fre[ROW_INFO] = 1 | 1 << 1,	\
			 fre[ROW_WORDS] = (cfa))
#else
#define CFA_ROW(cfa)	(attr->num_fres = 1, fre[ROW_INFO] = 2 << 1,	\
			 fre[ROW_WORDS] = (cfa), fre[ROW_WORDS + 1] = -8)
#endif
CHANGE_EACH(cfa_below, CFA_ROW(-64))
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
	if (trace_start(&env->trace))
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
 * @table_error, @entry_error: the errors that unwind_table_invalid and
 * unwind_entry_invalid report, 0 for no such event
 * @runs: does the kernel's ELF loader accept such a program?
 */
FIXTURE_VARIANT(bad_file)
{
	void (*change)(struct elf *elf);
	int table_error;
	int entry_error;
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
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, size_27) {
	.change = size_27,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, size_28) {
	.change = size_28,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, size_wraps) {
	.change = size_wraps,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, size_beyond_mapping) {
	.change = size_beyond_mapping,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, addr_nowhere) {
	.change = addr_nowhere,
	.table_error = -EFAULT,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, addr_kernel) {
	.change = addr_kernel,
	.table_error = -EFAULT,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, addr_not_canonical) {
	.change = addr_not_canonical,
	.table_error = -EFAULT,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, addr_text) {
	.change = addr_text,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, offset_other) {
	.change = offset_other,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, no_table) {
	.change = no_table,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, text_not_executable) {
	.change = text_not_executable,
	.table_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, text_not_loaded) {
	.change = text_not_loaded,
	.table_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, text_filesz_0) {
	.change = text_filesz_0,
	.table_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, text_offset_huge) {
	.change = text_offset_huge,
	.table_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, text_addr_other) {
	.change = text_addr_other,
	.table_error = -EFAULT,
};

FIXTURE_VARIANT_ADD(bad_file, phnum_0) {
	.change = phnum_0,
	.table_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, phnum_65535) {
	.change = phnum_65535,
	.table_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, phnum_257) {
	.change = phnum_257,
	.table_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, phnum_past_end) {
	.change = phnum_past_end,
	.table_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, phoff_past_end) {
	.change = phoff_past_end,
	.table_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, phoff_negative) {
	.change = phoff_negative,
	.table_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, phoff_huge) {
	.change = phoff_huge,
	.table_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, phentsize_0) {
	.change = phentsize_0,
	.table_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, phentsize_other) {
	.change = phentsize_other,
	.table_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, no_elf_magic) {
	.change = no_elf_magic,
	.table_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, class_32) {
	.change = class_32,
};

FIXTURE_VARIANT_ADD(bad_file, data_big_endian) {
	.change = data_big_endian,
	.table_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, machine_other) {
	.change = machine_other,
	.table_error = -ENOEXEC,
};

FIXTURE_VARIANT_ADD(bad_file, magic_other) {
	.change = magic_other,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, magic_swapped) {
	.change = magic_swapped,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, version_0) {
	.change = version_0,
	.table_error = -EOPNOTSUPP,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, version_1) {
	.change = version_1,
	.table_error = -EOPNOTSUPP,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, version_4) {
	.change = version_4,
	.table_error = -EOPNOTSUPP,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, version_255) {
	.change = version_255,
	.table_error = -EOPNOTSUPP,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, flag_unknown) {
	.change = flag_unknown,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, flag_of_version_2) {
	.change = flag_of_version_2,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, abi_other) {
	.change = abi_other,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, abi_0) {
	.change = abi_0,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, abi_unknown) {
	.change = abi_unknown,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, auxhdr_past_end) {
	.change = auxhdr_past_end,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, fdes_past_end) {
	.change = fdes_past_end,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, fdes_wrap) {
	.change = fdes_wrap,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, fres_past_end) {
	.change = fres_past_end,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, fres_wrap) {
	.change = fres_wrap,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, fres_within_fdes) {
	.change = fres_within_fdes,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, num_fdes_huge) {
	.change = num_fdes_huge,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, num_fdes_wraps) {
	.change = num_fdes_wraps,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, num_fdes_one_more) {
	.change = num_fdes_one_more,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, fre_len_huge) {
	.change = fre_len_huge,
	.table_error = -ENOEXEC,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, fre_len_one_more) {
	.change = fre_len_one_more,
	.table_error = -ENOEXEC,
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

/* No entry for the address, or an entry whose caller cannot be right: nothing is invalid */

FIXTURE_VARIANT_ADD(bad_file, start_0) {
	.change = start_0,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, start_min) {
	.change = start_min,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, start_max) {
	.change = start_max,
	.runs = true,
};

FIXTURE_VARIANT_ADD(bad_file, func_size_0) {
	.change = func_size_0,
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

/* Events of one mapping name the text that was looked up */
static void text_of(const struct image *image, char *text, size_t size)
{
	snprintf(text, size, "text=0x%lx-0x%lx ", image->text, image->text_end);
}

/* Run a program's bytes and take the stack of its call; return its wait status */
static int run_program(const struct elf *elf, struct trace *trace,
		       struct stack *stack)
{
	struct sampler sampler;
	int go[2], status = -1;
	char path[64], c;
	pid_t pid;

	if (elf_program(elf, path, sizeof(path)) || pipe(go))
		return -1;
	pid = fork();
	if (!pid) {
		close(go[1]);
		if (read(go[0], &c, 1) == 1)
			execl(path, path, NULL);
		_exit(127);
	}
	if (trace_of(trace, pid) || sampler_open(&sampler, pid) ||
	    write(go[1], "", 1) != 1)
		kill(pid, SIGKILL);
	close(go[0]);
	close(go[1]);
	if (waitpid(pid, &status, 0) != pid || sampler_stack(&sampler, stack))
		status = -1;
	sampler_close(&sampler);
	unlink(path);
	return status;
}

static void expect_mapped(struct __test_metadata *_metadata, struct env *env,
			  const struct _fixture_variant_bad_file *variant)
{
	struct stack stack, expected;
	char text[64], message[256];
	struct image image;
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

	ASSERT_EQ(0, trace_read(&env->trace));
	text_of(&image, text, sizeof(text));
	invalid = trace_count(&env->trace, "table_invalid", text, message,
			      sizeof(message));
	EXPECT_EQ(!!variant->table_error, invalid);
	if (invalid)
		EXPECT_EQ(variant->table_error, trace_field(message, "error"));
	/* A 32-bit file has no table, whatever it contains; nothing is wrong with it */
	EXPECT_EQ(!variant->table_error && variant->change != no_table &&
		  variant->change != class_32,
		  trace_count(&env->trace, "table_found", text, NULL, 0));

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

	ASSERT_EQ(0, elf_read(&env->elf, "prog_both"));
	ASSERT_EQ(0, trace_clear(&env->trace));
	ASSERT_EQ(0, run_program(&env->elf, &env->trace, &good));
	EXPECT_EQ(CHAIN_FRAMES + 3, good.nr);
	ASSERT_EQ(0, trace_read(&env->trace));
	EXPECT_EQ(1, trace_count(&env->trace, "table_found", NULL, NULL, 0));

	ASSERT_EQ(0, trace_clear(&env->trace));
	variant->change(&env->elf);
	ASSERT_EQ(0, run_program(&env->elf, &env->trace, &bad));
	EXPECT_TRUE(stack_begins_with(&bad, &good));
	EXPECT_EQ(good.nr, bad.nr);
	ASSERT_EQ(0, trace_read(&env->trace));
	EXPECT_EQ(!!variant->table_error,
		  trace_count(&env->trace, "table_invalid", NULL, NULL, 0));
	EXPECT_EQ(!!variant->entry_error,
		  !!trace_count(&env->trace, "entry_invalid", NULL, NULL, 0));
	EXPECT_TRUE(klog_silent(env->klog));
}

TEST_F(bad_file, table_is_not_used)
{
	expect_mapped(_metadata, &self->env, variant);
	if (!variant->runs)
		return;
	elf_free(&self->env.elf);
	expect_program(_metadata, &self->env, variant);
}

/* Faults in the mapping of a good file */

FIXTURE(mapping)
{
	struct env env;
	struct image image;
	char text[64];
	int fd;
};

FIXTURE_SETUP(mapping)
{
	const char *why = env_setup(&self->env);

	if (why)
		SKIP(return, "%s", why);
	self->fd = -1;
	ASSERT_EQ(0, elf_read(&self->env.elf, "chain_both.so"));
}

FIXTURE_TEARDOWN(mapping)
{
	image_unmap(&self->image);
	close(self->fd);
	env_teardown(&self->env);
}

static int map_mapping(struct _test_data_mapping *self)
{
	self->fd = elf_memfd(&self->env.elf);
	if (self->fd < 0 ||
	    image_map(&self->image, &self->env.elf, self->fd, NULL))
		return -1;
	text_of(&self->image, self->text, sizeof(self->text));
	return 0;
}

/* Two right stacks; return the error of the table's only event, 0 if it was found */
static int sample_mapping(struct _test_data_mapping *self)
{
	struct stack stack, expected;
	char message[256] = "";
	size_t invalid, found;
	int i;

	for (i = 0; i < 2; i++)
		if (sample_image(&self->env.sampler, &self->image, &stack,
				 &expected) ||
		    !stack_begins_with(&stack, &expected))
			return 1;
	if (trace_read(&self->env.trace))
		return 2;
	invalid = trace_count(&self->env.trace, "table_invalid", self->text,
			      message, sizeof(message));
	found = trace_count(&self->env.trace, "table_found", self->text,
			    NULL, 0);
	if (found + invalid != 1) {
		printf("# %zu times found, %zu times invalid: %s\n", found,
		       invalid, message);
		return 3;
	}
	return found ? 0 : trace_field(message, "error");
}

/* Where the table is mapped, its page at least */
static char *table_page(struct _test_data_mapping *self)
{
	const size_t page = sysconf(_SC_PAGESIZE);

	return self->image.base +
	       (sframe_phdr(&self->env.elf)->p_vaddr & -page);
}

TEST_F(mapping, good_table_is_used)
{
	ASSERT_EQ(0, map_mapping(self));
	EXPECT_EQ(0, sample_mapping(self));
	EXPECT_TRUE(klog_silent(self->env.klog));
}

/* The same bytes, but from another file */
TEST_F(mapping, table_of_another_file_is_not_used)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	char *there;
	int other;

	other = elf_memfd(&self->env.elf);
	ASSERT_LE(0, other);
	addr_nowhere(&self->env.elf);
	ASSERT_EQ(0, map_mapping(self));
	there = mmap(table_page(self), page, PROT_READ,
		     MAP_PRIVATE | MAP_FIXED_NOREPLACE, other,
		     sframe_phdr(&self->env.elf)->p_offset & -page);
	ASSERT_EQ(table_page(self), there);
	EXPECT_EQ(-ENOEXEC, sample_mapping(self));
	EXPECT_TRUE(klog_silent(self->env.klog));
	munmap(there, page);
	close(other);
}

/* The same bytes in anonymous memory */
TEST_F(mapping, table_in_anonymous_memory_is_not_used)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	char *there;

	ASSERT_EQ(0, map_mapping(self));
	there = mmap(table_page(self), page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	ASSERT_EQ(table_page(self), there);
	memcpy(there, self->env.elf.orig +
	       (sframe_phdr(&self->env.elf)->p_offset & -page), page);
	EXPECT_EQ(-ENOEXEC, sample_mapping(self));
	EXPECT_TRUE(klog_silent(self->env.klog));
}

TEST_F(mapping, unmapped_table_is_not_used)
{
	ASSERT_EQ(0, map_mapping(self));
	ASSERT_EQ(0, munmap(table_page(self), sysconf(_SC_PAGESIZE)));
	EXPECT_EQ(-EFAULT, sample_mapping(self));
	EXPECT_TRUE(klog_silent(self->env.klog));
}

TEST_F(mapping, unreadable_table_is_not_used)
{
	ASSERT_EQ(0, map_mapping(self));
	ASSERT_EQ(0, mprotect(table_page(self), sysconf(_SC_PAGESIZE), PROT_NONE));
	EXPECT_EQ(-EFAULT, sample_mapping(self));
	EXPECT_TRUE(klog_silent(self->env.klog));
}

/* The file ends before the table, so its page is mapped but has no contents */
TEST_F(mapping, truncated_file_ends_the_use)
{
	const size_t page = sysconf(_SC_PAGESIZE);

	ASSERT_EQ(0, map_mapping(self));
	ASSERT_EQ(0, ftruncate(self->fd,
			       sframe_phdr(&self->env.elf)->p_offset & -page));
	EXPECT_EQ(-EFAULT, sample_mapping(self));
	EXPECT_TRUE(klog_silent(self->env.klog));
}

/*
 * A good table is found, then unmapped. The kernel drops its cached entries with it, and
 * finds for the next stack that the file's table is not mapped.
 */
TEST_F(mapping, table_unmapped_later_ends_the_use)
{
	struct stack stack, expected;
	char message[256];

	ASSERT_EQ(0, map_mapping(self));
	ASSERT_EQ(0, sample_mapping(self));
	ASSERT_EQ(0, munmap(table_page(self), sysconf(_SC_PAGESIZE)));
	ASSERT_EQ(0, sample_image(&self->env.sampler, &self->image, &stack,
				  &expected));
	EXPECT_TRUE(stack_begins_with(&stack, &expected));
	ASSERT_EQ(0, trace_read(&self->env.trace));
	EXPECT_EQ(1, trace_count(&self->env.trace, "table_dropped", NULL,
				 message, sizeof(message)));
	EXPECT_EQ(0, trace_count(&self->env.trace, "entry_invalid", NULL,
				 message, sizeof(message)));
	EXPECT_EQ(1, trace_count(&self->env.trace, "table_invalid", NULL,
				 message, sizeof(message)));
	EXPECT_EQ(-EFAULT, trace_field(message, "error"));
	EXPECT_TRUE(klog_silent(self->env.klog));
}

/*
 * Random changes: a second, shared and writable mapping of the file changes the table
 * while and between the times that the kernel reads it. A stack may be wrong meanwhile,
 * but each sample has one, and with the good table the stacks are right again. The
 * generator has a fixed seed, which the test prints.
 */

#define SEED		0x5eed0f5f4a3eULL
#define MUTATIONS	2000

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
	struct table table;
	unsigned char *shared;
	int klog;
	int fd;
};

FIXTURE_SETUP(mutated_file)
{
	const struct elf64_phdr *phdr;

	if (sampler_open(&self->sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*");
	self->klog = klog_open();
	if (self->klog < 0)
		SKIP(return, "/dev/kmsg cannot be read");

	ASSERT_EQ(0, elf_read(&self->elf, "chain_table.so"));
	self->fd = elf_memfd(&self->elf);
	ASSERT_LE(0, self->fd);
	self->shared = mmap(NULL, self->elf.size, PROT_READ | PROT_WRITE,
			    MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	phdr = elf_phdr(&self->elf, PT_GNU_SFRAME, 0);
	ASSERT_NE(NULL, phdr);
	self->table.bytes = self->shared + phdr->p_offset;
	self->table.size = phdr->p_memsz;
	ASSERT_EQ(0, image_map(&self->image, &self->elf, self->fd, NULL));
	TH_LOG("seed %#llx, %d mutations", SEED, MUTATIONS);
}

FIXTURE_TEARDOWN(mutated_file)
{
	image_unmap(&self->image);
	sampler_close(&self->sampler);
	trace_stop(&self->trace);
	elf_free(&self->elf);
	close(self->klog);
	close(self->fd);
}

static int sample(struct _test_data_mutated_file *self, struct stack *stack,
		  struct stack *expected)
{
	return sample_chain(&self->sampler, stack, expected, 2,
			    (chain_fn)self->image.entry, sampled_call);
}

/* Is the stack right with the original bytes? */
static bool is_right(struct _test_data_mutated_file *self)
{
	struct stack stack, expected;

	memcpy(self->shared, self->elf.orig, self->elf.size);
	/* Unmapping drops the cached data of the table */
	image_unmap(&self->image);
	return !image_map(&self->image, &self->elf, self->fd, NULL) &&
	       !sample(self, &stack, &expected) &&
	       stack_begins_with(&stack, &expected);
}

static size_t count(struct _test_data_mutated_file *self, const char *name)
{
	return trace_count(&self->trace, name, NULL, NULL, 0);
}

TEST_F_TIMEOUT(mutated_file, changed_between_unwinds_does_no_harm, 90)
{
	size_t wrong = 0, invalid = 0, found = 0;
	struct stack stack, expected;
	uint64_t state = SEED;
	int i;

	ASSERT_TRUE(is_right(self));
	for (i = 0; i < MUTATIONS; i++) {
		mutate(&self->table, &state);
		/* Every few rounds, make the kernel read the header again */
		if (i % 4 == 0) {
			image_unmap(&self->image);
			ASSERT_EQ(0, image_map(&self->image, &self->elf,
					       self->fd, NULL));
		}
		/* Any stack will do, but there must be one, and its top must be right */
		ASSERT_EQ(0, sample(self, &stack, &expected));
		ASSERT_LE(1, stack.nr);
		EXPECT_EQ(expected.ip[0], stack.ip[0]);
		wrong += stack.nr < expected.nr ||
			 memcmp(stack.ip, expected.ip,
				expected.nr * sizeof(*stack.ip));
		/* Only a few at a time: otherwise only the first would be tested */
		if (i % 4 == 3)
			memcpy(self->shared, self->elf.orig, self->elf.size);
		if (i % 100 == 99) {
			ASSERT_EQ(0, trace_read(&self->trace));
			found += count(self, "table_found");
			invalid += count(self, "table_invalid") +
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
	const struct table	*table;
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
			mutate(m->table, &state);
		else
			memcpy(m->table->bytes, m->good, m->table->size);
	}
	return NULL;
}

TEST_F_TIMEOUT(mutated_file, changed_while_unwinding_does_no_harm, 90)
{
	struct mutator m = {
		.table = &self->table,
		.good = self->elf.orig + (self->table.bytes - self->shared),
	};
	struct stack stack, expected;
	pthread_t thread;
	int i;

	ASSERT_TRUE(is_right(self));
	ASSERT_EQ(0, pthread_create(&thread, NULL, mutator, &m));
	for (i = 0; i < MUTATIONS / 4 || atomic_load(&m.mutations) < MUTATIONS;
	     i++) {
		if (i % 8 == 0) {
			image_unmap(&self->image);
			ASSERT_EQ(0, image_map(&self->image, &self->elf,
					       self->fd, NULL));
		}
		ASSERT_EQ(0, sample(self, &stack, &expected));
		ASSERT_LE(1, stack.nr);
		EXPECT_EQ(expected.ip[0], stack.ip[0]);
	}
	atomic_store(&m.stop, true);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_TRUE(is_right(self));
	EXPECT_TRUE(klog_silent(self->klog));
	TH_LOG("%d stacks during %lu mutations", i, m.mutations);
}

TEST_HARNESS_MAIN
