// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/trace/trace_machine.h"
#include "analysis/machine/topology_hwloc.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MAX_NODES EVENT_NODES_MAX
/* The distance to nodes that do not exist. In the machine's tables it means unreachable. */
#define NO_DISTANCE 255
#define KEY_BYTES 4096

/* hwloc takes megabytes while it is loaded. So its description is kept until the machine changes. */
static struct {
	pthread_mutex_t lock;
	char *text; /* the lines after @machine, each ended by LF */
	uint32_t cores, sockets, nodes;
	char key[KEY_BYTES];
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void read_into(const char *path, char *out, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t got = file ? fread(out, 1, size - 1, file) : 0;

	out[got] = '\0';
	if (file)
		fclose(file);
}

/* A key that changes when CPUs or nodes are added or removed. */
static void make_key(char key[KEY_BYTES])
{
	static char cpus[KEY_BYTES / 4], nodes[KEY_BYTES / 4];
	const char *xml = getenv("HWLOC_XMLFILE");

	read_into("/sys/devices/system/cpu/online", cpus, sizeof(cpus));
	read_into("/sys/devices/system/node/online", nodes, sizeof(nodes));
	snprintf(key, KEY_BYTES, "%s%s%.1024s", cpus, nodes, xml ? xml : "");
}

static int by_number(const void *a, const void *b)
{
	const struct event_cpu *x = a, *y = b;

	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static void write_nodes(hwloc_topology_t topology, FILE *out)
{
	hwloc_obj_t node = NULL;

	known.nodes = 0;
	while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node))) {
		known.nodes++;
		fprintf(out, "@node %u memory=%" PRIu64 "\n", node->os_index,
			(uint64_t)node->attr->numanode.local_memory);
	}
}

/* Writes "@distance NODE d0 d1 ...": the column number is a node's number. */
static void write_distances(const struct machine *machine, FILE *out)
{
	uint32_t past = 0, *row = malloc(MAX_NODES * sizeof(*row));

	for (size_t i = 0; i < machine->distance_count; i++)
		if (machine->distances[i].from < MAX_NODES && machine->distances[i].from >= past)
			past = machine->distances[i].from + 1;
	for (uint32_t from = 0; row && past > 1 && from < past; from++) {
		bool exists = false;

		for (uint32_t to = 0; to < past; to++)
			row[to] = NO_DISTANCE;
		for (size_t i = 0; i < machine->distance_count; i++) {
			const struct event_distance *d = &machine->distances[i];

			if (d->from != from || d->to >= past)
				continue;
			row[d->to] = d->distance;
			exists = true;
		}
		if (!exists)
			continue;
		fprintf(out, "@distance %u", from);
		for (uint32_t to = 0; to < past; to++)
			fprintf(out, " %u", row[to]);
		fputc('\n', out);
	}
	free(row);
}

static int load(hwloc_topology_t topology)
{
	hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
	hwloc_topology_set_icache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
	if (hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED |
						       HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING))
		return -errno;
	return hwloc_topology_load(topology) ? -EIO : 0;
}

/* Asks hwloc. If this fails, the machine's parts stay unknown. */
static void find_out(void)
{
	struct machine machine = {0};
	hwloc_topology_t topology;
	size_t size;
	FILE *out;

	free(known.text);
	known.text = NULL;
	known.cores = known.sockets = known.nodes = 0;
	if (hwloc_topology_init(&topology))
		return;
	out = open_memstream(&known.text, &size);
	if (out && load(topology) == 0 && machine__from_hwloc(topology, &machine) == 0) {
		known.cores = machine.cores;
		known.sockets = machine.sockets;
		qsort(machine.cpus, machine.cpu_count, sizeof(*machine.cpus), by_number);
		for (size_t i = 0; i < machine.cpu_count; i++)
			fprintf(out, "@cpu %u core=%u socket=%u node=%u\n", machine.cpus[i].cpu,
				machine.cpus[i].core, machine.cpus[i].socket, machine.cpus[i].node);
		write_nodes(topology, out);
		write_distances(&machine, out);
	}
	if (out && fclose(out) != 0) {
		free(known.text);
		known.text = NULL;
	}
	free(machine.cpus);
	free(machine.distances);
	hwloc_topology_destroy(topology);
}

static int write_lines(struct trace_writer *writer, char *text)
{
	char *line;
	int error = 0;

	while (!error && text && (line = strsep(&text, "\n")) && line[0])
		error = trace_writer__text(writer, line);
	return error;
}

int trace_machine__describe(struct trace_writer *writer)
{
	char host[256] = "", quoted_host[600], quoted_kernel[200], counts[96], key[KEY_BYTES];
	char *text = NULL;
	struct utsname name;
	int error;

	gethostname(host, sizeof(host) - 1);
	if (uname(&name) != 0)
		memset(&name, 0, sizeof(name));
	pthread_mutex_lock(&known.lock);
	make_key(key);
	if (!known.text || strcmp(key, known.key)) {
		find_out();
		strcpy(known.key, key);
	}
	snprintf(counts, sizeof(counts), "cores=%u sockets=%u nodes=%u", known.cores, known.sockets,
		 known.nodes);
	if (known.text)
		text = strdup(known.text);
	pthread_mutex_unlock(&known.lock);
	trace_writer__quote(host, quoted_host, sizeof(quoted_host));
	trace_writer__quote(name.release, quoted_kernel, sizeof(quoted_kernel));
	error = trace_writer__textf(writer, "@machine host=%s %s kernel=%s", quoted_host, counts,
				    quoted_kernel);
	if (!error)
		error = write_lines(writer, text);
	free(text);
	return error;
}

int trace_machine__describe_allowed(struct trace_writer *writer, pid_t pid)
{
	char path[64], cpus[KEY_BYTES] = "", nodes[KEY_BYTES] = "", *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0) {
		sscanf(line, "Cpus_allowed_list: %4095s", cpus);
		sscanf(line, "Mems_allowed_list: %4095s", nodes);
	}
	free(line);
	if (file)
		fclose(file);
	if (!cpus[0] || !nodes[0])
		return 0;
	return trace_writer__textf(writer, "@allowed cpus=%s nodes=%s", cpus, nodes);
}
