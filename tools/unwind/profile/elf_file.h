/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Segments and symbols of an ELF file
 *
 * Any user can make a file that libelf needs all memory for, or a file system that does not
 * answer. So a file is read by a process that can do nothing else, with a bound on its memory
 * and time. Its result is in a file in memory: struct elf_head, the symbols in the order of
 * their addresses, and the text with their names. It is as untrusted as the file.
 */
#ifndef UNWIND_PROFILE_ELF_FILE_H
#define UNWIND_PROFILE_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>

#define SEGMENTS	16

struct segment {
	unsigned long long	offset;
	unsigned long long	size;
	unsigned long long	addr;
	unsigned int		executable;
	unsigned int		unused;
};

struct elf_head {
	unsigned long long	nr_symbols;
	struct segment		segment[SEGMENTS];
	unsigned int		nr;
	/* 0 if there is none */
	unsigned int		id_size;
	unsigned char		id[64];
	/* Has it all symbols, or only the ones that other files link against? */
	unsigned int		is_full;
	unsigned int		unused;
};

/*
 * Read a file, whose descriptor needs only be O_PATH. The result is a descriptor, or -1 if the
 * file cannot be opened, is too large, or takes too long. Users' files that take long leave
 * root's their time.
 */
int read_elf(int fd, bool is_roots);
/* Has a file of root's this build-id? The kernel has not said how long it is */
bool has_build_id(int fd, const unsigned char *id, size_t size);

/* Files that were not read */
extern unsigned int unread_files;

#endif /* UNWIND_PROFILE_ELF_FILE_H */
