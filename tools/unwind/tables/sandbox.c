// SPDX-License-Identifier: GPL-2.0
/*
 * Drop all that a process does not need to convert a file: privileges, files, memory,
 * time, system calls. And wait for such a process.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox.h"

#define NOBODY		65534
#define MEMORY_MAX	0x40000000ULL

#if defined(__x86_64__)
#define ARCH		AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH		AUDIT_ARCH_AARCH64
#endif

/* If memory is short, this process goes, not its parent */
static void spend_first(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	/* It is a precaution: there may be no /proc */
	if (fd < 0)
		return;
	if (write(fd, "1000", 4) != 4)
		errno = 0;
	close(fd);
}

/**
 * sandbox_keep - close all files but two
 * @in: a descriptor, which becomes SANDBOX_IN
 * @out: a descriptor, which becomes SANDBOX_OUT
 *
 * Standard input, output and error stay open. sandbox_enter() does this, too.
 *
 * Return: 0, or a negative error.
 */
int sandbox_keep(int in, int out)
{
	/* Each descriptor may have the number that the other must get */
	in = fcntl(in, F_DUPFD, 10);
	out = fcntl(out, F_DUPFD, 10);
	if (in < 0 || out < 0 || dup2(in, SANDBOX_IN) < 0 ||
	    dup2(out, SANDBOX_OUT) < 0 ||
	    syscall(SYS_close_range, SANDBOX_OUT + 1, ~0U, 0))
		return -errno;
	return 0;
}

static int set_limit(int resource, rlim_t max)
{
	struct rlimit limit = { .rlim_cur = max, .rlim_max = max };
	struct rlimit old;

	/* Keep a lower limit */
	if (getrlimit(resource, &old))
		return -errno;
	if (old.rlim_max <= max)
		return 0;
	/* End it by SIGXCPU: SIGKILL comes from others, if memory is short */
	limit.rlim_max += resource == RLIMIT_CPU;
	return setrlimit(resource, &limit) ? -errno : 0;
}

static int set_limits(void)
{
	/* This limits the process's own memory: the file that it reads may be larger */
	int ret = set_limit(RLIMIT_DATA, MEMORY_MAX);

	if (!ret)
		ret = set_limit(RLIMIT_FSIZE, MEMORY_MAX);
	if (!ret)
		ret = set_limit(RLIMIT_CPU, SANDBOX_SECONDS);
	if (!ret)
		ret = set_limit(RLIMIT_CORE, 0);
	if (!ret)
		ret = set_limit(RLIMIT_NOFILE, 0);
	return ret;
}

static int drop_privileges(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};

	/* Where root cannot change its user, as in some namespaces, it just loses capabilities */
	if (!geteuid() && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			   setresuid(NOBODY, NOBODY, NOBODY)) &&
	    errno != EPERM && errno != EINVAL)
		return -errno;
	return syscall(SYS_capset, &header, none) ? -errno : 0;
}

/* Forbid all file systems, as far as the kernel can */
static int drop_files(void)
{
	struct landlock_ruleset_attr attr = {};
	long version, fd;
	int ret = 0;

	version = syscall(SYS_landlock_create_ruleset, NULL, 0,
			  LANDLOCK_CREATE_RULESET_VERSION);
	if (version < 0)
		return 0;
	/* The rights of version 1; files cannot be opened for any of the later ones */
	attr.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
	fd = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (fd < 0 || syscall(SYS_landlock_restrict_self, fd, 0))
		ret = -errno;
	if (fd >= 0)
		close(fd);
	return ret;
}

#ifdef ARCH

/* An allowed system call: always, on one file, or if no memory becomes executable */
struct allowed {
	unsigned int	nr;
	enum { ANY, ON_FILE, NO_EXEC } how;
	unsigned int	fd;
};

