// SPDX-License-Identifier: BSD-2-Clause
/* The account in the text summary: where the threads' time went. */
#include "analysis/include/grain_account.h"
#include "render/text/summary.h"

#include <math.h>
#include <string.h>

#define PARTS_SHOWN 6
#define FUNCTIONS_SHOWN 5
#define GAPS_SHOWN 4
#define SERIAL_SAMPLES_LEAST 10
#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static double share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : NAN;
}

static void add_percent(struct columns *table, double value)
{
	columns__add(table, format__percent(100 * value).text);
}

static void name_part(const struct summary *s, const struct grain_account_part *part, size_t columns,
		      char out[256])
{
	if (part->serial)
		snprintf(out, 256, "outside of regions");
	else
		format__clean(out, 256, summary__definition(s, part->definition).source, columns);
}

static void causes(struct summary *s, const struct grain_account *a)
{
	static const struct columns_column columns[] = {{.title = "WHAT THE THREADS DID",
							 .left = true,
							 .cuttable = true},
							{.title = "time"},
							{.title = "%"},
							{.title = "of all", .bar = true}};
	struct columns table;

	summary__table(s, &table, columns, COUNT_OF(columns));
	for (int i = 0; i < GRAIN_CAUSE_COUNT; i++) {
		if (!a->all.cause_ns[i])
			continue;
		columns__add(&table, grain_cause__label((enum grain_cause)i));
		summary__add_time(&table, (double)a->all.cause_ns[i]);
		add_percent(&table, share(a->all.cause_ns[i], a->all.capacity_ns));
		columns__add_share(&table, share(a->all.cause_ns[i], a->all.capacity_ns));
	}
	summary__print(s, &table);
}

static void parts(struct summary *s, const struct grain_account *a)
{
	static const struct columns_column columns[] = {{.title = "LOST IN", .left = true, .cuttable = true},
							{.title = "regions", .optional = 1},
							{.title = "lost"},
							{.title = "% of all"},
							{.title = "most of it to",
							 .left = true,
							 .cuttable = true}};
	size_t count = grain_graph__account_part_count(s->graph), shown = 0;
	struct columns table;

	summary__table(s, &table, columns, COUNT_OF(columns));
	for (; shown < count && shown < PARTS_SHOWN; shown++) {
		const struct grain_account_part *part = grain_graph__account_part(s->graph, shown);
		uint64_t lost = grain_account_part__lost_ns(part);
		char name[256];

		if (!lost)
			break;
		name_part(s, part, 28, name);
		columns__add(&table, name);
		if (part->serial)
			columns__add(&table, "-");
		else
			summary__add_count(&table, part->regions);
		summary__add_time(&table, (double)lost);
		add_percent(&table, share(lost, a->all.capacity_ns));
		columns__add(&table, grain_cause__lost(grain_account_part__worst(part)));
	}
	if (shown)
		summary__print(s, &table);
	else
		columns__free(&table);
}

static void serial_functions(struct summary *s, const struct grain_serial *serial)
{
	static const struct columns_column columns[] = {{.title = "SERIAL CODE IN",
							 .left = true,
							 .cuttable = true},
							{.title = "time"},
							{.title = "%"},
							{.title = "of it", .bar = true},
							{.title = "line", .left = true, .cuttable = true}};
	struct columns table;

	summary__table(s, &table, columns, COUNT_OF(columns));
	for (size_t i = 0; i < serial->function_count && i < FUNCTIONS_SHOWN; i++) {
		const struct grain_serial_function *f = &serial->functions[i];
		double part = share(f->samples, serial->samples);
		char place[512];

		snprintf(place, sizeof(place), f->line ? "%.200s:%u" : "%.200s", f->file, f->line);
		columns__add(&table, f->function);
		summary__add_time(&table, part * (double)serial->ns);
		add_percent(&table, part);
		columns__add_share(&table, part);
		columns__add(&table, place);
	}
	summary__print(s, &table);
	summary__more(s, serial->function_count, FUNCTIONS_SHOWN, "functions");
}

