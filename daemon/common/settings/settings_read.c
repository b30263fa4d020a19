// SPDX-License-Identifier: BSD-2-Clause
/* What stands still: the machine, limits, environment, mapped libraries and memory policy. */
#include "daemon/common/settings/settings_read.h"
#include "daemon/common/settings/settings_watch.h"
#include "daemon/common/settings/small_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX (256 * 1024)
#define NODES_MAX 64

void settings__read_environment(pid_t pid, struct settings_environment *out)
{
	char *text = malloc(TEXT_MAX);
	long bytes = text ? small_file__read(text, TEXT_MAX, "/proc/%d/environ", (int)pid) : 0;

	memset(out, 0, sizeof(*out));
	/* The file is empty for a process that has just begun or that ends. */
	if (bytes > 0)
		settings_environment__read(text, (size_t)bytes, out);
	free(text);
}

int settings__read_limits(pid_t pid, struct cgroup_limits *out)
{
	char *groups = malloc(TEXT_MAX), *mounts = malloc(TEXT_MAX);
	int error = groups && mounts ? 0 : -ENOMEM;

	memset(out, 0, sizeof(*out));
	if (!error) {
		small_file__read(groups, TEXT_MAX, "/proc/%d/cgroup", (int)pid);
		small_file__read(mounts, TEXT_MAX, "/proc/self/mounts");
		cgroup_limits__read(groups, mounts, out);
	}
	free(groups);
	free(mounts);
	return error;
}

static void read_machine(struct settings_facts *facts)
{
	char list[4096];
	struct cpus cpus;

	small_file__read(list, sizeof(list), "/sys/devices/system/cpu/online");
	if (!cpus__read(list, &facts->online) || !cpus__count(&facts->online))
		cpus__add(&facts->online, 0);
	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++) {
		facts->core[cpu] = (uint16_t)cpu;
		if (cpus__has(&facts->online, cpu) &&
		    small_file__read(list, sizeof(list),
				     "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", cpu) > 0)
			facts->core[cpu] = (uint16_t)strtoul(list, NULL, 10);
	}
	for (unsigned int node = 0; node < NODES_MAX; node++) {
		if (small_file__read(list, sizeof(list), "/sys/devices/system/node/node%u/cpulist", node) <=
			    0 ||
		    !cpus__read(list, &cpus))
			continue;
		facts->nodes++;
		for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++) {
			if (cpus__has(&cpus, cpu))
				facts->node[cpu] = (uint8_t)node;
		}
	}
}

/* The library's name if it has threads of its own, without its version. */
static bool is_pool(const char *path, char *out, size_t size)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	bool blas = !strncmp(name, "libopenblas", 11) || !strncmp(name, "libscipy_openblas", 17);

	/* Variants that use OpenMP or no threads have no pool. */
	if (strstr(path, "openmp") || strstr(path, "serial") || !strncmp(name, "libopenblaso", 12) ||
	    (!blas && (strncmp(name, "libblis", 7) || !strstr(path, "pthread"))))
		return false;
	snprintf(out, size, "%s", blas ? "OpenBLAS" : "blis");
	return true;
}

static void read_maps(pid_t pid, struct settings_facts *facts)
{
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0) {
		const char *name = strchr(line, '/'), *base = name ? strrchr(name, '/') + 1 : NULL;

		facts->maps_known = true;
		if (!base)
			continue;
		facts->libgomp |= !strncmp(base, "libgomp", 7);
		facts->libomp |= !strncmp(base, "libomp.", 7) || !strncmp(base, "libomp-", 7) ||
				 !strncmp(base, "libiomp5", 8);
		if (!facts->pool[0])
			is_pool(name, facts->pool, sizeof(facts->pool));
	}
	free(line);
	if (file)
		fclose(file);
}

/* "0-1,3": one bit for each node. */
static uint64_t nodes_in(const char *list)
{
	struct cpus nodes;
	char text[64];

	snprintf(text, sizeof(text), "%.*s", (int)strspn(list, "0123456789,-"), list);
	return cpus__read(text, &nodes) ? nodes.bits[0] : 0;
}

/* Lines are "ADDRESS POLICY ... anon=PAGES ...". */
static void read_memory(pid_t pid, struct settings_facts *facts)
{
	unsigned long long all = 0, bound = 0, interleaved = 0, pages;
	char path[64], policy[64], *line = NULL;
	uint64_t nodes = 0;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/numa_maps", (int)pid);
	file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0) {
		const char *anon = strstr(line, " anon=");

		if (!anon || sscanf(anon, " anon=%llu", &pages) != 1 || sscanf(line, "%*s %63s", policy) != 1)
			continue;
		all += pages;
		if (!strncmp(policy, "bind", 4)) {
			bound += pages;
			nodes |= nodes_in(policy + strcspn(policy, ":") + (strchr(policy, ':') != NULL));
		} else if (!strncmp(policy, "interleave", 10)) {
			interleaved += pages;
		}
	}
	free(line);
	if (file)
		fclose(file);
	facts->bound_nodes = all && bound > all / 2 ? nodes : 0;
	facts->interleaved = all && interleaved > all / 2;
}

static void read_memory_nodes(pid_t pid, struct settings_facts *facts)
{
	char *text = malloc(TEXT_MAX);
	const char *line;

	if (text && small_file__read(text, TEXT_MAX, "/proc/%d/status", (int)pid) > 0) {
		line = strstr(text, "Mems_allowed_list:");
		if (line)
			facts->memory_nodes = nodes_in(line + strcspn(line, "0123456789"));
	}
	free(text);
}

void settings__free(struct settings_facts *facts)
{
	if (facts) {
		free(facts->processes);
		free(facts->threads);
		free(facts);
	}
}

int settings__read(pid_t pid, struct settings_facts **out)
{
	struct settings_facts *facts = calloc(1, sizeof(*facts));
	struct cgroup_limits *limits = malloc(sizeof(*limits));
	int error = facts && limits ? settings__read_limits(pid, limits) : -ENOMEM;

	if (!error) {
		read_machine(facts);
		facts->quota = limits->quota;
		facts->cpuset = limits->cpuset;
		settings__read_environment(pid, &facts->environment);
		read_maps(pid, facts);
		if (facts->nodes > 1) {
			read_memory(pid, facts);
			read_memory_nodes(pid, facts);
		}
		error = settings__watch(pid, limits, facts);
	}
	free(limits);
	if (error)
		settings__free(facts);
	else
		*out = facts;
	return error;
}
