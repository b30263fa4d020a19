/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups of random programs against what all contexts say one by one, and
 * local paths against paths through every node and edge.
 */
#include "tests/unit/brute_force.h"
#include "tests/unit/groups_text.h"
#include "tests/unit/random_graph.h"

#define PROGRAMS 24
#define BRUTE_FORCE_NODES 700

static struct program program;
static uint32_t *parents; /* of the present graph's groups */
static int wrong_sums, wrong_values, wrong_definitions, wrong_filters, wrong_spans, wrong_paths, wrong_marks;
static int groups_checked, flags_checked, paths_checked, merged_runs;

static bool is_in(const struct grain_groups *groups, uint32_t context, uint32_t group)
{
	uint32_t at = grain_groups__of_context(groups, context);

	while (at != GRAIN_NONE && at != group)
		at = parents[at];
	return at == group;
}

/* ---- what a group says of its contexts -------------------------------- */

static double value_of(const struct grain_context *c, int problem)
{
	const double values[] = {c->parallel_benefit, c->load_balance,
				 c->work_deviation,   c->instantaneous_parallelism,
				 c->scatter,	      c->memory_hierarchy_utilization,
				 c->cache_miss_ratio};

	return values[problem];
}

static bool same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void check_values(const struct grain_graph *g, const struct grain_groups *groups, uint32_t group)
{
	double worst[GRAIN_PROBLEM_COUNT];
	uint64_t flagged[GRAIN_PROBLEM_COUNT] = {0}, exec[8] = {0}, most = 0;
	bool known[8] = {false};
	struct grain_group it;

	grain_groups__get(groups, group, &it);
	const double values[] = {it.parallel_benefit, it.load_balance,
				 it.work_deviation,   it.instantaneous_parallelism,
				 it.scatter,	      it.memory_hierarchy_utilization,
				 it.cache_miss_ratio};

	for (int p = 0; p < GRAIN_PROBLEM_COUNT; p++)
		worst[p] = NAN;
	for (uint32_t i = 0; i < grain_graph__context_count(g); i++) {
		struct grain_context c;

		grain_graph__context(g, i, &c);
		if (!is_in(groups, i, group))
			continue;
		if (c.definition < 8) {
			exec[c.definition] += c.exec_ns;
			known[c.definition] = true;
			most = exec[c.definition] > most ? exec[c.definition] : most;
		}
		if (c.kind != GRAIN_TASK && c.kind != GRAIN_CHUNK)
			continue;
		for (int p = 0; p < GRAIN_PROBLEM_COUNT; p++) {
			bool small = p == GRAIN_PROBLEM_PARALLEL_BENEFIT ||
				     p == GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM ||
				     p == GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION;

			flagged[p] += c.problems >> p & 1;
			worst[p] = small ? fmin(worst[p], value_of(&c, p)) : fmax(worst[p], value_of(&c, p));
		}
	}
	for (int p = 0; p < GRAIN_PROBLEM_COUNT; p++) {
		struct grain_problem_summary problem;

		grain_graph__problem(g, (enum grain_problem)p, &problem);
		wrong_values += !same(worst[p], values[p]) || flagged[p] != it.problem_grains[p] ||
				(flagged[p] > 0) != (it.problems >> p & 1);
		if (p == GRAIN_PROBLEM_PARALLEL_BENEFIT)
			wrong_values += (values[p] < problem.threshold) != (flagged[p] > 0);
		if (p == GRAIN_PROBLEM_LOAD_BALANCE)
			wrong_values += (values[p] > problem.threshold) != (flagged[p] > 0);
		flags_checked += flagged[p] > 0;
	}
	wrong_definitions += it.definition == GRAIN_NONE ? known[0] || known[1]
							 : it.definition > 7 || !known[it.definition] ||
								   exec[it.definition] != most;
}

/* ---- filtered --------------------------------------------------------- */

static void check_filter(const struct grain_graph *g, const struct grain_groups *groups, uint32_t group,
			 int p)
{
	struct grain_filtered *out;
	struct grain_group it, inner;
	uint32_t next = 0;
	size_t n;

	grain_groups__get(groups, group, &it);
	out = calloc(it.members + 1, sizeof *out);
	n = grain_groups__filter(groups, group, (enum grain_problem)p, out, it.members);
	wrong_filters += n > it.members;
	for (size_t i = 0; i < n && i < it.members; i++) {
		uint64_t exec = 0, grains = 0;
		uint32_t count = out[i].fast_forward ? out[i].skipped : 1;

		wrong_filters += i && out[i].fast_forward && out[i - 1].fast_forward;
		wrong_filters += out[i].fast_forward && (count == 0 || out[i].first_skipped != next);
		merged_runs += count > 1;
		for (uint32_t k = next; k < next + count && k < it.members; k++) {
			struct grain_member m = grain_groups__member(groups, group, k);
			struct grain_context c;
			bool has;

			if (m.is_group) {
				grain_groups__get(groups, m.index, &inner);
				has = inner.problems >> p & 1;
				exec += inner.exec_ns;
				grains += inner.grains;
			} else {
				grain_graph__context(g, m.index, &c);
				has = c.problems >> p & 1;
				exec += c.exec_ns;
				grains += c.kind == GRAIN_TASK || c.kind == GRAIN_CHUNK;
			}
			wrong_filters += has == out[i].fast_forward;
			if (!out[i].fast_forward)
				wrong_filters += out[i].member.is_group != m.is_group ||
						 out[i].member.index != m.index;
		}
		if (out[i].fast_forward)
			wrong_filters += exec != out[i].skipped_exec_ns || grains != out[i].skipped_grains;
		next += count;
	}
	wrong_filters += next != it.members;
	free(out);
}

