// SPDX-License-Identifier: GPL-2.0
/* Names of locations, see names.h */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "table.h"

/* Bytes of files' symbols that are in memory at a time, beside one file's */
#define SYMBOLS_MAX	(64UL << 20)

static struct symbols kernel;

static struct image *images;
static unsigned int images_nr;
static size_t symbols_size;

struct named {
	struct name	name;
	/* The file's count; another file of root's may have taken its place since */
	unsigned int	opened;
	bool		done;
};

static struct named *names;
static unsigned int names_nr;

void init_names(void)
{
	read_kernel_symbols(&kernel);
}

void kernel_limits(unsigned long long *start, unsigned long long *end)
{
	const struct symbol *last = kernel.symbol + kernel.nr - 1;

	*start = kernel.nr ? kernel.symbol->start : 0;
	*end = kernel.nr ? last->start + last->size : 0;
}

static void forget_all_symbols(void)
{
	unsigned int i;

	for (i = 0; i < images_nr; i++)
		forget_symbols(&images[i]);
	symbols_size = 0;
}

static void read_into(struct image *image, const struct file *file)
{
	if (symbols_size > SYMBOLS_MAX)
		forget_all_symbols();
	symbols_size -= image->size;
	read_image(image, file);
	symbols_size += image->size;
}

static struct image *find_image(unsigned int number)
{
	unsigned int i;

	if (number >= images_nr) {
		images = need(realloc(images, nr_files() * sizeof(*images)));
		for (i = images_nr; i < nr_files(); i++)
			images[i] = (struct image){};
		images_nr = nr_files();
	}
	/* It may have been opened since, or opened again */
	if (!images[number].file || images[number].opened != file(number)->opened)
		read_into(&images[number], file(number));
	/* It may have moved with its table */
	images[number].file = file(number);
	return &images[number];
}

const struct image *image_of(unsigned int number)
{
	return find_image(number);
}

static const struct image *image_with_symbols(unsigned int number)
{
	struct image *image = find_image(number);

	if (!image->has_symbols)
		read_into(image, file(number));
	return image;
}

static void set_text(struct name *name, const char *text)
{
	name->text = add_string(text, strlen(text));
}

static void name_symbol(struct name *name, const struct symbols *symbols)
{
	const struct symbol *symbol = find_symbol(symbols, name->address);

	if (!symbol)
		return;
	set_text(name, symbol_name(symbols, symbol));
	name->known = true;
	name->into = name->address - symbol->start;
}

static void name_in_file(struct name *name, const struct location *location)
{
	const struct image *image = image_with_symbols(location->of);
	char text[512];

	/* Without a segment, it is no address of a function */
	if (image_address(image, location->at, &name->address))
		name_symbol(name, &image->symbols);
	else
		name->address = location->at;
	if (name->known)
		return;
	snprintf(text, sizeof(text), "[%.300s+0x%llx]", file_name(image->file), location->at);
	set_text(name, text);
}

static void find_name(struct name *name, const struct location *location)
{
	switch (location->kind) {
	case AT_NOTE:
		name->text = location->of;
		break;
	case AT_FUNCTION:
		name->text = location->of;
		name->known = true;
		break;
	case AT_KERNEL:
		name->address = location->at;
		name_symbol(name, &kernel);
		if (!name->known)
			set_text(name, "unknown");
		break;
	case AT_FILE:
		name_in_file(name, location);
		break;
	default:
		name->address = location->at;
		set_text(name, "[unknown]");
		break;
	}
}

const struct name *name_of(unsigned int number)
{
	const struct location *at = location(number);
	const unsigned int opened = at->kind == AT_FILE ? file(at->of)->opened : 0;
	struct named *named;

	if (number >= names_nr) {
		unsigned int nr = 2 * number + 64;

		names = need(realloc(names, nr * sizeof(*names)));
		memset(names + names_nr, 0, (nr - names_nr) * sizeof(*names));
		names_nr = nr;
	}
	named = &names[number];
	if (!named->done || named->opened != opened) {
		named->name = (struct name){};
		find_name(&named->name, at);
	}
	named->opened = opened;
	named->done = true;
	return &named->name;
}

static int by_file(const void *a, const void *b)
{
	const struct location *x = location(*(const unsigned int *)a);
	const struct location *y = location(*(const unsigned int *)b);

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->of > y->of) - (x->of < y->of);
}

void name_all(void)
{
	unsigned int i, nr = nr_locations(), *numbers = need(calloc(nr, sizeof(*numbers)));

	for (i = 0; i < nr; i++)
		numbers[i] = i;
	qsort(numbers, nr, sizeof(*numbers), by_file);
	for (i = 0; i < nr; i++)
		name_of(numbers[i]);
	free(numbers);
}
