/* SPDX-License-Identifier: BSD-2-Clause */
/* The text summary: the verdict in five lines, the advice in full, then tables. */
#include "analysis/include/grain_account.h"
#include "analysis/include/grain_samples.h"
#include "render/base/coverage.h"
#include "render/text/summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_COLUMNS 60
#define DEFAULT_COLUMNS 80
#define ADVICE_SHOWN 5
#define VERDICT_LINES 5 /* without those on losses and trust */
#define VERDICT_INDENT 9

static void name_problem(const struct grain_graph *graph, const struct grain_advice *advice, char out[48])
{
	struct grain_problem_summary summary = {.name = grain_advice__kind_name(advice->kind)};

	if (advice->problem < GRAIN_PROBLEM_COUNT)
		grain_graph__problem(graph, advice->problem, &summary);
	snprintf(out, 48, "%s", summary.name);
	for (; *out; out++)
		if (*out == '_')
			*out = ' ';
}

/* Writes a place as "fib.c:8 fib" in at most `columns`. Leaves out the function if both do not fit. */
static void name_place(const struct grain_graph *graph, uint32_t definition, size_t columns, char *out,
		       size_t size)
{
	struct grain_definition d;
	struct format_text both = {0};

	if (definition >= grain_graph__definition_count(graph)) {
		snprintf(out, size, "the whole program");
		return;
	}
	grain_graph__definition(graph, definition, &d);
	format__printf(&both, "%s%s%s", d.source, *d.function ? " " : "", d.function);
	format__clean(out, size, !both.failed && format__width(both.data) <= columns ? both.data : d.source,
		      columns);
	format__free(&both);
}

/*
 * Wraps `text` into at most `most` lines, and cuts the last one. Returns the number of lines. `measure`: only
 * counts, writes nothing.
 */
static unsigned wrap(const struct summary *s, const char *label, const char *escape, const char *text,
		     unsigned most, bool measure)
{
	char clean[1024], line[SUMMARY_LINE_BYTES];
	size_t room = s->columns - VERDICT_INDENT;
	const char *at = format__clean(clean, sizeof(clean), text, sizeof(clean));
	unsigned count = 0;

	do {
		size_t end = 0, blank = 0, columns = 0;

		for (; at[end] && columns < room; columns++) {
			if (at[end] == ' ')
				blank = end;
			while (((unsigned char)at[++end] & 0xc0) == 0x80)
				;
		}
		if (at[end] && at[end] != ' ' && blank)
			end = blank;
		count++;
		if (!measure) {
			bool last = count == most;

			snprintf(line, sizeof(line), "%-*s%.*s", VERDICT_INDENT, count == 1 ? label : "",
				 last ? (int)strlen(at) : (int)end, at);
			summary__cut_line(s, escape, line);
		}
		at += end;
		at += strspn(at, " ");
	} while (*at && count < most);
	return count;
}

static void verdict_worst(const struct summary *s)
{
	/* Advice is only about the graph's part of the run. */
	uint64_t wall_ns = grain_graph__coverage(s->graph)->wall_ns;
	struct grain_advice advice;
	char place[512], problem[48], rest[160], line[1024];
	const char *why, *cure;
	unsigned lines;

	grain_graph__advice(s->graph, 0, &advice);
	name_problem(s->graph, &advice, problem);
	snprintf(rest, sizeof(rest), ": %s, costs up to %s (%s %% of wall)", problem,
		 format__time((double)advice.saves_ns, "us").text,
		 format__percent(wall_ns ? 100.0 * (double)advice.saves_ns / (double)wall_ns : NAN).text);
	name_place(s->graph, advice.definition,
		   s->columns - (format__width(rest) < s->columns ? format__width(rest) : 0), place,
		   sizeof(place));
	snprintf(line, sizeof(line), "%s%s", place, rest);
	summary__cut_line(s, "1;31", line);
	why = advice.finding ? advice.finding : "";
	cure = advice.text ? advice.text : "";
	/* If there are not enough lines for both, the cure has priority. */
	lines = wrap(s, "", "", cure, 2, true);
	wrap(s, "  why", "", why, VERDICT_LINES - 1 - lines, false);
	wrap(s, "  do", "1", cure, 2, false);
}

/*
 * Writes the verdict of a recording without tasks and loops. Saying where the program was tells more than
 * saying what is missing. Returns false if there are no samples.
 */
