// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the most expensive stacks that a program can have: worst MODULE
 *
 * Each stack here is made up. It asks for all the work that the kernel's limit allows, of the
 * kind that takes most instructions for what the kernel charges. A stack may lead in a circle,
 * through a signal frame: then only the limit ends it. The program prints lines of
 *
 *	stack NAME FRAMES INSTRUCTIONS
 *	off NAME INSTRUCTIONS
 *
 * of immediate stacks, and of the longest time for which interrupts are disabled.  How much
 * may be is in Documentation/admin-guide/unwind.rst; report.py compares.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "ftrace.h"
#include "insns.h"
#include "links.h"
#include "perf.h"

#define BENCH		"/sys/kernel/debug/unwind_bench"
#define TIMES		11
#define KEY		0x2003
#define PAGE		4096UL
#define STACK_SIZE	(256 * PAGE)

/* Each page is a mapping, and so is each gap between two; and registered ranges */
#define NR_PAGES	30000
#define FEW_PAGES	480
#define NR_CHOSEN	29
#define NR_RANGES	32768
/* Sections in a file; each stack has 128 more of them loaded */
#define FEW_SECTIONS	120
#define SLOT_SIZE	128

/* Files, of whose announcements three fill a sub-buffer */
#define NR_FILES	5
#define LONGEST_NAME	249

/* The shortest period of the clock's event, in nanoseconds: instructions */
#define PERIOD		10000
#define TIMES_OFF	300
#define PERCENT		"/proc/sys/kernel/perf_cpu_time_max_percent"
#define RATE		"/proc/sys/kernel/perf_event_max_sample_rate"

/* Offsets in the text; instructions follow OFF_CODE */
#define OFF_SYSCALL	0
#define OFF_CODE	8
#define OFF_RESUME	0xe00
#define OFF_TRAMPOLINE	0xe12
#define NR_INSNS	62	/* and a return, one less than the kernel follows */

static const uint8_t code_fn[] = LINK_SFRAME;

static struct {
	int	module;
	uint8_t	*text;
	uint8_t	*stack;
	uint8_t	*pages;
	size_t	nr_pages;
	uint8_t	*missing;
	uint8_t	*files[NR_FILES];
} worst;

static void fail(const char *what)
{
	fprintf(stderr, "worst: ");
	perror(what);
	exit(1);
}

static uint8_t *map(size_t size, int prot)
{
	void *at = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (at == MAP_FAILED)
		fail("mmap");
	return at;
}

/* As a C library's sa_restorer, after a call */
static const uint8_t trampoline[] = {
	0xff, 0xd0,					/* call *%rax */
	0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00,	/* mov $15, %rax */
	0x0f, 0x05,					/* syscall */
};

