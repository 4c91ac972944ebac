// SPDX-License-Identifier: GPL-2.0
/*
 * Registered tables from ADD to DEL: when they are copied, used, inherited, shared and
 * dropped.
 *
 * The code has no frame pointers, so a stack continues beyond it only by a registered
 * table: stacks show whether the table is used. DEL shows whether a key is known.
 *
 * The first stack that needs a table copies it. A table with UNWIND_TABLE_JIT is read where
 * it is, for each stack.
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
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "code_register.h"
#include "code_file.h"
#include "image.h"
#include "immediate_counts.h"
#include "put.h"
#include "run.h"
#include "trace.h"
#include "turns.h"
#include "../../kselftest_harness.h"

#define KEY		0x2001
#define KEY_OTHER	0x2002

/* Text and table of several pages each */
#define FUNCTIONS	600

/* Is the key registered? The check itself drops it. */
#define EXPECT_KNOWN(key)	EXPECT_EQ(0, unwind_table_del(key))
#define EXPECT_UNKNOWN(key)	EXPECT_EQ(-ENOENT, unwind_table_del(key))

FIXTURE(registered)
{
	struct sampler sampler;
	struct code code;
};

FIXTURE_SETUP(registered)
{
	if (sampler_open(&self->sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	ASSERT_EQ(0, code_map(&self->code, FUNCTIONS));
}

FIXTURE_TEARDOWN(registered)
{
	sampler_close(&self->sampler);
	code_unmap(&self->code);
}

/* Does a stack pass the first function, or any other? */
static enum through through_fn(struct _test_data_registered *self, unsigned int i)
{
	return code_through(&self->sampler, code_fn(&self->code, i));
}

static enum through through(struct _test_data_registered *self)
{
	return through_fn(self, 0);
}

/* Write the table anew, where it is */
static void write_table(const struct code *code, unsigned int frame)
{
	static uint64_t fn[FUNCTIONS];
	unsigned int i;

	for (i = 0; i < code->nr; i++)
		fn[i] = (uintptr_t)code_fn(code, i);
	code_table_write(code->table, (uintptr_t)code->table, fn, code->nr, frame);
}

/*
 * Used
 */

/* Also after the kernel has remembered that there is none */
TEST_F(registered, used_from_add_to_del)
{
	int i;

	for (i = 0; i < 3; i++) {
		EXPECT_EQ(THROUGH_NOT, through(self));
		ASSERT_EQ(0, code_register(&self->code, KEY));
		EXPECT_EQ(THROUGH, through(self));
		EXPECT_EQ(THROUGH, through_fn(self, FUNCTIONS - 1));
		ASSERT_EQ(0, unwind_table_del(KEY));
	}
	EXPECT_EQ(THROUGH_NOT, through(self));
}

TEST_F(registered, used_by_the_first_stack)
{
	ASSERT_EQ(0, code_register(&self->code, KEY));
	EXPECT_EQ(THROUGH, through(self));
}

/* The range decides, not the entries of the table */
TEST_F(registered, used_for_its_range_only)
{
	struct unwind_table_attr attr;
	unsigned int i;

	code_attr_fn(&attr, &self->code, 1, KEY);
	ASSERT_EQ(0, unwind_table_add(&attr));
	code_attr_fn(&attr, &self->code, 3, KEY_OTHER);
	ASSERT_EQ(0, unwind_table_add(&attr));
	for (i = 0; i < 5; i++)
		EXPECT_EQ(i == 1 || i == 3 ? THROUGH : THROUGH_NOT,
			  through_fn(self, i));
	ASSERT_EQ(0, unwind_table_del(KEY));
	for (i = 0; i < 5; i++)
		EXPECT_EQ(i == 3 ? THROUGH : THROUGH_NOT, through_fn(self, i));
}

/* A table that cannot be read is tried again; when it is copied, its memory does not matter */
TEST_F(registered, used_once_it_could_be_read)
{
	const size_t size = self->code.table_mapped;

	ASSERT_EQ(0, code_register(&self->code, KEY));
	ASSERT_EQ(0, mprotect(self->code.table, size, PROT_NONE));
	EXPECT_EQ(THROUGH_NOT, through(self));
	EXPECT_EQ(THROUGH_NOT, through(self));
	ASSERT_EQ(0, mprotect(self->code.table, size, PROT_READ));
	EXPECT_EQ(THROUGH, through(self));
	ASSERT_EQ(0, mprotect(self->code.table, size, PROT_NONE));
	EXPECT_EQ(THROUGH, through(self));
	EXPECT_EQ(THROUGH, through_fn(self, FUNCTIONS - 1));
	EXPECT_KNOWN(KEY);
}

/*
 * Any memory that comes from no disk will do.  The table is the start of it; most of the rest
 * was never touched.
 */
#define ROOM		(2UL << 20)

static char *map_room(int flags, int fd)
{
	return mmap(NULL, ROOM, PROT_READ | PROT_WRITE, flags, fd, 0);
}

static void use_in(struct __test_metadata *_metadata, struct _test_data_registered *self,
		   char *memory)
{
	const unsigned int flags[] = { 0, UNWIND_TABLE_JIT };
	struct code code = self->code;
	struct unwind_table_attr attr;
	unsigned int i;

	code.table = memory;
	write_table(&code, CODE_FRAME);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		code_attr(&attr, &code, KEY);
		attr.table_size = ROOM;
		attr.flags = flags[i];
		ASSERT_EQ(0, unwind_table_add(&attr));
		EXPECT_EQ(THROUGH, through(self));
		EXPECT_EQ(THROUGH, through_fn(self, FUNCTIONS - 1));
		ASSERT_EQ(0, unwind_table_del(KEY));
	}
	ASSERT_EQ(0, munmap(memory, ROOM));
}

TEST_F(registered, used_in_memory_of_dev_zero)
{
	const int fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
	char *memory = map_room(MAP_PRIVATE, fd);

	ASSERT_NE(MAP_FAILED, memory);
	use_in(_metadata, self, memory);
	memory = map_room(MAP_SHARED, fd);
	ASSERT_NE(MAP_FAILED, memory);
	use_in(_metadata, self, memory);
	close(fd);
}

TEST_F(registered, used_in_a_memfd_with_room)
{
	const int fd = memfd_create("table", MFD_CLOEXEC);
	char *memory;

	ASSERT_EQ(0, ftruncate(fd, ROOM));
	memory = map_room(MAP_SHARED, fd);
	ASSERT_NE(MAP_FAILED, memory);
	use_in(_metadata, self, memory);
	close(fd);
}

/* Changes after the first stack have no effect, until the table is registered anew */
TEST_F(registered, used_as_the_first_stack_read_it)
{
	ASSERT_EQ(0, code_register(&self->code, KEY));
	EXPECT_EQ(THROUGH, through(self));
	write_table(&self->code, CODE_FRAME_OTHER);
	EXPECT_EQ(THROUGH, through(self));
	memset(self->code.table, 0, sizeof(struct sframe_header));
	EXPECT_EQ(THROUGH, through(self));
	ASSERT_EQ(0, unwind_table_del(KEY));
	EXPECT_EQ(-ENOEXEC, code_register(&self->code, KEY));
	EXPECT_EQ(THROUGH_NOT, through(self));
	write_table(&self->code, CODE_FRAME_OTHER);
	ASSERT_EQ(0, code_register(&self->code, KEY));
	EXPECT_NE(THROUGH, through(self));
}

/* Changes between ADD and the first stack count */
TEST_F(registered, used_as_it_is_at_the_first_stack)
{
	write_table(&self->code, CODE_FRAME_OTHER);
	ASSERT_EQ(0, code_register(&self->code, KEY));
	write_table(&self->code, CODE_FRAME);
	EXPECT_EQ(THROUGH, through(self));
}

/* A process that announces changes has each of them seen, also a bad header */
TEST_F(registered, with_flag_jit_used_as_it_is_now)
{
	const size_t size = self->code.table_mapped;
	struct unwind_table_attr attr;
	int i;

	code_attr(&attr, &self->code, KEY);
	attr.flags = UNWIND_TABLE_JIT;
	ASSERT_EQ(0, unwind_table_add(&attr));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(THROUGH, through(self));
		write_table(&self->code, CODE_FRAME_OTHER);
		EXPECT_NE(THROUGH, through(self));
		memset(self->code.table, 0, sizeof(struct sframe_header));
		EXPECT_EQ(THROUGH_NOT, through(self));
		write_table(&self->code, CODE_FRAME);
		EXPECT_EQ(THROUGH, through(self));
		ASSERT_EQ(0, mprotect(self->code.table, size, PROT_NONE));
		EXPECT_EQ(THROUGH_NOT, through(self));
		ASSERT_EQ(0, mprotect(self->code.table, size, PROT_READ | PROT_WRITE));
	}
	EXPECT_EQ(THROUGH, through(self));
	EXPECT_KNOWN(KEY);
}

