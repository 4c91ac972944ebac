// SPDX-License-Identifier: GPL-2.0
/*
 * A conversion in a separate process, which can do nothing else. The process writes its
 * result into a file in memory, which is read when it has ended. So a hostile file can
 * only spoil its own result. The copy for the cache (extract.c) is made the same way.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert.h"
#include "sandbox.h"

/* The kernel takes no larger section */
#define SECTION_SIZE_MAX	(64U << 20)

/* The result: this header, the section, the notes */
struct result {
	__s64			ret;
	__u32			machine;
	__u32			has_chain;
	struct unwind_chain_attr	chain;
	struct unwind_stats	stats;
	__u64			size;
	__u64			nr_notes;
};

static int write_all(const void *data, size_t size)
{
	while (size) {
		ssize_t ret = write(SANDBOX_OUT, data, size);

		if (ret <= 0)
			return -EIO;
		data += ret;
		size -= ret;
	}
	return 0;
}

static int write_result(int ret, const struct unwind_table *table)
{
	const struct result result = {
		.ret = ret,
		.machine = table->machine,
		.has_chain = table->has_chain,
		.chain = table->chain,
		.stats = table->stats,
		.size = table->size,
		.nr_notes = table->nr_notes,
	};

	return write_all(&result, sizeof(result)) ?:
	       write_all(table->sframe, table->size) ?:
	       write_all(table->notes, table->nr_notes * sizeof(*table->notes));
}

/* In the sandbox */
static int work(__u64 addr)
{
	struct unwind_table table;
	int ret = unwind_convert(SANDBOX_IN, addr, &table);

	return write_result(ret, &table);
}

/* In the sandbox */
static int work_and_check(__u64 addr)
{
	struct unwind_table table;
	int ret = unwind_check(SANDBOX_IN, addr, &table);

	return write_result(ret, &table);
}

/* In the sandbox */
static int extract(__u64 unused)
{
	(void)unused;
	return unwind_extract() ? 0 : -EPROTO;
}

/* A call has failed for lack of something.  -ENOMEM would say that the file needs too much. */
static int shortage(void)
{
	return errno == ENOMEM ? -EAGAIN : -errno;
}

static pid_t start(int in, int out, int (*job)(__u64 addr), __u64 addr)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid < 0 ? shortage() : pid;
	if (sandbox_enter(in, out, parent))
		_exit(2);
	_exit(job(addr) ? 1 : 0);
}

static int run(int in, int out, int (*job)(__u64 addr), __u64 addr)
{
	pid_t pid;

	if (!sandbox_may_read(in))
		return -EAGAIN;
	pid = start(in, out, job, addr);
	return pid < 0 ? pid : sandbox_judge(pid, SANDBOX_SECONDS * 1000);
}

static void *read_part(int fd, size_t offset, size_t size)
{
	char *buf = malloc(size ?: 1);
	size_t done = 0;

	while (buf && done < size) {
		ssize_t ret = pread(fd, buf + done, size - done, offset + done);

		if (ret <= 0) {
			free(buf);
			return NULL;
		}
		done += ret;
	}
	return buf;
}

/* The process's output is as untrusted as the file */
static void check_notes(struct unwind_table *table)
{
	size_t i, j;

	for (i = 0; i < table->nr_notes; i++) {
		struct unwind_note *note = &table->notes[i];

		if (note->type >= UNWIND_NOTE_TYPES)
			note->type = UNWIND_NOTE_ENTRY;
		note->name[UNWIND_NOTE_NAME_LEN - 1] = '\0';
		for (j = 0; note->name[j]; j++) {
			if (note->name[j] <= ' ' || note->name[j] > '~')
				note->name[j] = '?';
		}
	}
}

static int read_result(int fd, struct unwind_table *table)
{
	struct result result;
	struct stat st;
	__u64 left;

	if (fstat(fd, &st) ||
	    pread(fd, &result, sizeof(result), 0) != sizeof(result))
		return -EPROTO;
	left = st.st_size - sizeof(result);
	if (result.size > left || result.size > SECTION_SIZE_MAX ||
	    result.ret > 0 || result.ret < -4095 ||
	    result.nr_notes > UNWIND_NOTES_MAX ||
	    left - result.size != result.nr_notes * sizeof(*table->notes))
		return -EPROTO;
	if (result.ret)
		return result.ret;
	table->machine = result.machine;
	/* The kernel checks it */
	table->has_chain = result.has_chain;
	table->chain = result.chain;
	table->stats = result.stats;
	table->size = result.size;
	table->nr_notes = result.nr_notes;
	table->sframe = read_part(fd, sizeof(result), result.size);
	table->notes = read_part(fd, sizeof(result) + result.size,
				 left - result.size);
	if (!table->sframe || !table->notes)
		return -EAGAIN;
	check_notes(table);
	return 0;
}

static int table_from(int fd, int (*job)(__u64 addr), __u64 addr, struct unwind_table *table)
{
	int out = memfd_create("unwind-table", MFD_CLOEXEC);
	int ret;

	memset(table, 0, sizeof(*table));
	if (out < 0)
		return shortage();
	ret = run(fd, out, job, addr);
	if (!ret)
		ret = read_result(out, table);
	table->addr = addr;
	close(out);
	return ret;
}

/**
 * unwind_convert_sandboxed - make a table of a file that nobody vouches for
 * @fd: a descriptor to read the file from
 * @addr: link-time address that the section is made for
 * @table: filled in; to be freed by unwind_table_free(), also after an error
 *
 * The file is parsed in a child, which has no privileges, can open nothing, has 1 GiB
 * of memory, and is killed after SANDBOX_SECONDS.
 *
 * Return: as unwind_convert(), and: -EPROTO the file made the parser fail; -ETIMEDOUT it
 * took too long; -EBUSY it took too long, for other reasons than the file's contents; -EPERM no
 * sandbox could be made; -EAGAIN there is no further process or memory, or a process hangs in the
 * file's file system; -EMFILE or -ENFILE no further file.
 */
int unwind_convert_sandboxed(int fd, __u64 addr, struct unwind_table *table)
{
	return table_from(fd, work, addr, table);
}

/**
 * unwind_check_sandboxed - the same by unwind_check(), with more notes
 * @fd: a descriptor to read the file from
 * @addr: link-time address that the section is made for
 * @table: filled in; to be freed by unwind_table_free(), also after an error
 *
 * Return: as unwind_convert_sandboxed().
 */
int unwind_check_sandboxed(int fd, __u64 addr, struct unwind_table *table)
{
	return table_from(fd, work_and_check, addr, table);
}

/**
 * unwind_extract_sandboxed - copy what the converter reads of a file
 * @fd: a descriptor to read the file from
 *
 * Return: a descriptor of the copy, which is in memory; or a negative error: -EPROTO the
 * file is none that can be copied; others as unwind_convert_sandboxed().
 */
int unwind_extract_sandboxed(int fd)
{
	int out = memfd_create("unwind-image", MFD_CLOEXEC);
	int ret;

	if (out < 0)
		return shortage();
	ret = run(fd, out, extract, 0);
	if (!ret)
		return out;
	close(out);
	return ret;
}
