/* SPDX-License-Identifier: BSD-2-Clause */
/* A file that breaks every rule, and what may come of it. */
#ifndef GRAIND_TESTS_HOSTILE_FILE_H
#define GRAIND_TESTS_HOSTILE_FILE_H

#include "analysis/include/grain.h"
#include "tests/unit/check.h"

#include <time.h>

/* For mkstemp. */
static char path[] = "/tmp/graind-unit-hostile-XXXXXX";
static struct grain_error err;

/* CPU time of this program. */
static inline double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline int load(bool keep_going, struct grain_graph **g)
{
	const struct grain_load_opts opts = {.keep_going = keep_going, .keep_events = true};

	*g = NULL;
	err.text[0] = '\0';
	return grain_graph__load(path, &opts, g, &err);
}

/* Sound in itself, whatever was left out. */
static inline bool is_sound(const struct grain_graph *g)
{
	const struct grain_totals *t = grain_graph__totals(g);

	return t->work_ns >= t->span_ns && grain_graph__truth(g)->conservation_violations == 0;
}

/* Loads what was written and says how long that took; a million of anything takes seconds. */
static inline struct grain_graph *load_large(const char *name, bool keep_going)
{
	struct grain_graph *g;
	double before = now_s(), took;
	int rc = load(keep_going, &g);

	took = now_s() - before;
	CHECK(rc == 0 && is_sound(g), "%s: %s", name, err.text);
	CHECK(took < 60, "%s: in %.2f s of 60", name, took);
	return g;
}

#endif
