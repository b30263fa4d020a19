// SPDX-License-Identifier: BSD-2-Clause
/*
 * Profiling every process: one capture without a filter, and a job for each
 * process whose events come along. The session is a job itself, without trace.
 */
#include "daemon/graind/attach.h"
#include "daemon/graind/drain.h"
#include "daemon/graind/executions.h"
#include "daemon/graind/job.h"
#include "daemon/graind/log.h"
#include "daemon/graind/optout.h"
#include "daemon/graind/policy.h"
#include "daemon/graind/prospects.h"
#include "daemon/graind/refusals.h"
#include "daemon/graind/session_files.h"
#include "daemon/graind/watch.h"
#include "daemon/graind/windows.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_MEMBERS 256
#define SYMBOLIZE_SECONDS 30
#define SHORT_NAP_NS 500000
#define LONG_NAP_NS 16000000
/* While a process may become too costly. */
#define WATCHFUL_NAP_NS 4000000
#define BUSY_EVENTS 64

/* A process that is recorded. */
struct member {
	pid_t pid;
	struct job *job;
	struct recorder *recorder;
	struct drain_pace pace;
	uint64_t until_ns; /* later events are those of another program */
	long got;	   /* events in the last poll */
};

struct session {
	struct job *job;
	struct capture *capture;
	double ns_per_event;
	struct watch *watch; /* NULL: processes are seen by their events only */
	struct prospects *prospects;
	struct session_files files;
	struct windows windows; /* of all processes at the same time */
	struct executions executions;
	struct member members[MAX_MEMBERS];
	size_t member_count;
	struct refusals refusals; /* processes that got no job, so that each is tried once */
	uint64_t foreign;	  /* events of processes without a job */
	uint64_t failed,
		crowded; /* processes that should have got one: of which none could be made, or too many */
};

/* ---- processes come and go -------------------------------------------- */

struct begun {
	const char *runtime, *method;
	double ns_per_event;
};

static void show_begin(struct job_view *view, const void *ctx)
{
	const struct begun *begun = ctx;

	view->state = JOB_RUNNING;
	snprintf(view->runtime, sizeof(view->runtime), "%s", begun->runtime);
	snprintf(view->method, sizeof(view->method), "%s", begun->method);
	view->ns_per_event = begun->ns_per_event;
}

/* Whether probes may have come after the first use of these runtimes. */
static bool are_late(const struct session *session, const struct runtime_file *runtimes, int count,
		     const struct execution *executed)
{
	for (int i = 0; executed && i < count; i++)
		if (session_files__attached_after(&session->files, &runtimes[i], executed->time_ns))
			return true;
	return !executed;
}

/* What is known of a process that may be gone, else what it shows now; its runtimes' name. */
static const char *look_at(const struct session *session, pid_t pid, const struct execution *executed,
			   const struct prospect *prospect, bool *late)
{
	struct runtime_file *found = prospect ? NULL : calloc(ATTACH_MAX_RUNTIMES, sizeof(*found));
	const struct runtime_file *runtimes = prospect ? prospect->runtimes : found;
	struct failure ignored;
	int count = prospect ? prospect->runtime_count : found ? attach__find(pid, found, &ignored) : 0;
	const char *name = attach__name(runtimes, count < 0 ? 0 : count);

	*late = are_late(session, runtimes, count, executed);
	free(found);
	return name;
}

/* Whether the session is to record it. */
static bool is_wanted(const struct session *session, const struct process *process,
		      enum policy_profile profile)
{
	if (process->opted_out || optout__has(process->uid))
		return false;
	return session->job->by_policy ? profile == POLICY_ALWAYS : profile != POLICY_OFF;
}

