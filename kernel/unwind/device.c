// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/unwind: the table service makes tables for files that have none.
 *
 *   an unwind meets a file ──> request ──> read(): id, descriptor ──> the service
 *                                                                        │ converts
 *   stacks by the table <── file.c <── ioctl(UNWIND_IOC_ADD): section <──┘ .eh_frame
 *
 * A descriptor that can be written to makes its opener the service; there is one at a
 * time.  Provided tables go with the last reference to that descriptor, so a service
 * that keeps it over its restart keeps the tables.
 *
 * The service is trusted to say what the frames of a program are: a wrong table makes
 * wrong stacks.  It is not trusted with the kernel: a section is copied, checked and
 * turned into a table, as a file's own section is.  An answer counts only for the file
 * that was asked for, and only if the file has not changed since.
 */

#include <linux/capability.h>
#include <linux/cleanup.h>
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/filelock.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/ioctl.h>
#include <linux/minmax.h>
#include <linux/miscdevice.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/unwind_base.h>
#include <linux/wait.h>
#include <uapi/linux/unwind.h>

#include "chain.h"
#include "file.h"
#include "request.h"
#include "sframe_table.h"
#include "tables.h"

#define MAX_LISTED	65536

/*
 * Requests
 */

static struct inode *request_inode(const struct unwind_request_item *item)
{
	return d_real_inode(item->path.dentry);
}

/* Does the reader lack resources?  Any other error means that the file cannot be opened. */
static bool is_passing(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM || error == -EINTR ||
	       error == -ERESTARTSYS || error == -ERESTARTNOINTR;
}

/* Could the file be opened later?  Then it gets no answer now, and is requested again. */
static bool is_for_now(int error)
{
	return error == -EWOULDBLOCK || error == -EIO || error == -ESTALE || error == -ETIMEDOUT;
}

/* Opening the file would break the lease, and wait for its owner */
static bool is_leased(struct inode *inode)
{
	struct file_lock_context *ctx = locks_inode_context(inode);

	return ctx && !list_empty_careful(&ctx->flc_lease);
}

enum { HANDED_OVER, CANNOT_BE_OPENED, CANNOT_BE_OPENED_NOW };

/*
 * Open the file of a request, and give it to the reader.  Returns one of the above, or an error.
 * The access time is not updated and no notifications are sent, because the service may watch
 * these files itself.
 */
static int hand_over(const struct unwind_request_item *item, char __user *buf)
{
	struct unwind_request request = { .id = item->id };
	struct file *file;

	request.fd = get_unused_fd_flags(O_CLOEXEC);
	if (request.fd < 0)
		return request.fd;
	if (is_leased(request_inode(item)))
		file = ERR_PTR(-EWOULDBLOCK);
	else
		file = dentry_open_nonotify(&item->path,
					    O_RDONLY | O_LARGEFILE | O_NONBLOCK | O_NOATIME,
					    current_cred());
	if (IS_ERR(file)) {
		put_unused_fd(request.fd);
		if (is_passing(PTR_ERR(file)))
			return PTR_ERR(file);
		return is_for_now(PTR_ERR(file)) ? CANNOT_BE_OPENED_NOW : CANNOT_BE_OPENED;
	}
	if (copy_to_user(buf, &request, sizeof(request))) {
		put_unused_fd(request.fd);
		fput(file);
		return -EFAULT;
	}
	fd_install(request.fd, file);
	return HANDED_OVER;
}

static int read_request(char __user *buf, bool nonblock)
{
	struct unwind_request_item *item;
	u64 id;
	int ret;

	for (;;) {
		item = unwind_request_take();
		if (!item) {
			if (nonblock)
				return -EAGAIN;
			ret = wait_event_interruptible(unwind_requests_wait,
						       unwind_requests_any());
			if (ret)
				return ret;
			continue;
		}
		ret = hand_over(item, buf);
		if (ret < 0) {
			unwind_request_put_back(item);
			return ret;
		}
		if (ret == HANDED_OVER) {
			unwind_request_free(item);
			return 0;
		}
		id = item->id;
		if (ret == CANNOT_BE_OPENED)
			unwind_file_provide(request_inode(item), UNWIND_FILE_PLAIN, &id, NULL);
		unwind_request_free_later(item);
	}
}

