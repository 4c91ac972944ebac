// SPDX-License-Identifier: GPL-2.0
/*
 * prctl(PR_UNWIND_TABLE, ...), see code_register.h.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "code_register.h"

void code_attr(struct unwind_table_attr *attr, const struct code *code,
	       uint64_t key)
{
	*attr = (struct unwind_table_attr){
		.format = UNWIND_FORMAT_SFRAME,
		.key = key,
		.table_start = (uintptr_t)code->table,
		.table_size = code->table_size,
		.text_start = (uintptr_t)code->text,
		.text_size = code->text_size,
	};
}

void code_attr_fn(struct unwind_table_attr *attr, const struct code *code,
		  unsigned int i, uint64_t key)
{
	code_attr(attr, code, key);
	attr->text_start = (uintptr_t)code_fn(code, i);
	attr->text_size = CODE_STRIDE;
}

int unwind_table(unsigned long op, const void *attr, size_t size)
{
	long ret = syscall(SYS_prctl, PR_UNWIND_TABLE, op, attr, size, 0);

	return ret < 0 ? -errno : ret;
}

int unwind_table_add(const struct unwind_table_attr *attr)
{
	return unwind_table(PR_UNWIND_TABLE_ADD, attr, sizeof(*attr));
}

int unwind_table_del(uint64_t key)
{
	struct unwind_table_attr attr = { .key = key };

	return unwind_table(PR_UNWIND_TABLE_DEL, &attr, sizeof(attr));
}

int code_register(const struct code *code, uint64_t key)
{
	struct unwind_table_attr attr;

	code_attr(&attr, code, key);
	return unwind_table_add(&attr);
}

int code_image_register_range(const struct code_image *image, uint64_t start, uint64_t end,
			      uint64_t key)
{
	const struct unwind_table_attr attr = {
		.format = UNWIND_FORMAT_SFRAME,
		.key = key,
		.table_start = (uintptr_t)image->base + image->file->table.vaddr,
		.table_size = code_file_table_size(image->file),
		.text_start = (uintptr_t)image->base + start,
		.text_size = end - start,
	};

	return unwind_table_add(&attr);
}

int code_image_register(const struct code_image *image, uint64_t key)
{
	const uint64_t start = image->file->text[0].vaddr;

	return code_image_register_range(image, start, start + CODE_FILE_FUNCTIONS * CODE_STRIDE,
					 key);
}
