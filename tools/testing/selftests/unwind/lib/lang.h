/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A runtime of an interpreted language.
 *
 * lang_eval() executes frames of a language, as interpreters do, and calls native functions,
 * which call lang_eval() again.  So a test knows which frames there are, and which native
 * frame executes each.
 */
#ifndef _UNWIND_LANG_H
#define _UNWIND_LANG_H

#include <linux/unwind.h>
#include <stdbool.h>
#include <stdint.h>

/* The key of its chain */
#define LANG_KEY	7

#define LANG_KIND_FUNCTION	0
#define LANG_KIND_ENTRY	5
/* The first one that lang_eval() executes, if there are no entry frames */
#define LANG_KIND_FIRST	0x100
#define LANG_STRING_PLAIN	0x30

struct lang_string {
	uint64_t	length;
	uint32_t	kind;
	char		data[300];
};

struct lang_function {
	uint64_t	id;
	struct lang_string	*name;
	struct lang_string	*file;
	uint32_t	line;
	uint32_t	has_code;
};

struct lang_frame {
	struct lang_function	*function;
	struct lang_frame	*caller;
	uint32_t	kind;
};

struct lang_thread {
	struct lang_thread	*next;
	struct lang_frame	*frame;
	uint32_t	tid;
};

struct lang_group {
	struct lang_group	*next;
	struct lang_thread	*threads;
};

struct lang_runtime {
	struct lang_group	*groups;
	struct lang_thread	*threads;
	struct lang_frame	*frame;
};

extern struct lang_thread lang_own, lang_others[3];
extern struct lang_group lang_group, lang_empty_group;
extern struct lang_runtime lang_runtime;

/* One thread, this one, in the second group */
void lang_init(void);
struct unwind_chain_attr lang_chain_attr(unsigned int lists);
struct unwind_chain_attr lang_text_attr(void);

/* prctl(PR_UNWIND_CHAIN): 0 or a negative error */
int lang_chain(unsigned long op, const void *attr, size_t size);
int lang_add(const struct unwind_chain_attr *attr);
int lang_del(uint64_t key);

extern unsigned long lang_return_addresses[8];
extern int lang_nr_calls;

extern struct lang_string lang_strings[4];
extern struct lang_function lang_functions[3];
extern struct lang_frame lang_frames[3];
#define LANG_OUTER	(&lang_frames[0])
#define LANG_INNER	(&lang_frames[1])
#define LANG_LEAF	(&lang_frames[2])

extern bool lang_has_entries;

typedef void (*lang_native_fn)(void);

void lang_eval(struct lang_frame *first, int nr, lang_native_fn fn);
void lang_native_sample(void);
void lang_native_eval(void);

#endif /* _UNWIND_LANG_H */
