// SPDX-License-Identifier: GPL-2.0
/*
 * User stacks for BPF programs: bpf_get_stack(), bpf_get_task_stack(), and the deferred
 * stacks of BPF_F_USER_DEFER.
 *
 * The programs are a few instructions each, written here as instructions.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf.h"
#include "bpf_session.h"
#include "ftrace.h"
#include "image.h"
#include "waiter.h"
#include "whole.h"
#include "../../kselftest_harness.h"

/*
 * bpf_get_stack() and bpf_get_task_stack()
 *
 * A uprobe attaches the programs to a function of this program. They get the whole stack
 * if the tables are loaded, so from the second call on. Sleepable programs wait for a
 * table as little as others do. The programs leave the stack and the helper's return value
 * in a map that is mapped here.
 */

#define SYSCTL		"/proc/sys/kernel/unwind_immediate"
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

/* @task: use bpf_get_task_stack(), with the current task */
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

/* The offset of a program address in the program's file, or 0 */
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
 * Bytes of the stack by the frame pointer that whole_run() begins with: it leads in a
 * circle, or to one record
 */
static long size_by_fp(unsigned int skip)
{
#if defined(__x86_64__)
	return IPS_SIZE;
#else
	return (2 - skip) * sizeof(uint64_t);
#endif
}

FIXTURE(immediate)
{
	struct result *result;
	int map;
	int prog;
	int link;
};

FIXTURE_VARIANT(immediate)
{
	bool sleepable;
	bool task;
	unsigned int skip;
};

FIXTURE_VARIANT_ADD(immediate, sleepable) {
	.sleepable = true,
};

FIXTURE_VARIANT_ADD(immediate, sleepable_skip) {
	.sleepable = true, .skip = 2,
};

FIXTURE_VARIANT_ADD(immediate, sleepable_task) {
	.sleepable = true, .task = true,
};

FIXTURE_VARIANT_ADD(immediate, atomic) {
	.sleepable = false,
};

FIXTURE_VARIANT_ADD(immediate, atomic_task) {
	.sleepable = false, .task = true,
};

static int write_sysctl(const char *value)
{
	int fd = open(SYSCTL, O_WRONLY);
	int ret = fd < 0 || write(fd, value, 1) != 1 ? -1 : 0;

	close(fd);
	return ret;
}

FIXTURE_SETUP(immediate)
{
	self->map = make_map();
	self->prog = -1;
	self->link = -1;
	if (write_sysctl("1") || self->map < 0)
		SKIP(return, "no kernel.unwind_immediate, no BPF, or not root");
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

FIXTURE_TEARDOWN(immediate)
{
	close(self->link);
	close(self->prog);
	close(self->map);
}

/* Is it this stack, from its @skip'th frame on? */
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

TEST_F(immediate, has_whole_stack)
{
	/* The table may not be loaded yet: then this requests it */
	whole_run(outer, NULL, NULL);
	ASSERT_LT(0, self->result->ret);

	self->result->ret = 0;
	whole_run(outer, NULL, NULL);
	ASSERT_LT(0, self->result->ret);
	EXPECT_TRUE(is_right(self->result, variant->skip));

	/* Like without tables: only frame pointers continue the stack, and they are false */
	ASSERT_EQ(0, write_sysctl("0"));
	self->result->ret = -1;
	whole_run(outer, NULL, NULL);
	ASSERT_EQ(0, write_sysctl("1"));
	EXPECT_EQ(size_by_fp(variant->skip), self->result->ret);
}

/* With uretprobes, functions return to the kernel's trampoline */
TEST_F(immediate, shows_no_uretprobes)
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
		/* The program itself sees the trampoline's address */
		EXPECT_FALSE(is_right(self->result, variant->skip));
	}
}

/*
 * Deferred stacks: one program requests and reports its cookie; another receives the
 * stacks, as struct bpf_unwind_ops. The kernel delivers each cookie once, with the stack
 * that the task had, and nothing else.
 */

