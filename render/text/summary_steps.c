// SPDX-License-Identifier: BSD-2-Clause
/* What an iterative program repeats, in a few lines: its time steps, and the odd ones. */
#include "analysis/include/grain_sequences.h"
#include "render/text/summary.h"

#include <string.h>

/* Repeats that are shown, and the least repetitions and part of the time that they have. */
#define REPEATS_SHOWN 2
#define LEAST_COUNT 3
#define LEAST_PART 0.05
/* A repeat inside that makes up so much of another one is shown, too. */
#define INNER_PART 0.95
#define PARTS_SHOWN 2
#define ODD_SHOWN 2

static const char *time_of(double ns, char out[48])
{
	snprintf(out, 48, "%s", format__time(ns, "us").text);
	return out;
}

static void name(const struct summary *s, uint32_t definition, char out[64])
{
	format__clean(out, 64, summary__definition(s, definition).source, 26);
}

/* The first region in the first or, if `last`, the last element of a body. */
static uint32_t definition_in(const struct grain_sequences *q, size_t repeat, bool last)
{
	struct grain_repeat_element e = {.repeat = (uint32_t)repeat, .definition = GRAIN_NONE};

	for (int depth = 0; depth < 64 && e.repeat < grain_sequences__count(q); depth++) {
		struct grain_repeat r;

		grain_sequences__get(q, e.repeat, &r);
		grain_sequences__element(q, e.repeat, last ? r.length - 1 : 0, &e);
	}
	return e.definition;
}

/* "[12 regions, a.c:10 to a.c:80]", in short "[12 regions]" */
static void describe(const struct summary *s, const struct grain_sequences *q, size_t repeat, bool in_short,
		     char out[256])
{
	char first[64], last[64], many[64];
	struct grain_repeat r;
	uint64_t each;

	grain_sequences__get(q, repeat, &r);
	each = (r.regions + r.count / 2) / r.count;
	name(s, definition_in(q, repeat, false), first);
	name(s, definition_in(q, repeat, true), last);
	snprintf(many, sizeof(many), "%s %s", format__count(each).text,
		 r.region == GRAIN_NONE ? "regions" : "loops");
	if (r.length == 1 && each == 1)
		snprintf(out, 256, "[%s]", first);
	else if (in_short)
		snprintf(out, 256, "[%s]", many);
	else if (r.length == 2 && each == 2)
		snprintf(out, 256, "[%s, %s]", first, last);
	else if (r.length == 1)
		snprintf(out, 256, "[%s, %s]", many, first);
	else
		snprintf(out, 256, "[%s, %s to %s]", many, first, last);
}

/* "11 x [..]", "5 to 9 x [..]" or a source line */
static void describe_element(const struct summary *s, const struct grain_sequences *q,
			     const struct grain_repeat_element *e, char out[400])
{
	char body[256] = "[..]";

	if (e->repeat == GRAIN_NONE) {
		name(s, e->definition, body);
		snprintf(out, 400, "%s", body);
		return;
	}
	if (e->repeat < grain_sequences__count(q))
		describe(s, q, e->repeat, true, body);
	if (e->least == e->most)
		snprintf(out, 400, "%s x %s", format__count(e->most).text, body);
	else
		snprintf(out, 400, "%s to %s x %s", format__count(e->least).text, format__count(e->most).text,
			 body);
}

static void durations(const struct summary *s, const struct grain_sequences *q, const struct grain_repeat *r)
{
	struct grain_sequences_info info;
	char median[48], least[48], most[48], line[SUMMARY_LINE_BYTES];

	grain_sequences__info(q, &info);
	snprintf(line, sizeof(line), "   each %s (%s to %s); %.0f %% %s; %.0f %% of the time",
		 time_of((double)r->median_ns, median), time_of((double)r->min_ns, least),
		 time_of((double)r->max_ns, most),
		 r->sum_ns ? 100.0 * (double)r->outside_ns / (double)r->sum_ns : 0,
		 r->region == GRAIN_NONE ? "in no region" : "between loops",
		 info.wall_ns ? 100.0 * (double)r->sum_ns / (double)info.wall_ns : 0);
	summary__cut_line(s, "", line);
}

/* The elements that take most. */
static void parts(const struct summary *s, const struct grain_sequences *q, size_t repeat,
		  const struct grain_repeat *r)
{
	uint32_t shown[PARTS_SHOWN];
	char line[SUMMARY_LINE_BYTES] = "   most in ", text[400];
	size_t used = strlen(line);

	for (uint32_t k = 0; r->length > 1 && k < PARTS_SHOWN; k++) {
		struct grain_repeat_element best = {.definition = GRAIN_NONE}, e;

		shown[k] = GRAIN_NONE;
		for (uint32_t i = 0; i < r->length; i++) {
			grain_sequences__element(q, repeat, i, &e);
			if ((k && i == shown[0]) || (shown[k] != GRAIN_NONE && e.sum_ns <= best.sum_ns))
				continue;
			shown[k] = i;
			best = e;
		}
		describe_element(s, q, &best, text);
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s %.0f %%", k ? ", " : "",
					 text,
					 r->sum_ns ? 100.0 * (double)best.sum_ns / (double)r->sum_ns : 0);
	}
	if (r->length > 1)
		summary__cut_line(s, "", line);
}