/* *by_policy: it is not to be recorded. */
static bool open_member(struct session *session, struct member *member, pid_t pid, bool *by_policy)
{
	enum policy_profile profile = POLICY_ON_REQUEST;
	const struct execution *executed = executions__find(&session->executions, pid);
	struct recorder_capture about = {
		.source = "uprobes",
		.ns_per_event = session->ns_per_event,
		.attach_ns = executed ? executed->time_ns : job__now_ns(),
	};
	struct begun begun = {NULL, capture__method_name(session->capture), session->ns_per_event};
	struct prospect *prospect =
		prospects__take(session->prospects, pid, executed ? executed->time_ns : 0);
	struct process *process = calloc(1, sizeof(*process));
	struct failure failure = {.text = "it has ended"};
	/* Before the process is read: what lives then has the number after the other one. */
	bool ended = prospect && prospect__has_ended(prospect);
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int error = pidfd < 0 || !process ? -1 : process__read(pid, process);

	if (!error && !process->dead) {
		profile = policy__decide(process);
		if (ended) {
			prospect__free(prospect);
			prospect = NULL;
		}
	}
	attach__describe(session->capture, &about);
	about.runtime = begun.runtime = look_at(session, pid, executed, prospect, &about.late);
	if (prospect && process && (error || process->dead)) {
		*process = prospect->process;
		if (pidfd >= 0)
			close(pidfd);
		pidfd = prospect->pidfd;
		prospect->pidfd = -1;
		profile = prospect->profile;
		error = 0;
	}
	*by_policy = !error && !is_wanted(session, process, profile);
	if (*by_policy)
		error = -1;
	if (!error)
		error = job__enter(session->job->jobs, process, pid, executed ? executed->parent_job : 0,
				   true, &member->job, &failure);
	if (error) {
		if (!*by_policy)
			log__line(LOG_WARNING, "job %llu: process %d is not recorded: %s",
				  (unsigned long long)session->job->number, (int)pid, failure.text);
		if (pidfd >= 0)
			close(pidfd);
		prospect__free(prospect);
		free(process);
		return false;
	}
	member->job->pidfd = pidfd;
	error = recorder__new(member->job->dirfd, process, job__ceiling(member->job), &member->recorder);
	if (!error && prospect)
		recorder__take_modules(member->recorder, &prospect->modules);
	if (!error)
		error = recorder__begin(member->recorder, &about);
	prospect__free(prospect);
	free(process);
	if (error) {
		recorder__free(member->recorder);
		job__conclude(member->job, false, error);
		return false;
	}
	drain_pace__start(&member->pace, member->job, about.attach_ns);
	windows__enter(&session->windows, member->job);
	job__change(member->job, show_begin, &begun);
	return true;
}

static void follow(struct session *session);

static struct member *known_member(struct session *session, pid_t pid, uint64_t time_ns)
{
	for (size_t i = 0; i < session->member_count; i++) {
		if (session->members[i].pid == pid && time_ns < session->members[i].until_ns)
			return &session->members[i];
	}
	return NULL;
}

static struct member *find_member(struct session *session, pid_t pid, uint64_t time_ns)
{
	const struct execution *executed;
	struct member *member = known_member(session, pid, time_ns);
	bool by_policy = false;

	if (member || refusals__has(&session->refusals, pid))
		return member;
	/* It may have begun since this was last read; the kernel told so before its first event. */
	follow(session);
	member = known_member(session, pid, time_ns);
	if (member)
		return member;
	/* What is left of a program that is gone: nobody knows what its addresses mean. */
	executed = executions__find(&session->executions, pid);
	if (executed && time_ns < executed->time_ns)
		return NULL;
	if (pid != getpid() && session->member_count < MAX_MEMBERS) {
		member = &session->members[session->member_count];
		*member = (struct member){.pid = pid, .until_ns = UINT64_MAX};
		if (open_member(session, member, pid, &by_policy)) {
			session->member_count++;
			return member;
		}
		session->failed += !by_policy;
	} else if (pid != getpid()) {
		session->crowded++;
		log__line(LOG_WARNING, "job %llu: process %d is not recorded: %d others are",
			  (unsigned long long)session->job->number, (int)pid, MAX_MEMBERS);
	}
	refusals__add(&session->refusals, pid, by_policy);
	return NULL;
}

struct ending {
	struct job *job;
	struct recorder *recorder;
	enum job_reason reason;
};

static void show_ending(struct job_view *view, const void *ctx)
{
	view->reason = *(const enum job_reason *)ctx;
	view->end_ns = job__now_ns();
	view->state = JOB_FINISHING;
}

/* In a thread of its own: naming sources takes long, and the rings go on filling. */
static void *end_member(void *argument)
{
	struct ending *ending = argument;
	int unnamed, error;

	error = recorder__finish(ending->recorder, job_reason__name(ending->reason), NULL, 0,
				 job__patience(ending->job, SYMBOLIZE_SECONDS), &unnamed);
	job__note_unnamed(ending->job, unnamed);

	job__conclude(ending->job, true, error);
	free(ending);
	return NULL;
}

