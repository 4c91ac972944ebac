// SPDX-License-Identifier: GPL-2.0
/*
 * A file system that a process of the test serves, see file_server.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/compiler.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "code_file.h"
#include "file_server.h"

/* Numbers of its files, after the root's */
#define FIRST		(FUSE_ROOT_ID + 1)

const char * const file_server_names[FILE_SERVER_FILES] = { "code.so", "other.so" };

#define REQUEST_MAX	131072
#define HELD_MAX	16
#define FOR_EVER	1000000

struct held {
	uint64_t		unique;
	struct fuse_read_in	read;
};

struct server {
	int				fd;
	bool				ended;
	struct file_server_control	*control;
	const char			*bytes;
	size_t				size;
	struct held			held[HELD_MAX];
	unsigned int			nr_held;
};

static void reply(struct server *server, uint64_t unique, int error, const void *data,
		  size_t size)
{
	struct fuse_out_header header = {
		.len = sizeof(header) + size, .error = error, .unique = unique,
	};
	struct iovec iov[2] = {
		{ &header, sizeof(header) }, { (void *)data, size },
	};

	/* The request may have been given up */
	if (writev(server->fd, iov, 2) < 0 && errno != ENOENT)
		server->ended = true;
}

static struct fuse_attr attr_of(const struct server *server, uint64_t node)
{
	struct fuse_attr attr = {
		.ino = node, .mode = S_IFREG | 0755, .nlink = 1, .size = server->size,
		.blksize = 4096,
	};

	if (node == FUSE_ROOT_ID)
		attr.mode = S_IFDIR | 0755;
	return attr;
}

static void reply_lookup(struct server *server, uint64_t unique, const char *name)
{
	struct fuse_entry_out out = {
		.entry_valid = FOR_EVER, .attr_valid = FOR_EVER,
	};
	unsigned int i;

	for (i = 0; i < FILE_SERVER_FILES && strcmp(name, file_server_names[i]); i++)
		;
	if (i == FILE_SERVER_FILES) {
		reply(server, unique, -ENOENT, NULL, 0);
		return;
	}
	out.nodeid = FIRST + i;
	out.attr = attr_of(server, out.nodeid);
	reply(server, unique, 0, &out, sizeof(out));
}

static void reply_read(struct server *server, uint64_t unique, const struct fuse_read_in *read)
{
	size_t size = read->offset < server->size ? server->size - read->offset : 0;

	if (size > read->size)
		size = read->size;
	reply(server, unique, 0, server->bytes + read->offset, size);
}

/* The text, or after some time: all of the file */
static bool is_held(const struct server *server, const struct fuse_read_in *read)
{
	return read->offset != code_file_usual.text[0].offset &&
	       atomic_load(&server->control->hold);
}

static void handle_read(struct server *server, uint64_t unique, const struct fuse_read_in *read)
{
	if (!is_held(server, read)) {
		reply_read(server, unique, read);
		return;
	}
	if (server->nr_held == HELD_MAX) {
		server->ended = true;
		return;
	}
	server->held[server->nr_held++] = (struct held){ unique, *read };
	atomic_store(&server->control->nr_held, server->nr_held);
}

static void release_held(struct server *server)
{
	while (server->nr_held && !atomic_load(&server->control->hold)) {
		const struct held *held = &server->held[--server->nr_held];

		reply_read(server, held->unique, &held->read);
	}
}

static void handle(struct server *server, const struct fuse_in_header *in)
{
	/* One page per read, no reading ahead */
	const struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096,
		/* The kernel keeps the time of change */
		.flags = FUSE_WRITEBACK_CACHE,
		.max_background = 16, .congestion_threshold = 16,
	};
	struct fuse_open_out open = { .fh = 1, .open_flags = FOPEN_KEEP_CACHE };
	struct fuse_attr_out attr = { .attr_valid = FOR_EVER };

	switch (in->opcode) {
	case FUSE_INIT:
		reply(server, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		reply_lookup(server, in->unique, (const char *)(in + 1));
		break;
	case FUSE_GETATTR:
		attr.attr = attr_of(server, in->nodeid);
		reply(server, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		if (atomic_load(&server->control->direct))
			open.open_flags |= FOPEN_DIRECT_IO;
		fallthrough;
	case FUSE_OPENDIR:
		reply(server, in->unique, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		handle_read(server, in->unique, (const struct fuse_read_in *)(in + 1));
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		reply(server, in->unique, 0, NULL, 0);
		break;
	/* These have no reply */
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		reply(server, in->unique, -EOPNOTSUPP, NULL, 0);
	}
}

static bool get_contents(struct server *server)
{
	int fd = code_file_memfd(&code_file_usual);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return false;
	server->size = st.st_size;
	server->bytes = mmap(NULL, server->size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	return server->bytes != MAP_FAILED;
}

int file_server_mount(const char *dir)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[64];

	if (fd < 0)
		return -1;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if ((mkdir(dir, 0700) && errno != EEXIST) ||
	    mount("files", dir, "fuse", MS_NOSUID | MS_NODEV, options)) {
		close(fd);
		return -1;
	}
	return fd;
}

int file_server_run(int fd, struct file_server_control *control)
{
	static char request[REQUEST_MAX];
	struct server server = { .fd = fd, .control = control };
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	if (!get_contents(&server))
		return 1;
	while (!server.ended) {
		release_held(&server);
		if (poll(&poll_fd, 1, 10) <= 0)
			continue;
		if (read(fd, request, sizeof(request)) > 0)
			handle(&server, (const struct fuse_in_header *)request);
		else if (errno == ENODEV)
			break;
	}
	return 0;
}
