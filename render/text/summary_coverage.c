/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of the run was seen, in the text summary: which numbers are about the whole run, which about the
 * parts that were kept as a graph, and what was lost.
 */
#include "render/base/coverage.h"
#include "render/text/summary.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* Writes which regions were not among those to choose from. */
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
		coverage__kept(s->graph, text);
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

void summary__losses(struct summary *s)
{
	static const struct columns_column columns[] = {{.title = "NOT SEEN", .left = true, .cuttable = true},
							{.title = "count"}};
	const struct grain_truth *t = grain_graph__truth(s->graph);
	const struct {
		const char *name;
		uint64_t count;
	} causes[] = {
		{"events lost", t->lost},
		{"bodies without creation", t->unmatched_begins},
		{"ends without begin", t->unmatched_ends},
		{"created, body not seen", t->never_begun},
		{"begun, end not seen", t->never_ended},
		{"waits, end not seen", t->unclosed_waits},
		{"incomplete grains", t->incomplete_grains},
		{"incomplete regions", t->incomplete_regions},
		{"read faults", t->read_faults},
		{"grains too short to measure", t->below_resolution},
		{"threads whose times do not add up", t->conservation_violations},
	};
	struct columns table;

	summary__table(s, &table, columns, COUNT_OF(columns));
	for (size_t i = 0; i < COUNT_OF(causes); i++) {
		if (!causes[i].count)
			continue;
		columns__add(&table, causes[i].name);
		columns__add(&table, format__count(causes[i].count).text);
	}
	for (size_t i = 0; i < grain_graph__loss_count(s->graph); i++) {
		uint64_t count = 0;
		const char *name = grain_graph__loss(s->graph, i, &count);

		if (!count || !name)
			continue;
		columns__add(&table, name);
		columns__add(&table, format__count(count).text);
	}
	if (table.cell_count) {
		summary__print(s, &table);
	} else {
		columns__free(&table);
		summary__heading(s, "NOT SEEN");
		fprintf(s->out, "nothing: all %s events arrived and match\n", format__count(t->events).text);
	}
	if (t->first_violation && *t->first_violation) {
		char clean[512];

		summary__paragraph(s, "", format__clean(clean, sizeof(clean), t->first_violation, 400));
	}
}
