// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/runtime/runtime_find.h"
#include "uprobes/runtime/process_maps.h"
#include "uprobes/runtime/runtime_look.h"
#include "uprobes/runtime/system_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* If a process has more different executable files than this, the search stops. */
#define MAX_FILES 4096

/*
 * Entries for system files, and the same number for all other files. A user who makes many other files
 * evicts only entries of such files.
 */
#define REMEMBERED 1024
/* Entries that share one hash slot. */
#define WAYS 8
/*
 * Files of a process that have a runtime or might have one, and files that are open until they are
 * examined.
 */
#define MAX_CANDIDATES 64
#define MAX_OPEN 16

struct remembered {
	struct stat file;
	enum elf_runtime runtime;
};

static int look_here(int fd, const struct stat *file, enum elf_runtime *out)
{
	(void)file;
	*out = runtime_look__in(fd);
	return 0;
}

static struct {
	runtime_look_fn look;
	pthread_mutex_t lock;	      /* guards `memory` */
	struct remembered *memory[2]; /* REMEMBERED entries, in slots; in each slot the latest comes first */
} finder = {.look = look_here, .lock = PTHREAD_MUTEX_INITIALIZER};

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Needs the lock. NULL: there is no memory. */
static struct remembered *place_of(const struct stat *file, bool of_system)
{
	struct remembered **part = &finder.memory[of_system];

	if (!*part)
		*part = calloc(REMEMBERED, sizeof(**part));
	return *part ? &(*part)[(file->st_ino * 31 + file->st_dev) % (REMEMBERED / WAYS) * WAYS] : NULL;
}

/* The same few libraries are in all processes, so results are remembered. */
static bool remembers(int fd, const struct stat *file, enum elf_runtime *out)
{
	const struct remembered *place;
	bool known = false, of_system = system_file__is(fd, file);

	pthread_mutex_lock(&finder.lock);
	place = place_of(file, of_system);
	for (int i = 0; place && !known && i < WAYS; i++) {
		known = same_file(&place[i].file, file);
		if (known)
			*out = place[i].runtime;
	}
	pthread_mutex_unlock(&finder.lock);
	return known;
}

static void remember(int fd, const struct stat *file, enum elf_runtime runtime)
{
	struct remembered *place;
	bool of_system = system_file__is(fd, file);

	pthread_mutex_lock(&finder.lock);
	place = place_of(file, of_system);
	if (place) {
		memmove(place + 1, place, (WAYS - 1) * sizeof(*place));
		place[0] = (struct remembered){*file, runtime};
	}
	pthread_mutex_unlock(&finder.lock);
}

void runtime_find__look_by(runtime_look_fn by)
{
	finder.look = by;
}

static enum elf_runtime runtime_of(int fd, const struct stat *file)
{
	enum elf_runtime runtime = ELF_RUNTIME_NONE;

	if (!S_ISREG(file->st_mode) || remembers(fd, file, &runtime))
		return runtime;
	if (finder.look(fd, file, &runtime) != 0)
		return ELF_RUNTIME_NONE;
	remember(fd, file, runtime);
	return runtime;
}

struct file_id {
	uint64_t device, inode;
};

/* A file that has a runtime, or that is open and has not been examined yet. */
struct candidate {
	char *path, *opened;
	struct file_id id;
	struct stat file;
	int fd; /* -1: its runtime is known */
	enum elf_runtime runtime;
};

struct runtime_search {
	pid_t pid;
	struct file_id *seen;
	size_t seen_count, open;
	struct candidate candidates[MAX_CANDIDATES];
	size_t count;
};

static bool is_new(struct runtime_search *search, const struct file_id *id)
{
	for (size_t i = 0; i < search->seen_count; i++) {
		if (search->seen[i].inode == id->inode && search->seen[i].device == id->device)
			return false;
	}
	if (search->seen_count == MAX_FILES)
		return false;
	search->seen[search->seen_count++] = *id;
	return true;
}

static void drop(struct candidate *candidate)
{
	free(candidate->path);
	free(candidate->opened);
	if (candidate->fd >= 0)
		close(candidate->fd);
}

