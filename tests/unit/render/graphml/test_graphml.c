/* SPDX-License-Identifier: BSD-2-Clause */
/* GraphML, read here by a small scanner that knows what GraphML allows. */
#include "tests/unit/graph_text.h"
#include "tests/unit/random_loops.h"

#include "analysis/export/export_text.h"
#include "analysis/include/grain_export.h"

#include <ctype.h>
#include <errno.h>

#define MAX_KEYS 128

struct element {
	char id[24], source[24], target[24]; /* node or edge */
	char *data[MAX_KEYS];		     /* by key, NULL */
};

struct graphml {
	char *text;
	char key_for[MAX_KEYS][8], key_name[MAX_KEYS][64], key_type[MAX_KEYS][8];
	size_t keys, nodes, edges;
	struct element *node, *edge, graph;
	unsigned wrong;
};

/* The value of an attribute of the tag at `tag`. */
static void attribute(const char *tag, const char *name, char *out, size_t size)
{
	char pattern[32];
	const char *end = strchr(tag, '>'), *at;

	*out = '\0';
	snprintf(pattern, sizeof(pattern), " %s=\"", name);
	at = memmem(tag, (size_t)(end - tag), pattern, strlen(pattern));
	if (!at)
		return;
	at += strlen(pattern);
	snprintf(out, size, "%.*s", (int)strcspn(at, "\""), at);
}

static size_t find_key(struct graphml *x, const char *id)
{
	size_t key = id[0] == 'd' ? (size_t)atoi(id + 1) : MAX_KEYS;

	if (key >= MAX_KEYS || !x->key_name[key][0]) {
		printf("# key '%s' is not declared\n", id);
		x->wrong++;
		return 0;
	}
	return key;
}

static bool fits(const char *type, const char *value)
{
	char *end = NULL;

	if (!strcmp(type, "boolean"))
		return !strcmp(value, "true") || !strcmp(value, "false");
	if (!strcmp(type, "double"))
		return strtod(value, &end) == strtod(value, NULL) && *value && !*end && !isalpha(*value);
	if (!strcmp(type, "string"))
		return true;
	errno = 0;
	strtoll(value, &end, 10);
	return *value && !*end && !errno;
}

static void take_data(struct graphml *x, const char *tag, struct element *of, const char *kind)
{
	char id[24], *value = strchr(tag, '>') + 1;
	size_t key;

	attribute(tag, "key", id, sizeof(id));
	key = find_key(x, id);
	value = strndup(value, strcspn(value, "<"));
	if (strcmp(x->key_for[key], kind) || of->data[key] || !fits(x->key_type[key], value)) {
		printf("# %s of a %s: '%s'\n", x->key_name[key], kind, value);
		x->wrong++;
	}
	free(of->data[key]);
	of->data[key] = value;
}

static struct graphml *parse(char *text)
{
	struct graphml *x = calloc(1, sizeof(*x));
	struct element *open = NULL;
	size_t nodes = 1, edges = 1;

	x->text = text;
	for (char *t = text; (t = strchr(t, '<')); t++) {
		nodes += !strncmp(t, "<node ", 6);
		edges += !strncmp(t, "<edge ", 6);
	}
	x->node = calloc(nodes, sizeof(*x->node));
	x->edge = calloc(edges, sizeof(*x->edge));
	for (char *t = text; (t = strchr(t, '<')); t++) {
		char id[24];

		if (!strncmp(t, "<key ", 5)) {
			attribute(t, "id", id, sizeof(id));
			if (id[0] != 'd' || atoi(id + 1) >= MAX_KEYS || x->key_name[atoi(id + 1)][0])
				x->wrong++;
			attribute(t, "for", x->key_for[atoi(id + 1)], 8);
			attribute(t, "attr.name", x->key_name[atoi(id + 1)], 64);
			attribute(t, "attr.type", x->key_type[atoi(id + 1)], 8);
			x->keys++;
		} else if (!strncmp(t, "<graph ", 7)) {
			open = &x->graph;
		} else if (!strncmp(t, "<node ", 6)) {
			open = &x->node[x->nodes++];
			attribute(t, "id", open->id, sizeof(open->id));
		} else if (!strncmp(t, "<edge ", 6)) {
			open = &x->edge[x->edges++];
			attribute(t, "source", open->source, sizeof(open->source));
			attribute(t, "target", open->target, sizeof(open->target));
		} else if (!strncmp(t, "<data ", 6)) {
			take_data(x, t, open,
				  open == &x->graph ? "graph"
				  : open->source[0] ? "edge"
						    : "node");
		}
	}
	return x;
}

