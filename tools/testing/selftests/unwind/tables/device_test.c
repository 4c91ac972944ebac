// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/unwind: a service gives tables to files that have none.
 *
 * The test program is both sides: it maps a file of code that keeps no frame pointer and
 * whose program headers name no table (code_file.h), takes a stack through it, and answers
 * the kernel's request with the table that lies in the file all the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/unwind.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asleep.h"
#include "call.h"
#include "file_env.h"
#include "image.h"
#include "put.h"
#include "requests.h"
#include "turns.h"
#include "../../kselftest_harness.h"

#define DEVICE		"/dev/unwind"
#define FILE_NAME	"/tmp/device_test"
#define OTHER_NAME	"/tmp/device_test_other"
#define LIMIT_DIR	"/proc/sys/kernel"
#define LIMIT		"unwind_max_tables_kb"
/* Kilobytes: see CODE_FILE_WIDE */
#define LESS_THAN_WIDE	"7"

FIXTURE(device)
{
	struct file_env env;
	struct code_file file;
	char *section;
	char limit[32];
	int fd;
};

static bool read_word(const char *path, char *word, size_t size)
{
	FILE *file = fopen(path, "r");
	bool ok = file && fgets(word, size, file);

	if (file)
		fclose(file);
	if (ok)
		word[strcspn(word, "\n")] = 0;
	return ok;
}

FIXTURE_SETUP(device)
{
	const char *reason = env_setup(&self->env);

	if (reason)
		SKIP(return, "%s", reason);
	self->fd = open(DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (self->fd < 0 && errno == ENOENT)
		SKIP(return, "no " DEVICE);
	ASSERT_LE(0, self->fd);
	ASSERT_TRUE(read_word(LIMIT_DIR "/" LIMIT, self->limit, sizeof(self->limit)));
	self->file = code_file_usual;
	self->file.hidden = true;
	unlink(FILE_NAME);
	unlink(OTHER_NAME);
	ASSERT_EQ(0, map_file(&self->env, &self->file, FILE_NAME));
	self->section = malloc(code_file_table_size(&self->file));
	ASSERT_EQ((ssize_t)code_file_table_size(&self->file),
		  pread(self->env.fd, self->section, code_file_table_size(&self->file),
			self->file.table.offset));
}

FIXTURE_TEARDOWN(device)
{
	put_word(LIMIT_DIR, LIMIT, self->limit);
	env_teardown(&self->env);
	close(self->fd);
	free(self->section);
	unlink(FILE_NAME);
	unlink(OTHER_NAME);
}

static struct unwind_answer right_answer(const struct code_file *file, const char *section,
					 const struct unwind_request *request)
{
	return (struct unwind_answer){
		.id = request->id,
		.fd = request->fd,
		.table_start = (uintptr_t)section,
		.table_size = code_file_table_size(file),
		.address = file->table.vaddr,
	};
}

static int add(int device, struct unwind_answer *answer)
{
	return ioctl(device, UNWIND_IOC_ADD, answer) ? -errno : 0;
}

/* Take a stack through the code, and answer the request that follows */
static int serve(struct _test_data_device *self)
{
	struct unwind_request request;
	struct unwind_answer answer;
	int ret;

	if (through(&self->env, &self->env.image) != THROUGH_NOT)
		return -EINVAL;
	ret = await_request_for(self->fd, self->env.fd, &request);
	if (ret)
		return ret;
	answer = right_answer(&self->file, self->section, &request);
	ret = add(self->fd, &answer);
	close(request.fd);
	return ret;
}

/*
 * Requests and answers
 */

TEST_F(device, stack_continues_by_a_provided_table)
{
	ASSERT_EQ(0, serve(self));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	EXPECT_TRUE(no_request_for(self->fd, self->env.fd));
}

TEST_F(device, descriptor_of_a_request_can_only_be_read)
{
	struct unwind_request request;
	char byte;

	ASSERT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	ASSERT_EQ(0, await_request_for(self->fd, self->env.fd, &request));
	EXPECT_EQ(O_RDONLY, fcntl(request.fd, F_GETFL) & O_ACCMODE);
	EXPECT_EQ(FD_CLOEXEC, fcntl(request.fd, F_GETFD));
	EXPECT_EQ(1, pread(request.fd, &byte, 1, 0));
	EXPECT_EQ(0, request.reserved);
}

TEST_F(device, file_is_asked_for_once)
{
	struct unwind_request request;

	ASSERT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	ASSERT_EQ(0, await_request_for(self->fd, self->env.fd, &request));
	EXPECT_TRUE(never_through(&self->env, &self->env.image));
	EXPECT_TRUE(no_request_for(self->fd, self->env.fd));
}

TEST_F(device, none_is_an_answer)
{
	struct unwind_request request;
	struct unwind_answer none = {};

	ASSERT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	ASSERT_EQ(0, await_request_for(self->fd, self->env.fd, &request));
	none.id = request.id;
	none.fd = request.fd;
	EXPECT_EQ(0, ioctl(self->fd, UNWIND_IOC_NONE, &none));
	EXPECT_TRUE(never_through(&self->env, &self->env.image));
	EXPECT_TRUE(no_request_for(self->fd, self->env.fd));
	/* It was answered */
	EXPECT_EQ(-1, ioctl(self->fd, UNWIND_IOC_NONE, &none));
	EXPECT_EQ(ESTALE, errno);
}

TEST_F(device, service_gives_a_table_unasked)
{
	struct unwind_request unasked = { .fd = self->env.fd };
	struct unwind_answer answer = right_answer(&self->file, self->section, &unasked);

	ASSERT_EQ(0, add(self->fd, &answer));
	EXPECT_NE(0, answer.id);
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	EXPECT_TRUE(no_request_for(self->fd, self->env.fd));
	/* It has one */
	answer.id = 0;
	EXPECT_EQ(-EEXIST, add(self->fd, &answer));
}

TEST_F(device, file_known_to_have_no_table_is_asked_for_by_the_next_service)
{
	struct unwind_request request;

	close(self->fd);
	ASSERT_TRUE(never_through(&self->env, &self->env.image));
	self->fd = open(DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	ASSERT_EQ(0, await_request_for(self->fd, self->env.fd, &request));
}

/* As a program that was built without tables, and linked with a crt1.o that has one */
TEST_F(device, file_with_a_table_of_little_is_asked_for)
{
	struct unwind_request request;

	close(self->fd);
	code_image_unmap(&self->env.image);
	close(self->env.fd);
	ASSERT_EQ(0, map_file(&self->env, &code_file_wide, OTHER_NAME));
	ASSERT_EQ(THROUGH, await_through(&self->env, &self->env.image));
	self->fd = open(DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	EXPECT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	ASSERT_EQ(0, await_request_for(self->fd, self->env.fd, &request));
	close(request.fd);
}

static int next_fd(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

TEST_F(device, request_that_was_not_copied_is_read_again)
{
	struct pollfd poll_fd = { .fd = self->fd, .events = POLLIN };
	struct unwind_request request;
	int fd = next_fd();

	ASSERT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	ASSERT_EQ(1, poll(&poll_fd, 1, 5000));
	EXPECT_EQ(-1, syscall(SYS_read, self->fd, 8UL, sizeof(request)));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(fd, next_fd());
	ASSERT_EQ(0, await_request_for(self->fd, self->env.fd, &request));
}

static int limit_fds(unsigned int nr, struct rlimit *old)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, old))
		return -1;
	limit = *old;
	limit.rlim_cur = nr;
	return setrlimit(RLIMIT_NOFILE, &limit);
}

/* Two requests, and one free descriptor */
TEST_F(device, request_that_had_no_descriptor_is_read_again)
{
	const size_t one = sizeof(struct unwind_request);
	struct unwind_request requests[2], request;
	unsigned int nr = 0, nr_other = 0;
	ssize_t size, again;
	struct rlimit limit;
	struct code_image image;
	int other, error;

	other = make_file(&self->file, OTHER_NAME);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, code_image_map(&image, &self->file, other, NULL));
	ASSERT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	ASSERT_EQ(THROUGH_NOT, through(&self->env, &image));
	ASSERT_EQ(0, limit_fds(next_fd() + 1, &limit));
	size = read(self->fd, requests, sizeof(requests));
	again = read(self->fd, &requests[1], one);
	error = errno;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	ASSERT_EQ((ssize_t)one, size);
	EXPECT_EQ(-1, again);
	EXPECT_EQ(EMFILE, error);

	request = requests[0];
	do {
		nr += same_file(request.fd, self->env.fd);
		nr_other += same_file(request.fd, other);
		close(request.fd);
	} while (read(self->fd, &request, one) == (ssize_t)one);
	EXPECT_EQ(1, nr);
	EXPECT_EQ(1, nr_other);
}

