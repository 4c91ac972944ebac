// SPDX-License-Identifier: GPL-2.0
/*
 * User stacks on a big-endian kernel, and at addresses of more than 48 bits.
 *
 * There is no C library for such a machine. So this is /init of an initramfs, is built
 * with nolibc, and prints TAP on the console. It calls chains (chain.h), which are part
 * of it or are mapped from files. arm64's instructions have the same endianness on all
 * kernels, so the code of a little-endian file runs; but its table has the wrong
 * endianness, and must not be used.
 *
 * The sample is a page fault's, at a known instruction.
 */
#include <stdbool.h>
#include <linux/auxvec.h>
#include <linux/elf.h>
#include <linux/perf_event.h>
#include <linux/prctl.h>
#include <linux/unwind.h>

#include "bounds.h"
#include "chain.h"

#define PAGE		4096UL
#define PT_SFRAME	0x6474e554

/* An address of 52 bits; the kernel gives it only to a program that requests it */
#define HIGH		0x4000000000000UL

ASM_LABEL(touches_at);

/*
 * Results
 */

static unsigned int tests, failures;

static void result(bool good, const char *title)
{
	failures += !good;
	printf("%sok %u %s\n", good ? "" : "not ", ++tests, title);
}

/*
 * Samples
 */

struct stack {
	uint64_t	nr;
	const uint64_t	*ip;
};

static struct perf_event_mmap_page *ring;
static char *page;

static int sampler_open(void)
{
	static struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.size = sizeof(attr),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
		.exclude_kernel = 1,
		.exclude_callchain_kernel = 1,
		.defer_callchain = 1,
		.defer_output = 1,
	};
	int fd = syscall(__NR_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0)
		return -1;
	ring = mmap(NULL, 17 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return ring == MAP_FAILED ? -1 : 0;
}

/* The cookie of the newest sample from touches_at, and its stack */
static bool find_stack(uint64_t from, struct stack *stack)
{
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	const char *data = (const char *)ring + ring->data_offset;
	uint64_t cookie = 0;

	/* Each test has fewer records than the buffer has room for */
	for (; from < head;) {
		const struct perf_event_header *record = (void *)(data + from);
		const uint64_t *word = (void *)(record + 1);

		/* ip, nr, the marker, the cookie */
		if (record->type == PERF_RECORD_SAMPLE &&
		    word[0] == (unsigned long)touches_at && word[1] == 2 &&
		    word[2] == (uint64_t)PERF_CONTEXT_USER_DEFERRED)
			cookie = word[3];
		/* cookie, nr, addresses */
		if (record->type == PERF_RECORD_CALLCHAIN_DEFERRED && cookie &&
		    word[0] == cookie && word[1]) {
			*stack = (struct stack){ word[1], word + 2 };
			return true;
		}
		from += record->size;
	}
	return false;
}

static void touch(struct notes *notes)
{
	notes->ra[notes->nr++] = (unsigned long)__builtin_return_address(0);
	notes->ra[notes->nr++] = (unsigned long)touches_at;
	asm volatile("touches_at: strb wzr, [%0]" : : "r"(page) : "memory");
}

static bool stack_of(chain_fn fn, struct notes *notes, struct stack *stack)
{
	uint64_t from = ring->data_head;

	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*notes = (struct notes){ .next = { touch } };
	fn(notes);
	munmap(page, PAGE);
	return find_stack(from, stack);
}

/* How many of the innermost addresses are right? */
static unsigned int right(const struct stack *stack, const struct notes *notes)
{
	unsigned int i;

	for (i = 0; i < stack->nr && i < notes->nr; i++)
		if (stack->ip[i] != notes->ra[notes->nr - 1 - i])
			break;
	return i;
}

static bool is_whole(chain_fn fn)
{
	struct notes notes;
	struct stack stack;

	return stack_of(fn, &notes, &stack) && right(&stack, &notes) == notes.nr;
}

/*
 * Files
 */

/* The required fields of headers, which may have the other endianness */

static Elf64_Ehdr read_ehdr(const char *at, bool swap)
{
	Elf64_Ehdr ehdr = *(const Elf64_Ehdr *)at;

	if (!swap)
		return ehdr;
	ehdr.e_entry = __builtin_bswap64(ehdr.e_entry);
	ehdr.e_phoff = __builtin_bswap64(ehdr.e_phoff);
	ehdr.e_phnum = __builtin_bswap16(ehdr.e_phnum);
	return ehdr;
}

