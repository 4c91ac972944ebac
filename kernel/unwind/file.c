// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of files, for all processes that map them.
 *
 * A table is found by the number of the file's inode (get_object_id()), and holds as long
 * as the file is what it was when the table was loaded: it has the same version and size,
 * and nobody has it open for writing.  Each lookup compares that.  So the table needs no
 * reference to the file, and nothing is done when the file is written, truncated, evicted
 * or unmounted: the table is not found any more, and goes when memory is wanted.
 *
 *   claim ──> LOADING ──> READY    with a table
 *                     ├─> NONE     there is no table
 *                     ├─> ASKED    the table service is asked for one ──> READY, NONE
 *                     └─> FAILED   to be tried again after a while
 *
 * A file is LOADING for one task or worker only, whatever number of tasks meet it.
 * Lookups take no lock and write nothing but "used".  Changes are made under files_lock.
 * An entry is freed after a grace period, its table with it.
 *
 * The sysctl kernel.unwind_max_tables_kb limits all tables together, and MAX_FILES their
 * number.  An entry and its table are charged to the cgroup of the task that loads them.  If
 * that cgroup is short of memory, the shrinker frees its entries, and no others.  The least
 * recently used ones go first, in the way of a clock: an entry that was used since the hand
 * last passed it is spared once.
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
#include <uapi/linux/unwind.h>

#include "chain.h"
#include "file.h"
#include "request.h"

/* A file is left alone for this long after its table could not be loaded */
#define RETRY_AFTER	HZ
/* And for this long if it is of a kind that has none: it may be sealed then */
#define RETRY_LATER	(60 * HZ)
/* And for this long if the service was asked, and has not answered */
#define ASK_AGAIN_AFTER	(15 * HZ)

/*
 * A file that changed so lately may change again without another ctime: some file systems
 * have times of two seconds
 */
#define SETTLED_NS	(3 * NSEC_PER_SEC)

/* Lists in the hash are short, whatever files a process maps */
#define MAX_FILES	16384
/* The clock's hand passes up to this number at once: files_lock is held */
#define MAX_TURNS	1024

/**
 * struct unwind_file - what is known about the table of a file
 * @node: in the hash of all files, by @seq
 * @clock: in the list of all entries
 * @lru: in the list of the entries of its cgroup
 * @seq: number of the file's inode
 * @id: names the entry
 * @dev: the file's device, to be listed
 * @ino: the inode's number there, likewise
 * @version: of the file, as it was when the table was loaded
 * @size: of the file, likewise
 * @state: one of &enum unwind_file_state
 * @kind: whether the file can have a table
 * @provided: by the table service
 * @used: since the clock's hand passed
 * @too_large: size of its table in kilobytes, if that is more than the limit; else 0
 * @retry: when to try again, in jiffies: if it failed, is ineligible, or was asked for
 * @table: if it is ready
 * @rcu: frees it
 */
struct unwind_file {
	struct hlist_node	node;
	struct list_head	clock;
	struct list_head	lru;
	u64			seq;
	u64			id;
	dev_t			dev;
	u64			ino;
	u64			version;
	loff_t			size;
	u8			state;
	u8			kind;
	bool			provided;
	bool			used;
	u32			too_large;
	unsigned long		retry;
	struct sframe_table	*table;
	struct rcu_head		rcu;
};

static DEFINE_HASHTABLE(files, 12);
static LIST_HEAD(clock_list);
static struct list_lru lru_lists;
static struct kmem_cache *file_cache __ro_after_init;
static DEFINE_SPINLOCK(files_lock);
static unsigned long nr_files;
static unsigned long nr_bytes;
static u64 last_id;
/* Number of files about which something was ever found out */
static u32 generation;

static unsigned long max_tables_kb __read_mostly;
/* A process can choose the inodes' numbers, but not which of them share a list */
static u32 seed __read_mostly;

/*
 * Looking up
 */

static u64 version_of(const struct inode *inode)
{
	if (IS_I_VERSION(inode))
		return inode_peek_iversion(inode);
	return inode_get_ctime_sec(inode) * NSEC_PER_SEC + inode_get_ctime_nsec(inode);
}

