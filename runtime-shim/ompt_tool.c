// SPDX-License-Identifier: BSD-2-Clause
/* libomp asks at its start whether somebody wants to be its tool: whether it is recorded from inside is
 * decided here. */
#include "runtime-shim/connect.h"
#include "runtime-shim/kmpc.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct ompt_start_tool_result *(*start_tool_fn)(unsigned version, const char *runtime);

const void *ompt_runtime;
bool kmpc_alone;
ompt_get_task_info ompt_task_info;
static uintptr_t own_code, own_bytes;
static bool asked_for_probes;

const void *ompt__site(const void *code)
{
	return (uintptr_t)code - own_code < own_bytes ? kmpc_thread.caller : code;
}

/* Where this library's code is. */
static int find_own(struct dl_phdr_info *object, size_t size, void *unused)
{
	(void)size, (void)unused;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		uintptr_t start = object->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD || (uintptr_t)find_own - start >= part->p_memsz)
			continue;
		own_code = start;
		own_bytes = part->p_memsz;
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
		ompt_runtime = NULL;
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

static const void *place(const struct dl_phdr_info *object, ElfW(Addr) address)
{
	/* The loader has made addresses of most of them. */
	return (const void *)(address >= object->dlpi_addr ? address : object->dlpi_addr + address);
}

static bool calls_gnu(const ElfW(Sym) * symbols, const char *names, const ElfW(Rela) * entries, size_t bytes)
{
	for (size_t i = 0; symbols && names && entries && i < bytes / sizeof(*entries); i++) {
		const ElfW(Sym) *symbol = &symbols[ELF64_R_SYM(entries[i].r_info)];

		if (symbol->st_shndx == SHN_UNDEF && !strncmp(names + symbol->st_name, "GOMP_", 5))
			return true;
	}
	return false;
}

/* Whether the object has code of GCC's, which calls GOMP_*. */
static int has_gnu_code(struct dl_phdr_info *object, size_t size, void *unused)
{
	const ElfW(Dyn) *d = NULL;
	const void *symbols = NULL, *names = NULL, *calls = NULL, *others = NULL;
	size_t call_bytes = 0, other_bytes = 0;

	(void)size, (void)unused;
	for (int i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
			d = (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_SYMTAB:
			symbols = place(object, d->d_un.d_ptr);
			break;
		case DT_STRTAB:
			names = place(object, d->d_un.d_ptr);
			break;
		case DT_JMPREL:
			calls = place(object, d->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			call_bytes = d->d_un.d_val;
			break;
		case DT_RELA:
			others = place(object, d->d_un.d_ptr);
			break;
		case DT_RELASZ:
			other_bytes = d->d_un.d_val;
			break;
		default:
			break;
		}
	}
	return calls_gnu(symbols, names, calls, call_bytes) || calls_gnu(symbols, names, others, other_bytes);
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
	kmpc_alone = true;
	ompt_runtime = base;
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
	ompt_runtime = base;
	return &result;
}
