// SPDX-License-Identifier: GPL-2.0
/*
 * Libraries that the dynamic loader maps and unmaps.
 *
 * Twins (twin.c) follow each other at one address while they are sampled: the unwinder
 * never uses the table of the previous library. In some tests other threads take stacks
 * that claim to pass that address, so the unwinder looks up its mapping in the middle of
 * the change. The audit library (tools/unwind/) registers and unregisters tables with an
 * unmodified C library.
 */
#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace.h"
#include "twins.h"
#include "../../kselftest_harness.h"

#define ROUNDS		120
#define CALLS		4
#define PROBERS		2
#define PAGES		128

#define WATCH	(WATCH_CALLS | WATCH_CLOCK)

struct prober {
	const struct truth	*truth;
	unsigned int		i;
	pthread_t		thread;
	atomic_bool		*stop;
	struct tally		tally;
	bool			failed;
};

FIXTURE(twin)
{
	struct twins twins;
	struct truth truth;
	struct watch watch;
	struct tally tally;
	struct prober prober[PROBERS];
	atomic_bool stop;
	/* Rounds in which no stack went through the library */
	unsigned int missed;
};

FIXTURE_VARIANT(twin)
{
	unsigned int probers;
};

FIXTURE_VARIANT_ADD(twin, quiet) {
	.probers = 0,
};

FIXTURE_VARIANT_ADD(twin, probed) {
	.probers = PROBERS,
};

/* Look up rules in the middle of each of the functions, all the time */
static void *probe(void *arg)
{
	struct prober *prober = arg;
	const struct truth *truth = prober->truth;
	unsigned long record[2] = {};
	struct watch watch;
	unsigned int i;

	if (watch_open(&watch, 0, -1, WATCH_CALLS, PAGES) ||
	    watch_enable(&watch)) {
		prober->failed = true;
		return NULL;
	}
	for (i = prober->i; !atomic_load(prober->stop); i++) {
		const struct truth_func *func = &truth->func[i % truth->nr];

		record[1] = func->start + (func->end - func->start) / 2;
		run_probe(record, 4);
		watch_judge(&watch, truth, &prober->tally);
	}
	watch_close(&watch);
	return NULL;
}

static int start_probers(struct _test_data_twin *self, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct prober *prober = &self->prober[i];

		prober->truth = &self->truth;
		prober->stop = &self->stop;
		prober->i = i;
		if (pthread_create(&prober->thread, NULL, probe, prober))
			return -1;
	}
	return 0;
}

static bool stop_probers(struct _test_data_twin *self, unsigned int nr)
{
	bool good = true;
	unsigned int i;

	atomic_store(&self->stop, true);
	for (i = 0; i < nr; i++) {
		pthread_join(self->prober[i].thread, NULL);
		good &= !self->prober[i].failed &&
			self->prober[i].tally.probes;
	}
	return good;
}

FIXTURE_SETUP(twin)
{
	ASSERT_EQ(0, twins_open(&self->twins));
	ASSERT_EQ(0, twins_truth(&self->twins, PLACE(0), &self->truth));
	if (watch_open(&self->watch, 0, -1, WATCH, PAGES))
		SKIP(return, "no perf events for raw_syscalls, or not root");
}

FIXTURE_TEARDOWN(twin)
{
	watch_close(&self->watch);
	twins_close(&self->twins);
}

/* Run the mapped library, under sampling */
static bool run_sampled(struct _test_data_twin *self, run_fn fn, const struct truth *truth)
{
	if (watch_enable(&self->watch))
		return false;
	twins_run(NULL, fn, CALLS);
	if (watch_disable(&self->watch))
		return false;
	watch_judge(&self->watch, truth, &self->tally);
	return true;
}

/*
 * The same; did a stack pass all of it? If not, a prober may be loading its table. It need not
 * run at the moment, so the library is run until the table is there.
 */
