// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/machine/numa.h"
#include "analysis/machine/topology.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An area with fewer examined pages in memory has no known location. */
#define FOUND_PAGES 16
/*
 * An area is misplaced if at least ON_ONE_NODE of it is on one node, while at least TIME_ELSEWHERE of the
 * teams' time is on other nodes.
 */
#define ON_ONE_NODE 0.9
#define TIME_ELSEWHERE 0.25
/* Smaller areas fit into caches. */
#define MISPLACED_BYTES (UINT64_C(4) << 20)
/* The largest number of an area's pages on a node: 8 TiB. */
#define MOST_PAGES (UINT64_C(1) << 31)
/* The largest number of times (by thread and node) that are kept. */
#define MOST_TIMES (UINT64_C(1) << 22)

/* ---- nodes -------------------------------------------------------------- */

uint32_t numa__index(const struct numa *n, uint32_t node)
{
	for (size_t i = 0; i < n->node_count; i++)
		if (n->nodes[i].node == node)
			return (uint32_t)i;
	return GRAIN_NONE;
}

static void add_node(bool *there, uint32_t node)
{
	if (node < EVENT_NODES_MAX)
		there[node] = true;
}

static int make_nodes(struct grain_graph *g, struct numa *n)
{
	const struct event_stream *s = g->stream;
	bool there[EVENT_NODES_MAX] = {false};
	size_t count = 0;
	int error;

	for (size_t i = 0; i < s->cpu_count; i++)
		add_node(there, s->cpus[i].node);
	for (size_t i = 0; i < s->numa.node_count; i++)
		add_node(there, s->numa.nodes[i].node);
	for (size_t i = 0; i < s->numa.page_count; i++)
		add_node(there, s->numa.pages[i].node);
	for (size_t i = 0; i < EVENT_NODES_MAX; i++)
		count += there[i];
	error = memory__array(&g->memory, count, sizeof *n->nodes, (void **)&n->nodes);
	for (uint32_t i = 0; error == 0 && i < EVENT_NODES_MAX; i++)
		if (there[i])
			n->nodes[n->node_count++].node = i;
	for (size_t i = 0; error == 0 && i < s->numa.node_count; i++)
		n->nodes[numa__index(n, s->numa.nodes[i].node)].memory_bytes = s->numa.nodes[i].memory;
	return error;
}

static int place_cpus(struct grain_graph *g, struct numa *n)
{
	const struct event_stream *s = g->stream;
	int error;

	for (size_t i = 0; i < s->cpu_count; i++)
		if (s->cpus[i].cpu <= UINT16_MAX && s->cpus[i].cpu >= n->cpus)
			n->cpus = (size_t)s->cpus[i].cpu + 1;
	error = memory__array(&g->memory, n->cpus, sizeof *n->of_cpu, (void **)&n->of_cpu);
	for (size_t i = 0; error == 0 && i < n->cpus; i++)
		n->of_cpu[i] = GRAIN_NONE;
	for (size_t i = 0; error == 0 && i < s->cpu_count; i++) {
		uint32_t node = numa__index(n, s->cpus[i].node);

		if (s->cpus[i].cpu >= n->cpus || node == GRAIN_NONE)
			continue;
		n->nodes[node].cpus += n->of_cpu[s->cpus[i].cpu] == GRAIN_NONE;
		n->of_cpu[s->cpus[i].cpu] = node;
	}
	return error;
}

static int find_distances(struct grain_graph *g, struct numa *n)
{
	const struct event_stream *s = g->stream;
	size_t cells = n->node_count * n->node_count;
	int error = memory__array(&g->memory, cells, sizeof *n->distance, (void **)&n->distance);

	for (size_t i = 0; error == 0 && i < cells; i++)
		n->distance[i] = GRAIN_NONE;
	for (size_t i = 0; error == 0 && i < s->distance_count; i++) {
		uint32_t from = numa__index(n, s->distances[i].from), to = numa__index(n, s->distances[i].to);

		if (from != GRAIN_NONE && to != GRAIN_NONE)
			n->distance[from * n->node_count + to] = s->distances[i].distance;
	}
	return error;
}

