// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rounds: each finds the shortest body that is repeated, and folds all runs of bodies of this length. First
 * only what comes three times or more in a row, so that a step that ends as the next one begins is not torn
 * apart; then what comes twice.
 *
 * To find runs of a length, not every entry must be looked at: a run of n entries equal to those one length
 * later has each multiple of the length. So a round costs n / 1 + n / 2 + n / 3 + ... in a list without runs.
 */
#include "analysis/sequences/folding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The work of all rounds: so many steps for each entry, and some more. */
#define STEPS_PER_ENTRY 100
#define STEPS_LEAST 10000000
#define FILTER 65536

/* A part of the list in which each entry is equal to the one a period later. */
struct span {
	size_t from, to;
};

struct folder {
	struct folding *out;
	struct number_map rule_of; /* by hash of the body */
	struct number_map starts;  /* by the first symbol of the bodies of this round: the latest rule */
	uint8_t *filter;	   /* of the symbols in `starts`, by their low bits */
	struct span *spans;
	size_t span_count, span_capacity, begins_most;
	size_t first_rule; /* of this round */
	uint32_t period;
	uint64_t steps; /* that are left */
};

static int room(void **array, size_t *capacity, size_t count, size_t size)
{
	size_t larger = *capacity + *capacity / 2 + 64;
	void *moved;

	if (count < *capacity)
		return 0;
	moved = reallocarray(*array, larger, size);
	if (!moved)
		return -ENOMEM;
	*array = moved;
	*capacity = larger;
	return 0;
}

static void spend(struct folder *f, uint64_t steps)
{
	f->steps = steps < f->steps ? f->steps - steps : 0;
}

/* ---- runs of a period --------------------------------------------------- */

static int find_spans(struct folder *f, uint32_t least)
{
	const uint32_t *s = f->out->symbols;
	size_t p = f->period, n = f->out->count > p ? f->out->count - p : 0, low = 0, x, y;
	int error;

	f->span_count = 0;
	spend(f, n / p + 1);
	for (size_t i = p - 1; i < n && f->steps; i = y + p - y % p - 1) {
		y = i + 1;
		if (s[i] != s[i + p])
			continue;
		for (x = i; x > low && s[x - 1] == s[x - 1 + p]; x--)
			;
		while (y < n && s[y] == s[y + p])
			y++;
		low = y;
		spend(f, y - x);
		if (y - x < (size_t)(least - 1) * p)
			continue;
		error = room((void **)&f->spans, &f->span_capacity, f->span_count, sizeof(*f->spans));
		if (error)
			return error;
		f->spans[f->span_count++] = (struct span){x, y + p};
	}
	return 0;
}

/* ---- rules -------------------------------------------------------------- */

/* The rule with this body or a rotation of it. GRAIN_NONE: none. */
static uint32_t find_rule(const struct folder *f, const uint32_t *body, uint32_t *shift)
{
	const struct folding *o = f->out;
	uint32_t rule;

	*shift = folding__smallest_rotation(body, f->period);
	rule = number_map__get(&f->rule_of, folding__hash(body, f->period, *shift));
	if (rule != GRAIN_NONE && (o->rules[rule].length != f->period ||
				   !folding__is_rotation(body, *shift, &o->pool[o->rules[rule].body],
							 o->rules[rule].shift, f->period)))
		return GRAIN_NONE;
	return rule;
}

static int new_rule(struct folder *f, const uint32_t *body, uint32_t shift, uint32_t *rule)
{
	struct folding *o = f->out;
	uint64_t hash = folding__hash(body, f->period, shift);
	int error = room((void **)&o->rules, &o->rule_capacity, o->rule_count, sizeof(*o->rules));

	for (uint32_t i = 0; i < f->period && !error; i++) {
		error = room((void **)&o->pool, &o->pool_capacity, o->pool_count, sizeof(*o->pool));
		if (!error)
			o->pool[o->pool_count++] = body[i];
	}
	if (error)
		return error;
	*rule = (uint32_t)o->rule_count++;
	o->rules[*rule] = (struct folding_rule){.body = (uint32_t)(o->pool_count - f->period),
						.length = f->period,
						.shift = shift,
						.next = GRAIN_NONE};
	return number_map__put(&f->rule_of, hash, *rule);
}