static bool run_once(struct _test_data_twin *self, run_fn fn, const struct truth *truth,
		     bool probed)
{
	unsigned long right = self->tally.right;
	unsigned int i;

	if (!run_sampled(self, fn, truth))
		return false;
	self->missed += self->tally.right == right;
	for (i = 0; probed && self->tally.right == right; i++) {
		usleep(1000);
		if (i == 10000 || !run_sampled(self, fn, truth))
			return false;
	}
	return true;
}

static void judge(struct __test_metadata *_metadata, struct _test_data_twin *self,
		  const struct _fixture_variant_twin *variant)
{
	const struct tally *tally = &self->tally;

	TH_LOG("right %lu, ended %lu, wrong %lu, elsewhere %lu, lost %lu",
	       tally->right, tally->ended, tally->wrong, tally->elsewhere,
	       tally->lost);
	TH_LOG("%u of %u rounds without a right one", self->missed, ROUNDS);
	EXPECT_EQ(0, tally->wrong);
	EXPECT_EQ(0, tally->lost);
	EXPECT_LT(0, tally->right);
	/* Each table is there, unless a prober is about to load it: that happens once */
	if (!variant->probers) {
		EXPECT_EQ(0, self->missed);
		EXPECT_LE(ROUNDS * CALLS, tally->right);
	} else {
		EXPECT_GE(TWINS, self->missed);
		EXPECT_LE((ROUNDS - TWINS) * CALLS, tally->right);
	}
}

/* The check detects the use of the twin's table: otherwise no test here could fail */
TEST(check_finds_a_wrong_table)
{
	struct tally tally = {};
	struct truth truth = {};
	struct twins twins;
	struct watch watch;
	struct image image;
	struct run run;
	size_t size;
	run_fn fn;
	int fd;

	ASSERT_EQ(0, twins_open(&twins));
	ASSERT_EQ(0, twins_truth(&twins, PLACE(0), &truth));
	size = elf_phdr(&twins.elf[0], PT_GNU_SFRAME, 0)->p_memsz;
	ASSERT_EQ(size, elf_phdr(&twins.elf[1], PT_GNU_SFRAME, 0)->p_memsz);
	EXPECT_EQ(elf_phdr(&twins.elf[0], PT_GNU_SFRAME, 0)->p_vaddr,
		  elf_phdr(&twins.elf[1], PT_GNU_SFRAME, 0)->p_vaddr);
	ASSERT_NE(0, memcmp(elf_sframe(&twins.elf[0]),
			    elf_sframe(&twins.elf[1]), size));
	memcpy(elf_sframe(&twins.elf[0]), elf_sframe(&twins.elf[1]), size);
	fd = elf_memfd(&twins.elf[0]);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, image_map(&image, &twins.elf[0], fd, PLACE(0)));
	fn = (run_fn)image.entry;

	if (watch_open(&watch, 0, -1, WATCH_CALLS, PAGES))
		SKIP(return, "no perf events for raw_syscalls, or not root");
	ASSERT_EQ(0, watch_enable(&watch));
	TH_LOG("the next one is meant to be wrong");
	twins_run(&run, fn, 1);
	ASSERT_EQ(0, watch_disable(&watch));
	watch_judge(&watch, &truth, &tally);
	EXPECT_EQ(1, tally.wrong);
	EXPECT_EQ(0, tally.right);
}

TEST_F_TIMEOUT(twin, mapped_over_uses_its_own_table, 120)
{
	struct image image;
	unsigned int i;
	run_fn fn;

	ASSERT_EQ(0, start_probers(self, variant->probers));
	for (i = 0; i < ROUNDS; i++) {
		fn = twins_map(&self->twins, i % TWINS, &image, PLACE(0));
		ASSERT_NE(NULL, fn);
		ASSERT_TRUE(run_once(self, fn, &self->truth, variant->probers));
	}
	EXPECT_TRUE(stop_probers(self, variant->probers));
	judge(_metadata, self, variant);
}

