// SPDX-License-Identifier: GPL-2.0
/*
 * Differential test: the kernel's decoder against libsframe, FRE by FRE.
 *
 * For each file given, and for generated tables (-g N), both are asked about
 * every address at which something can change: around each function's ends and
 * each FRE's start; and about others in between, also where no function is.
 *
 * There are two such programs, sframe_diff with the present libsframe and
 * sframe_diff2 with one that knows version 2 only.  What a libsframe does not
 * claim to read is passed over.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/err.h>
#include <linux/kernel.h>

#include "diff_elf.h"
#include "diff_oracle.h"
#include "diff_order.h"
#include "diff_report.h"
#include "lookup.h"
#include "sframe_format.h"
#include "sframe_gen.h"
#include "table.h"
#include "tap.h"
#include "umem.h"

#define BASE		0x7f1234567000UL
/* Addresses per section, besides those around starts and ends */
#define STRIDE_FILE	20000
#define STRIDE_GENERATED 200
#define MAX_REPEATS	3	/* repetitions looked at, of a PCMASK function */

static struct diff_count count;
/* Of the section at hand; NULL if that describes nothing */
static struct sframe_table *table;
static s64 last_around;

static void compare(const struct sframe_section *sec,
		    const struct oracle *oracle, s64 offset)
{
	struct unwind_frame_rule ours, theirs;
	const char *broken;
	int ret, want;

	ret = lookup_rule(sec, BASE + offset, &ours, &broken);
	if (!broken && table)
		broken = table_differs(table, BASE, BASE + offset, ret, &ours);
	want = oracle_find_rule(oracle, offset, &theirs);
	count.addresses++;
	count.found += !want;
	if (ret == want && !broken &&
	    (ret || (frame_rule_equal(&ours, &theirs) && ours.at_end == theirs.at_end)))
		return;
	count.differences++;
	if (broken)
		tap_fail("%#llx: %s", (long long)offset, broken);
	else
		tap_fail("%#llx: we: %d %s%s; libsframe: %d %s%s",
			 (long long)offset, ret, ret ? "" : frame_rule_string(&ours),
			 !ret && ours.at_end ? " at end" : "",
			 want, want ? "" : frame_rule_string(&theirs),
			 !want && theirs.at_end ? " at end" : "");
}

/* Skip an address that was compared just now: FREs often start close to each other */
static void compare_around(const struct sframe_section *sec,
			   const struct oracle *oracle, s64 offset)
{
	s64 i;

	for (i = offset - 1; i <= offset + 1; i++)
		if (i < last_around - 1 || i > last_around + 1)
			compare(sec, oracle, i);
	last_around = offset;
}

/* An FRE's first address and the ones beside it, and one amid the FRE */
static void compare_rule(const struct sframe_section *sec,
			 const struct oracle *oracle,
			 const struct oracle_func *func, s64 start, s64 end)
{
	u32 repeat;

	for (repeat = 0; repeat < MAX_REPEATS; repeat++) {
		compare_around(sec, oracle, func->start + start);
		if (end - start > 3)
			compare(sec, oracle,
				func->start + start + (end - start) / 2);
		if (!func->rep_size)
			break;
		start += func->rep_size;
		end += func->rep_size;
	}
}

