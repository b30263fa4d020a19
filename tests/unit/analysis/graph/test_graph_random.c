/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random programs on simulated teams of 1 to 4 threads: identifiers and joins
 * do not depend on the team or the schedule, times, parallelism and span are
 * what the simulation counted.
 */
#include "tests/unit/graph_text.h"
#include "tests/unit/random_expect.h"
#include "tests/unit/random_loops.h"

#define PROGRAMS 40
#define BRUTE_FORCE_FRAGMENTS 260

static struct program program;
static int wrong_ids, wrong_joins, wrong_times, wrong_parallelism, wrong_totals, wrong_conservation,
	wrong_counts;
static int wrong_chunks, wrong_depends, wrong_regions, twice;
static int tasks_checked, parallelism_checked, chunks_checked, depends_checked, regions_checked, suspensions;

static uint32_t *index_ids(const struct grain_graph *g)
{
	uint32_t *index = malloc(MAX_TASKS * sizeof *index);

	for (int t = 0; t < program.task_count; t++)
		index[t] = t ? context_named(g, program.tasks[t].id) : GRAIN_NONE;
	return index;
}

/* Exactly the edges that the accesses make. */
static void check_depends(const struct grain_graph *g, const uint32_t *index)
{
	size_t edges = 0;

	for (int a = 1; a < program.task_count; a++)
		for (int b = 1; b < program.task_count; b++)
			edges += a != b && program_precedes(&program, a, b);
	wrong_depends += edges != grain_graph__dependence_count(g);
	depends_checked += (int)edges;
	for (size_t i = 0; i < grain_graph__dependence_count(g); i++) {
		struct grain_dependence d;
		int from = 0, to = 0;

		grain_graph__dependence(g, i, &d);
		for (int t = 1; t < program.task_count; t++) {
			from = index[t] == d.from ? t : from;
			to = index[t] == d.to ? t : to;
		}
		wrong_depends += !program_precedes(&program, from, to);
	}
}

/* Chunks and their tasks that a barrier joins; the region's end joins what is left. */
static uint64_t chunks_joined(void)
{
	uint64_t n = 0;

	for (int l = 0; l < program.loop_count; l++)
		for (int k = 0; k < program.loops[l].chunk_count; k++)
			n += !program.loops[l].nowait + program.loops[l].chunks[k].has_child;
	return n;
}

static void check_chunk(const struct grain_graph *g, int number, int k)
{
	const struct simulated_loop *l = &program.loops[number];
	const struct simulated_chunk *chunk = &l->chunks[k];
	char id[64], child[80], join[64] = "none", expected[32] = "none";
	struct grain_context c;
	uint32_t index;

	if (l->sections)
		snprintf(id, sizeof id, "0.p0/x%d[%d]", number, k);
	else
		snprintf(id, sizeof id, "0.p0/l%d[%d,%d]", number, k * 10, k * 10 + 9);
	chunks_checked++;
	index = context_named(g, id);
	if (index == GRAIN_NONE) {
		wrong_chunks++;
		return;
	}
	grain_graph__context(g, index, &c);
	if (c.join != GRAIN_NONE)
		grain_graph__join_id(g, c.join, join, sizeof join);
	if (!l->nowait)
		snprintf(expected, sizeof expected, "0.p0/b%d", l->barrier);
	wrong_chunks += strcmp(join, expected) != 0 || c.exec_ns != chunk->run_ns ||
			c.bookkeeping_ns != chunk->bookkeeping_ns || c.incomplete;
	if (!chunk->has_child)
		return;
	snprintf(child, sizeof child, "%s.0", id);
	index = context_named(g, child);
	if (index == GRAIN_NONE) {
		wrong_chunks++;
		return;
	}
	grain_graph__context(g, index, &c);
	wrong_chunks += c.exec_ns != chunk->child_run_ns || c.create_ns != chunk->child_create_ns ||
			c.depth != 1 || c.join == GRAIN_NONE;
}