#define CALLS		100

#ifdef __x86_64__
#define SYSCALL(name)	"__x64_sys_" name
#else
#define SYSCALL(name)	"__arm64_sys_" name
#endif

/* Events at which programs request stacks */

ASM_LABEL(touches_at);

/* A page fault, at a label */
static void touch(char *page)
{
	whole_note_ra();
	whole_note((unsigned long)touches_at);
#ifdef __x86_64__
	asm volatile("touches_at: movb $1, (%0)" : : "r"(page) : "memory");
#else
	asm volatile("touches_at: strb wzr, [%0]" : : "r"(page) : "memory");
#endif
}

static void outer_touch(void *page)
{
	char locals[48];

	asm volatile("" : : "r"(locals) : "memory");
	whole_note_ra();
	touch(page);
	asm volatile("" : : "r"(locals) : "memory");
}

/* A bpf system call that runs programs, which may be sleepable */
static union bpf_attr run_attr;

static void run(void)
{
	unsigned long ip;

	whole_note_ra();
	syscall3_at(SYS_bpf, BPF_PROG_TEST_RUN, (long)&run_attr,
		    sizeof(run_attr), &ip);
	whole_note(ip);
}

static void outer_run(void *arg)
{
	char locals[64];

	asm volatile("" : : "r"(locals) : "memory");
	whole_note_ra();
	run();
	asm volatile("" : : "r"(locals) : "memory");
}

/* The same through a chain, which notes its own frames */
static void run_in_chain(struct notes *notes)
{
	(void)notes;
	whole_note_ra();
	run();
}

static void outer_chain(void *fn)
{
	char locals[64];

	asm volatile("" : : "r"(locals) : "memory");
	whole_note_ra();
	whole.next[0] = run_in_chain;
	((chain_fn)fn)(&whole);
	asm volatile("" : : "r"(locals) : "memory");
}

/* Requests from each type of program */

FIXTURE(request)
{
	struct session session;
	struct perf_event_attr faults;
	char *pages;
};

FIXTURE_VARIANT(request)
{
	struct bpf_asker asker;
	void (*fn)(void *arg);
};

FIXTURE_VARIANT_ADD(request, kprobe) {
	.asker = { .at = BPF_AT_KPROBE, .where = SYSCALL("getppid") },
	.fn = call_getppid,
};

FIXTURE_VARIANT_ADD(request, tracepoint) {
	.asker = { .at = BPF_AT_TRACEPOINT, .where = "raw_syscalls/sys_enter",
		   .syscall = SYS_getppid },
	.fn = call_getppid,
};

FIXTURE_VARIANT_ADD(request, raw_tp) {
	.asker = { .at = BPF_AT_RAW_TP, .where = "sys_enter",
		   .syscall = SYS_getppid },
	.fn = call_getppid,
};

/* The verifier cannot see at load time that it requests stacks */
FIXTURE_VARIANT_ADD(request, flags_not_known) {
	.asker = { .at = BPF_AT_RAW_TP, .where = "sys_enter",
		   .syscall = SYS_getppid, .hide_flags = true },
	.fn = call_getppid,
};

FIXTURE_VARIANT_ADD(request, fentry) {
	.asker = { .at = BPF_AT_FENTRY, .where = "bpf_fentry_test1" },
	.fn = outer_run,
};

FIXTURE_VARIANT_ADD(request, fentry_sleepable) {
	.asker = { .at = BPF_AT_FENTRY_SLEEPABLE, .where = "bpf_fentry_test1" },
	.fn = outer_run,
};

FIXTURE_VARIANT_ADD(request, perf_event) {
	.asker = { .at = BPF_AT_PERF_EVENT },
	.fn = outer_touch,
};

