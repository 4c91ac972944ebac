// SPDX-License-Identifier: GPL-2.0
/*
 * Differential test: the kernel's decoder against libsframe, row by row.
 *
 * For each ELF file given, and for generated tables (-g N), both are asked about
 * every address at which something can change: around each function's ends and
 * each row's start; and about others in between, also where no function is.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/kernel.h>

#include "diff_elf.h"
#include "diff_oracle.h"
#include "lookup.h"
#include "sframe_gen.h"
#include "tap.h"
#include "umem.h"

#define BASE		0x7f1234567000UL
/* Addresses per section, besides those around starts and ends */
#define STRIDE_FILE	50000
#define STRIDE_GENERATED 200
#define MAX_REPEATS	3	/* repetitions looked at, of a PCMASK function */

static unsigned long addresses, differences;
static unsigned long total_addresses, total_differences, total_rows;

static void compare(const struct sframe_section *sec,
		    const struct oracle *oracle, s64 offset)
{
	struct unwind_row ours, theirs;
	const char *broken;
	int ret, want;

	ret = lookup_row(sec, BASE + offset, UNWIND_USER_FAULTABLE, &ours,
			 &broken);
	want = oracle_find_row(oracle, offset, &theirs);
	addresses++;
	total_rows += !want;
	if (ret == want && !broken && (ret || row_equal(&ours, &theirs)))
		return;
	differences++;
	if (broken)
		tap_fail("%#llx: %s", (long long)offset, broken);
	else
		tap_fail("%#llx: we: %d %s; libsframe: %d %s",
			 (long long)offset, ret, ret ? "" : row_string(&ours),
			 want, want ? "" : row_string(&theirs));
}

static void compare_around(const struct sframe_section *sec,
			   const struct oracle *oracle, s64 offset)
{
	compare(sec, oracle, offset - 1);
	compare(sec, oracle, offset);
	compare(sec, oracle, offset + 1);
}

static void compare_func(const struct sframe_section *sec,
			 const struct oracle *oracle,
			 const struct oracle_func *func)
{
	u32 i, repeat;
	s64 start;

	compare_around(sec, oracle, func->start);
	compare_around(sec, oracle, func->start + func->size);
	for (i = 0; i < func->num_fres; i++) {
		start = oracle_row_start(oracle, func, i);
		if (start < 0) {
			differences++;
			tap_fail("function %u has no row %u in libsframe",
				 func->index, i);
			break;
		}
		for (repeat = 0; repeat < MAX_REPEATS; repeat++) {
			compare_around(sec, oracle, func->start + start);
			start += func->rep_size;
			if (!func->rep_size)
				break;
		}
	}
}

static void compare_stride(const struct sframe_section *sec,
			   const struct oracle *oracle, u32 max)
{
	u32 num = oracle_num_funcs(oracle);
	const struct oracle_func *last;
	s64 offset, end, stride;

	if (!num)
		return;
	last = oracle_func(oracle, num - 1);
	offset = oracle_func(oracle, 0)->start - 64;
	end = last->start + last->size + 64;
	/* Odd, so that it meets every alignment */
	stride = (end - offset) / max | 1;
	for (; offset < end; offset += stride)
		compare(sec, oracle, offset);
}

static void compare_section(const u8 *bytes, size_t size, u32 max_stride)
{
	struct oracle *oracle = oracle_open(bytes, size);
	struct sframe_section sec;
	u32 i;
	int ret;

	if (!oracle) {
		tap_fail("libsframe does not decode it");
		return;
	}
	umem_map(BASE, bytes, size);
	ret = sframe_read_header(&sec, BASE, size, oracle_abi(oracle));
	CHECK_EQ(ret, 0);
	if (!ret) {
		for (i = 0; i < oracle_num_funcs(oracle); i++)
			compare_func(&sec, oracle, oracle_func(oracle, i));
		compare_stride(&sec, oracle, max_stride);
	}
	umem_unmap_all();
	oracle_close(oracle);
}

static void report(const char *name)
{
	printf("# %s: %lu addresses, %lu differences\n", name, addresses,
	       differences);
	total_addresses += addresses;
	total_differences += differences;
	addresses = 0;
	differences = 0;
}

static void diff_file(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	size_t size;
	u8 *bytes = elf_sframe(path, &size);

	if (!bytes) {
		tap_skip("diff: %s has no SFrame section", name);
		return;
	}
	tap_begin("diff: %s", name);
	compare_section(bytes, size, STRIDE_FILE);
	report(name);
	tap_end();
	free(bytes);
}

static void diff_generated(u32 num)
{
	struct sfb_image img;
	u32 seed;

	tap_begin("diff: %u generated tables", num);
	for (seed = 0; seed < num; seed++) {
		gen_table(&img, seed, 12);
		compare_section(img.bytes, img.size, STRIDE_GENERATED);
		if (differences) {
			tap_fail("that was seed %u", seed);
			sfb_free(&img);
			break;
		}
		sfb_free(&img);
	}
	report("generated");
	tap_end();
}

int main(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "g:")) != -1) {
		if (opt != 'g') {
			fprintf(stderr,
				"usage: %s [-g tables] [elf-file...]\n",
				argv[0]);
			return 2;
		}
		diff_generated(strtoul(optarg, NULL, 0));
	}
	for (; optind < argc; optind++)
		diff_file(argv[optind]);

	printf("# total: %lu addresses, %lu differences\n", total_addresses,
	       total_differences);
	tap_begin("diff: libsframe found rows");
	if (!total_rows)
		tap_fail("none in %lu addresses", total_addresses);
	tap_end();
	return tap_finish();
}
