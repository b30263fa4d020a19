// SPDX-License-Identifier: BSD-2-Clause
/*
 * A region is judged when later records show that all its records have come. The slowest region and the last
 * one stay in the ring as long as the ring has room: most of them are replaced before they must be saved. In
 * the file, the slowest region is at the beginning, the last one at the end, and all others are in between.
 */
#include "analysis/fold/fold_regions.h"
#include "analysis/fold/fold_rounds.h"
#include "analysis/trace/trace_content.h"
#include "analysis/trace/trace_format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PENDING 65536u
#define WRITE_EVENTS 1024u

/* The slowest region gets this part (1/N) of the file. No region may take more. */
#define SLOWEST_PART 2
#define OTHER_PART 4

/* This part (1/N) of `settle` waits to be sorted (trace_events.h). Twice that is spare. */
#define ROUND_PART 4

/* This part (1/N) comes between rounds of words: switches of threads. */
#define BETWEEN_PART 32

/*
 * If several threads begin regions and more regions than this wait to be judged, they are not compared with
 * each other: each counts as overlapping.
 */
#define COMPARED 4096u

struct candidate {
	struct fold_span span;
	bool spoiled;
	bool first_part; /* its begin was read with the first part */
	bool root;	 /* in `open`: the thread has begun an outermost region */
};

struct kept {
	struct fold_span span;
	uint64_t number;       /* number among the regions that could be kept */
	uint64_t first, count; /* events in the file */
};

/* The slowest, or the last one. */
struct chosen {
	struct fold_span next; /* the one that is not in the file yet */
	struct kept kept;
	bool has_next, has_kept;
};

struct fold_regions {
	struct fold_ring ring;
	struct fold_rounds rounds;
	uint64_t settle;
	const struct trace_content *content;
	struct budget *budget;
	int fd;
	uint64_t room; /* size of the file in events */
	bool started;
	uint64_t first_ns, part_ns; /* first and last time of the records before it started */
	uint64_t
		whole_ns; /* the graph has everything up to this time; between this and part_ns is the edge */
	bool edge_open;	  /* recording of regions has begun, and no words have come since */
	struct candidate *open;	    /* per thread: its open region; begin_ns 0: none */
	uint32_t open_count, roots; /* roots: number of threads that begin outermost regions */
	struct candidate *pending;  /* a ring of PENDING, in the order of their ends */
	uint64_t first_pending, next_pending;
	uint64_t judged_ns, lost_ns; /* the latest end of a judged region; the time of the last lost events */
	struct chosen slowest, last;
	struct kept every[FOLD_REGIONS_EVERY];
	size_t every_count;
	uint64_t stride, number;
	uint64_t unkept_large, unkept_overlapping, unkept_lost, unkept_room, unkept_edge;
};

int fold_regions__new(const struct fold_regions_opts *opts, struct fold_regions **out)
{
	struct fold_regions *r = calloc(1, sizeof(*r));
	int error;

	if (!r)
		return -ENOMEM;
	r->budget = opts->budget;
	r->fd = opts->fd;
	r->room = opts->max_bytes / sizeof(struct trace_event);
	r->stride = 1;
	r->first_ns = UINT64_MAX;
	r->settle = opts->settle ? opts->settle : FOLD_SETTLE;
	r->rounds.slack = r->settle / ROUND_PART;
	r->rounds.least = (opts->ring ? opts->ring : FOLD_RING_RECORDS) / (FOLD_ROUNDS / 2);
	error = fold_ring__init(&r->ring, opts->ring ? opts->ring : FOLD_RING_RECORDS, r->budget);
	if (!error)
		error = budget__take(r->budget, PENDING * sizeof(*r->pending));
	if (!error) {
		r->pending = calloc(PENDING, sizeof(*r->pending));
		error = r->pending ? 0 : -ENOMEM;
	}
	if (error) {
		fold_regions__free(r);
		return error;
	}
	*out = r;
	return 0;
}

void fold_regions__free(struct fold_regions *r)
{
	if (!r)
		return;
	if (r->pending)
		budget__give(r->budget, PENDING * sizeof(*r->pending));
	budget__give(r->budget, r->open_count * sizeof(*r->open));
	fold_ring__free(&r->ring);
	free(r->pending);
	free(r->open);
	free(r);
}

