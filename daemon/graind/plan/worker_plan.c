// SPDX-License-Identifier: BSD-2-Clause
/* Reads the file on standard input and writes its probe plan, or "error CODE TEXT". */
#include "daemon/graind/plan/plan_maker.h"
#include "daemon/graind/worker/worker.h"

#include "uprobes/make_plan/bodies.h"
#include "uprobes/make_plan/make_plan.h"
#include "uprobes/static_loops/static_loops.h"

#include <stdio.h>
#include <unistd.h>

static int say(int error, const struct uprobes_error *err, struct probe_plan *plan)
{
	if (error)
		printf("error\t%d\t%s\n", -error, err->text);
	else
		probe_plan__write(plan, stdout);
	probe_plan__free(plan);
	return fflush(stdout) != 0;
}

int worker__plan(void)
{
	struct uprobes_error err = {.text = ""};
	struct probe_plan *plan = NULL;
	int error = probe_plan__create_fd(STDIN_FILENO, WORKER_PLAN_NAME, &plan, &err);

	return say(error, &err, plan);
}

int worker__bodies(uint64_t offset)
{
	struct uprobes_error err = {.text = ""};
	struct probe_plan *plan = NULL;
	int error = bodies__plan_fd(STDIN_FILENO, WORKER_PLAN_NAME, offset, &plan, &err);

	return say(error, &err, plan);
}

int worker__loops(void)
{
	struct uprobes_error err = {.text = ""};
	struct probe_plan *plan = NULL;
	int error = static_loops__plan_fd(STDIN_FILENO, WORKER_PLAN_NAME, &plan, &err);

	return say(error, &err, plan);
}