TEST_F_TIMEOUT(twin, unmapped_and_mapped_uses_its_own_table, 120)
{
	struct image image;
	unsigned int i;
	run_fn fn;

	ASSERT_EQ(0, start_probers(self, variant->probers));
	for (i = 0; i < ROUNDS; i++) {
		fn = twins_map(&self->twins, i % TWINS, &image, PLACE(0));
		ASSERT_NE(NULL, fn);
		ASSERT_TRUE(run_once(self, fn, &self->truth, variant->probers));
		image_unmap(&image);
	}
	EXPECT_TRUE(stop_probers(self, variant->probers));
	judge(_metadata, self, variant);
}

TEST_F_TIMEOUT(twin, moved_over_uses_its_own_table, 120)
{
	struct image image;
	unsigned int i;
	run_fn fn;

	ASSERT_EQ(0, start_probers(self, variant->probers));
	for (i = 0; i < ROUNDS; i++) {
		ASSERT_NE(NULL, twins_map(&self->twins, i % TWINS, &image,
					  PLACE(1)));
		fn = twins_move(&image, PLACE(0));
		ASSERT_NE(NULL, fn);
		ASSERT_TRUE(run_once(self, fn, &self->truth, variant->probers));
	}
	EXPECT_TRUE(stop_probers(self, variant->probers));
	judge(_metadata, self, variant);
}

/* Like programs do: by files, at an address that the dynamic loader chooses */
TEST_F_TIMEOUT(twin, opened_again_uses_its_own_table, 120)
{
	char exe[PATH_MAX] = "", path[2 * PATH_MAX];
	struct truth truth = { .base = self->truth.base };
	unsigned int i, same = 0;
	struct run run = {};
	void *lib;
	run_fn fn;

	ASSERT_LT(0, readlink("/proc/self/exe", exe, sizeof(exe) - 1));
	*strrchr(exe, '/') = 0;
	for (i = 0; i < ROUNDS; i++) {
		snprintf(path, sizeof(path), "%s/%s", exe, twin_names[i % TWINS]);
		lib = dlopen(path, RTLD_NOW);
		ASSERT_NE(NULL, lib)
			TH_LOG("%s", dlerror());
		fn = (run_fn)dlsym(lib, "twin");
		ASSERT_NE(NULL, fn);
		/* Its functions, before they are sampled */
		twins_run(&run, fn, 1);
		same += i && truth.func[0].start == run.func[0].start;
		truth.nr = 0;
		truth_add(&truth, run.func, run.nr);
		if (!i) {
			/* Where the next ones will most likely be */
			self->truth = truth;
			ASSERT_EQ(0, start_probers(self, variant->probers));
		}
		ASSERT_TRUE(run_once(self, fn, &truth, variant->probers));
		ASSERT_EQ(0, dlclose(lib));
	}
	EXPECT_TRUE(stop_probers(self, variant->probers));
	judge(_metadata, self, variant);
	TH_LOG("%u of %u at the address of the one before", same, ROUNDS);
	EXPECT_LT(0, same);
}

/*
 * The audit library
 */

FIXTURE(audit)
{
	struct trace trace;
	char dir[PATH_MAX];
	uintptr_t key[3];
};

FIXTURE_VARIANT(audit)
{
	const char *program;
	const char *library;
};

FIXTURE_VARIANT_ADD(audit, pie) {
	.program = "audited_pie",
	.library = "twin_160.so",
};

/* The program's load bias is not its start */
FIXTURE_VARIANT_ADD(audit, no_pie) {
	.program = "audited_no_pie",
	.library = "twin_160.so",
};

/* Its library does not begin at its load bias either */
FIXTURE_VARIANT_ADD(audit, linked_library) {
	.program = "audited_pie",
	.library = "twin_linked.so",
};

