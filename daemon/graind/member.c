// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/member.h"
#include "daemon/graind/attach.h"
#include "daemon/common/job_store.h"
#include "daemon/graind/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SYMBOLIZE_SECONDS 30
#define SHIM_CAUSES 4

struct member *member__of(struct job *job)
{
	struct member *member = calloc(1, sizeof(*member));

	if (member)
		*member = (struct member){.job = job, .until_ns = UINT64_MAX};
	return member;
}

struct member *member__new(struct jobs *jobs, const struct process *process, int pidfd, uint64_t parent_job,
			   struct failure *failure)
{
	struct member *member = member__of(NULL);

	if (!member) {
		failure__set(failure, 503, "graind is out of memory");
		return NULL;
	}
	if (job__enter(jobs, process, process->pid, parent_job, false, &member->job, failure) != 0) {
		free(member);
		return NULL;
	}
	member->fleeting = true;
	member->job->pidfd = fcntl(pidfd, F_DUPFD_CLOEXEC, 0);
	return member;
}

struct begun {
	const struct process *process;
	const struct member_start *start;
};

static void show_begin(struct job_view *view, const void *ctx)
{
	const struct begun *begun = ctx;

	view->state = JOB_RUNNING;
	view->start_ns = job__now_ns();
	view->threads = begun->process->threads;
	view->mpi = begun->process->mpi;
	view->ns_per_event = begun->start->ns_per_event;
	snprintf(view->exe, sizeof(view->exe), "%s", begun->process->exe);
	snprintf(view->cmd, sizeof(view->cmd), "%s", begun->process->cmd);
	snprintf(view->runtime, sizeof(view->runtime), "%s", begun->start->runtime);
	snprintf(view->method, sizeof(view->method), "%s", begun->start->method);
}

int member__begin(struct member *member, const struct member_start *start, const struct capture *capture,
		  struct failure *failure)
{
	struct recorder_capture about = {
		.runtime = start->runtime,
		.ns_per_event = start->ns_per_event,
		.attach_ns = start->attach_ns,
		.late = start->late,
		.source = start->source,
	};
	struct job *job = member->job;
	struct begun begun = {&job->process, start};
	struct process *now = calloc(1, sizeof(*now));
	int error;

	if (!now)
		return failure__set(failure, 503, "graind is out of memory");
	attach__describe(capture, &about);

	/* Fresh: since it was looked at first it may have executed another program, or ended. */
	if (process__read(job->process.pid, now) == 0 && now->exe[0])
		job->process = *now;
	free(now);
	if (!process__belongs_to(&job->process, job->view.uid))
		return failure__set(failure, 403, "process %d changed its user", (int)job->process.pid);
	error = recorder__new(job->dirfd, &job->process, job__ceiling(job), &member->recorder);
	if (!error)
		error = recorder__begin(member->recorder, &about);
	if (error) {
		recorder__free(member->recorder);
		member->recorder = NULL;
		return failure__set(failure, 503, "cannot write the trace of job %llu: %s",
				    (unsigned long long)job->number, strerror(-error));
	}
	capture__losses_of(capture, job->process.pid, &member->before);
	drain_pace__start(&member->pace, job, job__now_ns());
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

void member__start_over(struct member *member)
{
	struct job *job = member->job;

	if (member->recorder) {
		recorder__free(member->recorder);
		member->recorder = NULL;
		unlinkat(job->dirfd, TRACE_FILE, 0);
	}
	process__read(job->process.pid, &job->process);
	job__change(job, show_waiting, &job->process);
}

static void show_runtime(struct job_view *view, const void *runtime)
{
	snprintf(view->runtime, sizeof(view->runtime), "%s", (const char *)runtime);
}

void member__runtime(struct member *member, const char *runtime)
{
	recorder__runtime(member->recorder, runtime);
	job__change(member->job, show_runtime, runtime);
}

void member__note(struct member *member, const char *text)
{
	job__note(member->job, text);
}

struct ending {
	struct member *member;
	enum job_reason reason;
	const char *error;
	struct recorder_loss losses[DRAIN_CAUSES + SHIM_CAUSES];
	size_t causes;
};

static void show_ending(struct job_view *view, const void *ctx)
{
	const struct ending *ending = ctx;

	view->reason = ending->reason;
	view->end_ns = job__now_ns();
	if (ending->error)
		snprintf(view->error, sizeof(view->error), "%s", ending->error);
	view->state = JOB_FINISHING;
}

static void *finish(void *argument)
{
	struct ending *ending = argument;
	struct member *member = ending->member;
	bool recorded = member->recorder != NULL;
	int error = 0, unnamed = 0;

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

/* All that the process has written by now. */
static void end_shim(struct member *member, struct shim_losses *losses)
{
	struct inside_counts counts;

	shim_rings__disable(member->shim);
	/* Threads that had passed the switch may still be writing. */
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	if (member->recorder) {
		shim_rings__drain(member->shim, member->recorder);
		shim_rings__counts(member->shim, &counts);
		recorder__inside(member->recorder, &counts);
		recorder__cost(member->recorder, shim_rings__ns_per_event(member->shim));
	}
	shim_rings__losses(member->shim, losses);
	shim_rings__free(member->shim);
	member->shim = NULL;
	if (losses->stopped)
		member__note(member, "its rings were full for three seconds, or it ended its recording by "
				     "itself: what it did "
				     "after that is missing");
}

void member__close(struct member *member, enum job_reason reason, const struct capture *capture,
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
