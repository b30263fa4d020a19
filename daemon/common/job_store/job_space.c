// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/job_store/job_space.h"

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
/* graind itself puts three files and no directory into a job's directory. */
#define MAX_ENTRIES 4096
#define MAX_DEPTH 8

/* Opens a directory stream with its own descriptor and position, at the beginning. */
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

uint64_t job_space__add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static void add_bytes(int dirfd, unsigned int depth, size_t *entries, uint64_t *bytes)
{
	DIR *stream = depth < MAX_DEPTH ? open_stream(dirfd) : NULL;
	const struct dirent *entry;

	while (stream && *entries < MAX_ENTRIES && (entry = readdir(stream))) {
		struct stat st;
		int fd;

		if (is_dots(entry->d_name))
			continue;
		++*entries;
		if (fstatat(dirfd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		*bytes = job_space__add(*bytes, (uint64_t)st.st_blocks * 512);
		fd = S_ISDIR(st.st_mode) ? openat(dirfd, entry->d_name, DIR_FLAGS) : -1;
		if (fd >= 0) {
			add_bytes(fd, depth + 1, entries, bytes);
			close(fd);
		}
	}
	if (stream)
		closedir(stream);
}

uint64_t job_space__bytes(int dirfd)
{
	size_t entries = 0;
	uint64_t bytes = 0;

	add_bytes(dirfd, 0, &entries, &bytes);
	return bytes;
}

/*
 * Makes the caller the owner of the directory: without CAP_DAC_OVERRIDE nothing can be removed from another
 * user's directory.
 */
static int take_over(int fd, uid_t owner)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return -errno;
	if (st.st_uid != geteuid() && st.st_uid != owner)
		return -EPERM;
	if ((st.st_uid != geteuid() && fchown(fd, geteuid(), (gid_t)-1) != 0) || fchmod(fd, 0700) != 0)
		return -errno;
	return 0;
}

static int step(size_t *steps)
{
	if (!*steps)
		return -EAGAIN;
	--*steps;
	return 0;
}

/*
 * Moves a directory from `from` to `top`, under a free name. Only the owner of a directory may change its
 * parent.
 */
static int move_up(int from, const char *name, int top, uid_t owner, uint64_t *moves)
{
	int fd = openat(from, name, DIR_FLAGS), error = fd < 0 ? -errno : take_over(fd, owner);
	char moved[64];

	if (fd >= 0)
		close(fd);
	if (error)
		return error;
	do {
		snprintf(moved, sizeof(moved), ".moved.%" PRIu64, ++*moves);
	} while (faccessat(top, moved, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
	if (renameat(from, name, top, moved) != 0)
		error = -errno;
	return error;
}

/*
 * Moves subdirectories up beside their directory, so that the memory needed does not grow with the depth.
 */
static int flatten(int top, const char *name, uid_t owner, uint64_t *moves, size_t *steps)
{
	int fd = openat(top, name, DIR_FLAGS), error = fd < 0 ? -errno : take_over(fd, owner), kept = 0;
	DIR *stream = error ? NULL : open_stream(fd);
	const struct dirent *entry;

	if (!error && !stream)
		error = -errno;
	while (!error && (entry = readdir(stream))) {
		if (is_dots(entry->d_name))
			continue;
		error = step(steps);
		if (error || unlinkat(fd, entry->d_name, 0) == 0 ||
		    unlinkat(fd, entry->d_name, AT_REMOVEDIR) == 0)
			continue;
		if (move_up(fd, entry->d_name, top, owner, moves) != 0)
			kept = -EPERM;
	}
	if (stream)
		closedir(stream);
	if (fd >= 0)
		close(fd);
	if (!error)
		error = kept;
	if (!error && unlinkat(top, name, AT_REMOVEDIR) != 0)
		error = -errno;
	return error;
}

/* Removes an entry. Also returns 0 when the entry stays but its content has been moved up. */
static int remove_entry(int dirfd, const char *name, uid_t owner, uint64_t *moves, size_t *steps)
{
	uint64_t before = *moves;
	int error = step(steps);

	if (error || unlinkat(dirfd, name, 0) == 0 || unlinkat(dirfd, name, AT_REMOVEDIR) == 0)
		return error;
	error = flatten(dirfd, name, owner, moves, steps);
	return error != -EAGAIN && *moves != before ? 0 : error;
}

int job_space__empty(int dirfd, uid_t owner, size_t *steps)
{
	int error = take_over(dirfd, owner), kept = 0;
	uint64_t moves = 0;
	bool removed = true;

	/*
	 * Repeats until a pass removes nothing: the next pass finds entries that were moved up or skipped.
	 */
	while (!error && removed) {
		DIR *stream = open_stream(dirfd);
		const struct dirent *entry;

		if (!stream)
			return -errno;
		removed = false;
		kept = 0;
		while (error != -EAGAIN && (entry = readdir(stream))) {
			if (is_dots(entry->d_name))
				continue;
			error = remove_entry(dirfd, entry->d_name, owner, &moves, steps);
			removed |= !error;
			kept = error ? error : kept;
		}
		closedir(stream);
		error = error == -EAGAIN ? error : 0;
	}
	return error ? error : kept;
}