int graph__find_nodes(struct grain_graph *g)
{
	int error = memory__array(&g->memory, 1, sizeof *g->numa, (void **)&g->numa);

	if (error == 0)
		error = make_nodes(g, g->numa);
	if (error == 0)
		error = place_cpus(g, g->numa);
	return error == 0 ? find_distances(g, g->numa) : error;
}

/* ---- time --------------------------------------------------------------- */

static uint32_t node_of(const struct numa *n, uint32_t cpu)
{
	return cpu < n->cpus ? n->of_cpu[cpu] : GRAIN_NONE;
}

int numa__move(struct grain_graph *g, uint32_t thread, uint64_t time_ns, uint32_t from_cpu, uint32_t to_cpu)
{
	struct numa *n = g->numa;
	uint32_t to = node_of(n, to_cpu);
	int error;

	if (to == GRAIN_NONE || to == node_of(n, from_cpu))
		return 0;
	error = memory__grow(&g->memory, (void **)&n->moves, &n->move_capacity, n->move_count,
			     sizeof *n->moves);
	if (error == 0)
		n->moves[n->move_count++] =
			(struct numa_move){.time_ns = time_ns, .thread = thread, .to = to};
	return error;
}

static int by_thread(const void *a, const void *b)
{
	const struct numa_move *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Returns the thread's first move after that time. */
static size_t first_move(const struct numa *n, uint32_t thread, uint64_t time_ns)
{
	const struct numa_move wanted = {.thread = thread, .time_ns = time_ns};
	size_t low = 0, high = n->move_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_thread(&n->moves[middle], &wanted) > 0)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void add_item(const struct grain_graph *g, uint32_t index, uint64_t *by_node)
{
	const struct numa *n = g->numa;
	const struct item *item = &g->items[index];
	const struct spot *place = &g->places[item->place];
	uint64_t since = item->start_ns, end = item->start_ns + item->own_ns;
	uint32_t node = node_of(n, place->cpu);

	for (size_t i = n->move_count ? first_move(n, place->thread, since) : 0;
	     i < n->move_count && n->moves[i].thread == place->thread && n->moves[i].time_ns < end; i++) {
		if (node != GRAIN_NONE)
			by_node[node] += n->moves[i].time_ns - since;
		since = n->moves[i].time_ns;
		node = n->moves[i].to;
	}
	if (node != GRAIN_NONE)
		by_node[node] += end - since;
}

void numa__add_context(const struct grain_graph *g, const struct context *c, uint64_t *by_node)
{
	for (uint32_t i = c->first_item; i < c->first_item + c->item_count; i++)
		if (g->items[i].kind == GRAIN_FRAGMENT)
			add_item(g, i, by_node);
}

/* Counts one context. `mine` is its time on each node. */
static void count_context(struct grain_graph *g, const struct context *c, uint64_t *mine)
{
	struct numa *n = g->numa;
	bool grain = c->kind == GRAIN_TASK || c->kind == GRAIN_CHUNK;
	size_t used = 0;

	memset(mine, 0, n->node_count * sizeof *mine);
	numa__add_context(g, c, mine);
	for (size_t i = 0; i < n->node_count; i++) {
		n->nodes[i].work_ns += mine[i];
		n->nodes[i].team_ns += c->kind == GRAIN_INITIAL ? 0 : mine[i];
		used += mine[i] > 0;
	}
	n->moved += grain && used > 1;
}

static int measure_time(struct grain_graph *g)
{
	struct numa *n = g->numa;
	uint64_t *mine = NULL;
	int error = 0;

	if (n->node_count < 2)
		return 0;
	if (n->move_count)
		qsort(n->moves, n->move_count, sizeof *n->moves, by_thread);
	if (g->thread_count <= MOST_TIMES / n->node_count)
		error = memory__array(&g->memory, g->thread_count * n->node_count, sizeof *n->thread_ns,
				      (void **)&n->thread_ns);
	if (error == 0)
		error = memory__array(&g->memory, n->node_count, sizeof *mine, (void **)&mine);
	for (size_t i = 0; error == 0 && i < g->context_count; i++)
		count_context(g, &g->contexts[i], mine);
	for (uint32_t i = 0; error == 0 && n->thread_ns && i < g->item_count; i++)
		if (g->items[i].kind == GRAIN_FRAGMENT)
			add_item(g, i, &n->thread_ns[g->places[g->items[i].place].thread * n->node_count]);
	memory__release(&g->memory, (void **)&mine, n->node_count, sizeof *mine);
	return error;
}

/* ---- memory ------------------------------------------------------------- */

static uint64_t sum_of(const uint64_t *by_node, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += by_node[i];
	return sum;
}

static double part(uint64_t some, uint64_t all)
{
	return all ? (double)some / (double)all : NAN;
}

static uint64_t team_time(const struct numa *n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n->node_count; i++)
		sum += n->nodes[i].team_ns;
	return sum;
}

