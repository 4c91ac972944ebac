// SPDX-License-Identifier: GPL-2.0
/*
 * A load for memcached: threads that store and fetch through a Unix socket.
 *
 *	memload SOCKET THREADS REQUESTS
 *
 * The server may still be about to make its socket; at the end it is told to shut
 * down.
 *
 * Each thread has a connection of its own and makes REQUESTS requests, of the
 * text protocol: it stores a value, fetches that one and nine others in one
 * request, and increments a counter.  What is fetched is compared with what was
 * stored, so that it is known that the server did its work.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define KEYS		1000
#define FETCHED		10

static struct sockaddr_un address = { .sun_family = AF_UNIX };
static unsigned long requests;

static void fail(const char *what)
{
	fprintf(stderr, "memload: %s\n", what);
	exit(1);
}

/* Until the server listens; it gives no sign of it */
static void await_server(int fd)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	int left = 6000;

	while (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		if ((errno != ENOENT && errno != ECONNREFUSED) || !left--)
			fail("cannot connect");
		nanosleep(&pause, NULL);
	}
}

static FILE *connection(FILE **out)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	FILE *in;

	if (fd < 0)
		fail("no socket");
	await_server(fd);
	in = fdopen(fd, "r");
	*out = fdopen(dup(fd), "w");
	if (!in || !*out)
		fail("no stream");
	return in;
}

static void expect(FILE *in, const char *line)
{
	char got[256];

	if (!fgets(got, sizeof(got), in) || strcmp(got, line)) {
		fprintf(stderr, "memload: not %s", line);
		exit(1);
	}
}

/* The value of a key: longer for later ones */
static int value(char *buf, size_t size, long thread, unsigned long key)
{
	return snprintf(buf, size, "%ld-%0*lu", thread, (int)(key % 64 + 1), key);
}

static void store(FILE *in, FILE *out, long thread, unsigned long key)
{
	char val[96];
	int len = value(val, sizeof(val), thread, key);

	fprintf(out, "set k%ld-%lu 0 0 %d\r\n%s\r\n", thread, key, len, val);
	fflush(out);
	expect(in, "STORED\r\n");
}

static void fetch(FILE *in, FILE *out, long thread, unsigned long last)
{
	unsigned long i;
	char line[192], val[96];
	int len;

	fputs("get", out);
	for (i = 0; i < FETCHED; i++)
		fprintf(out, " k%ld-%lu", thread, (last + KEYS - i) % KEYS);
	fputs("\r\n", out);
	fflush(out);
	for (i = 0; i < FETCHED; i++) {
		unsigned long key = (last + KEYS - i) % KEYS;

		len = value(val, sizeof(val), thread, key);
		snprintf(line, sizeof(line), "VALUE k%ld-%lu 0 %d\r\n", thread, key, len);
		expect(in, line);
		snprintf(line, sizeof(line), "%s\r\n", val);
		expect(in, line);
	}
	expect(in, "END\r\n");
}

static void *work(void *arg)
{
	long thread = (long)arg;
	unsigned long i;
	char line[64];
	FILE *in, *out;

	in = connection(&out);
	for (i = 0; i < KEYS; i++)
		store(in, out, thread, i);
	fprintf(out, "set n%ld 0 0 1\r\n0\r\n", thread);
	fflush(out);
	expect(in, "STORED\r\n");
	for (i = 0; i < requests; i++) {
		store(in, out, thread, i % KEYS);
		fetch(in, out, thread, i % KEYS);
		fprintf(out, "incr n%ld 1\r\n", thread);
		fflush(out);
		snprintf(line, sizeof(line), "%lu\r\n", i + 1);
		expect(in, line);
	}
	fclose(in);
	fclose(out);
	return NULL;
}

static void shut_down(void)
{
	FILE *in, *out;

	in = connection(&out);
	fputs("shutdown\r\n", out);
	fclose(out);
	/* It says nothing, and goes */
	if (fgetc(in) != EOF)
		fail("the server does not shut down");
	fclose(in);
}

int main(int argc, char **argv)
{
	pthread_t thread[64];
	long i, num;

	if (argc != 4)
		fail("usage: memload SOCKET THREADS REQUESTS");
	if (snprintf(address.sun_path, sizeof(address.sun_path), "%s", argv[1]) >=
	    (int)sizeof(address.sun_path))
		fail("the socket's name is too long");
	num = atol(argv[2]);
	requests = strtoul(argv[3], NULL, 10);
	if (num < 1 || num > 64)
		fail("1 to 64 threads");
	for (i = 0; i < num; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)i))
			fail("no thread");
	for (i = 0; i < num; i++)
		pthread_join(thread[i], NULL);
	shut_down();
	printf("%ld threads, %lu requests each: all answered\n", num, 3 * requests);
	return 0;
}
