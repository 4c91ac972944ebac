// SPDX-License-Identifier: GPL-2.0
/*
 * Operations of those who want stacks, or give tables: perf events of every kind, BPF
 * programs, trace instances, and the table service.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <linux/unwind.h>

#include "bpf.h"
#include "code_file.h"
#include "perf.h"
#include "put.h"
#include "surface.h"
#include "../../kselftest.h"

#define EVENTS		3
#define PAGES		8
#define HIST		"hist:keys=stack.userstack"
#define HIST_BY_TASK	"hist:keys=common_pid,stack.userstack:sort=hitcount"
#define OWN_EVENTS	"events/unwind/enable"
#define SECTION_MAX	4096

/*
 * Perf events
 */

struct event {
	int		fd;
	struct ring	ring;
	bool		backward;	/* written from its end */
};

static __thread struct event events[EVENTS];
static __thread bool has_events;

static void init_events(void)
{
	unsigned int i;

	for (i = 0; !has_events && i < EVENTS; i++)
		events[i].fd = -1;
	has_events = true;
}

static void close_event(unsigned int i)
{
	ring_unmap(&events[i].ring);
	if (events[i].fd >= 0)
		close(events[i].fd);
	events[i].fd = -1;
}

/* The main process counts each of these events, too, so no code is patched here */
static int choose_event(struct perf_event_attr *attr)
{
	static const uint32_t software[] = {
		PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_PAGE_FAULTS,
		PERF_COUNT_SW_CONTEXT_SWITCHES,
	};
	const uint32_t n = draw(ARRAY_SIZE(software) + 1);

	if (n == ARRAY_SIZE(software))
		return tracepoint_attr(attr, "raw_syscalls/sys_enter");
	event_attr(attr, PERF_TYPE_SOFTWARE, software[n]);
	attr->sample_period = n < 2 ? 200000 + draw(2000000) : 1 + draw(4);
	return 0;
}

/* What a sample has beside its stack */
static void choose_more(struct perf_event_attr *attr)
{
	static const uint64_t types[] = {
		PERF_SAMPLE_ADDR, PERF_SAMPLE_READ, PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_RAW,
		PERF_SAMPLE_REGS_INTR, PERF_SAMPLE_STACK_USER, PERF_SAMPLE_PHYS_ADDR,
		PERF_SAMPLE_CGROUP, PERF_SAMPLE_DATA_PAGE_SIZE, PERF_SAMPLE_WEIGHT,
	};
	const unsigned int nr = 1 + draw(3);
	unsigned int i;

	for (i = 0; i < nr; i++)
		attr->sample_type |= types[draw(ARRAY_SIZE(types))];
	if (attr->sample_type & PERF_SAMPLE_STACK_USER)
		attr->sample_stack_user = 8 * (1 + draw(4096));
	attr->read_format = draw(16);
	attr->write_backward = one_in(4);
	attr->sample_id_all = one_in(2);
	attr->mmap2 = one_in(2);
	attr->build_id = attr->mmap2;
	attr->context_switch = one_in(2);
}

void clients_choose_mode(struct perf_event_attr *attr)
{
	const uint32_t mode = draw(5);

	attr->defer_callchain = mode != 0;
	attr->defer_output = mode != 0 && mode != 2;
	attr->defer_runtime = mode == 3;
	if (mode == 4)
		attr->sample_type &= ~PERF_SAMPLE_CALLCHAIN;
	attr->exclude_callchain_kernel = one_in(2);
	attr->exclude_callchain_user = one_in(8);
	attr->exclude_kernel = one_in(4);
	attr->inherit = one_in(2);
	attr->inherit_thread = attr->inherit && one_in(2);
	attr->comm = one_in(2);
	attr->mmap = one_in(2);
	attr->task = one_in(2);
	attr->disabled = one_in(2);
	attr->sample_max_stack = one_in(2) ? draw(128) : 0;
	if (one_in(4))
		choose_more(attr);
}

/* A spoilt attribute may name another event, which may be very frequent */
static void spoil_event(struct perf_event_attr *attr)
{
	if (one_in(4) && spoil(attr, sizeof(*attr)) && !attr->freq &&
	    attr->sample_period < 100000 && attr->type == PERF_TYPE_SOFTWARE)
		attr->sample_period += 100000;
}

int clients_open_event(const struct perf_event_attr *attr)
{
	const unsigned int i = draw(EVENTS), leader = draw(EVENTS);
	const bool in_group = one_in(4);

	init_events();
	close_event(i);
	events[i].fd = syscall(SYS_perf_event_open, attr, 0, -1,
			       in_group ? events[leader].fd : -1, PERF_FLAG_FD_CLOEXEC);
	if (events[i].fd < 0)
		return -errno;
	events[i].backward = attr->write_backward;
	/* This fails for inherited events: they cannot have the buffer of one task */
	ring_map(&events[i].ring, events[i].fd, PAGES);
	return 0;
}

