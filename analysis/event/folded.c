// SPDX-License-Identifier: BSD-2-Clause
/* The lines of statistics in a trace. */
#include "analysis/event/folded.h"
#include "analysis/base/fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE "@folded "
#define ROW_LINE "@folded-row "

static const char *const kind_names[FOLD_KINDS] = {[FOLD_TASK] = "task",
						   [FOLD_TASKLOOP] = "taskloop",
						   [FOLD_LOOP] = "loop",
						   [FOLD_SECTIONS] = "sections"};

const char *fold_kind__name(enum fold_kind kind)
{
	return kind_names[kind];
}

bool folded__is_line(const char *line, size_t bytes)
{
	return (bytes > strlen(LINE) && memcmp(line, LINE, strlen(LINE)) == 0) ||
	       (bytes > strlen(ROW_LINE) && memcmp(line, ROW_LINE, strlen(ROW_LINE)) == 0);
}

/* Reads a number that ends at the end or at the separator. Returns false if there is none. */
static bool number(const char **at, const char *end, char separator, uint64_t *out)
{
	const char *p = *at;
	uint64_t value = 0;

	if (p == end)
		return false;
	for (; p < end && *p != separator; p++) {
		if (*p < '0' || *p > '9' || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return false;
	}
	if (p == *at)
		return false;
	*out = value;
	*at = p < end ? p + 1 : p;
	return true;
}

/* COUNT,SUM,MIN,MAX, and the upper and lower half of SQUARES */
static bool read_stat(const struct field *f, struct running_stat *out)
{
	const char *at = f->value, *end = at + f->value_bytes;
	uint64_t upper, lower;

	if (!number(&at, end, ',', &out->count) || !number(&at, end, ',', &out->sum) ||
	    !number(&at, end, ',', &out->min) || !number(&at, end, ',', &out->max) ||
	    !number(&at, end, ',', &upper) || !number(&at, end, ',', &lower) || at != end)
		return false;
	out->squares = (unsigned __int128)upper << 64 | lower;
	return true;
}

/* BUCKET:COUNT,... */
static bool read_buckets(const struct field *f, uint64_t buckets[FOLD_BUCKETS])
{
	const char *at = f->value, *end = at + f->value_bytes;
	uint64_t bucket;

	while (at < end)
		if (!number(&at, end, ':', &bucket) || bucket >= FOLD_BUCKETS ||
		    !number(&at, end, ',', &buckets[bucket]))
			return false;
	return true;
}

static int row_line(struct folded *folded, const char *cursor, const char *end, struct budget *budget,
		    char why[128])
{
	struct folded_row row = {.source = GRAIN_NONE};
	const struct {
		const char *key;
		uint64_t *to;
	} numbers[] = {{"site", &row.sums.site},
		       {"ident", &row.sums.ident},
		       {"instances", &row.sums.instances},
		       {"leaves", &row.sums.leaves},
		       {"undeferred", &row.sums.undeferred},
		       {"incomplete", &row.sums.incomplete}};
	bool kind = false;
	struct field f;
	int error;

	while (field__next(&cursor, end, &f) > 0) {
		bool fits = true;

		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
			if (field__is(&f, numbers[i].key))
				fits = field__u64(&f, numbers[i].to);
		for (int k = 0; field__is(&f, "kind") && k < FOLD_KINDS; k++)
			if (field__value_is(&f, fold_kind__name((enum fold_kind)k))) {
				row.sums.kind = (uint8_t)k;
				kind = true;
			}
		if (field__is(&f, "exec"))
			fits = read_stat(&f, &row.sums.exec);
		else if (field__is(&f, "create"))
			fits = read_stat(&f, &row.sums.create);
		else if (field__is(&f, "wait"))
			fits = read_stat(&f, &row.sums.wait);
		else if (field__is(&f, "buckets"))
			fits = read_buckets(&f, row.sums.buckets);
		if (!fits) {
			snprintf(why, 128, "a value of @folded-row that is no such number");
			return -EBADMSG;
		}
	}
	if (!kind || row.sums.incomplete > row.sums.instances ||
	    row.sums.exec.count > row.sums.instances - row.sums.incomplete) {
		snprintf(why, 128, "@folded-row without a kind, or with numbers that contradict each other");
		return -EBADMSG;
	}
	if (folded->count >= FOLD_ROWS_MAX + FOLD_KINDS)
		return 0;
	error = array__grow(&folded->rows, folded->count, sizeof(row), budget);
	if (!error)
		folded->rows[folded->count++] = row;
	return error;
}

static int totals_line(struct folded *folded, const char *cursor, const char *end, char why[128])
{
	struct fold_totals *t = &folded->totals;
	const struct {
		const char *key;
		uint64_t *to;
	} numbers[] = {
		{"events", &t->events},
		{"lost", &t->lost},
		{"lost_switches", &t->lost_switches},
		{"tasks", &t->tasks},
		{"chunks", &t->chunks},
		{"runtime_tasks", &t->runtime_tasks},
		{"regions", &t->regions},
		{"shares", &t->shares},
		{"incomplete", &t->incomplete},
		{"no_create", &t->no_create},
		{"never_begun", &t->never_begun},
		{"never_ended", &t->never_ended},
		{"unclosed", &t->unclosed},
		{"unmatched_ends", &t->unmatched_ends},
		{"work_ns", &t->work_ns},
		{"first_ns", &t->first_ns},
		{"last_ns", &t->last_ns},
		{"most_open", &t->most_open},
		{"damaged", &folded->damaged},
		{"regions_seen", &folded->regions_seen},
		{"unkept_large", &folded->unkept_large},
		{"unkept_overlapping", &folded->unkept_overlapping},
		{"unkept_lost", &folded->unkept_lost},
		{"unkept_room", &folded->unkept_room},
		{"unkept_edge", &folded->unkept_edge},
	};
	struct field f;

	while (field__next(&cursor, end, &f) > 0) {
		if (field__is(&f, "why") && !folded->why)
			folded->why = field__string(&f);
		if (field__is(&f, "unkept_why") && !folded->unkept_why)
			folded->unkept_why = field__string(&f);
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
			if (field__is(&f, numbers[i].key) && !field__u64(&f, numbers[i].to)) {
				snprintf(why, 128, "a value of @folded that is no number");
				return -EBADMSG;
			}
	}
	if (t->last_ns < t->first_ns || t->last_ns > INT64_MAX) {
		snprintf(why, 128, "@folded ends before it begins");
		return -EBADMSG;
	}
	return 0;
}

int folded__line(struct event_stream *stream, const char *line, size_t bytes, struct budget *budget,
		 char why[128])
{
	bool is_row = bytes > strlen(ROW_LINE) && memcmp(line, ROW_LINE, strlen(ROW_LINE)) == 0;
	const char *cursor = line + strlen(is_row ? ROW_LINE : LINE);

	if (!stream->folded) {
		if (budget__take(budget, sizeof(*stream->folded)))
			return -E2BIG;
		stream->folded = calloc(1, sizeof(*stream->folded));
		if (!stream->folded)
			return -ENOMEM;
	}
	return is_row ? row_line(stream->folded, cursor, line + bytes, budget, why)
		      : totals_line(stream->folded, cursor, line + bytes, why);
}

void folded__free(struct folded *folded)
{
	if (!folded)
		return;
	free(folded->why);
	free(folded->unkept_why);
	free(folded->rows);
	free(folded);
}
