// SPDX-License-Identifier: GPL-2.0
/*
 * The cache: a file per table, named by the digest of all that the table depends on:
 *
 *   file ──sandbox: extract.c──> copy ──digest──> name ──> found, or:
 *                                 └──sandbox: convert.c──> table ──> stored
 *
 * The converter sees nothing of a file but the copy, so a hit is right whatever the file
 * does, even if it changes meanwhile or breaks the parser: it can only spoil the entry of
 * its own copy.  That is why the digest is made of the copy, and outside of the sandbox.
 * The file is read inside, so that the sandbox's time limit covers slow files.  Beside the
 * copy, the name covers the converter's sources (CONVERTER) and the section's address.
 *
 * An entry has a digest of itself.  A damaged one is ignored, and replaced.  So is one in
 * which another user could have written: the directory and the file have to be root's or
 * the caller's, and not writable for others.  Files are complete before they get their
 * names, so readers and writers need no locks.  The time of a file is when it was last
 * used, to the day: beyond the limit the oldest go.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"
#include "cache_format.h"

#define SYSTEM_DIR	"/var/cache/unwind"
#define LIMIT		(512ULL << 20)
#define SECTION_MAX	(64ULL << 20)
#define DAY		(24 * 60 * 60)
#define TEMPORARY	"new-"
#define NAME_SIZE	(2 * UNWIND_CACHE_DIGEST + 1)
#define FROM_DIGESTED	offsetof(struct unwind_cache_entry, key)

const char cache_converter[] = CONVERTER;

/*
 * Digests: SHA-512/256, which takes two thirds of SHA-256's instructions where the processor
 * has none for either
 */

/* Add the parts of a file that are no holes */
static bool digest_file(EVP_MD_CTX *ctx, int fd)
{
	off_t start, end = 0;
	char buf[65536];

	while ((start = lseek(fd, end, SEEK_DATA)) >= 0) {
		end = lseek(fd, start, SEEK_HOLE);
		if (end < 0 || !EVP_DigestUpdate(ctx, &start, sizeof(start)) ||
		    !EVP_DigestUpdate(ctx, &end, sizeof(end)))
			return false;
		while (start < end) {
			size_t left = end - start;
			ssize_t size = pread(fd, buf, left < sizeof(buf) ? left : sizeof(buf),
					     start);

			if (size <= 0 || !EVP_DigestUpdate(ctx, buf, size))
				return false;
			start += size;
		}
	}
	return errno == ENXIO;
}

static bool make_key(int image, __u64 addr, __u8 *key)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool ok = ctx && EVP_DigestInit_ex(ctx, EVP_sha512_256(), NULL) &&
		  EVP_DigestUpdate(ctx, cache_converter, sizeof(cache_converter)) &&
		  EVP_DigestUpdate(ctx, &addr, sizeof(addr)) && digest_file(ctx, image) &&
		  EVP_DigestFinal_ex(ctx, key, NULL);

	EVP_MD_CTX_free(ctx);
	return ok;
}

static bool digest_entry(const struct unwind_cache_entry *entry, const __u8 *section,
			 __u8 *digest)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool ok = ctx && EVP_DigestInit_ex(ctx, EVP_sha512_256(), NULL) &&
		  EVP_DigestUpdate(ctx, (const char *)entry + FROM_DIGESTED,
				   sizeof(*entry) - FROM_DIGESTED) &&
		  EVP_DigestUpdate(ctx, section, entry->size) &&
		  EVP_DigestFinal_ex(ctx, digest, NULL);

	EVP_MD_CTX_free(ctx);
	return ok;
}

static void name_of(const __u8 *key, char *name)
{
	unsigned int i;

	for (i = 0; i < UNWIND_CACHE_DIGEST; i++)
		sprintf(name + 2 * i, "%02x", key[i]);
}

/*
 * Reading
 */

/* Could nobody but root and the caller have changed it? */
static bool is_trusted(const struct stat *st)
{
	return (!st->st_uid || st->st_uid == geteuid()) && !(st->st_mode & 0022);
}

