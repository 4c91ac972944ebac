// SPDX-License-Identifier: GPL-2.0
/*
 * Right stacks, by tables and by frame pointers, frame after frame.
 *
 * Each stack is compared with the program's own notes, address by address.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image.h"
#include "sampled.h"
#include "trace.h"
#include "../../kselftest_harness.h"

#define ROUNDS		20
#define I386_GETPPID	64

/*
 * Chains
 */

FIXTURE(chain)
{
	struct sampler sampler;
	struct trace trace;
};

FIXTURE_SETUP(chain)
{
	struct stack stack, expected;

	if (sampler_open(&self->sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	/* The kernel loads this program's own table, if any, before all others */
	ASSERT_EQ(0, sample_chain(&self->sampler, &stack, &expected, 1,
				  sampled_call));
	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*");
}

FIXTURE_TEARDOWN(chain)
{
	sampler_close(&self->sampler);
	trace_stop(&self->trace);
}

/* Map a file's segments; return where its chain begins, or NULL */
static chain_fn load(struct image *image, const char *name, void *where)
{
	struct elf elf;
	int fd, ret;

	if (elf_read(&elf, name))
		return NULL;
	fd = elf_memfd(&elf);
	ret = fd < 0 ? -1 : image_map(image, &elf, fd, where);
	close(fd);
	elf_free(&elf);
	return ret ? NULL : (chain_fn)image->entry;
}

FIXTURE(chain_mix)
{
	struct sampler sampler;
};

FIXTURE_VARIANT(chain_mix)
{
	const char *files[4];
	bool is_signed;
};

/*
 * The caller of code with frame pointers alone. A frame record may not locate the end of
 * its frame. Then the caller's table helps only if it locates the caller's own record.
 */
#if defined(__aarch64__)
#define OUTSIDE_FP	"chain_both.so"
#else
#define OUTSIDE_FP	"chain_table.so"
#endif

FIXTURE_VARIANT_ADD(chain_mix, table) {
	.files = { "chain_table.so" },
};

FIXTURE_VARIANT_ADD(chain_mix, fp) {
	.files = { "chain_fp.so" },
};

FIXTURE_VARIANT_ADD(chain_mix, both) {
	.files = { "chain_both.so" },
};

FIXTURE_VARIANT_ADD(chain_mix, table_table) {
	.files = { "chain_table.so", "chain_table_other.so" },
};

FIXTURE_VARIANT_ADD(chain_mix, table_fp) {
	.files = { OUTSIDE_FP, "chain_fp.so" },
};

FIXTURE_VARIANT_ADD(chain_mix, fp_table) {
	.files = { "chain_fp.so", "chain_table.so" },
};

FIXTURE_VARIANT_ADD(chain_mix, table_fp_table_fp) {
	.files = { OUTSIDE_FP, "chain_fp.so", OUTSIDE_FP, "chain_fp.so" },
};

FIXTURE_VARIANT_ADD(chain_mix, fp_table_both_table) {
	.files = { "chain_fp.so", "chain_table.so", "chain_both.so",
		   "chain_table_other.so" },
};

#ifdef __aarch64__
/* Return addresses are signed, with either key */
FIXTURE_VARIANT_ADD(chain_mix, signed_a) {
	.files = { "chain_table_signed.so" }, .is_signed = true,
};

FIXTURE_VARIANT_ADD(chain_mix, signed_b_fp) {
	.files = { "chain_both_signed_b.so", "chain_fp_signed.so",
		   "chain_table_signed.so" }, .is_signed = true,
};

FIXTURE_VARIANT_ADD(chain_mix, signed_table_b) {
	.files = { "chain_table.so", "chain_both_signed_b.so" },
	.is_signed = true,
};
#endif

FIXTURE_SETUP(chain_mix)
{
	if (variant->is_signed && !can_sign())
		SKIP(return, "no pointer authentication");
	if (sampler_open(&self->sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
}

FIXTURE_TEARDOWN(chain_mix)
{
	sampler_close(&self->sampler);
}

TEST_F(chain_mix, has_whole_stack)
{
	struct stack stack, expected;
	struct image image[4] = {};
	chain_fn fn[5];
	int nr;

	for (nr = 0; nr < 4 && variant->files[nr]; nr++) {
		fn[nr] = load(&image[nr], variant->files[nr], NULL);
		ASSERT_NE(NULL, fn[nr]);
	}
	fn[nr] = sampled_call;
	/* Twice: when tables have to be loaded, and when they are known */
	ASSERT_EQ(0, sample_chain(&self->sampler, &stack, &expected, nr + 1,
				  fn[0], fn[1], fn[2], fn[3], fn[4]));
	EXPECT_EQ(nr * CHAIN_FRAMES + 2, expected.nr);
	EXPECT_TRUE(stack_begins_with(&stack, &expected));
	ASSERT_EQ(0, sample_chain(&self->sampler, &stack, &expected, nr + 1,
				  fn[0], fn[1], fn[2], fn[3], fn[4]));
	EXPECT_TRUE(stack_begins_with(&stack, &expected));
	/* The program's own frames follow */
	EXPECT_LT(expected.nr, stack.nr);
}

/* Call the next function with an invalid frame pointer */
void call_without_fp(struct notes *notes, chain_fn fn);
#if defined(__x86_64__)
asm("call_without_fp:\n"
	"	pushq	%rbp\n"
	"	movl	$1, %ebp\n"
	"	call	*%rsi\n"
	"	popq	%rbp\n"
	"	ret\n");
#elif defined(__aarch64__)
asm("call_without_fp:\n"
	"	stp	x29, x30, [sp, #-16]!\n"
	"	mov	x29, #1\n"
	"	blr	x1\n"
	"	ldp	x29, x30, [sp], #16\n"
	"	ret\n");
#endif

static chain_fn after_fp;

static void without_fp(struct notes *notes)
{
	call_without_fp(notes, after_fp);
}

/* Neither a table nor a frame pointer: the stack stops there, with that reason */
TEST_F(chain, stack_ends_without_table_and_frame_pointer)
{
	struct stack stack, expected;
	struct image image;
	char message[256];

	after_fp = load(&image, "chain_none.so", NULL);
	ASSERT_NE(NULL, after_fp);
	ASSERT_EQ(0, sample_chain(&self->sampler, &stack, &expected, 2,
				  without_fp, sampled_call));
	/* The system call's function, which has a frame pointer, and its caller */
	ASSERT_EQ(2, stack.nr);
	EXPECT_EQ(expected.ip[0], stack.ip[0]);
	EXPECT_EQ(expected.ip[1], stack.ip[1]);
	ASSERT_EQ(0, trace_read(&self->trace));
	ASSERT_EQ(1, trace_count(&self->trace, "stop", NULL, message,
				 sizeof(message)));
	EXPECT_EQ(2, trace_field(message, "nr"));
	EXPECT_EQ(expected.ip[1], trace_field(message, "ip"));
	EXPECT_NE(NULL, strstr(message,
			       "reason='no table and no frame pointer'"));
}

/* A child has the same files at the same addresses */
TEST_F(chain, forked_child_has_whole_stack)
{
	struct stack stack, expected;
	struct sampler sampler;
	struct image image;
	chain_fn fn;
	int status;
	pid_t pid;

	fn = load(&image, "chain_table.so", NULL);
	ASSERT_NE(NULL, fn);
	ASSERT_EQ(0, sample_chain(&self->sampler, &stack, &expected, 2, fn,
				  sampled_call));
	EXPECT_TRUE(stack_begins_with(&stack, &expected));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(sampler_open(&sampler, 0) ||
		      sample_chain(&sampler, &stack, &expected, 2, fn,
				   sampled_call) ||
		      !stack_begins_with(&stack, &expected));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/*
 * Replaced code: two files that differ in the size of their frames, one after the other
 * at one address. With the other file's table the stack would be wrong.
 */

static const char * const twins[] = { "chain_table.so", "chain_table_other.so" };

TEST(twins_have_other_tables)
{
	struct elf elf[2];
	size_t size;

	ASSERT_EQ(0, elf_read(&elf[0], twins[0]));
	ASSERT_EQ(0, elf_read(&elf[1], twins[1]));
	size = elf_phdr(&elf[0], PT_GNU_SFRAME, 0)->p_memsz;
	ASSERT_EQ(size, elf_phdr(&elf[1], PT_GNU_SFRAME, 0)->p_memsz);
	EXPECT_EQ(elf_phdr(&elf[0], PT_GNU_SFRAME, 0)->p_vaddr,
		  elf_phdr(&elf[1], PT_GNU_SFRAME, 0)->p_vaddr);
	EXPECT_NE(0, memcmp(elf_sframe(&elf[0]), elf_sframe(&elf[1]), size));
}

TEST_F(chain, file_mapped_over_uses_its_own_table)
{
	struct stack stack, expected;
	struct image image = {};
	chain_fn fn;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		void *where = image.base;

		fn = load(&image, twins[i % 2], where);
		ASSERT_NE(NULL, fn);
		if (i)
			ASSERT_EQ(where, image.base);
		ASSERT_EQ(0, sample_chain(&self->sampler, &stack, &expected, 2,
					  fn, sampled_call));
		ASSERT_TRUE(stack_begins_with(&stack, &expected));
	}
	ASSERT_EQ(0, trace_read(&self->trace));
	EXPECT_EQ(ROUNDS, trace_count(&self->trace, "table_found", NULL, NULL, 0));
}

TEST_F(chain, file_mapped_after_munmap_uses_its_own_table)
{
	struct stack stack, expected;
	struct image image = {};
	void *where = NULL;
	chain_fn fn;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		fn = load(&image, twins[i % 2], where);
		ASSERT_NE(NULL, fn);
		where = image.base;
		ASSERT_EQ(0, sample_chain(&self->sampler, &stack, &expected, 2,
					  fn, sampled_call));
		ASSERT_TRUE(stack_begins_with(&stack, &expected));
		image_unmap(&image);
	}
	ASSERT_EQ(0, trace_read(&self->trace));
	EXPECT_EQ(ROUNDS, trace_count(&self->trace, "table_found", NULL, NULL, 0));
}

/* Moved as a whole, segment after segment, to its twin's address */
static bool move_image(struct image *image, void *to)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	ptrdiff_t by = (char *)to - image->base;
	size_t i;

	for (i = 0; i < image->size; i += page)
		if (mremap(image->base + i, page, page,
			   MREMAP_MAYMOVE | MREMAP_FIXED,
			   image->base + by + i) == MAP_FAILED)
			return false;
	image->base += by;
	image->entry = (char *)image->entry + by;
	return true;
}

TEST_F(chain, file_moved_over_uses_its_own_table)
{
	struct stack stack, expected;
	struct image image[2] = {};
	int i;

	ASSERT_NE(NULL, load(&image[0], twins[0], NULL));
	for (i = 0; i < ROUNDS; i++) {
		struct image *old = &image[i % 2], *new = &image[(i + 1) % 2];

		ASSERT_EQ(0, sample_chain(&self->sampler, &stack, &expected, 2,
					  (chain_fn)old->entry, sampled_call));
		ASSERT_TRUE(stack_begins_with(&stack, &expected));
		ASSERT_NE(NULL, load(new, twins[(i + 1) % 2], NULL));
		/* Known at one address, used at the other */
		ASSERT_EQ(0, sample_chain(&self->sampler, &stack, &expected, 2,
					  (chain_fn)new->entry, sampled_call));
		ASSERT_TRUE(stack_begins_with(&stack, &expected));
		ASSERT_TRUE(move_image(new, old->base));
	}
}

/* Like programs do.  The tables stay in the kernel when the files are closed. */
TEST_F(chain, file_opened_by_dlopen_uses_its_own_table)
{
	char exe[PATH_MAX] = "", path[2 * PATH_MAX];
	struct stack stack, expected;
	struct elf elf;
	chain_fn fn;
	void *lib;
	int i;

	/* The kernel loads tables at once only from the page cache */
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, elf_read(&elf, twins[i]));
		elf_free(&elf);
	}
	ASSERT_LT(0, readlink("/proc/self/exe", exe, sizeof(exe) - 1));
	*strrchr(exe, '/') = 0;
	for (i = 0; i < ROUNDS; i++) {
		snprintf(path, sizeof(path), "%s/%s", exe, twins[i % 2]);
		lib = dlopen(path, RTLD_NOW);
		ASSERT_NE(NULL, lib)
			TH_LOG("%s", dlerror());
		fn = (chain_fn)dlsym(lib, "chain");
		ASSERT_NE(NULL, fn);
		ASSERT_EQ(0, sample_chain(&self->sampler, &stack, &expected, 2,
					  fn, sampled_call));
		ASSERT_TRUE(stack_begins_with(&stack, &expected));
		ASSERT_EQ(0, dlclose(lib));
	}
	ASSERT_EQ(0, trace_read(&self->trace));
	EXPECT_GE(2, trace_count(&self->trace, "table_found", NULL, NULL, 0));
}

