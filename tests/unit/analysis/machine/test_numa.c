// SPDX-License-Identifier: BSD-2-Clause
/*
 * NUMA: on which node grains ran and memory was, how much of it was remote, and whether it was first touched
 * on the wrong node. Where something is absent, the reason is given.
 */
#include "analysis/include/grain_numa.h"
#include "daemon/common/trace/data_objects.h"
#include "tests/unit/graph_json.h"
#include "tests/unit/stream_text.h"

#include <math.h>

#define FOUR                                                                                                 \
	"@cpu 0 core=0 socket=0 node=0\n@cpu 1 core=1 socket=0 node=1\n@cpu 2 core=2 socket=1 node=2\n"      \
	"@cpu 3 core=3 socket=1 node=3\n@node 0 memory=1073741824\n@node 7 memory=4096\n"                    \
	"@distance 0 10 12 21 23\n@distance 1 12 10 23 21\n@distance 2 21 23 10 14\n"                        \
	"@distance 3 23 21 14 10\n@allowed cpus=0-3 nodes=0-3,7\n"
#define ONE "@cpu 0 core=0 socket=0 node=0\n@cpu 1 core=1 socket=0 node=0\n@node 0 memory=1024\n"
#define HEAD "grain-log 1\n@process pid=1 uid=0 exe=/a cmd=a runtime=libgomp threads=4\n"
#define SOURCES                                                                                              \
	"@source 1 file=a.c line=10 func=main kind=parallel\n@source 2 file=a.c line=20 func=f kind=task\n"  \
	"@source 3 file=a.c line=30 func=g kind=task\n"
#define LOOKS "@placement first_ns=150 last_ns=900\n"

/*
 * Four threads, one on each CPU. Each runs a task of 8000 ns. The fourth thread moves to node 0 after 4000
 * ns.
 */
static char *program(const char *lines)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fprintf(out, HEAD SOURCES "%s0 10 0 thread-begin\n500 10 0 region-begin region=1 src=1 threads=4\n",
		lines);
	for (int t = 0; t < 4; t++) {
		fprintf(out,
			"500 %d %d member-begin region=1 num=%d\n500 %d %d create-begin task=%d src=%d\n"
			"500 %d %d create-end task=%d\n500 %d %d wait-begin kind=barrier-implicit src=1\n"
			"1000 %d %d task-begin task=%d\n",
			10 + t, t, t, 10 + t, t, t + 1, t < 3 ? 2 : 3, 10 + t, t, t + 1, 10 + t, t, 10 + t, t,
			t + 1);
		if (t == 3)
			fprintf(out, "4000 13 3 off-cpu reason=blocked\n5000 13 0 on-cpu ready=5000\n");
		fprintf(out,
			"9000 %d %d task-end task=%d\n9000 %d %d wait-end kind=barrier-implicit src=1\n"
			"9000 %d %d member-end region=1 num=%d\n",
			10 + t, t % 3, t + 1, 10 + t, t % 3, 10 + t, t % 3, t);
	}
	fprintf(out, "9000 10 0 region-end region=1\n10000 10 0 thread-end\n");
	fclose(out);
	return text;
}

static struct grain_graph *graph_of(const char *name, const char *lines)
{
	char *text = program(lines);
	struct grain_graph *g = graph_of_text(name, text);

	free(text);
	return g;
}

static void check_part(double got, double wanted, const char *what)
{
	CHECK(fabs(got - wanted) < 1e-9, "%s", what);
	if (fabs(got - wanted) >= 1e-9)
		printf("# %.9g, expected %.9g\n", got, wanted);
}

