/* SPDX-License-Identifier: BSD-2-Clause */
/* The written SVG: marks, identifiers and links, views as layers, aggregation, long names. */
#include <errno.h>
#include <math.h>

#include "render/layout/layout.h"
#include "render/svg/picture.h"
#include "tests/unit/check.h"
#include "tests/unit/render_program.h"

static char *draw(const struct grain_graph *graph, const struct render_opts *opts, struct grain_error *err)
{
	char *data = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&data, &length);
	int r = graph && out ? render__graph(graph, opts, out, err) : -ENOMEM;

	if (out)
		fclose(out);
	if (r == 0)
		return data;
	free(data);
	return NULL;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *at = text ? strstr(text, what) : NULL; at; at = strstr(at + 1, what))
		n++;
	return n;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Every context has one element with its identifier, no two elements have the same. */
static void check_ids(const struct grain_graph *graph, char *svg, const char *what)
{
	size_t capacity = count(svg, " id=\""), n = 0, missing = 0, twice = 0, contexts = 0, links = 0;
	char **ids = calloc(capacity + 1, sizeof(*ids));

	for (char *at = svg ? strstr(svg, " id=\"") : NULL; ids && at; at = strstr(at, " id=\"")) {
		char *end = strchr(at + 5, '"'), link[256];

		ids[n] = strndup(at + 5, (size_t)(end - at - 5));
		snprintf(link, sizeof(link), "\" href=\"#%s\" class=\"node ", ids[n++]);
		links += strncmp(end, link, strlen(link)) == 0;
		at = end;
	}
	CHECK(n > 10 && n == capacity, "%s: %zu identifiers", what, n);
	CHECK(links == count(svg, "class=\"node "), "%s: each of %zu nodes links to itself", what, links);
	qsort(ids, n, sizeof(*ids), compare);
	for (size_t i = 1; i < n; i++)
		twice += strcmp(ids[i], ids[i - 1]) == 0;
	for (uint32_t i = 0; i < grain_graph__context_count(graph); i++) {
		struct grain_context c;
		char id[256], *key = id;

		grain_graph__context(graph, i, &c);
		grain_graph__context_id(graph, i, id, sizeof(id));
		missing += !bsearch(&key, ids, n, sizeof(*ids), compare);
		contexts++;
	}
	CHECK(!missing && !twice, "%s: all %zu contexts are there once (%zu missing, %zu twice)", what,
	      contexts, missing, twice);
	for (size_t i = 0; i < n; i++)
		free(ids[i]);
	free(ids);
}

static void test_ids(void)
{
	struct grain_error err = {{0}};
	struct grain_graph *graph = program_make(program_body, 6, 5, 0, 3, &err);
	struct render_opts full = {.view = RENDER_VIEW_DEFINITION, .max_nodes = 100000};
	struct render_opts reduced = {.view = RENDER_VIEW_DEFINITION}, all = {.all_views = true};
	char *svg = draw(graph, &full, &err);

	CHECK(svg && !strstr(svg, "reduced: "), "a full picture %s", err.text);
	check_ids(graph, svg, "full");
	/* Members that did nothing but wait are one node in a reduced picture: draw a team of one. */
	grain_graph__free(graph);
	free(svg);
	graph = program_make(program_body, 6, 5, 0, 1, &err);
	svg = draw(graph, &full, &err);
	reduced.max_nodes = count(svg, "class=\"node ") - 1;
	free(svg);
	svg = draw(graph, &reduced, &err);
	CHECK(svg && strstr(svg, "reduced: "), "a reduced picture of one thread %s", err.text);
	check_ids(graph, svg, "reduced");
	free(svg);
	all.more_views = UINT32_MAX;
	svg = draw(graph, &all, &err);
	CHECK(svg && count(svg, "<g id=\"view-") >= 6, "all views %s", err.text);
	check_ids(graph, svg, "with views");
	free(svg);
	grain_graph__free(graph);
}

