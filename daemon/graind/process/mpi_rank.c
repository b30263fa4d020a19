// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/process/mpi_rank.h"

#include <ctype.h>
#include <string.h>

enum {
	OMPI_RANK,
	OMPI_SIZE,
	PMI_RANK,
	PMI_SIZE,
	PMIX_RANK,
	PMIX_SPACE,
	OMPI_JOB,
	SLURM_ID,
	SLURM_STEP_SIZE,
	SLURM_SIZE,
	NAMES
};

static const char *const names[NAMES] = {
	[OMPI_RANK] = "OMPI_COMM_WORLD_RANK",
	[OMPI_SIZE] = "OMPI_COMM_WORLD_SIZE",
	[PMI_RANK] = "PMI_RANK",
	[PMI_SIZE] = "PMI_SIZE",
	[PMIX_RANK] = "PMIX_RANK",
	[PMIX_SPACE] = "PMIX_NAMESPACE",
	[OMPI_JOB] = "OMPI_MCA_ess_base_jobid",
	[SLURM_ID] = "SLURM_PROCID",
	[SLURM_STEP_SIZE] = "SLURM_STEP_NUM_TASKS",
	[SLURM_SIZE] = "SLURM_NTASKS",
};

/*
 * The innermost launcher comes first: mpirun's daemons are started by a job step, and the ranks inherit the
 * variables of that step.
 */
static const struct {
	int rank, sizes[2];
	bool of_step;
} launchers[] = {
	{OMPI_RANK, {OMPI_SIZE, OMPI_SIZE}, false},
	{PMI_RANK, {PMI_SIZE, PMI_SIZE}, false},
	{PMIX_RANK, {SLURM_STEP_SIZE, SLURM_SIZE}, false},
	{SLURM_ID, {SLURM_STEP_SIZE, SLURM_SIZE}, true},
};

static bool parse(const char *text, uint32_t most, uint32_t *out)
{
	uint32_t value = 0;

	if (!text || !*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		value = value * 10 + (uint32_t)(*text - '0');
		if (value > most)
			return false;
	}
	*out = value;
	return true;
}

static void copy_launch(const char *text, char out[MPI_LAUNCH_SIZE])
{
	size_t length = text ? strlen(text) : 0;

	out[0] = 0;
	if (!length || length >= MPI_LAUNCH_SIZE || !isalnum((unsigned char)text[0]))
		return;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("._:@+-", text[i]))
			return;
	memcpy(out, text, length + 1);
}

/*
 * If several variables have the same name, the first one counts, as for getenv(). The last string may be
 * cut.
 */
static void find(const char *environment, size_t length, const char *values[NAMES])
{
	for (size_t at = 0; at < length;) {
		const char *text = environment + at;
		size_t size = strnlen(text, length - at);

		if (size == length - at)
			return;
		for (int i = 0; i < NAMES; i++) {
			size_t name = strlen(names[i]);

			if (!values[i] && size > name && !memcmp(text, names[i], name) && text[name] == '=')
				values[i] = text + name + 1;
		}
		at += size + 1;
	}
}

/*
 * Whether the process is in a job step. Slurm also gives a rank to the batch script and to other processes
 * outside of steps. Such a rank means nothing.
 */
static bool is_step(const char *batch)
{
	static const char *const others[] = {".batch", ".extern", ".interactive"};
	size_t length = strlen(batch);

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		size_t end = strlen(others[i]);

		if (length >= end && !strcmp(batch + length - end, others[i]))
			return false;
	}
	return true;
}

void mpi_rank__read(const char *environment, size_t length, const char *batch, struct mpi_rank *out)
{
	const char *values[NAMES] = {NULL};

	*out = (struct mpi_rank){.known = false};
	find(environment, length, values);
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]) && !out->known; i++) {
		uint32_t rank, size = 0;

		if (!parse(values[launchers[i].rank], MPI_RANK_MOST - 1, &rank) ||
		    (launchers[i].of_step && !is_step(batch)))
			continue;
		for (int k = 0; k < 2 && !size; k++)
			parse(values[launchers[i].sizes[k]], MPI_RANK_MOST, &size);
		if (size && rank >= size)
			continue;
		*out = (struct mpi_rank){.known = true, .rank = rank, .size = size};
	}
	if (out->known)
		copy_launch(values[PMIX_SPACE] ? values[PMIX_SPACE] : values[OMPI_JOB], out->launch);
}

json_t *mpi_rank__json(const struct mpi_rank *rank)
{
	if (!rank->known)
		return json_null();
	return json_pack("{s:I, s:o, s:s}", "rank", (json_int_t)rank->rank, "size",
			 rank->size ? json_integer(rank->size) : json_null(), "launch", rank->launch);
}
