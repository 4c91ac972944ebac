// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings that do not correspond to the segments of their file.
 *
 * Programs make more of their image executable, and the kernel merges the mappings.  Linkers
 * write segments that share a page of the file, and the page is mapped once for each.  Other
 * unwinders match mappings to segments, and have got wrong load biases.  Here, the offset in
 * the file decides.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>

#include "file_env.h"
#include "image.h"
#include "../../kselftest_harness.h"

/* Does one mapping reach from @start to @end, or further? */
static bool is_one_mapping(const char *start, const char *end)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	bool found = false;
	char line[512];

	while (maps && !found && fgets(line, sizeof(line), maps))
		found = sscanf(line, "%lx-%lx", &from, &to) == 2 &&
			from <= (uintptr_t)start && to >= (uintptr_t)end;
	if (maps)
		fclose(maps);
	return found;
}

/* Does a stack pass function @i of the image's page @text? */
static void expect_through(struct __test_metadata *_metadata, struct file_env *env,
			   unsigned int text, unsigned int i)
{
	EXPECT_EQ(THROUGH, code_through(&env->sampler, code_image_fn(&env->image, text, i)))
		TH_LOG("page %u, function %u", text, i);
}

/*
 * Mappings that are merged
 */

FIXTURE(merged)
{
	struct file_env env;
};

FIXTURE_VARIANT(merged)
{
	int (*merge)(struct file_env *env);
};

/* The file's headers, which are before its text */
static int map_headers(struct file_env *env)
{
	return mmap(env->image.base, CODE_PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, env->fd, 0) ==
	       env->image.base ? 0 : -1;
}

/* As tools do that patch the start of the text, and round down */
static int protect_headers(struct file_env *env)
{
	return mprotect(env->image.base, CODE_PAGE, PROT_READ | PROT_EXEC);
}

static int map_all_again(struct file_env *env)
{
	return code_image_map(&env->image, &code_file_usual, env->fd, env->image.base) ||
	       map_headers(env) ? -1 : 0;
}

/* As the loader does for programs that ask for it: memory that can be read can be executed */
static int map_all_executable(struct file_env *env)
{
	const int before = personality(0xffffffff);
	int ret;

	if (before < 0 || personality(before | READ_IMPLIES_EXEC) < 0)
		return -1;
	ret = map_all_again(env);
	return personality(before) < 0 ? -1 : ret;
}

FIXTURE_VARIANT_ADD(merged, by_mprotect) {
	.merge = protect_headers,
};

FIXTURE_VARIANT_ADD(merged, by_read_implies_exec) {
	.merge = map_all_executable,
};

FIXTURE_SETUP(merged)
{
	const char *why = env_setup(&self->env);

	if (why)
		SKIP(return, "%s", why);
	self->env.fd = code_file_memfd(&code_file_usual);
	ASSERT_LE(0, self->env.fd);
	ASSERT_EQ(0, code_image_map(&self->env.image, &code_file_usual, self->env.fd, NULL));
	ASSERT_EQ(0, map_headers(&self->env));
}

FIXTURE_TEARDOWN(merged)
{
	env_teardown(&self->env);
}

/* The page with the headers, and the text: the mapping begins before the executable segment */
static bool is_merged(const struct file_env *env)
{
	const char *text = env->image.base + code_file_usual.text[0].vaddr;

	return is_one_mapping(env->image.base, text + CODE_PAGE);
}

static void expect_all_through(struct __test_metadata *_metadata, struct file_env *env)
{
	unsigned int i;

	for (i = 0; i < CODE_FILE_FUNCTIONS; i++)
		expect_through(_metadata, env, 0, i);
}

TEST_F(merged, before_the_first_stack_has_its_table)
{
	struct file_env *env = &self->env;

	ASSERT_FALSE(is_merged(env));
	ASSERT_EQ(0, variant->merge(env));
	ASSERT_TRUE(is_merged(env));
	expect_all_through(_metadata, env);
	EXPECT_ONE_LOAD(env, env->fd);
}

TEST_F(merged, after_the_first_stack_keeps_its_table)
{
	struct file_env *env = &self->env;

	expect_all_through(_metadata, env);
	ASSERT_EQ(0, variant->merge(env));
	ASSERT_TRUE(is_merged(env));
	expect_all_through(_metadata, env);
	EXPECT_ONE_LOAD(env, env->fd);
}

TEST_F(merged, and_split_again_keeps_its_table)
{
	struct file_env *env = &self->env;

	ASSERT_EQ(0, variant->merge(env));
	ASSERT_TRUE(is_merged(env));
	expect_all_through(_metadata, env);
	ASSERT_EQ(0, mprotect(env->image.base, CODE_PAGE, PROT_READ));
	ASSERT_FALSE(is_merged(env));
	expect_all_through(_metadata, env);
	EXPECT_ONE_LOAD(env, env->fd);
}

/*
 * Two executable segments that share a page of the file, as lld and mold write them: the second
 * one begins in the middle of the page in which the first one ends.
 *
 *	segment		in the file		in memory	(if CODE_PAGE is 0x1000)
 *	first		0x1000 to 0x2100	0x1000 to 0x2100
 *	second		0x2100 to 0x3000	0x4100 to 0x5000
 *
 * So the page at 0x2000 of the file is mapped twice: at 0x2000, next to the other page of the
 * first segment, and at 0x4000.
 */
