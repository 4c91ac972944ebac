// SPDX-License-Identifier: GPL-2.0
/*
 * The service between a kernel and a converter that this file replaces.  It reads requests
 * from a pipe.  The size of a file says what becomes of it.  systemd is a socket.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../answers.h"
#include "../cache.h"
#include "../device.h"
#include "../mapped.h"
#include "../serve.h"
#include "../service.h"

#define SUBJECT	"serve"
#include "result.h"

#define PATIENCE	30
#define TICK		10000

#define THREADS		4
/* Of other files than the system's: how many are converted at once, also of one owner, and wait */
#define OTHERS_MAX	3
#define OWNER_MAX	2
#define WAITING_MAX	256
#define LAPSES_AFTER	2000000

/* Sizes of files */
enum kind {
	MAPPED = 1,	/* is mapped when the service starts */
	CHANGING,	/* likewise, and has another size when it has been converted */
	EMPTY,		/* has no call frame information */
	LARGE,		/* has a chain, and more text than the kernel takes */
	FOREIGN,	/* has a table that the kernel cannot read */
	UNLUCKY,	/* comes when the kernel has no memory */
	HUGE,		/* has a larger table than all of the kernel's may be */
	BROKEN,		/* makes the parser fail */
	SHORT,		/* comes when the service has no descriptors */
	QUICK,		/* has a table at once */
	SLOW,		/* takes as long as the test wants */
	FROZEN,		/* was deleted, and cannot be removed as long as the test wants */
	KINDS,
};

/**
 * struct seen - what the service has done, by kind of file
 * @added: tables that it has given to the kernel
 * @tried: tables that it wanted to give
 * @none: answers that there is none
 * @noted: files that it is done with
 * @why: the reason why there is no table, for status
 * @running: slow files that it is just converting
 * @most: how many these have been at a time
 * @deleted: the table that it has taken back
 */
struct seen {
	unsigned int	added[KINDS];
	unsigned int	tried[KINDS];
	unsigned int	none[KINDS];
	unsigned int	noted[KINDS];
	char		why[KINDS][128];
	unsigned int	running;
	unsigned int	most;
	__u64		deleted;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct seen seen;
static bool hold;
static int requests[2];

static enum kind kind_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) || st.st_size >= KINDS ? 0 : st.st_size;
}

/* Something was seen */
static void count(unsigned int *counter)
{
	pthread_mutex_lock(&lock);
	++*counter;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static bool wait_until(const unsigned int *counter, unsigned int value)
{
	struct timespec end;
	int ret = 0;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENCE;
	pthread_mutex_lock(&lock);
	while (!ret && *counter != value)
		ret = pthread_cond_timedwait(&changed, &lock, &end);
	pthread_mutex_unlock(&lock);
	return !ret;
}

static int make_file(enum kind kind, uid_t owner)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, kind) || fchown(fd, owner, -1))
		exit(2);
	return fd;
}

/*
 * The kernel
 */

/* The device is busy for a while after the service has closed the one that was stored */
static unsigned int busy;

int open(const char *path, int flags, ...)
{
	(void)flags;
	errno = EBUSY;
	return strcmp(path, DEVICE) || (busy && busy--) ? -1 : requests[0];
}

/* The system's files are on the file system of /: here, files in memory */
int stat(const char *path, struct stat *st)
{
	int fd = make_file(QUICK, geteuid()), ret = fstat(fd, st);

	(void)path;
	close(fd);
	return ret;
}

/* Files in memory have no name: the last descriptor takes them along */
int close(int fd)
{
	const bool frozen = kind_of(fd) == FROZEN;

	pthread_mutex_lock(&lock);
	while (frozen && hold)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return syscall(SYS_close, fd);
}

static int add_table(struct unwind_answer *answer)
{
	static const int errors[KINDS] = {
		[LARGE] = E2BIG, [FOREIGN] = EOPNOTSUPP, [UNLUCKY] = ENOMEM,
		[HUGE] = ENOSPC,
	};
	const enum kind kind = answer->table_size;

	count(&seen.tried[kind]);
	if (errors[kind]) {
		errno = errors[kind];
		return -1;
	}
	answer->id = 100 + kind;
	count(&seen.added[kind]);
	return 0;
}

