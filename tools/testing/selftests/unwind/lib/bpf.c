// SPDX-License-Identifier: GPL-2.0
/*
 * BPF programs, maps and types of the kernel, by system calls alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf_perf_event.h>
#include <linux/btf.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf.h"
#include "../../kselftest.h"

int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

int bpf_map_make(unsigned int type, unsigned int key_size,
		 unsigned int value_size, unsigned int max_entries,
		 unsigned int flags)
{
	union bpf_attr attr = {
		.map_type = type,
		.key_size = key_size,
		.value_size = value_size,
		.max_entries = max_entries,
		.map_flags = flags,
	};

	return bpf(BPF_MAP_CREATE, &attr);
}

int bpf_prog_make(union bpf_attr *attr, const struct bpf_insn *insns,
		  unsigned int nr)
{
	static char log[1 << 16];
	int fd, err;

	attr->insns = (uintptr_t)insns;
	attr->insn_cnt = nr;
	attr->license = (uintptr_t)"GPL";
	fd = bpf(BPF_PROG_LOAD, attr);
	if (fd >= 0 || errno == EPERM || errno == ENOSPC)
		return fd;

	err = errno;
	attr->log_buf = (uintptr_t)log;
	attr->log_size = sizeof(log);
	attr->log_level = 1;
	if (bpf(BPF_PROG_LOAD, attr) < 0)
		printf("# %s\n%s\n", strerror(err), log);
	errno = err;
	return -1;
}

/*
 * Types
 */

/* The kernel's types, or NULL */
static const struct btf_header *btf_read(void)
{
	static const struct btf_header *btf;
	struct stat st;
	char *data;
	off_t done = 0;
	ssize_t n;
	int fd;

	if (btf)
		return btf;
	fd = open("/sys/kernel/btf/vmlinux", O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		return NULL;
	data = malloc(st.st_size);
	while (data && done < st.st_size) {
		n = read(fd, data + done, st.st_size - done);
		if (n <= 0)
			break;
		done += n;
	}
	close(fd);
	if (data && done == st.st_size)
		btf = (const struct btf_header *)data;
	return btf;
}

static const char *btf_string(uint32_t offset)
{
	const struct btf_header *btf = btf_read();

	return (const char *)btf + btf->hdr_len + btf->str_off + offset;
}

/* Bytes that follow a type */
static size_t btf_more(const struct btf_type *type)
{
	const size_t vlen = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return vlen * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return vlen * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return vlen * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return vlen * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return vlen * sizeof(struct btf_var_secinfo);
	default:
		return 0;
	}
}

bool bpf_type_find(struct bpf_type *type, unsigned int kind, const char *name)
{
	const struct btf_header *btf = btf_read();
	const char *at, *end;
	uint32_t id;

	if (!btf)
		return false;
	at = (const char *)btf + btf->hdr_len + btf->type_off;
	end = at + btf->type_len;
	for (id = 1; at < end; id++) {
		const struct btf_type *t = (const struct btf_type *)at;

		at += sizeof(*t);
		if (BTF_INFO_KIND(t->info) == kind &&
		    !strcmp(btf_string(t->name_off), name)) {
			type->id = id;
			type->size = t->size;
			type->vlen = BTF_INFO_VLEN(t->info);
			type->more = at;
			return true;
		}
		at += btf_more(t);
	}
	return false;
}

int bpf_type_member(const struct bpf_type *type, const char *name)
{
	const struct btf_member *member = type->more;
	uint32_t i;

	for (i = 0; i < type->vlen; i++)
		if (!strcmp(btf_string(member[i].name_off), name))
			return member[i].offset / 8;
	return -1;
}

/*
 * The ring buffer
 */

