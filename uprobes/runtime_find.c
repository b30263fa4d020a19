// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/runtime_find.h"
#include "uprobes/process_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A process with more different executable files than this is not searched further. */
#define MAX_FILES 4096

/* Exported by every libgomp, and together by nothing else but what stands in for it. */
static const char *const entry_points[] = {"GOMP_parallel", "GOMP_task"};
#define ENTRY_POINTS (sizeof(entry_points) / sizeof(entry_points[0]))

static unsigned int entry_points_in(Elf *elf, Elf_Scn *section)
{
	GElf_Shdr header;
	Elf_Data *data;
	unsigned int found = 0;
	size_t count;

	if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM || !header.sh_entsize)
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
		for (size_t e = 0; name && e < ENTRY_POINTS; e++) {
			if (!strcmp(name, entry_points[e]))
				found |= 1u << e;
		}
	}
	return found;
}

/* Read, not mapped: the file may be cut short while it is looked at. */
static bool exports_libgomp(int fd)
{
	Elf_Scn *section = NULL;
	unsigned int found = 0;
	Elf *elf;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return false;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return false;
	if (elf_kind(elf) == ELF_K_ELF) {
		while ((section = elf_nextscn(elf, section)))
			found |= entry_points_in(elf, section);
	}
	elf_end(elf);
	return found == (1u << ENTRY_POINTS) - 1;
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
	bool is_runtime;
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
	is_runtime = exports_libgomp(fd);
	close(fd);
	if (!is_runtime)
		return 0;
	file = &search->out[search->found++];
	snprintf(file->path, sizeof(file->path), "%s", mapping->path);
	snprintf(file->opened, sizeof(file->opened), "%s", opened);
	file->device = mapping->device;
	file->inode = mapping->inode;
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

static int take_if_runtime(const char *path, char *out, size_t size)
{
	char real[PATH_MAX];
	bool is_runtime;
	int fd;

	if (!realpath(path, real))
		return -errno;
	fd = open(real, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	is_runtime = exports_libgomp(fd);
	close(fd);
	if (!is_runtime)
		return -ENOENT;
	if (strlen(real) >= size)
		return -ENAMETOOLONG;
	strcpy(out, real);
	return 0;
}

#define CACHE_FILE "/etc/ld.so.cache"
#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define CACHE_MAX (64u << 20)
#define CACHE_X86_64_ELF6 0x0303

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

static int find_in_cache(const char *soname, char *out, size_t out_size)
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
		if (entry.flags == CACHE_X86_64_ELF6 && entry.key < size && entry.value < size &&
		    !strcmp(start + entry.key, soname))
			error = take_if_runtime(start + entry.value, out, out_size);
	}
out:
	free(text);
	return error;
}

int runtime_find__system(char *path, size_t size)
{
	static const char *const usual[] = {
		"/usr/lib/x86_64-linux-gnu/libgomp.so.1",
		"/usr/lib64/libgomp.so.1",
		"/lib64/libgomp.so.1",
		"/usr/lib/libgomp.so.1",
	};
	int error = find_in_cache("libgomp.so.1", path, size);

	for (size_t i = 0; error && i < sizeof(usual) / sizeof(usual[0]); i++)
		error = take_if_runtime(usual[i], path, size);
	return error ? -ENOENT : 0;
}