/* Every grain with a problem is still there: so are all groups on the way from the root to it. */
static void check_chains(const struct grain_graph *g, const struct grain_groups *groups)
{
	uint32_t *path = calloc(grain_groups__count(groups), sizeof *path);

	for (uint32_t i = 0; i < grain_graph__context_count(g); i++) {
		uint32_t group = grain_groups__of_context(groups, i);
		size_t n = grain_groups__path(groups, group, path, grain_groups__count(groups));
		struct grain_context c;
		struct grain_group it;

		grain_graph__context(g, i, &c);
		wrong_filters += path[0] != grain_groups__root(groups) || path[n - 1] != group;
		for (size_t k = 0; k < n; k++) {
			grain_groups__get(groups, path[k], &it);
			wrong_filters +=
				(it.problems & c.problems) != c.problems || (k && it.parent != path[k - 1]);
		}
	}
	free(path);
}

/* ---- local paths ------------------------------------------------------ */

enum place { OUTSIDE, INSIDE, WEIGHTLESS };

static uint64_t weight(const struct brute *b, const uint8_t *place, uint32_t node)
{
	return place[node] == INSIDE ? b->nodes[node].weight : 0;
}

/* The heaviest path over the nodes that are not outside; edges in an order of the graph's. */
static uint64_t heaviest(const struct brute *b, const uint32_t *order, const uint8_t *place, uint64_t *dist)
{
	uint64_t most = 0;

	memset(dist, 0, b->node_count * sizeof *dist);
	for (uint32_t i = 0; i < b->edge_count; i++) {
		const struct brute_edge *e = &b->edges[order[i]];
		uint64_t end;

		if (!place[e->from] || !place[e->to])
			continue;
		end = dist[e->from] + weight(b, place, e->from);
		dist[e->to] = end > dist[e->to] ? end : dist[e->to];
	}
	for (uint32_t n = 0; n < b->node_count; n++)
		if (place[n] && dist[n] + weight(b, place, n) > most)
			most = dist[n] + weight(b, place, n);
	return most;
}

/* Edges so that all into a node come before those out of it: rounds until nothing is left. */
static uint32_t *order_edges(const struct brute *b)
{
	uint32_t *order = calloc(b->edge_count + 1, sizeof *order), *into, n = 0;
	uint32_t *ready = calloc(b->node_count + 1, sizeof *ready), count = 0;

	into = calloc(b->node_count + 1, sizeof *into);
	for (uint32_t i = 0; i < b->edge_count; i++)
		into[b->edges[i].to]++;
	for (uint32_t i = 0; i < b->node_count; i++)
		if (!into[i])
			ready[count++] = i;
	for (uint32_t at = 0; at < count; at++)
		for (uint32_t i = 0; i < b->edge_count; i++)
			if (b->edges[i].from == ready[at]) {
				order[n++] = i;
				if (--into[b->edges[i].to] == 0)
					ready[count++] = b->edges[i].to;
			}
	free(into);
	free(ready);
	return order;
}

/*
 * Nodes of the contexts that `chosen` has, the joins and regions that these
 * wait in, book-keeping of the loop. Chunks that are not chosen weigh nothing
 * where they stand between parts of a thread that is.
 */
static void choose_nodes(const struct brute *b, const bool *chosen, uint32_t loop, uint8_t *place)
{
	struct grain_item item;

	memset(place, OUTSIDE, b->node_count * sizeof *place);
	for (uint32_t n = 0; n < b->node_count; n++) {
		enum brute_kind kind = b->nodes[n].kind;
		const struct grain_context *c = &b->contexts[b->nodes[n].context];

		if (kind == BRUTE_JOIN || kind == BRUTE_REGION_BEGIN || kind == BRUTE_REGION_END)
			continue;
		if (chosen[b->nodes[n].context])
			place[n] = INSIDE;
		else if (c->kind == GRAIN_CHUNK && chosen[c->parent])
			place[n] = WEIGHTLESS;
		if (kind != BRUTE_BOOKKEEPING || loop == GRAIN_NONE)
			continue;
		grain_graph__item(b->graph, b->nodes[n].ref, &item);
		if (item.ref == loop)
			place[n] = INSIDE;
	}
	for (uint32_t i = 0; i < b->context_count; i++) {
		for (uint32_t k = 0; chosen[i] && k < b->contexts[i].item_count; k++) {
			grain_graph__item(b->graph, b->contexts[i].first_item + k, &item);
			if (item.kind == GRAIN_JOIN)
				place[b->join[item.ref]] = INSIDE;
			else if (item.kind == GRAIN_REGION)
				place[b->region_begin[item.ref]] = place[b->region_end[item.ref]] = INSIDE;
		}
	}
}