static const struct code_file shared_page = {
	.nr_texts = 3,
	.text = { { PG(1), PG(1) }, { PG(2), PG(2) }, { PG(2), PG(4) } },
	.table = { PG(3), PG(6) },
	.frame = CODE_FRAME,
	.frame_table = CODE_FRAME,
};

/* Functions of the shared page that belong to the first segment */
#define OF_FIRST	2
#define END_OF_FIRST	(OF_FIRST * CODE_STRIDE)
/* And of both segments in all */
#define FUNCTIONS	(2 * CODE_FILE_FUNCTIONS)

/* Have the headers describe two segments in place of three, and the table */
static int write_headers(int fd)
{
	struct elf64_phdr phdr[5];
	const off_t at = sizeof(struct elf64_hdr);

	if (pread(fd, phdr, sizeof(phdr), at) != sizeof(phdr))
		return -1;
	phdr[0].p_filesz = CODE_PAGE + END_OF_FIRST;
	phdr[0].p_memsz = phdr[0].p_filesz;
	phdr[1].p_type = PT_NULL;
	phdr[2].p_offset += END_OF_FIRST;
	phdr[2].p_vaddr += END_OF_FIRST;
	phdr[2].p_filesz = CODE_PAGE - END_OF_FIRST;
	phdr[2].p_memsz = phdr[2].p_filesz;
	phdr[4].p_filesz = code_table_size(FUNCTIONS);
	phdr[4].p_memsz = phdr[4].p_filesz;
	return pwrite(fd, phdr, sizeof(phdr), at) == sizeof(phdr) ? 0 : -1;
}

/* Each function once, at the address that its segment gives it */
static int write_section(int fd)
{
	uint64_t fn[FUNCTIONS];
	char section[CODE_PAGE] = {};
	unsigned int i, text;

	for (i = 0; i < FUNCTIONS; i++) {
		text = i / CODE_FILE_FUNCTIONS;
		if (i >= CODE_FILE_FUNCTIONS + OF_FIRST)
			text++;
		fn[i] = shared_page.text[text].vaddr + i % CODE_FILE_FUNCTIONS * CODE_STRIDE;
	}
	code_table_write(section, shared_page.table.vaddr, fn, FUNCTIONS, CODE_FRAME);
	return pwrite(fd, section, sizeof(section), shared_page.table.offset) ==
	       sizeof(section) ? 0 : -1;
}

FIXTURE(shared_page)
{
	struct file_env env;
};

FIXTURE_SETUP(shared_page)
{
	const char *why = env_setup(&self->env);
	int fd;

	if (why)
		SKIP(return, "%s", why);
	fd = code_file_unsealed(&shared_page);
	self->env.fd = fd;
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, write_headers(fd));
	ASSERT_EQ(0, write_section(fd));
	ASSERT_EQ(0, file_seal(fd));
	ASSERT_EQ(0, code_image_map(&self->env.image, &shared_page, fd, NULL));
}

FIXTURE_TEARDOWN(shared_page)
{
	env_teardown(&self->env);
}

TEST_F(shared_page, functions_of_both_segments_have_their_rules)
{
	struct file_env *env = &self->env;
	unsigned int i;

	/* The first segment that has this page of the file is not the right one */
	for (i = OF_FIRST; i < CODE_FILE_FUNCTIONS; i++)
		expect_through(_metadata, env, 2, i);
	for (i = 0; i < OF_FIRST; i++)
		expect_through(_metadata, env, 1, i);
	for (i = 0; i < CODE_FILE_FUNCTIONS; i++)
		expect_through(_metadata, env, 0, i);
	EXPECT_ONE_LOAD(env, env->fd);
}

/* No other mapping of the file says where the segments begin */
TEST_F(shared_page, functions_of_a_segment_mapped_alone_have_their_rules)
{
	struct file_env *env = &self->env;
	unsigned int i;
	char *text;

	code_image_unmap(&env->image);
	text = mmap(NULL, CODE_PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, env->fd,
		    shared_page.text[2].offset);
	ASSERT_NE(MAP_FAILED, text);
	for (i = OF_FIRST; i < CODE_FILE_FUNCTIONS; i++)
		EXPECT_EQ(THROUGH, code_through(&env->sampler,
						(chain_fn)(text + i * CODE_STRIDE)));
	EXPECT_ONE_LOAD(env, env->fd);
}

/* Segments of a page each, next to each other in the file and in memory: one mapping */
TEST(segments_side_by_side_have_their_table)
{
	const struct code_file file = {
		.nr_texts = 2,
		.text = { { PG(1), PG(1) }, { PG(2), PG(2) } },
		.table = { PG(3), PG(3) },
		.frame = CODE_FRAME,
		.frame_table = CODE_FRAME,
	};
	struct file_env env = {};
	const char *why = env_setup(&env);
	unsigned int i;
	char *text;

	if (why)
		SKIP(return, "%s", why);
	env.fd = code_file_memfd(&file);
	ASSERT_LE(0, env.fd);
	ASSERT_EQ(0, code_image_map(&env.image, &file, env.fd, NULL));
	text = env.image.base + file.text[0].vaddr;
	ASSERT_TRUE(is_one_mapping(text, text + 2 * CODE_PAGE));
	for (i = 0; i < CODE_FILE_FUNCTIONS; i++) {
		expect_through(_metadata, &env, 0, i);
		expect_through(_metadata, &env, 1, i);
	}
	EXPECT_ONE_LOAD(&env, env.fd);
	env_teardown(&env);
}

TEST_HARNESS_MAIN
