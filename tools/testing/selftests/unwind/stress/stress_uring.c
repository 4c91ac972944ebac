// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs that use io_uring's workers: tasks of the process that run in the kernel only.
 */
#include <linux/io_uring.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stress_load.h"

#define ENTRIES		8
#define ROUNDS		5
#define READ_SIZE	16384

struct uring {
	struct io_uring_params	params;
	int			fd;
	char			*rings;
	size_t			rings_size;
	struct io_uring_sqe	*sqes;
};

static void uring_open(struct uring *uring, unsigned int flags)
{
	struct io_uring_params *params = &uring->params;

	memset(uring, 0, sizeof(*uring));
	params->flags = flags;
	params->sq_thread_idle = 1;
	uring->fd = syscall(SYS_io_uring_setup, ENTRIES, params);
	if (uring->fd < 0 || !(params->features & IORING_FEAT_SINGLE_MMAP))
		load_failed("io_uring_setup");
	uring->rings_size = params->cq_off.cqes +
			    params->cq_entries * sizeof(struct io_uring_cqe);
	uring->rings = mmap(NULL, uring->rings_size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_POPULATE, uring->fd,
			    IORING_OFF_SQ_RING);
	uring->sqes = mmap(NULL, ENTRIES * sizeof(*uring->sqes),
			   PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			   uring->fd, IORING_OFF_SQES);
	if (uring->rings == MAP_FAILED || uring->sqes == MAP_FAILED)
		load_failed("mapping of io_uring");
}

static void uring_close(struct uring *uring)
{
	munmap(uring->sqes, ENTRIES * sizeof(*uring->sqes));
	munmap(uring->rings, uring->rings_size);
	close(uring->fd);
}

static unsigned int *at(struct uring *uring, unsigned int offset)
{
	return (unsigned int *)(uring->rings + offset);
}

/* Read from @fd into @buf; the read is complete when this returns */
static void uring_read(struct uring *uring, int fd, void *buf, unsigned int flags)
{
	const struct io_sqring_offsets *sq = &uring->params.sq_off;
	const struct io_cqring_offsets *cq = &uring->params.cq_off;
	unsigned int tail = *at(uring, sq->tail), slot = tail & (ENTRIES - 1);
	unsigned int head = *at(uring, cq->head);
	unsigned int enter = IORING_ENTER_GETEVENTS | IORING_ENTER_SQ_WAKEUP;

	uring->sqes[slot] = (struct io_uring_sqe){
		.opcode = IORING_OP_READ,
		.flags = flags,
		.fd = fd,
		.addr = (unsigned long)buf,
		.len = READ_SIZE,
	};
	at(uring, sq->array)[slot] = slot;
	__atomic_store_n(at(uring, sq->tail), tail + 1, __ATOMIC_RELEASE);
	while (syscall(SYS_io_uring_enter, uring->fd, 1, 1, enter, NULL, 0) < 0)
		if (errno != EINTR)
			load_failed("io_uring_enter");
	__atomic_store_n(at(uring, cq->head), head + 1, __ATOMIC_RELEASE);
}

static void uring_job(unsigned int setup, unsigned int flags)
{
	static char buf[READ_SIZE];
	int fd = open("/dev/zero", O_RDONLY);
	struct uring uring;
	unsigned int i;

	uring_open(&uring, setup);
	for (i = 0; i < ROUNDS; i++)
		uring_read(&uring, fd, buf, flags);
	uring_close(&uring);
	close(fd);
}

/* A kernel thread polls for work */
void step_uring_poll(unsigned int *seed)
{
	uring_job(IORING_SETUP_SQPOLL, 0);
}

/* A worker does operations that might block */
void step_uring_worker(unsigned int *seed)
{
	uring_job(0, IOSQE_ASYNC);
}
