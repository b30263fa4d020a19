// SPDX-License-Identifier: BSD-2-Clause
/* The probe planner on hostile files: make fuzz-plan. */
#include "tests/fuzz/target.h"
#include "uprobes/make_plan/bodies.h"
#include "uprobes/make_plan/make_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Whatever is in the file: a plan that can be written, read and checked, or one line that says why not. */
static void check(int error, int fd, struct probe_plan *plan, const struct uprobes_error *err)
{
	struct probe_plan *again = NULL;
	char *text = NULL;
	size_t length;
	FILE *out;

	if (error && (error > 0 || plan || !err->text[0] || strchr(err->text, '\n')))
		abort();
	if (error)
		return;
	out = open_memstream(&text, &length);
	if (!out || probe_plan__write(plan, out) || fclose(out) ||
	    probe_plan__read("the file", text, &again) || probe_plan__count(again) != probe_plan__count(plan))
		abort();
	probe_plan__check(again, fd);
	probe_plan__free(again);
	probe_plan__free(plan);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct uprobes_error err = {.text = ""};
	struct probe_plan *plan = NULL;
	int fd = memfd_create("fuzz", MFD_CLOEXEC), error;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	error = probe_plan__create_foreign(fd, "the file", &plan, &err);
	check(error, fd, plan, &err);
	plan = NULL;
	error = bodies__plan_fd(fd, "the file", 0, &plan, &err);
	check(error, fd, plan, &err);
	plan = NULL;
	error = bodies__plan_fd(fd, "the file", size / 2 | 1, &plan, &err);
	check(error, fd, plan, &err);
	close(fd);
	return 0;
}
