// SPDX-License-Identifier: GPL-2.0
/*
 * Judging the stacks of steps, see step_judge.h.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "step_judge.h"
#include "step_walk.h"

#define PRINT_MAX	6
#define NAME_SIZE	128

/*
 * Distinct steps: a set of hashes, never full
 */

struct seen {
	size_t		nr;
	size_t		size;
	uint64_t	*hash;
};

static bool seen_insert(struct seen *seen, uint64_t hash)
{
	size_t i;

	for (i = hash; seen->hash[i % seen->size]; i++)
		if (seen->hash[i % seen->size] == hash)
			return false;
	seen->hash[i % seen->size] = hash;
	seen->nr++;
	return true;
}

static void seen_grow(struct seen *seen)
{
	struct seen more = { .size = seen->size ? 2 * seen->size : 1 << 14 };
	size_t i;

	more.hash = calloc(more.size, sizeof(*more.hash));
	if (!more.hash)
		abort();
	for (i = 0; i < seen->size; i++)
		if (seen->hash[i])
			seen_insert(&more, seen->hash[i]);
	free(seen->hash);
	*seen = more;
}

static bool is_new(struct seen *seen, const struct step_task *task)
{
	const struct shadow_frame *top = shadow_top(&task->shadow);
	uint64_t hash = (top ? top->hash : 0) ^ task->regs.ip;

	hash *= 0xff51afd7ed558ccdUL;
	hash ^= hash >> 32;
	if (2 * seen->nr >= seen->size)
		seen_grow(seen);
	return seen_insert(seen, hash ? hash : 1);
}

int judge_init(struct judge *judge)
{
	*judge = (struct judge){ .seen = calloc(1, sizeof(*judge->seen)) };
	return judge->seen ? 0 : -1;
}

void judge_free(struct judge *judge)
{
	if (judge->seen)
		free(judge->seen->hash);
	free(judge->seen);
	judge->seen = NULL;
}

/* Comparing stacks */

/* The number of equal frames, and of frames in the true stack */
static unsigned int compare(const struct step_task *task,
			    const struct step_stack *stack, unsigned int *nr)
{
	const struct shadow_frame *frame;
	struct shadow_iter iter;
	uint64_t truth = task->regs.ip;
	unsigned int same = 0;
	bool differs = false;

	*nr = 0;
	shadow_walk(&iter, &task->shadow);
	do {
		if (*nr >= stack->nr || stack->ip[*nr] != truth)
			differs = true;
		same += !differs;
		++*nr;
		frame = shadow_next(&iter);
		truth = frame ? frame->ra : 0;
	} while (frame);
	return same;
}

/* Are all of the kernel's frames in the true stack, in this order? */
static bool only_skips(const struct step_task *task, const struct step_stack *stack)
{
	const struct shadow_frame *frame;
	struct shadow_iter iter;
	unsigned int i = 1;

	shadow_walk(&iter, &task->shadow);
	while (i < stack->nr && (frame = shadow_next(&iter)))
		i += frame->ra == stack->ip[i];
	return i == stack->nr && stack->ip[0] == task->regs.ip;
}

static void print_stacks(struct code *code, const struct step_task *task,
			 const struct step_stack *stack, const char *what)
{
	const struct shadow_frame *frame;
	struct shadow_iter iter;
	char name[NAME_SIZE];
	uint64_t i;

	code_name(code, task->regs.ip, name, sizeof(name));
	printf("# %s at %#lx %s, sp %#lx\n#   truth: ", what, task->regs.ip,
	       name, task->regs.sp);
	shadow_walk(&iter, &task->shadow);
	while ((frame = shadow_next(&iter))) {
		code_name(code, frame->ra, name, sizeof(name));
		printf(" %s", name);
	}
	printf("\n#   kernel:");
	for (i = 1; i < stack->nr && i < 32; i++) {
		code_name(code, stack->ip[i], name, sizeof(name));
		printf(" %s", strcmp(name, "?:?+0") ? name : "");
		if (!strcmp(name, "?:?+0"))
			printf("%#lx", stack->ip[i]);
	}
	printf("\n");
}

/*
 * Causes
 */

static const struct exception *find_exception(const char *name)
{
	const char *colon = strchr(name, ':'), *plus = strrchr(name, '+');
	char file[NAME_SIZE], function[NAME_SIZE];
	unsigned int i;

	snprintf(file, sizeof(file), "%.*s", (int)(colon - name), name);
	snprintf(function, sizeof(function), "%.*s", (int)(plus - colon - 1),
		 colon + 1);
	for (i = 0; i < nr_exceptions; i++)
		if (!fnmatch(exceptions[i].file, file, 0) &&
		    !fnmatch(exceptions[i].function, function, 0))
			return &exceptions[i];
	return NULL;
}

