// SPDX-License-Identifier: GPL-2.0
/*
 * Loading the table of a file: the program headers say where the text is, and where the
 * SFrame section (PT_GNU_SFRAME); the section is copied, checked and turned into a table
 * (sframe_table.c).  Offsets in the table are offsets in the file.
 *
 * A task that meets an unknown file loads its table, if the file is in the page cache and the
 * section is small.  Otherwise a worker reads the file, and the task goes on without the table:
 * nobody waits for a disk or a server because of a profiler.  One worker reads from one file
 * system at a time, so a file system that does not answer blocks its own loads only, and four
 * of these block all.  File systems that any user can mount get no worker.  A process has half
 * of the workers at most, and half of the places in a file system's queue.
 *
 * The file belongs to a process, and may lie.  It can only lie about itself: all offsets are
 * offsets in the file.  A section that a process registered (section.c) can lie about the text
 * that it was registered for, in processes that registered the same.
 */

#include <linux/cleanup.h>
#include <linux/elf.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hugetlb.h>
#include <linux/init.h>
#include <linux/list.h>
#include <linux/memcontrol.h>
#include <linux/memfd.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/user_namespace.h>
#include <linux/workqueue.h>
#include <asm/unwind_arch.h>
#include <trace/events/unwind.h>

#include "file.h"
#include "memory.h"
#include "request.h"
#include "sframe_format.h"

/* binutils; elf.h does not have it yet */
#define PT_GNU_SFRAME		(PT_LOOS + 0x474e554)

/* No linker writes nearly as many */
#define MAX_PHDRS		256

/* Larger sections are left to a worker, even if they are in the page cache */
#define MAX_ENTRIES_NOW		40000

#define MAX_WORKERS		4
/* For one process */
#define MAX_WORKERS_MM		(MAX_WORKERS / 2)

#define MAX_QUEUED		256
/* Of one file system */
#define MAX_QUEUED_SB		64
/* And of these, for one process */
#define MAX_QUEUED_MM		(MAX_QUEUED_SB / 2)

#define LOAD_GFP		(GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN)

const struct sframe_table *unwind_vdso_table;

/**
 * struct elf_source - the source of a table: an ELF image, or a section in a file
 * @file: the file, or NULL
 * @data: the image in memory, if there is no file
 * @size: its size in bytes
 * @part: the part of the file to load the table of, if its size is not 0; the file is then
 *	taken as it is, ELF or not
 * @wait: the file may be read; otherwise its pages have to be in the page cache
 * @is_elf: set if it is an image for this machine
 */
struct elf_source {
	struct file	*file;
	const void	*data;
	u64		size;
	struct unwind_part part;
	bool		wait;
	bool		is_elf;
};

/**
 * struct elf_text - text and section as the program headers describe them
 * @segments: the text; to be freed
 * @nr: number of segments
 * @sframe: the header of the SFrame section; of type PT_NULL if there is none
 */
struct elf_text {
	struct sframe_segment	*segments;
	unsigned int		nr;
	struct elf64_phdr	sframe;
};

/*
 * Reading
 */

static int read_cached(struct file *file, void *buf, size_t size, u64 offset)
{
	while (size) {
		size_t in_page = offset_in_page(offset);
		size_t part = min(size, PAGE_SIZE - in_page);
		struct folio *folio;

		folio = filemap_get_folio(file->f_mapping, offset >> PAGE_SHIFT);
		if (IS_ERR(folio))
			return -EAGAIN;
		/* shmem keeps folios whose memory has failed */
		if (!folio_test_uptodate(folio) || folio_contain_hwpoisoned_page(folio)) {
			folio_put(folio);
			return -EAGAIN;
		}
		memcpy_from_folio(buf, folio, offset_in_folio(folio, offset), part);
		folio_put(folio);
		buf += part;
		offset += part;
		size -= part;
	}
	return 0;
}

static int read_source(const struct elf_source *src, void *buf, size_t size, u64 offset)
{
	loff_t pos = offset;
	ssize_t ret;

	if (offset > src->size || size > src->size - offset)
		return -ENOEXEC;
	if (src->data) {
		memcpy(buf, src->data + offset, size);
		return 0;
	}
	if (!src->wait)
		return read_cached(src->file, buf, size, offset);
	/*
	 * Not kernel_read(): it calls permission hooks of security modules and fanotify, but the
	 * process has only mapped the file, and did not ask for this read.
	 */
	ret = __kernel_read(src->file, buf, size, &pos);
	return ret == size ? 0 : -EAGAIN;
}

/*
 * The ELF file
 */

