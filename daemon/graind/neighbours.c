// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/neighbours.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NEIGHBOURS 4096
#define SLOTS (2 * MAX_NEIGHBOURS)
#define GROUP_BYTES 1024
#define QUOTED_BYTES (2 * GROUP_BYTES + 3)

struct neighbour {
	pid_t pid;
	char command[NEIGHBOUR_COMMAND];
};

struct neighbours {
	struct neighbour list[MAX_NEIGHBOURS];
	uint16_t slots[SLOTS]; /* numbers, 0: free */
	uint32_t count;
};

int neighbours__new(struct neighbours **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
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

/* Of version 2, which is the last line where both are. */
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

static void tell(struct trace_writer *writer, uint32_t number, const struct neighbour *neighbour)
{
	char command[NEIGHBOUR_COMMAND + 1] = "", quoted_command[2 * NEIGHBOUR_COMMAND + 8];
	char group[GROUP_BYTES], quoted[QUOTED_BYTES];

	memcpy(command, neighbour->command, NEIGHBOUR_COMMAND);
	trace_writer__quote(command, quoted_command, sizeof(quoted_command));
	read_group(neighbour->pid, group);
	trace_writer__quote(group, quoted, sizeof(quoted));
	/* What does not fit into the file is counted by the writer. */
	(void)trace_writer__textf(writer, "@neighbour %u pid=%d command=%s%s%s", number, (int)neighbour->pid,
				  quoted_command, group[0] ? " cgroup=" : "", group[0] ? quoted : "");
}

uint32_t neighbours__number(struct neighbours *neighbours, struct trace_writer *writer, pid_t pid,
			    const char command[NEIGHBOUR_COMMAND])
{
	size_t slot = hash(pid, command);
	struct neighbour *neighbour;

	for (; neighbours->slots[slot]; slot = (slot + 1) % SLOTS) {
		neighbour = &neighbours->list[neighbours->slots[slot] - 1];
		if (neighbour->pid == pid && !memcmp(neighbour->command, command, NEIGHBOUR_COMMAND))
			return neighbours->slots[slot];
	}
	if (neighbours->count == MAX_NEIGHBOURS)
		return 0;
	neighbour = &neighbours->list[neighbours->count++];
	neighbour->pid = pid;
	memcpy(neighbour->command, command, NEIGHBOUR_COMMAND);
	neighbours->slots[slot] = (uint16_t)neighbours->count;
	tell(writer, neighbours->count, neighbour);
	return neighbours->count;
}
