/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two programs of figure 3 of the PPoPP 2016 paper and what section 3 says
 * of them, with round times: the whole graph and every metric by hand.
 */
#include "tests/unit/brute_force.h"
#include "tests/unit/graph_json.h"

static struct grain_graph *load(const char *path)
{
	struct grain_load_opts opts = {.keep_events = true};
	struct grain_error err = {{0}};
	struct grain_graph *g = NULL;
	int error = grain_graph__load(path, &opts, &g, &err);

	CHECK(error == 0, "%s: loads %s", path, err.text);
	return g;
}

#define FOO "0.p0.s0.0"
#define BAR FOO ".0"
#define BAZ FOO ".1"

/* Figure 3c: foo's fragments in a row, a fork per child, one join for both. */
static const char *const tasks_graph[] = {
	"critical 0:f0 0",
	"0.p0:begin 0",
	"0.p0:end 0",
	"critical 0.p0.0:f0 20",
	"critical 0.p0.0:k1 20",
	"0.p0.0:f2 10",
	"0.p0.1:f0 10",
	"critical 0.p0/b0 0",
	"critical " FOO ":f0 40",
	"critical " FOO ":k1 30",
	FOO ":f2 100",
	FOO ":k3 20",
	FOO ":f4 10",
	"critical " FOO "/j0 0",
	"critical " FOO ":f6 40",
	"critical " BAR ":f0 300",
	BAZ ":f0 100",
	"continuation 0:f0 > 0.p0:begin",
	"creation 0.p0:begin > 0.p0.0:f0",
	"creation 0.p0:begin > 0.p0.1:f0",
	"continuation 0.p0.0:f0 > 0.p0.0:k1",
	"continuation 0.p0.0:k1 > 0.p0.0:f2",
	"continuation 0.p0.0:f2 > 0.p0/b0",
	"continuation 0.p0.1:f0 > 0.p0/b0",
	"creation 0.p0.0:k1 > " FOO ":f0",
	"continuation " FOO ":f0 > " FOO ":k1",
	"creation " FOO ":k1 > " BAR ":f0",
	"continuation " FOO ":k1 > " FOO ":f2",
	"continuation " FOO ":f2 > " FOO ":k3",
	"creation " FOO ":k3 > " BAZ ":f0",
	"continuation " FOO ":k3 > " FOO ":f4",
	"continuation " FOO ":f4 > " FOO "/j0",
	"synchronization " BAR ":f0 > " FOO "/j0",
	"synchronization " BAZ ":f0 > " FOO "/j0",
	"continuation " FOO "/j0 > " FOO ":f6",
	"synchronization " FOO ":f6 > 0.p0/b0",
	"synchronization 0.p0/b0 > 0.p0:end",
};

static void check_join(const struct grain_graph *g, const char *id, enum grain_join_kind kind,
		       uint32_t joined, uint64_t start, uint64_t end)
{
	char text[64];

	for (uint32_t i = 0; i < grain_graph__join_count(g); i++) {
		struct grain_join j;

		grain_graph__join_id(g, i, text, sizeof text);
		if (strcmp(text, id) != 0)
			continue;
		grain_graph__join(g, i, &j);
		CHECK(j.kind == kind && j.joined == joined && j.start_ns == start && j.end_ns == end,
		      "join %s: %u joined, %llu to %llu", id, joined, (unsigned long long)start,
		      (unsigned long long)end);
		return;
	}
	CHECK(0, "join %s exists", id);
}

static void check_problem(const struct grain_graph *g, enum grain_problem problem, uint64_t grains,
			  double percent)
{
	struct grain_problem_summary p;

	grain_graph__problem(g, problem, &p);
	CHECK(p.available && p.grains == grains, "%s: a problem of %llu grains", p.name,
	      (unsigned long long)grains);
	check_near(p.percent, percent, "its share");
}

static void check_metrics(const struct grain_graph *g, const char *id, double benefit, double balance,
			  double parallelism, double scatter)
{
	struct grain_context c = context_at(g, id);

	check_near(c.parallel_benefit, benefit, id);
	check_near(c.load_balance, balance, id);
	check_near(c.instantaneous_parallelism, parallelism, id);
	check_near(c.scatter, scatter, id);
	CHECK(isnan(c.work_deviation) && isnan(c.memory_hierarchy_utilization) && !c.incomplete,
	      "%s: complete, what cannot be had is absent", id);
}

