// SPDX-License-Identifier: GPL-2.0
/*
 * Results of a conversion that fails in any way. Functions of this file replace the
 * conversion: the requested address of the table selects the failure.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../convert.h"
#include "../sandbox.h"

#define SUBJECT	"worker"
#include "result.h"

#define BYTES	100000

enum { GOOD, ERROR, CRASH, MEMORY, WAIT, LOOP, SILENT, SHORT, LYING };

static struct unwind_note *one_note(void)
{
	struct unwind_note *note = calloc(1, sizeof(*note));

	memset(note->name, 'n', sizeof(note->name));
	note->name[1] = '\n';
	note->type = 1000;
	return note;
}

static int make_good(struct unwind_table *table)
{
	table->sframe = malloc(BYTES);
	memset(table->sframe, 42, BYTES);
	table->size = BYTES;
	table->machine = 62;
	table->stats.rows = 17;
	table->notes = one_note();
	table->nr_notes = 1;
	return 0;
}

static int use_all_memory(void)
{
	while (malloc(64 << 20))
		;
	return -ENOMEM;
}

int unwind_convert(int fd, __u64 addr, struct unwind_table *table)
{
	static unsigned int word;
	static const __u64 lies[100] = { 0, 62, 0, [20] = -1ULL };

	memset(table, 0, sizeof(*table));
	if (fd != SANDBOX_IN)
		return -EBADF;
	switch (addr) {
	case GOOD:
		return make_good(table);
	case ERROR:
		return -ENOEXEC;
	case CRASH:
		abort();
	case MEMORY:
		return use_all_memory();
	case WAIT:
		syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL);
		return 0;
	case LOOP:
		while (getppid())
			;
		return 0;
	case SHORT:
		_exit(write(SANDBOX_OUT, &word, sizeof(word)) != sizeof(word));
	case LYING:
		_exit(write(SANDBOX_OUT, lies, sizeof(lies)) != sizeof(lies));
	default:
		_exit(0);
	}
}

/* Beside unwind_convert(), for the worker: this test does not call it */
int unwind_check(int fd, __u64 addr, struct unwind_table *table)
{
	return unwind_convert(fd, addr, table);
}

static void check(__u64 what, int want, int other, const char *name)
{
	int fd = open("/dev/null", O_RDONLY);
	struct unwind_table table;
	int ret = unwind_convert_sandboxed(fd, what, &table);
	bool ok = ret == want || ret == other;

	close(fd);
	if (!ok)
		printf("# it is %d\n", ret);
	if (ret && (table.sframe || table.notes))
		ok = false;
	if (!ret)
		ok &= table.size == BYTES && table.sframe[BYTES - 1] == 42 &&
		      table.machine == 62 && table.stats.rows == 17 &&
		      table.addr == GOOD && table.nr_notes == 1 &&
		      table.notes[0].type < UNWIND_NOTE_TYPES &&
		      !strncmp(table.notes[0].name, "n?nnn", 5) &&
		      strlen(table.notes[0].name) == UNWIND_NOTE_NAME_LEN - 1;
	free(table.sframe);
	free(table.notes);
	result(ok, name);
}

int main(void)
{
	check(GOOD, 0, 0, "what it makes arrives");
	check(ERROR, -ENOEXEC, -ENOEXEC, "its error is returned");
	check(CRASH, -EPROTO, -EPROTO, "a crash is an error");
	check(MEMORY, -ENOMEM, -ENOMEM, "memory ends");
	check(WAIT, -EBUSY, -EBUSY, "one that waits is given up");
	/* Other work may take more of the processor */
	check(LOOP, -ETIMEDOUT, -EBUSY, "one that takes all the time is given up");
	check(SILENT, -EPROTO, -EPROTO, "no result is an error");
	check(SHORT, -EPROTO, -EPROTO, "part of a result is an error");
	check(LYING, -EPROTO, -EPROTO, "sizes that are wrong are an error");
	return end_results();
}