static void check_path_of(const struct grain_groups *groups, uint32_t group, const struct brute *b,
			  const uint32_t *order)
{
	bool *chosen = calloc(b->context_count + 1, sizeof *chosen);
	uint8_t *place = calloc(b->node_count + 1, sizeof *place);
	bool *bits;
	uint64_t *dist = calloc(b->node_count + 1, sizeof *dist), length, expected;
	struct grain_group it;

	grain_groups__get(groups, group, &it);
	bits = calloc(it.members + 1, sizeof *bits);
	wrong_paths += grain_groups__local_path(groups, group, bits, &length) != 0;
	for (uint32_t i = 0; i < b->context_count; i++)
		chosen[i] = is_in(groups, i, group);
	choose_nodes(b, chosen, it.loop, place);
	expected = heaviest(b, order, place, dist);
	if (expected != length) {
		char name[512];

		group_name(b->graph, groups, group, name, sizeof name);
		printf("# %s: %llu, expected %llu\n", name, (unsigned long long)length,
		       (unsigned long long)expected);
		wrong_paths++;
	}
	/* The members that are not marked are not needed for it. */
	for (uint32_t n = 0; n < b->node_count; n++) {
		for (uint32_t k = 0;
		     place[n] == INSIDE && b->nodes[n].kind == BRUTE_FRAGMENT && k < it.members; k++) {
			struct grain_member m = grain_groups__member(groups, group, k);
			uint32_t context = b->nodes[n].context;

			if (!bits[k] && (m.is_group ? is_in(groups, context, m.index) : m.index == context))
				place[n] = WEIGHTLESS;
		}
	}
	wrong_marks += heaviest(b, order, place, dist) != expected;
	paths_checked++;
	free(chosen);
	free(place);
	free(dist);
	free(bits);
}

/* ---- all of it -------------------------------------------------------- */

static void check_graph(const struct grain_graph *g, const struct grain_groups *groups)
{
	uint32_t root = grain_groups__root(groups), n = (uint32_t)grain_groups__count(groups), *order;
	struct brute *b = brute_new(g);
	struct grain_group it;
	uint64_t length = 0;
	bool *bits;

	parents = malloc(n * sizeof *parents);
	for (uint32_t i = 0; i < n; i++) {
		grain_groups__get(groups, i, &it);
		parents[i] = it.parent;
	}
	wrong_sums += groups_wrong(g, groups);
	grain_groups__get(groups, root, &it);
	bits = calloc(it.members + 1, sizeof *bits);
	wrong_spans += grain_groups__local_path(groups, root, bits, &length) != 0 ||
		       length != grain_graph__totals(g)->span_ns;
	free(bits);
	check_chains(g, groups);
	order = order_edges(b);
	for (uint32_t i = 0; i < n; i++) {
		check_values(g, groups, i);
		for (int p = 0; p < GRAIN_PROBLEM_COUNT; p++)
			check_filter(g, groups, i, p);
		if (b->node_count <= BRUTE_FORCE_NODES)
			check_path_of(groups, i, b, order);
		groups_checked++;
	}
	free(order);
	free(parents);
	brute_free(b);
}

int main(void)
{
	for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
		for (int threads = 1; threads <= MAX_THREADS; threads++) {
			struct grain_graph *g = graph_of_program(&program, seed, threads);
			struct grain_groups *groups = NULL;

			if (!g || grain_groups__new(g, &groups)) {
				CHECK(0, "random: program %u is grouped", seed);
				return 1;
			}
			check_graph(g, groups);
			grain_groups__free(groups);
			grain_graph__free(g);
		}
	}
	CHECK(groups_checked > 20 * PROGRAMS, "random: %d groups", groups_checked);
	CHECK(wrong_sums == 0, "random: every context in one group, sums and strengths are kept, one root");
	CHECK(flags_checked > 20 * PROGRAMS && wrong_values == 0,
	      "random: the worst values of all grains, problems where one has it");
	CHECK(wrong_definitions == 0, "random: the definition with the most time");
	CHECK(merged_runs > PROGRAMS && wrong_filters == 0,
	      "random: filtered groups keep all problems, %d runs are one edge", merged_runs);
	CHECK(wrong_spans == 0, "random: the root's path is the span");
	CHECK(paths_checked > 10 * PROGRAMS && wrong_paths == 0, "random: %d local paths", paths_checked);
	CHECK(wrong_marks == 0, "random: the members on the path suffice for it");
	CHECK_DONE();
}
