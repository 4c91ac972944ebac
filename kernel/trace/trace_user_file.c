// SPDX-License-Identifier: GPL-2.0
/*
 * The files of the user stacks of a trace array.
 *
 *   user_unwind_file    number, path, build-id
 *   user_unwind_stack   cookie, (number, offset) per frame
 *
 * Each file with a frame has a number, by which stacks name it.  An event,
 * user_unwind_file, announces the number: it has the build-id, and the path that the
 * task saw when the file was first met.  A reader that gets a stack gets the announcement, too
 * (see below).  Text that is in no file has the number of its kind (&enum unwind_text_kind),
 * which is announced in the same way.  So are functions of interpreted languages: their
 * name, file and line stand in the place of a path.
 *
 * A file is what the task sees.  So a file of an overlay, of a subvolume or of a snapshot has
 * a number and a path of its own, though others may share its contents or its inode number;
 * and it has another number after it has changed.  The kernel itself identifies it by two
 * inodes, a function by process, address and check.  These mean nothing once the file is gone,
 * so they are not in the trace.
 *
 * The files trace, trace_pipe and snapshot print paths from this table.  It holds
 * USER_FILES_MAX files, and as many functions.  Then it forgets one that was not met for
 * long.  If that one is met again, it gets another number.
 */

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/iversion.h>
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string_helpers.h>
#include <linux/unwind_chain.h>

#include "trace_user_unwind.h"

#define USER_FILES_MAX		4096

/* Room for a path; each of its newlines may take four bytes */
#define USER_PATH_MAX		1024

static_assert(UNWIND_TEXT_UNNAMED < USER_FILE_FIRST_ID);

static const char * const text_names[] = {
	[UNWIND_TEXT_NONE]	= "[none]",
	[UNWIND_TEXT_ANON]	= "[anon]",
	[UNWIND_TEXT_JIT]	= "[jit]",
	[UNWIND_TEXT_VDSO]	= "[vdso]",
	/* The number of its kind stands for all that are cut off */
	[UNWIND_TEXT_FUNCTION]	= "[more functions]",
	[UNWIND_TEXT_UNNAMED]	= "[function]",
};

/* Changes with the file.  Some file systems count changes, others have the tick of the last one. */
static u64 file_version(struct inode *inode)
{
	struct timespec64 changed;

	if (IS_I_VERSION(inode))
		return inode_query_iversion(inode);
	changed = inode_get_ctime(inode);
	return timespec64_to_ns(&changed);
}

/*
 * The inode that is mapped is not the one that the task sees where an overlay passes the file
 * of another file system on.  Each has a number of its own since boot.
 */
static struct trace_user_identity file_identity(struct file *file)
{
	struct inode *mapped = file_inode(file);
	struct inode *seen = d_inode(file_user_path(file)->dentry);

	return (struct trace_user_identity){
		.number = get_object_id(&mapped->i_sequence),
		.owner = get_object_id(&seen->i_sequence),
		.check = hash_64(file_version(mapped), 32),
		.kind = UNWIND_TEXT_FILE,
	};
}

/* The check is different for other functions; a program has other ones than the one before */
static struct trace_user_identity function_identity(const struct unwind_chain_frame *frame)
{
	return (struct trace_user_identity){
		.number = frame->function,
		.owner = current->tgid,
		.check = frame->check ^ hash_32(current->self_exec_id, 32),
		.kind = UNWIND_TEXT_FUNCTION,
	};
}

static u32 identity_hash(const struct trace_user_files *files,
			 const struct trace_user_identity *identity)
{
	return jhash(identity, sizeof(*identity), files->seed);
}

/* Call this under RCU, or with the lock */
static struct trace_user_file *find_file(struct trace_user_files *files,
					 const struct trace_user_identity *identity)
{
	struct trace_user_file *file;

	hash_for_each_possible_rcu(files->by_identity, file, by_identity,
				   identity_hash(files, identity),
				   lockdep_is_held(&files->lock)) {
		if (!memcmp(&file->identity, identity, sizeof(*identity)))
			return file;
	}
	return NULL;
}

/* The number of a file that is met; 0 if it is not in the table */
static u32 known_id(struct trace_user_files *files, const struct trace_user_identity *identity)
{
	struct trace_user_file *known;

	guard(rcu)();
	known = find_file(files, identity);
	if (!known)
		return 0;
	if (!READ_ONCE(known->met))
		WRITE_ONCE(known->met, true);
	return known->id;
}

