// SPDX-License-Identifier: GPL-2.0
/*
 * prctl(PR_UNWIND_SELF): a thread is asked for its own frames, and answers.
 *
 * The test counts getppid() of a thread whose handler knows what is called. Each request has
 * an outcome, which debugfs counts. Whatever the outcome, the native stack is delivered, and
 * the program does not see a difference.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <linux/unwind.h>

#include "call.h"
#include "perf.h"
#include "../../kselftest_harness.h"

#define PAGES		64
#define STACK_SIZE	65536
#define APART		0xffff
#define SIGNAL		(SIGRTMIN + 3)
#define OUTCOMES	"/sys/kernel/debug/unwind/self"

static int self_call(unsigned long op, const void *attr, size_t size)
{
	return syscall(SYS_prctl, PR_UNWIND_SELF, op, attr, size, 0) < 0 ? -errno : 0;
}

static char alternate_stack[STACK_SIZE];

static struct unwind_self_attr default_attr(void)
{
	return (struct unwind_self_attr){
		.signal = SIGNAL,
		.stack_start = (uintptr_t)alternate_stack,
		.stack_size = STACK_SIZE,
		.timeout = UNWIND_SELF_TIMEOUT_MAX,
	};
}

static int enable(const struct unwind_self_attr *attr)
{
	return self_call(PR_UNWIND_SELF_ENABLE, attr, sizeof(*attr));
}

static int disable(void)
{
	return self_call(PR_UNWIND_SELF_DISABLE, NULL, 0);
}

static int submit(const struct unwind_self_answer *answer)
{
	return self_call(PR_UNWIND_SELF_ANSWER, answer, sizeof(*answer));
}

/*
 * The call
 */

TEST(version_returns_the_abi_version)
{
	EXPECT_EQ(UNWIND_SELF_ABI_VERSION,
		  syscall(SYS_prctl, PR_UNWIND_SELF, PR_UNWIND_SELF_VERSION, NULL, 0, 0));
	EXPECT_EQ(-EINVAL, self_call(PR_UNWIND_SELF_VERSION, NULL, 1));
	EXPECT_EQ(-EINVAL, self_call(PR_UNWIND_SELF_VERSION, alternate_stack, 0));
}

