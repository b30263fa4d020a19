// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/process.h"
#include "daemon/common/defaults.h"
#include "daemon/common/read_all.h"
#include "daemon/graind/cgroup_name.h"

#include "uprobes/process_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENVIRON_MAX (1u << 20)
#define CGROUPS_MAX (64u << 10)
#define THREADS_MAX 65536

static int open_of(pid_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	return fd;
}

/* Reads at most size - 1 bytes and ends them with NUL; the number, or a negative errno. */
static ssize_t read_of(pid_t pid, const char *name, char *buffer, size_t size)
{
	int fd = open_of(pid, name);
	size_t used;
	int error;

	if (fd < 0)
		return fd;
	error = read_all(fd, buffer, size - 1, &used);
	close(fd);
	if (error)
		return error;
	buffer[used] = 0;
	return (ssize_t)used;
}

/* The line of /proc/PID/status that starts with "\n<key>:". */
static const char *status_value(const char *status, const char *key)
{
	char wanted[32];
	const char *found;

	snprintf(wanted, sizeof(wanted), "\n%s:", key);
	found = strstr(status, wanted);
	return found ? found + strlen(wanted) : NULL;
}

static bool status_ids(const char *status, const char *key, unsigned int *first, bool *agree)
{
	const char *value = status_value(status, key);
	unsigned int real, effective, saved;

	if (!value || sscanf(value, "%u %u %u", &real, &effective, &saved) != 3)
		return false;
	*first = real;
	*agree = real == effective && real == saved;
	return true;
}

int process__read_ids(pid_t pid, struct process *out)
{
	char status[8192], path[64];
	const char *value;
	struct process process = {.pid = pid};
	unsigned int uid, gid;
	bool one_uid, one_gid;
	struct stat st;
	ssize_t got = read_of(pid, "status", status, sizeof(status));

	if (got < 0)
		return (int)got;
	value = status_value(status, "Tgid");
	process.leader = value && atoi(value) == pid;
	value = status_value(status, "State");
	value = value ? value + strspn(value, " \t") : "";
	process.dead = *value == 'Z' || *value == 'X';
	if (!status_ids(status, "Uid", &uid, &one_uid) || !status_ids(status, "Gid", &gid, &one_gid))
		return -EBADMSG;
	process.uid = uid;
	process.gid = gid;
	/* Root's when the process must not be looked into, e.g. after it executed a set-uid file. */
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st) != 0)
		return errno == ENOENT ? -ESRCH : -errno;
	process.one_user = one_uid && one_gid && st.st_uid == uid;
	*out = process;
	return 0;
}

static void read_command(struct process *process)
{
	ssize_t got = read_of(process->pid, "cmdline", process->cmd, sizeof(process->cmd));

	while (got > 0 && process->cmd[got - 1] == 0)
		got--;
	for (ssize_t i = 0; i < got; i++) {
		if (process->cmd[i] == 0)
			process->cmd[i] = ' ';
	}
	process->cmd[got > 0 ? got : 0] = 0;
}

static uint32_t count_cpus(const char *mask)
{
	uint32_t count = 0;

	for (; *mask && *mask != '\n'; mask++) {
		const char *digits = "0123456789abcdef", *digit = strchr(digits, *mask);

		if (digit)
			count += (uint32_t)__builtin_popcount((unsigned int)(digit - digits));
	}
	return count;
}

/* The value of "NAME=" at the beginning of the text, or NULL. */
static const char *value_of(const char *text, const char *name)
{
	size_t length = strlen(name);

	return strncmp(text, name, length) ? NULL : text + length;
}

/*
 * OMP_NUM_THREADS, else the CPUs that the process may use: what libgomp starts with; whether it opts out;
 * which rank it is. After its batch job is known.
 */
