// SPDX-License-Identifier: GPL-2.0
/*
 * Read the entries of a CFI section into one sorted list. libdw parses the section, but
 * leaves some fields encoded, because the encoding depends on the CIE; this file decodes
 * them.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cfi.h"
#include "elf_file.h"
#include "notes.h"

/* A section is no larger than this, and neither is anything made of it */
#define PROGRAM_MAX	0xffffffffULL

static int grow(void **array, size_t nr, size_t *room, size_t size)
{
	size_t want = *room ? *room + *room / 2 : 256;
	void *new;

	if (nr < *room)
		return 0;
	new = reallocarray(*array, want, size);
	if (!new)
		return -ENOMEM;
	*array = new;
	*room = want;
	return 0;
}

int cfi_list_add_fde(struct cfi_list *list, const struct cfi_fde *fde)
{
	int ret = grow((void **)&list->fdes, list->nr_fdes, &list->room_fdes,
		       sizeof(*fde));

	if (!ret)
		list->fdes[list->nr_fdes++] = *fde;
	return ret;
}

int cfi_list_add_cie(struct cfi_list *list, const struct cfi_cie *cie)
{
	int ret = grow((void **)&list->cies, list->nr_cies, &list->room_cies,
		       sizeof(*cie));

	if (!ret)
		list->cies[list->nr_cies++] = *cie;
	return ret;
}

/*
 * CIEs
 */

/* The letters after 'z', and the data that they have */
static void read_augmentation(struct cfi_cie *cie, const char *letters,
			      struct reader *r)
{
	for (; *letters && !cie->bad; letters++) {
		switch (*letters) {
		case 'R':
			cie->pointer = read_u8(r);
			break;
		case 'P':
			cfi_read_pointer(r, read_u8(r) & 0x0f, cie->section);
			break;
		case 'L':
			read_u8(r);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B':
			cie->key_b = true;
			break;
		case 'G':	/* The stack may have memory tags */
			break;
		default:
			cie->bad = true;
		}
		cie->bad |= r->bad;
	}
}

static int add_cie(struct cfi_list *list, const struct elf_file *file,
		   const struct cfi_section *section, __u64 offset,
		   const Dwarf_CIE *from)
{
	struct cfi_cie cie = {
		.offset = offset,
		.section = section,
		.program.pos = from->initial_instructions,
		.program.end = from->initial_instructions_end,
		.code_factor = from->code_alignment_factor,
		.data_factor = from->data_alignment_factor,
		.ra_reg = from->return_address_register,
		.pointer = DW_EH_PE_absptr,
	};
	struct reader data = {
		.pos = from->augmentation_data,
		.end = from->augmentation_data + from->augmentation_data_size,
	};
	const char *letters = from->augmentation;

	if (*letters == 'z' && from->augmentation_data) {
		cie.augmented = true;
		read_augmentation(&cie, letters + 1, &data);
	} else if (*letters) {
		cie.bad = true;
	}
	cfi_run_cie(&cie, file->machine);
	return cfi_list_add_cie(list, &cie);
}

/*
 * FDEs
 */

