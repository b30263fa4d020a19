// SPDX-License-Identifier: BSD-2-Clause
/*
 * loader PLUGIN...: without OpenMP itself, loads each plugin and calls its `run`
 * 20 times, with a pause after the first.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *plugin = dlopen(argv[i], RTLD_NOW);
		void (*run)(int) = plugin ? (void (*)(int))dlsym(plugin, "run") : NULL;

		if (!run) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		for (int k = 0; k < 20; k++) {
			run(50);
			if (k == 0)
				usleep(700000);
		}
	}
	return 0;
}
