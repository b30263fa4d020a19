// SPDX-License-Identifier: BSD-2-Clause
/* Of a tree that has a ceiling: when its processes are recorded, and what that costs them. */
#include "daemon/graind/log.h"
#include "daemon/graind/policy.h"
#include "daemon/graind/tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * An event of a program in those of the calibration's: that finds all it needs
 * in the caches, and its return addresses need no probes.
 */
#define EVENT_WEIGHT 1.6

/* More than emptying a ring takes for an event. */
#define DRAIN_NS 500.0

/* Trees that share what the host may spend. */
static unsigned int limited_trees;

static uint64_t own_cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Of one CPU, for this tree; HUGE_VAL: as much as its own ceiling is. */
static double share_of_host(void)
{
	unsigned int trees = __atomic_load_n(&limited_trees, __ATOMIC_RELAXED);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct policy_limits limits;

	policy__limits(&limits);
	if (limits.host_ceiling_percent <= 0)
		return HUGE_VAL;
	return limits.host_ceiling_percent * (double)(cpus > 0 ? cpus : 1) / (trees ? trees : 1);
}

/* The smaller of what is asked for and what the policy says; 0: there is none. */
static double wanted_percent(const struct job *job)
{
	struct policy_limits limits;
	double percent = job->ceiling_percent;

	policy__limits(&limits);
	if (limits.process_ceiling_percent > 0 && (percent <= 0 || limits.process_ceiling_percent < percent))
		percent = limits.process_ceiling_percent;
	if (limits.host_ceiling_percent > 0 && percent <= 0)
		percent = 100;
	return percent;
}

void tree_windows__open(struct tree *tree, const struct job *job)
{
	struct windows *windows = &tree->windows;
	double percent = wanted_percent(job);

	if (percent <= 0 || tree->samples_only || tree->ns_per_event <= 0)
		return;
	windows->cpus = (unsigned int)sysconf(_SC_NPROCESSORS_CONF);
	windows->events = calloc(2 * (size_t)windows->cpus, sizeof(*windows->events));
	if (!windows->events)
		return;
	windows->limited = true;
	windows->percent = percent;
	windows->begin_ns = windows->opened_ns = job__now_ns();
	windows->cpu_ns = own_cpu_ns();
	ceiling__start(&windows->ceiling, percent, windows->begin_ns, windows->begin_ns);
	__atomic_add_fetch(&limited_trees, 1, __ATOMIC_RELAXED);
}

void tree_windows__close(struct tree *tree)
{
	if (tree->windows.limited)
		__atomic_sub_fetch(&limited_trees, 1, __ATOMIC_RELAXED);
	free(tree->windows.events);
	tree->windows = (struct windows){0};
}

void tree_windows__saw(struct tree *tree, unsigned int cpu, const struct ring_event *events, size_t count)
{
	struct windows *windows = &tree->windows;

	if (!windows->limited)
		return;
	if (cpu < windows->cpus)
		windows->events[cpu] += count;
	for (size_t i = 0; i < count; i++) {
		if (events[i].kind == RING_REGION_BEGIN)
			windows->inside++;
		else if (events[i].kind == RING_REGION_END && windows->inside > 0)
			windows->inside--;
	}
}

static void show(struct job_view *view, const void *ctx)
{
	view->ceiling = *(const struct job_ceiling *)ctx;
}

static void show_all(struct tree *tree)
{
	struct windows *windows = &tree->windows;
	uint64_t now = job__now_ns(), whole = now - windows->opened_ns;
	uint64_t recorded = windows->recorded_ns + (windows->ceiling.on ? now - windows->begin_ns : 0);
	struct job_ceiling shown = {
		.percent = windows->percent,
		.mode = windows->stopped ? "samples"
			: windows->count ? "windows"
					 : "all",
		.windows = windows->count,
		.recorded_percent = whole ? 100 * (double)recorded / (double)whole : 100,
		.cost_percent = whole ? 100 * windows->cost_ns / (double)whole : 0,
	};

	for (size_t i = 0; i < tree->target_count; i++)
		if (tree->targets[i].member)
			job__change(tree->targets[i].member->job, show, &shown);
	windows->shown_ns = now;
}

/* Threads change their CPUs from step to step: over a window the busiest one has less than in all steps. */
static uint64_t cost_of_window(const struct tree *tree)
{
	const struct windows *windows = &tree->windows;
	uint64_t most = 0;

	for (unsigned int i = 0; i < windows->cpus; i++)
		if (windows->events[windows->cpus + i] > most)
			most = windows->events[windows->cpus + i];
	return (uint64_t)(EVENT_WEIGHT * tree->ns_per_event * (double)most + windows->inside_ns);
}

