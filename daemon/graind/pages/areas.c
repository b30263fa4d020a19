// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/pages/areas.h"

#include "daemon/graind/pages/pagemap.h"
#include "daemon/graind/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGE 4096u
#define MAX_LINES 16384
#define MAX_AREAS 256
#define MAX_FOUND 4096
#define MIN_BYTES (64u << 10)
#define MIN_FILE_BYTES (4u << 20)
/*
 * An area larger than this many times the machine's memory is only reserved address space, for instance by
 * a sanitizer.
 */
#define RESERVED_TIMES 16
#define MAX_GUARD_BYTES (64u << 10)
/* glibc's flags in the lowest bits of the size of a block that malloc has mapped separately. */
#define MALLOC_FLAGS 7u
#define MALLOC_MAPPED 2u

#define NOT_OPENED (-1)
#define NOT_TO_BE (-2)

struct line {
	uint64_t start, end, inode;
	char perms[5];
	const char *path;
};

struct finder {
	struct area_list *list;
	pid_t pid;
	int mem, pagemap; /* files of /proc/PID/, or NOT_OPENED, NOT_TO_BE */
	/* What is known from the line before: */
	uint64_t end;
	bool guard; /* it is a guard page, which ends a stack */
	bool data;  /* of a file with this name: */
	char file[64];
	int error;
};

static const char *const kind_names[AREA_KINDS] = {"data",	"heap",	  "stack", "allocation",
						   "anonymous", "shared", "file"};

const char *area_kind__name(enum area_kind kind)
{
	return kind < AREA_KINDS ? kind_names[kind] : "unknown";
}

static bool is_reserved(uint64_t bytes)
{
	long pages = sysconf(_SC_PHYS_PAGES);

	return pages > 0 && bytes / PAGE / RESERVED_TIMES > (uint64_t)pages;
}

static void add(struct finder *f, uint64_t start, uint64_t end, enum area_kind kind, const char *name)
{
	struct area_list *list = f->list;
	size_t count = list->count;

	if (f->error || end - start < MIN_BYTES || is_reserved(end - start) || count == MAX_FOUND)
		return;
	if (!(count & (count - 1))) {
		struct area *more = reallocarray(list->areas, count ? 2 * count : 1, sizeof(*more));

		if (!more) {
			f->error = -ENOMEM;
			return;
		}
		list->areas = more;
	}
	list->areas[list->count] = (struct area){.start = start, .end = end, .kind = kind};
	snprintf(list->areas[list->count++].name, sizeof(list->areas->name), "%s", name);
}

static int open_memory(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? NOT_TO_BE : fd;
}

/*
 * Whether the process has touched the page. Reading an untouched page would cause its page fault, and so
 * decide on which node the page is placed.
 */
static bool is_touched(struct finder *f, uint64_t address)
{
	if (f->pagemap == NOT_OPENED) {
		f->pagemap = pagemap__open(f->pid);
		f->pagemap = f->pagemap < 0 ? NOT_TO_BE : f->pagemap;
	}
	return pagemap__entry(f->pagemap, address) & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED);
}

/*
 * Returns the size of the malloc block at the beginning of a mapping; 0: the mapping begins with something
 * else.
 */
static uint64_t block_at(struct finder *f, uint64_t start, uint64_t end)
{
	uint64_t head[2];

	if (start >= end || !is_touched(f, start))
		return 0;
	if (f->mem == NOT_OPENED)
		f->mem = open_memory(f->pid);
	if (f->mem < 0 || pread(f->mem, head, sizeof(head), (off_t)start) != sizeof(head))
		return 0;
	if ((head[1] & MALLOC_FLAGS) != MALLOC_MAPPED || head[0] >= PAGE)
		return 0;
	head[1] -= MALLOC_MAPPED;
	return head[1] && head[1] % PAGE == 0 && head[1] <= end - start ? head[1] : 0;
}

/* Adds an area for each block. The rest becomes one area. */
static void add_blocks(struct finder *f, uint64_t start, uint64_t end, const char *name)
{
	uint64_t bytes;

	for (; (bytes = block_at(f, start, end)); start += bytes)
		add(f, start, start + bytes, AREA_ALLOCATION, "");
	add(f, start, end, AREA_ANONYMOUS, name);
}

/*
 * Handles a thread's stack, and blocks that the kernel has joined to its mapping because they were there
 * before.
 */
