// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/trace_events.h"
#include "analysis/large.h"
#include "analysis/resolver.h"

#include <stdlib.h>
#include <string.h>

/* Records that stay in the window; the most that it holds: these and a chunk in
 * which each is two. */
#define KEEP (32u << 10)
#define INDEX_BITS 18
#define CAPACITY (KEEP + 2 * TRACE_CHUNK_MAX_EVENTS)
_Static_assert(CAPACITY <= 1u << INDEX_BITS, "an index fits into a key");

#define DIGIT_BITS 11

int trace_content__put(struct number_map *map, uint64_t key, uint32_t value, struct budget *budget)
{
	int error = budget__take(budget, 4 * sizeof(struct number_map_slot));

	return error ? error : number_map__put(map, key, value);
}

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

static int find_site(struct trace_events *e, uint64_t address, uint32_t *out)
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

static int find_thread(struct trace_events *e, uint32_t tid, uint32_t *out)
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

/* Grows with the largest chunk, so that small traces need little. */
static int grow_window(struct trace_events *e, size_t more)
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
	/* More than half of what is allowed may be a lie of the file. */
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

/* Sorts keys above their INDEX_BITS, of which `bits` are used; *spare has as
 * much room. The two change places. */
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
 * Leaves in e->keys the window's records in order of time, each key with the
 * place in its low INDEX_BITS; false when their times are too far apart for it.
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

/* Lets all but the latest `keep` records of the window go. */
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

int trace_events__finish(struct trace_events *e)
{
	struct trace_content *c = e->content;
	int error = settle(e, 0);

	trace_events__free(e);
	if (!error && e->disordered)
		error = sorted_items__sort(c->records, sizeof(*c->records), NULL, c->count, e->budget);
	return error;
}

static uint64_t get64(const char *column, size_t i)
{
	uint64_t v;

	memcpy(&v, column + i * 8, 8);
	return v;
}

static uint32_t get32(const char *column, size_t i)
{
	uint32_t v;

	memcpy(&v, column + i * 4, 4);
	return v;
}

/* The wait for a lock began at another time than that of its record: two
 * records of one. */
static void add_lock_begin(struct trace_events *e, struct trace_record *got)
{
	e->window[e->count++] = *got;
	got->flags |= RECORD_LOCK_BEGIN;
	if (got->extra && got->extra < got->time_ns)
		got->time_ns = got->extra;
}

struct columns {
	const char *time, *key, *site, *frame, *tid, *arg, *cpu, *kind, *flags, *extra;
};

static void find_columns(struct columns *c, const char *at, size_t n, bool extra)
{
	c->time = at;
	c->key = c->time + n * 8;
	c->site = c->key + n * 8;
	c->frame = c->site + n * 8;
	c->tid = c->frame + n * 8;
	c->arg = c->tid + n * 4;
	c->cpu = c->arg + n * 4;
	c->kind = c->cpu + n * 2;
	c->flags = c->kind + n;
	c->extra = extra ? c->flags + n : NULL;
}

static int refuse(char why[128], const char *format, ...) __attribute__((format(printf, 2, 3)));
static int refuse(char why[128], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, 128, format, args);
	va_end(args);
	return -EBADMSG;
}

static int add_all(struct trace_events *e, const struct columns *c, size_t n, uint64_t now, char why[128])
{
	int error = 0;

	for (size_t i = 0; i < n; i++) {
		struct trace_record *rec = &e->window[e->count];

		now += get64(c->time, i);
		if (now > INT64_MAX)
			return refuse(why, "an event at a time that no clock shows");
		rec->time_ns = now;
		rec->key = get64(c->key, i);
		rec->frame = get64(c->frame, i);
		rec->extra = c->extra ? get64(c->extra, i) : 0;
		rec->arg = get32(c->arg, i);
		memcpy(&rec->cpu, c->cpu + i * 2, 2);
		rec->kind = (uint8_t)c->kind[i];
		rec->flags = (uint8_t)c->flags[i] & TRACE_F_FAULT;
		error = find_site(e, get64(c->site, i), &rec->site);
		if (!error)
			error = find_thread(e, get32(c->tid, i), &rec->thread);
		if (error)
			break;
		e->count++;
		e->stream->truth.events++;
		if (rec->kind == TRACE_LOCK_WAIT)
			add_lock_begin(e, rec);
	}
	return error;
}

int trace_events__chunk(struct trace_events *e, const char *raw, size_t bytes, char why[128])
{
	struct trace_events_head head;
	struct columns columns;
	size_t n, event_bytes, locks = 0;
	int error;

	if (bytes < sizeof(head))
		return refuse(why, "a chunk of events without its head");
	memcpy(&head, raw, sizeof(head));
	n = head.count;
	if (head.columns & ~(uint32_t)TRACE_COLUMN_EXTRA)
		return refuse(why, "columns of events that are not known; was it written "
				   "by a newer graind?");
	event_bytes = TRACE_EVENT_COLUMN_BYTES - (head.columns & TRACE_COLUMN_EXTRA ? 0 : sizeof(uint64_t));
	if (n > TRACE_CHUNK_MAX_EVENTS || bytes != sizeof(head) + n * event_bytes)
		return refuse(why, "a chunk whose length does not fit its %u events", head.count);
	find_columns(&columns, raw + sizeof(head), n, head.columns & TRACE_COLUMN_EXTRA);
	for (size_t i = 0; i < n; i++) {
		uint8_t kind = (uint8_t)columns.kind[i];

		if (kind < 1 || kind >= TRACE_KIND_MAX)
			return refuse(why, "an event of unknown kind %u; was it written by a newer graind?",
				      kind);
		locks += kind == TRACE_LOCK_WAIT;
	}
	error = grow_window(e, n + locks);
	if (!error)
		error = add_all(e, &columns, n, head.base_ns, why);
	return error ? error : settle(e, KEEP);
}
