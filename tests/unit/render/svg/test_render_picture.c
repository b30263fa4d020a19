/* SPDX-License-Identifier: BSD-2-Clause */
/* The written pictures: every view, escaping, dimming, marks, bounds, DOT. */
#include <errno.h>

#include "analysis/include/grain_numa.h"
#include "render/svg/picture.h"
#include "render/include/render.h"
#include "tests/unit/check.h"
#include "tests/unit/render_program.h"

static char *draw(const struct grain_graph *graph, const struct render_opts *opts, int *result,
		  struct grain_error *err)
{
	char *data = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&data, &length);

	*result = graph && out ? render__graph(graph, opts, out, err) : -ENOMEM;
	if (out)
		fclose(out);
	return data;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *at = text ? strstr(text, what) : NULL; at; at = strstr(at + 1, what))
		n++;
	return n;
}

/* Balanced tags, no control characters, no bare '&': what a parser would stumble over first. */
static int looks_well_formed(const char *svg)
{
	long depth = 0;

	if (!svg || strncmp(svg, "<?xml", 5) != 0)
		return 0;
	for (const char *c = svg; *c; c++) {
		if ((unsigned char)*c < ' ' && *c != '\n')
			return 0;
		if (*c == '&' && !strchr(c, ';'))
			return 0;
		if (*c != '<' || c[1] == '?')
			continue;
		if (c[1] == '/')
			depth--;
		else if (strchr(c, '>') && strchr(c, '>')[-1] != '/')
			depth++;
		if (depth < 0)
			return 0;
	}
	return depth == 0;
}

/* Whether the view is of a problem, and of one that this graph can have. */
static bool is_problem(const struct grain_graph *graph, const char *view, bool *available)
{
	*available = true;
	for (int p = 0; p < GRAIN_PROBLEM_COUNT; p++) {
		struct grain_problem_summary problem;

		grain_graph__problem(graph, (enum grain_problem)p, &problem);
		if (strcmp(problem.name, view))
			continue;
		*available = problem.available;
		return true;
	}
	return false;
}

static void test_views(const struct grain_graph *graph)
{
	int problems = 0;

	for (int v = 0; v < RENDER_VIEW_COUNT; v++) {
		const char *name = render_view__name((enum render_view)v);
		struct render_opts opts = {.view = (enum render_view)v, .job = 12};
		struct grain_error err = {{0}};
		enum render_view parsed = RENDER_VIEW_COUNT;
		int r;
		char *svg = draw(graph, &opts, &r, &err);
		bool available, dims = is_problem(graph, name, &available);
		struct grain_numa numa;

		grain_graph__numa(graph, &numa);
		available &= v != RENDER_VIEW_NODE || !numa.absent;
		problems += dims;
		CHECK(render_view__parse(name, &parsed) == 0 && parsed == (enum render_view)v,
		      "its name is known: %s", name);
		if (!available) {
			CHECK(r == -ENODATA && strstr(err.text, "choose another view"),
			      "no %s view of what is absent: %s", name, err.text);
			free(svg);
			continue;
		}
		CHECK(r == 0 && looks_well_formed(svg), "the %s view is drawn %s", name, err.text);
		CHECK(svg && strstr(svg, "prog: ") && strstr(svg, "job 12") && strstr(svg, "Truth: 0 of ") &&
			      strstr(svg, "critical path</text>"),
		      "it has a title, the truth and a legend");
		CHECK(svg && !strstr(svg, "(null)"), "the %s view has a headline of its own", name);
		if (dims)
			CHECK(count(svg, "class=\"node fork c_dim") > 3 && !strstr(svg, "node fork c_fork") &&
				      strstr(svg, "no problem"),
			      "what is no problem is dimmed in the %s view", name);
		else if (v != RENDER_VIEW_PROBLEM)
			CHECK(count(svg, "class=\"node fork c_fork") > 3 && !strstr(svg, " dimmed\""),
			      "nothing is dimmed in the %s view", name);
		CHECK(count(svg, " critical\"") > 4, "the critical path is marked");
		free(svg);
	}
	CHECK(problems == GRAIN_PROBLEM_COUNT, "every problem has its view");
	{
		enum render_view view = RENDER_VIEW_TIME;

		CHECK(render_view__parse("no-such-view", &view) == -EINVAL && view == RENDER_VIEW_TIME,
		      "an unknown view is refused");
	}
}