static void drop(struct element *e)
{
	for (size_t k = 0; k < MAX_KEYS; k++)
		free(e->data[k]);
}

static void graphml__free(struct graphml *x)
{
	for (size_t i = 0; i < x->nodes; i++)
		drop(&x->node[i]);
	for (size_t i = 0; i < x->edges; i++)
		drop(&x->edge[i]);
	drop(&x->graph);
	free(x->node);
	free(x->edge);
	free(x->text);
	free(x);
}

static const char *value(const struct graphml *x, const struct element *e, const char *of, const char *name)
{
	for (size_t k = 0; k < MAX_KEYS; k++)
		if (!strcmp(x->key_name[k], name) && !strcmp(x->key_for[k], of))
			return e->data[k] ? e->data[k] : "";
	return "no such key";
}

static const struct element *node_with(const struct graphml *x, const char *id)
{
	for (size_t i = 0; i < x->nodes; i++)
		if (!strcmp(value(x, &x->node[i], "node", "id"), id))
			return &x->node[i];
	CHECK(0, "there is a node of %s", id);
	return &x->node[0];
}

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct element *)a)->id, ((const struct element *)b)->id);
}

/* Its index among the nodes, which are in the order of their names; SIZE_MAX: there is none. */
static size_t place_of(const struct graphml *x, const char *id)
{
	const struct element *found;
	struct element key = {.id = ""};

	strcpy(key.id, id);
	found = bsearch(&key, x->node, x->nodes, sizeof(*x->node), by_id);
	return found ? (size_t)(found - x->node) : SIZE_MAX;
}

static size_t count(const struct graphml *x, const char *of, const char *name, const char *wanted)
{
	bool edges = !strcmp(of, "edge");
	size_t n = 0;

	for (size_t i = 0; i < (edges ? x->edges : x->nodes); i++)
		n += !strcmp(value(x, edges ? &x->edge[i] : &x->node[i], of, name), wanted);
	return n;
}

static struct graphml *written(const char *name, const struct grain_graph *g, enum grain_reduction reduction)
{
	struct graphml *x;
	char *text = NULL;
	size_t size, twice = 0, loose = 0;
	FILE *f = open_memstream(&text, &size);

	CHECK(grain_graph__write_graphml(g, reduction, f) == 0, "%s: is written", name);
	fclose(f);
	x = parse(text);
	CHECK(x->wrong == 0 && x->keys > 40, "%s: every value has a declared key of its type", name);
	qsort(x->node, x->nodes, sizeof(*x->node), by_id);
	for (size_t i = 1; i < x->nodes; i++)
		twice += !strcmp(x->node[i - 1].id, x->node[i].id);
	for (size_t i = 0; i < x->edges; i++)
		loose += place_of(x, x->edge[i].source) == SIZE_MAX ||
			 place_of(x, x->edge[i].target) == SIZE_MAX;
	CHECK(twice == 0 && loose == 0, "%s: nodes are there once, edges are between nodes", name);
	return x;
}

/* The critical edges are one path, and its fragments are the span. */
static void check_path(const char *name, const struct graphml *x, const struct grain_graph *g)
{
	uint8_t *leaves = calloc(x->nodes, 1), *enters = calloc(x->nodes, 1);
	size_t critical = 0, branches = 0;
	uint64_t span = 0;

	for (size_t i = 0; i < x->edges; i++) {
		if (strcmp(value(x, &x->edge[i], "edge", "critical"), "true"))
			continue;
		critical++;
		branches += leaves[place_of(x, x->edge[i].source)]++ != 0;
		branches += enters[place_of(x, x->edge[i].target)]++ != 0;
	}
	free(leaves);
	free(enters);
	for (size_t i = 0; i < x->nodes; i++)
		if (!strcmp(value(x, &x->node[i], "node", "kind"), "fragment") &&
		    !strcmp(value(x, &x->node[i], "node", "critical"), "true"))
			span += strtoull(value(x, &x->node[i], "node", "own_ns"), NULL, 10);
	CHECK(critical > 0 && branches == 0, "%s: critical edges do not branch", name);
	CHECK(span == grain_graph__totals(g)->span_ns, "%s: critical fragments are the span", name);
}

