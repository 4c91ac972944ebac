/* SPDX-License-Identifier: GPL-2.0 */
/*
 * BPF programs of a few instructions, written as instructions, and their maps and events.
 * So the tests need neither a compiler for BPF nor libbpf.
 *
 * Programs report their actions in a ring buffer, as struct bpf_event.
 */
#ifndef SELFTEST_UNWIND_BPF_H
#define SELFTEST_UNWIND_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sampled.h"

#define INSN(c, d, s, o, i)						\
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), \
			    .off = (o), .imm = (i) })
#define MOV_REG(d, s)	INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV_IMM(d, i)	INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define OR_IMM(d, i)	INSN(BPF_ALU64 | BPF_OR | BPF_K, d, 0, 0, i)
#define ADD_IMM(d, i)	INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define SUB_REG(d, s)	INSN(BPF_ALU64 | BPF_SUB | BPF_X, d, s, 0, 0)
#define SHR_IMM(d, i)	INSN(BPF_ALU64 | BPF_RSH | BPF_K, d, 0, 0, i)
#define STORE(d, o, s)	INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STORE32(d, o, s) INSN(BPF_STX | BPF_MEM | BPF_W, d, s, o, 0)
#define STORE_IMM(d, o, i) INSN(BPF_ST | BPF_MEM | BPF_DW, d, 0, o, i)
#define LOAD(d, s, o)	INSN(BPF_LDX | BPF_MEM | BPF_DW, d, s, o, 0)
#define LOAD32(d, s, o)	INSN(BPF_LDX | BPF_MEM | BPF_W, d, s, o, 0)
#define JNE_IMM(d, i, o) INSN(BPF_JMP | BPF_JNE | BPF_K, d, 0, o, i)
#define JGE_IMM(d, i, o) INSN(BPF_JMP | BPF_JGE | BPF_K, d, 0, o, i)
#define JEQ_IMM(d, i, o) INSN(BPF_JMP | BPF_JEQ | BPF_K, d, 0, o, i)
/* These take two instructions; WIDE_END or WIDE_HIGH is the second */
#define LOAD_MAP(d, fd)	INSN(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_MAP_FD, 0, fd)
#define LOAD_WIDE(d, v)	INSN(BPF_LD | BPF_DW | BPF_IMM, d, 0, 0, (uint32_t)(v))
#define LOAD_VALUE(d, fd) INSN(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_MAP_VALUE, 0, fd)
#define WIDE_END	INSN(0, 0, 0, 0, 0)
#define WIDE_HIGH(v)	INSN(0, 0, 0, 0, (uint64_t)(v) >> 32)
#define CALL(func)	INSN(BPF_JMP | BPF_CALL, 0, 0, 0, func)
#define CALL_KERNEL(id)	INSN(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, id)
#define EXIT		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* The program's action */
enum bpf_event_kind {
	BPF_ASKED,	/* It requested a stack; @ret is the helper's return value */
	BPF_DELIVERED,	/* It was given a stack; @ret is its size in bytes */
	BPF_TAKEN,	/* It took a stack itself; @ret is its size in bytes */
};

/* A multiple of the size of struct bpf_stack_build_id */
#define BPF_IPS_MAX	124

struct bpf_event {
	uint32_t	kind;
	uint32_t	tid;
	int64_t		ret;
	uint64_t	cookie;
	/* Identifies the request: the program copies it from its parameters */
	uint64_t	tag;
	/* Absent if the program only requested */
	uint64_t	ips[BPF_IPS_MAX];
};

#define BPF_EVENT_HEAD	offsetof(struct bpf_event, ips)

/* The stack of an event */
void bpf_event_stack(const struct bpf_event *event, struct stack *stack);

int bpf(int cmd, union bpf_attr *attr);

/* File descriptor, or -1 and errno */
int bpf_map_make(unsigned int type, unsigned int key_size,
		 unsigned int value_size, unsigned int max_entries,
		 unsigned int flags);
/* The same. It prints the verifier's reason for a refusal, unless errno is ENOSPC. */
int bpf_prog_make(union bpf_attr *attr, const struct bpf_insn *insns,
		  unsigned int nr);

/*
 * Types of the kernel: the id of a type by kind (BTF_KIND_...) and name, or 0; its size;
 * and the offset of a member
 */
struct bpf_type {
	uint32_t	id;
	uint32_t	size;
	uint32_t	vlen;
	const void	*more;
};

bool bpf_type_find(struct bpf_type *type, unsigned int kind, const char *name);
/* In bytes, or -1 */
int bpf_type_member(const struct bpf_type *type, const char *name);

/*
 * The ring buffer
 */
struct bpf_ring {
	int		fd;
	size_t		size;
	unsigned long	*consumer;
	unsigned long	*producer;
	const char	*data;
};

int bpf_ring_open(struct bpf_ring *ring, size_t size);
void bpf_ring_close(struct bpf_ring *ring);
/* Copy the next event; @wait for it a minute at most. Is there one? */
bool bpf_ring_next(struct bpf_ring *ring, struct bpf_event *event, bool wait);

/*
 * Programs
 */

/* Where a program requests a stack, and which stack */
struct bpf_asker {
	enum {
		BPF_AT_KPROBE,
		BPF_AT_TRACEPOINT,
		BPF_AT_RAW_TP,
		BPF_AT_FENTRY,
		BPF_AT_FENTRY_SLEEPABLE,
		BPF_AT_PERF_EVENT,
	}		at;
	/* A function, or a tracepoint (category/name; name only for BPF_AT_RAW_TP) */
	const char	*where;
	/*
	 * Or an event. The program acts only if it is about an address in these bytes,
	 * because there may be others at any time: a program does not know when its pages
	 * are searched.
	 */
	struct perf_event_attr *event;
	const void	*about;
	uint32_t	about_bytes;
	/* Only in this process; at a system call's entry, only this call unless 0 */
	pid_t		tgid;
	unsigned int	syscall;
	uint64_t	flags;
	/* Request with flags that the verifier cannot know */
	bool		hide_flags;
	/* Take the stack, as the flags say, instead of requesting one */
	bool		take;
	uint32_t	tag;
};

struct bpf_attached {
	int	prog;
	int	link;
};

/* Load it, or load and attach it; 0, or -1 and errno */
int bpf_asker_load(struct bpf_attached *attached, const struct bpf_asker *asker,
		   const struct bpf_ring *ring);
int bpf_asker_open(struct bpf_attached *attached, const struct bpf_asker *asker,
		   const struct bpf_ring *ring);
/* Attach the program that receives the stacks, with flags of bpf_unwind_stack() */
int bpf_deliver_open(struct bpf_attached *attached, uint64_t flags,
		     const struct bpf_ring *ring);
/* Attach one that reads a word of the task that it runs in, and sleeps until it is there */
int bpf_reader_open(struct bpf_attached *attached, const void *word);
void bpf_attached_close(struct bpf_attached *attached);

/* A loaded program's number, or 0; and whether that program is gone, which takes a while */
uint32_t bpf_prog_id(int prog);
bool bpf_prog_is_gone(uint32_t id);

#endif /* SELFTEST_UNWIND_BPF_H */
