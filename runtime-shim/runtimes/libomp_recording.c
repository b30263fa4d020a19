// SPDX-License-Identifier: BSD-2-Clause
#include "runtime-shim/runtimes/libomp_recording.h"
#include "runtime-shim/ring/connect.h"
#include "runtime-shim/runtimes/loaded_object.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool asked_for_probes;

const void *libomp__base_of(const void *address)
{
	Dl_info info;

	return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* Whether the object has code of GCC, which calls GOMP_*. */
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

/* GCC's code also runs on libomp, which reports too little about its loops. */
static bool is_for_gnu_code(const void *base)
{
	return libomp__base_of(dlsym(RTLD_NEXT, "GOMP_parallel")) == base &&
	       dl_iterate_phdr(has_gnu_code, NULL);
}

int libomp__attach(const void *base)
{
	if (shim_process.libomp_attached && shim_process.libomp_recorded == base)
		return 0;
	if (shim_process.libomp_recorded)
		return -EALREADY;
	if (dl_iterate_phdr(has_gnu_code, NULL))
		return -EOPNOTSUPP;
	__atomic_store_n(&shim_process.libomp_attached, true, __ATOMIC_RELAXED);
	__atomic_store_n(&shim_process.libomp_recorded, base, __ATOMIC_RELAXED);
	return 0;
}

/* Whether a libomp at `base` will have another tool, or none. */
static bool has_other_tool(const void *base)
{
	const char *names = getenv("OMP_TOOL_LIBRARIES"), *tools = getenv("OMP_TOOL");
	const void *next = dlsym(RTLD_NEXT, "ompt_start_tool");

	return (names && *names) || (tools && !strcasecmp(tools, "disabled")) ||
	       (next && base && libomp__base_of(next) != base);
}

void libomp__ask_for_probes(void)
{
	if (!__atomic_exchange_n(&asked_for_probes, true, __ATOMIC_RELAXED) && !connect__ask_for_probes())
		__atomic_store_n(&asked_for_probes, false, __ATOMIC_RELAXED);
}

bool libomp__has_probes(void)
{
	return __atomic_load_n(&asked_for_probes, __ATOMIC_RELAXED);
}

bool libomp__needs_probes(const void *base)
{
	return has_other_tool(base) || (base && is_for_gnu_code(base));
}

void libomp__meet(const void *base)
{
	if (secure_getenv(SHIM_SOCKET_VARIABLE) && connect__is_wanted() &&
	    !__atomic_load_n(&shim_process.libomp_recorded, __ATOMIC_RELAXED) && libomp__needs_probes(base))
		libomp__ask_for_probes();
}

/* Decides about a libomp that is loaded with the program, in time for its first region. */
static __attribute__((constructor)) void load(void)
{
	const void *base;

	if (!secure_getenv(SHIM_SOCKET_VARIABLE))
		return;
	base = libomp__base_of(dlsym(RTLD_NEXT, "__kmpc_fork_call"));
	if (libomp__needs_probes(base))
		libomp__ask_for_probes();
}
