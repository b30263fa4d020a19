// SPDX-License-Identifier: BSD-2-Clause
/*
 * The summary on standard input is written where the job's user may write, with that
 * user's rights: where links lead does not matter to others. What is not that user's
 * own is not written into all the same, as somebody else would read it there.
 * Says on standard output why it could not, nothing when it could.
 */
#include "daemon/common/job_store.h"
#include "daemon/graind/deliver.h"
#include "daemon/graind/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static int read_all(char **out, size_t *size)
{
	struct stat st;
	size_t used = 0;
	char *text;

	if (fstat(STDIN_FILENO, &st) != 0)
		return -errno;
	if (st.st_size < 0 || st.st_size > (off_t)DELIVER_MAX)
		return -EFBIG;
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return -ENOMEM;
	while (used < (size_t)st.st_size) {
		ssize_t got = read(STDIN_FILENO, text + used, (size_t)st.st_size - used);

		if (got == 0)
			break;
		if (got < 0 && errno != EINTR) {
			int error = -errno;

			free(text);
			return error;
		}
		if (got > 0)
			used += (size_t)got;
	}
	*out = text;
	*size = used;
	return 0;
}

/* Only the last directory is made. */
static int open_directory(int at, const char *path)
{
	int fd;

	if (mkdirat(at, path, 0700) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
		return -errno;
	fd = openat(at, path, DIRECTORY_FLAGS);
	return fd < 0 ? -errno : fd;
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
	char *text = NULL;
	size_t size = 0;

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
	error = read_all(&text, &size);
	if (!error)
		error = job_store__write_file(below, name, text, size);
	if (error)
		printf("%s/%s: %s%s", job, name, strerror(-error), advice(error));
	free(text);
	return fflush(stdout) != 0;
}
