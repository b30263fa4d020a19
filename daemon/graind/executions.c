// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/executions.h"

struct execution *executions__add(struct executions *executions, pid_t pid, uint64_t time_ns)
{
	struct execution *execution = &executions->list[executions->next++ % EXECUTIONS_MOST];

	*execution = (struct execution){.pid = pid, .time_ns = time_ns};
	return execution;
}

const struct execution *executions__find(const struct executions *executions, pid_t pid)
{
	for (size_t i = 1; i <= EXECUTIONS_MOST && i <= executions->next; i++) {
		const struct execution *execution =
			&executions->list[(executions->next - i) % EXECUTIONS_MOST];

		if (execution->pid == pid)
			return execution;
	}
	return NULL;
}
