// SPDX-License-Identifier: GPL-2.0
/*
 * Code that no entry describes: most often assembly without CFI.
 *
 *	section		|-----------------------------------|
 *	entries		 [a   )[b )            [c  )[d    )
 *	stretches	           ^^^^^^^^^^^^           ^^
 *
 * A stretch is noted if the symbol of a function lies in it, or else if it is longer than
 * padding.  Constants among the code look the same.  GCC's start-up code is left out.  Only
 * sections say where there is code, so a file without section headers is not searched.
 */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "cfi.h"
#include "elf_file.h"
#include "notes.h"

/* Less than this, without a symbol, may be what a linker has put between functions */
#define STRETCH_MIN	64

/**
 * struct code - an executable section
 * @range: its addresses
 * @bytes: its bytes
 */
struct code {
	struct text_range	range;
	const __u8		*bytes;
};

/**
 * struct search - for code that no entry describes
 * @file: the file
 * @notes: for what is found
 * @code: executable sections, sorted
 * @nr_code: number of them
 * @described: what entries describe, sorted, disjoint
 * @nr_described: number of ranges
 * @symbols: addresses of functions, sorted
 * @nr_symbols: number of them
 */
struct search {
	const struct elf_file	*file;
	struct notes		*notes;
	struct code		*code;
	size_t			nr_code;
	struct text_range	*described;
	size_t			nr_described;
	__u64			*symbols;
	size_t			nr_symbols;
};

static int compare_code(const void *a, const void *b)
{
	const struct text_range *x = &((const struct code *)a)->range;
	const struct text_range *y = &((const struct code *)b)->range;

	return x->start < y->start ? -1 : x->start > y->start;
}

static bool is_code(Elf_Scn *scn, GElf_Shdr *shdr)
{
	const __u64 flags = SHF_ALLOC | SHF_EXECINSTR;

	return scn && gelf_getshdr(scn, shdr) && shdr->sh_type == SHT_PROGBITS &&
	       (shdr->sh_flags & flags) == flags &&
	       shdr->sh_addr + shdr->sh_size > shdr->sh_addr;
}

static int find_code(struct search *s)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t nr;

	if (elf_getshdrnum(s->file->elf, &nr))
		return 0;
	s->code = calloc(nr + 1, sizeof(*s->code));
	if (!s->code)
		return -ENOMEM;
	while ((scn = elf_nextscn(s->file->elf, scn))) {
		Elf_Data *data = is_code(scn, &shdr) ? elf_rawdata(scn, NULL) : NULL;

		if (!data || !data->d_buf || data->d_size != shdr.sh_size)
			continue;
		s->code[s->nr_code++] = (struct code){
			.range = { shdr.sh_addr, shdr.sh_addr + shdr.sh_size },
			.bytes = data->d_buf,
		};
	}
	qsort(s->code, s->nr_code, sizeof(*s->code), compare_code);
	return 0;
}

/* Where does a guessed entry end?  The next entry, which starts later, takes precedence. */
static __u64 end_of_guess(const struct cfi_list *list, const struct cfi_fde *fde)
{
	const struct cfi_fde *next = fde + 1;

	while (next < list->fdes + list->nr_fdes && next->start == fde->start)
		next++;
	if (next < list->fdes + list->nr_fdes && next->start < fde->end)
		return next->start;
	return fde->end;
}

static int find_described(struct search *s, const struct cfi_list *list)
{
	struct text_range *last = NULL;
	size_t i;

	s->described = calloc(list->nr_fdes + 1, sizeof(*s->described));
	if (!s->described)
		return -ENOMEM;
	for (i = 0; i < list->nr_fdes; i++) {
		const struct cfi_fde *fde = &list->fdes[i];
		struct text_range range = { fde->start, fde->end };

		if (fde->source == CFI_FROM_SHAPE) {
			/* The converter does not use it then */
			if (last && range.start < last->end)
				continue;
			range.end = end_of_guess(list, fde);
		}
		if (!last || range.start > last->end) {
			last = &s->described[s->nr_described++];
			*last = range;
		} else if (range.end > last->end) {
			last->end = range.end;
		}
	}
	return 0;
}

/*
 * Symbols
 */