/* No call may take a path, even beside a descriptor: the filter does not see it */
static const struct allowed calls[] = {
	{ SYS_lseek,		ON_FILE, SANDBOX_IN },
	{ SYS_pread64,		ON_FILE, SANDBOX_IN },
	{ SYS_write,		ON_FILE, SANDBOX_OUT },
	{ SYS_pwrite64,		ON_FILE, SANDBOX_OUT },
	{ SYS_mmap,		NO_EXEC, 0 },
	{ SYS_mprotect,		NO_EXEC, 0 },
	{ SYS_munmap,		ANY, 0 },
	{ SYS_mremap,		ANY, 0 },
	{ SYS_madvise,		ANY, 0 },
	{ SYS_brk,		ANY, 0 },
	{ SYS_futex,		ANY, 0 },
	{ SYS_getrandom,	ANY, 0 },
	{ SYS_exit_group,	ANY, 0 },
};

#define NR_CALLS	(sizeof(calls) / sizeof(*calls))
#define INSNS_MAX	(4 + 5 * NR_CALLS + 1)

static const struct sock_filter allow =
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
/* Return an error, do not kill: a C library may try calls that it can do without */
static const struct sock_filter refuse =
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);

/* Skip the next instruction if the system call has this architecture's numbers */
static const struct sock_filter right_arch =
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);

static struct sock_filter load(size_t offset)
{
	return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
}

/* Continue if it is @val, else skip @skip instructions */
static struct sock_filter if_equal(unsigned int val, unsigned int skip)
{
	return (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, val, 0,
					    skip);
}

/* Skip the next instruction if a bit of @bits is set */
static struct sock_filter unless_set(unsigned int bits)
{
	return (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 1,
					    0);
}

static struct sock_filter *add_call(struct sock_filter *insn,
				    const struct allowed *call)
{
	*insn++ = if_equal(call->nr, call->how == ANY ? 1 : 4);
	if (call->how == ON_FILE) {
		*insn++ = load(offsetof(struct seccomp_data, args[0]));
		*insn++ = if_equal(call->fd, 1);
	} else if (call->how == NO_EXEC) {
		*insn++ = load(offsetof(struct seccomp_data, args[2]));
		*insn++ = unless_set(PROT_EXEC);
	}
	*insn++ = allow;
	if (call->how != ANY)
		*insn++ = refuse;
	return insn;
}

static int drop_calls(void)
{
	struct sock_filter filter[INSNS_MAX], *insn = filter;
	struct sock_fprog prog = { .filter = filter };
	unsigned int i;

	*insn++ = load(offsetof(struct seccomp_data, arch));
	*insn++ = right_arch;
	*insn++ = refuse;
	*insn++ = load(offsetof(struct seccomp_data, nr));
	for (i = 0; i < NR_CALLS; i++)
		insn = add_call(insn, &calls[i]);
	*insn++ = refuse;
	prog.len = insn - filter;
	if (!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0))
		return 0;
	/* A kernel without this feature says so */
	return errno == EINVAL ? 0 : -errno;
}

#else

static int drop_calls(void)
{
	return 0;
}

#endif

/**
 * sandbox_enter - become a process that can do next to nothing
 * @in: a descriptor to read from, which becomes SANDBOX_IN
 * @out: a descriptor to write to, which becomes SANDBOX_OUT
 * @parent: the process's parent: the process ends when the parent does
 *
 * If the kernel has no Landlock or seccomp, the process continues without it.
 *
 * Return: 0, or a negative error: then the process must not continue.
 */
int sandbox_enter(int in, int out, pid_t parent)
{
	int ret;

	spend_first();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	ret = sandbox_keep(in, out);
	if (!ret)
		ret = drop_files();
	if (!ret)
		ret = set_limits();
	if (!ret)
		ret = drop_privileges();
	/* A change of the user resets it; and the parent may be dead by then */
	if (!ret && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		ret = -errno;
	if (!ret && getppid() != parent)
		ret = -ESRCH;
	return ret ? ret : drop_calls();
}

/*
 * A file system whose server has taken a request, and does not answer, holds even a process
 * that was killed. Nobody waits for such a process: it is looked at again later. Until it has
 * ended, no other process reads from that file system: the service has a limited number of them.
 */
#define GIVEN_UP_MAX	64
/* The time in which a process that was killed ends, in milliseconds */
#define END_MS		1000

static pthread_mutex_t given_up_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	pid_t	pid;
	dev_t	dev;
} given_up[GIVEN_UP_MAX];