/* Opens the file and examines it later if possible, because the process may end meanwhile. */
static int note(void *ctx, const struct process_mapping *mapping)
{
	struct candidate candidate = {.id = {mapping->device, mapping->inode}};
	char opened[sizeof(((struct runtime_file *)0)->opened)];
	struct runtime_search *search = ctx;

	if (!is_new(search, &candidate.id) || search->count == MAX_CANDIDATES)
		return 0;
	candidate.fd = process_maps__open(search->pid, mapping, opened, sizeof(opened));
	if (candidate.fd < 0)
		return 0;
	if (fstat(candidate.fd, &candidate.file) != 0) {
		close(candidate.fd);
		return 0;
	}
	if (remembers(candidate.fd, &candidate.file, &candidate.runtime) || search->open == MAX_OPEN) {
		candidate.runtime = runtime_of(candidate.fd, &candidate.file);
		close(candidate.fd);
		candidate.fd = -1;
		if (candidate.runtime == ELF_RUNTIME_NONE)
			return 0;
	}
	candidate.path = strdup(mapping->path);
	candidate.opened = strdup(opened);
	if (candidate.path && candidate.opened) {
		search->open += candidate.fd >= 0;
		search->candidates[search->count++] = candidate;
	} else {
		drop(&candidate);
	}
	return 0;
}

int runtime_find__begin(pid_t pid, struct runtime_search **out, struct uprobes_error *err)
{
	struct runtime_search *search = calloc(1, sizeof(*search));
	int error = -ENOMEM;

	if (search) {
		search->pid = pid;
		search->seen = calloc(MAX_FILES, sizeof(*search->seen));
		error = search->seen ? process_maps__each(pid, note, search) : -ENOMEM;
		free(search->seen);
		search->seen = NULL;
	}
	if (!error) {
		*out = search;
		return 0;
	}
	if (search)
		runtime_find__end(search, NULL, 0);
	if (error == -ENOMEM)
		snprintf(err->text, sizeof(err->text), "out of memory");
	else if (error == -ESRCH)
		snprintf(err->text, sizeof(err->text), "there is no process %d", (int)pid);
	else
		snprintf(err->text, sizeof(err->text), "cannot read the memory map of process %d: %s",
			 (int)pid, strerror(-error));
	return error;
}

bool runtime_find__is_quick(const struct runtime_search *search)
{
	return search->open == 0;
}

size_t runtime_find__end(struct runtime_search *search, struct runtime_file *out, size_t capacity)
{
	size_t found = 0;

	for (size_t i = 0; i < search->count; i++) {
		struct candidate *candidate = &search->candidates[i];
		struct runtime_file *file = &out[found];

		if (found < capacity && candidate->fd >= 0)
			candidate->runtime = runtime_of(candidate->fd, &candidate->file);
		if (found < capacity && candidate->runtime != ELF_RUNTIME_NONE) {
			snprintf(file->path, sizeof(file->path), "%s", candidate->path);
			snprintf(file->opened, sizeof(file->opened), "%s", candidate->opened);
			file->device = candidate->id.device;
			file->inode = candidate->id.inode;
			file->runtime =
				candidate->runtime == ELF_RUNTIME_LIBOMP ? RUNTIME_LIBOMP : RUNTIME_LIBGOMP;
			found++;
		}
		drop(candidate);
	}
	free(search);
	return found;
}

int runtime_find__in_process(pid_t pid, struct runtime_file *out, size_t capacity, struct uprobes_error *err)
{
	struct runtime_search *search;
	int error = runtime_find__begin(pid, &search, err);

	return error ? error : (int)runtime_find__end(search, out, capacity);
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
	enum elf_runtime found = ELF_RUNTIME_NONE;
	char real[PATH_MAX];
	struct stat file;
	int fd;

	if (!realpath(path, real))
		return -errno;
	fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &file) == 0)
		found = runtime_of(fd, &file);
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
	char magic[20]; /* contains the version */
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

/* The loader's cache, ended with NUL. The new format may follow the old one. */
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