/* Assemblers without types leave functions without one; "$d" and the like are no functions */
static bool is_function(const struct search *s, const GElf_Shdr *table, const GElf_Sym *sym)
{
	const int type = GELF_ST_TYPE(sym->st_info);
	GElf_Shdr shdr;
	const char *name;

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= SHN_LORESERVE ||
	    !is_code(elf_getscn(s->file->elf, sym->st_shndx), &shdr) ||
	    sym->st_value - shdr.sh_addr >= shdr.sh_size)
		return false;
	name = elf_strptr(s->file->elf, table->sh_link, sym->st_name);
	return type != STT_NOTYPE || (name && *name != '$');
}

static int add_symbols(struct search *s, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const size_t nr = data ? data->d_size / sizeof(Elf64_Sym) : 0;
	__u64 *symbols;
	GElf_Sym sym;
	size_t i;

	symbols = reallocarray(s->symbols, s->nr_symbols + nr + 1, sizeof(*symbols));
	if (!symbols)
		return -ENOMEM;
	s->symbols = symbols;
	for (i = 0; i < nr && gelf_getsym(data, i, &sym); i++) {
		if (is_function(s, shdr, &sym))
			symbols[s->nr_symbols++] = sym.st_value;
	}
	return 0;
}

static int compare_addresses(const void *a, const void *b)
{
	const __u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return x < y ? -1 : x > y;
}

static int find_symbols(struct search *s)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	int ret = 0;

	while (!ret && (scn = elf_nextscn(s->file->elf, scn))) {
		if (gelf_getshdr(scn, &shdr) &&
		    (shdr.sh_type == SHT_SYMTAB || shdr.sh_type == SHT_DYNSYM))
			ret = add_symbols(s, scn, &shdr);
	}
	if (s->nr_symbols)
		qsort(s->symbols, s->nr_symbols, sizeof(*s->symbols), compare_addresses);
	return ret;
}

/* The first symbol in the range, or its end */
static __u64 first_symbol(const struct search *s, const struct text_range *range)
{
	size_t low = 0, high = s->nr_symbols;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->symbols[mid] < range->start)
			low = mid + 1;
		else
			high = mid;
	}
	return low < s->nr_symbols && s->symbols[low] < range->end ? s->symbols[low] : range->end;
}

/*
 * Padding
 */

/* Bytes of padding at the beginning: a zero, int3, or a nop of any size; 0 if it is none */
static size_t padding_x86(struct reader r)
{
	const __u8 *start = r.pos;
	__u8 byte = read_u8(&r), modrm;

	if (!byte || byte == 0xcc)
		return r.bad ? 0 : 1;
	while (byte == 0x66 || byte == 0x2e)
		byte = read_u8(&r);
	if (byte == 0x90)
		return r.pos - start;
	if (byte != 0x0f || read_u8(&r) != 0x1f)
		return 0;
	modrm = read_u8(&r);
	/* A SIB byte, and a displacement */
	if (modrm >> 6 != 3 && (modrm & 7) == 4)
		read_u8(&r);
	if (modrm >> 6 == 1)
		read_u8(&r);
	else if (modrm >> 6 == 2 || (modrm & 0xc7) == 5)
		read_bytes(&r, 4);
	return r.bad ? 0 : r.pos - start;
}

static size_t padding_arm64(struct reader r)
{
	__u32 insn = read_uint(&r, 4);

	return !r.bad && (!insn || insn == 0xd503201f) ? 4 : 0;
}

/*
 * GCC's crtbegin.o, which nearly all files for x86-64 have, without CFI.  Its functions run
 * before main() and after it.  If they were noted, other code would go unnoticed:
 *
 *	+0x00	compare an address with itself (deregister_tm_clones)
 *	+0x30	register_tm_clones
 *	...	jump to it; the end
 */
#define CRT_SECOND	0x30
#define CRT_MAX		256

static bool is_crt_compare(struct reader r)
{
	const __u8 *code = r.pos;
	__s64 first, second;

	if (reader_left(&r) < CRT_SECOND)
		return false;
	if (*code == 0xb8) {			/* mov $..., %eax; cmp $..., %rax */
		read_bytes(&r, 1);
		first = read_uint(&r, 4);
		read_bytes(&r, 2);
		return read_uint(&r, 4) == (__u64)first && code[5] == 0x48 && code[6] == 0x3d;
	}
	read_bytes(&r, 3);
	first = read_sint(&r, 4) + 7;		/* lea ...(%rip), %rdi */
	read_bytes(&r, 3);
	second = read_sint(&r, 4) + 14;		/* lea ...(%rip), %rax */
	return first == second && !memcmp(code, "\x48\x8d\x3d", 3) &&
	       !memcmp(code + 7, "\x48\x8d\x05", 3);
}