/* Of several runs with rotated bodies, the longest one has the body as it is. */
static int make_rules(struct folder *f)
{
	struct folding *o = f->out;

	f->first_rule = o->rule_count;
	for (size_t i = 0; i < f->span_count; i++) {
		size_t length = f->spans[i].to - f->spans[i].from;
		const uint32_t *body = &o->symbols[f->spans[i].to - f->period];
		uint32_t shift, rule = find_rule(f, body, &shift);
		int error = 0;

		spend(f, f->period);
		if (rule == GRAIN_NONE)
			error = new_rule(f, body, shift, &rule);
		if (error)
			return error;
		if (rule < f->first_rule || length <= o->rules[rule].longest)
			continue;
		o->rules[rule].longest = length;
		o->rules[rule].shift = shift;
		memcpy(&o->pool[o->rules[rule].body], body, f->period * sizeof(*body));
	}
	return 0;
}

/* Makes the bodies of this round known by their first symbols. */
static int index_rules(struct folder *f)
{
	struct folding *o = f->out;
	int error = 0;

	number_map__free(&f->starts);
	f->starts = (struct number_map){0};
	memset(f->filter, 0, FILTER);
	for (size_t i = f->first_rule; i < o->rule_count && !error; i++) {
		uint32_t symbol = o->pool[o->rules[i].body];

		o->rules[i].next = number_map__get(&f->starts, symbol);
		f->filter[symbol % FILTER] = 1;
		error = number_map__put(&f->starts, symbol, (uint32_t)i);
	}
	return error;
}

/* ---- replacing ---------------------------------------------------------- */

static int add_run(struct folder *f, uint32_t rule, size_t at, uint32_t count)
{
	struct folding *o = f->out;
	int error = room((void **)&o->runs, &o->run_capacity, o->run_count, sizeof(*o->runs));

	if (error)
		return error;
	o->runs[o->run_count++] = (struct folding_run){.rule = rule,
						       .begin = (uint32_t)o->begin_count,
						       .count = count,
						       .end = o->firsts[at + (size_t)count * f->period]};
	for (uint32_t i = 0; i < count && !error; i++) {
		error = room((void **)&o->begins, &o->begin_capacity, o->begin_count, sizeof(*o->begins));
		if (!error)
			o->begins[o->begin_count++] = o->firsts[at + (size_t)i * f->period];
	}
	return error;
}

/* How often the rule's body comes in a row from here on, up to `end`. */
static uint32_t count_body(struct folder *f, const struct folding_rule *rule, size_t at, size_t end)
{
	const uint32_t *body = &f->out->pool[rule->body];
	uint32_t count = 0;

	while (end - at >= rule->length &&
	       !memcmp(&f->out->symbols[at], body, rule->length * sizeof(*body))) {
		at += rule->length;
		count++;
	}
	spend(f, 1 + rule->length / 16 + (uint64_t)count * rule->length);
	return count;
}

/* A body of this round that begins here, at least `least` times. GRAIN_NONE: none. */
static uint32_t rule_at(struct folder *f, size_t at, size_t end, uint32_t least, uint32_t *count)
{
	uint32_t symbol = f->out->symbols[at], rule;

	if (!f->filter[symbol % FILTER] || !f->steps)
		return GRAIN_NONE;
	rule = number_map__get(&f->starts, symbol);
	for (int tries = 0; rule != GRAIN_NONE && tries < 8; tries++) {
		*count = count_body(f, &f->out->rules[rule], at, end);
		if (*count >= least)
			return rule;
		rule = f->out->rules[rule].next;
	}
	return GRAIN_NONE;
}

/* Where the whole repetitions of the rule in a span begin. */
static uint32_t align(struct folder *f, const struct span *span, size_t from, uint32_t *count, size_t *at)
{
	size_t p = f->period, last = span->to - p;
	uint32_t shift, rule = find_rule(f, &f->out->symbols[last], &shift);

	*count = 0;
	if (rule == GRAIN_NONE)
		return rule;
	shift = (uint32_t)((f->out->rules[rule].shift + p - shift) % p);
	if (last - from < shift)
		return rule;
	last -= shift;
	*count = (uint32_t)((last - from) / p + 1);
	*at = last - (size_t)(*count - 1) * p;
	return rule;
}

/* Folds what lies between two spans: bodies of this round that are repeated less often there. */
static int fold_between(struct folder *f, size_t *kept, size_t from, size_t to, uint32_t least)
{
	struct folding *o = f->out;

	for (size_t i = from; i < to;) {
		uint32_t count, rule = rule_at(f, i, to, least, &count);
		uint32_t first = o->firsts[i];
		int error = rule == GRAIN_NONE ? 0 : add_run(f, rule, i, count);

		if (error)
			return error;
		o->symbols[*kept] = rule == GRAIN_NONE ? o->symbols[i] : o->leaves + rule;
		o->firsts[(*kept)++] = first;
		i += rule == GRAIN_NONE ? 1 : (size_t)count * f->period;
	}
	return 0;
}

