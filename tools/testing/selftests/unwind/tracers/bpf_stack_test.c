// SPDX-License-Identifier: GPL-2.0
/*
 * What BPF programs get from bpf_get_stack() and bpf_get_task_stack().
 *
 * Programs are attached to a function of this program by a uprobe. Those that may
 * sleep have the whole stack the first time, though nothing is known of any table
 * then; others from the second time on.
 *
 * The programs are a few instructions each, written here as such: they ask for the
 * stack and leave it, with what the helper returned, in a map that is mapped here.
 */
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf.h"
#include "whole.h"
#include "../../kselftest_harness.h"

#define SYSCTL		"/proc/sys/kernel/unwind_in_place"
#define IPS_MAX		62

/* The map's only value */
struct result {
	int64_t		ret;
	uint64_t	ips[IPS_MAX];
};

#define IPS_SIZE	sizeof(((struct result *)NULL)->ips)

static int make_map(void)
{
	return bpf_map_make(BPF_MAP_TYPE_ARRAY, sizeof(uint32_t),
			    sizeof(struct result), 1, BPF_F_MMAPABLE);
}

/* @task: by bpf_get_task_stack(), with the current task */
static int make_program(int map, bool sleepable, bool task, unsigned int flags)
{
	const struct bpf_insn insns[] = {
		MOV_REG(BPF_REG_6, BPF_REG_1),
		LOAD_VALUE(BPF_REG_7, map), WIDE_END,
		task ? CALL(BPF_FUNC_get_current_task_btf) :
		       MOV_REG(BPF_REG_0, BPF_REG_6),
		MOV_REG(BPF_REG_1, BPF_REG_0),
		MOV_REG(BPF_REG_2, BPF_REG_7),
		ADD_IMM(BPF_REG_2, offsetof(struct result, ips)),
		MOV_IMM(BPF_REG_3, IPS_SIZE),
		MOV_IMM(BPF_REG_4, flags),
		CALL(task ? BPF_FUNC_get_task_stack : BPF_FUNC_get_stack),
		STORE(BPF_REG_7, 0, BPF_REG_0),
		MOV_IMM(BPF_REG_0, 0),
		EXIT,
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_KPROBE,
		.expected_attach_type = BPF_TRACE_UPROBE_MULTI,
		.prog_flags = sleepable ? BPF_F_SLEEPABLE : 0,
	};

	return bpf_prog_make(&attr, insns, ARRAY_SIZE(insns));
}

/* Where an address of this program lies in its file, or 0 */
static uint64_t file_offset(unsigned long addr)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end, offset;
	uint64_t found = 0;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    addr >= start && addr < end)
			found = addr - start + offset;
	if (maps)
		fclose(maps);
	return found;
}

static int attach(int prog, unsigned long addr, unsigned int flags)
{
	uint64_t offset = file_offset(addr);
	union bpf_attr attr = {
		.link_create = {
			.prog_fd = prog,
			.attach_type = BPF_TRACE_UPROBE_MULTI,
			.uprobe_multi = {
				.path = (uintptr_t)"/proc/self/exe",
				.offsets = (uintptr_t)&offset,
				.cnt = 1,
				.flags = flags,
				.pid = getpid(),
			},
		},
	};

	return offset ? bpf(BPF_LINK_CREATE, &attr) : -1;
}

/*
 * The program that is probed
 */

void probed(void);
asm(".pushsection .text\n"
	".type probed, @function\n"
	"probed:\n"
	"	.cfi_startproc\n"
	"	nop\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size probed, . - probed\n"
	".popsection\n");

ASM_LABEL(probed_returns);

static void inner(void)
{
	whole_note_ra();
	whole_note((unsigned long)probed_returns);
	whole_note((unsigned long)probed);
#if defined(__x86_64__)
	asm volatile("call probed\n"
		     "probed_returns:\n"
		     : : : "memory");
#elif defined(__aarch64__)
	asm volatile("bl probed\n"
		     "probed_returns:\n"
		     : : : "x30", "memory");
#endif
}

static void outer(void *arg)
{
	char locals[80];

	asm volatile("" : : "r"(locals) : "memory");
	whole_note_ra();
	inner();
	asm volatile("" : : "r"(locals) : "memory");
}

/*
 * Bytes of what there is by the frame pointer that whole_run() begins with: it leads in
 * a circle, or to one record
 */
static long size_by_fp(unsigned int skip)
{
#if defined(__x86_64__)
	return IPS_SIZE;
#else
	return (2 - skip) * sizeof(uint64_t);
#endif
}

FIXTURE(bpf)
{
	struct result *result;
	int map;
	int prog;
	int link;
};

FIXTURE_VARIANT(bpf)
{
	bool sleepable;
	bool task;
	unsigned int skip;
};

