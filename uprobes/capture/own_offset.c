// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/capture/own_offset.h"

#include <errno.h>
#include <stdio.h>

int own_offset(uint64_t address, uint64_t *offset)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long start, end, at;
	char line[512];
	int r = -ENOENT;

	if (!f)
		return -errno;
	while (r && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &at) == 3 && address >= start &&
		    address < end) {
			*offset = address - start + at;
			r = 0;
		}
	fclose(f);
	return r;
}
