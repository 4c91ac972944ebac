// SPDX-License-Identifier: GPL-2.0
/*
 * One program, the same moments: all that take a user stack take the same one.
 *
 * A moment is one entry into the kernel, which has one cookie for all clients of
 * deferred unwinding. The entry is a bpf system call that runs the kernel's own
 * test function, so that all kinds of BPF programs can be at it: sleepable ones,
 * too, which can be attached to few functions. Perf's events are at the tracepoint
 * of the same system call.
 *
 * Who waits, or may sleep, has to have the whole stack: the same addresses for each
 * entry. Who takes it in place has it, too, or the kernel says that it could not
 * tell; these are counted. Where no table has a say, stacks that are not deferred
 * are what they were before there were tables, to the byte, so they are not compared.
 * Of ftrace's userstacktrace there are the first eight addresses, its events have room
 * for no more.
 *
 * Another client is another line in @takers, and what fills it in collect().
 */
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf.h"
#include "call.h"
#include "ftrace.h"
#include "in_place_counts.h"
#include "random_chains.h"
#include "sampled.h"
#include "../../kselftest_harness.h"

/* In portions that fit into the buffers */
#define SAMPLES		10000
#define PORTION		50
#define RING_SIZE	0x100000

#define FUNCTION	"bpf_fentry_test1"

enum taker {
	PERF_DEFERRED,
	FTRACE_DEFERRED,
	BPF_DEFERRED,
	BPF_SLEEPABLE,
	PERF_IN_PLACE,
	FTRACE_IN_PLACE,
	BPF_IN_PLACE,
	NR_TAKERS
};

/* @depth: no more addresses than these, if not 0 */
static const struct {
	const char	*name;
	enum { WAITS, SLEEPS, IN_PLACE } how;
	unsigned int	depth;
} takers[NR_TAKERS] = {
	[PERF_DEFERRED]	= { "perf, deferred", WAITS },
	[FTRACE_DEFERRED] = { "ftrace, deferred", WAITS },
	[BPF_DEFERRED]	= { "BPF, deferred", WAITS },
	[BPF_SLEEPABLE]	= { "BPF, sleepable", SLEEPS },
	[PERF_IN_PLACE]	= { "perf, in place", IN_PLACE },
	[FTRACE_IN_PLACE] = { "ftrace, in place", IN_PLACE, 8 },
	[BPF_IN_PLACE]	= { "BPF, in place", IN_PLACE },
};

/* The moments of a portion, as each has seen them */
struct moment {
	uint64_t	cookie;
	bool		by_table;
	unsigned int	times[NR_TAKERS];
	struct stack	stack[NR_TAKERS];
};

static union bpf_attr run_attr;

/* The end of a chain */
static void call_bpf(struct notes *notes)
{
	unsigned long ip;

	syscall3_at(SYS_bpf, BPF_PROG_TEST_RUN, (long)&run_attr,
		    sizeof(run_attr), &ip);
	notes->ra[notes->nr++] = ip;
}

FIXTURE(same)
{
	struct sampler now;
	struct sampler later;
	struct ftrace trace_now;
	struct ftrace trace_later;
	struct bpf_ring ring;
	struct bpf_attached deliver;
	struct bpf_attached asker;
	struct bpf_attached sleepable;
	struct bpf_attached in_place;
	struct moment *moments;
	unsigned long same[NR_TAKERS];
	unsigned long differ[NR_TAKERS];
	unsigned long unlike[NR_TAKERS];
	unsigned long tables;
};

static int open_samplers(struct _test_data_same *self)
{
	struct perf_event_attr attr;
	char filter[32];

	snprintf(filter, sizeof(filter), "id == %d", SYS_bpf);
	if (tracepoint_attr(&attr, "raw_syscalls/sys_enter") ||
	    sampler_open_attr(&self->later, &attr, 0, filter))
		return -1;
	attr.defer_callchain = 0;
	attr.defer_output = 0;
	return sampler_open_attr(&self->now, &attr, 0, filter);
}

static int open_instance(struct ftrace *ft, const char *name, const char *option)
{
	char filter[64];

	snprintf(filter, sizeof(filter), "id == %d && common_pid == %d", SYS_bpf,
		 getpid());
	if (ftrace_open(ft, name) || ftrace_set(ft, option, "1") ||
	    ftrace_set(ft, FTRACE_ENTER "/filter", filter))
		return -1;
	return ftrace_set(ft, FTRACE_ENTER "/enable", "1");
}

static int open_instances(struct _test_data_same *self)
{
	return open_instance(&self->trace_later, "later", FTRACE_OPTION) ?:
	       open_instance(&self->trace_now, "now", "options/userstacktrace");
}