/* Returns how many contexts the loops have. */
static size_t check_loops(const struct grain_graph *g)
{
	size_t contexts = 0;

	for (int i = 0; i < program.loop_count; i++) {
		const struct simulated_loop *l = &program.loops[i];
		uint64_t exec = 0, bookkeeping = l->end_bookkeeping_ns;
		struct grain_loop loop;

		for (int k = 0; k < l->chunk_count; k++) {
			check_chunk(g, i, k);
			exec += l->chunks[k].run_ns;
			bookkeeping += l->chunks[k].bookkeeping_ns;
			contexts += 1 + l->chunks[k].has_child;
		}
		for (uint32_t k = 0; k < grain_graph__loop_count(g); k++) {
			char id[32], expected[32];

			grain_graph__loop_id(g, k, id, sizeof id);
			snprintf(expected, sizeof expected, "0.p0/%c%d", l->sections ? 'x' : 'l', i);
			if (strcmp(id, expected) != 0)
				continue;
			grain_graph__loop(g, k, &loop);
			wrong_chunks += loop.exec_ns != exec || loop.bookkeeping_ns != bookkeeping ||
					loop.chunks != (uint32_t)l->chunk_count ||
					loop.members != (uint32_t)program.threads ||
					loop.minimum_cores > loop.members;
			exec = UINT64_MAX;
		}
		wrong_chunks += exec != UINT64_MAX;
	}
	return contexts;
}

static size_t check_inner_regions(const struct grain_graph *g)
{
	size_t regions = 0;
	char id[160];

	for (int t = 0; t < program.task_count; t++) {
		const struct task *task = &program.tasks[t];
		int number = 0;

		for (int i = 0; i < task->op_count; i++) {
			struct grain_context c;
			uint32_t index;

			if (task->ops[i].kind != OP_REGION)
				continue;
			snprintf(id, sizeof id, "%.120s.p%d.0", task->id, number++);
			index = context_named(g, id);
			regions++;
			if (index == GRAIN_NONE) {
				wrong_regions++;
				continue;
			}
			grain_graph__context(g, index, &c);
			wrong_regions += c.exec_ns != task->ops[i].run_ns || c.kind != GRAIN_IMPLICIT;
		}
	}
	regions_checked += (int)regions;
	return regions;
}

static int compare_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void check_unique(const struct grain_graph *g)
{
	size_t n = grain_graph__context_count(g);
	char(*ids)[160] = calloc(n, sizeof *ids);

	for (uint32_t i = 0; i < n; i++)
		grain_graph__context_id(g, i, ids[i], sizeof *ids);
	qsort(ids, n, sizeof *ids, compare_text);
	for (size_t i = 1; i < n; i++)
		twice += strcmp(ids[i], ids[i - 1]) == 0;
	free(ids);
}

static void check_tasks(const struct grain_graph *g)
{
	uint32_t *index = index_ids(g);
	bool brute = program.fragment_count <= BRUTE_FORCE_FRAGMENTS;
	uint64_t joined = 0;
	char text[256];

	for (int t = 1; t < program.task_count; t++) {
		const struct task *task = &program.tasks[t];
		struct grain_context c;

		tasks_checked++;
		if (index[t] == GRAIN_NONE) {
			wrong_ids++;
			continue;
		}
		grain_graph__context(g, index[t], &c);
		if (c.join == GRAIN_NONE)
			strcpy(text, "none");
		else
			grain_graph__join_id(g, c.join, text, sizeof text);
		if (strcmp(text, task->join) != 0)
			wrong_joins++;
		if (c.exec_ns != task->run_ns || c.create_ns != task->create_ns ||
		    c.wait_ns != task->wait_ns || c.incomplete || c.depth != (uint32_t)task->depth)
			wrong_times++;
		if (brute) {
			parallelism_checked++;
			if (c.instantaneous_parallelism != program_parallelism(&program, t))
				wrong_parallelism++;
		}
	}
	for (uint32_t j = 0; j < grain_graph__join_count(g); j++) {
		struct grain_join join;

		grain_graph__join(g, j, &join);
		joined += join.joined;
	}
	check_depends(g, index);
	if (joined != (uint64_t)program.task_count - 1 + chunks_joined())
		wrong_joins++;
	free(index);
}