static void tell(struct tree *tree, const struct target *target, uint64_t end_ns)
{
	struct windows *windows = &tree->windows;
	const struct recorder_window window = {.begin_ns = windows->begin_ns,
					       .end_ns = end_ns,
					       .cost_ns = end_ns ? cost_of_window(tree) : 0};

	if (target->member && target->member->recorder)
		recorder__window(target->member->recorder, &window);
}

void tree_windows__leave(struct tree *tree, const struct target *target)
{
	struct windows *windows = &tree->windows;
	uint64_t now = job__now_ns();
	const struct recorder_window none = {.begin_ns = now, .end_ns = now};

	if (!windows->count)
		return;
	if (windows->ceiling.on)
		tell(tree, target, now);
	else if (target->member && target->member->recorder)
		recorder__window(target->member->recorder, &none);
}

static void note(struct tree *tree)
{
	struct windows *windows = &tree->windows;
	char text[200];

	if (windows->stopped)
		snprintf(text, sizeof(text),
			 "ceiling: recording would cost more than %.3g %% of its time, and probes of this "
			 "kind cannot come and go: tasks and loops are recorded no more",
			 windows->percent);
	else
		snprintf(text, sizeof(text),
			 "ceiling: recording all would cost more than %.3g %% of its time: it is recorded in "
			 "windows, and counts are of those",
			 windows->percent);
	for (size_t i = 0; i < tree->target_count; i++)
		if (tree->targets[i].member)
			member__note(tree->targets[i].member, text);
}

/* Rings that processes fill by themselves need no probes. */
static bool can_pause(const struct tree *tree)
{
	if (capture__can_pause(tree->capture))
		return true;
	for (size_t i = 0; i < tree->target_count; i++)
		if (tree->targets[i].wants_probes)
			return false;
	return tree->fast;
}

bool tree_windows__pauses(const struct tree *tree)
{
	return tree->windows.limited && !tree->windows.ceiling.on;
}

static void end_window(struct tree *tree)
{
	struct windows *windows = &tree->windows;
	uint64_t now;

	windows->stopped = !can_pause(tree);
	ceiling__end(&windows->ceiling);
	capture__disable(tree->capture);
	tree__pause_shims(tree);
	now = job__now_ns();
	capture__pause(tree->capture);
	windows->recorded_ns += now - windows->begin_ns;
	if (!windows->count++)
		note(tree);
	for (size_t i = 0; i < tree->target_count; i++)
		tell(tree, &tree->targets[i], now);
	windows->inside = 0;
}

static void begin_window(struct tree *tree)
{
	struct windows *windows = &tree->windows;
	struct uprobes_error err = {.text = ""};
	uint64_t before = own_cpu_ns();
	double setting;

	if (capture__resume(tree->capture, &err) != 0)
		log__line(LOG_WARNING, "process %d: %s", (int)tree->targets[0].pid, err.text);
	/* On a CPU where the program could run. */
	setting = (double)(own_cpu_ns() - before);
	windows->cost_ns += setting;
	ceiling__set(&windows->ceiling, setting);
	/* Whatever is recorded from here on belongs to this window. */
	windows->begin_ns = job__now_ns();
	capture__enable(tree->capture);
	tree__resume_shims(tree);
	memset(windows->events, 0, 2 * windows->cpus * sizeof(*windows->events));
	windows->inside_ns = 0;
	windows->inside = 0;
	for (size_t i = 0; i < tree->target_count; i++)
		tell(tree, &tree->targets[i], 0);
}

void tree_windows__step(struct tree *tree)
{
	struct windows *windows = &tree->windows;
	uint64_t now = job__now_ns(), cpu = own_cpu_ns(), most = 0, all = 0;
	double probes, inside;

	if (!windows->limited)
		return;
	for (unsigned int i = 0; i < windows->cpus; i++) {
		all += windows->events[i];
		most = windows->events[i] > most ? windows->events[i] : most;
		windows->events[windows->cpus + i] += windows->events[i];
		windows->events[i] = 0;
	}
	probes = EVENT_WEIGHT * tree->ns_per_event * (double)most;
	/* Rings are emptied where the program could run; what else graind does is not for each event. */
	probes += fmin((double)(cpu - windows->cpu_ns), DRAIN_NS * (double)all);
	inside = EVENT_WEIGHT * tree__cost_of_shims(tree);
	if (inside > 0)
		inside += (double)(cpu - windows->cpu_ns);
	windows->inside_ns += inside;
	probes += inside;
	windows->cost_ns += probes;
	windows->cpu_ns = cpu;
	ceiling__spend(&windows->ceiling, probes, share_of_host(), now);
	if (ceiling__is_over(&windows->ceiling, windows->inside > 0))
		end_window(tree);
	else if (!windows->stopped && ceiling__begins(&windows->ceiling))
		begin_window(tree);
	if (now - windows->shown_ns > 250000000)
		show_all(tree);
}