static bool is_same(const struct unwind_file *file, const struct inode *inode)
{
	if (file->kind == UNWIND_FILE_SEALED)
		return true;
	return file->version == version_of(inode) &&
	       file->size == i_size_read(inode) &&
	       atomic_read(&inode->i_writecount) <= 0;
}

static u32 key_of(u64 seq)
{
	return jhash_2words(seq, seq >> 32, seed);
}

static struct unwind_file *find(u64 seq)
{
	struct unwind_file *file;

	hash_for_each_possible_rcu(files, file, node, key_of(seq),
				   lockdep_is_held(&files_lock)) {
		if (file->seq == seq)
			return file;
	}
	return NULL;
}

/* Does the entry say what is to be known about the file, for now? */
static bool is_valid(const struct unwind_file *file, enum unwind_file_state state,
		     const struct inode *inode)
{
	if (state == UNWIND_FILE_LOADING)
		return true;
	if (state == UNWIND_FILE_FAILED && file->too_large)
		return file->too_large > READ_ONCE(max_tables_kb) && is_same(file, inode);
	if (state == UNWIND_FILE_FAILED || state == UNWIND_FILE_ASKED ||
	    file->kind == UNWIND_FILE_INELIGIBLE)
		return time_before(jiffies, file->retry);
	return is_same(file, inode);
}

/**
 * unwind_file_find - find the table of a file
 * @inode: the file's
 * @table: set if it is known; NULL if there is none, or none yet
 * @pending: set to whether there may be one later
 *
 * Context: any, in an RCU read-side critical section.
 * Return: 0 or -ENODATA: it is not known.
 */
int unwind_file_find(const struct inode *inode, const struct sframe_table **table,
		     bool *pending)
{
	u64 seq = atomic64_read(&inode->i_sequence);
	enum unwind_file_state state;
	struct unwind_file *file;

	*table = NULL;
	*pending = true;
	file = seq ? find(seq) : NULL;
	if (!file)
		return -ENODATA;
	/* Pairs with set_state(): the table is read afterwards */
	state = smp_load_acquire(&file->state);
	if (!is_valid(file, state, inode))
		return -ENODATA;
	*pending = state < UNWIND_FILE_NONE;
	if (state != UNWIND_FILE_READY)
		return 0;
	*table = file->table;
	if (!READ_ONCE(file->used))
		WRITE_ONCE(file->used, true);
	return 0;
}

/**
 * unwind_file_generation - has anything been found out since?
 *
 * Context: any.
 * Return: a number that differs after it was found out what table another file has, if any.
 */
u32 unwind_file_generation(void)
{
	/* Pairs with next_generation(): what was found out is seen */
	return smp_load_acquire(&generation);
}

/*
 * Removal
 */

static void free_file(struct rcu_head *rcu)
{
	struct unwind_file *file = container_of(rcu, struct unwind_file, rcu);

	unwind_file_free_table(file->table);
	kfree(file);
}

static unsigned long bytes_of(const struct unwind_file *file)
{
	return sizeof(*file) + (file->table ? file->table->bytes : 0);
}

/* All but list_lru_del_obj() */
static void unlink_file(struct unwind_file *file)
{
	lockdep_assert_held(&files_lock);
	hash_del_rcu(&file->node);
	list_del(&file->clock);
	nr_files--;
	nr_bytes -= bytes_of(file);
	call_rcu(&file->rcu, free_file);
}

static void remove(struct unwind_file *file)
{
	list_lru_del_obj(&lru_lists, &file->lru);
	unlink_file(file);
}

/* Does a hand that passes the entry leave it?  Also while it is being loaded. */
static bool spare(struct unwind_file *file)
{
	lockdep_assert_held(&files_lock);
	if (!file->used && file->state != UNWIND_FILE_LOADING)
		return false;
	WRITE_ONCE(file->used, false);
	list_move_tail(&file->clock, &clock_list);
	return true;
}

static bool is_too_much(void)
{
	return nr_files > MAX_FILES || nr_bytes / 1024 > READ_ONCE(max_tables_kb);
}