TEST(unknown_operation_returns_einval)
{
	const struct unwind_self_attr attr = default_attr();

	EXPECT_EQ(-EINVAL, self_call(0, &attr, sizeof(attr)));
	EXPECT_EQ(-EINVAL, self_call(PR_UNWIND_SELF_VERSION + 1, &attr, sizeof(attr)));
	EXPECT_EQ(-1, syscall(SYS_prctl, PR_UNWIND_SELF, PR_UNWIND_SELF_ENABLE, &attr,
			      sizeof(attr), 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-ENOENT, disable());
}

TEST(layout_is_that_of_version_0)
{
	EXPECT_EQ(UNWIND_SELF_ATTR_SIZE_VER0, sizeof(struct unwind_self_attr));
	EXPECT_EQ(8, offsetof(struct unwind_self_attr, stack_start));
	EXPECT_EQ(24, offsetof(struct unwind_self_attr, interval));
	EXPECT_EQ(UNWIND_SELF_ANSWER_SIZE_VER0, sizeof(struct unwind_self_answer));
	EXPECT_EQ(16, offsetof(struct unwind_self_answer, nr));
	EXPECT_EQ(48, sizeof(struct unwind_self_frame));
	EXPECT_EQ(32, offsetof(struct unwind_self_frame, check));
}

TEST(size_is_checked)
{
	struct {
		union {
			struct unwind_self_attr		attr;
			struct unwind_self_answer	answer;
		};
		char	tail[5000];
	} longer = { .attr = default_attr() };
	const size_t size = sizeof(longer.attr);

	EXPECT_EQ(-EINVAL, self_call(PR_UNWIND_SELF_ENABLE, &longer, size - 1));
	EXPECT_EQ(-E2BIG, self_call(PR_UNWIND_SELF_ENABLE, &longer, sizeof(longer)));
	longer.tail[7] = 1;
	EXPECT_EQ(-E2BIG, self_call(PR_UNWIND_SELF_ENABLE, &longer, size + 8));
	EXPECT_EQ(0, self_call(PR_UNWIND_SELF_ENABLE, &longer, size + 7));
	EXPECT_EQ(-EINVAL, self_call(PR_UNWIND_SELF_ANSWER, &longer, size - 1));
	EXPECT_EQ(-E2BIG, self_call(PR_UNWIND_SELF_ANSWER, &longer, sizeof(longer)));
	EXPECT_EQ(-E2BIG, self_call(PR_UNWIND_SELF_ANSWER, &longer, size + 8));
	EXPECT_EQ(0, disable());
}

TEST(unreadable_structure_returns_efault)
{
	const struct unwind_self_attr attr = default_attr();

	EXPECT_EQ(-EFAULT, self_call(PR_UNWIND_SELF_ENABLE, NULL, sizeof(attr)));
	EXPECT_EQ(0, enable(&attr));
	EXPECT_EQ(-EFAULT, self_call(PR_UNWIND_SELF_ANSWER, NULL,
				     sizeof(struct unwind_self_answer)));
	EXPECT_EQ(0, disable());
}

#define EXPECT_REFUSED(error, field, value) do {			\
	struct unwind_self_attr __attr = default_attr();		\
									\
	__attr.field = (value);						\
	EXPECT_EQ(error, enable(&__attr))				\
		TH_LOG(#field " = " #value);				\
	EXPECT_EQ(-ENOENT, disable());					\
} while (0)

TEST(attr_that_makes_no_sense_is_refused)
{
	EXPECT_REFUSED(-EINVAL, signal, 0);
	EXPECT_REFUSED(-EINVAL, signal, SIGUSR1);
	EXPECT_REFUSED(-EINVAL, signal, 65);
	EXPECT_REFUSED(-EINVAL, flags, 1);
	EXPECT_REFUSED(-EINVAL, timeout, 0);
	EXPECT_REFUSED(-EINVAL, timeout, UNWIND_SELF_TIMEOUT_MAX + 1);
	EXPECT_REFUSED(-EFAULT, stack_start, 0xffff888000000000ULL);
	EXPECT_REFUSED(-EFAULT, stack_size, -1ULL);
	EXPECT_REFUSED(-ENOSPC, stack_size, 0);
	EXPECT_REFUSED(-ENOSPC, stack_size, getauxval(AT_MINSIGSTKSZ));
}

TEST(second_enable_returns_eexist)
{
	const struct unwind_self_attr attr = default_attr();

	EXPECT_EQ(0, enable(&attr));
	EXPECT_EQ(-EEXIST, enable(&attr));
	EXPECT_EQ(0, disable());
	EXPECT_EQ(-ENOENT, disable());
	EXPECT_EQ(-EINVAL, self_call(PR_UNWIND_SELF_DISABLE, &attr, 0));
	EXPECT_EQ(-EINVAL, self_call(PR_UNWIND_SELF_DISABLE, NULL, 1));
}

TEST(answer_without_a_request_returns_esrch)
{
	const struct unwind_self_attr attr = default_attr();
	const struct unwind_self_answer answer = { .nonce = 1, .format = UNWIND_SELF_NAMES };

	EXPECT_EQ(-ENOENT, submit(&answer));
	EXPECT_EQ(0, enable(&attr));
	EXPECT_EQ(-ESRCH, submit(&answer));
	EXPECT_EQ(0, disable());
}

/*
 * Requests
 */

/* The handler: its task, and the facts that it has noted */
static struct unwind_self_answer answer;
static struct unwind_self_frame frames[UNWIND_SELF_FRAMES + 1];
static int (*in_handler)(void);
static int nr_handled, answered, code;
static unsigned long context_ip;

static void on_request(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	int saved = errno;

	nr_handled++;
	code = info->si_code;
#ifdef __x86_64__
	context_ip = uc->uc_mcontext.gregs[REG_RIP];
#else
	context_ip = uc->uc_mcontext.pc;
#endif
	answer.nonce = (uintptr_t)info->si_value.sival_ptr;
	answered = in_handler ? in_handler() : submit(&answer);
	errno = saved;
}

static int install(int flags)
{
	struct sigaction action = {
		.sa_sigaction = on_request,
		.sa_flags = flags,
	};

	return sigaction(SIGNAL, &action, NULL);
}

static int set_stack(void *stack, size_t size)
{
	const stack_t alternate = { .ss_sp = stack, .ss_size = size };

	return sigaltstack(&alternate, NULL);
}

struct runtime_frame {
	uint64_t	function;
	uint32_t	check;
	uint16_t	place;
	uint16_t	runtime;
};

FIXTURE(request)
{
	struct perf_event_attr event;
	struct unwind_self_attr attr;
	struct ring ring;
	struct records recs;
	int fd;
};

/* Count a system call of the calling thread */
static int open_event_of(struct _test_data_request *data, long nr)
{
	data->fd = event_open(&data->event, 0, -1);
	if (data->fd < 0)
		return -errno;
	return event_filter_syscall(data->fd, nr) ?:
	       ring_map(&data->ring, data->fd, PAGES) ?: event_enable(data->fd);
}

static int open_event(struct _test_data_request *data)
{
	return open_event_of(data, SYS_getppid);
}

FIXTURE_SETUP(request)
{
	int i;

	self->fd = -1;
	nr_handled = 0;
	in_handler = NULL;
	for (i = 0; i <= UNWIND_SELF_FRAMES; i++)
		frames[i] = (struct unwind_self_frame){ .function = 1000 + i };
	answer = (struct unwind_self_answer){
		.format = UNWIND_SELF_NAMES,
		.frames = (uintptr_t)frames,
		.nr = 2,
	};
	self->attr = default_attr();
	if (tracepoint_attr(&self->event, "raw_syscalls/sys_enter") || access(OUTCOMES, R_OK))
		SKIP(return, "no raw_syscalls tracepoints, or not root");
	self->event.defer_runtime = 1;
	ASSERT_EQ(0, set_stack(alternate_stack, STACK_SIZE));
	ASSERT_EQ(0, install(SA_SIGINFO | SA_ONSTACK));
	ASSERT_EQ(0, open_event(self));
	ASSERT_EQ(0, enable(&self->attr));
}

FIXTURE_TEARDOWN(request)
{
	disable();
	records_free(&self->recs);
	ring_unmap(&self->ring);
	if (self->fd >= 0)
		close(self->fd);
}

/* How often an outcome was recorded since boot */
static unsigned long count(const char *outcome)
{
	FILE *file = fopen(OUTCOMES, "r");
	unsigned long nr, found = 0;
	char name[64];

	while (file && fscanf(file, "%lu %63[^\n]", &nr, name) == 2) {
		if (!strcmp(name, outcome))
			found = nr;
	}
	if (file)
		fclose(file);
	return found;
}

static noinline void sample(void)
{
	unsigned long ip;

	syscall0_at(SYS_getppid, &ip);
	asm volatile("");
}

/* The frames of the only record of them, or NULL; there is one native stack with the cookie */
static const struct runtime_frame *read_frames(struct _test_data_request *data, uint64_t *nr)
{
	const struct record *rec;
	const uint64_t *words;

	*nr = 0;
	if (records_read(&data->recs, &data->ring) || !records_match(&data->recs, NULL) ||
	    records_count(&data->recs, PERF_RECORD_CALLCHAIN_RUNTIME) != 1)
		return NULL;
	rec = records_get(&data->recs, PERF_RECORD_CALLCHAIN_RUNTIME, 0);
	words = (const uint64_t *)(rec->raw + 1);
	if (!records_stack(&data->recs, words[0]))
		return NULL;
	*nr = words[1];
	return (const struct runtime_frame *)&words[2];
}

/* Name and file of a function, each with its end; or NULL */
static const char *names_of(const struct _test_data_request *data, uint64_t function)
{
	const struct record *rec;
	size_t i;

	for (i = 0; (rec = records_get(&data->recs, PERF_RECORD_RUNTIME_NAME, i)); i++) {
		if (((const uint64_t *)(rec->raw + 1))[1] == function)
			return (const char *)(rec->raw + 1) + 24;
	}
	return NULL;
}

/* A sample whose request has this outcome; the native stack is there, and no other frames */
#define EXPECT_OUTCOME(outcome) do {					\
	const char *__outcome = (outcome);				\
	const unsigned long __before = count(__outcome);		\
									\
	sample();							\
	EXPECT_EQ(__before + 1, count(__outcome));			\
	EXPECT_EQ(0, records_read(&self->recs, &self->ring));		\
	EXPECT_TRUE(records_match(&self->recs, NULL));			\
	EXPECT_EQ(1, records_count(&self->recs, PERF_RECORD_CALLCHAIN_DEFERRED)); \
	EXPECT_LT(2, records_get(&self->recs, PERF_RECORD_CALLCHAIN_DEFERRED, 0)->nr); \
	EXPECT_EQ(0, records_count(&self->recs, PERF_RECORD_CALLCHAIN_RUNTIME)); \
} while (0)