static void test_sizes(const struct grain_graph *graph)
{
	static const size_t limits[] = {50, 200, 100000};
	struct grain_error err = {{0}};

	for (size_t i = 0; i < 3; i++) {
		struct render_opts opts = {.max_nodes = limits[i], .view = RENDER_VIEW_DEFINITION};
		int r;
		char *svg = draw(graph, &opts, &r, &err);
		size_t nodes = count(svg, "class=\"node ");

		CHECK(r == 0 && nodes > 5 && nodes <= limits[i], "at most %zu nodes: %zu", limits[i], nodes);
		CHECK(r == 0 && !strstr(svg, " stand for ") == (limits[i] == 100000),
		      "a picture with fewer nodes says so, a full one does not");
		CHECK(r == 0 && count(svg, "<title>") == nodes + 1, "every node has its tool-tip");
		free(svg);
	}
}

static void test_dot(const struct grain_graph *graph)
{
	struct render_opts opts = {.format = RENDER_DOT, .view = RENDER_VIEW_DEFINITION};
	struct grain_error err = {{0}};
	int r;
	char *dot = draw(graph, &opts, &r, &err);

	CHECK(r == 0 && dot && strstr(dot, "digraph"), "DOT is written %s", err.text);
	CHECK(count(dot, "tooltip=") > 10 && count(dot, "pos=") > 20, "with positions and tool-tips");
	free(dot);
	opts = (struct render_opts){.layout = RENDER_LAYOUT_DOT, .max_nodes = 60};
	dot = draw(graph, &opts, &r, &err);
	CHECK(r == 0 && looks_well_formed(dot), "Graphviz' own layout is drawn when asked %s", err.text);
	free(dot);
	opts = (struct render_opts){.layout = RENDER_LAYOUT_DOT, .max_nodes = 100000};
	dot = draw(graph, &opts, &r, &err);
	CHECK(r == -E2BIG && strstr(err.text, "too many"), "and refused for large graphs: %s", err.text);
	free(dot);
}

static struct grain_graph *hostile(int incomplete)
{
	struct program *p = calloc(1, sizeof(*p));
	struct grain_graph *graph = NULL;
	struct grain_error err = {{0}};

	if (!p || program_start(p, 2, "/x/<b>&\\\"'\xe2\x80\xae",
				"f<script>alert(1)</script>&\xc2\x9b"
				"31m") < 0)
		return NULL;
	p->seed = 11;
	if (incomplete) {
		/* Created, but nothing of it was seen. */
		program_region(p, program_flat, 3);
		fclose(p->log);
		p->log = fopen(p->path, "a");
		fprintf(p->log, "%llu 100 4 create-begin task=99 src=1 flags=deferred\n", p->time + 10);
		fprintf(p->log, "%llu 100 4 create-end task=99\n", p->time + 20);
	} else {
		program_region(p, program_flat, 30);
	}
	graph = program_finish(p, 1, &err);
	if (!graph)
		printf("# %s\n", err.text);
	free(p);
	return graph;
}

static void test_hostile(void)
{
	struct grain_graph *graph = hostile(0);
	struct grain_error err = {{0}};

	for (int format = RENDER_SVG; format <= RENDER_DOT; format++) {
		struct render_opts opts = {.view = RENDER_VIEW_DEFINITION,
					   .format = (enum render_format)format};
		int r;
		char *data = draw(graph, &opts, &r, &err);

		CHECK(r == 0 && !strstr(data, "\xc2\x9b") && !strstr(data, "\xe2\x80\xae"),
		      "control characters of the program do not reach %s %s",
		      format == RENDER_SVG ? "SVG" : "DOT", err.text);
		if (format == RENDER_SVG)
			CHECK(r == 0 && looks_well_formed(data) && !strstr(data, "<script") &&
				      strstr(data, "&lt;script"),
			      "names of the program are escaped");
		free(data);
	}
	grain_graph__free(graph);
}

static void test_incomplete(void)
{
	struct grain_graph *graph = hostile(1);
	struct render_opts opts = {.view = RENDER_VIEW_DEFINITION};
	struct grain_error err = {{0}};
	int r;
	char *svg = draw(graph, &opts, &r, &err);

	CHECK(graph && grain_graph__truth(graph)->incomplete_grains > 0,
	      "the program has an incomplete grain");
	CHECK(r == 0 && count(svg, " incomplete\"") > 0 && strstr(svg, "dashed outline: incomplete"),
	      "incomplete grains are marked and explained %s", err.text);
	free(svg);
	grain_graph__free(graph);
}

int main(void)
{
	struct grain_error err = {{0}};
	struct grain_graph *graph = program_make(program_body, 9, 5, 0, 4, &err);

	CHECK(graph != NULL, "a program to draw %s", err.text);
	if (graph) {
		test_views(graph);
		test_sizes(graph);
		test_dot(graph);
	}
	grain_graph__free(graph);
	test_hostile();
	test_incomplete();
	CHECK_DONE();
}
