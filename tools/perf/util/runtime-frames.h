/* SPDX-License-Identifier: GPL-2.0 */
/* The frames of interpreted languages in callchains: see runtime-frames.c. */
#ifndef __PERF_RUNTIME_FRAMES_H
#define __PERF_RUNTIME_FRAMES_H

#include <stdbool.h>
#include <linux/types.h>

struct map;
struct perf_sample;
union perf_event;

/*
 * The addresses that stand for functions of languages. No program has any there:
 * 56 bits is what its addresses can have.
 */
#define RUNTIME_FRAMES_START	0x7f00000000000000ULL
#define RUNTIME_FRAMES_END	0x7fff000000000000ULL

static inline bool runtime_frames__is_ip(u64 ip)
{
	return ip >= RUNTIME_FRAMES_START && ip < RUNTIME_FRAMES_END;
}

/**
 * struct runtime_frame - A frame of a language.
 */
struct runtime_frame {
	/** @ip: Stands for its function. */
	u64	ip;
	/** @place: Number of the native frame that executes it. */
	u32	place;
	/** @number: Its own number in the record. */
	u32	number;
};

int runtime_frames__add_name(const union perf_event *event, const struct perf_sample *sample);
s64 runtime_frames__parse(const union perf_event *event, const struct perf_sample *sample,
			  struct runtime_frame **frames);
u64 runtime_frames__merge(u64 *to, const u64 *ips, u64 nr,
			  struct runtime_frame *frames, u64 nr_frames);
struct map *runtime_frames__map(u64 *ip);

#endif /* __PERF_RUNTIME_FRAMES_H */
