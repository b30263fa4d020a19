// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/tree/tree_member.h"
#include "daemon/graind/attach/attach.h"
#include "daemon/common/job_store/job_store.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/summary/job_conclude.h"
#include "daemon/graind/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SYMBOLIZE_SECONDS 30
#define SHIM_CAUSES 4
/* How long a job that ends may wait for room for the data that are left in its rings. */
#define END_SECONDS 30

struct tree_member *tree_member__of(struct job *job)
{
	struct tree_member *member = calloc(1, sizeof(*member));

	if (member)
		*member = (struct tree_member){.job = job, .until_ns = UINT64_MAX};
	return member;
}

struct tree_member *tree_member__new(struct jobs *jobs, const struct process *process, int pidfd,
				     uint64_t parent_job, struct failure *failure)
{
	const struct job_opts opts = {.process = process,
				      .pid = process->pid,
				      .parent_job = parent_job,
				      .origin = JOB_OF_USER};
	struct tree_member *member = tree_member__of(NULL);

	if (!member) {
		failure__set(failure, 503, "graind is out of memory");
		return NULL;
	}
	if (job__enter(jobs, &opts, &member->job, failure) != 0) {
		free(member);
		return NULL;
	}
	member->fleeting = true;
	member->job->pidfd = fcntl(pidfd, F_DUPFD_CLOEXEC, 0);
	return member;
}

struct begun {
	const struct process *process;
	const struct tree_member_start *start;
};

static void show_begin(struct job_view *view, const void *ctx)
{
	const struct begun *begun = ctx;

	view->state = JOB_RUNNING;
	view->start_ns = clock__now_ns();
	view->threads = begun->process->threads;
	view->mpi = begun->process->mpi;
	view->ns_per_event = begun->start->ns_per_event;
	snprintf(view->exe, sizeof(view->exe), "%s", begun->process->exe);
	snprintf(view->cmd, sizeof(view->cmd), "%s", begun->process->cmd);
	snprintf(view->runtime, sizeof(view->runtime), "%s", begun->start->runtime);
	snprintf(view->method, sizeof(view->method), "%s", begun->start->method);
}

/*
 * Whether to wait for room. This is the case if the job's thread has no events of other processes, and the
 * job does not end or began to end only recently.
 */
static bool may_wait(void *ctx)
{
	struct tree_member *member = ctx;
	uint64_t now = clock__now_ns();

	if (!member->alone || job__wanted_stop(member->job) == JOB_GOES_ON)
		return member->alone;
	if (!member->waits_until_ns)
		member->waits_until_ns = now + job__patience(member->job, END_SECONDS) * UINT64_C(1000000000);
	return now < member->waits_until_ns;
}

/* Root's job stays root's. If the process now belongs to another user, nothing is shown of it. */
static void take_process(struct job *job, const struct process *now)
{
	if (job->view.uid == 0)
		process__make_roots(memcpy(&job->process, now, sizeof(*now)));
	else if (process__belongs_to(now, job->view.uid))
		job->process = *now;
	else
		job->process.one_user = false;
}

int tree_member__begin(struct tree_member *member, const struct tree_member_start *start,
		       const struct capture *capture, struct failure *failure)
{
	struct recorder_capture about = {
		.runtime = start->runtime,
		.ns_per_event = start->ns_per_event,
		.attach_ns = start->attach_ns,
		.late = start->late,
		.source = start->source,
		.no_kernel_names = start->no_kernel_names,
	};
	struct job *job = member->job;
	struct begun begun = {&job->process, start};
	struct process *now = calloc(1, sizeof(*now));
	int error;

	if (!now)
		return failure__set(failure, 503, "graind is out of memory");
	attach__describe(capture, &about);

	/* Reads the process again: since the first time it may have executed another program, or ended. */
	if (process__read(job->process.pid, now) == 0 && now->exe[0])
		take_process(job, now);
	free(now);
	if (!process__belongs_to(&job->process, job->view.uid))
		return failure__set(failure, 403, "process %d changed its user", (int)job->process.pid);
	error = recorder__new(job->dirfd, &job->process, job__ceiling(job), &member->recorder);
	if (!error)
		recorder__waits(member->recorder, may_wait, member);
	if (!error)
		error = recorder__begin(member->recorder, &about);
	if (error) {
		recorder__free(member->recorder);
		member->recorder = NULL;
		return failure__set(failure, 503, "cannot write the trace of job %llu: %s",
				    (unsigned long long)job->number, strerror(-error));
	}
	capture__losses_of(capture, job->process.pid, &member->before);
	drain_pace__start(&member->pace, job, clock__now_ns());
	job__change(job, show_begin, &begun);
	return 0;
}

static void show_waiting(struct job_view *view, const void *ctx)
{
	const struct process *process = ctx;

	view->state = JOB_WAITING;
	snprintf(view->exe, sizeof(view->exe), "%s", process->exe);
	snprintf(view->cmd, sizeof(view->cmd), "%s", process->cmd);
	view->runtime[0] = 0;
}

bool tree_member__has_events(struct tree_member *member)
{
	if (member->recorder && member->shim)
		shim_rings__drain(member->shim, member->recorder, true);
	return member->recorder && recorder__counts(member->recorder)->events > 0;
}

