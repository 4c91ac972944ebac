// SPDX-License-Identifier: GPL-2.0
/*
 * Operations on the frames of a language (lang.h), and on the chain that leads to them.
 *
 * A drawer has a runtime of its own.  Its pointers lead where they should, astray, or in a
 * circle.  Some chains have lists of threads, others begin at the innermost frame; they show
 * native frames by entry frames, by text, or not at all.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/unwind.h>

#include "lang.h"
#include "surface.h"
#include "surface_slots.h"
#include "../../kselftest.h"

#define GROUPS		2
#define THREADS		3
#define FRAMES		8
#define FUNCTIONS_OF	3

struct runtime {
	struct lang_group	groups[GROUPS];
	struct lang_thread	threads[THREADS];
	struct lang_frame	frames[FRAMES];
	struct lang_function	functions[FUNCTIONS_OF];
	struct lang_string	names[FUNCTIONS_OF];
	struct lang_runtime	heads;
};

static struct runtime runtimes[SURFACE_DRAWERS];
static __thread bool has_chain;

/* The pointer, or another one at times */
static void *lead(void *right)
{
	void *const astray[] = {
		NULL, (char *)right + 1, (void *)SLOT_AT(draw(SLOTS)), (void *)-4096UL,
		(void *)DRAWER_AT(SURFACE_DRAWERS),
	};
	const unsigned int n = draw(ARRAY_SIZE(astray));

	return one_in(16) ? astray[n] : right;
}

static void write_functions(struct runtime *own)
{
	unsigned int i;

	for (i = 0; i < FUNCTIONS_OF; i++) {
		own->names[i] = (struct lang_string){
			.length = draw(one_in(8) ? 100000 : 20), .kind = LANG_STRING_PLAIN,
			.data = "a function's name",
		};
		if (one_in(8))
			own->names[i].kind = draw(256);
		own->functions[i] = (struct lang_function){
			.id = draw(4), .name = lead(&own->names[i]), .file = lead(&own->names[0]),
			.line = draw(100), .has_code = !one_in(4),
		};
	}
}

static void write_frames(struct runtime *own)
{
	unsigned int i, to;

	for (i = 0; i < FRAMES; i++) {
		to = one_in(16) ? draw(FRAMES) : i + 1;
		own->frames[i] = (struct lang_frame){
			.function = lead(&own->functions[draw(FUNCTIONS_OF)]),
			.caller = lead(to < FRAMES ? &own->frames[to] : NULL),
			.kind = one_in(4) ? LANG_KIND_FIRST : LANG_KIND_FUNCTION,
		};
	}
}

/* Lists of threads; the last one is this thread */
static void write_threads(struct runtime *own, struct lang_frame *innermost)
{
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		own->threads[i] = (struct lang_thread){
			.next = lead(i + 1 < THREADS ? &own->threads[i + 1] : NULL),
			.frame = lead(innermost),
			.tid = i + 1 < THREADS ? (int)i + 1 : gettid(),
		};
	for (i = 0; i < GROUPS; i++)
		own->groups[i] = (struct lang_group){
			.next = lead(i + 1 < GROUPS ? &own->groups[i + 1] : NULL),
			.threads = lead(i + 1 < GROUPS ? NULL : &own->threads[0]),
		};
	own->heads = (struct lang_runtime){
		.groups = lead(&own->groups[0]), .threads = lead(&own->threads[0]),
		.frame = lead(innermost),
	};
}

/* Call native code, as an interpreter does, with an entry frame in this frame */
static int change_frames(void)
{
	struct runtime *own = &runtimes[drawer];
	struct lang_frame *innermost = &own->frames[draw(FRAMES / 2)];
	struct lang_frame entry = { .caller = innermost, .kind = LANG_KIND_ENTRY };
	struct lang_frame before = {
		.function = &own->functions[0], .caller = &entry,
	};
	int ret;

	write_functions(own);
	write_frames(own);
	write_threads(own, one_in(2) ? &before : innermost);
	asm volatile("" : : "r"(&entry), "r"(&before) : "memory");
	ret = memory_call();
	asm volatile("" : : "r"(&entry), "r"(&before) : "memory");
	/* The entry frame is gone, and the list may still lead there */
	return ret;
}

static void choose_properties(struct unwind_chain_attr *attr)
{
	if (one_in(4)) {
		attr->flags &= ~UNWIND_CHAIN_NAME;
		attr->name = 0;
	}
	if (one_in(4)) {
		attr->flags &= ~(UNWIND_CHAIN_FILE | UNWIND_CHAIN_LINE);
		attr->file = 0;
		attr->line = 0;
	}
	if (one_in(4)) {
		attr->string.check = 0;
		attr->string.check_mask = 0;
		attr->string.check_value = 0;
	}
	if (!attr->flags)
		attr->string = (struct unwind_chain_string){};
	if (one_in(2)) {
		attr->kind = offsetof(struct lang_function, has_code);
		attr->kind_mask = 1;
		attr->kind_value = 1;
	}
}

/* How native frames are found: usually by entry frames */
static void choose_natives(struct unwind_chain_attr *attr)
{
	const unsigned int how = draw(4), parts = 1 + draw(2);
	unsigned int i;

	if (how == 0) {
		attr->entry = 0;
		attr->entry_mask = 0;
		attr->entry_value = 0;
	}
	if (how == 1) {
		attr->entry_mask = LANG_KIND_FIRST;
		attr->entry_value = LANG_KIND_FIRST;
		for (i = 0; i < parts; i++)
			attr->text[i] = (struct unwind_chain_text){
				.start = SLOT_AT(draw(SLOTS)), .size = SLOT_SIZE,
			};
	}
}

static struct unwind_chain_attr some_chain(void)
{
	struct unwind_chain_attr attr = lang_chain_attr(draw(3));

	attr.key = 1 + drawer;
	attr.head += (uintptr_t)&runtimes[drawer].heads - (uintptr_t)&lang_runtime;
	choose_properties(&attr);
	choose_natives(&attr);
	if (one_in(4)) {
		attr.next = 0;
		attr.stride = one_in(2) ? sizeof(struct lang_frame) :
					  -(long)sizeof(struct lang_frame);
	}
	return attr;
}

/* A process has four chains: each drawer has one */
static int add_chain(void)
{
	struct unwind_chain_attr attr = some_chain();
	const bool spoilt = spoil(&attr, sizeof(attr));
	int ret;

	if (spoilt)
		attr.key = 1000 + drawer;
	ret = lang_add(&attr);
	if (spoilt) {
		if (!ret)
			lang_del(attr.key);
		return ret;
	}
	expect("chain add", ret, has_chain ? -EEXIST : 0);
	has_chain = true;
	return ret;
}

static int del_chain(void)
{
	int ret = lang_del(1 + drawer);

	expect("chain del", ret, has_chain ? 0 : -ENOENT);
	has_chain = false;
	return ret;
}

const struct surface_operation surface_frames[] = {
	{ "change frames", 6, change_frames },
	{ "chain add", 4, add_chain },
	{ "chain del", 3, del_chain },
	{}
};