static void keep_limit(void)
{
	unsigned long turns = min(2 * nr_files, MAX_TURNS);
	struct unwind_file *file;

	lockdep_assert_held(&files_lock);
	while (turns-- && is_too_much()) {
		file = list_first_entry(&clock_list, struct unwind_file, clock);
		if (!spare(file))
			remove(file);
	}
}

/* With the list's lock, which comes after files_lock elsewhere */
static enum lru_status UNWIND_LRU_PARAMS(shrink_file)
{
	struct unwind_file *file = container_of(item, struct unwind_file, lru);
	bool spared;

	if (!spin_trylock(&files_lock))
		return LRU_SKIP;
	spared = spare(file);
	if (!spared) {
		list_lru_isolate(list, item);
		unlink_file(file);
	}
	spin_unlock(&files_lock);
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

/* Will each later change of the file show? */
static bool is_settled(const struct inode *inode)
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

/* An entry for the file as it is now */
static struct unwind_file *new_file(struct inode *inode, enum unwind_file_kind kind)
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
	file->dev = inode->i_sb->s_dev;
	file->ino = inode->i_ino;
	file->state = UNWIND_FILE_LOADING;
	file->kind = kind;
	/* From here on, any change makes another version */
	if (IS_I_VERSION(inode))
		inode_query_iversion(inode);
	file->version = version_of(inode);
	file->size = i_size_read(inode);
	return file;
}

static void next_generation(void)
{
	lockdep_assert_held(&files_lock);
	/* Pairs with unwind_file_generation() */
	smp_store_release(&generation, generation + 1);
}

static void set_state(struct unwind_file *file, enum unwind_file_state state,
		      unsigned long retry_after)
{
	lockdep_assert_held(&files_lock);
	file->retry = jiffies + retry_after;
	file->used = true;
	/* Pairs with unwind_file_find() */
	smp_store_release(&file->state, state);
	if (state != UNWIND_FILE_FAILED)
		next_generation();
}

static struct unwind_file *insert(struct unwind_file *file)
{
	lockdep_assert_held(&files_lock);
	hash_add_rcu(files, &file->node, key_of(file->seq));
	list_add_tail(&file->clock, &clock_list);
	list_lru_add_obj(&lru_lists, &file->lru);
	nr_files++;
	nr_bytes += bytes_of(file);
	return file;
}

/**
 * unwind_file_claim - begin to load the table of a file
 * @inode: the file's
 * @kind: whether it can have one
 *
 * The entry of a file that has changed is replaced.
 *
 * Context: task; may sleep.
 * Return: an entry, for unwind_file_finish(); -EALREADY there is nothing to be loaded, or
 * not now; -ENOMEM.
 */
struct unwind_file *unwind_file_claim(struct inode *inode, enum unwind_file_kind kind)
{
	const bool settled = kind == UNWIND_FILE_SEALED || is_settled(inode);
	struct unwind_file *file __free(kfree) = new_file(inode, kind);
	struct unwind_file *old;

	if (!file)
		return ERR_PTR(-ENOMEM);
	guard(spinlock)(&files_lock);
	old = find(file->seq);
	if (old && is_valid(old, old->state, inode))
		return ERR_PTR(-EALREADY);
	if (old)
		remove(old);
	file->id = ++last_id;
	if (settled && kind != UNWIND_FILE_INELIGIBLE)
		return insert(no_free_ptr(file));
	if (kind == UNWIND_FILE_INELIGIBLE)
		set_state(file, UNWIND_FILE_NONE, RETRY_LATER);
	else
		set_state(file, UNWIND_FILE_FAILED, RETRY_AFTER);
	insert(no_free_ptr(file));
	keep_limit();
	return ERR_PTR(-EALREADY);
}

/* It would have to go at once */
static bool is_too_large(const struct sframe_table *table)
{
	return table->bytes / 1024 > READ_ONCE(max_tables_kb);
}

