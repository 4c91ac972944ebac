// SPDX-License-Identifier: GPL-2.0
/*
 * A program to profile: two threads that the C library calls back, and that spend
 * their time in it, in their own code and in the kernel; one that waits, called back
 * as well.
 *
 *     mixed SECONDS
 */
#include <pthread.h>
#include <regex.h>
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORDS	2000

static time_t end;

static int compare(const void *a, const void *b)
{
	return strcmp(*(char * const *)a, *(char * const *)b);
}

static int compare_direct(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* As if the words came from far away */
static int compare_far(const void *a, const void *b)
{
	const struct timespec nap = { .tv_nsec = 1000000 };

	nanosleep(&nap, NULL);
	return compare(a, b);
}

static uint64_t tree(unsigned int depth)
{
	return depth ? tree(depth - 1) + 3 * tree(depth - 1) : 1;
}

/* Search, print and sort; the sum keeps all of it from being left out */
static uint64_t process(char **words, regex_t *regex, FILE *null)
{
	uint64_t sum = tree(12);
	void *root = NULL;
	int i;

	for (i = 0; i < WORDS; i++) {
		if (!tsearch(words[i], &root, compare_direct))
			abort();
		sum += regexec(regex, words[i], 0, NULL, 0);
		fprintf(null, "%s %.17g\n", words[i], strtod(words[i], NULL) / 7);
	}
	while (root)
		tdelete(*(char **)root, &root, compare_direct);
	qsort(words, WORDS, sizeof(*words), compare);
	return sum;
}

static void *work(void *arg)
{
	uint64_t state = (uintptr_t)arg, sum = 0;
	FILE *null = fopen("/dev/null", "w");
	char *words[WORDS];
	regex_t regex;
	int i;

	if (!null || regcomp(&regex, "^(1|22|333)+.*(4|5)6?$", REG_EXTENDED | REG_NOSUB))
		abort();
	while (time(NULL) < end) {
		for (i = 0; i < WORDS; i++) {
			state = state * 6364136223846793005UL + 1442695040888963407UL;
			if (asprintf(&words[i], "%lu", state >> 33) < 0)
				abort();
		}
		sum += process(words, &regex, null);
		for (i = 0; i < WORDS; i++)
			free(words[i]);
	}
	return (void *)(uintptr_t)(sum | 1);
}

static void *wait_often(void *arg)
{
	char *words[6] = { "some", "words", "that", "are", "far", "away" };

	while (time(NULL) < end)
		qsort(words, sizeof(words) / sizeof(*words), sizeof(*words), compare_far);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];

	end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 10);
	if (pthread_create(&thread[0], NULL, work, (void *)1) ||
	    pthread_create(&thread[1], NULL, wait_often, NULL))
		return 1;
	work((void *)2);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	return 0;
}
