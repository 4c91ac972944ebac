// SPDX-License-Identifier: GPL-2.0
/* A runtime of an interpreted language, see lang.h. */
#include <errno.h>
#include <linux/init.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call.h"
#include "lang.h"

/* The runtime's threads, and the frames of its functions: leaf is the innermost one */
struct lang_thread lang_own, lang_others[3];
struct lang_group lang_group, lang_empty_group;
struct lang_runtime lang_runtime;

void lang_init(void)
{
	int i;

	lang_own = (struct lang_thread){ .tid = gettid() };
	/* Three others, the task itself, and the end; the first group has none of them */
	for (i = 0; i < 3; i++)
		lang_others[i] = (struct lang_thread){
			.next = i < 2 ? &lang_others[i + 1] : &lang_own,
			.tid = 1 + i,
		};
	lang_group = (struct lang_group){ .threads = &lang_others[0] };
	lang_empty_group = (struct lang_group){ .next = &lang_group };
	lang_runtime = (struct lang_runtime){
		.groups = &lang_empty_group,
		.threads = &lang_others[0],
	};
}

/* As an interpreter would describe it: @lists on the way to the frames */
struct unwind_chain_attr lang_chain_attr(unsigned int lists)
{
	const struct unwind_chain_list threads = {
		.next = offsetof(struct lang_thread, next),
		.first = offsetof(struct lang_thread, frame),
	};
	struct unwind_chain_attr attr = {
		.flags = UNWIND_CHAIN_NAME | UNWIND_CHAIN_FILE | UNWIND_CHAIN_LINE,
		.nr_lists = lists,
		.key = LANG_KEY,
		.thread = lists ? offsetof(struct lang_thread, tid) : 0,
		.next = offsetof(struct lang_frame, caller),
		.function = offsetof(struct lang_frame, function),
		.function_mask = ~7ULL,
		.entry = offsetof(struct lang_frame, kind),
		.entry_mask = 0xff,
		.entry_value = LANG_KIND_ENTRY,
		.check[0] = offsetof(struct lang_function, id),
		.check[1] = offsetof(struct lang_function, name),
		.name = offsetof(struct lang_function, name),
		.file = offsetof(struct lang_function, file),
		.line = offsetof(struct lang_function, line),
		.string = {
			.length = offsetof(struct lang_string, length),
			.data = offsetof(struct lang_string, data),
			.check = offsetof(struct lang_string, kind),
			.check_mask = 0xf0,
			.check_value = LANG_STRING_PLAIN,
		},
	};

	switch (lists) {
	case 0:
		attr.head = (uintptr_t)&lang_runtime.frame;
		break;
	case 1:
		attr.head = (uintptr_t)&lang_runtime.threads;
		attr.lists[0] = threads;
		break;
	default:
		attr.head = (uintptr_t)&lang_runtime.groups;
		attr.lists[0].next = offsetof(struct lang_group, next);
		attr.lists[0].first = offsetof(struct lang_group, threads);
		attr.lists[1] = threads;
		break;
	}
	return attr;
}

/* The text of lang_eval() */
extern const char __start_eval_text[], __stop_eval_text[];

/* As a runtime without entry frames would describe it */
struct unwind_chain_attr lang_text_attr(void)
{
	struct unwind_chain_attr attr = lang_chain_attr(0);

	attr.entry_mask = LANG_KIND_FIRST;
	attr.entry_value = LANG_KIND_FIRST;
	attr.text[0].start = (uintptr_t)__start_eval_text;
	attr.text[0].size = __stop_eval_text - __start_eval_text;
	attr.kind = offsetof(struct lang_function, has_code);
	attr.kind_mask = 1;
	attr.kind_value = 1;
	return attr;
}

int lang_chain(unsigned long op, const void *attr, size_t size)
{
	return syscall(SYS_prctl, PR_UNWIND_CHAIN, op, attr, size, 0) < 0 ? -errno : 0;
}

int lang_add(const struct unwind_chain_attr *attr)
{
	return lang_chain(PR_UNWIND_CHAIN_ADD, attr, sizeof(*attr));
}

int lang_del(uint64_t key)
{
	const struct unwind_chain_attr attr = { .key = key };

	return lang_chain(PR_UNWIND_CHAIN_DEL, &attr, sizeof(attr));
}

/* The native functions that lang_eval() has called, the outermost first */
unsigned long lang_return_addresses[8];
int lang_nr_calls;

struct lang_string lang_strings[4] = {
	{ .length = 5, .kind = LANG_STRING_PLAIN, .data = "outer" },
	{ .length = 5, .kind = LANG_STRING_PLAIN, .data = "inner" },
	{ .length = 4, .kind = LANG_STRING_PLAIN, .data = "leaf" },
	{ .length = 8, .kind = LANG_STRING_PLAIN, .data = "lib.lang" },
};

struct lang_function lang_functions[3] = {
	{ .id = 100, .name = &lang_strings[0], .file = &lang_strings[3], .line = 10,
	  .has_code = 1 },
	{ .id = 101, .name = &lang_strings[1], .file = &lang_strings[3], .line = 20,
	  .has_code = 1 },
	{ .id = 102, .name = &lang_strings[2], .file = &lang_strings[3], .line = 30,
	  .has_code = 1 },
};

struct lang_frame lang_frames[3];

/* Does lang_eval() have entry frames, which the fixture says? */
bool lang_has_entries;

/* Execute @nr frames from @first on, each called by the one before; the last calls @fn */
noinline __section("eval_text")
void lang_eval(struct lang_frame *first, int nr, lang_native_fn fn)
{
	struct lang_frame entry = { .caller = lang_own.frame, .kind = LANG_KIND_ENTRY };
	int i;

	for (i = 0; i < nr; i++)
		first[i].caller = i ? &first[i - 1] : lang_has_entries ? &entry : lang_own.frame;
	first[0].kind = lang_has_entries ? LANG_KIND_FUNCTION : LANG_KIND_FIRST;
	lang_own.frame = &first[nr - 1];
	lang_runtime.frame = lang_own.frame;
	asm volatile("" : : "r"(&entry) : "memory");
	fn();
	lang_own.frame = entry.caller;
	lang_runtime.frame = lang_own.frame;
	asm volatile("" : : "r"(&entry) : "memory");
}

noinline void lang_native_sample(void)
{
	unsigned long ip;

	lang_return_addresses[lang_nr_calls++] = (unsigned long)__builtin_return_address(0);
	syscall0_at(SYS_getppid, &ip);
	asm volatile("");
}

noinline void lang_native_eval(void)
{
	lang_return_addresses[lang_nr_calls++] = (unsigned long)__builtin_return_address(0);
	lang_eval(LANG_LEAF, 1, lang_native_sample);
	asm volatile("");
}
