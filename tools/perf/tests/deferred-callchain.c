// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "debug.h"
#include "tests.h"
#include "util/data.h"
#include "util/deferred-callchain.h"
#include "util/deferred-index.h"
#include "util/event.h"
#include "util/evlist.h"
#include "util/evsel.h"
#include "util/session.h"
#include "util/tool.h"

#define KERNEL_IP	0xffffffff81000010ULL
#define USER_IP		0x401000ULL
#define USER_CALLER	0x402000ULL
#define AFTER_CHAIN	0x1122334455667788ULL

struct test_event {
	union {
		union perf_event	event;
		u64			words[32];
	};
	struct perf_sample	sample;
};

static void init_event(struct test_event *ev, u32 type, u32 tid, u64 time)
{
	memset(ev, 0, sizeof(*ev));
	ev->event.header.type = type;
	ev->event.header.size = sizeof(ev->event.header);
	ev->sample.tid = tid;
	ev->sample.time = time;
}

static void init_sample(struct test_event *ev, u32 tid, u64 time, u64 cookie)
{
	init_event(ev, PERF_RECORD_SAMPLE, tid, time);
	ev->words[1] = 4;
	ev->words[2] = PERF_CONTEXT_KERNEL;
	ev->words[3] = KERNEL_IP;
	ev->words[4] = PERF_CONTEXT_USER_DEFERRED;
	ev->words[5] = cookie;
	ev->words[6] = AFTER_CHAIN;
	ev->event.header.size = 7 * sizeof(u64);
	ev->sample.callchain = (struct ip_callchain *)&ev->words[1];
	ev->sample.deferred_callchain = true;
	ev->sample.deferred_cookie = cookie;
}

static void init_record(struct test_event *ev, u32 tid, u64 time, u64 cookie)
{
	init_event(ev, PERF_RECORD_CALLCHAIN_DEFERRED, tid, time);
	ev->words[1] = cookie;
	ev->words[2] = 0;
	/* Every other record in the old format of kernels, with a context there */
	if (cookie % 2)
		ev->words[3 + ev->words[2]++] = PERF_CONTEXT_USER;
	ev->words[3 + ev->words[2]++] = USER_IP + cookie;
	ev->words[3 + ev->words[2]++] = USER_CALLER;
	ev->event.header.size = (3 + ev->words[2]) * sizeof(u64);
	ev->sample.callchain = (struct ip_callchain *)&ev->words[2];
	ev->sample.deferred_cookie = cookie;
}

static int add_record(struct deferred_callchains *dc, u32 tid, u64 time, u64 cookie)
{
	struct test_event ev;

	init_record(&ev, tid, time, cookie);
	return deferred_callchains__add_mark(dc, &ev.event, &ev.sample);
}

static int pass_record(struct deferred_callchains *dc, u32 tid, u64 time, u64 cookie)
{
	struct test_event ev;

	init_record(&ev, tid, time, cookie);
	return deferred_callchains__pass_mark(dc, &ev.event, &ev.sample);
}

static enum deferred_state find(struct deferred_callchains *dc, u32 tid, u64 time,
				u64 cookie, u64 complete_until)
{
	const struct ip_callchain *user = NULL;
	enum deferred_state state;
	struct test_event ev;

	init_sample(&ev, tid, time, cookie);
	state = deferred_callchains__find(dc, &ev.sample, complete_until, &user);
	if (state == DEFERRED_FOUND && (user->nr != 2 || user->ips[0] != USER_IP + cookie))
		return DEFERRED_MISSING;

	return state;
}

