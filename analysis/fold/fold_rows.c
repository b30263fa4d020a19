// SPDX-License-Identifier: BSD-2-Clause
/* Statistics by construct. Rows are found by call site, and filled grain by grain. */
#include "analysis/fold/fold.h"

#include <stdlib.h>
#include <string.h>

static bool is(const struct fold_row *row, uint64_t site, uint64_t ident, enum fold_kind kind)
{
	return row->site == site && row->ident == ident && row->kind == kind;
}

static int add(struct fold_rows *rows, uint64_t hash, struct fold_row row, struct budget *budget,
	       uint32_t *out)
{
	uint32_t first = number_map__get(&rows->index, hash);
	int error;

	if (rows->count == rows->capacity) {
		size_t capacity = rows->capacity ? 2 * rows->capacity : 64;
		struct fold_row *grown;
		uint32_t *next;

		if (budget__take(budget, (capacity - rows->capacity) * (sizeof(*grown) + sizeof(*next))))
			return -E2BIG;
		grown = realloc(rows->rows, capacity * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		rows->rows = grown;
		next = realloc(rows->next, capacity * sizeof(*next));
		if (!next)
			return -ENOMEM;
		rows->next = next;
		rows->capacity = capacity;
	}
	error = number_map__put(&rows->index, hash, (uint32_t)rows->count);
	if (error)
		return error;
	rows->rows[rows->count] = row;
	rows->next[rows->count] = first;
	*out = (uint32_t)rows->count++;
	return 0;
}

int fold_rows__find(struct fold_rows *rows, uint64_t site, uint64_t ident, enum fold_kind kind,
		    struct budget *budget, uint32_t *out)
{
	uint64_t hash = (site ^ ident << 20) * FOLD_KINDS + kind;
	uint32_t *last = &rows->last[(site ^ site >> 6 ^ ident ^ kind) % 64], at;
	int error;

	if (*last < rows->count && is(&rows->rows[*last], site, ident, kind)) {
		*out = *last;
		return 0;
	}
	/* No real program has so many call sites. Further ones share one row. */
	if (rows->count >= FOLD_ROWS_MAX)
		site = ident = hash = 0;
	for (at = number_map__get(&rows->index, hash); at != GRAIN_NONE; at = rows->next[at])
		if (is(&rows->rows[at], site, ident, kind))
			break;
	*out = at;
	error = at == GRAIN_NONE ? add(rows, hash,
				       (struct fold_row){.site = site, .ident = ident, .kind = (uint8_t)kind},
				       budget, out)
				 : 0;
	if (!error)
		*last = *out;
	return error;
}

void fold_row__add(struct fold_row *row, uint64_t exec_ns, uint64_t create_ns, uint64_t wait_ns)
{
	running_stat__add(&row->exec, exec_ns);
	running_stat__add(&row->create, create_ns);
	running_stat__add(&row->wait, wait_ns);
	row->buckets[exec_ns ? 64 - __builtin_clzll(exec_ns) : 0]++;
}

void fold_rows__free(struct fold_rows *rows)
{
	free(rows->rows);
	free(rows->next);
	number_map__free(&rows->index);
}