static int open_event(void)
{
	struct perf_event_attr attr;

	if (choose_event(&attr))
		return -ENOENT;
	clients_choose_mode(&attr);
	spoil_event(&attr);
	return clients_open_event(&attr);
}

static int change_event(void)
{
	static const unsigned long requests[] = {
		PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_REFRESH,
		PERF_EVENT_IOC_RESET, PERF_EVENT_IOC_PERIOD, PERF_EVENT_IOC_PAUSE_OUTPUT,
		PERF_EVENT_IOC_ID,
	};
	const unsigned int i = draw(EVENTS), n = draw(ARRAY_SIZE(requests)), nr = draw(8);
	uint64_t word = 100000 + draw(1000000);
	unsigned long arg = nr;

	if (requests[n] == PERF_EVENT_IOC_PERIOD || requests[n] == PERF_EVENT_IOC_ID)
		arg = (unsigned long)&word;
	else if (requests[n] != PERF_EVENT_IOC_REFRESH)
		arg = nr % 2;
	init_events();
	if (events[i].fd < 0)
		return 1;
	return ioctl(events[i].fd, requests[n], arg) ? -errno : 0;
}

/* Buffers that nobody reads overflow, which is right, too */
static int read_event(void)
{
	const unsigned int i = draw(EVENTS);
	struct perf_event_header *raw;
	uint64_t values[64];
	int nr;

	init_events();
	if (events[i].fd < 0)
		return 1;
	nr = read(events[i].fd, values, sizeof(values)) > 0;
	if (!events[i].ring.meta || events[i].backward)
		return nr;
	while (nr < 10000 && (raw = ring_next(&events[i].ring))) {
		if (!raw->size)
			surface_error("record without a size", 0);
		free(raw);
		nr++;
	}
	return nr;
}

static int share_buffer(void)
{
	const unsigned int i = draw(EVENTS), j = draw(EVENTS);

	init_events();
	if (events[i].fd < 0 || events[j].fd < 0)
		return 1;
	return ioctl(events[i].fd, PERF_EVENT_IOC_SET_OUTPUT, one_in(4) ? -1 : events[j].fd) ?
	       -errno : 0;
}

static int drop_event(void)
{
	init_events();
	close_event(draw(EVENTS));
	return 0;
}

/*
 * BPF
 */

static __thread struct bpf_ring bpf_buffer;
static __thread struct bpf_attached asker = { -1, -1 }, receiver = { -1, -1 };
static __thread bool has_bpf;

static int close_bpf(void)
{
	if (!has_bpf)
		return 1;
	bpf_attached_close(&asker);
	bpf_attached_close(&receiver);
	bpf_ring_close(&bpf_buffer);
	has_bpf = false;
	return 0;
}

/* Loading takes long, so not often */
static int open_bpf(void)
{
	const bool named = one_in(2), build_ids = one_in(4);
	struct bpf_asker what = {
		.at = named ? BPF_AT_TRACEPOINT : BPF_AT_RAW_TP,
		.where = named ? "raw_syscalls/sys_enter" : "sys_enter", .tgid = getpid(),
		.flags = BPF_F_USER_STACK | (one_in(4) ? 0 : BPF_F_USER_DEFER),
		.take = one_in(4), .syscall = SYS_getppid,
	};
	int ret = 0;

	if (has_bpf || !one_in(4))
		return 1;
	if (what.take)
		what.flags = BPF_F_USER_STACK | (build_ids ? BPF_F_USER_BUILD_ID : 0);
	has_bpf = true;
	if (bpf_ring_open(&bpf_buffer, 65536) || bpf_asker_open(&asker, &what, &bpf_buffer) ||
	    (one_in(2) && bpf_deliver_open(&receiver, build_ids ? BPF_F_USER_BUILD_ID : 0,
					 &bpf_buffer)))
		ret = -errno;
	if (ret)
		close_bpf();
	return ret;
}

static int read_bpf(void)
{
	struct bpf_event event;
	int nr = 0;

	if (!has_bpf)
		return 1;
	while (nr < 1000 && bpf_ring_next(&bpf_buffer, &event, false))
		nr++;
	return nr;
}

/*
 * Trace instances
 */