static int check_merged(struct deferred_callchains *dc, u32 tid, u64 cookie)
{
	const struct ip_callchain *user = NULL;
	struct perf_sample *sample;
	struct test_event ev;
	u64 *words;

	init_sample(&ev, tid, 10, cookie);
	sample = &ev.sample;
	TEST_ASSERT_EQUAL("find", deferred_callchains__find(dc, sample, 0, &user),
			  DEFERRED_FOUND);

	words = (u64 *)deferred_callchains__merge(dc, &ev.event, sample, user);
	TEST_ASSERT_EQUAL("type", ((union perf_event *)words)->header.type, PERF_RECORD_SAMPLE);
	TEST_ASSERT_EQUAL("size", ((union perf_event *)words)->header.size,
			  (u16)(8 * sizeof(u64)));
	TEST_ASSERT_VAL("sample", (u64 *)sample->callchain == &words[1] &&
			!sample->deferred_callchain);
	TEST_ASSERT_VAL("nr", words[1] == 5);
	TEST_ASSERT_VAL("kernel half", words[2] == PERF_CONTEXT_KERNEL &&
			words[3] == KERNEL_IP);
	TEST_ASSERT_VAL("user half", words[4] == PERF_CONTEXT_USER &&
			words[5] == USER_IP + cookie && words[6] == USER_CALLER);
	TEST_ASSERT_VAL("what is after the callchain", words[7] == AFTER_CHAIN);

	return TEST_OK;
}

static int check_not_merged(struct deferred_callchains *dc)
{
	struct test_event ev;
	u64 *words;

	init_sample(&ev, 1, 10, 7);
	words = (u64 *)deferred_callchains__merge(dc, &ev.event, &ev.sample, NULL);
	TEST_ASSERT_EQUAL("size", ((union perf_event *)words)->header.size,
			  (u16)(5 * sizeof(u64)));
	TEST_ASSERT_VAL("kernel half only", words[1] == 2 && words[3] == KERNEL_IP);
	TEST_ASSERT_VAL("what is after the callchain", words[4] == AFTER_CHAIN);

	return TEST_OK;
}

/* Two samples with one record, and another thread */
static int test_match(struct deferred_callchains *dc)
{
	TEST_ASSERT_EQUAL("nothing known", find(dc, 1, 10, 7, 100), DEFERRED_PENDING);
	TEST_ASSERT_EQUAL("add", add_record(dc, 1, 30, 7), 0);
	TEST_ASSERT_EQUAL("first sample", check_merged(dc, 1, 7), TEST_OK);
	TEST_ASSERT_EQUAL("second sample", check_merged(dc, 1, 7), TEST_OK);
	TEST_ASSERT_EQUAL("add", add_record(dc, 1, 32, 8), 0);
	TEST_ASSERT_EQUAL("without a context", check_merged(dc, 1, 8), TEST_OK);
	TEST_ASSERT_EQUAL("other thread", find(dc, 2, 10, 9, 100), DEFERRED_PENDING);
	TEST_ASSERT_EQUAL("merge nothing", check_not_merged(dc), TEST_OK);

	TEST_ASSERT_EQUAL("pass", pass_record(dc, 1, 30, 7), 0);
	TEST_ASSERT_EQUAL("just after record", find(dc, 1, 31, 7, 0), DEFERRED_FOUND);
	TEST_ASSERT_EQUAL("pass", pass_record(dc, 1, 32, 8), 0);
	TEST_ASSERT_EQUAL("next entry", find(dc, 1, 40, 9, 50), DEFERRED_PENDING);

	return TEST_OK;
}

/* An event's limit is lower than its record's length, and includes kernel frames */
static int test_limit(struct deferred_callchains *dc)
{
	struct evsel *evsel = evlist__first(*dc->evlist);
	const struct ip_callchain *user = NULL;
	struct test_event ev;
	u64 *words;

	TEST_ASSERT_EQUAL("add", add_record(dc, 1, 30, 7), 0);
	init_sample(&ev, 1, 10, 7);
	TEST_ASSERT_EQUAL("find", deferred_callchains__find(dc, &ev.sample, 0, &user),
			  DEFERRED_FOUND);
	evsel->core.attr.sample_max_stack = 2;
	words = (u64 *)deferred_callchains__merge(dc, &ev.event, &ev.sample, user);
	evsel->core.attr.sample_max_stack = 0;
	TEST_ASSERT_VAL("one of each half", words[1] == 4 && words[3] == KERNEL_IP &&
			words[4] == PERF_CONTEXT_USER && words[5] == USER_IP + 7);
	TEST_ASSERT_VAL("what is after the callchain", words[6] == AFTER_CHAIN);

	init_sample(&ev, 1, 10, 7);
	evsel->core.attr.sample_max_stack = 1;
	words = (u64 *)deferred_callchains__merge(dc, &ev.event, &ev.sample, user);
	evsel->core.attr.sample_max_stack = 0;
	TEST_ASSERT_VAL("kernel half only", words[1] == 2 && words[4] == AFTER_CHAIN);

	return TEST_OK;
}

