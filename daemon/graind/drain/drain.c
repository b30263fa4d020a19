// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/drain/drain.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/policy/optout.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SECOND_NS UINT64_C(1000000000)
#define SHOW_NS (SECOND_NS / 4)
/* At three million events a second a ring of 65536 slots fills in 20 ms. */
#define SHORT_NAP_NS UINT64_C(500000)
#define LONG_NAP_NS UINT64_C(20000000)
#define BUSY_EVENTS 64

static uint64_t exe_inode(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

void drain_pace__start(struct drain_pace *pace, struct job *job, uint64_t start_ns)
{
	*pace = (struct drain_pace){
		.job = job,
		.start_ns = start_ns,
		.flushed_ns = start_ns,
		.shown_ns = start_ns,
		.nap_ns = SHORT_NAP_NS,
		.exe_inode = exe_inode(job->process.pid),
	};
}

/*
 * A trace describes one program. If the process executes another program, the trace ends, as addresses of
 * code have a new meaning.
 */
static void look_at_program(struct drain_pace *pace)
{
	const struct process *was = &pace->job->process;
	uint64_t inode = exe_inode(was->pid);
	struct process now;

	if (pace->exe_inode && inode && inode != pace->exe_inode)
		pace->replaced = true;
	if (process__read_ids(was->pid, &now) != 0 || now.dead)
		return;
	/*
	 * A process that belonged to root is recorded after a change of its user, unless the new user has
	 * opted out.
	 */
	if (was->uid == 0 ? now.uid != 0 && optout__has(now.uid)
			  : now.uid != was->uid || now.one_user != was->one_user)
		pace->changed_user = true;
}

struct shown {
	struct job *job;
	int later;
	const struct ring_counts *counts;
	uint64_t lost[LOST_CAUSES], now_ns, start_ns;
	double events_per_s;
	struct live_measures live;
};

/* Needs the registry's lock. */
static void show_later(struct job *job, int later)
{
	job->spooled = later >= 0;
	if (!job->spooled || !job->later_wanted || job->later >= 0)
		return;
	job->later = fcntl(later, F_DUPFD_CLOEXEC, 0);
	job->later_wanted = false;
	pthread_cond_broadcast(&job->jobs->changed);
}

static void show(struct job_view *view, const void *ctx)
{
	const struct shown *shown = ctx;
	double seconds = (double)(shown->now_ns - shown->start_ns) / 1e9;

	view->events = shown->counts->events;
	view->grains = shown->counts->grains + shown->counts->inside.grains;
	memcpy(view->lost, shown->lost, sizeof(view->lost));
	view->events_per_s = shown->events_per_s;
	view->live = shown->live;
	if (shown->counts->largest_team)
		view->threads = shown->counts->largest_team;
	else if (shown->counts->inside.threads)
		view->threads = shown->counts->inside.threads;
	show_later(shown->job, shown->later);
	if (seconds > 0 && view->ns_per_event > 0)
		view->overhead_percent = 100 * (double)view->events * view->ns_per_event / 1e9 / seconds /
					 (view->threads ? view->threads : 1);
}

/* Without `wait`, does nothing if another thread holds the registry's lock. */
static void show_counts(struct drain_pace *pace, const struct recorder *recorder,
			const struct capture *capture, const struct capture_losses *before, bool wait)
{
	struct recorder_loss losses[DRAIN_CAUSES];
	struct shown shown = {.job = pace->job,
			      .later = recorder__later(recorder),
			      .counts = recorder__counts(recorder),
			      .start_ns = pace->start_ns};
	size_t causes = drain__losses(capture, pace->job->process.pid, before, shown.counts, losses);
	uint64_t elapsed;

	shown.lost[LOST_RING_FULL] = shown.counts->lost_reported;
	shown.lost[LOST_NOT_WRITTEN] = recorder__dropped(recorder);
	shown.lost[LOST_SHIM] = shown.counts->inside.lost;
	for (size_t i = 0; i < causes; i++)
		shown.lost[i] += losses[i].count;
	shown.now_ns = clock__now_ns();
	elapsed = shown.now_ns - pace->shown_ns;
	shown.events_per_s =
		elapsed ? (double)(shown.counts->events - pace->shown_events) * 1e9 / (double)elapsed : 0;
	recorder__live(recorder, &shown.live);
	if (wait)
		job__change(pace->job, show, &shown);
	else if (!job__try_change(pace->job, show, &shown))
		return;
	pace->shown_ns = shown.now_ns;
	pace->shown_events = shown.counts->events;
}

static void note_crowded(struct drain_pace *pace, const struct recorder *recorder)
{
	char text[160];

	if (pace->told_crowded || !recorder__is_crowded(recorder))
		return;
	pace->told_crowded = true;
	snprintf(text, sizeof(text),
		 "it has mapped executable files in more than %d places, which is as many as are kept: code "
		 "in "
		 "the others is without names",
		 MODULES_MAX);
	job__note(pace->job, text);
}

void drain_pace__show(struct drain_pace *pace, const struct recorder *recorder, const struct capture *capture,
		      const struct capture_losses *before)
{
	note_crowded(pace, recorder);
	show_counts(pace, recorder, capture, before, true);
}

void drain_pace__tick(struct drain_pace *pace, struct recorder *recorder, const struct capture *capture,
		      const struct capture_losses *before, long got, struct timespec *nap)
{
	uint64_t now = clock__now_ns();
	bool flush = now - pace->flushed_ns >= SECOND_NS;

	recorder__tick(recorder, flush);
	if (flush) {
		pace->flushed_ns = now;
		look_at_program(pace);
		note_crowded(pace, recorder);
	}
	if (now - pace->shown_ns >= SHOW_NS)
		show_counts(pace, recorder, capture, before, false);
	if (got >= BUSY_EVENTS)
		pace->nap_ns = SHORT_NAP_NS;
	else if (pace->nap_ns < LONG_NAP_NS)
		pace->nap_ns = pace->nap_ns * 2 < LONG_NAP_NS ? pace->nap_ns * 2 : LONG_NAP_NS;
	*nap = (struct timespec){.tv_nsec = (long)pace->nap_ns};
}

/* Returns the difference, or 0 if the counter was reset in between. */
static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

size_t drain__losses(const struct capture *capture, pid_t pid, const struct capture_losses *before,
		     const struct ring_counts *counts, struct recorder_loss losses[DRAIN_CAUSES])
{
	struct capture_losses lost;

	if (!capture)
		return 0;
	capture__losses_of(capture, pid, &lost);
	losses[LOST_RING_FULL].count = since(since(lost.ring_full, before->ring_full), counts->lost_reported);
	losses[LOST_RING_OVERWRITTEN].count = lost.overwritten - before->overwritten;
	losses[LOST_THREAD_STATE].count = since(lost.storage, before->storage);
	losses[LOST_UNKNOWN_BODIES].count = since(lost.bodies, before->bodies);
	for (enum job_loss i = 0; i < DRAIN_CAUSES; i++)
		losses[i].cause = job_loss__name(i);
	return DRAIN_CAUSES;
}

void drain__tell_lost_samples(const struct capture *capture, pid_t pid, const struct capture_losses *before,
			      struct recorder *recorder)
{
	struct capture_losses lost;

	capture__losses_of(capture, pid, &lost);
	recorder__lost_samples(recorder, since(lost.samples, before->samples),
			       since(lost.accesses, before->accesses));
}