static void test_time(void)
{
	static const uint64_t team[] = {8000 + 4000, 8000, 8000, 4000, 0};
	static const uint64_t threads[4][5] = {{9500, 0, 0, 0, 0},
					       {0, 8000, 0, 0, 0},
					       {0, 0, 8000, 0, 0},
					       {4000, 0, 0, 4000, 0}};
	struct grain_graph *g = graph_of("time", FOUR);
	struct grain_numa numa;
	struct grain_node node;
	bool same = true;

	if (!g)
		return;
	grain_graph__numa(g, &numa);
	CHECK(!numa.absent && numa.nodes == 5, "five nodes, one of them without CPUs");
	for (size_t i = 0; i < numa.nodes; i++) {
		grain_graph__node(g, i, &node);
		CHECK(node.node == (i < 4 ? i : 7) && node.cpus == (i < 4) && node.team_ns == team[i] &&
			      node.work_ns == team[i] + (i ? 0 : 1500),
		      "node %u: %llu ns of %llu in teams", node.node, (unsigned long long)node.team_ns,
		      (unsigned long long)node.work_ns);
	}
	for (size_t t = 0; t < 4; t++)
		for (size_t i = 0; i < 5; i++)
			same &= grain_graph__thread_on_node(g, t, i) == threads[t][i];
	CHECK(same, "each thread's time on each node, also of one that moved inside a task");
	CHECK(numa.moved == 1, "one grain ran on several nodes");
	CHECK(grain_graph__node_distance(g, 1, 3) == 21 && grain_graph__node_distance(g, 0, 4) == GRAIN_NONE,
	      "distances");
	CHECK_STR(numa.allowed_nodes, "0-3,7", "what it could use");
	CHECK_STR(numa.pages_absent, "the capture does not tell where its memory was", "pages are absent");
	CHECK(isnan(numa.remote_least), "so are remote accesses");
	check_round_trip(g, "time");
	grain_graph__free(g);
}

#define GRID "@area 4 kind=data name=\"grid\" module=\"a\" bytes=33554432\n"

