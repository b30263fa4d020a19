/* SPDX-License-Identifier: BSD-2-Clause */
/* The levels of fib's groups (MCC16 figure 2), which of them are alike, and groups as JSON; by hand. */
#include "tests/unit/groups_text.h"

#include <jansson.h>

struct maker {
	FILE *out;
	int now, task;
};

static void begin_task(struct maker *m, int task)
{
	fprintf(m->out, "%d 1 0 create-begin task=%d src=2 flags=undeferred\n", m->now, task);
	m->now += 2;
	fprintf(m->out, "%d 1 0 task-begin task=%d\n", m->now, task);
	m->now += 5;
}

static void end_task(struct maker *m, int task)
{
	m->now += 5;
	fprintf(m->out, "%d 1 0 task-end task=%d\n%d 1 0 create-end task=%d\n", m->now, task, m->now, task);
}

static void taskwait(struct maker *m)
{
	fprintf(m->out, "%d 1 0 wait-begin kind=taskwait\n%d 1 0 wait-end kind=taskwait\n", m->now, m->now);
}

static void make_fib(struct maker *m, int n)
{
	int task = m->task++;

	begin_task(m, task);
	if (n >= 2) {
		make_fib(m, n - 1);
		make_fib(m, n - 2);
		taskwait(m);
	}
	end_task(m, task);
}

static void make_parent(struct maker *m, int children)
{
	int task = m->task++;

	begin_task(m, task);
	for (int i = 0; i < children; i++)
		make_fib(m, 1);
	taskwait(m);
	end_task(m, task);
}

static struct grain_graph *finish(struct maker *m, char **text, const char *name)
{
	struct grain_graph *g;

	taskwait(m);
	fclose(m->out);
	g = graph_of_text(name, *text);
	free(*text);
	return g;
}

static void check_strength(const struct grain_graph *g, const struct grain_groups *groups, const char *name,
			   uint32_t members, uint64_t strength)
{
	struct grain_group it = group_at(g, groups, name);

	CHECK(it.members == members && it.strength == strength, "%s: strength (%u, %llu)", name, members,
	      (unsigned long long)strength);
}

static size_t levels(const struct grain_groups *groups)
{
	size_t most = 0;

	for (uint32_t i = 0; i < grain_groups__count(groups); i++) {
		size_t n = grain_groups__path(groups, i, NULL, 0);

		most = n > most ? n : most;
	}
	return most;
}

/*
 * fib(4): a family of two members for each of the four calls that make tasks.
 * Grouping takes four rounds of siblings and families: fib(2), fib(3), fib(4),
 * and the initial task.
 */
static void test_fib(void)
{
	char *text = NULL;
	size_t size;
	struct maker m = {.out = open_memstream(&text, &size)};
	struct grain_groups *groups;
	struct grain_graph *g;
	uint32_t classes[10], distinct = 0;
	double similar = 0;

	fputs(GRAPH_HEAD, m.out);
	make_fib(&m, 4);
	g = finish(&m, &text, "fib");
	groups = groups_of(g, "fib");
	if (!groups)
		return;
	check_tree(g, groups, "fib",
		   "(f 0 (s (f 0.0 (s (f 0.0.0 (s (f 0.0.0.0 (s 0.0.0.0.0 0.0.0.0.1)) 0.0.0.1)) "
		   "(f 0.0.1 (s 0.0.1.0 0.0.1.1))))))");
	CHECK(grain_groups__count(groups) == 10 && levels(groups) == 2 * 4, "fib: ten groups, four rounds");
	check_strength(g, groups, "siblings 0.0.1 0.0.1/j0", 2, 2);
	check_strength(g, groups, "family 0.0.1", 2, 4);
	check_strength(g, groups, "siblings 0.0.0 0.0.0/j0", 2, 2 + 4);
	check_strength(g, groups, "family 0.0.0", 2, 2 + 6);
	check_strength(g, groups, "siblings 0.0 0.0/j0", 2, 2 + 8 + 4);
	check_strength(g, groups, "family 0.0", 2, 2 + 14);
	check_strength(g, groups, "siblings 0 0/j0", 1, 1 + 16);
	check_strength(g, groups, "family 0", 2, 2 + 17);
	CHECK(grain_groups__classes(groups, classes) == 0, "fib: classes");
	for (uint32_t i = 0; i < 10; i++) {
		bool seen = false;

		for (uint32_t k = 0; k < i; k++)
			seen |= classes[k] == classes[i];
		distinct += !seen;
		CHECK(classes[i] < 8, "fib: classes are numbered from 0");
	}
	/* The two fib(2) are alike, nothing else is. */
	CHECK(distinct == 8, "fib: eight classes");
	CHECK(classes[group_named(g, groups, "family 0.0.1")] ==
		      classes[group_named(g, groups, "family 0.0.0.0")],
	      "fib: both fib(2) are one");
	CHECK(grain_groups__similarity(groups, group_named(g, groups, "family 0.0.1"),
				       group_named(g, groups, "family 0.0.0.0"), 3, &similar) == 0 &&
		      similar == 1,
	      "fib: and their similarity is 1");
	grain_groups__free(groups);
	grain_graph__free(g);
}

/*
 * Two and three children. Round 0: one node of siblings each, 2 and 3 leaves:
 * products 1 + 6, 1 + 4 and 1 + 9. In each later round the nodes have
 * different labels: 6, 5 and 10.
 */