/* Two tables of one size for the same code, one of them wrong for it */
TEST_F(registered, used_until_replaced)
{
	uint64_t fn = (uintptr_t)code_fn(&self->code, 0);
	const size_t size = code_table_size(1);
	struct unwind_table_attr attr;
	char *table[2];
	int i;

	for (i = 0; i < 2; i++) {
		table[i] = self->code.table + i * size;
		code_table_write(table[i], (uintptr_t)table[i], &fn, 1,
				 i ? CODE_FRAME_OTHER : CODE_FRAME);
	}
	code_attr_fn(&attr, &self->code, 0, KEY);
	attr.table_size = size;
	for (i = 0; i < 10; i++) {
		attr.table_start = (uintptr_t)table[i % 2];
		ASSERT_EQ(0, unwind_table_add(&attr));
		EXPECT_EQ(i % 2 == 0, through(self) == THROUGH);
		ASSERT_EQ(0, unwind_table_del(KEY));
	}
}

static const struct code *written;

/* As a JIT compiler does that never has text writable and executable at once */
static void sampled_while_text_is_writable(struct notes *notes)
{
	notes->ra[notes->nr++] = (unsigned long)__builtin_return_address(0);
	mprotect(written->text, written->text_mapped, PROT_READ | PROT_WRITE);
	notes->next[notes->nr_next++](notes);
	mprotect(written->text, written->text_mapped, PROT_READ | PROT_EXEC);
}

/* Other text is no text then: the stack ends, and no caller is skipped */
TEST_F(registered, used_while_its_text_is_writable)
{
	struct stack stack, expected;

	written = &self->code;
	ASSERT_EQ(0, sample_chain(&self->sampler, &stack, &expected, 3, code_fn(written, 0),
				  sampled_while_text_is_writable, sampled_call));
	expected.nr = 2;
	EXPECT_EQ(2, stack.nr);
	EXPECT_TRUE(stack_begins_with(&stack, &expected));

	ASSERT_EQ(0, code_register(written, KEY));
	ASSERT_EQ(0, sample_chain(&self->sampler, &stack, &expected, 3, code_fn(written, 0),
				  sampled_while_text_is_writable, sampled_call));
	EXPECT_EQ(4, expected.nr);
	EXPECT_TRUE(stack_begins_with(&stack, &expected));
}

/* A file's own table, which is wrong, and a registered one, which is right */
TEST_F(registered, wins_over_the_file_table)
{
	struct code_file file = code_file_usual;
	struct unwind_table_attr attr;
	struct code_image image;
	uint64_t fn[2];
	int fd;

	file.frame_table = CODE_FRAME_OTHER;
	fd = code_file_memfd(&file);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, code_image_map(&image, &file, fd, NULL));
	fn[0] = (uintptr_t)code_image_fn(&image, 0, 0);
	fn[1] = (uintptr_t)code_image_fn(&image, 0, 1);
	EXPECT_NE(THROUGH, code_through(&self->sampler, (chain_fn)fn[0]));

	code_table_write(self->code.table, (uintptr_t)self->code.table, fn, 2,
			 CODE_FRAME);
	code_attr(&attr, &self->code, KEY);
	attr.text_start = fn[0];
	attr.text_size = 2 * CODE_STRIDE;
	ASSERT_EQ(0, unwind_table_add(&attr));
	EXPECT_EQ(THROUGH, code_through(&self->sampler, (chain_fn)fn[0]));
	EXPECT_EQ(THROUGH, code_through(&self->sampler, (chain_fn)fn[1]));
	/* The file's table is used for the rest */
	EXPECT_NE(THROUGH, code_through(&self->sampler,
					code_image_fn(&image, 0, 2)));
	ASSERT_EQ(0, unwind_table_del(KEY));
	EXPECT_NE(THROUGH, code_through(&self->sampler, (chain_fn)fn[0]));
}

/* The other way round, and with only a part of the text registered */
TEST_F(registered, leaves_the_rest_to_the_file_table)
{
	struct unwind_table_attr attr;
	struct code_image image;
	uint64_t fn;
	int fd, i;

	fd = code_file_memfd(&code_file_usual);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, code_image_map(&image, &code_file_usual, fd, NULL));
	fn = (uintptr_t)code_image_fn(&image, 0, 1);
	code_table_write(self->code.table, (uintptr_t)self->code.table, &fn, 1,
			 CODE_FRAME_OTHER);
	code_attr(&attr, &self->code, KEY);
	attr.text_start = fn;
	attr.text_size = CODE_STRIDE;
	/* Registered before the file's table is found, then after */
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, unwind_table_add(&attr));
		EXPECT_EQ(THROUGH, code_through(&self->sampler,
						code_image_fn(&image, 0, 0)));
		EXPECT_NE(THROUGH, code_through(&self->sampler, (chain_fn)fn));
		EXPECT_EQ(THROUGH, code_through(&self->sampler,
						code_image_fn(&image, 0, 2)));
		ASSERT_EQ(0, unwind_table_del(KEY));
		EXPECT_EQ(THROUGH, code_through(&self->sampler, (chain_fn)fn));
	}
}

/*
 * Refused by the first stack
 *
 * ADD checks the header only. A table that turns out to be bad gives no rules, but stays
 * registered. A tracepoint reports the reason; the kernel log stays silent.
 */

/* Far from all other mappings */
static const struct code far_at = {
	.text = (char *)0x30000000000,
	.table = (char *)0x31000000000,
};

FIXTURE(refused)
{
	struct sampler sampler;
	struct trace trace;
	struct code code;
	struct unwind_table_attr attr;
	int klog;
};

