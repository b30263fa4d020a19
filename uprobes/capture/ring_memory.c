// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/capture/ring_memory.h"

#include "bpf/openmp.skel.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NODES "/sys/devices/system/node"

/* The rings in one map. */
struct part {
	int node; /* number of the NUMA node */
	unsigned cpus;
	int fd; /* -1: none */
	struct ring_event *events;
	size_t bytes;
	uint64_t read; /* number of events read since the last call of ring_memory__busiest_node() */
};

struct place {
	int node; /* -1: unknown */
	unsigned part, rank;
};

struct ring_memory {
	unsigned cpus;
	uint32_t slots;
	struct place *places; /* by CPU */
	struct part *parts;   /* one for each node; NULL for a single map */
	unsigned part_count;
	struct ring_ctl *ctl;
	struct ring_event *events; /* rings of a single map */
};

/* Reads a list like "0-3,8". */
static void read_list(struct ring_memory *m, FILE *file, int node)
{
	unsigned first, last;

	while (fscanf(file, "%u", &first) == 1) {
		int separator = fgetc(file);

		last = first;
		if (separator == '-') {
			if (fscanf(file, "%u", &last) != 1)
				return;
			separator = fgetc(file);
		}
		for (; first <= last && first < m->cpus; first++)
			m->places[first].node = node;
		if (separator != ',')
			return;
	}
}

static void find_nodes(struct ring_memory *m)
{
	DIR *directory = opendir(NODES);
	struct dirent *entry;
	char path[320];
	int node;

	while (directory && (entry = readdir(directory))) {
		FILE *file;

		if (sscanf(entry->d_name, "node%d", &node) != 1)
			continue;
		snprintf(path, sizeof(path), NODES "/%s/cpulist", entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		read_list(m, file, node);
		fclose(file);
	}
	if (directory)
		closedir(directory);
}

/* CPUs that do not exist yet are in the part of the first node. */
static void divide(struct ring_memory *m, bool each)
{
	for (unsigned cpu = 0; cpu < m->cpus; cpu++) {
		struct place *place = &m->places[cpu];
		int node = place->node < 0 ? m->places[0].node : place->node;
		unsigned part = 0;

		while (part < m->part_count && (each || m->parts[part].node != node))
			part++;
		if (part == m->part_count)
			m->parts[m->part_count++] = (struct part){.node = node < 0 ? 0 : node, .fd = -1};
		place->part = part;
		place->rank = m->parts[part].cpus++;
	}
	if (m->part_count < 2)
		m->part_count = 0;
}

int ring_memory__new(unsigned cpus, uint32_t slots, struct ring_memory **out)
{
	const char *wish = getenv("GRAIND_RINGS");
	struct ring_memory *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->cpus = cpus;
	m->slots = slots;
	m->places = calloc(cpus, sizeof(*m->places));
	m->parts = calloc(cpus, sizeof(*m->parts));
	if (!m->places || !m->parts) {
		ring_memory__free(m);
		return -ENOMEM;
	}
	for (unsigned cpu = 0; cpu < cpus; cpu++)
		m->places[cpu].node = -1;
	find_nodes(m);
	if (!wish || strcmp(wish, "one"))
		divide(m, wish && !strcmp(wish, "apart"));
	*out = m;
	return 0;
}

bool ring_memory__join(struct ring_memory *m)
{
	bool apart = m->part_count > 0;

	for (unsigned i = 0; i < m->part_count; i++)
		if (m->parts[i].fd >= 0)
			close(m->parts[i].fd);
	m->part_count = 0;
	return apart;
}

/* The maps of all nodes have the size of the largest, because the kernel requires equal sizes. */
static uint32_t slots_of_node(const struct ring_memory *m)
{
	unsigned most = 0;

	for (unsigned i = 0; i < m->part_count; i++)
		most = m->parts[i].cpus > most ? m->parts[i].cpus : most;
	return most * m->slots;
}

/* This is done once, however often programs are loaded. */
static int make_parts(struct ring_memory *m)
{
	for (unsigned i = 0; i < m->part_count; i++) {
		LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE | BPF_F_NUMA_NODE,
			    .numa_node = (uint32_t)m->parts[i].node);

		if (m->parts[i].fd < 0)
			m->parts[i].fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "node_ring", sizeof(uint32_t),
							sizeof(struct ring_event), slots_of_node(m), &opts);
		if (m->parts[i].fd < 0)
			return -errno;
	}
	return 0;
}

