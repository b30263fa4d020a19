// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/machine.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define CPUS "/sys/devices/system/cpu"
#define NODES "/sys/devices/system/node"
#define MAX_CPUS 8192
#define MAX_NODES 1024
/* Of nodes that do not exist; the machine's tables call it unreachable. */
#define NO_DISTANCE 255

struct cpu {
	unsigned int number, node;
	long core_id, socket_id; /* as the kernel numbers them */
	unsigned int core;	 /* counted over all sockets */
};

static long read_number(unsigned int cpu, const char *name, long fallback)
{
	char path[128];
	long value = fallback;
	FILE *file;

	snprintf(path, sizeof(path), CPUS "/cpu%u/%s", cpu, name);
	file = fopen(path, "re");
	if (!file)
		return fallback;
	if (fscanf(file, "%ld", &value) != 1)
		value = fallback;
	fclose(file);
	return value;
}

static unsigned int node_of(unsigned int cpu)
{
	char path[64];
	unsigned int node = 0;
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), CPUS "/cpu%u", cpu);
	directory = opendir(path);
	while (directory && (entry = readdir(directory))) {
		if (sscanf(entry->d_name, "node%u", &node) == 1)
			break;
	}
	if (directory)
		closedir(directory);
	return node;
}

/* "0-3,8" in CPUS/online; one CPU when it cannot be read. */
static size_t read_online(struct cpu *cpus)
{
	FILE *file = fopen(CPUS "/online", "re");
	size_t count = 0;
	unsigned int first, last;

	while (file && fscanf(file, "%u", &first) == 1) {
		int separator = fgetc(file);

		last = first;
		if (separator == '-') {
			if (fscanf(file, "%u", &last) != 1)
				break;
			separator = fgetc(file);
		}
		for (; first <= last && count < MAX_CPUS; first++)
			cpus[count++].number = first;
		if (separator != ',')
			break;
	}
	if (file)
		fclose(file);
	return count ? count : 1;
}

/* Numbers the cores; gives how many cores and sockets there are. */
static void count_parts(struct cpu *cpus, size_t count, unsigned int *cores, unsigned int *sockets)
{
	*cores = *sockets = 0;
	for (size_t i = 0; i < count; i++) {
		bool new_core = true, new_socket = true;

		for (size_t j = 0; j < i; j++) {
			if (cpus[j].socket_id != cpus[i].socket_id)
				continue;
			new_socket = false;
			if (cpus[j].core_id == cpus[i].core_id) {
				new_core = false;
				cpus[i].core = cpus[j].core;
				break;
			}
		}
		if (new_core)
			cpus[i].core = (*cores)++;
		*sockets += new_socket;
	}
}

static FILE *open_distances(unsigned int node)
{
	char path[64];

	snprintf(path, sizeof(path), NODES "/node%u/distance", node);
	return fopen(path, "re");
}

/* "@distance NODE d0 d1 ...": the kernel lists only nodes that exist, a column is a node's number. */
static int describe_node(struct trace_writer *writer, unsigned int node, const bool *exists,
			 unsigned int past)
{
	char line[MAX_NODES * 6];
	size_t used = 0;
	unsigned int distance;
	FILE *file = open_distances(node);

	if (!file)
		return 0;
	for (unsigned int to = 0; to < past; to++) {
		if (!exists[to])
			distance = NO_DISTANCE;
		else if (fscanf(file, "%u", &distance) != 1 || distance > 9999)
			break;
		used += (size_t)snprintf(line + used, sizeof(line) - used, " %u", distance);
	}
	fclose(file);
	return used ? trace_writer__textf(writer, "@distance %u%s", node, line) : 0;
}

/* Only where CPUs are on several nodes: else the numbers of cores are the distances. */
static int describe_distances(struct trace_writer *writer, const struct cpu *cpus, size_t count)
{
	bool exists[MAX_NODES] = {false};
	unsigned int past = 0;
	int error = 0;

	for (size_t i = 0; i < count; i++)
		if (cpus[i].node < MAX_NODES && cpus[i].node >= past)
			past = cpus[i].node + 1;
	for (unsigned int node = 0; node < past; node++) {
		FILE *file = open_distances(node);

		exists[node] = file;
		if (file)
			fclose(file);
	}
	for (unsigned int node = 0; past > 1 && node < past && !error; node++)
		error = describe_node(writer, node, exists, past);
	return error;
}

int machine__describe(struct trace_writer *writer)
{
	struct cpu *cpus = calloc(MAX_CPUS, sizeof(*cpus));
	char host[256] = "", quoted_host[600], quoted_kernel[200];
	struct utsname name;
	unsigned int cores, sockets;
	size_t count;
	int error;

	if (!cpus)
		return -ENOMEM;
	gethostname(host, sizeof(host) - 1);
	if (uname(&name) != 0)
		memset(&name, 0, sizeof(name));
	count = read_online(cpus);
	for (size_t i = 0; i < count; i++) {
		cpus[i].core_id = read_number(cpus[i].number, "topology/core_id", cpus[i].number);
		cpus[i].socket_id = read_number(cpus[i].number, "topology/physical_package_id", 0);
		cpus[i].node = node_of(cpus[i].number);
	}
	count_parts(cpus, count, &cores, &sockets);
	trace_writer__quote(host, quoted_host, sizeof(quoted_host));
	trace_writer__quote(name.release, quoted_kernel, sizeof(quoted_kernel));
	error = trace_writer__textf(writer, "@machine host=%s cores=%u sockets=%u kernel=%s", quoted_host,
				    cores, sockets, quoted_kernel);
	for (size_t i = 0; i < count && !error; i++) {
		error = trace_writer__textf(writer, "@cpu %u core=%u socket=%ld node=%u", cpus[i].number,
					    cpus[i].core, cpus[i].socket_id < 0 ? 0 : cpus[i].socket_id,
					    cpus[i].node);
	}
	if (!error)
		error = describe_distances(writer, cpus, count);
	free(cpus);
	return error;
}
