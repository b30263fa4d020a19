// SPDX-License-Identifier: BSD-2-Clause
/* Ranks by what mpirun and srun leave in the environment, and by what a process that lies has there. */
#include "daemon/graind/process/mpi_rank.h"

#include "tests/unit/check.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *environment, *batch, *expected, *name;
} cases[] = {
	{"HOME=/root\0OMPI_COMM_WORLD_SIZE=3\0PMIX_NAMESPACE=538705921\0PMIX_RANK=2\0"
	 "OMPI_MCA_ess_base_jobid=538705921\0OMPI_COMM_WORLD_RANK=2\0",
	 "", "2 of 3 in 538705921", "Open MPI"},
	{"OMPI_COMM_WORLD_RANK=0\0OMPI_COMM_WORLD_SIZE=1\0OMPI_MCA_ess_base_jobid=77\0", "", "0 of 1 in 77",
	 "Open MPI without PMIx"},
	{"PMI_RANK=11\0PMI_SIZE=12\0", "", "11 of 12 in ", "MPICH"},
	{"PMIX_RANK=5\0PMIX_NAMESPACE=slurm.pmix.4711.0\0SLURM_NTASKS=64\0SLURM_STEP_NUM_TASKS=8\0"
	 "SLURM_PROCID=5\0",
	 "slurm:4711.0", "5 of 8 in slurm.pmix.4711.0", "srun with PMIx"},
	{"SLURM_PROCID=7\0SLURM_NTASKS=8\0", "slurm:4711.0", "7 of 8 in ", "srun"},
	{"SLURM_PROCID=0\0SLURM_NTASKS=8\0", "slurm:4711.batch", "none", "a batch script is no rank"},
	{"SLURM_PROCID=0\0SLURM_NTASKS=8\0", "slurm:4711.interactive", "none", "nor is an interactive one"},
	{"SLURM_PROCID=0\0SLURM_NTASKS=2\0OMPI_COMM_WORLD_RANK=6\0OMPI_COMM_WORLD_SIZE=8\0",
	 "slurm:4711.batch", "6 of 8 in ", "mpirun in a batch script"},
	{"PMIX_RANK=3\0", "", "3 of ? in ", "a rank of nobody knows how many"},
	{"OMPI_COMM_WORLD_RANK=1\0OMPI_COMM_WORLD_RANK=2\0OMPI_COMM_WORLD_SIZE=4\0", "", "1 of 4 in ",
	 "the first of a name counts"},
	{"OMPI_COMM_WORLD_RANK=16777215\0OMPI_COMM_WORLD_SIZE=16777216\0", "", "16777215 of 16777216 in ",
	 "the largest"},
	{"", "", "none", "no environment"},
	{"PATH=/bin\0OMPI_COMM_WORLD_RANKS=1\0XPMI_RANK=1\0", "", "none", "no such names"},
	{"OMPI_COMM_WORLD_RANK=3\0OMPI_COMM_WORLD_SIZE=3\0", "", "none", "beyond the size"},
	{"OMPI_COMM_WORLD_RANK=-1\0", "", "none", "a sign"},
	{"OMPI_COMM_WORLD_RANK=\0", "", "none", "nothing"},
	{"OMPI_COMM_WORLD_RANK= 1\0", "", "none", "a blank"},
	{"OMPI_COMM_WORLD_RANK=1x\0", "", "none", "a letter"},
	{"OMPI_COMM_WORLD_RANK=4294967297\0", "", "none", "a number that comes round"},
	{"OMPI_COMM_WORLD_RANK=99999999999999999999999\0", "", "none", "a huge number"},
	{"OMPI_COMM_WORLD_RANK=1\0OMPI_COMM_WORLD_SIZE=0\0", "", "1 of ? in ", "of none"},
	{"OMPI_COMM_WORLD_RANK=x\0PMI_RANK=1\0PMI_SIZE=2\0", "", "1 of 2 in ", "the next launcher"},
	{"PMI_RANK=1\0PMIX_NAMESPACE=../../etc\0", "", "1 of ? in ", "a path is no launch"},
	{"PMI_RANK=1\0PMIX_NAMESPACE=.\0", "", "1 of ? in ", "nor is a dot"},
	{"PMI_RANK=1\0PMIX_NAMESPACE=a\"b\0", "", "1 of ? in ", "nor a quote"},
	{"PMI_RANK=1\0PMIX_NAMESPACE=prterun-n17-4@1\0", "", "1 of ? in prterun-n17-4@1", "PRRTE's are"},
	{"PMI_RANK=1\0PMIX_NAMESPACE="
	 "0123456789012345678901234567890123456789012345678901234567890123456789012345678\0",
	 "", "1 of ? in 0123456789012345678901234567890123456789012345678901234567890123456789012345678",
	 "the longest launch"},
	{"PMI_RANK=1\0PMIX_NAMESPACE="
	 "01234567890123456789012345678901234567890123456789012345678901234567890123456789\0",
	 "", "1 of ? in ", "a longer one"},
};

/* Up to the empty string at its end. */
static size_t length_of(const char *environment)
{
	size_t length = 0;

	while (environment[length])
		length += strlen(environment + length) + 1;
	return length;
}

static void say(const struct mpi_rank *rank, char out[200])
{
	char size[16] = "?";

	if (rank->size)
		snprintf(size, sizeof(size), "%u", rank->size);
	if (rank->known)
		snprintf(out, 200, "%u of %s in %s", rank->rank, size, rank->launch);
	else
		strcpy(out, "none");
}

int main(void)
{
	static const char cut[] = "OMPI_COMM_WORLD_SIZE=30\0OMPI_COMM_WORLD_RANK=25";
	struct mpi_rank rank;
	char text[200], *memory, *json;
	json_t *object;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t length = length_of(cases[i].environment);

		/* Nothing is read behind it: a sanitizer would see. */
		memory = malloc(length ? length : 1);
		memcpy(memory, cases[i].environment, length);
		mpi_rank__read(memory, length, cases[i].batch, &rank);
		free(memory);
		say(&rank, text);
		CHECK_STR(text, cases[i].expected, "%s", cases[i].name);
	}
	memory = malloc(sizeof(cut) - 2);
	memcpy(memory, cut, sizeof(cut) - 2);
	mpi_rank__read(memory, sizeof(cut) - 2, "", &rank);
	free(memory);
	say(&rank, text);
	CHECK_STR(text, "none", "a string that was cut is not read");

	mpi_rank__read(cases[0].environment, length_of(cases[0].environment), "", &rank);
	object = mpi_rank__json(&rank);
	json = json_dumps(object, JSON_COMPACT);
	CHECK_STR(json, "{\"rank\":2,\"size\":3,\"launch\":\"538705921\"}", "as JSON");
	free(json);
	json_decref(object);
	CHECK_DONE();
}