/* Bytes of crtbegin.o, or 0 */
static size_t crt_size(struct reader r)
{
	const size_t left = reader_left(&r);
	size_t i, end;
	__s64 far;

	if (!is_crt_compare(r))
		return 0;
	for (i = CRT_SECOND; i < left && i < CRT_MAX; i++) {
		const bool is_short = r.pos[i] == 0xeb;
		struct reader jump = { .pos = r.pos + i + 1, .end = r.end };

		if (!is_short && r.pos[i] != 0xe9)
			continue;
		far = read_sint(&jump, is_short ? 1 : 4);
		end = jump.pos - r.pos;
		if (!jump.bad && (__s64)end + far == CRT_SECOND)
			return end;
	}
	return 0;
}

/*
 * Stretches
 */

static struct reader bytes_of(const struct code *code, const struct text_range *range)
{
	return (struct reader){
		.pos = code->bytes + (range->start - code->range.start),
		.end = code->bytes + (range->end - code->range.start),
	};
}

static __u64 skip_padding(const struct search *s, const struct code *code,
			  const struct text_range *range)
{
	struct reader r = bytes_of(code, range);
	size_t size;

	do {
		size = s->file->machine->elf == EM_X86_64 ? padding_x86(r) : padding_arm64(r);
		r.pos += size;
	} while (size && reader_left(&r));
	return range->end - reader_left(&r);
}

static void skip_crt(const struct search *s, const struct code *code, struct text_range *range)
{
	struct text_range rest = { skip_padding(s, code, range), range->end };
	size_t size;

	if (s->file->machine->elf != EM_X86_64)
		return;
	size = crt_size(bytes_of(code, &rest));
	if (size)
		range->start = rest.start + size;
}

/* Without the padding at its end: the last bytes of code may look like some */
static size_t size_at_least(const struct code *code, const struct text_range *range)
{
	struct reader r = bytes_of(code, range);

	while (reader_left(&r) && (!r.end[-1] || r.end[-1] == 0xcc || r.end[-1] == 0x90))
		r.end--;
	return reader_left(&r);
}

static void note_stretch(struct search *s, const struct code *code, __u64 start, __u64 end)
{
	struct text_range range = { start, end };
	__u64 symbol;

	skip_crt(s, code, &range);
	symbol = first_symbol(s, &range);
	range.start = skip_padding(s, code, &range);
	if (symbol < range.start)
		range.start = symbol;
	if (symbol < end || size_at_least(code, &range) >= STRETCH_MIN)
		notes_add(s->notes, UNWIND_NOTE_NO_ENTRY, range.start, end, range.start);
}

static void note_stretches(struct search *s)
{
	const struct text_range *next = s->described, *last = next + s->nr_described;
	__u64 done = 0;
	size_t i;

	for (i = 0; i < s->nr_code; i++) {
		const struct code *code = &s->code[i];

		/* Sections that overlap are searched once */
		if (done < code->range.start)
			done = code->range.start;
		for (; next < last && next->start < code->range.end; next++) {
			if (next->start > done)
				note_stretch(s, code, done, next->start);
			if (next->end > done)
				done = next->end;
			if (done >= code->range.end)
				break;
		}
		if (done >= code->range.end)
			continue;
		note_stretch(s, code, done, code->range.end);
		done = code->range.end;
	}
}

/**
 * gaps_note - note the code that no entry describes
 * @file: the file
 * @list: all its entries, sorted
 * @notes: what is found is added to it
 *
 * Return: 0, or -ENOMEM.
 */
int gaps_note(const struct elf_file *file, const struct cfi_list *list, struct notes *notes)
{
	struct search s = { .file = file, .notes = notes };
	int ret = find_code(&s);

	if (!ret)
		ret = find_described(&s, list);
	if (!ret)
		ret = find_symbols(&s);
	if (!ret)
		note_stretches(&s);
	free(s.code);
	free(s.described);
	free(s.symbols);
	return ret;
}