static unsigned long in_outer, in_inner;

/* Each notes an address in its own frame */
static noinline void inner(void)
{
	char here = 0;

	in_inner = (uintptr_t)&here;
	sample();
	asm volatile("" : : "r"(&here) : "memory");
}

static noinline void outer(void)
{
	char here = 0;

	in_outer = (uintptr_t)&here;
	inner();
	asm volatile("" : : "r"(&here) : "memory");
}

static int answer_with_places(void)
{
	frames[0].sp = in_inner;
	frames[1].sp = in_outer;
	return submit(&answer);
}

TEST_F(request, answer_has_its_native_frames)
{
	const unsigned long before = count("answered");
	const struct runtime_frame *found;
	const struct record *stack;
	uint64_t nr;

	in_handler = answer_with_places;
	outer();
	EXPECT_EQ(1, nr_handled);
	EXPECT_EQ(0, answered);
	EXPECT_EQ(SI_KERNEL, code);
	EXPECT_EQ(before + 1, count("answered"));
	found = read_frames(self, &nr);
	ASSERT_NE(NULL, found);
	ASSERT_EQ(2, nr);
	EXPECT_EQ(1000, found[0].function);
	EXPECT_EQ(1001, found[1].function);
	/* sample() is first: inner() and outer() called it */
	stack = records_get(&self->recs, PERF_RECORD_CALLCHAIN_DEFERRED, 0);
	EXPECT_EQ(context_ip, stack->ips[0]);
	EXPECT_EQ(1, found[0].place);
	EXPECT_EQ(2, found[1].place);
}