/*
 * Whole programs: the stack is complete, up to its end
 */

FIXTURE(program)
{
	struct trace trace;
};

/* @interpreter: the program that the kernel starts, like a dynamic loader */
FIXTURE_VARIANT(program)
{
	const char *file;
	const char *interpreter;
	const char *end;
	long getppid;
	bool is_signed;
};

FIXTURE_VARIANT_ADD(program, table) {
	.file = "prog_table", .end = "reason='end of stack'",
	.getppid = SYS_getppid,
};

FIXTURE_VARIANT_ADD(program, pie) {
	.file = "prog_table_pie", .end = "reason='end of stack'",
	.getppid = SYS_getppid,
};

/* Mapped by the kernel, and started by the system's dynamic loader */
FIXTURE_VARIANT_ADD(program, dynamic) {
	.file = "prog_table_dynamic", .end = "reason='end of stack'",
	.getppid = SYS_getppid,
};

FIXTURE_VARIANT_ADD(program, interpreter) {
	.file = "prog_table_dynamic", .interpreter = "prog_table_pie",
	.end = "reason='end of stack'", .getppid = SYS_getppid,
};

FIXTURE_VARIANT_ADD(program, both) {
	.file = "prog_both", .end = "reason='end of stack'",
	.getppid = SYS_getppid,
};

