// SPDX-License-Identifier: GPL-2.0
/*
 * The cache: it has what a conversion makes, and gives nothing else.
 *
 *	cache_test DIR FILE...		the tests; DIR is made
 *	cache_test ask FILE		what the library in a program does: ask for the
 *					table of a file, by the socket that run names
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cache.h"
#include "../cache_format.h"
#include "../fd_pass.h"

#define SUBJECT	"cache"
#include "result.h"

#define WRITERS	4
#define ROUNDS	200

static char path[4096];

static bool is_same(const struct unwind_table *a, const struct unwind_table *b)
{
	return a->size == b->size && !memcmp(a->sframe, b->sframe, a->size) &&
	       a->addr == b->addr && a->machine == b->machine &&
	       a->has_chain == b->has_chain && !memcmp(&a->chain, &b->chain, sizeof(a->chain)) &&
	       !memcmp(&a->stats, &b->stats, sizeof(a->stats));
}

/* Was it a hit?  @want is compared, and @fd set, unless they are NULL; -1 for an error */
static int convert(struct cache *cache, const char *file, const struct unwind_table *want,
		   int *fd)
{
	int in = open(file, O_RDONLY), ret;
	struct unwind_table table;
	struct cached cached;

	ret = cache_convert(cache, in, &table, &cached);
	close(in);
	if (ret || cached.error || cached.fd < 0 || (want && !is_same(&table, want)))
		ret = -1;
	else
		ret = cached.hit;
	unwind_table_free(&table);
	if (fd && ret >= 0)
		*fd = cached.fd;
	else if (cached.fd >= 0)
		close(cached.fd);
	return ret;
}

/* Convert the file itself, not a copy, for the same address */
static bool convert_itself(const char *file, struct unwind_table *table)
{
	int fd = open(file, O_RDONLY), ret;
	Elf64_Ehdr ehdr = {};

	if (pread(fd, &ehdr, sizeof(ehdr), 0) < 0)
		return false;
	ret = unwind_convert_sandboxed(fd, sizeof(struct unwind_cache_entry) +
				       (ehdr.e_type == ET_EXEC ? UNWIND_CACHE_APART :
								 -UNWIND_CACHE_APART), table);
	close(fd);
	return !ret;
}

/* The path of the entry that @file has */
static const char *entry_of(struct cache *cache, const char *file)
{
	char link[64];
	ssize_t len;
	int fd = -1;

	path[0] = '\0';
	if (convert(cache, file, NULL, &fd) < 0)
		return path;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	path[len < 0 ? 0 : len] = '\0';
	close(fd);
	return path;
}

static void test_same(struct cache *cache, const char *file)
{
	struct unwind_table table;
	char name[4096];
	bool ok = convert_itself(file, &table);

	/* It is found the first time, too, if another file's is the same */
	ok = ok && convert(cache, file, &table, NULL) >= 0 &&
	     convert(cache, file, &table, NULL) == 1;
	snprintf(name, sizeof(name), "a table is the same, made, stored and found: %s", file);
	result(ok, name);
	unwind_table_free(&table);
}

static void write_at(const char *file, off_t offset, const void *bytes, size_t size)
{
	int fd = open(file, O_RDWR);

	if (pwrite(fd, bytes, size, offset) != (ssize_t)size)
		exit(1);
	close(fd);
}

static void flip(const char *file, off_t offset)
{
	int fd = open(file, O_RDONLY);
	char c = 0;

	if (pread(fd, &c, 1, offset) != 1)
		exit(1);
	close(fd);
	c ^= 4;
	write_at(file, offset, &c, 1);
}

/* A damaged entry is no hit, and good again afterwards */
static void test_damage(struct cache *cache, const char *file)
{
	static const off_t places[] = { 0, 8, 40, 72, 80, 100, 300, 420 };
	struct unwind_table table;
	bool ok = convert_itself(file, &table);
	const char *entry;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		flip(entry_of(cache, file), places[i]);
		ok &= convert(cache, file, &table, NULL) == 0 &&
		      convert(cache, file, &table, NULL) == 1;
	}
	result(ok, "a damaged entry is replaced");
	entry = entry_of(cache, file);
	ok = !truncate(entry, 420) && !convert(cache, file, &table, NULL) &&
	     !truncate(entry, 10) && !convert(cache, file, &table, NULL) &&
	     !truncate(entry, 0) && !convert(cache, file, &table, NULL);
	result(ok, "a truncated entry is replaced");
	ok = !chmod(entry, 0620) && !convert(cache, file, &table, NULL) &&
	     !chmod(entry, 0602) && !convert(cache, file, &table, NULL);
	if (!geteuid())
		ok &= !chown(entry, 1, -1) && !convert(cache, file, &table, NULL);
	ok &= convert(cache, file, &table, NULL) == 1;
	result(ok, "an entry that another user could have written is replaced");
	ok = !unlink(entry) && !symlink("/dev/null", entry) &&
	     !convert(cache, file, &table, NULL);
	result(ok, "a link is replaced");
	unwind_table_free(&table);
}