static ssize_t device_read(struct file *dev, char __user *buf, size_t size, loff_t *pos)
{
	const size_t one = sizeof(struct unwind_request);
	size_t done = 0;
	int ret = 0;

	if (!(dev->f_mode & FMODE_WRITE))
		return -EBADF;
	if (size < one)
		return -EINVAL;
	while (size - done >= one) {
		ret = read_request(buf + done, done || dev->f_flags & O_NONBLOCK);
		if (ret)
			break;
		done += one;
	}
	return done ?: ret;
}

static __poll_t device_poll(struct file *dev, poll_table *wait)
{
	if (!(dev->f_mode & FMODE_WRITE))
		return 0;
	poll_wait(dev, &unwind_requests_wait, wait);
	return unwind_requests_any() ? EPOLLIN | EPOLLRDNORM : 0;
}

/*
 * Answers
 */

static struct sframe_table *build(struct file *file, const struct unwind_answer *answer)
{
	void *section __free(kvfree) = NULL;

	if (!answer->table_size)
		return ERR_PTR(-EINVAL);
	if (answer->table_size > UNWIND_MAX_SECTION)
		return ERR_PTR(-E2BIG);
	section = kvmalloc(answer->table_size, GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN);
	if (!section)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(section, u64_to_user_ptr(answer->table_start), answer->table_size))
		return ERR_PTR(-EFAULT);
	return unwind_file_build(file, section, answer->table_size, answer->address);
}

static int add_chain(struct sframe_table *table, const struct unwind_answer *answer)
{
	struct unwind_chain_attr attr;
	struct unwind_chain *chain;
	int ret;

	if (!answer->chain)
		return answer->chain_size ? -EINVAL : 0;
	if (!IS_ENABLED(CONFIG_UNWIND_USER_LANGUAGES))
		return -EOPNOTSUPP;
	ret = unwind_copy_attr(&attr, sizeof(attr), answer->chain, answer->chain_size);
	if (ret)
		return ret;
	if (attr.key)
		return -EINVAL;
	chain = unwind_chain_alloc(&attr);
	if (IS_ERR(chain))
		return PTR_ERR(chain);
	/* The table is not shared yet */
	table->chain = chain;
	return 0;
}

static int provide(struct file *file, struct unwind_answer *answer, bool none)
{
	struct inode *inode = d_real_inode(file->f_path.dentry);
	const enum unwind_file_kind kind = unwind_file_kind(file, inode);
	struct sframe_table *table = NULL;
	size_t bytes;
	u32 nr;
	int ret;

	if (kind == UNWIND_FILE_INELIGIBLE)
		return -EINVAL;
	if (none)
		return unwind_file_provide(inode, kind, &answer->id, NULL);
	table = build(file, answer);
	if (IS_ERR(table))
		return PTR_ERR(table);
	ret = add_chain(table, answer);
	if (ret) {
		unwind_file_free_table(table);
		return ret;
	}
	nr = table->nr;
	bytes = table->bytes;
	/* On overlayfs, the headers may have been read from a new copy of the file */
	ret = d_real_inode(file->f_path.dentry) == inode ?
	      unwind_file_provide(inode, kind, &answer->id, table) : -ESTALE;
	if (ret)
		unwind_file_free_table(table);
	else
		unwind_file_trace_found(file, inode, nr, bytes);
	return ret;
}

static int read_answer(struct unwind_answer *answer, void __user *arg, size_t size, bool none)
{
	int ret;

	if (size > PAGE_SIZE)
		return -E2BIG;
	if (size < UNWIND_ANSWER_SIZE_VER0)
		return -EINVAL;
	ret = copy_struct_from_user(answer, sizeof(*answer), arg, size);
	if (ret)
		return ret;
	if (answer->flags)
		return -EINVAL;
	if (none && (!answer->id || answer->table_start || answer->table_size ||
		     answer->address || answer->chain || answer->chain_size))
		return -EINVAL;
	return 0;
}