/* `between`: how often a body must come outside of the spans. */
static int fold_spans(struct folder *f, uint32_t between)
{
	struct folding *o = f->out;
	size_t kept = 0, done = 0;
	int error = 0;

	for (size_t i = 0; i < f->span_count && !error; i++) {
		uint32_t count, rule;
		size_t at = 0;

		if (f->spans[i].to < done + f->period)
			continue;
		rule = align(f, &f->spans[i], f->spans[i].from > done ? f->spans[i].from : done, &count, &at);
		if (!count)
			continue;
		error = fold_between(f, &kept, done, at, between);
		if (!error)
			error = add_run(f, rule, at, count);
		if (error)
			return error;
		done = at + (size_t)count * f->period;
		o->firsts[kept] = o->begins[o->begin_count - count];
		o->symbols[kept++] = o->leaves + rule;
	}
	if (!error)
		error = fold_between(f, &kept, done, o->count, between);
	o->firsts[kept] = o->firsts[o->count];
	o->count = kept;
	return error;
}

/* Folds the shortest bodies that are repeated `least` times. *any: there were some. */
static int fold_round(struct folder *f, uint32_t least, uint32_t between, bool *any)
{
	int error = 0;

	*any = false;
	f->span_count = 0;
	for (f->period = 1; f->period <= FOLDING_LONGEST && (size_t)f->period * least <= f->out->count;
	     f->period++) {
		if (!f->steps || f->out->begin_count + f->out->count > f->begins_most) {
			f->out->unfinished = true;
			return 0;
		}
		error = find_spans(f, least);
		if (error || f->span_count)
			break;
	}
	if (error || !f->span_count)
		return error;
	*any = true;
	error = make_rules(f);
	if (!error)
		error = index_rules(f);
	spend(f, f->out->count);
	return error ? error : fold_spans(f, between);
}

/* ---- the whole ---------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const struct folding_run *x = a, *y = b;

	if (x->rule != y->rule)
		return x->rule < y->rule ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

static void sort_runs(struct folding *o)
{
	if (o->run_count)
		qsort(o->runs, o->run_count, sizeof(*o->runs), by_place);
	for (size_t i = o->run_count; i-- > 0;) {
		o->rules[o->runs[i].rule].first_run = (uint32_t)i;
		o->rules[o->runs[i].rule].runs++;
	}
}

const struct folding_run *folding__run_at(const struct folding *o, uint32_t rule, uint32_t entry)
{
	size_t low = o->rules[rule].first_run, high = low + o->rules[rule].runs, end = high;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (o->begins[o->runs[middle].begin] < entry)
			low = middle + 1;
		else
			high = middle;
	}
	return low < end && o->begins[o->runs[low].begin] == entry ? &o->runs[low] : NULL;
}

int folding__fold(struct folding *out, const uint32_t *symbols, size_t count, uint32_t leaves)
{
	static const uint32_t least[] = {3, 2}, between[] = {1, 2};
	struct folder f = {.out = out, .steps = STEPS_LEAST + STEPS_PER_ENTRY * (uint64_t)count};
	uint32_t entry = 0;
	bool any = true;
	int error = 0;

	*out = (struct folding){.leaves = leaves, .count = count};
	out->symbols = malloc((count + 1) * sizeof(*out->symbols));
	out->firsts = malloc((count + 1) * sizeof(*out->firsts));
	f.filter = malloc(FILTER);
	f.begins_most = 4 * count + 64;
	if (!out->symbols || !out->firsts || !f.filter)
		error = -ENOMEM;
	for (size_t i = 0; i < count && !error; i++) {
		out->symbols[i] = symbols[i];
		out->firsts[i] = entry;
		entry += symbols[i] < FOLDING_BREAKS;
	}
	if (!error)
		out->firsts[count] = entry;
	for (int phase = 0; phase < 2 && !error; phase++)
		for (any = true; any && !error;)
			error = fold_round(&f, least[phase], between[phase], &any);
	if (!error)
		sort_runs(out);
	number_map__free(&f.rule_of);
	number_map__free(&f.starts);
	free(f.filter);
	free(f.spans);
	return error;
}

void folding__free(struct folding *o)
{
	free(o->symbols);
	free(o->firsts);
	free(o->rules);
	free(o->pool);
	free(o->runs);
	free(o->begins);
	*o = (struct folding){0};
}