static void test_tasks(void)
{
	struct grain_graph *g = load("tests/data/ppopp16_figure3_tasks.log");
	const struct grain_totals *t;
	struct grain_region region;

	if (!g)
		return;
	CHECK_WHOLE_GRAPH(g, "figure 3c", tasks_graph);
	check_joined(g, "0", NULL, NULL);
	check_joined(g, "0.p0.0", "0", NULL);
	check_joined(g, "0.p0.1", "0", NULL);
	check_joined(g, FOO, "0.p0.0", "0.p0/b0");
	check_joined(g, BAR, FOO, FOO "/j0");
	check_joined(g, BAZ, FOO, FOO "/j0");
	check_times(g, "0", 0, 0, 0);
	/* Waits: 470 less foo's body of 440; 510 less bar; foo's 200 less baz. */
	check_times(g, "0.p0.0", 30, 0, 30);
	check_times(g, "0.p0.1", 10, 0, 210);
	check_times(g, FOO, 40 + 100 + 10 + 40, 20, 100);
	check_times(g, BAR, 300, 30, 0);
	check_times(g, BAZ, 100, 20, 0);
	check_join(g, FOO "/j0", GRAIN_JOIN_TASKWAIT, 2, 360, 560);
	check_join(g, "0.p0/b0", GRAIN_JOIN_REGION_END, 1, 110, 620);
	CHECK(grain_graph__join_count(g) == 2 && grain_graph__context_count(g) == 6 &&
		      grain_graph__dependence_count(g) == 0,
	      "two joins, six contexts, no dependence");
	CHECK(context_at(g, FOO).depth == 1 && context_at(g, BAR).depth == 2 &&
		      context_at(g, BAZ).depth == 2 && context_at(g, "0.p0.1").depth == 0,
	      "depths");
	/*
	 * bar and baz share foo's wait of 100; member 0 waits 30 for foo. Their own
	 * spans are 300 and 100, foo's 40 + 300 + 40. While foo and bar run they
	 * are alone for some time, baz never is. bar ran on core 1, baz on core 0.
	 */
	check_metrics(g, FOO, 190.0 / (20 + 30), 190.0 / 380, 1, NAN);
	check_metrics(g, BAR, 300.0 / (30 + 50), 300.0 / 200, 1, 1);
	check_metrics(g, BAZ, 100.0 / (20 + 50), 300.0 / 200, 2, 1);
	check_totals(g, "figure 3c", 30 + 10 + 190 + 300 + 100, 20 + 40 + 300 + 40);
	t = grain_graph__totals(g);
	/* The region's start 100, foo's and bar's creation. */
	CHECK(t->burdened_span_ns == 100 + 20 + 20 + 40 + 30 + 300 + 40, "burdened span 550");
	check_near(t->average_parallelism, 630.0 / 400, "average parallelism");
	CHECK(t->grains == 3 && t->tasks == 3 && t->chunks == 0 && t->wall_ns == 640, "three grains");
	check_problem(g, GRAIN_PROBLEM_PARALLEL_BENEFIT, 0, 0);
	check_problem(g, GRAIN_PROBLEM_LOAD_BALANCE, 2, 200.0 / 3);
	check_problem(g, GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM, 2, 200.0 / 3);
	check_problem(g, GRAIN_PROBLEM_SCATTER, 0, 0);
	grain_graph__region(g, 0, &region);
	CHECK(region.threads == 2 && region.tasks == 3 && region.start_ns == 0 && region.end_ns == 640 &&
		      region.max_active_tasks_per_thread == 2 && !region.incomplete,
	      "the region");
	check_near(region.load_balance, 320.0 / 315, "balance of the region");
	check_round_trip(g, "figure 3a");
	grain_graph__free(g);
}

/* Figure 3g: book-keeping before every chunk and once more to learn that none is left. */
static const char *const loop_graph[] = {
	"critical 0:f0 0",
	"0.p0:begin 0",
	"0.p0:end 0",
	"critical 0.p0.0:f0 20",
	"critical 0.p0.0:b1 10",
	"critical 0.p0/l0[1,4]:f0 100",
	"critical 0.p0.0:b3 10",
	"critical 0.p0/l0[9,12]:f0 300",
	"critical 0.p0.0:b5 10",
	"critical 0.p0/l0[17,20]:f0 50",
	"critical 0.p0.0:b7 5",
	"0.p0.1:f0 10",
	"0.p0.1:b1 20",
	"0.p0/l0[5,8]:f0 200",
	"0.p0.1:b3 10",
	"0.p0/l0[13,16]:f0 100",
	"0.p0.1:b5 10",
	"critical 0.p0/b0 0",
	"continuation 0:f0 > 0.p0:begin",
	"creation 0.p0:begin > 0.p0.0:f0",
	"creation 0.p0:begin > 0.p0.1:f0",
	"continuation 0.p0.0:f0 > 0.p0.0:b1",
	"continuation 0.p0.0:b1 > 0.p0/l0[1,4]:f0",
	"continuation 0.p0/l0[1,4]:f0 > 0.p0.0:b3",
	"continuation 0.p0.0:b3 > 0.p0/l0[9,12]:f0",
	"continuation 0.p0/l0[9,12]:f0 > 0.p0.0:b5",
	"continuation 0.p0.0:b5 > 0.p0/l0[17,20]:f0",
	"continuation 0.p0/l0[17,20]:f0 > 0.p0.0:b7",
	"synchronization 0.p0.0:b7 > 0.p0/b0",
	"continuation 0.p0.1:f0 > 0.p0.1:b1",
	"continuation 0.p0.1:b1 > 0.p0/l0[5,8]:f0",
	"continuation 0.p0/l0[5,8]:f0 > 0.p0.1:b3",
	"continuation 0.p0.1:b3 > 0.p0/l0[13,16]:f0",
	"continuation 0.p0/l0[13,16]:f0 > 0.p0.1:b5",
	"synchronization 0.p0.1:b5 > 0.p0/b0",
	"synchronization 0.p0/b0 > 0.p0:end",
};