FIXTURE_SETUP(refused)
{
	if (sampler_open(&self->sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*");
	self->klog = klog_open();
	ASSERT_LE(0, self->klog);
	ASSERT_EQ(0, code_map_at(&self->code, FUNCTIONS, CODE_FRAME, CODE_FRAME,
				 &far_at));
	code_attr(&self->attr, &self->code, KEY);
}

FIXTURE_TEARDOWN(refused)
{
	sampler_close(&self->sampler);
	trace_stop(&self->trace);
	code_unmap(&self->code);
	close(self->klog);
}

/* Take two stacks; @events of the tracepoint report the error */
static void expect_refused(struct __test_metadata *_metadata,
			   struct _test_data_refused *self, int error, size_t events)
{
	char message[256] = "", text[96];
	int i;

	ASSERT_EQ(0, trace_clear(&self->trace));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(THROUGH_NOT, code_through(&self->sampler,
						    code_fn(&self->code, 0)));
	ASSERT_EQ(0, trace_read(&self->trace));
	snprintf(text, sizeof(text), "text=0x%llx-0x%llx table=0x%llx ",
		 self->attr.text_start, self->attr.text_start + self->attr.text_size,
		 self->attr.table_start);
	EXPECT_EQ(events, trace_count(&self->trace, "table_invalid", NULL, NULL, 0));
	EXPECT_EQ(events, trace_count(&self->trace, "table_invalid", text, message,
				      sizeof(message)));
	EXPECT_EQ(error, trace_field(message, "error"));
	EXPECT_TRUE(klog_silent(self->klog));
	EXPECT_KNOWN(KEY);
}

/* The table that takes its place is used */
static void expect_replaced(struct __test_metadata *_metadata,
			    struct _test_data_refused *self)
{
	write_table(&self->code, CODE_FRAME);
	ASSERT_EQ(0, code_register(&self->code, KEY));
	EXPECT_EQ(THROUGH, code_through(&self->sampler, code_fn(&self->code, 0)));
	EXPECT_EQ(THROUGH, code_through(&self->sampler,
					code_fn(&self->code, FUNCTIONS - 1)));
}

TEST_F(refused, header_overwritten_is_enoexec)
{
	ASSERT_EQ(0, unwind_table_add(&self->attr));
	memset(self->code.table, 0, sizeof(struct sframe_header));
	expect_refused(_metadata, self, -ENOEXEC, 1);
	expect_replaced(_metadata, self);
}

TEST_F(refused, version_overwritten_is_eopnotsupp)
{
	ASSERT_EQ(0, unwind_table_add(&self->attr));
	((struct sframe_header *)self->code.table)->version = 4;
	expect_refused(_metadata, self, -EOPNOTSUPP, 1);
	expect_replaced(_metadata, self);
}

/* Functions that lie elsewhere, or in the range in part only */
TEST_F(refused, table_of_other_text_is_enoent)
{
	ASSERT_EQ(0, unwind_table_add(&self->attr));
	((struct sframe_header *)self->code.table)->num_fdes = 0;
	expect_refused(_metadata, self, -ENOENT, 1);

	write_table(&self->code, CODE_FRAME);
	self->attr.text_start += 4;
	self->attr.text_size = CODE_STRIDE - 4;
	ASSERT_EQ(0, unwind_table_add(&self->attr));
	expect_refused(_metadata, self, -ENOENT, 1);
	expect_replaced(_metadata, self);
}

/* The kernel copies all of the table, so all of its memory has to be there */
TEST_F(refused, memory_shorter_than_the_table_is_efault)
{
	self->attr.table_size = self->code.table_mapped + 1;
	ASSERT_EQ(0, unwind_table_add(&self->attr));
	/* There may be memory the next time */
	expect_refused(_metadata, self, -EFAULT, 2);

	self->attr.table_size = self->code.table_mapped;
	ASSERT_EQ(0, unwind_table_add(&self->attr));
	EXPECT_EQ(THROUGH, code_through(&self->sampler, code_fn(&self->code, 0)));
	EXPECT_KNOWN(KEY);
	expect_replaced(_metadata, self);
}

#define TOO_LARGE	(65UL << 20)

TEST_F(refused, table_of_65_mib_is_e2big)
{
	uint64_t fn = (uintptr_t)code_fn(&self->code, 0);
	char *table;

	table = mmap(NULL, TOO_LARGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ASSERT_NE(MAP_FAILED, table);
	code_table_write(table, (uintptr_t)table, &fn, 1, CODE_FRAME);
	self->attr.table_start = (uintptr_t)table;
	self->attr.table_size = TOO_LARGE;
	ASSERT_EQ(0, unwind_table_add(&self->attr));
	expect_refused(_metadata, self, -E2BIG, 1);
	munmap(table, TOO_LARGE);
	expect_replaced(_metadata, self);
}

/* The memory that a table takes in the kernel is bounded by its entries */
TEST_F(refused, two_functions_gigabytes_apart_are_e2big)
{
	uint64_t fn[2] = { (uintptr_t)code_fn(&self->code, 0) };

	fn[1] = fn[0] + (1UL << 30);
	code_table_write(self->code.table, (uintptr_t)self->code.table, fn, 2,
			 CODE_FRAME);
	self->attr.text_size = 2UL << 30;
	ASSERT_EQ(0, unwind_table_add(&self->attr));
	expect_refused(_metadata, self, -E2BIG, 1);

	/* As far apart as any two functions may be */
	fn[1] = fn[0] + (1UL << 18);
	code_table_write(self->code.table, (uintptr_t)self->code.table, fn, 2,
			 CODE_FRAME);
	ASSERT_EQ(0, unwind_table_add(&self->attr));
	EXPECT_EQ(THROUGH, code_through(&self->sampler, code_fn(&self->code, 0)));
	EXPECT_KNOWN(KEY);
	expect_replaced(_metadata, self);
}

/* A bad function costs its own frames, not the table */
TEST_F(refused, bad_function_costs_its_own_frames)
{
	struct sframe_fde *fde = (struct sframe_fde *)
		(self->code.table + sizeof(struct sframe_header));
	int i;

	fde[1].fre_off = -1;
	ASSERT_EQ(0, unwind_table_add(&self->attr));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, trace_clear(&self->trace));
		EXPECT_EQ(THROUGH_NOT, code_through(&self->sampler,
						    code_fn(&self->code, 1)));
		ASSERT_EQ(0, trace_read(&self->trace));
		EXPECT_EQ(0, trace_count(&self->trace, "table_invalid", NULL, NULL, 0));
		EXPECT_LT(0, trace_count(&self->trace, "entry_invalid", NULL, NULL, 0));
		EXPECT_EQ(1, trace_count(&self->trace, "stop", "reason='bad table'",
					 NULL, 0));
		EXPECT_EQ(THROUGH, code_through(&self->sampler,
						code_fn(&self->code, 0)));
		EXPECT_EQ(THROUGH, code_through(&self->sampler,
						code_fn(&self->code, 2)));
	}
	EXPECT_TRUE(klog_silent(self->klog));
	EXPECT_KNOWN(KEY);
}

/*
 * Inherited
 */

TEST_F(registered, inherited_by_fork)
{
	pid_t pid;

	ASSERT_EQ(0, code_register(&self->code, KEY));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		EXPECT_EQ(THROUGH, code_through_here(&self->code, 0));
		EXPECT_EQ(-EEXIST, code_register(&self->code, KEY_OTHER));
		EXPECT_KNOWN(KEY);
		EXPECT_EQ(THROUGH_NOT, code_through_here(&self->code, 0));
		CHILD_EXIT();
	}
	EXPECT_EQ(0, wait_for(pid));
	/* The child's DEL does not affect the parent */
	EXPECT_EQ(THROUGH, through(self));
	EXPECT_KNOWN(KEY);
}

/* The child has the copy that its parent's first stack made, whatever it writes there */
TEST_F(registered, inherited_as_the_parent_read_it)
{
	pid_t pid;

	ASSERT_EQ(0, code_register(&self->code, KEY));
	EXPECT_EQ(THROUGH, through(self));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		write_table(&self->code, CODE_FRAME_OTHER);
		EXPECT_EQ(THROUGH, code_through_here(&self->code, 0));
		EXPECT_KNOWN(KEY);
		CHILD_EXIT();
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(THROUGH, through(self));
}

/* A process can spoil its own stacks only: nobody else has what it writes after fork */
TEST_F(registered, read_by_the_child_is_not_the_parents)
{
	pid_t pid;

	ASSERT_EQ(0, code_register(&self->code, KEY));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		write_table(&self->code, CODE_FRAME_OTHER);
		EXPECT_NE(THROUGH, code_through_here(&self->code, 0));
		CHILD_EXIT();
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(THROUGH, through(self));
}

TEST_F(registered, read_by_the_parent_is_not_the_childs)
{
	struct turns turns;
	pid_t pid;

	ASSERT_EQ(0, code_register(&self->code, KEY));
	ASSERT_EQ(0, turns_init(&turns));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		EXPECT_TRUE(turn_await(&turns, TURN_CHILD));
		EXPECT_EQ(THROUGH, code_through_here(&self->code, 0));
		CHILD_EXIT();
	}
	write_table(&self->code, CODE_FRAME_OTHER);
	EXPECT_NE(THROUGH, through(self));
	EXPECT_TRUE(turn_over(&turns, TURN_CHILD));
	EXPECT_EQ(0, wait_for(pid));
}

TEST_F(registered, added_in_child_only)
{
	struct unwind_table_attr attr;
	pid_t pid;

	code_attr_fn(&attr, &self->code, 0, KEY);
	ASSERT_EQ(0, unwind_table_add(&attr));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		code_attr_fn(&attr, &self->code, 1, KEY);
		EXPECT_EQ(0, unwind_table_add(&attr));
		code_attr_fn(&attr, &self->code, 2, KEY_OTHER);
		EXPECT_EQ(0, unwind_table_add(&attr));
		EXPECT_EQ(THROUGH, code_through_here(&self->code, 0));
		EXPECT_EQ(THROUGH, code_through_here(&self->code, 1));
		EXPECT_EQ(THROUGH, code_through_here(&self->code, 2));
		CHILD_EXIT();
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(THROUGH, through_fn(self, 0));
	EXPECT_EQ(THROUGH_NOT, through_fn(self, 1));
	EXPECT_EQ(THROUGH_NOT, through_fn(self, 2));
	EXPECT_UNKNOWN(KEY_OTHER);
	EXPECT_KNOWN(KEY);
}