static const struct exception *exception_at(struct code *code, uint64_t ip)
{
	char name[NAME_SIZE];

	code_name(code, ip, name, sizeof(name));
	return find_exception(name);
}

/* Does the true stack only lack what the function has pushed? */
static bool has_pushed(struct code *code, const struct step_task *task,
		       const struct step_stack *stack)
{
	const struct exception *exception = exception_at(code, task->regs.ip);
	const struct shadow_frame *frame;
	struct shadow_iter iter;
	uint64_t pushed;
	unsigned int i;

	if (!exception || !exception->pushes || stack->nr < 2 || stack->ip[0] != task->regs.ip ||
	    !code_read(code, task->regs.sp, &pushed, sizeof(pushed)) || stack->ip[1] != pushed)
		return false;
	shadow_walk(&iter, &task->shadow);
	for (i = 2; (frame = shadow_next(&iter)); i++)
		if (i >= stack->nr || stack->ip[i] != frame->ra || frame->ra == pushed)
			return false;
	return i == stack->nr;
}

/* Find the function whose table is wrong. Is it in the list? */
static const struct cause *note_cause(struct verdicts *verdicts,
				      struct code *code,
				      const struct walk *walk)
{
	struct cause *cause = verdicts->cause;
	unsigned int i;

	for (i = 0; i < verdicts->nr_causes; i++, cause++)
		if (cause->addr == walk->ip)
			break;
	if (i == JUDGE_CAUSES)
		return NULL;
	if (i == verdicts->nr_causes) {
		verdicts->nr_causes++;
		cause->addr = walk->ip;
		cause->steps = 0;
		code_name(code, walk->ip, cause->name, sizeof(cause->name));
		snprintf(cause->row, sizeof(cause->row), "%s", walk->row);
		cause->exception = find_exception(cause->name);
	}
	cause->steps++;
	return cause;
}

/* Is the table wrong, not the kernel? Return the note on that table. */
static const struct cause *find_cause(struct verdicts *verdicts, struct code *code,
				      const struct step_task *task,
				      const struct step_stack *stack,
				      unsigned int same)
{
	struct walk walk;

	if (!walk_goes_astray(&walk, code, task, stack, same))
		return NULL;
	return note_cause(verdicts, code, &walk);
}

static void judge_tabled(struct verdicts *verdicts, struct code *code,
			 const struct step_task *task,
			 const struct step_stack *stack, unsigned int same)
{
	const struct cause *cause = find_cause(verdicts, code, task, stack, same);

	if ((cause && cause->exception) || (!cause && has_pushed(code, task, stack))) {
		verdicts->excepted++;
		return;
	}
	if (cause) {
		if (verdicts->unlisted++ < PRINT_MAX)
			print_stacks(code, task, stack, "wrong table, not listed");
		return;
	}
	if (verdicts->wrong + verdicts->ended < PRINT_MAX)
		print_stacks(code, task, stack, "NOT the true stack");
	if (same == stack->nr)
		verdicts->ended++;
	else
		verdicts->wrong++;
}

static void judge_other(struct verdicts *verdicts, struct code *code,
			const struct step_task *task,
			const struct step_stack *stack, unsigned int same)
{
	const struct cause *cause;

	if (same && same == stack->nr) {
		verdicts->other.ended++;
		return;
	}
	if (only_skips(task, stack)) {
		verdicts->other.skips++;
		if (same == 1 && !exception_at(code, task->regs.ip) &&
		    verdicts->other.first_skips++ < PRINT_MAX)
			print_stacks(code, task, stack, "caller skipped");
		return;
	}
	/*
	 * A walk without the kernel does not follow instructions.  So the list may also have
	 * the topmost function, from which the kernel has found the caller by these.
	 */
	cause = find_cause(verdicts, code, task, stack, same);
	if ((cause && cause->exception) || exception_at(code, task->regs.ip))
		verdicts->other.excepted++;
	else if (verdicts->other.wrong++ < PRINT_MAX)
		print_stacks(code, task, stack, "wrong without a table");
}

void judge_stack(struct judge *judge, struct code *code,
		 const struct step_task *task, const struct step_stack *stack)
{
	const struct shadow_frame *top = shadow_top(&task->shadow);
	bool tabled = code_at(code, task->regs.ip)->tabled &&
		      (!top || top->tabled);
	struct verdicts *verdicts = &judge->verdicts;
	unsigned int nr, same = compare(task, stack, &nr);

	verdicts->steps++;
	verdicts->distinct += is_new(judge->seen, task);
	verdicts->tabled += tabled;
	if (same == nr && nr == stack->nr) {
		if (tabled)
			verdicts->right++;
		else
			verdicts->other.right++;
	} else if (tabled) {
		judge_tabled(verdicts, code, task, stack, same);
	} else {
		judge_other(verdicts, code, task, stack, same);
	}
}