int bpf_ring_open(struct bpf_ring *ring, size_t size)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	void *map;

	*ring = (struct bpf_ring){ .size = size };
	ring->fd = bpf_map_make(BPF_MAP_TYPE_RINGBUF, 0, 0, size, 0);
	if (ring->fd < 0)
		return -1;
	map = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (map == MAP_FAILED)
		return -1;
	ring->consumer = map;
	/* The data is mapped twice, so each record is contiguous */
	map = mmap(NULL, page + 2 * size, PROT_READ, MAP_SHARED, ring->fd, page);
	if (map == MAP_FAILED)
		return -1;
	ring->producer = map;
	ring->data = (const char *)map + page;
	return 0;
}

void bpf_ring_close(struct bpf_ring *ring)
{
	const size_t page = sysconf(_SC_PAGESIZE);

	if (ring->consumer)
		munmap(ring->consumer, page);
	if (ring->producer)
		munmap(ring->producer, page + 2 * ring->size);
	close(ring->fd);
}

/* Is there a record? Then consume it; events are copied from it. */
static bool ring_take(struct bpf_ring *ring, struct bpf_event *event)
{
	unsigned long pos = *ring->consumer;
	const uint32_t *header;
	uint32_t len;

	while (pos < __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE)) {
		header = (const uint32_t *)(ring->data + pos % ring->size);
		len = __atomic_load_n(header, __ATOMIC_ACQUIRE);
		if (len & BPF_RINGBUF_BUSY_BIT)
			return false;
		if (!(len & BPF_RINGBUF_DISCARD_BIT))
			memcpy(event, (const char *)header + BPF_RINGBUF_HDR_SZ,
			       len < sizeof(*event) ? len : sizeof(*event));
		pos += ((len & ~BPF_RINGBUF_DISCARD_BIT) + BPF_RINGBUF_HDR_SZ +
			7) & ~7UL;
		__atomic_store_n(ring->consumer, pos, __ATOMIC_RELEASE);
		if (!(len & BPF_RINGBUF_DISCARD_BIT))
			return true;
	}
	return false;
}

bool bpf_ring_next(struct bpf_ring *ring, struct bpf_event *event, bool wait)
{
	struct pollfd polled = { .fd = ring->fd, .events = POLLIN };

	while (!ring_take(ring, event))
		if (!wait || poll(&polled, 1, 60000) <= 0)
			return false;
	return true;
}

void bpf_event_stack(const struct bpf_event *event, struct stack *stack)
{
	stack->nr = 0;
	while ((int64_t)(stack->nr * sizeof(uint64_t)) < event->ret &&
	       stack->nr < SAMPLED_MAX) {
		stack->ip[stack->nr] = event->ips[stack->nr];
		stack->nr++;
	}
}

/*
 * Programs
 */

static const unsigned int prog_types[] = {
	[BPF_AT_KPROBE]			= BPF_PROG_TYPE_KPROBE,
	[BPF_AT_TRACEPOINT]		= BPF_PROG_TYPE_TRACEPOINT,
	[BPF_AT_RAW_TP]			= BPF_PROG_TYPE_RAW_TRACEPOINT,
	[BPF_AT_FENTRY]			= BPF_PROG_TYPE_TRACING,
	[BPF_AT_FENTRY_SLEEPABLE]	= BPF_PROG_TYPE_TRACING,
	[BPF_AT_PERF_EVENT]		= BPF_PROG_TYPE_PERF_EVENT,
};

/* Attach point of a tracing program */
static int asker_attr(union bpf_attr *attr, const struct bpf_asker *asker)
{
	struct bpf_type func;

	memset(attr, 0, sizeof(*attr));
	attr->prog_type = prog_types[asker->at];
	if (attr->prog_type != BPF_PROG_TYPE_TRACING)
		return 0;
	if (!bpf_type_find(&func, BTF_KIND_FUNC, asker->where)) {
		errno = ENOENT;
		return -1;
	}
	attr->expected_attach_type = BPF_TRACE_FENTRY;
	attr->attach_btf_id = func.id;
	if (asker->at == BPF_AT_FENTRY_SLEEPABLE)
		attr->prog_flags = BPF_F_SLEEPABLE;
	return 0;
}

