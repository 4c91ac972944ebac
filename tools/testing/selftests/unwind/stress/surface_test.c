// SPDX-License-Identifier: GPL-2.0
/*
 * The whole surface at once: random programs (surface.h), for as many operations as
 * UNWIND_SURFACE_OPERATIONS says, from the seed UNWIND_SURFACE_SEED.  Without these, the
 * seed is a new one, which is printed.
 *
 * The main process starts the others again when they end, samples all that they do, and
 * holds what switches code of the kernel on and off.  (Emulators execute old instructions
 * while these are patched.)  With the stress module, NMIs come on top.
 *
 * Nothing may be wrong: no report in the kernel's log, no result that differs from what a
 * drawer knows, no process that does not end.  Afterwards nothing is left of instances,
 * programs, file systems, control groups and tables.  The first failure stops all drawers, and
 * the last operations of each are printed, in the words of the program; the same seed draws
 * them again.  UNWIND_SURFACE_JOURNAL names a file that has them, too, for kernels that do not
 * survive.
 *
 * surface_reduce.sh looks for the smallest part of a program that still fails.  A part is some
 * drawers (UNWIND_SURFACE_DRAWERS, a bit each), without some operations (UNWIND_SURFACE_SKIP),
 * from one number up to another (UNWIND_SURFACE_FIRST, UNWIND_SURFACE_LAST).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <linux/unwind.h>

#include "bpf.h"
#include "ftrace.h"
#include "perf.h"
#include "put.h"
#include "stress_module.h"
#include "surface.h"
#include "trace.h"
#include "../../kselftest.h"

#define OPERATIONS	1000
#define MAX_CPUS	8
#define PAGES		64
/* Without any operation in this time, something hangs */
#define PATIENCE	120
/* Of the journal */
#define JOURNAL_LINE	72
#define NMI_RATE	200
#define NMI_REQUESTS	500000

struct surface_shared *surface;
static int journal = -1;
__thread unsigned int drawer;
__thread bool in_child;

/*
 * Random numbers
 */

static __thread uint64_t state;

/* Steps of a counter, each mixed until every bit depends on all others */
static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 31)) * 0x7fb5d329728ea185ULL;
	x = (x ^ (x >> 27)) * 0x81dadef4bc2dd44dULL;
	return x ^ (x >> 33);
}

uint32_t draw(uint32_t below)
{
	state += 0x9e3779b97f4a7c15ULL;
	return (mix(state) >> 32) * below >> 32;
}

bool one_in(uint32_t n)
{
	return !draw(n);
}

/* Values are near bounds of something */
bool spoil(void *what, size_t size)
{
	static const uint64_t values[] = {
		0, 1, 2, 7, 8, 255, 4095, 4096, 0x7fffffff, 0x80000000, 0xffffffff,
		0x7ffffffff000, 0x800000000000, 0xffff888000000000, 0x8000000000000000, -1ULL,
	};
	const uint32_t spoils = draw(8), at = draw(size / 4), how = draw(3);
	const uint64_t value = values[draw(ARRAY_SIZE(values))];
	const uint32_t bit = draw(32);
	uint32_t *word = (uint32_t *)what + at;

	if (spoils)
		return false;
	if (how == 0)
		*word ^= 1U << bit;
	else if (how == 1 || at % 2 || at + 2 > size / 4)
		*word = value;
	else
		memcpy(word, &value, sizeof(value));
	return true;
}

/*
 * Drawers
 */

static const struct surface_operation * const lists[] = {
	surface_memory, surface_frames, surface_tasks, surface_clients, surface_files,
	surface_text, surface_probes, surface_settings,
};

static struct surface_operation operations[SURFACE_OPERATIONS];
static unsigned int nr_operations, all_weights;

static void collect(void)
{
	const struct surface_operation *op;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		for (op = lists[i]; op->name; op++) {
			if (nr_operations == SURFACE_OPERATIONS)
				ksft_exit_fail_msg("too many operations\n");
			operations[nr_operations++] = *op;
			all_weights += op->weight;
		}
	}
}

/* Operation @k in a child of operation @number; 0 is that operation */
static void start_numbers(unsigned int number, unsigned int k)
{
	state = mix(surface->seed + mix((uint64_t)drawer << 48 | (uint64_t)k << 32 | (number + 1)));
}

static unsigned int draw_operation(void)
{
	unsigned int weight = draw(all_weights), i;

	for (i = 0; weight >= operations[i].weight; i++)
		weight -= operations[i].weight;
	return i;
}

