// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/session/executions.h"

struct execution *executions__add(struct executions *executions, pid_t pid, uint64_t time_ns)
{
	struct execution *execution = &executions->list[executions->next++ % EXECUTIONS_MOST];

	*execution = (struct execution){.pid = pid, .time_ns = time_ns};
	return execution;
}

static struct execution *find(struct executions *executions, pid_t pid, uint64_t until_ns)
{
	for (size_t i = 1; i <= EXECUTIONS_MOST && i <= executions->next; i++) {
		struct execution *execution = &executions->list[(executions->next - i) % EXECUTIONS_MOST];

		if (execution->pid == pid && execution->time_ns <= until_ns)
			return execution;
	}
	return NULL;
}

const struct execution *executions__find(const struct executions *executions, pid_t pid, uint64_t until_ns)
{
	return find((struct executions *)executions, pid, until_ns);
}

void executions__inherit(struct executions *executions, pid_t pid, uint64_t time_ns, uint64_t parent_job)
{
	struct execution *execution = find(executions, pid, time_ns);

	if (execution && execution->time_ns == time_ns)
		execution->parent_job = parent_job;
}