/* The system call, from which the stack begins.  The code after the jump never runs. */
static void text_make(void)
{
	static const uint8_t start[] = { 0x0f, 0x05, 0x0f, 0x84 }, resume[] = { 0x41, 0xff, 0xe4 };
	const uint32_t jump = OFF_RESUME - OFF_CODE;

	worst.text = map(PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(worst.text + OFF_SYSCALL, start, sizeof(start));
	memcpy(worst.text + OFF_CODE - sizeof(jump), &jump, sizeof(jump));
	memcpy(worst.text + OFF_RESUME, resume, sizeof(resume));
	memcpy(worst.text + OFF_TRAMPOLINE - 2, trampoline, sizeof(trampoline));
}

static void insns_put(const uint8_t *insn, size_t size, unsigned int nr)
{
	uint8_t *at = worst.text + OFF_CODE;

	for (; nr--; at += size)
		memcpy(at, insn, size);
	*at = 0xc3;
}

/* A system call, with this stack pointer and frame pointer */
static long call_on(long nr, long a, const void *b, long c, const void *sp, const void *fp)
{
	long ret = nr;

	asm volatile("mov	%%rsp, %%r13\n\t"
		     "mov	%%rbp, %%r14\n\t"
		     "lea	1f(%%rip), %%r12\n\t"
		     "mov	%[sp], %%rsp\n\t"
		     "mov	%[fp], %%rbp\n\t"
		     "cmp	%%eax, %%eax\n\t"
		     "jmp	*%[text]\n\t"
		     "1:	mov	%%r13, %%rsp\n\t"
		     "mov	%%r14, %%rbp"
		     : "+a"(ret)
		     : "D"(a), "S"(b), "d"(c), [sp] "r"(sp), [fp] "r"(fp),
		       [text] "r"(worst.text)
		     : "rcx", "r11", "r12", "r13", "r14", "memory", "cc");
	return ret;
}

static void write_on(const char *what, const void *sp, const void *fp)
{
	if (call_on(SYS_write, worst.module, what, strlen(what), sp, fp) < 0)
		fail(what);
}

static void measure(const char *name, const void *sp, const void *fp)
{
	unsigned long frames = 0, insns, least = -1UL;
	char text[128];
	ssize_t len;
	int i;

	/* The kernel loads and brings in what it needs */
	for (i = 0; i < 3; i++)
		write_on("task faultable", sp, fp);
	for (i = 0; i < TIMES; i++) {
		write_on("task inplace", sp, fp);
		len = pread(worst.module, text, sizeof(text) - 1, 0);
		if (len < 0)
			fail(BENCH);
		text[len] = 0;
		if (sscanf(text, "frames %lu unwind %lu", &frames, &insns) != 2)
			fail(text);
		/* The others had an interrupt */
		if (insns < least)
			least = insns;
	}
	printf("stack %s %lu %lu\n", name, frames, least);
}

/* On top of the stack lies a signal's frame, which leads to @ip with the same stack */
static const void *circle(unsigned long ip)
{
	uint64_t *sp = (uint64_t *)(worst.stack + PAGE);
	ucontext_t *frame = (ucontext_t *)(sp + 1);

	memset(frame, 0, sizeof(*frame));
	*sp = (uintptr_t)worst.text + OFF_TRAMPOLINE;
	frame->uc_mcontext.gregs[REG_RIP] = ip;
	frame->uc_mcontext.gregs[REG_RSP] = (uintptr_t)(ip == *sp ? sp + 1 : sp);
	frame->uc_mcontext.gregs[REG_CSGSFS] = 0x33;
	return sp;
}

/* Instructions that are followed to a return, which leads to a signal's frame */
static void measure_insns(const char *name, const uint8_t *insn, size_t size)
{
	insns_put(insn, size, NR_INSNS);
	measure(name, circle((uintptr_t)worst.text + OFF_CODE), NULL);
}

static void measure_signals(void)
{
	insns_put(NULL, 0, 0);
	measure("signals", circle((uintptr_t)worst.text + OFF_TRAMPOLINE), NULL);
}

/* Frame records, whose return addresses @ra_of() has; the frame pointer is two words further */
static const void *records(unsigned long (*ra_of)(unsigned int i))
{
	uint64_t *sp = (uint64_t *)(worst.stack + PAGE), *fp = sp + 2;
	unsigned int i;

	insns_put(NULL, 0, 0);
	sp[0] = ra_of(0);
	for (i = 1; i < 1000; i++, fp += 2) {
		fp[0] = (uintptr_t)(fp + 2);
		fp[1] = ra_of(i);
	}
	return sp;
}

static void measure_records(const char *name, unsigned long (*ra_of)(unsigned int i))
{
	const uint64_t *sp = records(ra_of);

	measure(name, sp, sp + 2);
}

static unsigned long in_pages(unsigned int i)
{
	const size_t apart = worst.nr_pages / NR_CHOSEN * 2 * PAGE;

	return (uintptr_t)worst.pages + i % NR_CHOSEN * apart + 16;
}

static unsigned long in_page(unsigned int i)
{
	(void)i;
	return in_pages(0);
}

static void pages_make(unsigned int nr)
{
	unsigned int i;

	worst.nr_pages = nr;
	worst.pages = mmap(NULL, 2 * nr * PAGE, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (worst.pages == MAP_FAILED)
		fail("mmap");
	for (i = 0; i < nr; i++)
		if (mprotect(worst.pages + 2 * i * PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC))
			fail("mprotect");
	for (i = 0; i < NR_CHOSEN; i++)
		memcpy((uint8_t *)in_pages(i) - 2, trampoline, 2);
}

static unsigned long in_missing(unsigned int i)
{
	(void)i;
	return (uintptr_t)worst.missing + 16;
}

/*
 * Text that is not there, and which the kernel brings in for nobody: to read an instruction
 * takes an exception, and it may still be one after a call
 */
static void missing_make(void)
{
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	const int fd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	struct uffdio_api api = { .api = UFFD_API };

	worst.missing = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (worst.missing == MAP_FAILED)
		fail("mmap");
	reg.range = (struct uffdio_range){ (uintptr_t)worst.missing, PAGE };
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		fail("userfaultfd");
}

/* Each frame has a table of its own, which is far from the table of the frame before */
static void measure_tables(const char *name, const struct links *links)
{
	uint64_t *sp = (uint64_t *)(worst.stack + PAGE);
	unsigned int i;

	insns_put(NULL, 0, 0);
	for (i = 0; i < 1000; i++)
		sp[4 * i] = (uintptr_t)links_at(links, i) + FN_RETURNED;
	measure(name, sp, NULL);
}

/* Replace the memory by a mapping of a file that has the same contents and cannot change */
static void put_in_file(void *memory, size_t size)
{
	int fd = memfd_create("tables", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || write(fd, memory, size) != (ssize_t)size || file_seal(fd) ||
	    mmap(memory, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != memory)
		fail("memfd");
	close(fd);
}

static void ranges_make(const char *name, unsigned int nr, bool in_file)
{
	struct links links;
	const size_t size = nr * sizeof(struct link_table);
	struct link_table *table = links_map(size);
	unsigned int i;

	links_make(&links, nr, SLOT_SIZE, code_fn, sizeof(code_fn));
	for (i = 0; i < nr; i++) {
		const char *fn = &links.text[i * SLOT_SIZE];

		table[i] = (struct link_table){
			.hdr = link_header(1),
			.fde = {
				.start_offset = (intptr_t)fn - (intptr_t)&table[i],
				.size = sizeof(code_fn),
			},
			.rows = LINK_ROWS,
		};
	}
	if (in_file)
		put_in_file(table, size);
	for (i = 0; i < nr; i++)
		links_register(KEY, &table[i], sizeof(*table), &links.text[i * SLOT_SIZE],
			       SLOT_SIZE / 2);
	if (name)
		measure_tables(name, &links);
}

/*
 * Interrupts
 */

static unsigned long in_files(unsigned int i)
{
	return (uintptr_t)worst.files[i % NR_FILES] + 16;
}

/* In a trace, each newline of a path takes four bytes */
static void files_make(void)
{
	char name[LONGEST_NAME + 1] = "";
	unsigned int i;
	int fd;

	memset(name, '\n', LONGEST_NAME);
	for (i = 0; i < NR_FILES; i++) {
		fd = memfd_create(name, MFD_CLOEXEC);
		if (fd < 0 || ftruncate(fd, PAGE) || pwrite(fd, trampoline, 2, 14) != 2)
			fail("memfd");
		worst.files[i] = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		if (worst.files[i] == MAP_FAILED)
			fail("mmap");
		close(fd);
	}
}

/*
 * The longest time for which the clock's interrupt was late, while the stack is wanted.  It comes
 * once per period, so what takes less than that may not be seen.
 */
static void measure_off(const char *name)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = PERIOD,
		.sample_type = PERF_SAMPLE_TIME, .disabled = 1,
	};
	const int fd = event_open(&attr, -1, 0);
	const uint64_t *sp = records(in_files);
	uint64_t longest = 0, last = 0, time;
	struct perf_event_header *raw;
	struct ring ring;
	int i;

	if (fd < 0 || ring_map(&ring, fd, 512) || event_enable(fd))
		fail("cpu-clock");
	for (i = 0; i < TIMES_OFF; i++)
		call_on(SYS_getppid, 0, NULL, 0, sp, sp + 2);
	event_disable(fd);
	while ((raw = ring_next(&ring))) {
		if (raw->type != PERF_RECORD_SAMPLE)
			fail("samples were lost, or throttled");
		memcpy(&time, raw + 1, sizeof(time));
		if (last && time - last > longest)
			longest = time - last;
		last = time;
		free(raw);
	}
	if (longest < PERIOD)
		fail("samples");
	printf("off %s %lu\n", name, (unsigned long)longest - PERIOD);
	ring_unmap(&ring);
	close(fd);
}

static void set_number(const char *name, const char *number)
{
	const ssize_t len = strlen(number);
	int fd = open(name, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, number, len) != len)
		fail(name);
	close(fd);
}

