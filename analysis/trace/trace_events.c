// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/trace/trace_events.h"
#include "analysis/base/large.h"
#include "analysis/trace/trace_content.h"
#include "analysis/trace/trace_format.h"
#include "analysis/trace/trace_columns.h"

#include <stdlib.h>
#include <string.h>

/*
 * KEEP: the number of records that stay in the window. The window holds at most these, and a chunk in which
 * each event is two records.
 */
#define KEEP (32u << 10)
#define INDEX_BITS 18
#define CAPACITY (KEEP + 2 * TRACE_CHUNK_MAX_EVENTS)
_Static_assert(CAPACITY <= 1u << INDEX_BITS, "an index fits into a key");

#define DIGIT_BITS 11

static int new_site(struct trace_events *e, uint64_t address, uint32_t *out)
{
	struct trace_content *c = e->content;
	int error = array__grow(&c->sites, c->site_count, sizeof(*c->sites), e->budget);

	if (!error)
		error = trace_content__put(&c->site_index, address, c->site_count, e->budget);
	if (error)
		return error;
	*out = c->site_count;
	c->sites[c->site_count++] = address;
	return 0;
}

int trace_events__site(struct trace_events *e, uint64_t address, uint32_t *out)
{
	struct known_site *known = &e->known[(address ^ address >> 6) % 64];
	int error = 0;

	if (address == 0 || known->address == address) {
		*out = address ? known->index : 0;
		return 0;
	}
	*out = number_map__get(&e->content->site_index, address);
	if (*out == GRAIN_NONE)
		error = new_site(e, address, out);
	if (!error)
		*known = (struct known_site){address, *out};
	return error;
}

int trace_events__thread(struct trace_events *e, uint32_t tid, uint32_t *out)
{
	struct trace_content *c = e->content;
	int error;

	if (c->thread_count && tid == e->last_tid) {
		*out = e->last_thread;
		return 0;
	}
	*out = number_map__get(&c->thread_index, tid);
	if (*out == GRAIN_NONE) {
		error = array__grow(&c->threads, c->thread_count, sizeof(*c->threads), e->budget);
		if (!error)
			error = trace_content__put(&c->thread_index, tid, c->thread_count, e->budget);
		if (error)
			return error;
		*out = c->thread_count;
		c->threads[c->thread_count++] = tid;
	}
	e->last_tid = tid;
	e->last_thread = *out;
	return 0;
}

int trace_events__begin(struct trace_events *e, struct trace_content *content, struct event_stream *stream,
			struct budget *budget)
{
	uint32_t none;

	*e = (struct trace_events){.content = content, .stream = stream, .budget = budget};
	return new_site(e, 0, &none);
}

void trace_events__free(struct trace_events *e)
{
	uint64_t record = sizeof(*e->window), key = sizeof(*e->keys);

	free(e->window);
	free(e->spare);
	free(e->keys);
	free(e->scratch);
	if (e->capacity)
		budget__give(e->budget, e->capacity * (2 * record + 2 * key));
	e->window = e->spare = NULL;
	e->keys = e->scratch = NULL;
	e->capacity = 0;
}

/* The window grows with the largest chunk, so small traces need little memory. */
int trace_events__reserve(struct trace_events *e, size_t more)
{
	size_t capacity = e->count + more;
	struct trace_record *window;

	if (capacity <= e->capacity)
		return 0;
	if (budget__take(e->budget, (capacity - e->capacity) * 2 * (sizeof(*window) + sizeof(*e->keys))))
		return -E2BIG;
	window = realloc(e->window, capacity * sizeof(*window));
	e->window = window ? window : e->window;
	free(e->spare);
	free(e->keys);
	free(e->scratch);
	e->spare = malloc(capacity * sizeof(*e->spare));
	e->keys = malloc(capacity * sizeof(*e->keys));
	e->scratch = malloc(capacity * sizeof(*e->scratch));
	e->capacity = capacity;
	return window && e->spare && e->keys && e->scratch ? 0 : -ENOMEM;
}