static bool verdict_sampled(const struct summary *s)
{
	const struct grain_hot_opts opts = {.profile = SIZE_MAX, .problem = -1};
	struct grain_hot *hot;
	char name[200], line[400];
	uint64_t samples;
	size_t count;

	if (strcmp(grain_graph__info(s->graph)->source, "samples") ||
	    grain_graph__hot(s->graph, &opts, &hot, &count, &samples))
		return false;
	if (count) {
		format__clean(name, sizeof(name), hot[0].function, 60);
		snprintf(line, sizeof(line), "Sampled: %.0f %% of %s samples were in %s.",
			 100.0 * (double)hot[0].self / (double)samples, format__count(samples).text, name);
	} else {
		snprintf(line, sizeof(line), "Sampled, but it was on no CPU when it was asked.");
	}
	summary__cut_line(s, "1", line);
	summary__cut_line(s, "", "  why    below: hot functions; tasks and loops were not recorded");
	summary__cut_line(s, "", "  do     record with --sample for hot lines by task and loop");
	free(hot);
	return true;
}

/* Writes what most time is lost to, where no advice is about it. */
static void verdict_lost(const struct summary *s)
{
	const struct grain_account *a = grain_graph__account(s->graph);
	enum grain_cause worst = grain_account_part__worst(&a->all);
	char line[SUMMARY_LINE_BYTES];

	snprintf(line, sizeof(line), "%.0f %% of its threads' time is lost to %s.",
		 100.0 * (double)a->all.cause_ns[worst] / (double)a->all.capacity_ns,
		 grain_cause__lost(worst));
	summary__cut_line(s, "1;31", line);
	summary__cut_line(s, "", "  why    many places lose a little; no single one is worth an advice");
	summary__cut_line(s, "", "  do     see below, in ACCOUNT, which regions lose most");
}

/* Where the threads' time is lost, in one line. Nothing if the verdict says so already. */
static void verdict_losses(const struct summary *s)
{
	char text[SUMMARY_LINE_BYTES];
	size_t room = s->columns - VERDICT_INDENT + 1;

	if (grain_graph__verdict(s->graph) != GRAIN_VERDICT_NO_GRAINS &&
	    summary__losses_line(s, text, room < sizeof(text) ? room : sizeof(text)))
		wrap(s, "  lost", "", text, 1, false);
}

static void verdict_none(const struct summary *s)
{
	uint64_t flagged = 0;
	char line[256];

	for (int p = 0; p < GRAIN_PROBLEM_COUNT; p++) {
		struct grain_problem_summary summary;

		grain_graph__problem(s->graph, (enum grain_problem)p, &summary);
		flagged += summary.available ? summary.grains : 0;
	}
	if (!grain_graph__totals(s->graph)->grains) {
		summary__cut_line(s, "1", "No grains: no explicit task, loop or sections were seen.");
		summary__cut_line(s, "",
				  "  why    the program created none while it was observed, or it was "
				  "observed too late");
		summary__cut_line(s, "", "  do     observe it while it runs its parallel part");
		return;
	}
	summary__cut_line(s, "1;32", "No problem found that costs noticeable time.");
	snprintf(line, sizeof(line),
		 "  why    %s values are beyond a threshold, but they cost next to nothing",
		 format__count(flagged).text);
	summary__cut_line(s, "", flagged ? line : "  why    no metric is beyond its threshold");
	summary__cut_line(s, "", "  do     nothing here; look for time outside of the parallel parts");
}

static void verdict(const struct summary *s)
{
	enum grain_verdict says = grain_graph__verdict(s->graph);

	if (says == GRAIN_VERDICT_ADVICE)
		verdict_worst(s);
	else if (verdict_sampled(s))
		return;
	else if (says == GRAIN_VERDICT_LOST)
		verdict_lost(s);
	else
		verdict_none(s);
}

/* If measuring takes more than this share, times do not show the program as it is. */
#define SLOWED_PERCENT 10

static void verdict_trust(const struct summary *s)
{
	const struct grain_truth *truth = grain_graph__truth(s->graph);
	const struct grain_info *info = grain_graph__info(s->graph);
	const struct grain_totals *t = grain_graph__totals(s->graph);
	bool damaged = info->damaged || truth->conservation_violations;
	bool whole = !damaged && !truth->lost && !truth->incomplete_grains;
	bool slowed = t->measuring_percent > SLOWED_PERCENT;
	char line[512], cost[64], unrun[64] = "";

	if (t->discarded)
		snprintf(unrun, sizeof(unrun), ", %s discarded", format__count(t->discarded).text);
	if (isnan(t->measuring_percent))
		snprintf(cost, sizeof(cost), "unknown");
	else
		snprintf(cost, sizeof(cost), "%s %%", format__percent(t->measuring_percent).text);
	snprintf(line, sizeof(line), "  trust  %s: %s events lost, %s %sincomplete%s, measuring cost %s%s",
		 damaged  ? "NO"
		 : !whole ? "partly"
		 : slowed ? "graph yes, times no"
			  : "yes",
		 format__count(truth->lost).text, format__count(truth->incomplete_grains).text,
		 t->discarded ? "" : "grains ", unrun, cost,
		 info->damaged			  ? ", damaged file"
		 : truth->conservation_violations ? ", times do not add up"
		 : info->late			  ? ", attached late"
						  : "");
	summary__cut_line(s, whole && !slowed ? "" : "33", line);
}

