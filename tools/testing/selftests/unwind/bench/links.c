// SPDX-License-Identifier: GPL-2.0
/* Chains of calls to take stacks of: see links.h. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/unwind.h>

#include "links.h"
#include "perf.h"

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

void *links_map(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		fail("mmap");
	return at;
}

/* Map text from a file, like a program's: the kernel trusts code made at run time less */
static char *map_text(size_t size)
{
	int fd = memfd_create("text", MFD_CLOEXEC);
	char *at;

	if (fd < 0 || ftruncate(fd, size))
		fail("memfd");
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		fail("mmap");
	close(fd);
	return at;
}

void links_make(struct links *links, unsigned int nr, size_t slot,
		const uint8_t *code, size_t size)
{
	unsigned int i;

	links->nr = nr;
	links->slot = slot;
	links->text = map_text(nr * slot);
	for (i = 0; i < nr; i++)
		memcpy(&links->text[i * slot], code, size);
	__builtin___clear_cache(links->text, links->text + nr * slot);
	if (mprotect(links->text, nr * slot, PROT_READ | PROT_EXEC))
		fail("mprotect");
}

void links_table(void *table, unsigned int nr, intptr_t text, size_t slot, size_t size)
{
	struct sframe_fde *fde = table + sizeof(struct sframe_header);
	struct link_rows *rows = (void *)(fde + nr);
	unsigned int i;

	*(struct sframe_header *)table = link_header(nr);
	for (i = 0; i < nr; i++) {
		fde[i] = (struct sframe_fde){
			.start_offset = text + i * slot,
			.size = size,
			.fre_off = i * sizeof(*rows),
		};
		rows[i] = LINK_ROWS;
	}
}

/* The file's header, a page; the functions; the table */
static int make_file(unsigned int nr, size_t slot, const uint8_t *code, size_t size)
{
	const size_t page = sysconf(_SC_PAGESIZE), text = nr * slot, table = links_table_size(nr);
	struct elf elf = { .size = page + text + table };
	struct elf64_hdr *ehdr = links_map(elf.size);
	struct elf64_phdr *phdr = (void *)(ehdr + 1);
	unsigned int i;
	int fd;

	elf.data = (void *)ehdr;
	*ehdr = (struct elf64_hdr){
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = LINK_MACHINE,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(*ehdr),
		.e_ehsize = sizeof(*ehdr),
		.e_phentsize = sizeof(*phdr),
		.e_phnum = 3,
	};
	phdr[0] = (struct elf64_phdr){
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X,
		.p_offset = page, .p_vaddr = page, .p_filesz = text, .p_memsz = text,
		.p_align = page,
	};
	phdr[1] = (struct elf64_phdr){
		.p_type = PT_LOAD, .p_flags = PF_R,
		.p_offset = page + text, .p_vaddr = page + text, .p_filesz = table,
		.p_memsz = table, .p_align = page,
	};
	phdr[2] = phdr[1];
	phdr[2].p_type = PT_GNU_SFRAME;
	for (i = 0; i < nr; i++)
		memcpy(&elf.data[page + i * slot], code, size);
	links_table(&elf.data[page + text], nr, -(intptr_t)text, slot, size);
	fd = elf_memfd(&elf);
	if (fd < 0)
		fail("memfd");
	munmap(elf.data, elf.size);
	return fd;
}

void links_make_files(struct links *links, unsigned int files, unsigned int nr, size_t slot,
		      const uint8_t *code, size_t size)
{
	const size_t page = sysconf(_SC_PAGESIZE), text = nr * slot;
	unsigned int i;
	char *at;
	int fd;

	links->nr = files * nr;
	links->slot = slot;
	links->text = links_map(files * text);
	for (i = 0; i < files; i++) {
		fd = make_file(nr, slot, code, size);
		at = links->text + i * text;
		if (mmap(at, text, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED | MAP_POPULATE,
			 fd, page) != at)
			fail("mmap");
		close(fd);
	}
}

void links_register(uint64_t key, const void *table, size_t table_size,
		    const void *text, size_t text_size)
{
	const struct unwind_table_attr attr = {
		.format = UNWIND_FORMAT_SFRAME,
		.key = key,
		.table_start = (uintptr_t)table,
		.table_size = table_size,
		.text_start = (uintptr_t)text,
		.text_size = text_size,
	};

	if (syscall(SYS_prctl, PR_UNWIND_TABLE, PR_UNWIND_TABLE_ADD, &attr, sizeof(attr), 0))
		fail("PR_UNWIND_TABLE");
}

char *links_at(const struct links *links, unsigned int i)
{
	return &links->text[(i + 1UL) * LINKS_APART % links->nr * links->slot];
}

void links_call(const struct links *links, unsigned int depth, link_fn last)
{
	link_fn fns[DEPTH_MAX + 1];
	unsigned int i;

	for (i = 0; i < depth; i++)
		fns[i] = (link_fn)links_at(links, i);
	fns[i] = last;
	fns[0](&fns[1]);
}

bool links_are(const struct links *links, unsigned int depth,
	       const uint64_t *ips)
{
	unsigned int i;

	for (i = 0; i < depth; i++) {
		const char *fn = links_at(links, depth - 1 - i);

		if (ips[i] != (uintptr_t)fn + FN_RETURNED)
			return false;
	}
	return true;
}

/* Use the tracepoint of a system call that nothing else here makes */
int links_sampler(struct ring *ring, size_t pages, bool deferred)
{
	struct perf_event_attr attr;
	int fd;

	if (tracepoint_attr(&attr, "raw_syscalls/sys_enter"))
		fail("no tracepoint");
	attr.exclude_callchain_kernel = 1;
	attr.defer_callchain = deferred;
	attr.defer_output = deferred;
	fd = event_open(&attr, 0, -1);
	if (fd < 0 || event_filter_syscall(fd, SYS_getppid) || ring_map(ring, fd, pages))
		fail("no event");
	return fd;
}

bool links_sampled(const struct links *links, unsigned int depth,
		   struct ring *ring)
{
	const struct record *stack = NULL;
	struct records recs = {};
	bool found = false;
	uint64_t i;

	if (records_read(&recs, ring))
		return false;
	/* A sample and its stack, or a sample that has it */
	if (recs.nr == 2)
		stack = records_get(&recs, PERF_RECORD_CALLCHAIN_DEFERRED, 0);
	else if (recs.nr == 1)
		stack = records_get(&recs, PERF_RECORD_SAMPLE, 0);
	/* Above the chain is the function that took the stack */
	for (i = 1; stack && !found && i + depth <= stack->nr; i++)
		found = links_are(links, depth, &stack->ips[i]);
	records_free(&recs);
	return found;
}