TEST_F(registered, unmapped_in_child_only)
{
	pid_t pid;

	ASSERT_EQ(0, code_register(&self->code, KEY));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		code_unmap(&self->code);
		EXPECT_UNKNOWN(KEY);
		CHILD_EXIT();
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(THROUGH, through(self));
	EXPECT_KNOWN(KEY);
}

/* The parent drops, adds, and unmaps; the child has what there was at fork */
TEST_F(registered, changed_in_parent_only)
{
	struct unwind_table_attr attr;
	struct code mapped;
	struct turns turns;
	pid_t pid;

	ASSERT_EQ(0, code_map(&mapped, 1));
	ASSERT_EQ(0, code_register(&mapped, KEY_OTHER));
	code_attr_fn(&attr, &self->code, 0, KEY);
	ASSERT_EQ(0, unwind_table_add(&attr));
	ASSERT_EQ(0, turns_init(&turns));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		EXPECT_TRUE(turn_await(&turns, TURN_CHILD));
		EXPECT_EQ(THROUGH, code_through_here(&self->code, 0));
		EXPECT_EQ(THROUGH_NOT, code_through_here(&self->code, 1));
		EXPECT_EQ(THROUGH, code_through_here(&mapped, 0));
		EXPECT_KNOWN(KEY);
		EXPECT_KNOWN(KEY_OTHER);
		CHILD_EXIT();
	}
	EXPECT_EQ(0, unwind_table_del(KEY));
	code_attr_fn(&attr, &self->code, 1, KEY);
	EXPECT_EQ(0, unwind_table_add(&attr));
	code_unmap(&mapped);
	EXPECT_UNKNOWN(KEY_OTHER);
	EXPECT_TRUE(turn_over(&turns, TURN_CHILD));
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(THROUGH_NOT, through_fn(self, 0));
	EXPECT_EQ(THROUGH, through_fn(self, 1));
}

/* A line of processes; each drops one more than its parent */
static int descend(struct _test_data_registered *self,
		   struct __test_metadata *_metadata, unsigned int depth,
		   unsigned int max)
{
	unsigned int i;
	pid_t pid;

	if (depth == max)
		return 0;
	pid = fork();
	if (pid < 0)
		return -1;
	if (!pid) {
		for (i = 0; i < max; i++)
			EXPECT_EQ(i < depth ? THROUGH_NOT : THROUGH,
				  code_through_here(&self->code, i));
		EXPECT_KNOWN(KEY + depth);
		EXPECT_EQ(0, descend(self, _metadata, depth + 1, max));
		/* The descendants' drops do not matter */
		for (i = 0; i < max; i++)
			EXPECT_EQ(i <= depth ? THROUGH_NOT : THROUGH,
				  code_through_here(&self->code, i));
		CHILD_EXIT();
	}
	return wait_for(pid);
}

TEST_F_TIMEOUT(registered, inherited_by_descendants, 120)
{
	struct unwind_table_attr attr;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		code_attr_fn(&attr, &self->code, i, KEY + i);
		ASSERT_EQ(0, unwind_table_add(&attr));
	}
	EXPECT_EQ(0, descend(self, _metadata, 0, 5));
	for (i = 0; i < 5; i++)
		EXPECT_EQ(THROUGH, through_fn(self, i));
}

/* A shared table outlives the process that registered it */
TEST_F(registered, outlives_the_parent)
{
	struct turns turns;
	char result = 1;
	pid_t pid;

	ASSERT_EQ(0, turns_init(&turns));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		EXPECT_EQ(0, code_register(&self->code, KEY));
		if (fork())
			CHILD_EXIT();
		/* The parent of this process is gone when this returns */
		EXPECT_TRUE(turn_await(&turns, TURN_CHILD));
		EXPECT_EQ(THROUGH, code_through_here(&self->code, 0));
		EXPECT_KNOWN(KEY);
		result = !__test_passed(_metadata);
		_exit(write(turns.fd[TURN_PARENT][1], &result, 1) != 1);
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_TRUE(turn_over(&turns, TURN_CHILD));
	ASSERT_EQ(1, read(turns.fd[TURN_PARENT][0], &result, 1));
	EXPECT_EQ(0, result);
}

TEST_F(registered, not_inherited_if_text_is_not)
{
	pid_t pid;

	ASSERT_EQ(0, code_register(&self->code, KEY));
	ASSERT_EQ(0, madvise(self->code.text, page_size(), MADV_DONTFORK));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		EXPECT_UNKNOWN(KEY);
		EXPECT_EQ(0, code_register(&self->code, KEY));
		CHILD_EXIT();
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(THROUGH, through(self));
	EXPECT_KNOWN(KEY);
}

TEST_F(registered, not_inherited_if_table_is_not)
{
	struct unwind_table_attr attr;
	struct code other;
	pid_t pid;

	ASSERT_EQ(0, code_map(&other, 1));
	ASSERT_EQ(0, code_register(&other, KEY_OTHER));
	code_attr(&attr, &self->code, KEY);
	ASSERT_EQ(0, unwind_table_add(&attr));
	/* Its last page only */
	ASSERT_EQ(0, madvise(self->code.table + self->code.table_mapped -
			     page_size(), page_size(), MADV_DONTFORK));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		EXPECT_EQ(THROUGH_NOT, code_through_here(&self->code, 0));
		EXPECT_UNKNOWN(KEY);
		/* Others are not concerned */
		EXPECT_EQ(THROUGH, code_through_here(&other, 0));
		EXPECT_KNOWN(KEY_OTHER);
		CHILD_EXIT();
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(THROUGH, through(self));
	EXPECT_EQ(THROUGH, code_through(&self->sampler, code_fn(&other, 0)));
	EXPECT_KNOWN(KEY);
	EXPECT_KNOWN(KEY_OTHER);
}

/* The child's table is overwritten with zeros: it stays registered, and gives no rules */
TEST_F(registered, wiped_on_fork)
{
	pid_t pid;

	ASSERT_EQ(0, code_register(&self->code, KEY));
	ASSERT_EQ(0, madvise(self->code.table, self->code.table_mapped,
			     MADV_WIPEONFORK));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		EXPECT_EQ(THROUGH_NOT, code_through_here(&self->code, 0));
		EXPECT_KNOWN(KEY);
		CHILD_EXIT();
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(THROUGH, through(self));
}

/*
 * Shared
 */

struct sharer {
	struct __test_metadata	*metadata;
	const struct code	*code;
	struct sampler		sampler;
};

/* In the same memory, but a process of its own */
static int share(void *arg)
{
	struct sharer *sharer = arg;
	struct __test_metadata *_metadata = sharer->metadata;
	struct unwind_table_attr attr;

	EXPECT_EQ(0, sampler_open(&sharer->sampler, 0));
	EXPECT_EQ(THROUGH, code_through(&sharer->sampler,
					code_fn(sharer->code, 0)));
	EXPECT_KNOWN(KEY);
	code_attr_fn(&attr, sharer->code, 1, KEY_OTHER);
	EXPECT_EQ(0, unwind_table_add(&attr));
	EXPECT_EQ(THROUGH, code_through(&sharer->sampler,
					code_fn(sharer->code, 1)));
	sampler_close(&sharer->sampler);
	return 0;
}

FIXTURE(shared_mm)
{
	struct sampler sampler;
	struct code code;
	char *stack;
};

FIXTURE_VARIANT(shared_mm)
{
	int flags;
};

FIXTURE_VARIANT_ADD(shared_mm, vm) {
	.flags = CLONE_VM,
};

FIXTURE_VARIANT_ADD(shared_mm, vfork) {
	.flags = CLONE_VM | CLONE_VFORK,
};

#define STACK_SIZE	(256 * 1024)

