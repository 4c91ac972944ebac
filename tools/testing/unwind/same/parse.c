// SPDX-License-Identifier: GPL-2.0
/*
 * Parsing a clock sample. No field is used before it is known to lie in the record.
 */
#include <stdbool.h>
#include <stddef.h>

#include "same.h"

static const uint64_t *take(const uint64_t **word, const uint64_t *end,
			    uint64_t num)
{
	const uint64_t *at = *word;

	if (num > (uint64_t)(end - at))
		return NULL;
	*word = at + num;
	return at;
}

static uint64_t cookie_of(const uint64_t *ips, uint64_t num)
{
	uint64_t i;

	for (i = 0; i + 1 < num; i++)
		if (ips[i] == (uint64_t)PERF_CONTEXT_USER_DEFERRED)
			return ips[i + 1];
	return 0;
}

int same_parse_sample(const struct perf_event_header *record,
		      struct same_sample *sample)
{
	const uint64_t *word = (const uint64_t *)(record + 1);
	const uint64_t *end = word + (record->size - sizeof(*record)) / 8;
	const uint64_t *at;
	uint64_t num;

	*sample = (struct same_sample){};
	at = take(&word, end, 5);
	if (record->type != PERF_RECORD_SAMPLE || !at)
		return -1;
	sample->ip = at[1];
	sample->pid = at[2];
	sample->tid = at[2] >> 32;
	sample->time = at[3];
	sample->in_kernel = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
			    PERF_RECORD_MISC_KERNEL;
	num = at[4];
	at = take(&word, end, num);
	if (!at)
		return -1;
	sample->cookie = cookie_of(at, num);

	at = take(&word, end, 1);
	if (!at)
		return -1;
	if (*at != PERF_SAMPLE_REGS_ABI_NONE) {
		sample->regs = take(&word, end, SAME_NUM_REGS);
		if (!sample->regs)
			return -1;
	}

	at = take(&word, end, 1);
	if (!at)
		return -1;
	sample->stack_size = *at;
	if (!sample->stack_size)
		return 0;
	if (sample->stack_size % 8)
		return -1;
	sample->stack = (const uint8_t *)take(&word, end, sample->stack_size / 8);
	at = take(&word, end, 1);
	if (!sample->stack || !at || *at > sample->stack_size)
		return -1;
	sample->stack_copied = *at;
	return 0;
}