/* The file, or kind of text, that has a number; call this under RCU */
static const struct trace_user_file *file_of(struct trace_user_files *files, u32 id)
{
	return id < USER_FILE_FIRST_ID ? files->text[id] : xa_load(&files->by_id, id);
}

static struct trace_user_file *alloc_file(const char *path, u32 kind)
{
	size_t size = strlen(path) + 1;
	struct trace_user_file *file;

	file = kzalloc(struct_size(file, path, size), GFP_KERNEL | __GFP_NOWARN);
	if (!file)
		return NULL;
	file->identity.kind = kind;
	memcpy(file->path, path, size);
	return file;
}

/* What a terminal would obey */
static const char controls[] =
	"\001\002\003\004\005\006\007\010\011\012\013\014\015\016\017\020"
	"\021\022\023\024\025\026\027\030\031\032\033\034\035\036\037\177";

/*
 * The path as one line, whatever bytes it has; only the end of a long one.  Or false: there is
 * no memory, and the file may have its path with the next stack.
 */
static bool copy_path(struct file *file, char *out)
{
	char *page, *path;
	size_t len;

	strscpy(out, "?", USER_PATH_MAX);
	/* Not __getname(): without memory, that writes to the kernel's log */
	page = kmalloc(PATH_MAX, GFP_KERNEL | __GFP_NOWARN);
	if (!page)
		return false;
	path = d_path(file_user_path(file), page, PATH_MAX);
	if (!IS_ERR(path)) {
		len = strlen(path);
		if (len > USER_PATH_MAX / 4 - 1)
			path += len - (USER_PATH_MAX / 4 - 1);
		len = string_escape_mem(path, strlen(path), out,
					USER_PATH_MAX - 1, ESCAPE_OCTAL, controls);
		out[len] = '\0';
	}
	kfree(page);
	return true;
}

/*
 * Collect the data of a file.  This reads its headers only if they are in the page cache.
 * As a rule they are: the exec of the file, or a search for its table, has read them.
 */
static struct trace_user_file *describe_file(struct vm_area_struct *vma)
{
	struct trace_user_file *new = NULL;
	char *path;

	path = kmalloc(USER_PATH_MAX, GFP_KERNEL | __GFP_NOWARN);
	if (!path)
		return NULL;
	if (copy_path(vma->vm_file, path))
		new = alloc_file(path, UNWIND_TEXT_FILE);
	kfree(path);
	if (new && build_id_parse_nofault(vma, new->build_id, &new->build_id_size))
		new->build_id_size = 0;
	return new;
}

/* The function's name, and in brackets its file and line */
static struct trace_user_file *describe_function(struct unwind_chain_stack *stack,
						 const struct unwind_chain_frame *frame)
{
	char text[2 * UNWIND_CHAIN_NAME_SIZE + 32];
	struct unwind_chain_name name;
	struct seq_buf s;

	/* Whatever is missing may be there the next time */
	if (!unwind_chain_name(stack, frame, &name, false) || (!name.name[0] && !name.file[0]))
		return NULL;
	seq_buf_init(&s, text, sizeof(text));
	seq_buf_puts(&s, name.name[0] ? name.name : "[unnamed]");
	if (name.file[0] && name.line)
		seq_buf_printf(&s, " (%s:%u)", name.file, name.line);
	else if (name.file[0])
		seq_buf_printf(&s, " (%s)", name.file);
	return alloc_file(seq_buf_str(&s), UNWIND_TEXT_FUNCTION);
}

static struct trace_user_ages *ages_of(struct trace_user_files *files,
				       const struct trace_user_file *file)
{
	return file->identity.kind == UNWIND_TEXT_FUNCTION ? &files->functions : &files->files;
}

/* The oldest, after all that were met have been spared once */
static struct trace_user_file *find_oldest(struct trace_user_ages *ages)
{
	struct trace_user_file *file;
	unsigned int i;

	for (i = 0; i <= ages->nr; i++) {
		file = list_first_entry(&ages->list, struct trace_user_file, age);
		if (!READ_ONCE(file->met))
			break;
		WRITE_ONCE(file->met, false);
		list_move_tail(&file->age, &ages->list);
	}
	return file;
}

static void forget_oldest(struct trace_user_files *files, struct trace_user_ages *ages)
{
	struct trace_user_file *file = find_oldest(ages);

	hash_del_rcu(&file->by_identity);
	list_del(&file->age);
	xa_erase(&files->by_id, file->id);
	kfree_rcu(file, rcu);
	ages->nr--;
}

