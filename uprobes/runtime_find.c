// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/runtime_find.h"
#include "uprobes/elf_image.h"
#include "uprobes/process_maps.h"
#include "uprobes/recognise.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A process with more different executable files than this is not searched further. */
#define MAX_FILES 4096

/* Larger ones are not searched for a runtime without names. */
#define MAX_SCANNED (256u << 20)
#define SCAN_STEP (1u << 20)
#define MAX_SYMBOL_BYTES (512u << 20)
#define REMEMBERED 1024

static unsigned int names_in(Elf *elf, Elf_Scn *section)
{
	GElf_Shdr header;
	Elf_Data *data;
	unsigned int seen = 0;
	size_t count;

	if (!gelf_getshdr(section, &header) || !header.sh_entsize || header.sh_size > MAX_SYMBOL_BYTES)
		return 0;
	data = elf_getdata(section, NULL);
	if (!data)
		return 0;
	count = data->d_size / header.sh_entsize;
	for (size_t i = 0; i < count && i <= INT_MAX; i++) {
		GElf_Sym symbol;
		const char *name;

		if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
		    GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
			continue;
		name = elf_strptr(elf, header.sh_link, symbol.st_name);
		if (name)
			seen |= elf_runtime__seen(name);
	}
	return seen;
}

/* Functions of the symbol tables of one type; *present: whether there is one. */
static enum elf_runtime runtime_in(Elf *elf, GElf_Word type, bool *present)
{
	Elf_Scn *section = NULL;
	unsigned int seen = 0;
	GElf_Shdr header;

	*present = false;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != type)
			continue;
		*present = true;
		seen |= names_in(elf, section);
	}
	return elf_runtime__of(seen);
}

/* A file without names tells by the texts in it. */
static enum elf_runtime runtime_by_text(int fd)
{
	const size_t overlap = 64;
	char *text = malloc(SCAN_STEP + overlap);
	enum elf_runtime found = ELF_RUNTIME_NONE;
	struct stat st;
	ssize_t got;

	if (!text || fstat(fd, &st) || st.st_size > MAX_SCANNED) {
		free(text);
		return found;
	}
	for (off_t at = 0;
	     found != ELF_RUNTIME_LIBOMP && (got = pread(fd, text, SCAN_STEP + overlap, at)) > 0;
	     at += SCAN_STEP) {
		if (memmem(text, (size_t)got, RECOGNISE_LIBOMP, sizeof(RECOGNISE_LIBOMP)))
			found = ELF_RUNTIME_LIBOMP;
		else if (memmem(text, (size_t)got, RECOGNISE_LIBGOMP, sizeof(RECOGNISE_LIBGOMP)))
			found = ELF_RUNTIME_LIBGOMP;
	}
	free(text);
	return found;
}

/* Read, not mapped: the file may be cut short while it is looked at. */
static enum elf_runtime look_into(int fd)
{
	enum elf_runtime found = ELF_RUNTIME_NONE;
	bool named = true;
	Elf *elf;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return found;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return found;
	if (elf_kind(elf) == ELF_K_ELF) {
		found = runtime_in(elf, SHT_DYNSYM, &named);
		if (found == ELF_RUNTIME_NONE)
			found = runtime_in(elf, SHT_SYMTAB, &named);
	}
	elf_end(elf);
	return found == ELF_RUNTIME_NONE && !named ? runtime_by_text(fd) : found;
}

struct remembered {
	struct stat file;
	enum elf_runtime runtime;
};

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;
static struct remembered *memory; /* REMEMBERED of them, a hash table without chains */

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* The same few libraries are in all processes. */
static enum elf_runtime runtime_of(int fd)
{
	enum elf_runtime runtime;
	struct remembered *place;
	struct stat st;
	bool known;

