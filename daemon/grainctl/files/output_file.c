/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/files/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40

struct output_file {
	FILE *stream;
	char *name;	 /* its final name */
	char *temporary; /* NULL: it is written in place */
};

/* Files that a signal handler removes. An entry is complete before its flag is set. */
static struct {
	char path[PATH_MAX];
	volatile sig_atomic_t set;
} doomed;

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

static void on_signal(int number)
{
	if (doomed.set)
		unlink(doomed.path);
	signal(number, SIG_DFL);
	raise(number);
}

static void doom(const char *path)
{
	struct sigaction action = {.sa_handler = on_signal};

	snprintf(doomed.path, sizeof(doomed.path), "%s", path);
	doomed.set = 1;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction old;

		if (!sigaction(signals[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
	}
}

void output_files__disown(void)
{
	doomed.set = 0;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction now;

		if (!sigaction(signals[i], NULL, &now) && now.sa_handler == on_signal)
			signal(signals[i], SIG_DFL);
	}
}

static int make_temporary(struct output_file *file)
{
	const char *slash = strrchr(file->name, '/');
	int directory = slash ? (int)(slash - file->name) + 1 : 0;
	mode_t mask;
	int fd;

	if (asprintf(&file->temporary, "%.*s.%.200s.XXXXXX", directory, file->name, file->name + directory) <
	    0) {
		file->temporary = NULL;
		return -ENOMEM;
	}
	if (strlen(file->temporary) >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = mkostemp(file->temporary, O_CLOEXEC);
	if (fd < 0) {
		int error = -errno;

		free(file->temporary);
		file->temporary = NULL;
		return error;
	}
	doom(file->temporary);
	mask = umask(0);
	umask(mask);
	if (fchmod(fd, 0666 & ~mask) < 0 || !(file->stream = fdopen(fd, "w"))) {
		int error = -errno;

		close(fd);
		return error;
	}
	return 0;
}

static bool is_ours(const struct stat *status)
{
	return status->st_uid == 0 || status->st_uid == geteuid();
}

/* Returns the target of the link at `path`, which the caller frees; NULL with errno set. */
static char *read_link(const char *path)
{
	const char *slash = strrchr(path, '/');
	char target[PATH_MAX], *whole;
	ssize_t length = readlink(path, target, sizeof(target) - 1);

	if (length < 0)
		return NULL;
	target[length] = '\0';
	if (*target == '/' || !slash)
		return strdup(target);
	return asprintf(&whole, "%.*s%s", (int)(slash - path) + 1, path, target) < 0 ? NULL : whole;
}

/*
 * Finds where to write. Follows symbolic links, so that they survive, but not links that another user has
 * made. *found: the target exists, and *status describes it. 0 or a negative errno.
 */
static int follow_links(const char *path, char **name, struct stat *status, bool *found)
{
	char *at = strdup(path);

	for (int links = 0; at; links++) {
		struct stat link;
		char *next;

		*found = lstat(at, &link) == 0;
		*status = link;
		*name = at;
		if (!*found || !S_ISLNK(link.st_mode) || !is_ours(&link))
			return 0;
		if (links == LINKS_MAX) {
			free(at);
			return -ELOOP;
		}
		next = read_link(at);
		/* This is a link to an open file, such as /dev/stdout. */
		if (next && lstat(next, &link) != 0 && stat(at, status) == 0) {
			free(next);
			return 0;
		}
		free(at);
		at = next;
	}
	return -ENOMEM;
}

/* Opens a device, or a pipe that belongs to the caller. 0 or a negative errno. */
static int open_in_place(struct output_file *file, const struct stat *status)
{
	struct stat now;
	int fd;

	if (S_ISFIFO(status->st_mode) && !is_ours(status) && lstat(file->name, &now) == 0 &&
	    !S_ISLNK(now.st_mode))
		return -EPERM;
	fd = open(file->name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &now) == 0 && now.st_ino == status->st_ino && now.st_dev == status->st_dev &&
	    (file->stream = fdopen(fd, "w")))
		return 0;
	close(fd);
	return -EPERM;
}

int output_file__open(const char *path, struct output_file **out)
{
	struct output_file *file = calloc(1, sizeof(*file));
	struct stat status;
	bool found = false;
	int error;

	if (!file)
		return -ENOMEM;
	if (!strcmp(path, "-")) {
		file->stream = stdout;
		*out = file;
		return 0;
	}
	error = follow_links(path, &file->name, &status, &found);
	if (!error && found && S_ISDIR(status.st_mode))
		error = -EISDIR;
	if (!error && found && !S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))
		error = open_in_place(file, &status);
	else if (!error)
		error = make_temporary(file);
	if (error) {
		output_file__discard(file);
		return error;
	}
	*out = file;
	return 0;
}

FILE *output_file__stream(struct output_file *file)
{
	return file->stream;
}

static int finish_stream(FILE *stream)
{
	int error = 0;

	errno = 0;
	if (fflush(stream) || ferror(stream))
		error = errno ? -errno : -EIO;
	if (stream != stdout && fclose(stream) && !error)
		error = -errno;
	return error;
}

int output_file__commit(struct output_file *file)
{
	int error = finish_stream(file->stream);

	file->stream = NULL;
	if (!error && file->temporary) {
		if (rename(file->temporary, file->name) < 0) {
			error = -errno;
		} else {
			doomed.set = 0;
			free(file->temporary);
			file->temporary = NULL;
		}
	}
	output_file__discard(file);
	return error;
}

void output_file__discard(struct output_file *file)
{
	if (!file)
		return;
	if (file->stream && file->stream != stdout)
		fclose(file->stream);
	if (file->temporary) {
		unlink(file->temporary);
		doomed.set = 0;
	}
	free(file->temporary);
	free(file->name);
	free(file);
}

int scratch_file__create(FILE **out)
{
	const char *directory = getenv("TMPDIR");
	char path[PATH_MAX];
	FILE *stream;
	int fd, error;

	if (!directory || !*directory)
		directory = "/tmp";
	if (snprintf(path, sizeof(path), "%s/grainctl.XXXXXX", directory) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	stream = fdopen(fd, "w");
	if (!stream) {
		error = -errno;
		close(fd);
		return error;
	}
	*out = stream;
	return 0;
}
