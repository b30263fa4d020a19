/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups and reductions of what is left of random programs when lines of their logs are missing or moved. */
#include "analysis/include/grain_reduced.h"
#include "tests/unit/groups_text.h"
#include "tests/unit/random_expect.h"
#include "tests/unit/random_loops.h"

#define PROGRAMS 150
#define HEAD_LINES 4

static struct program program;
static int loaded, incomplete, wrong_groups, wrong_paths, wrong_filters, wrong_nodes;

/* Leaves out or repeats some lines of events, or gives them to another thread. */
static void damage(FILE *in, FILE *out)
{
	char line[256];
	unsigned long long time;
	int tid, cpu, rest;

	for (int n = 0; fgets(line, sizeof line, in); n++) {
		uint32_t what = program_random(&program, 40);

		if (n < HEAD_LINES || what > 2)
			fputs(line, out);
		else if (what == 1)
			fprintf(out, "%s%s", line, line);
		else if (what == 2 && sscanf(line, "%llu %d %d %n", &time, &tid, &cpu, &rest) == 3)
			fprintf(out, "%llu %d %d %s", time, 100 + (int)program_random(&program, MAX_THREADS),
				cpu, line + rest);
	}
}

static void check_paths(const struct grain_graph *g, const struct grain_groups *groups)
{
	uint64_t work = grain_graph__totals(g)->work_ns;

	for (uint32_t i = 0; i < grain_groups__count(groups); i++) {
		struct grain_filtered *out;
		struct grain_group it;
		uint64_t length = UINT64_MAX;
		bool *bits;

		grain_groups__get(groups, i, &it);
		bits = malloc(it.members + 1);
		out = calloc(it.members + 1, sizeof *out);
		wrong_paths += grain_groups__local_path(groups, i, bits, &length) != 0 || length > work;
		wrong_filters += grain_groups__filter(groups, i, GRAIN_PROBLEM_LOAD_BALANCE, out,
						      it.members) > it.members;
		free(bits);
		free(out);
	}
}

static void check_reduced(const struct grain_graph *g)
{
	struct grain_reduced *reduced = NULL;
	uint64_t work = 0;

	if (grain_reduced__new(g, &reduced)) {
		wrong_nodes++;
		return;
	}
	for (uint32_t i = 0; i < grain_graph__context_count(g); i++) {
		struct grain_reduced_node n;

		grain_reduced__node(reduced, i, &n);
		work += n.sum_ns;
	}
	for (size_t i = 0; i < grain_reduced__edge_count(reduced); i++) {
		struct grain_reduced_edge e;

		grain_reduced__edge(reduced, i, &e);
		wrong_nodes += e.from >= grain_reduced__node_count(reduced) ||
			       e.to >= grain_reduced__node_count(reduced);
	}
	wrong_nodes += work != grain_graph__totals(g)->work_ns;
	grain_reduced__free(reduced);
}

static void check_program(uint32_t seed)
{
	char path[] = "/tmp/graind-unit-XXXXXX";
	struct grain_load_opts opts = {.keep_going = true};
	struct grain_groups *groups = NULL;
	struct grain_graph *g = NULL;
	uint32_t *classes;
	int fd = mkstemp(path);
	FILE *log = tmpfile(), *damaged = fd < 0 ? NULL : fdopen(fd, "w");

	if (!log || !damaged)
		return;
	program_generate(&program, seed);
	program_run(&program, 1 + (int)(seed % MAX_THREADS), seed, log);
	rewind(log);
	damage(log, damaged);
	fclose(log);
	fclose(damaged);
	if (grain_graph__load(path, &opts, &g, NULL) == 0) {
		loaded++;
		incomplete += grain_graph__truth(g)->incomplete_grains > 0;
		if (grain_groups__new(g, &groups) == 0) {
			wrong_groups += groups_wrong(g, groups);
			check_paths(g, groups);
			classes = malloc(grain_groups__count(groups) * sizeof *classes);
			wrong_groups += grain_groups__classes(groups, classes) != 0;
			free(classes);
		} else {
			wrong_groups++;
		}
		check_reduced(g);
	}
	unlink(path);
	grain_groups__free(groups);
	grain_graph__free(g);
}

int main(void)
{
	for (uint32_t seed = 1; seed <= PROGRAMS; seed++)
		check_program(seed);
	CHECK(loaded > PROGRAMS / 2 && incomplete > PROGRAMS / 4,
	      "damaged: %d of %d graphs, %d with incomplete grains", loaded, PROGRAMS, incomplete);
	CHECK(wrong_groups == 0, "damaged: every context in one group, sums are kept");
	CHECK(wrong_paths == 0, "damaged: no local path is longer than the work");
	CHECK(wrong_filters == 0, "damaged: filtered groups are no larger");
	CHECK(wrong_nodes == 0, "damaged: reductions keep the work");
	CHECK_DONE();
}
