// SPDX-License-Identifier: BSD-2-Clause
/* For processors on which libraries are not injected: all functions refuse. */
#if !defined(__x86_64__)
#include "daemon/grainctl/inject/inject_arch.h"

#include <errno.h>

bool inject_arch__supported(void)
{
	return false;
}

int inject_arch__save(pid_t tid, struct inject_registers *out)
{
	(void)tid, (void)out;
	return -ENOSYS;
}

int inject_arch__restore(pid_t tid, const struct inject_registers *saved)
{
	(void)tid, (void)saved;
	return -ENOSYS;
}

uint64_t inject_arch__pc(const struct inject_registers *registers)
{
	(void)registers;
	return 0;
}

uint64_t inject_arch__sp(const struct inject_registers *registers)
{
	(void)registers;
	return 0;
}

void inject_arch__frame(const struct inject_registers *registers, uint64_t out[INJECT_CFI_REGISTERS])
{
	(void)registers;
	for (size_t i = 0; i < INJECT_CFI_REGISTERS; i++)
		out[i] = 0;
}

bool inject_arch__in_system_call(const struct inject_registers *registers)
{
	(void)registers;
	return false;
}

int inject_arch__enter(pid_t tid, const struct inject_registers *saved, const struct inject_call *call,
		       uint64_t *result)
{
	(void)tid, (void)saved, (void)call, (void)result;
	return -ENOSYS;
}

uint64_t inject_arch__waits_for(pid_t tid)
{
	(void)tid;
	return 0;
}

bool inject_arch__returned(pid_t tid, uint64_t scratch)
{
	(void)tid, (void)scratch;
	return false;
}

bool inject_arch__is_call(const unsigned char before[INJECT_CALL_BYTES])
{
	(void)before;
	return true;
}

const unsigned char *inject_arch__signal_return(size_t *length)
{
	*length = 0;
	return NULL;
}
#endif
