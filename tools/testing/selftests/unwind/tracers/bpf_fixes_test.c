// SPDX-License-Identifier: GPL-2.0
/*
 * bpf_get_stack() of programs that run in raw tracepoints and at the entry of functions: the
 * verifier knows that it writes to its buffer, and sleepable programs get build-ids.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf.h"
#include "call.h"
#include "file_env.h"
#include "image.h"
#include "../../kselftest_harness.h"

/*
 * The buffer of raw tracepoint programs
 */

#define VALUE_SIZE	8

/* A map with one value */
static int make_map(unsigned int flags)
{
	return bpf_map_make(BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), VALUE_SIZE, 1, flags);
}

/* The helper writes to the map's value */
static int load_writer(int map)
{
	const struct bpf_insn insns[] = {
		LOAD_VALUE(BPF_REG_2, map), WIDE_END,
		MOV_IMM(BPF_REG_3, VALUE_SIZE),
		MOV_IMM(BPF_REG_4, BPF_F_USER_STACK),
		CALL(BPF_FUNC_get_stack),
		MOV_IMM(BPF_REG_0, 0),
		EXIT,
	};
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT };

	return bpf_prog_make(&attr, insns, ARRAY_SIZE(insns));
}

TEST(raw_tp_writes_no_stack_to_a_read_only_map)
{
	int map = make_map(BPF_F_RDONLY_PROG), other = make_map(0), prog;

	if (map < 0)
		SKIP(return, "no BPF, or not root");
	prog = load_writer(other);
	EXPECT_LE(0, prog);
	close(prog);
	EXPECT_EQ(-1, load_writer(map));
	EXPECT_EQ(EACCES, errno);
}

/* Store 1 in the map if the buffer has its old contents after the call, else 2 */
static int load_tester(int map)
{
	const struct bpf_insn insns[] = {
		MOV_REG(BPF_REG_6, BPF_REG_1),
		CALL(BPF_FUNC_get_current_pid_tgid),
		SHR_IMM(BPF_REG_0, 32),
		/* Both to the end */
		JNE_IMM(BPF_REG_0, getpid(), 16),
		LOAD(BPF_REG_2, BPF_REG_6, 8),
		JNE_IMM(BPF_REG_2, SYS_getppid, 14),
		STORE_IMM(BPF_REG_10, -8, 0),
		MOV_REG(BPF_REG_1, BPF_REG_6),
		MOV_REG(BPF_REG_2, BPF_REG_10),
		ADD_IMM(BPF_REG_2, -8),
		MOV_IMM(BPF_REG_3, 8),
		MOV_IMM(BPF_REG_4, BPF_F_USER_STACK),
		CALL(BPF_FUNC_get_stack),
		LOAD_VALUE(BPF_REG_7, map), WIDE_END,
		MOV_IMM(BPF_REG_1, 1),
		LOAD(BPF_REG_2, BPF_REG_10, -8),
		JEQ_IMM(BPF_REG_2, 0, 1),
		MOV_IMM(BPF_REG_1, 2),
		STORE(BPF_REG_7, 0, BPF_REG_1),
		MOV_IMM(BPF_REG_0, 0),
		EXIT,
	};
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT };

	return bpf_prog_make(&attr, insns, ARRAY_SIZE(insns));
}

/* The verifier would remove the test of a value that it believes to know */
TEST(raw_tp_tests_what_it_got)
{
	union bpf_attr attr = { .raw_tracepoint.name = (uintptr_t)"sys_enter" };
	int map = make_map(BPF_F_MMAPABLE), prog, link;
	const uint64_t *value;

	if (map < 0)
		SKIP(return, "no BPF, or not root");
	value = mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, map, 0);
	ASSERT_NE(MAP_FAILED, value);
	prog = load_tester(map);
	ASSERT_LE(0, prog);
	attr.raw_tracepoint.prog_fd = prog;
	link = bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
	ASSERT_LE(0, link);
	syscall(SYS_getppid);
	EXPECT_EQ(2, *value);
}

/*
 * Sleepable programs at the entry of a function
 *
 * They get build-ids of files whose headers have to be read, as other sleepable programs do.
 * The file (code_file.h) has a note in the place of its table, so it is called by a function
 * that keeps a frame pointer.
 */

#define FILE_PATH	EXT4 "/bpf-fixes.so"
#define BUILD_ID	"twenty bytes of name"
#define NOTE_OFFSET	2048

