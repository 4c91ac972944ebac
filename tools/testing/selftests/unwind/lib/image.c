// SPDX-License-Identifier: GPL-2.0
/*
 * Reading, changing and mapping ELF files, see image.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "image.h"

/*
 * Bytes
 */

static int open_beside(const char *name)
{
	char path[PATH_MAX], exe[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (len < 0)
		return -1;
	exe[len] = 0;
	if (snprintf(path, sizeof(path), "%s/%s", dirname(exe), name) >=
	    (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open(path, O_RDONLY | O_CLOEXEC);
}

int elf_read(struct elf *elf, const char *name)
{
	struct stat st;
	int fd;

	*elf = (struct elf){};
	fd = open_beside(name);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st))
		goto fail;
	elf->size = st.st_size;
	elf->data = malloc(elf->size);
	elf->orig = malloc(elf->size);
	if (!elf->data || !elf->orig ||
	    read(fd, elf->orig, elf->size) != (ssize_t)elf->size)
		goto fail;
	close(fd);
	elf_restore(elf);
	return 0;
fail:
	close(fd);
	elf_free(elf);
	return -1;
}

void elf_restore(struct elf *elf)
{
	memcpy(elf->data, elf->orig, elf->size);
}

void elf_free(struct elf *elf)
{
	free(elf->data);
	free(elf->orig);
	*elf = (struct elf){};
}

struct elf64_hdr *elf_ehdr(const struct elf *elf)
{
	return (struct elf64_hdr *)elf->data;
}

/* By index in the original file, so that changed headers are found again */
static const struct elf64_phdr *orig_phdr(const struct elf *elf, int i)
{
	const struct elf64_hdr *ehdr = (const struct elf64_hdr *)elf->orig;

	return i < ehdr->e_phnum ?
	       (const struct elf64_phdr *)(elf->orig + ehdr->e_phoff) + i : NULL;
}

struct elf64_phdr *elf_phdr(const struct elf *elf, uint32_t type, uint32_t flags)
{
	const struct elf64_phdr *phdr;
	int i;

	for (i = 0; (phdr = orig_phdr(elf, i)); i++)
		if (phdr->p_type == type && (phdr->p_flags & flags) == flags)
			return (struct elf64_phdr *)(elf->data +
					      ((unsigned char *)phdr - elf->orig));
	return NULL;
}

static size_t sframe_offset(const struct elf *elf)
{
	const struct elf64_phdr *phdr;
	int i;

	for (i = 0; (phdr = orig_phdr(elf, i)); i++)
		if (phdr->p_type == PT_GNU_SFRAME)
			return phdr->p_offset;
	return 0;
}

struct sframe_header *elf_sframe(const struct elf *elf)
{
	size_t offset = sframe_offset(elf);

	return offset ? (struct sframe_header *)(elf->data + offset) : NULL;
}

struct sframe_fde *elf_fde(const struct elf *elf, unsigned int i)
{
	const struct sframe_header *hdr =
		(struct sframe_header *)(elf->orig + sframe_offset(elf));

	if (i >= hdr->num_fdes)
		return NULL;
	return (struct sframe_fde *)(elf->data + sframe_offset(elf) +
				     sizeof(*hdr) + hdr->auxhdr_len +
				     hdr->fdeoff) + i;
}

struct sframe_attr *elf_fde_attr(const struct elf *elf, unsigned int i)
{
	const struct sframe_header *hdr =
		(struct sframe_header *)(elf->orig + sframe_offset(elf));
	struct sframe_fde *fde = elf_fde(elf, i);

	if (!fde)
		return NULL;
	fde = (struct sframe_fde *)(elf->orig + ((unsigned char *)fde - elf->data));
	return (struct sframe_attr *)(elf->data + sframe_offset(elf) +
				      sizeof(*hdr) + hdr->auxhdr_len +
				      hdr->freoff + fde->fre_off);
}

/*
 * Files
 */

static int write_all(const struct elf *elf, int fd)
{
	return write(fd, elf->data, elf->size) == (ssize_t)elf->size ? 0 : -1;
}

int file_seal(int fd)
{
	return fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK);
}

