// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/make_plan/make_plan.h"
#include "uprobes/elf/elf_notes.h"
#include "uprobes/libgomp/libgomp.h"
#include "uprobes/libomp/libomp.h"
#include "uprobes/plan/plan_data.h"
#include "uprobes/make_plan/function_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int tell_runtime(struct probe_plan *plan, struct elf_image *image, struct uprobes_error *err)
{
	int r;

	if (elf_image__runtime(image) == ELF_RUNTIME_NONE) {
		snprintf(err->text, sizeof(err->text),
			 "%s: no OpenMP runtime in it (neither GOMP_parallel and GOMP_task nor "
			 "__kmpc_fork_call are defined)",
			 plan->path);
		r = function_names__recognise(image, plan->path, err);
		if (r)
			return r;
	}
	plan->runtime = elf_image__runtime(image) == ELF_RUNTIME_LIBOMP ? RUNTIME_LIBOMP : RUNTIME_LIBGOMP;
	return 0;
}

static void close_image(void *image)
{
	elf_image__close(image);
}

static int create(int fd, const char *name, bool foreign, struct probe_plan **out, struct uprobes_error *err)
{
	struct uprobes_error ignored;
	struct planner planner = {.err = err ? err : &ignored};
	struct probe_plan *plan = probe_plan__new(name);
	struct elf_image *image = NULL;
	struct code *code = NULL;
	int r = -ENOMEM;

	planner.err->text[0] = '\0';
	if (!plan)
		goto out;
	r = elf_image__open_fd(fd, name, &image, planner.err);
	if (r)
		goto out;
	plan->names = image;
	plan->free_names = close_image;
	if (!foreign && elf_image__machine(image) != code_arch__native()->machine) {
		snprintf(planner.err->text, sizeof(planner.err->text),
			 "%s: not an ELF file of %s; it is for %s", name, code_arch__native()->name,
			 code_arch__of(elf_image__machine(image))->name);
		r = -ENOEXEC;
		goto out;
	}
	snprintf(plan->build_id, sizeof(plan->build_id), "%s", elf_image__build_id(image));
	plan->build_id_at = elf_image__build_id_at(image);
	plan->shadow_stack = elf_notes__keep_shadow_stack(elf_image__elf(image));
	planner.image = image;
	planner.plan = plan;
	r = tell_runtime(plan, image, planner.err);
	if (!r)
		r = code__load(image, &code, planner.err);
	if (r)
		goto out;
	planner.code = code;
	r = plan->runtime == RUNTIME_LIBOMP ? libomp__find(&planner) : libgomp__find(&planner);
	if (r || (r = planner.status))
		goto out;
	*out = plan;
	plan = NULL;
out:
	if (r && !planner.err->text[0])
		snprintf(planner.err->text, sizeof(planner.err->text), "%s: %s", name, strerror(-r));
	code__free(code);
	probe_plan__free(plan);
	return r;
}

int probe_plan__create_fd(int fd, const char *name, struct probe_plan **out, struct uprobes_error *err)
{
	return create(fd, name, false, out, err);
}

int probe_plan__create_foreign(int fd, const char *name, struct probe_plan **out, struct uprobes_error *err)
{
	return create(fd, name, true, out, err);
}

int probe_plan__create(const char *path, struct probe_plan **out, struct uprobes_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), r;

	if (fd < 0) {
		r = -errno;
		if (err)
			snprintf(err->text, sizeof(err->text), "%s: %s", path, strerror(-r));
		return r;
	}
	r = create(fd, path, false, out, err);
	close(fd);
	return r;
}