static void test_layers(void)
{
	struct grain_error err = {{0}};
	struct grain_graph *graph = program_make(program_body, 9, 5, 0, 4, &err);
	struct render_opts opts = {.view = RENDER_VIEW_DEFINITION,
				   .more_views =
					   1u << RENDER_VIEW_PARALLEL_BENEFIT | 1u << RENDER_VIEW_THREAD};
	char *svg = draw(graph, &opts, &err), *one;

	CHECK(svg && count(svg, "<g id=\"view-") == 3 && count(svg, "class=\"view default\"") == 1 &&
		      strstr(svg, "<g id=\"view-definition\" class=\"view default\">"),
	      "three views in one file, the first is shown %s", err.text);
	CHECK(count(svg, "<a href=\"#view-parallel_benefit\">") == 3, "each links to the others");
	CHECK(svg && strstr(svg, "#view-parallel_benefit:target~.graph .v1_h") && strstr(svg, " v1_dim") &&
		      strstr(svg, " f1") && strstr(svg, " v2_"),
	      "nodes have a colour and a mark in each");
	CHECK(svg && !strstr(svg, "<script") && !strstr(svg, "http://www.w3.org/1999/xhtml"),
	      "without script");
	CHECK(count(svg, "@media screen and (prefers-color-scheme:dark)") == 1 &&
		      count(svg, "@media print") == 1,
	      "light, dark and on paper");
	free(svg);
	opts.max_nodes = 100;
	svg = draw(graph, &opts, &err);
	opts.view = RENDER_VIEW_PARALLEL_BENEFIT;
	opts.more_views = 0;
	one = draw(graph, &opts, &err);
	CHECK(svg && one && strstr(one, "folded: ") &&
		      count(svg, " v1_h0") + count(svg, " v1_h1") + count(svg, " v1_h2") +
				      count(svg, " v1_h3") ==
			      count(one, " c_h0 ") + count(one, " c_h1 ") + count(one, " c_h2 ") +
				      count(one, " c_h3 ") &&
		      count(one, " flagged\"") == count(svg, " f1\""),
	      "what is folded has in a layer the colour that it has alone");
	free(svg);
	free(one);
	opts = (struct render_opts){.view = RENDER_VIEW_DEFINITION,
				    .more_views = 1u << RENDER_VIEW_CACHE_MISS_RATIO};
	svg = draw(graph, &opts, &err);
	CHECK(!svg && strstr(err.text, "choose another view"), "a view of what is absent is refused: %s",
	      err.text);
	grain_graph__free(graph);
}

static void test_groups(void)
{
	struct grain_error err = {{0}};
	struct grain_graph *graph = program_make(program_body, 8, 5, 0, 3, &err);
	struct render_opts opts = {.view = RENDER_VIEW_PARALLEL_BENEFIT, .groups = true, .open_depth = 5};
	char *svg = draw(graph, &opts, &err);

	CHECK(count(svg, "class=\"node open ") > 3 && count(svg, "class=\"node closed ") > 0 &&
		      count(svg, "class=\"shadow\"") > 0 && strstr(svg, "5 levels of groups open"),
	      "frames and closed groups are drawn %s", err.text);
	CHECK(svg && strstr(svg, "family of 0") && strstr(svg, "open siblings</text>") &&
		      strstr(svg, "siblings \xc2\xb7 "),
	      "with words on them, and explained");
	CHECK(svg && strstr(svg, "class=\"node open") < strstr(svg, "class=\"edges") &&
		      strstr(svg, "class=\"edges") < strstr(svg, "class=\"node closed"),
	      "frames below edges, edges below boxes");
	free(svg);
	opts.filter = true;
	svg = draw(graph, &opts, &err);
	CHECK(count(svg, "class=\"node skip ") > 0 && strstr(svg, "class=\"edges forward\"") &&
		      strstr(svg, "grains without the problem</text>"),
	      "filtered: what went is said %s", err.text);
	free(svg);
	opts.view = RENDER_VIEW_THREAD;
	svg = draw(graph, &opts, &err);
	CHECK(!svg && strstr(err.text, "no problem to filter for"), "only problems filter: %s", err.text);
	free(svg);
	opts = (struct render_opts){.groups = true, .open_depth = 3, .format = RENDER_DOT};
	svg = draw(graph, &opts, &err);
	CHECK(count(svg, "class=\"open ") > 2 && count(svg, "pos=") > 10, "DOT has them too %s", err.text);
	free(svg);
	grain_graph__free(graph);
}