static void check_program(uint32_t seed, int threads)
{
	char path[] = "/tmp/graind-unit-XXXXXX";
	struct grain_graph *g = NULL;
	struct grain_error err = {{0}};
	const struct grain_totals *totals;
	uint64_t work = 0;
	size_t inner, loops;
	int fd = mkstemp(path);
	FILE *log = fd < 0 ? NULL : fdopen(fd, "w");

	if (!log)
		return;
	program_generate(&program, seed);
	program_run(&program, threads, seed * 31 + (uint32_t)threads, log);
	fclose(log);
	if (grain_graph__load(path, NULL, &g, &err) < 0) {
		printf("# program %u on %d threads: %s\n", seed, threads, err.text);
		wrong_counts++;
		unlink(path);
		return;
	}
	unlink(path);
	totals = grain_graph__totals(g);
	inner = check_inner_regions(g);
	loops = check_loops(g);
	check_unique(g);
	suspensions += program.suspensions;
	if (totals->tasks + totals->chunks != (uint64_t)program.task_count - 1 + loops ||
	    grain_graph__context_count(g) != (size_t)(program.task_count + threads) + inner + loops ||
	    grain_graph__truth(g)->incomplete_grains || grain_graph__truth(g)->incomplete_regions)
		wrong_counts++;
	if (grain_graph__truth(g)->conservation_violations)
		wrong_conservation++;
	for (int t = 0; t < program.task_count; t++)
		work += program.tasks[t].run_ns;
	for (int i = 0; i < threads; i++)
		work += program.member_run_ns[i];
	work += program.loops_run_ns + program.inner_run_ns;
	if (totals->work_ns != work || totals->span_ns != program_span(&program) ||
	    totals->burdened_span_ns < totals->span_ns) {
		printf("# program %u on %d threads: work %llu of %llu, span %llu of %llu\n", seed, threads,
		       (unsigned long long)totals->work_ns, (unsigned long long)work,
		       (unsigned long long)totals->span_ns, (unsigned long long)program_span(&program));
		wrong_totals++;
	}
	check_tasks(g);
	grain_graph__free(g);
}

int main(void)
{
	for (uint32_t seed = 1; seed <= PROGRAMS; seed++)
		for (int threads = 1; threads <= MAX_THREADS; threads++)
			check_program(seed, threads);
	CHECK(tasks_checked > 20 * PROGRAMS, "random: %d tasks checked", tasks_checked);
	CHECK(parallelism_checked > 2 * PROGRAMS, "random: parallelism of %d tasks checked",
	      parallelism_checked);
	CHECK(wrong_counts == 0, "random: number of contexts, nothing incomplete");
	CHECK(wrong_ids == 0, "random: identifiers equal for 1 to %d threads", MAX_THREADS);
	CHECK(wrong_joins == 0, "random: every task joined once, by the right join");
	CHECK(wrong_times == 0, "random: execution, creation and wait times, depth");
	CHECK(wrong_parallelism == 0, "random: exact instantaneous parallelism");
	CHECK(wrong_totals == 0, "random: work and span");
	CHECK(wrong_conservation == 0, "random: time is conserved");
	CHECK(chunks_checked > PROGRAMS && wrong_chunks == 0, "random: names, joins and times of %d chunks",
	      chunks_checked);
	CHECK(depends_checked > PROGRAMS && wrong_depends == 0, "random: %d dependences", depends_checked);
	CHECK(regions_checked > PROGRAMS && wrong_regions == 0, "random: %d inner regions", regions_checked);
	CHECK(suspensions > PROGRAMS, "random: %d suspensions", suspensions);
	CHECK(twice == 0, "random: identifiers are unique");
	if (check_failures)
		printf("# wrong: counts %d ids %d joins %d times %d parallelism %d totals %d\n", wrong_counts,
		       wrong_ids, wrong_joins, wrong_times, wrong_parallelism, wrong_totals);
	CHECK_DONE();
}
