// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the kernel's memory for a process, by the process's history: memory [MODULE]
 *
 * Many processes make the same steps. After each step, the program reads how much memory
 * the kernel's allocators use. It prints lines of STEP and the bytes that the step added,
 * per process:
 *
 *	ready		it made a system call, mapped text and unmapped it: memory
 *			that any process costs
 *	before		the same again.  Without MODULE this is the last step, for a
 *			kernel that has none of the others.
 *	unwound		its stack was taken: files' tables belong to no process, and are
 *			loaded once
 *	again		the same again
 *	deferred	a stack was taken on the return to user space
 *	table		it registered a table
 *	libraries	it registered NR_LIBRARIES more
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "links.h"
#include "perf.h"

#define BENCH		"/sys/kernel/debug/unwind_bench"
#define NR_PROCESSES	128
#define NR_LIBRARIES	1000
#define KEY		0x2004

/* A range is the function's slot without its end, so no range touches another */
#define SLOT_SIZE	128
#define TEXT_SIZE	64

static const uint8_t code[] = LINK_SFRAME;

/* Each process has it before the first step: user memory is not measured */
static struct {
	struct links		links;
	struct link_table	*tables;
	struct ring		ring;
	int			module;
} self;

static void fail(const char *what)
{
	fprintf(stderr, "memory: ");
	perror(what);
	exit(1);
}

static void register_ranges(unsigned int from, unsigned int to)
{
	unsigned int i;

	for (i = from; i < to; i++)
		links_register(KEY, &self.tables[i], sizeof(self.tables[i]),
			       &self.links.text[i * SLOT_SIZE], TEXT_SIZE);
}

/* Not getppid(), which is sampled. All that it maps is unmapped again. */
static void step_run(void)
{
	const size_t size = sysconf(_SC_PAGESIZE);
	char *page = links_map(size);

	syscall(SYS_getuid);
	*page = 1;
	if (mprotect(page, size, PROT_READ | PROT_EXEC) || munmap(page, size))
		fail("memory");
}

static void step_unwind(void)
{
	static const char command[] = "task faultable";

	if (write(self.module, command, strlen(command)) < 0)
		fail(command);
}

static void step_defer(void)
{
	syscall(SYS_getppid);
	if (ring_empty(&self.ring))
		fail("no sample");
}

static void step_table(void)
{
	register_ranges(0, 1);
}

static void step_libraries(void)
{
	register_ranges(1, 1 + NR_LIBRARIES);
}

#define NR_STEPS	7
#define NR_STEPS_OFF	2

static const struct {
	const char	*name;
	void		(*step)(void);
} steps[NR_STEPS] = {
	{ "ready", step_run },
	{ "before", step_run },
	{ "unwound", step_unwind },
	{ "again", step_unwind },
	{ "deferred", step_defer },
	{ "table", step_table },
	{ "libraries", step_libraries },
};

static void make_tables(void)
{
	unsigned int i, nr = 1 + NR_LIBRARIES;

	links_make(&self.links, nr, SLOT_SIZE, code, sizeof(code));
	self.tables = links_map(nr * sizeof(*self.tables));
	for (i = 0; i < nr; i++) {
		const char *fn = &self.links.text[i * SLOT_SIZE];

		self.tables[i] = (struct link_table){
			.hdr = link_header(1),
			.fde = {
				.start_offset = (intptr_t)fn - (intptr_t)&self.tables[i],
				.size = sizeof(code),
			},
			.rows = LINK_ROWS,
		};
	}
}

static void put(int fd)
{
	if (write(fd, "", 1) != 1)
		fail("write");
}

static void get(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		fail("a process ended early");
}

static void process(int go, int done, size_t nr_steps)
{
	size_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (nr_steps > NR_STEPS_OFF)
		if (event_enable(links_sampler(&self.ring, 1, true)))
			exit(1);
	put(done);
	for (i = 0; i < nr_steps; i++) {
		get(go);
		steps[i].step();
		put(done);
	}
	/* Keep the process until its memory has been measured */
	get(go);
	exit(0);
}

/* KiB that the kernel allocated for itself */
static long kernel_kib(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	long kib = -1, value;
	char line[128];

	if (!file)
		fail("/proc/meminfo");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "Slab: %ld", &value) == 1)
			kib = value;
	fclose(file);
	return kib;
}

static void load(const char *module)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		fail(module);
	close(fd);
	self.module = open(BENCH, O_RDWR | O_CLOEXEC);
	if (self.module < 0)
		fail(BENCH);
}

/* Fork a process that waits for its first step. Return the pipe that starts a step. */
static int start(int done[2], size_t nr_steps)
{
	int go[2];
	pid_t pid;

	if (pipe(go))
		fail("pipe");
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid)
		process(go[0], done[1], nr_steps);
	close(go[0]);
	get(done[0]);
	return go[1];
}

int main(int argc, char **argv)
{
	int go[NR_PROCESSES], done[2], i, status;
	size_t step, nr_steps = argc == 2 ? NR_STEPS : NR_STEPS_OFF;
	long before, after;

	if (argc > 2)
		return 1;
	if (argc == 2)
		load(argv[1]);
	make_tables();
	if (pipe(done))
		fail("pipe");
	for (i = 0; i < NR_PROCESSES; i++)
		go[i] = start(done, nr_steps);
	before = kernel_kib();
	for (step = 0; step < nr_steps; step++) {
		for (i = 0; i < NR_PROCESSES; i++) {
			put(go[i]);
			get(done[0]);
		}
		after = kernel_kib();
		printf("%s %ld\n", steps[step].name,
		       (after - before) * 1024 / NR_PROCESSES);
		before = after;
	}
	for (i = 0; i < NR_PROCESSES; i++)
		put(go[i]);
	for (i = 0; i < NR_PROCESSES; i++)
		if (wait(&status) < 0 || status)
			return 1;
	return 0;
}
