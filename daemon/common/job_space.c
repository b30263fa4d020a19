// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/job_space.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
/* graind itself puts three files there and no directory. */
#define MAX_ENTRIES 4096
#define MAX_DEPTH 8
/* Of what a user has put there: more is removed the next time. */
#define MAX_MOVES 100000

/* A stream on a descriptor of its own, at the beginning. */
static DIR *open_stream(int dirfd)
{
	int fd = openat(dirfd, ".", DIR_FLAGS);
	DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;

	if (fd >= 0 && !stream)
		close(fd);
	return stream;
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

static bool add_bytes(int dirfd, unsigned int depth, size_t *entries, uint64_t *bytes)
{
	DIR *stream = depth < MAX_DEPTH ? open_stream(dirfd) : NULL;
	struct dirent *entry;
	bool all = stream != NULL;

	while (all && (entry = readdir(stream))) {
		struct stat st;

		if (is_dots(entry->d_name))
			continue;
		if (++*entries > MAX_ENTRIES) {
			all = false;
		} else if (fstatat(dirfd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
			int fd = S_ISDIR(st.st_mode) ? openat(dirfd, entry->d_name, DIR_FLAGS) : -1;

			*bytes += (uint64_t)st.st_blocks * 512;
			if (fd >= 0) {
				all = add_bytes(fd, depth + 1, entries, bytes);
				close(fd);
			}
		}
	}
	if (stream)
		closedir(stream);
	return all;
}

uint64_t job_space__bytes(int dirfd)
{
	size_t entries = 0;
	uint64_t bytes = 0;

	return add_bytes(dirfd, 0, &entries, &bytes) ? bytes : JOB_SPACE_BOUNDLESS;
}

/* Without CAP_DAC_OVERRIDE nothing can be taken out of a directory that is somebody else's. */
static int take_over(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || (st.st_uid != geteuid() && fchown(fd, geteuid(), (gid_t)-1) != 0) ||
	    fchmod(fd, 0700) != 0)
		return -errno;
	return 0;
}

/* Directories in a directory move up beside it, so that depth needs no room. */
static int flatten(int top, const char *name, uint64_t *moves)
{
	int fd = openat(top, name, DIR_FLAGS), error = fd < 0 ? -errno : take_over(fd);
	DIR *stream = error ? NULL : open_stream(fd);
	struct dirent *entry;

	if (!error && !stream)
		error = -errno;
	while (!error && (entry = readdir(stream))) {
		char moved[64];
		int inner;

		if (is_dots(entry->d_name) || unlinkat(fd, entry->d_name, 0) == 0)
			continue;
		/* A directory that gets another parent must be ours, too. */
		inner = openat(fd, entry->d_name, DIR_FLAGS);
		error = inner < 0 ? -errno : take_over(inner);
		if (inner >= 0)
			close(inner);
		do {
			snprintf(moved, sizeof(moved), ".moved.%" PRIu64, ++*moves);
		} while (!error && faccessat(top, moved, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
		if (!error && *moves > MAX_MOVES)
			error = -E2BIG;
		if (!error && renameat(fd, entry->d_name, top, moved) != 0)
			error = -errno;
	}
	if (stream)
		closedir(stream);
	if (fd >= 0)
		close(fd);
	if (!error && unlinkat(top, name, AT_REMOVEDIR) != 0)
		error = -errno;
	return error;
}

int job_space__empty(int dirfd)
{
	int error = take_over(dirfd);
	uint64_t moves = 0;
	bool again = true;

	while (!error && again) {
		DIR *stream = open_stream(dirfd);
		struct dirent *entry;

		if (!stream)
			return -errno;
		again = false;
		while (!error && (entry = readdir(stream))) {
			if (is_dots(entry->d_name))
				continue;
			again = true;
			if (unlinkat(dirfd, entry->d_name, 0) != 0)
				error = errno == EISDIR || errno == EPERM
						? flatten(dirfd, entry->d_name, &moves)
						: -errno;
		}
		closedir(stream);
	}
	return error;
}
