// SPDX-License-Identifier: GPL-2.0
/*
 * The files of the user stacks of a trace array.
 *
 *   user_unwind_file    number, path, build-id
 *   user_unwind_stack   cookie, (number, offset) per frame
 *
 * Each file with a frame has a number, by which stacks name it.  An event,
 * user_unwind_file, announces the number: it has the build-id, and the path that the
 * task saw when the file was first met.  It is written before the first stack with that
 * number.  Text that is in no file has the number of its kind (&enum unwind_text_kind),
 * which is announced in the same way.  So are functions of interpreted languages: their
 * name, file and line stand in the place of a path.
 *
 * The kernel itself identifies a file by device, inode number and generation, a function by
 * process, address and check.  These mean nothing once the file is gone, so they are not in
 * the trace.
 *
 * The files trace, trace_pipe and snapshot print paths from this table, whether or not
 * announcements are still in the buffer.  The table holds USER_FILES_MAX files, and as many
 * functions.  Then it forgets the one with the oldest announcement.  If that one is met
 * again, it gets another number.
 */

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string_helpers.h>
#include <linux/unwind_chain.h>

#include "trace_user_unwind.h"

#define USER_FILES_MAX		4096

/* Numbers below this are for text that is in no file */
#define USER_FILE_FIRST_ID	16

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

static struct trace_user_identity file_identity(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	return (struct trace_user_identity){
		.number = inode->i_ino,
		.owner = inode->i_sb->s_dev,
		.generation = inode->i_generation,
		.kind = UNWIND_TEXT_FILE,
	};
}

/* The check is different for other functions; a program has other ones than the one before */
static struct trace_user_identity function_identity(const struct unwind_chain_frame *frame)
{
	return (struct trace_user_identity){
		.number = frame->function,
		.owner = current->tgid,
		.generation = frame->check ^ hash_32(current->self_exec_id, 32),
		.kind = UNWIND_TEXT_FUNCTION,
	};
}

static u64 identity_hash(const struct trace_user_identity *identity)
{
	return hash_64(identity->number, 32) ^ identity->owner ^ identity->generation;
}

/* Call this under RCU, or with the lock */
static struct trace_user_file *find_file(struct trace_user_files *files,
					 const struct trace_user_identity *identity)
{
	struct trace_user_file *file;

	hash_for_each_possible_rcu(files->by_identity, file, by_identity,
				   identity_hash(identity),
				   lockdep_is_held(&files->lock)) {
		if (!memcmp(&file->identity, identity, sizeof(*identity)))
			return file;
	}
	return NULL;
}

/* The number of a file in the table, or 0 */
static u32 known_id(struct trace_user_files *files, const struct trace_user_identity *identity)
{
	struct trace_user_file *known;

	guard(rcu)();
	known = find_file(files, identity);
	return known ? known->id : 0;
}

static struct trace_user_file *alloc_file(const char *path, u32 kind)
{
	size_t size = strlen(path) + 1;
	struct trace_user_file *file;

	file = kzalloc(struct_size(file, path, size), GFP_KERNEL);
	if (!file)
		return NULL;
	file->identity.kind = kind;
	memcpy(file->path, path, size);
	return file;
}

/*
 * The path as one line, whatever bytes it has; only the end of a long one.  Or false: there is
 * no memory, and the file may have its path with the next stack.
 */
