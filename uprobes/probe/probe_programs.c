// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/probe/probe_programs.h"
#include "bpf/abi/ring_abi.h"
#include "uprobes/probe/probe_links.h"

#include "bpf/openmp.skel.h"

#include <errno.h>
#include <stdlib.h>

#define RUNTIMES (RUNTIME_LOOPS + 1)

struct probe_programs {
	struct openmp_bpf *shared;
	bool multi;
	struct openmp_bpf *
		loaded[RUNTIMES]; /* by enum probe_runtime: the skeleton with its program; NULL: not loaded */
};
static struct bpf_program *program_in(const struct openmp_bpf *skeleton, enum probe_runtime runtime)
{
	return runtime == RUNTIME_PROGRAM  ? skeleton->progs.bodies_probe
	       : runtime == RUNTIME_LOOPS  ? skeleton->progs.loops_probe
	       : runtime == RUNTIME_LIBOMP ? skeleton->progs.libomp_probe
					   : skeleton->progs.libgomp_probe;
}

void probe_programs__choose(const struct openmp_bpf *skeleton, unsigned int ready, bool multi)
{
	for (int i = 0; i < RUNTIMES; i++) {
		struct bpf_program *program = program_in(skeleton, (enum probe_runtime)i);

		bpf_program__set_autoload(program, ready >> i & 1);
		if (multi)
			bpf_program__set_expected_attach_type(program, (enum bpf_attach_type)
									       PROBE_ATTACH_UPROBE_MULTI);
	}
}

int probe_programs__new(struct openmp_bpf *shared, unsigned int ready, bool multi,
			struct probe_programs **out)
{
	struct probe_programs *programs = calloc(1, sizeof(*programs));

	if (!programs)
		return -ENOMEM;
	programs->shared = shared;
	programs->multi = multi;
	for (int i = 0; i < RUNTIMES; i++)
		programs->loaded[i] = ready >> i & 1 ? shared : NULL;
	*out = programs;
	return 0;
}

void probe_programs__free(struct probe_programs *programs)
{
	if (!programs)
		return;
	for (int i = 0; i < RUNTIMES; i++)
		if (programs->loaded[i] != programs->shared)
			openmp_bpf__destroy(programs->loaded[i]);
	free(programs);
}

/* Maps that the capture does not use are not made for the program either. */
static int share_maps(const struct openmp_bpf *shared, const struct openmp_bpf *skeleton)
{
	struct bpf_map *map;
	int r = 0;

	bpf_object__for_each_map(map, skeleton->obj)
	{
		const struct bpf_map *whole = bpf_object__find_map_by_name(shared->obj, bpf_map__name(map));
		int fd = whole ? bpf_map__fd(whole) : -1;

		r = fd >= 0 ? bpf_map__reuse_fd(map, fd) : bpf_map__set_autocreate(map, false);
		if (r)
			break;
	}
	return r;
}

static int load(struct probe_programs *programs, enum probe_runtime runtime)
{
	struct openmp_bpf *skeleton = openmp_bpf__open();
	struct bpf_program *program;
	int r;

	if (!skeleton)
		return -errno;
	bpf_object__for_each_program(program, skeleton->obj) bpf_program__set_autoload(program, false);
	probe_programs__choose(skeleton, 1u << runtime, programs->multi);
	if ((r = share_maps(programs->shared, skeleton)) || (r = openmp_bpf__load(skeleton))) {
		openmp_bpf__destroy(skeleton);
		return r;
	}
	programs->loaded[runtime] = skeleton;
	return 0;
}

int probe_programs__get(struct probe_programs *programs, enum probe_runtime runtime, struct bpf_program **out)
{
	int r = programs->loaded[runtime] ? 0 : load(programs, runtime);

	if (!r)
		*out = program_in(programs->loaded[runtime], runtime);
	return r;
}
