// SPDX-License-Identifier: GPL-2.0
/*
 * unwind-tables serve: answer the kernel's requests.
 *
 *   read(/dev/unwind) ──> cache, or a sandbox that converts ──> ioctl(UNWIND_IOC_ADD)
 *
 * A few threads do that, each for one file at a time, so a file that takes long does not
 * keep the others waiting.  One of them is always there for the system's files.  The kernel asks
 * for a file when a stack meets it.  Files of processes that run already are given at the
 * start, before they are asked for.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "answers.h"
#include "budget.h"
#include "cache.h"
#include "device.h"
#include "mapped.h"
#include "serve.h"
#include "service.h"

#define THREADS		4
/* systemd's name of the device: this, and the version of the converter */
#define STORED_AS	"unwind"
/* When an earlier instance's is closed, it is free after this time, in milliseconds */
#define FREE_MS		5000
/* Lines about files without a table, in some milliseconds */
#define REPORTS_MAX	100
#define REPORTS_PERIOD	60000

static int device;
static bool verbose;
static struct cache cache;
/* For status; or -1 */
static int answers;

static __u64 now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ULL + now.tv_nsec / 1000000;
}

static void report(const struct unwind_request *request, __u64 ms, const char *text)
{
	char name[4096];

	name_of_file(request->fd, name, sizeof(name));
	/* One call: lines of several threads do not mix */
	fprintf(stderr, "%s: %s (%llu ms)\n", name, text, ms);
}

/* The file has a table */
static void report_added(const struct unwind_request *request, __u64 ms,
			 const struct unwind_table *table, bool hit)
{
	char text[128];

	answers_note(answers, request->fd, ms, NULL);
	if (!verbose)
		return;
	snprintf(text, sizeof(text), "%llu functions, %zu bytes%s%s",
		 table->stats.functions + table->stats.added, table->size,
		 table->has_chain ? ", and an interpreter" : "",
		 hit ? ", from the cache" : "");
	report(request, ms, text);
}

/*
 * Any user can make files that have no table, as fast as the kernel asks for them.  All reasons
 * are in the status; so print the first ones of each minute.
 */
static bool may_report(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static unsigned int nr;
	static __u64 since;
	const __u64 now = now_ms();
	unsigned int before;

	if (verbose)
		return true;
	pthread_mutex_lock(&lock);
	if (!since || now - since >= REPORTS_PERIOD) {
		since = now;
		nr = 0;
	}
	before = nr++;
	pthread_mutex_unlock(&lock);
	if (before == REPORTS_MAX)
		fprintf(stderr, "unwind-tables: more files have no table: see its status\n");
	return before < REPORTS_MAX;
}

/* The file has none, because of @why */
static void report_refused(const struct unwind_request *request, __u64 ms, const char *why,
			   bool for_now)
{
	char text[256];

	answers_note(answers, request->fd, ms, why);
	if (!may_report())
		return;
	snprintf(text, sizeof(text), "no table%s: %s", for_now ? " for now" : "", why);
	report(request, ms, text);
}

/* It has to be made again after the next boot; a full disk is not news for each file */
static void report_not_cached(const struct unwind_request *request, __u64 ms, const char *why)
{
	static bool reported;
	char text[128];

	if (__atomic_exchange_n(&reported, true, __ATOMIC_RELAXED) && !verbose)
		return;
	snprintf(text, sizeof(text), "its table cannot be cached: %s", why);
	report(request, ms, text);
}

/*
 * Did the conversion fail because of the file itself?  Any other reason may be gone when the
 * kernel asks again, some seconds later.
 */
static bool is_final(int error)
{
	return error == -ENOEXEC || error == -EINVAL || error == -EFBIG ||
	       error == -EOPNOTSUPP || error == -ENODATA;
}

/* Is the machine or this process short of something?  That says nothing about the file. */
static bool is_shortage(int error)
{
	return error == -EBUSY || error == -EAGAIN || error == -EMFILE || error == -ENFILE ||
	       error == -EPERM;
}

/*
 * Files whose conversion took too long or broke.  The machine may have been busy, or the file
 * is hostile: then the kernel is not to ask for ever.  Another file may get a deleted one's
 * number, but not its time.
 */
#define TRIES		3
#define REMEMBERED	256

struct failure {
	dev_t		dev;
	ino_t		ino;
	struct timespec	ctime;
	unsigned int	nr;
};