FIXTURE_SETUP(audit)
{
	char exe[PATH_MAX] = "", path[PATH_MAX + 32];

	if (trace_start(&self->trace))
		SKIP(return, "no tracepoints unwind:*");
	if (access("/proc/sys/kernel/unwind_max_ranges", F_OK))
		SKIP(return, "no registration of tables");
	ASSERT_LT(0, readlink("/proc/self/exe", exe, sizeof(exe) - 1));
	snprintf(self->dir, sizeof(self->dir), "%s", dirname(exe));
	/* In a tree without tools/unwind, neither it nor the programs are built */
	snprintf(path, sizeof(path), "%s/unwind_audit.so", self->dir);
	if (access(path, R_OK))
		SKIP(return, "no audit library");
}

FIXTURE_TEARDOWN(audit)
{
	trace_stop(&self->trace);
}

static void exec_program(const struct _test_data_audit *self,
			 const char *program, const char *library,
			 bool audited)
{
	char audit[PATH_MAX + 32], lib[PATH_MAX + 32], path[PATH_MAX + 32];

	snprintf(audit, sizeof(audit), "%s/unwind_audit.so", self->dir);
	snprintf(lib, sizeof(lib), "%s/%s", self->dir, library);
	snprintf(path, sizeof(path), "%s/%s", self->dir, program);
	if (audited)
		setenv("LD_AUDIT", audit, 1);
	execl(path, path, lib, audited ? "yes" : "no", NULL);
}

/* Run the program, traced; return its exit status */
static int run_program(struct _test_data_audit *self, const char *program,
		       const char *library, bool audited)
{
	int go[2], out[2], status;
	pid_t pid;
	char c;

	if (pipe(go) || pipe(out))
		return -1;
	pid = fork();
	if (!pid) {
		if (dup2(out[1], 1) == 1 && read(go[0], &c, 1) == 1)
			exec_program(self, program, library, audited);
		_exit(99);
	}
	close(out[1]);
	if (pid < 0 || trace_of(&self->trace, pid) || write(go[1], "", 1) != 1 ||
	    read(out[0], self->key, sizeof(self->key)) < 0 ||
	    waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	close(go[0]);
	close(go[1]);
	close(out[0]);
	if (trace_read(&self->trace))
		return -1;
	return WEXITSTATUS(status);
}

/* Number of events that a table was added with a key */
static size_t added(const struct _test_data_audit *self, uintptr_t key,
		    char *message, size_t size)
{
	char what[32];

	snprintf(what, sizeof(what), "key=%#lx", (unsigned long)key);
	return trace_count(&self->trace, "table_added", what, message, size);
}

TEST_F(audit, library_registers_and_unregisters)
{
	char message[256], text[128];
	char *end;

	ASSERT_EQ(0, run_program(self, variant->program, variant->library, true));
	EXPECT_EQ(1, added(self, self->key[0], NULL, 0));
	/* The loader may have used a link map twice */
	EXPECT_EQ(1 + (self->key[1] == self->key[2]),
		  added(self, self->key[1], message, sizeof(message)));
	EXPECT_LE(1, added(self, self->key[2], NULL, 0));
	/* The program, and the library twice; glibc has no table */
	EXPECT_LE(3, trace_count(&self->trace, "table_added", NULL, NULL, 0));
	EXPECT_EQ(0, trace_count(&self->trace, "table_invalid", NULL, NULL, 0));

	/* " text=A-B table=..." is dropped again */
	end = strstr(message, " table=");
	ASSERT_NE(NULL, end);
	snprintf(text, sizeof(text), "%.*s", (int)(end - message - 1), message + 1);
	EXPECT_LE(1, trace_count(&self->trace, "table_dropped", text, NULL, 0));
	/* Both libraries, and the program, whose check dropped its own */
	EXPECT_LE(3, trace_count(&self->trace, "table_dropped", NULL, NULL, 0));
}

TEST_F(audit, without_the_library_nothing_is_registered)
{
	ASSERT_EQ(0, run_program(self, variant->program, variant->library, false));
	EXPECT_EQ(0, trace_count(&self->trace, "table_added", NULL, NULL, 0));
}

TEST_HARNESS_MAIN
