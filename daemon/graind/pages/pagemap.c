// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/pages/pagemap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int pagemap__open(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

uint64_t pagemap__entry(int fd, uint64_t address)
{
	uint64_t entry;

	if (fd < 0 || pread(fd, &entry, sizeof(entry),
			    (off_t)(address / PAGEMAP_PAGE_BYTES * sizeof(entry))) != sizeof(entry))
		return 0;
	return entry;
}