/* The machine of a guest has cookies of its own */
static int test_machine(struct deferred_callchains *dc)
{
	const struct ip_callchain *user;
	struct test_event ev;

	TEST_ASSERT_EQUAL("add", add_record(dc, 1, 30, 7), 0);
	init_sample(&ev, 1, 10, 7);
	ev.sample.machine_pid = 1;
	TEST_ASSERT_EQUAL("other machine", deferred_callchains__find(dc, &ev.sample, 100, &user),
			  DEFERRED_PENDING);
	TEST_ASSERT_EQUAL("this machine", find(dc, 1, 10, 7, 100), DEFERRED_FOUND);

	return TEST_OK;
}

/* Threads of another pid namespace have no tid: only their cookies differ */
static int test_no_tid(struct deferred_callchains *dc)
{
	struct deferred_sample *ds;
	struct test_event ev;

	TEST_ASSERT_EQUAL("add", add_record(dc, 0, 20, 1), 0);
	TEST_ASSERT_EQUAL("another's record", find(dc, 0, 10, 2, 100), DEFERRED_PENDING);
	TEST_ASSERT_EQUAL("add", add_record(dc, 0, 30, 2), 0);
	TEST_ASSERT_EQUAL("first", find(dc, 0, 10, 1, 100), DEFERRED_FOUND);
	TEST_ASSERT_EQUAL("second", find(dc, 0, 10, 2, 100), DEFERRED_FOUND);
	TEST_ASSERT_EQUAL("at the end", find(dc, 0, 10, 3, UINT64_MAX), DEFERRED_MISSING);

	init_sample(&ev, 0, 40, 4);
	TEST_ASSERT_EQUAL("wait", deferred_callchains__wait(dc, &ev.event, &ev.sample), 0);
	init_record(&ev, 0, 50, 5);
	TEST_ASSERT_VAL("another's record",
			!deferred_callchains__first_waiting_for(dc, &ev.event, &ev.sample));
	init_event(&ev, PERF_RECORD_EXIT, 0, 50);
	TEST_ASSERT_VAL("another's exit",
			!deferred_callchains__first_waiting_for(dc, &ev.event, &ev.sample));
	TEST_ASSERT_EQUAL("pass", deferred_callchains__pass_mark(dc, &ev.event, &ev.sample), 0);
	TEST_ASSERT_EQUAL("after it", find(dc, 0, 10, 2, 100), DEFERRED_FOUND);
	init_record(&ev, 0, 50, 4);
	ds = deferred_callchains__first_waiting_for(dc, &ev.event, &ev.sample);
	TEST_ASSERT_VAL("its own", ds && ds->sample.time == 40);
	deferred_sample__delete(dc, ds);

	return TEST_OK;
}

/* Without its record, a sample of the program has the address where the program was */
static int test_own_address(struct deferred_callchains *dc)
{
	struct test_event ev;
	u64 *words;

	init_event(&ev, PERF_RECORD_SAMPLE, 1, 10);
	ev.words[1] = 2;
	ev.words[2] = PERF_CONTEXT_USER_DEFERRED;
	ev.words[3] = 7;
	ev.words[4] = AFTER_CHAIN;
	ev.event.header.size = 5 * sizeof(u64);
	ev.sample.callchain = (struct ip_callchain *)&ev.words[1];
	ev.sample.deferred_callchain = true;
	ev.sample.cpumode = PERF_RECORD_MISC_USER;
	ev.sample.ip = USER_IP;
	words = (u64 *)deferred_callchains__merge(dc, &ev.event, &ev.sample, NULL);
	TEST_ASSERT_VAL("address", words[1] == 2 && words[2] == PERF_CONTEXT_USER &&
			words[3] == USER_IP && words[4] == AFTER_CHAIN);
	TEST_ASSERT_VAL("size", ((union perf_event *)words)->header.size == 5 * sizeof(u64));

	return TEST_OK;
}

