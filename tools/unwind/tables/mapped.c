// SPDX-License-Identifier: GPL-2.0
/*
 * Files that processes have mapped as text, by /proc/PID/maps.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "mapped.h"

/* A user's processes can map files without end.  Beyond this, others are not found. */
#define FILES_MAX	65536

/* @tree is tsearch()'s */
struct found {
	void	*tree;
	size_t	nr;
};

static int compare(const void *a, const void *b)
{
	const struct mapped *fa = a, *fb = b;

	if (fa->dev != fb->dev)
		return fa->dev < fb->dev ? -1 : 1;
	return fa->ino < fb->ino ? -1 : fa->ino > fb->ino;
}

static int add(struct found *all, const struct mapped *file)
{
	struct mapped **found, *new;

	if (all->nr == FILES_MAX && !tfind(file, &all->tree, compare))
		return 0;
	new = malloc(sizeof(*new));
	if (!new)
		return -1;
	*new = *file;
	found = tsearch(new, &all->tree, compare);
	if (found && *found == new) {
		new->path = strdup(file->path);
		all->nr++;
		if (new->path)
			return 0;
		tdelete(new, &all->tree, compare);
		found = NULL;
	}
	free(new);
	if (!found)
		return -1;
	if ((*found)->pid != file->pid)
		(*found)->users++;
	(*found)->pid = file->pid;
	return 0;
}

/* A line of maps, if it is one of text of a file */
static bool parse(char *line, struct mapped *file)
{
	unsigned int major, minor;
	unsigned long ino;
	char perms[5];
	int path = 0;

	if (sscanf(line, "%*x-%*x %4s %*x %x:%x %lu %n", perms, &major, &minor, &ino,
		   &path) != 4 || !path || perms[2] != 'x' || !ino || line[path] != '/')
		return false;
	line[strcspn(line, "\n")] = '\0';
	/* None can be opened by such a path, which may have megabytes */
	if (strlen(line + path) >= PATH_MAX)
		return false;
	make_printable(line + path);
	file->dev = makedev(major, minor);
	file->ino = ino;
	file->path = line + path;
	return true;
}

static int read_maps(struct found *all, pid_t pid)
{
	struct mapped file = { .pid = pid, .users = 1 };
	char path[64], *line = NULL;
	size_t size = 0;
	int ret = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	/* It has ended, or is none of ours */
	if (!maps)
		return 0;
	while (!ret && getline(&line, &size, maps) > 0) {
		if (parse(line, &file))
			ret = add(all, &file);
	}
	free(line);
	fclose(maps);
	return ret;
}

static int read_all_maps(struct found *all)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	int ret = 0;

	if (!proc)
		return -1;
	while (!ret && (entry = readdir(proc))) {
		if (isdigit((unsigned char)*entry->d_name))
			ret = read_maps(all, atoi(entry->d_name));
	}
	closedir(proc);
	return ret;
}

static void append(const void *node, VISIT which, void *closure)
{
	struct mapped_list *list = closure;

	if (which != postorder && which != leaf)
		return;
	if (list->files)
		list->files[list->nr] = **(struct mapped * const *)node;
	list->nr++;
}

/**
 * mapped_read - find all files that are mapped as text
 * @list: filled in; to be freed by mapped_free()
 *
 * Processes that the caller may not read are left out.
 *
 * Return: 0 or -1 with errno.
 */
int mapped_read(struct mapped_list *list)
{
	struct found all = {};
	int ret = read_all_maps(&all);

	*list = (struct mapped_list){};
	if (!ret) {
		twalk_r(all.tree, append, list);
		list->files = calloc(list->nr ?: 1, sizeof(*list->files));
		list->nr = 0;
		if (list->files)
			twalk_r(all.tree, append, list);
		else
			ret = -1;
	}
	/* The paths are the list's by now */
	while (all.tree) {
		struct mapped *file = *(struct mapped **)all.tree;

		tdelete(file, &all.tree, compare);
		if (ret)
			free(file->path);
		free(file);
	}
	return ret;
}

/**
 * mapped_find - find a file
 * @list: from mapped_read()
 * @dev: its device
 * @ino: its inode
 *
 * Return: the file, or NULL.
 */
const struct mapped *mapped_find(const struct mapped_list *list, dev_t dev, ino_t ino)
{
	const struct mapped key = { .dev = dev, .ino = ino };

	return bsearch(&key, list->files, list->nr, sizeof(key), compare);
}

/**
 * mapped_free - free a list
 * @list: from mapped_read()
 */
void mapped_free(struct mapped_list *list)
{
	size_t i;

	for (i = 0; i < list->nr; i++)
		free(list->files[i].path);
	free(list->files);
}

