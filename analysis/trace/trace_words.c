// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/trace/trace_words.h"
#include "analysis/event/event_build.h"
#include "analysis/trace/trace_content.h"
#include "analysis/trace/trace_format.h"
#include "analysis/trace/word_planes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_WORDS_MAX 4
#define STREAMS_MAX (1u << 20)

/* Words have no stack pointer. The level of what is open replaces it, counted down from here. */
#define TOP_FRAME (UINT64_C(1) << 46)
#define LEVEL_BYTES 64
/*
 * While words are read as they are written, this many readings of both clocks are kept, two for each
 * millisecond.
 */
#define KEPT_CLOCKS 4096

struct word_stream {
	uint64_t ticks;
	uint64_t thread, created; /* number of the thread in keys; number of tasks created */
	int64_t level;
	uint64_t rest[EVENT_WORDS_MAX]; /* the begin of an event that ends in the next chunk */
	uint32_t rest_count;
	uint32_t clock; /* the last reading that is not later than the stream's latest event, if there is one
			 */
	uint16_t cpu;
	bool begun; /* TRACE_PART: its first HERE was found */
	bool reads; /* the values in `reading` belong to the stream's next event */
	struct trace_record reading[(TRACE_READING_MAX + TRACE_COUNTERS_EACH - 1) / TRACE_COUNTERS_EACH];
	bool outside; /* the thread has reported that it is in no region at its next event */
};

/*
 * A reading of both clocks. Between two readings, both clocks are taken to run evenly. So a time is the same
 * in all streams.
 */
struct word_clocks {
	uint64_t ticks, ns;
	double ns_per_tick; /* up to the next reading; the last reading has the value of the one before */
};

void trace_words__begin(struct trace_words *w, struct trace_events *events)
{
	*w = (struct trace_words){.events = events};
}

void trace_words__free(struct trace_words *w)
{
	free(w->streams);
	free(w->clocks);
	free(w->sites);
	free(w->words);
	*w = (struct trace_words){0};
}

static int prepare(struct trace_words *w)
{
	struct budget *budget = w->events->budget;
	int error;

	if (w->words)
		return 0;
	error = budget__take(budget, (TRACE_WORD_SITES + TRACE_WORDS_MAX + EVENT_WORDS_MAX) * 8);
	if (error)
		return error;
	w->sites = calloc(TRACE_WORD_SITES, sizeof(*w->sites));
	w->words = calloc(TRACE_WORDS_MAX + EVENT_WORDS_MAX, sizeof(*w->words));
	return w->sites && w->words ? 0 : -ENOMEM;
}

