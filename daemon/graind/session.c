// SPDX-License-Identifier: BSD-2-Clause
/*
 * Profiling every process: one capture without a filter, and a job for each
 * process whose events come along. The session is a job itself, without trace.
 */
#include "daemon/graind/session.h"
#include "daemon/graind/attach.h"
#include "daemon/graind/log.h"
#include "daemon/graind/optout.h"
#include "daemon/graind/policy.h"
#include "daemon/graind/urgency.h"

#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Most of what a scout does is waiting, for locks of the kernel and for files. */
#define SCOUTS 8
/* Further ones that wait for workers which look for runtimes. */
#define PATIENT_SCOUTS 4
#define SHORT_NAP_NS 500000
#define LONG_NAP_NS 16000000
/* While a process may become too costly. */
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

/* What others have done meanwhile. */
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

/* Reasons are read before the rings: what is seen of a process then is all there is. */
static long drain(struct session *session)
{
	enum job_reason reasons[SESSION_MOST];
	struct timespec ignored;
	uint64_t began_ns;
	size_t before;
	bool filled;
	long got;

	refusals__follow(&session->refusals, policy__generation() + optout__generation());
	take_up(session);
	before = session->member_count;
	for (size_t i = 0; i < before; i++)
		reasons[i] = member_reason(&session->members[i]);
	began_ns = job__now_ns();
	filled = reservoir__fill(session->reservoir);
	got = reservoir__empty(session->reservoir, feed, session);
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
		/* A process that was detached from goes on, but not as another job. */
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

	/* Its own says it also while it has none of a process. */
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
	uint64_t end_ns = job->duration_s ? job__now_ns() + job->duration_s * 1000000000u : UINT64_MAX;
	struct drain_home home = {.node = -1};
	long nap_ns = SHORT_NAP_NS, got;
	struct pollfd fds[] = {
		{.fd = job->stop_fd, .events = POLLIN},
		{.fd = session->watch ? watch__fd(session->watch) : -1, .events = POLLIN},
		{.fd = scouts__fd(session->scouts), .events = POLLIN},
		{.fd = session_files__fd(&session->files), .events = POLLIN},
	};

	for (;;) {
		const struct timespec nap = {.tv_nsec = nap_ns};

		if (ppoll(fds, 4, &nap, NULL) > 0 && fds[0].revents)
			return job__wanted_stop(job);
		if (job__now_ns() >= end_ns)
			return JOB_DURATION;
		got = drain(session);
		/* Between windows probes come and go. */
		if (!session_files__is_attaching(&session->files))
			windows__step(&session->windows);
		nap_ns = next_nap(session, nap_ns, got);
		reservoir__look_home(session->reservoir, &home);
	}
}

/* ---- begin and end ---------------------------------------------------- */

static int open_session(struct session *session, struct failure *failure)
{
	struct attachment attachment;
	int error;

	if (attach__open(false, session->job, &attachment, failure) != 0)
		return -1;
	session->capture = session->refusals.capture = attachment.capture;
	session->ns_per_event = attachment.ns_per_event;
	if (watch__open(true, &session->watch) != 0)
		log__line(LOG_WARNING, "job %llu: new runtimes are not seen: no perf events",
			  (unsigned long long)session->job->number);
	error = session_files__open(&session->files, session->capture, session->watch, session->job->number);
	if (!error)
		error = scouts__new(SCOUTS, PATIENT_SCOUTS, &session->scouts);
	if (!error)
		error = reservoir__new(session->capture, &session->reservoir);
	if (error)
		return failure__set(failure, 503, "graind cannot start threads: %s", strerror(-error));
	if (session->files.attached)
		return 0;
	return failure__set(failure, 422, "no OpenMP runtime was found on this machine that can be probed");
}

/* What attaches ends before what is attached. */
static void close_session(struct session *session)
{
	scouts__free(session->scouts, NULL);
	session_files__close(&session->files);
	windows__close(&session->windows);
	reservoir__free(session->reservoir);
	capture__free(session->capture);
	watch__close(session->watch);
}

static void tell_unrecorded(const struct session *session)
{
	const struct session_unrecorded *none = &session->unrecorded;
	char text[400];

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
		(unsigned long long)none->crowded, SESSION_MOST);
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
	view->end_ns = job__now_ns();
	view->state = JOB_FINISHING;
}

static void await_openings(struct session *session)
{
	struct pollfd done = {.fd = scouts__fd(session->scouts), .events = POLLIN};

	while (session_members__is_opening(session)) {
		poll(&done, 1, 100);
		drain(session);
	}
}

static void end(struct session *session, enum job_reason reason)
{
	struct capture_losses losses;

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
	job__conclude(session->job, false, 0);
}

void *session__thread(void *argument)
{
	struct session *session = calloc(1, sizeof(*session));
	struct failure failure;
	enum job_reason reason;

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
	urgency__set(URGENCY_DRAIN);
	reason = record(session);
	end(session, reason);
	urgency__set(URGENCY_NONE);
	/* Whoever ended it does not wait until the kernel has detached the probes. */
	close_session(session);
	free(session);
	malloc_trim(0);
	return NULL;
}