static int open_programs(struct _test_data_same *self)
{
	struct bpf_asker asker = {
		.at = BPF_AT_FENTRY, .where = FUNCTION, .tgid = getpid(),
		.flags = BPF_F_USER_STACK | BPF_F_USER_DEFER,
	};

	if (bpf_ring_open(&self->ring, RING_SIZE) ||
	    bpf_deliver_open(&self->deliver, 0, &self->ring) ||
	    bpf_asker_open(&self->asker, &asker, &self->ring))
		return -1;
	asker.flags = BPF_F_USER_STACK;
	asker.take = true;
	asker.tag = BPF_IN_PLACE;
	if (bpf_asker_open(&self->in_place, &asker, &self->ring))
		return -1;
	asker.at = BPF_AT_FENTRY_SLEEPABLE;
	asker.tag = BPF_SLEEPABLE;
	return bpf_asker_open(&self->sleepable, &asker, &self->ring);
}

FIXTURE_SETUP(same)
{
	static const struct bpf_attached none = { -1, -1 };
	long counts[NR_COUNTS];

	self->now.fd = -1;
	self->later.fd = -1;
	self->deliver = none;
	self->asker = none;
	self->sleepable = none;
	self->in_place = none;
	read_counts(counts);
	if (counts[TAKEN] < 0 || write_text(IN_PLACE_SYSCTL, "1") ||
	    open_programs(self) || open_samplers(self) || open_instances(self))
		SKIP(return, "no stacks in place or deferred for BPF and ftrace, or not root");
	run_attr.test.prog_fd = self->asker.prog;
	self->moments = calloc(PORTION, sizeof(*self->moments));
	ASSERT_NE(NULL, self->moments);
	ASSERT_EQ(0, random_chains_load());
}

FIXTURE_TEARDOWN(same)
{
	if (self->trace_now.dir[0])
		EXPECT_EQ(0, ftrace_close(&self->trace_now));
	if (self->trace_later.dir[0])
		EXPECT_EQ(0, ftrace_close(&self->trace_later));
	sampler_close(&self->now);
	sampler_close(&self->later);
	bpf_attached_close(&self->in_place);
	bpf_attached_close(&self->sleepable);
	bpf_attached_close(&self->asker);
	bpf_attached_close(&self->deliver);
	bpf_ring_close(&self->ring);
	free(self->moments);
}

static struct moment *find_moment(struct _test_data_same *self, uint64_t cookie)
{
	int i;

	for (i = 0; i < PORTION; i++)
		if (self->moments[i].cookie == cookie)
			return &self->moments[i];
	return NULL;
}

static void took(struct moment *moment, enum taker taker, const uint64_t *ips,
		 uint64_t nr)
{
	struct stack *stack = &moment->stack[taker];

	moment->times[taker]++;
	for (stack->nr = 0; stack->nr < nr && stack->nr < SAMPLED_MAX; stack->nr++)
		stack->ip[stack->nr] = ips[stack->nr];
}

/* The i'th sample of each of perf's events is of the i'th call; 0 or -1 */
static int collect_perf(struct _test_data_same *self)
{
	const struct record *now, *later, *stack;
	struct records now_recs = {}, recs = {};
	int i, ret = -1;

	if (records_read(&now_recs, &self->now.ring) ||
	    records_read(&recs, &self->later.ring))
		goto out;
	for (i = 0; i < PORTION; i++) {
		struct moment *moment = &self->moments[i];

		now = records_get(&now_recs, PERF_RECORD_SAMPLE, i);
		later = records_get(&recs, PERF_RECORD_SAMPLE, i);
		stack = later ? records_stack(&recs, later->cookie) : NULL;
		if (!now || !stack || !now->nr || !stack->nr)
			goto out;
		moment->cookie = later->cookie;
		/* Without the marker */
		took(moment, PERF_IN_PLACE, now->ips + 1, now->nr - 1);
		took(moment, PERF_DEFERRED, stack->ips + 1, stack->nr - 1);
	}
	if (!records_get(&recs, PERF_RECORD_SAMPLE, PORTION) &&
	    records_match(&recs, NULL))
		ret = 0;
out:
	records_free(&now_recs);
	records_free(&recs);
	return ret;
}

/* What has a cookie has to be of one of these entries */
static int collect_bpf(struct _test_data_same *self)
{
	struct bpf_event event;
	struct moment *moment;

	while (bpf_ring_next(&self->ring, &event, false)) {
		moment = find_moment(self, event.cookie);
		if (!moment || event.ret <= 0)
			return -1;
		if (event.kind == BPF_ASKED)
			continue;
		took(moment, event.kind == BPF_DELIVERED ? BPF_DEFERRED : event.tag,
		     event.ips, event.ret / sizeof(*event.ips));
	}
	return 0;
}

