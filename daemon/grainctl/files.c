/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct output_file {
	FILE *stream;
	char *name;	 /* the final one */
	char *temporary; /* NULL when written in place */
};

/* What a signal removes; complete before its flag is set. */
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

int output_file__open(const char *path, struct output_file **out)
{
	struct output_file *file = calloc(1, sizeof(*file));
	struct stat status;
	bool exists;
	int error;

	if (!file)
		return -ENOMEM;
	if (!strcmp(path, "-")) {
		file->stream = stdout;
		*out = file;
		return 0;
	}
	exists = stat(path, &status) == 0;
	error = exists && S_ISDIR(status.st_mode) ? -EISDIR : 0;
	/* Through a symbolic link, so that the link survives. */
	if (!error)
		file->name = exists ? realpath(path, NULL) : strdup(path);
	if (!error && !file->name)
		error = -errno;
	if (!error && exists && !S_ISREG(status.st_mode)) {
		file->stream = fopen(path, "we");
		error = file->stream ? 0 : -errno;
	} else if (!error) {
		error = make_temporary(file);
	}
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