TEST_F(request, frames_without_an_address_stand_apart)
{
	const struct runtime_frame *found;
	uint64_t nr;

	sample();
	found = read_frames(self, &nr);
	ASSERT_EQ(2, nr);
	EXPECT_EQ(APART, found[0].place);
	EXPECT_EQ(APART, found[1].place);
}

TEST_F(request, names_and_files_are_announced)
{
	static const char name[] = "fun\xff", file[] = "lib.lang";
	const struct record *rec;
	const char *names;
	uint64_t nr;

	frames[0].name = (uintptr_t)name;
	frames[0].name_size = 4;
	frames[0].file = (uintptr_t)file;
	frames[0].file_size = 8;
	frames[0].line = 17;
	sample();
	ASSERT_NE(NULL, read_frames(self, &nr));
	names = names_of(self, 1000);
	ASSERT_NE(NULL, names);
	EXPECT_STREQ("fun?", names);
	EXPECT_STREQ("lib.lang", names + strlen(names) + 1);
	rec = records_get(&self->recs, PERF_RECORD_RUNTIME_NAME, 0);
	EXPECT_EQ(17, ((const uint32_t *)(rec->raw + 1))[5]);
	/* A function without a name */
	names = names_of(self, 1001);
	ASSERT_NE(NULL, names);
	EXPECT_STREQ("", names);
}

TEST_F(request, bytes_are_shown_with_their_tag)
{
	static const unsigned char bytes[200] = { 0x01, 0xab };
	char expected[128] = "ABCD:";
	const char *names;
	uint64_t nr;

	answer.format = UNWIND_SELF_BYTES;
	answer.tag = 'A' | 'B' << 8 | 'C' << 16 | 'D' << 24;
	frames[0].name = (uintptr_t)bytes;
	frames[0].name_size = 2;
	frames[1].name = (uintptr_t)bytes;
	frames[1].name_size = sizeof(bytes);
	sample();
	ASSERT_NE(NULL, read_frames(self, &nr));
	names = names_of(self, 1000);
	ASSERT_NE(NULL, names);
	EXPECT_STREQ("ABCD:01ab", names);
	names = names_of(self, 1001);
	ASSERT_NE(NULL, names);
	memset(expected + 5, '0', 122);
	EXPECT_EQ(0, strncmp(expected, names, 5));
	EXPECT_EQ(127, strlen(names));
}

/* A runtime beside this one, with a chain */
struct chained {
	uint64_t	function[2];
	struct chained	*next;
};

static uint64_t chained_functions[2][2];
static struct chained chained[2] = {
	{ .function = { (uintptr_t)&chained_functions[0] }, .next = &chained[1] },
	{ .function = { (uintptr_t)&chained_functions[1] } },
};

