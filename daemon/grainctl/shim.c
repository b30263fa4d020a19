// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/grainctl/shim.h"
#include "daemon/common/defaults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libgrainshim.so"
/* Installed: bin/grainctl and lib/graind/libgrainshim.so. */
#define INSTALLED "../lib/graind/" LIBRARY

/* Beside grainctl, or where it is installed. */
static int find_library(char *path, size_t size)
{
	static const char *const places[] = {LIBRARY, INSTALLED};
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n < 0)
		return -1;
	self[n] = 0;
	slash = strrchr(self, '/');
	if (!slash)
		return -1;
	slash[1] = 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if ((size_t)snprintf(path, size, "%s%s", self, places[i]) < size && access(path, R_OK) == 0)
			return 0;
	return -1;
}

int shim__find(const char *socket, char library[4400], char where[128], char why[512])
{
	if (find_library(library, 4400) != 0) {
		snprintf(why, 512,
			 LIBRARY " is not beside grainctl; build or install it, or go without --fast");
		return -1;
	}
	if (snprintf(where, 128, "%s" SHIM_SOCKET_SUFFIX, socket) < 128)
		return 0;
	snprintf(why, 512, "the socket's name is too long: %.100s", socket);
	return -1;
}

int shim__prepare(const char *socket, char why[512])
{
	const char *others = getenv("LD_PRELOAD");
	char library[4400], *preload = NULL, *where = NULL;
	int error = -1;

	if (find_library(library, sizeof(library)) != 0) {
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