/* Records of a thread that migrates are read out of time order */
static int test_order(struct deferred_callchains *dc)
{
	TEST_ASSERT_EQUAL("add", add_record(dc, 1, 50, 2), 0);
	TEST_ASSERT_EQUAL("may still come", find(dc, 1, 10, 1, 49), DEFERRED_PENDING);
	TEST_ASSERT_EQUAL("add earlier one", add_record(dc, 1, 30, 1), 0);
	TEST_ASSERT_EQUAL("first", find(dc, 1, 10, 1, 0), DEFERRED_FOUND);
	TEST_ASSERT_EQUAL("pass", pass_record(dc, 1, 30, 1), 0);
	TEST_ASSERT_EQUAL("second", find(dc, 1, 40, 2, 0), DEFERRED_FOUND);
	TEST_ASSERT_EQUAL("pass", pass_record(dc, 1, 50 + DEFERRED_CLOCK_SKEW, 2), 0);
	TEST_ASSERT_EQUAL("first is gone", find(dc, 1, 60 + DEFERRED_CLOCK_SKEW, 1, UINT64_MAX),
			  DEFERRED_MISSING);

	return TEST_OK;
}

/* The thread migrates to a CPU with a slow clock, and back */
static int test_skew(struct deferred_callchains *dc)
{
	const u64 far = 30 + DEFERRED_CLOCK_SKEW + 1;
	struct test_event ev;

	/* Its sample's time is before the record of the previous sample */
	TEST_ASSERT_EQUAL("add", add_record(dc, 1, 30, 1), 0);
	TEST_ASSERT_EQUAL("add", add_record(dc, 1, 40, 2), 0);
	TEST_ASSERT_EQUAL("add", add_record(dc, 1, far, 3), 0);
	TEST_ASSERT_EQUAL("second", find(dc, 1, 20, 2, 100), DEFERRED_FOUND);

	/* A sample from after its record, and even after the next */
	TEST_ASSERT_EQUAL("pass", pass_record(dc, 1, 30, 1), 0);
	TEST_ASSERT_EQUAL("pass", pass_record(dc, 1, 40, 2), 0);
	TEST_ASSERT_EQUAL("first", find(dc, 1, 50, 1, 100), DEFERRED_FOUND);
	TEST_ASSERT_EQUAL("pass", pass_record(dc, 1, far, 3), 0);
	TEST_ASSERT_EQUAL("too old", find(dc, 1, far, 1, UINT64_MAX), DEFERRED_MISSING);
	TEST_ASSERT_EQUAL("still near", find(dc, 1, far, 2, UINT64_MAX), DEFERRED_FOUND);

	/* No time is too short for an exec */
	init_event(&ev, PERF_RECORD_COMM, 1, far);
	ev.event.comm.tid = 1;
	ev.event.header.misc = PERF_RECORD_MISC_COMM_EXEC;
	TEST_ASSERT_EQUAL("pass", deferred_callchains__pass_mark(dc, &ev.event, &ev.sample), 0);
	TEST_ASSERT_EQUAL("before", find(dc, 1, far, 3, UINT64_MAX), DEFERRED_MISSING);

	return TEST_OK;
}

/* Records that are read newest first, and from two buffers in turn */
static int test_reverse(struct deferred_callchains *dc)
{
	static const u64 times[] = { 90, 70, 50, 30, 60, 80, 100, 40, 110, 20 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(times); i++)
		TEST_ASSERT_EQUAL("add", add_record(dc, 1, times[i], times[i]), 0);
	for (i = 20; i <= 110; i += 10) {
		TEST_ASSERT_EQUAL("found", find(dc, 1, i - 5, i, 200), DEFERRED_FOUND);
		TEST_ASSERT_EQUAL("pass", pass_record(dc, 1, i, i), 0);
		/* A record that is read late is the first of the remaining ones */
		if (i == 50) {
			TEST_ASSERT_EQUAL("add", add_record(dc, 1, 55, 55), 0);
			TEST_ASSERT_EQUAL("late", find(dc, 1, 52, 55, 200), DEFERRED_FOUND);
			TEST_ASSERT_EQUAL("pass", pass_record(dc, 1, 55, 55), 0);
		}
	}
	TEST_ASSERT_EQUAL("no more", find(dc, 1, 120, 7, 200), DEFERRED_PENDING);

	return TEST_OK;
}