static Elf64_Phdr read_phdr(const char *at, bool swap)
{
	Elf64_Phdr phdr = *(const Elf64_Phdr *)at;

	if (!swap)
		return phdr;
	phdr.p_type = __builtin_bswap32(phdr.p_type);
	phdr.p_flags = __builtin_bswap32(phdr.p_flags);
	phdr.p_offset = __builtin_bswap64(phdr.p_offset);
	phdr.p_vaddr = __builtin_bswap64(phdr.p_vaddr);
	phdr.p_filesz = __builtin_bswap64(phdr.p_filesz);
	return phdr;
}

static int map_segment(char *base, int fd, const Elf64_Phdr *phdr)
{
	unsigned long skew = phdr->p_vaddr % PAGE;
	int prot = (phdr->p_flags & PF_R ? PROT_READ : 0) |
		   (phdr->p_flags & PF_W ? PROT_WRITE : 0) |
		   (phdr->p_flags & PF_X ? PROT_EXEC : 0);

	return mmap(base + phdr->p_vaddr - skew, phdr->p_filesz + skew, prot,
		    MAP_PRIVATE | MAP_FIXED, fd, phdr->p_offset - skew) ==
		MAP_FAILED ? -1 : 0;
}

/* Map all segments of a shared object near @hint; its entry, or NULL */
static chain_fn map_file(const char *name, unsigned long hint, bool swap)
{
	int fd = open(name, O_RDONLY), i;
	const char *file;
	Elf64_Ehdr ehdr;
	char *base;

	file = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	base = mmap((void *)hint, 64 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (fd < 0 || file == MAP_FAILED || base == MAP_FAILED ||
	    file[EI_DATA] != (swap ? ELFDATA2LSB : ELFDATA2MSB))
		return NULL;
	ehdr = read_ehdr(file, swap);
	for (i = 0; i < ehdr.e_phnum; i++) {
		Elf64_Phdr phdr = read_phdr(file + ehdr.e_phoff + i * sizeof(phdr),
					    swap);

		if (phdr.p_type == PT_LOAD && map_segment(base, fd, &phdr))
			return NULL;
	}
	return (chain_fn)(base + ehdr.e_entry);
}

static void test_files(void)
{
	struct notes notes = {};
	struct stack stack = {};
	chain_fn fn;

	fn = map_file("/chain_big.so", 0, false);
	result(fn && is_whole(fn), "file: its table is found");

	fn = map_file("/chain_big.so", HIGH, false);
	result((unsigned long)fn >= HIGH && is_whole(fn),
	       "file beyond 48 bits: its table is found");

	/* Its first function is on the stack, and nothing continues the stack */
	fn = map_file("/chain_little.so", 0, true);
	result(fn && stack_of(fn, &notes, &stack) && notes.nr == 5 &&
	       right(&stack, &notes) == 2 && stack.nr == 2,
	       "little-endian file: its table is not used");
}

/*
 * Registration
 */

static long add_table(const void *table, unsigned long size, void *text)
{
	struct unwind_table_attr attr = {
		.format = UNWIND_FORMAT_SFRAME,
		.key = 1,
		.table_start = (unsigned long)table,
		.table_size = size,
		.text_start = (unsigned long)text,
		.text_size = PAGE,
	};

	return prctl(PR_UNWIND_TABLE, PR_UNWIND_TABLE_ADD, (unsigned long)&attr,
		     sizeof(attr), 0) ? errno : 0;
}

static void test_registration(void)
{
	const Elf64_Phdr *phdr = (void *)getauxval(AT_PHDR);
	char *copy, *text;

	while (phdr->p_type != PT_SFRAME)
		phdr++;
	text = mmap(NULL, PAGE, PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	copy = mmap(NULL, phdr->p_memsz, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(copy, (void *)phdr->p_vaddr, phdr->p_memsz);
	result(add_table(copy, phdr->p_memsz, text) == 0,
	       "registration: a table of this endianness");

	/* The first word of a table indicates its endianness */
	copy[0] = copy[1];
	copy[1] = *(char *)phdr->p_vaddr;
	munmap(text, PAGE);
	text = mmap(NULL, PAGE, PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	result(add_table(copy, phdr->p_memsz, text) == ENOEXEC,
	       "registration: one of the other is refused");
}

int main(void)
{
	if (sampler_open()) {
		printf("Bail out! no deferred callchains\n");
	} else {
		printf("TAP version 13\n");
		result(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, "big-endian");
		result(is_whole(chain_table), "tables");
		result(is_whole(chain_fp_signed), "frame records, signed");
		result(is_whole(chain_table_signed), "tables, signed");
		result(is_whole(chain_table_signed_b), "tables, signed with the other key");
		test_files();
		test_registration();
		printf("1..%u\n", tests);
	}
	reboot(LINUX_REBOOT_CMD_RESTART);
	return failures;
}
