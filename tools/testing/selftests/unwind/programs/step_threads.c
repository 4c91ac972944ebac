// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that start, wait for each other, and end.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static __thread char text[64];
static int arrived;

static void make_key(void)
{
	pthread_key_create(&key, free);
}

static long work(long n)
{
	snprintf(text, sizeof(text), "thread %ld", n);
	pthread_setspecific(key, malloc(16));
	return n < 2 ? n : work(n - 1) + work(n - 2);
}

static void *thread(void *arg)
{
	long n = (long)arg;

	pthread_once(&once, make_key);
	n = work(n);
	pthread_mutex_lock(&lock);
	arrived++;
	pthread_cond_broadcast(&changed);
	while (arrived < 3)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return (void *)n;
}

int main(void)
{
	pthread_t threads[3];
	void *result;
	long i;

	for (i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, thread, (void *)(i + 2)))
			return 1;
	for (i = 0; i < 3; i++)
		if (pthread_join(threads[i], &result))
			return 2;
	return 0;
}
