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
 *                     ├─> NONE     the file has no table
 *                     └─> FAILED   to be tried again after a while
 *
 * A file is LOADING for one task or worker only, whatever number of tasks meet it.
 * Lookups take no lock and write nothing but "used".  Changes are made under files_lock.
 * An entry is freed after a grace period, its table with it.
 *
 * Tables are charged to the cgroup of the task that loads them.  The sysctl
 * kernel.unwind_max_tables_kb limits all of them together.  The least recently used ones
 * go first, in the way of a clock: an entry that was used since the hand last passed it
 * is spared once.
 */

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/init.h>
#include <linux/iversion.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/sysctl.h>
#include <linux/timekeeping.h>

#include "file.h"

/* A file is left alone for this long after its table could not be loaded */
#define RETRY_AFTER	HZ

/* A file that changed so lately may change again without another ctime */
#define SETTLED_NS	(20 * NSEC_PER_MSEC)

/**
 * struct unwind_file - what is known about the table of a file
 * @node: in the hash of all files, by @seq
 * @clock: in the list of entries that may go
 * @seq: number of the file's inode
 * @version: of the file, as it was when the table was loaded
 * @size: of the file, likewise
 * @state: one of &enum unwind_file_state
 * @sealed: the file cannot change any more, though it may be open for writing
 * @written: somebody could write when loading began
 * @used: since the clock's hand passed
 * @retry: when to try again, in jiffies: if it failed
 * @table: if it is ready
 * @rcu: frees it
 */
struct unwind_file {
	struct hlist_node	node;
	struct list_head	clock;
	u64			seq;
	u64			version;
	loff_t			size;
	u8			state;
	bool			sealed;
	bool			written;
	bool			used;
	unsigned long		retry;
	struct sframe_table	*table;
	struct rcu_head		rcu;
};

static DEFINE_HASHTABLE(files, 10);
static LIST_HEAD(clock_list);
static DEFINE_SPINLOCK(files_lock);
static unsigned long nr_files;
static unsigned long nr_bytes;
/* Number of files about which something was ever found out */
static u32 generation;

static unsigned long max_tables_kb __read_mostly;

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
	if (file->sealed)
		return true;
	return file->version == version_of(inode) &&
	       file->size == i_size_read(inode) &&
	       atomic_read(&inode->i_writecount) <= 0;
}

static struct unwind_file *find(u64 seq)
{
	struct unwind_file *file;

	hash_for_each_possible_rcu(files, file, node, seq,
				   lockdep_is_held(&files_lock)) {
		if (file->seq == seq)
			return file;
	}
	return NULL;
}

/* Does the entry say what is to be known about the file, for now? */
static bool is_valid(const struct unwind_file *file, const struct inode *inode)
{
	/* Pairs with unwind_file_finish() */
	switch (smp_load_acquire(&file->state)) {
	case UNWIND_FILE_LOADING:
		return true;
	case UNWIND_FILE_FAILED:
		return time_before(jiffies, file->retry);
	default:
		return is_same(file, inode);
	}
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
	struct unwind_file *file;

	*table = NULL;
	*pending = true;
	file = seq ? find(seq) : NULL;
	if (!file || !is_valid(file, inode))
		return -ENODATA;
	*pending = READ_ONCE(file->state) < UNWIND_FILE_NONE;
	if (READ_ONCE(file->state) != UNWIND_FILE_READY)
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
	return READ_ONCE(generation);
}

/*
 * Removal
 */

static void free_file(struct rcu_head *rcu)
{
	struct unwind_file *file = container_of(rcu, struct unwind_file, rcu);

	sframe_table_free(file->table);
	kfree(file);
}

static unsigned long bytes_of(const struct unwind_file *file)
{
	return sizeof(*file) + (file->table ? file->table->bytes : 0);
}

static void remove(struct unwind_file *file)
{
	lockdep_assert_held(&files_lock);
	hash_del_rcu(&file->node);
	list_del(&file->clock);
	nr_files--;
	nr_bytes -= bytes_of(file);
	call_rcu(&file->rcu, free_file);
}

/* Let the clock's hand pass one entry; whether it went.  Not while it is being loaded. */
static bool pass(struct unwind_file *file)
{
	lockdep_assert_held(&files_lock);
	if (file->used || file->state == UNWIND_FILE_LOADING) {
		WRITE_ONCE(file->used, false);
		list_move_tail(&file->clock, &clock_list);
		return false;
	}
	remove(file);
	return true;
}

static void keep_limit(void)
{
	unsigned long turns = 2 * nr_files;

	lockdep_assert_held(&files_lock);
	while (nr_bytes / 1024 > READ_ONCE(max_tables_kb) && turns--)
		pass(list_first_entry(&clock_list, struct unwind_file, clock));
}

static unsigned long count_files(struct shrinker *shrinker, struct shrink_control *sc)
{
	return READ_ONCE(nr_files) ?: SHRINK_EMPTY;
}

