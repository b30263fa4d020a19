// SPDX-License-Identifier: BSD-2-Clause
/* The thread of a job: waits for a runtime, attaches, drains, ends. */
#include "daemon/graind/attach.h"
#include "daemon/graind/drain.h"
#include "daemon/graind/job.h"
#include "daemon/graind/log.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAIT_STEP_MS 50
#define SYMBOLIZE_SECONDS 30

struct run {
	struct job *job;
	struct recorder *recorder;
	struct runtime_file *runtimes; /* ATTACH_MAX_RUNTIMES of them */
	struct attachment attachment;
	struct drain_pace pace;
	bool waited;
	uint64_t deadline_ns; /* UINT64_MAX: none; counted anew when recording begins */
	uint64_t record_ns;   /* when recording began */
};

/* Why the job is over now, if it is. `timeout` may be NULL for ever. */
static enum job_reason wait_for_end(const struct run *run, const struct timespec *timeout)
{
	struct pollfd fds[] = {
		{.fd = run->job->pidfd, .events = POLLIN},
		{.fd = run->job->stop_fd, .events = POLLIN},
	};

	if (ppoll(fds, 2, timeout, NULL) > 0) {
		if (fds[0].revents)
			return JOB_EXIT;
		if (fds[1].revents)
			return job__wanted_stop(run->job);
	}
	return job__now_ns() >= run->deadline_ns ? JOB_DURATION : JOB_GOES_ON;
}

static enum job_reason look_for_end(const struct run *run)
{
	return wait_for_end(run, &(struct timespec){0});
}

/*
 * 1: runtimes are there, 0: the job is over before (*reason), -1 *failure.
 * While there is none the job is in the state "waiting".
 */
static int await_runtime(struct run *run, int *count, enum job_reason *reason, struct failure *failure)
{
	const struct timespec step = {.tv_nsec = WAIT_STEP_MS * 1000000};
	uint64_t seen = 0;

	for (;;) {
		uint64_t now = process__map_signature(run->job->process.pid);

		if (now != seen) {
			struct process *process = &run->job->process;

			/* It may have executed another program, even one of another user. */
			if (run->waited && (process__read_ids(process->pid, process) != 0 ||
					    !process__belongs_to(process, run->job->view.uid)))
				return failure__set(failure, 403, "process %d changed its user",
						    (int)process->pid);
			seen = now;
			*count = attach__find(process->pid, run->runtimes, failure);
			if (*count > 0)
				return 1;
			if (*count < 0 && (!run->waited || look_for_end(run) == JOB_GOES_ON))
				return -1;
		}
		if (!run->waited) {
			run->waited = true;
			job__set_state(run->job, JOB_WAITING);
		}
		*reason = wait_for_end(run, &step);
		if (*reason != JOB_GOES_ON)
			return 0;
	}
}

struct started {
	const struct process *process;
	double ns_per_event;
};

static void show_start(struct job_view *view, const void *ctx)
{
	const struct started *started = ctx;

	view->state = JOB_RUNNING;
	view->start_ns = job__now_ns();
	view->threads = started->process->threads;
	view->ns_per_event = started->ns_per_event;
	snprintf(view->exe, sizeof(view->exe), "%s", started->process->exe);
	snprintf(view->cmd, sizeof(view->cmd), "%s", started->process->cmd);
	snprintf(view->runtime, sizeof(view->runtime), "libgomp");
}

/* Probes in place, the trace begun, recording on: or nothing of all that. */
static int start(struct run *run, int count, struct failure *failure)
{
	struct job *job = run->job;
	struct recorder_capture about = {.runtime = "libgomp", .late = run->waited || !job->at_start};
	struct started started = {.process = &job->process};
	int error;

	/* Fresh: since it was looked at first it may have executed another program. */
	if (process__read(job->process.pid, &job->process) != 0)
		return failure__set(failure, 422, "process %d ended while it was being attached to",
				    (int)job->process.pid);
	if (!process__belongs_to(&job->process, job->view.uid))
		return failure__set(failure, 403, "process %d changed its user", (int)job->process.pid);
	error = recorder__new(job->dirfd, &job->process, &run->recorder);
	if (error)
		return failure__set(failure, 503, "cannot write the trace of job %llu: %s",
				    (unsigned long long)job->number, strerror(-error));
	if (attach__open(job->process.pid, run->runtimes, (size_t)count, &run->attachment, failure) != 0) {
		if (look_for_end(run) == JOB_EXIT)
			failure__set(failure, 422, "process %d ended while it was being attached to",
				     (int)job->process.pid);
		return -1;
	}
	if (look_for_end(run) == JOB_EXIT)
		return failure__set(failure, 422, "process %d ended while it was being attached to",
				    (int)job->process.pid);
	about.method = capture__method_name(run->attachment.capture);
	about.ns_per_event = started.ns_per_event = run->attachment.ns_per_event;
	about.attach_ns = job__now_ns();
	error = recorder__begin(run->recorder, &about);
	if (error)
		return failure__set(failure, 503, "cannot write the trace of job %llu: %s",
				    (unsigned long long)job->number, strerror(-error));
	job__note_method(job, about.method);
	capture__enable(run->attachment.capture);
	run->record_ns = job__now_ns();
	if (job->duration_s)
		run->deadline_ns = run->record_ns + job->duration_s * 1000000000u;
	job__change(job, show_start, &started);
	return 0;
}

