/* SPDX-License-Identifier: BSD-2-Clause */
/* A machine as hwloc describes it (lstopo --of xml). */
#include "analysis/machine/topology_hwloc.h"
#include "analysis/event/event_build.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t index_above(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t pu,
			    uint32_t fallback)
{
	hwloc_obj_t above = hwloc_get_ancestor_obj_by_type(topology, type, pu);

	return above ? above->logical_index : fallback;
}

static int read_cpus(hwloc_topology_t topology, struct machine *m)
{
	int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);

	if (count <= 0)
		return -EBADMSG;
	m->cpus = calloc((size_t)count, sizeof(*m->cpus));
	if (!m->cpus)
		return -ENOMEM;
	for (int i = 0; i < count; i++) {
		hwloc_obj_t pu = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, (unsigned int)i);
		int node = pu->nodeset ? hwloc_bitmap_first(pu->nodeset) : -1;

		m->cpus[m->cpu_count++] = (struct event_cpu){
			.cpu = pu->os_index,
			.core = index_above(topology, HWLOC_OBJ_CORE, pu, pu->logical_index),
			.socket = index_above(topology, HWLOC_OBJ_PACKAGE, pu, 0),
			.node = node < 0 ? 0 : (uint32_t)node,
		};
	}
	count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
	m->cores = count > 0 ? (uint32_t)count : (uint32_t)m->cpu_count;
	count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE);
	m->sockets = count > 0 ? (uint32_t)count : 1;
	return 0;
}

static int copy_distances(const struct hwloc_distances_s *matrix, struct machine *m)
{
	size_t n = matrix->nbobjs;

	if (!n || n > EVENT_NODES_MAX)
		return 0;
	m->distances = calloc(n * n, sizeof(*m->distances));
	if (!m->distances)
		return -ENOMEM;
	for (size_t i = 0; i < n * n; i++) {
		if (!matrix->objs[i / n] || !matrix->objs[i % n] || matrix->values[i] >= UINT32_MAX)
			continue;
		m->distances[m->distance_count++] = (struct event_distance){
			.from = matrix->objs[i / n]->os_index,
			.to = matrix->objs[i % n]->os_index,
			.distance = (uint32_t)matrix->values[i],
		};
	}
	return 0;
}

/* Uses the kernel's table if there is one, else any table of access times. */
static int read_distances(hwloc_topology_t topology, struct machine *m)
{
	struct hwloc_distances_s *matrix = NULL;
	unsigned int count = 1;
	int error;

	if (hwloc_distances_get_by_name(topology, "NUMALatency", &count, &matrix, 0) || !count) {
		count = 1;
		if (hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &count, &matrix,
						HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0))
			return 0;
	}
	if (!count || !matrix)
		return 0;
	error = copy_distances(matrix, m);
	hwloc_distances_release(topology, matrix);
	return error;
}

int machine__from_hwloc(hwloc_topology_t topology, struct machine *out)
{
	int error;

	*out = (struct machine){0};
	error = read_cpus(topology, out);
	return error ? error : read_distances(topology, out);
}

static int set_xml(hwloc_topology_t topology, const char *path, const char *xml)
{
	size_t size = xml ? strlen(xml) + 1 : 0;

	if (!xml)
		return hwloc_topology_set_xml(topology, path);
	return size > INT_MAX ? -1 : hwloc_topology_set_xmlbuffer(topology, xml, (int)size);
}

int machine__read_xml(const char *path, const char *xml, struct machine *out, struct grain_error *err)
{
	struct machine m = {0};
	hwloc_topology_t topology;
	int error;

	if (!xml && access(path, R_OK))
		return load_error(err, -errno, "topology: %s: %s", path, strerror(errno));
	if (hwloc_topology_init(&topology))
		return load_error(err, -ENOMEM, "topology: %s: out of memory", path);
	if (hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) ||
	    set_xml(topology, path, xml) || hwloc_topology_load(topology))
		error = -EBADMSG;
	else
		error = machine__from_hwloc(topology, &m);
	hwloc_topology_destroy(topology);
	if (!error) {
		*out = m;
		return 0;
	}
	free(m.cpus);
	free(m.distances);
	if (error == -ENOMEM)
		return load_error(err, error, "topology: %s: out of memory", path);
	return load_error(
		err, error,
		"topology: %s is not a description of a machine by hwloc; make one there with lstopo "
		"--of xml",
		path);
}