/* Nothing that follows from itself. */
static void check_acyclic(const char *name, const struct graphml *x)
{
	size_t *pending = calloc(x->nodes, sizeof(*pending)), done = 0;
	size_t *from = calloc(x->edges + 1, sizeof(*from)), *to = calloc(x->edges + 1, sizeof(*to));
	bool *gone = calloc(x->edges + 1, 1), any = true;

	for (size_t i = 0; i < x->edges; i++) {
		from[i] = place_of(x, x->edge[i].source);
		to[i] = place_of(x, x->edge[i].target);
		pending[to[i]]++;
	}
	while (any) {
		any = false;
		for (size_t i = 0; i < x->edges; i++) {
			if (gone[i] || pending[from[i]])
				continue;
			pending[to[i]]--;
			gone[i] = any = true;
			done++;
		}
	}
	CHECK(done == x->edges, "%s: no cycle", name);
	free(pending);
	free(from);
	free(to);
	free(gone);
}

static void test_file(const char *path, const char *name)
{
	struct grain_graph *g = NULL;
	struct graphml *full, *reduced;
	size_t items = 0;

	CHECK(grain_graph__load(path, NULL, &g, NULL) == 0, "%s loads", name);
	if (!g)
		return;
	full = written(name, g, GRAIN_FULL);
	for (uint32_t i = 0; i < grain_graph__context_count(g); i++) {
		struct grain_context c;
		struct grain_item item;

		grain_graph__context(g, i, &c);
		for (uint32_t k = 0; k < c.item_count; k++) {
			grain_graph__item(g, c.first_item + k, &item);
			items += item.kind != GRAIN_JOIN && item.kind != GRAIN_CHUNK_ITEM;
		}
	}
	CHECK(full->nodes == items + grain_graph__join_count(g), "%s: a node for every item and join", name);
	check_acyclic(name, full);
	check_path(name, full, g);
	reduced = written(name, g, GRAIN_REDUCED);
	CHECK(count(reduced, "node", "kind", "grain") == grain_graph__context_count(g),
	      "%s: reduced, a node for every context", name);
	check_acyclic(name, reduced);
	graphml__free(full);
	graphml__free(reduced);
	grain_graph__free(g);
}

/* Random programs with everything in them; what the graph is has been tested elsewhere. */
static void test_random(void)
{
	static struct program program;

	for (uint32_t seed = 1; seed <= 24; seed++) {
		char path[] = "/tmp/graind-unit-XXXXXX", name[32];
		FILE *f = fdopen(mkstemp(path), "w");

		program_generate(&program, seed);
		program_run(&program, 1 + (int)seed % MAX_THREADS, seed, f);
		fclose(f);
		snprintf(name, sizeof(name), "program %u", seed);
		test_file(path, name);
		unlink(path);
	}
}

