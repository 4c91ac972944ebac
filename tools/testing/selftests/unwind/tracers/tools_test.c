// SPDX-License-Identifier: GPL-2.0
/*
 * Unmodified tools, on programs whose stacks are known.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ftrace.h"
#include "../../kselftest_harness.h"

/*
 * The distribution's trace-cmd with deferred user stacks: when it prints the report, the
 * recorded program is gone, and each frame of its stack still has a file and an offset.
 * The program is prog_table: it is not relocated, and reports its stack itself.
 */

#define PROG		"prog_table"
#define PLUGIN		"plugin_user_unwind.so"
#define FRAMES		16

/* In a separate instance */
#define INSTANCE	"unwind-trace-cmd"
#define RECORD		"trace-cmd record -B " INSTANCE " -o trace.dat" \
			" -O userstacktrace_deferred" \
			" -e raw_syscalls:sys_enter -f 'id == %d'" \
			" sh -c '%s notes >notes' >record.log 2>&1"

FIXTURE(trace_cmd)
{
	char dir[64];
	char prog[192];
	char *report;
};

static char *read_all(FILE *file)
{
	size_t used = 0, size = 1 << 20, len;
	char *text = malloc(size);

	while (text && (len = fread(text + used, 1, size - used - 1, file)) > 0)
		used += len;
	if (text)
		text[used] = 0;
	return text;
}

