/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/files/output_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEEPEST 16
#define TRIES 100
#define INNER "new"
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct output_directory {
	char *path, *name; /* name: the last part of path */
	char temporary[NAME_MAX + 1];
	int parent, outer, inner;
	pid_t remover; /* -1: none */
	int end;       /* if this closes without a message, the remover removes the tree */
};

typedef int (*entry_fn)(int directory, const char *name);

/*
 * Calls `act` for everything below the directory. For a directory the call comes after the calls for its
 * content. 0 or a negative errno.
 */
static int walk(int directory, int depth, entry_fn act)
{
	int copy = openat(directory, ".", DIR_FLAGS), error = 0;
	DIR *stream = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!stream) {
		error = -errno;
		if (copy >= 0)
			close(copy);
		return error;
	}
	while (!error && (entry = readdir(stream))) {
		const char *name = entry->d_name;
		int below;

		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		below = depth ? openat(directory, name, DIR_FLAGS) : -1;
		if (below >= 0) {
			error = walk(below, depth - 1, act);
			close(below);
		}
		if (!error)
			error = act(directory, name);
	}
	closedir(stream);
	return error;
}

static int remove_entry(int directory, const char *name)
{
	if (unlinkat(directory, name, 0) == 0 || unlinkat(directory, name, AT_REMOVEDIR) == 0)
		return 0;
	return errno == ENOENT ? 0 : -errno;
}

static int take_entry(int directory, const char *name)
{
	return fchownat(directory, name, geteuid(), getegid(), AT_SYMLINK_NOFOLLOW) ? -errno : 0;
}

static void remove_tree(const struct output_directory *directory)
{
	walk(directory->outer, DEEPEST, remove_entry);
	unlinkat(directory->parent, directory->temporary, AT_REMOVEDIR);
}

/*
 * Starts a process, the remover. The remover removes the tree unless it is told that everything is
 * complete. A signal handler cannot remove a tree. The remover also survives any end of the present
 * process.
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
			remove_tree(directory);
		_exit(0);
	}
	close(ends[0]);
	if (directory->remover < 0)
		close(ends[1]);
	else
		directory->end = ends[1];
}

/* Ends the remover. `done`: it removes nothing before. */
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
	const int all[] = {directory->parent, directory->outer, directory->inner};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i] >= 0)
			close(all[i]);
	free(directory->path);
	free(directory);
}

static int open_parent(struct output_directory *directory)
{
	char *slash = strrchr(directory->path, '/');

	directory->name = slash ? slash + 1 : directory->path;
	if (!*directory->name)
		return -EEXIST;
	if (slash)
		*slash = '\0';
	directory->parent = open(!slash			    ? "."
				 : slash == directory->path ? "/"
							    : directory->path,
				 O_PATH | O_DIRECTORY | O_CLOEXEC);
	return directory->parent < 0 ? -errno : 0;
}

/*
 * Opens the outer directory and checks that it belongs to the caller: a user who may write beside it could
 * have replaced it.
 */
static int open_outer(struct output_directory *directory)
{
	struct stat status;

	directory->outer = openat(directory->parent, directory->temporary, DIR_FLAGS);
	if (directory->outer < 0 || fstat(directory->outer, &status) != 0)
		return -errno;
	return status.st_uid == geteuid() && (status.st_mode & 07777) == 0700 ? 0 : -EPERM;
}

static int make_temporary(struct output_directory *directory)
{
	int error = -EEXIST;

	for (int i = 0; i < TRIES && error == -EEXIST; i++) {
		uint32_t word;

		if (getrandom(&word, sizeof(word), 0) != sizeof(word))
			return -EIO;
		snprintf(directory->temporary, sizeof(directory->temporary), ".%.200s.%06x", directory->name,
			 word & 0xffffff);
		error = mkdirat(directory->parent, directory->temporary, 0700) ? -errno : 0;
	}
	if (error)
		return error;
	error = open_outer(directory);
	if (!error && (mkdirat(directory->outer, INNER, 0700) != 0 ||
		       (directory->inner = openat(directory->outer, INNER, DIR_FLAGS)) < 0))
		error = -errno;
	if (error)
		remove_tree(directory);
	return error;
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
	directory->parent = directory->outer = directory->inner = directory->remover = -1;
	directory->path = strdup(path);
	if (!directory->path)
		error = -ENOMEM;
	for (length = error ? 0 : strlen(path); length > 1 && path[length - 1] == '/'; length--)
		directory->path[length - 1] = '\0';
	if (!error)
		error = open_parent(directory);
	if (!error && fstatat(directory->parent, directory->name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		error = -EEXIST;
	/* No signal may end this process between making the directory and starting the remover. */
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

int output_directory__fd(const struct output_directory *directory)
{
	return directory->inner;
}

/* If the caller is root, the user nobody wrote the content. Makes the caller its owner. */
static int take(const struct output_directory *directory)
{
	int error = geteuid() ? 0 : walk(directory->inner, DEEPEST, take_entry);

	if (error || geteuid())
		return error;
	return fchown(directory->inner, geteuid(), getegid()) < 0 ? -errno : 0;
}

static int finish(struct output_directory *directory)
{
	mode_t mask = umask(0);
	int error;

	umask(mask);
	error = take(directory);
	if (!error && (fchmod(directory->inner, 0777 & ~mask) < 0 ||
		       renameat(directory->outer, INNER, directory->parent, directory->name) < 0))
		error = errno == ENOTEMPTY || errno == ENOTDIR ? -EEXIST : -errno;
	return error;
}

int output_directory__commit(struct output_directory *directory)
{
	int error = finish(directory);

	if (error) {
		output_directory__discard(directory);
		return error;
	}
	end_remover(directory, true);
	unlinkat(directory->parent, directory->temporary, AT_REMOVEDIR);
	release(directory);
	return 0;
}

void output_directory__discard(struct output_directory *directory)
{
	if (!directory)
		return;
	end_remover(directory, true);
	remove_tree(directory);
	release(directory);
}
