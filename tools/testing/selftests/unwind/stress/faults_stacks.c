// SPDX-License-Identifier: GPL-2.0
/*
 * Faults while a stack is taken: its buffer, tables of files and of registered ranges, and
 * frames of a language, see faults_sites.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call.h"
#include "code_register.h"
#include "code_file.h"
#include "file_env.h"
#include "sampled.h"
#include "faults_sites.h"

#define MAX_STACK	"/proc/sys/kernel/perf_event_max_stack"

static struct sampler sampler = { .fd = -1 };
static struct code_image image;
int file = -1;

/*
 * Samples
 */

/* @runtime: with frames of languages */
bool open_sampler(bool runtime)
{
	struct perf_event_attr attr;
	char filter[32];

	if (tracepoint_attr(&attr, "raw_syscalls/sys_enter"))
		return false;
	attr.defer_runtime = runtime;
	snprintf(filter, sizeof(filter), "id == %d", (int)SYS_getppid);
	return !sampler_open_attr(&sampler, &attr, 0, filter);
}

/* The records of one sample: one stack, which is not empty; and frames, if there are any */
int judge_records(void)
{
	struct records recs = {};
	const struct record *stack;
	int ret = WRONG;

	if (!records_read(&recs, &sampler.ring) && records_match(&recs, NULL) &&
	    records_count(&recs, PERF_RECORD_CALLCHAIN_DEFERRED) == 1) {
		stack = records_get(&recs, PERF_RECORD_CALLCHAIN_DEFERRED, 0);
		if (stack->nr)
			ret = records_count(&recs, PERF_RECORD_CALLCHAIN_RUNTIME) ? 0 : LESS;
	}
	records_free(&recs);
	return ret;
}

int call_sampled(void)
{
	unsigned long ip;

	return syscall0_at(SYS_getppid, &ip) < 0 ? -errno : 0;
}

/*
 * Stacks
 */

/* The stack passes the function: 0; it stops there, or there is none: LESS */
static int stack_of(chain_fn fn)
{
	struct stack stack, expected;

	if (sample_chain(&sampler, &stack, &expected, 2, fn, sampled_call))
		return WRONG;
	if (stack.nr > 2)
		return stack_begins_with(&stack, &expected) ? 0 : WRONG;
	expected.nr = stack.nr;
	return stack_begins_with(&stack, &expected) ? LESS : WRONG;
}

/* Another limit makes the kernel allocate new buffers.  Events of the last attempt delay it. */
static bool change_size(void)
{
	const int64_t end = now_ms() + PATIENCE_MS;
	char old[16] = "", size[16];
	int fd, len, ret;

	fd = open(MAX_STACK, O_RDWR | O_CLOEXEC);
	if (fd < 0 || read(fd, old, sizeof(old) - 1) <= 0)
		return false;
	len = snprintf(size, sizeof(size), "%d", atoi(old) == 127 ? 126 : 127);
	do {
		ret = pwrite(fd, size, len, 0);
		sched_yield();
	} while (ret < 0 && errno == EBUSY && now_ms() < end);
	close(fd);
	return ret == len;
}

bool stay(void)
{
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	return !sched_setaffinity(0, sizeof(cpu), &cpu);
}

static bool prepare_buffer(void)
{
	return stay() && change_size() && prepare_code() && !code_register(&code, KEY) &&
	       open_sampler(false);
}

static int code_stack(void)
{
	return stack_of(code_fn(&code, 0));
}

/* If there was no memory for a table, it is tried again a second later */
static int patient_code_stack(void)
{
	const int64_t end = now_ms() + PATIENCE_MS;
	static bool again;
	int ret;

	do {
		ret = code_stack();
	} while (again && ret == LESS && now_ms() < end);
	/* The first one is with a fault, or shows that there is none */
	again = true;
	return ret;
}

static bool prepare_range(void)
{
	return prepare_code() && !code_register(&code, KEY) && open_sampler(false);
}

static bool prepare_shared_range(void)
{
	return prepare_shared() && open_sampler(false);
}

/* A buffer that has never had frames */
static bool prepare_frames(void)
{
	return stay() && change_size() && open_sampler(true) && !add_chain();
}

static int judge_frames(int ret)
{
	return ret ?: judge_records();
}

/* The kernel knows of the file of this program then that it has no table */
static bool sample_program(void)
{
	struct stack stack, expected;

	return !sample_chain(&sampler, &stack, &expected, 1, sampled_call);
}

