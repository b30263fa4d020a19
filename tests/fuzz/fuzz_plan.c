// SPDX-License-Identifier: BSD-2-Clause
/*
 * The probe planner on hostile files. With libFuzzer (make fuzz-plan) inputs
 * are mutated; as a plain program it replays the files that it is given:
 *   fuzz_plan FILE...
 */
#include "uprobes/bodies.h"
#include "uprobes/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

#ifdef REPLAY
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		FILE *in = fopen(argv[i], "rb");
		char *bytes = malloc(64u << 20);
		size_t size = in && bytes ? fread(bytes, 1, 64u << 20, in) : 0;

		if (!in || !bytes) {
			fprintf(stderr, "cannot read %s\n", argv[i]);
			free(bytes);
			return 1;
		}
		LLVMFuzzerTestOneInput((const uint8_t *)bytes, size);
		free(bytes);
		fclose(in);
	}
	printf("%d files\n", argc - 1);
	return 0;
}
#endif
