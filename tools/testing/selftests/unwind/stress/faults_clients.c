// SPDX-License-Identifier: GPL-2.0
/*
 * Faults of the table service, and of clients that want stacks: trace instances and others,
 * see faults_sites.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/unwind.h>

#include "code_file.h"
#include "file_env.h"
#include "ftrace.h"
#include "faults_sites.h"
#include "requests.h"
#include "../../kselftest.h"

#define HIST_TRIGGER	"events/ftrace/user_unwind_stack/trigger"
#define HIST_TEXT	"events/ftrace/user_unwind_stack/hist"
#define HIST_COMMAND	"hist:keys=stack.userstack"
#define INSTANCES	"/sys/kernel/tracing/instances"
#define CLIENT		"faults-client-"

/*
 * The service
 */

static struct unwind_answer answer;
static int device = -1;

static bool prepare_device(void)
{
	static struct code_file hidden;
	static char section[4096];

	hidden = code_file_usual;
	hidden.hidden = true;
	device = open("/dev/unwind", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (device < 0 || !prepare_file(&hidden, code_file_memfd(&hidden)))
		return false;
	answer = (struct unwind_answer){
		.fd = file,
		.table_start = (uintptr_t)section,
		.table_size = code_file_table_size(&hidden),
		.address = hidden.table.vaddr,
	};
	return pread(file, section, answer.table_size, hidden.table.offset) ==
	       (ssize_t)answer.table_size;
}

/* Read requests until there is one for the file: 0; 1 if there is none */
static int read_requests(void)
{
	struct unwind_request request;
	bool found = false;

	while (!found) {
		if (read(device, &request, sizeof(request)) != sizeof(request))
			return errno == EAGAIN ? LESS : -errno;
		found = same_file(request.fd, file);
		close(request.fd);
	}
	return 0;
}

/* Stacks do not wait for an answer */
static int judge_request(int ret)
{
	return ret == LESS ? read_requests() : WRONG;
}

/* The kernel asks again a second after it could not */
static int ask(void)
{
	static bool again;
	const int64_t end = now_ms() + PATIENCE_MS;
	struct pollfd poll_fd = { .fd = device, .events = POLLIN };
	int ret = file_stack();

	while (again && ret == LESS && poll(&poll_fd, 1, 1) != 1 && now_ms() < end)
		ret = file_stack();
	again = true;
	return ret;
}

static bool prepare_asked(void)
{
	return prepare_device() && file_stack() == LESS;
}

static int next_fd(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

/* A request that was not read is there the next time, and no descriptor is left */
static int read_asked(void)
{
	struct unwind_request request = { .fd = -1 };
	const int before = next_fd();
	int ret = 0;

	if (read(device, &request, sizeof(request)) != sizeof(request))
		ret = -errno;
	close(request.fd);
	return next_fd() != before ? WRONG : ret;
}

static int provide(void)
{
	return ioctl(device, UNWIND_IOC_ADD, &answer) ? -errno : 0;
}

static bool prepare_answer(void)
{
	static const struct unwind_chain_attr chain = {
		.function = 8, .function_mask = ~0ULL,
	};

	if (!prepare_device())
		return false;
	answer.chain = (uintptr_t)&chain;
	answer.chain_size = sizeof(chain);
	return true;
}

static int judge_answered(int ret)
{
	return ret && file_stack() != LESS ? WRONG : ret;
}

static bool finish_answer(void)
{
	return !file_stack() && !ioctl(device, UNWIND_IOC_DEL, &answer.id) &&
	       ioctl(device, UNWIND_IOC_DEL, &answer.id) == -1 && errno == ENOENT &&
	       file_stack() == LESS;
}

static int answer_none(void)
{
	const struct unwind_answer none = { .id = answer.id, .fd = file };

	return ioctl(device, UNWIND_IOC_NONE, &none) ? -errno : 0;
}

static bool prepare_none(void)
{
	struct unwind_request request = { .fd = -1 };

	if (!prepare_asked())
		return false;
	do {
		close(request.fd);
		if (read(device, &request, sizeof(request)) != sizeof(request))
			return false;
	} while (!same_file(request.fd, file));
	close(request.fd);
	answer.id = request.id;
	return true;
}

/* It was answered */
static bool finish_none(void)
{
	return answer_none() == -ESTALE;
}

static struct unwind_table_info infos[4096];

static int list_some(unsigned int room)
{
	struct unwind_list args = { .infos = (uintptr_t)infos, .room = room };

	return ioctl(device, UNWIND_IOC_LIST, &args) ? -errno : 0;
}

static int list(void)
{
	return list_some(64);
}

/* So many that they are not in contiguous memory */
static int list_many(void)
{
	return list_some(ARRAY_SIZE(infos));
}

/*
 * Clients
 */

static struct ftrace ft;

/* It keeps what it has allocated: names of files and functions, and what the option needs */
static bool make_instance(void)
{
	return !ftrace_open(&ft, "faults");
}

static bool remove_instance(void)
{
	return !ftrace_close(&ft);
}

static int set_option(void)
{
	return ftrace_set(&ft, FTRACE_OPTION, "1");
}

static bool finish_option(void)
{
	return !ftrace_set(&ft, FTRACE_OPTION, "0") && remove_instance();
}

static bool start_trace(void)
{
	return !set_option() && !add_chain() && !ftrace_event(&ft, FTRACE_ENTER, getpid());
}

static bool prepare_trace(void)
{
	return make_instance() && start_trace();
}

static bool is_function(const char *place)
{
	return !strncmp(place, NAME_INNER, strlen(NAME_INNER)) ||
	       !strncmp(place, NAME_OUTER, strlen(NAME_OUTER));
}

/* Has each frame a file, or is it one of the two frames of a language, with its name? */
static bool is_placed(const struct ftrace_record *rec)
{
	unsigned int i, functions = 0;

	for (i = 0; i < rec->nr; i++) {
		if (is_function(rec->frame[i].path))
			functions++;
		else if (rec->frame[i].path[0] != '/')
			return false;
	}
	return functions == 2;
}

/* There is one stack; without memory it has no files, or no names */
static int judge_trace(int ret)
{
	struct ftrace_log log = {};
	size_t i;

	if (ret || ftrace_read(&ft, "trace", &log) || !ftrace_pairs(&log, NULL) ||
	    ftrace_count(&log, FTRACE_STACK) != 1)
		return WRONG;
	for (i = 0; log.rec[i].type != FTRACE_STACK; i++)
		;
	ret = is_placed(&log.rec[i]) ? 0 : LESS;
	ftrace_free(&log);
	return ftrace_set(&ft, "trace", "") ? WRONG : ret;
}

static bool finish_trace(void)
{
	return !ftrace_set(&ft, FTRACE_ENTER "/enable", "0") && finish_option();
}

static bool prepare_counted(void)
{
	return start_trace() && !ftrace_set(&ft, HIST_TRIGGER, HIST_COMMAND);
}

/* Is the stack counted under its own name? */
static int judge_hist(int ret)
{
	char *hist = ftrace_get(&ft, HIST_TEXT);

	if (hist)
		ret = strstr(hist, "[other stacks]") ? LESS : strchr(hist, '/') ? 0 : WRONG;
	free(hist);
	return ret;
}

/* The stack is there in any case */
static int judge_counted(int ret)
{
	ret = judge_trace(ret) ? WRONG : judge_hist(WRONG);
	/* The file is opened so that it loses its triggers: the counts begin anew */
	return ftrace_set(&ft, HIST_TRIGGER, HIST_COMMAND) ? WRONG : ret;
}

static bool finish_counted(void)
{
	return !ftrace_set(&ft, FTRACE_ENTER "/enable", "0") &&
	       !ftrace_set(&ft, HIST_TRIGGER, "!" HIST_COMMAND);
}

static bool prepare_hist(void)
{
	return prepare_counted() && !call_sampled();
}

static char *hist_text;

static int read_hist(void)
{
	free(hist_text);
	hist_text = ftrace_get(&ft, HIST_TEXT);
	return hist_text ? 0 : -EIO;
}

static int judge_hist_text(int ret)
{
	return ret ?: strstr(hist_text, "[other stacks]") ? LESS : 0;
}

/*
 * The kernel allocates some memory for the first client that has a number, and never frees
 * it.  So each attempt needs a new number: the clients of all attempts stay until the end, and
 * one that is opened first takes the number that earlier clients may have had.
 */
static unsigned int *nr_clients;

static bool open_client(bool set)
{
	char name[32];

	snprintf(name, sizeof(name), CLIENT "%u", (*nr_clients)++);
	return !ftrace_open(&ft, name) && (!set || !set_option());
}

static bool begin_clients(void)
{
	nr_clients = mmap(NULL, sizeof(*nr_clients), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return nr_clients != MAP_FAILED && open_client(true);
}

static bool prepare_client(void)
{
	return open_client(false);
}

static bool end_clients(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rmdir " INSTANCES "/unwind-*-" CLIENT "*");
	return !system(command);
}

#define READ	.opens = true, .prepare = prepare_asked, .operate = read_asked
/* To make an instance takes seconds with all checkers, so here the attempts have one */
#define COUNTS	.begin = make_instance, .end = remove_instance, .finish = finish_counted
#define PROVIDE	.prepare = prepare_answer, .operate = provide, .judge = judge_answered,	\
		.finish = finish_answer

const struct site sites_clients[] = {
	MEMORY("request", "unwind_request_alloc", 1, LESS,
	       .prepare = prepare_device, .operate = ask, .judge = judge_request),
	MEMORY("device read", "device_read", 1, -ENOMEM, READ),
	/* The section, two of headers, five of a table, the chain, and the entry */
	MEMORY("device add", "device_ioctl", 10, -ENOMEM, PROVIDE, .other = -EAGAIN),
	MEMORY("device none", "device_ioctl", 1, -ENOMEM,
	       .prepare = prepare_none, .operate = answer_none, .finish = finish_none),
	MEMORY("device list", "device_ioctl", 1, -ENOMEM,
	       .prepare = prepare_device, .operate = list),
	MEMORY("device list, long", "device_ioctl", 1, -ENOMEM,
	       .prepare = prepare_device, .operate = list_many),
	/* With six kinds of text */
	MEMORY("trace option", "trace_user_unwind_get", 7, -ENOMEM,
	       .prepare = make_instance, .operate = set_option, .finish = finish_option),
	/* Twice the number of attempts as long as there is a number that none has had */
	MEMORY("client", "unwind_deferred_init", 0, -ENOMEM, .stays = true,
	       .begin = begin_clients, .end = end_clients, .prepare = prepare_client,
	       .operate = set_option),
	/* Three arrays of frames, a file with its path, and two functions */
	MEMORY("trace of a stack", "user_stack_callback", 8, LESS,
	       .prepare = prepare_trace, .operate = call_sampled, .judge = judge_trace,
	       .finish = finish_trace),
	MEMORY("stack that is counted", "trace_user_stack_id", 1, LESS, COUNTS,
	       .prepare = prepare_counted, .operate = call_sampled, .judge = judge_counted),
	MEMORY("counts of stacks", "trace_user_stack_show", 1, LESS, COUNTS,
	       .prepare = prepare_hist, .operate = read_hist, .judge = judge_hist_text),
	COPIES("device read", "device_read", 1, -EFAULT, READ),
	/* The structure, the section, and the chain */
	COPIES("device add", "device_ioctl", 3, -EFAULT, PROVIDE),
	COPIES("device none", "device_ioctl", 1, -EFAULT,
	       .prepare = prepare_none, .operate = answer_none, .finish = finish_none),
	/* The structure, the tables, and the structure again */
	COPIES("device list", "device_ioctl", 3, -EFAULT,
	       .prepare = prepare_device, .operate = list),
	{}
};