static bool failed_often(int fd)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct failure failures[REMEMBERED];
	struct failure *failure;
	struct stat st;
	bool often;

	if (fstat(fd, &st))
		return true;
	failure = &failures[(st.st_dev ^ st.st_ino) % REMEMBERED];
	pthread_mutex_lock(&lock);
	if (failure->dev != st.st_dev || failure->ino != st.st_ino ||
	    failure->ctime.tv_sec != st.st_ctim.tv_sec ||
	    failure->ctime.tv_nsec != st.st_ctim.tv_nsec)
		*failure = (struct failure){
			.dev = st.st_dev, .ino = st.st_ino, .ctime = st.st_ctim,
		};
	often = ++failure->nr >= TRIES;
	pthread_mutex_unlock(&lock);
	return often;
}

/* Answer the request for a file that was converted, or not: then with an error */
static enum answer answer_with(struct unwind_request *request, const struct unwind_table *table,
			       int error)
{
	enum answer ret = ANSWER_NONE;

	if (is_shortage(error) || (error && !is_final(error) && !failed_often(request->fd)))
		return ANSWER_FAILED;
	if (!error && table->stats.functions + table->stats.added)
		ret = device_answer(device, request, table);
	if (ret == ANSWER_NONE && request->id)
		ret = device_none(device, request);
	return ret;
}

/* Why the kernel has refused a table, where strerror() would mislead the user */
static const char *refusal(int error)
{
	if (error == E2BIG)
		return "too much code for so few entries";
	/* The kernel asks again when that has been raised */
	if (error == ENOSPC)
		return "larger than the sysctl kernel.unwind_max_tables_kb";
	return strerror(error);
}

/* Convert the file of a request, and answer it; @request->id is set to the table's */
static void convert(struct unwind_request *request)
{
	const __u64 start = now_ms();
	struct unwind_table table;
	struct cached cached;
	enum answer what;
	char refused[128];
	const char *why;
	int error;
	__u64 ms;

	error = cache_get(&cache, request->fd, &table, &cached);
	errno = 0;
	what = answer_with(request, &table, error);
	snprintf(refused, sizeof(refused), "the kernel refuses its table: %s", refusal(errno));
	if (error)
		why = unwind_convert_error(error);
	else if (what == ANSWER_NONE)
		why = errno ? refused : "no call frame information";
	else
		why = refusal(errno);
	ms = now_ms() - start;
	switch (what) {
	case ANSWER_ADDED:
		report_added(request, ms, &table, cached.hit);
		break;
	case ANSWER_LATE:
		if (verbose)
			report(request, ms, "has changed, or has a table");
		break;
	case ANSWER_NONE:
	case ANSWER_FAILED:
		report_refused(request, ms, why, what == ANSWER_FAILED);
		break;
	}
	/* Store it only after the answer: stacks are waiting for that, and nothing for this */
	cache_store(&cache, request->fd, &table, &cached);
	if (cached.error)
		report_not_cached(request, ms, strerror(-cached.error));
	if (cached.fd >= 0)
		close(cached.fd);
	unwind_table_free(&table);
}

/*
 * Files that are not the system's.  Any user can make files that take long, so these never
 * occupy all threads, and one owner's files leave a thread for other owners.  A request that
 * finds no thread waits here.  If it were dropped, the kernel would not ask again for some time,
 * and a user's programs may have more files than there are threads.  One owner's files take half
 * of the places at most.  A request keeps a mount busy: if its turn comes later than the kernel
 * would have dropped it, it is dropped.
 */
#define OTHERS_MAX	(THREADS - 1)
#define OWNER_MAX	(OTHERS_MAX - 1)
/* As in the kernel: requests, and milliseconds */
#define WAITING_MAX	256
#define LAPSES_AFTER	2000
/* give_mapped()'s thread */
#define NOBODY		~0ULL

/* A request, when it was read, and the owner of its file */
struct waiting {
	struct unwind_request	request;
	__u64			since;
	__u64			owner;
};

static pthread_mutex_t others_lock = PTHREAD_MUTEX_INITIALIZER;
/* Owners of the files that are being converted */
static __u64 others[OTHERS_MAX];
static unsigned int nr_others;
/* In the order of their arrival */
static struct waiting waiting[WAITING_MAX];
static unsigned int nr_waiting;

/* Called with the lock */
static bool may_begin(__u64 owner)
{
	unsigned int i, nr = 0;

	for (i = 0; i < nr_others; i++)
		nr += others[i] == owner;
	return nr_others < OTHERS_MAX && nr < OWNER_MAX;
}

