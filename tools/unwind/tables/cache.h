/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A directory of tables that were made already.
 */
#ifndef _UNWIND_TABLES_CACHE_H
#define _UNWIND_TABLES_CACHE_H

#include "cache_format.h"
#include "convert.h"

/* The version of the converter: a digest of its sources */
extern const char cache_converter[];

/**
 * struct cache - an open cache
 * @own: the directory that is written to, or -1
 * @shared: the system's, which is read too; or -1
 * @publish: let others read the tables of files that they can read
 * @limit: when @own has more bytes, the oldest entries go
 * @used: bytes that it has, but for what others have written meanwhile
 * @path: of @own, also if it could not be opened; or "", if the caller has no home
 */
struct cache {
	int	own;
	int	shared;
	bool	publish;
	__u64	limit;
	__u64	used;
	char	path[4096];
};

/**
 * struct cached - where a table came from
 * @hit: it was in the cache
 * @is_new: it was made, and can be stored under @key
 * @key: its name in the cache
 * @fd: the cache's file, see cache_format.h; or -1
 * @error: why it could not be stored; or 0
 */
struct cached {
	bool	hit;
	bool	is_new;
	__u8	key[UNWIND_CACHE_DIGEST];
	int	fd;
	int	error;
};

int cache_open(struct cache *cache, const char *dir);
void cache_complain(const struct cache *cache);
void cache_close(struct cache *cache);
int cache_get(struct cache *cache, int fd, struct unwind_table *table,
	      struct cached *cached);
void cache_store(struct cache *cache, int fd, const struct unwind_table *table,
		 struct cached *cached);
int cache_convert(struct cache *cache, int fd, struct unwind_table *table,
		  struct cached *cached);

/* fill.c, run.c */
int cmd_cache(int argc, char **argv);
int cmd_run(int argc, char **argv);

#endif /* _UNWIND_TABLES_CACHE_H */