static int insert_file(struct trace_user_files *files,
		       struct trace_user_file *new)
{
	struct trace_user_ages *ages = ages_of(files, new);
	int ret;

	lockdep_assert_held(&files->lock);

	if (ages->nr == USER_FILES_MAX)
		forget_oldest(files, ages);
	/* After a day of new functions without end, numbers that are in use come again */
	do {
		new->id = files->next_id;
		ret = xa_insert(&files->by_id, new->id, new, GFP_KERNEL | __GFP_NOWARN);
		if (ret && ret != -EBUSY)
			return ret;
		files->next_id = max(files->next_id + 1, USER_FILE_FIRST_ID);
	} while (ret);
	list_add_tail(&new->age, &ages->list);
	ages->nr++;
	return 0;
}

/* The number of a new file, unless another task was faster */
static u32 add_file(struct trace_user_files *files, const struct trace_user_identity *identity,
		    struct trace_user_file *new)
{
	struct trace_user_file *old;

	if (!new)
		return UNWIND_TEXT_NONE;
	new->identity = *identity;

	guard(mutex)(&files->lock);
	old = find_file(files, identity);
	if (old || insert_file(files, new)) {
		kfree(new);
		return old ? old->id : UNWIND_TEXT_NONE;
	}
	hash_add_rcu(files->by_identity, &new->by_identity, identity_hash(files, identity));
	return new->id;
}

/**
 * trace_user_file_id - the number of a file, which may be new
 * @files: the trace array's
 * @vma: a mapping of it
 *
 * Context: task; may sleep; with the mapping locked, or the mmap lock held.
 * Return: its number; the number of unknown text if there is no memory.
 */
u32 trace_user_file_id(struct trace_user_files *files, struct vm_area_struct *vma)
{
	const struct trace_user_identity identity = file_identity(vma->vm_file);

	might_sleep();
	return known_id(files, &identity) ?: add_file(files, &identity, describe_file(vma));
}

/**
 * trace_user_function_id - the number of a function of a language, which may be new
 * @files: the trace array's
 * @stack: frames of the current task
 * @frame: one of them
 * @names: how many names may still be read for this stack
 *
 * Context: as unwind_chain_name().
 * Return: its number; the number of unnamed ones if there is no name, or no memory.
 */
u32 trace_user_function_id(struct trace_user_files *files, struct unwind_chain_stack *stack,
			   const struct unwind_chain_frame *frame, unsigned int *names)
{
	const struct trace_user_identity identity = function_identity(frame);
	u32 id = known_id(files, &identity);

	might_sleep();
	if (!id && *names) {
		--*names;
		id = add_file(files, &identity, describe_function(stack, frame));
	}
	return id ?: UNWIND_TEXT_UNNAMED;
}

/*
 * Announcements
 *
 * Events are lost, and read, by whole sub-buffers of one CPU's buffer; the oldest are
 * overwritten first.  So an announcement is written to the buffer that the stack goes to, and
 *
 *   - before the stack, unless the current sub-buffer has it already: a reader that follows
 *     the trace knows the number when it gets the stack;
 *   - after the stack, if the stack did not go into the same sub-buffer: it may outlive what
 *     was written before it, not what is written after it.
 *
 * When the buffer is emptied or swapped for a snapshot, @resets of &struct trace_user_unwind
 * changes, and all are announced anew.
 */

static u32 put_data(void *entry, u32 *end, const void *data, size_t size)
{
	u32 loc = size << 16 | *end;

	memcpy(entry + *end, data, size);
	*end += size;
	return loc;
}

static bool write_file(const struct trace_user_event *to, const struct trace_user_file *file)
{
	size_t path_size = strlen(file->path) + 1;
	struct user_unwind_file_entry *entry;
	struct ring_buffer_event *event;
	u32 end = sizeof(*entry);

	event = trace_buffer_lock_reserve(to->buffer, TRACE_USER_UNWIND_FILE,
					  end + file->build_id_size + path_size,
					  to->trace_ctx);
	if (!event)
		return false;
	entry = ring_buffer_event_data(event);
	entry->ent.pid = to->task->pid;
	entry->file = file->id;
	entry->kind = file->identity.kind;
	entry->__data_loc_path = put_data(entry, &end, file->path, path_size);
	entry->__data_loc_build_id = put_data(entry, &end, file->build_id,
					      file->build_id_size);
	trace_buffer_unlock_commit_nostack(to->buffer, event);
	return true;
}