static int reserve(struct trace_content *c, size_t capacity, struct budget *budget)
{
	struct trace_record *records;

	if (budget__take(budget, (capacity - c->capacity) * sizeof(*records)))
		return -E2BIG;
	records = large__grown(c->records, capacity * sizeof(*records));
	if (!records) {
		budget__give(budget, (capacity - c->capacity) * sizeof(*records));
		return -ENOMEM;
	}
	c->records = records;
	c->capacity = capacity;
	return 0;
}

void trace_events__expect(struct trace_events *e, uint64_t count)
{
	/*
	 * The number comes from the file and may be wrong. So at most half of the allowed memory is reserved
	 * for it.
	 */
	if (count > e->content->capacity && count < GRAIN_NONE &&
	    count <= e->budget->left / 2 / sizeof(*e->window))
		(void)reserve(e->content, (size_t)count, e->budget);
}

static int grow_records(struct trace_events *e, size_t more)
{
	struct trace_content *c = e->content;
	size_t need = c->count + more, capacity = c->capacity + c->capacity / 2;

	if (need <= c->capacity)
		return 0;
	if (need >= GRAIN_NONE)
		return -E2BIG;
	return reserve(c, need > capacity ? need : capacity, e->budget);
}

/*
 * Sorts keys by the `bits` bits above their INDEX_BITS. *spare is as long as *keys; the two may be exchanged.
 */
static void sort_keys(uint64_t **keys, uint64_t **spare, size_t n, unsigned bits)
{
	unsigned passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS,
		 width = passes ? (bits + passes - 1) / passes : 0;
	const uint64_t mask = (1u << width) - 1;
	uint32_t starts[1u << DIGIT_BITS];

	for (unsigned pass = 0; pass < passes; pass++) {
		unsigned shift = INDEX_BITS + pass * width;
		uint64_t *from = *keys, *to = *spare;
		uint32_t sum = 0;

		memset(starts, 0, sizeof(*starts) << width);
		for (size_t i = 0; i < n; i++)
			starts[from[i] >> shift & mask]++;
		for (size_t d = 0; d <= mask; d++) {
			uint32_t count = starts[d];

			starts[d] = sum;
			sum += count;
		}
		for (size_t i = 0; i < n; i++)
			to[starts[from[i] >> shift & mask]++] = from[i];
		*keys = to;
		*spare = from;
	}
}

static void merge(uint64_t *to, const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count)
{
	const uint64_t *a_end = a + a_count, *b_end = b + b_count;

	while (a < a_end && b < b_end) {
		bool first = *a < *b;

		*to++ = first ? *a : *b;
		a += first;
		b += !first;
	}
	memcpy(to, a, (size_t)(a_end - a) * sizeof(*a));
	memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof(*b));
}

/*
 * Fills e->keys with the window's records in the order of time. The low INDEX_BITS of a key are the record's
 * place. Returns false if the times are too far apart for such keys.
 */
static bool sort_window(struct trace_events *e)
{
	uint64_t low = UINT64_MAX, high = 0, *fresh, *spare;
	size_t n = e->count, kept = e->kept;
	unsigned bits = 0;

	for (size_t i = kept; i < n; i++) {
		low = e->window[i].time_ns < low ? e->window[i].time_ns : low;
		high = e->window[i].time_ns > high ? e->window[i].time_ns : high;
	}
	if (kept) {
		low = e->window[0].time_ns < low ? e->window[0].time_ns : low;
		high = e->window[kept - 1].time_ns > high ? e->window[kept - 1].time_ns : high;
	}
	while (bits < 64 && (high - low) >> bits)
		bits++;
	if (bits > 64 - INDEX_BITS)
		return false;
	for (size_t i = 0; i < n; i++)
		e->keys[i] = (e->window[i].time_ns - low) << INDEX_BITS | i;
	fresh = e->keys + kept;
	spare = e->scratch + kept;
	sort_keys(&fresh, &spare, n - kept, bits);
	if (fresh != e->keys + kept)
		memcpy(e->scratch, e->keys, kept * sizeof(*e->keys));
	spare = fresh == e->keys + kept ? e->keys : e->scratch;
	fresh = spare == e->keys ? e->scratch : e->keys;
	merge(fresh, spare, kept, spare + kept, n - kept);
	e->keys = fresh;
	e->scratch = spare;
	return true;
}

