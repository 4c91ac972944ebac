// SPDX-License-Identifier: GPL-2.0
/* User memory for tests of the frame loop: see user_fixture.h. */

#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/rcupdate.h>
#include <linux/shmem_fs.h>
#include <linux/uaccess.h>
#include <linux/unwind_base.h>

#include "../file.h"
#include "../sframe_table.h"
#include "sframe_data.h"
#include "user_fixture.h"

/*
 * Registers
 */

#if defined(CONFIG_X86_64)

static const struct pt_regs user_regs = { .cs = __USER_CS, .ss = __USER_DS };
static const struct pt_regs kernel_regs = { .cs = __KERNEL_CS, .ss = __KERNEL_DS };

void set_regs(struct user_test *t, unsigned long ip, unsigned long sp,
	      unsigned long fp)
{
	t->regs.ip = ip;
	t->regs.sp = sp;
	t->regs.bp = fp;
}

/* Wherever a function returns to, a call is before it: call rel32 */
static int fill_text(struct user_test *t)
{
	u64 __user *word = (u64 __user *)t->text;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < PAGE_SIZE / sizeof(*word) && !ret; i++)
		ret = put_user(0xe8e8e8e8e8e8e8e8ULL, &word[i]);
	return ret;
}

#elif defined(CONFIG_ARM64)

static const struct pt_regs user_regs = { .pstate = PSR_MODE_EL0t };
static const struct pt_regs kernel_regs = { .pstate = PSR_MODE_EL1h };

void set_regs(struct user_test *t, unsigned long ip, unsigned long sp,
	      unsigned long fp)
{
	t->regs.pc = ip;
	t->regs.sp = sp;
	t->regs.regs[29] = fp;
}

/* The caller has a frame record: the frame pointer is followed if there is no table */
static int fill_text(struct user_test *t)
{
	const u32 call = 0xd63f0100;		/* blr x8 */
	__le32 __user *insn = (__le32 __user *)t->text;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < PAGE_SIZE / sizeof(*insn) && !ret; i++)
		ret = put_user(cpu_to_le32(call), &insn[i]);
	return ret;
}

#endif

void set_kernel_regs(struct user_test *t)
{
	t->regs = kernel_regs;
}

/*
 * Memory
 */

void put_word(struct kunit *test, unsigned int index, u64 val)
{
	struct user_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, put_user(val, (u64 __user *)t->stack + index), 0);
}

void put_words(struct kunit *test, unsigned int index, u64 val, u64 after)
{
	put_word(test, index, val);
	put_word(test, index + 1, after);
}

unsigned long word_addr(struct user_test *t, unsigned int index)
{
	return t->stack + index * sizeof(u64);
}

int user_test_init(struct kunit *test)
{
	struct test_sframe sframe;
	struct user_test *t;

	t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;

	t->section = kunit_vm_mmap(test, NULL, 0, 4 * PAGE_SIZE,
				   PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, t->section, 0);
	KUNIT_ASSERT_LT(test, t->section, TASK_SIZE);
	t->text = t->section + PAGE_SIZE;
	t->stack = t->section + 2 * PAGE_SIZE;
	t->trace.entries = t->entries;

	/* An x86-64 section, whose rules are as good as any */
	test_sframe_init(&sframe, PAGE_SIZE);
	sframe.hdr.abi_arch = UNWIND_ARCH_SFRAME_ABI;
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)t->section, &sframe,
					   sizeof(sframe)), 0);
	KUNIT_ASSERT_EQ(test, fill_text(t), 0);
	t->regs = user_regs;
	return 0;
}

void start(struct kunit *test)
{
	struct user_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, unwind_walk_start(&t->state, &t->regs), 0);
}

void start_at(struct kunit *test, unsigned long ip, unsigned long sp, unsigned long fp)
{
	set_regs(test->priv, ip, sp, fp);
	start(test);
}

void take_stack(struct kunit *test)
{
	struct user_test *t = test->priv;

	t->trace.nr = 0;
	unwind_walk_all_frames(&t->state, &t->trace, MAX_FRAMES);
}