/* Request a stack, with a few words on the program's own stack */
static int ask_load(union bpf_attr *attr, const struct bpf_asker *asker, int ring)
{
	/* From the end of the stack frame */
	enum { HEAD = -32, RET = -24, COOKIE = -16, TAG = -8 };
	/* A process's number never has this bit, but the verifier does not know that */
	const struct bpf_insn zero[] = {
		MOV_REG(BPF_REG_4, BPF_REG_7),
		SHR_IMM(BPF_REG_4, 63),
	};
	const size_t addr = offsetof(struct bpf_perf_event_data, addr);
	const uintptr_t about = (uintptr_t)asker->about;
	const bool hide = asker->hide_flags;
	const struct bpf_insn insns[] = {
		MOV_REG(BPF_REG_6, BPF_REG_1),
		CALL(BPF_FUNC_get_current_pid_tgid),
		MOV_REG(BPF_REG_7, BPF_REG_0),
		SHR_IMM(BPF_REG_0, 32),
		/* All three to the end */
		JNE_IMM(BPF_REG_0, asker->tgid, 27),
		asker->syscall ? LOAD(BPF_REG_2, BPF_REG_6, 8) :
				 MOV_IMM(BPF_REG_2, 0),
		JNE_IMM(BPF_REG_2, asker->syscall, 25),
		LOAD_WIDE(BPF_REG_1, about), WIDE_HIGH(about),
		about ? LOAD(BPF_REG_2, BPF_REG_6, addr) :
			MOV_IMM(BPF_REG_2, 0),
		SUB_REG(BPF_REG_2, BPF_REG_1),
		JGE_IMM(BPF_REG_2, about ? asker->about_bytes : 1, 20),
		STORE_IMM(BPF_REG_10, COOKIE, 0),
		MOV_REG(BPF_REG_1, BPF_REG_6),
		MOV_REG(BPF_REG_2, BPF_REG_10),
		ADD_IMM(BPF_REG_2, COOKIE),
		MOV_IMM(BPF_REG_3, sizeof(uint64_t)),
		hide ? zero[0] : MOV_IMM(BPF_REG_4, 0),
		hide ? zero[1] : MOV_IMM(BPF_REG_4, 0),
		OR_IMM(BPF_REG_4, asker->flags),
		CALL(BPF_FUNC_get_stack),
		STORE(BPF_REG_10, RET, BPF_REG_0),
		STORE_IMM(BPF_REG_10, HEAD, BPF_ASKED),
		STORE32(BPF_REG_10, HEAD + 4, BPF_REG_7),
		STORE_IMM(BPF_REG_10, TAG, asker->tag),
		LOAD_MAP(BPF_REG_1, ring), WIDE_END,
		MOV_REG(BPF_REG_2, BPF_REG_10),
		ADD_IMM(BPF_REG_2, HEAD),
		MOV_IMM(BPF_REG_3, BPF_EVENT_HEAD),
		MOV_IMM(BPF_REG_4, 0),
		CALL(BPF_FUNC_ringbuf_output),
		MOV_IMM(BPF_REG_0, 0),
		EXIT,
	};

	return bpf_prog_make(attr, insns, ARRAY_SIZE(insns));
}

