// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/grainctl/launch/shim_library.h"
#include "daemon/common/programs/installed_file.h"
#include "daemon/common/programs/defaults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libgrainshim.so"

int shim_library__find(const char *socket, char library[4400], char where[128], char why[512])
{
	if (installed_file__find(LIBRARY, library, 4400) != 0) {
		snprintf(why, 512,
			 LIBRARY " is not beside grainctl; build or install it, or go without --fast");
		return -1;
	}
	if (snprintf(where, 128, "%s" SHIM_SOCKET_SUFFIX, socket) < 128)
		return 0;
	snprintf(why, 512, "the socket's name is too long: %.100s", socket);
	return -1;
}

int shim_library__preload(const char *socket, char why[512])
{
	const char *others = getenv("LD_PRELOAD");
	char library[4400], *preload = NULL, *where = NULL;
	int error = -1;

	if (installed_file__find(LIBRARY, library, sizeof(library)) != 0) {
		snprintf(why, 512,
			 LIBRARY " is not beside grainctl; build or install it, or run without --fast");
		return -1;
	}
	if (asprintf(&preload, "%s%s%s", library, others && *others ? ":" : "", others ? others : "") < 0)
		preload = NULL;
	if (asprintf(&where, "%s" SHIM_SOCKET_SUFFIX, socket) < 0)
		where = NULL;
	if (preload && where && setenv("LD_PRELOAD", preload, 1) == 0 &&
	    setenv(ENV_SHIM_SOCKET, where, 1) == 0)
		error = 0;
	else
		snprintf(why, 512, "out of memory");
	free(preload);
	free(where);
	return error;
}