static int find_stream(struct trace_words *w, uint32_t number, struct word_stream **out)
{
	struct word_stream *grown;
	uint32_t count = w->stream_count;

	if (number >= count) {
		while (count <= number)
			count = count ? 2 * count : 16;
		if (budget__take(w->events->budget, (count - w->stream_count) * sizeof(*grown)))
			return -E2BIG;
		grown = realloc(w->streams, count * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		memset(grown + w->stream_count, 0, (count - w->stream_count) * sizeof(*grown));
		for (uint32_t i = w->stream_count; i < count; i++)
			grown[i].cpu = TRACE_CPU_UNKNOWN;
		w->streams = grown;
		w->stream_count = count;
	}
	*out = &w->streams[number];
	return 0;
}

/* Returns the number of words of the event that begins with this word. 0: unknown kind. */
static unsigned length_of(uint64_t word)
{
	uint32_t arg = TRACE_WORD_ARG(word);

	switch (TRACE_WORD_KIND(word)) {
	case TRACE_TASK_CREATE:
		return arg & (TRACE_TASK_DETACH | TRACE_WORD_KEYED) ? 2 : 1;
	case TRACE_TASK_BEGIN:
		return arg ? 1 : 2;
	case TRACE_COUNTERS:
		return TRACE_WORD_COUNTERS_COUNT(arg) ? 1 + TRACE_WORD_COUNTERS_COUNT(arg) : 0;
	case TRACE_CHUNK_BEGIN:
		return arg & TRACE_WORD_SHORT ? 2 : 3;
	case TRACE_TASK_CREATE_END:
	case TRACE_TASK_END:
	case TRACE_REGION_END:
	case TRACE_WAIT_BEGIN:
	case TRACE_WAIT_END:
	case TRACE_GROUP_BEGIN:
	case TRACE_SINGLE:
	case TRACE_SINGLE_END:
	case TRACE_TASKLOOP_END:
	case TRACE_CANCEL:
	case TRACE_CHUNK_NEXT:
	case TRACE_LOOP_END:
	case TRACE_SECTION_NEXT:
	case TRACE_SECTIONS_END:
	case TRACE_STATIC_SHARE:
	case TRACE_WORD_NOTHING:
		return 1;
	case TRACE_DEPEND:
	case TRACE_CHUNK_STRIDE:
	case TRACE_TEAM_STARTED:
	case TRACE_TASKLOOP_BEGIN:
	case TRACE_TASK_FULFILL:
	case TRACE_SECTIONS_BEGIN:
	case TRACE_SECTION_BEGIN:
	case TRACE_WORD_TURN:
	case TRACE_WORD_JOIN:
	case TRACE_WORD_CPU:
	case TRACE_WORD_TIME:
		return 2;
	case TRACE_REGION_BEGIN:
	case TRACE_TEAM_START:
	case TRACE_MEMBER_BEGIN:
	case TRACE_TASK_BOUNDS:
	case TRACE_LOOP_PARAMS:
	case TRACE_LOCK_WAIT:
	case TRACE_WORD_LOST:
		return 3;
	case TRACE_LOOP_BEGIN:
	case TRACE_WORD_HERE:
		return 4;
	default:
		return 0;
	}
}

/* Returns a stack pointer for the event. It is computed from what is open on the thread. */
static uint64_t frame_of(struct word_stream *s, const struct trace_record *rec)
{
	int64_t level = s->level;
	uint64_t above = 0;

	switch (rec->kind) {
	case TRACE_MEMBER_BEGIN:
		/* Workers run nothing below their member. */
		if (rec->arg)
			level = s->level = 0;
		/* fall through */
	case TRACE_TEAM_STARTED:
		if (rec->arg & TRACE_TEAMS_OVER) {
			above = 8;
			s->level--;
			break;
		}
		/* fall through */
	case TRACE_TASK_CREATE:
	case TRACE_TASK_BEGIN:
	case TRACE_REGION_BEGIN:
	case TRACE_WAIT_BEGIN:
	case TRACE_TASKLOOP_BEGIN:
		level = ++s->level;
		break;
	case TRACE_WAIT_END:
		above = 8;
		s->level -= rec->arg == TRACE_WAIT_REGION_END ? 2 : 1;
		break;
	case TRACE_REGION_END:
		above = 8;
		s->level--;
		break;
	case TRACE_TASK_CREATE_END:
	case TRACE_TASK_END:
	case TRACE_TASKLOOP_END:
		s->level--;
		break;
	default:
		level++;
		break;
	}
	return TOP_FRAME - (uint64_t)(level * LEVEL_BYTES) + above;
}

/* Converts ticks to ns. UINT64_MAX: this clock cannot show such a time. */
static uint64_t ns_of(const struct trace_words *w, struct word_stream *s, uint64_t ticks)
{
	const struct word_clocks *clocks = &w->clocks[s->clock];
	double since;

	while (s->clock + 1 < w->clock_count && clocks[1].ticks <= ticks)
		clocks = &w->clocks[++s->clock];
	while (s->clock > 0 && clocks->ticks > ticks)
		clocks = &w->clocks[--s->clock];
	since = (double)(int64_t)(ticks - clocks->ticks) * clocks->ns_per_tick;
	return since > -0x1p62 && since < 0x1p62 ? clocks->ns + (uint64_t)(int64_t)since : UINT64_MAX;
}

/* Adds a reading unless it is the last one. */
static int add_clocks(struct trace_words *w, uint64_t ticks, uint64_t ns)
{
	struct word_clocks *last = w->clock_count ? &w->clocks[w->clock_count - 1] : NULL;
	int error;

	if (last && last->ticks == ticks && last->ns == ns)
		return 0;
	if (ns > INT64_MAX || (last && (ticks <= last->ticks || ns < last->ns)))
		return -EBADMSG;
	error = array__make_room(&w->clocks, w->clock_count, &w->clock_capacity, sizeof(*w->clocks),
				 w->events->budget);
	if (error)
		return error;
	last = w->clock_count ? &w->clocks[w->clock_count - 1] : NULL;
	w->clocks[w->clock_count] = (struct word_clocks){ticks, ns, 1};
	if (last)
		last->ns_per_tick = w->clocks[w->clock_count].ns_per_tick =
			(double)(ns - last->ns) / (double)(ticks - last->ticks);
	w->clock_count++;
	return 0;
}

void trace_words__forget(struct trace_words *w)
{
	size_t gone = w->clock_count > 16 * KEPT_CLOCKS ? w->clock_count - KEPT_CLOCKS : 0;

	if (!gone)
		return;
	memmove(w->clocks, w->clocks + gone, KEPT_CLOCKS * sizeof(*w->clocks));
	w->clock_count = KEPT_CLOCKS;
	for (uint32_t i = 0; i < w->stream_count; i++)
		w->streams[i].clock = w->streams[i].clock > gone ? w->streams[i].clock - (uint32_t)gone : 0;
}

/* Reads an event's further words into the record. */
static void interpret(const struct trace_words *w, struct word_stream *s, const uint64_t *word,
		      struct trace_record *rec)
{
	uint32_t arg = TRACE_WORD_ARG(word[0]);

	rec->arg = arg;
	switch (rec->kind) {
	case TRACE_TASK_CREATE:
		rec->key = arg & (TRACE_TASK_DETACH | TRACE_WORD_KEYED)
				   ? word[1]
				   : TRACE_WORD_KEY(s->thread, ++s->created);
		rec->arg &= ~TRACE_WORD_KEYED;
		break;
	case TRACE_TASK_BEGIN:
		rec->key = arg ? TRACE_WORD_KEY(s->thread, s->created - arg + 1) : word[1];
		rec->arg = 0;
		break;
	case TRACE_REGION_BEGIN:
		rec->arg = (uint32_t)word[1];
		rec->key = word[2];
		break;
	case TRACE_TEAM_START:
	case TRACE_MEMBER_BEGIN:
		rec->key = word[1];
		rec->arg = (uint32_t)word[2];
		break;
	case TRACE_LOOP_BEGIN:
		rec->arg = (uint32_t)word[1];
		rec->key = word[2];
		rec->extra = word[3];
		break;
	case TRACE_LOOP_PARAMS:
	case TRACE_TASK_BOUNDS:
		rec->key = word[1];
		rec->extra = word[2];
		break;
	case TRACE_DEPEND:
	case TRACE_CHUNK_STRIDE:
	case TRACE_TASKLOOP_BEGIN:
	case TRACE_TASK_FULFILL:
		rec->key = word[1];
		break;
	case TRACE_TEAM_STARTED:
	case TRACE_SECTIONS_BEGIN:
	case TRACE_SECTION_BEGIN:
		rec->arg = (uint32_t)word[1];
		break;
	case TRACE_CHUNK_BEGIN:
		if (arg & TRACE_WORD_SHORT) {
			rec->key = (uint64_t)(int64_t)(int32_t)(uint32_t)word[1];
			rec->extra = rec->key + (uint64_t)(int64_t)(int32_t)(uint32_t)(word[1] >> 32);
		} else {
			rec->key = word[1];
			rec->extra = word[2];
		}
		rec->arg = arg & 1 ? TRACE_LOOP_UPPER_EXCLUSIVE : 0;
		break;
	case TRACE_LOCK_WAIT:
		rec->key = word[1];
		rec->extra = ns_of(w, s, s->ticks - word[2]);
		break;
	default:
		break;
	}
}

/*
 * Keeps counter values for the stream's next event. Ignores the word if no group begins with its first
 * counter.
 */
static void keep_reading(struct word_stream *s, const uint64_t *word)
{
	uint32_t arg = TRACE_WORD_ARG(word[0]), first = TRACE_WORD_COUNTERS_FIRST(arg),
		 count = TRACE_WORD_COUNTERS_COUNT(arg), group = first / TRACE_COUNTERS_EACH,
		 absent = TRACE_COUNTERS_EACH == count ? 0 : 7u << count & 7;

	if (first % TRACE_COUNTERS_EACH || first >= TRACE_READING_MAX)
		return;
	s->reading[group] = (struct trace_record){
		.kind = TRACE_COUNTERS,
		.arg = first | (TRACE_WORD_COUNTERS_BLIND(arg) | absent) << 8,
		.frame = word[1],
		.key = count > 1 ? word[2] : 0,
		.extra = count > 2 ? word[3] : 0,
	};
	s->reads = true;
}

/* Adds the kept counter values before the event. */
static void add_readings(struct trace_events *e, struct word_stream *s, const struct trace_record *event)
{
	for (size_t i = 0; i < sizeof(s->reading) / sizeof(s->reading[0]); i++) {
		struct trace_record *rec = &s->reading[i];

		if (!rec->kind)
			continue;
		rec->time_ns = event->time_ns;
		rec->thread = event->thread;
		rec->cpu = event->cpu;
		rec->arg |= (uint32_t)event->kind << 16;
		e->window[e->count++] = *rec;
		rec->kind = 0;
	}
	s->reads = false;
}

static uint16_t cpu_of(uint64_t number)
{
	return number < TRACE_CPU_UNKNOWN ? (uint16_t)number : TRACE_CPU_UNKNOWN;
}

/* Adds an event, and the counter values that were kept for it. */
static int add_event(struct trace_words *w, struct word_stream *s, const uint64_t *word,
		     const struct trace_record *begun)
{
	struct trace_events *e = w->events;
	struct trace_record *rec = &e->window[e->count];

	*rec = *begun;
	rec->time_ns = ns_of(w, s, s->ticks);
	rec->cpu = s->cpu;
	rec->flags = s->outside ? TRACE_F_OUTSIDE : 0;
	s->outside = false;
	if (rec->time_ns > INT64_MAX)
		return -EBADMSG;
	if (rec->kind == TRACE_LOST)
		rec->arg = word[1] < UINT32_MAX ? (uint32_t)word[1] : UINT32_MAX;
	else
		interpret(w, s, word, rec);
	rec->frame = frame_of(s, rec);
	if (s->reads) {
		const struct trace_record event = *rec;

		add_readings(e, s, &event);
		rec = &e->window[e->count];
		*rec = event;
	}
	e->count++;
	e->stream->truth.events += rec->kind != TRACE_LOST;
	if (rec->kind == TRACE_LOCK_WAIT)
		trace_events__add_lock(e, rec);
	return 0;
}

/*
 * Takes a word whose further words are all there. Words that are not events are in the same switch, because a
 * separate switch would cost time for every event.
 */
static int add(struct trace_words *w, struct word_stream *s, const uint64_t *word, uint32_t thread)
{
	uint32_t site = 0, kind = TRACE_WORD_KIND(word[0]);
	int error = 0;

	switch (kind) {
	case TRACE_WORD_JOIN:
		s->thread = word[1] >> 32;
		s->created = 0;
		s->outside = TRACE_WORD_ARG(word[0]) & TRACE_WORD_OUTSIDE;
		return 0;
	case TRACE_WORD_CPU:
		s->cpu = cpu_of(word[1]);
		return 0;
	case TRACE_WORD_HERE:
		if (word[1] != TRACE_WORD_HERE_MARK)
			return -EBADMSG;
		s->cpu = cpu_of(TRACE_WORD_TICKS(word[0]));
		s->ticks = word[2];
		s->thread = word[3] >> TRACE_WORD_KEY_BITS;
		s->created = word[3] & ((UINT64_C(1) << TRACE_WORD_KEY_BITS) - 1);
		return 0;
	case TRACE_WORD_TIME:
		s->ticks = word[1];
		return 0;
	case TRACE_WORD_NOTHING:
		return 0;
	case TRACE_COUNTERS:
		keep_reading(s, word);
		return 0;
	case TRACE_WORD_LOST:
		s->created = word[2];
		kind = TRACE_LOST;
		break;
	default:
		s->ticks += TRACE_WORD_TICKS(word[0]);
		error = trace_events__site(w->events, w->sites[TRACE_WORD_SITE(word[0])], &site);
		break;
	}
	if (error)
		return error;
	return add_event(w, s, word,
			 &(struct trace_record){.site = site, .thread = thread, .kind = (uint8_t)kind});
}

/* Adds the two events of a TRACE_WORD_TURN, as if each had words of its own. */
static int add_turn(struct trace_words *w, struct word_stream *s, const uint64_t *word, uint32_t thread)
{
	const uint64_t exclusive = TRACE_WORD_TURN_EXCLUSIVE(word[0]), ticks = TRACE_WORD_TURN_TICKS(word[0]),
		       next = TRACE_CHUNK_NEXT | (uint64_t)TRACE_WORD_TICKS(word[0]) << 32,
		       begin[2] = {TRACE_CHUNK_BEGIN | (TRACE_WORD_SHORT | exclusive) << 19 | ticks << 32,
				   word[1]};
	int error = add(w, s, &next, thread);

	return error ? error : add(w, s, begin, thread);
}

/*
 * For a stream whose begin is missing: finds the first HERE whose mark is among these words. If there is
 * none, skips all words except the last, because that may be the first word of a HERE.
 */
static size_t find_begin(const struct trace_words *w, struct word_stream *s, size_t count)
{
	for (size_t at = 0; at + 1 < count; at++) {
		s->begun = TRACE_WORD_KIND(w->words[at]) == TRACE_WORD_HERE &&
			   w->words[at + 1] == TRACE_WORD_HERE_MARK;
		if (s->begun)
			return at;
	}
	return count ? count - 1 : 0;
}

static int all_words(struct trace_words *w, struct word_stream *s, size_t count, uint32_t thread,
		     char why[128])
{
	int error = trace_events__reserve(w->events, 2 * count);
	size_t at = w->part && !s->begun ? find_begin(w, s, count) : 0;

	while (at < count && !error && (s->begun || !w->part)) {
		unsigned length = length_of(w->words[at]);

		if (!length) {
			snprintf(why, 128, "a word of unknown kind %u; was it written by a newer graind?",
				 TRACE_WORD_KIND(w->words[at]));
			return -EBADMSG;
		}
		if (at + length > count)
			break;
		error = TRACE_WORD_KIND(w->words[at]) == TRACE_WORD_TURN
				? add_turn(w, s, &w->words[at], thread)
				: add(w, s, &w->words[at], thread);
		if (error == -EBADMSG)
			snprintf(why, 128, "%s",
				 TRACE_WORD_KIND(w->words[at]) == TRACE_WORD_HERE
					 ? "a word of where the thread is without its mark"
					 : "an event at a time that no clock shows");
		at += length;
	}
	if (error)
		return error;
	s->rest_count = (uint32_t)(count - at);
	memcpy(s->rest, &w->words[at], s->rest_count * sizeof(*s->rest));
	return trace_events__settle(w->events);
}

static int take_sites(struct trace_words *w, const char *raw, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct trace_word_site site;

		memcpy(&site, raw + i * sizeof(site), sizeof(site));
		if (site.number >= TRACE_WORD_SITES)
			return -EBADMSG;
		w->sites[site.number] = site.address;
	}
	return 0;
}