/* Called with the lock; the descriptor is a copy */
static void add_waiting(const struct waiting *request)
{
	struct waiting *last = &waiting[nr_waiting];
	unsigned int i, nr = 0;

	for (i = 0; i < nr_waiting; i++)
		nr += waiting[i].owner == request->owner;
	if (nr_waiting == WAITING_MAX || nr >= WAITING_MAX / 2)
		return;
	*last = *request;
	last->request.fd = fcntl(request->request.fd, F_DUPFD_CLOEXEC, 0);
	nr_waiting += last->request.fd >= 0;
}

/* May the conversion begin?  Else the request waits, unless the kernel did not ask. */
static bool begin_other(const struct waiting *request)
{
	bool may;

	pthread_mutex_lock(&others_lock);
	may = may_begin(request->owner);
	if (may)
		others[nr_others++] = request->owner;
	else if (request->request.id)
		add_waiting(request);
	pthread_mutex_unlock(&others_lock);
	return may;
}

static void end_other(__u64 owner)
{
	unsigned int i;

	pthread_mutex_lock(&others_lock);
	for (i = 0; others[i] != owner; i++)
		;
	others[i] = others[--nr_others];
	pthread_mutex_unlock(&others_lock);
}

static bool is_late(const struct waiting *request)
{
	return now_ms() - request->since >= LAPSES_AFTER;
}

/* Called with the lock */
static void forget_waiting(unsigned int i)
{
	memmove(&waiting[i], &waiting[i + 1], (--nr_waiting - i) * sizeof(*waiting));
}

/*
 * Take the first request that waits and may begin, or that is to be dropped.  Of the threads that
 * made it wait, all but give_mapped()'s come here when they are done, so it is not forgotten.
 */
static bool take_waiting(struct waiting *request)
{
	bool found = false;
	unsigned int i = 0;

	pthread_mutex_lock(&others_lock);
	while (!found && i < nr_waiting) {
		*request = waiting[i];
		found = is_late(request) || may_begin(request->owner);
		if (found)
			forget_waiting(i);
		else
			i++;
	}
	pthread_mutex_unlock(&others_lock);
	return found;
}

/*
 * Answer a request, unless it has to wait, or the files of its owner take too long: the
 * kernel asks again when it meets the file later.  The descriptor stays open.
 */
static void answer(struct waiting *waited)
{
	struct unwind_request *request = &waited->request;
	const __u64 start = now_ms();
	struct stat st;

	if (fstat(request->fd, &st))
		return;
	waited->owner = budget_owner(&st);
	if (!budget_left(waited->owner, start)) {
		if (verbose)
			report(request, 0, "no table for now: too many of its owner's files");
		return;
	}
	if (waited->owner && !begin_other(waited))
		return;
	convert(request);
	if (waited->owner)
		end_other(waited->owner);
	/* Not for each file: there may be any number of them */
	if (budget_spend(waited->owner, start, now_ms() - start))
		fprintf(stderr, "unwind-tables: %s %llu: no tables for a minute: too many files\n",
			st.st_uid ? "user" : "device", st.st_uid ?: (__u64)st.st_dev);
}

/*
 * The last descriptor of a deleted file takes the file along.  That may be long, if the file has
 * many pieces, and lasts while its file system is frozen or its device does not answer.  A thread
 * of its own waits for that.  Others do if it has too many files already.
 */
#define CLOSING_MAX	256

static pthread_mutex_t closing_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t closing_some = PTHREAD_COND_INITIALIZER;
static int closing[CLOSING_MAX];
static unsigned int nr_closing;

static void *close_deleted(void *unused)
{
	int fd;

	for (;;) {
		pthread_mutex_lock(&closing_lock);
		while (!nr_closing)
			pthread_cond_wait(&closing_some, &closing_lock);
		fd = closing[--nr_closing];
		pthread_mutex_unlock(&closing_lock);
		close(fd);
	}
	return unused;
}

static void close_request(int fd)
{
	bool later = false;
	struct stat st;

	if (!fstat(fd, &st) && !st.st_nlink) {
		pthread_mutex_lock(&closing_lock);
		later = nr_closing < CLOSING_MAX;
		if (later)
			closing[nr_closing++] = fd;
		pthread_cond_signal(&closing_some);
		pthread_mutex_unlock(&closing_lock);
	}
	if (!later)
		close(fd);
}