static void copy_to(const char *from, const char *to)
{
	char command[8192];

	snprintf(command, sizeof(command), "cp '%s' '%s'", from, to);
	if (system(command))
		exit(1);
}

/* Find a copy with the original's entry, then change what the table depends on */
static void test_change(struct cache *cache, const char *file, const char *copy)
{
	struct unwind_table table;
	Elf64_Half other;
	bool ok;

	copy_to(file, copy);
	convert_itself(file, &table);
	other = table.machine == EM_X86_64 ? EM_AARCH64 : EM_X86_64;
	result(convert(cache, copy, &table, NULL) == 1, "a copy has the same entry");
	unwind_table_free(&table);
	flip(copy, offsetof(Elf64_Ehdr, e_entry) + 1);
	ok = convert_itself(copy, &table) && convert(cache, copy, &table, NULL) == 0;
	result(ok, "a changed file has another one");
	unwind_table_free(&table);
	write_at(copy, offsetof(Elf64_Ehdr, e_machine), &other, sizeof(other));
	ok = convert_itself(copy, &table) && table.machine == other &&
	     convert(cache, copy, &table, NULL) == 0;
	result(ok, "so has the same file for another machine");
	unwind_table_free(&table);
}

static void test_writers(struct cache *cache, const char *file)
{
	char entry[sizeof(path)];
	bool ok = true;
	int i, status;

	snprintf(entry, sizeof(entry), "%s", entry_of(cache, file));
	for (i = 0; i < WRITERS; i++) {
		if (!fork()) {
			for (i = 0; i < ROUNDS && ok; i++) {
				unlink(entry);
				ok = convert(cache, file, NULL, NULL) >= 0;
			}
			_exit(!ok);
		}
	}
	while (wait(&status) > 0)
		ok &= !status;
	result(ok && convert(cache, file, NULL, NULL) == 1, "several may write at once");
}

static void test_limit(const char *dir, char **files)
{
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	struct cache cache;
	bool ok = !cache_open(&cache, dir);
	struct stat st;
	__u64 used;

	ok &= !utimensat(AT_FDCWD, entry_of(&cache, files[0]), old, 0);
	ok &= convert(&cache, files[0], NULL, NULL) == 1 && !stat(path, &st) &&
	      st.st_mtime > 1000;
	result(ok, "an entry that is used becomes young");
	ok = !utimensat(AT_FDCWD, path, old, 0) && !unlink(entry_of(&cache, files[1]));
	cache.limit = cache.used - 1;
	ok &= convert(&cache, files[1], NULL, NULL) == 0 &&
	      convert(&cache, files[1], NULL, NULL) == 1 &&
	      convert(&cache, files[0], NULL, NULL) == 0;
	result(ok && cache.used <= cache.limit, "beyond the limit the oldest goes");
	used = cache.used;
	cache_close(&cache);
	ok = !cache_open(&cache, dir) && cache.used == used;
	result(ok, "it is counted in blocks");
	cache_close(&cache);
}

/* Files of somebody who has chosen a directory that was not empty */
static void test_foreign(const char *dir, char **files)
{
	static const char * const names[] = {
		"notes", "new-notes",
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	};
	const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	struct cache cache;
	char name[4096];
	unsigned int i;
	bool ok;

	for (i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s/%s", dir, names[i]);
		close(open(name, O_WRONLY | O_CREAT, 0644));
		write_at(name, 0, "anything", 8);
		utimensat(AT_FDCWD, name, old, 0);
	}
	ok = !cache_open(&cache, dir);
	cache.limit = 1;
	ok &= !unlink(entry_of(&cache, files[0])) && convert(&cache, files[0], NULL, NULL) == 0;
	cache_close(&cache);
	for (i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s/%s", dir, names[i]);
		ok &= !unlink(name);
	}
	result(ok, "files that are not the cache's stay");
}