static struct chained *chained_head = chained;

static int add_chain(void)
{
	const struct unwind_chain_attr attr = {
		.key = 1,
		.head = (uintptr_t)&chained_head,
		.next = offsetof(struct chained, next),
		.function = offsetof(struct chained, function),
		.function_mask = ~7ULL,
		.check = { 0, 8 },
	};

	return syscall(SYS_prctl, PR_UNWIND_CHAIN, PR_UNWIND_CHAIN_ADD, &attr, sizeof(attr), 0);
}

TEST_F(request, answer_follows_the_frames_of_chains)
{
	const struct runtime_frame *found;
	uint64_t nr;

	ASSERT_EQ(0, add_chain());
	sample();
	found = read_frames(self, &nr);
	ASSERT_EQ(4, nr);
	EXPECT_EQ((uintptr_t)chained_functions[0], found[0].function);
	EXPECT_EQ(1000, found[2].function);
	EXPECT_NE(found[0].runtime, found[2].runtime);
}

TEST_F(request, answer_takes_the_place_of_the_frames_of_chains)
{
	const struct runtime_frame *found;
	uint64_t nr;

	ASSERT_EQ(0, add_chain());
	answer.flags = UNWIND_SELF_ALL;
	sample();
	found = read_frames(self, &nr);
	ASSERT_EQ(2, nr);
	EXPECT_EQ(1000, found[0].function);
}

TEST_F(request, answer_that_is_cut_says_so)
{
	uint64_t nr;

	answer.flags = UNWIND_SELF_CUT;
	answer.nr = UNWIND_SELF_FRAMES;
	sample();
	ASSERT_NE(NULL, read_frames(self, &nr));
	EXPECT_EQ(UNWIND_SELF_FRAMES, nr);
	EXPECT_TRUE(records_get(&self->recs, PERF_RECORD_CALLCHAIN_RUNTIME, 0)->misc &
		    PERF_RECORD_MISC_RUNTIME_CUT);
}

/* The right answer but for one field */
#define SUBMIT(field, value) ({						\
	struct unwind_self_answer __bad = answer;			\
									\
	__bad.field = (value);						\
	submit(&__bad);							\
})

static int bad_answers(void)
{
	if (SUBMIT(nonce, answer.nonce + 1) != -ESRCH ||
	    SUBMIT(flags, UNWIND_SELF_ALL << 1) != -EINVAL ||
	    SUBMIT(format, 0) != -EINVAL ||
	    SUBMIT(format, UNWIND_SELF_BYTES) != -EINVAL ||
	    SUBMIT(tag, 1) != -EINVAL ||
	    SUBMIT(nr, UNWIND_SELF_FRAMES + 1) != -E2BIG ||
	    SUBMIT(frames, 8) != -EFAULT)
		return -1;
	frames[1].function = 0;
	if (submit(&answer) != -EINVAL)
		return -1;
	frames[1].function = 1001;
	return submit(&answer);
}

TEST_F(request, bad_answer_leaves_the_request_outstanding)
{
	uint64_t nr;

	in_handler = bad_answers;
	sample();
	EXPECT_EQ(0, answered);
	ASSERT_NE(NULL, read_frames(self, &nr));
	EXPECT_EQ(2, nr);
}

static int answer_twice(void)
{
	return submit(&answer) ?: submit(&answer);
}

TEST_F(request, second_answer_returns_esrch)
{
	uint64_t nr;

	in_handler = answer_twice;
	sample();
	EXPECT_EQ(-ESRCH, answered);
	ASSERT_NE(NULL, read_frames(self, &nr));
}

TEST_F(request, answer_without_frames_is_an_answer)
{
	answer.nr = 0;
	EXPECT_OUTCOME("answered");
	EXPECT_EQ(0, answered);
}

static void *submit_other(void *arg)
{
	const struct unwind_self_attr attr = default_attr();
	long ret = submit(&answer);

	if (ret == -ENOENT && !enable(&attr))
		ret = submit(&answer);
	return (void *)ret;
}

static int answer_from_other_thread(void)
{
	pthread_t thread;
	void *ret;

	if (pthread_create(&thread, NULL, submit_other, NULL) || pthread_join(thread, &ret))
		return -1;
	return (long)ret == -ESRCH ? submit(&answer) : -1;
}