static void say_odd(const struct summary *s, const struct grain_sequences *q, size_t repeat,
		    const struct grain_odd_repetition *odd)
{
	char line[SUMMARY_LINE_BYTES], longer[48], at[48], part[48], text[400];
	uint64_t start = grain_graph__info(s->graph)->start_ns;
	struct grain_repeat_element e;

	grain_sequences__element(q, repeat, odd->element, &e);
	describe_element(s, q, &e, text);
	snprintf(line, sizeof(line), "   odd: number %s, at %s, %s longer: %s %s%s",
		 format__count(odd->number).text,
		 time_of(odd->start_ns > start ? (double)(odd->start_ns - start) : 0, at),
		 time_of((double)odd->longer_ns, longer), time_of((double)odd->element_longer_ns, part),
		 odd->after ? "after " : "in ", text);
	summary__cut_line(s, "33", line);
}

/* The odd repetitions that are longest, in the order of time. */
static void odd_ones(const struct summary *s, const struct grain_sequences *q, size_t repeat,
		     const struct grain_repeat *r)
{
	struct grain_odd_repetition odd, worst[ODD_SHOWN] = {{0}};
	size_t count = 0;
	char line[80];

	for (size_t i = 0; i < r->odd_count; i++) {
		size_t at = count < ODD_SHOWN ? count++ : ODD_SHOWN;

		grain_sequences__odd(q, repeat, i, &odd);
		for (; at > 0 && worst[at - 1].longer_ns < odd.longer_ns; at--)
			if (at < ODD_SHOWN)
				worst[at] = worst[at - 1];
		if (at < ODD_SHOWN)
			worst[at] = odd;
	}
	for (size_t i = 0; i < count; i++)
		say_odd(s, q, repeat, &worst[i]);
	if (r->odd > count) {
		snprintf(line, sizeof(line), "   and %s more odd ones", format__count(r->odd - count).text);
		summary__cut_line(s, "", line);
	}
}

/* The repeat inside that makes up most of this one, and is itself a sequence. GRAIN_NONE: there is none. */
static uint32_t inner_step(const struct grain_sequences *q, size_t repeat, const struct grain_repeat *r)
{
	for (uint32_t i = 0; i < r->length; i++) {
		struct grain_repeat_element e;
		struct grain_repeat inner;

		grain_sequences__element(q, repeat, i, &e);
		if (e.repeat >= grain_sequences__count(q) ||
		    (double)e.sum_ns < INNER_PART * (double)r->sum_ns)
			continue;
		grain_sequences__get(q, e.repeat, &inner);
		return inner.length > 1 ? e.repeat : GRAIN_NONE;
	}
	return GRAIN_NONE;
}

static void show(const struct summary *s, const struct grain_sequences *q, size_t repeat, bool in_full)
{
	char text[256], line[SUMMARY_LINE_BYTES];
	struct grain_repeat r;

	grain_sequences__get(q, repeat, &r);
	describe(s, q, repeat, false, text);
	snprintf(line, sizeof(line), " %s x %s", format__count(r.count).text, text);
	summary__cut_line(s, "1", line);
	durations(s, q, &r);
	if (!in_full)
		return;
	parts(s, q, repeat, &r);
	odd_ones(s, q, repeat, &r);
}

static bool is_worth_it(const struct grain_sequences_info *info, const struct grain_repeat *r)
{
	return r->parent == GRAIN_NONE && r->count >= LEAST_COUNT &&
	       (double)r->sum_ns >= LEAST_PART * (double)info->wall_ns;
}

void summary__steps(struct summary *s)
{
	struct grain_sequences_info info;
	struct grain_sequences *q;
	unsigned shown = 0;

	if (grain_sequences__new(s->graph, &q)) {
		s->failed = true;
		return;
	}
	grain_sequences__info(q, &info);
	for (size_t i = 0; i < grain_sequences__count(q) && shown < REPEATS_SHOWN; i++) {
		struct grain_repeat r;
		uint32_t inner;

		grain_sequences__get(q, i, &r);
		if (!is_worth_it(&info, &r))
			continue;
		if (!shown++)
			summary__heading(s, info.partial
						    ? "STEPS: what is repeated, in the part that was kept"
						    : "STEPS: what is repeated");
		inner = inner_step(q, i, &r);
		show(s, q, i, shown == 1 && inner == GRAIN_NONE);
		if (shown == 1 && inner != GRAIN_NONE)
			show(s, q, inner, true);
	}
	grain_sequences__free(q);
}