/* After a power cut, a file may have its name and its size, and no bytes */
static void test_power_cut(const char *dir)
{
	static const char * const names[] = {
		"new-0123456789abcdef",
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	};
	const off_t size = 1 << 20;
	struct cache cache;
	bool ok = true;
	char name[4096];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%s/%s", dir, names[i]);
		close(open(name, O_WRONLY | O_CREAT, 0600));
		ok &= !truncate(name, size);
	}
	ok &= !cache_open(&cache, dir) && cache.used >= 2 * (__u64)size;
	cache_close(&cache);
	for (i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%s/%s", dir, names[i]);
		unlink(name);
	}
	result(ok, "what a power cut has left is counted, and so removed in the end");
}

/* Let the names of the file's symbols be in a hole; false if it has none */
static bool make_hole(int fd)
{
	Elf64_Shdr shdrs[64], *strings;
	const off_t far = 1 << 26;
	Elf64_Ehdr ehdr;
	unsigned int i;

	if (pread(fd, &ehdr, sizeof(ehdr), 0) != sizeof(ehdr) || ehdr.e_shnum > 64 ||
	    pread(fd, shdrs, ehdr.e_shnum * sizeof(*shdrs), ehdr.e_shoff) <= 0)
		return false;
	for (i = 0; i < ehdr.e_shnum && shdrs[i].sh_type != SHT_DYNSYM; i++)
		;
	if (i == ehdr.e_shnum)
		return false;
	strings = &shdrs[shdrs[i].sh_link];
	strings->sh_offset = far;
	strings->sh_size = far;
	return !ftruncate(fd, 2 * far) &&
	       pwrite(fd, shdrs, ehdr.e_shnum * sizeof(*shdrs), ehdr.e_shoff) > 0;
}

/* A page that is allocated in a file in memory stays as long as the file does */
static void test_hole(struct cache *cache, const char *file)
{
	int fd = memfd_create("hole", MFD_CLOEXEC);
	struct stat before, after;
	char to[64];
	bool ok;

	snprintf(to, sizeof(to), "/proc/%d/fd/%d", getpid(), fd);
	copy_to(file, to);
	ok = make_hole(fd) && !fstat(fd, &before) && convert(cache, to, NULL, NULL) >= 0 &&
	     !fstat(fd, &after);
	result(ok && before.st_blocks == after.st_blocks, "no hole of a file is filled");
	close(fd);
}

/* A file in memory is read as far as that takes no memory; its first bytes say what it is */
static void test_memory_errors(struct cache *cache)
{
	static const struct {
		const char	*bytes;
		int		error;
	} files[] = {
		{ "#!/bin/sh\nexec true\n", -ENOEXEC },
		{ "\177ELF", -ENOEXEC },
		{ "\177ELF\1\1\1...............", -EOPNOTSUPP },
		{ "\177ELF\2\1\1...............", -EFBIG },
		{}
	}, *file;
	struct unwind_table table;
	struct cached cached;
	bool ok = true;
	int fd;

	for (file = files; file->bytes; file++) {
		fd = memfd_create("bad", MFD_CLOEXEC);
		ok &= write(fd, file->bytes, strlen(file->bytes)) > 0 &&
		      cache_convert(cache, fd, &table, &cached) == file->error;
		unwind_table_free(&table);
		close(fd);
	}
	result(ok, "a file in memory that is no ELF file, or a 32-bit one, is refused as that");
}

/* Without descriptors, nothing is known about a file in memory */
static void test_shortage(struct cache *cache, const char *file)
{
	int fd = memfd_create("file", MFD_CLOEXEC), next = dup(fd), ret;
	struct unwind_table table;
	struct rlimit limit, old;
	struct cached cached;
	char to[64];

	snprintf(to, sizeof(to), "/proc/%d/fd/%d", getpid(), fd);
	copy_to(file, to);
	close(next);
	getrlimit(RLIMIT_NOFILE, &old);
	limit = (struct rlimit){ next, old.rlim_max };
	setrlimit(RLIMIT_NOFILE, &limit);
	ret = cache_convert(cache, fd, &table, &cached);
	unwind_table_free(&table);
	setrlimit(RLIMIT_NOFILE, &old);
	result(ret == -EMFILE, "a lack of descriptors is not the fault of a file in memory");
	close(fd);
}