static bool read_entry(int fd, const __u8 *key, struct unwind_cache_entry *entry,
		       struct unwind_table *table)
{
	__u8 digest[UNWIND_CACHE_DIGEST];
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !is_trusted(&st) ||
	    pread(fd, entry, sizeof(*entry), 0) != sizeof(*entry) ||
	    memcmp(entry->magic, UNWIND_CACHE_MAGIC, sizeof(entry->magic)) ||
	    memcmp(entry->key, key, sizeof(entry->key)) || entry->size > SECTION_MAX ||
	    entry->size + sizeof(*entry) != (__u64)st.st_size)
		return false;
	table->sframe = malloc(entry->size ?: 1);
	if (!table->sframe ||
	    pread(fd, table->sframe, entry->size, sizeof(*entry)) != (ssize_t)entry->size ||
	    !digest_entry(entry, table->sframe, digest) ||
	    memcmp(entry->digest, digest, sizeof(digest))) {
		unwind_table_free(table);
		return false;
	}
	/* Note that it was used: keep_limit() removes the entries that were not used for longest */
	if (time(NULL) - st.st_mtime > DAY)
		futimens(fd, NULL);
	return true;
}

/* Return the entry's descriptor, or -1 */
static int find_in(int dir, const __u8 *key, struct unwind_table *table)
{
	struct unwind_cache_entry entry;
	char name[NAME_SIZE];
	int fd;

	name_of(key, name);
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -1;
	memset(table, 0, sizeof(*table));
	if (!read_entry(fd, key, &entry, table)) {
		close(fd);
		return -1;
	}
	table->size = entry.size;
	table->addr = entry.addr;
	table->machine = entry.machine;
	table->has_chain = entry.has_chain;
	table->chain = entry.chain;
	table->stats = entry.stats;
	return fd;
}

static int find(const struct cache *cache, const __u8 *key, struct unwind_table *table)
{
	int fd = cache->own < 0 ? -1 : find_in(cache->own, key, table);

	return fd >= 0 || cache->shared < 0 ? fd : find_in(cache->shared, key, table);
}

/*
 * The limit
 */

struct item {
	char		name[NAME_SIZE];
	struct timespec	time;
	__u64		size;
};

static int compare_times(const void *a, const void *b)
{
	const struct timespec *x = &((const struct item *)a)->time;
	const struct timespec *y = &((const struct item *)b)->time;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

/* Some file systems allocate blocks late: a file that was just written has none */
static __u64 bytes_of(const struct stat *st)
{
	const __u64 size = st->st_size, blocks = st->st_blocks * 512ULL;

	return size > blocks ? size : blocks;
}

/*
 * Is it an entry, of any version, or what a writer has left that was killed, or a power cut, after
 * which a file may be empty or have zeros?  All else in the directory is not the cache's.
 */
static bool is_item(int dir, const char *name)
{
	static const char zeros[sizeof("UNWTBL") - 1];
	char magic[sizeof(zeros)];
	ssize_t size;
	int fd;

	if (strlen(name) >= NAME_SIZE || (strspn(name, "0123456789abcdef") != NAME_SIZE - 1 &&
					  strncmp(name, TEMPORARY, strlen(TEMPORARY))))
		return false;
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	size = fd < 0 ? -1 : pread(fd, magic, sizeof(magic), 0);
	if (fd >= 0)
		close(fd);
	return !size || (size == sizeof(magic) && (!memcmp(magic, UNWIND_CACHE_MAGIC, size) ||
						   !memcmp(magic, zeros, size)));
}

/* Entries, and what writers have left that were killed; @used is set to their bytes */
static struct item *list_items(int dir, size_t *nr, __u64 *used)
{
	struct item *items = NULL, *more;
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;
	struct stat st;

	*nr = 0;
	*used = 0;
	while (stream && (entry = readdir(stream))) {
		if (fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode) || !is_item(dir, entry->d_name))
			continue;
		more = *nr & (*nr - 1) ? items : reallocarray(items, *nr * 2 ?: 1, sizeof(*items));
		if (!more)
			break;
		items = more;
		memcpy(items[*nr].name, entry->d_name, strlen(entry->d_name) + 1);
		items[*nr].time = st.st_mtim;
		items[*nr].size = bytes_of(&st);
		*used += items[(*nr)++].size;
	}
	if (stream)
		closedir(stream);
	else if (copy >= 0)
		close(copy);
	return items;
}

/* Remove some more than needed, so that this is not to be done again at once */
static void keep_limit(struct cache *cache)
{
	__u64 used;
	size_t i, nr;
	struct item *items = list_items(cache->own, &nr, &used);

	if (used > cache->limit) {
		qsort(items, nr, sizeof(*items), compare_times);
		for (i = 0; i < nr && used > cache->limit / 8 * 7; i++) {
			if (!unlinkat(cache->own, items[i].name, 0))
				used -= items[i].size;
		}
	}
	free(items);
	__atomic_store_n(&cache->used, used, __ATOMIC_RELAXED);
}

