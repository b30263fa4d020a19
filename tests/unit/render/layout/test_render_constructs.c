/* SPDX-License-Identifier: BSD-2-Clause */
/* How loops, sections, dependences and tasks that never ran are drawn and summarized. */
#include <stdlib.h>

#include "render/layout/layout.h"
#include "render/include/render.h"
#include "render/scene/tree.h"
#include "tests/unit/check.h"

#define LOG "tests/data/constructs_two_threads.log"

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *at = text ? strstr(text, what) : NULL; at; at = strstr(at + 1, what))
		n++;
	return n;
}

/* The edges of a kind, critical ones and others. */
static size_t edges(const char *svg, const char *kind)
{
	char class[80];
	size_t n = 0;
	const char *at, *end;

	snprintf(class, sizeof(class), "<g class=\"edges %s\">", kind);
	at = svg ? strstr(svg, class) : NULL;
	end = at ? strstr(at, "</g>") : NULL;
	for (; at && (at = strstr(at, "<path")) && at < end; at++)
		n++;
	return n;
}

static char *draw(const struct grain_graph *graph, enum render_format format, size_t max_nodes)
{
	struct render_opts opts = {.view = RENDER_VIEW_DEFINITION, .format = format, .max_nodes = max_nodes};
	struct grain_error err = {{0}};
	char *data = NULL;
	size_t length;
	FILE *out = open_memstream(&data, &length);
	int r = render__graph(graph, &opts, out, &err);

	fclose(out);
	CHECK(r == 0, "drawn with at most %zu nodes %s", max_nodes, err.text);
	return data;
}

static void test_picture(const struct grain_graph *graph)
{
	char *svg = draw(graph, RENDER_SVG, 0);

	CHECK(count(svg, "class=\"node chunk c_d") == 12, "12 chunks and sections, coloured by definition");
	CHECK(count(svg, "class=\"node bookkeeping ") == 8 + 2 + 2 * 2 + 2 * 2,
	      "book-keeping before each chunk and at the end of each loop");
	CHECK(strstr(svg, "loop chunk, static share, bounds not observable, section</text>"),
	      "the legend says what wide boxes are");
	CHECK(strstr(svg, "iterations 0 to 9&#10;schedule dynamic, 10"),
	      "a chunk's tool-tip has its iterations");
	CHECK(strstr(svg, "0.p0/l1[t1]&#10;a.c:45 main&#10;static share, bounds not observable"),
	      "a static share's says that it has none");
	CHECK(edges(svg, "dependence") + edges(svg, "dependence critical") == 6 &&
		      strstr(svg, "dependence</text>"),
	      "dependences are drawn and explained");
	CHECK(edges(svg, "dependence critical") == 4, "those on the critical path are marked");
	CHECK(count(svg, " discarded\"") == 1 && strstr(svg, "discarded: cancelled before it began") &&
		      strstr(svg, "discarded</text>"),
	      "a discarded task is drawn as such");
	CHECK(count(svg, "&#10;detached") == 1, "a detached one says so");
	free(svg);
	svg = draw(graph, RENDER_SVG, 50);
	CHECK(edges(svg, "dependence") + edges(svg, "dependence critical") == 6 &&
		      count(svg, " discarded\"") == 1,
	      "the reduced graph has them too");
	free(svg);
	svg = draw(graph, RENDER_DOT, 0);
	CHECK(count(svg, "=dependence,") + count(svg, "\"dependence critical\"") == 6, "and DOT");
	free(svg);
}

/* The critical path is one line: it leaves each task once at most. */
static void test_one_path(const struct grain_graph *graph)
{
	struct outline *outline = NULL;
	struct scene scene = {0};
	size_t left = 0, entered = 0;

	CHECK(outline__new(graph, &outline) == 0 && layout__full(outline, &scene) == 0 &&
		      layout__dependences(outline, &scene) == 0,
	      "laid out");
	for (size_t i = 0; i < scene.node_count; i++) {
		size_t in = 0, out = 0;

		for (size_t e = 0; e < scene.edge_count; e++) {
			struct scene_edge *edge = &scene.edges[e];

			out += edge->critical && edge->from == i;
			in += edge->critical && edge->to == i;
		}
		left += scene.nodes[i].shape == SCENE_FRAGMENT && out > 1;
		entered += scene.nodes[i].shape == SCENE_FRAGMENT && in > 1;
	}
	CHECK(left == 0 && entered == 0, "the critical path is one line");
	scene__free(&scene);
	outline__free(outline);
}

static void test_summary(const struct grain_graph *graph)
{
	struct render_text_opts opts = {0};
	char *text = NULL, *line, *rest;
	size_t length, wide = 0;
	FILE *out = open_memstream(&text, &length);

	CHECK(render__summary(graph, &opts, out) == 0, "the summary is written");
	fclose(out);
	CHECK(strstr(text, "trust  yes: 0 events lost, 0 incomplete, 1 discarded, measuring cost"),
	      "discarded tasks are in the trust line");
	CHECK(strstr(text, "\nLOOP ") && strstr(text, "\na.c:40  0.p0/l0  dynamic       1       8 ") &&
		      strstr(text, "\na.c:45  0.p0/l1  static        1   share ") &&
		      strstr(text, "\na.c:50  0.p0/x2  sections      1       2 "),
	      "loops have a table");
	CHECK(strstr(text, "share: static share, bounds not observable"), "what a share is");
	CHECK(strstr(text, "Locks: critical a.c:20 20 ns in 1 waits."), "locks");
	CHECK(strstr(text, "Cancellation seen: 1 taskgroup.") && strstr(text, "Dependences: 6"),
	      "cancellation and dependences");
	for (rest = text; (line = strsep(&rest, "\n"));)
		wide += strlen(line) > 80;
	CHECK(wide == 0, "in 80 columns");
	free(text);
}

int main(void)
{
	struct grain_graph *graph = NULL;

	CHECK(grain_graph__load(LOG, NULL, &graph, NULL) == 0, "the log loads");
	if (graph) {
		test_picture(graph);
		test_one_path(graph);
		test_summary(graph);
	}
	grain_graph__free(graph);
	CHECK_DONE();
}
