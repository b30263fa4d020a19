// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/drain/windows.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/base/log.h"
#include "daemon/graind/policy/policy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/*
 * The cost of an event of a program, in units of an event of the calibration. The calibration's events cost
 * less: they find everything in the caches, and the return addresses of their calls are not probed.
 */
#define EVENT_WEIGHT 1.6

/*
 * The cost of a hit that writes no event, in the same unit. Most of the cost of a hit or an event is the
 * kernel's way to the BPF program and back.
 */
#define HIT_WEIGHT 1.0

/* The cost of a sampling interrupt, in the same unit. The data that it writes count as events. */
#define ASKED_WEIGHT 5.0
/* The usual number of events for one sample with its stack. */
#define SAMPLE_EVENTS 4.0

/* An upper bound of the cost of draining one event. */
#define DRAIN_NS 500.0

/* The number of captures that share the host's ceiling. */
static unsigned int limited;

static uint64_t own_cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/*
 * Returns this capture's part of the host's ceiling, in percent of one CPU. HUGE_VAL: only the capture's
 * own ceiling counts.
 */
static double share_of_host(void)
{
	unsigned int sharing = __atomic_load_n(&limited, __ATOMIC_RELAXED);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct policy_limits limits;

	policy__limits(&limits);
	if (limits.host_ceiling_percent <= 0)
		return HUGE_VAL;
	return limits.host_ceiling_percent * (double)(cpus > 0 ? cpus : 1) / (sharing ? sharing : 1);
}

double windows__percent(double percent)
{
	struct policy_limits limits;

	policy__limits(&limits);
	if (limits.process_ceiling_percent > 0 && (percent <= 0 || limits.process_ceiling_percent < percent))
		percent = limits.process_ceiling_percent;
	if (limits.host_ceiling_percent > 0 && percent <= 0)
		percent = 100;
	return percent;
}

/* Sets a ceiling from now on. The budget starts empty. */
static void limit(struct windows *windows, double percent)
{
	for (unsigned int i = 0; i < windows->cpus; i++) {
		struct windows_cpu *cpu = &windows->by_cpu[i];

		cpu->passed = capture__passed(windows->capture, i);
		cpu->asked = capture__asked(windows->capture, i);
		cpu->window += cpu->step;
		cpu->step = 0;
	}
	windows->limited = true;
	windows->percent = percent;
	windows->limited_ns = clock__now_ns();
	windows->recorded_ns = 0;
	windows->cost_ns = 0;
	windows->inside = 0;
	windows->cpu_ns = own_cpu_ns();
	windows->pausing_ns = capture__pausing_ns(windows->capture);
	if (windows->members->cost_ns)
		windows->inside_ns += EVENT_WEIGHT * windows->members->cost_ns(windows->owner);
	ceiling__start(&windows->ceiling, percent, windows->limited_ns, windows->limited_ns);
	__atomic_add_fetch(&limited, 1, __ATOMIC_RELAXED);
}

void windows__open(struct windows *windows, struct capture *capture, double ns_per_event, double percent,
		   const struct windows_members *members, void *owner)
{
	*windows = (struct windows){.capture = capture,
				    .ns_per_event = ns_per_event,
				    .asked_percent = percent,
				    .members = members,
				    .owner = owner,
				    .generation = policy__generation()};
	if (ns_per_event <= 0)
		return;
	windows->cpus = (unsigned int)sysconf(_SC_NPROCESSORS_CONF);
	windows->by_cpu = calloc(windows->cpus, sizeof(*windows->by_cpu));
	if (!windows->by_cpu)
		return;
	windows->begin_ns = clock__now_ns();
	percent = windows__percent(percent);
	if (percent > 0)
		limit(windows, percent);
}

void windows__close(struct windows *windows)
{
	if (windows->limited)
		__atomic_sub_fetch(&limited, 1, __ATOMIC_RELAXED);
	free(windows->by_cpu);
	*windows = (struct windows){0};
}