/* As kernels 6.1 to 6.4 tell of pages that NUMA balancing watches. */
static void test_hidden_pages(void)
{
	static const struct {
		const char *pages;
		bool misplaced;
	} cases[] = {
		{"@pages 4 look=last step=2 absent=0 hidden=96 nodes=0:4000\n", true},
		{"@pages 4 look=last step=2 absent=0 hidden=2048 nodes=0:2048\n", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[600];
		struct grain_graph *g;
		struct grain_numa numa;
		struct grain_area area;
		uint64_t hidden = i ? 16u << 20 : 96u * 2 * 4096;

		snprintf(text, sizeof(text), "%s%s", FOUR LOOKS GRID, cases[i].pages);
		g = graph_of("hidden", text);
		if (!g)
			return;
		grain_graph__numa(g, &numa);
		grain_graph__area(g, 0, &area);
		CHECK(area.hidden_bytes[GRAIN_LOOK_LAST] == hidden &&
			      numa.hidden_bytes[GRAIN_LOOK_LAST] == hidden &&
			      area.resident_bytes[GRAIN_LOOK_LAST] == (32u << 20) - hidden &&
			      area.on_node == 1,
		      "what is hidden is on no node");
		CHECK(area.misplaced == cases[i].misplaced, "what is hidden may be on any");
		check_round_trip(g, "hidden");
		grain_graph__free(g);
	}
}

static void test_pages(void)
{
	struct grain_graph *g =
		graph_of("pages", FOUR LOOKS GRID
			 "@pages 4 look=first step=1 absent=8192 nodes=none\n"
			 "@pages 4 look=last step=2 absent=0 nodes=0:4096\n"
			 "@area 5 kind=heap name=\"\" module=\"\" bytes=33554432\n"
			 "@pages 5 look=last step=1 absent=0 nodes=0:2048,1:2048,2:2048,3:2048\n");
	struct grain_numa numa;
	struct grain_area area;

	if (!g)
		return;
	grain_graph__numa(g, &numa);
	CHECK(!numa.pages_absent && numa.areas == 2 && numa.first_ns == 150 && numa.last_ns == 900,
	      "two areas, looked at twice");
	grain_graph__area(g, 0, &area);
	CHECK(!strcmp(area.name, "grid") && area.step[GRAIN_LOOK_LAST] == 2 &&
		      area.resident_bytes[GRAIN_LOOK_FIRST] == 0 &&
		      area.resident_bytes[GRAIN_LOOK_LAST] == 33554432 &&
		      grain_graph__area_bytes(g, 0, GRAIN_LOOK_LAST, 0) == 33554432,
	      "of every second page all of it");
	CHECK(area.misplaced && area.node == 0 && area.on_node == 1, "all of it on one node: misplaced");
	check_part(area.far, 20. / 32, "time on other nodes");
	grain_graph__area(g, 1, &area);
	CHECK(!area.misplaced, "evenly spread: not misplaced");
	check_part(area.far, .75, "a quarter is near");
	/* Of 64 MiB 40 are on node 0, 8 on each other; of 32 us 12, 8, 8, 4. */
	check_part(numa.remote_least, 2 * (.25 - .125), "the least that is remote");
	check_part(numa.remote_alike, 1 - .375 * .625 - .25 * .125 - .25 * .125 - .125 * .125,
		   "remote if all is used alike");
	check_part(grain_graph__node_accesses(g, 3, 0), .125 * .625, "from node 3 to node 0");
	check_round_trip(g, "pages");
	grain_graph__free(g);
}

static bool advice_of(const struct grain_graph *g, struct grain_advice *out)
{
	for (size_t i = 0; i < grain_graph__advice_count(g); i++) {
		grain_graph__advice(g, i, out);
		if (out->kind == GRAIN_ADVICE_FIRST_TOUCH)
			return true;
	}
	return false;
}

static void test_advice(void)
{
	struct grain_graph *g =
		graph_of("advice", FOUR LOOKS GRID "@pages 4 look=last step=1 absent=0 nodes=0:8192\n");
	struct grain_advice a;
	double work, critical;

	if (!g)
		return;
	if (advice_of(g, &a)) {
		/* Slower by 2 of 12, 11 of 21, 13 of 23; the span is one task's. */
		work = 8000 * 2. / 12 + 8000 * 11. / 21 + 4000 * 13. / 23;
		critical = 0;
		for (uint32_t i = 0; i < grain_graph__context_count(g); i++) {
			struct grain_context c;
			struct grain_item item;

			grain_graph__context(g, i, &c);
			grain_graph__item(g, c.first_item, &item);
			if (c.kind == GRAIN_TASK && c.critical)
				critical = item.tid == 11   ? 8000 * 2. / 12
					   : item.tid == 12 ? 8000 * 11. / 21
					   : item.tid == 13 ? 4000 * 13. / 23
							    : 0;
		}
		CHECK(a.problem == GRAIN_PROBLEM_COUNT && a.evidence.memory_bytes == 33554432 &&
			      a.evidence.nodes == 4,
		      "32 MiB are misplaced, four nodes run teams");
		check_part(a.evidence.elsewhere_percent, 62.5, "five eighths of the time is elsewhere");
		/* Work is 33500, of which 1500 are the initial task's, as of the span of 9500. */
		work = 10000 * (work / 4 + critical * .75) / (33500. / 4 + 9500 * .75);
		CHECK(fabs((double)a.saves_ns - work) <= 1, "what it saves: %llu, expected %.0f",
		      (unsigned long long)a.saves_ns, work);
		CHECK_STR(a.finding,
			  "grid (32 MiB) lies on NUMA node 0, where it was first touched, but 62 % of the "
			  "teams' time is on other nodes",
			  "the finding names the variable");
		CHECK_STR(
			a.text,
			"initialize grid in parallel, as a.c:20 uses it (first touch), or spread memory "
			"(numactl --interleave=all); bind threads (OMP_PROC_BIND=close). What it saves is a "
			"bound: counters of cycles and stalls would tell more",
			"what to do");
	} else {
		CHECK(false, "first touch is spoken of");
	}
	grain_graph__free(g);
}

/* None of these is misplaced. */
static void test_no_advice(void)
{
	static const struct {
		const char *name, *lines;
	} cases[] = {
		{"on the nodes that use it", FOUR LOOKS GRID "@pages 4 nodes=0:2048,1:2048,2:2048,3:2048\n"},
		{"small", FOUR LOOKS "@area 1 kind=data name=b bytes=65536\n@pages 1 nodes=0:16\n"},
		{"a stack", FOUR LOOKS "@area 1 kind=stack name=b bytes=33554432\n@pages 1 nodes=0:8192\n"},
		{"never touched", FOUR LOOKS GRID "@pages 4 absent=8192 nodes=none\n"},
		{"a sanitizer's terabytes",
		 FOUR LOOKS "@area 1 kind=anonymous name=\"\" bytes=15392894357504\n"
			    "@pages 1 look=last step=8047176 absent=466 nodes=0:1\n"},
		{"at first only", FOUR LOOKS GRID "@pages 4 look=first nodes=0:8192\n"},
		{"one node", ONE LOOKS GRID "@pages 4 nodes=0:8192\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct grain_graph *g = graph_of(cases[i].name, cases[i].lines);
		struct grain_advice a;
		struct grain_area area = {0};

		if (!g)
			continue;
		grain_graph__area(g, 0, &area);
		CHECK(!area.misplaced && !advice_of(g, &a), "not misplaced: %s", cases[i].name);
		grain_graph__free(g);
	}
}

static void test_absent(void)
{
	struct grain_graph *g = graph_of("one node", ONE LOOKS GRID "@pages 4 nodes=0:8192\n");
	struct grain_numa numa;

	if (g) {
		grain_graph__numa(g, &numa);
		CHECK_STR(numa.absent, "one NUMA node: nothing can be remote", "one node");
		CHECK(numa.areas == 1 && !numa.pages_absent &&
			      grain_graph__area_bytes(g, 0, GRAIN_LOOK_LAST, 0) == 33554432,
		      "one node: pages are known all the same");
		grain_graph__free(g);
	}
	g = graph_of("no machine", "@placement why=\"it ended too early\"\n");
	if (g) {
		grain_graph__numa(g, &numa);
		CHECK_STR(numa.absent, "the capture does not describe the machine's cores", "no machine");
		CHECK_STR(numa.pages_absent, "it ended too early", "the capture's own reason");
		grain_graph__free(g);
	}
}

static void test_damaged(void)
{
	static const char *const bad[] = {
		"@node\n",
		"@node 1024 memory=1\n",
		"@node 0 memory=x\n",
		"@area x\n",
		"@area 1 bytes=-1\n",
		"@area 1 bytes=1\n@area 1 bytes=1\n",
		"@pages 1 nodes=0:1\n",
		"@area 1 bytes=1\n@pages 1 nodes=0\n",
		"@area 1 bytes=1\n@pages 1 nodes=0:1,\n",
		"@area 1 bytes=1\n@pages 1 nodes=1024:1\n",
		"@area 1 bytes=1\n@pages 1 nodes=0:-1\n",
		"@area 1 bytes=1\n@pages 1 nodes=0:99999999999999999999\n",
		"@area 1 bytes=1\n@pages 1 step=0 nodes=0:1\n",
		"@area 1 bytes=1\n@pages 1 hidden=99999999999999999999 nodes=0:1\n",
		"@area 1 bytes=1\n@pages 1 nodes=0:1\n@pages 1 nodes=0:1\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char *text = program(bad[i]);
		const struct grain_load_opts going = {.keep_going = true};
		struct grain_graph *g = NULL;
		struct grain_error err = {.text = ""};
		struct grain_numa numa;
		const char *path = temporary(text, strlen(text));
		int error = grain_graph__load(path, NULL, &g, &err);

		CHECK(error < 0 && err.text[0], "refused: %.*s", (int)strcspn(bad[i], "\n"), bad[i]);
		if (!error)
			grain_graph__free(g);
		g = NULL;
		CHECK(grain_graph__load(path, &going, &g, NULL) == 0, "the rest is analysed");
		if (g)
			grain_graph__numa(g, &numa);
		grain_graph__free(g);
		free(text);
	}
}

/* What a worker says of variables is not trusted. */
static void test_data_objects(void)
{
	char lines[] = "2000\t1000\tapp\tlarge\n2800\t100\tapp\tinside\n1000\t1000\tapp\tfirst\n"
		       "x\t10\tapp\tbad\n1000\t0\tapp\tempty\nffffffffffffffff\t10\tapp\tbeyond\n"
		       "9000\t10\tapp\n\n9000\t10\tapp\tmore\tfields\n5000\t10\tlib\tlast";
	struct data_objects objects;

	data_objects__take(&objects, lines);
	CHECK(objects.count == 3 && !strcmp(objects.list[0].name, "first") &&
		      !strcmp(objects.list[1].name, "large") && !strcmp(objects.list[2].name, "last") &&
		      !strcmp(objects.list[2].module, "lib") && objects.list[1].bytes == 4096,
	      "three variables, by address");
	data_objects__free(&objects);
	data_objects__take(&objects, NULL);
	CHECK(objects.count == 0, "none");
	data_objects__free(&objects);
}

int main(void)
{
	test_time();
	test_pages();
	test_hidden_pages();
	test_advice();
	test_no_advice();
	test_absent();
	test_damaged();
	test_data_objects();
	CHECK_DONE();
}
