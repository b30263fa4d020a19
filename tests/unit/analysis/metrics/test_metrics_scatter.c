/* SPDX-License-Identifier: BSD-2-Clause */
/* Scatter: distances of NUMA nodes and of cores, from the capture and from hwloc's XML, against all pairs. */
#include "tests/unit/graph_json.h"

#include <errno.h>

#define FOUR_NODES "tests/data/hwloc_four_nodes.xml"
#define ONE_NODE "tests/data/hwloc_one_node.xml"

/* Two sockets of two nodes each, two CPUs to a node. */
#define MACHINE                                                                                              \
	"@machine host=h cores=8 sockets=2 kernel=6\n"                                                       \
	"@cpu 0 core=0 socket=0 node=0\n@cpu 1 core=1 socket=0 node=0\n"                                     \
	"@cpu 2 core=2 socket=0 node=1\n@cpu 3 core=3 socket=0 node=1\n"                                     \
	"@cpu 4 core=4 socket=1 node=2\n@cpu 5 core=5 socket=1 node=2\n"                                     \
	"@cpu 6 core=6 socket=1 node=3\n@cpu 7 core=7 socket=1 node=3\n"
#define DISTANCES                                                                                            \
	"@distance 0 10 12 20 22\n@distance 1 12 10 22 20\n@distance 2 20 22 10 13\n@distance 3 22 20 13 "   \
	"10\n"

/* n siblings, each on a thread of its own that is on the given CPU; with n chunks, chunks of one loop. */
static char *log_on(const char *head, const unsigned *cpus, size_t n, bool chunks)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		exit(1);
	fprintf(f, GRAPH_HEAD "%s", head);
	if (chunks)
		fprintf(f, "0 1 0 region-begin region=1 src=1 threads=%zu\n", n);
	for (size_t i = 0; i < n && !chunks; i++)
		fprintf(f,
			"%zu 1 0 create-begin task=%zu src=2 flags=deferred\n%zu 1 0 create-end task=%zu\n",
			i, i, i, i);
	if (!chunks)
		fprintf(f, "100 1 0 wait-begin kind=taskwait\n");
	for (size_t i = 0; i < n; i++) {
		size_t tid = i + (chunks ? 1 : 2);

		if (chunks)
			fprintf(f,
				"100 %zu %u member-begin region=1 num=%zu\n"
				"100 %zu %u loop-begin loop=1 src=2 sched=dynamic\n"
				"100 %zu %u chunk-begin loop=1 lower=%zu upper=%zu\n"
				"200 %zu %u chunk-end loop=1\n200 %zu %u loop-end loop=1\n"
				"200 %zu %u wait-begin kind=barrier-implicit\n"
				"200 %zu %u wait-end kind=barrier-implicit\n"
				"200 %zu %u member-end region=1 num=%zu\n",
				tid, cpus[i], i, tid, cpus[i], tid, cpus[i], i, i, tid, cpus[i], tid, cpus[i],
				tid, cpus[i], tid, cpus[i], tid, cpus[i], i);
		else
			fprintf(f, "100 %zu %u task-begin task=%zu\n200 %zu %u task-end task=%zu\n", tid,
				cpus[i], i, tid, cpus[i], i);
	}
	fprintf(f, chunks ? "200 1 0 region-end region=1\n" : "200 1 0 wait-end kind=taskwait\n");
	fclose(f);
	return text;
}

static struct grain_graph *graph_on(const char *name, const char *head, const unsigned *cpus, size_t n,
				    bool chunks, const char *topology)
{
	struct grain_settings settings;
	char *text = log_on(head, cpus, n, chunks);
	struct grain_graph *g;

	grain_settings__default(&settings);
	settings.topology = topology;
	g = graph_of_text_set(name, text, &settings);
	free(text);
	return g;
}

static void expect(const char *name, const char *head, const unsigned *cpus, size_t n, const char *topology,
		   double scatter, double threshold, const char *from)
{
	for (int chunks = 0; chunks < 2; chunks++) {
		struct grain_graph *g = graph_on(name, head, cpus, n, chunks, topology);
		struct grain_problem_summary p;
		json_t *summary;

		if (!g)
			return;
		check_near(context_at(g, chunks ? "0.p0/l0[0,0]" : "0.0").scatter, scatter, name);
		grain_graph__problem(g, GRAIN_PROBLEM_SCATTER, &p);
		CHECK(p.available && p.threshold == threshold, "%s: the threshold is %g", name, threshold);
		CHECK(p.grains == (scatter > threshold ? n : 0), "%s: %llu flagged", name,
		      (unsigned long long)p.grains);
		summary = summary_of(g);
		check_json(json_object_get(json_object_get(summary, "problems"), "scatter"), "distance", from,
			   name);
		json_decref(summary);
		if (!topology)
			check_round_trip(g, name);
		grain_graph__free(g);
	}
}