static int check_header(const struct elf64_hdr *ehdr)
{
	if (memcmp(ehdr->e_ident, ELFMAG, SELFMAG))
		return -ENOEXEC;
	/* 32-bit programs have no SFrame tables; nothing is wrong with them */
	if (ehdr->e_ident[EI_CLASS] == ELFCLASS32)
		return -ENOENT;
	if (ehdr->e_ident[EI_CLASS] != ELFCLASS64 || ehdr->e_ident[EI_DATA] != ELF_DATA ||
	    !elf_check_arch(ehdr) || ehdr->e_phentsize != sizeof(struct elf64_phdr) ||
	    !ehdr->e_phnum || ehdr->e_phnum > MAX_PHDRS)
		return -ENOEXEC;
	return 0;
}

/* Is the section too large for a task to build its table on the way back to user space? */
static bool is_large(const struct sframe_header *hdr, u64 size)
{
	return size > SZ_1M || hdr->num_fres > MAX_ENTRIES_NOW ||
	       hdr->num_fdes > MAX_ENTRIES_NOW;
}

/* -EAGAIN: another attempt may succeed, later or with @src->wait */
static int read_text(struct elf_source *src, struct elf_text *text)
{
	struct elf64_phdr *phdrs __free(kfree) = NULL;
	const struct elf64_phdr *phdr;
	struct elf64_hdr ehdr;
	int ret;

	*text = (struct elf_text){ .sframe.p_type = PT_NULL };
	ret = read_source(src, &ehdr, sizeof(ehdr), 0);
	if (!ret)
		ret = check_header(&ehdr);
	if (ret)
		return ret;
	src->is_elf = true;

	phdrs = kmalloc_array(ehdr.e_phnum, sizeof(*phdrs), LOAD_GFP);
	text->segments = kmalloc_array(ehdr.e_phnum, sizeof(*text->segments), LOAD_GFP);
	if (!phdrs || !text->segments)
		return -EAGAIN;
	ret = read_source(src, phdrs, ehdr.e_phnum * sizeof(*phdrs), ehdr.e_phoff);
	if (ret)
		return ret;

	for (phdr = phdrs; phdr < phdrs + ehdr.e_phnum; phdr++) {
		if (phdr->p_type == PT_GNU_SFRAME && text->sframe.p_type == PT_NULL)
			text->sframe = *phdr;
		if (phdr->p_type != PT_LOAD || !(phdr->p_flags & PF_X))
			continue;
		text->segments[text->nr++] = (struct sframe_segment){
			.vaddr = phdr->p_vaddr,
			.offset = phdr->p_offset,
			.size = phdr->p_filesz,
		};
	}
	return 0;
}

/* The same for a part of a file.  Only distances count, which may be negative. */
static int describe_part(const struct unwind_part *part, struct elf_text *text)
{
	*text = (struct elf_text){
		.nr = 1,
		.sframe = {
			.p_type = PT_GNU_SFRAME,
			.p_offset = part->offset,
			.p_vaddr = BIT_ULL(62),
			.p_filesz = part->size,
		},
	};
	text->segments = kmalloc(sizeof(*text->segments), LOAD_GFP);
	if (!text->segments)
		return -EAGAIN;
	*text->segments = (struct sframe_segment){
		.vaddr = text->sframe.p_vaddr + part->to_text,
		.size = part->text_size,
	};
	return 0;
}

static struct sframe_table *build(const struct elf_source *src,
				  const struct elf_text *text)
{
	const struct elf64_phdr *sframe = &text->sframe;
	struct sframe_image image = {
		.size = sframe->p_filesz,
		.vaddr = sframe->p_vaddr,
		.segments = text->segments,
		.nr_segments = text->nr,
	};
	void *section __free(kvfree) = NULL;
	struct sframe_table *table;
	int ret;

	if (image.size < sizeof(struct sframe_header))
		return ERR_PTR(-ENOEXEC);
	if (image.size > UNWIND_MAX_SECTION)
		return ERR_PTR(-E2BIG);
	if (src->file && !src->wait) {
		struct sframe_header hdr;

		ret = read_source(src, &hdr, sizeof(hdr), sframe->p_offset);
		if (ret)
			return ERR_PTR(ret);
		if (is_large(&hdr, image.size))
			return ERR_PTR(-EAGAIN);
	}
	section = kvmalloc(image.size, LOAD_GFP);
	if (!section)
		return ERR_PTR(-EAGAIN);
	ret = read_source(src, section, image.size, sframe->p_offset);
	image.section = section;
	table = ret ? ERR_PTR(ret) : sframe_table_build(&image, UNWIND_ARCH_SFRAME_ABI);
	if (!IS_ERR(table) && text->nr == 1)
		table->place = (struct sframe_place){
			.section = sframe->p_offset,
			.text = text->segments->offset,
			.text_size = text->segments->size,
			.to_text = text->segments->vaddr - sframe->p_vaddr,
		};
	return table == ERR_PTR(-ENOMEM) || table == ERR_PTR(-EINTR) ? ERR_PTR(-EAGAIN) : table;
}

