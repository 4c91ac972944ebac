// SPDX-License-Identifier: GPL-2.0
/*
 * The profiler by BPF (tools/unwind/profile), on a program whose stacks are known: where
 * it sleeps and for how long, and where it spins.
 *
 * Most tests read the text of perf script, which has each sample with its process. Nothing
 * waits for a time: the profiled command itself stops the profiler, or the profiler says
 * on its terminal that it has taken samples.
 */
#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chain.h"
#include "code_file.h"
#include "file_server.h"
#include "profiled.h"
#include "../../kselftest_harness.h"

#define PROFILER	"./unwind-profile "
#define SHELL		"sh -c "
#define SCRIPT		PROFILER "--format script -o $OUT -F "
#define NAME		"profiled;"
#define STACK		NAME "_start;outer;"

#define CGROUPS		"/sys/fs/cgroup"
#define CGROUP2_MAGIC	0x63677270

FIXTURE(profiler)
{
	char	dir[64];
	pid_t	running[3];
	char	cgroup[96];
	/* Where a server's files are */
	char	files[96];
};

/* The profiler's files are $OUT and $ERR */
FIXTURE_SETUP(profiler)
{
	char path[96];

	if (geteuid() || access("./unwind-profile", X_OK))
		SKIP(return, "not root, or no compiler for BPF when this was built");
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		SKIP(return, "no BTF of the kernel");
	snprintf(self->dir, sizeof(self->dir), "/tmp/unwind-profile-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(path, sizeof(path), "%s/out", self->dir);
	setenv("OUT", path, 1);
	snprintf(path, sizeof(path), "%s/err", self->dir);
	setenv("ERR", path, 1);
	setenv("DIR", self->dir, 1);
}

static void end_running(pid_t *pid)
{
	if (*pid <= 0)
		return;
	kill(*pid, SIGKILL);
	waitpid(*pid, NULL, 0);
	*pid = 0;
}

FIXTURE_TEARDOWN(profiler)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(self->running); i++)
		end_running(&self->running[i]);
	if (self->cgroup[0]) {
		char path[128];

		snprintf(path, sizeof(path), "%s/inner", self->cgroup);
		rmdir(path);
		rmdir(self->cgroup);
	}
	if (self->files[0])
		umount2(self->files, MNT_DETACH);
	if (self->dir[0])
		system("rm -rf $DIR");
}

/* A process that runs until the test ends */
static pid_t run_for_ever(void)
{
	pid_t pid = fork();

	if (!pid) {
		execl("./profiled", "profiled", "for-ever", NULL);
		_exit(127);
	}
	return pid;
}