FIXTURE_VARIANT_ADD(program, fp) {
	.file = "prog_fp", .end = "reason='end of stack by frame pointer'",
	.getppid = SYS_getppid,
};

#ifdef __aarch64__
FIXTURE_VARIANT_ADD(program, table_signed) {
	.file = "prog_table_signed", .end = "reason='end of stack'",
	.getppid = SYS_getppid, .is_signed = true,
};

FIXTURE_VARIANT_ADD(program, fp_signed) {
	.file = "prog_fp_signed",
	.end = "reason='end of stack by frame pointer'",
	.getppid = SYS_getppid, .is_signed = true,
};
#endif

#ifdef __x86_64__
/* 32-bit: words of 4 bytes, and never a table */
FIXTURE_VARIANT_ADD(program, fp_32) {
	.file = "prog_fp_32", .end = "reason='end of stack by frame pointer'",
	.getppid = I386_GETPPID,
};
#endif

FIXTURE_SETUP(program)
{
	struct perf_event_attr attr;

	if (variant->is_signed && !can_sign())
		SKIP(return, "no pointer authentication");
	if (tracepoint_attr(&attr, "raw_syscalls/sys_enter"))
		SKIP(return, "no raw_syscalls tracepoints, or not root");
	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*");
}

FIXTURE_TEARDOWN(program)
{
	trace_stop(&self->trace);
}