/*
 * The table of an image, or an error: -EAGAIN if another attempt may succeed, later or with
 * @src->wait
 */
static struct sframe_table *load(struct elf_source *src)
{
	struct sframe_table *table;
	struct elf_text text;
	int ret;

	ret = src->part.size ? describe_part(&src->part, &text) : read_text(src, &text);
	if (ret)
		table = ERR_PTR(ret);
	else if (text.sframe.p_type == PT_NULL)
		table = ERR_PTR(-ENOENT);
	else
		table = build(src, &text);
	kfree(text.segments);
	return table;
}

/**
 * unwind_file_build - make a table for a file from a section that is not in the file
 * @file: the file
 * @section: the section, in kernel memory
 * @size: its size in bytes, at most UNWIND_MAX_SECTION
 * @vaddr: link-time address that the section was made for
 *
 * Context: task; waits for the file.
 * Return: the table; -ENOEXEC @file is no ELF file of this machine, or @section is no
 * SFrame section; -EOPNOTSUPP it has another version; -ENOENT it describes no text of
 * @file; -E2BIG; -ENOMEM; -EINTR the task was killed; -EAGAIN @file cannot be read now.
 */
struct sframe_table *unwind_file_build(struct file *file, const void *section,
				       size_t size, u64 vaddr)
{
	struct elf_source src = {
		.file = file,
		.size = i_size_read(file_inode(file)),
		.wait = true,
	};
	struct sframe_image image = {
		.section = section,
		.size = size,
		.vaddr = vaddr,
	};
	struct sframe_table *table;
	struct elf_text text;
	int ret;

	ret = read_text(&src, &text);
	image.segments = text.segments;
	image.nr_segments = text.nr;
	if (!ret)
		table = sframe_table_build(&image, UNWIND_ARCH_SFRAME_ABI);
	else
		table = ERR_PTR(src.is_elf || ret == -EAGAIN ? ret : -ENOEXEC);
	kfree(text.segments);
	return table;
}

/*
 * May a worker, or the table service, wait for the file system?  Not if unprivileged users can
 * mount it: their server need not answer.
 */
static bool may_wait_for(const struct super_block *sb)
{
	return sb->s_user_ns == &init_user_ns && strncmp(sb->s_type->name, "fuse", 4);
}

/* Report the table of a file, which may be gone by now; @inode has the file's contents */
void unwind_file_trace_found(const struct file *file, const struct inode *inode, u32 entries,
			     size_t bytes)
{
	char name[UNWIND_NAME_MAX];

	if (!trace_unwind_table_found_enabled())
		return;
	snprintf(name, sizeof(name), "%pD", file);
	trace_unwind_table_found(inode->i_sb->s_dev, inode->i_ino, entries, bytes, name);
}

static void trace_invalid(const struct file *file, int error)
{
	const struct inode *inode = file_inode(file);
	char name[UNWIND_NAME_MAX];

	if (!trace_unwind_file_invalid_enabled())
		return;
	snprintf(name, sizeof(name), "%pD", file);
	trace_unwind_file_invalid(inode->i_sb->s_dev, inode->i_ino, error, name);
}

/* The service may make a table for a file that has none, or next to none */
static struct unwind_request_item *request_for(const struct elf_source *src,
					       const struct sframe_table *table)
{
	if (!IS_ENABLED(CONFIG_UNWIND_USER_SERVICE) || table == ERR_PTR(-EAGAIN) ||
	    !src->is_elf || !may_wait_for(file_inode(src->file)->i_sb) ||
	    (!IS_ERR(table) && !unwind_table_is_sparse(table, src->size)))
		return NULL;
	return unwind_request_alloc(src->file);
}

static void finish(struct unwind_file *entry, const struct elf_source *src,
		   struct sframe_table *table)
{
	struct unwind_request_item *request = request_for(src, table);
	struct inode *inode = file_inode(src->file);
	size_t bytes;
	long error;
	u32 nr;