static int exit_status(const char *command)
{
	int status = system(command);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* The file's first line that has this text */
static bool has_line(const char *variable, const char *text, char *line, size_t size)
{
	FILE *file = fopen(getenv(variable), "r");
	bool found = false;

	while (!found && file && fgets(line, size, file))
		found = strstr(line, text);
	if (file)
		fclose(file);
	return found;
}

static bool has(const char *variable, const char *text)
{
	char line[8192];

	return has_line(variable, text, line, sizeof(line));
}

/*
 * Folded stacks
 */

/* The weight of stacks with a given prefix, of all, and of incomplete stacks */
struct folded {
	unsigned long	weight;
	unsigned long	all;
	unsigned long	broken;
	unsigned long	missing;
	unsigned int	lines;
};

/*
 * The user's part is absent before the program has begun, and after its end.  Only naps()
 * sleeps: else, a sample has another's stack.
 */
static bool is_broken(const char *line)
{
	const char *first = line + strlen(NAME);
	size_t len = strcspn(first, "; ");

	if (strstr(line, "nanosleep_[k]") && strstr(line, ";spins"))
		return true;
	return strncmp(first, "_start;outer", strlen("_start;outer")) &&
	       strncmp(first, "_start", len) &&
	       strncmp(first + len - strlen("_[k]"), "_[k]", strlen("_[k]"));
}

static void add_line(struct folded *folded, const char *line, const char *begin)
{
	unsigned long weight = strtoul(strrchr(line, ' '), NULL, 10);

	folded->all += weight;
	folded->lines++;
	/* Skip stacks of the child before exec */
	if (strncmp(line, NAME, strlen(NAME)))
		return;
	if (!strncmp(line, begin, strlen(begin)))
		folded->weight += weight;
	if (strstr(line, "[missing]")) {
		folded->missing += weight;
	} else if (is_broken(line)) {
		printf("# %s", line);
		folded->broken += weight;
	}
}

static struct folded read_folded(const char *begin)
{
	FILE *file = fopen(getenv("OUT"), "r");
	struct folded folded = {};
	char line[65536];

	while (file && fgets(line, sizeof(line), file))
		add_line(&folded, line, begin);
	if (file)
		fclose(file);
	return folded;
}

TEST_F_TIMEOUT(profiler, finds_where_it_sleeps, 120)
{
	struct folded folded;

	ASSERT_EQ(0, exit_status(PROFILER "--off-cpu ./profiled >$OUT"));
	folded = read_folded(STACK "naps;");
	EXPECT_EQ(0, folded.broken + folded.missing);
	/*
	 * In microseconds.  If the thread is kept from running, its nap may be over before
	 * it gives up the processor; then it has not slept.
	 */
	EXPECT_LE((unsigned long)ROUNDS / 2 * NAP_US, folded.weight);
	TH_LOG("%lu us asleep, in %d naps of %d", folded.weight, ROUNDS, NAP_US);
}

TEST_F_TIMEOUT(profiler, finds_where_it_spins, 120)
{
	struct folded folded;

	ASSERT_EQ(0, exit_status(PROFILER "-F 999 ./profiled >$OUT"));
	folded = read_folded(STACK "spins");
	EXPECT_EQ(0, folded.broken + folded.missing);
	/* The work is always the same: a slower machine takes more samples */
	EXPECT_LT(ROUNDS / 4, folded.weight);
	TH_LOG("%lu samples", folded.weight);
}

TEST_F_TIMEOUT(profiler, children_of_command_are_profiled, 120)
{
	struct folded folded;

	/* Its status is the command's */
	ASSERT_EQ(7, exit_status(PROFILER "-F 499 -o $OUT sh -c '(./profiled; :); exit 7'"));
	folded = read_folded(STACK "spins");
	EXPECT_EQ(0, folded.broken + folded.missing);
	EXPECT_LT(0, folded.weight);
}

/* The frames of a thread that finds them itself, from the left */
static unsigned long weight_of(const char *frames)
{
	FILE *file = fopen(getenv("OUT"), "r");
	unsigned long weight = 0;
	char line[65536];

	while (file && fgets(line, sizeof(line), file)) {
		if (strstr(line, frames))
			weight += strtoul(strrchr(line, ' '), NULL, 10);
	}
	if (file)
		fclose(file);
	return weight;
}

TEST_F_TIMEOUT(profiler, program_reports_its_coroutines, 120)
{
	ASSERT_EQ(0, exit_status(PROFILER "-F 999 -o $OUT ./coroutines 1500"));
	EXPECT_LT(20, weight_of(";serve;handle;parse;"));
	EXPECT_FALSE(has("OUT", "[function]"));
}

#define PYTHON								\
	"import unwind_self\n"						\
	"def leaf():\n"							\
	"  return sum(map(lambda i: i * i, range(2000)))\n"		\
	"def outer():\n"						\
	"  for i in range(200): leaf()\n"				\
	"unwind_self.enable()\n"					\
	"outer()\n"							\
	"unwind_self.disable()\n"

TEST_F_TIMEOUT(profiler, python_reports_its_functions, 120)
{
	if (access("./unwind_self.so", R_OK))
		SKIP(return, "no headers of Python when this was built");
	setenv("PROGRAM", PYTHON, 1);
	setenv("PYTHONPATH", ".", 1);
	ASSERT_EQ(0, exit_status(PROFILER "-F 999 -o $OUT python3 -c \"$PROGRAM\""));
	EXPECT_LT(20, weight_of("<module>;outer;"));
	EXPECT_LT(20, weight_of("leaf;"));
}

/*
 * While the profiler is stopped, samples and stacks are lost. They are reported, and no
 * sample gets a stack that is not its own.
 */
TEST_F_TIMEOUT(profiler, lost_records_are_counted, 120)
{
	struct folded folded;
	char line[256];

	ASSERT_EQ(0, exit_status(PROFILER "-F 999 --buffer 16 -o $OUT sh -c 'kill -STOP $PPID;"
				 "for i in 1 2 3 4 5; do ./profiled; done;"
				 "kill -CONT $PPID; ./profiled' 2>$ERR"));
	ASSERT_TRUE(has_line("ERR", "lost in the kernel", line, sizeof(line)));
	EXPECT_LT(0, strtoul(strstr(line, "kernel: ") + strlen("kernel: "), NULL, 10));
	TH_LOG("%s", line);
	folded = read_folded(STACK "spins");
	EXPECT_EQ(0, folded.broken);
	EXPECT_LT(0, folded.weight);
	if (folded.missing)
		EXPECT_TRUE(has("ERR", "no user stack came for"));
}

/*
 * More stacks than are allowed: the others are counted, and the sum is right.  The profiler
 * is stopped at first, so the kernel sends digests of stacks that it will have no room for.
 */
TEST_F_TIMEOUT(profiler, stacks_beyond_bound_are_counted, 120)
{
	unsigned long samples, dropped, stacks;
	struct folded folded;
	char line[256];
	int matches;

	setenv("STOPPED", "kill -STOP $PPID; ./profiled; kill -CONT $PPID", 1);
	setenv("MORE", "ls -lR /proc/self >$DIR/list; ./profiled", 1);
	ASSERT_EQ(0, exit_status(PROFILER "-F 999 --max-stacks 16 -o $OUT "
				 SHELL "\"$STOPPED; $MORE\" 2>$ERR"));
	ASSERT_TRUE(has_line("ERR", "beyond the bound", line, sizeof(line)));
	TH_LOG("%s", line);
	matches = sscanf(strstr(line, "bound: "), "bound: %lu samples, stacks of %lu", &dropped,
			 &stacks);
	ASSERT_EQ(2, matches);
	EXPECT_LT(0, stacks);
	EXPECT_TRUE(has("OUT", "[dropped]"));
	folded = read_folded(STACK);
	samples = folded.all + dropped;
	/* 64 rows */
	EXPECT_GE(64, folded.lines);
	EXPECT_LE(stacks, samples);
	EXPECT_EQ(0, folded.missing);

	ASSERT_EQ(0, exit_status(PROFILER "-F 999 -o $OUT ./profiled 2>$ERR"));
	EXPECT_FALSE(has("ERR", "bound"));
	EXPECT_FALSE(has("OUT", "[dropped]"));
}

/*
 * The text of perf script
 */

struct samples {
	unsigned int	nr;
	/* With the whole user stack of profiled, inside spins() */
	unsigned int	spinning;
	/* Of profiled, with frames that have no names, or none */
	unsigned int	broken;
};

/* The next sample: its process, and its functions from the left */
static bool next_sample(FILE *file, char *comm, int *pid, char *stack, size_t size)
{
	char line[8192], function[4096], object[4096], event[64];
	unsigned long long addr, sec, usec, period;
	unsigned int tid, cpu;
	size_t len = 0;

	*stack = 0;
	*pid = 0;
	while (fgets(line, sizeof(line), file) && *line != '\n') {
		if (*line == '\t') {
			if (sscanf(line, " %llx %4095[^( ] (%4095[^)])", &addr, function,
				   object) != 3)
				return false;
			function[strcspn(function, "+")] = 0;
			len += snprintf(stack + len, size - len, "%s;", function);
		} else if (sscanf(line, "%63s %d/%u [%u] %llu.%llu: %llu %63[^:]:", comm, pid, &tid,
				  &cpu, &sec, &usec, &period, event) != 8) {
			return false;
		}
	}
	return *pid;
}

/* Samples of that process, or of all; -1 if the text is not a script's to its end */
static int read_script(struct samples *samples, pid_t of)
{
	FILE *file = fopen(getenv("OUT"), "r");
	char stack[65536], comm[64];
	int pid, whole;

	*samples = (struct samples){};
	while (file && next_sample(file, comm, &pid, stack, sizeof(stack))) {
		if (of && pid != of)
			continue;
		samples->nr++;
		samples->spinning += !!strstr(stack, "spins;outer;_start;");
		if (strcmp(comm, "profiled") ||
		    (!strstr(stack, "[missing]") && !strstr(stack, "[unknown]")))
			continue;
		printf("# %d %s\n", pid, stack);
		samples->broken++;
	}
	whole = file && feof(file) && !pid;
	if (file)
		fclose(file);
	return whole ? 0 : -1;
}

TEST_F_TIMEOUT(profiler, script_has_each_sample, 120)
{
	struct samples samples;

	ASSERT_EQ(0, exit_status(SCRIPT "499 ./profiled"));
	ASSERT_EQ(0, read_script(&samples, 0));
	EXPECT_LT(0, samples.spinning);
	EXPECT_EQ(0, samples.broken);
	EXPECT_TRUE(has("OUT", "2004008 cpu-clock:"));
	EXPECT_TRUE(has("OUT", "outer+0x"));
}

TEST_F_TIMEOUT(profiler, processes_by_number_are_profiled, 120)
{
	struct samples samples;
	char command[256];
	int i;

	for (i = 0; i < 3; i++)
		self->running[i] = run_for_ever();
	snprintf(command, sizeof(command),
		 SCRIPT "199 -p %d,%d -d 2", self->running[0], self->running[1]);
	ASSERT_EQ(0, exit_status(command));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, read_script(&samples, self->running[i]));
		EXPECT_LT(0, samples.spinning);
		EXPECT_EQ(0, samples.broken);
		/* It goes on */
		EXPECT_EQ(0, waitpid(self->running[i], NULL, WNOHANG));
	}
	ASSERT_EQ(0, read_script(&samples, self->running[2]));
	EXPECT_EQ(0, samples.nr);
	ASSERT_EQ(0, read_script(&samples, getpid()));
	EXPECT_EQ(0, samples.nr);
}

