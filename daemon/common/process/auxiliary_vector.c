// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/process/auxiliary_vector.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

uint64_t auxiliary_vector__read(pid_t pid, uint64_t kind)
{
	Elf64_auxv_t vector[128];
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	got = read(fd, vector, sizeof(vector));
	close(fd);
	for (size_t i = 0; got > 0 && i < (size_t)got / sizeof(vector[0]); i++)
		if (vector[i].a_type == kind)
			return vector[i].a_un.a_val;
	return 0;
}
