// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/process/process_memory.h"

#include <sys/uio.h>

bool process_memory__read(pid_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)(uintptr_t)address, size};

	return !size || process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

bool process_memory__write(pid_t pid, uint64_t address, const void *from, size_t size)
{
	struct iovec local = {(void *)(uintptr_t)from, size}, remote = {(void *)(uintptr_t)address, size};

	return process_vm_writev(pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}
