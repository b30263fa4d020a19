// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/elf/elf_runtime.h"

#include <string.h>

static const char *const telling[] = {"GOMP_parallel", "GOMP_task", "__kmpc_fork_call", "__kmpc_barrier"};

unsigned int elf_runtime__seen(const char *name)
{
	for (unsigned int i = 0; i < sizeof(telling) / sizeof(telling[0]); i++)
		if (strcmp(name, telling[i]) == 0)
			return 1u << i;
	return 0;
}

/*
 * LLVM's runtime also has GCC's entry points. A library that stands before both (libgrainshim) has some of
 * each.
 */
enum elf_runtime elf_runtime__of(unsigned int seen)
{
	if (seen & 4)
		return seen & 8 ? ELF_RUNTIME_LIBOMP : ELF_RUNTIME_NONE;
	return (seen & 3) == 3 ? ELF_RUNTIME_LIBGOMP : ELF_RUNTIME_NONE;
}