FIXTURE_SETUP(request)
{
	const size_t bytes = CALLS * getpagesize();
	struct bpf_asker asker = variant->asker;

	if (session_open(&self->session)) {
		ASSERT_EQ(true, errno == ENOENT || errno == EPERM);
		SKIP(return, "no deferred stacks for BPF, or not root");
	}
	self->pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->pages);
	madvise(self->pages, bytes, MADV_NOHUGEPAGE);

	self->faults = (struct perf_event_attr){
		.size = sizeof(self->faults),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.disabled = 1,
		.exclude_kernel = 1,
	};
	if (asker.at == BPF_AT_PERF_EVENT) {
		asker.event = &self->faults;
		asker.about = self->pages;
		asker.about_bytes = bytes;
	}
	asker.tgid = getpid();
	asker.flags = DEFER;
	ASSERT_EQ(0, bpf_asker_open(&self->session.asker, &asker,
				    &self->session.ring));
	memset(&run_attr, 0, sizeof(run_attr));
	run_attr.test.prog_fd = self->session.asker.prog;
}

FIXTURE_TEARDOWN(request)
{
	session_close(&self->session);
}

/* Requests and stacks that do not belong to the test's own call */
static void forget(struct session *session)
{
	struct bpf_event event;

	while (bpf_ring_next(&session->ring, &event, false))
		continue;
}

TEST_F(request, delivers_each_cookie_once)
{
	uint64_t cookie, last = 0;
	int i;

	for (i = 0; i < CALLS; i++) {
		forget(&self->session);
		whole_run(variant->fn, self->pages + i * getpagesize(), NULL);
		cookie = asked_once(&self->session);
		ASSERT_NE(0, cookie);
		EXPECT_NE(last, cookie);
		last = cookie;
	}
}

/*
 * Programs that may sleep get immediate stacks like others: they do not wait for tables,
 * whatever locks are held, and nothing is deferred. The first stack, of a file that the
 * kernel has never met, has no table and requests it.
 */
TEST(sleepable_fentry_has_whole_stack)
{
	struct bpf_asker asker = {
		.at = BPF_AT_FENTRY_SLEEPABLE,
		.where = "bpf_fentry_test1",
		.tgid = getpid(),
		.flags = BPF_F_USER_STACK,
		.take = true,
	};
	struct bpf_attached attached;
	struct bpf_event event = {};
	struct bpf_ring ring;
	struct image image;
	chain_fn fn;
	int i;

	if (bpf_ring_open(&ring, RING_SIZE) ||
	    bpf_asker_open(&attached, &asker, &ring) || write_sysctl("1"))
		SKIP(return, "no BPF, no kernel.unwind_immediate, or not root");
	memset(&run_attr, 0, sizeof(run_attr));
	run_attr.test.prog_fd = attached.prog;
	fn = image_load(&image, "chain_table.so");
	ASSERT_NE(NULL, fn);
	for (i = 0; i < 3; i++) {
		whole_run(outer_chain, fn, NULL);
		ASSERT_TRUE(bpf_ring_next(&ring, &event, false));
		EXPECT_EQ(BPF_TAKEN, event.kind);
		EXPECT_EQ(i > 0, is_noted(&event));
	}
}

/* Refused requests */

FIXTURE(refused)
{
	struct session session;
};

FIXTURE_SETUP(refused)
{
	if (session_open(&self->session))
		SKIP(return, "no deferred stacks for BPF, or not root");
}

FIXTURE_TEARDOWN(refused)
{
	session_close(&self->session);
}

/* The result of a program's request at a system call of this process, or 1 */
static long answer(struct session *session, uint64_t flags)
{
	struct bpf_asker asker = {
		.at = BPF_AT_RAW_TP, .where = "sys_enter",
		.tgid = getpid(), .syscall = SYS_getppid,
		.flags = flags,
	};
	struct bpf_event event;
	long ret = 1;

	if (!bpf_asker_open(&session->asker, &asker, &session->ring)) {
		syscall(SYS_getppid);
		if (bpf_ring_next(&session->ring, &event, false))
			ret = event.ret;
	}
	bpf_attached_close(&session->asker);
	return ret;
}

