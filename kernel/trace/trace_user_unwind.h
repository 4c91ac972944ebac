/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deferred user stacks in the trace: functions for the rest of tracing, and state that
 * trace_user_unwind.c, trace_user_file.c and trace_user_stack.c share.
 */
#ifndef _KERNEL_TRACE_USER_UNWIND_H
#define _KERNEL_TRACE_USER_UNWIND_H

#include <linux/atomic.h>
#include <linux/buildid.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/ring_buffer.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <linux/types.h>
#include <linux/unwind_chain.h>
#include <linux/unwind_deferred.h>
#include <linux/unwind_stack_types.h>
#include <linux/xarray.h>

#include "trace.h"

#ifdef CONFIG_TRACE_USER_UNWIND

/* Numbers below this are for text that is in no file */
#define USER_FILE_FIRST_ID	16
#define USER_FILE_HASH_BITS	8
#define USER_STACK_HASH_BITS	10

/* Slots for the numbers of a sub-buffer.  Of two in one slot, one is announced again */
#define USER_ANNOUNCED		256

/**
 * struct trace_user_identity - what the kernel knows a file, or a function, by
 * @number: get_object_id() of the inode that is mapped; address of the function
 * @owner: get_object_id() of the inode that the task sees; the function's process
 * @check: distinguishes states of a file, and functions
 * @kind: one of &enum unwind_text_kind
 */
struct trace_user_identity {
	u64	number;
	u64	owner;
	u32	check;
	u32	kind;
};

/**
 * struct trace_user_file - the file, the function, or the kind of text, of a frame
 * @by_identity: in the table, if this is a file or a function
 * @age: in the table, the oldest first
 * @identity: what it is known by
 * @id: its number in the trace; never used again for another
 * @build_id_size: bytes of @build_id, 0 if it has none
 * @build_id: identifies the build
 * @met: a stack had it since it was last spared
 * @rcu: frees it after a grace period: a reader that prints a trace may still use it
 * @path: its path; a function's name, file and line; a name in brackets for other text
 */
struct trace_user_file {
	struct hlist_node		by_identity;
	struct list_head		age;
	struct trace_user_identity	identity;
	u32				id;
	u32				build_id_size;
	unsigned char			build_id[BUILD_ID_SIZE_MAX];
	bool				met;
	struct rcu_head			rcu;
	char				path[];
};

/**
 * struct trace_user_ages - files, or functions, that may be removed to make room
 * @list: the oldest first
 * @nr: its length
 */
struct trace_user_ages {
	struct list_head	list;
	unsigned int		nr;
};

/**
 * struct trace_user_files - the files of the user stacks of a trace array
 * @lock: held for changes
 * @text: the kinds of text that is in no file, by their numbers
 * @by_id: from the number in the trace to &struct trace_user_file; read under RCU
 * @by_identity: files and functions; read under RCU
 * @seed: of the hash: programs choose what a function is known by
 * @files: by age
 * @functions: by age, so that a process with many functions drives out no files
 * @next_id: for the next one
 */
struct trace_user_files {
	struct mutex		lock;	/* for changes */
	struct trace_user_file	*text[USER_FILE_FIRST_ID];
	struct xarray		by_id;
	DECLARE_HASHTABLE(by_identity, USER_FILE_HASH_BITS);
	u32			seed;
	struct trace_user_ages	files;
	struct trace_user_ages	functions;
	u32			next_id;
};

/**
 * struct trace_user_frame - a frame of a stack that is about to be written
 * @offset: offset of its address in its file or kind of text
 * @ip: its address; a function's
 * @id: number of its file, function or kind of text in the trace
 */
struct trace_user_frame {
	u64		offset;
	unsigned long	ip;
	u32		id;
};

/**
 * struct trace_user_announced - numbers that a CPU's current sub-buffer explains
 * @subbuf: the sub-buffer
 * @resets: the trace array's count at that time
 * @ids: numbers, each in the slot that it hashes to
 *
 * Changed only by the CPU, with interrupts disabled.
 */
struct trace_user_announced {
	struct ring_buffer_subbuf	subbuf;
	unsigned int			resets;
	u32				ids[USER_ANNOUNCED];
};

/**
 * struct trace_user_event - what events of a task have in common
 * @buffer: where they are written
 * @task: the task
 * @trace_ctx: its context
 */