TEST_F(request, only_the_thread_itself_may_answer)
{
	in_handler = answer_from_other_thread;
	sample();
	EXPECT_EQ(0, answered);
}

/*
 * Refused requests
 */

TEST_F(request, blocked_signal_is_refused)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGNAL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	EXPECT_OUTCOME("refused: blocked");
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	EXPECT_EQ(0, nr_handled);
}

TEST_F(request, signal_without_a_handler_is_refused)
{
	signal(SIGNAL, SIG_DFL);
	EXPECT_OUTCOME("refused: no handler");
	EXPECT_EQ(0, nr_handled);
}

TEST_F(request, handler_with_other_flags_is_refused)
{
	const unsigned long before = count("refused: no handler");

	install(SA_SIGINFO);
	sample();
	install(SA_ONSTACK);
	sample();
	install(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND);
	sample();
	EXPECT_EQ(before + 3, count("refused: no handler"));
	EXPECT_EQ(0, nr_handled);
}

TEST_F(request, other_alternate_stack_is_refused)
{
	static char other[STACK_SIZE];

	set_stack(other, sizeof(other));
	EXPECT_OUTCOME("refused: alternate stack");
	EXPECT_EQ(0, nr_handled);
}

/* Its frame cannot be written, which would kill the program if a signal were sent */
TEST_F(request, alternate_stack_that_is_not_mapped_is_refused)
{
	void *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, stack);
	ASSERT_EQ(0, disable());
	ASSERT_EQ(0, set_stack(stack, STACK_SIZE));
	self->attr.stack_start = (uintptr_t)stack;
	ASSERT_EQ(0, enable(&self->attr));
	mprotect(stack, STACK_SIZE, PROT_READ);
	EXPECT_OUTCOME("refused: alternate stack");
	munmap(stack, STACK_SIZE);
	EXPECT_EQ(0, nr_handled);
}

static void sample_in_handler(int signal)
{
	sample();
}

TEST_F(request, thread_on_its_alternate_stack_is_refused)
{
	const unsigned long before = count("refused: alternate stack");
	struct sigaction action = {
		.sa_handler = sample_in_handler,
		.sa_flags = SA_ONSTACK,
	};

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	EXPECT_EQ(before + 1, count("refused: alternate stack"));
	EXPECT_EQ(0, nr_handled);
}

static int sample_then_answer(void)
{
	sample();
	return submit(&answer);
}

TEST_F(request, request_while_one_is_outstanding_is_refused)
{
	const unsigned long before = count("refused: one is outstanding");
	const struct record *rec;
	size_t i;

	in_handler = sample_then_answer;
	sample();
	EXPECT_EQ(1, nr_handled);
	EXPECT_EQ(before + 1, count("refused: one is outstanding"));
	ASSERT_EQ(0, records_read(&self->recs, &self->ring));
	EXPECT_EQ(2, records_count(&self->recs, PERF_RECORD_CALLCHAIN_DEFERRED));
	EXPECT_EQ(1, records_count(&self->recs, PERF_RECORD_CALLCHAIN_RUNTIME));
	for (i = 0; (rec = records_get(&self->recs, PERF_RECORD_SAMPLE, i)); i++)
		EXPECT_EQ(1, records_with_cookie(&self->recs, PERF_RECORD_CALLCHAIN_DEFERRED,
						 rec->cookie));
	/* The first one's is held meanwhile */
	rec = records_get(&self->recs, PERF_RECORD_SAMPLE, 0);
	EXPECT_EQ(rec->cookie,
		  ((const uint64_t *)(records_get(&self->recs, PERF_RECORD_CALLCHAIN_DEFERRED,
						  1)->raw + 1))[0]);
}

TEST_F(request, request_that_comes_too_soon_is_refused)
{
	ASSERT_EQ(0, disable());
	self->attr.interval = UINT32_MAX;
	ASSERT_EQ(0, enable(&self->attr));
	sample();
	EXPECT_EQ(1, nr_handled);
	records_free(&self->recs);
	ASSERT_EQ(0, records_read(&self->recs, &self->ring));
	records_free(&self->recs);
	EXPECT_OUTCOME("refused: too soon");
	EXPECT_EQ(1, nr_handled);
}