static int ioctl_answer(void __user *arg, size_t size, bool none)
{
	struct unwind_answer answer;
	int ret;

	ret = read_answer(&answer, arg, size, none);
	if (ret)
		return ret;

	CLASS(fd, f)(answer.fd);
	if (fd_empty(f) || !(fd_file(f)->f_mode & FMODE_READ))
		return -EBADF;
	ret = provide(fd_file(f), &answer, none);
	if (ret || none)
		return ret;
	/* If this fails, the table stays: the service can find its id by UNWIND_IOC_LIST */
	return put_user(answer.id, &((struct unwind_answer __user *)arg)->id);
}

static int ioctl_del(void __user *arg)
{
	u64 id;

	return get_user(id, (__u64 __user *)arg) ?: unwind_file_withdraw(id);
}

static int ioctl_list(void __user *arg)
{
	struct unwind_table_info *infos __free(kvfree) = NULL;
	struct unwind_list list;
	int ret;

	if (copy_from_user(&list, arg, sizeof(list)))
		return -EFAULT;
	if (list.reserved)
		return -EINVAL;
	list.room = min_t(u32, list.room, MAX_LISTED);
	infos = kvcalloc(list.room, sizeof(*infos), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!infos)
		return -ENOMEM;
	ret = unwind_file_list(infos, list.room, &list.cursor);
	if (ret < 0)
		return ret;
	list.nr = ret;
	if (copy_to_user(u64_to_user_ptr(list.infos), infos, list.nr * sizeof(*infos)) ||
	    copy_to_user(arg, &list, sizeof(list)))
		return -EFAULT;
	return 0;
}

static long device_ioctl(struct file *dev, unsigned int cmd, unsigned long user_arg)
{
	void __user *arg = (void __user *)user_arg;

	if (cmd == UNWIND_IOC_LIST)
		return ioctl_list(arg);
	/* Only the service changes anything */
	if (!(dev->f_mode & FMODE_WRITE))
		return -EBADF;
	if (cmd == UNWIND_IOC_DEL)
		return ioctl_del(arg);
	/* The structure may be of another size */
	if (_IOC_TYPE(cmd) == _IOC_TYPE(UNWIND_IOC_ADD)) {
		if (_IOC_NR(cmd) == _IOC_NR(UNWIND_IOC_ADD))
			return ioctl_answer(arg, _IOC_SIZE(cmd), false);
		if (_IOC_NR(cmd) == _IOC_NR(UNWIND_IOC_NONE))
			return ioctl_answer(arg, _IOC_SIZE(cmd), true);
	}
	return -ENOTTY;
}

/*
 * The device
 */

/* Requests have descriptors, and these bypass permissions and mount namespaces */
static int device_open(struct inode *inode, struct file *dev)
{
	int ret;

	if (!perfmon_capable() || !capable(CAP_DAC_READ_SEARCH))
		return -EPERM;
	if (!(dev->f_mode & FMODE_WRITE))
		return 0;
	ret = unwind_requests_start();
	/* The new service may have tables for files that have had none so far */
	if (!ret)
		unwind_file_forget_missing();
	return ret;
}

static int device_release(struct inode *inode, struct file *dev)
{
	/* Drop the tables first: once requests are stopped, the next service may start */
	if (dev->f_mode & FMODE_WRITE) {
		unwind_file_forget_provided();
		unwind_requests_stop();
	}
	return 0;
}

static const struct file_operations device_fops = {
	.owner		= THIS_MODULE,
	.open		= device_open,
	.release	= device_release,
	.read		= device_read,
	.poll		= device_poll,
	.unlocked_ioctl	= device_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.llseek		= noop_llseek,
};

static struct miscdevice device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "unwind",
	.mode	= 0600,
	.fops	= &device_fops,
};

builtin_misc_device(device);