TEST_F_TIMEOUT(profiler, sleep_of_process_by_number_is_profiled, 120)
{
	struct samples samples;
	char command[256];

	self->running[0] = run_for_ever();
	self->running[1] = run_for_ever();
	snprintf(command, sizeof(command), SCRIPT "99 --off-cpu -p %d -d 2", self->running[0]);
	ASSERT_EQ(0, exit_status(command));
	ASSERT_EQ(0, read_script(&samples, self->running[0]));
	/* How many depends on how much it runs in two seconds */
	EXPECT_LT(0, samples.nr);
	EXPECT_EQ(0, samples.broken);
	ASSERT_EQ(0, read_script(&samples, self->running[1]));
	EXPECT_EQ(0, samples.nr);
	EXPECT_TRUE(has("OUT", "offcpu-time:"));
}

TEST_F_TIMEOUT(profiler, absent_process_and_wrong_options_are_refused, 120)
{
	self->running[0] = run_for_ever();
	end_running(&self->running[0]);
	EXPECT_EQ(1, exit_status(PROFILER "-p 4194303 -o $OUT 2>$ERR"));
	EXPECT_TRUE(has("ERR", "process 4194303: No such process"));
	EXPECT_EQ(2, exit_status(PROFILER "-p 1x 2>$ERR"));
	EXPECT_EQ(2, exit_status(PROFILER "-d 0 2>$ERR"));
	EXPECT_EQ(2, exit_status(PROFILER "--format html 2>$ERR"));
	EXPECT_EQ(127, exit_status(PROFILER "./absent >$OUT 2>$ERR"));
	EXPECT_EQ(0, exit_status(PROFILER "--help >$ERR"));
	EXPECT_TRUE(has("ERR", "--off-cpu"));
}

