// SPDX-License-Identifier: BSD-2-Clause
/*
 * runtimes PLUGIN.so...: loads plugins that each bring a runtime, and has them make
 * teams in turn; then their copies PLUGIN_again.so, one at a time, so that what was at
 * an address is another's. Says whether all teams were right, and of how many tasks.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS 40
#define TASKS 50
#define PLUGINS_MAX 8

typedef bool (*team_fn)(int threads, int tasks);

static void *load(const char *path, team_fn *team)
{
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	*team = plugin ? (team_fn)dlsym(plugin, "team") : NULL;
	if (!*team)
		fprintf(stderr, "%s\n", dlerror());
	return plugin;
}

int main(int argc, char **argv)
{
	team_fn teams[PLUGINS_MAX];
	int count = argc - 1, wrong = 0, made = 0;

	if (count > PLUGINS_MAX)
		return 2;
	for (int i = 0; i < count; i++) {
		load(argv[i + 1], &teams[i]);
		if (!teams[i])
			return 2;
	}
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < count; i++, made++)
			wrong += !teams[i](2 + i, TASKS);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < count; i++, made++) {
			char copy[4096];
			void *plugin;

			snprintf(copy, sizeof(copy), "%.*s_again.so", (int)strlen(argv[i + 1]) - 3,
				 argv[i + 1]);
			plugin = load(copy, &teams[i]);
			if (!teams[i])
				return 2;
			wrong += !teams[i](2 + i, TASKS);
			dlclose(plugin);
		}
	}
	printf("{\"correct\":%s,\"wrong\":%d,\"tasks\":%d}\n", wrong ? "false" : "true", wrong, made * TASKS);
	return 0;
}
