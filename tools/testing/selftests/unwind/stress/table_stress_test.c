// SPDX-License-Identifier: GPL-2.0
/*
 * Everything at once: threads register, unregister, map, unmap, write files that are
 * mapped, fork, exec and exit, while every event samples them as often as it can.
 *
 *	table_stress_test [seconds]
 *
 * It takes 10 seconds without an argument (or UNWIND_STRESS_SECONDS), and prints figures.
 * The long form is ten minutes on a kernel with all checkers.
 *
 * One process judges the stacks of the other and of its descendants. It need not know
 * their actions: all code lies at fixed addresses, where twins (see twin.c) follow each
 * other, or functions of the sample JIT that differ in their frames only. So the return
 * address of a function never changes, while a table of earlier code, of the parent, or
 * of the previous program is wrong.
 *
 * The process judges deferred and immediate stacks.
 *
 * The program is linked statically, to fixed addresses, so the judge's knowledge stays
 * true after exec.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/unwind.h>

#include "../../../../../samples/unwind/jit.h"
#include "perf.h"
#include "twins.h"
#include "../../kselftest.h"

#define SECONDS		10
#define PATIENCE	100
#define CLOCK_PERIOD	100000
#define MAX_CPUS	64
#define PAGES		1024

/* Each worker has separate addresses for twins, their tables, and a JIT */
#define WORKERS		6
#define TEXT_AT(i)	PLACE(4 * (i))
#define TABLE_AT(i)	PLACE(4 * (i) + 1)
#define CODE_AT(i)	PLACE(4 * (i) + 2)
#define ROWS_AT(i)	PLACE(4 * (i) + 3)

#define JIT_SIZE	16384
#define JIT_DEPTH	4

/* Steps of a thread before it exits and another one replaces it */
#define STEPS		20
#define CALLS		2

enum figure { MAPS, MOVES, UNMAPS, ADDS, DELS, REWRITES, WINDOWS, FILES, WRITES, SPOILT,
	      REFUSED, FORKS, VFORKS, EXECS, THREADS, RUNS, PROBES, FIGURES };

static const char * const figure_names[] = {
	"maps", "moves", "unmaps", "registered", "unregistered", "tables rewritten",
	"JIT windows", "files", "files written", "tables spoilt", "tables refused", "forks",
	"vforks", "execs", "threads", "runs", "probes",
};

static struct shared {
	atomic_ulong	figure[FIGURES];
	atomic_ulong	errors;
	atomic_bool	stop;
} *shared;

static struct twins twins;
static struct truth truth;

static void count(enum figure figure)
{
	atomic_fetch_add(&shared->figure[figure], 1);
}

/* Report an unexpected event */
static void failed(const char *what)
{
	if (atomic_fetch_add(&shared->errors, 1) < 8)
		ksft_print_msg("went wrong: %s: %s\n", what, strerror(errno));
}

/*
 * A worker
 */

struct worker {
	unsigned int		i;
	unsigned int		seed;
	struct image		image;
};

static unsigned int choose(struct worker *worker, unsigned int of)
{
	return rand_r(&worker->seed) / 7 % of;
}

static void run(run_fn fn)
{
	twins_run(NULL, fn, CALLS);
	count(RUNS);
}

/* Map a twin over existing mappings, or where none is left; or move it there */
static unsigned int map_twin(struct worker *worker)
{
	unsigned int which = choose(worker, TWINS);
	void *where = TEXT_AT(worker->i);

	if (worker->image.size && choose(worker, 2)) {
		image_unmap(&worker->image);
		count(UNMAPS);
	}
	if (choose(worker, 4)) {
		if (!twins_map(&twins, which, &worker->image, where))
			failed("mapping a library");
		count(MAPS);
	} else {
		if (!twins_map(&twins, which, &worker->image,
			       ROWS_AT(worker->i)) ||
		    !twins_move(&worker->image, where))
			failed("moving a library");
		count(MOVES);
	}
	return which;
}