/*
 * Writing
 */

/*
 * Return a descriptor to read the file from, or a negative error.  It is opened before the
 * file has the entry's name: by that name another may remove it at once.
 */
static int write_file(int dir, const char *name, const struct unwind_cache_entry *entry,
		      const struct unwind_table *table)
{
	const struct iovec parts[] = {
		{ (void *)entry, sizeof(*entry) },
		{ table->sframe, table->size },
	};
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ssize_t size;

	if (fd < 0)
		return -errno;
	size = writev(fd, parts, 2);
	if (close(fd) || size < 0)
		return -errno;
	if (size != (ssize_t)(sizeof(*entry) + table->size))
		return -ENOSPC;
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

/* Return the entry's descriptor, or a negative error */
static int store(struct cache *cache, const __u8 *key, const struct unwind_table *table)
{
	struct unwind_cache_entry entry = {
		.magic = UNWIND_CACHE_MAGIC,
		.addr = table->addr,
		.size = table->size,
		.machine = table->machine,
		.has_chain = table->has_chain,
		.chain = table->chain,
		.stats = table->stats,
	};
	char name[NAME_SIZE], temporary[NAME_SIZE];
	struct stat st;
	__u64 number, size = sizeof(entry) + table->size;
	int fd, error;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -errno;
	snprintf(temporary, sizeof(temporary), TEMPORARY "%016llx", number);
	memcpy(entry.key, key, sizeof(entry.key));
	if (!digest_entry(&entry, table->sframe, entry.digest))
		return -ENOMEM;
	name_of(key, name);
	fd = write_file(cache->own, temporary, &entry, table);
	if (fd < 0 || renameat(cache->own, temporary, cache->own, name)) {
		error = fd < 0 ? fd : -errno;
		if (fd >= 0)
			close(fd);
		unlinkat(cache->own, temporary, 0);
		return error;
	}
	/* As list_items() counts it */
	if (!fstat(fd, &st))
		size = bytes_of(&st);
	if (__atomic_add_fetch(&cache->used, size, __ATOMIC_RELAXED) > cache->limit)
		keep_limit(cache);
	return fd;
}

/*
 * The interface
 */

/* With a mode, it is made if it is not there */
static int open_dir(const char *path, mode_t mode)
{
	struct stat st;
	int dir;

	if (mode)
		mkdir(path, mode);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || (!fstat(dir, &st) && is_trusted(&st)))
		return dir;
	close(dir);
	errno = EPERM;
	return -1;
}

static int open_home(char *path, size_t size)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if ((!cache || *cache != '/') && !home) {
		errno = ENOENT;
		return -1;
	}
	if (cache && *cache == '/')
		snprintf(path, size, "%s", cache);
	else
		snprintf(path, size, "%s/.cache", home);
	mkdir(path, 0700);
	strncat(path, "/unwind", size - strlen(path) - 1);
	return open_dir(path, 0700);
}

/**
 * cache_open - open the caller's cache
 * @cache: filled in, also after an error: then nothing is stored
 * @dir: the directory; or NULL: the system's for root; for others their own, and the
 *	system's for reading
 *
 * Return: 0, or -1 with errno: EPERM others could write there.
 */
int cache_open(struct cache *cache, const char *dir)
{
	*cache = (struct cache){ .own = -1, .shared = -1, .limit = LIMIT };
	if (dir || !geteuid()) {
		snprintf(cache->path, sizeof(cache->path), "%s", dir ?: SYSTEM_DIR);
		cache->own = open_dir(cache->path, 0755);
	} else {
		cache->shared = open_dir(SYSTEM_DIR, 0);
		cache->own = open_home(cache->path, sizeof(cache->path));
	}
	if (cache->own < 0)
		return -1;
	keep_limit(cache);
	return 0;
}

/**
 * cache_complain - print why cache_open() failed, by errno
 * @cache: from cache_open()
 */
void cache_complain(const struct cache *cache)
{
	const char *why = errno == EPERM ? "others can write there" : strerror(errno);

	if (*cache->path)
		fprintf(stderr, "unwind-tables: the cache's directory %s: %s\n", cache->path, why);
	else
		fprintf(stderr, "unwind-tables: no cache: HOME is not set\n");
}

void cache_close(struct cache *cache)
{
	if (cache->own >= 0)
		close(cache->own);
	if (cache->shared >= 0)
		close(cache->shared);
}

