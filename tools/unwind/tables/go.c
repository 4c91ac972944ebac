// SPDX-License-Identifier: GPL-2.0
/*
 * Go's programs, on x86-64.  Go's compiler writes no .eh_frame, but every program has the
 * table by which its own runtime unwinds, .gopclntab.  For each function it has the distance
 * from the stack pointer to the return address, by address ("pcsp").
 *
 *   header -> functions: start, description -> pcsp: (difference, bytes of code)...
 *
 * Each function becomes an entry like the entries of .eh_frame, which take precedence.
 *
 *   - A function that Go's runtime takes for the outermost one has no caller, unless it
 *     handles signals: the kernel has called that one, and it leaves the frame pointer alone.
 *   - One that sets the stack pointer has no distances.  If it begins with a frame, the frame
 *     pointer has its place; else it is left out.
 *   - A function saves the frame pointer if the first thing that it pushes is %rbp.
 *     Otherwise that is lost where something is on the stack.
 *
 * Since Go 1.26, the section .go.module has the address of the code, which before was in the
 * table's header.  In most position-independent programs the file does not have it: they are
 * left out.
 */
#include <dwarf.h>
#include <errno.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "go.h"

/* The layout since Go 1.20 */
#define MAGIC		0xfffffff1
#define WORDS		8

/* Places in the description of a function, and flags */
#define PCSP		16
#define ID		40
#define FLAGS		41
#define TOP_FRAME	0x1
#define WRITES_SP	0x2

/* Words of .go.module: the table's address and the code's */
#define MODULE_TABLE	0
#define MODULE_TEXT	22

#define PUSH_RBP	0x55
#define POP_RBP		0x5d
#define RET		0xc3
#define DWARF_RBP	6
#define DWARF_RSP	7
/* Bytes of a made program for one row, and for one end of a function that changes stacks */
#define ROW_MAX		16
#define END_MAX		32

/* In the header, after eight bytes */
enum word { NR_FUNCS, NR_FILES, TEXT_START, NAMES, UNITS, FILES, PCTAB, FUNCS };

/**
 * struct go - a program
 * @list: what entries are added to
 * @table: .gopclntab
 * @code: .text
 * @code_addr: its address
 * @text: address of the code of Go
 * @word: the header's numbers
 * @cie: index of the CIE of most functions
 * @top: of those without a caller
 */
struct go {
	struct cfi_list	*list;
	struct reader	table;
	struct reader	code;
	__u64		code_addr;
	__u64		text;
	__u64		word[WORDS];
	size_t		cie;
	size_t		top;
};

/* Until a function begins: the return address is on top of the stack */
static const __u8 called[] = { DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 };
static const __u8 outermost[] = { DW_CFA_undefined, 16 };

/* A cursor at that place in the table */
static struct reader at(const struct go *go, __u64 offset)
{
	struct reader r = go->table;

	read_bytes(&r, offset);
	return r;
}

static __u32 number(const struct go *go, __u64 offset)
{
	struct reader r = at(go, offset);

	return read_uint(&r, 4);
}

/* Is there a push that ends at that address? */
static bool is_push(const struct go *go, __u64 addr)
{
	__u64 offset = addr - 1 - go->code_addr;

	return offset < reader_left(&go->code) && go->code.pos[offset] == PUSH_RBP;
}

/*
 * One function's program
 */

/**
 * struct program - what is being made
 * @pos: next byte
 * @end: end of the room for it
 * @where: address that it is about, from the function's start
 * @used: something is on the stack
 * @pushed: that was the frame pointer, first of all
 * @known: @pushed is known
 * @is_handler: the function handles signals
 */
struct program {
	__u8	*pos;
	__u8	*end;
	__u64	where;
	bool	used;
	bool	pushed;
	bool	known;
	bool	is_handler;
};

static void put_number(struct program *p, __u64 val, unsigned int size)
{
	for (; size; size--, val >>= 8)
		*p->pos++ = val;
}

static void put_uleb(struct program *p, __u64 val)
{
	for (; val > 0x7f; val >>= 7)
		*p->pos++ = val | 0x80;
	*p->pos++ = val;
}

static void put_advance(struct program *p, __u64 offset)
{
	if (offset == p->where)
		return;
	*p->pos++ = DW_CFA_advance_loc4;
	put_number(p, offset - p->where, 4);
	p->where = offset;
}