/* The CIE at @offset among those from @first on; all FDEs of a CIE come together */
static const struct cfi_cie *find_cie(const struct cfi_list *list, size_t first,
				      size_t last, __u64 offset)
{
	size_t low = first, high = list->nr_cies;

	if (last < list->nr_cies && list->cies[last].offset == offset)
		return &list->cies[last];
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (list->cies[mid].offset == offset)
			return &list->cies[mid];
		if (list->cies[mid].offset < offset)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

static void note_bytes(struct notes *notes, unsigned int type,
		       const struct cfi_section *section, __u64 offset)
{
	__u64 addr = section->addr + offset;

	notes_add(notes, type, addr, addr, addr);
}

/* Decode @fde, whose @program holds its bytes, and whose @start holds its CIE's offset */
static bool decode_fde(const struct cfi_cie *cie, struct cfi_fde *fde)
{
	struct reader r = {
		.pos = fde->program,
		.end = fde->program + fde->program_len,
	};
	__u64 size;

	fde->start = cfi_read_pointer(&r, cie->pointer, cie->section);
	size = cfi_read_pointer(&r, cie->pointer & 0x0f, cie->section);
	if (cie->augmented)
		read_bytes(&r, read_uleb(&r));
	fde->end = fde->start + size;
	fde->program = r.pos;
	fde->program_len = reader_left(&r);
	return !r.bad && fde->end >= fde->start;
}

/* Decode the FDEs from @first on, with CIEs from @first_cie on */
static void decode_fdes(struct cfi_list *list, size_t first, size_t first_cie,
			const struct cfi_section *section, struct notes *notes)
{
	size_t i, nr = first, last = first_cie;

	for (i = first; i < list->nr_fdes; i++) {
		struct cfi_fde fde = list->fdes[i];
		const struct cfi_cie *cie;

		cie = find_cie(list, first_cie, last, fde.start);
		if (!cie || cie->bad || !decode_fde(cie, &fde)) {
			note_bytes(notes, UNWIND_NOTE_ENTRY, section,
				   list->fdes[i].program -
				   (const __u8 *)section->data->d_buf);
			continue;
		}
		last = cie - list->cies;
		fde.cie = last;
		if (fde.start != fde.end)
			list->fdes[nr++] = fde;
	}
	list->nr_fdes = nr;
}

/*
 * The section
 */

static int add_entry(struct cfi_list *list, const struct elf_file *file,
		     const struct cfi_section *section, __u64 offset,
		     const Dwarf_CFI_Entry *entry)
{
	struct cfi_fde fde = {
		.start = entry->fde.CIE_pointer,
		.program = entry->fde.start,
		.program_len = entry->fde.end - entry->fde.start,
		.source = section->is_eh ? CFI_FROM_EH_FRAME : CFI_FROM_DEBUG_FRAME,
	};

	if (dwarf_cfi_cie_p(entry))
		return add_cie(list, file, section, offset, &entry->cie);
	return cfi_list_add_fde(list, &fde);
}

/**
 * cfi_list_read - add what a section has
 * @list: the list
 * @file: the section's file
 * @section: the section, at most 4 GiB of it
 * @notes: entries that make no sense are added to it
 *
 * Return: 0, -ENOMEM, or -EFBIG for a section that is too large.
 */
int cfi_list_read(struct cfi_list *list, const struct elf_file *file,
		  const struct cfi_section *section, struct notes *notes)
{
	size_t first_fde = list->nr_fdes, first_cie = list->nr_cies;
	Dwarf_Off offset = 0, next = 0;
	Dwarf_CFI_Entry entry;
	int ret, err = 0;

	if (section->data->d_size > PROGRAM_MAX)
		return -EFBIG;
	for (; !err; offset = next) {
		ret = dwarf_next_cfi(file->ident, section->data, section->is_eh,
				     offset, &next, &entry);
		if (ret > 0)
			break;
		if (!ret) {
			err = add_entry(list, file, section, offset, &entry);
			continue;
		}
		note_bytes(notes, next > offset ? UNWIND_NOTE_ENTRY :
						  UNWIND_NOTE_SECTION,
			   section, offset);
		if (next <= offset)
			break;
	}
	if (!err)
		decode_fdes(list, first_fde, first_cie, section, notes);
	return err;
}

static int compare_fdes(const void *a, const void *b)
{
	const struct cfi_fde *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	/* The longest first: the others then describe only addresses that it describes, too */
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	/* In the file's order, so that the order is always the same */
	return x->program < y->program ? -1 : x->program > y->program;
}

void cfi_list_sort(struct cfi_list *list)
{
	if (list->nr_fdes)
		qsort(list->fdes, list->nr_fdes, sizeof(*list->fdes),
		      compare_fdes);
}

void cfi_list_free(struct cfi_list *list)
{
	while (list->made) {
		struct cfi_made *made = list->made;

		list->made = made->next;
		free(made);
	}
	free(list->cies);
	free(list->fdes);
}
