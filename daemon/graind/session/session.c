// SPDX-License-Identifier: BSD-2-Clause
/*
 * The session records every process of the machine: it has one capture without a filter, and a job for each
 * process whose events arrive. The session itself is also a job, but has no trace.
 */
#include "daemon/graind/session/session_state.h"
#include "daemon/graind/attach/attach.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/drain/drain_home.h"
#include "daemon/graind/summary/job_conclude.h"
#include "daemon/graind/base/log.h"
#include "daemon/graind/policy/optout.h"
#include "daemon/graind/policy/policy.h"
#include "daemon/graind/session/session.h"
#include "daemon/graind/base/urgency.h"

#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Threads of the pool spend most of their time waiting for locks of the kernel and for files. */
#define ORDINARY_THREADS 8
/* Further threads. They wait for workers that search for runtimes. */
#define PATIENT_THREADS 4
#define SHORT_NAP_NS 500000
#define LONG_NAP_NS 16000000
/* The nap while a window may have to end soon. */
#define WATCHFUL_NAP_NS 4000000
#define BUSY_EVENTS 64

/* ---- the loop --------------------------------------------------------- */

static int feed(void *ctx, unsigned int cpu, const struct ring_event *events, size_t count)
{
	struct session *session = ctx;

	windows__saw(&session->windows, cpu, events, count);
	session_files__saw(&session->files, events, count);
	session_members__feed(session, cpu, events, count);
	return 0;
}

static enum job_reason member_reason(const struct session_member *member)
{
	struct pollfd fds[] = {
		{.fd = member->job->pidfd, .events = POLLIN},
		{.fd = member->job->stop_fd, .events = POLLIN},
	};

	if (poll(fds, 2, 0) > 0) {
		if (fds[0].revents)
			return JOB_EXIT;
		if (fds[1].revents)
			return job__wanted_stop(member->job);
	}
	if (member->until_ns != UINT64_MAX)
		return JOB_EXEC;
	return member->pace.replaced || member->pace.changed_user ? JOB_EXIT : JOB_GOES_ON;
}

void session__follow(struct session *session)
{
	struct watch_event event;

	if (!session->watch)
		return;
	session->followed_ns = clock__now_ns();
	watch__sync(session->watch);
	while (watch__next(session->watch, &event)) {
		if (event.kind == WATCH_EXEC)
			session_members__executed(session, &event);
		else if (event.kind == WATCH_KNOWN)
			session_members__look(session, event.pid, event.time_ns);
		else if (event.kind == WATCH_MISSED)
			session_files__look_everywhere(&session->files);
		if (event.kind == WATCH_MAP ||
		    (event.kind == WATCH_KNOWN && atomic_load(&session->files.needs_bodies)))
			session_files__look(&session->files, event.pid, event.time_ns);
	}
}

/* Takes the results of other threads. */
static void take_up(struct session *session)
{
	uint64_t time_ns;
	pid_t pid;

	session__follow(session);
	while (session_files__done(&session->files, &pid, &time_ns))
		if (pid)
			session_members__look(session, pid, time_ns);
	session_members__advance(session);
}

/*
 * Reads the reasons for ends before the rings: if a process has already ended, the rings contain everything
 * that it did.
 */
static long drain(struct session *session)
{
	enum job_reason reasons[SESSION_MOST];
	struct timespec ignored;
	uint64_t began_ns;
	size_t before;
	bool filled;
	long got;

	urgency__rest(&session->urgency);
	refusals__follow(&session->refusals, policy__generation() + optout__generation());
	take_up(session);
	before = session->member_count;
	for (size_t i = 0; i < before; i++)
		reasons[i] = member_reason(&session->members[i]);
	began_ns = clock__now_ns();
	urgency__rush(&session->urgency, URGENCY_DRAIN);
	filled = event_buffer__fill(session->buffer);
	/* Processing events is not urgent, because another thread empties the rings meanwhile. */
	urgency__rest(&session->urgency);
	got = event_buffer__empty(session->buffer, feed, session);
	for (size_t i = 0; i < session->member_count; i++) {
		struct session_member *member = &session->members[i];

		if (filled && got >= 0)
			recorder__fed(member->recorder, began_ns);
		drain_pace__tick(&member->pace, member->recorder, session->capture, &member->before, 0,
				 &ignored);
	}
	for (size_t i = before; i > 0; i--) {
		if (reasons[i - 1] == JOB_GOES_ON)
			continue;
		/* If a job was detached, its process goes on but gets no further job. */
		if (reasons[i - 1] != JOB_EXIT && reasons[i - 1] != JOB_EXEC)
			refusals__add(&session->refusals, session->members[i - 1].pid,
				      reasons[i - 1] == JOB_OPTOUT);
		session_members__close(session, i - 1, reasons[i - 1]);
	}
	return got;
}

