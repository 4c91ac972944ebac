// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of files, for all processes that map them.
 *
 * An entry says what is known about the table of a file, or of a part: a section that a process
 * registered (section.c).  It is found by the number of the file's inode, from get_object_id(),
 * and by the part.  It holds as long as the file has the version and the size that it had when
 * the table was loaded, and nobody has it open for writing.  Each lookup compares these.  So an
 * entry needs no reference to the file, and nothing is done when the file is written, truncated,
 * evicted or unmounted: its entry is not used any more, and goes when memory is wanted.
 *
 *   claim ──> LOADING ──> READY    with a table
 *                     ├─> NONE     there is no table
 *                     ├─> ASKED    the table service is asked for one ──> READY, NONE
 *                     └─> FAILED   to be tried again after a while
 *
 * Only one task or worker loads a table, whatever number of tasks meet the file.  Lookups take
 * no lock and write nothing but "used".  Changes are made under unwind_files_lock.  An entry and
 * its table are freed after a grace period.
 *
 * The sysctl kernel.unwind_max_tables_kb limits all tables together, and MAX_FILES the number
 * of entries.  Parts have a limit of their own, MAX_PARTS, so that they displace no files.  The
 * least recently used entries go first, in the way of a clock: an entry that was used since the
 * hand last passed it is spared once.  An entry and its table are charged to the cgroup of the
 * task that loads them.  If that cgroup is short of memory, the shrinker frees no other entries.
 */

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/init.h>
#include <linux/iversion.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/list_lru.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/sysctl.h>
#include <linux/timekeeping.h>
#include <linux/unwind_base.h>

#include "chain.h"
#include "file.h"
#include "file_entry.h"
#include "request.h"

/* Delay before a retry after a failed load */
#define RETRY_AFTER	HZ
/* Delay for kinds of files that have no table: the file may be sealed meanwhile */
#define RETRY_LATER	(60 * HZ)
/* Delay if the service was asked (file_service.c), and has not answered */
#define ASK_AGAIN_AFTER	(15 * HZ)

/*
 * A file that changed so lately may change again without another ctime: some file systems
 * have times of two seconds
 */
#define SETTLED_NS	(3 * NSEC_PER_SEC)

/* Lists in the hash are short, whatever files a process maps */
#define MAX_FILES	16384
/* Of these, registered sections: a process can make any number of them */
#define MAX_PARTS	(MAX_FILES / 4)
/* The clock's hand passes up to this number at once: unwind_files_lock is held */
#define MAX_TURNS	1024

DEFINE_HASHTABLE(unwind_files, UNWIND_FILE_HASH_BITS);
static LIST_HEAD(clock_list);
static struct list_lru lru_lists;
static struct kmem_cache *file_cache __ro_after_init;
DEFINE_SPINLOCK(unwind_files_lock);
static unsigned long nr_files;
static unsigned long nr_parts;
static unsigned long nr_bytes;
static u64 last_id;
/* Changes when something becomes known about a file: see unwind_entries_changed() */
static u32 generation;

static unsigned long max_tables_kb __read_mostly;
/* Odd and secret: a process can choose inode numbers, but not which of them share a list */
static unsigned long factor __read_mostly;

/*
 * Looking up
 */

static u64 version_of(const struct inode *inode)
{
	if (IS_I_VERSION(inode))
		return inode_peek_iversion(inode);
	return inode_get_ctime_sec(inode) * NSEC_PER_SEC + inode_get_ctime_nsec(inode);
}

/**
 * unwind_entry_is_same - is a file what it was when its entry was made?
 * @file: the entry
 * @inode: the file's
 *
 * Context: any.
 * Return: whether it is.
 */
bool unwind_entry_is_same(const struct unwind_file *file, const struct inode *inode)
{
	if (file->kind == UNWIND_FILE_SEALED)
		return true;
	return file->version == version_of(inode) &&
	       file->size == i_size_read(inode) &&
	       atomic_read(&inode->i_writecount) <= 0;
}

static unsigned long key_of(u64 seq, const struct unwind_part *part)
{
	unsigned long key = factor * (part ? seq ^ jhash(part, sizeof(*part), factor) : seq);

	/* The hash multiplies again: in between, equal steps of numbers become unequal ones */
	return key ^ key >> BITS_PER_LONG / 2;
}