void windows__saw(struct windows *windows, unsigned int cpu, const struct ring_event *events, size_t count)
{
	if (cpu < windows->cpus)
		windows->by_cpu[cpu].step += count;
	for (size_t i = 0; windows->limited && i < count; i++) {
		if (events[i].kind == RING_REGION_BEGIN)
			windows->inside++;
		else if (events[i].kind == RING_REGION_END && windows->inside > 0)
			windows->inside--;
	}
}

/* Returns the time of the current window during which there was a ceiling. */
static uint64_t window_ns(const struct windows *windows, uint64_t now)
{
	return now - (windows->begin_ns > windows->limited_ns ? windows->begin_ns : windows->limited_ns);
}

static struct job_ceiling ceiling_of(const struct windows *windows, uint64_t now)
{
	uint64_t whole = now - windows->limited_ns;
	uint64_t recorded = windows->recorded_ns + (windows->ceiling.on ? window_ns(windows, now) : 0);

	return (struct job_ceiling){
		.percent = windows->percent,
		.mode = windows->stopped		     ? "samples"
			: windows->limited && windows->count ? "windows"
							     : "all",
		.windows = windows->count,
		.recorded_percent = whole ? 100 * (double)recorded / (double)whole : 100,
		.cost_percent = !windows->limited ? NAN
				: whole		  ? 100 * windows->cost_ns / (double)whole
						  : 0,
	};
}

/*
 * Whether a job's ceiling must be described: it has a ceiling now, or it had one and was recorded in
 * windows.
 */
static bool concerns(const struct windows *windows, const struct recorder *recorder)
{
	return windows->limited || (recorder && recorder__is_parted(recorder));
}

static void show(struct job_view *view, const void *ctx)
{
	view->ceiling = *(const struct job_ceiling *)ctx;
}

static void show_job(struct job *job, struct recorder *recorder, const void *ctx)
{
	const struct windows *windows = ctx;
	struct job_ceiling shown = {.percent = 0};

	if (concerns(windows, recorder))
		shown = ceiling_of(windows, windows->shown_ns);
	job__change(job, show, &shown);
}

static void show_all(struct windows *windows)
{
	windows->shown_ns = clock__now_ns();
	windows->members->each(windows->owner, show_job, windows);
}

/*
 * Returns the cost of the window on its busiest CPU. As threads move between CPUs, this is less than the
 * sum over all steps of the busiest CPU's cost.
 */
static uint64_t cost_of_window(const struct windows *windows)
{
	uint64_t most = 0;

	for (unsigned int i = 0; i < windows->cpus; i++)
		if (windows->by_cpu[i].window > most)
			most = windows->by_cpu[i].window;
	return (uint64_t)(EVENT_WEIGHT * windows->ns_per_event * (double)most + windows->inside_ns);
}

static void tell_job(struct job *job, struct recorder *recorder, const void *window)
{
	(void)job;
	if (recorder)
		recorder__window(recorder, window);
}

static void tell_coming(struct windows *windows, const struct recorder_window *window)
{
	if (windows->members->tell)
		windows->members->tell(windows->owner, window);
}

/* Returns the window up to end_ns; 0: it has just begun. */
static struct recorder_window window_until(const struct windows *windows, uint64_t end_ns)
{
	return (struct recorder_window){.begin_ns = windows->begin_ns,
					.end_ns = end_ns,
					.cost_ns = end_ns ? cost_of_window(windows) : 0};
}

void windows__leave(const struct windows *windows, struct job *job, struct recorder *recorder)
{
	uint64_t now = clock__now_ns();
	struct recorder_window window = {.begin_ns = now, .end_ns = now};
	struct job_ceiling shown;

	if (!concerns(windows, recorder))
		return;
	shown = ceiling_of(windows, now);
	job__change(job, show, &shown);
	if (!windows->count || !recorder)
		return;
	if (windows->ceiling.on)
		window = window_until(windows, now);
	recorder__window(recorder, &window);
}

#define NOTE_BYTES 200

/* Whether the cost of samples alone is below the ceiling. */
static bool samples_fit(const struct windows *windows)
{
	struct capture_sampling sampling;

	capture__sampling(windows->capture, &sampling);
	return sampling.hz * (ASKED_WEIGHT + SAMPLE_EVENTS * EVENT_WEIGHT) * windows->ns_per_event * 1e-7 <
	       windows->percent;
}