/* Lines of one length, each at a place of its own */
static void write_journal(unsigned int number, unsigned int i, int ret, bool begun)
{
	const unsigned int line = drawer * SURFACE_LAST + number % SURFACE_LAST;
	char text[JOURNAL_LINE + 1];

	if (journal < 0)
		return;
	snprintf(text, sizeof(text), "drawer %2u: %7u %-28.28s %6d%-13s", drawer, number,
		 operations[i].name, ret, begun ? ", not ended" : "");
	text[JOURNAL_LINE - 1] = '\n';
	if (pwrite(journal, text, JOURNAL_LINE, line * JOURNAL_LINE) != JOURNAL_LINE)
		journal = -1;
}

/* Not the name: other processes have it at another address */
static void note(unsigned int number, unsigned int i, int ret, bool begun)
{
	surface->drawer[drawer].last[number % SURFACE_LAST] = (struct surface_done){
		.number = number, .operation = i, .ret = ret, .in_child = in_child,
		.begun = begun,
	};
	write_journal(number, i, ret, begun);
}

static void operate(unsigned int number)
{
	const unsigned int i = draw_operation();

	if (surface->skipped >> i & 1 || (in_child && operations[i].not_in_child))
		return;
	note(number, i, 0, true);
	note(number, i, operations[i].operate(), false);
	atomic_fetch_add(&surface->done[i], 1);
}

void surface_draw_in_child(unsigned int nr)
{
	const unsigned int number = atomic_load(&surface->drawer[drawer].next) - 1;
	unsigned int k;

	for (k = 1; k <= nr; k++) {
		start_numbers(number, k);
		operate(number);
	}
}

void surface_print_last(unsigned int i)
{
	const struct surface_drawer *of = &surface->drawer[i];
	unsigned int n;

	for (n = 0; n < SURFACE_LAST; n++) {
		const struct surface_done *done = &of->last[(atomic_load(&of->next) + n) %
							    SURFACE_LAST];

		if (n < atomic_load(&of->next))
			printf("# drawer %u: %u %s%s: %d%s\n", i, done->number,
			       operations[done->operation].name,
			       done->in_child ? " in a child" : "", done->ret,
			       done->begun ? ", not ended" : "");
	}
}

void surface_error(const char *what, long ret)
{
	atomic_store(&surface->stop, 1);
	if (atomic_fetch_add(&surface->errors, 1) < 10) {
		printf("# seed %llu, drawer %u, operation %u%s: %s: %ld\n",
		       (unsigned long long)surface->seed, drawer,
		       atomic_load(&surface->drawer[drawer].next) - 1,
		       in_child ? " in a child" : "", what, ret);
		fflush(stdout);
	}
}

/* An operation has its number before it begins, so it is never begun twice */
static void *draw_all(void *arg)
{
	struct surface_drawer *own;
	unsigned int number;

	drawer = (uintptr_t)arg;
	own = &surface->drawer[drawer];
	memory_start();
	tasks_start();
	while (!atomic_load(&surface->stop)) {
		number = atomic_fetch_add(&own->next, 1);
		if (number >= own->end)
			break;
		start_numbers(number, 0);
		operate(number);
	}
	tasks_end();
	probes_end();
	clients_end();
	return NULL;
}

static int run_process(unsigned int number)
{
	pthread_t threads[SURFACE_THREADS];
	unsigned int i;
	int ret;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0; i < SURFACE_THREADS; i++) {
		ret = pthread_create(&threads[i], NULL, draw_all,
				     (void *)(uintptr_t)(number * SURFACE_THREADS + i));
		if (ret) {
			printf("# process %u has no thread %u: %s\n", number, i, strerror(ret));
			return 1;
		}
	}
	for (i = 0; i < SURFACE_THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/*
 * The main process
 */

static bool is_done(unsigned int process)
{
	unsigned int i;

	for (i = 0; i < SURFACE_THREADS; i++) {
		const struct surface_drawer *of = &surface->drawer[process * SURFACE_THREADS + i];

		if (atomic_load(&of->next) < of->end)
			return false;
	}
	return true;
}

static pid_t start_process(unsigned int number)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(run_process(number));
	atomic_store(&surface->process[number], pid);
	return pid;
}

static unsigned long operations_done(void)
{
	unsigned long nr = 0;
	unsigned int i;

	for (i = 0; i < nr_operations; i++)
		nr += atomic_load(&surface->done[i]);
	return nr;
}

/* Buffers of events that sample all tasks, for each processor */
static struct ring rings[3 * MAX_CPUS];
static unsigned int nr_rings;

static int watch(struct perf_event_attr *attr, int cpu, const char *filter)
{
	int fd = event_open(attr, -1, cpu);

	if (fd < 0 || (filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter)) ||
	    ring_map(&rings[nr_rings++], fd, PAGES))
		return -1;
	return event_enable(fd);
}

