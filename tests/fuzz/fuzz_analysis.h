/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What both fuzz targets of the analysis do with a file: load it, strictly and
 * with keep_going; whatever is in it, there is a graph whose parts agree, or one
 * line that says why not.
 */
#ifndef GRAIND_FUZZ_ANALYSIS_H
#define GRAIND_FUZZ_ANALYSIS_H

#include "analysis/include/grain.h"
#include "analysis/include/grain_compare.h"
#include "analysis/include/grain_export.h"
#include "analysis/include/grain_groups.h"
#include "analysis/include/grain_whatif.h"
#include "tests/fuzz/target.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Says where two texts differ. */
static inline void analysis_must_be_same(const char *got, const char *expected)
{
	size_t at = 0, start;

	while (expected[at] && expected[at] == got[at])
		at++;
	if (!expected[at] && !got[at])
		return;
	start = at > 100 ? at - 100 : 0;
	fprintf(stderr, "expected: %.200s\ngot:      %.200s\n", expected + start, got + start);
	abort();
}

static inline int analysis_load(const void *data, size_t size, bool keep_going, struct grain_graph **out)
{
	const struct grain_load_opts opts = {.keep_going = keep_going,
					     .keep_events = true,
					     .max_bytes = 256u << 20};
	struct grain_error err = {.text = ""};
	char path[32];
	int fd = memfd_create("fuzz", MFD_CLOEXEC), error;

	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	error = grain_graph__load(path, &opts, out, &err);
	close(fd);
	if (error) {
		MUST(error < 0 && !*out && err.text[0] && !strchr(err.text, '\n'));
		MUST(error == -EBADMSG || error == -E2BIG);
		MUST(error != -EBADMSG || keep_going || strncmp(err.text, path, strlen(path)) == 0);
	}
	return error;
}

/* Runs a writer into memory; to be freed. */
static inline char *analysis_text(int (*writer)(const struct grain_graph *, FILE *),
				  const struct grain_graph *g)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int error;

	error = f ? writer(g, f) : -ENOMEM;
	if (error)
		fprintf(stderr, "the writer fails: %s\n", strerror(-error));
	MUST(!error && fclose(f) == 0 && strlen(text) == size);
	return text;
}

static inline int analysis_summary(const struct grain_graph *g, FILE *f)
{
	return grain_graph__write_summary_json(g, 1, f);
}

static inline int analysis_graphml(const struct grain_graph *g, FILE *f)
{
	return grain_graph__write_graphml(g, GRAIN_REDUCED, f);
}

static inline void analysis_check_json(const char *text)
{
	while (*text) {
		const char *end = strchr(text, '\n');
		json_t *value;

		MUST(end);
		value = json_loadb(text, (size_t)(end - text), JSON_DECODE_INT_AS_REAL, NULL);
		MUST(value);
		json_decref(value);
		text = end + 1;
	}
}

static inline void analysis_check_graph(const struct grain_graph *g)
{
	const struct grain_totals *t = grain_graph__totals(g);
	size_t contexts = grain_graph__context_count(g), joins = grain_graph__join_count(g);
	char id[64];

	MUST(t->work_ns >= t->span_ns && t->burdened_span_ns >= t->span_ns);
	MUST(grain_graph__truth(g)->conservation_violations == 0);
	for (uint32_t i = 0; i < contexts; i++) {
		struct grain_context c;

		grain_graph__context(g, i, &c);
		MUST(c.parent == GRAIN_NONE || c.parent < i);
		MUST(c.join == GRAIN_NONE || c.join < joins);
		MUST(grain_graph__context_id(g, i, id, sizeof(id)) > 0);
		for (uint32_t k = 0; k < c.item_count; k++) {
			struct grain_item item;

			grain_graph__item(g, c.first_item + k, &item);
			MUST(item.end_ns >= item.start_ns);
		}
	}
	for (size_t i = 0; i < grain_graph__dependence_count(g); i++) {
		struct grain_dependence d;

		grain_graph__dependence(g, i, &d);
		MUST(d.from < contexts &&
		     (d.to == GRAIN_NONE ? d.join < joins : d.to < contexts && d.from < d.to));
	}
}

/* Everything else that the library can make of a graph. */
static inline void analysis_use(const struct grain_graph *g)
{
	struct grain_compare_totals totals;
	struct grain_compare *compare = NULL;
	struct grain_groups *groups = NULL;
	struct grain_whatif whatif;
	char *text;

	text = analysis_text(grain_graph__write_csv, g);
	free(text);
	text = analysis_text(analysis_graphml, g);
	free(text);
	MUST(grain_compare__new(g, g, &compare) == 0);
	grain_compare__totals(compare, &totals);
	MUST(totals.base_grains == totals.run_grains && totals.matched <= totals.run_grains);
	grain_compare__free(compare);
	MUST(grain_groups__new(g, &groups) == 0);
	grain_groups__free(groups);
	for (uint32_t i = 0; i < grain_graph__definition_count(g) && i < 2; i++) {
		MUST(grain_graph__whatif(g, i, 2, 4, &whatif) == 0);
		MUST(whatif.work_ns >= whatif.span_ns);
	}
}

static inline void analysis_fuzz(const uint8_t *data, size_t size)
{
	struct grain_graph *g = NULL, *again = NULL;
	char *summary, *grains, *log, *text;
	bool strict;

	strict = analysis_load(data, size, false, &g) == 0;
	if (!strict && analysis_load(data, size, true, &g))
		return;
	analysis_check_graph(g);
	summary = analysis_text(analysis_summary, g);
	analysis_check_json(summary);
	grains = analysis_text(grain_graph__write_grains_json, g);
	analysis_check_json(grains);
	log = analysis_text(grain_graph__write_log, g);
	/* What is kept of a damaged file is sound, and equal when it is read again. */
	MUST(analysis_load(log, strlen(log), false, &again) == 0);
	text = analysis_text(grain_graph__write_log, again);
	analysis_must_be_same(text, log);
	free(text);
	text = analysis_text(analysis_summary, again);
	analysis_must_be_same(text, summary);
	free(text);
	text = analysis_text(grain_graph__write_grains_json, again);
	analysis_must_be_same(text, grains);
	free(text);
	analysis_use(g);
	free(summary);
	free(grains);
	free(log);
	grain_graph__free(g);
	grain_graph__free(again);
}

#endif
