// SPDX-License-Identifier: GPL-2.0
/*
 * Read an ELF file in a sandbox, see elf_file.h.
 *
 * A file has at most one table of all its symbols, and one of the symbols that others link
 * against. Names are not copied one by one, because a file may have a long one for many
 * symbols: the text has whole sections of the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../tables/sandbox.h"
#include "elf_file.h"
#include "symbols.h"

#define RESULT_MAX	(256UL << 20)
/* The time for one file; it gets shorter with each file that has taken all of it */
#define FIRST_MS	10000
#define LEAST_MS	100
/* For its build-id alone */
#define CHECK_MS	1000
/* Users' files that take long: no more of them is read then */
#define LATE_MAX	32
/* Checks of a build-id that take long: no more are made then */
#define LATE_CHECKS_MAX	4

unsigned int unread_files;

static void add_segment(struct elf_head *head, const GElf_Phdr *phdr)
{
	if (head->nr < SEGMENTS)
		head->segment[head->nr++] = (struct segment){
			phdr->p_offset, phdr->p_filesz, phdr->p_vaddr, phdr->p_flags & PF_X
		};
}

static void read_notes(struct elf_head *head, Elf *elf, const GElf_Phdr *phdr)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, phdr->p_offset, phdr->p_filesz,
					      phdr->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t at = 0, next, name, desc;
	GElf_Nhdr note;

	for (; data && (next = gelf_getnote(data, at, &note, &name, &desc)); at = next) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp(data->d_buf + name, "GNU", sizeof("GNU")) ||
		    note.n_descsz > sizeof(head->id))
			continue;
		head->id_size = note.n_descsz;
		memcpy(head->id, data->d_buf + desc, note.n_descsz);
		return;
	}
}

static void read_segments(struct elf_head *head, Elf *elf)
{
	size_t i, nr = 0;
	GElf_Phdr phdr;

	elf_getphdrnum(elf, &nr);
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf, i, &phdr))
			continue;
		if (phdr.p_type == PT_LOAD)
			add_segment(head, &phdr);
		else if (phdr.p_type == PT_NOTE && !head->id_size)
			read_notes(head, elf, &phdr);
	}
}

/* The names of a table: they end with a zero, so that each does */
static Elf_Data *find_names(Elf *elf, const GElf_Shdr *shdr)
{
	Elf_Scn *section = elf_getscn(elf, shdr->sh_link);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

	return data && data->d_size && !((char *)data->d_buf)[data->d_size - 1] ? data : NULL;
}

static void read_table(struct symbols *symbols, Elf *elf, Elf_Scn *section, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(section, NULL), *names = find_names(elf, shdr);
	size_t text;
	GElf_Sym sym;
	int i;

	if (!data || !names)
		return;
	text = add_text(symbols, names->d_buf, names->d_size);
	for (i = 0; gelf_getsym(data, i, &sym); i++)
		if (GELF_ST_TYPE(sym.st_info) == STT_FUNC && sym.st_size &&
		    sym.st_name < names->d_size && ((char *)names->d_buf)[sym.st_name])
			add_symbol(symbols, sym.st_value, sym.st_size, text + sym.st_name);
}

static void read_tables(struct elf_head *head, struct symbols *symbols, Elf *elf)
{
	bool has_dynamic = false;
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &shdr))
			continue;
		if ((shdr.sh_type == SHT_SYMTAB && !head->is_full) ||
		    (shdr.sh_type == SHT_DYNSYM && !has_dynamic))
			read_table(symbols, elf, section, &shdr);
		head->is_full |= shdr.sh_type == SHT_SYMTAB;
		has_dynamic |= shdr.sh_type == SHT_DYNSYM;
	}
	sort_symbols(symbols);
	head->nr_symbols = symbols->nr;
}

static bool write_all(const void *bytes, size_t size)
{
	ssize_t nr = 0;

	for (; size; size -= nr, bytes += nr) {
		nr = write(SANDBOX_OUT, bytes, size);
		if (nr <= 0)
			return false;
	}
	return true;
}

/* In the sandbox: given a descriptor, libelf would make system calls that it does not allow */
static bool read_and_write(bool all)
{
	const off_t size = lseek(SANDBOX_IN, 0, SEEK_END);
	void *bytes = size > 0 ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, SANDBOX_IN, 0) :
		      MAP_FAILED;
	struct symbols symbols = {};
	struct elf_head head = {};
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = bytes == MAP_FAILED ? NULL : elf_memory(bytes, size);
	if (elf) {
		read_segments(&head, elf);
		if (all)
			read_tables(&head, &symbols, elf);
	}
	return write_all(&head, sizeof(head)) &&
	       write_all(symbols.symbol, symbols.nr * sizeof(*symbols.symbol)) &&
	       write_all(symbols.text, symbols.text_size);
}

/* A signal of the terminal is for the parent, whose end ends this process, too */
static void ignore_signals(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
}

static _Noreturn void read_in_sandbox(int fd, int out, pid_t parent, bool all)
{
	const struct rlimit limit = { RESULT_MAX, RESULT_MAX };
	char path[64];
	int in;

	ignore_signals();
	/*
	 * If it cannot be killed, it must hold neither the output, whose reader waits for the
	 * end, nor the BPF programs.
	 */
	if (sandbox_keep(fd, out) || close_range(STDIN_FILENO, STDERR_FILENO, 0))
		_exit(2);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", SANDBOX_IN);
	in = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (in < 0 || setrlimit(RLIMIT_FSIZE, &limit) || sandbox_enter(in, SANDBOX_OUT, parent))
		_exit(2);
	_exit(!read_and_write(all));
}

static bool read_into(int fd, int out, bool is_roots, bool all)
{
	/* Of users' files, and of root's */
	static int times[2] = { FIRST_MS, FIRST_MS };
	static unsigned int late, late_checks;
	int error, *ms = &times[is_roots];
	pid_t parent = getpid(), pid;

	/* One whose process cannot be killed takes a second more */
	if (all ? !is_roots && late >= LATE_MAX : late_checks >= LATE_CHECKS_MAX)
		return false;
	pid = fork();
	if (!pid)
		read_in_sandbox(fd, out, parent, all);
	error = pid < 0 ? -errno : sandbox_wait(pid, all ? *ms : MIN(*ms, CHECK_MS));
	if (error == -ETIMEDOUT && !all) {
		late_checks++;
	} else if (error == -ETIMEDOUT) {
		late += !is_roots;
		if (*ms / 2 >= LEAST_MS)
			*ms /= 2;
	}
	return !error;
}

static int read_some(int fd, bool is_roots, bool all)
{
	int out = memfd_create("elf", MFD_CLOEXEC);

	if (out >= 0 && read_into(fd, out, is_roots, all))
		return out;
	if (out >= 0)
		close(out);
	return -1;
}

int read_elf(int fd, bool is_roots)
{
	int out = read_some(fd, is_roots, true);

	unread_files += out < 0;
	return out;
}

bool has_build_id(int fd, const unsigned char *id, size_t size)
{
	int out = read_some(fd, true, false);
	struct elf_head head;
	bool has;

	if (out < 0)
		return false;
	has = pread(out, &head, sizeof(head), 0) == sizeof(head) && head.id_size &&
	      head.id_size <= sizeof(head.id) && !memcmp(head.id, id, MIN(head.id_size, size));
	close(out);
	return has;
}