static bool copy_path(struct file *file, char *out)
{
	char *page, *path;
	size_t len;

	strscpy(out, "?", USER_PATH_MAX);
	page = __getname();
	if (!page)
		return false;
	path = d_path(file_user_path(file), page, PATH_MAX);
	if (!IS_ERR(path)) {
		len = strlen(path);
		if (len > USER_PATH_MAX / 4 - 1)
			path += len - (USER_PATH_MAX / 4 - 1);
		len = string_escape_mem(path, strlen(path), out,
					USER_PATH_MAX - 1, ESCAPE_OCTAL, "\n");
		out[len] = '\0';
	}
	__putname(page);
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

	path = kmalloc(USER_PATH_MAX, GFP_KERNEL);
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

static void forget_oldest(struct trace_user_files *files, struct trace_user_ages *ages)
{
	struct trace_user_file *file = list_first_entry(&ages->list,
						struct trace_user_file, age);

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
	new->id = files->next_id;
	ret = xa_err(xa_store(&files->by_id, new->id, new, GFP_KERNEL));
	if (ret)
		return ret;
	files->next_id = max(files->next_id + 1, USER_FILE_FIRST_ID);
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
	hash_add_rcu(files->by_identity, &new->by_identity, identity_hash(identity));
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
 * A file is announced once, and again when the announcement may be lost.  A reader that
 * takes events out of the buffer has the announcement.  But the buffer can also be
 * emptied, swapped for a snapshot, or overwritten:
 *
 *   - @resets of &struct trace_user_unwind counts each time that the buffer is emptied
 *     or swapped.  Files that were announced before that are announced anew.
 *   - The oldest events are overwritten.  The announcement is written again when events
 *     that its CPU has written since would fill a third of the buffer: some time before
 *     it is overwritten.  So the buffer always has an announcement of a file in use.
 *     Once a file is not met any more, its announcement is overwritten before the last
 *     of its stacks.
 */

static unsigned long events_written(struct trace_buffer *buffer, int cpu)
{
	return ring_buffer_entries_cpu(buffer, cpu) +
	       ring_buffer_overrun_cpu(buffer, cpu) +
	       ring_buffer_read_events_cpu(buffer, cpu);
}

/*
 * Is the announcement about to be overwritten?  The mean size of the buffer's events
 * gives an estimate of the bytes that were written since.
 */
static bool is_old(struct trace_buffer *buffer, int cpu, unsigned long since)
{
	u64 entries = ring_buffer_entries_cpu(buffer, cpu);
	u64 bytes = ring_buffer_bytes_cpu(buffer, cpu);

	return since * bytes > entries * ring_buffer_size(buffer, cpu) / 3;
}

/* May be wrong while another task announces the file; the caller then waits for it */
static bool is_announced(struct trace_user_unwind *unwind,
			 const struct trace_user_announcement *announced)
{
	struct trace_buffer *buffer = unwind->tr->array_buffer.buffer;
	int cpu = READ_ONCE(announced->cpu);

	return READ_ONCE(announced->resets) == atomic_read(&unwind->resets) &&
	       !is_old(buffer, cpu, events_written(buffer, cpu) -
				    READ_ONCE(announced->written));
}

static u32 put_data(void *entry, u32 *end, const void *data, size_t size)
{
	u32 loc = size << 16 | *end;

	memcpy(entry + *end, data, size);
	*end += size;
	return loc;
}

/**
 * struct file_to_write - an event that announces a file
 * @buffer: where it is written
 * @task: the task that met the file
 * @trace_ctx: its context
 * @file: the file
 * @cpu: set to the buffer's CPU; -1 if there was no room, or tracing is off
 */
struct file_to_write {
	struct trace_buffer		*buffer;
	const struct task_struct	*task;
	unsigned int			trace_ctx;
	const struct trace_user_file	*file;
	int				cpu;
};

static void write_file(void *info)
{
	struct file_to_write *write = info;
	const struct trace_user_file *file = write->file;
	struct trace_buffer *buffer = write->buffer;
	size_t path_size = strlen(file->path) + 1;
	struct user_unwind_file_entry *entry;
	struct ring_buffer_event *event;
	u32 end = sizeof(*entry);

	event = trace_buffer_lock_reserve(buffer, TRACE_USER_UNWIND_FILE,
					  end + file->build_id_size + path_size,
					  write->trace_ctx);
	if (!event)
		return;
	write->cpu = smp_processor_id();
	entry = ring_buffer_event_data(event);
	entry->ent.pid = write->task->pid;
	entry->file = file->id;
	entry->kind = file->identity.kind;
	entry->__data_loc_path = put_data(entry, &end, file->path, path_size);
	entry->__data_loc_build_id = put_data(entry, &end, file->build_id,
					      file->build_id_size);
	trace_buffer_unlock_commit_nostack(buffer, event);
}

static void announce(struct trace_user_unwind *unwind,
		     struct trace_user_file *file)
{
	struct trace_buffer *buffer = unwind->tr->array_buffer.buffer;
	struct trace_user_announcement *announced = &file->announced;
	/* If the buffer is reset or swapped meanwhile, the file is announced again */
	unsigned int resets = atomic_read(&unwind->resets);
	struct file_to_write write = {
		.buffer = buffer,
		.task = current,
		.trace_ctx = tracing_gen_ctx(),
		.file = file,
		.cpu = -1,
	};

	lockdep_assert_held(&unwind->files.lock);

	trace_user_write(unwind->tr, write_file, &write);
	if (write.cpu < 0)
		return;
	WRITE_ONCE(announced->cpu, write.cpu);
	WRITE_ONCE(announced->written, events_written(buffer, write.cpu));
	WRITE_ONCE(announced->resets, resets);
	if (file->id >= USER_FILE_FIRST_ID)
		list_move_tail(&file->age, &ages_of(&unwind->files, file)->list);
}

/**
 * trace_user_file_announce - make sure that the trace explains a number
 * @unwind: the trace array's
 * @id: the number
 *
 * When this returns, the announcement is in the buffer, unless tracing is off.
 *
 * Context: task; may sleep.
 */
void trace_user_file_announce(struct trace_user_unwind *unwind, u32 id)
{
	struct trace_user_files *files = &unwind->files;
	struct trace_user_file *file;

	scoped_guard(rcu) {
		file = xa_load(&files->by_id, id);
		if (!file || is_announced(unwind, &file->announced))
			return;
	}

	guard(mutex)(&files->lock);
	file = xa_load(&files->by_id, id);
	if (file && !is_announced(unwind, &file->announced))
		announce(unwind, file);
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
		file = xa_load(&unwind->files.by_id, id);
	if (!file) {
		seq_buf_printf(s, "file#%u+0x%llx", id, offset);
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
 *
 * Return: 0 or -ENOMEM; on failure, nothing is left allocated.
 */
int trace_user_files_init(struct trace_user_files *files)
{
	struct trace_user_file *text;
	u32 kind;

	mutex_init(&files->lock);
	xa_init(&files->by_id);
	hash_init(files->by_identity);
	INIT_LIST_HEAD(&files->files.list);
	INIT_LIST_HEAD(&files->functions.list);
	files->next_id = USER_FILE_FIRST_ID;

	for (kind = 0; kind < ARRAY_SIZE(text_names); kind++) {
		if (!text_names[kind])
			continue;
		text = alloc_file(text_names[kind], kind);
		if (!text)
			break;
		text->id = kind;
		if (xa_err(xa_store(&files->by_id, kind, text, GFP_KERNEL))) {
			kfree(text);
			break;
		}
	}
	if (kind == ARRAY_SIZE(text_names))
		return 0;
	trace_user_files_destroy(files);
	return -ENOMEM;
}

/**
 * trace_user_files_destroy - free all files
 * @files: without users that add or print
 */
void trace_user_files_destroy(struct trace_user_files *files)
{
	struct trace_user_file *file;
	unsigned long id;

	xa_for_each(&files->by_id, id, file)
		kfree_rcu(file, rcu);
	xa_destroy(&files->by_id);
	mutex_destroy(&files->lock);
}
