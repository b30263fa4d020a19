/* SPDX-License-Identifier: BSD-2-Clause */
/* The graph of a random program on a simulated team. */
#ifndef GRAIND_TESTS_RANDOM_GRAPH_H
#define GRAIND_TESTS_RANDOM_GRAPH_H

#include "tests/unit/graph_text.h"
#include "tests/unit/random_expect.h"
#include "tests/unit/random_loops.h"

static inline struct grain_graph *graph_of_program(struct program *p, uint32_t seed, int threads)
{
	char path[] = "/tmp/graind-unit-XXXXXX";
	struct grain_graph *g = NULL;
	struct grain_error err = {{0}};
	int fd = mkstemp(path);
	FILE *log = fd < 0 ? NULL : fdopen(fd, "w");

	if (!log)
		return NULL;
	program_generate(p, seed);
	program_run(p, threads, seed * 31 + (uint32_t)threads, log);
	fclose(log);
	if (grain_graph__load(path, NULL, &g, &err) < 0)
		printf("# program %u on %d threads: %s\n", seed, threads, err.text);
	unlink(path);
	return g;
}

#endif
