// SPDX-License-Identifier: BSD-2-Clause
/*
 * At its start, libomp asks whether it has a tool. The answer decides whether libomp is recorded from
 * inside.
 */
#include "runtime-shim/ring/connect.h"
#include "runtime-shim/libomp/kmpc.h"

#include <dlfcn.h>
#include <link.h>

typedef struct ompt_start_tool_result *(*start_tool_fn)(unsigned version, const char *runtime);

struct ompt_tool ompt_tool;

struct code_search {
	uintptr_t address; /* an address in the object */
	struct ompt_code *out;
};

static int find_code(struct dl_phdr_info *object, size_t size, void *argument)
{
	const struct code_search *search = argument;
	uintptr_t low = UINTPTR_MAX, high = 0;

	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		uintptr_t start = object->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD)
			continue;
		low = start < low ? start : low;
		high = start + part->p_memsz > high ? start + part->p_memsz : high;
	}
	if (search->address < low || search->address >= high)
		return 0;
	*search->out = (struct ompt_code){low, high - low};
	return 1;
}

static int initialize(ompt_lookup lookup, int device, union ompt_data *tool)
{
	ompt_set_callback set = (ompt_set_callback)lookup("ompt_set_callback");

	(void)device, (void)tool;
	ompt_tool.task_info = (ompt_get_task_info)lookup("ompt_get_task_info");
	if (!set || !ompt_tool.task_info) {
		__atomic_store_n(&shim_process.libomp_recorded, NULL, __ATOMIC_RELAXED);
		connect__ask_for_probes();
		return 0;
	}
	dl_iterate_phdr(find_code, &(struct code_search){(uintptr_t)find_code, &ompt_tool.own});
	/* Another tool may have passed the question on, with functions of its own. */
	dl_iterate_phdr(find_code,
			&(struct code_search){(uintptr_t)shim_process.libomp_recorded, &ompt_tool.runtime});
	ompt_tasks__set(set);
	ompt_teams__set(set);
	ompt_locks__set(set);
	return 1;
}

static void finalize(union ompt_data *tool)
{
	(void)tool;
}

/*
 * Whether calls of the runtime at `base` come through this library. A runtime that is linked into a program
 * calls its own functions.
 */
static bool is_interposed(const void *base, const void *inside)
{
	Dl_info info;
	void *handle = dladdr(inside, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	const void *its = handle ? dlsym(handle, "__kmpc_fork_call") : NULL;

	if (handle)
		dlclose(handle);
	return libomp__base_of(its) == base &&
	       libomp__base_of(dlsym(RTLD_DEFAULT, "__kmpc_omp_task")) == libomp__base_of(&shim_process);
}

EXPORT struct ompt_start_tool_result *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct ompt_start_tool_result result = {initialize, finalize, {0}};
	start_tool_fn next = (start_tool_fn)(uintptr_t)dlsym(RTLD_NEXT, "ompt_start_tool");
	/*
	 * Another tool may pass the question on. So the caller may not be the runtime, but the version is
	 * the runtime's own.
	 */
	const void *inside = runtime, *base = libomp__base_of(inside);
	struct ompt_start_tool_result *others = next ? next(version, runtime) : NULL;

	if (!connect__is_wanted())
		return others;
	if (others || libomp__has_probes() || shim_process.libomp_recorded || !base ||
	    libomp__needs_probes(base) || !is_interposed(base, inside)) {
		libomp__ask_for_probes();
		return others;
	}
	if (!connect__open(SHIM_RUNTIME_LIBOMP))
		return NULL;
	__atomic_store_n(&shim_process.libomp_recorded, base, __ATOMIC_RELAXED);
	return &result;
}