static void drop_capability(unsigned int cap)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		_exit(1);
	data[CAP_TO_INDEX(cap)].effective &= ~CAP_TO_MASK(cap);
	if (syscall(SYS_capset, &header, data))
		_exit(1);
}

/* Processes with CAP_SYS_ADMIN may exceed this limit */
TEST_F(device, request_that_had_no_file_is_read_again)
{
	struct unwind_request request;
	char limit[32];
	int status;
	pid_t pid;

	ASSERT_TRUE(read_word("/proc/sys/fs/file-max", limit, sizeof(limit)));
	ASSERT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	ASSERT_EQ(0, put_word("/proc/sys/fs", "file-max", "0"));
	pid = fork();
	if (!pid) {
		drop_capability(CAP_SYS_ADMIN);
		_exit(read(self->fd, &request, sizeof(request)) < 0 ? errno : 0);
	}
	status = wait_for(pid);
	ASSERT_EQ(0, put_word("/proc/sys/fs", "file-max", limit));
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(ENFILE, WEXITSTATUS(status));
	ASSERT_EQ(0, await_request_for(self->fd, self->env.fd, &request));
}

static void do_nothing(int signal)
{
}

TEST_F(device, read_that_waits_is_ended_by_a_signal)
{
	const struct itimerval often = { { 0, 10000 }, { 0, 10000 } }, never = {};
	const struct sigaction action = { .sa_handler = do_nothing };
	struct unwind_request request;

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	while (read(self->fd, &request, sizeof(request)) == sizeof(request))
		close(request.fd);
	EXPECT_EQ(EINTR, errno);
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &never, NULL));
	/* The device works as before */
	EXPECT_EQ(0, serve(self));
}

TEST_F(device, deleted_file_is_asked_for)
{
	ASSERT_EQ(0, unlink(FILE_NAME));
	ASSERT_EQ(0, serve(self));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
}

/* To open it would tell the lease's owner, and wait */
TEST_F(device, file_with_a_lease_is_not_asked_for)
{
	struct unwind_request request;
	int fd = open(FILE_NAME, O_RDONLY | O_CLOEXEC);

	close(self->env.fd);
	self->env.fd = fd;
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, fcntl(fd, F_SETLEASE, F_RDLCK));
	ASSERT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	while (read(self->fd, &request, sizeof(request)) == sizeof(request)) {
		EXPECT_FALSE(same_file(request.fd, fd));
		close(request.fd);
	}
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(F_RDLCK, fcntl(fd, F_GETLEASE));
	EXPECT_TRUE(never_through(&self->env, &self->env.image));
}

/* A wrong table makes wrong stacks, and nothing worse */
TEST_F(device, table_that_lies_harms_only_stacks)
{
	struct unwind_request unasked = { .fd = self->env.fd };
	struct code_file lie = self->file;
	struct unwind_answer answer;
	int fd;

	lie.frame_table = CODE_FRAME_OTHER;
	fd = code_file_memfd(&lie);
	ASSERT_LE(0, fd);
	ASSERT_EQ((ssize_t)code_file_table_size(&lie),
		  pread(fd, self->section, code_file_table_size(&lie), lie.table.offset));
	close(fd);
	answer = right_answer(&self->file, self->section, &unasked);
	ASSERT_EQ(0, add(self->fd, &answer));
	EXPECT_NE(THROUGH, through(&self->env, &self->env.image));
	EXPECT_EQ(0, ioctl(self->fd, UNWIND_IOC_DEL, &answer.id));
	EXPECT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
}

