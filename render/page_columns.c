/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/page_columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/page_fill.h"

/* With more contexts than this, times and counters are rounded. */
#define EXACT_CONTEXTS 200000
/* ... so that a usual grain is still at least so many ticks long. */
#define USUAL_TICKS 128
#define SAMPLE 1024
#define FIRST_BYTES 4096

struct page_column *page_columns__add(struct page_columns *columns, const char *name)
{
	bool full = columns->count >= PAGE_COLUMNS_MAX;
	struct page_column *c = &columns->column[full ? PAGE_COLUMNS_MAX : columns->count];

	/* One too many counts as one for which there was no memory. */
	columns->count = full ? PAGE_COLUMNS_MAX + 1 : columns->count + 1;
	*c = (struct page_column){.data = full ? NULL : malloc(FIRST_BYTES)};
	c->capacity = c->data ? FIRST_BYTES : 0;
	snprintf(c->name, sizeof(c->name), "%s", name);
	return c;
}

bool page_column__reserve(struct page_column *c, size_t more)
{
	uint8_t *data;
	size_t capacity = c->capacity;

	if (c->bytes + more <= capacity)
		return true;
	if (!c->data)
		return false;
	while (capacity < c->bytes + more)
		capacity *= 2;
	data = realloc(c->data, capacity);
	if (!data) {
		/* Nothing fits any more. */
		free(c->data);
		c->bytes = capacity = 0;
	}
	c->data = data;
	c->capacity = capacity;
	return data != NULL;
}

void page_column__text(struct page_column *c, const char *text, size_t bytes)
{
	if (!page_column__reserve(c, bytes))
		return;
	memcpy(c->data + c->bytes, text, bytes);
	c->bytes += bytes;
}

bool page_column__is_zero(const struct page_column *c)
{
	return !c->bytes || (c->data[0] == 0 && memcmp(c->data, c->data + 1, c->bytes - 1) == 0);
}

int page_columns__check(const struct page_columns *columns)
{
	for (size_t i = 0; i < columns->count; i++)
		if (!columns->column[i].data)
			return -ENOMEM;
	return 0;
}

void page_columns__free(struct page_columns *columns)
{
	if (!columns)
		return;
	for (size_t i = 0; i < columns->count; i++)
		free(columns->column[i].data);
	free(columns->tids);
	free(columns->items);
	free(columns->parents);
	columns->count = 0;
	columns->tids = columns->items = columns->parents = NULL;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* A sample of execution times tells what is usual: the tick is 1 << the result. */
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