/* One for each process, whose drawers change it at once */
static int change_instance(void)
{
	static const struct {
		const char	*file;
		const char	*value;
	} changes[] = {
		{ "options/userstacktrace_deferred", "1" },
		{ "options/userstacktrace_deferred", "0" },
		{ "options/userstacktrace", "1" },
		{ "options/userstacktrace", "0" },
		{ "events/raw_syscalls/sys_enter/enable", "1" },
		{ "events/raw_syscalls/sys_enter/enable", "0" },
		{ "events/raw_syscalls/sys_enter/filter", "id == " },
		{ "events/raw_syscalls/sys_enter/trigger", "userstacktrace:5" },
		{ "events/raw_syscalls/sys_enter/trigger", "!userstacktrace" },
		{ "events/ftrace/user_unwind_stack/trigger", HIST },
		{ "events/ftrace/user_unwind_stack/trigger", "!" HIST },
		{ "events/ftrace/user_unwind_stack/trigger", HIST_BY_TASK },
		{ "events/ftrace/user_unwind_stack/trigger", "!" HIST_BY_TASK },
		{ "tracing_cpumask", "1" },
		{ "tracing_cpumask", "3" },
		{ "snapshot", "2" },
		{ "tracing_on", "0" },
		{ "tracing_on", "1" },
		{ "trace", "" },
		{ OWN_EVENTS, "1" },
		{ OWN_EVENTS, "0" },
	};
	const unsigned int n = draw(ARRAY_SIZE(changes));
	char dir[128], value[64];

	/* The main process holds them in these programs only */
	if (!strcmp(changes[n].file, OWN_EVENTS) && surface->seed % 2 == 0)
		return 1;

	snprintf(dir, sizeof(dir), SURFACE_INSTANCE, drawer / SURFACE_THREADS);
	snprintf(value, sizeof(value), "%s", changes[n].value);
	if (n == 6)
		snprintf(value, sizeof(value), "id == %d", (int)SYS_getppid);
	return put_word(dir, changes[n].file, value);
}

static int read_instance(void)
{
	static const char * const files[] = {
		"trace", "trace_pipe", "events/ftrace/user_unwind_stack/hist", "snapshot",
	};
	const unsigned int n = draw(ARRAY_SIZE(files));
	char path[256], text[4096];
	unsigned int i;
	int fd, len;

	len = snprintf(path, sizeof(path), SURFACE_INSTANCE, drawer / SURFACE_THREADS);
	snprintf(path + len, sizeof(path) - len, "/%s", files[n]);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	for (i = 0; i < 16 && read(fd, text, sizeof(text)) > 0; i++)
		;
	close(fd);
	return i;
}

/*
 * Make or remove one, or change its buffers. Not in a process that may be killed meanwhile: the
 * kernel complains about a buffer that it then does not allocate. Sub-buffers keep their size:
 * tracing stops while that changes, and a reader that ends meanwhile starts it.
 */
void clients_change_instances(unsigned int number)
{
	static const char * const changes[][2] = {
		{ "buffer_size_kb", "8" }, { "buffer_size_kb", "64" },
		{ "snapshot", "1" }, { "snapshot", "0" }, { "buffer_percent", "0" },
	};
	const unsigned int turn = number / SURFACE_PROCESSES;
	const char * const *change = changes[turn % ARRAY_SIZE(changes)];
	char dir[128];

	snprintf(dir, sizeof(dir), SURFACE_INSTANCE, number % SURFACE_PROCESSES);
	if (!mkdir(dir, 0700))
		return;
	if (turn % 4 == 0)
		rmdir(dir);
	else
		put_word(dir, change[0], change[1]);
}

bool clients_clean(void)
{
	bool clean = true;
	char dir[128];
	unsigned int i;

	for (i = 0; i < SURFACE_PROCESSES; i++) {
		snprintf(dir, sizeof(dir), SURFACE_INSTANCE, i);
		clean &= !rmdir(dir) || errno == ENOENT;
	}
	return clean;
}

/*
 * The service
 */

static __thread int device = -1;
static __thread uint64_t last_id;

