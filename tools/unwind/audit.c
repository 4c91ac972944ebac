// SPDX-License-Identifier: GPL-2.0
/*
 * Register the tables of all objects that the dynamic loader maps, for a C library that
 * does not do so itself:
 *
 *	LD_AUDIT=/path/to/unwind_audit.so program
 *
 * The kernel finds tables of mapped files without help. This library is for systems where
 * the kernel must not read files, and for files that it cannot read; and for objects that
 * have no table. "unwind-tables run" starts a helper, which has tables of these in files
 * (tables/cache_format.h). Such a file is mapped: all processes share its memory.
 *
 * The loader calls la_objopen() for each object after it has mapped it, and la_objclose()
 * before it unmaps it. The address of the object's link map is the key of the table: each
 * object has one as long as it is mapped.
 *
 * Failures are invisible to the program. When the kernel refuses a table, its tracepoint
 * unwind:unwind_table_invalid reports that.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include <linux/unwind.h>

#include "tables/cache_format.h"
#include "tables/fd_pass.h"

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME	0x6474e554
#endif

/* Functions that the loader looks up by name */
#define __public	__attribute__((visibility("default")))

/* Seconds. The helper gives a file up after less: 10 s to read it, and 10 s to convert it */
#define PATIENCE	25

struct headers {
	const Elf64_Phdr	*phdr;
	unsigned int		nr;
};

/* An object that has a table; @table is a mapping of the cache's file, or NULL */
struct object {
	uintptr_t	key;
	void		*table;
	size_t		size;
};

/*
 * Can this memory be read? The kernel reads the signal set (of 8 bytes) before it notices
 * that the operation is unknown.
 */
static bool readable(uintptr_t addr)
{
	return syscall(SYS_rt_sigprocmask, -1, addr, NULL, 8) &&
	       errno != EFAULT;
}

/* The program headers of an object whose file begins where it is mapped */
static bool headers_at(uintptr_t start, struct headers *headers)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)start;

	if (!readable(start) || memcmp(ehdr->e_ident, ELFMAG, SELFMAG) ||
	    ehdr->e_phentsize != sizeof(*headers->phdr) || !ehdr->e_phnum)
		return false;
	headers->phdr = (const Elf64_Phdr *)(start + ehdr->e_phoff);
	headers->nr = ehdr->e_phnum;
	return readable((uintptr_t)headers->phdr) &&
	       readable((uintptr_t)(headers->phdr + headers->nr) - 8);
}

/*
 * A program that is linked to a fixed address does not begin at its load bias. The kernel
 * passes the address of its program headers.
 */
static bool headers_of_program(uintptr_t bias, struct headers *headers)
{
	unsigned int i;

	headers->phdr = (const Elf64_Phdr *)getauxval(AT_PHDR);
	headers->nr = getauxval(AT_PHNUM);
	for (i = 0; i < headers->nr; i++)
		if (headers->phdr[i].p_type == PT_PHDR)
			return (uintptr_t)headers->phdr ==
			       bias + headers->phdr[i].p_vaddr;
	return false;
}

/* Are these the headers of that object? Another object may lie at its load bias. */
static bool headers_are_of(const struct headers *headers, const struct link_map *map)
{
	unsigned int i;

	for (i = 0; i < headers->nr; i++)
		if (headers->phdr[i].p_type == PT_DYNAMIC)
			return map->l_addr + headers->phdr[i].p_vaddr ==
			       (uintptr_t)map->l_ld;
	return false;
}

/*
 * Find where the beginning of the object's file is mapped. A library that is linked to an
 * address other than 0 does not begin at its load bias either. Its dynamic section is in
 * one of its mappings; the last earlier mapping of the file's first page is the
 * beginning. 0: not found.
 */