/* Take the stack into the ring buffer, with a cookie for it */
static int take_load(union bpf_attr *attr, const struct bpf_asker *asker, int ring)
{
	const struct bpf_insn insns[] = {
		MOV_REG(BPF_REG_6, BPF_REG_1),
		CALL(BPF_FUNC_get_current_pid_tgid),
		MOV_REG(BPF_REG_8, BPF_REG_0),
		SHR_IMM(BPF_REG_0, 32),
		JNE_IMM(BPF_REG_0, asker->tgid, 29),
		asker->syscall ? LOAD(BPF_REG_2, BPF_REG_6, 8) :
				 MOV_IMM(BPF_REG_2, 0),
		JNE_IMM(BPF_REG_2, asker->syscall, 27),
		LOAD_MAP(BPF_REG_1, ring), WIDE_END,
		MOV_IMM(BPF_REG_2, sizeof(struct bpf_event)),
		MOV_IMM(BPF_REG_3, 0),
		CALL(BPF_FUNC_ringbuf_reserve),
		JEQ_IMM(BPF_REG_0, 0, 21),
		MOV_REG(BPF_REG_7, BPF_REG_0),
		MOV_IMM(BPF_REG_1, BPF_TAKEN),
		STORE32(BPF_REG_7, offsetof(struct bpf_event, kind), BPF_REG_1),
		STORE32(BPF_REG_7, offsetof(struct bpf_event, tid), BPF_REG_8),
		MOV_REG(BPF_REG_1, BPF_REG_6),
		MOV_REG(BPF_REG_2, BPF_REG_7),
		ADD_IMM(BPF_REG_2, offsetof(struct bpf_event, cookie)),
		MOV_IMM(BPF_REG_3, sizeof(uint64_t)),
		MOV_IMM(BPF_REG_4, BPF_F_USER_STACK | BPF_F_USER_DEFER),
		CALL(BPF_FUNC_get_stack),
		STORE_IMM(BPF_REG_7, offsetof(struct bpf_event, tag), asker->tag),
		MOV_REG(BPF_REG_1, BPF_REG_6),
		MOV_REG(BPF_REG_2, BPF_REG_7),
		ADD_IMM(BPF_REG_2, offsetof(struct bpf_event, ips)),
		MOV_IMM(BPF_REG_3, sizeof(((struct bpf_event *)NULL)->ips)),
		MOV_IMM(BPF_REG_4, asker->flags),
		CALL(BPF_FUNC_get_stack),
		STORE(BPF_REG_7, offsetof(struct bpf_event, ret), BPF_REG_0),
		MOV_REG(BPF_REG_1, BPF_REG_7),
		MOV_IMM(BPF_REG_2, 0),
		CALL(BPF_FUNC_ringbuf_submit),
		MOV_IMM(BPF_REG_0, 0),
		EXIT,
	};

	return bpf_prog_make(attr, insns, ARRAY_SIZE(insns));
}

int bpf_asker_load(struct bpf_attached *attached, const struct bpf_asker *asker,
		   const struct bpf_ring *ring)
{
	union bpf_attr attr;

	*attached = (struct bpf_attached){ .prog = -1, .link = -1 };
	if (asker_attr(&attr, asker))
		return -1;
	attached->prog = asker->take ? take_load(&attr, asker, ring->fd) :
				       ask_load(&attr, asker, ring->fd);
	return attached->prog < 0 ? -1 : 0;
}

/* Open an event that runs the program */
static int attach_event(int prog, struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = event_open(attr, pid, cpu);

	if (fd < 0)
		return -1;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) || event_enable(fd)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The type of kprobe events, or -1 */
static int kprobe_type(void)
{
	FILE *file = fopen("/sys/bus/event_source/devices/kprobe/type", "r");
	int type = -1;

	if (file && fscanf(file, "%d", &type) != 1)
		type = -1;
	if (file)
		fclose(file);
	return type;
}

static int asker_attach(int prog, const struct bpf_asker *asker)
{
	struct perf_event_attr event;
	union bpf_attr attr = {};

	switch (asker->at) {
	case BPF_AT_KPROBE:
		event = (struct perf_event_attr){
			.size = sizeof(event),
			.type = kprobe_type(),
			.kprobe_func = (uintptr_t)asker->where,
			.disabled = 1,
		};
		return attach_event(prog, &event, -1, 0);
	case BPF_AT_TRACEPOINT:
		if (tracepoint_attr(&event, asker->where))
			return -1;
		event.defer_callchain = 0;
		event.defer_output = 0;
		return attach_event(prog, &event, -1, 0);
	case BPF_AT_PERF_EVENT:
		return attach_event(prog, asker->event, asker->tgid, -1);
	default:
		attr.raw_tracepoint.prog_fd = prog;
		if (asker->at == BPF_AT_RAW_TP)
			attr.raw_tracepoint.name = (uintptr_t)asker->where;
		return bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
	}
}