TEST_F(refused, other_flags_return_einval)
{
	static const uint64_t others[] = {
		BPF_F_USER_DEFER,
		DEFER | 1,
		DEFER | BPF_F_SKIP_FIELD_MASK,
		DEFER | BPF_F_USER_BUILD_ID,
		DEFER | BPF_F_FAST_STACK_CMP,
		DEFER | BPF_F_REUSE_STACKID,
		DEFER | BPF_F_USER_DEFER << 1,
	};
	struct bpf_event event;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		EXPECT_EQ(-EINVAL, answer(&self->session, others[i]));
	EXPECT_FALSE(bpf_ring_next(&self->session.ring, &event, false));
	/* And an accepted request */
	EXPECT_EQ(sizeof(uint64_t), answer(&self->session, DEFER));
	ASSERT_TRUE(bpf_ring_next(&self->session.ring, &event, false));
	EXPECT_EQ(BPF_DELIVERED, event.kind);
}

/* The idle task */
TEST_F(refused, tasks_without_a_user_stack_get_no_cookie)
{
	struct bpf_asker asker = {
		.at = BPF_AT_RAW_TP, .where = "sched_switch", .flags = DEFER,
	};
	struct bpf_event event = {};
	int i;

	ASSERT_EQ(0, bpf_asker_open(&self->session.asker, &asker,
				    &self->session.ring));
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(bpf_ring_next(&self->session.ring, &event, true));
		EXPECT_EQ(BPF_ASKED, event.kind);
		EXPECT_EQ(-ENOENT, event.ret);
		EXPECT_EQ(0, event.cookie);
	}
}

/* bpf_unwind_stack() with flags */

FIXTURE(copied)
{
	struct session session;
	struct bpf_event event;
};

FIXTURE_SETUP(copied)
{
	struct bpf_asker asker = {
		.at = BPF_AT_RAW_TP, .where = "sys_enter",
		.tgid = getpid(), .syscall = SYS_getppid, .flags = DEFER,
	};

	if (session_open(&self->session))
		SKIP(return, "no deferred stacks for BPF, or not root");
	bpf_attached_close(&self->session.deliver);
	ASSERT_EQ(0, bpf_asker_open(&self->session.asker, &asker, &self->session.ring));
}

FIXTURE_TEARDOWN(copied)
{
	session_close(&self->session);
}

/* Copy the noted stack with these flags; the function's result, or 1 */
static int copied(struct _test_data_copied *self, uint64_t flags)
{
	int ret = 1;

	if (bpf_deliver_open(&self->session.deliver, flags, &self->session.ring))
		return ret;
	whole_run(call_getppid, NULL, NULL);
	while (bpf_ring_next(&self->session.ring, &self->event, false))
		if (self->event.kind == BPF_DELIVERED)
			/* Of the register that has it, the upper half may be anything */
			ret = self->event.ret;
	bpf_attached_close(&self->session.deliver);
	return ret;
}

TEST_F(copied, stack_without_inner_frames_begins_further_up)
{
	struct stack expected;

	ASSERT_LT(0, copied(self, 2));
	expect_chain(&expected, &whole);
	EXPECT_EQ((expected.nr - 2) * sizeof(uint64_t), self->event.ret);
	EXPECT_EQ(expected.ip[2], self->event.ips[0]);
	EXPECT_EQ(expected.ip[expected.nr - 1], self->event.ips[expected.nr - 3]);
}

TEST_F(copied, skip_of_all_frames_returns_efault)
{
	EXPECT_EQ(-EFAULT, copied(self, BPF_F_SKIP_FIELD_MASK));
	EXPECT_EQ(0, self->event.ips[0]);
}

