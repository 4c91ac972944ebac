// SPDX-License-Identifier: GPL-2.0
/*
 * Operations on text that a stack goes through: it changes, is copied on write, or goes away
 * until another thread brings it back.
 *
 * Nobody executes the text meanwhile.  The drawer has called the code, which has called
 * a function of this file.  This function starts a thread that changes the text, makes system
 * calls, whose stacks go through that text, and returns when the text is as before.
 *
 *	drawer		code		innermost()	getppid(), getppid() ...
 *					thread		change, change ... restore
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/compiler.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "surface.h"
#include "surface_slots.h"
#include "../../kselftest.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE	0x10
#endif
#ifndef F_SEAL_EXEC
#define F_SEAL_EXEC		0x20
#endif
#define ALL_SEALS	(F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | \
			 F_SEAL_FUTURE_WRITE | F_SEAL_EXEC)
#define STACK_PAGES	16

static chain_fn some_code(unsigned int i, unsigned int function)
{
	return (chain_fn)((char *)text_of(i) + CODE_STRIDE * function);
}

/*
 * Changing
 */

/*
 * @bytes: of the text, or where the file is writable
 * @protect: they are private, and can be written only for this time
 */
struct change {
	char		*bytes;
	size_t		size;
	bool		protect;
	unsigned int	rounds;
	unsigned int	seed;
	unsigned int	calls;
};

static __thread struct change change;

static void *change_bytes(void *arg)
{
	const struct change *of = arg;
	char *saved = malloc(of->size);
	unsigned int seed = of->seed, i;

	if (!saved)
		return NULL;
	memcpy(saved, of->bytes, of->size);
	for (i = 0; i < of->rounds; i++) {
		if (of->protect)
			mprotect(of->bytes, page_size(), PROT_READ | PROT_WRITE);
		WRITE_ONCE(of->bytes[rand_r(&seed) % of->size], rand_r(&seed));
		if (i % 4 == 3)
			memcpy(of->bytes, saved, of->size);
		if (of->protect)
			mprotect(of->bytes, page_size(), PROT_READ | PROT_EXEC);
	}
	if (of->protect)
		mprotect(of->bytes, page_size(), PROT_READ | PROT_WRITE);
	memcpy(of->bytes, saved, of->size);
	if (of->protect)
		mprotect(of->bytes, page_size(), PROT_READ | PROT_EXEC);
	free(saved);
	return NULL;
}

static void while_changed(struct notes *notes)
{
	unsigned int i;
	pthread_t id;
	bool started;

	started = !pthread_create(&id, NULL, change_bytes, &change);
	for (i = 0; i < change.calls; i++)
		syscall(SYS_getppid);
	if (started)
		pthread_join(id, NULL);
	notes->nr = 0;
}

static bool is_of_file(const struct slot *slot)
{
	return slot->callable && slot->kind != ANONYMOUS;
}

static bool is_writable(const struct slot *slot)
{
	return slot->callable && (slot->kind == FILE_IN_TMPFS || slot->kind == UNSEALED);
}

static bool can_seal(const struct slot *slot)
{
	return slot->callable && slot->kind == UNSEALED;
}

static bool can_serve(const struct slot *slot)
{
	return is_there(slot) && slot->kind == ANONYMOUS;
}

