// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that find new processes add the vDSO to a machine's dsos, which others read
 * meanwhile: it is not added while one of them holds the lock.
 */
#include <pthread.h>
#include <unistd.h>
#include <linux/compiler.h>

#include "tests.h"
#include "util/debug.h"
#include "util/dso.h"
#include "util/machine.h"
#include "util/thread.h"
#include "util/util.h"
#include "util/vdso.h"

/* More than it takes to add it */
#define MAX_MS		1000

struct finder {
	struct machine	machine;
	struct thread	*thread;
	struct dso	*vdso;
};

static void *find(void *arg)
{
	struct finder *finder = arg;

	finder->vdso = machine__findnew_vdso(&finder->machine, finder->thread);
	return NULL;
}

/* Is it added while another thread reads?  Negative if that could not be tried. */
static int adds_it_early(struct finder *finder)
{
	struct dsos *dsos = &finder->machine.dsos;
	unsigned int nr, ms;
	pthread_t other;
	int ret;

	down_read(&dsos->lock);
	nr = dsos->cnt;
	ret = -pthread_create(&other, NULL, find, finder);
	for (ms = 0; !ret && ms < MAX_MS; ms += 10) {
		usleep(10 * 1000);
		ret = READ_ONCE(dsos->cnt) != nr;
	}
	up_read(&dsos->lock);
	if (ret >= 0)
		pthread_join(other, NULL);
	return ret;
}

static int test__vdso(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct finder finder = {};
	int ret = TEST_FAIL, early;

	if (machine__init(&finder.machine, "", HOST_KERNEL_ID))
		return TEST_FAIL;
	finder.thread = machine__findnew_thread(&finder.machine, getpid(), getpid());
	if (finder.thread) {
		/* There are no locks before */
		perf_set_multithreaded();
		early = adds_it_early(&finder);
		perf_set_singlethreaded();
		if (early)
			pr_debug("added to dsos that are being read: %d\n", early);
		else
			ret = finder.vdso ? TEST_OK : TEST_SKIP;
	}
	dso__put(finder.vdso);
	thread__put(finder.thread);
	machine__delete_threads(&finder.machine);
	machine__exit(&finder.machine);
	return ret;
}

DEFINE_SUITE("vDSO is added under the lock", vdso);