static int refuse(const struct unwind_answer *answer)
{
	count(&seen.none[kind_of(answer->fd)]);
	return 0;
}

/* One table, of no file that exists: as on btrfs, the device is not the one of stat() */
static int list_tables(struct unwind_list *list)
{
	struct unwind_table_info *info = (void *)(unsigned long)list->infos;

	*info = (struct unwind_table_info){ .id = 1, .ino = 1 };
	list->nr = 1;
	return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	(void)fd;
	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	switch (request) {
	case UNWIND_IOC_ADD:
		return add_table(arg);
	case UNWIND_IOC_NONE:
		return refuse(arg);
	case UNWIND_IOC_DEL:
		seen.deleted = *(__u64 *)arg;
		return 0;
	case UNWIND_IOC_LIST:
		return list_tables(arg);
	default:
		errno = ENOTTY;
		return -1;
	}
}

/*
 * The converter, and other parts of the service
 */

#define CONVERTER	"2"

const char cache_converter[] = CONVERTER;

int cache_open(struct cache *cache, const char *dir)
{
	(void)dir;
	*cache = (struct cache){ .own = -1, .shared = -1 };
	return 0;
}

static void take_long(void)
{
	pthread_mutex_lock(&lock);
	if (++seen.running > seen.most)
		seen.most = seen.running;
	pthread_cond_broadcast(&changed);
	while (hold)
		pthread_cond_wait(&changed, &lock);
	seen.running--;
	pthread_mutex_unlock(&lock);
}

void cache_complain(const struct cache *cache)
{
	(void)cache;
}

int cache_get(struct cache *cache, int fd, struct unwind_table *table, struct cached *cached)
{
	const enum kind kind = kind_of(fd);

	(void)cache;
	*cached = (struct cached){ .fd = -1 };
	if (kind == BROKEN || kind == SHORT)
		return kind == BROKEN ? -EPROTO : -EMFILE;
	*table = (struct unwind_table){
		.size = kind, .has_chain = kind == LARGE, .stats.functions = kind != EMPTY,
	};
	if (kind == CHANGING && ftruncate(fd, KINDS))
		exit(2);
	if (kind == SLOW)
		take_long();
	return 0;
}

void cache_store(struct cache *cache, int fd, const struct unwind_table *table,
		 struct cached *cached)
{
	(void)cache;
	(void)fd;
	(void)table;
	(void)cached;
}

void unwind_table_free(struct unwind_table *table)
{
	(void)table;
}

const char *unwind_convert_error(int err)
{
	return strerror(-err);
}

int answers_create(bool keep)
{
	(void)keep;
	return -1;
}

void answers_note(int answers, int fd, __u64 ms, const char *why)
{
	const enum kind kind = kind_of(fd);

	(void)answers;
	(void)ms;
	snprintf(seen.why[kind], sizeof(seen.why[kind]), "%s", why ?: "");
	count(&seen.noted[kind]);
}

void name_of_file(int fd, char *name, size_t size)
{
	snprintf(name, size, "%d", fd);
}

void mapped_files(void (*visit)(int fd, void *arg), void *arg)
{
	static const enum kind kinds[] = { CHANGING, MAPPED };
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		int fd = make_file(kinds[i], geteuid());

		visit(fd, arg);
		close(fd);
	}
}

/*
 * systemd
 */

/* The first descriptor that a service gets, and what comes before the device here */
#define STORED_FIRST	3
#define STORED_DEVICE	(STORED_FIRST + 1)

/* Listen where the service looks for systemd: a path, or an abstract name after an "@" */
static int listen_at(const char *name)
{
	const struct timeval patience = { .tv_sec = PATIENCE };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memcpy(addr.sun_path, name, strlen(name));
	if (*name == '@')
		addr.sun_path[0] = '\0';
	if (bind(sock, (struct sockaddr *)&addr,
		 offsetof(struct sockaddr_un, sun_path) + strlen(name)) ||
	    setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    setenv("NOTIFY_SOCKET", name, 1))
		exit(2);
	return sock;
}