/* The state of an entry after a load; @table is the table or an error */
static enum unwind_file_state state_for(const struct unwind_file *file,
					const struct inode *inode,
					const struct sframe_table *table)
{
	/* Has it changed while it was read? */
	if (!is_same(file, inode))
		return UNWIND_FILE_FAILED;
	if (IS_ERR(table))
		return PTR_ERR(table) == -EAGAIN ? UNWIND_FILE_FAILED : UNWIND_FILE_NONE;
	return is_too_large(table) ? UNWIND_FILE_FAILED : UNWIND_FILE_READY;
}

/* Ask the service for a table, if there is a service; the state then */
static enum unwind_file_state ask(const struct unwind_file *file,
				  struct unwind_request_item *request)
{
	lockdep_assert_held(&files_lock);
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
 *	nobody can have one for it
 *
 * Context: task.
 * Return: whether the table is used.
 */
bool unwind_file_finish(struct unwind_file *file, struct inode *inode,
			struct sframe_table *table, struct unwind_request_item *request)
{
	enum unwind_file_state state = state_for(file, inode, table);

	if (state == UNWIND_FILE_FAILED && !IS_ERR(table) && is_same(file, inode))
		file->too_large = table->bytes / 1024;
	scoped_guard(spinlock, &files_lock) {
		if (state == UNWIND_FILE_NONE)
			state = ask(file, request);
		/* It is the queue's now */
		if (state == UNWIND_FILE_ASKED)
			request = NULL;
		if (state == UNWIND_FILE_READY) {
			file->table = table;
			nr_bytes += table->bytes;
		}
		set_state(file, state, state == UNWIND_FILE_ASKED ? ASK_AGAIN_AFTER :
								    RETRY_AFTER);
		keep_limit();
	}
	unwind_request_free(request);
	if (state != UNWIND_FILE_READY && !IS_ERR(table))
		sframe_table_free(table);
	return state == UNWIND_FILE_READY;
}

/*
 * The table service
 */

/**
 * unwind_file_free_table - free a table that nobody reads any more, and its chain
 * @table: the table, or NULL
 *
 * Context: any but NMI.
 */
void unwind_file_free_table(struct sframe_table *table)
{
	if (table)
		unwind_chain_put(table->chain);
	sframe_table_free(table);
}

/* May the service's answer take the place of @old?  @id is 0 if it was not asked. */
static int check_answer(const struct unwind_file *old, const struct inode *inode, u64 id)
{
	lockdep_assert_held(&files_lock);
	if (id) {
		if (!old || old->id != id || old->state != UNWIND_FILE_ASKED ||
		    !is_same(old, inode))
			return -ESTALE;
	} else if (old && is_valid(old, old->state, inode)) {
		if (old->state == UNWIND_FILE_READY)
			return -EEXIST;
		if (old->state == UNWIND_FILE_LOADING)
			return -EBUSY;
	}
	return 0;
}

/**
 * unwind_file_provide - give a file a table, or none, for the table service
 * @inode: the file's
 * @kind: as for unwind_file_claim(); not ineligible
 * @id: of the request; or 0, and set to the entry's
 * @table: belongs to the entry on success; NULL if there is none
 *
 * Context: task; may sleep.
 * Return: 0; -ESTALE this was not asked, or the file has changed since; -EEXIST it has a
 * table; -EBUSY that is being loaded; -ETXTBSY the file is open for writing, or was changed
 * just now; -ENOSPC the table is larger than all tables may be; -ENOMEM.
 */
int unwind_file_provide(struct inode *inode, enum unwind_file_kind kind, u64 *id,
			struct sframe_table *table)
{
	struct unwind_file *file __free(kfree) = NULL, *old;
	int ret;

	if (kind != UNWIND_FILE_SEALED && !is_settled(inode))
		return -ETXTBSY;
	if (table && is_too_large(table))
		return -ENOSPC;
	file = new_file(inode, kind);
	if (!file)
		return -ENOMEM;

