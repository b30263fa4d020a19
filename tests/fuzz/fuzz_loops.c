// SPDX-License-Identifier: BSD-2-Clause
/* The search for static loops in hostile files: make fuzz-loops. */
#include "tests/fuzz/target.h"
#include "uprobes/static_loops/static_loops.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SECONDS_MAX 100 /* of CPU time, with sanitizers */

/* A plan whose points lie in the file, and that can be written and read; or one line that says why not. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct uprobes_error err = {.text = ""};
	struct probe_plan *plan = NULL, *again = NULL;
	int fd = memfd_create("fuzz", MFD_CLOEXEC), error;
	clock_t began = clock();
	char *text = NULL;
	size_t length;
	FILE *out;

	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	error = static_loops__plan_fd(fd, "the file", &plan, &err);
	MUST((clock() - began) / CLOCKS_PER_SEC < SECONDS_MAX);
	MUST(error ? error < 0 && !plan && err.text[0] && !strchr(err.text, '\n') : plan != NULL);
	close(fd);
	if (error)
		return 0;
	for (size_t i = 0; i < probe_plan__count(plan); i++)
		MUST(probe_plan__point(plan, i)->offset < size);
	out = open_memstream(&text, &length);
	MUST(out && !probe_plan__write(plan, out) && !fclose(out));
	MUST(!probe_plan__read("the file", text, &again));
	MUST(probe_plan__count(again) == probe_plan__count(plan));
	probe_plan__free(again);
	probe_plan__free(plan);
	free(text);
	return 0;
}
