// SPDX-License-Identifier: BSD-2-Clause
/*
 * The probe plan of a file of any machine, a point a line: EVENT FUNCTION COST INSTRUCTION READS,
 * separated by tabs, then "missing NAME", and "shadow-stack" if it is marked as one that keeps those:
 *   show_plan FILE
 */
#include "uprobes/make_plan/make_plan.h"

#include <fcntl.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct uprobes_error err = {.text = ""};
	struct probe_plan *plan = NULL;
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0 || probe_plan__create_foreign(fd, argv[1], &plan, &err)) {
		fprintf(stderr, "%s\n", err.text[0] ? err.text : "usage: show_plan FILE");
		return 1;
	}
	for (size_t i = 0; i < probe_plan__count(plan); i++) {
		const struct probe_point *p = probe_plan__point(plan, i);

		printf("%s\t%s\t%s\t%s\t%s\n", p->event, p->function,
		       p->cost == PROBE_EMULATED ? "emulated" : "stepped", p->instruction, p->reads);
	}
	for (size_t i = 0; probe_plan__missing(plan, i); i++)
		printf("missing\t%s\n", probe_plan__missing(plan, i));
	if (probe_plan__may_have_shadow_stack(plan))
		puts("shadow-stack");
	probe_plan__free(plan);
	return 0;
}