	guard(spinlock)(&files_lock);
	old = find(file->seq);
	ret = check_answer(old, inode, *id);
	if (ret)
		return ret;
	if (old)
		remove(old);
	if (!*id)
		*id = ++last_id;
	file->id = *id;
	file->provided = true;
	file->table = table;
	old = insert(no_free_ptr(file));
	set_state(old, table ? UNWIND_FILE_READY : UNWIND_FILE_NONE, 0);
	keep_limit();
	return 0;
}

/* Remove entries, bucket by bucket; their number */
static unsigned long remove_all(bool (*which)(const struct unwind_file *file, u64 id),
				u64 id)
{
	struct unwind_file *file;
	struct hlist_node *next;
	unsigned long nr = 0;
	unsigned int i;

	for (i = 0; i < HASH_SIZE(files); i++) {
		scoped_guard(spinlock, &files_lock) {
			hlist_for_each_entry_safe(file, next, &files[i], node) {
				if (!which(file, id))
					continue;
				remove(file);
				nr++;
			}
		}
		cond_resched();
	}
	/* Processes without tables look again */
	scoped_guard(spinlock, &files_lock)
		next_generation();
	return nr;
}

static bool is_provided_as(const struct unwind_file *file, u64 id)
{
	return file->provided && file->table && file->id == id;
}

/**
 * unwind_file_withdraw - remove a provided table
 * @id: of its entry
 *
 * Context: task; may sleep.
 * Return: 0; -ENOENT there is none of this number.
 */
int unwind_file_withdraw(u64 id)
{
	return remove_all(is_provided_as, id) ? 0 : -ENOENT;
}

static bool is_missing(const struct unwind_file *file, u64 unused)
{
	return file->state == UNWIND_FILE_NONE || file->state == UNWIND_FILE_ASKED;
}

/**
 * unwind_file_forget_missing - forget which files have no table
 *
 * Context: task; may sleep.
 */
void unwind_file_forget_missing(void)
{
	remove_all(is_missing, 0);
}

static bool is_of_service(const struct unwind_file *file, u64 unused)
{
	return file->provided || file->state == UNWIND_FILE_ASKED;
}

/**
 * unwind_file_forget_provided - forget all that the table service said, or was asked
 *
 * Context: task; may sleep.
 */
void unwind_file_forget_provided(void)
{
	remove_all(is_of_service, 0);
}

static void describe(const struct unwind_file *file, struct unwind_table_info *info)
{
	*info = (struct unwind_table_info){
		.id = file->id,
		.ino = file->ino,
		.dev_major = MAJOR(file->dev),
		.dev_minor = MINOR(file->dev),
		.bytes = bytes_of(file),
		.entries = file->table->nr,
		.flags = (file->provided ? UNWIND_TABLE_PROVIDED : 0) |
			 (READ_ONCE(file->used) ? UNWIND_TABLE_USED : 0),
	};
}

/* Describe the tables of a list; how many there are */
static u32 list_bucket(unsigned int i, struct unwind_table_info *infos, u32 room)
{
	const struct unwind_file *file;
	u32 nr = 0;

	guard(rcu)();
	hlist_for_each_entry_rcu(file, &files[i], node) {
		/* Pairs with set_state(), as in unwind_file_find() */
		if (smp_load_acquire(&file->state) != UNWIND_FILE_READY)
			continue;
		if (nr < room)
			describe(file, &infos[nr]);
		nr++;
	}
	return nr;
}

/**
 * unwind_file_list - describe tables
 * @infos: set
 * @room: how many it has room for
 * @bucket: where to begin, 0 at first; set to where to continue, 0 at the end
 *
 * A table that is there all the time is described once.
 *
 * Context: task; may sleep.
 * Return: how many tables are described; -ENOSPC there is too little room to continue.
 */
int unwind_file_list(struct unwind_table_info *infos, u32 room, u32 *bucket)
{
	u32 nr = 0, more, i;

	for (i = *bucket; i < HASH_SIZE(files); i++) {
		more = list_bucket(i, infos + nr, room - nr);
		if (more > room - nr)
			break;
		nr += more;
		cond_resched();
	}
	if (!nr && i < HASH_SIZE(files))
		return -ENOSPC;
	*bucket = i < HASH_SIZE(files) ? i : 0;
	return nr;
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
	seed = get_random_u32();
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