static void check_chunk(const struct grain_graph *g, const char *id, const char *member, uint64_t exec,
			uint64_t bookkeeping, bool critical)
{
	struct grain_context c = context_at(g, id);

	check_joined(g, id, member, "0.p0/b0");
	CHECK(c.kind == GRAIN_CHUNK && c.exec_ns == exec && c.bookkeeping_ns == bookkeeping &&
		      c.critical == critical,
	      "%s: %llu, book-keeping %llu", id, (unsigned long long)exec, (unsigned long long)bookkeeping);
}

static void test_loop(void)
{
	struct grain_graph *g = load("tests/data/ppopp16_figure3_loop.log");
	const struct grain_totals *t;
	struct grain_region region;
	struct grain_loop loop;

	if (!g)
		return;
	CHECK_WHOLE_GRAPH(g, "figure 3g", loop_graph);
	check_chunk(g, "0.p0/l0[1,4]", "0.p0.0", 100, 10, true);
	check_chunk(g, "0.p0/l0[5,8]", "0.p0.1", 200, 20, false);
	check_chunk(g, "0.p0/l0[9,12]", "0.p0.0", 300, 10, true);
	check_chunk(g, "0.p0/l0[13,16]", "0.p0.1", 100, 10, false);
	check_chunk(g, "0.p0/l0[17,20]", "0.p0.0", 50, 10, true);
	check_times(g, "0.p0.0", 20, 0, 95);
	check_times(g, "0.p0.1", 10, 0, 240);
	check_join(g, "0.p0/b0", GRAIN_JOIN_REGION_END, 5, 460, 700);
	/*
	 * Member 0 waits 95 for three chunks, member 1 240 for two. The longest
	 * grain against the median of the chains 450 and 300 (section 3.2). Three
	 * ran on core 0, two on core 1: six of ten pairs are 1 apart.
	 */
	check_metrics(g, "0.p0/l0[1,4]", 100 / (10 + 95.0 / 3), 0.8, 1, 1);
	check_metrics(g, "0.p0/l0[5,8]", 200.0 / (20 + 120), 0.8, 1, 1);
	check_metrics(g, "0.p0/l0[9,12]", 300 / (10 + 95.0 / 3), 0.8, 1, 1);
	check_metrics(g, "0.p0/l0[13,16]", 100.0 / (10 + 120), 0.8, 2, 1);
	check_metrics(g, "0.p0/l0[17,20]", 50 / (10 + 95.0 / 3), 0.8, 1, 1);
	grain_graph__loop(g, 0, &loop);
	CHECK(loop.chunks == 5 && loop.members == 2 && loop.iterations == 20 && loop.chunk == 4 &&
		      loop.exec_ns == 750 && loop.bookkeeping_ns == 75 && loop.minimum_cores == 2 &&
		      loop.start_ns == 120 && loop.end_ns == 605 && loop.bounds == GRAIN_BOUNDS_OBSERVED &&
		      !loop.sections && !loop.incomplete,
	      "the loop");
	check_near(loop.load_balance, 300.0 / 375, "balance of the loop");
	check_totals(g, "figure 3g", 20 + 10 + 750, 20 + 450);
	t = grain_graph__totals(g);
	CHECK(t->burdened_span_ns == 100 + 20 + 35 + 450, "burdened span 605");
	CHECK(t->grains == 5 && t->chunks == 5 && t->tasks == 0, "five grains");
	check_problem(g, GRAIN_PROBLEM_PARALLEL_BENEFIT, 1, 20);
	check_problem(g, GRAIN_PROBLEM_LOAD_BALANCE, 0, 0);
	check_problem(g, GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM, 4, 80);
	check_problem(g, GRAIN_PROBLEM_SCATTER, 0, 0);
	grain_graph__region(g, 0, &region);
	CHECK(region.threads == 2 && region.tasks == 0 && region.max_active_tasks_per_thread == 0,
	      "the region");
	check_near(region.load_balance, 470.0 / 390, "balance of the region");
	check_round_trip(g, "figure 3b");
	grain_graph__free(g);
}

int main(void)
{
	test_tasks();
	test_loop();
	CHECK_DONE();
}
