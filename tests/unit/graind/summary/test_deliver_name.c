// SPDX-License-Identifier: BSD-2-Clause
/* What a batch or MPI job's directory of summaries is called. */
#include "daemon/graind/summary/deliver.h"

#include "tests/unit/check.h"

int main(void)
{
	static const struct {
		const char *batch, *launch, *expected;
	} cases[] = {
		{"slurm:4711.0", "", "slurm-4711"},
		{"slurm:4711", "", "slurm-4711"},
		{"slurm:4711.batch", "538705921", "slurm-4711"},
		{"slurm:../x.0", "", "slurm-"},
		{"pbs:1234.pbs01", "", "pbs-1234.pbs01"},
		{"pbs:1234[7].pbs01", "", "pbs-1234[7].pbs01"},
		{"pbs:../../etc", "", "pbs-.._.._etc"},
		{"pbs:a:b c", "", "pbs-a_b_c"},
		{"", "prterun-n1@1", "mpi-prterun-n1@1"},
		{"unit:session-3.scope", "538705921", "mpi-538705921"},
		{"container:abc", "a:b", "mpi-a_b"},
		{"unit:session-3.scope", "", NULL},
		{"pod:x.y", "", NULL},
		{"", "", NULL},
	};
	char name[DELIVER_NAME];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mpi_rank rank = {.known = true};
		bool there;

		snprintf(rank.launch, sizeof(rank.launch), "%s", cases[i].launch);
		there = deliver__cluster_job(cases[i].batch, &rank, name);
		CHECK_STR(there ? name : "(none)", cases[i].expected ? cases[i].expected : "(none)",
			  "'%s', '%s'", cases[i].batch, cases[i].launch);
	}
	CHECK(!deliver__cluster_job("", &(struct mpi_rank){.known = false, .launch = "1"}, name),
	      "what is no rank has no launcher's name");
	CHECK_DONE();
}