TEST_F(copied, unknown_flags_return_einval)
{
	EXPECT_EQ(-EINVAL, copied(self, BPF_F_USER_STACK));
	EXPECT_EQ(-EINVAL, copied(self, BPF_F_USER_DEFER));
	EXPECT_EQ(0, self->event.ips[0]);
}

TEST_F(copied, stack_with_build_ids_has_places_in_files)
{
	const struct bpf_stack_build_id *places = (const void *)self->event.ips;
	struct stack expected;
	unsigned int i;

	ASSERT_LT(0, copied(self, BPF_F_USER_BUILD_ID));
	expect_chain(&expected, &whole);
	EXPECT_EQ(expected.nr * sizeof(*places), self->event.ret);
	for (i = 0; i < expected.nr; i++) {
		struct ftrace_frame place;

		ASSERT_EQ(BPF_STACK_BUILD_ID_VALID, places[i].status);
		ASSERT_TRUE(ftrace_place(expected.ip[i], &place));
		EXPECT_EQ(place.offset, places[i].offset);
		EXPECT_EQ(0, memcmp(places[0].build_id, places[i].build_id,
				    sizeof(places[i].build_id)));
	}
	EXPECT_EQ(BPF_STACK_BUILD_ID_EMPTY, places[i].status);
}

/* In addition to perf: each has the stacks that it requested */
#define A	SYS_getppid
#define B	SYS_getuid
#define C	SYS_getgid

FIXTURE(two_programs)
{
	struct session session;
	struct bpf_attached more;
	struct sampler sampler;
};

FIXTURE_SETUP(two_programs)
{
	struct bpf_asker asker = {
		.at = BPF_AT_RAW_TP, .where = "sys_enter", .tgid = getpid(),
		.flags = DEFER,
	};
	char filter[64];

	self->sampler.fd = -1;
	self->more = (struct bpf_attached){ -1, -1 };
	if (session_open(&self->session))
		SKIP(return, "no deferred stacks for BPF, or not root");
	asker.syscall = B;
	ASSERT_EQ(0, bpf_asker_open(&self->session.asker, &asker,
				    &self->session.ring));
	asker.syscall = C;
	ASSERT_EQ(0, bpf_asker_open(&self->more, &asker, &self->session.ring));
	snprintf(filter, sizeof(filter), "id == %d || id == %d", A, C);
	ASSERT_EQ(0, sampler_open_tracepoint(&self->sampler, 0,
					     "raw_syscalls/sys_enter", filter));
}

FIXTURE_TEARDOWN(two_programs)
{
	sampler_close(&self->sampler);
	bpf_attached_close(&self->more);
	session_close(&self->session);
}

/* Does perf have the same stack with this cookie, to the last address? */
static bool perf_has(const struct records *recs, const struct bpf_event *event)
{
	const struct record *rec = records_stack(recs, event->cookie);
	int64_t size;

	if (!rec)
		return false;
	size = rec->nr * sizeof(*rec->ips);
	return rec->nr && size == event->ret &&
	       !memcmp(rec->ips, event->ips, size);
}

TEST_F(two_programs, get_what_they_asked_for)
{
	static const long calls[] = { A, B, C, C, B, A, A, C };
	uint64_t asked[2 * ARRAY_SIZE(calls)];
	int i, j, of_both, nr_asked = 0, nr_delivered = 0;
	struct records recs = {};
	struct bpf_event event;

	for (i = 0; i < CALLS; i++) {
		of_both = 0;
		nr_asked = 0;
		nr_delivered = 0;
		for (j = 0; j < ARRAY_SIZE(calls); j++)
			syscall(calls[j]);
		ASSERT_EQ(0, records_read(&recs, &self->sampler.ring));
		EXPECT_EQ(6, records_count(&recs, PERF_RECORD_SAMPLE));
		EXPECT_EQ(6, records_count(&recs, PERF_RECORD_CALLCHAIN_DEFERRED));
		EXPECT_TRUE(records_match(&recs, NULL));
		while (bpf_ring_next(&self->session.ring, &event, false)) {
			if (event.kind == BPF_ASKED) {
				ASSERT_GT(ARRAY_SIZE(asked), nr_asked);
				asked[nr_asked++] = event.cookie;
				continue;
			}
			/* In the order of the entries */
			ASSERT_LT(nr_delivered, nr_asked);
			EXPECT_EQ(asked[nr_delivered], event.cookie);
			nr_delivered++;
			of_both += perf_has(&recs, &event);
		}
		EXPECT_EQ(5, nr_asked);
		EXPECT_EQ(5, nr_delivered);
		EXPECT_EQ(3, of_both);
		records_free(&recs);
	}
}