/* Hidden pages may be on any node, so they never count as pages of one node. */
static void judge(const struct numa *n, struct grain_area *area, const uint64_t *last)
{
	uint64_t all = sum_of(last, n->node_count), time = team_time(n);
	uint64_t resident = all + area->hidden_bytes[GRAIN_LOOK_LAST];

	area->on_node = area->far = NAN;
	for (size_t i = 0; i < n->node_count; i++)
		if (last[i] > last[area->node])
			area->node = i;
	if (!all)
		return;
	area->on_node = part(last[area->node], all);
	if (!time)
		return;
	area->far = 0;
	for (size_t i = 0; i < n->node_count; i++)
		area->far += part(n->nodes[i].team_ns, time) * (1 - part(last[i], all));
	area->misplaced = all >= MISPLACED_BYTES &&
			  all / NUMA_PAGE_BYTES / area->step[GRAIN_LOOK_LAST] >= FOUND_PAGES &&
			  part(last[area->node], resident) >= ON_ONE_NODE &&
			  1 - part(n->nodes[area->node].team_ns, time) >= TIME_ELSEWHERE &&
			  strcmp(area->kind, "stack") && strcmp(area->kind, "other");
}

/* Limited, so that no sum of results overflows. */
static uint64_t bytes_of(uint64_t pages, uint64_t step)
{
	uint64_t all;

	if (__builtin_mul_overflow(pages, step, &all))
		all = MOST_PAGES;
	return (all < MOST_PAGES ? all : MOST_PAGES) * NUMA_PAGE_BYTES;
}

static int measure_pages(struct grain_graph *g)
{
	const struct event_numa *said = &g->stream->numa;
	struct numa *n = g->numa;
	int error;

	n->area_count = said->area_count;
	error = memory__array(&g->memory, n->area_count, sizeof *n->areas, (void **)&n->areas);
	if (error == 0)
		error = memory__array(&g->memory, n->area_count * GRAIN_LOOKS * n->node_count,
				      sizeof *n->bytes, (void **)&n->bytes);
	if (error < 0) {
		n->area_count = 0;
		return error;
	}
	for (size_t i = 0; i < said->page_count; i++) {
		const struct event_pages *pages = &said->pages[i];
		uint64_t bytes = bytes_of(pages->pages, said->areas[pages->area].step[pages->look]);
		uint32_t node = numa__index(n, pages->node);

		n->bytes[(pages->area * GRAIN_LOOKS + pages->look) * n->node_count + node] = bytes;
	}
	for (size_t i = 0; i < n->area_count; i++) {
		const struct event_area *area = &said->areas[i];
		const uint64_t *bytes = &n->bytes[i * GRAIN_LOOKS * n->node_count];
		struct grain_area *out = &n->areas[i];

		*out = (struct grain_area){.name = area->name,
					   .module = area->module,
					   .kind = area->kind,
					   .bytes = area->bytes};
		for (size_t look = 0; look < GRAIN_LOOKS; look++) {
			out->step[look] = area->step[look];
			out->hidden_bytes[look] = bytes_of(area->hidden[look], area->step[look]);
			n->hidden_bytes[look] += out->hidden_bytes[look];
			out->resident_bytes[look] = sum_of(bytes + look * n->node_count, n->node_count);
			for (size_t k = 0; k < n->node_count; k++)
				n->nodes[k].resident_bytes[look] += bytes[look * n->node_count + k];
		}
		judge(n, out, bytes + GRAIN_LOOK_LAST * n->node_count);
	}
	return 0;
}