static void write_note(const struct windows *windows, char text[NOTE_BYTES])
{
	struct capture_sampling sampling;

	capture__sampling(windows->capture, &sampling);
	if (windows->stopped)
		snprintf(text, NOTE_BYTES,
			 "ceiling: recording would cost more than %.3g %% of its time, and probes of this "
			 "kind cannot come and go: tasks and loops are recorded no more%s",
			 windows->percent,
			 !sampling.clock	? ""
			 : samples_fit(windows) ? ", where its threads are goes on being sampled"
						: ", nor are samples taken, which would cost more, too");
	else
		snprintf(text, NOTE_BYTES,
			 "ceiling: recording all would cost more than %.3g %% of its time: it is recorded in "
			 "windows, and counts are of those",
			 windows->percent);
}

/* Suggests to record from inside. Only the user can change to that, as it needs the user's rights. */
static void hint(const struct windows *windows, struct job *job)
{
	struct policy_limits limits;
	char text[NOTE_BYTES];

	policy__limits(&limits);
	if (!limits.allow_fast || windows->members->resume || !job->process.pid)
		return;
	snprintf(text, NOTE_BYTES,
		 "ceiling: from inside an event costs less, and more would be recorded: grainctl detach %llu "
		 "&& "
		 "grainctl attach --fast %d",
		 (unsigned long long)job->number, (int)job->process.pid);
	job__note(job, text);
}

static void note_job(struct job *job, struct recorder *recorder, const void *ctx)
{
	char text[NOTE_BYTES];

	(void)recorder;
	write_note(ctx, text);
	job__note(job, text);
	hint(ctx, job);
}

static void note(struct windows *windows)
{
	windows->noted = true;
	windows->members->each(windows->owner, note_job, windows);
}

void windows__enter(const struct windows *windows, struct job *job)
{
	struct job_ceiling shown;

	if (!windows->limited)
		return;
	shown = ceiling_of(windows, clock__now_ns());
	job__change(job, show, &shown);
	if (windows->noted)
		note_job(job, NULL, windows);
}

bool windows__pauses(const struct windows *windows)
{
	return windows->limited && !windows->ceiling.on;
}

bool windows__is_watchful(const struct windows *windows)
{
	return windows->limited && windows->ceiling.on;
}

static bool can_pause(const struct windows *windows)
{
	const struct windows_members *members = windows->members;

	return capture__can_pause(windows->capture) ||
	       (members->need_no_probes && members->need_no_probes(windows->owner));
}

static void end_window(struct windows *windows)
{
	struct recorder_window window;
	uint64_t now;

	windows->stopped = !can_pause(windows);
	ceiling__end(&windows->ceiling);
	capture__disable(windows->capture);
	if (windows->stopped && samples_fit(windows))
		capture__keep_sampling(windows->capture);
	if (windows->members->pause)
		windows->members->pause(windows->owner);
	now = clock__now_ns();
	window = window_until(windows, now);
	/*
	 * This comes before the probes are removed, because removing takes milliseconds, in which many
	 * processes begin and end.
	 */
	tell_coming(windows, &window);
	capture__pause(windows->capture);
	windows->recorded_ns += window_ns(windows, now);
	windows->count++;
	if (!windows->noted)
		note(windows);
	windows->members->each(windows->owner, tell_job, &window);
	windows->inside = 0;
}

static void begin_window(struct windows *windows)
{
	struct uprobes_error err = {.text = ""};
	struct recorder_window window;
	uint64_t before = own_cpu_ns();
	double setting;

	if (capture__resume(windows->capture, &err) != 0)
		log__line(LOG_WARNING, "a window of a recording with a ceiling: %s", err.text);
	/* The CPU time was taken from a CPU on which the program could have run. */
	setting = (double)(own_cpu_ns() - before);
	windows->cost_ns += setting;
	ceiling__set(&windows->ceiling, setting);
	windows->cpu_ns = own_cpu_ns();
	/* Everything that is recorded from here on belongs to this window. */
	windows->begin_ns = clock__now_ns();
	capture__enable(windows->capture);
	if (windows->members->resume)
		windows->members->resume(windows->owner);
	for (unsigned int i = 0; i < windows->cpus; i++)
		windows->by_cpu[i].step = windows->by_cpu[i].window = 0;
	windows->inside_ns = 0;
	windows->inside = 0;
	window = window_until(windows, 0);
	windows->members->each(windows->owner, tell_job, &window);
	tell_coming(windows, &window);
}