static int test_missing(struct deferred_callchains *dc)
{
	TEST_ASSERT_EQUAL("add", add_record(dc, 1, 50, 2), 0);
	TEST_ASSERT_EQUAL("not all read", find(dc, 1, 10, 1, 40), DEFERRED_PENDING);
	TEST_ASSERT_EQUAL("all read", find(dc, 1, 10, 1, 60), DEFERRED_MISSING);
	TEST_ASSERT_EQUAL("at the end", find(dc, 2, 10, 1, UINT64_MAX), DEFERRED_MISSING);

	return TEST_OK;
}

/* No record after an exec is an earlier sample's */
static int test_exec(struct deferred_callchains *dc)
{
	struct test_event ev;

	init_event(&ev, PERF_RECORD_COMM, 1, 20);
	ev.event.comm.tid = 1;
	TEST_ASSERT_VAL("new name", !deferred_callchains__is_mark(&ev.event));
	ev.event.header.misc = PERF_RECORD_MISC_COMM_EXEC;
	TEST_ASSERT_VAL("exec", deferred_callchains__is_mark(&ev.event));

	TEST_ASSERT_EQUAL("add", deferred_callchains__add_mark(dc, &ev.event, &ev.sample), 0);
	TEST_ASSERT_EQUAL("add", add_record(dc, 1, 30, 7), 0);
	TEST_ASSERT_EQUAL("before", find(dc, 1, 10, 6, 20), DEFERRED_MISSING);
	TEST_ASSERT_EQUAL("pass", deferred_callchains__pass_mark(dc, &ev.event, &ev.sample), 0);
	TEST_ASSERT_EQUAL("after", find(dc, 1, 25, 7, 100), DEFERRED_FOUND);

	return TEST_OK;
}

/* Samples that cannot be held back until their record is read */
static int test_wait(struct deferred_callchains *dc)
{
	const struct ip_callchain *user;
	enum deferred_state expected;
	struct deferred_sample *ds;
	struct test_event ev;
	u64 cookie;

	for (cookie = 1; cookie <= 2; cookie++) {
		init_sample(&ev, 1, cookie, cookie);
		TEST_ASSERT_EQUAL("wait", deferred_callchains__wait(dc, &ev.event, &ev.sample), 0);
	}
	memset(&ev, 0xff, sizeof(ev));

	init_record(&ev, 2, 10, 2);
	TEST_ASSERT_EQUAL("pass", deferred_callchains__pass_mark(dc, &ev.event, &ev.sample), 0);
	TEST_ASSERT_VAL("other thread",
			!deferred_callchains__first_waiting_for(dc, &ev.event, &ev.sample));

	init_record(&ev, 1, 10, 2);
	TEST_ASSERT_EQUAL("pass", deferred_callchains__pass_mark(dc, &ev.event, &ev.sample), 0);
	for (cookie = 1; cookie <= 2; cookie++) {
		ds = deferred_callchains__first_waiting_for(dc, &ev.event, &ev.sample);
		TEST_ASSERT_VAL("same thread", ds && ds->sample.deferred_cookie == cookie);
		expected = cookie == 2 ? DEFERRED_FOUND : DEFERRED_MISSING;
		TEST_ASSERT_EQUAL("state",
				  deferred_callchains__find(dc, &ds->sample, UINT64_MAX, &user),
				  expected);
		TEST_ASSERT_VAL("callchain", ds->sample.callchain->ips[1] == KERNEL_IP);
		deferred_sample__delete(dc, ds);
	}
	TEST_ASSERT_VAL("none left", !deferred_callchains__first_waiting(dc));

	return TEST_OK;
}

/* The last delivery of deferred_callchains__process(), and the number of deliveries */
struct delivered {
	unsigned int	nr;
	u32		type;
	u64		time;
	u64		chain_nr;
	u64		user_ip;
};

