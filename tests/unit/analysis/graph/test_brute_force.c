/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random programs: every metric once more by brute force (brute_force.h), from
 * the graph's public interface alone, and equal to the nanosecond.
 */
#include "tests/unit/brute_force.h"
#include "tests/unit/random_run.h"

#define PROGRAMS 50
#define MOST_FRAGMENTS 400

static int graphs, spans, criticals, siblings, chunks, parallelisms, members;
static int wrong_sums, wrong_conservation, wrong_work, wrong_span, wrong_critical, wrong_benefit,
	wrong_balance, wrong_scatter, wrong_loops, wrong_parallelism, wrong_regions;

static bool same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static double median(double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (values[k] < values[i]) {
				double v = values[i];

				values[i] = values[k];
				values[k] = v;
			}
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Times of contexts from their items; all time of a thread is in one item or another. */
static void check_sums(const struct brute *b)
{
	uint64_t first[MAX_THREADS], last[MAX_THREADS] = {0}, spent[MAX_THREADS] = {0}, work = 0;

	for (int i = 0; i < MAX_THREADS; i++)
		first[i] = UINT64_MAX;
	for (uint32_t i = 0; i < b->context_count; i++) {
		const struct grain_context *c = &b->contexts[i];
		uint64_t sums[GRAIN_CHUNK_ITEM + 1] = {0};

		for (uint32_t k = 0; k < c->item_count; k++) {
			struct grain_item item = item_of(b->graph, c->first_item + k);
			uint32_t thread = item.tid - 100;

			sums[item.kind] += item.own_ns;
			wrong_sums +=
				item.kind == GRAIN_FRAGMENT && item.own_ns != item.end_ns - item.start_ns;
			wrong_sums +=
				item.kind == GRAIN_FORK && b->contexts[item.ref].create_ns != item.own_ns;
			spent[thread] += item.own_ns;
			first[thread] = item.start_ns < first[thread] ? item.start_ns : first[thread];
			last[thread] = item.end_ns > last[thread] ? item.end_ns : last[thread];
		}
		work += sums[GRAIN_FRAGMENT];
		wrong_sums += c->exec_ns != sums[GRAIN_FRAGMENT] || c->wait_ns != sums[GRAIN_JOIN] ||
			      (c->kind != GRAIN_CHUNK && c->bookkeeping_ns != sums[GRAIN_BOOKKEEPING]);
	}
	for (int i = 0; i < program.threads; i++)
		wrong_conservation += spent[i] != last[i] - first[i];
	wrong_work += work != grain_graph__totals(b->graph)->work_ns;
}

static void check_spans(const struct brute *b)
{
	const struct grain_totals *t = grain_graph__totals(b->graph);

	spans++;
	wrong_span += b->cyclic || brute_span(b) != t->span_ns || t->work_ns < t->span_ns ||
		      brute_burdened_span(b) != t->burdened_span_ns;
	wrong_critical += !brute_critical_is_heaviest(b);
	for (uint32_t n = 0; n < b->node_count; n++)
		criticals += b->nodes[n].critical;
}

/* How many fragments of positive length contain each time at which that number changes. */
static void check_parallelism(const struct brute *b)
{
	struct grain_item *all = NULL;
	size_t count = 0;

	for (uint32_t i = 0; i < b->context_count; i++)
		count += b->contexts[i].item_count;
	all = calloc(count + 1, sizeof(*all));
	count = 0;
	for (uint32_t i = 0; i < b->context_count; i++)
		for (uint32_t k = 0; k < b->contexts[i].item_count; k++) {
			all[count] = item_of(b->graph, b->contexts[i].first_item + k);
			count += all[count].kind == GRAIN_FRAGMENT && all[count].own_ns > 0;
		}
	for (uint32_t i = 0; count <= MOST_FRAGMENTS && i < b->context_count; i++) {
		const struct grain_context *c = &b->contexts[i];
		double least = NAN;

		for (uint32_t k = 0; k < c->item_count; k++) {
			struct grain_item own = item_of(b->graph, c->first_item + k);

			for (size_t m = 0; own.kind == GRAIN_FRAGMENT && m < 2 * count; m++) {
				uint64_t at = m % 2 ? all[m / 2].end_ns : all[m / 2].start_ns;
				int n = 0;

				if (at < own.start_ns || at >= own.end_ns)
					continue;
				for (size_t x = 0; x < count; x++)
					n += all[x].start_ns <= at && at < all[x].end_ns;
				if (!(least <= n))
					least = n;
			}
		}
		parallelisms++;
		wrong_parallelism += !same(c->instantaneous_parallelism, least);
	}
	free(all);
}

/* The time that the context itself spends in the join. */
static uint64_t wait_in(const struct brute *b, uint32_t context, uint32_t join)
{
	const struct grain_context *c = &b->contexts[context];
	uint64_t ns = 0;

	for (uint32_t k = 0; k < c->item_count; k++) {
		struct grain_item item = item_of(b->graph, c->first_item + k);

		ns += item.kind == GRAIN_JOIN && item.ref == join ? item.own_ns : 0;
	}
	return ns;
}

static double core_distance(const struct brute *b, uint32_t x, uint32_t y)
{
	int a = core_of(item_of(b->graph, b->contexts[x].first_item).cpu),
	    c = core_of(item_of(b->graph, b->contexts[y].first_item).cpu);

	return abs(a - c);
}

static double all_pairs(const struct brute *b, const uint32_t *group, size_t n)
{
	double *values = calloc(n * n + 1, sizeof(*values)), result = NAN;
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			values[count++] = core_distance(b, group[i], group[k]);
	if (count)
		result = median(values, count);
	free(values);
	return result;
}

static void check_siblings(const struct brute *b, uint32_t task)
{
	const struct grain_context *c = &b->contexts[task];
	uint32_t group[MAX_TASKS + MAX_LOOPS * MAX_CHUNKS];
	double values[MAX_TASKS + MAX_LOOPS * MAX_CHUNKS], longest = 0, middle, cost;
	size_t n = 0;

	if (c->join == GRAIN_NONE)
		return;
	for (uint32_t i = 0; i < b->context_count; i++) {
		const struct grain_context *s = &b->contexts[i];

		if (s->kind != GRAIN_TASK || s->parent != c->parent || s->join != c->join)
			continue;
		values[n] = (double)brute_own_span(b, i);
		longest = (double)s->exec_ns > longest ? (double)s->exec_ns : longest;
		group[n++] = i;
	}
	siblings++;
	cost = (double)c->create_ns + (double)wait_in(b, c->parent, c->join) / (double)n;
	wrong_benefit += !same(c->parallel_benefit, cost > 0 ? (double)c->exec_ns / cost : NAN);
	middle = median(values, n);
	wrong_balance += !same(c->load_balance, middle > 0 ? longest / middle : NAN);
	wrong_scatter += !same(c->scatter, all_pairs(b, group, n));
}

/* The fewest bins that best-fit decreasing needs, by looking at all of them each time. */
static uint32_t pack(double *sizes, size_t n, double capacity)
{
	double used[MAX_CHUNKS] = {0};
	uint32_t bins = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (sizes[k] > sizes[i]) {
				double v = sizes[i];

				sizes[i] = sizes[k];
				sizes[k] = v;
			}
	for (size_t i = 0; i < n; i++) {
		uint32_t best = bins;

		for (uint32_t k = 0; k < bins; k++)
			if (used[k] + sizes[i] <= capacity && (best == bins || used[k] > used[best]))
				best = k;
		used[best] += sizes[i];
		bins += best == bins;
	}
	return bins;
}

static void check_loop(const struct brute *b, uint32_t index)
{
	struct grain_loop loop;
	uint32_t group[MAX_CHUNKS];
	double chains[MAX_THREADS], sizes[MAX_CHUNKS], longest = 0, makespan = 0, middle, expected;
	uint32_t bins, entered = 0;
	size_t n = 0;

	grain_graph__loop(b->graph, index, &loop);
	for (uint32_t m = 0; m < b->context_count; m++) {
		const struct grain_context *member = &b->contexts[m];
		uint32_t own[MAX_CHUNKS];
		double sum = 0, bookkeeping[MAX_CHUNKS], cost;
		bool visits = false;
		size_t k = 0;

		for (uint32_t i = 0; i < member->item_count; i++) {
			struct grain_item item = item_of(b->graph, member->first_item + i);
			struct grain_iterations it;

			visits |= item.kind == GRAIN_BOOKKEEPING && item.ref == index;
			if (item.kind != GRAIN_CHUNK_ITEM ||
			    !grain_graph__iterations(b->graph, item.ref, &it) || it.loop != index)
				continue;
			own[k] = item.ref;
			bookkeeping[k++] = (double)item_of(b->graph, member->first_item + i - 1).own_ns;
			sum += (double)b->contexts[item.ref].exec_ns;
		}
		if (visits)
			chains[entered++] = sum;
		makespan = sum > makespan ? sum : makespan;
		for (size_t i = 0; i < k; i++) {
			const struct grain_context *c = &b->contexts[own[i]];

			cost = bookkeeping[i];
			if (loop.join != GRAIN_NONE)
				cost += (double)wait_in(b, m, loop.join) / (double)k;
			chunks++;
			wrong_benefit +=
				!same(c->parallel_benefit, cost > 0 ? (double)c->exec_ns / cost : NAN);
			longest = (double)c->exec_ns > longest ? (double)c->exec_ns : longest;
			sizes[n] = (double)c->exec_ns;
			group[n++] = own[i];
		}
	}
	middle = median(chains, entered);
	expected = middle > 0 ? longest / middle : NAN;
	wrong_loops += entered != loop.members || n != loop.chunks || !same(loop.load_balance, expected);
	for (size_t i = 0; i < n; i++) {
		wrong_loops += !same(b->contexts[group[i]].load_balance, expected);
		wrong_scatter += !same(b->contexts[group[i]].scatter, all_pairs(b, group, n));
	}
	/* Its own members are enough, also where best-fit decreasing finds no way. */
	bins = n ? pack(sizes, n, makespan) : 0;
	wrong_loops += loop.minimum_cores != (bins < entered ? bins : entered);
}

/* What the member's thread ran of the region; all of a region inside it counts. */
static void check_region(const struct brute *b, uint32_t index)
{
	struct grain_region region;
	double busy[MAX_THREADS], longest = 0, middle;

	grain_graph__region(b->graph, index, &region);
	for (uint32_t m = 0; m < region.threads; m++) {
		uint32_t member = grain_graph__member(b->graph, region.first_member + m);
		uint32_t tid = item_of(b->graph, b->contexts[member].first_item).tid;

		busy[m] = 0;
		for (uint32_t i = 0; i < b->context_count; i++) {
			const struct grain_context *c = &b->contexts[i];
			bool inner = c->kind == GRAIN_IMPLICIT && c->region != index &&
				     b->contexts[c->parent].region == index;

			if (inner && item_of(b->graph, c->first_item).tid == tid)
				busy[m] += (double)(c->end_ns - c->start_ns);
			for (uint32_t k = 0; c->region == index && k < c->item_count; k++) {
				struct grain_item item = item_of(b->graph, c->first_item + k);

				if (item.kind == GRAIN_FRAGMENT && item.tid == tid)
					busy[m] += (double)item.own_ns;
			}
		}
		longest = busy[m] > longest ? busy[m] : longest;
		members++;
	}
	middle = median(busy, region.threads);
	wrong_regions += !same(region.load_balance, middle > 0 ? longest / middle : NAN);
}

static void check_metrics(const struct grain_graph *g)
{
	struct brute *b = brute_new(g);

	graphs++;
	check_sums(b);
	check_spans(b);
	check_parallelism(b);
	for (uint32_t i = 0; i < b->context_count; i++)
		if (b->contexts[i].kind == GRAIN_TASK)
			check_siblings(b, i);
	for (uint32_t i = 0; i < grain_graph__loop_count(g); i++)
		check_loop(b, i);
	for (uint32_t i = 0; i < grain_graph__region_count(g); i++)
		check_region(b, i);
	brute_free(b);
}

int main(void)
{
	for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
		for (int threads = 1; threads <= MAX_THREADS; threads++) {
			char *text = run_program(seed, threads, seed * 31 + (uint32_t)threads);
			struct grain_graph *g = load_text(text);

			free(text);
			if (g)
				check_metrics(g);
			grain_graph__free(g);
		}
	}
	CHECK(graphs == PROGRAMS * MAX_THREADS, "brute force: %d graphs", graphs);
	CHECK(wrong_sums == 0, "brute force: times of contexts are those of their items");
	CHECK(wrong_conservation == 0, "brute force: all time of all threads is in items");
	CHECK(wrong_work == 0, "brute force: work");
	CHECK(spans == graphs && wrong_span == 0, "brute force: span, burdened span, work >= span");
	CHECK(criticals > 10 * graphs && wrong_critical == 0,
	      "brute force: what is critical is one heaviest path");
	CHECK(parallelisms > 20 * PROGRAMS && wrong_parallelism == 0,
	      "brute force: exact instantaneous parallelism of %d contexts", parallelisms);
	CHECK(siblings > 50 * PROGRAMS && wrong_benefit == 0,
	      "brute force: parallel benefit of %d tasks, %d chunks", siblings, chunks);
	CHECK(wrong_balance == 0, "brute force: load balance of siblings");
	CHECK(wrong_scatter == 0, "brute force: scatter");
	CHECK(chunks > 5 * PROGRAMS && wrong_loops == 0, "brute force: balance and fewest cores of loops");
	CHECK(members > 4 * PROGRAMS && wrong_regions == 0, "brute force: balance of regions, %d members",
	      members);
	if (check_failures)
		printf("# sums %d conservation %d work %d span %d critical %d benefit %d balance %d scatter "
		       "%d "
		       "loops %d parallelism %d regions %d\n",
		       wrong_sums, wrong_conservation, wrong_work, wrong_span, wrong_critical, wrong_benefit,
		       wrong_balance, wrong_scatter, wrong_loops, wrong_parallelism, wrong_regions);
	CHECK_DONE();
}