static void run_twin(struct worker *worker)
{
	run((run_fn)worker->image.entry);
}

/* A twin's own table, at another address: entries count from their own address */
static void write_table(struct worker *worker, unsigned int which, char *table)
{
	const struct elf *elf = &twins.elf[which];
	const struct elf64_phdr *phdr = elf_phdr(elf, PT_GNU_SFRAME, 0);
	uintptr_t orig = (uintptr_t)worker->image.base + phdr->p_vaddr;
	struct sframe_header *hdr = elf_sframe(elf);
	uint32_t i;

	memcpy(table, hdr, phdr->p_memsz);
	for (i = 0; i < hdr->num_fdes; i++) {
		struct sframe_fde *fde = elf_fde(elf, i);
		ptrdiff_t offset = (char *)fde - (char *)hdr;

		fde = (struct sframe_fde *)(table + offset);
		fde->start_offset += orig - (uintptr_t)table;
	}
}

static void *copy_table(struct worker *worker, unsigned int which, size_t *size)
{
	void *table;

	*size = elf_phdr(&twins.elf[which], PT_GNU_SFRAME, 0)->p_memsz;
	table = mmap(TABLE_AT(worker->i), *size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (table == MAP_FAILED) {
		failed("mapping a table");
		return NULL;
	}
	write_table(worker, which, table);
	return table;
}

static int tell_kernel(const struct worker *worker, int op, void *table,
		       size_t size)
{
	struct unwind_table_attr attr = {
		.format = UNWIND_FORMAT_SFRAME,
		.key = worker->i + 1,
		.table_start = (uintptr_t)table,
		.table_size = size,
		.text_start = worker->image.text,
		.text_size = worker->image.text_end - worker->image.text,
	};

	return prctl(PR_UNWIND_TABLE, op, &attr, sizeof(attr), 0);
}

/* Another twin with its table, in the memory of the one before: nothing is unmapped there */
static void replace_in_place(struct worker *worker, void *table, size_t size)
{
	if (choose(worker, 2) && tell_kernel(worker, PR_UNWIND_TABLE_DEL, NULL, 0))
		failed("unregistering to replace");
	write_table(worker, map_twin(worker), table);
	count(REWRITES);
	if (tell_kernel(worker, PR_UNWIND_TABLE_ADD, table, size))
		failed("registering anew");
	run_twin(worker);
}

/*
 * A registered table in addition to the file's. It is dropped in each possible way. If it
 * is dropped with its memory, nothing is left to unregister.
 */
static void registered(struct worker *worker)
{
	unsigned int which = map_twin(worker);
	size_t size;
	void *table = copy_table(worker, which, &size);
	bool gone = true;

	if (!table)
		return;
	if (tell_kernel(worker, PR_UNWIND_TABLE_ADD, table, size))
		failed("registering");
	count(ADDS);
	run_twin(worker);
	if (choose(worker, 2))
		replace_in_place(worker, table, size);
	/* The kernel has a copy by now */
	if (choose(worker, 2)) {
		memset(table, choose(worker, 256), size);
		run_twin(worker);
	}

	switch (choose(worker, 4)) {
	case 0:
		gone = false;
		break;
	case 1:
		munmap(table, size);
		break;
	case 2:
		image_unmap(&worker->image);
		map_twin(worker);
		break;
	default:
		map_twin(worker);
		break;
	}
	if (tell_kernel(worker, PR_UNWIND_TABLE_DEL, NULL, 0) ?
	    !gone || errno != ENOENT : gone)
		failed("unregistering");
	count(DELS);
	/* The file's own table is found now */
	run_twin(worker);
	munmap(TABLE_AT(worker->i), size);
}

/* Map a file of twins, at a place of no name; each of them has the same headers */
static int map_file(struct worker *worker, unsigned int which, int fd)
{
	if (choose(worker, 2))
		image_unmap(&worker->image);
	return image_map(&worker->image, &twins.elf[which], fd, TEXT_AT(worker->i));
}

static bool write_all(int fd, const struct elf *elf)
{
	return pwrite(fd, elf->data, elf->size, 0) == (ssize_t)elf->size;
}

static bool store(int fd, const struct elf *elf, bool read_before)
{
	unsigned char *to;
	size_t i;

	to = mmap(NULL, elf->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (to == MAP_FAILED)
		return false;
	for (i = 0; read_before && i < elf->size; i += 4096)
		asm volatile("" : : "r"(to[i]));
	memcpy(to, elf->data, elf->size);
	return !munmap(to, elf->size);
}

/* Replace the contents of a file by a twin's, in one way or another */
static bool write_file(struct worker *worker, unsigned int which, int fd)
{
	const struct elf *elf = &twins.elf[which];

	switch (choose(worker, 4)) {
	case 0:
		return store(fd, elf, false);
	case 1:
		return store(fd, elf, true);
	case 2:
		if (ftruncate(fd, 0))
			return false;
		return write_all(fd, elf);
	default:
		return write_all(fd, elf);
	}
}

static int open_again(int fd, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, flags | O_CLOEXEC);
}

/* Write to the file while its text is mapped, but is not executed */
static bool rewrite_file(struct worker *worker, int fd)
{
	int writer = open_again(fd, O_RDWR);
	bool done = writer >= 0 &&
		    write_file(worker, choose(worker, TWINS), writer);

	__builtin___clear_cache((char *)worker->image.text, (char *)worker->image.text_end);
	/* Its table is not to be had while the file is open for writing */
	if (done && choose(worker, 2))
		run_twin(worker);
	close(writer);
	count(WRITES);
	return done;
}

/* A file without a name, so that none is left if this process is killed */
static void written(struct worker *worker)
{
	unsigned int which = choose(worker, TWINS), i;
	int writer = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0700);
	int fd = writer < 0 ? -1 : open_again(writer, O_RDONLY);

	if (fd < 0 || !write_all(writer, &twins.elf[which]) || map_file(worker, which, fd))
		failed("mapping a file");
	count(FILES);
	close(writer);
	run_twin(worker);
	for (i = 0; i < 3; i++) {
		if (!rewrite_file(worker, fd))
			failed("writing a file");
		run_twin(worker);
	}
	close(fd);
}