static uintptr_t file_start(const struct link_map *map)
{
	unsigned long start, end, offset, inode, first_inode = 0, first = 0;
	unsigned int major, minor, first_dev = 0, dev;
	uintptr_t found = 0;
	char line[512];
	FILE *maps;

	maps = fopen("/proc/self/maps", "re");
	if (!maps)
		return 0;
	while (!found && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx %x:%x %lu", &start, &end, &offset,
			   &major, &minor, &inode) != 6)
			continue;
		dev = major << 20 | minor;
		if (inode && !offset) {
			first = start;
			first_inode = inode;
			first_dev = dev;
		}
		if ((uintptr_t)map->l_ld < start || (uintptr_t)map->l_ld >= end)
			continue;
		if (inode != first_inode || dev != first_dev)
			break;
		found = first;
	}
	fclose(maps);
	return found;
}

static bool find_headers(const struct link_map *map, struct headers *headers)
{
	if (headers_at(map->l_addr, headers) && headers_are_of(headers, map))
		return true;
	if (headers_of_program(map->l_addr, headers))
		return true;
	return headers_at(file_start(map), headers) && headers_are_of(headers, map);
}

static const Elf64_Phdr *find(const struct headers *headers, Elf64_Word type,
			      Elf64_Word flags)
{
	unsigned int i;

	for (i = 0; i < headers->nr; i++)
		if (headers->phdr[i].p_type == type &&
		    (headers->phdr[i].p_flags & flags) == flags)
			return &headers->phdr[i];
	return NULL;
}

/* The object's one table describes each executable segment */
static void add(const struct link_map *map, const struct headers *headers,
		uintptr_t table, size_t size)
{
	struct unwind_table_attr attr = {
		.format = UNWIND_FORMAT_SFRAME,
		.key = (uintptr_t)map,
		.table_start = table,
		.table_size = size,
	};
	unsigned int i;

	for (i = 0; i < headers->nr; i++) {
		const Elf64_Phdr *text = &headers->phdr[i];

		if (text->p_type != PT_LOAD || !(text->p_flags & PF_X))
			continue;
		attr.text_start = map->l_addr + text->p_vaddr;
		attr.text_size = text->p_memsz;
		prctl(PR_UNWIND_TABLE, PR_UNWIND_TABLE_ADD, &attr, sizeof(attr), 0UL);
	}
}

/*
 * Tables that the helper has
 */

/*
 * Is this file what is mapped? Another one may have been installed since. The first page
 * has the program headers and, as linkers place it, the build-id.
 */
static bool is_mapped(int fd, const struct link_map *map, const struct headers *headers)
{
	const Elf64_Phdr *first = find(headers, PT_LOAD, PF_R);
	char page[4096];
	size_t size;

	if (!first || first->p_offset || first->p_flags & PF_W)
		return false;
	size = first->p_filesz < sizeof(page) ? first->p_filesz : sizeof(page);
	return pread(fd, page, size, 0) == (ssize_t)size &&
	       !memcmp(page, (const void *)(map->l_addr + first->p_vaddr), size);
}

/* The helper's address is in the environment. Another user may have taken it since. */
static int connect_helper(void)
{
	const char *name = secure_getenv(UNWIND_CACHE_SOCKET);
	const struct timeval patience = { .tv_sec = PATIENCE };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct ucred peer;
	socklen_t size = sizeof(peer);
	int sock;

	if (!name || strlen(name) >= sizeof(addr.sun_path))
		return -1;
	memcpy(addr.sun_path + 1, name, strlen(name));
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return -1;
	if (!setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) &&
	    !connect(sock, (struct sockaddr *)&addr,
		     offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name)) &&
	    !getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
	    peer.uid == geteuid())
		return sock;
	close(sock);
	return -1;
}

/* The file of the object's table, or -1 */
static int ask_helper(const struct link_map *map, const struct headers *headers)
{
	const char *name = *map->l_name ? map->l_name : "/proc/self/exe";
	int sock = connect_helper(), fd, table = -1;

	if (sock < 0)
		return -1;
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0) {
		if (is_mapped(fd, map, headers) && fd_send(sock, fd) > 0)
			table = fd_receive(sock);
		close(fd);
	}
	close(sock);
	return table;
}

/* The chain counts from where the file would begin, were all of it mapped as its text is */
static void add_chain(const struct link_map *map, const struct headers *headers,
		      struct unwind_chain_attr *chain)
{
	const Elf64_Phdr *text = find(headers, PT_LOAD, PF_X);
	uintptr_t origin;
	unsigned int i;