/* A list of the hash */
#define for_each_alike(file, seq, part)						\
	hash_for_each_possible_rcu(unwind_files, file, node, key_of(seq, part),	\
				   lockdep_is_held(&unwind_files_lock))

static struct unwind_file *find_file(u64 seq)
{
	struct unwind_file *file;

	for_each_alike(file, seq, NULL) {
		if (file->seq == seq && !file->part.size)
			return file;
	}
	return NULL;
}

static noinline struct unwind_file *find_part(u64 seq, const struct unwind_part *part)
{
	struct unwind_file *file;

	for_each_alike(file, seq, part) {
		if (file->seq == seq && !memcmp(&file->part, part, sizeof(*part)))
			return file;
	}
	return NULL;
}

static struct unwind_file *find_entry(u64 seq, const struct unwind_part *part)
{
	return unlikely(part) ? find_part(seq, part) : find_file(seq);
}

/**
 * unwind_entry_find - find an entry
 * @seq: number of the file's inode
 * @part: the part of the file; NULL for the file
 *
 * Context: any, in an RCU read-side critical section or with unwind_files_lock.
 * Return: the entry, or NULL.
 */
struct unwind_file *unwind_entry_find(u64 seq, const struct unwind_part *part)
{
	return find_entry(seq, part);
}

/**
 * unwind_entry_is_valid - does an entry still describe its file?
 * @file: the entry
 * @state: its state, as it was read
 * @inode: the file's
 *
 * Context: any.
 * Return: whether it does.
 */
bool unwind_entry_is_valid(const struct unwind_file *file, enum unwind_file_state state,
			   const struct inode *inode)
{
	if (state == UNWIND_FILE_LOADING)
		return true;
	if (state == UNWIND_FILE_FAILED && file->too_large)
		return file->too_large > READ_ONCE(max_tables_kb) &&
		       unwind_entry_is_same(file, inode);
	if (state == UNWIND_FILE_FAILED || state == UNWIND_FILE_ASKED ||
	    file->kind == UNWIND_FILE_INELIGIBLE)
		return time_before(jiffies, file->retry);
	return unwind_entry_is_same(file, inode);
}

/**
 * unwind_file_find - find the table of a file
 * @inode: the file's
 * @part: the part of the file; NULL for the file
 * @table: set if it is known; NULL if there is none, or none yet
 *
 * Context: any, in an RCU read-side critical section.
 * Return: one of &enum unwind_file_state, or -ENODATA: nothing is known.
 */
int unwind_file_find(const struct inode *inode, const struct unwind_part *part,
		     const struct sframe_table **table)
{
	u64 seq = atomic64_read(&inode->i_sequence);
	struct unwind_file *file;
	int state;

	*table = NULL;
	file = seq ? find_entry(seq, part) : NULL;
	if (!file)
		return -ENODATA;
	/* Pairs with unwind_entry_set_state(): the table is read afterwards */
	state = smp_load_acquire(&file->state);
	if (unlikely(state != UNWIND_FILE_READY))
		return unwind_entry_is_valid(file, state, inode) ? state : -ENODATA;
	if (!unwind_entry_is_same(file, inode))
		return -ENODATA;
	*table = file->table;
	if (!READ_ONCE(file->used))
		WRITE_ONCE(file->used, true);
	return state;
}

/**
 * unwind_file_generation - a number that changes when tables of files become known
 *
 * Context: any.
 * Return: the number; as long as it is the same, no other file has got a table.
 */
u32 unwind_file_generation(void)
{
	/* Pairs with unwind_entries_changed(): lookups see the entry that changed */
	return smp_load_acquire(&generation);
}

/*
 * Removal
 */

/**
 * unwind_file_free_table - free a table that nobody reads any more, and its chain
 * @table: the table, or NULL
 *
 * Context: any but NMI.
 */
void unwind_file_free_table(struct sframe_table *table)
{
	if (IS_ENABLED(CONFIG_UNWIND_USER_LANGUAGES) && table)
		unwind_chain_put(table->chain);
	sframe_table_free(table);
}

static void free_file(struct rcu_head *rcu)
{
	struct unwind_file *file = container_of(rcu, struct unwind_file, rcu);

	unwind_file_free_table(file->table);
	kfree(file);
}

/* All but list_lru_del_obj() */
static void unlink_file(struct unwind_file *file)
{
	lockdep_assert_held(&unwind_files_lock);
	hash_del_rcu(&file->node);
	list_del(&file->clock);
	nr_files--;
	nr_parts -= !!file->part.size;
	nr_bytes -= unwind_entry_bytes(file);
	call_rcu(&file->rcu, free_file);
}

