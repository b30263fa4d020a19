// SPDX-License-Identifier: BSD-2-Clause
/* libomp asks at its start whether somebody wants to be its tool: whether it is recorded from inside is
 * decided here. */
#include "runtime-shim/connect.h"
#include "runtime-shim/kmpc.h"
#include "runtime-shim/loaded_object.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct ompt_start_tool_result *(*start_tool_fn)(unsigned version, const char *runtime);

const void *ompt_runtime;
bool kmpc_alone;
ompt_get_task_info ompt_task_info;
struct ompt_own ompt_own;
static bool asked_for_probes;

/* Where this library's code is. */
static int find_own(struct dl_phdr_info *object, size_t size, void *unused)
{
	(void)size, (void)unused;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		uintptr_t start = object->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD || (uintptr_t)find_own - start >= part->p_memsz)
			continue;
		ompt_own = (struct ompt_own){start, part->p_memsz};
		return 1;
	}
	return 0;
}

static int initialize(ompt_lookup lookup, int device, union ompt_data *tool)
{
	ompt_set_callback set = (ompt_set_callback)lookup("ompt_set_callback");

	(void)device, (void)tool;
	ompt_task_info = (ompt_get_task_info)lookup("ompt_get_task_info");
	if (!set || !ompt_task_info) {
		__atomic_store_n(&ompt_runtime, NULL, __ATOMIC_RELAXED);
		connect__ask_for_probes();
		return 0;
	}
	dl_iterate_phdr(find_own, NULL);
	ompt_tasks__set(set);
	ompt_teams__set(set);
	ompt_locks__set(set);
	return 1;
}

static void finalize(union ompt_data *tool)
{
	(void)tool;
}

static const void *base_of(const void *address)
{
	Dl_info info;

	return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* Whether calls of the runtime at `base` come through this library: one that is linked into a program calls
 * itself. */
static bool is_interposed(const void *base, const void *inside)
{
	Dl_info info;
	void *handle = dladdr(inside, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	const void *its = handle ? dlsym(handle, "__kmpc_fork_call") : NULL;

	if (handle)
		dlclose(handle);
	return base_of(its) == base &&
	       base_of(dlsym(RTLD_DEFAULT, "__kmpc_omp_task")) == base_of(&ompt_runtime);
}

/* Whether the object has code of GCC's, which calls GOMP_*. */
static int has_gnu_code(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct loaded_object o;

	(void)size, (void)unused;
	if (!loaded_object__read(info, &o))
		return 0;
	for (size_t t = 0; t < sizeof(o.relocations) / sizeof(o.relocations[0]); t++) {
		for (size_t i = 0; o.relocations[t].first && i < o.relocations[t].count; i++) {
			const Elf64_Sym *symbol = &o.symbols[ELF64_R_SYM(o.relocations[t].first[i].r_info)];

			if (symbol->st_shndx == SHN_UNDEF && !strncmp(o.names + symbol->st_name, "GOMP_", 5))
				return 1;
		}
	}
	return 0;
}

/* GCC's code runs on libomp, too, which tells of its loops nothing that would be enough. */
static bool is_for_gnu_code(const void *base)
{
	return base_of(dlsym(RTLD_NEXT, "GOMP_parallel")) == base && dl_iterate_phdr(has_gnu_code, NULL);
}

int ompt__come_late(const void *base)
{
	if (kmpc_alone && ompt_runtime == base)
		return 0;
	if (ompt_runtime)
		return -EALREADY;
	if (dl_iterate_phdr(has_gnu_code, NULL))
		return -EOPNOTSUPP;
	__atomic_store_n(&kmpc_alone, true, __ATOMIC_RELAXED);
	__atomic_store_n(&ompt_runtime, base, __ATOMIC_RELAXED);
	return 0;
}

/* Whether a libomp at `base` will have another tool, or none. */
static bool has_other_tool(const void *base)
{
	const char *names = getenv("OMP_TOOL_LIBRARIES"), *tools = getenv("OMP_TOOL");
	const void *next = dlsym(RTLD_NEXT, "ompt_start_tool");

	return (names && *names) || (tools && !strcasecmp(tools, "disabled")) ||
	       (next && base && base_of(next) != base);
}

/* Once is enough, if somebody was there: a program that is run has a job when its own code begins. */
static void ask_for_probes(void)
{
	if (!__atomic_exchange_n(&asked_for_probes, true, __ATOMIC_RELAXED) && !connect__ask_for_probes())
		__atomic_store_n(&asked_for_probes, false, __ATOMIC_RELAXED);
}

/* Whether a libomp that is not recorded from inside is to be probed: of one without a tool nothing else
 * tells. */
static bool needs_probes(const void *base)
{
	return has_other_tool(base) || (base && is_for_gnu_code(base));
}

void ompt__meet(const void *base)
{
	if (getenv(SHIM_SOCKET_VARIABLE) && connect__is_wanted() &&
	    !__atomic_load_n(&ompt_runtime, __ATOMIC_RELAXED) && needs_probes(base))
		ask_for_probes();
}

/* What is known of a libomp that is loaded with the program: in time for the first region. */
static __attribute__((constructor)) void load(void)
{
	const void *base;

	if (!getenv(SHIM_SOCKET_VARIABLE))
		return;
	base = base_of(dlsym(RTLD_NEXT, "__kmpc_fork_call"));
	if (needs_probes(base))
		ask_for_probes();
}

EXPORT struct ompt_start_tool_result *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct ompt_start_tool_result result = {initialize, finalize, {0}};
	start_tool_fn next = (start_tool_fn)(uintptr_t)dlsym(RTLD_NEXT, "ompt_start_tool");
	/* Another tool may hand the question on, so the caller need not be the runtime; its version is its
	 * own. */
	const void *inside = runtime, *base = base_of(inside);
	struct ompt_start_tool_result *others = next ? next(version, runtime) : NULL;

	if (!connect__is_wanted())
		return others;
	if (others || asked_for_probes || ompt_runtime || !base || has_other_tool(base) ||
	    !is_interposed(base, inside) || is_for_gnu_code(base)) {
		ask_for_probes();
		return others;
	}
	if (!connect__open(SHIM_RUNTIME_LIBOMP))
		return NULL;
	__atomic_store_n(&ompt_runtime, base, __ATOMIC_RELAXED);
	return &result;
}
