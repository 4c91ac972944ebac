// SPDX-License-Identifier: GPL-2.0
/*
 * A driver for the fuzz targets, for compilers that bring none.
 *
 * Tries each input that it is given for every target; then, unless told only to
 * replay, mutations of these and of generated tables.  The same seed makes the
 * same inputs.  The input that is being tried is written to a file when it
 * breaks something; given back, with -r, it does so again.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <linux/kernel.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

#include "lookup.h"
#include "sframe_build.h"
#include "sframe_fuzz.h"
#include "sframe_gen.h"
#include "sframe_mutate.h"

#define NUM_TABLES	512
/* A few larger ones, for searches of some depth */
#define LARGE_EVERY	16
#define LARGE_FUNCS	400
/* Two exceed the bounds on lookups: see add_too_large() */
#define NUM_TOO_LARGE	2

struct input {
	u8	*bytes;
	u32	size;
};

static struct input *seeds;
static u32 num_seeds;

static u8 present[FUZZ_MAX_INPUT];
static u32 present_size;
static const char *crash_file = "sframe_fuzz.crash";
static u64 state = 1;
static unsigned long runs;

static void save_present(void)
{
	FILE *f = fopen(crash_file, "wb");

	if (!f)
		return;
	fwrite(present, 1, present_size, f);
	fclose(f);
	fprintf(stderr, "sframe_fuzz: after %lu executions, input saved in %s\n",
		runs, crash_file);
}