/**
 * unwind_entry_remove - remove an entry
 * @file: the entry
 *
 * Context: task, with unwind_files_lock.
 */
void unwind_entry_remove(struct unwind_file *file)
{
	list_lru_del_obj(&lru_lists, &file->lru);
	unlink_file(file);
}

/* Should the clock's hand pass over this entry?  It was @used lately, or is being loaded. */
static bool spare(struct unwind_file *file, bool used)
{
	lockdep_assert_held(&unwind_files_lock);
	if (!used && file->state != UNWIND_FILE_LOADING)
		return false;
	WRITE_ONCE(file->used, false);
	list_move_tail(&file->clock, &clock_list);
	return true;
}

static bool is_too_much(void)
{
	return nr_files > MAX_FILES || nr_bytes / 1024 > READ_ONCE(max_tables_kb);
}

/**
 * unwind_entries_keep_limit - remove what exceeds the limits
 *
 * Context: task, with unwind_files_lock.
 */
void unwind_entries_keep_limit(void)
{
	const unsigned long turns = min(2 * nr_files, MAX_TURNS);
	struct unwind_file *file;
	unsigned long i;

	lockdep_assert_held(&unwind_files_lock);
	/* The first half of the turns spares entries that were used lately, the second does not */
	for (i = 0; i < turns && (is_too_much() || nr_parts > MAX_PARTS); i++) {
		file = list_first_entry(&clock_list, struct unwind_file, clock);
		/* If there are only too many parts, entries of whole files stay */
		if (!is_too_much() && !file->part.size)
			list_move_tail(&file->clock, &clock_list);
		else if (!spare(file, READ_ONCE(file->used) && i < turns / 2))
			unwind_entry_remove(file);
	}
}

/* Called with the list's lock, which nests inside unwind_files_lock elsewhere: only try */
static enum lru_status shrink_file(struct list_head *item, struct list_lru_one *list, void *arg)
{
	struct unwind_file *file = container_of(item, struct unwind_file, lru);
	bool spared;

	if (!spin_trylock(&unwind_files_lock))
		return LRU_SKIP;
	spared = spare(file, READ_ONCE(file->used));
	if (!spared) {
		list_lru_isolate(list, item);
		unlink_file(file);
	}
	spin_unlock(&unwind_files_lock);
	return spared ? LRU_ROTATE : LRU_REMOVED;
}

static unsigned long count_files(struct shrinker *shrinker, struct shrink_control *sc)
{
	return list_lru_shrink_count(&lru_lists, sc) ?: SHRINK_EMPTY;
}

static unsigned long shrink_files(struct shrinker *shrinker, struct shrink_control *sc)
{
	return list_lru_shrink_walk(&lru_lists, sc, shrink_file, NULL);
}

/*
 * Loading
 */

/**
 * unwind_file_is_settled - would each later change of a file be noticed?
 * @inode: the file's
 *
 * Context: any.
 * Return: whether it will.
 */
bool unwind_file_is_settled(const struct inode *inode)
{
	struct timespec64 now, ctime = inode_get_ctime(inode);
	s64 age;

	/* A writer may store by a mapping, and leave no trace once that is gone */
	if (atomic_read(&inode->i_writecount) > 0)
		return false;
	if (IS_I_VERSION(inode))
		return true;
	ktime_get_coarse_real_ts64(&now);
	age = timespec64_to_ns(&now) - timespec64_to_ns(&ctime);
	return abs(age) >= SETTLED_NS;
}

/**
 * unwind_entry_alloc - make an entry for a file as it is now
 * @inode: the file's
 * @kind: whether it can have a table
 * @part: the part of the file; NULL for the file
 *
 * Context: task; may sleep.
 * Return: the entry, to be freed with kfree() unless it is inserted; or NULL.
 */