bool prepare_file(const struct code_file *of, int fd)
{
	file = fd;
	return fd >= 0 && !code_image_map(&image, of, fd, NULL) && open_sampler(false) &&
	       sample_program();
}

static bool prepare_usual(void)
{
	return prepare_file(&code_file_usual, code_file_memfd(&code_file_usual));
}

/* The program headers do not lead to the section, but the process has registered it */
static bool prepare_part(void)
{
	static struct code_file hidden;

	hidden = code_file_usual;
	hidden.hidden = true;
	return prepare_file(&hidden, code_file_memfd(&hidden)) &&
	       !code_image_register(&image, KEY);
}

int file_stack(void)
{
	return stack_of(code_image_fn(&image, 0, 0));
}

bool prepare_large(void)
{
	return prepare_file(&code_file_usual, large_memfd());
}

bool await_large(void)
{
	const int64_t end = now_ms() + PATIENCE_MS;
	int ret;

	do {
		ret = file_stack();
		sched_yield();
	} while (ret == LESS && now_ms() < end);
	return !ret;
}

/* A task leaves it to a worker, always */
static int judge_large(int ret)
{
	return ret == LESS && await_large() ? 0 : ret;
}

static int patient_file_stack(void)
{
	static bool again;
	int ret = file_stack();

	/* The first one is with a fault, or shows that there is none */
	if (again && ret == LESS)
		ret = await_large() ? 0 : LESS;
	again = true;
	return ret;
}

static bool finish_del_only(void)
{
	return !unwind_table_del(KEY);
}

/*
 * Files of overlays: for each one the kernel opens another file, at which stacks look
 */

#define OVERLAY		"/tmp/faults"

static bool prepare_overlay(void)
{
	int fd;

	if (mkdir(OVERLAY, 0700) || mount("tmpfs", OVERLAY, "tmpfs", 0, NULL) ||
	    mkdir(OVERLAY "/lower", 0700) || mkdir(OVERLAY "/lowest", 0700) ||
	    mkdir(OVERLAY "/all", 0700))
		return false;
	fd = open(OVERLAY "/lower/file", O_RDWR | O_CREAT | O_CLOEXEC, 0700);
	close(fd);
	return fd >= 0 && !mount("overlay", OVERLAY "/all", "overlay", 0,
				 "lowerdir=" OVERLAY "/lower:" OVERLAY "/lowest");
}

static int open_overlaid(void)
{
	int fd = open(OVERLAY "/all/file", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static bool finish_overlay(void)
{
	return !umount2(OVERLAY "/all", MNT_DETACH) && !umount2(OVERLAY, MNT_DETACH) &&
	       !rmdir(OVERLAY);
}

#define RANGE								\
	.prepare = prepare_range, .operate = patient_code_stack, .finish = finish_del_only

const struct site sites_stacks[] = {
	MEMORY("stack, its buffer", "deliver unwind_deferred_work", 1, LESS,
	       .prepare = prepare_buffer, .operate = patient_code_stack,
	       .finish = finish_del_only),
	/* Two of the range, and five of a table */
	MEMORY("stack, table of a range", "unwind_tables_build", 7, LESS, RANGE),
	/* The set is copied, too */
	MEMORY("stack, table of a shared range", "unwind_tables_build", 11, LESS,
	       .prepare = prepare_shared_range, .operate = patient_code_stack,
	       .finish = finish_both),
	MEMORY("stack, frames of a language", "unwind_chain_take", 1, LESS,
	       .prepare = prepare_frames, .operate = call_sampled, .judge = judge_frames,
	       .finish = finish_chain),
	/* The entry, two of headers, the section, and five of a table */
	MEMORY("stack, table of a file", "unwind_file_load", 9, LESS,
	       .prepare = prepare_usual, .operate = patient_file_stack),
	/* The job of a worker is the fourth.  It has the table later, in any case */
	MEMORY("stack, table of a large file", "unwind_file_load", 4, 0,
	       .prepare = prepare_large, .operate = patient_file_stack, .judge = judge_large),
	/* Without it, the section is copied from memory; or a worker loads the table later */
	MEMORY("stack, table of a part of a file", "unwind_section_load", 10, 0,
	       .prepare = prepare_part, .operate = patient_file_stack,
	       .finish = finish_del_only, .other = LESS),
	MEMORY("open, file of an overlay", "alloc_empty_backing_file", 1, -ENOMEM,
	       .prepare = prepare_overlay, .operate = open_overlaid, .finish = finish_overlay),
	COPIES("stack, table of a range", "unwind_tables_build", 1, LESS, RANGE),
	{}
};