static int deliver(void *ctx, union perf_event *event, struct perf_sample *sample)
{
	const struct ip_callchain *chain = sample->callchain;
	struct delivered *last = ctx;

	last->nr++;
	last->type = event->header.type;
	last->time = sample->time;
	last->chain_nr = chain ? chain->nr : 0;
	last->user_ip = chain && chain->nr == 5 ? chain->ips[3] : 0;

	return sample->deferred_callchain ? -EINVAL : 0;
}

static int process(struct deferred_callchains *dc, struct test_event *ev, struct delivered *last)
{
	return deferred_callchains__process(dc, &ev->event, &ev->sample, deliver, last);
}

/* Events as they come, for tools that have no session */
static int test_process(struct deferred_callchains *dc)
{
	struct delivered last = {};
	struct test_event ev;

	init_sample(&ev, 1, 10, 7);
	TEST_ASSERT_EQUAL("sample", process(dc, &ev, &last), 0);
	TEST_ASSERT_VAL("it waits", last.nr == 0);

	init_event(&ev, PERF_RECORD_LOST, 1, 11);
	TEST_ASSERT_EQUAL("other event", process(dc, &ev, &last), 0);
	TEST_ASSERT_VAL("it does not wait", last.nr == 1 && last.type == PERF_RECORD_LOST);

	init_record(&ev, 1, 12, 7);
	TEST_ASSERT_EQUAL("record", process(dc, &ev, &last), 0);
	TEST_ASSERT_VAL("the sample, and not the record",
			last.nr == 2 && last.type == PERF_RECORD_SAMPLE && last.time == 10);
	TEST_ASSERT_VAL("whole", last.user_ip == USER_IP + 7);

	/* From the same stay in the kernel, read later */
	init_sample(&ev, 1, 11, 7);
	TEST_ASSERT_EQUAL("sample", process(dc, &ev, &last), 0);
	TEST_ASSERT_VAL("at once", last.nr == 3 && last.user_ip == USER_IP + 7);

	init_sample(&ev, 1, 20, 8);
	TEST_ASSERT_EQUAL("sample", process(dc, &ev, &last), 0);
	init_sample(&ev, 2, 30, 9);
	TEST_ASSERT_EQUAL("sample", process(dc, &ev, &last), 0);
	TEST_ASSERT_EQUAL("release", deferred_callchains__release(dc, 30, deliver, &last), 0);
	TEST_ASSERT_VAL("what is older", last.nr == 4 && last.time == 20);
	TEST_ASSERT_VAL("without its user half", last.chain_nr == 2 && dc->nr_missing == 1);

	/* The thread ends: its sample is delivered before that */
	init_event(&ev, PERF_RECORD_EXIT, 2, 40);
	ev.event.fork.tid = 2;
	TEST_ASSERT_EQUAL("exit", process(dc, &ev, &last), 0);
	TEST_ASSERT_VAL("both", last.nr == 6 && last.type == PERF_RECORD_EXIT);
	TEST_ASSERT_VAL("missing", dc->nr_missing == 2);
	TEST_ASSERT_VAL("none left", !deferred_callchains__first_waiting(dc));

	return TEST_OK;
}

/* More than an index has room for at first */
#define NR_INDEXED	3000
/* A record of init_record() is not larger */
#define RECORD_SIZE	(6 * sizeof(u64))

static size_t put_record(void *to, u64 cookie)
{
	struct test_event ev;

	init_record(&ev, 1, cookie, cookie);
	memcpy(to, &ev.event, ev.event.header.size);
	return ev.event.header.size;
}

static const struct ip_callchain *find_indexed(struct deferred_index *index, u64 cookie)
{
	const struct ip_callchain *user = NULL;
	struct test_event ev;

	init_sample(&ev, 1, 10, cookie);
	return deferred_index__find(index, &ev.sample, &user) ? NULL : user;
}