static void test_similarity(void)
{
	char *text = NULL;
	size_t size;
	struct maker m = {.out = open_memstream(&text, &size)};
	struct grain_groups *groups;
	struct grain_graph *g;
	double similar[4];

	fputs(GRAPH_HEAD, m.out);
	make_parent(&m, 2);
	make_parent(&m, 3);
	make_parent(&m, 2);
	g = finish(&m, &text, "similarity");
	groups = groups_of(g, "similarity");
	if (!groups)
		return;
	for (unsigned depth = 0; depth < 4; depth++)
		CHECK(grain_groups__similarity(groups, group_named(g, groups, "siblings 0.0 0.0/j0"),
					       group_named(g, groups, "siblings 0.1 0.1/j0"), depth,
					       &similar[depth]) == 0,
		      "similarity: depth %u", depth);
	check_near(similar[0], 7 / sqrt(5.0 * 10), "similarity: kinds alone");
	check_near(similar[1], (7 + 6) / sqrt((5 + 5) * (10.0 + 10)), "similarity: one round");
	check_near(similar[2], (7 + 6 * 2) / sqrt((5 + 5 * 2) * (10.0 + 10 * 2)), "similarity: two rounds");
	check_near(similar[3], (7 + 6 * 3) / sqrt((5 + 5 * 3) * (10.0 + 10 * 3)), "similarity: three rounds");
	/* A family of siblings is not the siblings. */
	CHECK(grain_groups__similarity(groups, group_named(g, groups, "family 0.0"),
				       group_named(g, groups, "siblings 0.0 0.0/j0"), 2, &similar[0]) == 0 &&
		      similar[0] < 1 && similar[0] > 0,
	      "similarity: a family is another thing than its siblings");
	CHECK(grain_groups__similarity(groups, group_named(g, groups, "family 0.0"),
				       group_named(g, groups, "family 0.2"), 0, &similar[0]) == 0 &&
		      similar[0] == 1,
	      "similarity: equal structures have 1 at depth 0");
	grain_groups__free(groups);
	grain_graph__free(g);
}

static void check_key(const json_t *line, const char *key, const char *expected)
{
	json_t *value = json_object_get(line, key);
	char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	CHECK_STR(text ? text : "absent", expected, "json: %s", key);
	free(text);
}

static void test_json(void)
{
	struct grain_graph *g = NULL;
	struct grain_error err = {{0}};
	struct grain_groups *groups;
	json_t *lines[8] = {NULL};
	char *text = NULL, *rest, *line;
	size_t size, n = 0;
	FILE *f;

	CHECK(grain_graph__load("tests/data/fib_two_threads.log", NULL, &g, &err) == 0, "json: loads");
	groups = groups_of(g, "json");
	if (!groups)
		return;
	f = open_memstream(&text, &size);
	CHECK(grain_groups__write_json(groups, f) == 0, "json: is written");
	fclose(f);
	for (rest = text; n < 8 && (line = strsep(&rest, "\n")) && *line;)
		lines[n++] = json_loads(line, 0, NULL);
	free(text);
	CHECK(n == 6 && lines[0] && lines[5], "json: six lines that parse");
	check_key(lines[0], "group", "5");
	check_key(lines[0], "parent", "null");
	check_key(lines[0], "kind", "\"family\"");
	check_key(lines[0], "context", "\"0\"");
	check_key(lines[0], "members", "[\"0\",4]");
	check_key(lines[1], "kind", "\"region\"");
	check_key(lines[1], "region", "\"0.p0\"");
	check_key(lines[1], "context", "\"0\"");
	check_key(lines[1], "members", "[3,\"0.p0.1\"]");
	check_key(lines[5], "kind", "\"siblings\"");
	check_key(lines[5], "parent", "1");
	check_key(lines[5], "join", "\"0.p0.s0.0/j0\"");
	check_key(lines[5], "loop", "null");
	check_key(lines[5], "source", "\"fib.c:8\"");
	check_key(lines[5], "strength", "[2,2]");
	check_key(lines[5], "grains", "2");
	check_key(lines[5], "start_ns", "1380");
	check_key(lines[5], "end_ns", "1580");
	check_key(lines[5], "exec_ns", "300");
	check_key(lines[5], "create_ns", "70");
	check_key(lines[5], "critical", "true");
	check_key(lines[5], "instantaneous_parallelism", "1");
	check_key(lines[5], "scatter", "null");
	check_key(lines[5], "members", "[\"0.p0.s0.0.0\",\"0.p0.s0.0.1\"]");
	check_key(lines[5], "problems",
		  "{\"parallel_benefit\":0,\"load_balance\":2,\"instantaneous_parallelism\":1}");
	check_key(lines[5], "worst",
		  "{\"parallel_benefit\":\"0.p0.s0.0.0\",\"load_balance\":\"0.p0.s0.0.0\","
		  "\"instantaneous_parallelism\":\"0.p0.s0.0.1\"}");
	for (size_t i = 0; i < n; i++)
		json_decref(lines[i]);
	f = fopen("/dev/full", "w");
	CHECK(f && grain_groups__write_json(groups, f) < 0, "json: a full disk is an error");
	if (f)
		fclose(f);
	grain_groups__free(groups);
	grain_graph__free(g);
}

int main(void)
{
	test_fib();
	test_similarity();
	test_json();
	CHECK_DONE();
}
