/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults on fresh pages for ever: a neighbour whose page faults are not to be counted for others. */
#include <sys/mman.h>

int main(void)
{
	for (;;) {
		char *p = mmap(0, 64 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (int i = 0; i < 64; i++)
			((volatile char *)p)[i << 12] = 1;
		munmap(p, 64 << 12);
	}
}