struct trace_user_event {
	struct trace_buffer		*buffer;
	const struct task_struct	*task;
	unsigned int			trace_ctx;
};

/**
 * struct trace_user_stacks - the user stacks of a trace array that are counted
 * @lock: held for changes
 * @by_id: from the number in the trace to the stack; read under @lock
 * @by_hash: by their frames
 * @seed: of the hash: programs choose their stacks
 * @nr_frames: number of frames of all stacks
 * @next_id: for the next one
 */
struct trace_user_stacks {
	struct mutex		lock;	/* protects all members */
	struct xarray		by_id;
	DECLARE_HASHTABLE(by_hash, USER_STACK_HASH_BITS);
	u32			seed;
	unsigned int		nr_frames;
	u32			next_id;
};

/**
 * struct trace_user_unwind - a trace array as a client of deferred unwinding
 * @work: registered while @users is not 0, until the trace array goes
 * @tr: the trace array
 * @users: number of options and triggers that make requests; under event_mutex
 * @is_client: @work is registered
 * @resets: counts how often the buffer was emptied or swapped; changed in any context
 * @announced: per CPU, what need not be announced
 * @files: the files of the frames
 * @stacks: the stacks that hist triggers count
 */
struct trace_user_unwind {
	struct unwind_work	work;
	struct trace_array	*tr;
	unsigned int		users;
	bool			is_client;
	atomic_t		resets;
	struct trace_user_announced __percpu *announced;
	struct trace_user_files	files;
	struct trace_user_stacks stacks;
};

/* For the rest of tracing */
int trace_user_unwind_get(struct trace_array *tr);
void trace_user_unwind_put(struct trace_array *tr);
void trace_user_unwind_stop(struct trace_array *tr);
void trace_user_unwind_free(struct trace_array *tr);
void trace_user_unwind_reset(struct trace_array *tr);
void trace_user_unwind_init_file(struct trace_array *tr);
void trace_user_unwind(struct trace_array *tr, struct trace_buffer *buffer,
		       unsigned int trace_ctx);

/* trace_user_file.c */
int trace_user_files_init(struct trace_user_files *files, u32 first_id);
void trace_user_files_destroy(struct trace_user_files *files);
u32 trace_user_file_id(struct trace_user_files *files, struct vm_area_struct *vma);
u32 trace_user_function_id(struct trace_user_files *files, struct unwind_chain_stack *stack,
			   const struct unwind_chain_frame *frame, unsigned int *names);
bool trace_user_file_announce(struct trace_user_unwind *unwind,
			      const struct trace_user_event *to, u32 id);
void trace_user_file_print(struct seq_buf *s, struct trace_array *tr, u32 id,
			   u64 offset, bool build);

/* trace_user_stack.c */
void trace_user_stacks_init(struct trace_user_stacks *stacks);
void trace_user_stacks_destroy(struct trace_user_stacks *stacks);
u32 trace_user_stack_id(struct trace_user_stacks *stacks,
			const struct trace_user_frame *frames, unsigned int nr);
void trace_user_stack_show(struct seq_file *m, struct trace_array *tr, u32 id);
void trace_user_stacks_renew(const struct trace_event_file *file);
bool trace_user_stack_is_field(const struct trace_event_call *call,
			       const char *name);

#else

static inline int trace_user_unwind_get(struct trace_array *tr)
{
	return -EOPNOTSUPP;
}

static inline void trace_user_unwind_put(struct trace_array *tr) { }
static inline void trace_user_unwind_stop(struct trace_array *tr) { }
static inline void trace_user_unwind_free(struct trace_array *tr) { }
static inline void trace_user_unwind_reset(struct trace_array *tr) { }
static inline void trace_user_unwind_init_file(struct trace_array *tr) { }
static inline bool trace_user_stack_is_field(const struct trace_event_call *call,
					     const char *name)
{
	return false;
}

static inline void trace_user_stack_show(struct seq_file *m,
					 struct trace_array *tr, u32 id) { }
static inline void trace_user_stacks_renew(const struct trace_event_file *file) { }
static inline void trace_user_unwind(struct trace_array *tr,
				     struct trace_buffer *buffer,
				     unsigned int trace_ctx) { }

#endif /* CONFIG_TRACE_USER_UNWIND */

#endif /* _KERNEL_TRACE_USER_UNWIND_H */
