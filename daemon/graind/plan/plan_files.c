// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/plan/plan_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define DIRECTORY "plans"
#define MAX_TEXT (1u << 20)
#define MAX_FILES 256
#define NAME_BYTES 48
#define IDENTITY_BYTES 160

/* Set before there are other threads. */
static struct {
	int directory;		      /* directory of the plans; -1: plans are not kept in files */
	char program[IDENTITY_BYTES]; /* identity of this program: another version may make different plans */
} files = {.directory = -1};

static void name_identity(const struct file_identity *file, char out[IDENTITY_BYTES])
{
	snprintf(out, IDENTITY_BYTES,
		 "%" PRIx64 "-%" PRIx64 "-%" PRIx64 "-%" PRIx64 ".%" PRIx64 "-%" PRIx64 ".%" PRIx64,
		 file->device, file->inode, file->size, (uint64_t)file->modified_s,
		 (uint64_t)file->modified_ns, (uint64_t)file->changed_s, (uint64_t)file->changed_ns);
}

/* Makes one name for each device and inode. So the plan of a replaced file is overwritten. */
static void name_file(const struct file_identity *file, char out[NAME_BYTES])
{
	snprintf(out, NAME_BYTES, "%" PRIx64 "-%" PRIx64, file->device, file->inode);
}

int plan_files__open(const char *state_dir)
{
	int parent = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error;
	struct file_identity self;
	struct stat st;

	if (parent < 0)
		return -errno;
	mkdirat(parent, DIRECTORY, 0700);
	files.directory = openat(parent, DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	error = files.directory < 0 || fstat(files.directory, &st) ? -errno : 0;
	close(parent);
	/* A user who can write in the directory decides where breakpoints are set. */
	if (!error && (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH)))
		error = -EPERM;
	if (!error && stat("/proc/self/exe", &st) != 0)
		error = -errno;
	if (!error) {
		self = file_identity__of(&st);
		name_identity(&self, files.program);
	}
	if (error && files.directory >= 0) {
		close(files.directory);
		files.directory = -1;
	}
	return error;
}

/* The checksum only has to find damage, as no other user can write here. */
static unsigned long checksum(const char *text)
{
	return crc32_z(0, (const Bytef *)text, strlen(text));
}

static void write_head(const struct file_identity *file, const char *body, char out[3 * IDENTITY_BYTES])
{
	char identity[IDENTITY_BYTES];

	name_identity(file, identity);
	snprintf(out, 3 * IDENTITY_BYTES, "plan-of %s by %s sum %08lx\n", identity, files.program,
		 checksum(body));
}

static bool head_matches(const char *text, const struct file_identity *file, const char **body)
{
	char wanted[3 * IDENTITY_BYTES];
	const char *end = strchr(text, '\n');

	if (!end)
		return false;
	*body = end + 1;
	write_head(file, *body, wanted);
	return !strncmp(text, wanted, strlen(wanted));
}

int plan_files__read(const struct file_identity *of, char **text)
{
	char name[NAME_BYTES], *buffer;
	const char *body;
	struct stat st;
	ssize_t got;
	int file;

	if (files.directory < 0)
		return -ENOENT;
	name_file(of, name);
	file = openat(files.directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file < 0)
		return -ENOENT;
	buffer = malloc(MAX_TEXT + 1);
	got = -1;
	if (buffer && fstat(file, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    st.st_size <= MAX_TEXT)
		got = pread(file, buffer, MAX_TEXT, 0);
	close(file);
	if (got >= 0)
		buffer[got] = 0;
	if (got < 0 || strlen(buffer) != (size_t)got || !head_matches(buffer, of, &body)) {
		free(buffer);
		return -ENOENT;
	}
	memmove(buffer, body, strlen(body) + 1);
	*text = buffer;
	return 0;
}

/* There are only a few runtimes, so a directory with many plans is emptied. */
static void bound_number(void)
{
	DIR *list = fdopendir(openat(files.directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *entry;
	size_t count = 0;

	while (list && (entry = readdir(list)))
		if (entry->d_name[0] != '.' && ++count >= MAX_FILES)
			unlinkat(files.directory, entry->d_name, 0);
	if (list)
		closedir(list);
}

void plan_files__write(const struct file_identity *of, const char *text)
{
	char name[NAME_BYTES], temporary[NAME_BYTES + 16], head[3 * IDENTITY_BYTES];
	FILE *out;
	int file;

	if (files.directory < 0 || strlen(text) > MAX_TEXT - sizeof(head))
		return;
	bound_number();
	name_file(of, name);
	write_head(of, text, head);
	snprintf(temporary, sizeof(temporary), ".%d-%s", (int)getpid(), name);
	file = openat(files.directory, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		      0600);
	out = file < 0 ? NULL : fdopen(file, "w");
	if (!out) {
		if (file >= 0)
			close(file);
		return;
	}
	fprintf(out, "%s%s", head, text);
	if (fclose(out) || renameat(files.directory, temporary, files.directory, name))
		unlinkat(files.directory, temporary, 0);
}

void plan_files__drop(const struct file_identity *of)
{
	char name[NAME_BYTES];

	name_file(of, name);
	if (files.directory >= 0)
		unlinkat(files.directory, name, 0);
}
