// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parses by hand: libproc2 of Debian does not give mappings, and libdw opens all files that it finds there.
 */
#include "uprobes/runtime/process_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* The kernel's own default limit of mappings is 65530. */
#define MAX_LINES (1u << 20)

static const char deleted_mark[] = " (deleted)";

/* The kernel spells a line feed in a name as \012. */
static void unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; to++) {
		if (!strncmp(from, "\\012", 4)) {
			*to = '\n';
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = 0;
}

/* "start-end perms offset major:minor inode   path" */
static bool parse_line(char *line, struct process_mapping *out)
{
	unsigned int major_number, minor_number;
	char perms[5], *path;
	size_t length;
	int used = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &out->start,
		   &out->end, perms, &out->offset, &major_number, &minor_number, &out->inode, &used) != 7 ||
	    !used || perms[2] != 'x' || !out->inode)
		return false;
	path = line + used;
	path[strcspn(path, "\n")] = 0;
	length = strlen(path);
	if (path[0] != '/' || length >= sizeof(out->path))
		return false;
	out->device = makedev(major_number, minor_number);
	out->deleted = length > sizeof(deleted_mark) - 1 &&
		       !strcmp(path + length - (sizeof(deleted_mark) - 1), deleted_mark);
	if (out->deleted)
		path[length - (sizeof(deleted_mark) - 1)] = 0;
	strcpy(out->path, path);
	unescape(out->path);
	return true;
}

int process_maps__each(pid_t pid, process_mapping_fn each, void *ctx)
{
	struct process_mapping mapping;
	char name[64], *line = NULL;
	size_t capacity = 0;
	unsigned int lines = 0;
	FILE *file;
	int result = 0;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	file = fopen(name, "re");
	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	errno = 0;
	while (!result && lines++ < MAX_LINES && getline(&line, &capacity, file) > 0) {
		if (parse_line(line, &mapping))
			result = each(ctx, &mapping);
		errno = 0;
	}
	/* A process without memory has ended or is a kernel thread. */
	if (!result && (lines <= 1 || ferror(file)))
		result = errno && errno != ESRCH ? -errno : -ESRCH;
	free(line);
	fclose(file);
	return result;
}

enum trust {
	BY_PROCESS, /* the path is that of the process */
	BY_KERNEL,  /* the kernel itself leads to the mapped file by this path */
	BY_NAME,    /* the path is where such a file was */
};

/* A path may lead anywhere by now, and opening a device could have effects. */
static int open_regular(const char *path, struct stat *st)
{
	int at = open(path, O_PATH | O_CLOEXEC), fd;
	char name[32];

	if (at < 0)
		return -errno;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", at);
	if (fstat(at, st) != 0)
		fd = -errno;
	else if (!S_ISREG(st->st_mode))
		fd = -ESTALE;
	else
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd == -1)
		fd = -errno;
	close(at);
	return fd;
}

static int open_if_same(const char *path, const struct process_mapping *mapping, enum trust trust)
{
	struct stat st;
	int fd = open_regular(path, &st);
	bool same;

	if (fd < 0)
		return fd;
	same = st.st_ino == mapping->inode;
	/*
	 * Some file systems show different device numbers in maps and stat. A wrong file of the process'
	 * user does no harm if everybody may read it.
	 */
	if (trust != BY_KERNEL && st.st_dev != mapping->device)
		same &= trust == BY_PROCESS && st.st_mode & S_IROTH;
	if (same)
		return fd;
	close(fd);
	return -ESTALE;
}

int process_maps__open(pid_t pid, const struct process_mapping *mapping, char *opened, size_t size)
{
	char path[4160];
	int fd = -ESTALE;

	if (pid && !mapping->deleted) {
		snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, mapping->path);
		fd = open_if_same(path, mapping, BY_PROCESS);
	}
	if (fd < 0 && pid) {
		/* Reaches files without a name, too. Needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE. */
		snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
			 mapping->start, mapping->end);
		fd = open_if_same(path, mapping, BY_KERNEL);
	}
	if (fd < 0 && !mapping->deleted) {
		snprintf(path, sizeof(path), "%s", mapping->path);
		fd = open_if_same(path, mapping, BY_NAME);
	}
	if (fd >= 0 && opened)
		snprintf(opened, size, "%s", path);
	return fd;
}