/* Two tasks, the second after the first, in strings that XML cannot have as they are. */
static void test_attributes(void)
{
	struct grain_graph *g = graph_of_text(
		"nasty",
		"grain-log 1\n@process pid=1 uid=0 exe=/a cmd=a runtime=libgomp threads=1\n"
		"@counter 0 name=\"a<b&c\"\n"
		"@source 1 file=\"<&>\\\"'\xff\xed\xa0\x80\xef\xbf\xbe\xe2\x82\xac.c\" line=10 func=f "
		"kind=task\n"
		"0 1 0 thread-begin c0=0\n10 1 0 create-begin task=1 src=1 flags=undeferred c0=5\n"
		"10 1 0 depend task=1 addr=0x10 kind=out\n10 1 0 task-begin task=1 c0=5\n"
		"20 1 0 task-end task=1 c0=25\n20 1 0 create-end task=1 c0=25\n"
		"30 1 0 create-begin task=2 flags=undeferred c0=30\n30 1 0 depend task=2 addr=0x10 kind=in\n"
		"30 1 0 task-begin task=2 c0=30\n70 1 0 task-end task=2 c0=31\n70 1 0 create-end task=2 "
		"c0=31\n"
		"80 1 0 wait-begin kind=taskwait c0=40\n90 1 0 wait-end kind=taskwait c0=40\n"
		"95 1 0 thread-end c0=41\n");
	const struct element *task;
	struct graphml *x;

	if (!g)
		return;
	x = written("nasty", g, GRAIN_FULL);
	task = node_with(x, "0.0");
	CHECK_STR(value(x, task, "node", "source"),
		  "&lt;&amp;&gt;&quot;'"
		  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xe2\x82\xac.c:10",
		  "characters that XML does not have");
	CHECK_STR(value(x, task, "node", "exec_ns"), "10", "exec");
	CHECK_STR(value(x, task, "node", "counter_a&lt;b&amp;c"), "20", "a counter");
	CHECK_STR(value(x, task, "node", "load_balance"), "1.6", "a metric"); /* 40 / 25 */
	CHECK_STR(value(x, task, "node", "problem_load_balance"), "true", "a problem");
	CHECK_STR(value(x, task, "node", "work_deviation"), "", "what is absent is not there");
	CHECK_STR(value(x, task, "node", "problem_work_deviation"), "", "nor whether it is a problem");
	CHECK_STR(value(x, &x->graph, "graph", "absent_work_deviation"),
		  "no single-thread run to compare with", "but the reason is");
	CHECK_STR(value(x, node_with(x, "0.1"), "node", "source"), "", "no source, no value");
	/* 10 30, two forks and 10 between, 10 before the wait, the join, 5 after it; two bodies. */
	CHECK(x->nodes == 4 + 2 + 1 + 2, "nodes");
	CHECK(count(x, "edge", "kind", "continuation") == 6 && count(x, "edge", "kind", "creation") == 2 &&
		      count(x, "edge", "kind", "synchronization") == 2 &&
		      count(x, "edge", "kind", "dependence") == 1,
	      "edges by kind");
	check_path("nasty", x, g);
	graphml__free(x);
	x = written("nasty, reduced", g, GRAIN_REDUCED);
	/* The two forks are before the same join. */
	CHECK(x->nodes == 3 + 1 + 1 && count(x, "node", "kind", "fork") == 1, "reduced: nodes");
	CHECK_STR(value(x, node_with(x, "0"), "node", "members"), "4", "reduced: fragments of a context");
	CHECK_STR(value(x, node_with(x, "0"), "node", "own_ns"), "35", "reduced: their sum");
	CHECK_STR(value(x, node_with(x, "0"), "node", "shortest_ns"), "5", "reduced: the shortest");
	graphml__free(x);
	grain_graph__free(g);
}

static void test_escapes(void)
{
	struct grain_graph *g = graph_of_text("empty", GRAPH_HEAD "0 1 0 thread-begin\n5 1 0 thread-end\n");
	struct export e;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!g)
		return;
	CHECK(export__begin(&e, g, f) == 0, "begins");
	export__xml(&e, "\x01\x1f\t\n\r\x7f|\xc0\x80|\xf4\x90\x80\x80|\xf0\x9f\x8c\xbe|\xe2\x82");
	CHECK(export__end(&e, 0) == 0, "ends");
	fclose(f);
	CHECK_STR(text,
		  "\xef\xbf\xbd\xef\xbf\xbd&#9;&#10;&#13;\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd|"
		  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|\xf0\x9f\x8c\xbe|\xef\xbf\xbd"
		  "\xef\xbf\xbd",
		  "control characters, overlong, too large and cut ones, and one that is good");
	free(text);
	grain_graph__free(g);
}

static void test_failures(void)
{
	struct grain_graph *g = graph_of_text("full", GRAPH_HEAD "0 1 0 thread-begin\n5 1 0 thread-end\n");
	FILE *full = fopen("/dev/full", "w");

	if (!g)
		return;
	CHECK(grain_graph__write_graphml(g, GRAIN_FULL, full) == -ENOSPC, "a full disk is an error");
	fclose(full);
	grain_graph__free(g);
}

int main(void)
{
	test_attributes();
	test_escapes();
	test_file("tests/data/fib_two_threads.log", "tests/data/fib_two_threads.log");
	test_file("tests/data/constructs_two_threads.log", "tests/data/constructs_two_threads.log");
	test_file("tests/data/mir_loop.csv", "tests/data/mir_loop.csv");
	test_file("tests/data/mir_fib.csv", "tests/data/mir_fib.csv");
	test_file("tests/data/ppopp16_figure3_loop.log", "tests/data/ppopp16_figure3_loop.log");
	test_random();
	test_failures();
	CHECK_DONE();
}