/* From @offset on, the return address is @distance above the stack pointer */
static void put_row(const struct go *go, struct program *p, __u64 start, __u64 offset,
		    __u32 distance)
{
	put_advance(p, offset);
	*p->pos++ = DW_CFA_def_cfa_offset;
	put_uleb(p, distance + 8ULL);
	if (!distance == !p->used || p->is_handler)
		return;
	p->used = distance;
	/* After a return in the middle of a function, its frame is there again */
	if (!p->known) {
		p->known = true;
		p->pushed = distance == 8 && offset && is_push(go, start + offset);
	}
	if (!distance) {
		*p->pos++ = DW_CFA_same_value;
		*p->pos++ = DWARF_RBP;
	} else if (p->pushed) {
		*p->pos++ = DW_CFA_offset | DWARF_RBP;
		*p->pos++ = 2;
	} else {
		*p->pos++ = DW_CFA_undefined;
		*p->pos++ = DWARF_RBP;
	}
}

static __s32 zigzag(__u64 val)
{
	return val & 1 ? ~(val >> 1) : val >> 1;
}

/*
 * Read distances, and write rows if @p is not NULL.  The function ends with the last one:
 * up to the next function, @size bytes at most, there may be padding.
 * Return: the number of rows, or 0 if they make no sense, or are more than @p has room for.
 */
static size_t run(const struct go *go, __u64 start, __u64 *size, __u32 pcsp,
		  struct program *p)
{
	struct reader r = at(go, go->word[PCTAB] + pcsp);
	__u64 offset = 0;
	__s64 distance = -1;
	size_t nr = 0;

	for (; offset < *size; nr++) {
		__u64 step = read_uleb(&r);

		if (!step && nr)
			break;
		distance += zigzag(step);
		if (distance < 0 || distance > INT32_MAX - 8 || distance % 8)
			return 0;
		if (p && p->end - p->pos < ROW_MAX)
			return 0;
		if (p)
			put_row(go, p, go->text + start, offset, distance);
		offset += read_uleb(&r);
		if (r.bad)
			return 0;
	}
	if (offset > *size)
		return 0;
	*size = offset;
	return nr;
}

/* Room for that many bytes, which the list frees */
static __u8 *room_for(struct cfi_list *list, size_t size)
{
	struct cfi_made *made = malloc(sizeof(*made) + size);

	if (!made)
		return NULL;
	made->next = list->made;
	list->made = made;
	return made->bytes;
}

/* Does the frame end there, by a return or a jump elsewhere?  Return: the bytes of that, or 0 */
static unsigned int end_size(const __u8 *code, __u64 left)
{
	if (left > 1 && code[0] == POP_RBP && code[1] == RET)
		return 1;
	/* A jump to where a register says */
	if (left > 2 && code[0] == POP_RBP && code[1] == 0xff && (code[2] & 0xf8) == 0xe0)
		return 2;
	return 0;
}

/*
 * Functions that change the stack pointer have no distances: they go to a thread's own stack,
 * and call the runtime or C there.  The frame pointer still has the frame's place on the
 * stack that they came from, if they begin with a frame and never clear it, as mcall() does.
 */
static int add_changing(const struct go *go, __u64 start, __u64 end, struct cfi_fde *fde)
{
	static const __u8 begins[] = { PUSH_RBP, 0x48, 0x89, 0xe5 };
	static const __u8 clears[] = { 0xbd, 0, 0, 0, 0 };
	__u64 at = go->text + start - go->code_addr, i, size = end - start;
	const __u8 *code = go->code.pos + at;
	struct program p = {};
	unsigned int bytes;
	size_t ends = 0;

	if (at > reader_left(&go->code) || size > reader_left(&go->code) - at ||
	    size <= sizeof(begins) || memcmp(code, begins, sizeof(begins)) ||
	    memmem(code, size, clears, sizeof(clears)))
		return 0;
	for (i = sizeof(begins); i < size; i++)
		ends += !!end_size(code + i, size - i);
	p.pos = room_for(go->list, 2 * ROW_MAX + ends * END_MAX);
	if (!p.pos)
		return -ENOMEM;
	fde->program = p.pos;
	put_advance(&p, 1);
	*p.pos++ = DW_CFA_def_cfa_offset;
	*p.pos++ = 16;
	*p.pos++ = DW_CFA_offset | DWARF_RBP;
	*p.pos++ = 2;
	put_advance(&p, sizeof(begins));
	*p.pos++ = DW_CFA_def_cfa_register;
	*p.pos++ = DWARF_RBP;
	for (i = sizeof(begins); i < size; i++) {
		bytes = ends ? end_size(code + i, size - i) : 0;
		if (!bytes)
			continue;
		ends--;
		put_advance(&p, i + 1);
		*p.pos++ = DW_CFA_remember_state;
		*p.pos++ = DW_CFA_def_cfa;
		*p.pos++ = DWARF_RSP;
		*p.pos++ = 8;
		*p.pos++ = DW_CFA_same_value;
		*p.pos++ = DWARF_RBP;
		put_advance(&p, i + 1 + bytes);
		*p.pos++ = DW_CFA_restore_state;
	}
	fde->end = fde->start + size;
	fde->program_len = p.pos - fde->program;
	return cfi_list_add_fde(go->list, fde);
}

