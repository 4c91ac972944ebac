// SPDX-License-Identifier: GPL-2.0
/*
 * Operations on memory: code with tables that is mapped, registered, changed, moved and
 * unmapped; and on the prctls.
 *
 * A drawer has slots, each at addresses of its own.  In a slot there is nothing, code in
 * anonymous memory with a table beside it, or a file of code, on one of several file systems
 * (surface_files.c).  Code is called only while it is there.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/unwind.h>

#include "call.h"
#include "code_register.h"
#include "code_file.h"
#include "surface.h"
#include "surface_slots.h"
#include "../../kselftest.h"

__thread struct slot slots[SLOTS];

static uint64_t key_of(unsigned int i)
{
	return 1 + drawer * SLOTS + i;
}

unsigned int find_slot(bool (*fits)(const struct slot *slot))
{
	const unsigned int first = draw(SLOTS);
	unsigned int n;

	for (n = 0; n < SLOTS; n++)
		if (fits(&slots[(first + n) % SLOTS]))
			return (first + n) % SLOTS;
	return SLOTS;
}

static size_t page(void)
{
	return sysconf(_SC_PAGESIZE);
}

int expect(const char *what, int ret, int expected)
{
	if (ret != expected)
		surface_error(what, ret);
	return ret;
}

/* A function between the call and the code, with frames of its own */
static void leaf(struct notes *notes)
{
	unsigned long ip;

	syscall0_at(SYS_getppid, &ip);
	notes->nr = 0;
}

void call_code_with(chain_fn fn, chain_fn innermost)
{
	struct notes notes = { .nr_next = 1, .next = { fn, innermost } };

	fn(&notes);
}

void call_code(chain_fn fn)
{
	call_code_with(fn, leaf);
}

/*
 * Mapping
 */

static void forget(struct slot *slot)
{
	if (slot->kind > ANONYMOUS)
		close(slot->fd);
	*slot = (struct slot){ .fd = -1 };
}

void clear_slot(unsigned int i)
{
	struct slot *slot = &slots[i];

	munmap((void *)SLOT_AT(i), SLOT_SIZE);
	forget(slot);
}

static int map_anonymous(unsigned int i)
{
	const struct code at = {
		.text = (char *)SLOT_AT(i), .table = (char *)SLOT_AT(i) + TABLE_OFFSET,
	};
	const unsigned int frame = one_in(2) ? CODE_FRAME : CODE_FRAME_OTHER;

	return code_map_at(&slots[i].code, FUNCTIONS, frame, frame, &at);
}

static int make_tmpfs_file(const struct code_file *file)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/surface-%u-%d", drawer, getpid());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_TRUNC, 0700);
	if (fd < 0)
		return -1;
	unlink(path);
	if (code_file_write(file, fd)) {
		close(fd);
		return -1;
	}
	return fd;
}

static const struct code_file *some_file(void)
{
	static __thread struct code_file file;

	file = code_file_usual;
	file.hidden = one_in(3);
	return &file;
}

static int open_file(enum slot_kind kind)
{
	switch (kind) {
	case SEALED:
		return code_file_memfd(some_file());
	case UNSEALED:
		return code_file_unsealed(some_file());
	case FILE_SERVED:
		return files_open_served(one_in(2));
	case FILE_OVERLAID:
		return files_open_overlaid();
	default:
		return make_tmpfs_file(some_file());
	}
}

static int map_slot(void)
{
	const unsigned int i = draw(SLOTS);
	const enum slot_kind kind = 1 + draw(KINDS - 1);
	struct slot *slot = &slots[i];
	int ret;

	clear_slot(i);
	if (kind == ANONYMOUS) {
		ret = map_anonymous(i);
	} else {
		slot->fd = open_file(kind);
		/* The kernel may not have such file systems */
		if (slot->fd < 0 && kind >= FILE_SERVED)
			return 1;
		ret = slot->fd < 0 ? -1 : code_image_map(&slot->image, &code_file_usual,
							 slot->fd, (void *)SLOT_AT(i));
	}
	slot->kind = kind;
	slot->whole = true;
	slot->callable = !ret;
	return ret ? expect("map", -errno, 0) : 0;
}

void *text_of(unsigned int i)
{
	return slots[i].kind == ANONYMOUS ? slots[i].code.text :
	       slots[i].image.base + code_file_usual.text[0].vaddr;
}

void *table_of(unsigned int i)
{
	return slots[i].kind == ANONYMOUS ? slots[i].code.table :
	       slots[i].image.base + code_file_usual.table.vaddr;
}

int memory_call(void)
{
	const unsigned int i = draw(SLOTS), nr = 1 + draw(4);
	unsigned int n;

	if (!slots[i].callable)
		return 1;
	for (n = 0; n < nr; n++)
		call_code((chain_fn)((char *)text_of(i) + CODE_STRIDE * draw(FUNCTIONS)));
	return 0;
}