/* Records in memory.  The last one is cut off. */
static int test_index(struct deferred_callchains *dc)
{
	void *file = malloc(NR_INDEXED * RECORD_SIZE), *end = file;
	const struct ip_callchain *user;
	struct deferred_index *index;
	u64 cookie;

	TEST_ASSERT_VAL("failed to allocate", file);
	for (cookie = 1; cookie <= NR_INDEXED; cookie++)
		end += put_record(end, cookie);
	index = deferred_index__new(*dc->evlist, file, end - file - 1);
	TEST_ASSERT_VAL("failed to allocate", index);

	TEST_ASSERT_VAL("cut off", !find_indexed(index, NR_INDEXED));
	TEST_ASSERT_VAL("not there", !find_indexed(index, NR_INDEXED + 1));
	for (cookie = NR_INDEXED - 1; cookie; cookie--) {
		user = find_indexed(index, cookie);
		TEST_ASSERT_VAL("found", user && user->nr == 2 && user->ips[0] == USER_IP + cookie);
	}

	deferred_index__delete(index);
	free(file);

	return TEST_OK;
}

/**
 * struct test_tool - What was delivered from a file.
 */
struct test_tool {
	/** @tool: The callbacks. */
	struct perf_tool	tool;
	/** @nr: Number of samples. */
	unsigned int		nr;
	/** @nr_whole: Number of samples that have their user half. */
	unsigned int		nr_whole;
	/** @nr_at_round: Number of samples when the end of the last round was read. */
	unsigned int		nr_at_round;
};

static int count_sample(const struct perf_tool *tool, union perf_event *event __maybe_unused,
			struct perf_sample *sample, struct evsel *evsel __maybe_unused,
			struct machine *machine __maybe_unused)
{
	struct test_tool *test = container_of(tool, struct test_tool, tool);

	test->nr++;
	test->nr_whole += sample->callchain && sample->callchain->nr == 5;
	return 0;
}

static int count_round(const struct perf_tool *tool, union perf_event *event,
		       struct ordered_events *oe)
{
	struct test_tool *test = container_of(tool, struct test_tool, tool);
	int ret = perf_event__process_finished_round(tool, event, oe);

	test->nr_at_round = test->nr;
	return ret;
}

/* The words of an event with PERF_SAMPLE_TID, PERF_SAMPLE_TIME and PERF_SAMPLE_CALLCHAIN */
static bool write_event(int fd, u32 type, u32 tid, u64 time, u64 cookie)
{
	u64 id[] = { (u64)tid << 32 | tid, time };
	u64 sample[] = { 4, PERF_CONTEXT_KERNEL, KERNEL_IP, PERF_CONTEXT_USER_DEFERRED, cookie };
	u64 record[] = { cookie, 2, USER_IP, USER_CALLER };
	struct perf_event_header header = { .type = type, .size = sizeof(header) };
	u64 words[8];
	u32 nr = 0;

	if (type == PERF_RECORD_SAMPLE) {
		memcpy(words, id, sizeof(id));
		memcpy(&words[ARRAY_SIZE(id)], sample, sizeof(sample));
		nr = ARRAY_SIZE(id) + ARRAY_SIZE(sample);
	} else if (type == PERF_RECORD_CALLCHAIN_DEFERRED) {
		memcpy(words, record, sizeof(record));
		memcpy(&words[ARRAY_SIZE(record)], id, sizeof(id));
		nr = ARRAY_SIZE(record) + ARRAY_SIZE(id);
	}
	header.size += nr * sizeof(u64);
	return write(fd, &header, sizeof(header)) == sizeof(header) &&
	       write(fd, words, nr * sizeof(u64)) == (ssize_t)(nr * sizeof(u64));
}

/* Thread 1 sleeps until thread 2 has been sampled twice, in another round */
static bool write_events(int fd)
{
	return write_event(fd, PERF_RECORD_SAMPLE, 1, 10, 1) &&
	       write_event(fd, PERF_RECORD_SAMPLE, 2, 20, 2) &&
	       write_event(fd, PERF_RECORD_CALLCHAIN_DEFERRED, 2, 21, 2) &&
	       write_event(fd, PERF_RECORD_SAMPLE, 2, 30, 3) &&
	       write_event(fd, PERF_RECORD_CALLCHAIN_DEFERRED, 2, 31, 3) &&
	       write_event(fd, PERF_RECORD_FINISHED_ROUND, 0, 0, 0) &&
	       write_event(fd, PERF_RECORD_FINISHED_ROUND, 0, 0, 0) &&
	       write_event(fd, PERF_RECORD_CALLCHAIN_DEFERRED, 1, 40, 1);
}