static void close_member(struct session *session, size_t index, enum job_reason reason)
{
	struct member *member = &session->members[index];
	struct ending *ending = malloc(sizeof(*ending));

	windows__leave(&session->windows, member->job, member->recorder);
	drain_pace__show(&member->pace, member->recorder, NULL, NULL);
	attach__tell_shares(session->capture, member->recorder);
	job__change(member->job, show_ending, &reason);
	if (!ending || (*ending = (struct ending){member->job, member->recorder, reason},
			job__start_thread(end_member, ending) != 0)) {
		free(ending);
		recorder__free(member->recorder);
		job__conclude(member->job, false, -ENOMEM);
	}
	*member = session->members[--session->member_count];
}

/* ---- the loop --------------------------------------------------------- */

static int feed(void *ctx, unsigned int cpu, const struct ring_event *events, size_t count)
{
	struct session *session = ctx;

	windows__saw(&session->windows, cpu, events, count);
	session_files__saw(&session->files, events, count);
	while (count) {
		pid_t pid;
		size_t run = ring_to_trace__same_process(events, count, &pid);
		struct member *member = find_member(session, pid, events[0].time_ns);

		for (size_t i = 1; i < run; i++) {
			if (!member || events[i].time_ns >= member->until_ns)
				run = i;
		}
		if (member) {
			recorder__feed(member->recorder, cpu, events, run);
			member->got += (long)run;
		} else {
			session->foreign += run;
		}
		events += run;
		count -= run;
	}
	return 0;
}

static enum job_reason member_reason(const struct member *member)
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

static void on_exec(struct session *session, const struct watch_event *event)
{
	struct execution *executed = executions__add(&session->executions, event->pid, event->time_ns);

	for (size_t i = 0; i < session->member_count; i++) {
		struct member *member = &session->members[i];

		if (member->pid != event->pid || member->until_ns != UINT64_MAX)
			continue;
		member->until_ns = event->time_ns;
		executed->parent_job = member->job->number;
	}
	refusals__forget(&session->refusals, event->pid);
}

/* Programs that were executed, and files that a process was the first to map. */
static void follow(struct session *session)
{
	struct watch_event event;

	if (!session->watch)
		return;
	watch__sync(session->watch);
	while (watch__next(session->watch, &event)) {
		if (event.kind == WATCH_EXEC)
			on_exec(session, &event);
		else if (event.kind == WATCH_KNOWN && session->files.program_bodies)
			session_files__add_of(&session->files, event.pid);
		else if (event.kind == WATCH_MAP && session_files__add_of(&session->files, event.pid))
			prospects__look(session->prospects, event.pid);
		else if (event.kind == WATCH_MISSED)
			session_files__add_mapped(&session->files);
	}
}

/* Reasons are read before the rings: what is seen of a process then is all there is. */
static long drain(struct session *session)
{
	enum job_reason reasons[MAX_MEMBERS];
	size_t before = session->member_count;
	struct timespec ignored;
	long got;

	refusals__follow(&session->refusals, policy__generation() + optout__generation());
	follow(session);
	for (size_t i = 0; i < before; i++) {
		reasons[i] = member_reason(&session->members[i]);
		session->members[i].got = 0;
	}
	got = capture__poll(session->capture, feed, session);
	for (size_t i = 0; i < session->member_count; i++) {
		struct member *member = &session->members[i];

		drain_pace__tick(&member->pace, member->recorder, NULL, NULL, member->got, &ignored);
	}
	for (size_t i = before; i > 0; i--) {
		if (reasons[i - 1] == JOB_GOES_ON)
			continue;
		/* A process that was detached from goes on, but not as another job. */
		if (reasons[i - 1] != JOB_EXIT && reasons[i - 1] != JOB_EXEC)
			refusals__add(&session->refusals, session->members[i - 1].pid,
				      reasons[i - 1] == JOB_OPTOUT);
		close_member(session, i - 1, reasons[i - 1]);
	}
	return got;
}

static int open_capture(struct session *session, struct failure *failure)
{
	struct attachment attachment;

	if (attach__open(false, session->job, &attachment, failure) != 0)
		return -1;
	session->capture = session->refusals.capture = attachment.capture;
	session->ns_per_event = attachment.ns_per_event;
	if (prospects__new(&session->prospects) != 0 || watch__open(true, &session->watch) != 0)
		log__line(LOG_WARNING, "job %llu: new runtimes are not seen: no perf events",
			  (unsigned long long)session->job->number);
	session->files = (struct session_files){.capture = session->capture,
						.watch = session->watch,
						.prospects = session->prospects,
						.job = session->job->number};
	session_files__add_system(&session->files);
	session_files__add_mapped(&session->files);
	if (session->files.attached)
		return 0;
	return failure__set(failure, 422, "no OpenMP runtime was found on this machine that can be probed");
}