static void read_environment(struct process *process)
{
	char *text = malloc(ENVIRON_MAX);
	ssize_t got = text ? read_of(process->pid, "environ", text, ENVIRON_MAX) : -ENOMEM;

	for (ssize_t at = 0; at < got; at += (ssize_t)strlen(text + at) + 1) {
		const char *threads = value_of(text + at, "OMP_NUM_THREADS=");
		const char *off = value_of(text + at, ENV_OFF "=");
		long value = threads ? strtol(threads, NULL, 10) : 0;

		if (value > 0 && value <= THREADS_MAX && !process->threads)
			process->threads = (uint32_t)value;
		process->opted_out |= off && *off && strcmp(off, "0") != 0;
	}
	if (got > 0)
		mpi_rank__read(text, (size_t)got, process->batch, &process->mpi);
	if (!process->threads && text && read_of(process->pid, "status", text, ENVIRON_MAX) > 0) {
		const char *mask = status_value(text, "Cpus_allowed");

		process->threads = mask ? count_cpus(mask) : 0;
	}
	free(text);
}

static void read_batch(struct process *process)
{
	char *lines = process__cgroups(process->pid);
	struct cgroup_name name;

	cgroup_name__read(lines ? lines : "", &name);
	cgroup_name__text(&name, process->batch);
	free(lines);
}

int process__read(pid_t pid, struct process *out)
{
	struct process process;
	char path[64];
	ssize_t length;
	int error = process__read_ids(pid, &process);

	if (error)
		return error;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	length = readlink(path, process.exe, sizeof(process.exe) - 1);
	process.exe[length > 0 ? length : 0] = 0;
	read_command(&process);
	read_batch(&process);
	read_environment(&process);
	*out = process;
	return 0;
}

bool process__stat(pid_t pid, int field, uint64_t *out)
{
	const int name = 2;
	char path[64], text[2048], *at;
	size_t used = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read_all(fd, text, sizeof(text) - 1, &used) != 0)
		used = 0;
	close(fd);
	text[used] = '\0';
	/* Its name may have any characters. */
	at = strrchr(text, ')');
	for (int i = name; i < field && at; i++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, "%" SCNu64, out) == 1;
}

char *process__cgroups(pid_t pid)
{
	char *text = malloc(CGROUPS_MAX);

	if (text && read_of(pid, "cgroup", text, CGROUPS_MAX) >= 0)
		return text;
	free(text);
	return NULL;
}

size_t process__groups(pid_t pid, gid_t *groups, size_t room)
{
	char *status = malloc(ENVIRON_MAX);
	const char *value = NULL;
	size_t count = 0;
	unsigned int gid;
	bool agree;

	if (status && read_of(pid, "status", status, ENVIRON_MAX) > 0) {
		if (room && status_ids(status, "Gid", &gid, &agree))
			groups[count++] = gid;
		value = status_value(status, "Groups");
	}
	while (value && count < room) {
		char *end;

		value += strspn(value, " \t");
		if (*value < '0' || *value > '9')
			break;
		groups[count++] = (gid_t)strtoul(value, &end, 10);
		value = end;
	}
	free(status);
	return count;
}

static int mix(void *ctx, const struct process_mapping *mapping)
{
	uint64_t *hash = ctx;
	const uint64_t parts[] = {mapping->start, mapping->device, mapping->inode};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		*hash = (*hash ^ parts[i]) * 0x9e3779b97f4a7c15u + 1;
	return 0;
}

uint64_t process__map_signature(pid_t pid)
{
	uint64_t hash = 1;

	return process_maps__each(pid, mix, &hash) ? 0 : hash;
}

bool process__belongs_to(const struct process *process, uid_t uid)
{
	return uid == 0 || (process->one_user && process->uid == uid);
}

bool process__has_ended(int pidfd)
{
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};

	return poll(&ended, 1, 0) > 0;
}

bool process__is_same_user(const struct process *was)
{
	struct process now;

	return was->uid == 0 || (process__read_ids(was->pid, &now) == 0 && now.uid == was->uid &&
				 now.one_user == was->one_user);
}
