/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/output_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEEPEST 16

struct output_directory {
	char *name, *temporary;
	pid_t remover; /* -1: none */
	int end;       /* the remover acts when this closes without a word */
};

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status;
	(void)kind;
	(void)where;
	return remove(path) && errno != ENOENT ? -1 : 0;
}

static void remove_tree(const char *path)
{
	nftw(path, remove_one, DEEPEST, FTW_DEPTH | FTW_PHYS);
}

/*
 * A tree cannot be removed in a signal handler. A process of its own outlives
 * whatever ends this one and removes the tree unless it was told that all is
 * done.
 */
static void start_remover(struct output_directory *directory, const sigset_t *usual)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	fflush(NULL);
	directory->remover = fork();
	if (directory->remover == 0) {
		char word;

		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		sigprocmask(SIG_SETMASK, usual, NULL);
		close(ends[1]);
		if (read(ends[0], &word, 1) == 0)
			remove_tree(directory->temporary);
		_exit(0);
	}
	close(ends[0]);
	if (directory->remover < 0)
		close(ends[1]);
	else
		directory->end = ends[1];
}

/* done: nothing is to be removed. */
static void end_remover(struct output_directory *directory, bool done)
{
	if (directory->remover < 0)
		return;
	if (done && write(directory->end, "", 1) != 1)
		kill(directory->remover, SIGKILL);
	close(directory->end);
	waitpid(directory->remover, NULL, 0);
	directory->remover = -1;
}

static void release(struct output_directory *directory)
{
	free(directory->name);
	free(directory->temporary);
	free(directory);
}

static int make_temporary(struct output_directory *directory)
{
	const char *slash = strrchr(directory->name, '/');
	int parent = slash ? (int)(slash - directory->name) + 1 : 0;
	mode_t mask;

	if (asprintf(&directory->temporary, "%.*s.%.200s.XXXXXX", parent, directory->name,
		     directory->name + parent) < 0) {
		directory->temporary = NULL;
		return -ENOMEM;
	}
	if (!mkdtemp(directory->temporary))
		return -errno;
	mask = umask(0);
	umask(mask);
	if (chmod(directory->temporary, 0777 & ~mask) < 0) {
		int error = -errno;

		rmdir(directory->temporary);
		return error;
	}
	return 0;
}

int output_directory__create(const char *path, struct output_directory **out)
{
	struct output_directory *directory = calloc(1, sizeof(*directory));
	sigset_t ending, usual;
	struct stat status;
	size_t length;
	int error = 0;

	if (!directory)
		return -ENOMEM;
	directory->name = strdup(path);
	if (!directory->name)
		error = -ENOMEM;
	for (length = error ? 0 : strlen(path); length > 1 && path[length - 1] == '/'; length--)
		directory->name[length - 1] = '\0';
	if (!error && lstat(directory->name, &status) == 0)
		error = -EEXIST;
	directory->remover = -1;
	/* Not between its making and the remover's. */
	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGHUP);
	sigprocmask(SIG_BLOCK, &ending, &usual);
	if (!error)
		error = make_temporary(directory);
	if (!error)
		start_remover(directory, &usual);
	sigprocmask(SIG_SETMASK, &usual, NULL);
	if (error) {
		release(directory);
		return error;
	}
	*out = directory;
	return 0;
}

const char *output_directory__path(const struct output_directory *directory)
{
	return directory->temporary;
}

int output_directory__commit(struct output_directory *directory)
{
	if (rename(directory->temporary, directory->name) < 0) {
		int error = errno == ENOTEMPTY || errno == ENOTDIR ? -EEXIST : -errno;

		output_directory__discard(directory);
		return error;
	}
	end_remover(directory, true);
	release(directory);
	return 0;
}

void output_directory__discard(struct output_directory *directory)
{
	if (!directory)
		return;
	end_remover(directory, true);
	remove_tree(directory->temporary);
	release(directory);
}