/* Other requests are not lost for good */
TEST_F(device, requests_are_bounded)
{
	const unsigned int nr = 300;
	struct unwind_request requests[nr];
	struct code_image image;
	unsigned int i;
	char path[64];
	ssize_t size;
	int fd;

	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), FILE_NAME "_%u", i);
		fd = make_file(&self->file, path);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, code_image_map(&image, &self->file, fd, NULL));
		EXPECT_EQ(THROUGH_NOT, through(&self->env, &image));
		code_image_unmap(&image);
		close(fd);
		unlink(path);
	}
	size = read(self->fd, requests, sizeof(requests));
	ASSERT_LT(0, size);
	EXPECT_GE(256, size / sizeof(*requests));
	for (i = 0; i < size / sizeof(*requests); i++)
		close(requests[i].fd);
	EXPECT_EQ(0, serve(self));
}

/* Map new files of a user, and take a stack through each; 0 or a negative error */
static int meet_files_of(struct _test_data_device *self, uid_t uid, unsigned int nr)
{
	struct code_image image;
	unsigned int i;
	char path[64];
	int fd, ret;

	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), FILE_NAME "_%u", i);
		fd = make_file(&self->file, path);
		if (fd < 0 || fchown(fd, uid, -1) ||
		    code_image_map(&image, &self->file, fd, NULL))
			return -errno;
		ret = through(&self->env, &image);
		code_image_unmap(&image);
		close(fd);
		unlink(path);
		if (ret != THROUGH_NOT)
			return -EINVAL;
	}
	return 0;
}

/* A user makes files without end: requests for other files still have room */
TEST_F(device, requests_for_files_of_one_user_are_bounded)
{
	const uid_t user = 12345;
	struct unwind_request request;
	unsigned int nr = 0;
	bool found = false;
	struct stat st;

	ASSERT_EQ(0, meet_files_of(self, user, 100));
	ASSERT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	while (read(self->fd, &request, sizeof(request)) == sizeof(request)) {
		nr += !fstat(request.fd, &st) && st.st_uid == user;
		found |= same_file(request.fd, self->env.fd);
		close(request.fd);
	}
	EXPECT_LT(0, nr);
	EXPECT_GE(32, nr);
	EXPECT_TRUE(found);
}

/*
 * Overlay file systems, as in containers: the file below is asked for, and all that see it
 * have its table
 */

#define OVERLAY	"/tmp/device_overlay"
#define LOWER	OVERLAY "/lower/code.so"
#define MERGED	OVERLAY "/all/code.so"

static bool mount_overlay(void)
{
	return !mkdir(OVERLAY, 0700) && !mount("tmpfs", OVERLAY, "tmpfs", 0, NULL) &&
	       !mkdir(OVERLAY "/lower", 0700) && !mkdir(OVERLAY "/upper", 0700) &&
	       !mkdir(OVERLAY "/work", 0700) && !mkdir(OVERLAY "/all", 0700) &&
	       !mount("overlay", OVERLAY "/all", "overlay", 0, "lowerdir=" OVERLAY
		      "/lower,upperdir=" OVERLAY "/upper,workdir=" OVERLAY "/work");
}

static int remap(struct _test_data_device *self, const char *path)
{
	code_image_unmap(&self->env.image);
	close(self->env.fd);
	self->env.fd = open(path, O_RDONLY | O_CLOEXEC);
	return self->env.fd < 0 ? -1 : code_image_map(&self->env.image, &self->file,
						      self->env.fd, NULL);
}

TEST_F(device, file_on_an_overlay_is_asked_for)
{
	struct unwind_answer answer;
	struct unwind_request request;
	int lower, fd;

	if (!mount_overlay())
		SKIP(return, "no overlay file systems on tmpfs");
	lower = make_file(&self->file, LOWER);
	ASSERT_LE(0, lower);
	ASSERT_EQ(0, remap(self, MERGED));
	ASSERT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	ASSERT_EQ(0, await_request_for(self->fd, lower, &request));
	answer = right_answer(&self->file, self->section, &request);
	EXPECT_EQ(0, add(self->fd, &answer));
	close(request.fd);
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	ASSERT_EQ(0, remap(self, LOWER));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));

	/* The copy above is another file; by the overlay's name, it gets a table unasked */
	fd = open(MERGED, O_WRONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	close(fd);
	ASSERT_EQ(0, remap(self, MERGED));
	EXPECT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	answer = right_answer(&self->file, self->section, &request);
	answer.id = 0;
	answer.fd = self->env.fd;
	EXPECT_EQ(0, add(self->fd, &answer));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	close(lower);
	code_image_unmap(&self->env.image);
	umount2(OVERLAY "/all", MNT_DETACH);
	umount2(OVERLAY, MNT_DETACH);
	rmdir(OVERLAY);
}

/*
 * The service is profiled as well.  Its stack is taken when it leaves the call in which it
 * waits for a request, so its own request comes after the one that has ended its wait.
 */

static struct {
	int device;
	long nr;
	struct unwind_request request;
} waits;

/* The end of a chain, as sampled_call(): wait for a request by read() or poll() */
static void wait_for_request(struct notes *notes)
{
	struct pollfd poll_fd = { .fd = waits.device, .events = POLLIN };
	unsigned long ip;

	notes->ra[notes->nr++] = (unsigned long)__builtin_return_address(0);
	if (waits.nr == SYS_read)
		syscall3_at(SYS_read, waits.device, (long)&waits.request,
			    sizeof(waits.request), &ip);
	else
		syscall4_at(SYS_ppoll, (long)&poll_fd, 1, 0, 0, &ip);
	notes->ra[notes->nr++] = ip;
}

/* A process that takes a stack through another file, when the service waits */
static pid_t start_other(struct _test_data_device *self)
{
	const pid_t service = getpid();
	struct code_image image;
	struct sampler sampler;
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	while (sleeps_in(service) != waits.nr)
		usleep(1000);
	fd = make_file(&self->file, OTHER_NAME);
	if (fd < 0 || code_image_map(&image, &self->file, fd, NULL) ||
	    sampler_open(&sampler, 0))
		_exit(1);
	_exit(code_through(&sampler, code_image_fn(&image, 0, 0)) != THROUGH_NOT);
}

