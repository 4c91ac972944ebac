// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the cost of the topmost frame of code without a table: topmost MODULE
 *
 * On arm64 the caller may be in the link register. The unwinder decides by the
 * instructions around (arch/arm64/kernel/unwind_link.c, unwind_record.c), or by the call
 * that led there (unwind_called.c). The stacks of six functions are taken, each in a
 * system call of its own:
 *
 *	table	a table describes it, so no instruction is read
 *	near	the instructions next to the call show a frame record
 *	far	the nearest that show it are 110 instructions away on both sides
 *	ways	likewise, with branches all the way
 *	leaf	no record: it returns by the link register, 60 instructions later
 *	called	likewise, 600 later; the function was called 600 instructions before
 *
 * Otherwise the stacks are the same: the function and one caller. The program prints
 * lines of the name, "warm", and the instructions of unwind_user() alone, which may fault.
 * There are many of each.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "insns.h"
#include "links.h"

#ifndef __aarch64__
#error "other machines have no link register"
#endif

#define BENCH		"/sys/kernel/debug/unwind_bench"
#define MEASURE		"task faultable"
#define TIMES		51
#define WARM_UP		5

/*
 * long NAME(int fd, const void *buf, size_t len): write(). Each function before leaf
 * keeps a frame record; a table describes one of them.
 */
#define ENTER	"stp	x29, x30, [sp, #-16]!\n\t"
#define SET_FP	"mov	x29, sp\n\t"
#define CALL	"mov	x8, #64\n\t"	\
		"svc	#0\n\t"
#define RETURN	"ldp	x29, x30, [sp], #16\n\t"	\
		"ret\n\t"
#define ADD(n)	".rept	" #n "\n\t"	\
		"add	x9, x9, #1\n\t"	\
		".endr\n\t"
#define FAR	ADD(110)
#define WAYS	".rept	40\n\t"		\
		"tbnz	x9, #0, . + 28\n\t"	\
		"add	x9, x9, #1\n\t"	\
		".endr\n\t"			\
		ADD(7)

#define FUNCTION(name, code)			\
	asm(".pushsection .text\n\t"		\
	    ".balign 1024\n\t"			\
	    ".type " #name ", %function\n"	\
	    #name ":\n\t"			\
	    code				\
	    ".size " #name ", . - " #name "\n\t"	\
	    ".popsection");			\
	long name(int fd, const void *buf, size_t len)

FUNCTION(write_table, ".cfi_startproc\n\t"
	 ENTER ".cfi_def_cfa_offset 16\n\t.cfi_offset 29, -16\n\t.cfi_offset 30, -8\n\t"
	 SET_FP ".cfi_def_cfa_register 29\n\t" CALL
	 RETURN ".cfi_endproc\n\t");
FUNCTION(write_near, ENTER SET_FP CALL RETURN);
FUNCTION(write_far, ENTER SET_FP FAR CALL FAR RETURN);
FUNCTION(write_ways, ENTER SET_FP WAYS CALL WAYS RETURN);
FUNCTION(write_leaf, CALL ADD(60) "ret\n\t");
/* It begins with bti c, even if the assembler may not assume BTI */
FUNCTION(write_called, "hint	#34\n\t" ADD(600) CALL ADD(600) "ret\n\t");

static const struct {
	const char	*name;
	long		(*write)(int fd, const void *buf, size_t len);
} functions[] = {
	{ "table",	write_table },
	{ "near",	write_near },
	{ "far",	write_far },
	{ "ways",	write_ways },
	{ "leaf",	write_leaf },
	{ "called",	write_called },
};

#define NR_FUNCTIONS	ARRAY_SIZE(functions)

static int module = -1;
static unsigned long counted[NR_FUNCTIONS][TIMES];

static int load(const char *path)
{
	int ret, fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	ret = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	if (ret)
		return -1;
	module = open(BENCH, O_RDWR | O_CLOEXEC);
	return module;
}

/* Return the number of frames, or 0 on failure; @insns: the cost to find them */
static unsigned long measure(unsigned int which, unsigned long *insns)
{
	unsigned long frames;
	char text[128];
	ssize_t len;

	if (functions[which].write(module, MEASURE, strlen(MEASURE)) < 0)
		return 0;
	len = pread(module, text, sizeof(text) - 1, 0);
	if (len < 0)
		return 0;
	text[len] = 0;
	if (sscanf(text, "frames %lu unwind %lu", &frames, insns) != 2)
		return 0;
	return frames;
}

/* All stacks have the same functions, except the topmost */
static int measure_all(void)
{
	unsigned long frames = 0, now;
	unsigned int which;
	int i;

	for (which = 0; which < NR_FUNCTIONS; which++) {
		for (i = -WARM_UP; i < TIMES; i++) {
			now = measure(which, &counted[which][i < 0 ? 0 : i]);
			if (now < 3 || (frames && now != frames))
				return -1;
			frames = now;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int which;
	int i;

	if (argc != 2)
		return 1;
	if (!insns_are_counted()) {
		fprintf(stderr, "topmost: not under qemu -icount shift=0\n");
		return 1;
	}
	if (load(argv[1]) < 0) {
		perror(argv[1]);
		return 1;
	}
	if (measure_all()) {
		fprintf(stderr, "topmost: not the same stacks\n");
		return 1;
	}
	for (which = 0; which < NR_FUNCTIONS; which++)
		for (i = 0; i < TIMES; i++)
			printf("%s warm %lu\n", functions[which].name, counted[which][i]);
	return 0;
}