/* The device that this thread's process reads from */
static __thread dev_t reads_from;

static void give_up(pid_t pid)
{
	unsigned int i;

	pthread_mutex_lock(&given_up_lock);
	for (i = 0; i < GIVEN_UP_MAX && given_up[i].pid; i++)
		;
	if (i < GIVEN_UP_MAX) {
		given_up[i].pid = pid;
		given_up[i].dev = reads_from;
	}
	pthread_mutex_unlock(&given_up_lock);
}

/* Those that have ended since.  Does one read from that device? */
static bool reap_given_up(dev_t dev)
{
	bool found = false;
	unsigned int i;

	pthread_mutex_lock(&given_up_lock);
	for (i = 0; i < GIVEN_UP_MAX; i++) {
		if (given_up[i].pid && waitpid(given_up[i].pid, NULL, WNOHANG))
			given_up[i].pid = 0;
		found |= given_up[i].pid && given_up[i].dev == dev;
	}
	pthread_mutex_unlock(&given_up_lock);
	return found;
}

/**
 * sandbox_may_read - may this thread's next process in a sandbox read a file?
 * @fd: the file
 *
 * Return: false if such a process waits for the file's file system, and cannot be killed.
 */
bool sandbox_may_read(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	reads_from = st.st_dev;
	return !reap_given_up(st.st_dev);
}

static int poll_end(int fd, int ms)
{
	struct pollfd end = { .fd = fd, .events = POLLIN };
	int ret;

	do {
		ret = fd < 0 ? -1 : poll(&end, 1, ms);
	} while (ret < 0 && errno == EINTR);
	return ret;
}

/*
 * Has it had the processor for a fifth of its time?  The service's processes share one: four that
 * never end have less than a quarter each.  Else others had it, or a file is slow.
 */
static bool was_busy(const struct rusage *usage, int ms)
{
	struct timeval sum;

	timeradd(&usage->ru_utime, &usage->ru_stime, &sum);
	return sum.tv_sec * 1000 + sum.tv_usec / 1000 >= ms / 5;
}

/**
 * sandbox_judge - wait until a process in a sandbox has ended, and say whether it is at fault
 * @pid: the process, which exits with 2 if it has not entered the sandbox
 * @ms: the time that it has, in milliseconds
 *
 * Return: 0 if it has exited with 0; -ETIMEDOUT it was killed; -EBUSY likewise, but something kept
 * it from running, and it has ended unless it cannot; -EPERM it has not entered the sandbox;
 * -EAGAIN the kernel has killed it, because memory is short; -EPROTO it has failed.
 */
int sandbox_judge(pid_t pid, int ms)
{
	int fd = syscall(SYS_pidfd_open, pid, 0), ret = poll_end(fd, ms), ended = ret, status;
	struct rusage usage;
	pid_t reaped;

	reap_given_up(0);
	if (ret != 1) {
		kill(pid, SIGKILL);
		ended = poll_end(fd, END_MS);
	}
	if (fd >= 0)
		close(fd);
	do {
		reaped = wait4(pid, &status, ended == 1 ? 0 : WNOHANG, &usage);
	} while (reaped < 0 && errno == EINTR);
	if (!reaped)
		give_up(pid);
	if (!ret)
		return reaped > 0 && was_busy(&usage, ms) ? -ETIMEDOUT : -EBUSY;
	if (reaped <= 0 || ret < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 2))
		return -EPERM;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return -EAGAIN;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		return -ETIMEDOUT;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EPROTO;
}

/**
 * sandbox_wait - wait until a process in a sandbox has ended
 * @pid: as for sandbox_judge()
 * @ms: likewise
 *
 * Return: as sandbox_judge(), but -ETIMEDOUT for all that take too long.
 */
int sandbox_wait(pid_t pid, int ms)
{
	int ret = sandbox_judge(pid, ms);

	return ret == -EBUSY ? -ETIMEDOUT : ret;
}
