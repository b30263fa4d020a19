/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random programs on simulated teams of 1 to 4 threads: identifiers and joins
 * do not depend on the team or the schedule, times, parallelism and span are
 * what the simulation counted.
 */
#include "tests/unit/graph_text.h"
#include "tests/unit/random_program.h"

#define PROGRAMS 40
#define BRUTE_FORCE_FRAGMENTS 260

static struct program program;
static int wrong_ids, wrong_joins, wrong_times, wrong_parallelism, wrong_totals, wrong_conservation,
	wrong_counts;
static int tasks_checked, parallelism_checked;

static uint32_t *index_ids(const struct grain_graph *g)
{
	uint32_t *index = malloc(MAX_TASKS * sizeof *index);

	for (int t = 0; t < program.task_count; t++)
		index[t] = t ? context_named(g, program.tasks[t].id) : GRAIN_NONE;
	return index;
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
	if (joined != (uint64_t)program.task_count - 1)
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
	if (totals->tasks != (uint64_t)program.task_count - 1 ||
	    grain_graph__context_count(g) != (size_t)(program.task_count + threads) ||
	    grain_graph__truth(g)->incomplete_grains || grain_graph__truth(g)->incomplete_regions)
		wrong_counts++;
	if (grain_graph__truth(g)->conservation_violations)
		wrong_conservation++;
	for (int t = 0; t < program.task_count; t++)
		work += program.tasks[t].run_ns;
	for (int i = 0; i < threads; i++)
		work += program.member_run_ns[i];
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
	if (check_failures)
		printf("# wrong: counts %d ids %d joins %d times %d parallelism %d totals %d\n", wrong_counts,
		       wrong_ids, wrong_joins, wrong_times, wrong_parallelism, wrong_totals);
	CHECK_DONE();
}