	if (!text)
		return;
	origin = map->l_addr + text->p_vaddr - text->p_offset;
	chain->key = (uintptr_t)map;
	chain->head += origin;
	for (i = 0; i < 2; i++)
		if (chain->text[i].size)
			chain->text[i].start += origin;
	prctl(PR_UNWIND_CHAIN, PR_UNWIND_CHAIN_ADD, chain, sizeof(*chain), 0UL);
}

/* Map the file where the section describes the object, unless something else is there */
static void map_table(const struct link_map *map, struct object *object, int fd,
		      const struct unwind_cache_entry *entry)
{
	void *wanted = (void *)(map->l_addr + entry->addr - sizeof(*entry));

	object->size = sizeof(*entry) + entry->size;
	object->table = mmap(wanted, object->size, PROT_READ,
			     MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
	if (object->table == wanted)
		return;
	if (object->table != MAP_FAILED)
		munmap(object->table, object->size);
	object->table = NULL;
}

static void add_cached(const struct link_map *map, const struct headers *headers,
		       struct object *object)
{
	struct unwind_cache_entry entry;
	int fd = ask_helper(map, headers);
	struct stat st;

	if (fd < 0)
		return;
	/* The helper has compared the digest */
	if (pread(fd, &entry, sizeof(entry), 0) == sizeof(entry) && !fstat(fd, &st) &&
	    !memcmp(entry.magic, UNWIND_CACHE_MAGIC, sizeof(entry.magic)) &&
	    (__u64)st.st_size == sizeof(entry) + entry.size)
		map_table(map, object, fd, &entry);
	close(fd);
	if (!object->table)
		return;
	add(map, headers, (uintptr_t)object->table + sizeof(entry), entry.size);
	if (entry.has_chain)
		add_chain(map, headers, &entry.chain);
}

static void add_object(const struct link_map *map, struct object *object)
{
	const Elf64_Phdr *sframe;
	struct headers headers;

	if (!find_headers(map, &headers))
		return;
	object->key = (uintptr_t)map;
	sframe = find(&headers, PT_GNU_SFRAME, 0);
	if (sframe)
		add(map, &headers, map->l_addr + sframe->p_vaddr, sframe->p_memsz);
	else
		add_cached(map, &headers, object);
}

/*
 * This library and its own C library, which the loader does not report. They are in stacks
 * while a program loads others, and stay until it ends.
 */
static void add_own(void)
{
	struct link_map *map;
	struct object object;
	Dl_info info;

	if (!dladdr1(add_own, &info, (void **)&map, RTLD_DL_LINKMAP))
		return;
	while (map->l_prev)
		map = map->l_prev;
	for (; map; map = map->l_next) {
		object = (struct object){};
		add_object(map, &object);
	}
}

/* The functions that the loader calls */

/* 0: do without this library */
__public unsigned int la_version(unsigned int version)
{
	if (prctl(PR_UNWIND_TABLE, PR_UNWIND_TABLE_VERSION, NULL, 0UL, 0UL) < 1)
		return 0;
	if (secure_getenv(UNWIND_CACHE_SOCKET))
		add_own();
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* 0: do not report calls from and to the object */
__public unsigned int la_objopen(struct link_map *map, Lmid_t lmid,
				 uintptr_t *cookie)
{
	struct object *object = calloc(1, sizeof(*object));

	*cookie = (uintptr_t)object;
	if (object)
		add_object(map, object);
	return 0;
}

__public unsigned int la_objclose(uintptr_t *cookie)
{
	struct object *object = (struct object *)*cookie;
	struct unwind_table_attr attr = { .format = UNWIND_FORMAT_SFRAME };
	struct unwind_chain_attr chain = {};

	/* An object without a table has none to unregister */
	if (!object)
		return 0;
	attr.key = object->key;
	chain.key = object->key;
	prctl(PR_UNWIND_TABLE, PR_UNWIND_TABLE_DEL, &attr, sizeof(attr), 0UL);
	prctl(PR_UNWIND_CHAIN, PR_UNWIND_CHAIN_DEL, &chain, sizeof(chain), 0UL);
	if (object->table)
		munmap(object->table, object->size);
	free(object);
	return 0;
}