static int watch_all(void)
{
	const int cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct perf_event_attr attr;
	char filter[32];
	int cpu;

	snprintf(filter, sizeof(filter), "id == %d", (int)SYS_getppid);
	for (cpu = 0; cpu < cpus && cpu < MAX_CPUS; cpu++) {
		if (tracepoint_attr(&attr, "raw_syscalls/sys_enter"))
			return -1;
		attr.defer_runtime = 1;
		if (watch(&attr, cpu, filter))
			return -1;
		event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
		attr.sample_period = 5000000;
		if (watch(&attr, cpu, NULL))
			return -1;
		/* Immediate stacks */
		event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
		attr.sample_period = 3;
		attr.defer_callchain = 0;
		attr.defer_output = 0;
		if (watch(&attr, cpu, NULL))
			return -1;
	}
	event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
	return event_open(&attr, 0, -1) < 0 ? -1 : 0;
}

static unsigned long drain(void)
{
	struct perf_event_header *raw;
	unsigned long nr = 0;
	unsigned int i;

	for (i = 0; i < nr_rings; i++) {
		while ((raw = ring_next(&rings[i]))) {
			nr++;
			free(raw);
		}
	}
	return nr;
}

static void continue_all(void)
{
	unsigned int i;

	for (i = 0; i < SURFACE_PROCESSES; i++) {
		const pid_t pid = atomic_load(&surface->process[i]);

		if (pid > 0)
			kill(pid, SIGCONT);
	}
}

/* Start processes again until all is drawn, or something is wrong; false if something hangs */
static bool run_all(unsigned long *samples, int klog, bool *silent)
{
	unsigned long done, last = 0;
	unsigned int i, running = 0, turns = 0;
	time_t since = time(NULL);
	int status;
	pid_t pid;

	for (i = 0; i < SURFACE_PROCESSES; i++)
		running += start_process(i) > 0;
	while (running) {
		*samples += drain();
		poll(NULL, 0, 20);
		if (*silent && !klog_silent(klog)) {
			*silent = false;
			surface_error("a message in the kernel's log", 0);
		}
		clients_change_instances(turns);
		groups_change(turns++);
		done = operations_done();
		if (done != last)
			since = time(NULL);
		last = done;
		if (time(NULL) - since > PATIENCE)
			return false;
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			for (i = 0; i < SURFACE_PROCESSES; i++) {
				if (atomic_load(&surface->process[i]) == pid)
					break;
			}
			/* A child of one that was killed */
			if (i == SURFACE_PROCESSES)
				continue;
			running--;
			if (status && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)) {
				printf("# process %u: status %#x\n", i, status);
				atomic_fetch_add(&surface->errors, 1);
				atomic_store(&surface->stop, 1);
			}
			atomic_store(&surface->process[i], 0);
			/* It may have stopped one, and not continued it */
			continue_all();
			if (!is_done(i) && !atomic_load(&surface->stop))
				running += start_process(i) > 0;
		}
	}
	return true;
}

/* Tables of files, in all */
static int count_tables(void)
{
	static struct unwind_table_info infos[4096];
	struct unwind_list list = { .infos = (uintptr_t)infos, .room = ARRAY_SIZE(infos) };
	int fd = open("/dev/unwind", O_RDONLY | O_CLOEXEC), caches, ret;
	const char *value;

	/* Free the tables (2), without a message in the log (4) */
	caches = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	for (value = "422"; *value; value++)
		if (pwrite(caches, value, 1, 0) != 1)
			return -1;
	close(caches);
	ret = ioctl(fd, UNWIND_IOC_LIST, &list);
	close(fd);
	return ret ? -1 : list.nr;
}

static int count_programs(void)
{
	union bpf_attr attr = {};
	int nr = 0;

	while (!bpf(BPF_PROG_GET_NEXT_ID, &attr)) {
		attr.start_id = attr.next_id;
		nr++;
	}
	return nr;
}

/* Some goes a little later; a state that must come */
static bool comes_to(int (*count)(void), int expected)
{
	const time_t end = time(NULL) + 30;
	int nr;

	do {
		nr = count();
		if (nr <= expected)
			return true;
		poll(NULL, 0, 50);
	} while (time(NULL) < end);
	printf("# %d of %d\n", nr, expected);
	return false;
}

static unsigned long setting(const char *name, unsigned long usual)
{
	const char *value = getenv(name);

	return value && *value ? strtoul(value, NULL, 0) : usual;
}

/* Of the main process first, and @again of a program that a process executes */
static bool share(bool again)
{
	int fd = SURFACE_FD;

	if (!again) {
		fd = memfd_create("surface", 0);
		if (fd < 0 || ftruncate(fd, sizeof(*surface)) || dup2(fd, SURFACE_FD) < 0)
			return false;
		close(fd);
	}
	surface = mmap(NULL, sizeof(*surface), PROT_READ | PROT_WRITE, MAP_SHARED, SURFACE_FD, 0);
	if (surface == MAP_FAILED)
		printf("# no memory is shared: %s\n", strerror(errno));
	return surface != MAP_FAILED;
}