FIXTURE_SETUP(shared_mm)
{
	if (sampler_open(&self->sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	ASSERT_EQ(0, code_map(&self->code, 2));
	self->stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	ASSERT_NE(MAP_FAILED, self->stack);
}

FIXTURE_TEARDOWN(shared_mm)
{
	sampler_close(&self->sampler);
	munmap(self->stack, STACK_SIZE);
	code_unmap(&self->code);
}

TEST_F(shared_mm, changes_are_seen_both_ways)
{
	struct sharer sharer = { .metadata = _metadata, .code = &self->code };
	struct unwind_table_attr attr;
	pid_t pid;

	code_attr_fn(&attr, &self->code, 0, KEY);
	ASSERT_EQ(0, unwind_table_add(&attr));
	pid = clone(share, self->stack + STACK_SIZE, variant->flags | SIGCHLD,
		    &sharer);
	ASSERT_LE(0, pid);
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(THROUGH_NOT, code_through(&self->sampler,
					    code_fn(&self->code, 0)));
	EXPECT_EQ(THROUGH, code_through(&self->sampler,
					code_fn(&self->code, 1)));
	EXPECT_UNKNOWN(KEY);
	EXPECT_KNOWN(KEY_OTHER);
}

/*
 * Dropped by exec
 */

/* Where both programs can have the code */
static const struct code exec_at = {
	.text = (char *)0x20000000000,
	.table = (char *)0x20001000000,
};

#define AFTER_EXEC	"after-exec"

/* In the new program: return 0, or the number of the failed step */
static int after_exec(void)
{
	struct code code;

	if (unwind_table_del(KEY) != -ENOENT)
		return 1;
	if (code_map_at(&code, 2, CODE_FRAME, CODE_FRAME, &exec_at))
		return 2;
	if (code_through_here(&code, 0) != THROUGH_NOT)
		return 3;
	if (code_register(&code, KEY))
		return 4;
	return code_through_here(&code, 0) != THROUGH ? 5 : 0;
}

/* Runs before main(), without the harness */
static void __attribute__((constructor)) is_after_exec(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], AFTER_EXEC))
		_exit(after_exec());
}

TEST_F(registered, dropped_by_exec)
{
	struct code code;
	pid_t pid;

	ASSERT_EQ(0, code_map_at(&code, 2, CODE_FRAME, CODE_FRAME, &exec_at));
	ASSERT_EQ(0, code_register(&code, KEY));
	EXPECT_EQ(THROUGH, code_through(&self->sampler, code_fn(&code, 0)));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		execl("/proc/self/exe", "lifetime_test", AFTER_EXEC, NULL);
		_exit(127);
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(THROUGH, code_through(&self->sampler, code_fn(&code, 0)));
	EXPECT_KNOWN(KEY);
}

/* Not for this process, though the one that execs shared its memory */
TEST_F(registered, kept_by_the_caller_of_vfork)
{
	struct code code;
	pid_t pid;

	ASSERT_EQ(0, code_map_at(&code, 2, CODE_FRAME, CODE_FRAME, &exec_at));
	ASSERT_EQ(0, code_register(&code, KEY));
	pid = vfork();
	ASSERT_LE(0, pid);
	if (!pid) {
		execl("/proc/self/exe", "lifetime_test", AFTER_EXEC, NULL);
		_exit(127);
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(THROUGH, code_through(&self->sampler, code_fn(&code, 0)));
	EXPECT_KNOWN(KEY);
}

TEST_F(registered, kept_by_failed_exec)
{
	ASSERT_EQ(0, code_register(&self->code, KEY));
	ASSERT_EQ(-1, execl("/proc/self/nothing", "nothing", NULL));
	ASSERT_EQ(-1, execl("/dev/null", "null", NULL));
	EXPECT_EQ(THROUGH, through(self));
	EXPECT_KNOWN(KEY);
}

/*
 * Threads
 */

#define THREADS		4
#define THREAD_ROUNDS	50

struct worker {
	pthread_t	thread;
	struct code	code;
	uint64_t	key;
	unsigned long	failed;	/* line of the first failure */
	pthread_barrier_t *barrier;
};

/* Register, take a stack, and drop: by DEL, or by munmap; return the failed line, or 0 */
static unsigned long live(struct worker *worker, struct sampler *sampler,
			  bool del)
{
	struct code code;

	if (code_map(&code, 2) || code_register(&code, worker->key))
		return __LINE__;
	if (code_through(sampler, code_fn(&code, 1)) != THROUGH)
		return __LINE__;
	if (code_register(&code, worker->key) != -EEXIST)
		return __LINE__;
	if (del && unwind_table_del(worker->key))
		return __LINE__;
	if (del && code_through(sampler, code_fn(&code, 1)) != THROUGH_NOT)
		return __LINE__;
	code_unmap(&code);
	return unwind_table_del(worker->key) == -ENOENT ? 0 : __LINE__;
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct sampler sampler;
	int i;

	worker->failed = sampler_open(&sampler, 0) ? __LINE__ : 0;
	pthread_barrier_wait(worker->barrier);
	for (i = 0; i < THREAD_ROUNDS && !worker->failed; i++)
		worker->failed = live(worker, &sampler, i % 2);
	sampler_close(&sampler);
	return NULL;
}

TEST_F_TIMEOUT(registered, used_while_other_threads_add_and_del, 120)
{
	struct worker worker[THREADS] = {};
	pthread_barrier_t barrier;
	int i;

	ASSERT_EQ(0, code_register(&self->code, KEY));
	ASSERT_EQ(0, pthread_barrier_init(&barrier, NULL, THREADS));
	for (i = 0; i < THREADS; i++) {
		worker[i].key = 0x3000 + i;
		worker[i].barrier = &barrier;
		ASSERT_EQ(0, pthread_create(&worker[i].thread, NULL, work,
					    &worker[i]));
	}
	for (i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, pthread_join(worker[i].thread, NULL));
		EXPECT_EQ(0, worker[i].failed)
			TH_LOG("thread %d failed at line %lu", i,
			       worker[i].failed);
	}
	EXPECT_EQ(THROUGH, through(self));
	EXPECT_KNOWN(KEY);
}

static struct unwind_table_attr contended;
static unsigned int winners;

static void *contend(void *arg)
{
	struct worker *worker = arg;
	struct unwind_table_attr attr = contended;
	int i, ret;

	attr.key = worker->key;
	for (i = 0; i < THREAD_ROUNDS; i++) {
		pthread_barrier_wait(worker->barrier);
		ret = unwind_table_add(&attr);
		if (!ret)
			__atomic_add_fetch(&winners, 1, __ATOMIC_RELAXED);
		else if (ret != -EEXIST)
			worker->failed = __LINE__;
		pthread_barrier_wait(worker->barrier);
		if (unwind_table_del(attr.key) != (ret ? -ENOENT : 0))
			worker->failed = __LINE__;
	}
	return NULL;
}

/* All threads register the same text: each time exactly one succeeds */
TEST_F_TIMEOUT(registered, used_by_several_threads, 120)
{
	struct worker worker[THREADS] = {};
	pthread_barrier_t barrier;
	int i;

	code_attr(&contended, &self->code, KEY);
	winners = 0;
	ASSERT_EQ(0, pthread_barrier_init(&barrier, NULL, THREADS));
	for (i = 0; i < THREADS; i++) {
		worker[i].key = KEY + i;
		worker[i].barrier = &barrier;
		ASSERT_EQ(0, pthread_create(&worker[i].thread, NULL, contend,
					    &worker[i]));
	}
	for (i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, pthread_join(worker[i].thread, NULL));
		EXPECT_EQ(0, worker[i].failed);
	}
	EXPECT_EQ(THREAD_ROUNDS, winners);
}

/*
 * A table is dropped and another one written in its place, while another thread's stack
 * has the first one copied. A large table takes long enough for that.
 */
#define LARGE		20000
#define REPLACEMENTS	60

struct prober {
	pthread_t		thread;
	unsigned long		record[2];
	struct tally		tally;
	atomic_bool		stop;
	bool			failed;
};

/* Stacks that claim to pass the code */
static void *probe(void *arg)
{
	static const struct truth none;
	struct prober *prober = arg;
	struct watch watch;

	if (watch_open(&watch, 0, -1, WATCH_CALLS, 64) || watch_enable(&watch)) {
		prober->failed = true;
		return NULL;
	}
	while (!atomic_load(&prober->stop)) {
		run_probe(prober->record, 4);
		watch_judge(&watch, &none, &prober->tally);
	}
	watch_close(&watch);
	return NULL;
}

/* The end of the table, which alone describes frames */
static char *table_rows(char *table)
{
	return table + sizeof(struct sframe_header) + LARGE * sizeof(struct sframe_fde);
}

static void wait_a_little(unsigned int i)
{
	unsigned long j;

	for (j = 0; j < 20000UL * (i % 30); j++)
		asm volatile("");
}

