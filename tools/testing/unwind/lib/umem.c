// SPDX-License-Identifier: GPL-2.0
/*
 * User memory: a list of mapped buffers. Each byte has a stamp with the round in which it
 * was last read (see umem_start()); 0 is no round.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "umem.h"

struct region {
	unsigned long	addr;
	unsigned long	size;
	const u8	*host;
	u8		*stamps;
};

#define MAX_REGIONS	4

static struct region regions[MAX_REGIONS];
static unsigned int num_regions;
static bool holes_allowed;
static u8 round_nr = 1;
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
		.stamps = calloc(size + 1, 1),
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
	unsigned int i;

	if (!++round_nr) {
		for (i = 0; i < num_regions; i++)
			memset(regions[i].stamps, 0, regions[i].size);
		round_nr = 1;
	}
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

/* Notes up to eight bytes; says if one was read in this round before */
static __always_inline bool note_word(u8 *stamps, size_t size)
{
	const u64 ones = ~0ULL / 0xff;
	u64 now = ones * round_nr;
	u64 differs = 0;

	memcpy(&differs, stamps, size);
	memcpy(stamps, &now, size);
	differs ^= now;
	if (size < sizeof(differs))
		differs |= ~0ULL << 8 * size;
	/* Is one of its bytes 0? */
	return (differs - ones) & ~differs & ones << 7;
}

static __always_inline void note_bytes(u8 *stamps, size_t size)
{
	bool again = false;

	for (; size > 8; size -= 8, stamps += 8)
		again |= note_word(stamps, 8);
	umem_rereads += note_word(stamps, size) || again;
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
		note_bytes(r->stamps + offset, size);
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
