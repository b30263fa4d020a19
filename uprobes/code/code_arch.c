// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/code/code_arch.h"

#include <elf.h>

const struct code_arch *code_arch__of(uint16_t machine)
{
	return machine == EM_X86_64 ? &code_x86_64 : machine == EM_AARCH64 ? &code_aarch64 : NULL;
}

const struct code_arch *code_arch__native(void)
{
#if defined(__aarch64__)
	return &code_aarch64;
#else
	return &code_x86_64;
#endif
}