/* The file's table is there, and nothing of it in the cache */
static bool is_not_stored(const char *dir, const char *file, const struct unwind_table *want)
{
	int fd = open(file, O_RDONLY);
	struct unwind_table table;
	struct cached cached;
	struct cache cache;
	__u64 used;
	bool ok;

	if (cache_open(&cache, dir))
		return false;
	used = cache.used;
	ok = !cache_convert(&cache, fd, &table, &cached) && cached.fd < 0 &&
	     cached.error == -ENOSPC && is_same(&table, want);
	unwind_table_free(&table);
	close(fd);
	cache_close(&cache);
	/* This counts the bytes anew */
	ok &= !cache_open(&cache, dir) && cache.used == used;
	cache_close(&cache);
	return ok;
}

/* A small file system, which is mounted nowhere */
static int make_fs(const char *option, const char *value)
{
	int fs = fsopen("tmpfs", FSOPEN_CLOEXEC), mount = -1;

	if (!fsconfig(fs, FSCONFIG_SET_STRING, "mode", "755", 0) &&
	    !fsconfig(fs, FSCONFIG_SET_STRING, option, value, 0) &&
	    !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		mount = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	close(fs);
	return mount;
}

/* @fill: use up its only page first */
static bool survives(int fs, bool fill, const char *file, const struct unwind_table *table)
{
	char page[4096] = "", dir[64];
	bool ok = fs >= 0;
	int fd;

	if (fill) {
		fd = openat(fs, "filler", O_WRONLY | O_CREAT, 0600);
		ok &= write(fd, page, sizeof(page)) == sizeof(page);
		close(fd);
	}
	snprintf(dir, sizeof(dir), "/proc/self/fd/%d", fs);
	ok = ok && is_not_stored(dir, file, table);
	close(fs);
	return ok;
}

static void test_full(const char *file)
{
	struct unwind_table table;
	bool ok;

	if (geteuid()) {
		result(true, "a full file system # SKIP not root");
		return;
	}
	ok = convert_itself(file, &table);
	ok &= survives(make_fs("size", "4k"), false, file, &table);
	ok &= survives(make_fs("size", "4k"), true, file, &table);
	ok &= survives(make_fs("nr_inodes", "1"), false, file, &table);
	result(ok, "a full file system costs the entry, not the table");
	unwind_table_free(&table);
}

static void test_dir(const char *dir)
{
	struct cache cache;
	bool ok;

	ok = !chmod(dir, 0775) && cache_open(&cache, dir) && errno == EPERM &&
	     !chmod(dir, 0757) && cache_open(&cache, dir) && errno == EPERM;
	if (!geteuid())
		ok &= !chmod(dir, 0755) && !chown(dir, 1, -1) && cache_open(&cache, dir) &&
		      !chown(dir, 0, -1);
	chmod(dir, 0755);
	result(ok, "a directory that others can write to is not used");
}

static int ask(const char *file)
{
	const char *name = getenv(UNWIND_CACHE_SOCKET) ?: "";
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_SEQPACKET, 0), fd;
	struct unwind_cache_entry entry;

	snprintf(addr.sun_path + 1, sizeof(addr.sun_path) - 1, "%s", name);
	if (connect(sock, (struct sockaddr *)&addr,
		    offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name)) ||
	    fd_send(sock, open(file, O_RDONLY)) != 1)
		return 1;
	fd = fd_receive(sock);
	return fd < 0 || (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY ||
	       pread(fd, &entry, sizeof(entry), 0) != sizeof(entry) || !entry.stats.functions;
}

int main(int argc, char **argv)
{
	char copy[4096];
	struct cache cache;
	int i;

	if (argc == 3 && !strcmp(argv[1], "ask"))
		return ask(argv[2]);
	if (argc < 4 || cache_open(&cache, argv[1]))
		return 1;
	for (i = 2; i < argc; i++)
		test_same(&cache, argv[i]);
	snprintf(copy, sizeof(copy), "%s.copy", argv[1]);
	test_damage(&cache, argv[2]);
	test_change(&cache, argv[2], copy);
	test_writers(&cache, argv[2]);
	test_memory_errors(&cache);
	test_hole(&cache, argv[2]);
	test_shortage(&cache, argv[2]);
	cache_close(&cache);
	test_limit(argv[1], argv + 2);
	test_foreign(argv[1], argv + 2);
	test_power_cut(argv[1]);
	test_full(argv[2]);
	test_dir(argv[1]);
	return end_results();
}