/* A name of C++: hundreds of letters, with all that XML would read as its own. */
static void test_names(void)
{
	struct program *p = calloc(1, sizeof(*p));
	struct grain_graph *graph = NULL;
	struct grain_error err = {{0}};
	char name[512] = "", escaped[1024] = "";
	struct render_opts opts = {.view = RENDER_VIEW_DEFINITION, .groups = true, .open_depth = 6};
	size_t widest = 0;
	char *svg;

	for (int i = 0; i < 25; i++) {
		strcat(name, "vec<a&, 'b'>::of");
		strcat(escaped, "vec&lt;a&amp;, &#39;b&#39;&gt;::of");
	}
	if (p && program_start(p, 2, "/x/prog", name) == 0) {
		program_region(p, program_flat, 40);
		graph = program_finish(p, 0, &err);
	}
	free(p);
	CHECK(graph && strlen(name) == 400, "a name of 400 characters %s", err.text);
	for (int groups = 0; groups < 2; groups++) {
		opts.groups = groups;
		svg = draw(graph, &opts, &err);
		widest = 0;
		for (char *at = svg ? strstr(svg, "<text") : NULL; at; at = strstr(at + 1, "<text")) {
			char *text = strchr(at, '>') + 1;
			size_t length = (size_t)(strstr(text, "</text>") - text);

			widest = length > widest ? length : widest;
		}
		CHECK(count(svg, escaped) > 10, "it is whole and escaped in tool-tips");
		CHECK(widest > 40 && widest < 220, "and shortened where it is written (%zu)", widest);
		CHECK(svg && !strstr(svg, "vec<a") && !strstr(svg, "a&,"), "nothing is left unescaped");
		free(svg);
	}
	grain_graph__free(graph);
}

/* Nodes and edges are in the same places if Graphviz draws them and if the library writes them itself. */
static void test_marks(void)
{
	struct grain_error err = {{0}};
	struct grain_graph *graph = program_make(program_body, 6, 5, 0, 3, &err);
	struct picture drawn = {0}, written = {0};
	struct outline *outline = NULL;
	struct scene scene = {0};
	struct view view = {0};
	size_t nodes = 0, edges = 0;

	CHECK(graph && view__init(&view, graph, RENDER_VIEW_DEFINITION, &err) == 0 &&
		      outline__new(graph, &outline) == 0 && layout__full(outline, &scene) == 0,
	      "laid out %s", err.text);
	scene__bounds(&scene);
	CHECK(picture__draw_svg(&view, &scene, RENDER_LAYOUT_OWN, &drawn, &err) == 0 &&
		      picture__write_marks(&scene, &written, &err) == 0,
	      "drawn both ways %s", err.text);
	for (size_t i = 0; written.text && i < scene.node_count; i++) {
		const char *a = drawn.text + drawn.nodes[i].at, *b = written.text + written.nodes[i].at;
		bool circle = scene.nodes[i].shape == SCENE_FORK || scene.nodes[i].shape == SCENE_JOIN;

		nodes += circle ? strncmp(a, "<ellipse", 8) == 0 && strncmp(b, "<circle", 7) == 0
				: strncmp(a, "<path", 5) == 0 && strncmp(b, "<rect", 5) == 0;
	}
	for (size_t i = 0; written.text && i < scene.edge_count; i++) {
		const char *a = strstr(drawn.text + drawn.edges[i].at, " d=\""),
			   *b = strstr(written.text + written.edges[i].at, " d=\"");
		double ax, ay, bx, by;

		edges += a && b && sscanf(a, " d=\"M%lf,%lf", &ax, &ay) == 2 &&
			 sscanf(b, " d=\"M%lf,%lf", &bx, &by) == 2 && fabs(ax - bx) < .02 &&
			 fabs(ay - by) < .02;
	}
	CHECK(scene.node_count > 100 && nodes == scene.node_count, "all %zu nodes have the same shape",
	      scene.node_count);
	CHECK(edges == scene.edge_count, "all %zu edges begin at the same place", scene.edge_count);
	picture__free(&drawn);
	picture__free(&written);
	scene__free(&scene);
	outline__free(outline);
	view__free(&view);
	grain_graph__free(graph);
}

static void test_numbers(void)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {{0, "0"},	   {1, "1"},	    {-1.5, "-1.5"},   {12.25, "12.25"}, {.05, "0.05"},
		     {-.001, "0"}, {99.999, "100"}, {1e6, "1000000"}, {-20.3, "-20.3"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct format_text text = {0};

		format__add_fixed(&text, cases[i].value);
		CHECK_STR(text.data, cases[i].text, "%g is written as %s", cases[i].value, cases[i].text);
		format__free(&text);
	}
}

int main(void)
{
	test_numbers();
	test_marks();
	test_ids();
	test_layers();
	test_groups();
	test_names();
	CHECK_DONE();
}