/* Without a command and -p, that is the default */
TEST_F_TIMEOUT(profiler, whole_system_is_profiled, 120)
{
	const char *const options[] = { "-a", "" };
	struct samples samples;
	char command[256];
	unsigned int i;

	self->running[0] = run_for_ever();
	self->running[1] = run_for_ever();
	for (i = 0; i < 2; i++) {
		snprintf(command, sizeof(command), SCRIPT "199 -d 2 %s", options[i]);
		ASSERT_EQ(0, exit_status(command));
		ASSERT_EQ(0, read_script(&samples, self->running[0]));
		EXPECT_LT(0, samples.spinning);
		ASSERT_EQ(0, read_script(&samples, self->running[1]));
		EXPECT_LT(0, samples.spinning);
		/* Neither itself nor the idle task */
		EXPECT_FALSE(has("OUT", "unwind-profile "));
		EXPECT_FALSE(has("OUT", "swapper"));
	}
}

TEST_F_TIMEOUT(profiler, command_bounds_profile_of_system, 120)
{
	struct samples samples;

	self->running[0] = run_for_ever();
	EXPECT_EQ(3, exit_status(SCRIPT "199 -a sh -c './profiled; exit 3'"));
	ASSERT_EQ(0, read_script(&samples, self->running[0]));
	EXPECT_LT(0, samples.spinning);
}