/*
 * Tasks that sleep. Meanwhile the task may be killed, and all programs gone.
 */

FIXTURE(asleep)
{
	struct session session;
	struct waiter waiter;
	int pipe[2];
};

FIXTURE_VARIANT(asleep)
{
	bool futex;
};

FIXTURE_VARIANT_ADD(asleep, read) {
	.futex = false,
};

FIXTURE_VARIANT_ADD(asleep, futex) {
	.futex = true,
};

/* The program makes a request whenever the task is switched away from */
FIXTURE_SETUP(asleep)
{
	struct bpf_asker asker = {
		.at = BPF_AT_RAW_TP, .where = "sched_switch", .flags = DEFER,
	};
	struct waiter_call call;
	static char c;

	ASSERT_EQ(0, waiter_init(&self->waiter));
	ASSERT_EQ(0, pipe(self->pipe));
	if (session_open(&self->session))
		SKIP(return, "no deferred stacks for BPF, or not root");
	waiter_futex_call(&self->waiter, &call);
	if (!variant->futex)
		call = (struct waiter_call){
			SYS_read, { self->pipe[0], (long)&c, 1 },
		};
	ASSERT_EQ(0, waiter_start(&self->waiter, &call));
	asker.tgid = self->waiter.pid;
	ASSERT_EQ(0, bpf_asker_open(&self->session.asker, &asker, &self->session.ring));
	ASSERT_EQ(0, waiter_sleep(&self->waiter, 'S'));
}

FIXTURE_TEARDOWN(asleep)
{
	waiter_free(&self->waiter);
	session_close(&self->session);
}

static void wake(struct _test_data_asleep *self)
{
	waiter_futex_wake(&self->waiter);
	if (write(self->pipe[1], "", 1) != 1)
		perror("write");
}

/* The cookie of the last request, of the entry that sleeps; or 0 */
static uint64_t last_asked(struct _test_data_asleep *self)
{
	struct bpf_event event;
	uint64_t cookie = 0;

	while (bpf_ring_next(&self->session.ring, &event, false))
		if (event.kind == BPF_ASKED)
			cookie = event.cookie;
	return cookie;
}

/* Number of deliveries of the cookie; -1 if one has a wrong stack */
static int deliveries(struct _test_data_asleep *self, uint64_t cookie)
{
	struct stack stack, expected;
	struct bpf_event event;
	int nr = 0;

	waiter_stack(&self->waiter, &expected);
	while (bpf_ring_next(&self->session.ring, &event, false)) {
		if (event.kind != BPF_DELIVERED || event.cookie != cookie)
			continue;
		bpf_event_stack(&event, &stack);
		if (!stack_is(&stack, &expected))
			return -1;
		nr++;
	}
	return nr;
}

TEST_F(asleep, task_gets_its_stack_when_it_wakes)
{
	uint64_t cookie = last_asked(self);

	ASSERT_NE(0, cookie);
	EXPECT_EQ(0, deliveries(self, cookie));
	wake(self);
	waiter_end(&self->waiter);
	EXPECT_EQ(1, deliveries(self, cookie));
}

TEST_F(asleep, task_gets_its_stack_when_it_is_killed)
{
	uint64_t cookie = last_asked(self);

	ASSERT_NE(0, cookie);
	kill(self->waiter.pid, SIGKILL);
	waiter_end(&self->waiter);
	waiter_taken_back(&self->waiter);
	EXPECT_EQ(1, deliveries(self, cookie));
}