static void visit_all(void *owner, windows_visit visit, const void *ctx)
{
	const struct session *session = owner;

	/* The session's own job also describes the ceiling, even if there is no process. */
	visit(session->job, NULL, ctx);
	for (size_t i = 0; i < session->member_count; i++)
		visit(session->members[i].job, session->members[i].recorder, ctx);
}

static void tell_window(void *owner, const struct recorder_window *window)
{
	session_members__window(owner, window);
}

static const struct windows_members processes = {.each = visit_all, .tell = tell_window};

static long next_nap(const struct session *session, long nap_ns, long got)
{
	long longest = windows__is_watchful(&session->windows) ? WATCHFUL_NAP_NS : LONG_NAP_NS;

	if (got >= BUSY_EVENTS)
		return SHORT_NAP_NS;
	return nap_ns * 2 < longest ? nap_ns * 2 : longest;
}

static enum job_reason record(struct session *session)
{
	struct job *job = session->job;
	uint64_t end_ns = job->duration_s ? clock__now_ns() + job->duration_s * 1000000000u : UINT64_MAX;
	struct drain_home home = {.node = -1};
	long nap_ns = SHORT_NAP_NS, got;
	struct pollfd fds[] = {
		{.fd = job->stop_fd, .events = POLLIN},
		{.fd = session->watch ? watch__fd(session->watch) : -1, .events = POLLIN},
		{.fd = thread_pool__fd(session->pool), .events = POLLIN},
		{.fd = session_files__fd(&session->files), .events = POLLIN},
	};

	for (;;) {
		const struct timespec nap = {.tv_nsec = nap_ns};

		urgency__rush(&session->urgency, URGENCY_DRAIN);
		if (ppoll(fds, 4, &nap, NULL) > 0 && fds[0].revents)
			return job__wanted_stop(job);
		if (clock__now_ns() >= end_ns)
			return JOB_DURATION;
		got = drain(session);
		/* Windows set and remove probes, so the attacher must not be at work. */
		if (!session_files__is_attaching(&session->files))
			windows__step(&session->windows);
		nap_ns = next_nap(session, nap_ns, got);
		event_buffer__look_home(session->buffer, &home);
	}
}

/* ---- begin and end ---------------------------------------------------- */

static int open_session(struct session *session, struct failure *failure)
{
	int error;

	if (attach__open(false, session->job, &session->attachment, failure) != 0)
		return -1;
	session->capture = session->refusals.capture = session->attachment.capture;
	session->ns_per_event = attach__ns_per_event(&session->attachment);
	if (watch__open(true, 0, &session->watch) != 0)
		log__line(LOG_WARNING, "job %llu: new runtimes are not seen: no perf events",
			  (unsigned long long)session->job->number);
	error = session_files__open(&session->files, session->capture, session->watch, session->job);
	if (!error)
		error = thread_pool__new(ORDINARY_THREADS, PATIENT_THREADS, opening__account, &session->pool);
	if (!error)
		error = event_buffer__new(session->capture, EVENT_BUFFER_OF_SESSION, &session->buffer);
	if (error)
		return failure__set(failure, 503, "graind cannot start threads: %s", strerror(-error));
	if (session->files.attached)
		return 0;
	return failure__set(failure, 422, "no OpenMP runtime was found on this machine that can be probed%s",
			    session->files.lost ? " without killing programs with shadow stacks: this kernel "
						  "does not keep those; give the number of a process"
						: "");
}