/* A new sub-buffer explains nothing yet */
static void renew_announced(struct trace_user_announced *announced,
			    struct trace_buffer *buffer, unsigned int resets)
{
	struct ring_buffer_subbuf now = ring_buffer_write_subbuf(buffer, smp_processor_id());

	if (announced->subbuf.page == now.page && announced->subbuf.nr == now.nr &&
	    announced->resets == resets)
		return;
	announced->subbuf = now;
	announced->resets = resets;
	memset(announced->ids, 0xff, sizeof(announced->ids));
}

/**
 * trace_user_file_announce - make sure that the current sub-buffer explains a number
 * @unwind: the trace array's
 * @to: where it is written
 * @id: the number
 *
 * When this returns, the announcement is in the sub-buffer or in a later one, unless tracing
 * is off.
 *
 * Context: interrupts disabled.
 * Return: whether it was written now.
 */
bool trace_user_file_announce(struct trace_user_unwind *unwind,
			      const struct trace_user_event *to, u32 id)
{
	struct trace_user_announced *announced = this_cpu_ptr(unwind->announced);
	u32 *slot = &announced->ids[id % USER_ANNOUNCED];
	const struct trace_user_file *file;

	/* As the sub-buffer may end here, an announcement counts for the one that was current */
	renew_announced(announced, to->buffer, atomic_read(&unwind->resets));
	if (*slot == id)
		return false;

	guard(rcu)();
	file = file_of(&unwind->files, id);
	if (!file || !write_file(to, file))
		return false;
	*slot = id;
	return true;
}

/**
 * trace_user_file_print - print the place of a frame
 * @s: destination
 * @tr: the trace array
 * @id: number of the frame's file, or kind of text
 * @offset: offset in that
 * @build: whether to print the build-id
 *
 * Context: any, as the trace may be dumped to the console.
 */
void trace_user_file_print(struct seq_buf *s, struct trace_array *tr, u32 id,
			   u64 offset, bool build)
{
	struct trace_user_unwind *unwind = READ_ONCE(tr->user_unwind);
	const struct trace_user_file *file = NULL;

	guard(rcu)();
	if (unwind)
		file = file_of(&unwind->files, id);
	if (!file) {
		seq_buf_printf(s, "file#0x%x+0x%llx", id, offset);
		return;
	}
	seq_buf_puts(s, file->path);
	if (file->identity.kind < UNWIND_TEXT_FUNCTION)
		seq_buf_printf(s, "+0x%llx", offset);
	if (build && file->build_id_size)
		seq_buf_printf(s, " [%*phN]", (int)file->build_id_size,
			       file->build_id);
}

/*
 * Setup and teardown
 */

/**
 * trace_user_files_init - start with no files, only the kinds of text that is in none
 * @files: zeroed
 * @first_id: the first file's number
 *
 * Return: 0 or -ENOMEM; on failure, nothing is left allocated.
 */
int trace_user_files_init(struct trace_user_files *files, u32 first_id)
{
	u32 kind;

	mutex_init(&files->lock);
	xa_init(&files->by_id);
	hash_init(files->by_identity);
	files->seed = get_random_u32();
	INIT_LIST_HEAD(&files->files.list);
	INIT_LIST_HEAD(&files->functions.list);
	files->next_id = max(first_id, USER_FILE_FIRST_ID);

	/* The option may be set on the kernel's command line, before there are XArrays */
	for (kind = 0; kind < ARRAY_SIZE(text_names); kind++) {
		if (!text_names[kind])
			continue;
		files->text[kind] = alloc_file(text_names[kind], kind);
		if (!files->text[kind]) {
			trace_user_files_destroy(files);
			return -ENOMEM;
		}
		files->text[kind]->id = kind;
	}
	return 0;
}

/**
 * trace_user_files_destroy - free all files
 * @files: without users that add or print
 */
void trace_user_files_destroy(struct trace_user_files *files)
{
	struct trace_user_file *file;
	unsigned long id;
	u32 kind;

	xa_for_each(&files->by_id, id, file)
		kfree_rcu(file, rcu);
	for (kind = 0; kind < ARRAY_SIZE(files->text); kind++) {
		if (files->text[kind])
			kfree_rcu(files->text[kind], rcu);
	}
	xa_destroy(&files->by_id);
	mutex_destroy(&files->lock);
}