static void *serve(void *unused)
{
	struct waiting next;

	for (;;) {
		ssize_t size = sizeof(next.request);

		if (!take_waiting(&next)) {
			size = read(device, &next.request, sizeof(next.request));
			next.since = now_ms();
		}
		if (size == sizeof(next.request)) {
			if (!is_late(&next))
				answer(&next);
			close_request(next.request.fd);
		} else if (size >= 0 || (errno != EINTR && errno != EAGAIN)) {
			/* ENFILE, EMFILE, ENOMEM: it may be better in a while */
			fprintf(stderr, "unwind-tables: " DEVICE ": %s\n",
				size < 0 ? strerror(errno) : "short read");
			sleep(1);
		}
	}
	return unused;
}

/* The kernel compares a file with what it was when it asked; here nobody asked */
static void give_unasked(int fd, void *unused)
{
	struct waiting unasked = { .request.fd = fd };
	const struct unwind_request *request = &unasked.request;
	struct stat before, after;

	(void)unused;
	if (fstat(fd, &before))
		return;
	answer(&unasked);
	if (request->id &&
	    (fstat(fd, &after) || before.st_size != after.st_size ||
	     before.st_ctim.tv_sec != after.st_ctim.tv_sec ||
	     before.st_ctim.tv_nsec != after.st_ctim.tv_nsec))
		device_withdraw(device, request->id);
}

/* Give the tables of files that are mapped just now, then answer requests */
static void *give_mapped(void *unused)
{
	mapped_files(give_unasked, NULL);
	end_other(NOBODY);
	return serve(unused);
}

static int start_thread(void *(*function)(void *unused))
{
	pthread_t thread;
	int ret = pthread_create(&thread, NULL, function, NULL);

	if (ret)
		fprintf(stderr, "unwind-tables: %s\n", strerror(ret));
	return ret;
}

/* Returns when the process is to end */
static int run(bool stored)
{
	char message[128];
	unsigned int i;
	sigset_t signals;
	int number;

	/* A process that ignores it gets no status of a child */
	signal(SIGCHLD, SIG_DFL);
	/* The threads inherit it */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);

	/* Count give_mapped()'s thread, too, so that one is always left for the system's files */
	others[0] = NOBODY;
	nr_others = !stored;
	if (start_thread(close_deleted))
		return 2;
	for (i = 0; i < THREADS; i++) {
		if (start_thread(i || stored ? serve : give_mapped))
			return 2;
	}
	if (!stored) {
		snprintf(message, sizeof(message), "FDSTORE=1\nFDNAME=" STORED_AS "-%s",
			 cache_converter);
		service_notify(message, device);
	}
	service_notify("READY=1", -1);
	sigwait(&signals, &number);
	return EXIT_SUCCESS;
}

/*
 * The kernel keeps what another version of the converter has answered as long as that one's
 * device is open.  This version may make better tables, and some where that one could make none.
 */
static int open_device(void)
{
	bool others = service_drop_stored(STORED_AS);
	int fd = device_open_service(), ms;

	for (ms = 0; fd < 0 && errno == EBUSY && others && ms < FREE_MS; ms += 10) {
		usleep(10000);
		fd = device_open_service();
	}
	return fd;
}

/**
 * cmd_serve - unwind-tables serve [-v] [-d DIR]
 * @argc: number of arguments
 * @argv: arguments
 *
 * Return: the exit status, after a signal.
 */
int cmd_serve(int argc, char **argv)
{
	char name[128];
	const char *dir = NULL;
	int stored, opt;

	while ((opt = getopt(argc, argv, "d:v")) != -1) {
		if (opt == 'd')
			dir = optarg;
		else if (opt == 'v')
			verbose = true;
		else
			return 2;
	}
	if (optind != argc) {
		fprintf(stderr, "unwind-tables: serve takes no file\n");
		return 2;
	}
	snprintf(name, sizeof(name), STORED_AS "-%s", cache_converter);
	stored = service_stored_fd(name);
	device = stored >= 0 ? stored : open_device();
	if (device < 0) {
		fprintf(stderr, "unwind-tables: " DEVICE ": %s\n",
			errno == EBUSY ? "another service runs" : strerror(errno));
		return 2;
	}
	if (cache_open(&cache, dir))
		cache_complain(&cache);
	answers = answers_create(stored >= 0);
	return run(stored >= 0);
}
