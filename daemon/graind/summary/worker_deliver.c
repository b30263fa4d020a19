// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes the file on standard input to a place where the job's user may write, with that user's rights. So
 * links can lead only to places that are the user's business. Files and directories of other users are not
 * written into, because their owners would be able to read the content. Says on standard output why this
 * failed; writes nothing on success.
 */
#include "daemon/graind/summary/deliver.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static int copy(int to)
{
	char bytes[65536];

	for (;;) {
		ssize_t got = read(STDIN_FILENO, bytes, sizeof(bytes));

		if (got == 0)
			return 0;
		if (got < 0 && errno != EINTR)
			return -errno;
		for (ssize_t done = 0; done < got;) {
			ssize_t put = write(to, bytes + done, (size_t)(got - done));

			if (put < 0 && errno != EINTR)
				return -errno;
			done += put > 0 ? put : 0;
		}
	}
}

/* The file gets its name when it is complete. */
static int copy_into(int directory, const char *name)
{
	char temporary[NAME_MAX + 1];
	int fd, error;

	if (snprintf(temporary, sizeof(temporary), ".%s.new", name) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	unlinkat(directory, temporary, 0);
	fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	error = copy(fd);
	/* A file server may report an error only here. */
	if (close(fd) != 0 && !error)
		error = -errno;
	if (!error && renameat(directory, temporary, directory, name) != 0)
		error = -errno;
	if (error)
		unlinkat(directory, temporary, 0);
	return error;
}

/* Makes only the last directory. */
static int open_directory(int at, const char *path)
{
	int error = mkdirat(at, path, 0700) ? -errno : 0, fd = openat(at, path, DIRECTORY_FLAGS);

	if (fd >= 0)
		return fd;
	/* The directory could not be made, so it does not exist. */
	return errno == ENOENT && error ? error : -errno;
}

static const char *advice(int error)
{
	return error == -EROFS ? "; if graind is run by systemd, name it in ReadWritePaths= (graind.conf(5))"
	       : error == -EACCES ? "; the user has to be able to write there"
	       : error == -ENOENT ? "; only the last directory of the path is made"
				  : "";
}

int worker__deliver(const char *directory, const char *job, const char *name)
{
	int top, below, error;
	struct stat st;

	top = open_directory(AT_FDCWD, directory);
	if (top < 0) {
		printf("%s%s", strerror(-top), advice(top));
		return fflush(stdout) != 0;
	}
	below = open_directory(top, job);
	if (below < 0) {
		printf("%s: %s%s", job, strerror(-below), advice(below));
		return fflush(stdout) != 0;
	}
	if (fstat(below, &st) != 0 || st.st_uid != geteuid() || st.st_mode & 022) {
		printf("%s: it is not the user's own, or others may write there", job);
		return fflush(stdout) != 0;
	}
	error = copy_into(below, name);
	if (error)
		printf("%s/%s: %s%s", job, name, strerror(-error), advice(error));
	return fflush(stdout) != 0;
}
