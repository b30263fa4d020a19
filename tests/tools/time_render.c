// SPDX-License-Identifier: BSD-2-Clause
/*
 * time_render FILE layout|svg|page OUT [MAX_NODES]: one line of JSON with the
 * seconds that drawing takes on one core, once the graph is loaded (load_s): the layout
 * of every fragment, fork and join alone; a picture of at most MAX_NODES nodes;
 * the page. The picture and the page are written to OUT.
 */
#include "render/layout/layout.h"
#include "render/include/render.h"
#include "tests/tools/measure.h"

static int lay_out(const struct grain_graph *graph, size_t *nodes)
{
	struct outline *outline = NULL;
	struct scene scene = {0};
	int error = outline__new(graph, &outline);

	if (!error)
		error = layout__full(outline, &scene);
	if (!error)
		error = layout__dependences(outline, &scene);
	*nodes = scene.node_count;
	scene__free(&scene);
	outline__free(outline);
	return error;
}

int main(int argc, char **argv)
{
	struct grain_graph *graph = NULL;
	struct grain_error err = {.text = ""};
	struct render_opts opts = {.format = RENDER_SVG};
	double load_s, start, cpu, user, load_user_s, seconds, cpu_s;
	size_t nodes = 0;
	long before, bytes = 0;
	FILE *out;
	int error;

	if (argc < 4 || argc > 5 ||
	    (strcmp(argv[2], "layout") && strcmp(argv[2], "svg") && strcmp(argv[2], "page"))) {
		fprintf(stderr, "usage: time_render FILE layout|svg|page OUT [MAX_NODES]\n");
		return 2;
	}
	use_one_core();
	start = now(CLOCK_MONOTONIC);
	if (grain_graph__load(argv[1], NULL, &graph, &err)) {
		fprintf(stderr, "time_render: %s\n", err.text);
		return 1;
	}
	load_s = now(CLOCK_MONOTONIC) - start;
	load_user_s = user_seconds();
	out = fopen(argv[3], "w");
	if (!out) {
		fprintf(stderr, "time_render: %s cannot be written\n", argv[3]);
		return 1;
	}
	opts.max_nodes = argc == 5 ? (size_t)atol(argv[4]) : 0;
	before = status_kb("VmHWM:");
	start = now(CLOCK_MONOTONIC);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	if (argv[2][0] == 'l')
		error = lay_out(graph, &nodes);
	else if (argv[2][0] == 's')
		error = render__graph(graph, &opts, out, &err);
	else
		error = render__page(graph, &opts, out, &err);
	bytes = ftell(out);
	if (fclose(out) != 0 || error) {
		fprintf(stderr, "time_render: %s: %s\n", argv[2], err.text);
		return 1;
	}
	seconds = now(CLOCK_MONOTONIC) - start;
	cpu_s = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	user = user_seconds() - load_user_s;
	printf("{\"grains\":%llu,\"nodes\":%zu,\"load_s\":%.4f,\"seconds\":%.4f,\"cpu_s\":%.4f,\"user_s\":%."
	       "4f,\"load_user_s\":%.4f,\"bytes\":%ld,"
	       "\"loaded_kb\":%ld,\"peak_kb\":%ld}\n",
	       (unsigned long long)grain_graph__totals(graph)->grains, nodes, load_s, seconds, cpu_s, user,
	       load_user_s, bytes, before, status_kb("VmHWM:"));
	grain_graph__free(graph);
	return 0;
}
