// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/process/process.h"
#include "daemon/common/programs/defaults.h"
#include "daemon/common/process/read_all.h"
#include "daemon/graind/limits/account.h"
#include "daemon/graind/process/cgroup_name.h"

#include "uprobes/runtime/process_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/nsfs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The longest line of the status has 65,536 groups; this is enough for it. */
#define STATUS_MAX (1u << 20)
/* How often a process is read again if it changes during reading. */
#define READS 3
#define ENVIRON_MAX (1u << 20)
#define CGROUPS_MAX (64u << 10)
#define THREADS_MAX 65536

/*
 * Opens /proc/PID of exactly this process. The descriptor never reaches a later process with the same pid.
 */
static int open_directory(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	return fd;
}

/* Reads at most size - 1 bytes and adds a NUL. Returns their number or a negative errno. */
static ssize_t read_at(int directory, const char *name, char *buffer, size_t size)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	size_t used;
	int error;

	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	error = read_all(fd, buffer, size - 1, &used);
	close(fd);
	if (error)
		return error;
	buffer[used] = 0;
	return (ssize_t)used;
}

static ssize_t read_of(pid_t pid, const char *name, char *buffer, size_t size)
{
	int directory = open_directory(pid);
	ssize_t got = directory < 0 ? directory : read_at(directory, name, buffer, size);

	if (directory >= 0)
		close(directory);
	return got;
}

/* Finds the value of the line of /proc/PID/status that starts with "\n<key>:". */
static const char *status_value(const char *status, const char *key)
{
	char wanted[32];
	const char *found;

	snprintf(wanted, sizeof(wanted), "\n%s:", key);
	found = strstr(status, wanted);
	return found ? found + strlen(wanted) : NULL;
}

/* Reads the real, effective, saved and file system id. *agree: all four are the same. */
static bool status_ids(const char *status, const char *key, unsigned int *first, bool *agree)
{
	const char *value = status_value(status, key);
	unsigned int real, effective, saved, files;

	if (!value || sscanf(value, "%u %u %u %u", &real, &effective, &saved, &files) != 4)
		return false;
	*first = real;
	*agree = real == effective && real == saved && real == files;
	return true;
}

/* Whether the process has its capabilities only in a user namespace that the same user has made. */
static bool is_in_own_namespace(int directory, uid_t uid)
{
	int fd = openat(directory, "ns/user", O_RDONLY | O_CLOEXEC);
	struct stat its, ours;
	uid_t owner;
	bool own = fd >= 0 && fstat(fd, &its) == 0 && stat("/proc/self/ns/user", &ours) == 0 &&
		   its.st_ino != ours.st_ino && ioctl(fd, NS_GET_OWNER_UID, &owner) == 0 &&
		   account__of(owner) == account__of(uid);

	if (fd >= 0)
		close(fd);
	return own;
}

/*
 * Whether the kernel lets an unprivileged user inspect the process. It does not after the process has
 * executed a set-uid file or an unreadable file, or if the process asks for that (PR_SET_DUMPABLE). Then
 * the files in /proc/PID belong to root, but the directory itself does not.
 */
static bool may_be_seen(int directory, const char *status, uid_t uid)
{
	const char *capabilities = status_value(status, "CapPrm");
	struct stat st;

	if (fstatat(directory, "environ", &st, 0) != 0 || st.st_uid != uid || !capabilities)
		return false;
	return uid == 0 || strtoull(capabilities, NULL, 16) == 0 || is_in_own_namespace(directory, uid);
}

static int read_ids(int directory, pid_t pid, struct process *out)
{
	char *status = malloc(STATUS_MAX);
	ssize_t got = status ? read_at(directory, "status", status, STATUS_MAX) : -ENOMEM;
	struct process process = {.pid = pid};
	unsigned int uid, gid;
	bool one_uid, one_gid;
	const char *value;

	if (got < 0) {
		free(status);
		return (int)got;
	}
	value = status_value(status, "Tgid");
	process.leader = value && atoi(value) == pid;
	value = status_value(status, "State");
	value = value ? value + strspn(value, " \t") : "";
	process.dead = *value == 'Z' || *value == 'X';
	if (!status_ids(status, "Uid", &uid, &one_uid) || !status_ids(status, "Gid", &gid, &one_gid)) {
		free(status);
		return -EBADMSG;
	}
	process.uid = uid;
	process.gid = gid;
	process.one_user = one_uid && one_gid && may_be_seen(directory, status, uid);
	free(status);
	*out = process;
	return 0;
}

int process__read_ids(pid_t pid, struct process *out)
{
	int directory = open_directory(pid), error;

	if (directory < 0)
		return directory;
	error = read_ids(directory, pid, out);
	close(directory);
	return error;
}

static void read_command(int directory, struct process *process)
{
	ssize_t got = read_at(directory, "cmdline", process->cmd, sizeof(process->cmd));

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

/* Returns the value if the text begins with "NAME=", and NULL otherwise. */
static const char *value_of(const char *text, const char *name)
{
	size_t length = strlen(name);

	return strncmp(text, name, length) ? NULL : text + length;
}

/*
 * Reads from the environment the number of threads, the opt-out and the MPI rank. The number of threads is
 * OMP_NUM_THREADS, or else the number of CPUs that the process may use, as in libgomp. Call this after the
 * batch job is known.
 */
static void read_environment(int directory, struct process *process)
{
	char *text = malloc(ENVIRON_MAX);
	ssize_t got = text ? read_at(directory, "environ", text, ENVIRON_MAX) : -ENOMEM;

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
	if (!process->threads && text && read_at(directory, "status", text, ENVIRON_MAX) > 0) {
		const char *mask = status_value(text, "Cpus_allowed");

		process->threads = mask ? count_cpus(mask) : 0;
	}
	free(text);
}

static void read_batch(int directory, struct process *process)
{
	char *lines = malloc(CGROUPS_MAX);
	bool read = lines && read_at(directory, "cgroup", lines, CGROUPS_MAX) >= 0;
	struct cgroup_name name;

	cgroup_name__read(read ? lines : "", &name);
	cgroup_name__text(&name, process->batch);
	free(lines);
}

/* Reads everything, and checks that the process did not change during that. */
static int read_all_of(int directory, pid_t pid, struct process *out)
{
	struct process after;
	ssize_t length;
	int error = read_ids(directory, pid, out);

	if (error)
		return error;
	length = readlinkat(directory, "exe", out->exe, sizeof(out->exe) - 1);
	out->exe[length > 0 ? length : 0] = 0;
	read_command(directory, out);
	read_batch(directory, out);
	read_environment(directory, out);
	error = read_ids(directory, pid, &after);
	/* A process that has ended in between did not change its user. */
	if (error == -ESRCH)
		return 0;
	if (error)
		return error;
	return after.uid == out->uid && after.one_user == out->one_user ? 0 : -EAGAIN;
}

int process__read(pid_t pid, struct process *out)
{
	struct process *process = malloc(sizeof(*process));
	int directory = open_directory(pid), error = -EAGAIN;

	if (!process || directory < 0) {
		error = directory < 0 ? directory : -ENOMEM;
		if (directory >= 0)
			close(directory);
		free(process);
		return error;
	}
	for (int i = 0; i < READS && error == -EAGAIN; i++)
		error = read_all_of(directory, pid, process);
	if (error == 0)
		*out = *process;
	close(directory);
	free(process);
	return error;
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
	/* The command's name may contain any characters. */
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

void process__make_roots(struct process *process)
{
	process->uid = 0;
	process->gid = 0;
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
