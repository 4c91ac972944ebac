// SPDX-License-Identifier: GPL-2.0
/*
 * Files with many functions: up to a size, the first deferred stack has the table.
 *
 * The task itself loads a section that is in the page cache and has up to 40,000 entries.
 * A worker loads larger ones.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "file_env.h"
#include "image.h"
#include "../../kselftest_harness.h"

/* The text ends before the section; each function has five entries */
#define MAX_FUNCTIONS	8192
#define TEXT		PG(1)
#define SECTION		(TEXT + MAX_FUNCTIONS * CODE_STRIDE)

static const struct code_file layout = {
	.nr_texts = 1,
	.text = { { TEXT, TEXT } },
	.table = { SECTION, SECTION },
	.frame = CODE_FRAME,
	.frame_table = CODE_FRAME,
};

/* No two functions share their entries; the section is to be freed */
static char *make_section(unsigned int nr, size_t *size)
{
	const size_t head = sizeof(struct sframe_header) + sizeof(struct sframe_fde);
	const size_t entries = code_table_size(1) - head;
	const uint64_t fn = TEXT;
	char one[256], *section, *next;
	struct sframe_header *hdr;
	struct sframe_fde *fde;
	unsigned int i;

	code_table_write(one, SECTION, &fn, 1, CODE_FRAME);
	*size = sizeof(*hdr) + nr * (sizeof(*fde) + entries);
	section = malloc(*size);
	if (!section)
		return NULL;
	hdr = memcpy(section, one, sizeof(*hdr));
	hdr->num_fdes = nr;
	hdr->num_fres *= nr;
	hdr->fre_len *= nr;
	hdr->freoff = nr * sizeof(*fde);
	fde = (struct sframe_fde *)(hdr + 1);
	next = (char *)(fde + nr);
	for (i = 0; i < nr; i++, next += entries) {
		memcpy(&fde[i], one + sizeof(*hdr), sizeof(*fde));
		fde[i].start_offset += i * CODE_STRIDE;
		fde[i].fre_off = i * entries;
		memcpy(next, one + head, entries);
	}
	return section;
}

static int write_section(int fd, unsigned int nr, size_t *size)
{
	char *section = make_section(nr, size);
	bool written = section && pwrite(fd, section, *size, SECTION) == (ssize_t)*size;

	free(section);
	return written ? 0 : -1;
}

static int write_text(int fd, unsigned int nr)
{
	const size_t size = nr * CODE_STRIDE;
	char *text = calloc(1, size);
	unsigned int i;
	bool written;

	if (!text)
		return -1;
	for (i = 0; i < nr; i++)
		code_write(text + i * CODE_STRIDE, CODE_FRAME);
	written = pwrite(fd, text, size, TEXT) == (ssize_t)size;
	free(text);
	return written ? 0 : -1;
}

/* Have the headers of a small file describe all of the text, and all of the section */
static int grow_segments(int fd, size_t text, size_t section)
{
	const off_t at = sizeof(struct elf64_hdr);
	struct elf64_phdr phdr[3];
	unsigned int i;

	if (pread(fd, phdr, sizeof(phdr), at) != sizeof(phdr))
		return -1;
	for (i = 0; i < ARRAY_SIZE(phdr); i++) {
		phdr[i].p_filesz = i ? section : text;
		phdr[i].p_memsz = phdr[i].p_filesz;
	}
	return pwrite(fd, phdr, sizeof(phdr), at) == sizeof(phdr) ? 0 : -1;
}

FIXTURE(large_file)
{
	struct file_env env;
	char *text;
};

FIXTURE_VARIANT(large_file)
{
	unsigned int functions;
	/* A worker loads its table */
	bool is_later;
};

FIXTURE_VARIANT_ADD(large_file, of_39520_entries) {
	.functions = 7904,
};

FIXTURE_VARIANT_ADD(large_file, of_40960_entries) {
	.functions = 8192, .is_later = true,
};

FIXTURE_SETUP(large_file)
{
	const char *why = env_setup(&self->env);
	size_t size;
	int fd;

	if (why)
		SKIP(return, "%s", why);
	fd = code_file_unsealed(&layout);
	self->env.fd = fd;
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, write_section(fd, variant->functions, &size));
	ASSERT_EQ(0, write_text(fd, variant->functions));
	ASSERT_EQ(0, grow_segments(fd, variant->functions * CODE_STRIDE, size));
	ASSERT_EQ(0, file_seal(fd));
	self->text = mmap(NULL, variant->functions * CODE_STRIDE, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE, fd, TEXT);
	ASSERT_NE(MAP_FAILED, self->text);
}

FIXTURE_TEARDOWN(large_file)
{
	env_teardown(&self->env);
}

static enum through through_function(struct _test_data_large_file *self, unsigned int i)
{
	return code_through(&self->env.sampler, (chain_fn)(self->text + i * CODE_STRIDE));
}

static enum through await_through_function(struct _test_data_large_file *self, unsigned int i)
{
	const int64_t end = now_ms() + 20000;
	enum through ret;

	do {
		ret = through_function(self, i);
		usleep(1000);
	} while (ret == THROUGH_NOT && now_ms() < end);
	return ret;
}

/* By the events: the task, or a worker, has loaded the whole table */
TEST_F(large_file, has_its_table)
{
	const unsigned int last = variant->functions - 1;
	struct file_env *env = &self->env;
	char message[128] = "";

	if (variant->is_later) {
		ASSERT_EQ(0, trace_of_others(&env->trace));
		EXPECT_EQ(THROUGH, await_through_function(self, last));
	} else {
		ASSERT_EQ(0, trace_of(&env->trace, getpid()));
		EXPECT_EQ(THROUGH, through_function(self, last));
	}
	EXPECT_EQ(THROUGH, through_function(self, last / 2));
	EXPECT_EQ(THROUGH, through_function(self, 0));
	EXPECT_ONE_LOAD(env, env->fd);
	EXPECT_EQ(1, trace_count_file(&env->trace, "table_found", env->fd, message,
				      sizeof(message)));
	EXPECT_LE(variant->functions, trace_field(message, "entries"));
}

TEST_HARNESS_MAIN