static void profile_service(struct __test_metadata *_metadata, struct _test_data_device *self,
			    long nr)
{
	struct unwind_request request;
	struct stack stack, expected;
	struct unwind_answer answer;
	pid_t pid;

	waits.device = self->fd;
	waits.nr = nr;
	waits.request.fd = -1;
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	pid = start_other(self);
	ASSERT_LT(0, pid);
	sampler_close(&self->env.sampler);
	ASSERT_EQ(0, sampler_open_syscall(&self->env.sampler, 0, nr));
	EXPECT_EQ(0, sample_chain(&self->env.sampler, &stack, &expected, 2,
				  code_image_fn(&self->env.image, 0, 0), wait_for_request));
	sampler_close(&self->env.sampler);
	ASSERT_EQ(0, sampler_open(&self->env.sampler, 0));
	/* The call, and the function that has no table */
	EXPECT_EQ(2, stack.nr);
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_FALSE(same_file(waits.request.fd, self->env.fd));
	close(waits.request.fd);

	ASSERT_EQ(0, await_request_for(self->fd, self->env.fd, &request));
	answer = right_answer(&self->file, self->section, &request);
	EXPECT_EQ(0, add(self->fd, &answer));
	close(request.fd);
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
}

TEST_F(device, service_profiled_while_it_reads_is_asked_for_its_own_file)
{
	profile_service(_metadata, self, SYS_read);
}

TEST_F(device, service_profiled_while_it_polls_is_asked_for_its_own_file)
{
	profile_service(_metadata, self, SYS_ppoll);
}

/*
 * Containers have their own mounts, where the service sees no path of their files
 */

#define CONTAINER	"/tmp/device_container"
#define INSIDE		CONTAINER "/code"

/* Shared with the process in the container */
struct container {
	struct turns turns;
	struct sampler sampler;
	struct stat st;
};

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return ok;
}

/* Root of the new user namespace is the caller's user */
static bool map_user(void)
{
	return write_file("/proc/self/setgroups", "deny") &&
	       write_file("/proc/self/uid_map", "0 0 1") &&
	       write_file("/proc/self/gid_map", "0 0 1");
}

/* Go into new namespaces, and map a file that only they have; 0 or -1 with errno */
static int enter_container(struct container *container, int namespaces,
			   const struct code_file *file, struct code_image *image)
{
	int fd;

	/* Events are opened as root, who profiles */
	if (sampler_open(&container->sampler, 0) || unshare(namespaces))
		return -1;
	if ((namespaces & CLONE_NEWUSER) && !map_user())
		return -1;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", CONTAINER, "tmpfs", 0, NULL))
		return -1;
	fd = make_file(file, INSIDE);
	return fd < 0 || fstat(fd, &container->st) ||
	       code_image_map(image, file, fd, NULL) ? -1 : 0;
}

static struct container *new_container(void)
{
	struct container *container = mmap(NULL, sizeof(*container), PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (container == MAP_FAILED || turns_init(&container->turns) ||
	    mkdir(CONTAINER, 0700))
		return NULL;
	return container;
}

static bool has_bytes_of(const struct code_file *file, int fd)
{
	size_t size = 0;
	char *bytes = file_bytes(file, &size), *read = malloc(size);
	bool same = bytes && read && pread(fd, read, size, 0) == (ssize_t)size &&
		    !memcmp(read, bytes, size);

	free(bytes);
	free(read);
	return same;
}

TEST_F(device, file_of_another_mount_namespace_is_asked_for)
{
	struct container *container = new_container();
	struct unwind_request request;
	struct unwind_answer answer;
	struct code_image image;
	struct stat st;
	chain_fn fn;
	pid_t pid;

	ASSERT_NE(NULL, container);
	pid = fork();
	if (!pid) {
		ASSERT_EQ(0, enter_container(container, CLONE_NEWNS, &self->file, &image));
		fn = code_image_fn(&image, 0, 0);
		EXPECT_EQ(THROUGH_NOT, code_through(&container->sampler, fn));
		turn_over(&container->turns, TURN_PARENT);
		turn_await(&container->turns, TURN_CHILD);
		EXPECT_EQ(THROUGH, code_through(&container->sampler, fn));
		CHILD_EXIT();
	}
	ASSERT_TRUE(turn_await(&container->turns, TURN_PARENT));
	EXPECT_EQ(-1, access(INSIDE, F_OK));
	do {
		ASSERT_EQ(0, await_request(self->fd, &request));
		ASSERT_EQ(0, fstat(request.fd, &st));
	} while (st.st_dev != container->st.st_dev || st.st_ino != container->st.st_ino);
	EXPECT_TRUE(has_bytes_of(&self->file, request.fd));
	answer = right_answer(&self->file, self->section, &request);
	EXPECT_EQ(0, add(self->fd, &answer));
	close(request.fd);
	turn_over(&container->turns, TURN_CHILD);
	EXPECT_EQ(0, wait_for(pid));
	rmdir(CONTAINER);
}

/* Nobody waits for a file system that any user can mount.  It is the mount that counts. */
TEST_F(device, file_that_a_user_namespace_has_mounted_is_not_asked_for)
{
	struct container *container = new_container();
	struct code_file with_table = self->file;
	struct code_image image, other;
	struct unwind_request request;
	bool found = false, own = false;
	struct stat st;
	chain_fn fn;
	pid_t pid;
	int fd;

	if (access("/proc/self/ns/user", F_OK))
		SKIP(return, "no user namespaces");
	ASSERT_NE(NULL, container);
	pid = fork();
	if (!pid) {
		ASSERT_EQ(0, enter_container(container, CLONE_NEWUSER | CLONE_NEWNS,
					     &self->file, &image));
		fn = code_image_fn(&image, 0, 0);
		EXPECT_EQ(THROUGH_NOT, code_through(&container->sampler, fn));
		EXPECT_EQ(THROUGH_NOT, code_through(&container->sampler, fn));
		/* Its own table is loaded from the page cache */
		with_table.hidden = false;
		fd = make_file(&with_table, CONTAINER "/table");
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, code_image_map(&other, &with_table, fd, NULL));
		fn = code_image_fn(&other, 0, 0);
		EXPECT_EQ(THROUGH, code_through(&container->sampler, fn));
		/* A file that root has mounted, in a process of the container */
		fn = code_image_fn(&self->env.image, 0, 0);
		EXPECT_EQ(THROUGH_NOT, code_through(&container->sampler, fn));
		CHILD_EXIT();
	}
	EXPECT_EQ(0, wait_for(pid));
	while (read(self->fd, &request, sizeof(request)) == sizeof(request)) {
		ASSERT_EQ(0, fstat(request.fd, &st));
		own |= st.st_dev == container->st.st_dev;
		found |= same_file(request.fd, self->env.fd);
		close(request.fd);
	}
	EXPECT_FALSE(own);
	EXPECT_TRUE(found);
	rmdir(CONTAINER);
}