static void print_figures(unsigned long samples, time_t seconds)
{
	unsigned int i;

	for (i = 0; i < nr_operations; i++)
		ksft_print_msg("%s: %lu\n", operations[i].name, atomic_load(&surface->done[i]));
	ksft_print_msg("%lu operations in %ld s, %lu processes ended early\n",
		       operations_done(), (long)seconds, atomic_load(&surface->restarts));
	ksft_print_msg("%lu answers, %lu records\n", atomic_load(&surface->answers), samples);
}

/* NMIs, if there is the module; nobody reads what it logs */
static bool start_nmis(void)
{
	if (module_load())
		return false;
	return module_set("session", 0) && module_set("rate", NMI_RATE) &&
	       module_set("requests", NMI_REQUESTS) && module_set("run", 1) &&
	       module_set("clients", 1) && module_set("session", getsid(0));
}

/* Choose the part of the program to run; usually all of it */
static void choose_part(unsigned long all)
{
	const unsigned long drawers = setting("UNWIND_SURFACE_DRAWERS", ~0UL);
	const unsigned long first = setting("UNWIND_SURFACE_FIRST", 0);
	const unsigned long last = setting("UNWIND_SURFACE_LAST", all / SURFACE_DRAWERS);
	unsigned int i;

	surface->skipped = setting("UNWIND_SURFACE_SKIP", 0);
	for (i = 0; i < SURFACE_DRAWERS; i++) {
		atomic_store(&surface->drawer[i].next, first);
		surface->drawer[i].end = drawers >> i & 1 ? last : first;
	}
}

static void open_journal(void)
{
	const char *path = getenv("UNWIND_SURFACE_JOURNAL");

	if (path && *path)
		journal = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
}

int main(int argc, char **argv)
{
	unsigned long samples = 0, all;
	const time_t start = time(NULL);
	struct ftrace held = {};
	int tables, programs, klog, i;
	bool ended, nmis, silent = true;

	collect();
	open_journal();
	if (argc == 3 && !strcmp(argv[1], "again"))
		return !share(true) || run_process(atoi(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "serve"))
		return !share(true) || files_serve(atoi(argv[2]));

	ksft_print_header();
	ksft_set_plan(7);
	setsid();
	/* The mounts of this test go with it */
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		ksft_exit_skip("no mount namespaces, or not root\n");
	if (access("/dev/unwind", R_OK) || !share(false))
		ksft_exit_skip("no /dev/unwind, or not root\n");
	clients_clean();
	tables = count_tables();
	programs = count_programs();
	klog = klog_open();
	/* A second one for each tracepoint */
	if (klog < 0 || watch_all() || ftrace_open(&held, "surface") ||
	    ftrace_event(&held, FTRACE_ENTER, getpid()))
		ksft_exit_skip("no perf events for all, or not root\n");
	surface->seed = setting("UNWIND_SURFACE_SEED", time(NULL) ^ (unsigned long)getpid() << 32);
	all = setting("UNWIND_SURFACE_OPERATIONS", OPERATIONS);
	choose_part(all);
	/* Half of all programs run with the feature's own events, which have names and reasons */
	if (surface->seed % 2 && ftrace_set(&held, "events/unwind/enable", "1"))
		ksft_exit_fail_msg("no events of the feature\n");
	settings_save();
	groups_start();
	nmis = start_nmis();
	ksft_print_msg("UNWIND_SURFACE_SEED=%llu UNWIND_SURFACE_OPERATIONS=%lu%s\n",
		       (unsigned long long)surface->seed, all, nmis ? ", with NMIs" : "");

	ended = run_all(&samples, klog, &silent);
	if (!ended || atomic_load(&surface->errors)) {
		for (i = 0; i < SURFACE_DRAWERS; i++)
			surface_print_last(i);
	}
	/* Where it hangs, into the kernel's log */
	if (!ended)
		put_word("/proc", "sysrq-trigger", "w");
	for (i = 0; i < SURFACE_PROCESSES && !ended; i++)
		kill(atomic_load(&surface->process[i]), SIGKILL);
	if (nmis)
		nmis = module_set("run", 0) && module_set("clients", 0) && !module_unload();
	settings_restore();
	print_figures(samples, time(NULL) - start);

	ksft_test_result(ended, "all operations end\n");
	ksft_test_result(!atomic_load(&surface->errors), "all results are right\n");
	ftrace_close(&held);
	ksft_test_result(clients_clean() && comes_to(count_programs, programs),
			 "no client is left\n");
	ksft_test_result(comes_to(files_unmount, 0), "no file system is left\n");
	ksft_test_result(comes_to(groups_remove, 0), "no control group is left\n");
	ksft_test_result(comes_to(count_tables, tables), "no table is left\n");
	ksft_test_result(klog_silent(klog) && silent, "the kernel's log is silent\n");
	ksft_finished();
}