FIXTURE_SETUP(trace_cmd)
{
	struct ftrace ft;
	char command[1024], *slash;

	if (system("command -v trace-cmd >/dev/null"))
		SKIP(return, "no trace-cmd");
	if (ftrace_open(&ft, "probe"))
		SKIP(return, "no deferred user stacks in traces");
	ASSERT_EQ(0, ftrace_close(&ft));

	ASSERT_LT(0, readlink("/proc/self/exe", self->prog,
			      sizeof(self->prog) - sizeof(PROG)));
	slash = strrchr(self->prog, '/');
	memcpy(slash + 1, PROG, sizeof(PROG));
	snprintf(self->dir, sizeof(self->dir), "/tmp/unwind-trace-cmd-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	/* The program's output goes to a file */
	snprintf(command, sizeof(command), "cd %s && " RECORD, self->dir,
		 (int)SYS_getppid, self->prog);
	ASSERT_EQ(0, system(command));
	snprintf(command, sizeof(command), "cd %s && trace-cmd report trace.dat",
		 self->dir);
	self->report = read_all(popen(command, "r"));
	ASSERT_NE(NULL, self->report);
}

FIXTURE_TEARDOWN(trace_cmd)
{
	char command[128];

	free(self->report);
	if (!self->dir[0])
		return;
	snprintf(command, sizeof(command), "rm -rf %s", self->dir);
	system(command);
	rmdir("/sys/kernel/tracing/instances/" INSTANCE);
}

/* The addresses of the program's stack, innermost first */
static unsigned int read_notes(const char *dir, uint64_t *ip)
{
	char path[128];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%s/notes", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? 0 : read(fd, ip, FRAMES * sizeof(*ip));
	close(fd);
	return len > 0 ? len / sizeof(*ip) : 0;
}

/* The file offset of a program address, by the file's headers */
static long file_offset(const char *prog, uint64_t addr)
{
	int fd = open(prog, O_RDONLY | O_CLOEXEC), i;
	Elf64_Phdr phdr;
	Elf64_Ehdr ehdr;
	long offset = -1;

	if (pread(fd, &ehdr, sizeof(ehdr), 0) != sizeof(ehdr))
		goto out;
	for (i = 0; i < ehdr.e_phnum; i++) {
		if (pread(fd, &phdr, sizeof(phdr),
			  ehdr.e_phoff + i * sizeof(phdr)) != sizeof(phdr))
			goto out;
		if (phdr.p_type == PT_LOAD && addr >= phdr.p_vaddr &&
		    addr < phdr.p_vaddr + phdr.p_memsz)
			offset = addr - phdr.p_vaddr + phdr.p_offset;
	}
out:
	close(fd);
	return offset;
}

/* Parse "name={0x1,0x2,...}"; return the number of values */
static unsigned int list(const char *line, const char *name, uint64_t *value)
{
	char key[32];
	const char *at;
	unsigned int nr = 0;

	snprintf(key, sizeof(key), " %s={", name);
	at = strstr(line, key);
	for (at = at ? at + strlen(key) : "}"; *at != '}' && nr < FRAMES; nr++) {
		char *end;

		value[nr] = strtoull(at, &end, 0);
		at = *end == ',' ? end + 1 : end;
		if (*at != '}' && end == at)
			break;
	}
	return nr;
}

/* The path that the report gives for a file's number; count its announcements before @end */
static unsigned int announced(const char *report, const char *end, uint64_t id,
			      char *path)
{
	unsigned int count = 0;
	const char *at;
	char key[64];

	snprintf(key, sizeof(key), "file=0x%llx path=", (unsigned long long)id);
	for (at = report; (at = strstr(at, key)) && at < end; at++, count++)
		if (sscanf(at + strlen(key), "%191s", path) != 1)
			return 0;
	return count;
}

/*
 * The next stack that begins at that address, which no other program uses. The shell that
 * started the program has a stack, too. And the report may lack a task's name, because
 * the kernel records a name only if it need not wait for that.
 */
static const char *find_stack(const char *report, uint64_t ip)
{
	const char *at = report, *list, *end;
	char key[32];

	snprintf(key, sizeof(key), " ip={0x%llx,", (unsigned long long)ip);
	while ((at = strstr(at, " user_unwind_stack:"))) {
		list = strstr(at, key);
		end = strchr(at, '\n');
		if (list && (!end || list < end))
			return at;
		at++;
	}
	return NULL;
}

TEST_F_TIMEOUT(trace_cmd, report_names_file_and_offset, 120)
{
	uint64_t want[FRAMES], ip[FRAMES], file[FRAMES], offset[FRAMES];
	uint64_t cookie;
	char key[64], path[192];
	unsigned int nr, i;
	const char *stack;

	nr = read_notes(self->dir, want);
	ASSERT_LT(2, nr);
	stack = find_stack(self->report, want[0]);
	ASSERT_NE(NULL, stack) TH_LOG("%s", self->report);
	cookie = strtoull(strstr(stack, "cookie=") + strlen("cookie="), NULL, 0);
	/* The event came first, and there is one stack */
	snprintf(key, sizeof(key), "user_unwind_cookie:   cookie=0x%llx",
		 (unsigned long long)cookie);
	ASSERT_NE(NULL, strstr(self->report, key));
	EXPECT_LT(strstr(self->report, key), stack);
	EXPECT_EQ(NULL, find_stack(stack + 1, want[0]));

	EXPECT_EQ(nr, list(stack, "ip", ip));
	ASSERT_EQ(nr, list(stack, "file", file));
	ASSERT_EQ(nr, list(stack, "offset", offset));
	for (i = 0; i < nr; i++) {
		EXPECT_EQ(want[i], ip[i]);
		EXPECT_EQ(file_offset(self->prog, want[i]), (long)offset[i]);
		EXPECT_EQ(1, announced(self->report, stack, file[i], path));
		EXPECT_STREQ(self->prog, path);
	}
}

/* The report with the plugin of tools/unwind/trace-cmd; NULL if that was not built */
static char *report_with_plugin(const char *dir, const char *prog)
{
	char from[256], to[256], command[512];

	snprintf(from, sizeof(from), "%.*s%s", (int)(strlen(prog) - strlen(PROG)), prog, PLUGIN);
	/* All that is in the directory is taken for a plugin */
	snprintf(to, sizeof(to), "%s/plugins", dir);
	if (access(from, R_OK) || mkdir(to, 0700))
		return NULL;
	strcat(to, "/" PLUGIN);
	if (symlink(from, to))
		return NULL;
	snprintf(command, sizeof(command),
		 "cd %s && TRACEEVENT_PLUGIN_DIR=%s/plugins trace-cmd report trace.dat 2>&1",
		 dir, dir);
	return read_all(popen(command, "r"));
}

TEST_F_TIMEOUT(trace_cmd, plugin_prints_a_line_per_frame, 120)
{
	char *report = report_with_plugin(self->dir, self->prog);
	uint64_t want[FRAMES];
	const char *stack, *at;
	unsigned int nr, i;
	char key[256];

	if (!report)
		SKIP(return, "no headers of libtraceevent when this was built");
	nr = read_notes(self->dir, want);
	ASSERT_LT(2, nr);
	stack = find_stack(self->report, want[0]);
	ASSERT_NE(NULL, stack);
	snprintf(key, sizeof(key), "user_unwind_stack:    cookie=0x%llx\n",
		 strtoull(strstr(stack, "cookie=") + strlen("cookie="), NULL, 0));
	at = strstr(report, key);
	ASSERT_NE(NULL, at) TH_LOG("%s", report);
	at += strlen(key);
	for (i = 0; i < nr; i++) {
		snprintf(key, sizeof(key), " => %s+0x%lx\n", self->prog,
			 file_offset(self->prog, want[i]));
		ASSERT_EQ(0, strncmp(at, key, strlen(key))) TH_LOG("%s", report);
		at += strlen(key);
	}
	/* And no more */
	EXPECT_NE(0, strncmp(at, " =>", 3));
}

TEST_HARNESS_MAIN
