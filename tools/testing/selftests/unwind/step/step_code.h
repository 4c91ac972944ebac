/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The code of a stepped process: the instruction at an address, its file, and whether a
 * table covers it.
 *
 * The return address of a signal handler counts as covered, because the kernel has laid
 * down the frame there itself. The code is cached until code_changed() reports a new or
 * removed mapping.
 */
#ifndef SELFTEST_UNWIND_STEP_CODE_H
#define SELFTEST_UNWIND_STEP_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "step_machine.h"
#include "step_sframe.h"

#define CODE_MODULES	64
#define CODE_CACHE	65536

/* An executable mapping of a file, or the vDSO. @bias is added to addresses of the file. */
struct module {
	char			path[256];
	uint64_t		start;
	uint64_t		end;
	uint64_t		offset;
	uint64_t		bias;
	unsigned char		*data;
	size_t			size;
	struct step_section	section;
	bool			found;
};

struct code_entry {
	uint64_t	addr;
	uint32_t	generation;
	uint8_t		kind;
	bool		tabled;
};

struct code {
	pid_t			pid;
	int			mem;
	bool			changed;
	uint32_t		generation;
	unsigned int		nr;
	struct module		module[CODE_MODULES];
	struct code_entry	cache[CODE_CACHE];
};

/* Open a process that has just called exec(); 0, or -1 */
int code_open(struct code *code, pid_t pid);
void code_close(struct code *code);
void code_changed(struct code *code);

/* Read words of the process's memory; false if they cannot be read */
bool code_read(const struct code *code, uint64_t addr, void *to, size_t size);

const struct code_entry *code_at(struct code *code, uint64_t addr);
const struct module *code_module(struct code *code, uint64_t addr);

/* Is it the call of rt_sigreturn() that a handler returns to? */
bool code_is_restorer(const struct code *code, uint64_t addr);

/* "file:function+0x12", or the section's name for the linker's own code */
void code_name(struct code *code, uint64_t addr, char *name, size_t size);

#endif /* SELFTEST_UNWIND_STEP_CODE_H */
