/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/reports/compare_account.h"
#include "analysis/include/grain_account.h"

#include <math.h>
#include <string.h>

/* The causes that changed most, if they changed by this part of the larger capacity or more. */
#define CAUSES_SAID 3
#define LEAST_SAID 0.01
#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static bool has_account(const struct grain_account *a)
{
	return !a->why && a->all.capacity_ns;
}

static double percent(uint64_t part, uint64_t all)
{
	return 100 * (double)part / (double)all;
}

/* A difference of times with its sign: "+1.20 ms", "-30.0 us", "0". */
static struct format_number difference(uint64_t before, uint64_t after)
{
	struct format_number n = {"0"}, size;

	if (before == after)
		return n;
	size = format__time(after > before ? (double)(after - before) : (double)(before - after), "us");
	snprintf(n.text, sizeof(n.text), "%c%.30s", after > before ? '+' : '-', size.text);
	return n;
}

static uint64_t distance(const struct grain_account *before, const struct grain_account *after, int cause)
{
	uint64_t x = before->all.cause_ns[cause], y = after->all.cause_ns[cause];

	return x > y ? x - y : y - x;
}

/* Adds the lost causes that changed most, the largest change first. */
static void add_largest(struct format_text *text, const struct grain_account *before,
			const struct grain_account *after)
{
	uint64_t capacity = before->all.capacity_ns > after->all.capacity_ns ? before->all.capacity_ns
									     : after->all.capacity_ns;
	bool said[GRAIN_CAUSE_COUNT] = {false};

	for (int n = 0; n < CAUSES_SAID; n++) {
		int largest = -1;

		for (int i = 0; i < GRAIN_CAUSE_COUNT; i++)
			if (!said[i] && grain_cause__lost((enum grain_cause)i) &&
			    (largest < 0 || distance(before, after, i) > distance(before, after, largest)))
				largest = i;
		if ((double)distance(before, after, largest) < LEAST_SAID * (double)capacity)
			return;
		said[largest] = true;
		format__printf(text, "%s %s %s", n ? "," : ":", grain_cause__lost((enum grain_cause)largest),
			       difference(before->all.cause_ns[largest], after->all.cause_ns[largest]).text);
	}
}

void compare_account__say(const struct compare_text *t, const struct summary *s)
{
	const struct grain_account *before = grain_graph__account(t->base);
	const struct grain_account *after = grain_graph__account(t->run);
	struct format_text text = {0};

	if (has_account(before) && has_account(after)) {
		uint64_t lost = grain_account_part__lost_ns(&before->all);
		uint64_t still_lost = grain_account_part__lost_ns(&after->all);

		format__printf(&text, "%s of the threads' time (%.0f %%) before,",
			       format__time((double)lost, "us").text, percent(lost, before->all.capacity_ns));
		format__printf(&text, " %s (%.0f %%) after", format__time((double)still_lost, "us").text,
			       percent(still_lost, after->all.capacity_ns));
		add_largest(&text, before, after);
	} else if (!before->why != !after->why) {
		format__printf(&text, "not known of %s: %s", before->why ? "the base" : "this run",
			       before->why ? before->why : after->why);
	}
	if (text.data)
		summary__paragraph(s, "  lost      ", text.data);
	format__free(&text);
}

static bool print(const struct summary *s, struct columns *table)
{
	bool whole = !table->failed;

	if (whole) {
		fputc('\n', s->out);
		columns__print(table, s->columns, s->out);
	}
	columns__free(table);
	return whole;
}

static void add_row(struct columns *table, const char *name, const struct grain_account *before, uint64_t old,
		    const struct grain_account *after, uint64_t new)
{
	columns__add(table, name);
	columns__add(table, format__time((double)old, "us").text);
	columns__add(table, format__percent(percent(old, before->all.capacity_ns)).text);
	columns__add(table, format__time((double)new, "us").text);
	columns__add(table, format__percent(percent(new, after->all.capacity_ns)).text);
	columns__add(table, difference(old, new).text);
}

static bool write_causes(const struct summary *s, const struct grain_account *before,
			 const struct grain_account *after)
{
	static const struct columns_column columns[] = {
		{.title = "WHAT THE THREADS DID", .left = true, .cuttable = true},
		{.title = "before"},
		{.title = "%"},
		{.title = "after"},
		{.title = "%"},
		{.title = "change"},
	};
	struct columns table;

	columns__init(&table, columns, COUNT_OF(columns));
	for (int i = 0; i < GRAIN_CAUSE_COUNT; i++)
		if (before->all.cause_ns[i] || after->all.cause_ns[i])
			add_row(&table, grain_cause__label((enum grain_cause)i), before,
				before->all.cause_ns[i], after, after->all.cause_ns[i]);
	add_row(&table, "threads x wall time", before, before->all.capacity_ns, after,
		after->all.capacity_ns);
	return print(s, &table);
}

static void add_percent(struct columns *table, double factor)
{
	columns__add(table, isnan(factor) ? "-" : format__percent(100 * factor).text);
}

static bool write_factors(const struct summary *s, const struct grain_account *before,
			  const struct grain_account *after)
{
	static const struct columns_column columns[] = {
		{.title = "EFFICIENCY", .left = true, .cuttable = true},
		{.title = "before %"},
		{.title = "after %"},
	};
	const struct {
		const char *name;
		double before, after;
	} rows[] = {
		{"parallel: the product of", before->parallel, after->parallel},
		{"  serial", before->serial, after->serial},
		{"  load balance", before->load_balance, after->load_balance},
		{"  synchronisation", before->synchronisation, after->synchronisation},
		{"  scheduling", before->scheduling, after->scheduling},
		{"  system", before->system, after->system},
	};
	struct columns table;

	columns__init(&table, columns, COUNT_OF(columns));
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		columns__add(&table, rows[i].name);
		add_percent(&table, rows[i].before);
		add_percent(&table, rows[i].after);
	}
	return print(s, &table);
}

bool compare_account__write(const struct compare_text *t, const struct summary *s)
{
	const struct grain_account *before = grain_graph__account(t->base);
	const struct grain_account *after = grain_graph__account(t->run);

	if (!has_account(before) || !has_account(after))
		return true;
	return write_causes(s, before, after) && write_factors(s, before, after);
}