static void test_nodes(void)
{
	/* The largest distance inside a socket: 13, between nodes 2 and 3. */
	expect("two on one node", MACHINE DISTANCES, (unsigned[]){0, 1}, 2, NULL, 10, 13, "\"nodes\"");
	expect("two on one socket", MACHINE DISTANCES, (unsigned[]){4, 7}, 2, NULL, 13, 13, "\"nodes\"");
	expect("two on two sockets", MACHINE DISTANCES, (unsigned[]){0, 7}, 2, NULL, 22, 13, "\"nodes\"");
	/* 10, 12, 12 */
	expect("two and one", MACHINE DISTANCES, (unsigned[]){0, 1, 2}, 3, NULL, 12, 13, "\"nodes\"");
	/* Three times 10 and three times 20: in the middle 10 and 20. */
	expect("three and one", MACHINE DISTANCES, (unsigned[]){0, 1, 0, 4}, 4, NULL, 15, 13, "\"nodes\"");
	/* Of 0 0 1 3: 10, 12 12, 22 22, 20: sorted 10 12 12 20 22 22. */
	expect("over three nodes", MACHINE DISTANCES, (unsigned[]){0, 1, 2, 6}, 4, NULL, 16, 13, "\"nodes\"");
	/* There 16, back 20: each pair counts both ways. */
	expect("a matrix that is not symmetric",
	       "@machine host=h cores=2 sockets=2 kernel=6\n@cpu 0 core=0 socket=0 node=0\n"
	       "@cpu 1 core=1 socket=1 node=1\n@distance 0 10 16\n@distance 1 20 11\n",
	       (unsigned[]){0, 1}, 2, NULL, 18, 11, "\"nodes\"");
	expect("and inside a socket",
	       "@machine host=h cores=2 sockets=1 kernel=6\n@cpu 0 core=0 socket=0 node=0\n"
	       "@cpu 1 core=1 socket=0 node=1\n@distance 0 10 14\n@distance 1 12 10\n",
	       (unsigned[]){0, 1}, 2, NULL, 13, 14, "\"nodes\"");
	/* What is said again replaces what was said; a row may be longer than there are nodes. */
	expect("said twice", MACHINE DISTANCES "@distance 0 10 12 30 40 50 60\n@distance 3 40 20 13 10 9\n",
	       (unsigned[]){0, 7}, 2, NULL, 40, 13, "\"nodes\"");
}

static void test_cores(void)
{
	static const char one_node[] = "@machine host=h cores=6 sockets=2 kernel=6\n"
				       "@cpu 0 core=0 socket=0 node=0\n@cpu 1 core=0 socket=0 node=0\n"
				       "@cpu 2 core=2 socket=1 node=0\n@cpu 3 core=5 socket=1 node=0\n"
				       "@distance 0 10\n";

	/* Cores 0, 0, 2, 5: distances 0 2 5 2 5 3, sorted 0 2 2 3 5 5. */
	expect("cores", one_node, (unsigned[]){0, 1, 2, 3}, 4, NULL, 2.5, 3, "\"cores\"");
	expect("far cores", one_node, (unsigned[]){0, 3}, 2, NULL, 5, 3, "\"cores\"");
}

static void test_hwloc(void)
{
	/*
	 * CPU c is on node c / 4 of socket c / 8; distances 12 in a socket and 20 + both nodes beyond.
	 * What the capture says counts no more.
	 */
	expect("hwloc, one socket", MACHINE DISTANCES, (unsigned[]){0, 4}, 2, FOUR_NODES, 12, 12,
	       "\"nodes\"");
	expect("hwloc, two sockets", "", (unsigned[]){4, 15}, 2, FOUR_NODES, 24, 12, "\"nodes\"");
	/* CPU c is core c / 2; three cores to a socket. */
	expect("hwloc, cores", MACHINE DISTANCES, (unsigned[]){1, 10}, 2, ONE_NODE, 5, 3, "\"cores\"");
	expect("hwloc, near cores", MACHINE DISTANCES, (unsigned[]){1, 7}, 2, ONE_NODE, 3, 3, "\"cores\"");
}

static void absent(const char *name, const char *head, const char *topology, const char *why)
{
	struct grain_graph *g = graph_on(name, head, (unsigned[]){0, 7}, 2, false, topology);
	struct grain_problem_summary p;

	if (!g)
		return;
	grain_graph__problem(g, GRAIN_PROBLEM_SCATTER, &p);
	CHECK(!p.available && isnan(context_at(g, "0.0").scatter), "%s: absent", name);
	CHECK_STR(p.why, why, "%s: the reason", name);
	if (!topology)
		check_round_trip(g, name);
	grain_graph__free(g);
}