/* The size of the UTF-8 character at @text; 0 if there is none, or a control character */
static unsigned int printable(const char *text)
{
	static const unsigned int least[] = { [2] = 0xa0, [3] = 0x800, [4] = 0x10000 };
	const unsigned char *c = (const unsigned char *)text;
	unsigned int i, size, value;

	if (*c < 0x80)
		return *c >= ' ' && *c != '\177';
	if (*c < 0xc0 || *c > 0xf7)
		return 0;
	size = 2 + (*c >= 0xe0) + (*c >= 0xf0);
	value = *c & (0x7f >> size);
	for (i = 1; i < size; i++) {
		/* The end of the text, too */
		if ((c[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (c[i] & 0x3f);
	}
	return value >= least[size] && value <= 0x10ffff && value >> 11 != 0x1b ? size : 0;
}

/**
 * make_printable - replace what a terminal may obey
 * @text: names that others chose
 *
 * Those are control characters, also the ones from 0x80 to 0x9f, and all bytes that are not
 * UTF-8: a terminal may take them for such.
 */
void make_printable(char *text)
{
	unsigned int size;

	for (; *text; text += size) {
		size = printable(text);
		if (!size) {
			*text = '?';
			size = 1;
		}
	}
}

/**
 * name_of_file - find the path of an open file
 * @fd: its descriptor
 * @name: set to the path, printable
 * @size: of @name
 */
void name_of_file(int fd, char *name, size_t size)
{
	char link[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, name, size - 1);
	name[len < 0 ? 0 : len] = '\0';
	make_printable(name);
}

/* mountinfo has some characters in octal; maps has but the newline so */
static void unescape(char *text)
{
	char *to = text;
	unsigned int c;

	for (; *text; text++) {
		if (sscanf(text, "\\%3o", &c) == 1 && c != '\n') {
			*to++ = c;
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

/* How types of file systems begin whose server need not answer */
static bool is_served(const char *type)
{
	return !strncmp(type, "fuse", 4) || !strncmp(type, "nfs", 3) ||
	       !strncmp(type, "cifs", 4) || !strncmp(type, "smb", 3);
}

/* Where these are mounted here, as one string of paths that end with a newline; NULL if unknown */
static char *read_served_mounts(void)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, *paths = NULL, at[4096], type[8];
	size_t size = 0, paths_size;
	FILE *out = mounts ? open_memstream(&paths, &paths_size) : NULL;

	while (out && getline(&line, &size, mounts) > 0) {
		const char *rest = strstr(line, " - ");

		if (!rest || sscanf(line, "%*s %*s %*s %*s %4095s", at) != 1 ||
		    sscanf(rest, " - %7s", type) != 1 || !is_served(type))
			continue;
		unescape(at);
		fprintf(out, "%s\n", at);
	}
	free(line);
	if (out)
		fclose(out);
	if (mounts)
		fclose(mounts);
	return paths;
}

/* Is the path in one of them? */
static bool is_in(const char *path, const char *mounts)
{
	for (; *mounts; mounts = strchr(mounts, '\n') + 1) {
		const size_t size = strcspn(mounts, "\n");

		if (!strncmp(path, mounts, size) && (path[size] == '/' || size == 1))
			return true;
	}
	return false;
}

/*
 * A process in another mount namespace chooses what is in its paths, which are without links.
 * Names of mapped files are in the kernel's cache.  Others are not looked up: a server would be
 * asked, or mounted.
 */
static int open_path(const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_CACHED,
	};
	int fd, tries = 0;

	/* It also fails if something is mounted or renamed meanwhile */
	do {
		fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	} while (fd < 0 && errno == EAGAIN && ++tries < 3);
	return fd;
}

/* A service manager may forbid the call */
static void try_to_open(void)
{
	int fd = open_path("/");

	if (fd < 0)
		fprintf(stderr, "unwind-tables: openat2(): %s: no tables before files are met\n",
			strerror(errno));
	else
		close(fd);
}

/*
 * Open the file, if it has that path here as well: processes may be in other containers.
 * Something else may be there by now, which is not to be opened, such as a device.  Servers of
 * files need not answer, so theirs are left to the kernel, which does not ask for them, either.
 */
static int open_mapped(const struct mapped *file, const char *served)
{
	char link[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	int path = is_in(file->path, served) ? -1 : open_path(file->path);
	struct statx st;
	int fd = -1;

	if (path < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", path);
	if (!statx(path, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &st) &&
	    S_ISREG(st.stx_mode) && st.stx_ino == file->ino)
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOATIME);
	close(path);
	return fd;
}

/**
 * mapped_files - visit each file that is mapped as text
 * @visit: called with a descriptor, which is closed afterwards
 * @arg: passed on
 */
void mapped_files(void (*visit)(int fd, void *arg), void *arg)
{
	struct mapped_list list;
	char *served;
	size_t i;

	if (mapped_read(&list)) {
		fprintf(stderr, "unwind-tables: /proc: %s\n", strerror(errno));
		return;
	}
	try_to_open();
	served = read_served_mounts();
	for (i = 0; served && i < list.nr; i++) {
		int fd = open_mapped(&list.files[i], served);

		if (fd < 0)
			continue;
		visit(fd, arg);
		close(fd);
	}
	free(served);
	mapped_free(&list);
}
