// SPDX-License-Identifier: GPL-2.0
/*
 * ELF images, see image.h.
 *
 * A stripped program's symbols are in a debug file, which a package installs by the
 * build-id. It has the program's addresses, but no offsets: these are the program's own.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image.h"

#define DEBUG_FILES	"/usr/lib/debug/.build-id"

/* Use what read_elf() has left; it is not trusted */
static bool use_result(struct image *image)
{
	const struct elf_head *head = image->mapped;
	const size_t left = image->size - sizeof(*head);
	struct symbols *symbols = &image->symbols;

	if (image->size < sizeof(*head) || head->nr > SEGMENTS ||
	    head->id_size > sizeof(head->id) ||
	    head->nr_symbols > left / sizeof(*symbols->symbol))
		return false;
	symbols->symbol = image->mapped + sizeof(*head);
	symbols->nr = head->nr_symbols;
	symbols->text = (char *)(symbols->symbol + symbols->nr);
	symbols->text_size = image->mapped + image->size - (void *)symbols->text;
	/* So each name ends */
	return !symbols->nr || (symbols->text_size && !symbols->text[symbols->text_size - 1]);
}

/* Its file is a descriptor that is closed */
static bool map_result(struct image *image, int fd)
{
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size) {
		image->size = st.st_size;
		image->mapped = mmap(NULL, image->size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (image->mapped == MAP_FAILED)
			image->mapped = NULL;
	}
	if (fd >= 0)
		close(fd);
	if (image->mapped && use_result(image))
		return true;
	forget_symbols(image);
	return false;
}

void forget_symbols(struct image *image)
{
	if (!image->mapped)
		return;
	munmap(image->mapped, image->size);
	image->mapped = NULL;
	image->size = 0;
	image->symbols = (struct symbols){};
	image->has_symbols = false;
}

static int open_debug_file(const struct elf_head *head)
{
	char path[sizeof(DEBUG_FILES) + 2 * sizeof(head->id) + 16], *to = path;
	unsigned int i;

	if (head->id_size < 2)
		return -1;
	to += sprintf(to, DEBUG_FILES "/%02x/", head->id[0]);
	for (i = 1; i < head->id_size; i++)
		to += sprintf(to, "%02x", head->id[i]);
	sprintf(to, ".debug");
	return open(path, O_PATH | O_CLOEXEC);
}

/* Take all symbols from there, if it can be read */
static void read_debug_file(struct image *image)
{
	struct image debug = {};
	int fd = open_debug_file(&image->head);

	if (fd < 0)
		return;
	if (map_result(&debug, read_elf(fd, true)) && debug.symbols.nr) {
		munmap(image->mapped, image->size);
		image->symbols = debug.symbols;
		image->mapped = debug.mapped;
		image->size = debug.size;
	} else {
		forget_symbols(&debug);
	}
	close(fd);
}

/* The kernel has not said how long the build-id is */
static bool is_another(const struct elf_head *head, const struct file *file)
{
	return file->has_id && (!head->id_size ||
				memcmp(head->id, file->id, MIN(head->id_size, sizeof(file->id))));
}

void read_image(struct image *image, const struct file *file)
{
	forget_symbols(image);
	*image = (struct image){ .file = file, .opened = file->opened };
	if (file->fd >= 0 && map_result(image, read_elf(file->fd, file->is_roots)))
		image->head = *(struct elf_head *)image->mapped;
	if (is_another(&image->head, file)) {
		/* It has none of these addresses */
		forget_symbols(image);
		image->head = (struct elf_head){ .id_size = sizeof(file->id) };
		memcpy(image->head.id, file->id, sizeof(file->id));
	} else if (image->mapped && !image->head.is_full) {
		read_debug_file(image);
	}
	image->has_symbols = true;
}

bool image_address(const struct image *image, unsigned long long offset,
		   unsigned long long *address)
{
	const struct segment *segment;

	for (segment = image->head.segment; segment < &image->head.segment[image->head.nr];
	     segment++) {
		if (offset - segment->offset >= segment->size)
			continue;
		*address = offset - segment->offset + segment->addr;
		return true;
	}
	return false;
}