	if (!IS_ERR_OR_NULL(request) && !IS_ERR(table)) {
		sframe_table_free(table);
		table = ERR_PTR(-ENOENT);
	}
	error = PTR_ERR_OR_ZERO(table);
	nr = error ? 0 : table->nr;
	bytes = error ? 0 : table->bytes;
	if (unwind_file_finish(entry, inode, table, request))
		unwind_file_trace_found(src->file, inode, nr, bytes);
	else if (error != -ENOENT && !src->part.size)
		trace_invalid(src->file, error ?: -ENOSPC);
}

/*
 * Workers
 */

/**
 * struct load_job - a table that a worker is to load
 * @work: queued when it may run
 * @node: in the list of waiting jobs, or of running ones
 * @file: the file, with a reference
 * @part: the part of the file, as in &struct elf_source
 * @entry: the file's entry, which the worker will finish
 * @memcg: the cgroup that the table is charged to
 * @mm: names the process that met the file; it may be gone
 */
struct load_job {
	struct work_struct	work;
	struct list_head	node;
	struct file		*file;
	struct unwind_part	part;
	struct unwind_file	*entry;
	struct mem_cgroup	*memcg;
	const void		*mm;
};

static LIST_HEAD(waiting);
static LIST_HEAD(running);
static DEFINE_SPINLOCK(jobs_lock);
static unsigned int nr_jobs;
static unsigned int nr_running;
static struct workqueue_struct *workers;

static const struct super_block *sb_of(const struct load_job *job)
{
	return file_inode(job->file)->i_sb;
}

static bool may_run(const struct load_job *job)
{
	const struct load_job *other;
	unsigned int nr = 0;

	lockdep_assert_held(&jobs_lock);
	list_for_each_entry(other, &running, node) {
		if (sb_of(other) == sb_of(job))
			return false;
		nr += other->mm == job->mm;
	}
	return nr < MAX_WORKERS_MM;
}

/* Give waiting jobs to workers, as far as the limits allow */
static void run_waiting(void)
{
	struct load_job *job, *next;

	lockdep_assert_held(&jobs_lock);
	list_for_each_entry_safe(job, next, &waiting, node) {
		if (nr_running == MAX_WORKERS)
			return;
		if (!may_run(job))
			continue;
		list_move(&job->node, &running);
		nr_running++;
		queue_work(workers, &job->work);
	}
}

static void load_work(struct work_struct *work)
{
	struct load_job *job = container_of(work, struct load_job, work);
	struct elf_source src = {
		.file = job->file,
		.size = i_size_read(file_inode(job->file)),
		.part = job->part,
		.wait = true,
	};
	struct mem_cgroup *old = set_active_memcg(job->memcg);
	struct sframe_table *table = load(&src);

	finish(job->entry, &src, table);
	set_active_memcg(old);
	mem_cgroup_put(job->memcg);
	scoped_guard(spinlock, &jobs_lock) {
		list_del(&job->node);
		nr_jobs--;
		nr_running--;
		run_waiting();
	}
	fput(job->file);
	kfree(job);
}

/* Is there a place for one more? */
static bool has_place(const struct load_job *job)
{
	unsigned int nr_sb = 0, nr_mm = 0;
	const struct load_job *other;

	lockdep_assert_held(&jobs_lock);
	list_for_each_entry(other, &waiting, node) {
		if (sb_of(other) != sb_of(job))
			continue;
		nr_sb++;
		nr_mm += other->mm == job->mm;
	}
	return nr_jobs < MAX_QUEUED && nr_sb < MAX_QUEUED_SB && nr_mm < MAX_QUEUED_MM;
}

/* Queue a load, which takes over the reference to the file, and the entry; true on success */
static bool queue_load(const struct elf_source *src, struct unwind_file *entry)
{
	struct load_job *job;

	if (!workers || !may_wait_for(file_inode(src->file)->i_sb))
		return false;
	job = kmalloc(sizeof(*job), LOAD_GFP);
	if (!job)
		return false;
	*job = (struct load_job){
		.file = src->file,
		.part = src->part,
		.entry = entry,
		.memcg = get_mem_cgroup_from_mm(current->mm),
		.mm = current->mm,
	};
	INIT_WORK(&job->work, load_work);
	scoped_guard(spinlock, &jobs_lock) {
		if (has_place(job)) {
			list_add_tail(&job->node, &waiting);
			nr_jobs++;
			run_waiting();
			return true;
		}
	}
	mem_cgroup_put(job->memcg);
	kfree(job);
	return false;
}

/*
 * Files
 */