int graph__measure_numa(struct grain_graph *g)
{
	int error = measure_time(g);

	if (error == 0)
		error = measure_pages(g);
	return error == 0 ? graph__measure_accesses(g) : error;
}

void numa__free(struct numa *n)
{
	if (!n)
		return;
	free(n->nodes);
	free(n->of_cpu);
	free(n->distance);
	free(n->moves);
	free(n->thread_ns);
	free(n->bytes);
	free(n->areas);
	free(n->accesses);
	free(n->of_context);
	free(n->of_profile);
	free(n->of_problem);
	free(n->between);
	free(n);
}

/* ---- public functions ----------------------------------------------------- */

static uint64_t resident(const struct numa *n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n->node_count; i++)
		sum += n->nodes[i].resident_bytes[GRAIN_LOOK_LAST];
	return sum;
}

double grain_graph__node_accesses(const struct grain_graph *graph, size_t from, size_t to)
{
	const struct numa *n = graph->numa;

	return part(n->nodes[from].team_ns, team_time(n)) *
	       part(n->nodes[to].resident_bytes[GRAIN_LOOK_LAST], resident(n));
}

static const char *pages_absent(const struct event_numa *said)
{
	if (said->why)
		return said->why;
	return said->first_ns || said->area_count ? NULL : "the capture does not tell where its memory was";
}

void grain_graph__numa(const struct grain_graph *graph, struct grain_numa *out)
{
	const struct event_numa *said = &graph->stream->numa;
	const struct numa *n = graph->numa;

	*out = (struct grain_numa){
		.absent = !n->cpus	      ? "the capture does not describe the machine's cores"
			  : n->node_count < 2 ? "one NUMA node: nothing can be remote"
					      : NULL,
		.pages_absent = pages_absent(said),
		.nodes = n->node_count,
		.areas = n->area_count,
		.allowed_cpus = said->allowed_cpus ? said->allowed_cpus : "",
		.allowed_nodes = said->allowed_nodes ? said->allowed_nodes : "",
		.first_ns = said->first_ns,
		.last_ns = said->last_ns,
		.hidden_bytes = {n->hidden_bytes[GRAIN_LOOK_FIRST], n->hidden_bytes[GRAIN_LOOK_LAST]},
		.moved = n->moved,
		.remote_least = NAN,
		.remote_alike = NAN,
	};
	if (out->absent || !team_time(n) || !resident(n))
		return;
	out->remote_least = out->remote_alike = 0;
	for (size_t i = 0; i < n->node_count; i++) {
		double time = part(n->nodes[i].team_ns, team_time(n));
		double memory = part(n->nodes[i].resident_bytes[GRAIN_LOOK_LAST], resident(n));

		out->remote_least += time > memory ? time - memory : 0;
		out->remote_alike += time * (1 - memory);
	}
}

void grain_graph__node(const struct grain_graph *graph, size_t index, struct grain_node *out)
{
	*out = graph->numa->nodes[index];
}

uint32_t grain_graph__node_of_cpu(const struct grain_graph *graph, uint32_t cpu)
{
	return node_of(graph->numa, cpu);
}

uint32_t grain_graph__node_distance(const struct grain_graph *graph, size_t from, size_t to)
{
	return graph->numa->distance[from * graph->numa->node_count + to];
}

uint64_t grain_graph__thread_on_node(const struct grain_graph *graph, size_t thread, size_t node)
{
	const struct numa *n = graph->numa;

	return n->thread_ns ? n->thread_ns[thread * n->node_count + node] : 0;
}

void grain_graph__area(const struct grain_graph *graph, size_t index, struct grain_area *out)
{
	*out = graph->numa->areas[index];
}

uint64_t grain_graph__area_bytes(const struct grain_graph *graph, size_t area, enum grain_look look,
				 size_t node)
{
	const struct numa *n = graph->numa;

	return n->bytes[(area * GRAIN_LOOKS + look) * n->node_count + node];
}
