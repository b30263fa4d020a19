// SPDX-License-Identifier: BSD-2-Clause
/*
 * loader [until:FILE] PLUGIN...: without OpenMP itself, loads each plugin and calls its
 * `run` 20 times. After the first time it waits until there is the last FILE before it.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *file = "/";

	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "until:", 6)) {
			file = argv[i] + 6;
			continue;
		}
		void *plugin = dlopen(argv[i], RTLD_NOW);
		void (*run)(int) = plugin ? (void (*)(int))dlsym(plugin, "run") : NULL;

		if (!run) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		for (int k = 0; k < 20; k++) {
			run(50);
			while (k == 0 && access(file, F_OK))
				usleep(1000);
		}
	}
	return 0;
}
