// SPDX-License-Identifier: GPL-2.0
/*
 * User memory: a list of mapped buffers. Each byte has a stamp with the round in which it
 * was last read (see umem_start()).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "umem.h"

struct region {
	unsigned long	addr;
	unsigned long	size;
	const u8	*host;
	u32		*stamps;
};

#define MAX_REGIONS	4

static struct region regions[MAX_REGIONS];
static unsigned int num_regions;
static bool holes_allowed;
static u32 round_nr = 1;
static unsigned long fail_at;
static void (*read_hook)(unsigned long addr, void *val, size_t size);
static bool (*fault_hook)(unsigned long addr, size_t size);
static unsigned long end_of_memory = -1UL;
static unsigned long window_start, window_size;
static bool window_open;

unsigned long umem_reads, umem_rereads, umem_violations;

void umem_map(unsigned long addr, const void *host, unsigned long size)
{
	if (num_regions == MAX_REGIONS)
		abort();
	regions[num_regions++] = (struct region){
		.addr = addr,
		.size = size,
		.host = host,
		.stamps = calloc(size + 1, sizeof(u32)),
	};
}

void umem_unmap_all(void)
{
	while (num_regions)
		free(regions[--num_regions].stamps);
}

void umem_allow_holes(bool allow)
{
	holes_allowed = allow;
}

void umem_start(void)
{
	round_nr++;
	umem_reads = 0;
	umem_rereads = 0;
}

void umem_fail_at(unsigned long k)
{
	fail_at = k;
}

void umem_set_hook(void (*hook)(unsigned long addr, void *val, size_t size))
{
	read_hook = hook;
}

void umem_set_fault(bool (*fault)(unsigned long addr, size_t size))
{
	fault_hook = fault;
}

static inline void note_bytes(struct region *r, unsigned long offset, size_t size)
{
	bool again = false;

	while (size--) {
		again |= r->stamps[offset] == round_nr;
		r->stamps[offset++] = round_nr;
	}
	umem_rereads += again;
}

static __always_inline int get_user_of_size(void *val, unsigned long addr, size_t size)
{
	unsigned int i;

	/* The kernel's clears the value, but no code may rely on any value */
	memset(val, 0x5a, size);
	if (++umem_reads == fail_at)
		return -EFAULT;

	for (i = 0; i < num_regions; i++) {
		struct region *r = &regions[i];
		unsigned long offset = addr - r->addr;

		if (addr < r->addr || size > r->size ||
		    offset > r->size - size)
			continue;
		if (fault_hook && fault_hook(addr, size))
			return -EFAULT;
		note_bytes(r, offset, size);
		memcpy(val, r->host + offset, size);
		if (read_hook)
			read_hook(addr, val, size);
		return 0;
	}
	umem_violations += !holes_allowed;
	return -EFAULT;
}

int umem_get_user(void *val, unsigned long addr, size_t size)
{
	/* A fuzzer does little else: with a size that is constant, there are no loops */
	switch (size) {
	case 1:
		return get_user_of_size(val, addr, 1);
	case 2:
		return get_user_of_size(val, addr, 2);
	case 4:
		return get_user_of_size(val, addr, 4);
	case 8:
		return get_user_of_size(val, addr, 8);
	default:
		return get_user_of_size(val, addr, size);
	}
}

bool umem_begin(unsigned long addr, size_t size)
{
	if (window_open)
		umem_violations++;
	if (addr > end_of_memory || size > end_of_memory - addr)
		return false;
	window_open = true;
	window_start = addr;
	window_size = size;
	return true;
}

void umem_end(void)
{
	if (!window_open)
		umem_violations++;
	window_open = false;
}

bool umem_is_open(void)
{
	return window_open;
}

void umem_set_end_of_memory(unsigned long addr)
{
	end_of_memory = addr;
}

int umem_unsafe_get_user(void *val, unsigned long addr, size_t size)
{
	unsigned long offset = addr - window_start;

	if (!window_open || addr < window_start || size > window_size ||
	    offset > window_size - size)
		umem_violations++;
	return umem_get_user(val, addr, size);
}