struct note {
	struct elf64_note	head;
	char			name[4];
	char			build_id[BPF_BUILD_ID_SIZE];
};

static const struct note note = {
	.head = {
		.n_namesz = sizeof(note.name),
		.n_descsz = sizeof(note.build_id),
		.n_type = 3,
	},
	.name = "GNU",
	.build_id = BUILD_ID,
};

static int write_note(int fd)
{
	const struct elf64_phdr phdr = {
		.p_type = PT_NOTE, .p_flags = PF_R, .p_align = 4,
		.p_offset = NOTE_OFFSET, .p_vaddr = NOTE_OFFSET,
		.p_filesz = sizeof(note), .p_memsz = sizeof(note),
	};
	/* The last of three headers locates the table */
	const off_t at = sizeof(struct elf64_hdr) + 2 * sizeof(phdr);

	return pwrite(fd, &phdr, sizeof(phdr), at) != sizeof(phdr) ||
	       pwrite(fd, &note, sizeof(note), NOTE_OFFSET) != sizeof(note) ? -1 : 0;
}

static int make_noted_file(void)
{
	int fd = open(FILE_PATH, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	int ret;

	if (fd < 0)
		return -1;
	ret = code_file_write(&code_file_usual, fd) || write_note(fd) || fsync(fd);
	close(fd);
	return ret ? -1 : open(FILE_PATH, O_RDONLY | O_CLOEXEC);
}

/* Are the headers, the file's first page, in memory? */
static bool has_headers(int fd)
{
	unsigned char in = 1;
	void *page = mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return true;
	if (mincore(page, getpagesize(), &in))
		in = 1;
	munmap(page, getpagesize());
	return in & 1;
}

static union bpf_attr run_attr;

/* A bpf system call that runs the function with the program */
static void run(struct notes *notes)
{
	unsigned long ip;

	syscall3_at(SYS_bpf, BPF_PROG_TEST_RUN, (long)&run_attr, sizeof(run_attr), &ip);
	notes->ra[notes->nr++] = (unsigned long)__builtin_return_address(0);
}

/* Be probed in a call from the file; the place there in the stack, or NULL */
static const struct bpf_stack_build_id *place_in_file(struct bpf_ring *ring,
						      const struct code_image *image)
{
	static struct bpf_event event;
	const struct bpf_stack_build_id *places = (const void *)event.ips;
	struct notes notes = { .next = { run } };
	size_t i;

	code_image_fn(image, 0, 0)(&notes);
	if (!bpf_ring_next(ring, &event, false))
		return NULL;
	for (i = 0; (int64_t)((i + 1) * sizeof(*places)) <= event.ret; i++) {
		unsigned long start = (unsigned long)image->base, ip = places[i].ip;

		if (places[i].status == BPF_STACK_BUILD_ID_VALID ?
		    !memcmp(places[i].build_id, note.build_id, sizeof(note.build_id)) :
		    ip >= start && ip < start + image->size)
			return &places[i];
	}
	return NULL;
}

TEST(sleepable_fentry_reads_build_ids)
{
	struct bpf_asker asker = {
		.at = BPF_AT_FENTRY_SLEEPABLE, .where = "bpf_fentry_test1",
		.tgid = getpid(), .take = true,
		.flags = BPF_F_USER_STACK | BPF_F_USER_BUILD_ID,
	};
	const struct bpf_stack_build_id *place;
	struct bpf_attached attached;
	struct code_image image;
	struct bpf_ring ring;
	int fd;

	if (!is_mounted(EXT4) || bpf_ring_open(&ring, 1 << 16) ||
	    bpf_asker_open(&attached, &asker, &ring))
		SKIP(return, "no ext4, no BPF, or not root");
	run_attr.test.prog_fd = attached.prog;
	fd = make_noted_file();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, code_image_map(&image, &code_file_usual, fd, NULL));
	/* In memory, they are found in any case, and looking for a table has an end */
	place = place_in_file(&ring, &image);
	ASSERT_NE(NULL, place);
	ASSERT_EQ(BPF_STACK_BUILD_ID_VALID, place->status);

	ASSERT_EQ(0, posix_fadvise(fd, 0, getpagesize(), POSIX_FADV_DONTNEED));
	ASSERT_FALSE(has_headers(fd));
	place = place_in_file(&ring, &image);
	ASSERT_NE(NULL, place);
	EXPECT_EQ(BPF_STACK_BUILD_ID_VALID, place->status);
}

TEST_HARNESS_MAIN