/* The whole, or only the code or the table: the range is gone in each case */
static int unmap_slot(void)
{
	const unsigned int i = draw(SLOTS), which = draw(3);
	struct slot *slot = &slots[i];

	if (!slot->whole)
		return 1;
	slot->whole = false;
	slot->registered = false;
	if (which == 0)
		clear_slot(i);
	if (which == 1) {
		slot->callable = false;
		return expect("munmap", munmap(text_of(i), page()) ? -errno : 0, 0);
	}
	if (which == 2)
		return expect("munmap", munmap(table_of(i), page()) ? -errno : 0, 0);
	return 0;
}

/* The range of code that is moved away is dropped */
static int move_slot(void)
{
	const unsigned int i = draw(SLOTS);
	struct slot *slot = &slots[i];
	char *from, *to = (char *)SLOT_AT(i) + ELSEWHERE;

	if (!slot->whole)
		return 1;
	from = text_of(i);
	if (mremap(from, page(), page(), MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		return expect("mremap", -errno, 0);
	if (slot->callable)
		call_code((chain_fn)to);
	slot->whole = false;
	slot->callable = false;
	slot->registered = false;
	if (one_in(2) && mremap(to, page(), page(), MREMAP_MAYMOVE | MREMAP_FIXED, from) != from)
		return expect("mremap back", -errno, 0);
	return 0;
}

static int protect_slot(void)
{
	static const int prots[] = {
		PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE, PROT_READ | PROT_EXEC,
	};
	const unsigned int i = draw(SLOTS), n = draw(ARRAY_SIZE(prots));
	struct slot *slot = &slots[i];

	if (!slot->whole)
		return 1;
	if (one_in(2)) {
		/* The kernel reads the table all the same, or does without */
		mprotect(table_of(i), page(), prots[n]);
		if (slot->callable)
			call_code(text_of(i));
		return expect("mprotect",
			      mprotect(table_of(i), page(), PROT_READ | PROT_WRITE) ? -errno : 0,
			      0);
	}
	mprotect(text_of(i), page(), prots[n]);
	return expect("mprotect", mprotect(text_of(i), page(), PROT_READ | PROT_EXEC) ? -errno : 0,
		      0);
}

/* Anonymous memory is zero then */
static int advise_slot(void)
{
	static const int advice[] = { MADV_DONTNEED, MADV_COLD, MADV_PAGEOUT, MADV_RANDOM };
	const unsigned int i = draw(SLOTS), n = draw(ARRAY_SIZE(advice));
	const bool of_text = one_in(2);
	struct slot *slot = &slots[i];

	if (!slot->whole)
		return 1;
	madvise(of_text ? text_of(i) : table_of(i), page(), advice[n]);
	if (advice[n] == MADV_DONTNEED && of_text && slot->kind == ANONYMOUS)
		slot->callable = false;
	return memory_call();
}

/* A sealed memfd cannot be written again; and a child would take the text from its parent, too */
static bool can_truncate(const struct slot *slot)
{
	return slot->whole && (slot->kind == FILE_IN_TMPFS ||
			       (slot->kind == UNSEALED && slot->callable && !in_child));
}

/* Without, or with other contents for a while: nobody but the kernel reads them meanwhile */
static int truncate_slot(void)
{
	const unsigned int i = draw(SLOTS), pages = draw(4);
	const bool hole = one_in(4);
	struct slot *slot = &slots[i];
	struct code_file file = *some_file();
	int ret;

	file.frame = one_in(2) ? CODE_FRAME : CODE_FRAME_OTHER;
	file.frame_table = file.frame;
	if (!can_truncate(slot))
		return 1;
	probes_end();
	if (hole)
		ret = fallocate(slot->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				pages * page(), page());
	else
		ret = ftruncate(slot->fd, pages * page());
	if (ret)
		return slot->kind == UNSEALED ? -errno : expect("truncate", -errno, 0);
	syscall(SYS_getppid);
	ret = code_file_write(&file, slot->fd) ? -errno : 0;
	if (ret && slot->kind == UNSEALED)
		slot->callable = false;
	else
		expect("rewrite", ret, 0);
	return ret;
}

/* A page that only a handler of faults could bring in, and there is none */
static int leave_to_userfaultfd(void)
{
	const unsigned int i = draw(SLOTS);
	struct uffdio_api api = { .api = UFFD_API };
	struct slot *slot = &slots[i];
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd;

	if (slot->kind != ANONYMOUS || !slot->whole || !slot->callable)
		return 1;
	fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	reg.range.start = (uintptr_t)table_of(i);
	reg.range.len = page();
	if (!ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &reg)) {
		madvise(table_of(i), page(), MADV_DONTNEED);
		call_code(text_of(i));
	}
	close(fd);
	return 0;
}

/*
 * Registering
 */

struct unwind_table_attr attr_of_slot(unsigned int i)
{
	return (struct unwind_table_attr){
		.format = UNWIND_FORMAT_SFRAME,
		.flags = one_in(3) ? UNWIND_TABLE_JIT : 0,
		.key = key_of(i),
		.table_start = (uintptr_t)table_of(i),
		.table_size = code_table_size(FUNCTIONS),
		.text_start = (uintptr_t)text_of(i),
		.text_size = CODE_STRIDE * FUNCTIONS,
	};
}

/* The header may have been given back, or overwritten, by other operations */
static bool has_header(const struct slot *slot)
{
	return slot->whole && slot->kind == SEALED;
}

static int add_table(void)
{
	const unsigned int i = draw(SLOTS);
	struct slot *slot = &slots[i];
	struct unwind_table_attr attr;
	bool spoilt;
	int ret;

	if (!slot->whole)
		return 1;
	attr = attr_of_slot(i);
	spoilt = spoil(&attr, sizeof(attr));
	/* Its key may be another drawer's, which has to find what it has registered */
	if (spoilt)
		attr.key = 1000 + key_of(i);
	ret = unwind_table_add(&attr);
	if (spoilt) {
		if (!ret)
			unwind_table_del(attr.key);
		return ret;
	}
	if (!ret && slot->registered)
		surface_error("added twice", ret);
	if (ret && has_header(slot) && ret != -EEXIST &&
	    !(ret == -ENOSPC && atomic_load(&surface->few_ranges)))
		surface_error("not added", ret);
	if (!ret)
		slot->registered = true;
	return ret;
}

static int del_table(void)
{
	const unsigned int i = draw(SLOTS);
	struct unwind_table_attr attr = { .key = key_of(i) };
	struct slot *slot = &slots[i];
	int ret;

	if (spoil(&attr, sizeof(attr))) {
		attr.key = 1000 + key_of(i);
		return unwind_table(PR_UNWIND_TABLE_DEL, &attr, draw(sizeof(attr) + 1));
	}
	ret = unwind_table_del(key_of(i));
	expect("table del", ret, slot->registered ? 0 : -ENOENT);
	slot->registered = false;
	return expect("second table del", unwind_table_del(key_of(i)), -ENOENT);
}

/*
 * Any operation of the three prctls, of any size.  What it registers by chance is dropped; a
 * thread that opted in cannot opt out like this, as that takes no structure.
 */
static int call_prctl(void)
{
	static const unsigned long options[] = {
		PR_UNWIND_TABLE, PR_UNWIND_CHAIN, PR_UNWIND_SELF,
	};
	static __thread union {
		struct unwind_table_attr	table;
		struct unwind_chain_attr	chain;
		char				room[2 * 4096];
	} any;
	const unsigned int n = draw(ARRAY_SIZE(options)), op = draw(6), tail = draw(sizeof(any));
	const size_t size = one_in(4) ? draw(sizeof(any)) : draw(sizeof(any.chain) + 16);
	const bool is_version = op == (n == 2 ? PR_UNWIND_SELF_VERSION : PR_UNWIND_TABLE_VERSION);
	const bool plain = one_in(2), fifth = one_in(8);
	int ret;

	memset(&any, 0, sizeof(any));
	any.table = attr_of_slot(draw(SLOTS));
	if (n == 1)
		any.chain = (struct unwind_chain_attr){ .function_mask = ~0ULL };
	any.table.key = 2000 + key_of(0);
	if (one_in(2))
		any.room[tail] = 1;
	if (is_version && plain)
		return expect("version", syscall(SYS_prctl, options[n], op, 0, 0, 0), 1);
	ret = syscall(SYS_prctl, options[n], op, &any, size, fifth);
	if (!ret && n == 2)
		syscall(SYS_prctl, options[n], PR_UNWIND_SELF_DISABLE, 0, 0, 0);
	else if (!ret)
		syscall(SYS_prctl, options[n], PR_UNWIND_TABLE_DEL, &any, sizeof(any.chain), 0);
	return ret < 0 ? -errno : ret;
}

void memory_start(void)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		slots[i].fd = -1;
}

const struct surface_operation surface_memory[] = {
	{ "map", 8, map_slot },
	{ "call", 16, memory_call },
	{ "unmap", 3, unmap_slot },
	{ "move", 2, move_slot },
	{ "protect", 2, protect_slot },
	{ "advise", 3, advise_slot },
	{ "truncate", 3, truncate_slot },
	{ "userfaultfd", 2, leave_to_userfaultfd },
	{ "table add", 10, add_table },
	{ "table del", 6, del_table },
	{ "prctl", 4, call_prctl },
	{}
};