/*
 * Returns the cost of hits on the busiest CPU since the last step. *all: number of events on all CPUs. Hits
 * occur also between windows, until the last breakpoint is removed.
 */
static double cost_of_hits(struct windows *windows, uint64_t *all)
{
	double most = 0;

	*all = 0;
	for (unsigned int i = 0; i < windows->cpus; i++) {
		struct windows_cpu *cpu = &windows->by_cpu[i];
		uint64_t passed = capture__passed(windows->capture, i),
			 asked = capture__asked(windows->capture, i);
		double hits = EVENT_WEIGHT * (double)cpu->step + HIT_WEIGHT * (double)(passed - cpu->passed) +
			      ASKED_WEIGHT * (double)(asked - cpu->asked);

		most = hits > most ? hits : most;
		*all += cpu->step;
		cpu->window += cpu->step;
		cpu->step = 0;
		cpu->passed = passed;
		cpu->asked = asked;
	}
	return windows->ns_per_event * most;
}

/* Returns the cost of recording by libgrainshim since the last step. */
static double cost_inside(struct windows *windows, uint64_t drained_ns)
{
	const struct windows_members *members = windows->members;
	double cost = members->cost_ns ? EVENT_WEIGHT * members->cost_ns(windows->owner) : 0;

	if (cost > 0)
		cost += (double)drained_ns;
	windows->inside_ns += cost;
	return cost;
}

static void spend(struct windows *windows)
{
	uint64_t now = clock__now_ns(), cpu = own_cpu_ns(), pausing, all;
	double probes = cost_of_hits(windows, &all);

	/*
	 * Draining runs on CPUs that the program could use. graind's other CPU time does not grow with
	 * events.
	 */
	probes += fmin((double)(cpu - windows->cpu_ns), DRAIN_NS * (double)all);
	probes += cost_inside(windows, cpu - windows->cpu_ns);
	pausing = capture__pausing_ns(windows->capture);
	probes += (double)(pausing - windows->pausing_ns);
	windows->pausing_ns = pausing;
	windows->cost_ns += probes;
	windows->cpu_ns = cpu;
	ceiling__spend(&windows->ceiling, probes, share_of_host(), now);
	if (ceiling__is_over(&windows->ceiling, windows->inside > 0))
		end_window(windows);
	else if (!windows->stopped && ceiling__begins(&windows->ceiling))
		begin_window(windows);
}

static void note_lifted(struct job *job, struct recorder *recorder, const void *ctx)
{
	(void)ctx;
	if (recorder && recorder__is_parted(recorder))
		job__note(job, "ceiling: the settings have none any more: from here on all is recorded");
}

static void lift(struct windows *windows)
{
	windows->limited = windows->noted = false;
	windows->percent = 0;
	__atomic_sub_fetch(&limited, 1, __ATOMIC_RELAXED);
	if (ceiling__lift(&windows->ceiling))
		begin_window(windows);
	windows->members->each(windows->owner, note_lifted, NULL);
	show_all(windows);
}

/* A reloaded policy also applies to running recordings, unless their probes cannot be set again. */
static void follow_policy(struct windows *windows)
{
	unsigned int generation = policy__generation();
	double percent;

	if (generation == windows->generation || windows->stopped)
		return;
	windows->generation = generation;
	percent = windows__percent(windows->asked_percent);
	if (percent > 0 && !windows->limited) {
		limit(windows, percent);
	} else if (percent > 0) {
		windows->percent = percent;
		ceiling__change(&windows->ceiling, percent);
	} else if (windows->limited) {
		lift(windows);
	}
}

void windows__step(struct windows *windows)
{
	if (!windows->by_cpu)
		return;
	follow_policy(windows);
	if (windows->limited)
		spend(windows);
	if ((windows->limited || windows->count) && clock__now_ns() - windows->shown_ns > 250000000)
		show_all(windows);
}
