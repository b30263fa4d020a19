/* SPDX-License-Identifier: BSD-2-Clause */
/* A graph as the traces of other tools: what each thread did over time. */
#ifndef GRAIND_RENDER_EXPORT_H
#define GRAIND_RENDER_EXPORT_H

#include "analysis/grain_export.h"

struct export_opts {
	uint64_t job; /* 0 = none */
	void (*progress)(void *ctx, double done);
	void *progress_ctx;
};

/* Perfetto's trace format (TracePacket). 0 or a negative errno; *err says more where there
 * is more to say. */
int export__perfetto(const struct grain_graph *graph, const struct export_opts *opts, FILE *out,
		     struct grain_error *err);

/* An OTF2 archive, grains.otf2 with its parts, in a directory that is there and empty. As export__perfetto.
 */
int export__otf2(const struct grain_graph *graph, const struct export_opts *opts, const char *directory,
		 struct grain_error *err);

/* GraphML (analysis/grain_export.h) with a place for every node. 0 or a negative errno. */
int export__graphml(const struct grain_graph *graph, enum grain_reduction reduction, FILE *out);

#endif
