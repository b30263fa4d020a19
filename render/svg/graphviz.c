/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/svg/graphviz.h"
#include "render/include/render.h"

#include <errno.h>

GVC_t *graphviz__context(void)
{
	static GVC_t *context;

	if (!context)
		context = gvContext();
	return context;
}

/* Drawing a tiny picture loads everything that any picture needs. */
int render__prepare(void)
{
	GVC_t *context = graphviz__context();
	Agraph_t *graph = agmemread("digraph { n [label=\"\", pos=\"0,0\"] }");
	unsigned length = 0;
	char *data = NULL;
	int error = -EIO;

	if (context && graph && gvLayout(context, graph, "nop2") == 0) {
		if (gvRenderData(context, graph, "svg", &data, &length) == 0 && data)
			error = 0;
		if (data)
			gvFreeRenderData(data);
		gvFreeLayout(context, graph);
	}
	if (graph)
		agclose(graph);
	return error;
}
