// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/programs/installed_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int installed_file__find(const char *name, char *path, size_t size)
{
	static const char *const places[] = {"", "../lib/graind/"};
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (length < 0)
		return -errno;
	self[length] = 0;
	slash = strrchr(self, '/');
	if (!slash)
		return -ENOENT;
	slash[1] = 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int written = snprintf(path, size, "%s%s%s", self, places[i], name);

		if (written > 0 && (size_t)written < size && access(path, R_OK) == 0)
			return 0;
	}
	return -ENOENT;
}