struct unwind_file *unwind_entry_alloc(struct inode *inode, enum unwind_file_kind kind,
				       const struct unwind_part *part)
{
	struct unwind_file *file;

	if (!file_cache)
		return NULL;
	file = kmem_cache_alloc_lru(file_cache, &lru_lists, GFP_KERNEL | __GFP_ZERO |
				    __GFP_NORETRY | __GFP_NOWARN);
	if (!file)
		return NULL;
	INIT_LIST_HEAD(&file->lru);
	file->seq = get_object_id(&inode->i_sequence);
	if (part)
		file->part = *part;
	file->dev = inode->i_sb->s_dev;
	file->ino = inode->i_ino;
	file->state = UNWIND_FILE_LOADING;
	file->kind = kind;
	/* Any later change of the file changes its version */
	if (IS_I_VERSION(inode))
		inode_query_iversion(inode);
	file->version = version_of(inode);
	file->size = i_size_read(inode);
	return file;
}

/**
 * unwind_entries_changed - have processes without tables look for tables again
 *
 * Context: task, with unwind_files_lock.
 */
void unwind_entries_changed(void)
{
	lockdep_assert_held(&unwind_files_lock);
	/* Pairs with unwind_file_generation() */
	smp_store_release(&generation, generation + 1);
}

/**
 * unwind_entry_set_state - set what is known about a file
 * @file: its entry
 * @state: the state
 * @retry_after: when to try again, in jiffies from now, if the state is to be tried again
 *
 * Context: task, with unwind_files_lock.
 */
void unwind_entry_set_state(struct unwind_file *file, enum unwind_file_state state,
			    unsigned long retry_after)
{
	lockdep_assert_held(&unwind_files_lock);
	file->retry = jiffies + retry_after;
	file->used = true;
	/* Pairs with unwind_file_find() */
	smp_store_release(&file->state, state);
	/* A process that registered something is never without tables */
	if ((state != UNWIND_FILE_FAILED || file->too_large) && !file->part.size)
		unwind_entries_changed();
}

/**
 * unwind_entry_insert - insert an entry
 * @file: the entry; there is none for the same inode and part
 *
 * Context: task, with unwind_files_lock.
 * Return: @file.
 */
struct unwind_file *unwind_entry_insert(struct unwind_file *file)
{
	lockdep_assert_held(&unwind_files_lock);
	if (!file->id)
		file->id = ++last_id;
	hash_add_rcu(unwind_files, &file->node,
		     key_of(file->seq, file->part.size ? &file->part : NULL));
	list_add_tail(&file->clock, &clock_list);
	list_lru_add_obj(&lru_lists, &file->lru);
	nr_files++;
	nr_parts += !!file->part.size;
	nr_bytes += unwind_entry_bytes(file);
	return file;
}

/**
 * unwind_file_claim - begin to load the table of a file
 * @inode: the file's
 * @kind: whether it can have one
 * @part: the part of the file; NULL for the file
 *
 * The entry of a file that has changed is replaced.
 *
 * Context: task; may sleep.
 * Return: an entry, for unwind_file_finish(); -EALREADY there is nothing to be loaded, or
 * not now; -ENOMEM.  Nothing is kept of a part that cannot be loaded now: its memory is copied.
 */
struct unwind_file *unwind_file_claim(struct inode *inode, enum unwind_file_kind kind,
				      const struct unwind_part *part)
{
	const bool loads = kind == UNWIND_FILE_SEALED ||
			   (kind == UNWIND_FILE_PLAIN && unwind_file_is_settled(inode));
	struct unwind_file *file __free(kfree) = NULL, *old;

	if (part && !loads)
		return ERR_PTR(-EALREADY);
	file = unwind_entry_alloc(inode, kind, part);
	if (!file)
		return ERR_PTR(-ENOMEM);
	guard(spinlock)(&unwind_files_lock);
	old = unwind_entry_find(file->seq, part);
	if (old && unwind_entry_is_valid(old, old->state, inode))
		return ERR_PTR(-EALREADY);
	if (old)
		unwind_entry_remove(old);
	if (loads)
		return unwind_entry_insert(no_free_ptr(file));
	if (kind == UNWIND_FILE_INELIGIBLE)
		unwind_entry_set_state(file, UNWIND_FILE_NONE, RETRY_LATER);
	else
		unwind_entry_set_state(file, UNWIND_FILE_FAILED, RETRY_AFTER);
	unwind_entry_insert(no_free_ptr(file));
	unwind_entries_keep_limit();
	return ERR_PTR(-EALREADY);
}

/**
 * unwind_table_is_too_large - is a table larger than all tables together may be?
 * @table: the table, which would have to go at once
 *
 * Context: any.
 * Return: whether it is.
 */