/* A ring for one request that is only a timeout */
static int open_ring(struct io_uring_params *params, unsigned int **sq, unsigned int **cq)
{
	struct io_uring_sqe *sqe;
	static struct timespec time = { .tv_nsec = 20000000 };
	int fd = syscall(SYS_io_uring_setup, 1, params);

	if (fd < 0)
		return -1;
	*sq = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	*cq = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_CQ_RING);
	sqe = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
	if (*sq == MAP_FAILED || *cq == MAP_FAILED || sqe == MAP_FAILED)
		return -1;
	*sqe = (struct io_uring_sqe){
		.opcode = IORING_OP_TIMEOUT,
		.addr = (uintptr_t)&time,
		.len = 1,
	};
	(*sq)[params->sq_off.array / 4] = 0;
	__atomic_store_n(&(*sq)[params->sq_off.tail / 4], 1, __ATOMIC_RELEASE);
	return fd;
}

/* Its task work runs in the middle of the call, which then waits on, and returns 1 */
TEST_F(request, request_in_the_middle_of_a_system_call_is_refused)
{
	const unsigned long before = count("refused: in a system call");
	struct io_uring_params params = {};
	sigset_t set, old;
	unsigned int *sq, *cq;
	int fd = open_ring(&params, &sq, &cq);

	if (fd < 0)
		SKIP(return, "no io_uring");
	sigprocmask(SIG_SETMASK, NULL, &old);
	ring_unmap(&self->ring);
	close(self->fd);
	ASSERT_EQ(0, open_event_of(self, SYS_io_uring_enter));
	EXPECT_EQ(1, syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0));
	EXPECT_EQ(1, __atomic_load_n(&cq[params.cq_off.tail / 4], __ATOMIC_ACQUIRE));
	sigprocmask(SIG_SETMASK, NULL, &set);
	EXPECT_EQ(0, memcmp(&set, &old, 8));
	EXPECT_EQ(before + 1, count("refused: in a system call"));
	EXPECT_EQ(0, nr_handled);
	ASSERT_EQ(0, records_read(&self->recs, &self->ring));
	EXPECT_TRUE(records_match(&self->recs, NULL));
	close(fd);
}

/*
 * Requests that are not answered
 */

static int wait_until_late(void)
{
	const struct timespec time = { .tv_nsec = 50000000 };

	nanosleep(&time, NULL);
	return submit(&answer);
}

TEST_F(request, late_answer_is_refused_and_the_stack_delivered)
{
	ASSERT_EQ(0, disable());
	self->attr.timeout = 1;
	ASSERT_EQ(0, enable(&self->attr));
	in_handler = wait_until_late;
	EXPECT_OUTCOME("not in time");
	/* The timer was there before, or the answer */
	EXPECT_TRUE(answered == -ESRCH || answered == -ETIMEDOUT);
}

static int do_nothing(void)
{
	return 0;
}

/* It needs no further entry into the kernel */
TEST_F(request, timer_ends_a_request_that_is_not_answered)
{
	const unsigned long before = count("not in time");
	const __u64 *now = &self->ring.meta->data_head;
	uint64_t head;
	bool waits;

	ASSERT_EQ(0, disable());
	self->attr.timeout = 1;
	ASSERT_EQ(0, enable(&self->attr));
	in_handler = do_nothing;
	sample();
	head = __atomic_load_n(now, __ATOMIC_ACQUIRE);
	/* The timer may have been there before */
	waits = count("not in time") == before;
	while (waits && __atomic_load_n(now, __ATOMIC_ACQUIRE) == head)
		;
	EXPECT_EQ(before + 1, count("not in time"));
	ASSERT_EQ(0, records_read(&self->recs, &self->ring));
	EXPECT_TRUE(records_match(&self->recs, NULL));
}

TEST_F(request, disabling_ends_a_request)
{
	const unsigned long before = count("not in time");

	in_handler = disable;
	sample();
	EXPECT_EQ(before + 1, count("not in time"));
	ASSERT_EQ(0, records_read(&self->recs, &self->ring));
	EXPECT_TRUE(records_match(&self->recs, NULL));
	EXPECT_EQ(1, records_count(&self->recs, PERF_RECORD_CALLCHAIN_DEFERRED));
}

static int exit_thread(void)
{
	syscall(SYS_exit, 0);
	return 0;
}

static void *thread_that_exits(void *arg)
{
	struct _test_data_request *data = arg;
	static char stack[STACK_SIZE];
	struct unwind_self_attr attr = default_attr();

	attr.stack_start = (uintptr_t)stack;
	if (set_stack(stack, sizeof(stack)) || enable(&attr) || open_event(data))
		return NULL;
	in_handler = exit_thread;
	sample();
	return NULL;
}