/* Moves all records except the latest `keep` ones out of the window. Returns 0 or a negative errno. */
static int settle(struct trace_events *e, size_t keep)
{
	const uint64_t place = (1u << INDEX_BITS) - 1;
	struct trace_content *c = e->content;
	struct trace_record *window = e->window;
	size_t i, leave = e->count > keep ? e->count - keep : 0;
	int error = leave ? grow_records(e, leave) : 0;

	if (error || !leave)
		return error;
	if (!sort_window(e)) {
		e->disordered = true;
		for (i = 0; i < e->count; i++)
			e->keys[i] = i;
	}
	e->disordered |= window[e->keys[0] & place].time_ns < e->last_ns;
	for (i = 0; i < leave; i++)
		c->records[c->count++] = window[e->keys[i] & place];
	e->last_ns = c->records[c->count - 1].time_ns;
	for (; i < e->count; i++)
		e->spare[i - leave] = window[e->keys[i] & place];
	e->count -= leave;
	e->kept = e->disordered ? 0 : e->count;
	e->window = e->spare;
	e->spare = window;
	return 0;
}

uint64_t trace_events__latest(const struct trace_events *e)
{
	uint64_t latest = 0;

	for (size_t i = 0; i < e->count; i++)
		latest = e->window[i].time_ns > latest ? e->window[i].time_ns : latest;
	return latest;
}

void trace_events__mark(struct trace_events *e, uint8_t flag)
{
	for (size_t i = 0; i < e->count; i++)
		e->window[i].flags |= flag;
}

int trace_events__finish(struct trace_events *e)
{
	struct trace_content *c = e->content;
	int error = settle(e, 0);

	trace_events__free(e);
	if (!error && e->disordered)
		error = sorted_items__sort(c->records, sizeof(*c->records), NULL, c->count, e->budget);
	return error;
}

/* The sites and threads in a chunk's tables. Each is looked up only once. */
struct places {
	uint32_t *sites, *threads;
};

static void free_places(struct places *places)
{
	free(places->sites);
	free(places->threads);
}

static int find_places(struct trace_events *e, const struct trace_columns_read *c, struct places *places)
{
	uint32_t sites = c->column[COLUMN_SITE].values, threads = c->column[COLUMN_TID].values;
	int error = 0;

	places->sites = malloc((sites + 1) * sizeof(*places->sites));
	places->threads = malloc((threads + 1) * sizeof(*places->threads));
	if (!places->sites || !places->threads)
		return -ENOMEM;
	for (uint32_t i = 0; i < sites && !error; i++)
		error = trace_events__site(e, trace_columns__entry(c, COLUMN_SITE, i), &places->sites[i]);
	for (uint32_t i = 0; i < threads && !error; i++)
		error = trace_events__thread(e, (uint32_t)trace_columns__entry(c, COLUMN_TID, i),
					     &places->threads[i]);
	return error;
}

#define BLOCK 256 /* number of events whose columns fit into the first-level cache */

/* The values of a block of events, column by column; sites and threads are indices. */
struct block {
	uint64_t column[TRACE_COLUMNS][BLOCK];
};

static int load_block(struct trace_events *e, const struct trace_columns_read *c, const struct places *places,
		      size_t from, size_t n, struct block *b)
{
	int error = 0;

	for (int k = 0; k < TRACE_COLUMNS; k++) {
		if (k == COLUMN_SITE || k == COLUMN_TID)
			trace_columns__numbers(c, (enum trace_column)k, from, n, b->column[k]);
		else
			trace_columns__values(c, (enum trace_column)k, from, n, b->column[k]);
	}
	for (size_t i = 0; i < n && !error; i++) {
		uint64_t *site = &b->column[COLUMN_SITE][i], *thread = &b->column[COLUMN_TID][i];
		uint32_t site_index, thread_index;

		if (c->column[COLUMN_SITE].table)
			site_index = places->sites[*site];
		else
			error = trace_events__site(e, *site, &site_index);
		if (c->column[COLUMN_TID].table)
			thread_index = places->threads[*thread];
		else if (!error)
			error = trace_events__thread(e, (uint32_t)*thread, &thread_index);
		if (!error) {
			*site = site_index;
			*thread = thread_index;
		}
	}
	return error;
}