/* Is this the next message?  @fd is set to its descriptor, or to -1 */
static bool receives(int systemd, const char *message, int *fd)
{
	union {
		struct cmsghdr	align;
		char		bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = {};
	char text[128] = "";
	struct iovec iov = { text, sizeof(text) - 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	const struct cmsghdr *cmsg;

	*fd = -1;
	if (recvmsg(systemd, &msg, MSG_CMSG_CLOEXEC) < 0)
		return false;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (cmsg && cmsg->cmsg_type == SCM_RIGHTS && cmsg->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(cmsg), sizeof(*fd));
	return !strcmp(text, message);
}

static bool is_device(int fd)
{
	struct stat st, device;

	return !fstat(fd, &st) && !fstat(requests[0], &device) && st.st_dev == device.st_dev &&
	       st.st_ino == device.st_ino;
}

/* The service that starts now gets the device as the second one of two descriptors */
static void store_device(const char *names)
{
	char pid[16];
	int other;

	requests[0] = fcntl(requests[0], F_DUPFD_CLOEXEC, 10);
	requests[1] = fcntl(requests[1], F_DUPFD_CLOEXEC, 10);
	other = make_file(QUICK, geteuid());
	if (dup2(other, STORED_FIRST) < 0 || dup2(requests[0], STORED_DEVICE) < 0)
		exit(2);
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", "2", 1);
	setenv("LISTEN_FDNAMES", names, 1);
}

/*
 * Tests
 */

static void *serve(void *unused)
{
	(void)unused;
	exit(cmd_serve(1, (char *[]){ "serve", NULL }));
}

/* Request a table; the service closes @fd */
static void ask_for(int fd)
{
	static __u64 id;
	const struct unwind_request request = { .id = ++id, .fd = fd };

	if (write(requests[1], &request, sizeof(request)) != sizeof(request))
		exit(2);
}

static void ask(enum kind kind, uid_t owner)
{
	ask_for(make_file(kind, owner));
}

/* Ask, and wait for the answer; is it that there is none? */
static bool is_none(enum kind kind)
{
	ask(kind, geteuid());
	return wait_until(&seen.noted[kind], 1) && seen.none[kind] == 1;
}

static void test_refusals(void)
{
	result(is_none(EMPTY) && !seen.tried[EMPTY] &&
	       !strcmp(seen.why[EMPTY], "no call frame information"),
	       "a file without functions has none");
	result(is_none(LARGE) && seen.tried[LARGE] == 2 &&
	       !strcmp(seen.why[LARGE],
		       "the kernel refuses its table: too much code for so few entries"),
	       "a file that is too large has none, with a chain or without");
	result(is_none(FOREIGN) && seen.tried[FOREIGN] == 1 &&
	       !strcmp(seen.why[FOREIGN], "the kernel refuses its table: Operation not supported"),
	       "a file whose table the kernel cannot read has none");
	result(!is_none(UNLUCKY) && seen.noted[UNLUCKY] == 1 && seen.tried[UNLUCKY] == 1,
	       "a file for which there is no memory is to be asked for again");
	result(!is_none(HUGE) && seen.noted[HUGE] == 1 && seen.tried[HUGE] == 1 &&
	       !strcmp(seen.why[HUGE], "larger than the sysctl kernel.unwind_max_tables_kb"),
	       "so is a file whose table exceeds the kernel's limit");
}

/* Ask for the same file some times, and return how often the answer was that it has no table */
static unsigned int ask_often(int fd, unsigned int times)
{
	const enum kind kind = kind_of(fd);
	const unsigned int none = seen.none[kind];
	bool ok = true;

	while (times-- && ok) {
		const unsigned int noted = seen.noted[kind];

		ask_for(dup(fd));
		ok = wait_until(&seen.noted[kind], noted + 1);
	}
	return ok ? seen.none[kind] - none : -1U;
}

/* Give it another time of change: before Linux 6.13, that has the resolution of the tick */
static bool change(int fd)
{
	struct stat before, after;

	if (fstat(fd, &before))
		return false;
	do {
		if (fchmod(fd, 0400) || fstat(fd, &after))
			return false;
	} while (after.st_ctim.tv_sec == before.st_ctim.tv_sec &&
		 after.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
	return true;
}

static void test_failures(void)
{
	int broken = make_file(BROKEN, geteuid()), other = make_file(SHORT, geteuid());

	result(ask_often(broken, 2) == 0 && ask_often(broken, 1) == 1,
	       "a file that makes the parser fail three times has none");
	result(ask_often(other, 5) == 0,
	       "a file for which the service has no descriptors is to be asked for again");
	/* As if another file had the number of one that was deleted */
	result(change(broken) && ask_often(broken, 2) == 0,
	       "the failures of another file do not count");
	close(broken);
	close(other);
}

static void set_hold(bool on)
{
	pthread_mutex_lock(&lock);
	hold = on;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static unsigned int nr_fds(void)
{
	unsigned int n = 0;
	DIR *dir = opendir("/proc/self/fd");

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Until the service has closed all files but these */
static bool wait_for_fds(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < PATIENCE * 1000000 / TICK && nr_fds() > n; i++)
		usleep(TICK);
	return nr_fds() <= n;
}

/*
 * Ask for @n slow files of other users, then for a file of root.  When that one is
 * answered, all requests have been read.
 */
static bool hold_others(unsigned int n)
{
	const unsigned int done = seen.added[QUICK];
	bool ok;

	set_hold(true);
	while (n--)
		ask(SLOW, 1 + n % 10);
	ok = wait_until(&seen.running, OTHERS_MAX);
	ask(QUICK, 0);
	return wait_until(&seen.added[QUICK], done + 1) && ok;
}

/* @fds: what is open without requests */
static void test_others(unsigned int fds)
{
	unsigned int i, done;
	bool ok;

	result(hold_others(OTHERS_MAX + 1), "root's files do not wait for other users' files");
	set_hold(false);
	result(wait_until(&seen.added[SLOW], OTHERS_MAX + 1) && seen.most == OTHERS_MAX,
	       "a file that has to wait has its turn");
	result(hold_others(2 * WAITING_MAX) && wait_for_fds(fds + OTHERS_MAX + WAITING_MAX + 1),
	       "not any number of them wait");
	set_hold(false);
	result(wait_for_fds(fds) && seen.most == OTHERS_MAX, "in the end none waits");

	seen.added[SLOW] = 0;
	hold_others(OTHERS_MAX + 1);
	usleep(LAPSES_AFTER + TICK);
	set_hold(false);
	result(wait_for_fds(fds) && seen.added[SLOW] == OTHERS_MAX, "nor does one wait for long");

	seen.added[SLOW] = 0;
	done = seen.added[QUICK];
	set_hold(true);
	for (i = 0; i < OTHERS_MAX + 1; i++)
		ask(SLOW, 1);
	ok = wait_until(&seen.running, OWNER_MAX);
	ask(QUICK, 2);
	ok &= wait_until(&seen.added[QUICK], done + 1) && seen.running == OWNER_MAX;
	set_hold(false);
	result(ok && wait_until(&seen.added[SLOW], OTHERS_MAX + 1),
	       "files of one user leave room for other users' files");

	/* The file of user 3 keeps the last thread busy, so the file of user 2 has to wait, too */
	done = seen.added[QUICK];
	set_hold(true);
	ask(SLOW, 3);
	for (i = 0; i < OWNER_MAX + WAITING_MAX; i++)
		ask(SLOW, 1);
	ok = wait_until(&seen.running, OTHERS_MAX);
	ask(QUICK, 2);
	ask(QUICK, 0);
	ok &= wait_until(&seen.added[QUICK], done + 1);
	set_hold(false);
	result(ok && wait_until(&seen.added[QUICK], done + 2),
	       "files of one user leave places to other users' files");
}

/* @fds: as above */
static void test_frozen(unsigned int fds)
{
	const unsigned int done = seen.added[QUICK];
	unsigned int i;
	bool ok;

	set_hold(true);
	for (i = 0; i < THREADS; i++)
		ask(FROZEN, geteuid());
	ok = wait_until(&seen.added[FROZEN], THREADS);
	ask(QUICK, geteuid());
	ok &= wait_until(&seen.added[QUICK], done + 1);
	set_hold(false);
	result(ok && wait_for_fds(fds), "a deleted file that cannot be removed holds up no other");
}

static void start_service(void)
{
	pthread_t service;

	if (pthread_create(&service, NULL, serve, NULL))
		exit(2);
}

/* A stored descriptor is for one process, and has one name */
static bool others_are_ignored(void)
{
	bool ok = service_stored_fd("other") == STORED_FIRST && service_stored_fd("unwind") < 0 &&
		  service_stored_fd("unwind-22") < 0 && service_stored_fd("third") < 0;

	setenv("LISTEN_PID", "1", 1);
	return ok && service_stored_fd("unwind-2") < 0;
}

/* In a process of its own: the service is started again, and cannot open the device */
static int restart(void)
{
	int systemd, device, fd;
	char name[64];
	bool ok;

	snprintf(name, sizeof(name), "@unwind-tables-%d", getpid());
	systemd = listen_at(name);
	store_device("other:unwind-2");
	ok = others_are_ignored();
	store_device("other:unwind-2");
	device = requests[0];
	requests[0] = -1;
	start_service();
	/* It stores nothing again, and gives nothing again */
	ok &= receives(systemd, "READY=1", &fd) && fd < 0;
	requests[0] = device;
	ok &= is_device(STORED_DEVICE) && fcntl(STORED_DEVICE, F_GETFD) == FD_CLOEXEC;
	ask(QUICK, geteuid());
	ok &= wait_until(&seen.added[QUICK], 1) && !seen.tried[MAPPED];
	return !ok;
}

/* Likewise; the device is one that an earlier version has stored */
static int upgrade(void)
{
	int systemd, fd;
	char name[64];
	bool ok;

	snprintf(name, sizeof(name), "@unwind-tables-%d", getpid());
	systemd = listen_at(name);
	store_device("other:unwind-1");
	busy = 3;
	start_service();
	ok = receives(systemd, "FDSTOREREMOVE=1\nFDNAME=unwind-1", &fd) && fd < 0 &&
	     !is_device(STORED_DEVICE) &&
	     receives(systemd, "FDSTORE=1\nFDNAME=unwind-2", &fd) && is_device(fd) &&
	     receives(systemd, "READY=1", &fd) && !busy;
	return !ok || !wait_until(&seen.added[MAPPED], 1);
}

static bool succeeds(int (*test)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(test());
	return waitpid(pid, &status, 0) == pid && !status;
}

static void test_restart(void)
{
	result(succeeds(restart), "a service that is started again takes over the device");
	result(succeeds(upgrade), "with another converter, it starts anew");
}

/* Start the service; systemd is to keep the device */
static void test_start(void)
{
	char dir[] = "/tmp/unwind-tables.XXXXXX", path[64];
	int systemd, fd, none;

	if (!mkdtemp(dir))
		exit(2);
	snprintf(path, sizeof(path), "%s/notify", dir);
	systemd = listen_at(path);
	start_service();
	result(receives(systemd, "FDSTORE=1\nFDNAME=unwind-2", &fd) && is_device(fd),
	       "systemd gets the device, to be kept");
	result(receives(systemd, "READY=1", &none) && none < 0, "then the service is ready");
	close(fd);
	close(systemd);
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	unsigned int fds;

	if (pipe(requests))
		return 2;
	fds = nr_fds();
	test_restart();
	test_start();
	result(wait_until(&seen.added[MAPPED], 1) && seen.added[CHANGING] == 1,
	       "files that are mapped get their tables at the start");
	result(seen.deleted == 100 + CHANGING,
	       "the table of a file that has changed is taken back, whatever its device is");
	test_refusals();
	test_frozen(fds);
	test_failures();
	if (geteuid())
		result(true, "files of other users # SKIP only root can make them");
	else
		test_others(fds);
	return end_results();
}
