// SPDX-License-Identifier: BSD-2-Clause
/* Writes the statistics as lines of a trace. */
#include "analysis/fold/fold_state.h"

#include <errno.h>
#include <inttypes.h>

static void write_stat(FILE *out, const char *key, const struct running_stat *s)
{
	fprintf(out, " %s=%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, key,
		s->count, s->sum, s->min, s->max, (uint64_t)(s->squares >> 64), (uint64_t)s->squares);
}

static void write_row(FILE *out, const struct fold_row *row)
{
	bool first = true;

	fprintf(out,
		"@folded-row site=0x%" PRIx64 " ident=0x%" PRIx64 " kind=%s instances=%" PRIu64
		" leaves=%" PRIu64 " undeferred=%" PRIu64 " incomplete=%" PRIu64,
		row->site, row->ident, fold_kind__name((enum fold_kind)row->kind), row->instances,
		row->leaves, row->undeferred, row->incomplete);
	write_stat(out, "exec", &row->exec);
	write_stat(out, "create", &row->create);
	write_stat(out, "wait", &row->wait);
	for (size_t b = 0; b < FOLD_BUCKETS; b++) {
		if (!row->buckets[b])
			continue;
		fprintf(out, "%s%zu:%" PRIu64, first ? " buckets=" : ",", b, row->buckets[b]);
		first = false;
	}
	fputc('\n', out);
}

int fold__write(const struct fold *f, uint64_t damaged_chunks, FILE *out)
{
	const struct fold_totals *t = &f->totals;

	fprintf(out,
		"@folded events=%" PRIu64 " lost=%" PRIu64 " lost_switches=%" PRIu64 " tasks=%" PRIu64
		" chunks=%" PRIu64 " runtime_tasks=%" PRIu64 " regions=%" PRIu64 " shares=%" PRIu64
		" incomplete=%" PRIu64 " no_create=%" PRIu64 " never_begun=%" PRIu64 " never_ended=%" PRIu64
		" unclosed=%" PRIu64 " unmatched_ends=%" PRIu64 " work_ns=%" PRIu64 " first_ns=%" PRIu64
		" last_ns=%" PRIu64 " most_open=%" PRIu64 " damaged=%" PRIu64 "\n",
		t->events, t->lost, t->lost_switches, t->tasks, t->chunks, t->runtime_tasks, t->regions,
		t->shares, t->incomplete, t->no_create, t->never_begun, t->never_ended, t->unclosed,
		t->unmatched_ends, t->work_ns, t->first_ns, t->last_ns, t->most_open, damaged_chunks);
	for (size_t i = 0; i < f->rows.count; i++)
		if (f->rows.rows[i].instances)
			write_row(out, &f->rows.rows[i]);
	return ferror(out) ? -EIO : 0;
}