void take_stack_nofault(struct kunit *test)
{
	struct user_test *t = test->priv;

	t->trace.nr = 0;
	rcu_read_lock();
	pagefault_disable();
	unwind_walk_frames(&t->state, &t->trace, MAX_FRAMES);
	pagefault_enable();
	unwind_walk_forget(&t->state);
	rcu_read_unlock();
}

void expect_steps(struct kunit *test)
{
	struct user_test *t = test->priv;
	struct unwind_walk_state *steps = &t->steps;
	struct unwind_stacktrace trace = {};
	unsigned int i;

	trace.entries = kunit_kcalloc(test, MAX_FRAMES, sizeof(*trace.entries), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, trace.entries);
	/* As if uprobes had changed the stack: no frame is ordinary then */
	steps->probed = true;
	unwind_walk_all_frames(steps, &trace, MAX_FRAMES);
	KUNIT_ASSERT_EQ(test, trace.nr, t->trace.nr);
	for (i = 0; i < trace.nr; i++)
		KUNIT_EXPECT_EQ(test, trace.entries[i], t->entries[i]);
	KUNIT_EXPECT_EQ(test, steps->stop, t->state.stop);
	KUNIT_EXPECT_EQ(test, steps->sp, t->state.sp);
	KUNIT_EXPECT_EQ(test, steps->fp, t->state.fp);
	KUNIT_EXPECT_EQ(test, steps->method, t->state.method);
	KUNIT_EXPECT_EQ(test, steps->interrupted, t->state.interrupted);
	KUNIT_EXPECT_EQ(test, steps->sp_is_bound, t->state.sp_is_bound);
	KUNIT_EXPECT_EQ(test, steps->by_table, t->state.by_table);
}

/* A copy of the section's first bytes, or of the text */
static void *copy_of(struct kunit *test, unsigned long from, size_t size)
{
	void *copy = kunit_kmalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	KUNIT_ASSERT_EQ(test, copy_from_user(copy, (void __user *)from, size), 0);
	return copy;
}

/* A file that has the table */
static struct file *file_with_table(struct kunit *test, size_t size)
{
	struct user_test *t = test->priv;
	const struct sframe_segment text = { .vaddr = t->text, .size = PAGE_SIZE };
	const struct sframe_image image = {
		.section = copy_of(test, t->section, size),
		.size = size,
		.vaddr = t->section,
		.segments = &text,
		.nr_segments = 1,
	};
	struct unwind_file *entry;
	struct file *file;

	file = shmem_file_setup("unwind", PAGE_SIZE, mk_vma_flags(VMA_NORESERVE_BIT));
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	/* As if it were sealed: files in memory have no table otherwise */
	entry = unwind_file_claim(file_inode(file), UNWIND_FILE_SEALED, NULL);
	if (IS_ERR(entry)) {
		fput(file);
		KUNIT_FAIL_AND_ABORT(test, "no entry for the file");
	}
	unwind_file_finish(entry, file_inode(file),
			   sframe_table_build(&image, UNWIND_ARCH_SFRAME_ABI), NULL);
	return file;
}

unsigned long map_text(struct kunit *test, struct file *file, unsigned long addr,
		       unsigned long flags)
{
	struct user_test *t = test->priv;
	const void *text = copy_of(test, t->text, PAGE_SIZE);
	unsigned long at;

	at = kunit_vm_mmap(test, file, addr, PAGE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | flags, 0);
	KUNIT_ASSERT_NE(test, at, 0);
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)at, text, PAGE_SIZE), 0);
	return at;
}

void use_table_of(struct kunit *test, size_t size)
{
	struct user_test *t = test->priv;
	struct file *file = file_with_table(test, size);

	map_text(test, file, t->text, MAP_FIXED);
	fput(file);
}

void use_table(struct kunit *test)
{
	use_table_of(test, sizeof(struct test_sframe));
}