static unsigned long shrink_files(struct shrinker *shrinker, struct shrink_control *sc)
{
	unsigned long nr = 0, i;

	guard(spinlock)(&files_lock);
	for (i = 0; i < sc->nr_to_scan && !list_empty(&clock_list); i++)
		nr += pass(list_first_entry(&clock_list, struct unwind_file, clock));
	return nr;
}

/*
 * Loading
 */

/**
 * unwind_file_claim - begin to load the table of a file
 * @inode: the file's
 * @sealed: it cannot change any more (F_SEAL_WRITE)
 *
 * The entry of a file that has changed is replaced.
 *
 * Context: task; may sleep.
 * Return: an entry, for unwind_file_finish(); -EALREADY its table is known, or being
 * loaded; -ENOMEM.
 */
struct unwind_file *unwind_file_claim(struct inode *inode, bool sealed)
{
	struct unwind_file *file, *old;

	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN);
	if (!file)
		return ERR_PTR(-ENOMEM);
	file->seq = get_object_id(&inode->i_sequence);
	file->state = UNWIND_FILE_LOADING;
	file->sealed = sealed;
	/* A writer may store by a mapping, and leave no trace once that is gone */
	file->written = !sealed && atomic_read(&inode->i_writecount) > 0;
	/* From here on, any change makes another version */
	if (IS_I_VERSION(inode))
		inode_query_iversion(inode);
	file->version = version_of(inode);
	file->size = i_size_read(inode);

	guard(spinlock)(&files_lock);
	old = find(file->seq);
	if (old && is_valid(old, inode)) {
		kfree(file);
		return ERR_PTR(-EALREADY);
	}
	if (old)
		remove(old);
	hash_add_rcu(files, &file->node, file->seq);
	list_add_tail(&file->clock, &clock_list);
	nr_files++;
	nr_bytes += bytes_of(file);
	return file;
}

/* Is the file such that each later change shows? */
static bool is_settled(const struct inode *inode)
{
	struct timespec64 now, ctime = inode_get_ctime(inode);
	s64 age;

	if (IS_I_VERSION(inode))
		return true;
	ktime_get_coarse_real_ts64(&now);
	age = timespec64_to_ns(&now) - timespec64_to_ns(&ctime);
	return abs(age) >= SETTLED_NS;
}

/**
 * unwind_file_finish - end what unwind_file_claim() began
 * @file: the entry
 * @inode: the file's
 * @table: its table; an error if it has none (-ENOENT, -ENOEXEC, ...), or if it could not
 *	be loaded (-EAGAIN)
 *
 * Context: task.
 * Return: whether the table is used.
 */
bool unwind_file_finish(struct unwind_file *file, struct inode *inode,
			struct sframe_table *table)
{
	enum unwind_file_state state = UNWIND_FILE_READY;
	const bool settled = file->sealed || is_settled(inode);

	if (IS_ERR(table))
		state = PTR_ERR(table) == -EAGAIN ? UNWIND_FILE_FAILED : UNWIND_FILE_NONE;
	/* Has the file changed while it was read, or could it do so unnoticed? */
	if (!settled || file->written || !is_same(file, inode))
		state = UNWIND_FILE_FAILED;
	/* It would have to go at once */
	else if (!IS_ERR(table) && table->bytes / 1024 > READ_ONCE(max_tables_kb))
		state = UNWIND_FILE_FAILED;
	file->retry = jiffies + (settled ? RETRY_AFTER : nsecs_to_jiffies(SETTLED_NS) + 1);

	scoped_guard(spinlock, &files_lock) {
		nr_bytes -= bytes_of(file);
		if (state == UNWIND_FILE_READY)
			file->table = table;
		if (state != UNWIND_FILE_FAILED)
			WRITE_ONCE(generation, generation + 1);
		nr_bytes += bytes_of(file);
		file->used = true;
		/* Pairs with is_valid(): a reader that sees the state sees the table */
		smp_store_release(&file->state, state);
		keep_limit();
	}
	if (state != UNWIND_FILE_READY && !IS_ERR(table))
		sframe_table_free(table);
	return state == UNWIND_FILE_READY;
}

/*
 * Setting up
 */

#ifdef CONFIG_SYSCTL
static struct ctl_table file_sysctls[] = {
	{
		.procname	= "unwind_max_tables_kb",
		.data		= &max_tables_kb,
		.maxlen		= sizeof(max_tables_kb),
		.mode		= 0644,
		.proc_handler	= proc_doulongvec_minmax,
	},
};
#endif

static int __init unwind_file_init(void)
{
	struct shrinker *shrinker = shrinker_alloc(0, "unwind-tables");

	/* One part in 64 of all memory: a gigabyte of text needs some 60 MB */
	max_tables_kb = totalram_pages() * (PAGE_SIZE / 1024) / 64;
	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = count_files;
	shrinker->scan_objects = shrink_files;
	shrinker_register(shrinker);
#ifdef CONFIG_SYSCTL
	register_sysctl_init("kernel", file_sysctls);
#endif
	return 0;
}
late_initcall(unwind_file_init);