static int took_frames(struct moment *moment, enum taker taker,
		       const struct ftrace_record *rec)
{
	uint64_t ips[SAMPLED_MAX];
	unsigned int i;

	if (!moment || !rec->nr || rec->nr > SAMPLED_MAX)
		return -1;
	for (i = 0; i < rec->nr; i++)
		ips[i] = rec->frame[i].ip;
	took(moment, taker, ips, rec->nr);
	return 0;
}

/* Deferred stacks go by their cookie, the others by their place in the trace */
static int collect_trace(struct _test_data_same *self, struct ftrace *ft,
			 enum ftrace_type type)
{
	struct ftrace_log log = {};
	unsigned int nr = 0;
	size_t i;
	int ret;

	ret = ftrace_read(ft, "trace", &log);
	for (i = 0; !ret && i < log.nr; i++) {
		const struct ftrace_record *rec = &log.rec[i];

		if (rec->type != type)
			continue;
		if (type == FTRACE_STACK)
			ret = took_frames(find_moment(self, rec->cookie),
					  FTRACE_DEFERRED, rec);
		else if (nr < PORTION)
			ret = took_frames(&self->moments[nr], FTRACE_IN_PLACE, rec);
		nr++;
	}
	if (nr != PORTION || (type == FTRACE_STACK && !ftrace_pairs(&log, NULL)))
		ret = -1;
	ftrace_free(&log);
	return ret ?: ftrace_set(ft, "trace", "");
}

static bool same(const struct moment *moment, enum taker taker)
{
	const struct stack *want = &moment->stack[PERF_DEFERRED];
	const struct stack *is = &moment->stack[taker];
	unsigned int nr = want->nr;

	if (takers[taker].depth && nr > takers[taker].depth)
		nr = takers[taker].depth;
	return is->nr == nr && !memcmp(is->ip, want->ip, nr * sizeof(*is->ip));
}

/* Each has it once; is it the same? */
static int compare(struct _test_data_same *self, const struct moment *moment)
{
	int i;

	for (i = 0; i < NR_TAKERS; i++) {
		if (moment->times[i] != 1) {
			printf("# %s: %u times\n", takers[i].name, moment->times[i]);
			return -1;
		}
		if (takers[i].how != WAITS && !moment->by_table)
			self->unlike[i]++;
		else if (same(moment, i))
			self->same[i]++;
		else
			self->differ[i]++;
	}
	self->tables += moment->by_table;
	return 0;
}

static int take_portion(struct _test_data_same *self)
{
	int i;

	memset(self->moments, 0, PORTION * sizeof(*self->moments));
	for (i = 0; i < PORTION; i++)
		self->moments[i].by_table = random_chains_call(call_bpf);
	if (collect_perf(self) || collect_bpf(self) ||
	    collect_trace(self, &self->trace_later, FTRACE_STACK) ||
	    collect_trace(self, &self->trace_now, FTRACE_IN_PLACE_STACK))
		return -1;
	for (i = 0; i < PORTION; i++)
		if (compare(self, &self->moments[i]))
			return -1;
	return 0;
}

TEST_F_TIMEOUT(same, stack_for_all, 600)
{
	long before[NR_COUNTS], after[NR_COUNTS], unsure;
	unsigned long differ = 0, nr;
	int i;

	/* Until all tables are known, which programs that may sleep only ask for */
	ASSERT_EQ(0, take_portion(self));
	memset(self->same, 0, sizeof(self->same));
	memset(self->differ, 0, sizeof(self->differ));
	memset(self->unlike, 0, sizeof(self->unlike));
	self->tables = 0;

	read_counts(before);
	for (nr = 0; nr < SAMPLES; nr += PORTION)
		ASSERT_EQ(0, take_portion(self));
	read_counts(after);
	unsure = after[UNSURE] - before[UNSURE];

	TH_LOG("%lu entries, %lu of them through tables", nr, self->tables);
	for (i = 0; i < NR_TAKERS; i++) {
		TH_LOG("%s: %lu the same, %lu not, %lu not compared",
		       takers[i].name, self->same[i], self->differ[i],
		       self->unlike[i]);
		EXPECT_EQ(takers[i].how == WAITS ? nr : self->tables,
			  self->same[i] + self->differ[i]);
		if (takers[i].how == IN_PLACE)
			differ += self->differ[i];
		else
			EXPECT_EQ(0, self->differ[i]);
	}
	TH_LOG("in place could not tell: %ld times", unsure);
	EXPECT_LE(differ, unsure);
	EXPECT_GT(self->tables / 100, unsure);
	EXPECT_LT(nr / 2, self->tables);
}

TEST_HARNESS_MAIN
