// SPDX-License-Identifier: GPL-2.0
/*
 * Files that are mapped, see files.h.
 *
 * The kernel has put build-id and offset into most frames, so only the first stack that
 * has a file needs the process. Where it has not, because the file has no build-id or its
 * headers were not in memory, the process must still exist.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "elf_file.h"
#include "files.h"
#include "table.h"

#define FILES_MAX	8192

/* No padding: this is a key */
struct identity {
	unsigned long long	inode;
	unsigned int		major;
	unsigned int		minor;
	unsigned char		id[BPF_BUILD_ID_SIZE];
	unsigned int		has_id;
};

static struct table identities = { .max = FILES_MAX };
static struct file *files;
static size_t files_room;
static unsigned long long dropped;

void init_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* The file's number, or -1 */
static int add_file(const struct identity *identity)
{
	unsigned int before = identities.nr;
	int number = table_add(&identities, identity, sizeof(*identity));

	dropped += number < 0;
	files = table_array(&identities, files, &files_room, sizeof(*files));
	if (number < 0 || before == identities.nr)
		return number;
	files[number].has_id = identity->has_id;
	memcpy(files[number].id, identity->id, BPF_BUILD_ID_SIZE);
	files[number].fd = -1;
	return number;
}

struct mapping {
	struct procmap_query	query;
	char			path[4096];
};

/*
 * Find the mapping at @ip, while the process exists.  Its build-id is not asked for: the kernel
 * would wait for a server of files (FUSE) that does not answer, for ever.
 */
static bool find_mapping(struct process *process, unsigned long long ip, struct mapping *mapping)
{
	char path[64];

	if (!process->maps) {
		snprintf(path, sizeof(path), "/proc/%u/maps", process->pid);
		process->maps = open(path, O_RDONLY | O_CLOEXEC);
	}
	*mapping = (struct mapping){
		.query = {
			.size = sizeof(mapping->query),
			.query_addr = ip,
			.vma_name_size = sizeof(mapping->path),
			.vma_name_addr = (unsigned long)mapping->path,
		},
	};
	return process->maps > 0 && !ioctl(process->maps, PROCMAP_QUERY, &mapping->query);
}

void close_process(struct process *process)
{
	if (process->maps > 0)
		close(process->maps);
	process->maps = 0;
}

/* Mounts that a process may have; beyond that, a file is nobody's */
#define MOUNTS_MAX	4096

/*
 * Are files of root there from root? Users can have images and servers of files mounted, in
 * which any file belongs to root, but none of these mounts gives its rights.
 */
static bool is_trusted(const struct process *process, unsigned long long mount)
{
	char path[64], options[256], *line = NULL;
	unsigned long long id;
	bool trusted = false;
	unsigned int i;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/mountinfo", process->pid);
	file = fopen(path, "re");
	options[0] = ',';
	for (i = 0; file && i < MOUNTS_MAX && getline(&line, &size, file) > 0; i++) {
		/* Both numbers, device, root, mount point, options */
		if (sscanf(line, "%llu %*u %*s %*s %*s %253s", &id, options + 1) != 2 ||
		    id != mount)
			continue;
		strcat(options, ",");
		trusted = !strstr(options, ",nosuid,");
		break;
	}
	free(line);
	if (file)
		fclose(file);
	return trusted;
}

/* Find a file that can be read; its server is not asked */
static int find_place(struct process *process, const char *path, bool *is_roots)
{
	const unsigned int want = STATX_TYPE | STATX_UID | STATX_MNT_ID;
	int fd = open(path, O_PATH | O_CLOEXEC);
	struct statx stat;

	if (fd < 0)
		return -1;
	if (!statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, want, &stat) &&
	    S_ISREG(stat.stx_mode)) {
		if (!stat.stx_uid && process->mount != stat.stx_mnt_id) {
			process->trusted = is_trusted(process, stat.stx_mnt_id);
			process->mount = stat.stx_mnt_id;
		}
		*is_roots = !stat.stx_uid && process->trusted;
		return fd;
	}
	close(fd);
	return -1;
}

/*
 * Is it the file that was mapped there? The process may have mapped another one of root's since,
 * which would keep all names from the right one. It takes a process to look: not for each stack.
 */
#define CHECKS_PER_SECOND	50

static bool is_right(const struct file *file, int fd)
{
	static unsigned int nr;
	static time_t second;
	const time_t now = time(NULL);

	if (now != second)
		nr = 0;
	second = now;
	return !file->has_id ||
	       (nr++ < CHECKS_PER_SECOND && has_build_id(fd, file->id, sizeof(file->id)));
}

/* Keep the file, unless it would take the place of one that is as good */
static void keep_file(struct file *file, struct process *process,
		      const struct mapping *mapping)
{
	bool is_roots = false;
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", process->pid,
		 mapping->query.vma_start, mapping->query.vma_end);
	fd = find_place(process, path, &is_roots);
	is_roots = is_roots && is_right(file, fd);
	if (file->path != NO_STRING && !is_roots) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (file->fd >= 0)
		close(file->fd);
	file->fd = fd;
	file->opened++;
	file->is_roots = is_roots;
	file->path = add_string(mapping->path, strlen(mapping->path));
}

/* A frame in a file whose build-id the kernel has found */
static void locate_by_id(struct process *process, unsigned long long ip,
			 const struct bpf_stack_build_id *id, struct location *location)
{
	struct identity identity = { .has_id = 1 };
	struct mapping mapping;
	int number;

	memcpy(identity.id, id->build_id, BPF_BUILD_ID_SIZE);
	number = add_file(&identity);
	if (number < 0)
		return;
	/* If another one of a user's has been mapped there since, read_image() finds that */
	if (!files[number].is_roots && find_mapping(process, ip, &mapping) && mapping.query.inode)
		keep_file(&files[number], process, &mapping);
	location->kind = AT_FILE;
	location->of = number;
	location->at = id->offset;
}

/* Any other. Of mappings without a file, only the vDSO is shown like one */
static void locate_by_mapping(struct process *process, unsigned long long ip,
			      struct location *location)
{
	struct mapping mapping;
	struct identity identity = {};
	int number;

	if (!find_mapping(process, ip, &mapping) ||
	    (!mapping.query.inode && strcmp(mapping.path, "[vdso]")))
		return;
	identity.inode = mapping.query.inode;
	identity.major = mapping.query.dev_major;
	identity.minor = mapping.query.dev_minor;
	number = add_file(&identity);
	if (number < 0)
		return;
	if (files[number].path == NO_STRING)
		keep_file(&files[number], process, &mapping);
	location->kind = AT_FILE;
	location->of = number;
	location->at = ip - mapping.query.vma_start + mapping.query.vma_offset;
}

void locate(struct process *process, unsigned long long ip,
	    const struct bpf_stack_build_id *id, struct location *location)
{
	*location = (struct location){ .kind = AT_ADDRESS, .at = ip };
	if (id->status == BPF_STACK_BUILD_ID_VALID)
		locate_by_id(process, ip, id, location);
	else
		locate_by_mapping(process, ip, location);
}

const struct file *file(unsigned int number)
{
	return &files[number];
}

unsigned int nr_files(void)
{
	return identities.nr;
}

unsigned long long dropped_files(void)
{
	return dropped;
}

const char *file_name(const struct file *file)
{
	static char name[64];
	const char *path = string(file->path), *slash = strrchr(path, '/');

	if (file->path != NO_STRING)
		return slash && slash[1] ? slash + 1 : path;
	snprintf(name, sizeof(name), "build-id %02x%02x%02x%02x", file->id[0], file->id[1],
		 file->id[2], file->id[3]);
	return name;
}
