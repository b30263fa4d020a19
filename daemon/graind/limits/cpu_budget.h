/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits the CPU time that graind uses for requests that users may repeat at will. Each account (account.h)
 * has a share of a CPU, and may save up some of it. Any thread may call these functions.
 */
#ifndef GRAIND_CPU_BUDGET_H
#define GRAIND_CPU_BUDGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum cpu_budget_of {
	/* CPU time of workers. Workers that graind starts by itself are charged, too, but never refused. */
	CPU_OF_WORKERS,
	/*
	 * Setting and removing probes in child processes. The kernel does this for one process after the
	 * other.
	 */
	CPU_OF_CHILDREN,
	CPU_BUDGETS
};

/* The share of a CPU that an account has on average, and the seconds of CPU time that it can save up. */
#define CPU_BUDGET_SHARE 0.5
#define CPU_BUDGET_SECONDS 300
#define CPU_BUDGET_CHILDREN_SHARE 0.25
#define CPU_BUDGET_CHILDREN_SECONDS 2

/* The message for an account that has used up its CPU time, with the seconds to wait. */
#define CPU_BUDGET_SPENT                                                                                     \
	"graind's workers have spent their CPU time for you (half of a CPU on average); ask again in %u s"

/* Whether the account has CPU time left. If not, *wait is the number of seconds until it has some. */
bool cpu_budget__allows(enum cpu_budget_of what, uid_t account, unsigned int *wait);
void cpu_budget__spend(enum cpu_budget_of what, uid_t account, uint64_t cpu_ns);

#endif
