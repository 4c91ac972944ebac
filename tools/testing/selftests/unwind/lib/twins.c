// SPDX-License-Identifier: GPL-2.0
/*
 * Mapping twins, see twins.h.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "twins.h"

const char * const twin_names[TWINS] = {
	"twin_160.so", "twin_208.so", "twin_256.so",
};

int twins_open(struct twins *twins)
{
	unsigned int i;

	*twins = (struct twins){ .fd = { -1, -1, -1 } };
	for (i = 0; i < TWINS; i++) {
		if (elf_read(&twins->elf[i], twin_names[i]))
			return -1;
		twins->fd[i] = elf_memfd(&twins->elf[i]);
		if (twins->fd[i] < 0)
			return -1;
	}
	return 0;
}

void twins_close(struct twins *twins)
{
	unsigned int i;

	for (i = 0; i < TWINS; i++) {
		if (twins->fd[i] >= 0)
			close(twins->fd[i]);
		elf_free(&twins->elf[i]);
	}
}

run_fn twins_map(const struct twins *twins, unsigned int i,
		 struct image *image, void *where)
{
	if (image_map(image, &twins->elf[i], twins->fd[i], where))
		return NULL;
	return (run_fn)image->entry;
}

/* Move it page by page, the last first, so that the table precedes its text */
run_fn twins_move(struct image *image, void *to)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	ptrdiff_t by = (char *)to - image->base;
	size_t i;

	for (i = image->size; i; i -= page)
		if (mremap(image->base + i - page, page, page,
			   MREMAP_MAYMOVE | MREMAP_FIXED,
			   (char *)to + i - page) == MAP_FAILED)
			return NULL;
	image->base = to;
	image->text += by;
	image->text_end += by;
	image->entry = (char *)image->entry + by;
	return (run_fn)image->entry;
}

void twins_run(struct run *run, run_fn fn, unsigned long rounds)
{
	struct run own;

	if (!run)
		run = &own;
	run->leaf = run_leaf;
	run->rounds = rounds;
	run->nr = 0;
	run_enter(run, fn);
}

int twins_truth(const struct twins *twins, void *where, struct truth *truth)
{
	struct truth_func first[RUN_DEPTH] = {};
	struct image image;
	struct run run = {};
	unsigned int i;
	run_fn fn;

	for (i = 0; i < TWINS; i++) {
		fn = twins_map(twins, i, &image, where);
		if (!fn)
			return -1;
		twins_run(&run, fn, 1);
		image_unmap(&image);
		if (!i)
			memcpy(first, run.func, sizeof(first));
		else if (memcmp(first, run.func, sizeof(first)))
			return -1;
	}
	truth_add(truth, first, run.nr);
	truth->base = (unsigned long)run_base;
	return 0;
}