/* Close the programs that requested, and the one that receives the stacks */
TEST_F(asleep, task_outlives_its_programs)
{
	struct bpf_asker asker = {
		.at = BPF_AT_RAW_TP, .where = "sys_enter",
		.tgid = getpid(), .syscall = SYS_getppid, .flags = DEFER,
	};

	session_close(&self->session);
	wake(self);
	waiter_end(&self->waiter);

	/* Open them again */
	ASSERT_EQ(0, session_open(&self->session));
	ASSERT_EQ(0, bpf_asker_open(&self->session.asker, &asker,
				    &self->session.ring));
	whole_run(call_getppid, NULL, NULL);
	EXPECT_NE(0, asked_once(&self->session));
}

/*
 * A task in which the program that gets stacks sleeps, for as long as another task likes:
 * the second thread of the child knows of a page fault, and does not answer it.
 */

struct blocked {
	int	go[2];
	int	faulted[2];
	void	*page;
};

/*
 * A task asks by changing its name.  Where programs may sleep, as in sys_enter from 6.13 on, one
 * that goes waits for all that sleep.
 */
static void *make_call(void *arg)
{
	const struct blocked *blocked = arg;
	char c;

	if (read(blocked->go[0], &c, 1) == 1)
		prctl(PR_SET_NAME, "asleep");
	return NULL;
}

static void blocked_child(const struct blocked *blocked)
{
	const size_t size = getpagesize();
	struct uffdio_register reg = {
		.range = { (uintptr_t)blocked->page, size },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct uffdio_api api = { .api = UFFD_API };
	struct uffd_msg msg;
	pthread_t thread;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	madvise(blocked->page, size, MADV_DONTNEED);
	fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg) ||
	    pthread_create(&thread, NULL, make_call, (void *)blocked) ||
	    read(fd, &msg, sizeof(msg)) != sizeof(msg) ||
	    write(blocked->faulted[1], "", 1) != 1)
		_exit(1);
	pause();
}

TEST(programs_go_while_one_sleeps_in_a_task)
{
	struct bpf_asker asker = {
		.at = BPF_AT_RAW_TP, .where = "task_rename", .flags = DEFER,
	}, other = {
		.at = BPF_AT_RAW_TP, .where = "sys_enter", .syscall = SYS_getppid,
		.tgid = getpid(), .flags = DEFER,
	};
	struct bpf_attached reader;
	struct session session;
	struct blocked blocked;
	uint32_t id;
	pid_t pid;
	char c;

	ASSERT_EQ(0, pipe(blocked.go));
	ASSERT_EQ(0, pipe(blocked.faulted));
	blocked.page = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, blocked.page);
	if (session_open(&session) || bpf_reader_open(&reader, blocked.page))
		SKIP(return, "no deferred stacks for BPF, or not root");
	pid = fork();
	if (!pid)
		blocked_child(&blocked);
	asker.tgid = pid;
	ASSERT_EQ(0, bpf_asker_open(&session.asker, &asker, &session.ring));
	id = bpf_prog_id(session.asker.prog);
	ASSERT_EQ(1, write(blocked.go[1], "", 1));
	close(blocked.faulted[1]);
	ASSERT_EQ(1, read(blocked.faulted[0], &c, 1));

	bpf_attached_close(&reader);
	session_close(&session);
	while (!bpf_prog_is_gone(id))
		sched_yield();
	/* Others come, and have their stacks */
	ASSERT_EQ(0, session_open(&session));
	ASSERT_EQ(0, bpf_asker_open(&session.asker, &other, &session.ring));
	whole_run(call_getppid, NULL, NULL);
	EXPECT_NE(0, asked_once(&session));
	session_close(&session);

	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
}

TEST_HARNESS_MAIN
