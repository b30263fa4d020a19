/* SPDX-License-Identifier: BSD-2-Clause */
/* NUMA nodes in the summary: what ran on each node, and what memory was on it. */
#include "analysis/include/grain_numa.h"
#include "analysis/include/grain_scheduler.h"
#include "analysis/export/json_keys.h"

#include <math.h>

static const char *const look_names[GRAIN_LOOKS] = {"first", "last"};

static void key_percent(struct json_out *o, const char *key, double part)
{
	key_double(o, key, 100 * part);
}

/* Writes {"available":true, or false with the reason. */
static void open_available(struct json_out *o, const char *key, const char *absent)
{
	json_out__key(o, key);
	json_out__open(o, '{');
	json_out__key(o, "available");
	json_out__bool(o, !absent);
	if (absent)
		key_string(o, "why", absent);
}

static void write_node(struct json_out *o, const struct grain_graph *g, size_t index, size_t nodes)
{
	struct grain_node node;

	grain_graph__node(g, index, &node);
	json_out__open(o, '{');
	key_uint(o, "node", node.node);
	key_uint(o, "cpus", node.cpus);
	json_out__key(o, "cpu_list");
	json_out__open(o, '[');
	for (uint32_t cpu = 0, left = node.cpus; left && cpu <= UINT16_MAX; cpu++) {
		if (grain_graph__node_of_cpu(g, cpu) != index)
			continue;
		json_out__uint(o, cpu);
		left--;
	}
	json_out__close(o, ']');
	json_out__key(o, "memory_bytes");
	if (node.memory_bytes)
		json_out__uint(o, node.memory_bytes);
	else
		json_out__null(o);
	json_out__key(o, "distances");
	json_out__open(o, '[');
	for (size_t to = 0; to < nodes; to++) {
		uint32_t distance = grain_graph__node_distance(g, index, to);

		if (distance == GRAIN_NONE)
			json_out__null(o);
		else
			json_out__uint(o, distance);
	}
	json_out__close(o, ']');
	if (nodes > 1) {
		key_uint(o, "work_ns", node.work_ns);
		key_uint(o, "team_ns", node.team_ns);
	}
	for (size_t look = 0; look < GRAIN_LOOKS; look++)
		key_uint(o, look == GRAIN_LOOK_FIRST ? "bytes_first" : "bytes_last",
			 node.resident_bytes[look]);
	json_out__close(o, '}');
}

