// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz target: any bytes as a section, any address looked up in it.
 *
 * Whatever happens, the promises of lookup.h must hold; ASan and UBSan watch
 * the rest.  The entry point is libFuzzer's, so that a clang build can link it
 * with -fsanitize=fuzzer in place of sframe_fuzz_main.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lookup.h"
#include "sframe_build.h"
#include "sframe_fuzz.h"
#include "sframe_gen.h"
#include "umem.h"

#define BASE		0x7f1234567000UL
#define MAX_FUNCS	6	/* looked at per input */

unsigned long fuzz_outcomes[FUZZ_OUTCOMES];

static u64 mutate_state;

static void mutate(unsigned long addr, void *val, size_t size)
{
	u8 *bytes = val;

	(void)addr;
	if (gen_below(&mutate_state, 8))
		return;
	while (size--)
		*bytes++ ^= gen_random(&mutate_state);
}

static void die(const char *why)
{
	fprintf(stderr, "sframe_fuzz: %s\n", why);
	abort();
}

static void note(int ret, const struct unwind_row *row)
{
	switch (ret) {
	case 0:
		fuzz_outcomes[row->outermost ? FUZZ_OUTERMOST : FUZZ_ROW]++;
		break;
	case -ENOENT:
		fuzz_outcomes[FUZZ_NONE]++;
		break;
	case -EINVAL:
		fuzz_outcomes[FUZZ_INVALID]++;
		break;
	case -E2BIG:
		fuzz_outcomes[FUZZ_TOO_BIG]++;
		break;
	default:
		die("-EFAULT, though all memory can be read");
	}
}

static void find(const struct sframe_section *sec, unsigned long ip)
{
	enum unwind_user_access access;
	struct unwind_row rows[2];
	const char *broken;
	int rets[2];

	for (access = UNWIND_USER_FAULTABLE; access <= UNWIND_USER_NOFAULT;
	     access++) {
		rets[access] = lookup_row(sec, ip, access, &rows[access],
					  &broken);
		if (broken)
			die(broken);
		note(rets[access], &rows[access]);
	}
	/* Modes differ in how far they look, not in what they see */
	if (mutate_state || rets[UNWIND_USER_NOFAULT] == -E2BIG)
		return;
	if (rets[0] != rets[1] ||
	    (!rets[0] && !row_equal(&rows[0], &rows[1])))
		die("access modes disagree");
}

/* Addresses that the section itself names: those around a function */
static void find_around_func(const struct sframe_section *sec, const u8 *bytes,
			     u32 i)
{
	u32 fde_size = sec->version == 2 ? 20 : 16, size;
	unsigned long addr = sec->fdes + (u64)i * fde_size, start;
	const u8 *fde = bytes + (addr - BASE);

	if (sec->version == 2) {
		s32 val;

		memcpy(&val, fde, sizeof(val));
		memcpy(&size, fde + 4, sizeof(size));
		start = (u64)(s64)val;
	} else {
		u64 val;

		memcpy(&val, fde, sizeof(val));
		memcpy(&size, fde + 8, sizeof(size));
		start = val;
	}
	start += sec->flags & SFB_PCREL ? addr : BASE;
	find(sec, start - 1);
	find(sec, start);
	find(sec, start + size / 2);
	find(sec, start + size - 1);
	find(sec, start + size);
}

static void run(const u8 *bytes, size_t size, u8 abi, u64 seed)
{
	unsigned long violations = umem_violations;
	struct sframe_section sec;
	u32 i;

	if (sframe_read_header(&sec, BASE, size, abi)) {
		fuzz_outcomes[FUZZ_REFUSED]++;
		if (umem_violations != violations)
			die("a read outside the section, of the header");
		return;
	}
	if (sec.fdes < BASE || sec.fres < sec.fdes || sec.fres > BASE + size ||
	    sec.fre_len > BASE + size - sec.fres)
		die("a header was accepted that leaves the section");

	for (i = 0; i < MAX_FUNCS && i < sec.num_fdes; i++)
		find_around_func(&sec, bytes, gen_below(&seed, sec.num_fdes));
	find(&sec, BASE + gen_below(&seed, 0x2000000) - 0x1000000);
	find(&sec, gen_random(&seed) << 11 ^ gen_random(&seed));
	find(&sec, 0);
	find(&sec, -1UL);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u64 seed = 0;
	u8 *bytes;

	if (size < FUZZ_CONTROL)
		return 0;
	memcpy(&seed, data + 1, FUZZ_CONTROL - 1);
	/* Neither generator works from zero */
	seed += 0x123456789;
	mutate_state = data[0] & FUZZ_MUTATE ? seed ^ 0xfedcba : 0;

	size -= FUZZ_CONTROL;
	bytes = malloc(size);
	memcpy(bytes, data + FUZZ_CONTROL, size);
	umem_map(BASE, bytes, size);
	umem_set_hook(mutate_state ? mutate : NULL);
	run(bytes, size, data[0] & 3, seed);
	umem_set_hook(NULL);
	umem_unmap_all();
	free(bytes);
	return 0;
}