/*
 * Signals
 */

TEST_F_TIMEOUT(profiler, interrupt_ends_command_and_writes, 120)
{
	struct folded folded;

	/* The command would not end by itself */
	EXPECT_EQ(128 + SIGINT, exit_status(PROFILER "-F 499 -o $OUT sh -c './profiled;"
					    "kill -INT $PPID; exec ./profiled x'"));
	folded = read_folded(STACK "spins");
	EXPECT_EQ(0, folded.broken);
	EXPECT_LT(0, folded.weight);
}

TEST_F_TIMEOUT(profiler, command_that_handles_interrupt_is_awaited, 120)
{
	EXPECT_EQ(9, exit_status(PROFILER "-F 499 -o $OUT sh -c 'trap \"./profiled; exit 9\" INT;"
				 "kill -INT $PPID; while :; do :; done'"));
	EXPECT_LT(0, read_folded(STACK "spins").weight);
}

TEST_F_TIMEOUT(profiler, second_interrupt_ends_at_once, 120)
{
	/* The shell's number of the signal; the command goes on until its parent is gone */
	EXPECT_EQ(128 + SIGINT, exit_status(PROFILER "-o $OUT sh -c 'trap \"\" INT;"
					    "while kill -INT $PPID; do :; done' 2>$ERR; exit $?"));
	EXPECT_EQ(0, read_folded(STACK).lines);
}

/* Of a program that spins, and naps now and then */
#define SAMPLES		10

/* Read its terminal, where it says each second how many samples it has, until these are some */
static bool has_samples(int terminal)
{
	unsigned int seconds, samples;
	char text[4096], *line;
	size_t used = 0;
	ssize_t len;

	while (used < sizeof(text) - 1) {
		len = read(terminal, text + used, sizeof(text) - 1 - used);
		if (len <= 0)
			return false;
		used += len;
		text[used] = 0;
		line = strrchr(text, '\r');
		if (line && sscanf(line, "\r%u s  %u samples", &seconds, &samples) == 2 &&
		    samples >= SAMPLES)
			return true;
	}
	return false;
}

static void drain(int terminal)
{
	char text[256];

	while (read(terminal, text, sizeof(text)) > 0)
		;
}

TEST_F_TIMEOUT(profiler, interrupt_of_terminal_ends_profile_of_system, 120)
{
	struct folded folded;
	int terminal, status;
	pid_t pid;

	self->running[0] = run_for_ever();
	pid = forkpty(&terminal, NULL, NULL, NULL);
	if (!pid) {
		execl("./unwind-profile", "unwind-profile", "-a", "-F", "199", "-o",
		      getenv("OUT"), NULL);
		_exit(127);
	}
	self->running[1] = pid;
	ASSERT_LT(0, pid);
	ASSERT_TRUE(has_samples(terminal));
	ASSERT_EQ(1, write(terminal, "\003", 1));
	drain(terminal);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	self->running[1] = 0;
	EXPECT_EQ(0, status);
	folded = read_folded(STACK "spins");
	EXPECT_EQ(0, folded.broken);
	EXPECT_LT(0, folded.weight);
}

TEST_F_TIMEOUT(profiler, end_of_process_ends_its_profile, 120)
{
	char number[16];
	int terminal, status;
	pid_t pid;

	self->running[0] = run_for_ever();
	snprintf(number, sizeof(number), "%d", self->running[0]);
	pid = forkpty(&terminal, NULL, NULL, NULL);
	if (!pid) {
		execl("./unwind-profile", "unwind-profile", "-F", "199", "-p", number, "-o",
		      getenv("OUT"), NULL);
		_exit(127);
	}
	self->running[1] = pid;
	ASSERT_LT(0, pid);
	ASSERT_TRUE(has_samples(terminal));
	end_running(&self->running[0]);
	drain(terminal);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	self->running[1] = 0;
	EXPECT_EQ(0, status);
	EXPECT_LT(0, read_folded(STACK "spins").weight);
}

