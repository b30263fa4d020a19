// SPDX-License-Identifier: BSD-2-Clause
/* The files in a job's directory. */
#include "daemon/common/job_store/job_store.h"
#include "daemon/common/process/read_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPARE_FILE "." JOB_FILE ".spare"
#define SPARE_BYTES (16 << 10)

int job_store__read_object(int dirfd, json_t **out)
{
	char *text = NULL;
	size_t used = 0;
	json_t *json = NULL;
	int fd, error = job_store__open_file(dirfd, JOB_FILE, &fd);

	if (error)
		return error;
	text = malloc(JOB_JSON_MAX);
	if (!text)
		error = -ENOMEM;
	if (!error)
		error = read_all(fd, text, JOB_JSON_MAX, &used);
	close(fd);
	if (!error && used == JOB_JSON_MAX)
		error = -EBADMSG;
	if (!error)
		json = json_loadb(text, used, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	if (!error && !json_is_object(json)) {
		json_decref(json);
		error = -EBADMSG;
	}
	if (!error)
		*out = json;
	return error;
}

static int write_all(int fd, const char *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t put = write(fd, data + done, size - done);

		if (put < 0 && errno != EINTR)
			return -errno;
		if (put > 0)
			done += (size_t)put;
	}
	return 0;
}

int job_store__write_file(int dirfd, const char *name, const void *data, size_t size)
{
	char temporary[64];
	int fd, error;

	if (snprintf(temporary, sizeof(temporary), ".%s.new", name) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	unlinkat(dirfd, temporary, 0);
	fd = openat(dirfd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	error = write_all(fd, data, size);
	if (close(fd) != 0 && !error)
		error = -errno;
	if (!error && renameat(dirfd, temporary, dirfd, name) != 0)
		error = -errno;
	if (error)
		unlinkat(dirfd, temporary, 0);
	return error;
}

int job_store__write(int dirfd, const json_t *job)
{
	char *text = json_dumps(job, JSON_COMPACT | JSON_REAL_PRECISION(9));
	int error;

	if (!text)
		return -ENOMEM;
	error = job_store__write_file(dirfd, JOB_FILE, text, strlen(text));
	free(text);
	return error;
}

int job_store__reserve(int dirfd)
{
	int fd = openat(dirfd, SPARE_FILE, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), error;

	if (fd < 0)
		return errno == EEXIST ? 0 : -errno;
	error = -posix_fallocate(fd, 0, SPARE_BYTES);
	close(fd);
	if (error)
		unlinkat(dirfd, SPARE_FILE, 0);
	return error;
}

/*
 * Overwrites the spare file in place, as its blocks are already allocated. The spare file stays if this
 * fails.
 */
static int write_into_spare(int dirfd, const char *text, size_t size)
{
	int fd = openat(dirfd, SPARE_FILE, O_WRONLY | O_NOFOLLOW | O_CLOEXEC), error;

	if (fd < 0)
		return -errno;
	error = write_all(fd, text, size);
	if (!error && ftruncate(fd, (off_t)size) != 0)
		error = -errno;
	if (close(fd) != 0 && !error)
		error = -errno;
	if (!error && renameat(dirfd, SPARE_FILE, dirfd, JOB_FILE) != 0)
		error = -errno;
	return error;
}

int job_store__write_last(int dirfd, const json_t *job)
{
	char *text = json_dumps(job, JSON_COMPACT | JSON_REAL_PRECISION(9));
	int error;

	if (!text)
		return -ENOMEM;
	error = job_store__write_file(dirfd, JOB_FILE, text, strlen(text));
	if (error && write_into_spare(dirfd, text, strlen(text)) == 0)
		error = 0;
	if (!error)
		unlinkat(dirfd, SPARE_FILE, 0);
	free(text);
	return error;
}

int job_store__open_file(int dirfd, const char *name, int *out)
{
	int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st, directory;
	int error = 0;

	if (fd < 0)
		return errno == ELOOP ? -EBADMSG : -errno;
	if (fstat(fd, &st) != 0 || fstat(dirfd, &directory) != 0)
		error = -errno;
	else if (!S_ISREG(st.st_mode))
		error = -EBADMSG;
	/* A user may have made a hard link to another user's file here, to make us read that file. */
	else if (directory.st_uid != geteuid() && (st.st_uid != directory.st_uid || st.st_nlink != 1))
		error = -EBADMSG;
	if (error)
		close(fd);
	else
		*out = fd;
	return error;
}