/* The kernel wants 3 s of the clock from which files have their times */
#define SETTLED_NS	3100000000LL

static int64_t ns(const struct timespec *time)
{
	return time->tv_sec * 1000000000LL + time->tv_nsec;
}

int file_settle(int fd)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct timespec now;
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) || fstatfs(fd, &fs))
		return -1;
	/* The others that tests use count changes */
	if (fs.f_type != RAMFS_MAGIC)
		return 0;
	while (!clock_gettime(CLOCK_REALTIME_COARSE, &now)) {
		if (ns(&now) - ns(&st.st_ctim) >= SETTLED_NS)
			return 0;
		nanosleep(&pause, NULL);
	}
	return -1;
}

int elf_memfd(const struct elf *elf)
{
	int fd = memfd_create("image", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && (write_all(elf, fd) || file_seal(fd))) {
		close(fd);
		return -1;
	}
	return fd;
}

int elf_program(const struct elf *elf, char *path, size_t size)
{
	int fd, ret;

	snprintf(path, size, "/tmp/unwind.XXXXXX");
	fd = mkstemp(path);
	if (fd < 0)
		return -1;
	ret = write_all(elf, fd) || fchmod(fd, 0700) || file_settle(fd) ? -1 : 0;
	close(fd);
	return ret;
}

/*
 * Mappings
 */

static int prot_of(const struct elf64_phdr *phdr)
{
	return (phdr->p_flags & PF_R ? PROT_READ : 0) |
	       (phdr->p_flags & PF_W ? PROT_WRITE : 0) |
	       (phdr->p_flags & PF_X ? PROT_EXEC : 0);
}

static int map_segment(struct image *image, const struct elf64_phdr *phdr, int fd)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	size_t slack = phdr->p_vaddr % page;
	size_t len = phdr->p_filesz + slack;
	char *addr = image->base + phdr->p_vaddr - slack;

	if (mmap(addr, len, prot_of(phdr), MAP_PRIVATE | MAP_FIXED, fd,
		 phdr->p_offset - slack) == MAP_FAILED)
		return -1;
	if (phdr->p_flags & PF_X) {
		image->text = (uintptr_t)addr;
		image->text_end = image->text + ((len + page - 1) & -page);
	}
	return 0;
}

int image_map(struct image *image, const struct elf *elf, int fd, void *where)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	const struct elf64_hdr *ehdr = (const struct elf64_hdr *)elf->orig;
	const struct elf64_phdr *phdr;
	int i;

	*image = (struct image){};
	for (i = 0; (phdr = orig_phdr(elf, i)); i++)
		if (phdr->p_type == PT_LOAD)
			image->size = phdr->p_vaddr + phdr->p_memsz;
	image->size = (image->size + page - 1) & -page;

	/* This replaces the mappings at @where, all at once */
	image->base = mmap(where, image->size, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			   (where ? MAP_FIXED : 0), -1, 0);
	if (image->base == MAP_FAILED)
		return -1;
	for (i = 0; (phdr = orig_phdr(elf, i)); i++)
		if (phdr->p_type == PT_LOAD && phdr->p_filesz &&
		    map_segment(image, phdr, fd))
			return -1;
	image->entry = image->base + ehdr->e_entry;
	return 0;
}

void image_unmap(struct image *image)
{
	if (image->size)
		munmap(image->base, image->size);
	image->size = 0;
}

void *image_load(struct image *image, const char *name)
{
	struct elf elf;
	int fd, ret;

	if (elf_read(&elf, name))
		return NULL;
	fd = elf_memfd(&elf);
	ret = fd < 0 ? -1 : image_map(image, &elf, fd, NULL);
	close(fd);
	elf_free(&elf);
	return ret ? NULL : image->entry;
}
