/* SPDX-License-Identifier: BSD-2-Clause */
/* Of long jobs: what is of the whole run, and what of the parts of it that were kept as a graph. */
#include "render/part.h"
#include "render/summary.h"

#include <math.h>

/* Regions that were not among those to choose from. */
static void not_considered(const struct grain_coverage *c, struct format_text *text)
{
	const struct {
		uint64_t count;
		const char *why;
	} causes[] = {{c->unkept_large, "have too many events"},
		      {c->unkept_overlapping, "ran beside others"},
		      {c->unkept_lost, "lost events"},
		      {c->unkept_room, "were larger than the room for them"},
		      {c->unkept_edge, "were there when the first part ended"}};
	const char *before = "; of the regions after the first part could not be kept: ";

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		if (!causes[i].count)
			continue;
		format__printf(text, "%s%s that %s", before, format__count(causes[i].count).text,
			       causes[i].why);
		before = ", ";
	}
}

static void add_reason(struct format_text *text, const char *before, const char *why)
{
	char clean[200];

	format__printf(text, "%s%s", before, format__clean(clean, sizeof(clean), why, 160));
}

void summary__coverage(const struct summary *s, struct format_text *text)
{
	const struct grain_coverage *c = grain_graph__coverage(s->graph);

	if (!c->partial && !c->kept_regions)
		return;
	if (c->partial)
		format__add(text, "; grains, wall, work and the definitions' sums are of the whole run, all "
				  "else");
	else
		format__add(text, "; all of this is");
	format__printf(text, " of its first %s", format__time((double)c->first_ns, "us").text);
	if (c->kept_regions) {
		format__add(text, " and of ");
		part__kept(s->graph, text);
	}
	format__printf(text, " (%s grains", format__count(c->grains).text);
	format__add(text, "), of which the graph was kept below the job's ceiling of bytes");
	if (c->kept_regions)
		format__add(text,
			    "; span adds up the heaviest paths of these parts, and parallelism is their "
			    "work / span; names of grains count what is kept");
	not_considered(c, text);
	if (c->unkept_why[0])
		add_reason(text, "; no regions after it are kept: ", c->unkept_why);
	if (c->shares)
		format__printf(text, "; %s static shares of loops are not among the grains",
			       format__count(c->shares).text);
	if (c->why[0])
		add_reason(text, "; NOT all of the run: ", c->why);
}

/* The outermost region that began then; GRAIN_NONE. */
static uint32_t region_at(const struct grain_graph *graph, uint64_t start_ns)
{
	size_t count = grain_graph__region_count(graph);
	struct grain_region r;

	for (uint32_t i = 0; i < count; i++) {
		grain_graph__region(graph, i, &r);
		if (r.start_ns == start_ns)
			return i;
	}
	return UINT32_MAX;
}

static void why_kept(const struct grain_kept_region *kept, char *out, size_t size)
{
	if (kept->slowest || kept->last)
		snprintf(out, size, "the %s%s%s", kept->slowest ? "slowest" : "",
			 kept->slowest && kept->last ? ", the " : "", kept->last ? "last" : "");
	else
		snprintf(out, size, "one of every %s", format__count(kept->every).text);
}

void summary__kept(struct summary *s)
{
	static const struct columns_column columns[] = {
		{.title = "KEPT REGION", .left = true, .cuttable = true},
		{.title = "source", .left = true, .cuttable = true},
		{.title = "at"},
		{.title = "wall"},
		{.title = "tasks"},
		{.title = "kept as", .left = true},
	};
	uint64_t start_ns = grain_graph__info(s->graph)->start_ns;
	struct grain_kept_region kept;
	struct columns table;

	if (!grain_graph__kept_region(s->graph, 0, &kept))
		return;
	summary__table(s, &table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; grain_graph__kept_region(s->graph, i, &kept); i++) {
		uint32_t region = region_at(s->graph, kept.start_ns);
		struct grain_region r = {.definition = GRAIN_NONE};
		char text[256] = "-";

		if (region != UINT32_MAX) {
			grain_graph__region(s->graph, region, &r);
			grain_graph__region_id(s->graph, region, text, sizeof(text));
		}
		columns__add(&table, text);
		columns__add(&table, summary__definition(s, r.definition).source);
		summary__add_time(&table, kept.start_ns > start_ns ? (double)(kept.start_ns - start_ns) : 0);
		summary__add_time(&table, (double)(kept.end_ns - kept.start_ns));
		summary__add_count(&table, r.tasks);
		why_kept(&kept, text, sizeof(text));
		columns__add(&table, text);
	}
	summary__print(s, &table);
}
