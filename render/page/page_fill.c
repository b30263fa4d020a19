// SPDX-License-Identifier: BSD-2-Clause
/* Fills all columns, row by row: first contexts with fragments and names, then everything else. */
#include "render/page/page_fill.h"

#include <errno.h>
#include <stdlib.h>

/* With more contexts than this, times and counters are rounded. */
#define EXACT_CONTEXTS 200000
/* After rounding, a usual grain still has this many ticks. */
#define USUAL_TICKS 128
#define SAMPLE 1024

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Chooses the tick from a sample of execution times. The tick is 1 << the result. */
static unsigned choose_tick(const struct grain_graph *graph, size_t contexts)
{
	uint64_t sample[SAMPLE], n = 0;
	unsigned shift = 0;

	if (contexts <= EXACT_CONTEXTS)
		return 0;
	for (size_t i = 0; i < contexts && n < SAMPLE; i += contexts / SAMPLE + 1) {
		struct grain_context c;

		grain_graph__context(graph, (uint32_t)i, &c);
		if (c.exec_ns)
			sample[n++] = c.exec_ns;
	}
	if (!n)
		return 0;
	qsort(sample, n, sizeof(*sample), compare_u64);
	while (sample[n / 2] >> shift >= 2 * USUAL_TICKS)
		shift++;
	return shift;
}

int page_columns__fill(struct page_columns *columns, const struct grain_graph *graph)
{
	struct page_fill f = {.out = columns, .graph = graph};
	int error;

	*columns = (struct page_columns){.start_ns = grain_graph__info(graph)->start_ns,
					 .contexts = grain_graph__context_count(graph),
					 .joins = grain_graph__join_count(graph),
					 .regions = grain_graph__region_count(graph),
					 .loops = grain_graph__loop_count(graph),
					 .dependences = grain_graph__dependence_count(graph)};
	columns->tick_shift = choose_tick(graph, columns->contexts);
	columns->tick_ns = UINT64_C(1) << columns->tick_shift;
	columns->counters_exact = columns->contexts <= EXACT_CONTEXTS;
	columns->parents = malloc((columns->contexts + 1) * sizeof(*columns->parents));
	f.depths = malloc((columns->contexts + 1) * sizeof(*f.depths));
	f.waits = calloc(columns->joins + 1, sizeof(*f.waits));
	error = columns->parents && f.depths && f.waits ? page_gather__new(&f.gather) : -ENOMEM;
	if (!error)
		error = page_names__new(&f, &f.names);
	if (!error)
		error = page_fill__contexts(&f);
	if (!error)
		error = page_fill__fragments(&f);
	if (!error)
		error = page_fill__others(&f);
	if (!error) {
		page_fill__tables(&f);
		error = page_columns__check(columns);
	}
	page_gather__free(f.gather);
	page_names__free(f.names);
	free(f.depths);
	free(f.waits);
	free(f.id);
	free(f.base);
	return error;
}