/* The writable pages of a slot's file; NULL if it is sealed */
static char *map_writable(unsigned int i)
{
	char *at = mmap((char *)SLOT_AT(i) + WRITABLE, slots[i].image.size,
			PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, slots[i].fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

static void unmap_writable(unsigned int i)
{
	munmap((char *)SLOT_AT(i) + WRITABLE, slots[i].image.size);
}

/* A file with a writable mapping can be neither sealed nor trusted, until it is unmapped */
static int share_text(void)
{
	const unsigned int i = find_slot(is_writable), function = draw(FUNCTIONS);
	const bool unmaps = one_in(2);

	if (i == SLOTS)
		return 1;
	if (!map_writable(i))
		return -errno;
	call_code(some_code(i, function));
	if (unmaps)
		unmap_writable(i);
	return 0;
}

/* By the file's writable mapping, or in this process alone, which copies the page */
static int change_text(void)
{
	const bool shared = one_in(2), of_table = one_in(4), unmaps = one_in(2);
	const unsigned int i = find_slot(shared ? is_writable : is_callable);
	const unsigned int function = draw(FUNCTIONS);
	char *writable = NULL, *text;

	change = (struct change){
		.size = TEXT_BYTES, .rounds = 1 + draw(64), .seed = draw(1U << 31),
		.calls = 1 + draw(8),
	};
	if (i == SLOTS)
		return 1;
	text = text_of(i);
	if (shared)
		writable = map_writable(i);
	change.protect = !writable;
	change.bytes = text;
	if (writable && of_table) {
		change.bytes = writable + code_file_usual.table.offset;
		change.size = code_file_table_size(&code_file_usual);
	} else if (writable) {
		change.bytes = writable + code_file_usual.text[0].offset;
	}
	call_code_with(some_code(i, function), while_changed);
	__builtin___clear_cache(text, text + TEXT_BYTES);
	if (writable && unmaps)
		unmap_writable(i);
	return memory_call();
}

/* A byte is written as it was, so the process has a page of its own instead of the file's */
static int copy_text(void)
{
	const unsigned int i = find_slot(is_of_file), function = draw(FUNCTIONS);
	const bool executable = one_in(2), drops = one_in(2);
	char *text;

	if (i == SLOTS)
		return 1;
	text = text_of(i);
	if (mprotect(text, page_size(), PROT_READ | PROT_WRITE | (executable ? PROT_EXEC : 0)))
		return expect("mprotect", -errno, 0);
	WRITE_ONCE(text[TEXT_BYTES], READ_ONCE(text[TEXT_BYTES]));
	if (executable)
		call_code(some_code(i, function));
	if (mprotect(text, page_size(), PROT_READ | PROT_EXEC))
		return expect("mprotect", -errno, 0);
	call_code(some_code(i, function));
	if (drops && madvise(text, page_size(), MADV_DONTNEED))
		return expect("madvise", -errno, 0);
	call_code(some_code(i, function));
	return 0;
}

/* The kernel has met the file without seals.  With the first three, it loads the table */
static int seal(void)
{
	const unsigned int i = find_slot(can_seal), function = draw(FUNCTIONS);
	const int some = draw(ALL_SEALS + 1);
	const int seals = one_in(2) ? F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK : some;
	int ret;

	if (i == SLOTS)
		return 1;
	call_code(some_code(i, function));
	ret = fcntl(slots[i].fd, F_ADD_SEALS, seals) ? -errno : 0;
	call_code(some_code(i, function));
	return ret;
}

/*
 * Pages that another thread brings
 */

#define MISSING_PAGES	2

/*
 * @missing: pages that are dropped; @saved has their contents
 * @zeroes: the page comes back as zeroes
 */
struct server {
	int		fd;
	int		end;
	unsigned int	nr;
	char		*missing[MISSING_PAGES];
	char		*saved[MISSING_PAGES];
	bool		zeroes[MISSING_PAGES];
	unsigned int	delay;
	unsigned int	calls;
	pthread_t	thread;
};

static __thread struct server server;

/* If the page cannot be brought, the task that waits tries again */
static void bring(const struct server *of, uintptr_t address)
{
	const uintptr_t start = address & -page_size();
	struct uffdio_range range = { .start = start, .len = page_size() };
	struct uffdio_zeropage zero = { .range = range };
	struct uffdio_copy copy = { .dst = start, .len = page_size() };
	unsigned int i;
	int ret = -1;

	for (i = 0; i < of->nr; i++) {
		if ((uintptr_t)of->missing[i] != start)
			continue;
		copy.src = (uintptr_t)of->saved[i];
		ret = of->zeroes[i] ? ioctl(of->fd, UFFDIO_ZEROPAGE, &zero) :
				      ioctl(of->fd, UFFDIO_COPY, &copy);
	}
	if (ret)
		ioctl(of->fd, UFFDIO_WAKE, &range);
}

static void *serve(void *arg)
{
	const struct server *of = arg;
	struct pollfd fds[] = {
		{ .fd = of->fd, .events = POLLIN }, { .fd = of->end, .events = POLLIN },
	};
	struct uffd_msg msg;

	while (!fds[1].revents) {
		poll(fds, ARRAY_SIZE(fds), -1);
		if (read(of->fd, &msg, sizeof(msg)) != sizeof(msg) ||
		    msg.event != UFFD_EVENT_PAGEFAULT)
			continue;
		usleep(of->delay);
		bring(of, msg.arg.pagefault.address);
	}
	return NULL;
}

static void forget_server(void)
{
	unsigned int i;

	if (server.fd >= 0)
		close(server.fd);
	if (server.end >= 0)
		close(server.end);
	for (i = 0; i < MISSING_PAGES; i++)
		free(server.saved[i]);
}

static bool open_server(unsigned int delay, unsigned int calls)
{
	struct uffdio_api api = { .api = UFFD_API };

	server = (struct server){
		.fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK),
		.end = eventfd(0, EFD_CLOEXEC), .delay = delay, .calls = calls,
	};
	return server.fd >= 0 && server.end >= 0 && !ioctl(server.fd, UFFDIO_API, &api);
}

/* The page is there, or the drawer would wait for it before there is a thread to bring it */
static bool add_missing(char *start, bool zeroes)
{
	struct uffdio_register reg = {
		.range = { .start = (uintptr_t)start, .len = page_size() },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	READ_ONCE(*start);
	server.missing[server.nr] = start;
	server.zeroes[server.nr] = zeroes;
	server.saved[server.nr] = malloc(page_size());
	if (!server.saved[server.nr])
		return false;
	return !ioctl(server.fd, UFFDIO_REGISTER, &reg) && ++server.nr;
}

/* Pages of the stack, its text or its table are dropped, and touched before the return */
static void while_missing(struct notes *notes)
{
	const uint64_t end = 1;
	unsigned int i;

	for (i = 0; i < server.nr; i++)
		memcpy(server.saved[i], server.missing[i], page_size());
	if (!pthread_create(&server.thread, NULL, serve, &server)) {
		for (i = 0; i < server.nr; i++)
			madvise(server.missing[i], page_size(), MADV_DONTNEED);
		for (i = 0; i < server.calls; i++)
			syscall(SYS_getppid);
		for (i = 0; i < server.nr; i++)
			READ_ONCE(*server.missing[i]);
		while (write(server.end, &end, sizeof(end)) < 0 && errno == EINTR)
			;
		pthread_join(server.thread, NULL);
	}
	notes->nr = 0;
}

static int serve_code(void)
{
	const unsigned int i = find_slot(can_serve), function = draw(FUNCTIONS), which = draw(3);
	const unsigned int delay = draw(500), calls = 1 + draw(4);
	const bool zeroes = one_in(2);

	if (i == SLOTS)
		return 1;
	if (open_server(delay, calls) && (which == 0 || add_missing(text_of(i), false)) &&
	    (which == 1 || add_missing(table_of(i), zeroes)))
		call_code_with(some_code(i, function), while_missing);
	forget_server();
	return memory_call();
}

static __thread ucontext_t outside, inside;

/* Its frame is larger than a page, so the frames before it are not in the same page */
static void on_stack(void)
{
	char room[3 * 4096];

	memset(room, 0, sizeof(room));
	asm volatile("" : : "r"(room) : "memory");
	call_code(while_missing);
	asm volatile("" : : "r"(room) : "memory");
}

/* A stack whose outermost frames are missing */
static int serve_stack(void)
{
	const unsigned int delay = draw(500), calls = 1 + draw(4);
	const size_t size = STACK_PAGES * page_size();
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED)
		return -errno;
	stack[size - 1] = 0;
	if (open_server(delay, calls) && add_missing(stack + size - page_size(), false) &&
	    !getcontext(&inside)) {
		inside.uc_stack.ss_sp = stack;
		inside.uc_stack.ss_size = size;
		inside.uc_link = &outside;
		makecontext(&inside, on_stack, 0);
		swapcontext(&outside, &inside);
	}
	forget_server();
	munmap(stack, size);
	return 0;
}

const struct surface_operation surface_text[] = {
	{ "text share", 3, share_text },
	{ "text change", 3, change_text, true },
	{ "text copy", 3, copy_text },
	{ "seal", 4, seal, true },
	{ "userfaultfd code", 2, serve_code, true },
	{ "userfaultfd stack", 2, serve_stack, true },
	{}
};