bool unwind_table_is_too_large(const struct sframe_table *table)
{
	return table->bytes / 1024 > READ_ONCE(max_tables_kb);
}

/* The state of an entry after a load; @table is the table or an error */
static enum unwind_file_state state_for(const struct unwind_file *file,
					const struct inode *inode,
					const struct sframe_table *table)
{
	/* Has it changed while it was read? */
	if (!unwind_entry_is_same(file, inode))
		return UNWIND_FILE_FAILED;
	if (IS_ERR(table))
		return PTR_ERR(table) == -EAGAIN ? UNWIND_FILE_FAILED : UNWIND_FILE_NONE;
	return unwind_table_is_too_large(table) ? UNWIND_FILE_FAILED : UNWIND_FILE_READY;
}

/* Ask the service for a table, and return the new state: if ASKED, the queue owns @request */
static enum unwind_file_state ask(const struct unwind_file *file,
				  struct unwind_request_item *request)
{
	lockdep_assert_held(&unwind_files_lock);
	if (!request)
		return UNWIND_FILE_NONE;
	if (!IS_ERR(request) && unwind_request_queue(request, file->id))
		return UNWIND_FILE_ASKED;
	/* It may have started since @request was made */
	return unwind_requests_wanted() ? UNWIND_FILE_FAILED : UNWIND_FILE_NONE;
}

/**
 * unwind_file_finish - end what unwind_file_claim() began
 * @file: the entry
 * @inode: the file's
 * @table: its table; an error if it has none (-ENOENT, -ENOEXEC, ...), or if it could not
 *	be loaded (-EAGAIN)
 * @request: from unwind_request_alloc(), to be queued if the file has no table; NULL if
 *	the service is not to be asked
 *
 * Context: task; may sleep.
 * Return: whether the table is used.
 */
bool unwind_file_finish(struct unwind_file *file, struct inode *inode,
			struct sframe_table *table, struct unwind_request_item *request)
{
	enum unwind_file_state state = state_for(file, inode, table);
	unsigned long retry_after = RETRY_AFTER;

	if (state == UNWIND_FILE_FAILED && !IS_ERR(table) && unwind_entry_is_same(file, inode))
		file->too_large = table->bytes / 1024;
	scoped_guard(spinlock, &unwind_files_lock) {
		if (IS_ENABLED(CONFIG_UNWIND_USER_SERVICE) && state == UNWIND_FILE_NONE)
			state = ask(file, request);
		if (state == UNWIND_FILE_ASKED) {
			/* The queue owns it now */
			request = NULL;
			retry_after = ASK_AGAIN_AFTER;
		}
		if (state == UNWIND_FILE_READY) {
			file->table = table;
			nr_bytes += table->bytes;
		}
		unwind_entry_set_state(file, state, retry_after);
		unwind_entries_keep_limit();
	}
	if (IS_ENABLED(CONFIG_UNWIND_USER_SERVICE))
		unwind_request_free(request);
	if (state != UNWIND_FILE_READY && !IS_ERR(table))
		sframe_table_free(table);
	return state == UNWIND_FILE_READY;
}

/*
 * Setting up
 */

static struct ctl_table file_sysctls[] = {
	{
		.procname	= "unwind_max_tables_kb",
		.data		= &max_tables_kb,
		.maxlen		= sizeof(max_tables_kb),
		.mode		= 0644,
		.proc_handler	= proc_doulongvec_minmax,
	},
};

static int __init unwind_file_init(void)
{
	struct shrinker *shrinker = shrinker_alloc(SHRINKER_NUMA_AWARE | SHRINKER_MEMCG_AWARE,
						   "unwind-tables");

	/* One part in 64 of all memory: a gigabyte of text needs some 60 MB */
	max_tables_kb = totalram_pages() * (PAGE_SIZE / 1024) / 64;
	factor = get_random_long() | 1;
	if (!shrinker)
		return -ENOMEM;
	if (list_lru_init_memcg(&lru_lists, shrinker)) {
		shrinker_free(shrinker);
		return -ENOMEM;
	}
	file_cache = KMEM_CACHE(unwind_file, SLAB_ACCOUNT | SLAB_RECLAIM_ACCOUNT | SLAB_PANIC);
	shrinker->count_objects = count_files;
	shrinker->scan_objects = shrink_files;
	shrinker_register(shrinker);
	register_sysctl_init("kernel", file_sysctls);
	return 0;
}
late_initcall(unwind_file_init);