/*
 * Namespaces and cgroups
 */

static int read_number(const char *name)
{
	char path[128];
	int number = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", getenv("DIR"), name);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%d", &number) != 1)
		number = -1;
	if (file)
		fclose(file);
	return number;
}

TEST_F_TIMEOUT(profiler, pids_are_those_of_its_namespace, 120)
{
	struct samples samples, own;
	int pid;

	/* The profiler inside: by command, then by number */
	ASSERT_EQ(0, exit_status("unshare --pid --fork --mount-proc "
				 SCRIPT "499 sh -c 'echo $$ >$DIR/pid; exec ./profiled'"));
	pid = read_number("pid");
	ASSERT_LT(0, pid);
	EXPECT_GT(10, pid);
	ASSERT_EQ(0, read_script(&samples, 0));
	ASSERT_EQ(0, read_script(&own, pid));
	EXPECT_EQ(own.nr, samples.nr);
	EXPECT_LT(0, own.spinning);
	EXPECT_EQ(0, own.broken);

	ASSERT_EQ(0, exit_status("unshare -pf --mount-proc sh -c './profiled x & echo $! >$DIR/pid;"
				 SCRIPT "199 -p $! -d 5; kill $!'"));
	ASSERT_EQ(0, read_script(&samples, 0));
	ASSERT_EQ(0, read_script(&own, read_number("pid")));
	EXPECT_EQ(own.nr, samples.nr);
	EXPECT_LT(0, own.spinning);
	EXPECT_EQ(0, own.broken);
}

TEST_F_TIMEOUT(profiler, processes_of_inner_namespace_have_outer_pids, 120)
{
	struct samples samples, own;

	ASSERT_EQ(0, exit_status(SCRIPT "499 unshare --pid --fork --mount-proc ./profiled"));
	ASSERT_EQ(0, read_script(&samples, 0));
	EXPECT_LT(0, samples.spinning);
	/* Its number there */
	ASSERT_EQ(0, read_script(&own, 1));
	EXPECT_EQ(0, own.nr);
}

TEST_F_TIMEOUT(profiler, proc_of_another_namespace_is_refused, 120)
{
	EXPECT_EQ(1, exit_status("unshare --pid --fork " PROFILER "true 2>$ERR"));
	EXPECT_TRUE(has("ERR", "another pid namespace"));
}

static int move_to(const char *cgroup, pid_t pid)
{
	char path[128];
	int fd, ret;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ret = dprintf(fd, "%d", pid) > 0 ? 0 : -1;
	close(fd);
	return ret;
}

TEST_F_TIMEOUT(profiler, cgroup_and_those_below_are_profiled, 120)
{
	char inner[128], command[256];
	struct samples all, samples;
	struct statfs fs;
	int i;

	if (statfs(CGROUPS, &fs) || fs.f_type != CGROUP2_MAGIC)
		SKIP(return, "no cgroups (v2)");
	snprintf(self->cgroup, sizeof(self->cgroup), CGROUPS "/unwind-profile-%d", getpid());
	ASSERT_EQ(0, mkdir(self->cgroup, 0755));
	snprintf(inner, sizeof(inner), "%s/inner", self->cgroup);
	ASSERT_EQ(0, mkdir(inner, 0755));
	for (i = 0; i < 3; i++)
		self->running[i] = run_for_ever();
	ASSERT_EQ(0, move_to(self->cgroup, self->running[0]));
	ASSERT_EQ(0, move_to(inner, self->running[1]));

	snprintf(command, sizeof(command), SCRIPT "199 --cgroup %s -d 3", self->cgroup);
	ASSERT_EQ(0, exit_status(command));
	ASSERT_EQ(0, read_script(&all, 0));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, read_script(&samples, self->running[i]));
		EXPECT_LT(0, samples.spinning);
		all.nr -= samples.nr;
	}
	EXPECT_EQ(0, all.nr);

	EXPECT_EQ(1, exit_status(PROFILER "--cgroup /tmp -d 1 2>$ERR"));
	EXPECT_TRUE(has("ERR", "/tmp: not a cgroup"));

	/* A cgroup with processes cannot be removed */
	for (i = 0; i < 3; i++)
		end_running(&self->running[i]);
}

/*
 * pprof's form, decoded by read_pprof.py, which knows the program's functions and build-id
 */

