/* SPDX-License-Identifier: BSD-2-Clause */
/* In a program: a dlopen that fails by a signal when it is to load graind's library. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

void *dlopen(const char *name, int flags)
{
	volatile int *volatile nothing = NULL;

	(void)flags;
	if (name && strstr(name, "libgrainshim"))
		*nothing = 0;
	return NULL;
}
