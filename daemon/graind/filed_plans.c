// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/filed_plans.h"
#include "daemon/graind/sha256.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY "plans"
#define MAX_TEXT (1u << 20)
#define MAX_FILES 256
#define HEX 64

static int directory = -1;
static char program[HEX + 1]; /* hash of this program: another one may plan otherwise */

static int hash(int fd, char out[HEX + 1])
{
	uint8_t digest[32];
	int error = sha256__file(fd, digest);

	for (int i = 0; !error && i < 32; i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
	return error;
}

int filed_plans__open(const char *state_dir)
{
	int parent = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), self, error;
	struct stat st;

	if (parent < 0)
		return -errno;
	mkdirat(parent, DIRECTORY, 0700);
	directory = openat(parent, DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	error = directory < 0 || fstat(directory, &st) ? -errno : 0;
	close(parent);
	/* What others can write would decide where breakpoints go. */
	if (!error && (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH)))
		error = -EPERM;
	self = error ? -1 : open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (!error)
		error = self < 0 ? -errno : hash(self, program);
	if (self >= 0)
		close(self);
	if (error && directory >= 0) {
		close(directory);
		directory = -1;
	}
	return error;
}

/* The checksum finds damage; nobody else can write here. */
static uint64_t checksum(const char *text)
{
	uint64_t sum = 0xcbf29ce484222325u;

	for (; *text; text++)
		sum = (sum ^ (unsigned char)*text) * 0x100000001b3u;
	return sum;
}

static bool head_matches(const char *text, const char *of, const char **body)
{
	char wanted[3 * HEX];
	const char *end = strchr(text, '\n');

	if (!end)
		return false;
	snprintf(wanted, sizeof(wanted), "plan-of %s by %s sum %016" PRIx64 "\n", of, program,
		 checksum(end + 1));
	*body = end + 1;
	return !strncmp(text, wanted, strlen(wanted));
}

int filed_plans__read(int fd, char **text)
{
	char name[HEX + 1], *buffer;
	const char *body;
	struct stat st;
	ssize_t got;
	int file, error = directory < 0 ? -ENOENT : hash(fd, name);

	if (error)
		return error;
	file = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
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
	if (got < 0 || strlen(buffer) != (size_t)got || !head_matches(buffer, name, &body)) {
		free(buffer);
		return -ENOENT;
	}
	memmove(buffer, body, strlen(body) + 1);
	*text = buffer;
	return 0;
}

/* There are few runtimes; a directory that grows is emptied. */
static void bound_number(void)
{
	DIR *list = fdopendir(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *entry;
	size_t count = 0;

	while (list && (entry = readdir(list)))
		if (entry->d_name[0] != '.' && ++count >= MAX_FILES)
			unlinkat(directory, entry->d_name, 0);
	if (list)
		closedir(list);
}

void filed_plans__write(int fd, const char *text)
{
	char name[HEX + 1], temporary[HEX + 32];
	FILE *out;
	int file;

	if (directory < 0 || strlen(text) > MAX_TEXT - 512 || hash(fd, name))
		return;
	bound_number();
	snprintf(temporary, sizeof(temporary), ".%d-%s", (int)getpid(), name);
	file = openat(directory, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	out = file < 0 ? NULL : fdopen(file, "w");
	if (!out) {
		if (file >= 0)
			close(file);
		return;
	}
	fprintf(out, "plan-of %s by %s sum %016" PRIx64 "\n%s", name, program, checksum(text), text);
	if (fclose(out) || renameat(directory, temporary, directory, name))
		unlinkat(directory, temporary, 0);
}
