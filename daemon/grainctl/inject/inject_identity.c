/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/inject/inject_identity.h"
#include "daemon/common/process/process_status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The auxiliary vector contains random addresses that the kernel chose at the exec of the program. */
#define AUXILIARY_MAX 4096
#define THREADS_MAX 4096

static const char *const spaces[] = {"user", "mnt", "pid"};
#define SPACES (sizeof(spaces) / sizeof(spaces[0]))

struct inject_identity {
	pid_t pid;
	char *status;
	unsigned char auxiliary[AUXILIARY_MAX];
	size_t size;
	ino_t in[SPACES];
};

static size_t read_auxiliary(pid_t pid, unsigned char to[AUXILIARY_MAX])
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, to, AUXILIARY_MAX);
	if (fd >= 0)
		close(fd);
	return got < 0 ? 0 : (size_t)got;
}

static void read_spaces(pid_t pid, pid_t tid, ino_t to[SPACES])
{
	for (size_t i = 0; i < SPACES; i++) {
		char path[80];
		struct stat status;

		snprintf(path, sizeof(path), "/proc/%d/task/%d/ns/%s", (int)pid, (int)tid, spaces[i]);
		to[i] = stat(path, &status) == 0 ? status.st_ino : 0;
	}
}

struct inject_identity *inject_identity__read(pid_t pid)
{
	struct inject_identity *identity = calloc(1, sizeof(*identity));

	if (!identity)
		return NULL;
	identity->pid = pid;
	identity->status = process_status__read(pid, pid);
	identity->size = read_auxiliary(pid, identity->auxiliary);
	read_spaces(pid, pid, identity->in);
	if (identity->status && identity->size)
		return identity;
	inject_identity__free(identity);
	return NULL;
}

void inject_identity__free(struct inject_identity *identity)
{
	if (!identity)
		return;
	free(identity->status);
	free(identity);
}

static bool is_same(const struct inject_identity *identity, pid_t tid, const char *status)
{
	static const char *const fields[] = {"Tgid", "Uid", "Gid", "Groups", "CapPrm", "CapEff"};
	unsigned char auxiliary[AUXILIARY_MAX];
	ino_t in[SPACES];

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!process_status__same(identity->status, status, fields[i]))
			return false;
	read_spaces(identity->pid, tid, in);
	return read_auxiliary(identity->pid, auxiliary) == identity->size &&
	       !memcmp(auxiliary, identity->auxiliary, identity->size) &&
	       !memcmp(in, identity->in, sizeof(in));
}

/*
 * Whether the target has filters of its own. In a container all processes have the container's filters.
 * This process has them, too, and they allow its system calls. Further filters of the target are its own.
 */
static bool has_own_filter(const char *status)
{
	char *own = process_status__read(getpid(), getpid());
	bool more = process_status__filters(status) > (own ? process_status__filters(own) : 0);

	free(own);
	return more;
}

static const char *judge(const char *status)
{
	if (has_own_filter(status))
		return "has a filter of system calls (seccomp), which may kill it for those that loading a "
		       "library takes";
	if (process_status__has_shadow_stack(status))
		return "has a shadow stack, which knows nothing of a call from outside: the processor would "
		       "have it killed";
	return NULL;
}

int inject_identity__check(const struct inject_identity *identity, pid_t tid, const char **unfit)
{
	char *status = process_status__read(identity->pid, tid);
	bool same = status && is_same(identity, tid, status);

	*unfit = same ? judge(status) : NULL;
	free(status);
	if (!status)
		return -ESRCH;
	if (!same)
		return -ESTALE;
	return *unfit ? -EPROTO : 0;
}

const char *inject_identity__unfit(pid_t pid)
{
	const char *reason = NULL;
	struct dirent *entry;
	char path[64];
	DIR *directory;
	int left = THREADS_MAX;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	directory = opendir(path);
	while (!reason && directory && left-- > 0 && (entry = readdir(directory))) {
		pid_t tid = atoi(entry->d_name);
		char *status = tid > 0 ? process_status__read(pid, tid) : NULL;

		if (status)
			reason = judge(status);
		free(status);
	}
	if (directory)
		closedir(directory);
	return reason;
}