/* A window of the JIT; its functions' addresses do not depend on their frames */
static int fill_window(struct jit_window *win, unsigned int seed,
		       struct jit_entry *entry)
{
	unsigned int i;

	for (i = 0; i < JIT_DEPTH; i++) {
		struct jit_func func = {
			.callee = i ? entry[i - 1].code :
				      (const void *)(uintptr_t)run_leaf,
			.locals = 64 + 16 * (seed % 31 + i),
		};

		if (jit_add(win, &func, &entry[i]) < 0)
			return -1;
	}
	return 0;
}

static int map_window(struct jit_window *win, unsigned int i)
{
	void *code = mmap(CODE_AT(i), JIT_SIZE,
			  PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	void *table = mmap(ROWS_AT(i), JIT_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (code == MAP_FAILED || table == MAP_FAILED)
		return -1;
	return jit_window_init(win, code, JIT_SIZE, table, JIT_SIZE, i % 2);
}

static void unmap_window(unsigned int i)
{
	munmap(CODE_AT(i), JIT_SIZE);
	munmap(ROWS_AT(i), JIT_SIZE);
}

static void jit(struct worker *worker)
{
	struct jit_entry entry[JIT_DEPTH];
	struct jit_window win;
	unsigned int i;

	if (map_window(&win, worker->i)) {
		failed("mapping a window");
		return;
	}
	for (i = 0; i < 3; i++) {
		if (jit_window_register(&win) ||
		    fill_window(&win, choose(worker, 1000), entry))
			failed("a JIT's window");
		count(WINDOWS);
		run((run_fn)(uintptr_t)entry[JIT_DEPTH - 1].code);
		if (jit_window_retire(&win))
			failed("retiring a window");
	}
	unmap_window(worker->i);
}

static void step(struct worker *worker)
{
	switch (choose(worker, 4)) {
	case 0:
		map_twin(worker);
		run_twin(worker);
		break;
	case 1:
		registered(worker);
		break;
	case 2:
		written(worker);
		break;
	default:
		jit(worker);
		break;
	}
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	unsigned int i;

	for (i = 0; i < STEPS && !atomic_load(&shared->stop); i++)
		step(worker);
	return NULL;
}

/* Make the kernel search tables everywhere, whatever is mapped at the moment */
static void *probe(void *arg)
{
	struct worker *worker = arg;
	unsigned long record[2] = {};
	unsigned int i;

	for (i = 0; i < 100 * STEPS && !atomic_load(&shared->stop); i++) {
		const struct truth_func *func =
			&truth.func[choose(worker, truth.nr)];

		record[1] = func->start + (func->end - func->start) / 2;
		run_probe(record, 2);
		count(PROBES);
	}
	return NULL;
}

/*
 * A table that another thread changes at random, all the time: while it is registered,
 * copied and used. Nobody executes its text, but stacks claim to pass it.
 */

struct scribbler {
	char		*table;
	size_t		size;
	unsigned int	seed;
	atomic_bool	stop;
};

static void *scribble(void *arg)
{
	struct scribbler *scribbler = arg;

	while (!atomic_load(&scribbler->stop)) {
		unsigned int at = rand_r(&scribbler->seed) / 7 % scribbler->size;

		__atomic_fetch_xor(&scribbler->table[at], 1 << at % 8, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void probe_text(struct worker *worker)
{
	unsigned long record[2] = {};
	unsigned int i;

	for (i = 0; i < 8; i++) {
		record[1] = worker->image.text + 1 +
			    choose(worker, worker->image.text_end - worker->image.text);
		run_probe(record, 2);
		count(PROBES);
	}
}

/* One that is good in the beginning, if the other thread leaves it time to be so */
static void register_spoilt(struct worker *worker, char *table, size_t size)
{
	struct unwind_table_attr attr = {
		.format = UNWIND_FORMAT_SFRAME,
		.flags = choose(worker, 2) ? UNWIND_TABLE_JIT : 0,
		.key = worker->i + 1,
		.table_start = (uintptr_t)table,
		.table_size = size,
		.text_start = worker->image.text,
		.text_size = worker->image.text_end - worker->image.text,
	};

	write_table(worker, choose(worker, TWINS), table);
	if (!prctl(PR_UNWIND_TABLE, PR_UNWIND_TABLE_ADD, &attr, sizeof(attr), 0))
		count(SPOILT);
	else if (errno == ENOEXEC || errno == EOPNOTSUPP)
		count(REFUSED);
	else
		failed("registering a table that changes");
}

static void *spoil(void *arg)
{
	struct worker *worker = arg;
	struct scribbler scribbler = { .seed = worker->seed };
	pthread_t thread;
	unsigned int i;

	scribbler.table = copy_table(worker, map_twin(worker), &scribbler.size);
	if (!scribbler.table || pthread_create(&thread, NULL, scribble, &scribbler)) {
		failed("a thread that scribbles");
		return NULL;
	}
	for (i = 0; i < STEPS && !atomic_load(&shared->stop); i++) {
		register_spoilt(worker, scribbler.table, scribbler.size);
		probe_text(worker);
		if (tell_kernel(worker, PR_UNWIND_TABLE_DEL, NULL, 0) && errno != ENOENT)
			failed("unregistering a table that changes");
	}
	atomic_store(&scribbler.stop, true);
	pthread_join(thread, NULL);
	return NULL;
}

/* The previous program must have left no table */
static void exec_again(const struct worker *worker)
{
	char place[16], seed[16];

	snprintf(place, sizeof(place), "%u", worker->i);
	snprintf(seed, sizeof(seed), "%u", worker->seed);
	count(EXECS);
	execl("/proc/self/exe", "table_stress_test", "again", place, seed, NULL);
	_exit(1);
}

static void child(struct worker *worker)
{
	struct worker other = { .i = 0, .seed = worker->seed };
	pthread_t thread;
	unsigned int i;

	/* It will be in the middle of something when the process exits or execs */
	if (choose(worker, 2) && pthread_create(&thread, NULL, work, &other))
		failed("a thread of a fork");

	/* The mapping was inherited; it belongs to another from now on */
	run_twin(worker);
	for (i = 0; i < 3; i++)
		step(worker);
	if (choose(worker, 2))
		exec_again(worker);
	_exit(0);
}

static void wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		failed("a child");
}

static void *fork_and_exec(void *arg)
{
	struct worker *worker = arg;
	size_t size;
	void *table;
	pid_t pid;

	table = copy_table(worker, map_twin(worker), &size);
	if (!table || tell_kernel(worker, PR_UNWIND_TABLE_ADD, table, size))
		failed("registering");
	count(ADDS);
	worker->seed++;
	if (choose(worker, 3)) {
		pid = fork();
		if (!pid) {
			/* Its own copy of what its parent registered */
			run_twin(worker);
			if (tell_kernel(worker, PR_UNWIND_TABLE_DEL, NULL, 0))
				failed("unregistering in a child");
			child(worker);
		}
		count(FORKS);
	} else {
		pid = vfork();
		if (!pid)
			exec_again(worker);
		count(VFORKS);
	}
	if (pid < 0)
		failed("fork");
	/* The child's changes do not affect this process */
	run_twin(worker);
	wait_for(pid);
	run_twin(worker);
	if (tell_kernel(worker, PR_UNWIND_TABLE_DEL, NULL, 0))
		failed("unregistering");
	return NULL;
}

/*
 * The stressed process: its threads come and go
 */

static void *(* const jobs[])(void *) = { work, work, work, fork_and_exec, probe, spoil };

_Static_assert(sizeof(jobs) / sizeof(*jobs) == WORKERS, "a job for each");

/* Run one thread after another for a job */
static void *employ(void *arg)
{
	struct worker *worker = arg;
	pthread_t thread;

	while (!atomic_load(&shared->stop)) {
		worker->seed = atomic_load(&shared->figure[THREADS]);
		if (pthread_create(&thread, NULL, jobs[worker->i], worker)) {
			failed("a thread");
			break;
		}
		pthread_join(thread, NULL);
		count(THREADS);
	}
	return NULL;
}

static void stress(void)
{
	struct worker worker[WORKERS] = {};
	pthread_t thread[WORKERS];
	unsigned int i;

	for (i = 0; i < WORKERS; i++) {
		worker[i].i = i;
		if (pthread_create(&thread[i], NULL, employ, &worker[i]))
			_exit(1);
	}
	for (i = 0; i < WORKERS; i++)
		pthread_join(thread[i], NULL);
	_exit(0);
}

/* After exec: other frames at the same place, and no figures */
static int again(char **argv)
{
	struct worker worker = { .i = atoi(argv[2]), .seed = atoi(argv[3]) };

	shared = calloc(1, sizeof(*shared));
	if (!shared || twins_open(&twins))
		return 1;
	map_twin(&worker);
	run_twin(&worker);
	registered(&worker);
	written(&worker);
	jit(&worker);
	return atomic_load(&shared->errors) != 0;
}

/*
 * The judge
 */

/* All functions that can be at a worker's address */
static int place_truth(unsigned int i)
{
	struct jit_entry entry[JIT_DEPTH];
	struct jit_window win;
	unsigned int j;

	if (twins_truth(&twins, TEXT_AT(i), &truth) || map_window(&win, i) ||
	    fill_window(&win, 0, entry))
		return -1;
	for (j = 0; j < JIT_DEPTH; j++) {
		struct truth_func func = {
			.start = (uintptr_t)entry[j].code,
			.end = (uintptr_t)entry[j].code + entry[j].size,
			.ra = j + 1 < JIT_DEPTH ? (uintptr_t)entry[j + 1].ra :
						  truth.base,
		};

		truth_add(&truth, &func, 1);
	}
	unmap_window(i);
	return 0;
}

static int make_truth(void)
{
	unsigned int i;

	for (i = 0; i < WORKERS; i++)
		if (place_truth(i))
			return -1;
	return 0;
}

/* Immediate stacks, of one CPU: of system calls, and of a clock's interrupts */
struct immediate {
	int		fd[2];
	struct ring	ring;
};

static int open_immediate(struct immediate *immediate, struct perf_event_attr *attr,
			  unsigned int i, pid_t pid, int cpu)
{
	int fd;

	attr->defer_callchain = 0;
	attr->defer_output = 0;
	attr->exclude_callchain_kernel = 1;
	attr->inherit = 1;
	fd = event_open(attr, pid, cpu);
	immediate->fd[i] = fd;
	if (fd < 0)
		return -1;
	return i ? ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, immediate->fd[0]) :
		   ring_map(&immediate->ring, fd, PAGES);
}

static int watch_immediate(struct immediate *immediate, pid_t pid, int cpu)
{
	struct perf_event_attr attr;

	if (tracepoint_attr(&attr, "raw_syscalls/sys_enter") ||
	    open_immediate(immediate, &attr, 0, pid, cpu) ||
	    event_filter_syscall(immediate->fd[0], SYS_getppid))
		return -1;
	event_attr(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	attr.sample_period = CLOCK_PERIOD;
	return open_immediate(immediate, &attr, 1, pid, cpu) ||
	       event_enable(immediate->fd[0]) || event_enable(immediate->fd[1]) ? -1 : 0;
}

/* Words of a sample: id, address, task, time, CPU, number of entries, entries */
#define SAMPLE_NR	5

static void judge_immediate(struct immediate *immediate, struct tally *tally)
{
	struct perf_event_header *raw;

	while ((raw = ring_next(&immediate->ring))) {
		const uint64_t *word = (const uint64_t *)(raw + 1);
		const uint64_t *entry = word + SAMPLE_NR + 1;

		if (raw->type == PERF_RECORD_SAMPLE && word[SAMPLE_NR] > 1 &&
		    entry[0] == (uint64_t)PERF_CONTEXT_USER)
			truth_judge(&truth, entry + 1, word[SAMPLE_NR] - 1, tally);
		else if (raw->type == PERF_RECORD_LOST)
			tally->lost += word[1];
		free(raw);
	}
}

/* The check must detect an outdated table: here is one */
static bool wrong_is_told(void)
{
	struct worker worker = {};
	struct tally tally = {};
	struct watch watch;
	size_t size;
	void *table;

	if (watch_open(&watch, 0, -1, WATCH_CALLS, PAGES / 8))
		return false;
	if (!twins_map(&twins, 0, &worker.image, TEXT_AT(0)))
		return false;
	table = copy_table(&worker, 1, &size);
	if (!table || tell_kernel(&worker, PR_UNWIND_TABLE_ADD, table, size) ||
	    watch_enable(&watch))
		return false;
	ksft_print_msg("the next ones are meant to be wrong\n");
	run_twin(&worker);
	watch_disable(&watch);
	watch_judge(&watch, &truth, &tally);
	watch_close(&watch);
	image_unmap(&worker.image);
	munmap(table, size);
	return tally.wrong == CALLS;
}

static pid_t start(int *go)
{
	int fds[2];
	pid_t pid;
	char c;

	if (pipe(fds))
		return -1;
	fflush(NULL);
	pid = fork();
	if (pid) {
		close(fds[0]);
		*go = fds[1];
		return pid;
	}
	close(fds[1]);
	if (read(fds[0], &c, 1) == 1)
		stress();
	_exit(1);
}

/* Events of each CPU, and the verdicts on their stacks */
static struct watch watch[MAX_CPUS];
static struct immediate immediate[MAX_CPUS];
static struct tally deferred_tally, immediate_tally;

static void judge_all(int cpus)
{
	struct pollfd poll_fd[MAX_CPUS];
	int cpu;

	for (cpu = 0; cpu < cpus; cpu++) {
		watch_judge(&watch[cpu], &truth, &deferred_tally);
		judge_immediate(&immediate[cpu], &immediate_tally);
		poll_fd[cpu] = (struct pollfd){ watch[cpu].fd[0], POLLIN };
	}
	/* Until a buffer is half full */
	poll(poll_fd, cpus, 50);
}

static void print_tally(const char *kind, const struct tally *tally)
{
	ksft_print_msg("%s stacks: %lu right, %lu ended, %lu wrong, %lu elsewhere, %lu probes\n",
		       kind, tally->right, tally->ended, tally->wrong,
		       tally->elsewhere, tally->probes);
	ksft_print_msg("records lost: %lu\n", tally->lost);
}

static void print_figures(unsigned int seconds)
{
	unsigned int i;

	ksft_print_msg("%u seconds\n", seconds);
	for (i = 0; i < FIGURES; i++)
		ksft_print_msg("%s: %lu\n", figure_names[i],
			       atomic_load(&shared->figure[i]));
	print_tally("deferred", &deferred_tally);
	print_tally("immediate", &immediate_tally);
}

/* A table that changes at random may never be refused */
static bool all_done(void)
{
	unsigned int i;

	for (i = 0; i < FIGURES; i++)
		if (i != REFUSED && !atomic_load(&shared->figure[i]))
			return false;
	return true;
}

static unsigned int seconds(int argc, char **argv)
{
	const char *arg = argc > 1 ? argv[1] : getenv("UNWIND_STRESS_SECONDS");

	return arg && atoi(arg) > 0 ? atoi(arg) : SECONDS;
}

int main(int argc, char **argv)
{
	const int cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const unsigned int how_long = seconds(argc, argv);
	int cpu, go, status;
	time_t end;
	pid_t pid;

	if (argc == 4 && !strcmp(argv[1], "again"))
		return again(argv);

	ksft_print_header();
	ksft_set_plan(7);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || cpus > MAX_CPUS || twins_open(&twins) ||
	    make_truth())
		ksft_exit_fail_msg("setup: %s\n", strerror(errno));
	ksft_test_result(wrong_is_told(), "a wrong table is told\n");
	pid = start(&go);
	for (cpu = 0; cpu < cpus; cpu++)
		if (watch_open(&watch[cpu], pid, cpu, WATCH_ALL, PAGES) ||
		    watch_enable(&watch[cpu]) ||
		    watch_immediate(&immediate[cpu], pid, cpu))
			ksft_exit_skip("no perf events for all, or not root\n");

	end = time(NULL) + how_long;
	if (pid < 0 || write(go, "", 1) != 1)
		ksft_exit_fail_msg("start: %s\n", strerror(errno));
	/* On a slow machine, until there are stacks to judge */
	while (time(NULL) < end ||
	       (!all_done() && time(NULL) < end + PATIENCE))
		judge_all(cpus);
	atomic_store(&shared->stop, true);
	while (!waitpid(pid, &status, WNOHANG))
		judge_all(cpus);
	judge_all(cpus);

	print_figures(how_long);
	if (status)
		ksft_print_msg("the stressed process ended with status %#x\n", status);
	ksft_test_result(!status && !atomic_load(&shared->errors),
			 "all worked as it should\n");
	ksft_test_result(all_done(), "something of everything was done\n");
	ksft_test_result(deferred_tally.right > 0, "deferred stacks are right\n");
	ksft_test_result(!deferred_tally.wrong, "no deferred stack is wrong\n");
	ksft_test_result(immediate_tally.right > 0, "immediate stacks are right\n");
	ksft_test_result(!immediate_tally.wrong, "no immediate stack is wrong\n");
	ksft_finished();
}
