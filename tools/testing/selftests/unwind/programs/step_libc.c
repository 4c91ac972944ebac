// SPDX-License-Identifier: GPL-2.0
/*
 * Calls into the C library and back, through lazily bound PLT entries, the dynamic
 * linker, IFUNCs, callbacks, longjmp() and the vDSO.
 */
#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <regex.h>
#include <search.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static char line[512];

static void print(void)
{
	snprintf(line, sizeof(line), "%d %s %-8.3f|%+e|%g %#lx %5c %p %zu", 42,
		 "text", 3.25, 1e100, 0.1, 255UL, 'x', (void *)line,
		 sizeof(line));
	printf("%s %.10Lf\n", line, (long double)M_PI);
	fprintf(stdout, "%ls\n", L"wide");
	puts(line);
	fflush(stdout);
}

static void scan(void)
{
	char word[32];
	double number;
	int value;

	if (sscanf("17 apples 2.5e3", "%d %31s %lf", &value, word, &number) != 3)
		abort();
	number += strtod("0x1.8p3", NULL) + strtod("1234567890.123456789e-5", NULL);
	value += strtol("-123", NULL, 0) + atoi("99");
	snprintf(line, sizeof(line), "%d %s %a", value, word, number);
}

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void sort(void)
{
	int number[12], key = 9, i;

	for (i = 0; i < 12; i++)
		number[i] = i * 7 % 12;
	qsort(number, 12, sizeof(*number), by_value);
	if (!bsearch(&key, number, 12, sizeof(*number), by_value))
		abort();
}

static int by_string(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void visit(const void *node, VISIT which, int depth)
{
	snprintf(line, sizeof(line), "%s %d %d", *(char **)node, which, depth);
}

static void search(void)
{
	static const char * const words[] = { "one", "two", "three", "four" };
	void *root = NULL;
	int i;

	for (i = 0; i < 4; i++)
		tsearch(words[i], &root, by_string);
	twalk(root, visit);
	for (i = 0; i < 4; i++)
		tdelete(words[i], &root, by_string);
}

static void allocate(void)
{
	void *chunk[8];
	int i;

	for (i = 0; i < 8; i++)
		chunk[i] = malloc(24 << i);
	for (i = 0; i < 8; i += 2)
		chunk[i] = realloc(chunk[i], 48 << i);
	for (i = 0; i < 8; i++)
		free(chunk[i]);
	/* By mmap() */
	free(malloc(1 << 20));
	free(calloc(7, 33));
	free(aligned_alloc(256, 512));
	free(strdup("copy"));
}

static void match(void)
{
	regmatch_t at[3];
	regex_t regex;

	if (regcomp(&regex, "^([a-z]+)=(yes|[0-9]+)$", REG_EXTENDED))
		abort();
	regexec(&regex, "name=17", 3, at, 0);
	regexec(&regex, "name=oops", 3, at, 0);
	regfree(&regex);
}

static void strings(void)
{
	char copy[256], *save, *word;

	stpcpy(copy, "the quick brown fox jumps over the lazy dog");
	for (word = strtok_r(copy, " ", &save); word;
	     word = strtok_r(NULL, " ", &save))
		line[strlen(word)] = toupper(*word);
	memmove(copy + 5, copy, 100);
	memset(copy, 'a', 200);
	if (strstr(copy, "needle") || memchr(copy, 'b', 100) || strrchr(copy, 'z'))
		line[0]++;
	strncat(line, "tail", sizeof(line) - strlen(line) - 1);
	if (memcmp(copy, line, 16) > 0 && strcasecmp(copy, line))
		line[0]++;
}

static void tell_time(void)
{
	struct timespec ts;
	struct timeval tv;
	struct tm tm;
	time_t now = time(NULL);

	clock_gettime(CLOCK_MONOTONIC, &ts);
	clock_gettime(CLOCK_REALTIME_COARSE, &ts);
	gettimeofday(&tv, NULL);
	gmtime_r(&now, &tm);
	strftime(line, sizeof(line), "%Y-%m-%d %H:%M:%S", &tm);
	mktime(&tm);
}

static jmp_buf buffer;
static sigjmp_buf signal_buffer;

static void jump(int depth)
{
	if (depth)
		jump(depth - 1);
	if (depth == 2)
		siglongjmp(signal_buffer, 1);
	longjmp(buffer, 1);
}

static void jumps(void)
{
	if (!setjmp(buffer))
		jump(1);
	if (!sigsetjmp(signal_buffer, 1)) {
		if (!setjmp(buffer))
			jump(3);
		siglongjmp(signal_buffer, 1);
	}
}

static long plain(long n)
{
	return n + 1;
}

static long other(long n)
{
	return n + 2;
}

#if defined(__x86_64__)
static long (*resolve(void))(long n)
{
	return __builtin_cpu_supports("sse2") ? plain : other;
}
#elif defined(__aarch64__)
/* The dynamic linker passes the processor's features */
static long (*resolve(unsigned long hwcap))(long n)
{
	return hwcap & HWCAP_ASIMD ? plain : other;
}
#endif

long chosen(long n) __attribute__((ifunc("resolve")));

static void files(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char *text = NULL;
	size_t size = 0;

	while (file && getline(&text, &size, file) > 0 && strncmp(text, "Pid", 3))
		;
	if (file)
		fclose(file);
	free(text);
}

static void last(void)
{
	line[1] = 0;
}

int main(void)
{
	atexit(last);
	setlocale(LC_ALL, "C");
	print();
	scan();
	sort();
	search();
	allocate();
	match();
	strings();
	tell_time();
	jumps();
	files();
	line[0] = chosen(chosen(1)) + (int)(sin(getpid()) + pow(2.5, line[0]));
	/* All is bound now */
	scan();
	return 0;
}
