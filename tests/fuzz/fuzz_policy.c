// SPDX-License-Identifier: BSD-2-Clause
/*
 * Policy files: any text is a policy or one line that says what is wrong. The
 * input up to a zero byte is the file; what follows is what /proc/PID/cgroup
 * says of a process that the rules are asked about, as users can name groups; and
 * it is the environment in which the process' rank of an MPI job is looked for.
 */
#include "daemon/graind/process/cgroup_name.h"
#include "daemon/graind/summary/deliver.h"
#include "daemon/graind/policy/policy_file.h"
#include "tests/fuzz/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void ask(const struct policy_file *file, const char *lines)
{
	static const gid_t groups[] = {0, 4, 1000};
	const struct policy_subject subject = {
		.uid = 1000, .groups = groups, .group_count = 3, .exe = "/usr/bin/a", .cgroups = lines};
	json_t *shown = json_object();
	char text[160], *dumped;
	struct cgroup_name name;

	policy_file__decide(file, &subject);
	policy_file__describe(file, shown);
	dumped = json_dumps(shown, JSON_COMPACT);
	MUST(dumped != NULL);
	free(dumped);
	json_decref(shown);
	cgroup_name__read(lines, &name);
	cgroup_name__text(&name, text);
	for (const char *c = text; *c; c++)
		MUST(*c > ' ' && *c < 0x7f && *c != '"' && *c != '\\');
}

/* The directory's name is a path's part, whatever a user's process has there. */
static void look_for_rank(const char *environment, size_t length, const char *lines)
{
	char batch[160], directory[DELIVER_NAME];
	struct cgroup_name name;
	struct mpi_rank rank;

	cgroup_name__read(lines, &name);
	cgroup_name__text(&name, batch);
	mpi_rank__read(environment, length, batch, &rank);
	MUST(rank.size <= MPI_RANK_MOST && rank.rank < MPI_RANK_MOST &&
	     (!rank.size || rank.rank < rank.size));
	MUST(rank.known || (!rank.launch[0] && !rank.size));
	if (!deliver__cluster_job(batch, &rank, directory))
		return;
	MUST(strlen(directory) < sizeof(directory) && directory[0] != '.' && !strchr(directory, '/'));
	for (const char *c = directory; *c; c++)
		MUST(*c > ' ' && *c < 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, 0, size);
	size_t length = end ? (size_t)(end - data) : size, rest = end ? size - length - 1 : 0;
	struct policy_file *file = NULL;
	char why[POLICY_WHY], *lines = calloc(1, rest + 1);
	int error;

	if (!lines)
		return 0;
	memcpy(lines, data + size - rest, rest);
	error = policy_file__parse((const char *)data, length, "f", &file, why);
	if (error) {
		MUST(why[0] && !strchr(why, '\n') && strlen(why) < POLICY_WHY);
		file = policy_file__empty();
	}
	ask(file, lines);
	look_for_rank((const char *)data + size - rest, rest, lines);
	policy_file__free(file);
	free(lines);
	return 0;
}