	if (fstat(fd, &st) != 0)
		return ELF_RUNTIME_NONE;
	pthread_mutex_lock(&memory_lock);
	if (!memory)
		memory = calloc(REMEMBERED, sizeof(*memory));
	place = memory ? &memory[(st.st_ino * 31 + st.st_dev) % REMEMBERED] : NULL;
	known = place && same_file(&place->file, &st);
	runtime = known ? place->runtime : ELF_RUNTIME_NONE;
	pthread_mutex_unlock(&memory_lock);
	if (known)
		return runtime;
	runtime = look_into(fd);
	pthread_mutex_lock(&memory_lock);
	if (place)
		*place = (struct remembered){st, runtime};
	pthread_mutex_unlock(&memory_lock);
	return runtime;
}

struct file_id {
	uint64_t device, inode;
};

struct search {
	pid_t pid;
	struct runtime_file *out;
	size_t capacity, found;
	struct file_id *seen;
	size_t seen_count;
};

static int look_at(void *ctx, const struct process_mapping *mapping)
{
	struct search *search = ctx;
	struct runtime_file *file;
	char opened[sizeof(file->opened)];
	enum elf_runtime runtime;
	int fd;

	for (size_t i = 0; i < search->seen_count; i++) {
		if (search->seen[i].inode == mapping->inode && search->seen[i].device == mapping->device)
			return 0;
	}
	if (search->seen_count == MAX_FILES || search->found == search->capacity)
		return 0;
	search->seen[search->seen_count++] = (struct file_id){mapping->device, mapping->inode};
	fd = process_maps__open(search->pid, mapping, opened, sizeof(opened));
	if (fd < 0)
		return 0;
	runtime = runtime_of(fd);
	close(fd);
	if (runtime == ELF_RUNTIME_NONE)
		return 0;
	file = &search->out[search->found++];
	snprintf(file->path, sizeof(file->path), "%s", mapping->path);
	snprintf(file->opened, sizeof(file->opened), "%s", opened);
	file->device = mapping->device;
	file->inode = mapping->inode;
	file->runtime = runtime == ELF_RUNTIME_LIBOMP ? RUNTIME_LIBOMP : RUNTIME_LIBGOMP;
	return 0;
}

int runtime_find__in_process(pid_t pid, struct runtime_file *out, size_t capacity, struct uprobes_error *err)
{
	struct search search = {.pid = pid, .out = out, .capacity = capacity};
	int error;

	search.seen = calloc(MAX_FILES, sizeof(*search.seen));
	if (!search.seen) {
		snprintf(err->text, sizeof(err->text), "out of memory");
		return -ENOMEM;
	}
	error = process_maps__each(pid, look_at, &search);
	free(search.seen);
	if (!error)
		return (int)search.found;
	if (error == -ESRCH)
		snprintf(err->text, sizeof(err->text), "there is no process %d", (int)pid);
	else
		snprintf(err->text, sizeof(err->text), "cannot read the memory map of process %d: %s",
			 (int)pid, strerror(-error));
	return error;
}

size_t runtime_find__index(const struct runtime_file *files, size_t count, const struct runtime_file *file)
{
	size_t i = 0;

	while (i < count && (files[i].device != file->device || files[i].inode != file->inode))
		i++;
	return i;
}