FIXTURE_VARIANT_ADD(bpf, sleepable) {
	.sleepable = true,
};

FIXTURE_VARIANT_ADD(bpf, sleepable_skip) {
	.sleepable = true, .skip = 2,
};

FIXTURE_VARIANT_ADD(bpf, sleepable_task) {
	.sleepable = true, .task = true,
};

FIXTURE_VARIANT_ADD(bpf, atomic) {
	.sleepable = false,
};

FIXTURE_VARIANT_ADD(bpf, atomic_task) {
	.sleepable = false, .task = true,
};

static int write_sysctl(const char *value)
{
	int fd = open(SYSCTL, O_WRONLY);
	int ret = fd < 0 || write(fd, value, 1) != 1 ? -1 : 0;

	close(fd);
	return ret;
}

FIXTURE_SETUP(bpf)
{
	self->map = make_map();
	self->prog = -1;
	self->link = -1;
	if (write_sysctl("1") || self->map < 0)
		SKIP(return, "no kernel.unwind_in_place, no BPF, or not root");
	self->result = mmap(NULL, sizeof(*self->result), PROT_READ | PROT_WRITE,
			    MAP_SHARED, self->map, 0);
	ASSERT_NE(MAP_FAILED, self->result);
	self->prog = make_program(self->map, variant->sleepable, variant->task,
				  BPF_F_USER_STACK | variant->skip);
	if (self->prog < 0 && variant->task)
		SKIP(return, "no BTF of the kernel");
	ASSERT_LE(0, self->prog);
	self->link = attach(self->prog, (unsigned long)probed, 0);
	ASSERT_LE(0, self->link);
}

FIXTURE_TEARDOWN(bpf)
{
	close(self->link);
	close(self->prog);
	close(self->map);
}

/* Is what the program got this stack from its @skip'th frame on? */
static bool is_stack(const struct result *result, unsigned int skip,
		     const struct stack *expected)
{
	struct stack stack = {}, from = {};

	while (stack.nr * sizeof(uint64_t) < result->ret &&
	       stack.nr < SAMPLED_MAX - 1) {
		stack.ip[stack.nr] = result->ips[stack.nr];
		stack.nr++;
	}
	for (; skip < expected->nr; skip++)
		from.ip[from.nr++] = expected->ip[skip];
	return stack_is(&stack, &from);
}

static bool is_right(const struct result *result, unsigned int skip)
{
	struct stack expected;

	expect_chain(&expected, &whole);
	return is_stack(result, skip, &expected);
}

TEST_F(bpf, has_the_whole_stack)
{
	/*
	 * Not known yet: without sleeping, there is no more than asking; and who asks
	 * about a task may do so with locks held that are taken to look for tables.
	 */
	whole_run(outer, NULL, NULL);
	ASSERT_LT(0, self->result->ret);
	if (variant->sleepable && !variant->task)
		EXPECT_TRUE(is_right(self->result, variant->skip));

	self->result->ret = 0;
	whole_run(outer, NULL, NULL);
	ASSERT_LT(0, self->result->ret);
	EXPECT_TRUE(is_right(self->result, variant->skip));

	/* As it was, where nothing leads on but frame pointers, which lie */
	ASSERT_EQ(0, write_sysctl("0"));
	self->result->ret = -1;
	whole_run(outer, NULL, NULL);
	ASSERT_EQ(0, write_sysctl("1"));
	EXPECT_EQ(size_by_fp(variant->skip), self->result->ret);
}

/* Functions that are to be left by way of the kernel return to elsewhere */
TEST_F(bpf, sees_no_uretprobes)
{
	int i, map, prog, link[2];
	struct stack expected;

	map = make_map();
	prog = make_program(map, false, false, BPF_F_USER_STACK);
	ASSERT_LE(0, prog);
	whole_run(outer, NULL, NULL);
	whole_run(outer, NULL, NULL);
	ASSERT_TRUE(is_right(self->result, variant->skip));
	expect_chain(&expected, &whole);

	link[0] = attach(prog, (unsigned long)outer, BPF_F_UPROBE_MULTI_RETURN);
	link[1] = attach(prog, (unsigned long)inner, BPF_F_UPROBE_MULTI_RETURN);
	for (i = 0; i < 3; i++) {
		ASSERT_LE(0, link[i % 2]);
		self->result->ret = 0;
		whole_run(outer, NULL, NULL);
		EXPECT_TRUE(is_stack(self->result, variant->skip, &expected));
		/* The program sees where it really returns to */
		EXPECT_FALSE(is_right(self->result, variant->skip));
	}
	close(link[0]);
	close(link[1]);
	close(prog);
	close(map);
}

TEST_HARNESS_MAIN