TEST_F(request, exit_ends_a_request_and_the_stack_is_delivered)
{
	const unsigned long before = count("exited");
	pthread_t thread;

	ring_unmap(&self->ring);
	close(self->fd);
	ASSERT_EQ(0, pthread_create(&thread, NULL, thread_that_exits, self));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(1, nr_handled);
	EXPECT_EQ(before + 1, count("exited"));
	ASSERT_EQ(0, records_read(&self->recs, &self->ring));
	EXPECT_TRUE(records_match(&self->recs, NULL));
	EXPECT_EQ(1, records_count(&self->recs, PERF_RECORD_CALLCHAIN_DEFERRED));
}

static int exec_program(void)
{
	execl("/bin/true", "true", NULL);
	return -errno;
}

/* The new program is not asked: it has no handler, and would die of a signal */
TEST_F(request, exec_ends_a_request_and_opting_in)
{
	const unsigned long before = count("executed another program");
	int status;
	pid_t pid;

	ring_unmap(&self->ring);
	close(self->fd);
	pid = fork();
	if (!pid) {
		if (open_event(self) || enable(&self->attr))
			_exit(2);
		in_handler = exec_program;
		sample();
		_exit(3);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(before + 1, count("executed another program"));
}

TEST_F(request, child_does_not_inherit)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(disable() == -ENOENT ? 0 : 1);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/*
 * The program sees no difference
 */

static sigset_t mask_in_handler;

static int note_mask(void)
{
	sigprocmask(SIG_SETMASK, NULL, &mask_in_handler);
	return submit(&answer);
}

TEST_F(request, handler_runs_like_a_signals)
{
	struct sigaction action = {
		.sa_sigaction = on_request,
		.sa_flags = SA_SIGINFO | SA_ONSTACK,
	};
	sigset_t mask, before;

	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGUSR2);
	sigaction(SIGNAL, &action, NULL);
	sigprocmask(SIG_SETMASK, NULL, &before);
	in_handler = note_mask;
	sample();
	sigprocmask(SIG_SETMASK, NULL, &mask);
	EXPECT_EQ(1, sigismember(&mask_in_handler, SIGNAL));
	EXPECT_EQ(1, sigismember(&mask_in_handler, SIGUSR2));
	EXPECT_EQ(0, memcmp(&before, &mask, 8));
	sigpending(&mask);
	EXPECT_EQ(0, sigismember(&mask, SIGNAL));
}

TEST_F(request, result_of_the_system_call_is_kept)
{
	int i;

	for (i = 0; i < 100; i++)
		ASSERT_EQ(getppid(), syscall(SYS_getppid));
	EXPECT_LE(100, nr_handled);
}

/* Stop and continue a child until it exits: its status */
static int stop_and_continue(pid_t pid)
{
	const struct timespec time = { .tv_nsec = 20000000 };
	int status;

	do {
		nanosleep(&time, NULL);
		kill(pid, SIGSTOP);
		if (waitpid(pid, &status, WUNTRACED) != pid)
			return -1;
		kill(pid, SIGCONT);
	} while (WIFSTOPPED(status));
	return status;
}

/* Sleeps that are started again after each stop: each sends a signal, which is a request */
static int sleep_all_the_time(struct _test_data_request *data)
{
	const struct timespec time = { .tv_nsec = 100000000 };
	struct pollfd none;

	if (tracepoint_attr(&data->event, "signal/signal_generate"))
		return 1;
	data->event.defer_runtime = 1;
	data->fd = event_open(&data->event, 0, -1);
	if (data->fd < 0 || ring_map(&data->ring, data->fd, PAGES) || event_enable(data->fd) ||
	    enable(&data->attr))
		return 2;
	if (nanosleep(&time, NULL))
		return 3;
	if (poll(&none, 0, 100))
		return 4;
	return 0;
}

TEST_F(request, sleeps_that_start_again_are_not_interrupted)
{
	const unsigned long before = count("refused: system call restarts");
	pid_t pid;

	ring_unmap(&self->ring);
	close(self->fd);
	pid = fork();
	if (!pid)
		_exit(sleep_all_the_time(self));
	EXPECT_EQ(0, stop_and_continue(pid));
	EXPECT_LT(before, count("refused: system call restarts"));
}

TEST_HARNESS_MAIN
