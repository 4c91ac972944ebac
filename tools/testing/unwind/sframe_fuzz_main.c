// SPDX-License-Identifier: GPL-2.0
/*
 * A driver for the fuzz target, for compilers that bring none.
 *
 * Knows the format: it takes well formed tables (generated ones, and files that
 * are given), and spoils a few fields or bytes of each.  The same seed makes the
 * same inputs.  The input that is being tried is written to a file when it
 * breaks something, and can be given back with -r.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/kernel.h>
#include <sanitizer/common_interface_defs.h>

#include "sframe_build.h"
#include "sframe_fuzz.h"
#include "sframe_gen.h"

#define NUM_SEEDS	512
#define MAX_INPUT	0x10000
/* A few larger ones, else the bounds on lookups are never met */
#define LARGE_EVERY	16
#define LARGE_FUNCS	400

static struct {
	u8	*bytes;
	u32	size;
} seeds[NUM_SEEDS];

static u8 input[MAX_INPUT];
static u32 input_size;
static const char *crash_file = "sframe_fuzz.crash";
static u64 state = 1;

static void save_input(void)
{
	FILE *f = fopen(crash_file, "wb");

	if (!f)
		return;
	fwrite(input, 1, input_size, f);
	fclose(f);
	fprintf(stderr, "sframe_fuzz: input saved in %s\n", crash_file);
}