int ring_memory__prepare(struct ring_memory *m, struct openmp_bpf *skeleton)
{
	struct bpf_map *nodes = skeleton->maps.node_slots;
	int r;

	skeleton->rodata->slots_shift = (uint32_t)__builtin_ctz(m->slots);
	skeleton->rodata->ring_nodes = m->part_count;
	r = bpf_map__set_max_entries(skeleton->maps.ring_ctl, m->cpus);
	if (!r)
		r = bpf_map__set_max_entries(skeleton->maps.ring_slots,
					     m->part_count ? 1 : m->cpus * m->slots);
	if (!m->part_count)
		return r ? r : bpf_map__set_autocreate(nodes, false);
	if (!r)
		r = make_parts(m);
	if (!r)
		r = bpf_map__set_inner_map_fd(nodes, m->parts[0].fd);
	return r ? r : bpf_map__set_max_entries(nodes, m->part_count);
}

static void *map_pages(int fd, size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

static int map_part(const struct ring_memory *m, struct part *part, unsigned number, int nodes_fd)
{
	const uint32_t key = number;

	if (bpf_map_update_elem(nodes_fd, &key, &part->fd, BPF_ANY))
		return -errno;
	part->bytes = (size_t)part->cpus * m->slots * sizeof(struct ring_event);
	part->events = map_pages(part->fd, part->bytes);
	return part->events ? 0 : -errno;
}

int ring_memory__map(struct ring_memory *m, struct openmp_bpf *skeleton)
{
	int r = 0;

	m->ctl = map_pages(bpf_map__fd(skeleton->maps.ring_ctl), m->cpus * sizeof(struct ring_ctl));
	if (!m->ctl)
		return -errno;
	if (!m->part_count) {
		m->events = map_pages(bpf_map__fd(skeleton->maps.ring_slots), ring_memory__bytes(m));
		return m->events ? 0 : -errno;
	}
	for (unsigned i = 0; !r && i < m->part_count; i++)
		r = map_part(m, &m->parts[i], i, bpf_map__fd(skeleton->maps.node_slots));
	for (unsigned cpu = 0; !r && cpu < m->cpus; cpu++) {
		m->ctl[cpu].node = m->places[cpu].part;
		m->ctl[cpu].first_slot = m->places[cpu].rank * m->slots;
	}
	return r;
}

void ring_memory__free(struct ring_memory *m)
{
	if (!m)
		return;
	if (m->ctl)
		munmap(m->ctl, m->cpus * sizeof(struct ring_ctl));
	if (m->events)
		munmap(m->events, ring_memory__bytes(m));
	for (unsigned i = 0; i < m->part_count; i++)
		if (m->parts[i].events)
			munmap(m->parts[i].events, m->parts[i].bytes);
	ring_memory__join(m);
	free(m->places);
	free(m->parts);
	free(m);
}

struct ring_ctl *ring_memory__ctl(const struct ring_memory *m, unsigned cpu)
{
	return &m->ctl[cpu];
}

struct ring_event *ring_memory__ring(const struct ring_memory *m, unsigned cpu)
{
	if (!m->part_count)
		return m->events + (size_t)cpu * m->slots;
	return m->parts[m->places[cpu].part].events + (size_t)m->places[cpu].rank * m->slots;
}

size_t ring_memory__bytes(const struct ring_memory *m)
{
	return (size_t)m->cpus * m->slots * sizeof(struct ring_event);
}

void ring_memory__count(struct ring_memory *m, unsigned cpu, uint64_t events)
{
	if (m->part_count)
		m->parts[m->places[cpu].part].read += events;
}

int ring_memory__busiest_node(struct ring_memory *m)
{
	uint64_t all = 0, most = 0;
	unsigned found = 0;

	for (unsigned i = 0; i < m->part_count; i++) {
		all += m->parts[i].read;
		if (m->parts[i].read > most) {
			most = m->parts[i].read;
			found = i;
		}
		m->parts[i].read = 0;
	}
	return 3 * most > 2 * all ? m->parts[found].node : -1;
}