/*
 * Lifetime
 */

TEST_F(device, request_of_a_service_that_has_ended_is_made_again)
{
	struct unwind_request request;
	struct unwind_answer answer;
	__u64 id;

	/* One that was not read, and one that was read and not answered */
	ASSERT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	close(self->fd);
	self->fd = open(DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	ASSERT_EQ(0, await_request_for(self->fd, self->env.fd, &request));
	close(self->fd);
	self->fd = open(DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	answer = right_answer(&self->file, self->section, &request);
	EXPECT_EQ(-ESTALE, add(self->fd, &answer));
	close(request.fd);
	id = request.id;
	ASSERT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	ASSERT_EQ(0, await_request_for(self->fd, self->env.fd, &request));
	EXPECT_LT(id, request.id);
}

TEST_F(device, table_goes_with_the_last_descriptor)
{
	int kept;

	ASSERT_EQ(0, serve(self));
	kept = dup(self->fd);
	ASSERT_LE(0, kept);
	close(self->fd);
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	close(kept);
	EXPECT_TRUE(never_through(&self->env, &self->env.image));
	self->fd = -1;
}

TEST_F(device, table_is_withdrawn)
{
	struct unwind_request unasked = { .fd = self->env.fd }, request;
	struct unwind_answer answer = right_answer(&self->file, self->section, &unasked);
	__u64 id;

	ASSERT_EQ(0, add(self->fd, &answer));
	ASSERT_EQ(THROUGH, through(&self->env, &self->env.image));
	id = answer.id;
	EXPECT_EQ(0, ioctl(self->fd, UNWIND_IOC_DEL, &id));
	/* It is asked for again */
	EXPECT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	ASSERT_EQ(0, await_request_for(self->fd, self->env.fd, &request));
	close(request.fd);
	EXPECT_EQ(-1, ioctl(self->fd, UNWIND_IOC_DEL, &id));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(-1, ioctl(self->fd, UNWIND_IOC_DEL, NULL));
	EXPECT_EQ(EFAULT, errno);
}

TEST_F(device, written_file_loses_its_provided_table)
{
	int fd;

	ASSERT_EQ(0, serve(self));
	fd = open(FILE_NAME, O_WRONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	EXPECT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	ASSERT_EQ(1, pwrite(fd, "", 1, EI_NIDENT - 1));
	close(fd);
	EXPECT_TRUE(never_through(&self->env, &self->env.image));
}

/* As a package manager replaces a library that processes have mapped */
TEST_F(device, file_renamed_over_is_asked_for_and_the_old_one_keeps_its_table)
{
	const struct code_file other = with_frame(&self->file, CODE_FRAME_OTHER);
	struct unwind_request request;
	struct unwind_answer answer;
	struct code_image image;
	int fd;

	ASSERT_EQ(0, serve(self));
	fd = make_file(&other, OTHER_NAME);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, rename(OTHER_NAME, FILE_NAME));
	ASSERT_EQ(0, code_image_map(&image, &other, fd, NULL));
	/* By the old table, the frame would have another size */
	EXPECT_EQ(THROUGH_NOT, through(&self->env, &image));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	ASSERT_EQ(0, await_request_for(self->fd, fd, &request));
	ASSERT_EQ((ssize_t)code_file_table_size(&other),
		  pread(request.fd, self->section, code_file_table_size(&other),
			other.table.offset));
	answer = right_answer(&other, self->section, &request);
	EXPECT_EQ(0, add(self->fd, &answer));
	close(request.fd);
	EXPECT_EQ(THROUGH, through(&self->env, &image));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	EXPECT_TRUE(no_request_for(self->fd, self->env.fd));
}

TEST_F(device, answer_for_a_file_that_has_changed_is_stale)
{
	struct unwind_request request;
	struct unwind_answer answer;
	int fd;

	ASSERT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	ASSERT_EQ(0, await_request_for(self->fd, self->env.fd, &request));
	fd = open(FILE_NAME, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(1, pwrite(fd, "", 1, EI_NIDENT - 1));
	answer = right_answer(&self->file, self->section, &request);
	EXPECT_EQ(-ETXTBSY, add(self->fd, &answer));
	ASSERT_EQ(0, file_settle(fd));
	close(fd);
	EXPECT_EQ(-ESTALE, add(self->fd, &answer));
	/* Nor is the table of the file as it is now */
	EXPECT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
}

/* An unread request keeps the file's mount busy for two seconds */
TEST_F(device, request_without_answer_lapses)
{
	const int64_t start = now_ms();
	struct file_env env;
	int ret;

	ASSERT_EQ(NULL, env_setup(&env));
	ASSERT_TRUE(make_fs("tmpfs", NULL, TMPFS));
	ASSERT_EQ(0, map_file(&env, &self->file, TMPFS "/code"));
	ASSERT_EQ(THROUGH_NOT, through(&env, &env.image));
	env_teardown(&env);
	do {
		poll(NULL, 0, 10);
		ret = umount(TMPFS);
	} while (ret && errno == EBUSY && now_ms() - start < 20000);
	EXPECT_EQ(0, ret);
	/* By the kernel's ticks */
	EXPECT_LE(1900, now_ms() - start);
}

/* The request has the last reference: dropping it waits for the file system */
TEST_F_TIMEOUT(device, request_for_a_deleted_file_of_a_frozen_file_system_holds_up_no_other, 60)
{
	struct pollfd requested = { .fd = self->fd, .events = POLLIN };
	const int64_t start = now_ms();
	struct file_env deleted, env;
	int root, ret;

	if (!is_mounted(EXT4))
		SKIP(return, "no ext4, or not root");
	root = open(EXT4, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ASSERT_LE(0, root);
	ASSERT_EQ(NULL, env_setup(&deleted));
	ASSERT_EQ(0, map_file(&deleted, &self->file, EXT4 "/deleted.so"));
	ASSERT_EQ(THROUGH_NOT, through(&deleted, &deleted.image));
	ASSERT_EQ(1, poll(&requested, 1, 20000));
	ASSERT_EQ(0, unlink(EXT4 "/deleted.so"));
	env_teardown(&deleted);
	ASSERT_EQ(0, ioctl(root, FIFREEZE, 0));

	EXPECT_EQ(NULL, env_setup(&env));
	EXPECT_TRUE(make_fs("tmpfs", NULL, TMPFS));
	EXPECT_EQ(0, map_file(&env, &self->file, TMPFS "/code"));
	EXPECT_EQ(THROUGH_NOT, through(&env, &env.image));
	env_teardown(&env);
	do {
		poll(NULL, 0, 10);
		ret = umount(TMPFS);
	} while (ret && errno == EBUSY && now_ms() - start < 30000);
	EXPECT_EQ(0, ret);
	EXPECT_EQ(0, ioctl(root, FITHAW, 0));
	close(root);
}

/*
 * Permissions
 */

TEST_F(device, there_is_one_service)
{
	struct unwind_list list = {};
	struct unwind_request request;
	struct unwind_answer answer = {};
	int fd;

	EXPECT_EQ(-1, open(DEVICE, O_RDWR));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_EQ(-1, open(DEVICE, O_WRONLY));
	EXPECT_EQ(EBUSY, errno);
	/* To list is possible all the same, and no more */
	fd = open(DEVICE, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, read(fd, &request, sizeof(request)));
	EXPECT_EQ(EBADF, errno);
	EXPECT_EQ(-EBADF, add(fd, &answer));
	EXPECT_EQ(-1, ioctl(fd, UNWIND_IOC_NONE, &answer));
	EXPECT_EQ(EBADF, errno);
	EXPECT_EQ(-1, ioctl(fd, UNWIND_IOC_DEL, &answer.id));
	EXPECT_EQ(EBADF, errno);
	EXPECT_TRUE(!ioctl(fd, UNWIND_IOC_LIST, &list) || errno == ENOSPC);
}

TEST_F(device, opening_needs_both_capabilities)
{
	unsigned int i;
	int status;

	for (i = 0; i < 3; i++) {
		pid_t pid = fork();

		ASSERT_LE(0, pid);
		if (!pid) {
			if (i != 1) {
				drop_capability(CAP_PERFMON);
				drop_capability(CAP_SYS_ADMIN);
			}
			if (i != 0)
				drop_capability(CAP_DAC_READ_SEARCH);
			_exit(open(DEVICE, O_RDONLY) < 0 ? errno : 0);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_TRUE(WIFEXITED(status));
		EXPECT_EQ(EPERM, WEXITSTATUS(status));
	}
}

/*
 * Errors
 */

TEST_F(device, reads_and_calls_that_make_no_sense_fail)
{
	struct unwind_request request;

	EXPECT_EQ(-1, read(self->fd, &request, sizeof(request) - 1));
	EXPECT_EQ(EINVAL, errno);
	while (read(self->fd, &request, sizeof(request)) == sizeof(request))
		close(request.fd);
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(-1, ioctl(self->fd, _IO(0xFA, 77), 0));
	EXPECT_EQ(ENOTTY, errno);
	EXPECT_EQ(-1, ioctl(self->fd, _IO('T', 1), 0));
	EXPECT_EQ(ENOTTY, errno);
}

/* A wrong answer fails, and a right one is possible afterwards */
TEST_F(device, wrong_answers_fail)
{
	const size_t size = code_file_table_size(&self->file);
	struct sframe_header *header = (void *)self->section;
	struct unwind_chain_attr chain = { .function_mask = ~0ULL };
	struct unwind_answer right, wrong;
	struct unwind_request request;
	int fd;

	ASSERT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	ASSERT_EQ(0, await_request_for(self->fd, self->env.fd, &request));
	right = right_answer(&self->file, self->section, &request);

#define EXPECT_WRONG(error, field, value)				\
	do {								\
		wrong = right;						\
		wrong.field = value;					\
		EXPECT_EQ(-(error), add(self->fd, &wrong)) {		\
			TH_LOG("%s = %s", #field, #value);		\
		}							\
	} while (0)

	EXPECT_WRONG(EINVAL, flags, 1);
	EXPECT_WRONG(EBADF, fd, -1);
	EXPECT_WRONG(ESTALE, id, request.id + 1);
	EXPECT_WRONG(EFAULT, table_start, 8);
	EXPECT_WRONG(EFAULT, table_start, ~0ULL);
	EXPECT_WRONG(EINVAL, table_size, 0);
	EXPECT_WRONG(ENOEXEC, table_size, 8);
	EXPECT_WRONG(E2BIG, table_size, 1ULL << 32);
	/* No function lies in the file's text */
	EXPECT_WRONG(ENOENT, address, 1ULL << 40);

	EXPECT_WRONG(EINVAL, chain_size, sizeof(chain));
	right.chain = (uintptr_t)&chain;
	EXPECT_WRONG(EINVAL, chain_size, sizeof(chain) - 1);
	EXPECT_WRONG(E2BIG, chain_size, 1 << 20);
	right.chain_size = sizeof(chain);
	EXPECT_WRONG(EFAULT, chain, 8);
	chain.key = 1;
	EXPECT_EQ(-EINVAL, add(self->fd, &right));
	chain.key = 0;
	chain.function_mask = 0;
	EXPECT_EQ(-EINVAL, add(self->fd, &right));
	chain.function_mask = ~0ULL;

	header->magic++;
	EXPECT_EQ(-ENOEXEC, add(self->fd, &right));
	header->magic--;
	header->version = 1;
	EXPECT_EQ(-EOPNOTSUPP, add(self->fd, &right));
	header->version = 3;
	header->num_fdes = size;
	EXPECT_EQ(-ENOEXEC, add(self->fd, &right));
	header->num_fdes = CODE_FILE_FUNCTIONS;

	/* Other files */
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	EXPECT_WRONG(EINVAL, fd, fd);
	close(fd);
	fd = memfd_create("unsealed", MFD_CLOEXEC);
	EXPECT_WRONG(EINVAL, fd, fd);
	close(fd);
	fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	EXPECT_WRONG(ENOEXEC, fd, fd);
	close(fd);
	fd = open(FILE_NAME, O_PATH | O_CLOEXEC);
	EXPECT_WRONG(EBADF, fd, fd);
	close(fd);
	fd = make_file(&self->file, OTHER_NAME);
	ASSERT_LE(0, fd);
	EXPECT_WRONG(ESTALE, fd, fd);
	close(fd);
	fd = open(OTHER_NAME, O_WRONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	EXPECT_WRONG(EBADF, fd, fd);
	close(fd);
	EXPECT_EQ(-EFAULT, add(self->fd, NULL));

	EXPECT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	EXPECT_EQ(0, add(self->fd, &right));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
}

/* Map another file, without a table, and read its section; 0 or -1 */
static int map_other(struct _test_data_device *self, const struct code_file *file)
{
	size_t size;

	self->file = *file;
	self->file.hidden = true;
	size = code_file_table_size(&self->file);
	code_image_unmap(&self->env.image);
	close(self->env.fd);
	free(self->section);
	self->section = malloc(size);
	if (!self->section || map_file(&self->env, &self->file, OTHER_NAME))
		return -1;
	return pread(self->env.fd, self->section, size, self->file.table.offset) ==
	       (ssize_t)size ? 0 : -1;
}

/* Answer a request by a table that is larger than all may be from now on; 0 or an error */
static int answer_too_large(struct _test_data_device *self, struct unwind_answer *answer)
{
	struct unwind_request request;
	int ret;

	if (map_other(self, &code_file_wide) ||
	    through(&self->env, &self->env.image) != THROUGH_NOT)
		return -EINVAL;
	ret = await_request_for(self->fd, self->env.fd, &request);
	*answer = right_answer(&self->file, self->section, &request);
	return ret ?: put_word(LIMIT_DIR, LIMIT, LESS_THAN_WIDE) ?: add(self->fd, answer);
}

/* The file is not asked for again while this is so, and at once when it is not */
TEST_F(device, table_larger_than_all_may_be_is_refused)
{
	struct unwind_request request;
	struct unwind_answer answer;

	ASSERT_EQ(-ENOSPC, answer_too_large(self, &answer));
	/* It was answered */
	EXPECT_EQ(-ESTALE, add(self->fd, &answer));
	EXPECT_TRUE(never_through(&self->env, &self->env.image));
	EXPECT_TRUE(no_request_for(self->fd, self->env.fd));

	ASSERT_EQ(0, put_word(LIMIT_DIR, LIMIT, self->limit));
	EXPECT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	ASSERT_EQ(0, await_request_for(self->fd, self->env.fd, &request));
	answer = right_answer(&self->file, self->section, &request);
	EXPECT_EQ(0, add(self->fd, &answer));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
}

/* Its table may be smaller */
TEST_F(device, file_with_too_large_a_table_is_asked_for_by_the_next_service)
{
	struct unwind_request request;
	struct unwind_answer answer;

	ASSERT_EQ(-ENOSPC, answer_too_large(self, &answer));
	close(self->fd);
	self->fd = open(DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	EXPECT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	EXPECT_EQ(0, await_request_for(self->fd, self->env.fd, &request));
}

/* Its index would be too large */
TEST_F(device, section_for_texts_far_apart_is_refused)
{
	struct unwind_request unasked = {};
	struct unwind_answer answer;
	struct code_file far = code_file_wide;

	far.text[1] = (struct code_segment){ 0x8000000, 0x8000000 };
	ASSERT_EQ(0, map_other(self, &far));
	unasked.fd = self->env.fd;
	answer = right_answer(&self->file, self->section, &unasked);
	EXPECT_EQ(-E2BIG, add(self->fd, &answer));
}

#define SECTION_MAX	(64UL << 20)

TEST_F(device, section_larger_than_64_mebibytes_is_refused)
{
	struct unwind_request unasked = { .fd = self->env.fd };
	struct unwind_answer answer = right_answer(&self->file, self->section, &unasked);
	char *section = mmap(NULL, SECTION_MAX + 1, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, section);
	memcpy(section, self->section, answer.table_size);
	answer.table_start = (uintptr_t)section;
	answer.table_size = SECTION_MAX + 1;
	EXPECT_EQ(-E2BIG, add(self->fd, &answer));
	answer.table_size = SECTION_MAX;
	EXPECT_EQ(0, add(self->fd, &answer));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
}

/* Where changes are not counted, the next one could have the same time */
TEST_F(device, file_that_has_just_changed_gets_no_table)
{
	struct unwind_request unasked = {};
	struct unwind_answer answer;
	int64_t written;
	int ret;

	if (!is_mounted(RAMFS))
		SKIP(return, "no ramfs, or not root");
	unasked.fd = open(RAMFS "/device", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	ASSERT_LE(0, unasked.fd);
	ASSERT_EQ(0, code_file_write(&self->file, unasked.fd));
	written = now_ms();
	close(unasked.fd);
	unasked.fd = open(RAMFS "/device", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, unasked.fd);
	unlink(RAMFS "/device");
	answer = right_answer(&self->file, self->section, &unasked);
	ret = add(self->fd, &answer);
	if (now_ms() - written > 2000)
		SKIP(return, "the machine is too slow");
	EXPECT_EQ(-ETXTBSY, ret);
	ASSERT_EQ(0, file_settle(unasked.fd));
	EXPECT_EQ(0, add(self->fd, &answer));
}

static int add_sized(int device, const void *answer, size_t size)
{
	return ioctl(device, _IOC(_IOC_READ | _IOC_WRITE, 0xFA, 1, size), answer) ?
	       -errno : 0;
}

static int none_sized(int device, const void *answer, size_t size)
{
	return ioctl(device, _IOC(_IOC_WRITE, 0xFA, 2, size), answer) ? -errno : 0;
}

/* A structure with a tail that the kernel does not know, and one of pages */
struct longer_answer {
	struct unwind_answer answer;
	__u64 later;
	char more[8192];
};

#define LONGER	offsetof(struct longer_answer, more)

TEST_F(device, structure_may_grow)
{
	struct unwind_request unasked = { .fd = self->env.fd };
	struct longer_answer longer = {
		.answer = right_answer(&self->file, self->section, &unasked),
	};

	EXPECT_EQ(-EINVAL, add_sized(self->fd, &longer, UNWIND_ANSWER_SIZE_VER0 - 1));
	longer.later = 1;
	EXPECT_EQ(-E2BIG, add_sized(self->fd, &longer, LONGER));
	longer.later = 0;
	if (sizeof(longer) > page_size())
		EXPECT_EQ(-E2BIG, add_sized(self->fd, &longer, sizeof(longer)));
	EXPECT_EQ(0, add_sized(self->fd, &longer, LONGER));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
}

TEST_F(device, structure_of_none_may_grow)
{
	struct longer_answer longer = {};
	struct unwind_request request;

	ASSERT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
	ASSERT_EQ(0, await_request_for(self->fd, self->env.fd, &request));
	longer.answer.id = request.id;
	longer.answer.fd = request.fd;
	EXPECT_EQ(-EINVAL, none_sized(self->fd, &longer, UNWIND_ANSWER_SIZE_VER0 - 1));
	longer.later = 1;
	EXPECT_EQ(-E2BIG, none_sized(self->fd, &longer, LONGER));
	longer.later = 0;
	EXPECT_EQ(0, none_sized(self->fd, &longer, LONGER));
	EXPECT_EQ(-ESTALE, none_sized(self->fd, &longer, LONGER));
}

TEST_F(device, none_takes_no_table)
{
	struct unwind_answer right = { .id = ~0ULL, .fd = self->env.fd }, wrong;

#define EXPECT_WRONG_NONE(error, field, value)				\
	do {								\
		wrong = right;						\
		wrong.field = value;					\
		EXPECT_EQ(-(error), none_sized(self->fd, &wrong, sizeof(wrong))) { \
			TH_LOG("%s = %s", #field, #value);		\
		}							\
	} while (0)

	EXPECT_WRONG_NONE(EINVAL, id, 0);
	EXPECT_WRONG_NONE(EINVAL, flags, 1);
	EXPECT_WRONG_NONE(EINVAL, table_start, 1);
	EXPECT_WRONG_NONE(EINVAL, table_size, 1);
	EXPECT_WRONG_NONE(EINVAL, address, 1);
	EXPECT_WRONG_NONE(EINVAL, chain, 1);
	EXPECT_WRONG_NONE(EINVAL, chain_size, 1);
	EXPECT_WRONG_NONE(EBADF, fd, -1);
	EXPECT_WRONG_NONE(ESTALE, id, 1ULL << 63);
	EXPECT_EQ(-EFAULT, none_sized(self->fd, NULL, sizeof(right)));
	right.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	EXPECT_WRONG_NONE(EINVAL, flags, 0);
}

/*
 * The list
 */

static const struct unwind_table_info *find_info(struct unwind_table_info *infos, __u32 room,
						 int device, int fd)
{
	struct unwind_list list = { .infos = (uintptr_t)infos, .room = room };
	struct stat st;
	__u32 i;

	if (fstat(fd, &st))
		return NULL;
	do {
		if (ioctl(device, UNWIND_IOC_LIST, &list))
			return NULL;
		for (i = 0; i < list.nr; i++) {
			if (infos[i].ino == st.st_ino &&
			    infos[i].dev_major == major(st.st_dev) &&
			    infos[i].dev_minor == minor(st.st_dev))
				return &infos[i];
		}
	} while (list.cursor);
	return NULL;
}

TEST_F(device, tables_are_listed)
{
	struct unwind_request unasked = { .fd = self->env.fd };
	struct unwind_answer answer = right_answer(&self->file, self->section, &unasked);
	struct unwind_table_info infos[64];
	const struct unwind_table_info *info;
	struct code_file file = self->file;
	int fd;

	EXPECT_EQ(NULL, find_info(infos, 64, self->fd, self->env.fd));
	ASSERT_EQ(0, add(self->fd, &answer));
	info = find_info(infos, 64, self->fd, self->env.fd);
	ASSERT_NE(NULL, info);
	EXPECT_EQ(answer.id, info->id);
	EXPECT_LT(0, info->bytes);
	EXPECT_LT(CODE_FILE_FUNCTIONS, info->entries);
	EXPECT_EQ(UNWIND_TABLE_PROVIDED | UNWIND_TABLE_USED, info->flags);

	/* The table of a file itself */
	file.hidden = false;
	code_image_unmap(&self->env.image);
	fd = make_file(&file, OTHER_NAME);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, code_image_map(&self->env.image, &file, fd, NULL));
	ASSERT_EQ(THROUGH, through(&self->env, &self->env.image));
	info = find_info(infos, 64, self->fd, fd);
	ASSERT_NE(NULL, info);
	EXPECT_EQ(0, info->flags & UNWIND_TABLE_PROVIDED);
	answer = right_answer(&self->file, self->section, &unasked);
	answer.fd = fd;
	EXPECT_EQ(-EEXIST, add(self->fd, &answer));
}

/* By its id there, the service can withdraw it all the same */
TEST_F(device, table_whose_id_cannot_be_written_is_listed)
{
	struct unwind_request unasked = { .fd = self->env.fd };
	struct unwind_answer *answer = mmap(NULL, page_size(), PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct unwind_table_info infos[64];
	const struct unwind_table_info *info;

	ASSERT_NE(MAP_FAILED, answer);
	*answer = right_answer(&self->file, self->section, &unasked);
	ASSERT_EQ(0, mprotect(answer, page_size(), PROT_READ));
	EXPECT_EQ(-EFAULT, add(self->fd, answer));
	EXPECT_EQ(THROUGH, through(&self->env, &self->env.image));
	info = find_info(infos, 64, self->fd, self->env.fd);
	ASSERT_NE(NULL, info);
	EXPECT_EQ(0, ioctl(self->fd, UNWIND_IOC_DEL, &info->id));
	EXPECT_EQ(THROUGH_NOT, through(&self->env, &self->env.image));
}

TEST_F(device, wrong_lists_fail)
{
	struct unwind_request unasked = { .fd = self->env.fd };
	struct unwind_answer answer = right_answer(&self->file, self->section, &unasked);
	struct unwind_list list = {};

	ASSERT_EQ(0, add(self->fd, &answer));
	EXPECT_EQ(-1, ioctl(self->fd, UNWIND_IOC_LIST, &list));
	EXPECT_EQ(ENOSPC, errno);
	list.room = 64;
	EXPECT_EQ(-1, ioctl(self->fd, UNWIND_IOC_LIST, &list));
	EXPECT_EQ(EFAULT, errno);
	list.reserved = 1;
	EXPECT_EQ(-1, ioctl(self->fd, UNWIND_IOC_LIST, &list));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(self->fd, UNWIND_IOC_LIST, NULL));
	EXPECT_EQ(EFAULT, errno);
}

TEST_HARNESS_MAIN