void fold_regions__start(struct fold_regions *r, uint64_t after_ns, uint64_t whole_ns)
{
	r->started = true;
	if (after_ns > r->part_ns)
		r->part_ns = after_ns;
	r->whole_ns = r->part_ns;
	r->edge_open = fold_rounds__known(&r->rounds);
	if (r->edge_open)
		r->whole_ns = fold_rounds__until(&r->rounds, false);
	else if (whole_ns && whole_ns < r->part_ns)
		r->whole_ns = whole_ns;
}

static int write_all(int fd, uint64_t offset, const void *bytes, size_t size)
{
	const char *at = bytes;

	if (lseek(fd, (off_t)offset, SEEK_SET) < 0)
		return -errno;
	while (size) {
		ssize_t done = write(fd, at, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EIO;
		at += done;
		size -= (size_t)done;
	}
	return 0;
}

static struct trace_event event_of(const struct fold_regions *r, const struct fold_picked *picked)
{
	const struct trace_record *rec = fold_ring__at(&r->ring, picked->position);

	return (struct trace_event){.time_ns = rec->time_ns,
				    .key = rec->key,
				    .site = r->content->sites[rec->site],
				    .frame = rec->frame,
				    .extra = rec->extra,
				    .tid = r->content->threads[rec->thread],
				    .arg = rec->arg,
				    .cpu = rec->cpu,
				    .kind = rec->kind,
				    .flags = rec->flags & TRACE_F_FAULT};
}

static int write_events(const struct fold_regions *r, uint64_t first, const struct fold_picked *picked,
			size_t count)
{
	struct trace_event *events = calloc(WRITE_EVENTS, sizeof(*events));
	int error = events ? 0 : -ENOMEM;

	for (size_t from = 0; from < count && !error; from += WRITE_EVENTS) {
		size_t n = count - from < WRITE_EVENTS ? count - from : WRITE_EVENTS;

		for (size_t i = 0; i < n; i++)
			events[i] = event_of(r, &picked[from + i]);
		error = write_all(r->fd, (first + from) * sizeof(*events), events, n * sizeof(*events));
	}
	free(events);
	return error;
}

static void drop_every(struct fold_regions *r, size_t at)
{
	memmove(&r->every[at], &r->every[at + 1], (--r->every_count - at) * sizeof(*r->every));
}

/* Drops every second one of the regions that are kept as every n-th. */
static void thin_out(struct fold_regions *r)
{
	r->stride *= 2;
	for (size_t i = r->every_count; i-- > 0;)
		if (r->every[i].number % r->stride)
			drop_every(r, i);
}

/* Returns a position for `count` events between `at` and `end`. UINT64_MAX: there is no room. */
static uint64_t place_in(const struct fold_regions *r, uint64_t at, uint64_t end, uint64_t count)
{
	bool moved = true;

	while (moved) {
		moved = false;
		for (size_t i = 0; i < r->every_count; i++) {
			const struct kept *k = &r->every[i];

			if (at < k->first + k->count && k->first < at + count) {
				at = k->first + k->count;
				moved = true;
			}
		}
	}
	return at + count <= end ? at : UINT64_MAX;
}

/* Returns a position that the slowest region will need only if there is no other room. */
static uint64_t place_between(const struct fold_regions *r, uint64_t count)
{
	uint64_t slowest = r->room / SLOWEST_PART, last = r->room - r->room / OTHER_PART, place;

	if (r->every_count == FOLD_REGIONS_EVERY)
		return UINT64_MAX;
	place = place_in(r, slowest, last, count);
	return place != UINT64_MAX
		       ? place
		       : place_in(r, r->slowest.has_kept ? r->slowest.kept.count : 0, last, count);
}

/*
 * Returns a place for the region. If there is none, drops every second of the regions that are kept as every
 * n-th, and returns a place only if the new region would itself stay.
 */
static uint64_t make_place(struct fold_regions *r, uint64_t number, uint64_t count)
{
	uint64_t place = place_between(r, count);

	if (place != UINT64_MAX || !r->every_count)
		return place;
	thin_out(r);
	return number % r->stride ? UINT64_MAX : place_between(r, count);
}

/* Picks the region's records. count is 0 if they do not fit into that part of the file. */
static int pick(const struct fold_regions *r, const struct fold_span *span, unsigned part,
		struct fold_picked **picked, size_t *count)
{
	int error = fold_ring__pick(&r->ring, span, r->content->thread_count, r->room / part, picked, count);

	return error == -EFBIG ? 0 : error;
}

static int keep_every(struct fold_regions *r, const struct fold_span *span, uint64_t number)
{
	struct kept kept = {.span = *span, .number = number};
	struct fold_picked *picked;
	size_t count;
	int error = pick(r, span, OTHER_PART, &picked, &count);

	if (error || !count)
		return error;
	kept.count = count;
	kept.first = make_place(r, number, count);
	if (kept.first != UINT64_MAX) {
		error = write_events(r, kept.first, picked, count);
		r->every[r->every_count++] = kept;
	}
	free(picked);
	return error;
}

/*
 * Saves the slowest region at the beginning of the file, over the former one; or the last region at the
 * file's end.
 */
static int keep_chosen(struct fold_regions *r, struct chosen *chosen)
{
	bool slowest = chosen == &r->slowest;
	struct fold_picked *picked;
	size_t count;
	int error = pick(r, &chosen->next, slowest ? SLOWEST_PART : OTHER_PART, &picked, &count);

	chosen->has_next = false;
	if (error || !count)
		return error;
	chosen->kept =
		(struct kept){.span = chosen->next, .first = slowest ? 0 : r->room - count, .count = count};
	chosen->has_kept = true;
	for (size_t i = r->every_count; slowest && i-- > 0;)
		if (r->every[i].first < count)
			drop_every(r, i);
	error = write_events(r, chosen->kept.first, picked, count);
	free(picked);
	return error;
}

/* Saves the regions that the ring would lose when `more` records come. */
static int save(struct fold_regions *r, uint64_t more)
{
	int error = 0;

	if (r->slowest.has_next && !fold_ring__has(&r->ring, &r->slowest.next, more))
		error = keep_chosen(r, &r->slowest);
	if (!error && r->last.has_next && !fold_ring__has(&r->ring, &r->last.next, more))
		error = keep_chosen(r, &r->last);
	return error;
}

static uint64_t wall_of(const struct chosen *chosen)
{
	const struct fold_span *span = chosen->has_next ? &chosen->next : &chosen->kept.span;

	return chosen->has_next || chosen->has_kept ? span->end_ns - span->begin_ns : 0;
}

/* Whether a region of another thread overlaps it in time. */
static bool overlaps(const struct fold_regions *r, const struct fold_span *span)
{
	if (span->begin_ns <= r->judged_ns)
		return true;
	if (r->roots < 2)
		return false;
	if (r->next_pending - r->first_pending > COMPARED)
		return true;
	for (uint32_t i = 0; i < r->open_count; i++)
		if (i != span->thread && r->open[i].span.begin_ns && r->open[i].span.begin_ns <= span->end_ns)
			return true;
	for (uint64_t i = r->first_pending; i < r->next_pending; i++)
		if (r->pending[i % PENDING].span.thread != span->thread &&
		    r->pending[i % PENDING].span.begin_ns <= span->end_ns)
			return true;
	return false;
}

/*
 * Whether the region fits. Its positions give its number of events, unless events of other regions are in
 * between.
 */
static bool fits(const struct fold_regions *r, const struct fold_span *span, unsigned part)
{
	struct fold_picked *picked;
	size_t count;

	if (span->end - span->begin < r->room / part)
		return true;
	if (pick(r, span, part, &picked, &count))
		return false;
	free(picked);
	return count > 0;
}

/*
 * Counts a region at the end of the first part. The graph has no records after whole_ns, and none that came
 * later than this part.
 */
static void count_first_part(struct fold_regions *r, const struct candidate *candidate)
{
	r->unkept_edge += !candidate->first_part || candidate->span.begin_ns > r->whole_ns;
}

/* Skips a region because the ring has no room for all its records until they have come. */
static void skip(struct fold_regions *r, const struct candidate *candidate)
{
	if (candidate->span.end_ns > r->judged_ns)
		r->judged_ns = candidate->span.end_ns;
	if (!r->started)
		return;
	if (candidate->span.begin_ns > r->part_ns)
		r->unkept_large++;
	else
		count_first_part(r, candidate);
}

static int judge(struct fold_regions *r, const struct candidate *candidate)
{
	const struct fold_span *span = &candidate->span;
	bool overlapping = overlaps(r, span);
	uint64_t number;

	if (span->end_ns > r->judged_ns)
		r->judged_ns = span->end_ns;
	if (span->begin_ns <= r->part_ns) {
		count_first_part(r, candidate);
		return 0;
	}
	if (candidate->spoiled || (r->lost_ns >= span->begin_ns && r->lost_ns <= span->end_ns)) {
		r->unkept_lost++;
		return 0;
	}
	if (overlapping) {
		r->unkept_overlapping++;
		return 0;
	}
	if (!fold_ring__has(&r->ring, span, 0)) {
		r->unkept_large++;
		return 0;
	}
	number = r->number++;
	if (!fits(r, span, SLOWEST_PART)) {
		r->unkept_room++;
		return 0;
	}
	if (span->end_ns - span->begin_ns > wall_of(&r->slowest)) {
		r->slowest.next = *span;
		r->slowest.has_next = true;
	}
	if (!fits(r, span, OTHER_PART))
		return 0;
	r->last.next = *span;
	r->last.has_next = true;
	return number % r->stride ? 0 : keep_every(r, span, number);
}

/* Judges the regions whose records have all come. `all`: no more records come. */
static int judge_ready(struct fold_regions *r, bool all)
{
	uint64_t ready_ns = fold_rounds__ready(&r->rounds, r->ring.next);
	int error = 0;

	while (!error && r->first_pending < r->next_pending) {
		struct candidate candidate = r->pending[r->first_pending % PENDING];
		const struct fold_span *span = &candidate.span;

		if (!all && (fold_rounds__known(&r->rounds) ? span->end_ns > ready_ns
							    : span->end + r->settle > r->ring.next))
			break;
		r->first_pending++;
		if (r->started)
			error = judge(r, &candidate);
	}
	return error;
}

int fold_regions__records(struct fold_regions *r, const struct trace_content *content)
{
	int error;

	r->content = content;
	if (!r->started) {
		for (size_t i = 0; i < content->count; i++) {
			if (content->records[i].time_ns < r->first_ns)
				r->first_ns = content->records[i].time_ns;
			if (content->records[i].time_ns > r->part_ns)
				r->part_ns = content->records[i].time_ns;
		}
		return 0;
	}
	error = save(r, content->count);
	return error ? error : fold_ring__add(&r->ring, content->records, content->count);
}

/* Returns the position of a record. 0: it came before there was a ring. */
static uint64_t position_of(const struct fold_regions *r, const struct trace_record *rec)
{
	return !r->started ? 0 : r->ring.next - r->content->count + (uint64_t)(rec - r->content->records);
}

void fold_regions__round(struct fold_regions *r, uint64_t ns)
{
	/* A new round begins. The round before it was complete when the first part ended. */
	if (r->edge_open && ns > r->rounds.last_ns)
		r->whole_ns = fold_rounds__until(&r->rounds, true);
	r->edge_open = false;
	fold_rounds__read(&r->rounds, ns, r->ring.next);
}

int fold_regions__begin(struct fold_regions *r, const struct trace_record *rec)
{
	uint64_t position, first, back;

	position = position_of(r, rec);
	if (rec->thread >= r->open_count) {
		uint32_t count = r->content->thread_count;
		struct candidate *grown;

		if (budget__take(r->budget, (count - r->open_count) * sizeof(*grown)))
			return -E2BIG;
		grown = realloc(r->open, count * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		memset(grown + r->open_count, 0, (count - r->open_count) * sizeof(*grown));
		r->open = grown;
		r->open_count = count;
	}
	first = fold_rounds__known(&r->rounds) ? fold_rounds__first(&r->rounds, rec->time_ns) : position;
	back = fold_rounds__known(&r->rounds) ? r->settle / BETWEEN_PART : r->settle;
	r->roots += !r->open[rec->thread].root;
	r->open[rec->thread] = (struct candidate){.span = {.first = first > back ? first - back : 0,
							   .begin = position,
							   .begin_ns = rec->time_ns,
							   .thread = rec->thread},
						  .first_part = !r->started || rec->flags & RECORD_FIRST_PART,
						  .root = true};
	return 0;
}

int fold_regions__end(struct fold_regions *r, const struct trace_record *rec)
{
	struct candidate *open = rec->thread < r->open_count ? &r->open[rec->thread] : NULL;

	if (!open || !open->span.begin_ns)
		return 0;
	/* Regions are very short: more have ended than can wait to be judged. */
	if (r->next_pending - r->first_pending == PENDING)
		skip(r, &r->pending[r->first_pending++ % PENDING]);
	open->span.end = position_of(r, rec);
	open->span.end_ns = rec->time_ns;
	if (open->span.end_ns > open->span.begin_ns)
		r->pending[r->next_pending++ % PENDING] = *open;
	open->span.begin_ns = 0;
	return 0;
}

void fold_regions__lost(struct fold_regions *r, const struct trace_record *rec)
{
	if (rec->time_ns > r->lost_ns)
		r->lost_ns = rec->time_ns;
	for (uint32_t i = 0; i < r->open_count; i++)
		r->open[i].spoiled |= r->open[i].span.begin_ns <= rec->time_ns;
	for (uint64_t i = r->first_pending; i < r->next_pending; i++) {
		struct candidate *p = &r->pending[i % PENDING];

		p->spoiled |= p->span.begin_ns <= rec->time_ns && rec->time_ns <= p->span.end_ns;
	}
}

int fold_regions__folded(struct fold_regions *r)
{
	return judge_ready(r, false);
}

struct line {
	const struct kept *kept;
	unsigned why;
};

static void add_line(struct line *lines, size_t *count, const struct kept *kept, unsigned why)
{
	size_t at = 0;

	while (at < *count && lines[at].kept->span.begin_ns < kept->span.begin_ns)
		at++;
	if (at == *count || lines[at].kept->span.begin_ns != kept->span.begin_ns) {
		memmove(&lines[at + 1], &lines[at], (*count - at) * sizeof(*lines));
		lines[at] = (struct line){.kept = kept};
		++*count;
	}
	lines[at].why |= why;
}

static void write_lines(const struct fold_regions *r, FILE *out)
{
	struct line lines[FOLD_REGIONS_EVERY + 2];
	size_t count = 0;

	for (size_t i = 0; i < r->every_count; i++)
		add_line(lines, &count, &r->every[i], FOLD_WHY_EVERY);
	if (r->slowest.has_kept)
		add_line(lines, &count, &r->slowest.kept, FOLD_WHY_SLOWEST);
	if (r->last.has_kept)
		add_line(lines, &count, &r->last.kept, FOLD_WHY_LAST);
	fprintf(out,
		"@folded regions_seen=%" PRIu64 " unkept_large=%" PRIu64 " unkept_overlapping=%" PRIu64
		" unkept_lost=%" PRIu64 " unkept_room=%" PRIu64 " unkept_edge=%" PRIu64 "\n",
		r->number, r->unkept_large, r->unkept_overlapping, r->unkept_lost, r->unkept_room,
		r->unkept_edge);
	if (count || r->whole_ns < r->part_ns)
		fprintf(out, "@folded-part begin_ns=%" PRIu64 " end_ns=%" PRIu64 " every=%" PRIu64 "\n",
			r->first_ns < r->whole_ns ? r->first_ns : r->whole_ns, r->whole_ns, r->stride);
	for (size_t i = 0; i < count; i++)
		fprintf(out,
			"@folded-region begin_ns=%" PRIu64 " end_ns=%" PRIu64 " first=%" PRIu64
			" count=%" PRIu64 " why=%u\n",
			lines[i].kept->span.begin_ns, lines[i].kept->span.end_ns, lines[i].kept->first,
			lines[i].kept->count, lines[i].why);
}

int fold_regions__finish(struct fold_regions *r, FILE *out)
{
	int error;

	/* No words came after the first part. */
	if (r->edge_open)
		r->whole_ns = r->part_ns;
	error = judge_ready(r, true);
	if (!error && r->slowest.has_next)
		error = keep_chosen(r, &r->slowest);
	if (!error && r->last.has_next)
		error = keep_chosen(r, &r->last);
	if (!error)
		write_lines(r, out);
	return error;
}