/* Writes which part of the run everything below is about. */
static void verdict_part(struct summary *s)
{
	struct format_text part = {0};

	coverage__describe(s->graph, "us", &part);
	if (part.data)
		wrap(s, "  part", "33", part.data, 2, false);
	s->failed |= part.failed;
	format__free(&part);
}

static void advice_in_full(const struct summary *s)
{
	size_t count = grain_graph__advice_count(s->graph);
	char place[512], problem[48], clean[1024], line[1024];

	if (!count)
		return;
	summary__heading(s, "ADVICE");
	for (size_t i = 0; i < count && i < ADVICE_SHOWN; i++) {
		struct grain_advice advice;

		grain_graph__advice(s->graph, i, &advice);
		name_problem(s->graph, &advice, problem);
		name_place(s->graph, advice.definition, s->columns - 40, place, sizeof(place));
		snprintf(line, sizeof(line), "%zu. %s, %s: up to %s", i + 1, place, problem,
			 format__time((double)advice.saves_ns, "us").text);
		summary__cut_line(s, "", line);
		format__clean(clean, sizeof(clean), advice.finding ? advice.finding : "", sizeof(clean));
		summary__paragraph(s, "   ", clean);
		format__clean(clean, sizeof(clean), advice.text ? advice.text : "", sizeof(clean));
		summary__paragraph(s, "   -> ", clean);
	}
	if (count > ADVICE_SHOWN)
		fprintf(s->out, "%zu more\n", count - ADVICE_SHOWN);
}

static void identity(const struct summary *s, uint64_t job)
{
	const struct grain_info *info = grain_graph__info(s->graph);
	char line[SUMMARY_LINE_BYTES], number[64] = "", pid[64] = "", exe[512], host[128];

	if (job)
		snprintf(number, sizeof(number), "job %llu  ", (unsigned long long)job);
	if (info->pid >= 0)
		snprintf(pid, sizeof(pid), "pid %lld  ", (long long)info->pid);
	format__clean(exe, sizeof(exe), *info->command ? info->command : info->exe, s->columns / 2);
	format__clean(host, sizeof(host), info->host, 30);
	snprintf(line, sizeof(line), "%s%s%s%s%s", number, pid, exe, *host ? "  on " : "", host);
	if (*line) {
		fputc('\n', s->out);
		summary__cut_line(s, "2", line);
	}
}

int render__summary(const struct grain_graph *graph, const struct render_text_opts *opts, FILE *out)
{
	struct summary s = {.graph = graph, .colour = opts->colour, .unicode = opts->unicode, .out = out};

	s.columns = opts->columns ? opts->columns : DEFAULT_COLUMNS;
	if (s.columns < LEAST_COLUMNS)
		s.columns = LEAST_COLUMNS;
	if (s.columns > SUMMARY_MOST_COLUMNS)
		s.columns = SUMMARY_MOST_COLUMNS;
	verdict(&s);
	verdict_losses(&s);
	verdict_part(&s);
	verdict_trust(&s);
	identity(&s, opts->job);
	summary__windows(&s);
	advice_in_full(&s);
	summary__account(&s);
	summary__steps(&s);
	summary__totals(&s);
	summary__problems(&s);
	summary__parallelism(&s);
	summary__threads(&s);
	summary__scheduler(&s);
	summary__numa(&s);
	summary__counters(&s);
	summary__definitions(&s);
	summary__samples(&s);
	summary__tasks(&s);
	summary__waits(&s);
	summary__whatif(&s, opts->questions, opts->question_count);
	summary__kept(&s);
	summary__regions(&s);
	summary__loops(&s);
	summary__chunks(&s);
	summary__locks(&s);
	summary__depths(&s);
	summary__losses(&s);
	if (s.failed)
		return -ENOMEM;
	return ferror(out) ? -EIO : 0;
}