/* Write an interpreter, and its name into the program; 0 or -1 */
static int set_interpreter(struct elf *elf, const char *file, char *path,
			   size_t size)
{
	struct elf64_phdr *phdr = elf_phdr(elf, PT_INTERP, 0);
	struct elf interpreter;
	int ret;

	if (!phdr || elf_read(&interpreter, file))
		return -1;
	ret = elf_program(&interpreter, path, size);
	elf_free(&interpreter);
	if (!ret && strlen(path) < phdr->p_filesz)
		memcpy(elf->data + phdr->p_offset, path, strlen(path) + 1);
	else
		ret = -1;
	return ret;
}

TEST_F(program, has_whole_stack)
{
	struct stack stack, expected = {};
	struct sampler sampler;
	int go[2], out[2], status;
	uint64_t ip[NOTES_MAX];
	char path[64], loader[64] = "", message[256], c;
	struct elf elf;
	ssize_t len;
	pid_t pid;

	if (elf_read(&elf, variant->file))
		SKIP(return, "%s could not be built", variant->file);
	if (variant->interpreter)
		ASSERT_EQ(0, set_interpreter(&elf, variant->interpreter, loader,
					     sizeof(loader)));
	ASSERT_EQ(0, elf_program(&elf, path, sizeof(path)));
	elf_free(&elf);
	ASSERT_EQ(0, pipe(go));
	ASSERT_EQ(0, pipe(out));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (dup2(out[1], 1) == 1 && read(go[0], &c, 1) == 1)
			execl(path, path, "print", NULL);
		_exit(errno == ENOEXEC ? 126 : 127);
	}
	ASSERT_EQ(0, trace_of(&self->trace, pid));
	ASSERT_EQ(0, sampler_open_syscall(&sampler, pid, variant->getppid));
	ASSERT_EQ(1, write(go[1], "", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	unlink(path);
	unlink(loader);
	if (WEXITSTATUS(status) == 126)
		SKIP(return, "the kernel does not run 32-bit programs");
	ASSERT_EQ(0, status);
	len = read(out[0], ip, sizeof(ip));
	ASSERT_LT(0, len);
	while (expected.nr < len / sizeof(*ip)) {
		expected.ip[expected.nr] = ip[expected.nr];
		expected.nr++;
	}
	ASSERT_EQ(0, sampler_stack(&sampler, &stack));
	sampler_close(&sampler);

	ASSERT_EQ(CHAIN_FRAMES + 3, expected.nr);
	EXPECT_TRUE(stack_begins_with(&stack, &expected));
	EXPECT_EQ(expected.nr, stack.nr);
	ASSERT_EQ(0, trace_read(&self->trace));
	ASSERT_EQ(1, trace_count(&self->trace, "stop", NULL, message,
				 sizeof(message)));
	EXPECT_NE(NULL, strstr(message, variant->end))
		TH_LOG("%s", message);
	EXPECT_EQ(expected.nr, trace_field(message, "nr"));
}

TEST_HARNESS_MAIN