static void add_above_stack(struct finder *f, uint64_t start, uint64_t end)
{
	uint64_t sizes[] = {8u << 20, 4u << 20, 2u << 20, 0};
	struct rlimit limit;

	if (prlimit(f->pid, RLIMIT_STACK, NULL, &limit) == 0 && limit.rlim_cur % PAGE == 0)
		sizes[3] = limit.rlim_cur;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		if (!sizes[i] || sizes[i] >= end - start || !block_at(f, start + sizes[i], end))
			continue;
		add_blocks(f, start + sizes[i], end, "");
		return;
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_device(const char *path)
{
	return !strncmp(path, "/dev/", 5) && strncmp(path, "/dev/shm/", 9) && strncmp(path, "/dev/zero", 9) &&
	       strncmp(path, "/dev/hugepages", 14);
}

/* Zero-initialised variables (.bss) come after the other variables of a file. */
static void look_at_anonymous(struct finder *f, const struct line *line)
{
	bool joined = f->end == line->start;

	if (joined && f->data)
		add(f, line->start, line->end, AREA_DATA, f->file);
	else if (joined && f->guard)
		add_above_stack(f, line->start, line->end);
	else
		add_blocks(f, line->start, line->end, line->path);
}

/*
 * Without address randomisation the heap follows directly after the program's variables. Some kernels (6.1)
 * then show zero-initialised variables as a part of the heap.
 */
static void look_at_heap(struct finder *f, const struct line *line)
{
	uint64_t start = line->start, heap;

	if (f->data && f->end == start && process__stat(f->pid, 47, &heap) && heap > start &&
	    heap <= line->end)
		start = heap;
	add(f, line->start, start, AREA_DATA, f->file);
	add(f, start, line->end, AREA_HEAP, "");
}

static void look_at(struct finder *f, const struct line *line)
{
	bool file = line->path[0] == '/';
	bool writable = line->perms[1] == 'w' && line->perms[2] != 'x', shared = line->perms[3] == 's';

	if (file && is_device(line->path))
		return;
	if (writable && file && shared)
		add(f, line->start, line->end, AREA_SHARED, base_name(line->path));
	else if (writable && file)
		add(f, line->start, line->end, AREA_DATA, base_name(line->path));
	else if (writable && !strcmp(line->path, "[heap]"))
		look_at_heap(f, line);
	else if (writable && !strcmp(line->path, "[stack]"))
		add(f, line->start, line->end, AREA_STACK, "");
	else if (writable && (!line->path[0] || !strncmp(line->path, "[anon", 5)))
		look_at_anonymous(f, line);
	else if (file && line->perms[0] == 'r' && line->perms[2] != 'x' &&
		 line->end - line->start >= MIN_FILE_BYTES)
		add(f, line->start, line->end, AREA_FILE, base_name(line->path));
}

/* Parses "start-end perms offset major:minor inode   path". */
static bool parse(char *text, struct line *out)
{
	int used = 0;

	if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %4s %*x %*x:%*x %" SCNu64 " %n", &out->start, &out->end,
		   out->perms, &out->inode, &used) != 4 ||
	    !used || out->start >= out->end)
		return false;
	text += used;
	text[strcspn(text, "\n")] = '\0';
	out->path = text;
	return true;
}

static void remember(struct finder *f, const struct line *line)
{
	f->guard = !strncmp(line->perms, "---", 3) && line->end - line->start <= MAX_GUARD_BYTES;
	f->data = f->data && f->end == line->start && line->inode;
	f->end = line->end;
	if (line->path[0] == '/' && line->perms[1] == 'w' && line->perms[3] == 'p') {
		f->data = true;
		snprintf(f->file, sizeof(f->file), "%s", base_name(line->path));
	}
}

static int by_size(const void *a, const void *b)
{
	const struct area *x = a, *y = b;
	uint64_t p = x->end - x->start, q = y->end - y->start;

	return p == q ? 0 : p < q ? 1 : -1;
}

static int by_start(const void *a, const void *b)
{
	const struct area *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

int areas__find(pid_t pid, struct area_list *out)
{
	struct finder f = {.list = out, .pid = pid, .mem = NOT_OPENED, .pagemap = NOT_OPENED};
	size_t room = 0;
	char path[64], *text = NULL;
	struct line line;
	int lines = 0;
	FILE *file;

	*out = (struct area_list){0};
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	while (lines < MAX_LINES && getline(&text, &room, file) > 0) {
		lines++;
		if (!parse(text, &line))
			continue;
		look_at(&f, &line);
		remember(&f, &line);
	}
	free(text);
	fclose(file);
	if (f.mem >= 0)
		close(f.mem);
	if (f.pagemap >= 0)
		close(f.pagemap);
	if (!f.error && !lines)
		f.error = -ESRCH;
	if (f.error) {
		areas__free(out);
		return f.error;
	}
	if (out->count > MAX_AREAS) {
		qsort(out->areas, out->count, sizeof(*out->areas), by_size);
		out->count = MAX_AREAS;
	}
	if (out->count)
		qsort(out->areas, out->count, sizeof(*out->areas), by_start);
	return 0;
}

void areas__free(struct area_list *list)
{
	free(list->areas);
	*list = (struct area_list){0};
}
