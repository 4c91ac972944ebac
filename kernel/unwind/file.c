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
 * kernel.unwind_max_tables_kb limits all of them together, and MAX_FILES their number.  The
 * least recently used ones go first, in the way of a clock: an entry that was used since
 * the hand last passed it is spared once.
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
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/sysctl.h>
#include <linux/timekeeping.h>

#include "file.h"

/* A file is left alone for this long after its table could not be loaded */
#define RETRY_AFTER	HZ
/* And for this long if it is of a kind that has none: it may be sealed then */
#define RETRY_LATER	(60 * HZ)

/*
 * A file that changed so lately may change again without another ctime: some file systems
 * have times of two seconds
 */
#define SETTLED_NS	(3 * NSEC_PER_SEC)

/* Lists in the hash are short, whatever files a process maps */
#define MAX_FILES	16384
/* The clock's hand passes so many at once: files_lock is held */
#define MAX_TURNS	1024

/**
 * struct unwind_file - what is known about the table of a file
 * @node: in the hash of all files, by @seq
 * @clock: in the list of entries that may go
 * @seq: number of the file's inode
 * @version: of the file, as it was when the table was loaded
 * @size: of the file, likewise
 * @state: one of &enum unwind_file_state
 * @kind: whether the file can have a table
 * @used: since the clock's hand passed
 * @too_large: size of its table in kilobytes, if that is more than the limit; else 0
 * @retry: when to try again, in jiffies: if it failed, or is ineligible
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
	u8			kind;
	bool			used;
	u32			too_large;
	unsigned long		retry;
	struct sframe_table	*table;
	struct rcu_head		rcu;
};

static DEFINE_HASHTABLE(files, 12);
static LIST_HEAD(clock_list);
static DEFINE_SPINLOCK(files_lock);
static unsigned long nr_files;
static unsigned long nr_bytes;
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
	if (state == UNWIND_FILE_FAILED || file->kind == UNWIND_FILE_INELIGIBLE)
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
	/* Pairs with unwind_file_finish(): the table is read afterwards */
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

static bool is_too_much(void)
{
	return nr_files > MAX_FILES || nr_bytes / 1024 > READ_ONCE(max_tables_kb);
}

static void keep_limit(void)
{
	unsigned long turns = min(2 * nr_files, MAX_TURNS);

	lockdep_assert_held(&files_lock);
	while (turns-- && is_too_much())
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

	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN);
	if (!file)
		return NULL;
	file->seq = get_object_id(&inode->i_sequence);
	file->state = UNWIND_FILE_LOADING;
	file->kind = kind;
	/* From here on, any change makes another version */
	if (IS_I_VERSION(inode))
		inode_query_iversion(inode);
	file->version = version_of(inode);
	file->size = i_size_read(inode);
	return file;
}

static void set_state(struct unwind_file *file, enum unwind_file_state state,
		      unsigned long retry_after)
{
	lockdep_assert_held(&files_lock);
	file->retry = jiffies + retry_after;
	if (state != UNWIND_FILE_FAILED)
		WRITE_ONCE(generation, generation + 1);
	file->used = true;
	/* Pairs with unwind_file_find() */
	smp_store_release(&file->state, state);
}

static struct unwind_file *insert(struct unwind_file *file)
{
	lockdep_assert_held(&files_lock);
	hash_add_rcu(files, &file->node, key_of(file->seq));
	list_add_tail(&file->clock, &clock_list);
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

/* What is known about a file whose table is @table, or an error */
static enum unwind_file_state state_for(const struct unwind_file *file,
					const struct inode *inode,
					const struct sframe_table *table)
{
	/* Has it changed while it was read? */
	if (!is_same(file, inode))
		return UNWIND_FILE_FAILED;
	if (IS_ERR(table))
		return PTR_ERR(table) == -EAGAIN ? UNWIND_FILE_FAILED : UNWIND_FILE_NONE;
	return table->bytes / 1024 <= READ_ONCE(max_tables_kb) ? UNWIND_FILE_READY :
								 UNWIND_FILE_FAILED;
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
	enum unwind_file_state state = state_for(file, inode, table);

	if (state == UNWIND_FILE_FAILED && !IS_ERR(table) && is_same(file, inode))
		file->too_large = table->bytes / 1024;
	scoped_guard(spinlock, &files_lock) {
		if (state == UNWIND_FILE_READY) {
			file->table = table;
			nr_bytes += table->bytes;
		}
		set_state(file, state, RETRY_AFTER);
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
	seed = get_random_u32();
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