void tree_member__start_over(struct tree_member *member)
{
	struct job *job = member->job;
	struct process *now;

	/* These are the rings of the earlier program. */
	shim_rings__free(member->shim);
	member->shim = NULL;
	if (member->recorder) {
		recorder__free(member->recorder);
		member->recorder = NULL;
		unlinkat(job->dirfd, TRACE_FILE, 0);
	}
	now = calloc(1, sizeof(*now));
	if (now && process__read(job->process.pid, now) == 0)
		take_process(job, now);
	free(now);
	job__change(job, show_waiting, &job->process);
}

static void show_runtime(struct job_view *view, const void *runtime)
{
	snprintf(view->runtime, sizeof(view->runtime), "%s", (const char *)runtime);
}

void tree_member__runtime(struct tree_member *member, const char *runtime)
{
	recorder__runtime(member->recorder, runtime);
	job__change(member->job, show_runtime, runtime);
}

void tree_member__note(struct tree_member *member, const char *text)
{
	job__note(member->job, text);
}

struct ending {
	struct tree_member *member;
	enum job_reason reason;
	const char *error;
	struct recorder_loss losses[DRAIN_CAUSES + SHIM_CAUSES];
	size_t causes;
};

static void show_ending(struct job_view *view, const void *ctx)
{
	const struct ending *ending = ctx;

	view->reason = ending->reason;
	view->end_ns = clock__now_ns();
	if (ending->error)
		snprintf(view->error, sizeof(view->error), "%s", ending->error);
	view->state = JOB_FINISHING;
}

static void *finish(void *argument)
{
	struct ending *ending = argument;
	struct tree_member *member = ending->member;
	bool recorded = member->recorder != NULL;
	int error = 0, unnamed = 0;

	pthread_setname_np(pthread_self(), "graind-finish");
	if (recorded)
		error = recorder__finish(member->recorder, job_reason__name(ending->reason), ending->losses,
					 ending->causes, job__patience(member->job, SYMBOLIZE_SECONDS),
					 &unnamed);
	job__note_unnamed(member->job, unnamed);
	job__conclude(member->job, recorded, error);
	free(member);
	free(ending);
	return NULL;
}

static void show_cost(struct job_view *view, const void *ctx)
{
	view->ns_per_event = *(const double *)ctx;
}

void tree_member__cost(struct tree_member *member, double ns_per_event)
{
	member->costless = false;
	if (member->recorder)
		recorder__cost(member->recorder, ns_per_event);
	job__change(member->job, show_cost, &ns_per_event);
}

/* Takes everything that the process has written so far. */
static void end_shim(struct tree_member *member, struct shim_losses *losses)
{
	struct inside_counts counts;

	shim_rings__disable(member->shim);
	/* Threads that began an event before the switch was turned off may still be writing. */
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	if (member->recorder) {
		/* Drains words that were left for lack of room, and words that were written after that. */
		shim_rings__drain(member->shim, member->recorder, true);
		shim_rings__drain(member->shim, member->recorder, true);
		shim_rings__counts(member->shim, &counts);
		recorder__inside(member->recorder, &counts);
		recorder__cost(member->recorder, shim_rings__ns_per_event(member->shim));
	}
	shim_rings__losses(member->shim, losses);
	shim_rings__free(member->shim);
	member->shim = NULL;
	if (losses->stopped)
		tree_member__note(member,
				  "its rings were full for three seconds, or it ended its recording by "
				  "itself: what it did "
				  "after that is missing");
	if (losses->impossible)
		tree_member__note(member,
				  "the process says more of its tasks or its lost events than there can "
				  "have been: what it says of that is left out, and what it wrote may be as "
				  "wrong");
}

void tree_member__close(struct tree_member *member, enum job_reason reason, const struct capture *capture,
			const char *error)
{
	struct ending *ending;
	struct shim_losses shim = {0};
	const struct ending shown = {.reason = reason, .error = member->recorder ? NULL : error};

	if (member->shim)
		end_shim(member, &shim);
	if (member->fleeting && (!member->recorder || !recorder__counts(member->recorder)->events)) {
		recorder__free(member->recorder);
		job__discard(member->job);
		free(member);
		return;
	}
	ending = calloc(1, sizeof(*ending));
	if (member->recorder) {
		drain_pace__show(&member->pace, member->recorder, capture, &member->before);
		attach__tell_shares(capture, member->recorder);
		drain__tell_lost_samples(capture, member->job->process.pid, &member->before,
					 member->recorder);
	}
	job__change(member->job, show_ending, &shown);
	if (ending) {
		*ending = shown;
		ending->member = member;
		if (member->recorder)
			ending->causes = drain__losses(capture, member->job->process.pid, &member->before,
						       recorder__counts(member->recorder), ending->losses);
		ending->losses[ending->causes++] = (struct recorder_loss){"shim-ring-full", shim.full};
		ending->losses[ending->causes++] = (struct recorder_loss){"shim-ring-broken", shim.broken};
		ending->losses[ending->causes++] = (struct recorder_loss){"shim-no-ring", shim.unseated};
		ending->losses[ending->causes++] = (struct recorder_loss){"shim-stopped", shim.stopped};
		if (job__start_thread(finish, ending) == 0)
			return;
	}
	free(ending);
	recorder__free(member->recorder);
	job__conclude(member->job, false, -ENOMEM);
	free(member);
}