static void on_signal(int sig)
{
	save_present();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void add_seed(const u8 *bytes, u32 size)
{
	struct input *seed = &seeds[num_seeds++];

	seed->bytes = malloc(size);
	seed->size = size;
	memcpy(seed->bytes, bytes, size);
}

static void add_section(const struct sfb_image *img)
{
	present_size = fuzz_input(img->bytes, img->size, present, FUZZ_MAX_INPUT, &state);
	add_seed(present, present_size);
}

/* No header is refused, so that the bounds are met for sure */
static void add_amd64(const struct sfb_image *img)
{
	add_section(img);
	seeds[num_seeds - 1].bytes[0] = SFB_AMD64;
}

/* More functions than a lookup visits in an unsorted index, and more FREs */
static void add_too_large(void)
{
	const u32 num = MAX_SCAN + 2, num_fres = MAX_FRES + 2;
	struct sfb_func *funcs = calloc(num, sizeof(*funcs));
	struct sfb_fre *fres = calloc(num_fres, sizeof(*fres));
	struct sfb_table table = {
		.version = 2, .abi = SFB_AMD64, .fixed_ra = -8,
		.num_funcs = num, .funcs = funcs,
	};
	struct sfb_image img;
	u32 i;

	for (i = 0; i < num; i++)
		funcs[i] = (struct sfb_func){ .start = i * 16, .size = 16 };
	sfb_build(&img, &table);
	add_amd64(&img);
	sfb_free(&img);

	for (i = 0; i < num_fres; i++)
		fres[i] = (struct sfb_fre)SFB_FRE(i / 512, SFB_SP, 0, 8 + i % 4 * 8);
	funcs[0] = (struct sfb_func){
		.start = 0x1000, .size = 0x100, .fres = fres, .num_fres = num_fres,
	};
	table.num_funcs = 1;
	sfb_build(&img, &table);
	add_amd64(&img);
	sfb_free(&img);
	free(fres);
	free(funcs);
}

static void generate_seeds(void)
{
	struct sfb_image img;
	u32 i;

	for (i = 0; i < NUM_TABLES; i++) {
		gen_table(&img, i, i % LARGE_EVERY ? 8 : LARGE_FUNCS);
		add_section(&img);
		sfb_free(&img);
	}
	add_too_large();
}

static void read_seed(const char *path)
{
	FILE *f = fopen(path, "rb");

	if (!f) {
		perror(path);
		exit(2);
	}
	present_size = fread(present, 1, sizeof(present), f);
	fclose(f);
	add_seed(present, present_size);
}

static int write_seeds(const char *dir)
{
	char path[4096];
	FILE *f;
	u32 i;

	for (i = 0; i < num_seeds; i++) {
		snprintf(path, sizeof(path), "%s/table%u", dir, i);
		f = fopen(path, "wb");
		if (!f || fwrite(seeds[i].bytes, seeds[i].size, 1, f) != 1 ||
		    fclose(f)) {
			perror(path);
			return 2;
		}
	}
	return 0;
}

static void try_present(void)
{
	/* Lookups are bounded: end an endless one.  CPU time does not depend on other load. */
	const struct itimerval limit = { .it_value.tv_sec = 20 };
	enum fuzz_target target;

	setitimer(ITIMER_PROF, &limit, NULL);
	for (target = 0; target < FUZZ_TARGETS; target++)
		fuzz_one(target, present, present_size);
}

static void replay(void)
{
	u32 i;

	for (i = 0; i < num_seeds; i++) {
		present_size = seeds[i].size;
		memcpy(present, seeds[i].bytes, present_size);
		try_present();
	}
	printf("ok 1 - fuzz: %u inputs replayed for %u targets\n", num_seeds,
	       FUZZ_TARGETS);
}

static const struct input *any_seed(void)
{
	return &seeds[gen_below(&state, num_seeds)];
}

static void make_input(void)
{
	const struct input *seed = any_seed(), *other = any_seed();
	u32 n = 1 + gen_below(&state, 3);

	present_size = 0;
	if (!gen_below(&state, 8))
		present_size = fuzz_cross(seed->bytes, seed->size, other->bytes,
					  other->size, present, FUZZ_MAX_INPUT,
					  &state);
	if (!present_size) {
		present_size = seed->size;
		memcpy(present, seed->bytes, present_size);
	}
	while (n--)
		present_size = fuzz_mutate(present, present_size,
					   FUZZ_MAX_INPUT, &state);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static int report(double seconds)
{
	static const char * const names[] = {
		"headers refused", "FREs", "outermost FREs", "no FREs",
		"invalid entries", "bounds met", "unreadable",
		"the same in a table", "right in a table", "sections without a table",
	};
	bool all = true;
	u32 i;

	for (i = 0; i < FUZZ_OUTCOMES; i++) {
		printf("# %lu %s\n", fuzz_outcomes[i], names[i]);
		all &= fuzz_outcomes[i] != 0;
	}
	printf("# fuzz: %lu executions for each of %u targets in %.1f s\n", runs,
	       FUZZ_TARGETS, seconds);
	printf("ok 2 - fuzz: no input broke anything\n");
	printf("%sok 3 - fuzz: every outcome was seen\n1..3\n",
	       all ? "" : "not ");
	return !all;
}

static int fuzz(unsigned long max_runs, double max_seconds)
{
	double start = now();

	while ((!max_runs || runs < max_runs) &&
	       (!max_seconds || runs % 256 || now() - start < max_seconds)) {
		make_input();
		try_present();
		runs++;
	}
	return report(now() - start);
}

static int print_usage(const char *name)
{
	fprintf(stderr,
		"usage: %s [-n runs] [-t seconds] [-s seed] [-o crash-file] [input...]\n"
		"       %s -r [-o crash-file] input...\n"
		"       %s -w directory\n", name, name, name);
	return 2;
}

int main(int argc, char **argv)
{
	unsigned long max_runs = 0;
	double max_seconds = 0;
	bool only_replay = false;
	const char *write_to = NULL;
	int opt;

	while ((opt = getopt(argc, argv, "n:t:s:o:rw:")) != -1) {
		switch (opt) {
		case 'n':
			max_runs = strtoul(optarg, NULL, 0);
			break;
		case 't':
			max_seconds = strtod(optarg, NULL);
			break;
		case 's':
			state = strtoull(optarg, NULL, 0) ?: 1;
			break;
		case 'o':
			crash_file = optarg;
			break;
		case 'r':
			only_replay = true;
			break;
		case 'w':
			write_to = optarg;
			break;
		default:
			return print_usage(argv[0]);
		}
	}
	if (!max_runs && !max_seconds)
		max_runs = 200000;
	signal(SIGABRT, on_signal);
	signal(SIGPROF, on_signal);
#ifdef __SANITIZE_ADDRESS__
	__sanitizer_set_death_callback(save_present);
#endif

	printf("# fuzz: seed %llu\n", (unsigned long long)state);
	seeds = calloc(NUM_TABLES + NUM_TOO_LARGE + argc, sizeof(*seeds));
	for (; optind < argc; optind++)
		read_seed(argv[optind]);
	if (only_replay) {
		replay();
		printf("1..1\n");
		return 0;
	}
	generate_seeds();
	if (write_to)
		return write_seeds(write_to);
	replay();
	return fuzz(max_runs, max_seconds);
}