TEST_F_TIMEOUT(registered, replaced_while_others_read_is_the_new_one, 120)
{
	struct prober prober = {};
	struct code code, other;
	unsigned int i, right = 0;
	size_t rows_size;
	char *rows;

	ASSERT_EQ(0, code_map_at(&code, LARGE, CODE_FRAME, CODE_FRAME_OTHER, NULL));
	ASSERT_EQ(0, code_map(&other, LARGE));
	rows = table_rows(code.table);
	rows_size = code.table + code.table_size - rows;
	prober.record[1] = (uintptr_t)code_fn(&code, 1) + 64;
	ASSERT_EQ(0, pthread_create(&prober.thread, NULL, probe, &prober));
	for (i = 0; i < REPLACEMENTS; i++) {
		char wrong[256];

		ASSERT_LE(rows_size, sizeof(wrong));
		memcpy(wrong, rows, rows_size);
		ASSERT_EQ(0, code_register(&code, KEY));
		wait_a_little(i);
		ASSERT_EQ(0, unwind_table_del(KEY));
		memcpy(rows, table_rows(other.table), rows_size);
		ASSERT_EQ(0, code_register(&code, KEY));
		right += code_through(&self->sampler, code_fn(&code, 0)) == THROUGH;
		ASSERT_EQ(0, unwind_table_del(KEY));
		memcpy(rows, wrong, rows_size);
	}
	atomic_store(&prober.stop, true);
	ASSERT_EQ(0, pthread_join(prober.thread, NULL));
	EXPECT_FALSE(prober.failed);
	EXPECT_LT(0, prober.tally.probes);
	EXPECT_EQ(REPLACEMENTS, right);
}

/*
 * Never used
 */

/* A process that nobody profiles has nothing to search, and nothing to drop */
TEST(task_without_samples_loads_no_table)
{
	struct turns turns;
	struct trace trace;
	char message[256];
	pid_t pid;

	if (trace_start(&trace))
		SKIP(return, "no tracepoints unwind:*, or not root");
	ASSERT_EQ(0, turns_init(&turns));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		int status, i;

		if (!turn_await(&turns, TURN_CHILD))
			_exit(1);
		for (i = 0; i < 10; i++) {
			char *p = mmap(NULL, page_size(), PROT_READ,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			munmap(p, page_size());
		}
		pid = fork();
		if (!pid)
			_exit(0);
		waitpid(pid, &status, 0);
		execl("/bin/true", "true", NULL);
		_exit(127);
	}
	ASSERT_EQ(0, trace_of(&trace, pid));
	ASSERT_EQ(0, trace_clear(&trace));
	ASSERT_TRUE(turn_over(&turns, TURN_CHILD));
	EXPECT_EQ(0, wait_for(pid));
	ASSERT_EQ(0, trace_read(&trace));
	EXPECT_EQ(0, trace_count(&trace, "table_found", NULL, message,
				 sizeof(message)));
	EXPECT_EQ(0, trace_count(&trace, "table_invalid", NULL, NULL, 0));
	EXPECT_EQ(0, trace_count(&trace, "table_added", NULL, NULL, 0));
	EXPECT_EQ(0, trace_count(&trace, "table_dropped", NULL, NULL, 0));
	trace_stop(&trace);
}

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP	4
#endif

/*
 * Changes of a mapping: registered tables are dropped with the text that they describe or
 * with the memory that they lie in, as a whole, before anything else is mapped there.
 */

#define RW	(PROT_READ | PROT_WRITE)

/* One of the two mappings, and an address of the same size to move it to */
struct victim {
	char	*start;
	char	*end;
	size_t	size;
	char	*other;
	bool	done;
};

#define LOSE(how, done_)						\
static void how(struct victim *v)					\
{									\
	const size_t page = page_size();				\
									\
	(void)page;							\
	v->done = (done_);						\
}

