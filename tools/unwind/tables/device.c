// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's side of the table service: /dev/unwind, as linux/unwind.h describes it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "device.h"

/* Tables that one call lists */
#define ROOM	4096

/**
 * device_open_service - become the table service
 *
 * Return: a descriptor, or -1 with errno: EBUSY there is one already.
 */
int device_open_service(void)
{
	return open(DEVICE, O_RDWR | O_CLOEXEC);
}

/**
 * device_open_list - prepare to list the kernel's tables
 *
 * Return: a descriptor, or -1 with errno.
 */
int device_open_list(void)
{
	return open(DEVICE, O_RDONLY | O_CLOEXEC);
}

static enum answer outcome(int ret)
{
	if (!ret)
		return ANSWER_ADDED;
	switch (errno) {
	/* The file has changed, is being changed, or has got a table in another way */
	case ESTALE:
	case ETXTBSY:
	case EEXIST:
	case EBUSY:
		return ANSWER_LATE;
	/*
	 * Its text is elsewhere, it is no file of this machine, or may have no table; the
	 * kernel has a limit that the table exceeds, or does not read its version
	 */
	case ENOENT:
	case ENOEXEC:
	case EINVAL:
	case E2BIG:
	case EOPNOTSUPP:
		return ANSWER_NONE;
	default:
		return ANSWER_FAILED;
	}
}

/**
 * device_answer - give a file a table
 * @device: from device_open_service()
 * @request: the file; @request->id is 0 if it was not asked for, and is set to the table's
 * @table: its table
 *
 * Return: what became of it; with errno if that is not ANSWER_ADDED.
 */
enum answer device_answer(int device, struct unwind_request *request,
			  const struct unwind_table *table)
{
	struct unwind_answer answer = {
		.id = request->id,
		.fd = request->fd,
		.table_start = (unsigned long)table->sframe,
		.table_size = table->size,
		.address = table->addr,
	};
	int ret;

	if (table->has_chain) {
		answer.chain = (unsigned long)&table->chain;
		answer.chain_size = sizeof(table->chain);
	}
	ret = ioctl(device, UNWIND_IOC_ADD, &answer);
	if (ret && table->has_chain && (errno == EOPNOTSUPP || errno == E2BIG)) {
		/* A kernel that does not read frames of languages takes the table alone */
		answer.chain = 0;
		answer.chain_size = 0;
		ret = ioctl(device, UNWIND_IOC_ADD, &answer);
	}
	if (!ret)
		request->id = answer.id;
	return outcome(ret);
}

/**
 * device_none - say that a file gets no table
 * @device: from device_open_service()
 * @request: the file, which was asked for
 *
 * Return: ANSWER_NONE or ANSWER_LATE.
 */
enum answer device_none(int device, const struct unwind_request *request)
{
	struct unwind_answer answer = { .id = request->id, .fd = request->fd };

	return ioctl(device, UNWIND_IOC_NONE, &answer) ? ANSWER_LATE : ANSWER_NONE;
}

/**
 * device_list - visit each table that the kernel has
 * @device: a descriptor of the device
 * @visit: called for each
 * @arg: passed on
 *
 * Return: 0 or -1 with errno.
 */
int device_list(int device, void (*visit)(const struct unwind_table_info *info, void *arg),
		void *arg)
{
	struct unwind_list list = { .room = ROOM };
	struct unwind_table_info *infos = calloc(ROOM, sizeof(*infos));
	int ret = infos ? 0 : -1;
	__u32 i;

	list.infos = (unsigned long)infos;
	do {
		if (!ret)
			ret = ioctl(device, UNWIND_IOC_LIST, &list);
		for (i = 0; !ret && i < list.nr; i++)
			visit(&infos[i], arg);
	} while (!ret && list.cursor);
	free(infos);
	return ret;
}

/**
 * device_withdraw - take back a table
 * @device: from device_open_service()
 * @id: the table's, from device_answer()
 */
void device_withdraw(int device, __u64 id)
{
	/* The kernel may have removed it already */
	ioctl(device, UNWIND_IOC_DEL, &id);
}