static void compare_func(const struct sframe_section *sec,
			 const struct oracle *oracle,
			 const struct oracle_func *func)
{
	s64 start, end;
	u32 i;

	count.functions++;
	compare_around(sec, oracle, func->start);
	for (i = 0; i < func->num_fres; i++) {
		start = oracle_fre_start(oracle, func, i);
		if (start < 0) {
			count.differences++;
			tap_fail("function %u has no FRE %u in libsframe",
				 func->index, i);
			break;
		}
		count.fres++;
		end = i + 1 < func->num_fres ?
		      oracle_fre_start(oracle, func, i + 1) :
		      func->rep_size ?: func->size;
		compare_rule(sec, oracle, func, start, end);
	}
	compare_around(sec, oracle, func->start + func->size);
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

static void open_table(const u8 *bytes, size_t size, u8 abi)
{
	const char *broken;

	table = table_of(bytes, size, BASE, abi);
	if (!IS_ERR(table)) {
		broken = table_broken(table, size);
		if (broken)
			tap_fail("table: %s", broken);
		count.section_bytes += size;
		count.table_bytes += table->bytes;
		return;
	}
	if (PTR_ERR(table) != -ENOENT)
		tap_fail("table: %ld", PTR_ERR(table));
	table = NULL;
}

static void compare_section(const u8 *bytes, size_t size, u32 max_stride)
{
	struct oracle *oracle = oracle_open(bytes, size);
	struct sframe_section sec;
	bool foreign;
	u32 i;
	int ret;

	if (!oracle) {
		tap_fail("libsframe does not decode it");
		return;
	}
	umem_map(BASE, bytes, size);
	foreign = order_follow(BASE, bytes, size);
	ret = sframe_read_header(&sec, BASE, size, oracle_abi(oracle));
	CHECK_EQ(ret, 0);
	/* A table is built from the bytes themselves, in the machine's order */
	table = NULL;
	if (!foreign)
		open_table(bytes, size, oracle_abi(oracle));
	if (!ret) {
		last_around = LONG_MIN / 2;
		for (i = 0; i < oracle_num_funcs(oracle); i++)
			compare_func(&sec, oracle, oracle_func(oracle, i));
		compare_stride(&sec, oracle, max_stride);
	}
	sframe_table_free(table);
	umem_unmap_all();
	oracle_close(oracle);
}

/* The last two components: directories tell apart files of one name */
static const char *short_name(const char *path)
{
	const char *name = path + strlen(path);
	int slashes = 2;

	while (name > path && (name[-1] != '/' || --slashes))
		name--;
	return name;
}

static void diff_section(const char *name, const u8 *bytes, size_t size)
{
	const struct sframe_header *hdr = (const void *)bytes;

	if (size >= sizeof(*hdr) && !oracle_reads(bytes))
		return;
	if (size < sizeof(*hdr) || !report_has_kind(hdr->version, hdr->abi_arch)) {
		tap_skip("diff: %s is not of a kind that the kernel reads",
			 name);
		return;
	}
	tap_begin("diff: %s", name);
	count = (struct diff_count){ .files = 1 };
	compare_section(bytes, size, STRIDE_FILE);
	report_add(hdr->version, hdr->abi_arch, &count);
}

static void diff_file(const char *path)
{
	const char *name = short_name(path);
	size_t size;
	u8 *bytes = elf_sframe(path, &size);

	if (!bytes) {
		tap_skip("diff: %s has no SFrame section", name);
		return;
	}
	diff_section(name, bytes, size);
	free(bytes);
}

static void diff_generated(u32 num)
{
	struct sfb_image img;
	u32 seed;

	tap_begin("diff: %u generated tables", num);
	count = (struct diff_count){};
	for (seed = 0; seed < num && !count.differences; seed++) {
		gen_table(&img, seed, 12);
		compare_section(img.bytes, img.size, STRIDE_GENERATED);
		if (count.differences)
			tap_fail("that was seed %u", seed);
		sfb_free(&img);
	}
	printf("# %u generated tables: %lu addresses, %lu differences\n", num,
	       count.addresses, count.differences);
}

int main(int argc, char **argv)
{
	unsigned long found;
	int opt;

	while ((opt = getopt(argc, argv, "g:")) != -1) {
		if (opt != 'g') {
			fprintf(stderr, "usage: %s [-g tables] [file...]\n",
				argv[0]);
			return 2;
		}
		diff_generated(strtoul(optarg, NULL, 0));
	}
	for (; optind < argc; optind++)
		diff_file(argv[optind]);

	found = report_print(oracle_max_version());
	tap_begin("diff: libsframe found FREs");
	if (!found)
		tap_fail("none");
	return tap_finish();
}
