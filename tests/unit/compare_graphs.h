/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs of graphs for the comparison's tests. */
#ifndef GRAIND_TESTS_COMPARE_GRAPHS_H
#define GRAIND_TESTS_COMPARE_GRAPHS_H

#include "analysis/include/grain_compare.h"
#include "tests/unit/graph_text.h"

/* The graph of a log's text, its work deviation against `baseline` (NULL: none); NULL and a failed check. */
static inline struct grain_graph *graph_against(const char *name, const char *text,
						const struct grain_graph *baseline,
						const struct grain_settings *settings)
{
	struct grain_load_opts opts = {.settings = settings, .baseline = baseline};

	return graph_of_text_opts(name, text, &opts);
}

static inline struct grain_compare *compare_of(const char *name, const struct grain_graph *base,
					       const struct grain_graph *run)
{
	struct grain_compare *c = NULL;
	int error = base && run ? grain_compare__new(base, run, &c) : -1;

	CHECK(error == 0, "%s: compares", name);
	return c;
}

static inline void free_comparison(struct grain_graph *base, struct grain_graph *run, struct grain_compare *c)
{
	grain_compare__free(c);
	grain_graph__free(run);
	grain_graph__free(base);
}

#endif
