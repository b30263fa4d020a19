// SPDX-License-Identifier: BSD-2-Clause
/* CPU time by account. */
#include "daemon/graind/limits/cpu_budget.h"
#include "tests/unit/check.h"

#define SECOND UINT64_C(1000000000)

int main(void)
{
	unsigned int wait = 77;

	CHECK(cpu_budget__allows(CPU_OF_WORKERS, 1000, &wait) && wait == 0, "who has used none may");
	cpu_budget__spend(CPU_OF_WORKERS, 1000, (CPU_BUDGET_SECONDS - 50) * SECOND);
	CHECK(cpu_budget__allows(CPU_OF_WORKERS, 1000, &wait), "who has some left may");
	cpu_budget__spend(CPU_OF_WORKERS, 1000, 100 * SECOND);
	CHECK(!cpu_budget__allows(CPU_OF_WORKERS, 1000, &wait) && wait > 50 && wait <= 101,
	      "who has spent it may not, until his share makes up for it: %u s", wait);
	CHECK(cpu_budget__allows(CPU_OF_WORKERS, 1001, &wait), "another one may");
	for (uid_t account = 2000; account < 3000; account++)
		cpu_budget__spend(CPU_OF_WORKERS, account, SECOND);
	CHECK(!cpu_budget__allows(CPU_OF_WORKERS, 1000, &wait), "he is not forgotten when many others come");
	cpu_budget__spend(CPU_OF_WORKERS, 3000, (CPU_BUDGET_SECONDS + 1) * SECOND);
	CHECK(!cpu_budget__allows(CPU_OF_WORKERS, 3000, &wait), "those for whom there is no place share one");
	CHECK(cpu_budget__allows(CPU_OF_CHILDREN, 1000, &wait), "what workers took is not that of children");
	cpu_budget__spend(CPU_OF_CHILDREN, 1000, CPU_BUDGET_CHILDREN_SECONDS * SECOND + SECOND);
	CHECK(!cpu_budget__allows(CPU_OF_CHILDREN, 1000, &wait) && wait > 2 && wait <= 5,
	      "nor is there more of that: %u s", wait);
	CHECK(cpu_budget__allows(CPU_OF_CHILDREN, 1001, &wait), "another one has his own");
	CHECK_DONE();
}