static bool map_over(const void *at, size_t size, int prot)
{
	return mmap((void *)at, size, prot,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at;
}

static bool moved(const void *from, size_t old, size_t new, int flags,
		  const void *to)
{
	return mremap((void *)from, old, new, MREMAP_MAYMOVE | flags, to) !=
	       MAP_FAILED;
}

/* System V shared memory over the mapping */
static bool shm_over(void *at)
{
	int id = shmget(IPC_PRIVATE, page_size(), IPC_CREAT | 0600);
	bool done = id >= 0 && shmat(id, at, SHM_REMAP) == at;

	if (id >= 0)
		shmctl(id, IPC_RMID, NULL);
	return done;
}

/* There and back again: the contents are the same, but the mapping was gone */
static bool back_and_forth(struct victim *victim)
{
	return moved(victim->start, victim->size, victim->size, MREMAP_FIXED,
		     victim->other) &&
	       moved(victim->other, victim->size, victim->size, MREMAP_FIXED,
		     victim->start);
}

static bool unmap_beside(struct victim *victim)
{
	const size_t page = page_size();

	return !munmap(victim->start - page, page) && !munmap(victim->end, page);
}

static bool map_over_beside(struct victim *victim)
{
	const size_t page = page_size();

	return map_over(victim->start - page, page, RW) &&
	       map_over(victim->end, page, RW);
}

LOSE(unmap, !munmap(v->start, v->size))
LOSE(unmap_first_page, !munmap(v->start, page))
LOSE(unmap_last_page, !munmap(v->end - page, page))
LOSE(unmap_inner_page, !munmap(v->start + page, page))
LOSE(unmap_around, !munmap(v->start - page, v->size + 2 * page))
LOSE(map_fixed, map_over(v->start, v->size, RW))
LOSE(map_fixed_first_page, map_over(v->start, page, RW))
LOSE(map_fixed_last_page, map_over(v->end - page, page, RW))
LOSE(map_fixed_inner_page, map_over(v->start + page, page, RW))
LOSE(map_fixed_no_access, map_over(v->start, v->size, PROT_NONE))
LOSE(move, moved(v->start, v->size, v->size, MREMAP_FIXED, v->other))
LOSE(move_inner_page, moved(v->start + page, page, page, MREMAP_FIXED,
			    v->other))
LOSE(move_and_grow, moved(v->start, v->size, 8 * v->size, 0, NULL))
LOSE(move_back_and_forth, back_and_forth(v))
LOSE(shrink, moved(v->start, v->size, v->size - page, 0, NULL))
LOSE(moved_over, moved(v->other, page, page, MREMAP_FIXED, v->start + page))
LOSE(dont_unmap, moved(v->start, v->size, v->size, MREMAP_DONTUNMAP, NULL))
LOSE(shared_memory_over, shm_over(v->start + page))

/* Changes that leave the mapping where it is */
LOSE(protect, !mprotect(v->start + page, page, PROT_NONE))
LOSE(lock, !mlock(v->start, v->size))
LOSE(unmap_neighbours, unmap_beside(v))
LOSE(move_neighbour, moved(v->start - page, page, page, MREMAP_FIXED,
			   v->other))
LOSE(map_over_neighbours, map_over_beside(v))

/* How many functions have three pages of text, or more, and of a table */
static unsigned int three_pages(void)
{
	const size_t entry = code_table_size(2) - code_table_size(1);

	return 3 * page_size() / (entry < CODE_STRIDE ? entry : CODE_STRIDE);
}

FIXTURE(change)
{
	struct sampler sampler;
	struct trace trace;
	struct code code;
	char text[64];
	int klog;
};

/* @keeps: nothing is unmapped, so nothing is dropped */
FIXTURE_VARIANT(change)
{
	void (*lose)(struct victim *victim);
	bool keeps;
};

FIXTURE_VARIANT_ADD(change, unmap) {
	.lose = unmap,
};

FIXTURE_VARIANT_ADD(change, unmap_first_page) {
	.lose = unmap_first_page,
};

FIXTURE_VARIANT_ADD(change, unmap_last_page) {
	.lose = unmap_last_page,
};

FIXTURE_VARIANT_ADD(change, unmap_inner_page) {
	.lose = unmap_inner_page,
};

FIXTURE_VARIANT_ADD(change, unmap_around) {
	.lose = unmap_around,
};

FIXTURE_VARIANT_ADD(change, map_fixed) {
	.lose = map_fixed,
};

FIXTURE_VARIANT_ADD(change, map_fixed_first_page) {
	.lose = map_fixed_first_page,
};

FIXTURE_VARIANT_ADD(change, map_fixed_last_page) {
	.lose = map_fixed_last_page,
};

FIXTURE_VARIANT_ADD(change, map_fixed_inner_page) {
	.lose = map_fixed_inner_page,
};

FIXTURE_VARIANT_ADD(change, map_fixed_no_access) {
	.lose = map_fixed_no_access,
};

FIXTURE_VARIANT_ADD(change, move) {
	.lose = move,
};

FIXTURE_VARIANT_ADD(change, move_inner_page) {
	.lose = move_inner_page,
};

FIXTURE_VARIANT_ADD(change, move_and_grow) {
	.lose = move_and_grow,
};

FIXTURE_VARIANT_ADD(change, move_back_and_forth) {
	.lose = move_back_and_forth,
};

FIXTURE_VARIANT_ADD(change, shrink) {
	.lose = shrink,
};

FIXTURE_VARIANT_ADD(change, moved_over) {
	.lose = moved_over,
};

FIXTURE_VARIANT_ADD(change, dont_unmap) {
	.lose = dont_unmap,
};

FIXTURE_VARIANT_ADD(change, shared_memory_over) {
	.lose = shared_memory_over,
};

FIXTURE_VARIANT_ADD(change, protect) {
	.lose = protect,
	.keeps = true,
};

FIXTURE_VARIANT_ADD(change, lock) {
	.lose = lock,
	.keeps = true,
};

FIXTURE_VARIANT_ADD(change, unmap_neighbours) {
	.lose = unmap_neighbours,
	.keeps = true,
};

FIXTURE_VARIANT_ADD(change, move_neighbour) {
	.lose = move_neighbour,
	.keeps = true,
};

FIXTURE_VARIANT_ADD(change, map_over_neighbours) {
	.lose = map_over_neighbours,
	.keeps = true,
};

/* Text and table with neighbours that may be unmapped */
FIXTURE_SETUP(change)
{
	const size_t page = page_size(), room = 64 * page;
	struct code at;

	if (sampler_open(&self->sampler, 0))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*");
	self->klog = klog_open();
	ASSERT_LE(0, self->klog);

	at.text = mmap(NULL, 2 * room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	ASSERT_NE(MAP_FAILED, at.text);
	ASSERT_EQ(0, munmap(at.text, 2 * room));
	at.text += page;
	at.table = at.text + room;
	ASSERT_EQ(0, code_map_at(&self->code, three_pages(), CODE_FRAME, CODE_FRAME, &at));
	ASSERT_LE(3 * page, self->code.table_mapped);
	ASSERT_LE(3 * page, self->code.text_mapped);
	ASSERT_TRUE(map_over(at.text - page, page, RW));
	ASSERT_TRUE(map_over(at.text + self->code.text_mapped, page, RW));
	ASSERT_TRUE(map_over(at.table - page, page, RW));
	ASSERT_TRUE(map_over(at.table + self->code.table_mapped, page, RW));
	snprintf(self->text, sizeof(self->text), "text=0x%lx-0x%lx",
		 (unsigned long)self->code.text,
		 (unsigned long)self->code.text + self->code.text_size);
}

FIXTURE_TEARDOWN(change)
{
	sampler_close(&self->sampler);
	trace_stop(&self->trace);
	close(self->klog);
}

static void expect_lost(struct __test_metadata *_metadata,
			struct _test_data_change *self,
			const struct _fixture_variant_change *variant,
			struct victim *victim)
{
	victim->other = mmap(NULL, victim->size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, victim->other);
	ASSERT_EQ(0, code_register(&self->code, KEY));
	EXPECT_EQ(THROUGH, code_through(&self->sampler, code_fn(&self->code, 0)));
	ASSERT_EQ(0, trace_clear(&self->trace));

	variant->lose(victim);
	ASSERT_TRUE(victim->done)
		TH_LOG("%s", strerror(errno));

	ASSERT_EQ(0, trace_read(&self->trace));
	EXPECT_EQ(!variant->keeps, trace_count(&self->trace, "table_dropped",
					       self->text, NULL, 0));
	EXPECT_EQ(variant->keeps ? 0 : -ENOENT, unwind_table_del(KEY));
	EXPECT_TRUE(klog_silent(self->klog));

	/* Only a new registration can bring it back */
	munmap(self->code.text, self->code.text_mapped);
	munmap(self->code.table, self->code.table_mapped);
	ASSERT_EQ(0, code_map_at(&self->code, three_pages(), CODE_FRAME, CODE_FRAME,
				 &self->code));
	EXPECT_EQ(THROUGH_NOT, code_through(&self->sampler,
					    code_fn(&self->code, 0)));
	EXPECT_EQ(0, code_register(&self->code, KEY));
	EXPECT_EQ(THROUGH, code_through(&self->sampler, code_fn(&self->code, 0)));
}

TEST_F(change, of_text_drops_its_table)
{
	struct victim victim = {
		.start = self->code.text,
		.end = self->code.text + self->code.text_mapped,
		.size = self->code.text_mapped,
	};

	expect_lost(_metadata, self, variant, &victim);
}

TEST_F(change, of_table_memory_drops_the_table)
{
	struct victim victim = {
		.start = self->code.table,
		.end = self->code.table + self->code.table_mapped,
		.size = self->code.table_mapped,
	};

	expect_lost(_metadata, self, variant, &victim);
}

/*
 * Other ways
 */

/* In the heap, which shrinks by its own system call */
TEST_F(registered, dropped_with_the_heap)
{
	const size_t page = page_size();
	struct unwind_table_attr attr;
	uintptr_t table, end;
	uint64_t fn;

	table = (uintptr_t)sbrk(2 * page);
	end = table + 2 * page;
	ASSERT_NE(-1UL, table);
	table = (table + page - 1) & -page;
	fn = (uintptr_t)code_fn(&self->code, 0);
	code_table_write((void *)table, table, &fn, 1, CODE_FRAME);
	code_attr_fn(&attr, &self->code, 0, KEY);
	attr.table_start = table;
	attr.table_size = code_table_size(1);
	ASSERT_EQ(0, unwind_table_add(&attr));
	EXPECT_EQ(THROUGH, through(self));
	/* No other code extended the heap */
	ASSERT_EQ(end, (uintptr_t)sbrk(0));
	ASSERT_EQ(0, brk((void *)table));
	EXPECT_EQ(THROUGH_NOT, through(self));
	EXPECT_UNKNOWN(KEY);
}

/* One table of several ranges: all of them go with it, and no others */
TEST_F(registered, dropped_with_the_table_of_several)
{
	struct unwind_table_attr attr;
	struct code other;
	unsigned int i;

	ASSERT_EQ(0, code_map(&other, 1));
	ASSERT_EQ(0, code_register(&other, KEY));
	for (i = 0; i < 10; i++) {
		code_attr_fn(&attr, &self->code, 2 * i, i ? KEY : KEY_OTHER);
		ASSERT_EQ(0, unwind_table_add(&attr));
	}
	ASSERT_EQ(0, munmap(self->code.table, self->code.table_mapped));
	for (i = 0; i < 10; i++)
		EXPECT_EQ(THROUGH_NOT, through_fn(self, 2 * i));
	EXPECT_UNKNOWN(KEY_OTHER);
	EXPECT_EQ(THROUGH, code_through(&self->sampler, code_fn(&other, 0)));
	EXPECT_KNOWN(KEY);
	EXPECT_UNKNOWN(KEY);
}

/* Tables that claim more and more of the same memory */
TEST_F(registered, dropped_with_overlapping_tables)
{
	const size_t page = page_size();
	struct unwind_table_attr attr;
	uint64_t fn[4];
	unsigned int i;
	char *table;

	table = mmap(NULL, 4 * page, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, table);
	for (i = 0; i < 4; i++)
		fn[i] = (uintptr_t)code_fn(&self->code, i);
	code_table_write(table, (uintptr_t)table, fn, 4, CODE_FRAME);
	for (i = 0; i < 4; i++) {
		code_attr_fn(&attr, &self->code, i, KEY + i);
		attr.table_start = (uintptr_t)table;
		attr.table_size = (i + 1) * page;
		ASSERT_EQ(0, unwind_table_add(&attr));
	}
	ASSERT_EQ(0, munmap(table + 2 * page, 2 * page));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(i < 2 ? THROUGH : THROUGH_NOT, through_fn(self, i));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(i < 2 ? 0 : -ENOENT, unwind_table_del(KEY + i));
}

/* Text that is mapped after it was registered */
TEST_F(registered, used_for_text_that_is_mapped_later)
{
	char *text = self->code.text;

	ASSERT_EQ(0, munmap(text, self->code.text_mapped));
	ASSERT_EQ(0, code_register(&self->code, KEY));
	ASSERT_EQ(text, mmap(text, self->code.text_mapped, RW, MAP_PRIVATE |
			     MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
	code_write(text, CODE_FRAME);
	ASSERT_EQ(0, mprotect(text, self->code.text_mapped,
			      PROT_READ | PROT_EXEC));
	EXPECT_EQ(THROUGH, through(self));
	EXPECT_KNOWN(KEY);
}

/*
 * Large sections
 */

/* Their table takes longer than a tick, and more memory than SPARE */
#define MANY		200000
#define SPARE		(512 << 10)
#define GROUP		"/sys/fs/cgroup/unwind-lifetime"

/* Of most functions there is no more than the entry */
static int map_many(struct code *code)
{
	uint64_t *fn = malloc(MANY * sizeof(*fn));
	unsigned int i;

	*code = (struct code){
		.nr = MANY,
		.text_size = MANY * CODE_STRIDE,
		.text_mapped = MANY * CODE_STRIDE,
		.table_size = code_table_size(MANY),
		.table_mapped = code_table_size(MANY),
	};
	code->text = mmap(NULL, code->text_mapped, RW | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	code->table = mmap(NULL, code->table_mapped, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!fn || code->text == MAP_FAILED || code->table == MAP_FAILED)
		return -1;
	for (i = 0; i < MANY; i++)
		fn[i] = (uintptr_t)code->text + i * CODE_STRIDE;
	code_table_write(code->table, (uintptr_t)code->table, fn, MANY, CODE_FRAME);
	free(fn);
	code_write(code->text, CODE_FRAME);
	return code_register(code, KEY);
}

static int group_write(const char *name, long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", number);
	return put_word(GROUP, name, text);
}

/* Each would copy it, and free pages of the program for that */
TEST_F(refused, large_section_without_memory_is_tried_once_a_second)
{
	struct timespec begin, end;
	size_t attempts;
	struct code many;
	unsigned int i;

	put_word("/sys/fs/cgroup", "cgroup.subtree_control", "+memory");
	if (mkdir(GROUP, 0700) && errno != EEXIST)
		SKIP(return, "no control groups, or not root");
	if (access(GROUP "/memory.max", W_OK))
		SKIP(return, "no memory control groups (v2)");
	ASSERT_EQ(0, group_write("cgroup.procs", getpid()));
	ASSERT_EQ(0, map_many(&many));
	ASSERT_EQ(0, group_write("memory.max", read_number(GROUP "/memory.current") + SPARE));
	ASSERT_EQ(0, trace_clear(&self->trace));
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (i = 0; i < 50; i++)
		EXPECT_EQ(THROUGH_NOT, code_through(&self->sampler, code_fn(&many, 0)));
	clock_gettime(CLOCK_MONOTONIC, &end);
	ASSERT_EQ(0, trace_read(&self->trace));
	attempts = trace_count(&self->trace, "table_invalid", "error=-12", NULL, 0);
	EXPECT_LT(0, attempts);
	EXPECT_GE(2 + end.tv_sec - begin.tv_sec, attempts);
	/* Until there is some */
	ASSERT_EQ(0, put_word(GROUP, "memory.max", "max"));
	while (code_through(&self->sampler, code_fn(&many, 0)) == THROUGH_NOT)
		usleep(100 * 1000);
	EXPECT_EQ(THROUGH, code_through(&self->sampler, code_fn(&many, 0)));
	ASSERT_EQ(0, put_word("/sys/fs/cgroup", "cgroup.procs", "0"));
	rmdir(GROUP);
}

/* Ranges whose copy takes more memory than SPARE; each has a small table of its own */
#define RANGES		20000

static int register_each(struct code *code)
{
	const size_t size = code_table_size(1);
	struct unwind_table_attr attr;
	unsigned int i;
	uint64_t fn;
	int ret = 0;
	char *table;

	table = mmap(NULL, RANGES * size, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (table == MAP_FAILED || code_map(code, RANGES))
		return -1;
	for (i = 0; i < RANGES && !ret; i++, table += size) {
		fn = (uintptr_t)code_fn(code, i);
		code_table_write(table, (uintptr_t)table, &fn, 1, CODE_FRAME);
		code_attr_fn(&attr, code, i, KEY);
		attr.table_start = (uintptr_t)table;
		attr.table_size = size;
		ret = unwind_table_add(&attr);
	}
	return ret;
}

/*
 * A child shares the ranges, and has a copy with its first table.  If there is no memory for
 * that, the group does not run out of it, and not each stack tries again.
 */
TEST_F_TIMEOUT(refused, copy_of_ranges_without_memory_is_tried_once_a_second, 120)
{
	struct timespec begin, end;
	size_t attempts;
	struct code code;
	unsigned int i;
	pid_t pid;

	put_word("/sys/fs/cgroup", "cgroup.subtree_control", "+memory");
	if (mkdir(GROUP, 0700) && errno != EEXIST)
		SKIP(return, "no control groups, or not root");
	if (access(GROUP "/memory.max", W_OK))
		SKIP(return, "no memory control groups (v2)");
	ASSERT_EQ(0, register_each(&code));
	ASSERT_EQ(0, trace_all(&self->trace));
	ASSERT_EQ(0, trace_clear(&self->trace));
	clock_gettime(CLOCK_MONOTONIC, &begin);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct sampler sampler;

		ASSERT_EQ(0, group_write("cgroup.procs", getpid()));
		ASSERT_EQ(0, sampler_open(&sampler, 0));
		ASSERT_EQ(0, group_write("memory.max",
					 read_number(GROUP "/memory.current") + SPARE));
		for (i = 0; i < 50; i++)
			EXPECT_EQ(THROUGH_NOT, code_through(&sampler, code_fn(&code, 0)));
		/* Until there is some */
		ASSERT_EQ(0, put_word(GROUP, "memory.max", "max"));
		while (code_through(&sampler, code_fn(&code, 0)) == THROUGH_NOT)
			usleep(100 * 1000);
		EXPECT_EQ(THROUGH, code_through(&sampler, code_fn(&code, 0)));
		CHILD_EXIT();
	}
	EXPECT_EQ(0, wait_for(pid));
	clock_gettime(CLOCK_MONOTONIC, &end);
	ASSERT_EQ(0, trace_read(&self->trace));
	attempts = trace_count(&self->trace, "table_invalid", "error=-12", NULL, 0);
	EXPECT_LT(0, attempts);
	EXPECT_GE(2 + end.tv_sec - begin.tv_sec, attempts);
	rmdir(GROUP);
}

/* Processor time of a child that takes a stack through the code, in microseconds */
static long child_takes(const struct code *code, long killed_after)
{
	struct timespec used = {};
	struct rusage usage;
	clockid_t clock;
	pid_t pid = fork();

	if (!pid) {
		struct sampler sampler;

		if (!sampler_open(&sampler, 0))
			code_through(&sampler, code_fn(code, 0));
		_exit(0);
	}
	if (pid < 0 || clock_getcpuclockid(pid, &clock))
		return -1;
	while (killed_after && used.tv_sec * 1000000 + used.tv_nsec / 1000 < killed_after &&
	       !clock_gettime(clock, &used))
		sched_yield();
	if (killed_after)
		kill(pid, SIGKILL);
	if (wait4(pid, NULL, 0, &usage) != pid)
		return -1;
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
	       usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

TEST_F_TIMEOUT(registered, kill_does_not_wait_for_a_large_section, 120)
{
	struct code many;
	long whole, killed;
	unsigned int i;

	ASSERT_EQ(0, map_many(&many));
	whole = child_takes(&many, 0);
	ASSERT_LT(0, whole);
	/* This process may get no processor while the child goes on */
	for (i = 0; i < 5; i++) {
		killed = child_takes(&many, whole / 4);
		ASSERT_LT(0, killed);
		if (killed < whole / 4 * 3)
			break;
	}
	EXPECT_GT(5, i);
	TH_LOG("%ld of %ld us", killed, whole);
}

TEST_HARNESS_MAIN