static void write_threads(struct json_out *o, const struct grain_graph *g, size_t nodes)
{
	json_out__key(o, "threads");
	json_out__open(o, '[');
	for (size_t i = 0; i < grain_graph__thread_count(g); i++) {
		struct grain_thread thread;

		grain_graph__thread(g, i, &thread);
		json_out__open(o, '{');
		key_uint(o, "tid", thread.tid);
		json_out__key(o, "node_ns");
		json_out__open(o, '[');
		for (size_t node = 0; node < nodes; node++)
			json_out__uint(o, grain_graph__thread_on_node(g, i, node));
		json_out__close(o, ']');
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
}

static void write_area(struct json_out *o, const struct grain_graph *g, size_t index,
		       const struct grain_numa *numa)
{
	struct grain_area area;
	struct grain_node node = {.node = GRAIN_NONE};

	grain_graph__area(g, index, &area);
	if (!isnan(area.on_node))
		grain_graph__node(g, area.node, &node);
	json_out__open(o, '{');
	key_string(o, "name", area.name[0] ? area.name : NULL);
	key_string(o, "module", area.module[0] ? area.module : NULL);
	key_string(o, "kind", area.kind);
	key_uint(o, "bytes", area.bytes);
	for (size_t look = 0; look < GRAIN_LOOKS; look++) {
		json_out__key(o, look_names[look]);
		if (!area.step[look]) {
			json_out__null(o);
			continue;
		}
		json_out__open(o, '{');
		key_uint(o, "step", area.step[look]);
		json_out__key(o, "pages");
		json_out__open(o, '[');
		for (size_t k = 0; k < numa->nodes; k++)
			json_out__uint(o, grain_graph__area_bytes(g, index, (enum grain_look)look, k) / 4096);
		json_out__close(o, ']');
		key_uint(o, "hidden", area.hidden_bytes[look] / 4096);
		json_out__close(o, '}');
	}
	json_out__key(o, "node");
	if (node.node == GRAIN_NONE)
		json_out__null(o);
	else
		json_out__uint(o, node.node);
	key_percent(o, "on_node_percent", area.on_node);
	key_percent(o, "far_percent", numa->absent ? NAN : area.far);
	json_out__key(o, "misplaced");
	json_out__bool(o, area.misplaced);
	json__write_access_counts(o, &area.accesses);
	json_out__close(o, '}');
}

static void write_pages(struct json_out *o, const struct grain_graph *g, const struct grain_numa *numa)
{
	open_available(o, "pages", numa->pages_absent);
	if (!numa->pages_absent) {
		key_uint(o, "first_ns", numa->first_ns);
		key_uint(o, "last_ns", numa->last_ns);
		key_uint(o, "page_bytes", 4096);
		json_out__key(o, "areas");
		json_out__open(o, '[');
		for (size_t i = 0; i < numa->areas; i++)
			write_area(o, g, i, numa);
		json_out__close(o, ']');
	}
	json_out__close(o, '}');
}

/*
 * Part of the accesses from one node to another: from samples, or computed as if all pages were used equally.
 */
static double accesses_percent(const struct grain_graph *g, const struct grain_accesses *sampled, size_t from,
			       size_t to)
{
	uint64_t known = sampled->teams.local + sampled->teams.remote;

	if (!known)
		return 100 * grain_graph__node_accesses(g, from, to);
	return 100 * (double)grain_graph__accesses_between(g, from, to) / (double)known;
}

static void write_remote(struct json_out *o, const struct grain_graph *g, const struct grain_numa *numa)
{
	struct grain_accesses sampled;
	const char *absent;

	grain_graph__accesses(g, &sampled);
	absent = numa->absent		     ? numa->absent
		 : !isnan(sampled.remote)    ? NULL
		 : numa->pages_absent	     ? numa->pages_absent
		 : isnan(numa->remote_least) ? "no team ran while its memory was looked at"
					     : NULL;
	open_available(o, "remote", absent);
	if (!absent) {
		key_string(o, "by", isnan(sampled.remote) ? "pages" : "addresses");
		key_percent(o, "percent", sampled.remote);
		key_percent(o, "least_percent", numa->remote_least);
		key_percent(o, "alike_percent", numa->remote_alike);
		json_out__key(o, "accesses_percent");
		json_out__open(o, '[');
		for (size_t from = 0; from < numa->nodes; from++) {
			json_out__open(o, '[');
			for (size_t to = 0; to < numa->nodes; to++)
				json_out__double(o, accesses_percent(g, &sampled, from, to));
			json_out__close(o, ']');
		}
		json_out__close(o, ']');
	}
	json_out__close(o, '}');
}

void json__write_numa(struct json_out *o, const struct grain_graph *g)
{
	struct grain_numa numa;

	grain_graph__numa(g, &numa);
	open_available(o, "numa", numa.absent);
	key_string(o, "allowed_cpus", numa.allowed_cpus[0] ? numa.allowed_cpus : NULL);
	key_string(o, "allowed_nodes", numa.allowed_nodes[0] ? numa.allowed_nodes : NULL);
	json_out__key(o, "nodes");
	json_out__open(o, '[');
	for (size_t i = 0; i < numa.nodes; i++)
		write_node(o, g, i, numa.nodes);
	json_out__close(o, ']');
	if (!numa.absent) {
		write_threads(o, g, numa.nodes);
		key_uint(o, "moved_grains", numa.moved);
	}
	write_pages(o, g, &numa);
	write_remote(o, g, &numa);
	json__write_accesses(o, g);
	json_out__close(o, '}');
}