int bpf_asker_open(struct bpf_attached *attached, const struct bpf_asker *asker,
		   const struct bpf_ring *ring)
{
	if (bpf_asker_load(attached, asker, ring))
		return -1;
	attached->link = asker_attach(attached->prog, asker);
	return attached->link < 0 ? -1 : 0;
}

static int deliver_load(uint32_t ops, uint64_t flags, const struct bpf_ring *ring)
{
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_STRUCT_OPS,
		.attach_btf_id = ops,
		.prog_flags = BPF_F_SLEEPABLE,
	};
	struct bpf_type unwind, copy;

	if (!ops || !bpf_type_find(&unwind, BTF_KIND_STRUCT, "bpf_unwind") ||
	    !bpf_type_find(&copy, BTF_KIND_FUNC, "bpf_unwind_stack")) {
		errno = ENOENT;
		return -1;
	}

	const struct bpf_insn insns[] = {
		LOAD(BPF_REG_6, BPF_REG_1, 0),
		LOAD_MAP(BPF_REG_1, ring->fd), WIDE_END,
		MOV_IMM(BPF_REG_2, sizeof(struct bpf_event)),
		MOV_IMM(BPF_REG_3, 0),
		CALL(BPF_FUNC_ringbuf_reserve),
		JEQ_IMM(BPF_REG_0, 0, 19),
		MOV_REG(BPF_REG_7, BPF_REG_0),
		MOV_IMM(BPF_REG_1, BPF_DELIVERED),
		STORE32(BPF_REG_7, offsetof(struct bpf_event, kind), BPF_REG_1),
		CALL(BPF_FUNC_get_current_pid_tgid),
		STORE32(BPF_REG_7, offsetof(struct bpf_event, tid), BPF_REG_0),
		LOAD(BPF_REG_1, BPF_REG_6, bpf_type_member(&unwind, "cookie")),
		STORE(BPF_REG_7, offsetof(struct bpf_event, cookie), BPF_REG_1),
		LOAD32(BPF_REG_1, BPF_REG_6, bpf_type_member(&unwind, "nr")),
		STORE(BPF_REG_7, offsetof(struct bpf_event, tag), BPF_REG_1),
		MOV_REG(BPF_REG_1, BPF_REG_6),
		MOV_REG(BPF_REG_2, BPF_REG_7),
		ADD_IMM(BPF_REG_2, offsetof(struct bpf_event, ips)),
		MOV_IMM(BPF_REG_3, sizeof(((struct bpf_event *)NULL)->ips)),
		MOV_IMM(BPF_REG_4, flags),
		CALL_KERNEL(copy.id),
		STORE(BPF_REG_7, offsetof(struct bpf_event, ret), BPF_REG_0),
		MOV_REG(BPF_REG_1, BPF_REG_7),
		MOV_IMM(BPF_REG_2, 0),
		CALL(BPF_FUNC_ringbuf_submit),
		MOV_IMM(BPF_REG_0, 0),
		EXIT,
	};

	return bpf_prog_make(&attr, insns, ARRAY_SIZE(insns));
}

/* Types that a map of ops must name, if only formally: an int */
static int load_types(void)
{
	static const struct {
		struct btf_header	header;
		struct btf_type		type;
		uint32_t		bits;
		char			strings[8];
	} types = {
		.header = {
			.magic = BTF_MAGIC,
			.version = BTF_VERSION,
			.hdr_len = sizeof(types.header),
			.type_len = sizeof(types.type) + sizeof(types.bits),
			.str_off = sizeof(types.type) + sizeof(types.bits),
			.str_len = sizeof(types.strings),
		},
		.type = {
			.name_off = 1,
			.info = BTF_KIND_INT << 24,
			.size = sizeof(int),
		},
		.bits = BTF_INT_SIGNED << 24 | 32,
		.strings = "\0int",
	};
	union bpf_attr attr = {
		.btf = (uintptr_t)&types,
		.btf_size = sizeof(types),
	};

	return bpf(BPF_BTF_LOAD, &attr);
}

