/* SPDX-License-Identifier: BSD-2-Clause */
/* Random programs as event logs with cores, and their graphs. */
#ifndef GRAIND_TESTS_RANDOM_RUN_H
#define GRAIND_TESTS_RANDOM_RUN_H

#include "tests/unit/graph_text.h"
#include "tests/unit/random_loops.h"

#define CORES 4

static struct program program;

static inline int core_of(uint16_t cpu)
{
	return 3 * cpu % CORES;
}

/* The log of the program on so many threads, to be freed; cores are described. */
static inline char *run_program(uint32_t seed, int threads, uint32_t schedule)
{
	char *log = NULL, *text = NULL;
	size_t size;
	FILE *f = open_memstream(&log, &size);

	program_generate(&program, seed);
	program_run(&program, threads, schedule, f);
	fclose(f);
	f = open_memstream(&text, &size);
	fprintf(f, "grain-log 1\n@machine host=h cores=%d sockets=2 kernel=6\n", CORES);
	for (int i = 0; i < MAX_THREADS; i++)
		fprintf(f, "@cpu %d core=%d socket=%d node=0\n", i, core_of((uint16_t)i), i / 2);
	fputs(strchr(log, '\n') + 1, f);
	fclose(f);
	free(log);
	return text;
}

static inline struct grain_graph *load_text(const char *text)
{
	char path[] = "/tmp/graind-unit-XXXXXX";
	struct grain_graph *g = NULL;
	struct grain_error err = {{0}};
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (f) {
		fputs(text, f);
		fclose(f);
		if (grain_graph__load(path, NULL, &g, &err))
			printf("# %s\n", err.text);
		unlink(path);
	}
	return g;
}

static inline struct grain_item item_of(const struct grain_graph *g, uint32_t index)
{
	struct grain_item item;

	grain_graph__item(g, index, &item);
	return item;
}

#endif