static void test_absent(void)
{
	struct grain_graph *g;
	struct grain_problem_summary p;

	absent("no CPUs", "", NULL, "the capture does not describe the machine's cores");
	absent("no distances", MACHINE, NULL, "distances between NUMA nodes are not known");
	absent("a row is missing", MACHINE "@distance 0 10 12 20 22\n@distance 1 12 10 22 20\n", NULL,
	       "the distances between NUMA nodes are not all known");
	absent("a row is short",
	       MACHINE "@distance 0 10 12 20\n@distance 1 12 10 22 20\n@distance 2 20 22 10 13\n"
		       "@distance 3 22 20 13 10\n",
	       NULL, "the distances between NUMA nodes are not all known");
	absent("hwloc without distances", MACHINE DISTANCES, "tests/data/hwloc_no_distances.xml",
	       "distances between NUMA nodes are not known");
	absent("a node beyond all", MACHINE DISTANCES "@cpu 9 core=0 socket=0 node=4000000000\n", NULL,
	       "distances between NUMA nodes are not known");
	/* One sibling where nobody knows: no scatter of these, but no reason to do without it. */
	g = graph_on("an unknown CPU", MACHINE DISTANCES, (unsigned[]){0, 1, 77}, 3, false, NULL);
	if (!g)
		return;
	grain_graph__problem(g, GRAIN_PROBLEM_SCATTER, &p);
	CHECK(p.available && isnan(context_at(g, "0.0").scatter), "an unknown CPU: absent for its siblings");
	grain_graph__free(g);
	g = graph_on("alone", MACHINE DISTANCES, (unsigned[]){0}, 1, false, NULL);
	if (!g)
		return;
	CHECK(isnan(context_at(g, "0.0").scatter), "a lone grain has none");
	grain_graph__free(g);
}

static void refused(const char *path, int expected)
{
	struct grain_settings settings;
	struct grain_load_opts opts = {.settings = &settings};
	struct grain_error err = {""};
	struct grain_graph *g = NULL;

	grain_settings__default(&settings);
	settings.topology = path;
	CHECK(grain_graph__load("tests/data/fib_two_threads.log", &opts, &g, &err) == expected && !g &&
		      strstr(err.text, path) && strstr(err.text, "topology"),
	      "%s is refused: %s", path, err.text);
}

/* ---- all pairs ------------------------------------------------------------ */

static int ascending(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

static void test_random(void)
{
	static unsigned pairs[60 * 60];
	uint32_t random = 7;
	int wrong = 0, compared = 0;

	for (int round = 0; round < 60; round++) {
		unsigned distance[5][5], cpus[60];
		size_t n = 2 + (size_t)round, count = 0, size;
		char *head = NULL;
		struct grain_graph *g;
		FILE *f = open_memstream(&head, &size);

		if (!f)
			return;
		for (int a = 0; a < 5; a++)
			for (int b = 0; b <= a; b++)
				distance[a][b] = distance[b][a] =
					10 + ((random = random * 1664525u + 1013904223u) >> 16) % 30;
		/* CPU c is on node c % 5. */
		for (int c = 0; c < 20; c++)
			fprintf(f, "@cpu %d core=%d socket=%d node=%d\n", c, c, c % 5, c % 5);
		for (int a = 0; a < 5; a++)
			fprintf(f, "@distance %d %u %u %u %u %u\n", a, distance[a][0], distance[a][1],
				distance[a][2], distance[a][3], distance[a][4]);
		fclose(f);
		n = n > 60 ? 60 : n;
		for (size_t i = 0; i < n; i++)
			cpus[i] = ((random = random * 1664525u + 1013904223u) >> 16) % (round % 3 ? 20 : 2);
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < i; k++)
				pairs[count++] = distance[cpus[i] % 5][cpus[k] % 5];
		qsort(pairs, count, sizeof *pairs, ascending);
		g = graph_on("random", head, cpus, n, round % 2, NULL);
		free(head);
		for (uint32_t i = 0; g && i < grain_graph__context_count(g); i++) {
			struct grain_context c;

			grain_graph__context(g, i, &c);
			if (c.kind != GRAIN_TASK && c.kind != GRAIN_CHUNK)
				continue;
			compared++;
			wrong += c.scatter != ((double)pairs[(count - 1) / 2] + (double)pairs[count / 2]) / 2;
		}
		grain_graph__free(g);
	}
	CHECK(compared > 1000 && wrong == 0, "random: %d grains, the median over all pairs", compared);
}

int main(void)
{
	test_nodes();
	test_cores();
	test_hwloc();
	test_absent();
	refused("tests/data/no-such-file.xml", -ENOENT);
	refused("tests/data/fib_two_threads.log", -EBADMSG);
	test_random();
	CHECK_DONE();
}
