// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/base/thread_names.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

void thread_names__replace(const char *prefix, const char *name)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;

	while (tasks && (entry = readdir(tasks))) {
		char path[300], now[64] = "";
		FILE *file;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "r+e");
		if (!file)
			continue;
		if (fgets(now, sizeof(now), file) && !strncmp(now, prefix, strlen(prefix))) {
			rewind(file);
			fputs(name, file);
		}
		fclose(file);
	}
	if (tasks)
		closedir(tasks);
}
