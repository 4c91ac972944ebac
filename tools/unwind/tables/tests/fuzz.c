// SPDX-License-Identifier: GPL-2.0
/*
 * Convert files whose bytes were changed, mostly in their CFI. Whatever the changes are,
 * the converter must neither crash nor hang, and the kernel must accept its output: the
 * section as a whole, and each row.
 *
 *	fuzz RUNS SEED FILE...
 *
 * Run N of a seed is always the same: "fuzz 1 SEED+N" repeats it alone. The program is
 * built with sanitizers, which end it at an error.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "convert.h"
#include "kernel_table.h"
#include "sframe_format.h"

#define HANG_SECONDS	20
#define PROBES		64

/**
 * struct input - a file that is changed
 * @bytes: as it is
 * @size: how many
 * @cfi: where its CFI begins
 * @cfi_size: how long that is
 */
struct input {
	u8	*bytes;
	size_t	size;
	size_t	cfi;
	size_t	cfi_size;
};

static u64 state;
static unsigned long run_seed;

static u64 random64(void)
{
	u64 z;

	state += 0x9e3779b97f4a7c15ULL;
	z = (state ^ state >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static size_t below(size_t max)
{
	return max ? random64() % max : 0;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void fail(const char *what)
{
	printf("not ok 1 - fuzz: %s, seed %lu\n1..1\n", what, run_seed);
	fflush(stdout);
	abort();
}

static void hang(int sig)
{
	(void)sig;
	fail("it hangs");
}

/*
 * Changes
 */

static const u64 values[] = {
	0, 1, 4, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000,
	0xfffffff0, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, -1ULL,
};

/* Operations of CFI, of expressions, and of addresses */
static const u8 bytes[] = {
	0x01, 0x02, 0x03, 0x04, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d,
	0x0e, 0x0f, 0x10, 0x12, 0x14, 0x16, 0x1a, 0x1d, 0x22, 0x23, 0x24, 0x2a,
	0x2d, 0x2f, 0x30, 0x41, 0x77, 0x80, 0x86, 0x90, 0xc6, 0xff, 'z', 'R', 'S',
};

static void change(u8 *at, size_t size)
{
	size_t pos = below(size), len;
	u64 val;

	switch (below(6)) {
	case 0:
		at[pos] = random64();
		break;
	case 1:
		at[pos] ^= 1 << below(8);
		break;
	case 2:
		at[pos] = bytes[below(sizeof(bytes))];
		break;
	case 3:
		val = values[below(sizeof(values) / sizeof(*values))];
		len = least(size - pos, 1U << below(4));
		memcpy(at + pos, &val, len);
		break;
	case 4:
		len = below(least(size - pos, 64));
		memmove(at + below(size - len), at + pos, len);
		break;
	default:
		len = below(least(size - pos, 16));
		memset(at + pos, random64(), len);
	}
}

/* Make a file with a changed copy of @in; return its size */
static size_t make_file(int fd, const struct input *in)
{
	u8 *copy = malloc(in->size);
	size_t size = in->size, i, nr = 1 + below(8);

	memcpy(copy, in->bytes, size);
	for (i = 0; i < nr; i++) {
		if (in->cfi_size && below(8))
			change(copy + in->cfi, in->cfi_size);
		else
			/* Headers are at the start, and at the end */
			change(below(2) ? copy : copy + size - size / 4, size / 4);
	}
	if (!below(64))
		size = below(size);
	if (ftruncate(fd, size) || pwrite(fd, copy, size, 0) != (ssize_t)size)
		fail("no memory for a file");
	free(copy);
	return size;
}

/* Checks of the output */

static void check_row(const struct kernel_table *kernel, u64 addr)
{
	struct unwind_frame_rule row;
	int ret = kernel_table_row(kernel, addr, &row);

	if (ret && ret != -ENOENT)
		fail("the kernel rejects a row");
}

/* The entry's first address and its last one have a row */
static void check_entry(const struct kernel_table *kernel, u64 i)
{
	const u8 *at = (const u8 *)kernel->section.fdes +
		       i * sizeof(struct sframe_fde_v3);
	struct sframe_fde_v3 fde;
	struct unwind_frame_rule row;
	u64 start;

	memcpy(&fde, at, sizeof(fde));
	start = fde.start_offset + ((unsigned long)at - kernel->section.start) +
		kernel->addr;
	if (kernel_table_row(kernel, start, &row) ||
	    kernel_table_row(kernel, start + fde.size - 1, &row))
		fail("an entry has no row");
	check_row(kernel, start + below(fde.size));
	check_row(kernel, start + fde.size);
}

static void check_notes(const struct unwind_table *table)
{
	size_t i;

	for (i = 0; i < table->nr_notes; i++) {
		if (table->notes[i].type >= UNWIND_NOTE_TYPES ||
		    !memchr(table->notes[i].name, 0, UNWIND_NOTE_NAME_LEN))
			fail("a note makes no sense");
		if (i && table->notes[i].start < table->notes[i - 1].start)
			fail("notes are not in order");
	}
}

static void check_table(const struct unwind_table *table)
{
	struct kernel_table kernel;
	unsigned int i;

	check_notes(table);
	if (kernel_table_open(&kernel, table->sframe, table->size, table->addr,
			      table->machine))
		fail("the kernel rejects the section");
	if (!kernel.section.num_fdes)
		return;
	for (i = 0; i < PROBES; i++)
		check_entry(&kernel, below(kernel.section.num_fdes));
}

static bool run(int fd, const struct input *in)
{
	struct unwind_table table;
	int ret;

	make_file(fd, in);
	alarm(HANG_SECONDS);
	ret = unwind_check(fd, random64() & 0xffffffffff000, &table);
	alarm(0);
	if (ret > 0 || ret < -4095)
		fail("an error that is none");
	if (!ret)
		check_table(&table);
	unwind_table_free(&table);
	return !ret;
}

/*
 * Files
 */

static void find_cfi(struct input *in)
{
	Elf *elf = elf_memory((char *)in->bytes, in->size);
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t names = 0;

	elf_getshdrstrndx(elf, &names);
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name;

		gelf_getshdr(scn, &shdr);
		name = elf_strptr(elf, names, shdr.sh_name);
		if (name && (!strcmp(name, ".eh_frame") ||
			     !strcmp(name, ".debug_frame") ||
			     !strcmp(name, ".gopclntab"))) {
			in->cfi = shdr.sh_offset;
			in->cfi_size = shdr.sh_size;
		}
	}
	elf_end(elf);
}

static bool load(struct input *in, const char *path)
{
	FILE *file = fopen(path, "re");
	long size;

	if (!file)
		return false;
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	in->bytes = malloc(size);
	in->size = fread(in->bytes, 1, size, file);
	fclose(file);
	find_cfi(in);
	return in->size == (size_t)size;
}

int main(int argc, char **argv)
{
	unsigned long runs = argc > 3 ? strtoul(argv[1], NULL, 0) : 0;
	unsigned long seed = argc > 3 ? strtoul(argv[2], NULL, 0) : 0, i, good = 0;
	int fd = memfd_create("fuzz", 0), nr = argc - 3;
	struct input *inputs = calloc(nr > 0 ? nr : 1, sizeof(*inputs));

	if (!runs || nr < 1)
		return 2;
	elf_version(EV_CURRENT);
	signal(SIGALRM, hang);
	for (i = 0; i < (unsigned long)nr; i++) {
		if (!load(&inputs[i], argv[3 + i]))
			return 2;
	}
	for (i = 0; i < runs; i++) {
		run_seed = seed + i;
		state = run_seed * 0xd1342543de82ef95ULL;
		good += run(fd, &inputs[below(nr)]);
	}
	for (i = 0; i < (unsigned long)nr; i++)
		free(inputs[i].bytes);
	free(inputs);
	/* Files that fail to convert test little */
	if (good < runs / 2)
		fail("most files are not converted at all");
	printf("ok 1 - fuzz: %lu files, %lu of them converted\n1..1\n", runs, good);
	return 0;
}