static void visit_all(void *owner, windows_visit visit, const void *ctx)
{
	const struct session *session = owner;

	for (size_t i = 0; i < session->member_count; i++)
		visit(session->members[i].job, session->members[i].recorder, ctx);
}

static const struct windows_members processes = {.each = visit_all};

static enum job_reason record(struct session *session)
{
	struct job *job = session->job;
	uint64_t end_ns = job->duration_s ? job__now_ns() + job->duration_s * 1000000000u : UINT64_MAX;
	struct drain_home home = {.node = -1};
	long nap_ns = SHORT_NAP_NS;
	struct pollfd fds[] = {
		{.fd = job->stop_fd, .events = POLLIN},
		{.fd = session->watch ? watch__fd(session->watch) : -1, .events = POLLIN},
	};

	for (;;) {
		const struct timespec nap = {.tv_nsec = nap_ns};

		if (ppoll(fds, 2, &nap, NULL) > 0 && fds[0].revents)
			return job__wanted_stop(job);
		if (job__now_ns() >= end_ns)
			return JOB_DURATION;
		if (drain(session) >= BUSY_EVENTS)
			nap_ns = SHORT_NAP_NS;
		else if (nap_ns < (windows__is_watchful(&session->windows) ? WATCHFUL_NAP_NS : LONG_NAP_NS))
			nap_ns *= 2;
		windows__step(&session->windows);
		drain_home__look(&home, session->capture);
	}
}

static void tell_unrecorded(const struct session *session)
{
	char text[256];

	if (!session->failed && !session->crowded)
		return;
	snprintf(
		text, sizeof(text),
		"%llu processes have no job: %llu had ended before graind could look at them or could not be "
		"recorded, %llu came while %d others were recorded; graind's log names each",
		(unsigned long long)(session->failed + session->crowded), (unsigned long long)session->failed,
		(unsigned long long)session->crowded, MAX_MEMBERS);
	job__note(session->job, text);
}

static void end(struct session *session, enum job_reason reason)
{
	struct capture_losses losses;

	capture__disable(session->capture);
	nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	while (drain(session) > 0)
		;
	while (session->member_count)
		close_member(session, session->member_count - 1, reason);
	capture__losses(session->capture, &losses);
	if (losses.ring_full || losses.overwritten || session->foreign)
		log__line(LOG_INFO, "job %llu: %llu events lost, %llu of processes without a job",
			  (unsigned long long)session->job->number,
			  (unsigned long long)(losses.ring_full + losses.overwritten),
			  (unsigned long long)session->foreign);
	tell_unrecorded(session);
	job__change(session->job, show_ending, &reason);
	job__conclude(session->job, false, 0);
	/* Whoever ended it does not wait until the kernel has detached the probes. */
	windows__close(&session->windows);
	session_files__free(&session->files);
	capture__free(session->capture);
	watch__close(session->watch);
	prospects__free(session->prospects);
}

void *session__thread(void *argument)
{
	struct session *session = calloc(1, sizeof(*session));
	struct failure failure;
	enum job_reason reason;
	struct begun begun;

	if (!session) {
		failure__set(&failure, 503, "graind is out of memory");
		job__refuse(argument, &failure);
		return NULL;
	}
	session->job = argument;
	if (open_capture(session, &failure) != 0) {
		session_files__free(&session->files);
		capture__free(session->capture);
		watch__close(session->watch);
		prospects__free(session->prospects);
		free(session);
		job__refuse(argument, &failure);
		return NULL;
	}
	begun = (struct begun){"", capture__method_name(session->capture), session->ns_per_event};
	job__note_method(session->job, begun.method);
	capture__enable(session->capture);
	windows__open(&session->windows, session->capture, session->ns_per_event, 0, &processes, session);
	job__change(session->job, show_begin, &begun);
	drain__set_urgent(true);
	reason = record(session);
	drain__set_urgent(false);
	end(session, reason);
	free(session);
	malloc_trim(0);
	return NULL;
}
