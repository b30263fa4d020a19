// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/recorder/neighbours.h"
#include "daemon/graind/policy/optout.h"
#include "daemon/graind/process/process.h"

#include <errno.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_NEIGHBOURS 4096
#define SLOTS (2 * MAX_NEIGHBOURS)
#define GROUP_BYTES 1024
#define QUOTED_BYTES (2 * GROUP_BYTES + 3)
/* Fields of /proc/PID/stat, and the flag that marks the kernel's own threads. */
#define PARENT_FIELD 4
#define FLAGS_FIELD 9
#define KERNEL_THREAD 0x00200000u

struct neighbour {
	pid_t pid;
	char command[NEIGHBOUR_COMMAND];
	uint16_t number; /* in the trace */
};

struct neighbours {
	uid_t viewer;
	bool hides; /* /proc hides the processes of other users */
	struct neighbour list[MAX_NEIGHBOURS];
	uint16_t slots[SLOTS]; /* numbers; 0: the slot is free */
	uint32_t count, told;
	uint16_t hidden; /* the number for all processes that are not shown; 0: there are none yet */
};

static bool proc_hides(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *mount;
	bool hides = !mounts;

	while (mounts && (mount = getmntent(mounts))) {
		const char *option = strcmp(mount->mnt_dir, "/proc") ? NULL : hasmntopt(mount, "hidepid");

		hides |= option && strncmp(option, "hidepid=0", 9) && strncmp(option, "hidepid=off", 11);
	}
	if (mounts)
		endmntent(mounts);
	return hides;
}

int neighbours__new(uid_t viewer, struct neighbours **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->viewer = viewer;
	(*out)->hides = viewer && proc_hides();
	return 0;
}

void neighbours__free(struct neighbours *neighbours)
{
	free(neighbours);
}

static size_t hash(pid_t pid, const char command[NEIGHBOUR_COMMAND])
{
	uint64_t words[2], mixed;

	memcpy(words, command, sizeof(words));
	mixed = (words[0] ^ words[1] * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)pid) *
		UINT64_C(0xff51afd7ed558ccd);
	return (mixed >> 40) % SLOTS;
}

/* Reads the group of version 2. If both versions are present, it is in the last line. */
static void read_group(pid_t pid, char group[GROUP_BYTES])
{
	char path[64], line[GROUP_BYTES];
	FILE *file;

	group[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		const char *name = strchr(line, ':');

		name = name ? strchr(name + 1, ':') : NULL;
		line[strcspn(line, "\n")] = '\0';
		if (name && name[1] == '/' && name[2])
			snprintf(group, GROUP_BYTES, "%s", name + 1);
	}
	if (file)
		fclose(file);
}

static bool may_show(const struct neighbours *neighbours, pid_t pid)
{
	char path[64];
	struct stat st;
	uint64_t flags;

	if (pid == 0 || (process__stat(pid, FLAGS_FIELD, &flags) && flags & KERNEL_THREAD))
		return true;
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st) != 0)
		return neighbours->viewer == 0;
	if (st.st_uid == neighbours->viewer)
		return true;
	return !neighbours->hides && !optout__has(st.st_uid);
}

static void tell_hidden(struct neighbours *neighbours, struct trace_writer *writer)
{
	if (neighbours->hidden)
		return;
	neighbours->hidden = (uint16_t)++neighbours->told;
	(void)trace_writer__textf(writer, "@neighbour %u pid=0 command=\"another user's process\"",
				  neighbours->hidden);
}

/*
 * Whether the process is graind, one of its workers, or a child of these. A process that has ended is
 * believed by its name: whoever takes the name of a worker only spoils what his own neighbours are told of
 * him.
 */
static bool is_graind(pid_t pid, const char command[NEIGHBOUR_COMMAND])
{
	for (int generation = 0; generation < 4 && pid > 1; generation++) {
		uint64_t parent;

		if (pid == getpid())
			return true;
		if (!process__stat(pid, PARENT_FIELD, &parent))
			return !generation && !strncmp(command, "graind-worker", NEIGHBOUR_COMMAND);
		pid = (pid_t)parent;
	}
	return false;
}

static void tell(struct trace_writer *writer, uint32_t number, const struct neighbour *neighbour, bool own)
{
	char command[NEIGHBOUR_COMMAND + 1] = "", quoted_command[2 * NEIGHBOUR_COMMAND + 8];
	char group[GROUP_BYTES], quoted[QUOTED_BYTES];

	memcpy(command, neighbour->command, NEIGHBOUR_COMMAND);
	trace_writer__quote(command, quoted_command, sizeof(quoted_command));
	read_group(neighbour->pid, group);
	trace_writer__quote(group, quoted, sizeof(quoted));
	/* If a line does not fit into the file, the writer counts it. */
	(void)trace_writer__textf(writer, "@neighbour %u pid=%d command=%s%s%s%s", number,
				  (int)neighbour->pid, quoted_command, own ? " measuring=1" : "",
				  group[0] ? " cgroup=" : "", group[0] ? quoted : "");
}

uint32_t neighbours__number(struct neighbours *neighbours, struct trace_writer *writer, pid_t pid,
			    const char command[NEIGHBOUR_COMMAND])
{
	size_t slot = hash(pid, command);
	struct neighbour *neighbour;
	bool own;

	for (; neighbours->slots[slot]; slot = (slot + 1) % SLOTS) {
		neighbour = &neighbours->list[neighbours->slots[slot] - 1];
		if (neighbour->pid == pid && !memcmp(neighbour->command, command, NEIGHBOUR_COMMAND))
			return neighbour->number;
	}
	if (neighbours->count == MAX_NEIGHBOURS)
		return 0;
	neighbour = &neighbours->list[neighbours->count++];
	neighbour->pid = pid;
	memcpy(neighbour->command, command, NEIGHBOUR_COMMAND);
	neighbours->slots[slot] = (uint16_t)neighbours->count;
	own = is_graind(pid, command);
	if (own || may_show(neighbours, pid)) {
		neighbour->number = (uint16_t)++neighbours->told;
		tell(writer, neighbour->number, neighbour, own);
	} else {
		tell_hidden(neighbours, writer);
		neighbour->number = neighbours->hidden;
	}
	return neighbour->number;
}
