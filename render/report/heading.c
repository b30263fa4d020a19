/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/include/grain_account.h"
#include "render/base/coverage.h"
#include "render/report/heading.h"

#include <math.h>
#include <string.h>

#define MICRO "\xc2\xb5s"
#define DOT " \xc2\xb7 "

static const char *program_name(const struct grain_graph *graph)
{
	const char *exe = grain_graph__info(graph)->exe, *slash = strrchr(exe, '/');

	if (slash && slash[1])
		return slash + 1;
	return *exe ? exe : "program";
}

static void describe_facts(const struct grain_graph *graph, uint64_t job, struct format_text *out)
{
	const struct grain_info *info = grain_graph__info(graph);
	const struct grain_totals *t = grain_graph__totals(graph);

	if (job)
		format__printf(out, "job %llu" DOT, (unsigned long long)job);
	if (info->pid >= 0)
		format__printf(out, "pid %lld" DOT, (long long)info->pid);
	format__printf(out, "%u thread%s" DOT "%s grain%s" DOT "wall %s", info->threads,
		       info->threads == 1 ? "" : "s", format__count(t->grains).text,
		       t->grains == 1 ? "" : "s", format__time((double)t->wall_ns, MICRO).text);
	format__printf(out, DOT "work %s", format__time((double)t->work_ns, MICRO).text);
	format__printf(out, DOT "span %s", format__time((double)t->span_ns, MICRO).text);
	if (!isnan(t->average_parallelism))
		format__printf(out, DOT "average parallelism %s", format__ratio(t->average_parallelism).text);
}

/* As in the page (page_account.js). */
static const char *const cause_colours[GRAIN_CAUSE_COUNT] = {
	[GRAIN_CAUSE_USEFUL] = "#4C78C4",	[GRAIN_CAUSE_SERIAL_WORK] = "#AFC7EA",
	[GRAIN_CAUSE_SERIAL] = "#BF1B2C",	[GRAIN_CAUSE_FORK_JOIN] = "#F0742F",
	[GRAIN_CAUSE_MANAGEMENT] = "#22B8B0",	[GRAIN_CAUSE_IMBALANCE] = "#FDB44B",
	[GRAIN_CAUSE_LACK_OF_WORK] = "#FFE08A", [GRAIN_CAUSE_LOCKS] = "#C4778F",
	[GRAIN_CAUSE_PREEMPTED] = "#36315E",	[GRAIN_CAUSE_OVERSUBSCRIBED] = "#9A8FD7",
	[GRAIN_CAUSE_BLOCKED] = "#407086",	[GRAIN_CAUSE_MEASURING] = "#A9B2C0",
	[GRAIN_CAUSE_UNKNOWN] = "#B7BECA",
};
_Static_assert(GRAIN_CAUSE_COUNT <= SVG_SHARES_MOST, "a share for each cause");

/* At most so many causes are said. A cause below this part of the time is not. */
#define CAUSES_SAID 3
#define LEAST_SAID 0.01

static void describe_account(const struct grain_graph *graph, struct svg_heading *out)
{
	const struct grain_account *a = grain_graph__account(graph);
	struct grain_account_part left = a->all;
	double all = (double)a->all.capacity_ns;

	if (a->why || !a->all.capacity_ns)
		return;
	for (int i = 0; i < GRAIN_CAUSE_COUNT; i++)
		if (a->all.cause_ns[i])
			out->shares[out->share_count++] =
				(struct svg_share){.share = (double)a->all.cause_ns[i] / all,
						   .colour = cause_colours[i]};
	format__printf(&out->losses, "%s %% of the threads' time is lost",
		       format__percent(100 * (double)grain_account_part__lost_ns(&a->all) / all).text);
	for (int i = 0; i < CAUSES_SAID; i++) {
		enum grain_cause worst = grain_account_part__worst(&left);
		double share = (double)left.cause_ns[worst] / all;

		if (share < LEAST_SAID)
			break;
		format__printf(&out->losses, DOT "%s %s %%", grain_cause__lost(worst),
			       format__percent(100 * share).text);
		left.cause_ns[worst] = 0;
	}
}

static void describe_part(const struct grain_graph *graph, struct format_text *out)
{
	struct format_text part = {0};

	coverage__describe(graph, MICRO, &part);
	if (part.data)
		format__printf(out, "Part of the run" DOT "%s", part.data);
	out->failed |= part.failed;
	format__free(&part);
}

static void describe_truth(const struct grain_graph *graph, struct format_text *out)
{
	const struct grain_info *info = grain_graph__info(graph);
	const struct grain_truth *truth = grain_graph__truth(graph);
	const struct grain_totals *t = grain_graph__totals(graph);

	format__printf(out, "Truth: %s of %s events lost" DOT "%s incomplete grain%s",
		       format__count(truth->lost).text, format__count(truth->events + truth->lost).text,
		       format__count(truth->incomplete_grains).text,
		       truth->incomplete_grains == 1 ? "" : "s");
	if (isnan(t->measuring_percent))
		format__add(out, DOT "measuring cost unknown");
	else
		format__printf(out, DOT "measuring cost %s %%", format__percent(t->measuring_percent).text);
	if (info->late)
		format__add(out, DOT "attached late");
	if (info->damaged)
		format__add(out, DOT "damaged file");
	if (info->cycles)
		format__add(out, DOT "times are cycles, each written as 1 ns");
	if (truth->conservation_violations)
		format__printf(out, DOT "%s threads do not add up",
			       format__count(truth->conservation_violations).text);
	if (*info->source)
		format__printf(out, DOT "source %s", info->source);
	if (*info->runtime)
		format__printf(out, DOT "%s", info->runtime);
}

static void describe_scene(const struct scene *scene, struct format_text *out)
{
	if (scene->aggregated) {
		format__printf(out, "aggregated: %s nodes stand for %s",
			       format__count(scene->node_count).text, format__count(scene->stands_for).text);
		format__printf(out, DOT "%u level%s of groups open", scene->levels,
			       scene->levels == 1 ? "" : "s");
		return;
	}
	if (!scene->reduced)
		return;
	format__printf(out, "%s: %s nodes stand for %s%s", scene->folded ? "folded" : "reduced",
		       format__count(scene->node_count).text, format__count(scene->stands_for).text,
		       scene->folded ? DOT "boxes with numbers are groups of grains" : DOT "one box a task");
}

bool heading__describe(const struct grain_graph *graph, const struct scene *scene, uint64_t job,
		       struct svg_heading *out)
{
	char name[128];

	format__add(&out->program, format__clean(name, sizeof(name), program_name(graph), 40));
	describe_account(graph, out);
	describe_facts(graph, job, &out->facts);
	describe_scene(scene, &out->note);
	describe_part(graph, &out->part);
	describe_truth(graph, &out->truth);
	return !(out->program.failed || out->losses.failed || out->facts.failed || out->note.failed ||
		 out->part.failed || out->truth.failed);
}

void heading__free(struct svg_heading *heading)
{
	format__free(&heading->program);
	format__free(&heading->losses);
	format__free(&heading->facts);
	format__free(&heading->note);
	format__free(&heading->part);
	format__free(&heading->truth);
}