static void on_abort(int sig)
{
	save_input();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void make_seeds(int num_files, char **files)
{
	struct sfb_image img;
	FILE *f;
	int i;

	for (i = 0; i < NUM_SEEDS; i++) {
		gen_table(&img, i, i % LARGE_EVERY ? 8 : LARGE_FUNCS);
		seeds[i].bytes = img.bytes;
		seeds[i].size = min(img.size, (u32)MAX_INPUT - 1024);
		free(img.func_fres);
	}
	for (i = 0; i < num_files && i < NUM_SEEDS; i++) {
		f = fopen(files[i], "rb");
		if (!f) {
			perror(files[i]);
			exit(2);
		}
		free(seeds[i].bytes);
		seeds[i].bytes = malloc(MAX_INPUT);
		seeds[i].size = fread(seeds[i].bytes, 1, MAX_INPUT - 1024, f);
		fclose(f);
	}
}

static u32 get32(u32 pos)
{
	u32 val = 0;

	if (pos + 4 <= input_size)
		memcpy(&val, input + pos, 4);
	return val;
}

static void put_random(u32 pos, u32 size)
{
	static const u64 interesting[] = {
		0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 0x10, 0x20, 0x7f, 0x80, 0xff,
		0x100, 0x3ff, 0x400, 0x401, 0x7fff, 0x8000, 0xffff, 0x10000,
		0x7fffffff, 0x80000000, 0xfffffff0, 0xfffffffb, 0xffffffff,
		0x100000000, 0x7fffffffffffffff, 0x8000000000000000, -1ULL,
	};
	u64 val = 0;

	if (pos + size > input_size)
		return;
	switch (gen_below(&state, 4)) {
	case 0:
		val = interesting[gen_below(&state, ARRAY_SIZE(interesting))];
		break;
	case 1:
		val = gen_random(&state);
		break;
	case 2:
		memcpy(&val, input + pos, size);
		val += gen_below(&state, 33) - 16;
		break;
	default:
		memcpy(&val, input + pos, size);
		val ^= 1ULL << gen_below(&state, 8 * size);
		break;
	}
	memcpy(input + pos, &val, size);
}

static void spoil_header(void)
{
	static const struct {
		u8	pos;
		u8	size;
	} fields[] = {
		{ SFB_HDR_VERSION, 1 }, { SFB_HDR_FLAGS, 1 },
		{ SFB_HDR_ABI, 1 }, { SFB_HDR_FIXED_FP, 1 },
		{ SFB_HDR_FIXED_RA, 1 }, { SFB_HDR_AUX_LEN, 1 },
		{ SFB_HDR_NUM_FDES, 4 }, { SFB_HDR_FRE_LEN, 4 },
		{ SFB_HDR_FDEOFF, 4 }, { SFB_HDR_FREOFF, 4 },
	};
	u32 i = gen_below(&state, ARRAY_SIZE(fields));

	/* Flags that exist, or most headers are refused at once */
	if (fields[i].pos == SFB_HDR_FLAGS)
		input[FUZZ_CONTROL + SFB_HDR_FLAGS] ^=
			gen_below(&state, 2) ? SFB_SORTED : SFB_PCREL;
	else
		put_random(FUZZ_CONTROL + fields[i].pos, fields[i].size);
}

static void spoil_func(void)
{
	static const u8 v2[][2] = {
		{ 0, 4 }, { 4, 4 }, { 8, 4 }, { 12, 4 }, { 16, 1 }, { 17, 1 },
	};
	static const u8 v3[][2] = {
		{ 0, 8 }, { 8, 4 }, { 12, 4 },
	};
	/* Of the attributes, which precede the rows */
	static const u8 attr[][2] = { { 0, 2 }, { 2, 1 }, { 3, 1 }, { 4, 1 } };
	u32 header_end = FUZZ_CONTROL + SFB_HDR_SIZE +
			 input[FUZZ_CONTROL + SFB_HDR_AUX_LEN];
	u32 num = get32(FUZZ_CONTROL + SFB_HDR_NUM_FDES);
	u32 fdes = header_end + get32(FUZZ_CONTROL + SFB_HDR_FDEOFF);
	u32 fres = header_end + get32(FUZZ_CONTROL + SFB_HDR_FREOFF);
	u32 i = num ? gen_below(&state, num) : 0, field;

	if (input[FUZZ_CONTROL + SFB_HDR_VERSION] == 2) {
		field = gen_below(&state, ARRAY_SIZE(v2));
		put_random(fdes + 20 * i + v2[field][0], v2[field][1]);
	} else if (gen_below(&state, 2)) {
		field = gen_below(&state, ARRAY_SIZE(v3));
		put_random(fdes + 16 * i + v3[field][0], v3[field][1]);
	} else {
		field = gen_below(&state, ARRAY_SIZE(attr));
		put_random(fres + get32(fdes + 16 * i + 12) + attr[field][0],
			   attr[field][1]);
	}
}

static void spoil_rows(void)
{
	u32 fres = FUZZ_CONTROL + SFB_HDR_SIZE +
		   input[FUZZ_CONTROL + SFB_HDR_AUX_LEN] +
		   get32(FUZZ_CONTROL + SFB_HDR_FREOFF);

	if (fres < input_size)
		put_random(fres + gen_below(&state, input_size - fres), 1);
}

/* Shorter, or longer by a repetition of what stands somewhere */
static void resize(void)
{
	u32 at, len;

	if (gen_below(&state, 2)) {
		len = gen_below(&state, 64);
		if (len > input_size - FUZZ_CONTROL)
			return;
		input_size -= len;
		/* Mostly the header knows, else it is refused */
		len = get32(FUZZ_CONTROL + SFB_HDR_FRE_LEN) - len;
		if (gen_below(&state, 8))
			memcpy(input + FUZZ_CONTROL + SFB_HDR_FRE_LEN, &len, 4);
		return;
	}
	at = FUZZ_CONTROL + gen_below(&state, input_size - FUZZ_CONTROL);
	len = gen_below(&state, min(input_size - at, MAX_INPUT - input_size));
	memcpy(input + input_size, input + at, len);
	input_size += len;
	/* Let the rows extend over it */
	len += get32(FUZZ_CONTROL + SFB_HDR_FRE_LEN);
	memcpy(input + FUZZ_CONTROL + SFB_HDR_FRE_LEN, &len, 4);
}

static void make_input(void)
{
	u32 i = gen_below(&state, NUM_SEEDS), n = gen_below(&state, 6);

	for (input_size = 0; input_size < FUZZ_CONTROL; input_size++)
		input[input_size] = gen_random(&state);
	memcpy(input + FUZZ_CONTROL, seeds[i].bytes, seeds[i].size);
	input_size += seeds[i].size;
	/* Mostly the ABI that the table is for */
	if (gen_below(&state, 16)) {
		input[0] &= ~3;
		input[0] |= input[FUZZ_CONTROL + SFB_HDR_ABI] & 3;
	}
	while (n-- && input_size > FUZZ_CONTROL + SFB_HDR_SIZE) {
		switch (gen_below(&state, 12)) {
		case 0:
			spoil_header();
			break;
		case 1 ... 5:
			spoil_func();
			break;
		case 6 ... 9:
			spoil_rows();
			break;
		case 10:
			put_random(gen_below(&state, input_size), 1);
			break;
		default:
			resize();
			break;
		}
	}
}

static int replay(const char *path)
{
	FILE *f = fopen(path, "rb");

	if (!f) {
		perror(path);
		return 2;
	}
	input_size = fread(input, 1, sizeof(input), f);
	fclose(f);
	LLVMFuzzerTestOneInput(input, input_size);
	printf("ok 1 - fuzz: %s broke nothing\n1..1\n", path);
	return 0;
}

static int report(unsigned long runs, double seconds)
{
	static const char * const names[] = {
		"headers refused", "rows", "outermost rows", "no rows",
		"invalid entries", "bounds met",
	};
	bool all = true;
	u32 i;

	for (i = 0; i < FUZZ_OUTCOMES; i++) {
		printf("# %lu %s\n", fuzz_outcomes[i], names[i]);
		all &= fuzz_outcomes[i] != 0;
	}
	printf("ok 1 - fuzz: %lu executions broke nothing in %.1f s\n", runs,
	       seconds);
	printf("%sok 2 - fuzz: every outcome was seen\n1..2\n",
	       all ? "" : "not ");
	return !all;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	unsigned long max_runs = 0, runs = 0;
	double start = now(), max_seconds = 0;
	int opt;

	while ((opt = getopt(argc, argv, "n:t:s:o:r:")) != -1) {
		switch (opt) {
		case 'n':
			max_runs = strtoul(optarg, NULL, 0);
			break;
		case 't':
			max_seconds = strtod(optarg, NULL);
			break;
		case 's':
			state = strtoull(optarg, NULL, 0) | 1;
			break;
		case 'o':
			crash_file = optarg;
			break;
		case 'r':
			return replay(optarg);
		default:
			fprintf(stderr,
				"usage: %s [-n runs] [-t seconds] [-s seed] [-o crash-file] [-r input] [section...]\n",
				argv[0]);
			return 2;
		}
	}
	if (!max_runs && !max_seconds)
		max_runs = 200000;
	signal(SIGABRT, on_abort);
	__sanitizer_set_death_callback(save_input);
	make_seeds(argc - optind, argv + optind);

	while ((!max_runs || runs < max_runs) &&
	       (!max_seconds || runs % 256 || now() - start < max_seconds)) {
		make_input();
		LLVMFuzzerTestOneInput(input, input_size);
		runs++;
	}
	for (opt = 0; opt < NUM_SEEDS; opt++)
		free(seeds[opt].bytes);
	return report(runs, now() - start);
}