static int take_if_runtime(const char *path, enum elf_runtime wanted, char *out, size_t size)
{
	char real[PATH_MAX];
	enum elf_runtime found;
	int fd;

	if (!realpath(path, real))
		return -errno;
	fd = open(real, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	found = runtime_of(fd);
	close(fd);
	if (found != wanted)
		return -ENOENT;
	if (strlen(real) >= size)
		return -ENAMETOOLONG;
	strcpy(out, real);
	return 0;
}

#define CACHE_FILE "/etc/ld.so.cache"
#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define CACHE_MAX (64u << 20)
#if defined(__aarch64__)
#define CACHE_NATIVE_ELF6 0x0a03
#define NATIVE_DIRECTORY "/usr/lib/aarch64-linux-gnu"
#else
#define CACHE_NATIVE_ELF6 0x0303
#define NATIVE_DIRECTORY "/usr/lib/x86_64-linux-gnu"
#endif

struct cache_head {
	char magic[20]; /* with the version */
	uint32_t entries, strings_bytes;
	uint8_t flags, pad[3];
	uint32_t extensions, unused[3];
};

struct cache_entry {
	int32_t flags;
	uint32_t key, value; /* offsets of strings from the head */
	uint32_t os_version;
	uint64_t hwcap;
};

_Static_assert(sizeof(struct cache_head) == 48, "the dynamic loader's cache");
_Static_assert(sizeof(struct cache_entry) == 24, "the dynamic loader's cache");

/* The loader's cache, ended with NUL; the new format may follow the old one. */
static int read_cache(char **out, size_t *size)
{
	FILE *file = fopen(CACHE_FILE, "re");
	char *text = NULL;
	size_t used = 0, capacity = 0;

	if (!file)
		return -errno;
	while (!feof(file) && !ferror(file) && used < CACHE_MAX) {
		char *grown;

		if (used + 1 >= capacity) {
			capacity = capacity ? capacity * 2 : 65536;
			grown = realloc(text, capacity);
			if (!grown)
				break;
			text = grown;
		}
		used += fread(text + used, 1, capacity - used - 1, file);
	}
	fclose(file);
	if (!text)
		return -ENOMEM;
	text[used] = 0;
	*out = text;
	*size = used;
	return 0;
}

static int find_in_cache(const char *soname, enum elf_runtime wanted, char *out, size_t out_size)
{
	struct cache_head head;
	char *text = NULL, *start;
	size_t size = 0;
	int error = read_cache(&text, &size);

	if (error)
		return error;
	start = memmem(text, size, CACHE_MAGIC, sizeof(CACHE_MAGIC) - 1);
	error = -ENOENT;
	if (!start || size - (size_t)(start - text) < sizeof(head))
		goto out;
	size -= (size_t)(start - text);
	memcpy(&head, start, sizeof(head));
	if (head.entries > (size - sizeof(head)) / sizeof(struct cache_entry))
		goto out;
	for (uint32_t i = 0; i < head.entries && error; i++) {
		struct cache_entry entry;

		memcpy(&entry, start + sizeof(head) + i * sizeof(entry), sizeof(entry));
		if (entry.flags == CACHE_NATIVE_ELF6 && entry.key < size && entry.value < size &&
		    !strcmp(start + entry.key, soname))
			error = take_if_runtime(start + entry.value, wanted, out, out_size);
	}
out:
	free(text);
	return error;
}

int runtime_find__system_of(enum probe_runtime runtime, char *path, size_t size)
{
	static const char *const directories[] = {NATIVE_DIRECTORY, "/usr/lib64", "/lib64", "/usr/lib"};
	static const char *const libgomp[] = {"libgomp.so.1", NULL};
	static const char *const libomp[] = {"libomp.so.5", "libomp.so", "libiomp5.so", NULL};
	const char *const *names = runtime == RUNTIME_LIBOMP ? libomp : libgomp;
	enum elf_runtime wanted = runtime == RUNTIME_LIBOMP ? ELF_RUNTIME_LIBOMP : ELF_RUNTIME_LIBGOMP;
	char candidate[256];
	int error = -ENOENT;

	for (size_t n = 0; error && names[n]; n++)
		error = find_in_cache(names[n], wanted, path, size);
	for (size_t n = 0; error && names[n]; n++) {
		for (size_t i = 0; error && i < sizeof(directories) / sizeof(directories[0]); i++) {
			snprintf(candidate, sizeof(candidate), "%s/%s", directories[i], names[n]);
			error = take_if_runtime(candidate, wanted, path, size);
		}
	}
	return error ? -ENOENT : 0;
}

int runtime_find__system(char *path, size_t size)
{
	return runtime_find__system_of(RUNTIME_LIBGOMP, path, size);
}