static void measure_interrupts(void)
{
	struct ftrace trace;

	/* The rate cannot be set while the kernel does not adjust it: after 100 percent */
	set_number(PERCENT, "99");
	set_number(RATE, "1000000");
	set_number(PERCENT, "100");
	files_make();
	measure_off("nothing");
	if (ftrace_open(&trace, "worst") || ftrace_set(&trace, FTRACE_OPTION, "1") ||
	    ftrace_event(&trace, FTRACE_ENTER, getpid()))
		fail("tracing");
	measure_off("trace");
	ftrace_close(&trace);
}

static void load(const char *module)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		fail(module);
	close(fd);
	worst.module = open(BENCH, O_RDWR | O_CLOEXEC);
	if (worst.module < 0)
		fail(BENCH);
}

int main(int argc, char **argv)
{
	static const uint8_t nop[] = { 0x90 };
	static const uint8_t prefixes[] = {
		0x26, 0x2e, 0x36, 0x66, 0x66, 0x66, 0x66, 0x66,
		0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x90,
	};
	/* lock addl $imm, %fs:disp(%r8,%r9,8) */
	static const uint8_t longest[] = {
		0xf0, 0x64, 0x67, 0x43, 0x81, 0x84, 0xc8, 1, 2, 3, 4, 5, 6, 7, 8,
	};

	if (argc != 2)
		return 1;
	if (!insns_are_counted()) {
		fprintf(stderr, "worst: not under qemu -icount shift=0\n");
		return 1;
	}
	load(argv[1]);
	text_make();
	worst.stack = map(STACK_SIZE, PROT_READ | PROT_WRITE);
	measure_interrupts();
	/* Register one: if there is no table at all, the kernel does not search */
	ranges_make(NULL, 1, false);
	measure_insns("instructions", nop, sizeof(nop));
	measure_insns("prefixes", prefixes, sizeof(prefixes));
	measure_insns("operands", longest, sizeof(longest));
	measure_signals();
	missing_make();
	measure_records("unreadable", in_missing);
	pages_make(FEW_PAGES);
	measure_records("records", in_page);
	measure_records("few-mappings", in_pages);
	ranges_make("few-tables", FEW_PAGES, false);
	ranges_make("few-sections", FEW_SECTIONS, true);
	pages_make(NR_PAGES);
	measure_records("mappings", in_pages);
	ranges_make("sections", FEW_SECTIONS, true);
	ranges_make("tables", NR_RANGES, false);
	measure_records("mappings+ranges", in_pages);
	return 0;
}