/* The file that is mapped at @addr as text, with a reference; or NULL */
static struct file *get_mapped_file(unsigned long addr)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	struct file *file = NULL;
	u64 origin;

	if (mmap_read_lock_killable(mm))
		return NULL;
	vma = vma_lookup(mm, addr);
	if (vma && vma->vm_flags & VM_EXEC) {
		scoped_guard(rcu)
			file = unwind_text_file(vma, &origin);
		if (file)
			get_file(file);
	}
	mmap_read_unlock(mm);
	return file;
}

/* Is this a file in memory whose contents cannot change any more? */
static bool is_sealed(struct file *file)
{
	const int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK;
	long ret = memfd_fcntl(file, F_GET_SEALS, 0);

	return ret > 0 && (ret & seals) == seals;
}

/**
 * unwind_file_kind - can a file have a table?
 * @file: the file
 * @inode: of the file, or of the one that has its contents (overlayfs)
 *
 * Devices may be mapped as text, too.  Files in memory (memfd_create()) are open for
 * writing all the time: they have to be sealed.  And files of some servers (NFS, FUSE) may
 * change without a new time of change.
 *
 * Context: any.
 * Return: its kind.
 */
enum unwind_file_kind unwind_file_kind(struct file *file, const struct inode *inode)
{
	if (!S_ISREG(inode->i_mode) || is_file_hugepages(file) ||
	    !(file->f_mode & FMODE_READ) || !file->f_op->read_iter || file->f_op->read)
		return UNWIND_FILE_INELIGIBLE;
	if (is_sealed(file))
		return UNWIND_FILE_SEALED;
	if (inode->i_sb->s_flags & SB_NOUSER ||
	    (IS_NOCMTIME(inode) && !IS_I_VERSION(inode)))
		return UNWIND_FILE_INELIGIBLE;
	return UNWIND_FILE_PLAIN;
}

/**
 * unwind_file_names - do the program headers of a file lead to this section?
 * @file: the file
 * @offset: of the section, in the file
 *
 * No entry is made for the file, and nothing is reported.
 *
 * Context: task; may sleep, but does not wait for the file.
 * Return: whether they do.  False, too, if they are not in the page cache.
 */
bool unwind_file_names(struct file *file, u64 offset)
{
	struct inode *inode = file_inode(file);
	struct elf_source src = {
		.file = file,
		.size = i_size_read(inode),
	};
	struct elf_text text;
	bool names;

	if (unwind_file_kind(file, inode) == UNWIND_FILE_INELIGIBLE)
		return false;
	names = !read_text(&src, &text) && text.sframe.p_type != PT_NULL &&
		text.sframe.p_offset == offset;
	kfree(text.segments);
	return names;
}

/**
 * unwind_file_load_part - load the table of a file
 * @file: the file, with a reference that is given up
 * @part: the part of the file; NULL for the file
 *
 * Context: task; may sleep, but does not wait for the file; without the mmap lock.
 * Return: 0 the result is found by another lookup; -ENOMEM.
 */
int unwind_file_load_part(struct file *file, const struct unwind_part *part)
{
	struct inode *inode = file_inode(file);
	struct elf_source src = {
		.file = file,
		.size = i_size_read(inode),
	};
	struct sframe_table *table;
	struct unwind_file *entry;

	entry = unwind_file_claim(inode, unwind_file_kind(file, inode), part);
	if (IS_ERR(entry)) {
		fput(file);
		return PTR_ERR(entry) == -EALREADY ? 0 : PTR_ERR(entry);
	}
	if (part)
		src.part = *part;
	table = load(&src);
	if (table == ERR_PTR(-EAGAIN) && queue_load(&src, entry))
		return 0;
	finish(entry, &src, table);
	fput(file);
	return 0;
}

/**
 * unwind_file_load - load the table of the file that is mapped at an address
 * @addr: address in the text of the current task
 *
 * Context: as for unwind_file_load_part().
 * Return: as for unwind_file_load_part(); -ENOENT no file is mapped there; -EINTR the task
 * was killed.
 */
int unwind_file_load(unsigned long addr)
{
	struct file *file = get_mapped_file(addr);

	if (!file)
		return fatal_signal_pending(current) ? -EINTR : -ENOENT;
	return unwind_file_load_part(file, NULL);
}

static int __init unwind_load_init(void)
{
	struct elf_source vdso = {};
	struct sframe_table *table;

	workers = alloc_workqueue("unwind_tables", WQ_UNBOUND, MAX_WORKERS);
	if (!workers)
		return -ENOMEM;
	vdso.data = unwind_vdso_image(&vdso.size);
	table = load(&vdso);
	if (!IS_ERR(table))
		unwind_vdso_table = table;
	return 0;
}
late_initcall(unwind_load_init);
