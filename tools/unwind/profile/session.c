// SPDX-License-Identifier: GPL-2.0
/* The BPF programs while they are loaded, see session.h and profile.bpf.c */
#include <err.h>
#include <errno.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "profile.skel.h"
#include "records.h"
#include "session.h"
#include "table.h"

static struct profile *skel;
static struct ring_buffer *ring;

static struct bpf_link **links;
static unsigned int nr_links;

static int print_warnings(enum libbpf_print_level level, const char *format, va_list args)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, args) : 0;
}

/* The namespace whose numbers we use, here and in /proc; 0 if they are not the same */
static unsigned int find_namespace(void)
{
	struct stat stat_buf;
	char self[16] = "";

	if (readlink("/proc/self", self, sizeof(self) - 1) < 0 || atoi(self) != getpid() ||
	    stat("/proc/self/ns/pid", &stat_buf))
		return 0;
	return stat_buf.st_ino;
}

/* The kernel's number of a cgroup; 0 if it is none */
static unsigned long long find_cgroup(const char *path)
{
	struct statfs fs;
	struct stat stat_buf;

	if (statfs(path, &fs) || stat(path, &stat_buf)) {
		warn("%s", path);
		return 0;
	}
	if (fs.f_type != CGROUP2_SUPER_MAGIC || !S_ISDIR(stat_buf.st_mode)) {
		warnx("%s: not a cgroup (v2)", path);
		return 0;
	}
	return stat_buf.st_ino;
}

static int set_targets(const struct options *options)
{
	const bool by_command = options->command && !options->all && !options->nr_pids;

	skel->rodata->self = getpid();
	skel->rodata->by_pid = by_command || options->nr_pids;
	skel->rodata->namespace = find_namespace();
	if (!skel->rodata->namespace) {
		warnx("/proc is not there, or is another pid namespace's");
		return -1;
	}
	if (options->cgroup) {
		skel->rodata->cgroup = find_cgroup(options->cgroup);
		if (!skel->rodata->cgroup)
			return -1;
	}
	bpf_program__set_autoload(skel->progs.forks, by_command);
	bpf_program__set_autoattach(skel->progs.forks, by_command);
	return 0;
}

static int load(const struct options *options)
{
	if (getrandom((void *)skel->rodata->secret, sizeof(skel->rodata->secret), 0) < 0)
		return -1;
	bpf_program__set_autoload(skel->progs.on_cpu, !options->off_cpu);
	bpf_program__set_autoload(skel->progs.off_cpu, options->off_cpu);
	bpf_map__set_max_entries(skel->maps.ring, options->buffer);
	/* These two sample */
	bpf_program__set_autoattach(skel->progs.on_cpu, false);
	bpf_program__set_autoattach(skel->progs.off_cpu, false);
	if (profile__load(skel) || profile__attach(skel))
		return -1;
	ring = ring_buffer__new(bpf_map__fd(skel->maps.ring), on_record, NULL, NULL);
	return ring ? 0 : -1;
}

int open_session(const struct options *options)
{
	libbpf_set_print(print_warnings);
	skel = profile__open();
	if (!skel) {
		warn("cannot open the BPF programs");
		return -1;
	}
	if (set_targets(options))
		return -1;
	if (load(options)) {
		warn("cannot load the BPF programs");
		return -1;
	}
	init_records(bpf_map__fd(skel->maps.sent), options->max_stacks);
	return 0;
}

int add_target(unsigned int pid)
{
	char yes = 1;

	if (!bpf_map__update_elem(skel->maps.targets, &pid, sizeof(pid), &yes, sizeof(yes),
				  BPF_ANY))
		return 0;
	warn("process %u", pid);
	return -1;
}

static int add_link(struct bpf_link *link)
{
	if (!link)
		return -1;
	links = need(realloc(links, (nr_links + 1) * sizeof(*links)));
	links[nr_links++] = link;
	return 0;
}

/* Open an event on every CPU */
static int sample_cpus(unsigned long long hertz)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.freq = 1,
		.sample_freq = hertz,
	};
	int cpu, fd, nr = sysconf(_SC_NPROCESSORS_CONF);

	for (cpu = 0; cpu < nr; cpu++) {
		fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0 && errno == ENODEV)
			continue;
		if (fd < 0 && attr.type == PERF_TYPE_HARDWARE && !nr_links) {
			/* Without counters, use the clock */
			attr.type = PERF_TYPE_SOFTWARE;
			attr.config = PERF_COUNT_SW_CPU_CLOCK;
			cpu--;
			continue;
		}
		if (fd < 0 || add_link(bpf_program__attach_perf_event(skel->progs.on_cpu, fd)))
			return -1;
	}
	return 0;
}

int begin_sampling(const struct options *options)
{
	int error;

	error = options->off_cpu ? add_link(bpf_program__attach(skel->progs.off_cpu)) :
		sample_cpus(options->hertz);
	if (error)
		warn("cannot sample");
	return error;
}

void end_sampling(void)
{
	while (nr_links)
		bpf_link__destroy(links[--nr_links]);
}

bool read_records(int milliseconds)
{
	int nr;

	begin_turn();
	nr = ring_buffer__poll(ring, milliseconds);
	/* Most records wake nobody, so there may be some after that time, too */
	if (!nr)
		nr = ring_buffer__consume(ring);
	return nr;
}

unsigned long long lost_samples(void)
{
	return skel->bss->lost_samples;
}

unsigned long long lost_stacks(void)
{
	return skel->bss->lost_stacks;
}