/* Where audit.c maps it: above a program with a fixed (low) address, else below the object */
static __u64 address_for(int image)
{
	Elf64_Half type = ET_DYN;

	if (pread(image, &type, sizeof(type), offsetof(Elf64_Ehdr, e_type)) != sizeof(type))
		type = ET_DYN;
	return (type == ET_EXEC ? UNWIND_CACHE_APART : -UNWIND_CACHE_APART) +
	       sizeof(struct unwind_cache_entry);
}

/* Let others read the entry @fd if they can read the file @of */
static void publish(int fd, int of)
{
	struct stat st;

	/* It may be another user's, and is published already then */
	if (!fstat(of, &st) && st.st_mode & 0004 && fchmod(fd, 0644))
		errno = 0;
}

static int convert_image(struct cache *cache, int image, struct unwind_table *table,
			 struct cached *cached)
{
	const __u64 addr = address_for(image);
	int ret;

	if (!make_key(image, addr, cached->key))
		return unwind_convert_sandboxed(image, addr, table);
	cached->fd = find(cache, cached->key, table);
	cached->hit = cached->fd >= 0;
	if (cached->hit)
		return 0;
	ret = unwind_convert_sandboxed(image, addr, table);
	/* An empty table is made again as fast as it is read */
	cached->is_new = !ret && cache->own >= 0 &&
			 table->stats.functions + table->stats.added;
	return ret;
}

/* Would a page fault in a hole of the file allocate a page of the file? */
static bool is_in_memory(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) || fs.f_type == TMPFS_MAGIC || fs.f_type == HUGETLBFS_MAGIC;
}

/* Why a file in memory, which the extractor refused, has no table */
static int memory_error(int fd)
{
	unsigned char ident[EI_NIDENT];

	if (pread(fd, ident, sizeof(ident), 0) != sizeof(ident) || memcmp(ident, ELFMAG, SELFMAG))
		return -ENOEXEC;
	return ident[EI_CLASS] == ELFCLASS64 ? -EFBIG : -EOPNOTSUPP;
}

/* Would even a read allocate one?  Users can mount that; the system has it at its start */
static bool is_ramfs_of_user(int fd)
{
	struct statfs fs;
	struct stat st;

	return fstat(fd, &st) || (st.st_uid && (fstatfs(fd, &fs) || fs.f_type == RAMFS_MAGIC));
}

/**
 * cache_get - get a file's table from the cache, or make it
 * @cache: from cache_open()
 * @fd: a descriptor to read the file from
 * @table: filled in, without notes; to be freed by unwind_table_free(), also after an error
 * @cached: filled in, for cache_store()
 *
 * Return: as unwind_convert_sandboxed(); -EFBIG also if reading the file might take memory.
 */
int cache_get(struct cache *cache, int fd, struct unwind_table *table, struct cached *cached)
{
	int image, ret;

	*cached = (struct cached){ .fd = -1 };
	memset(table, 0, sizeof(*table));
	if (is_ramfs_of_user(fd))
		return -EFBIG;
	image = unwind_extract_sandboxed(fd);
	/* Give up: the conversion would not get a sandbox, a file, or enough time, either */
	if (image < 0 && image != -EPROTO)
		return image;
	if (image < 0)
		return is_in_memory(fd) ? memory_error(fd) : unwind_convert_sandboxed(fd, 0, table);
	ret = convert_image(cache, image, table, cached);
	close(image);
	return ret;
}

/**
 * cache_store - store a table that was made
 * @cache: from cache_open()
 * @fd: of the file
 * @table: from cache_get()
 * @cached: likewise; @cached->fd is to be closed afterwards
 */
void cache_store(struct cache *cache, int fd, const struct unwind_table *table,
		 struct cached *cached)
{
	if (cached->is_new) {
		cached->fd = store(cache, cached->key, table);
		cached->error = cached->fd < 0 ? cached->fd : 0;
	}
	if (cached->fd >= 0 && cache->publish)
		publish(cached->fd, fd);
}

/**
 * cache_convert - get a file's table from the cache, or make it and store it
 * @cache: from cache_open()
 * @fd: a descriptor to read the file from
 * @table: as for cache_get()
 * @cached: filled in; @cached->fd is to be closed
 *
 * Return: as unwind_convert_sandboxed().
 */
int cache_convert(struct cache *cache, int fd, struct unwind_table *table,
		  struct cached *cached)
{
	int ret = cache_get(cache, fd, table, cached);

	cache_store(cache, fd, table, cached);
	return ret;
}