/* The attacher must end before the capture that it uses. */
static void close_session(struct session *session)
{
	thread_pool__free(session->pool, NULL);
	session_files__close(&session->files);
	windows__close(&session->windows);
	event_buffer__free(session->buffer);
	attach__close(&session->attachment);
	watch__close(session->watch);
}

static void tell_unrecorded(const struct session *session)
{
	const struct session_unrecorded *none = &session->unrecorded;
	char text[400];

	if (none->unseen) {
		snprintf(text, sizeof(text),
			 "%llu programs that loaded an OpenMP runtime have no job: what they did with it, if "
			 "anything, was between the ceiling's windows; graind's log names each",
			 (unsigned long long)none->unseen);
		job__note(session->job, text);
	}
	if (!none->ended && !none->crowded && !none->failed)
		return;
	snprintf(
		text, sizeof(text),
		"%llu processes have no job: %llu had ended before graind could look at them, %llu could not "
		"be recorded, for %llu there was no room (%d are recorded at a time, and no more of one user "
		"than places "
		"are left) within ten seconds; "
		"graind's log names each",
		(unsigned long long)(none->ended + none->failed + none->crowded),
		(unsigned long long)none->ended, (unsigned long long)none->failed,
		(unsigned long long)none->crowded, SESSION_OF_USERS);
	job__note(session->job, text);
}

static void show_state(struct job_view *view, const void *ctx)
{
	const struct session *session = ctx;

	view->state = JOB_RUNNING;
	snprintf(view->method, sizeof(view->method), "%s", capture__method_name(session->capture));
	view->ns_per_event = session->ns_per_event;
}

static void show_ending(struct job_view *view, const void *reason)
{
	view->reason = *(const enum job_reason *)reason;
	view->end_ns = clock__now_ns();
	view->state = JOB_FINISHING;
}

static void await_openings(struct session *session)
{
	struct pollfd done = {.fd = thread_pool__fd(session->pool), .events = POLLIN};

	while (session_members__is_opening(session)) {
		poll(&done, 1, 100);
		drain(session);
	}
}

static void end(struct session *session, enum job_reason reason)
{
	struct capture_losses losses;

	urgency__rest(&session->urgency);
	capture__disable(session->capture);
	nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	while (drain(session) > 0)
		;
	await_openings(session);
	session_members__end(session);
	while (session->member_count)
		session_members__close(session, session->member_count - 1, reason);
	capture__losses(session->capture, &losses);
	if (losses.ring_full || losses.overwritten || session->foreign)
		log__line(LOG_INFO, "job %llu: %llu events lost, %llu of processes without a job",
			  (unsigned long long)session->job->number,
			  (unsigned long long)(losses.ring_full + losses.overwritten),
			  (unsigned long long)session->foreign);
	tell_unrecorded(session);
	job__change(session->job, show_ending, &reason);
	session_files__conclude(&session->files);
	job__conclude(session->job, false, 0);
}

void *session__thread(void *argument)
{
	struct session *session = calloc(1, sizeof(*session));
	struct failure failure;
	enum job_reason reason;

	pthread_setname_np(pthread_self(), "graind-job");
	if (!session) {
		failure__set(&failure, 503, "graind is out of memory");
		job__refuse(argument, &failure);
		return NULL;
	}
	session->job = argument;
	if (open_session(session, &failure) != 0) {
		close_session(session);
		free(session);
		job__refuse(argument, &failure);
		return NULL;
	}
	job__note_method(session->job, capture__method_name(session->capture));
	capture__enable(session->capture);
	windows__open(&session->windows, session->capture, session->ns_per_event, 0, &processes, session);
	job__change(session->job, show_state, session);
	urgency__prefer();
	reason = record(session);
	end(session, reason);
	/* The request that ended the session need not wait until the kernel has detached the probes. */
	close_session(session);
	free(session);
	malloc_trim(0);
	return NULL;
}