static int add_function(const struct go *go, __u64 start, __u64 end, __u64 description)
{
	struct cfi_fde fde = {
		.start = go->text + start,
		.cie = go->cie,
		.source = CFI_FROM_GO,
	};
	struct reader r = at(go, description + ID);
	struct program p = {};
	__u32 pcsp = number(go, description + PCSP);
	__u8 id = read_u8(&r), flags = read_u8(&r);
	__u64 size = end - start;
	size_t nr;

	if (r.bad)
		return 0;
	/* The others have an ID, by which Go's runtime knows them: goexit, mstart, rt0_go */
	p.is_handler = flags & TOP_FRAME && !id;
	if (flags & TOP_FRAME && id) {
		fde.cie = go->top;
		fde.end = go->text + end;
		return cfi_list_add_fde(go->list, &fde);
	}
	if (flags & WRITES_SP)
		return p.is_handler ? 0 : add_changing(go, start, end, &fde);
	/* 0: the function has no distances */
	nr = pcsp ? run(go, start, &size, pcsp, NULL) : 0;
	if (!nr)
		return 0;
	p.pos = room_for(go->list, nr * ROW_MAX);
	if (!p.pos)
		return -ENOMEM;
	p.end = p.pos + nr * ROW_MAX;
	fde.program = p.pos;
	/* Other rows than were counted: the file is being changed */
	if (run(go, start, &size, pcsp, &p) != nr)
		return 0;
	fde.end = fde.start + size;
	fde.program_len = p.pos - fde.program;
	return cfi_list_add_fde(go->list, &fde);
}

/*
 * All functions
 */

static int add_cie(const struct elf_file *file, struct cfi_list *list, const __u8 *program,
		   size_t size, size_t *index)
{
	struct cfi_cie cie = {
		.program.pos = program,
		.program.end = program + size,
		.code_factor = 1,
		.data_factor = -8,
		.ra_reg = file->machine->ra,
	};

	cfi_run_cie(&cie, file->machine);
	*index = list->nr_cies;
	return cfi_list_add_cie(list, &cie);
}

/* Where the code is; 0 if the file does not say it */
static __u64 find_text(const struct go *go, const struct elf_file *file, __u64 table)
{
	struct reader r;
	__u64 addr;

	if (go->word[TEXT_START] || !elf_file_section(file, ".go.module", &addr, &r))
		return go->word[TEXT_START];
	read_bytes(&r, 8 * MODULE_TABLE);
	if (read_uint(&r, 8) != table)
		return 0;
	read_bytes(&r, 8 * (MODULE_TEXT - MODULE_TABLE - 1));
	return read_uint(&r, 8);
}

static bool read_header(struct go *go, const struct elf_file *file)
{
	struct reader r;
	__u64 table;
	size_t i;

	if (file->machine->elf != EM_X86_64 ||
	    (!elf_file_section(file, ".gopclntab", &table, &go->table) &&
	     !elf_file_section(file, ".data.rel.ro.gopclntab", &table, &go->table)) ||
	    !elf_file_section(file, ".text", &go->code_addr, &go->code))
		return false;
	r = go->table;
	/* Instructions are of any length; pointers have eight bytes */
	if (read_uint(&r, 4) != MAGIC || read_uint(&r, 4) != 0x08010000)
		return false;
	for (i = 0; i < WORDS; i++) {
		go->word[i] = read_uint(&r, 8);
		if (i != TEXT_START && go->word[i] > reader_left(&go->table))
			return false;
	}
	go->text = find_text(go, file, table);
	return elf_file_text(file, go->text);
}

/**
 * go_add - add entries for the functions of a Go program
 * @list: the CFI of @file
 * @file: the file
 *
 * Return: 0, or -ENOMEM.
 */
int go_add(struct cfi_list *list, const struct elf_file *file)
{
	struct go go = { .list = list };
	__u64 i;
	int ret;

	if (!read_header(&go, file))
		return 0;
	ret = add_cie(file, list, called, sizeof(called), &go.cie);
	if (!ret)
		ret = add_cie(file, list, outermost, sizeof(outermost), &go.top);
	for (i = 0; i < go.word[NR_FUNCS] && !ret; i++) {
		__u64 place = go.word[FUNCS] + 8 * i;
		__u64 start = number(&go, place), end = number(&go, place + 8);

		/* The entry point has no caller, whatever Go says: see shapes.c */
		if (start < end && go.text + start != file->entry)
			ret = add_function(&go, start, end,
					   go.word[FUNCS] + number(&go, place + 4));
	}
	return ret;
}