static int feed(void *ctx, unsigned int cpu, const struct ring_event *events, size_t count)
{
	recorder__feed(ctx, cpu, events, count);
	return 0;
}

static enum job_reason record(struct run *run)
{
	enum job_reason reason;

	drain__set_urgent(true);
	drain_pace__start(&run->pace, run->job, run->record_ns);
	do {
		struct timespec nap;
		long got = capture__poll(run->attachment.capture, feed, run->recorder);

		drain_pace__tick(&run->pace, run->recorder, run->attachment.capture, got, &nap);
		reason = wait_for_end(run, &nap);
		if (reason == JOB_GOES_ON && run->pace.replaced)
			reason = JOB_EXIT;
	} while (reason == JOB_GOES_ON);
	drain__set_urgent(false);
	return reason;
}

struct ended {
	enum job_reason reason;
	enum job_state state;
	const char *error;
};

static void show_end(struct job_view *view, const void *ctx)
{
	const struct ended *ended = ctx;

	view->reason = ended->reason;
	view->end_ns = job__now_ns();
	if (ended->error)
		snprintf(view->error, sizeof(view->error), "%s", ended->error);
	view->state = ended->state;
}

/* Recording stops at once, the rest may take its time. */
static void end_recording(struct run *run, enum job_reason reason)
{
	const struct ended ended = {.reason = reason, .state = JOB_FINISHING};
	struct recorder_loss losses[DRAIN_CAUSES];
	size_t causes;
	int error;

	capture__disable(run->attachment.capture);
	/* Programs that had passed the switch may still be writing. */
	nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	while (capture__poll(run->attachment.capture, feed, run->recorder) > 0)
		;
	causes = drain__losses(run->attachment.capture, recorder__counts(run->recorder), losses);
	drain_pace__show(&run->pace, run->recorder, run->attachment.capture);
	job__change(run->job, show_end, &ended);
	capture__free(run->attachment.capture);
	run->attachment.capture = NULL;
	error = recorder__finish(run->recorder, job_reason__name(reason), losses, causes,
				 job__patience(run->job, SYMBOLIZE_SECONDS));
	run->recorder = NULL;
	job__conclude(run->job, true, error);
}

/* It ended while it waited for a runtime. */
static void end_waiting(struct run *run, enum job_reason reason)
{
	const struct ended ended = {
		.reason = reason,
		.state = JOB_FINISHING,
		.error = reason == JOB_EXIT
				 ? "the process ended without having used GCC's OpenMP runtime (libgomp.so)"
				 : "the process had not used GCC's OpenMP runtime (libgomp.so) until then",
	};

	job__change(run->job, show_end, &ended);
	job__conclude(run->job, false, 0);
}

/* It had been promised to record, and cannot. */
static void end_failed(struct run *run, const struct failure *failure)
{
	const struct ended ended = {.reason = JOB_EXIT, .state = JOB_FINISHING, .error = failure->text};

	log__line(LOG_WARNING, "job %llu: %s", (unsigned long long)run->job->number, failure->text);
	job__change(run->job, show_end, &ended);
	job__conclude(run->job, false, 0);
}

void *job_run__thread(void *argument)
{
	struct run run = {.job = argument, .deadline_ns = UINT64_MAX};
	struct failure failure = {.status = 0};
	enum job_reason reason = JOB_GOES_ON;
	int count = 0, found = -1;

	if (run.job->duration_s)
		run.deadline_ns = job__now_ns() + run.job->duration_s * 1000000000u;
	run.runtimes = calloc(ATTACH_MAX_RUNTIMES, sizeof(*run.runtimes));
	if (!run.runtimes)
		failure__set(&failure, 503, "graind is out of memory");
	else
		found = await_runtime(&run, &count, &reason, &failure);
	if (found > 0)
		found = start(&run, count, &failure) == 0 ? 1 : -1;
	free(run.runtimes);
	if (found < 0) {
		capture__free(run.attachment.capture);
		recorder__free(run.recorder);
	}
	/* Each of these gives the job away: exactly one is called. */
	if (found > 0)
		end_recording(&run, record(&run));
	else if (found == 0)
		end_waiting(&run, reason);
	else if (run.waited)
		end_failed(&run, &failure);
	else
		job__refuse(run.job, &failure);
	/* What a large capture took is not kept for the next one. */
	malloc_trim(0);
	return NULL;
}