static int decode(const char *types, const char *end, unsigned long long *sum)
{
	FILE *file = popen("python3 ./read_pprof.py $OUT ./profiled", "r");
	unsigned long long samples, value;
	unsigned int pid, tid;
	char line[65536], stack[8192];
	int right;

	sum[0] = 0;
	sum[1] = 0;
	right = file && fgets(line, sizeof(line), file) && !strcmp(line, types);
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llu %llu profiled %u %u %8191s", &samples, &value, &pid, &tid,
			   stack) != 5 || pid != tid || !strstr(stack, end))
			continue;
		sum[0] += samples;
		sum[1] += value;
	}
	return file && !pclose(file) && right ? 0 : -1;
}

TEST_F_TIMEOUT(profiler, pprof_has_addresses_and_build_id, 120)
{
	unsigned long long sum[2];

	if (system("command -v python3 >/dev/null"))
		SKIP(return, "no python3");
	ASSERT_EQ(0, exit_status(PROFILER "--format pprof -F 500 -o $OUT ./profiled"));
	ASSERT_EQ(0, decode("samples/count cpu/nanoseconds\n", "_start;outer;spins", sum));
	EXPECT_LT(0, sum[0]);
	EXPECT_EQ(sum[0] * 2000000, sum[1]);
}

TEST_F_TIMEOUT(profiler, pprof_has_time_asleep, 120)
{
	unsigned long long sum[2];

	if (system("command -v python3 >/dev/null"))
		SKIP(return, "no python3");
	ASSERT_EQ(0, exit_status(PROFILER "--off-cpu --format pprof -o $OUT ./profiled"));
	ASSERT_EQ(0, decode("samples/count delay/nanoseconds\n", "_start;outer;naps;", sum));
	EXPECT_LE(ROUNDS / 2, sum[0]);
	EXPECT_LE(ROUNDS / 2 * NAP_US * 1000ULL, sum[1]);
}

/*
 * Files that a user has made
 */

#define BOMB_NAME	0x100000UL
#define BOMB_SYMBOLS	8192

/* Append a table whose symbols all have one name: their names are 8 GiB */
static bool add_bomb(const char *path)
{
	static Elf64_Sym symbols[BOMB_SYMBOLS];
	char *names = malloc(BOMB_NAME);
	Elf64_Shdr headers[3] = {};
	Elf64_Sym symbol = {};
	Elf64_Ehdr ehdr;
	unsigned int i;
	off_t end;
	bool done;
	int fd;

	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || !names || pread(fd, &ehdr, sizeof(ehdr), 0) != sizeof(ehdr))
		return false;
	end = (lseek(fd, 0, SEEK_END) + 7) & -8;
	memset(names, 'n', BOMB_NAME);
	names[0] = 0;
	names[BOMB_NAME - 1] = 0;
	symbol.st_name = 1;
	symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	symbol.st_shndx = 1;
	symbol.st_value = ehdr.e_entry & -4096;
	symbol.st_size = 1 << 20;
	for (i = 0; i < BOMB_SYMBOLS; i++)
		symbols[i] = symbol;
	headers[1].sh_type = SHT_SYMTAB;
	headers[1].sh_link = 2;
	headers[1].sh_offset = end;
	headers[1].sh_size = sizeof(symbols);
	headers[1].sh_entsize = sizeof(*symbols);
	headers[2].sh_type = SHT_STRTAB;
	headers[2].sh_offset = end + sizeof(symbols);
	headers[2].sh_size = BOMB_NAME;
	ehdr.e_shoff = headers[2].sh_offset + BOMB_NAME;
	ehdr.e_shnum = 3;
	ehdr.e_shstrndx = 0;
	done = pwrite(fd, symbols, sizeof(symbols), end) == sizeof(symbols) &&
	       pwrite(fd, names, BOMB_NAME, headers[2].sh_offset) == BOMB_NAME &&
	       pwrite(fd, headers, sizeof(headers), ehdr.e_shoff) == sizeof(headers) &&
	       pwrite(fd, &ehdr, sizeof(ehdr), 0) == sizeof(ehdr);
	free(names);
	close(fd);
	return done;
}

