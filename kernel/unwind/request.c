// SPDX-License-Identifier: GPL-2.0
/*
 * The queue of requests to the table service, for files that have no table.
 *
 *   unwind ──> load.c: no table ──> queue ──> read() of /dev/unwind
 *                                     └─────> lapses
 *
 * A request refers to the file by its path, so it keeps a mount busy.  Therefore it lapses
 * if the service does not read it in time.  The queue is bounded, for each owner of files
 * too, and empty while there is no service.  Nobody waits for an answer: stacks do without
 * the table, and the file is requested again when a stack meets it after a while.
 */

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/unwind_base.h>
#include <linux/workqueue.h>

#include "request.h"

#define MAX_REQUESTS	256
/*
 * Limits for the files of one user, and of all users but root together.  A user can make any
 * number of files, and can act as many users by subordinate user IDs.
 */
#define MAX_OF_OWNER	32
#define MAX_OF_OWNERS	(MAX_REQUESTS / 2)
#define LAPSES_AFTER	(2 * HZ)

static LIST_HEAD(queue);
static unsigned int nr_queued;
static bool wanted;
static DEFINE_SPINLOCK(queue_lock);

static void lapse_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(lapse, lapse_work);

/* Readers of /dev/unwind wait here */
DECLARE_WAIT_QUEUE_HEAD(unwind_requests_wait);

/*
 * The service
 */

/**
 * unwind_requests_start - begin to queue requests
 *
 * Context: any but NMI and hard interrupt.
 * Return: 0; -EBUSY there is a service already.
 */
int unwind_requests_start(void)
{
	guard(spinlock)(&queue_lock);
	if (wanted)
		return -EBUSY;
	WRITE_ONCE(wanted, true);
	return 0;
}

/**
 * unwind_requests_stop - drop all requests, and queue no more
 *
 * Context: any but NMI and hard interrupt.
 */
void unwind_requests_stop(void)
{
	struct unwind_request_item *item, *next;
	LIST_HEAD(dropped);

	scoped_guard(spinlock, &queue_lock) {
		WRITE_ONCE(wanted, false);
		list_splice_init(&queue, &dropped);
		nr_queued = 0;
	}
	list_for_each_entry_safe(item, next, &dropped, node)
		unwind_request_free_later(item);
}

/**
 * unwind_requests_wanted - is there a service?
 *
 * Context: any.
 * Return: whether there is.
 */
bool unwind_requests_wanted(void)
{
	return READ_ONCE(wanted);
}

/**
 * unwind_requests_any - is there a request to be read?
 *
 * Context: any.
 * Return: whether there is.
 */
bool unwind_requests_any(void)
{
	return !list_empty_careful(&queue);
}

/*
 * Requests
 */

/**
 * unwind_request_alloc - make a request
 * @file: the file, as it is mapped
 *
 * Context: task; may sleep.
 * Return: the request; -ENOENT there is no service; -ENOMEM.
 */
struct unwind_request_item *unwind_request_alloc(struct file *file)
{
	struct unwind_request_item *item;
	vfsuid_t vfsuid;

	if (!unwind_requests_wanted())
		return ERR_PTR(-ENOENT);
	item = kmalloc(sizeof(*item), GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN);
	if (!item)
		return ERR_PTR(-ENOMEM);
	item->path = file->f_path;
	path_get(&item->path);
	/* Use the mount's map, so that a container's root does not count as root */
	vfsuid = i_uid_into_vfsuid(file_mnt_idmap(file), file_inode(file));
	item->owner = vfsuid_into_kuid(vfsuid);
	return item;
}

/**
 * unwind_request_free - drop a request that is not queued
 * @item: the request; NULL or an error is ignored
 *
 * Context: task; may sleep.
 */
void unwind_request_free(struct unwind_request_item *item)
{
	if (IS_ERR_OR_NULL(item))
		return;
	path_put(&item->path);
	kfree(item);
}

static void free_work(struct work_struct *work)
{
	unwind_request_free(container_of(work, struct unwind_request_item, free));
}

/**
 * unwind_request_free_later - drop a request that is not queued, and do not wait for that
 * @item: the request
 *
 * It may have the last reference to a deleted file.  While the file system is frozen, dropping
 * that one waits, and must not hold up the others.
 *
 * Context: any but NMI.
 */
void unwind_request_free_later(struct unwind_request_item *item)
{
	INIT_WORK(&item->free, free_work);
	queue_work(system_dfl_wq, &item->free);
}

static bool has_room_for(const struct unwind_request_item *item)
{
	const struct unwind_request_item *other;
	unsigned int nr = 0, nr_all = 0;

	lockdep_assert_held(&queue_lock);
	if (nr_queued >= MAX_REQUESTS)
		return false;
	if (uid_eq(item->owner, GLOBAL_ROOT_UID))
		return true;
	list_for_each_entry(other, &queue, node) {
		nr += uid_eq(other->owner, item->owner);
		nr_all += !uid_eq(other->owner, GLOBAL_ROOT_UID);
	}
	return nr < MAX_OF_OWNER && nr_all < MAX_OF_OWNERS;
}

/**
 * unwind_request_queue - queue a request
 * @item: the request, which belongs to the queue on success
 * @id: of the file's entry
 *
 * Context: any but NMI and hard interrupt.
 * Return: whether it was queued: not if there are too many, or no service.
 */
bool unwind_request_queue(struct unwind_request_item *item, u64 id)
{
	scoped_guard(spinlock, &queue_lock) {
		if (!wanted || !has_room_for(item))
			return false;
		item->id = id;
		item->lapses = jiffies + LAPSES_AFTER;
		list_add_tail(&item->node, &queue);
		nr_queued++;
		/* Has no effect if it is scheduled already, for an older request */
		schedule_delayed_work(&lapse, LAPSES_AFTER);
	}
	wake_up_interruptible(&unwind_requests_wait);
	return true;
}

/**
 * unwind_request_take - take the oldest request out of the queue
 *
 * Context: any but NMI and hard interrupt.
 * Return: the request, which belongs to the caller; NULL if there is none.
 */
struct unwind_request_item *unwind_request_take(void)
{
	struct unwind_request_item *item;

	guard(spinlock)(&queue_lock);
	item = list_first_entry_or_null(&queue, struct unwind_request_item, node);
	if (!item)
		return NULL;
	list_del(&item->node);
	nr_queued--;
	return item;
}

/**
 * unwind_request_put_back - put a request back, as the oldest
 * @item: from unwind_request_take()
 *
 * Context: task; may sleep.
 */
void unwind_request_put_back(struct unwind_request_item *item)
{
	scoped_guard(spinlock, &queue_lock) {
		if (wanted) {
			list_add(&item->node, &queue);
			nr_queued++;
			mod_delayed_work(system_percpu_wq, &lapse, 0);
			item = NULL;
		}
	}
	unwind_request_free(item);
	wake_up_interruptible(&unwind_requests_wait);
}

/* Drop the requests that have lapsed, and run again when the next one lapses */
static void lapse_work(struct work_struct *work)
{
	struct unwind_request_item *item, *next;
	const unsigned long now = jiffies;
	LIST_HEAD(lapsed);

	scoped_guard(spinlock, &queue_lock) {
		list_for_each_entry_safe(item, next, &queue, node) {
			if (time_before(now, item->lapses)) {
				schedule_delayed_work(&lapse, item->lapses - now);
				break;
			}
			list_move_tail(&item->node, &lapsed);
			nr_queued--;
		}
	}
	list_for_each_entry_safe(item, next, &lapsed, node)
		unwind_request_free_later(item);
}
