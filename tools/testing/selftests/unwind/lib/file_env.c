// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the tables of files, see file_env.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "file_env.h"
#include "image.h"

const char *env_setup(struct file_env *env)
{
	env->fd = -1;
	if (sampler_open(&env->sampler, 0))
		return "no perf events for raw_syscalls, or not root";
	if (trace_start(&env->trace))
		return "no tracepoints unwind:*";
	return NULL;
}

void env_teardown(struct file_env *env)
{
	code_image_unmap(&env->image);
	if (env->fd >= 0)
		close(env->fd);
	sampler_close(&env->sampler);
	trace_stop(&env->trace);
}

struct code_file with_frame(const struct code_file *file, unsigned int frame)
{
	struct code_file other = *file;

	other.frame = frame;
	other.frame_table = frame;
	return other;
}

int make_file(const struct code_file *file, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	int ret;

	if (fd < 0)
		return -1;
	ret = code_file_write(file, fd) || file_settle(fd);
	close(fd);
	return ret ? -1 : open(path, O_RDONLY | O_CLOEXEC);
}

int map_file(struct file_env *env, const struct code_file *file, const char *path)
{
	env->fd = make_file(file, path);
	return env->fd < 0 ? -1 : code_image_map(&env->image, file, env->fd, NULL);
}

char *file_bytes(const struct code_file *file, size_t *size)
{
	int fd = code_file_memfd(file);
	char *bytes = NULL;
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st)) {
		*size = st.st_size;
		bytes = malloc(*size);
	}
	if (bytes && pread(fd, bytes, *size, 0) != (ssize_t)*size) {
		free(bytes);
		bytes = NULL;
	}
	close(fd);
	return bytes;
}

/* Padding of the section */
#define LARGE	1048576

/* The last of three program headers locates the section */
int large_memfd(void)
{
	const size_t at = sizeof(struct elf64_hdr) + 2 * sizeof(struct elf64_phdr);
	int fd = code_file_unsealed(&code_file_usual);
	struct elf64_phdr phdr;

	if (fd < 0 || ftruncate(fd, code_file_usual.table.offset + 2 * LARGE) ||
	    pread(fd, &phdr, sizeof(phdr), at) != sizeof(phdr))
		return -1;
	phdr.p_filesz += LARGE;
	phdr.p_memsz += LARGE;
	return pwrite(fd, &phdr, sizeof(phdr), at) != sizeof(phdr) || file_seal(fd) ?
	       -1 : fd;
}

/*
 * Stacks
 */

/*
 * The kernel tries again after a second if it could not load a table; this is ample, and less
 * than a test may take
 */
#define AWAIT_MS	20000

enum through through(struct file_env *env, const struct code_image *image)
{
	return code_through(&env->sampler, code_image_fn(image, 0, 0));
}

bool never_through(struct file_env *env, const struct code_image *image)
{
	int i;

	for (i = 0; i < 3; i++)
		if (through(env, image) != THROUGH_NOT)
			return false;
	return true;
}

enum through await_through(struct file_env *env, const struct code_image *image)
{
	const int64_t end = now_ms() + AWAIT_MS;
	enum through ret;

	do {
		ret = through(env, image);
		usleep(1000);
	} while (ret == THROUGH_NOT && now_ms() < end);
	return ret;
}

enum through await_fault(struct file_env *env, const struct code_image *image, int fd)
{
	const int64_t end = now_ms() + AWAIT_MS;
	enum through ret;

	do {
		ret = through(env, image);
		usleep(1000);
	} while (ret == THROUGH_NOT && !faults(env, fd) && now_ms() < end);
	return ret;
}

int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/*
 * Events
 */

static size_t events(struct file_env *env, int fd, const char *name)
{
	return trace_read(&env->trace) ? -1 :
	       trace_count_file(&env->trace, name, fd, NULL, 0);
}

size_t loads(struct file_env *env, int fd)
{
	return events(env, fd, "table_found");
}

size_t await_loads(struct file_env *env, int fd)
{
	const int64_t end = now_ms() + AWAIT_MS;
	size_t nr;

	while (!(nr = loads(env, fd)) && now_ms() < end)
		usleep(1000);
	return nr;
}

size_t faults(struct file_env *env, int fd)
{
	return events(env, fd, "file_invalid");
}

/*
 * File systems
 */

bool is_mounted(const char *dir)
{
	struct stat st, parent;

	return !stat(dir, &st) && !stat("/tmp", &parent) && st.st_dev != parent.st_dev;
}

/* An image is a sparse file; mkfs's options may follow the type */
bool make_fs(const char *type, const char *size, const char *dir)
{
	char command[256];

	if (!size)
		return (!mkdir(dir, 0700) || errno == EEXIST) &&
		       !mount(type, dir, type, 0, NULL);
	snprintf(command, sizeof(command),
		 "{ mkdir -p %s && truncate -s %s %s.image; } >/dev/null 2>&1", dir, size, dir);
	if (system(command))
		return false;
	snprintf(command, sizeof(command),
		 "{ mkfs.%s -q %s.image && mount -o loop %s.image %s; } >/dev/null 2>&1",
		 type, dir, dir, dir);
	return !system(command);
}

/* Once, because it takes long: each test is a child of this process */
static void __attribute__((constructor)) make_all_fs(void)
{
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", "/tmp", "tmpfs", 0, NULL))
		return;
	make_fs("tmpfs", NULL, TMPFS);
	make_fs("ramfs", NULL, RAMFS);
	make_fs(EXT4_OF_PAGES, "16M", EXT4);
	make_fs("btrfs", "128M", BTRFS);
}