/* The record of a wait for a lock has two times, begin and end. It becomes two records. */
void trace_events__add_lock(struct trace_events *e, struct trace_record *got)
{
	e->window[e->count++] = *got;
	got->flags |= RECORD_LOCK_BEGIN;
	if (got->extra && got->extra < got->time_ns)
		got->time_ns = got->extra;
}

static int add_block(struct trace_events *e, const struct block *b, size_t n, bool zigzag, uint64_t *now,
		     char why[128])
{
	size_t readings = 0; /* number of records that are not events: counters, and the rest of stacks */

	for (size_t i = 0; i < n; i++) {
		struct trace_record *rec = &e->window[e->count];
		uint64_t step = b->column[COLUMN_TIME][i];

		*now += zigzag ? step >> 1 ^ (0 - (step & 1)) : step;
		if (*now > INT64_MAX) {
			/* The events before the error stay. */
			e->stream->truth.events += i - readings;
			snprintf(why, 128, "an event at a time that no clock shows");
			return -EBADMSG;
		}
		e->count++;
		rec->time_ns = *now;
		rec->key = b->column[COLUMN_KEY][i];
		rec->frame = b->column[COLUMN_FRAME][i];
		rec->extra = b->column[COLUMN_EXTRA][i];
		rec->site = (uint32_t)b->column[COLUMN_SITE][i];
		rec->thread = (uint32_t)b->column[COLUMN_TID][i];
		rec->arg = (uint32_t)b->column[COLUMN_ARG][i];
		rec->cpu = (uint16_t)b->column[COLUMN_CPU][i];
		rec->kind = (uint8_t)b->column[COLUMN_KIND][i];
		rec->flags = (uint8_t)b->column[COLUMN_FLAGS][i] & (TRACE_F_FAULT | TRACE_F_AMONG_WORDS);
		readings += rec->kind == TRACE_COUNTERS || rec->kind == TRACE_SAMPLE_STACK;
		if (rec->kind == TRACE_LOCK_WAIT)
			trace_events__add_lock(e, rec);
	}
	e->stream->truth.events += n - readings;
	return 0;
}

static int add_all(struct trace_events *e, const struct trace_columns_read *c, const struct places *places,
		   char why[128])
{
	uint64_t now = c->base_ns;
	struct block block;
	int error = 0;

	for (size_t from = 0; from < c->count && !error; from += BLOCK) {
		size_t n = c->count - from < BLOCK ? c->count - from : BLOCK;

		error = load_block(e, c, places, from, n, &block);
		if (!error)
			error = add_block(e, &block, n, c->zigzag, &now, why);
	}
	return error;
}

/*
 * Returns the number of waits for locks among the events. If an event has an unknown kind, returns that as a
 * negative number.
 */
static long check_kinds(const struct trace_columns_read *c)
{
	uint64_t kinds[BLOCK];
	long locks = 0;

	for (size_t from = 0; from < c->count; from += BLOCK) {
		size_t n = c->count - from < BLOCK ? c->count - from : BLOCK;

		trace_columns__values(c, COLUMN_KIND, from, n, kinds);
		for (size_t i = 0; i < n; i++) {
			if (kinds[i] - 1 >= TRACE_KIND_MAX - 1)
				return -1 - (long)(uint8_t)kinds[i];
			locks += kinds[i] == TRACE_LOCK_WAIT;
		}
	}
	return locks;
}

int trace_events__chunk(struct trace_events *e, const char *raw, size_t bytes, char why[128])
{
	struct trace_columns_read columns;
	struct places places = {NULL, NULL};
	int error = trace_columns__find(&columns, raw, bytes, why);
	long locks;

	if (error)
		return error;
	locks = check_kinds(&columns);
	if (locks < 0) {
		snprintf(why, 128, "an event of unknown kind %ld; was it written by a newer graind?",
			 -1 - locks);
		return -EBADMSG;
	}
	error = trace_events__reserve(e, columns.count + (size_t)locks);
	if (!error)
		error = find_places(e, &columns, &places);
	if (!error)
		error = add_all(e, &columns, &places, why);
	free_places(&places);
	return error ? error : settle(e, KEEP);
}

int trace_events__settle(struct trace_events *e)
{
	return settle(e, KEEP);
}