static int open_device(void)
{
	if (device >= 0)
		return 1;
	device = open("/dev/unwind", (one_in(4) ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK);
	if (device < 0 && errno != EBUSY)
		surface_error("opening the device", -errno);
	return device < 0 ? -errno : 0;
}

static int close_device(void)
{
	if (device < 0)
		return 1;
	close(device);
	device = -1;
	return 0;
}

/* A section for the file, if it is one of code; else bytes of the file, as a section */
static int provide(int fd, uint64_t id)
{
	static __thread char section[SECTION_MAX];
	struct unwind_chain_attr chain = { .function_mask = ~0ULL, .function = 8 };
	struct unwind_answer answer = {
		.id = id, .fd = fd, .table_start = (uintptr_t)section,
		.table_size = code_file_table_size(&code_file_usual),
		.address = code_file_usual.table.vaddr,
	};
	int ret;

	memset(section, 0, sizeof(section));
	if (pread(fd, section, sizeof(section), code_file_usual.table.offset) < 0)
		section[0] = 1;
	if (one_in(4))
		section[draw(answer.table_size)] ^= 1 << draw(8);
	if (one_in(4)) {
		answer.chain = (uintptr_t)&chain;
		answer.chain_size = sizeof(chain);
		spoil(&chain, sizeof(chain));
	}
	spoil(&answer, sizeof(answer));
	ret = ioctl(device, UNWIND_IOC_ADD, &answer) ? -errno : 0;
	if (!ret)
		last_id = answer.id;
	return ret;
}

static int serve(void)
{
	struct unwind_request requests[2];
	struct unwind_answer none = {};
	unsigned int i;
	ssize_t len;

	if (device < 0)
		return 1;
	len = read(device, requests, sizeof(requests[0]) * (1 + draw(2)));
	if (len < 0)
		return -errno;
	for (i = 0; i < len / sizeof(requests[0]); i++) {
		none.id = requests[i].id;
		none.fd = requests[i].fd;
		if (one_in(2))
			provide(requests[i].fd, requests[i].id);
		else if (one_in(2))
			ioctl(device, UNWIND_IOC_NONE, &none);
		close(requests[i].fd);
	}
	return i;
}

static int provide_unasked(void)
{
	struct code_file file = code_file_usual;
	int fd, ret;

	if (device < 0)
		return 1;
	file.hidden = true;
	fd = code_file_memfd(&file);
	ret = provide(fd, 0);
	close(fd);
	return ret;
}

/* Parts of the list, each from where the one before ended */
static int list_tables(void)
{
	struct unwind_table_info infos[16];
	struct unwind_list list = { .infos = (uintptr_t)infos, .room = draw(17) };
	unsigned int parts = 1 + draw(8);
	int ret;

	if (device < 0)
		return 1;
	spoil(&list, sizeof(list));
	if (list.room > ARRAY_SIZE(infos))
		list.room = ARRAY_SIZE(infos);
	/* The kernel would write to any other address of this process */
	if (list.infos != (uintptr_t)infos && list.infos >> 47 == 0)
		list.infos = 0;
	do
		ret = ioctl(device, UNWIND_IOC_LIST, &list) ? -errno : (int)list.nr;
	while (ret >= 0 && list.cursor && --parts);
	return ret;
}

/* A child waits for requests, and is killed, by the drawer or with it */
static int wait_for_request(void)
{
	const unsigned int calls = draw(8);
	unsigned int i;
	pid_t pid;
	int own;

	if (device < 0)
		return 1;
	pid = fork();
	if (!pid) {
		struct unwind_request request;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* For the drawer, too, until the child is gone */
		fcntl(device, F_SETFL, 0);
		while (read(device, &request, sizeof(request)) > 0)
			close(request.fd);
		_exit(0);
	}
	if (pid < 0)
		return -errno;
	own = dup(device);
	for (i = 0; i < calls; i++)
		memory_call();
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	fcntl(device, F_SETFL, O_NONBLOCK);
	close(own);
	return 0;
}

static int withdraw(void)
{
	uint64_t id = one_in(4) ? draw(1000) : last_id;

	if (device < 0)
		return 1;
	return ioctl(device, UNWIND_IOC_DEL, &id) ? -errno : 0;
}

static int use_device_wrongly(void)
{
	struct pollfd poll_fd = { .fd = device, .events = POLLIN };
	uint64_t words[8] = {};

	if (device < 0)
		return 1;
	spoil(words, sizeof(words));
	poll(&poll_fd, 1, 0);
	ioctl(device, _IOC(draw(4), 0xFA, draw(6), draw(100)), words);
	return read(device, words, draw(16)) < 0 ? -errno : 0;
}

/* fork() leaves out the buffers */
void clients_in_child(void)
{
	unsigned int i;

	for (i = 0; i < EVENTS; i++)
		events[i].ring.meta = NULL;
}

void clients_end(void)
{
	unsigned int i;

	init_events();
	for (i = 0; i < EVENTS; i++)
		close_event(i);
	close_bpf();
	close_device();
}

const struct surface_operation surface_clients[] = {
	{ "event open", 8, open_event },
	{ "event change", 6, change_event },
	{ "event read", 4, read_event },
	{ "event output", 2, share_buffer },
	{ "event close", 3, drop_event },
	{ "bpf open", 3, open_bpf },
	{ "bpf read", 2, read_bpf },
	{ "bpf close", 2, close_bpf },
	{ "instance change", 6, change_instance },
	{ "instance read", 2, read_instance },
	{ "device open", 3, open_device },
	{ "device close", 1, close_device },
	{ "device serve", 6, serve },
	{ "device provide", 3, provide_unasked },
	{ "device list", 2, list_tables },
	{ "device wait", 1, wait_for_request, true },
	{ "device withdraw", 2, withdraw },
	{ "device misuse", 2, use_device_wrongly },
	{}
};