static void add_region(struct summary *s, struct columns *table, uint32_t definition, const char *none)
{
	char name[256];

	format__clean(name, sizeof(name),
		      definition == GRAIN_NONE ? none : summary__definition(s, definition).source, 24);
	columns__add(table, name);
}

static void serial_gaps(struct summary *s, const struct grain_serial *serial)
{
	static const struct columns_column columns[] = {
		{.title = "SERIAL AFTER", .left = true, .cuttable = true},
		{.title = "and before", .left = true, .cuttable = true},
		{.title = "times", .optional = 1},
		{.title = "time"},
		{.title = "%"},
		{.title = "most of it in", .left = true, .cuttable = true}};
	struct columns table;

	summary__table(s, &table, columns, COUNT_OF(columns));
	for (size_t i = 0; i < serial->gap_count && i < GAPS_SHOWN; i++) {
		const struct grain_serial_gap *gap = &serial->gaps[i];

		add_region(s, &table, gap->before, "the begin");
		add_region(s, &table, gap->after, "the end");
		summary__add_count(&table, gap->times);
		summary__add_time(&table, (double)gap->ns);
		add_percent(&table, share(gap->ns, serial->ns));
		columns__add(&table,
			     gap->function == GRAIN_NONE ? "-" : serial->functions[gap->function].function);
	}
	summary__print(s, &table);
	summary__more(s, serial->gap_count, GAPS_SHOWN, "pairs of regions");
}

void summary__account(struct summary *s)
{
	const struct grain_serial *serial = grain_graph__serial(s->graph);
	const struct grain_account *a = grain_graph__account(s->graph);
	char heading[128], line[256];

	if (a->why) {
		summary__heading(s, "ACCOUNT");
		snprintf(line, sizeof(line), "not known where the threads' time went: %s", a->why);
		summary__paragraph(s, "", line);
	}
	if (a->why || !a->all.capacity_ns)
		return;
	snprintf(heading, sizeof(heading), "ACCOUNT: %u thread%s x %s", a->threads,
		 a->threads == 1 ? "" : "s",
		 format__time((double)(a->all.capacity_ns / a->threads), "us").text);
	summary__heading(s, heading);
	snprintf(line, sizeof(line),
		 "parallel efficiency %.0f %%: serial %.0f x load balance %.0f x synchronisation %.0f x "
		 "scheduling %.0f x system %.0f %%",
		 100 * a->parallel, 100 * a->serial, 100 * a->load_balance, 100 * a->synchronisation,
		 100 * a->scheduling, 100 * a->system);
	summary__paragraph(s, "", line);
	causes(s, a);
	parts(s, a);
	/* Of serial code that is hardly any time there are hardly any samples. */
	if (serial->samples < SERIAL_SAMPLES_LEAST)
		return;
	serial_functions(s, serial);
	serial_gaps(s, serial);
}

/* At most so many causes, as far as the line has room. A cause below this part of the time is left out. */
#define CAUSES_SAID 3
#define LEAST_SAID 0.01

bool summary__losses_line(const struct summary *s, char *out, size_t size)
{
	const struct grain_account *a = grain_graph__account(s->graph);
	struct grain_account_part left = a->all;
	int used;

	if (a->why || !a->all.capacity_ns)
		return false;
	used = snprintf(out, size, "%.0f %% of thread time",
			100 * share(grain_account_part__lost_ns(&a->all), a->all.capacity_ns));
	for (int i = 0; i < CAUSES_SAID; i++) {
		enum grain_cause worst = grain_account_part__worst(&left);
		char cause[80];
		int length = snprintf(cause, sizeof(cause), "%s %s %.0f %%", i ? "," : ":",
				      grain_cause__lost(worst),
				      100 * share(left.cause_ns[worst], a->all.capacity_ns));

		if (share(left.cause_ns[worst], a->all.capacity_ns) < LEAST_SAID ||
		    used + length >= (int)size)
			break;
		memcpy(out + used, cause, (size_t)length + 1);
		used += length;
		left.cause_ns[worst] = 0;
	}
	return true;
}