static int write_file(struct perf_data *data)
{
	struct perf_session *session = perf_session__new(data, NULL);
	struct evlist *evlist = evlist__new_dummy();
	struct perf_event_attr *attr;
	u64 start;
	int fd;

	TEST_ASSERT_VAL("can't get session", !IS_ERR(session));
	TEST_ASSERT_VAL("failed to allocate", evlist);
	session->evlist = evlist;
	attr = &evlist__first(evlist)->core.attr;
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN;
	attr->sample_id_all = 1;
	attr->defer_callchain = 1;
	attr->defer_output = 1;

	/* Where the data begins is known then, and where it ends later */
	fd = data->file.fd;
	TEST_ASSERT_EQUAL("header", perf_session__write_header(session, evlist, fd, false), 0);
	start = session->header.data_offset;
	TEST_ASSERT_VAL("seek", lseek(fd, start, SEEK_SET) == (off_t)start);
	TEST_ASSERT_VAL("write", write_events(fd));
	session->header.data_size = lseek(fd, 0, SEEK_CUR) - start;
	TEST_ASSERT_EQUAL("header", perf_session__write_header(session, evlist, fd, false), 0);

	evlist__delete(evlist);
	perf_session__delete(session);

	return TEST_OK;
}

static int read_file(struct perf_data *data)
{
	struct perf_session *session;
	struct test_tool test = {};

	perf_tool__init(&test.tool, /*ordered_events=*/true);
	test.tool.sample = count_sample;
	test.tool.finished_round = count_round;
	session = perf_session__new(data, &test.tool);
	TEST_ASSERT_VAL("can't get session", !IS_ERR(session));
	TEST_ASSERT_EQUAL("process", perf_session__process_events(session), 0);
	TEST_ASSERT_EQUAL("missing", session->evlist->stats.nr_deferred_missing, 0);
	perf_session__delete(session);

	TEST_ASSERT_EQUAL("samples", test.nr, 3);
	TEST_ASSERT_EQUAL("whole samples", test.nr_whole, 3);
	TEST_ASSERT_EQUAL("samples that did not wait", test.nr_at_round, 3);

	return TEST_OK;
}

/* In a file, no sample waits for its record */
static int test_file(struct deferred_callchains *dc __maybe_unused)
{
	char path[] = "/tmp/perf-test-XXXXXX";
	struct perf_data to = { .path = path, .mode = PERF_DATA_MODE_WRITE };
	struct perf_data from = { .path = path, .mode = PERF_DATA_MODE_READ };
	int ret, fd = mkstemp(path);

	TEST_ASSERT_VAL("failed to make a file", fd >= 0);
	close(fd);
	ret = write_file(&to);
	if (ret == TEST_OK)
		ret = read_file(&from);
	unlink(path);

	return ret;
}

static int test__deferred_callchain(struct test_suite *test __maybe_unused,
				    int subtest __maybe_unused)
{
	static const struct {
		const char	*name;
		int		(*func)(struct deferred_callchains *dc);
	} tests[] = {
		{ "match",	test_match },
		{ "limit",	test_limit },
		{ "machine",	test_machine },
		{ "no tid",	test_no_tid },
		{ "own address", test_own_address },
		{ "order",	test_order },
		{ "reverse",	test_reverse },
		{ "missing",	test_missing },
		{ "skew",	test_skew },
		{ "exec",	test_exec },
		{ "wait",	test_wait },
		{ "process",	test_process },
		{ "index",	test_index },
		{ "file",	test_file },
	};
	struct evlist *evlist = evlist__new_dummy();
	struct deferred_callchains *dc;
	int ret = TEST_OK;
	size_t i;

	TEST_ASSERT_VAL("failed to allocate", evlist);
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		dc = deferred_callchains__new(&evlist);
		TEST_ASSERT_VAL("failed to allocate", dc);
		ret = tests[i].func(dc);
		deferred_callchains__delete(dc);
		if (ret != TEST_OK) {
			pr_debug("%s failed\n", tests[i].name);
			break;
		}
	}
	evlist__delete(evlist);

	return ret;
}

DEFINE_SUITE("Merging of deferred callchains", deferred_callchain);
