/* SPDX-License-Identifier: BSD-2-Clause */
/* Exports a graph as traces of other tools: what each thread did over time. */
#ifndef GRAIND_RENDER_EXPORT_H
#define GRAIND_RENDER_EXPORT_H

#include "analysis/include/grain_export.h"

struct export_opts {
	uint64_t job; /* 0: none */
	void (*progress)(void *ctx, double done);
	void *progress_ctx;
};

/* Writes Perfetto's trace format (TracePacket). Returns 0 or a negative errno. *err may have details. */
int export__perfetto(const struct grain_graph *graph, const struct export_opts *opts, FILE *out,
		     struct grain_error *err);

/*
 * Writes an OTF2 archive, grains.otf2 with its parts, into an existing, empty directory. Errors are as for
 * export__perfetto().
 */
int export__otf2(const struct grain_graph *graph, const struct export_opts *opts, const char *directory,
		 struct grain_error *err);

/*
 * Writes the account in the form of DLB's TALP, for TALP-Pages (analysis/FORMATS.md). -ENODATA: the graph has
 * no account, and *err says why.
 */
int export__talp(const struct grain_graph *graph, FILE *out, struct grain_error *err);

/*
 * Writes GraphML (analysis/include/grain_export.h) with a position for each node. Returns 0 or a negative
 * errno.
 */
int export__graphml(const struct grain_graph *graph, enum grain_reduction reduction, FILE *out);

#endif