int trace_words__chunk(struct trace_words *w, const char *raw, size_t bytes, bool dictionary, char why[128])
{
	struct trace_words_head head;
	struct word_stream *stream;
	uint32_t thread;
	size_t at;
	int error;

	snprintf(why, 128, "words that do not fit");
	if (bytes < sizeof(head))
		return -EBADMSG;
	memcpy(&head, raw, sizeof(head));
	at = sizeof(head) + head.sites * sizeof(struct trace_word_site);
	if (head.words > TRACE_WORDS_MAX || head.sites > TRACE_WORD_SITES || head.stream >= STREAMS_MAX ||
	    at > bytes)
		return -EBADMSG;
	error = prepare(w);
	if (!error && !w->clock_count)
		error = add_clocks(w, head.ticks[0], head.ns[0]);
	if (!error)
		error = add_clocks(w, head.ticks[1], head.ns[1]);
	if (!error)
		error = take_sites(w, raw + sizeof(head), head.sites);
	if (!error)
		error = find_stream(w, head.stream, &stream);
	if (!error)
		error = trace_events__thread(w->events, head.tid, &thread);
	if (!error)
		error = word_planes__read(raw + at, bytes - at, dictionary, head.words,
					  w->words + stream->rest_count);
	if (error)
		return error;
	w->round_ns = head.ns[1];
	memcpy(w->words, stream->rest, stream->rest_count * sizeof(*w->words));
	return all_words(w, stream, stream->rest_count + head.words, thread, why);
}