TEST_F_TIMEOUT(profiler, names_of_file_do_not_take_all_memory, 120)
{
	struct rusage usage;
	char path[96];

	snprintf(path, sizeof(path), "%s/bomb", self->dir);
	ASSERT_EQ(0, exit_status("cp ./profiled $DIR/bomb"));
	ASSERT_TRUE(add_bomb(path));
	ASSERT_EQ(0, exit_status(PROFILER "-F 999 -o $OUT $DIR/bomb 2>$ERR"));
	EXPECT_LT(0, weight_of("bomb;nnnn"));
	EXPECT_FALSE(has("ERR", "could not be read"));
	ASSERT_EQ(0, getrusage(RUSAGE_CHILDREN, &usage));
	TH_LOG("%ld kB", usage.ru_maxrss);
	EXPECT_GT(400000, usage.ru_maxrss);
}

/* A program with the same build-id, but other names, runs first, as another user */
static void names_are_right(struct __test_metadata *_metadata, const char *dir, uid_t owner)
{
	struct folded folded;
	char path[128];

	setenv("FORGED", dir, 1);
	snprintf(path, sizeof(path), "%s/forged", dir);
	ASSERT_EQ(0, exit_status("sed s/spins/trick/g profiled >$FORGED/forged"));
	ASSERT_EQ(0, exit_status("chmod 755 $DIR $FORGED/forged"));
	ASSERT_EQ(0, chown(path, owner, -1));
	setenv("BOTH", "setpriv --reuid 65534 $FORGED/forged; ./profiled", 1);
	ASSERT_EQ(0, exit_status(PROFILER "-F 999 -o $OUT " SHELL "\"$BOTH\" 2>$ERR"));
	EXPECT_LT(0, weight_of("forged;_start;outer;"));
	EXPECT_FALSE(has("OUT", "trick"));
	folded = read_folded(STACK "spins");
	EXPECT_EQ(0, folded.broken);
	EXPECT_LT(0, folded.weight);
}

TEST_F_TIMEOUT(profiler, names_are_those_of_roots_file, 120)
{
	names_are_right(_metadata, self->dir, 65534);
}

/* Its file belongs to root, too: in a file system that a user may have made */
TEST_F_TIMEOUT(profiler, names_are_not_those_of_an_image_that_was_mounted, 120)
{
	snprintf(self->files, sizeof(self->files), "%s/files", self->dir);
	ASSERT_EQ(0, mkdir(self->files, 0755));
	ASSERT_EQ(0, mount("image", self->files, "tmpfs", MS_NOSUID | MS_NODEV, NULL));
	names_are_right(_metadata, self->files, 0);
}

/* Not a leaf, so that it has a frame */
static void spin(struct notes *notes)
{
	while (getppid())
		;
}

/* A process whose text is a file of the server */
static pid_t run_file(const char *dir)
{
	struct notes notes = { .next = { spin } };
	char path[128];
	void *text;
	pid_t pid;
	int fd;

	pid = fork();
	if (pid)
		return pid;
	snprintf(path, sizeof(path), "%s/%s", dir, file_server_names[0]);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	text = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
		    code_file_usual.text[0].offset);
	if (text == MAP_FAILED)
		_exit(1);
	((chain_fn)text)(&notes);
	_exit(1);
}

/* It gives out the text, and nothing else */
TEST_F_TIMEOUT(profiler, server_that_does_not_answer_is_not_awaited, 120)
{
	struct file_server_control *control;
	char command[256];
	int fd;

	control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, control);
	atomic_store(&control->hold, true);
	snprintf(self->files, sizeof(self->files), "%s/files", self->dir);
	fd = file_server_mount(self->files);
	if (fd < 0)
		SKIP(return, "no FUSE");
	self->running[0] = fork();
	if (!self->running[0])
		_exit(file_server_run(fd, control));
	close(fd);
	self->running[1] = run_file(self->files);
	ASSERT_LT(0, self->running[1]);
	snprintf(command, sizeof(command),
		 PROFILER "-F 199 -p %d -d 2 -o $OUT 2>$ERR", self->running[1]);
	ASSERT_EQ(0, exit_status(command));
	EXPECT_LT(0, weight_of("[code.so+0x"));
	EXPECT_TRUE(has("ERR", "could not be read for symbols: 1"));
	EXPECT_LT(0, atomic_load(&control->nr_held));
}

TEST_HARNESS_MAIN