/* Create a map with a single set of ops, which has the program */
static int deliver_map(const struct bpf_type *value, int prog)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_STRUCT_OPS,
		.key_size = sizeof(uint32_t),
		.value_size = value->size,
		.max_entries = 1,
		.map_flags = BPF_F_LINK,
		.btf_fd = load_types(),
		.btf_vmlinux_value_type_id = value->id,
	};
	char data[value->size];
	uint32_t key = 0;
	int map;

	if ((int)attr.btf_fd < 0)
		return -1;
	map = bpf(BPF_MAP_CREATE, &attr);
	close(attr.btf_fd);
	if (map < 0)
		return -1;
	memset(data, 0, sizeof(data));
	/* The only member of the ops */
	*(unsigned long *)(data + bpf_type_member(value, "data")) = prog;
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = map;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)data;
	if (bpf(BPF_MAP_UPDATE_ELEM, &attr)) {
		close(map);
		return -1;
	}
	return map;
}

/* Read a word of the task's memory, and wait for it */
static int reader_load(uint32_t ops, const void *word)
{
	const uintptr_t addr = (uintptr_t)word;
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_STRUCT_OPS,
		.attach_btf_id = ops,
		.prog_flags = BPF_F_SLEEPABLE,
	};
	const struct bpf_insn insns[] = {
		MOV_REG(BPF_REG_1, BPF_REG_10),
		ADD_IMM(BPF_REG_1, -8),
		MOV_IMM(BPF_REG_2, 8),
		LOAD_WIDE(BPF_REG_3, addr), WIDE_HIGH(addr),
		CALL(BPF_FUNC_copy_from_user),
		MOV_IMM(BPF_REG_0, 0),
		EXIT,
	};

	return bpf_prog_make(&attr, insns, ARRAY_SIZE(insns));
}

/* The ops, or 0 */
static uint32_t ops_id(void)
{
	struct bpf_type ops;

	return bpf_type_find(&ops, BTF_KIND_STRUCT, "bpf_unwind_ops") ? ops.id : 0;
}

static int deliver_attach(struct bpf_attached *attached, int prog)
{
	union bpf_attr attr = {};
	struct bpf_type value;
	int map;

	*attached = (struct bpf_attached){ .prog = prog, .link = -1 };
	if (prog < 0)
		return -1;
	if (!bpf_type_find(&value, BTF_KIND_STRUCT, "bpf_struct_ops_bpf_unwind_ops")) {
		errno = ENOENT;
		return -1;
	}
	map = deliver_map(&value, attached->prog);
	if (map < 0)
		return -1;
	attr.link_create.map_fd = map;
	attr.link_create.attach_type = BPF_STRUCT_OPS;
	attached->link = bpf(BPF_LINK_CREATE, &attr);
	close(map);
	return attached->link < 0 ? -1 : 0;
}

int bpf_deliver_open(struct bpf_attached *attached, uint64_t flags,
		     const struct bpf_ring *ring)
{
	return deliver_attach(attached, deliver_load(ops_id(), flags, ring));
}

int bpf_reader_open(struct bpf_attached *attached, const void *word)
{
	return deliver_attach(attached, reader_load(ops_id(), word));
}

bool bpf_prog_is_gone(uint32_t id)
{
	union bpf_attr attr = { .prog_id = id };
	int fd = bpf(BPF_PROG_GET_FD_BY_ID, &attr);

	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == ENOENT;
}

uint32_t bpf_prog_id(int prog)
{
	struct bpf_prog_info info = {};
	union bpf_attr attr = {
		.info = {
			.bpf_fd = prog,
			.info_len = sizeof(info),
			.info = (uintptr_t)&info,
		},
	};

	return bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) ? 0 : info.id;
}

void bpf_attached_close(struct bpf_attached *attached)
{
	if (attached->link >= 0)
		close(attached->link);
	if (attached->prog >= 0)
		close(attached->prog);
	*attached = (struct bpf_attached){ .prog = -1, .link = -1 };
}
