// SPDX-License-Identifier: BSD-2-Clause
/* The file on standard input becomes its probe plan, or "error CODE TEXT". */
#include "daemon/graind/worker.h"

#include "uprobes/plan.h"

#include <stdio.h>
#include <unistd.h>

int worker__plan(void)
{
	struct uprobes_error err = {.text = ""};
	struct probe_plan *plan = NULL;
	int error = probe_plan__create_fd(STDIN_FILENO, WORKER_PLAN_NAME, &plan, &err);

	if (error)
		printf("error\t%d\t%s\n", -error, err.text);
	else
		error = probe_plan__write(plan, stdout);
	probe_plan__free(plan);
	return fflush(stdout) != 0;
}
