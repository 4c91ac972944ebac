// SPDX-License-Identifier: GPL-2.0
/*
 * From the records of the ring buffer to samples and stacks, see profile.h.
 *
 * The kernel's table of digests says which stacks were sent. The table here has what they
 * are. If a stack cannot be remembered, because this table is full, or a file of it was
 * not found, its digest is taken out of the kernel's table, and the stack is sent again
 * the next time. Until then the kernel may have sent that digest for more samples. Only a
 * full table leaves a digest unknown, so these samples are beyond the bound, too.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "counts.h"
#include "files.h"
#include "join.h"
#include "profile.h"
#include "records.h"
#include "table.h"

/* The place of a function that no known native frame executes */
#define APART		0xffff

/* Processes that have the same stack each have its digest */
#define PER_STACK	4

static struct table digests, functions;
static unsigned int *digest_stack, *function_location;
static size_t digest_room, function_room;
static int sent_map;
static unsigned int no_name;

/* Records may come faster than they are handled; the time to end must be noticed */
#define RECORDS_PER_TURN	100000

static unsigned int left;

void init_records(int sent, unsigned int max_stacks)
{
	struct location none = {
		.kind = AT_FUNCTION,
		.of = add_string("[function]", strlen("[function]")),
	};

	sent_map = sent;
	digests.max = PER_STACK * max_stacks;
	functions.max = PER_STACK * max_stacks;
	no_name = add_location(&none);
}

static void on_sample(const struct profile_sample *record)
{
	struct location location = { .kind = AT_KERNEL };
	unsigned int kernel[FRAMES], i;
	struct sample sample = {
		.thread = { .pid = record->head.pid, .tid = record->head.tid },
		.cpu = record->head.cpu,
		.cookie = record->head.cookie,
		.time = record->time,
		.asleep = record->asleep,
	};

	memcpy(sample.thread.comm, record->comm, strnlen(record->comm, COMM_LEN));
	for (i = 0; i < record->nr; i++) {
		location.at = record->ips[i] - (i > 0);
		kernel[i] = add_location(&location);
	}
	sample.kernel = add_stack(kernel, record->nr);
	join_sample(&sample);
}

static void on_name(const struct profile_name *record)
{
	struct location location = {
		.kind = AT_FUNCTION,
		.of = add_string(record->of.name, NAME_LEN),
		.source = add_string(record->of.file, NAME_LEN),
		.line = record->of.line,
	};
	int number = table_add(&functions, &record->key, sizeof(record->key));

	if (number < 0)
		return;
	function_location = table_array(&functions, function_location, &function_room,
					sizeof(*function_location));
	function_location[number] = location.of == NO_STRING ? no_name : add_location(&location);
}

static unsigned int find_function(const struct profile_stack *stack,
				  const struct profile_frame *frame)
{
	struct profile_function key = { frame->function, frame->check, stack->key.process };
	int number = table_find(&functions, &key, sizeof(key));

	return number < 0 ? no_name : function_location[number];
}

/* The functions that a native frame executes, innermost first */
static unsigned int add_functions(const struct profile_stack *stack, unsigned int place,
				  unsigned int *to, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < stack->nr_frames; i++)
		if (stack->frames[i].place == place)
			to[nr++] = find_function(stack, &stack->frames[i]);
	return nr;
}

/* @whole: all files were found in the process; if it has ended, the next one may have them */
static unsigned int add_user_stack(const struct profile_stack *stack, bool *whole)
{
	struct process process = { .pid = stack->head.pid };
	struct location location;
	unsigned int to[LOCATIONS], nr = 0, i;

	for (i = 0; i < stack->nr; i++) {
		nr = add_functions(stack, i, to, nr);
		locate(&process, stack->ips[i], &stack->ids[i], &location);
		*whole &= location.kind != AT_FILE || file(location.of)->path != NO_STRING;
		location.at -= i > 0;
		to[nr++] = add_location(&location);
	}
	nr = add_functions(stack, APART, to, nr);
	close_process(&process);
	return add_stack(to, nr);
}

static void on_stack(const struct profile_stack *record)
{
	bool whole = true;
	unsigned int user = add_user_stack(record, &whole);
	int number = table_add(&digests, &record->key, sizeof(record->key));

	if (number >= 0) {
		digest_stack = table_array(&digests, digest_stack, &digest_room,
					   sizeof(*digest_stack));
		digest_stack[number] = user;
	}
	if (number < 0 || !whole)
		bpf_map_delete_elem(sent_map, &record->key);
	join_stack(record->head.tid, record->head.cookie, user);
}

static void on_known(const struct profile_known *record)
{
	int number = table_find(&digests, &record->key, sizeof(record->key));

	if (number < 0)
		bpf_map_delete_elem(sent_map, &record->key);
	join_stack(record->head.tid, record->head.cookie,
		   number < 0 ? STACK_DROPPED : digest_stack[number]);
}

void begin_turn(void)
{
	left = RECORDS_PER_TURN;
}

int on_record(void *ctx, void *data, size_t size)
{
	const struct profile_head *head = data;

	switch (head->kind) {
	case PROFILE_SAMPLE:
		on_sample(data);
		break;
	case PROFILE_NAME:
		on_name(data);
		break;
	case PROFILE_STACK:
		on_stack(data);
		break;
	case PROFILE_KNOWN:
		on_known(data);
		break;
	}
	return left-- ? 0 : -EAGAIN;
}
