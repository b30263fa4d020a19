// SPDX-License-Identifier: BSD-2-Clause
/*
 * The processes of a session: recorded processes, processes that are being opened, and refused processes.
 */
#include "daemon/graind/attach/attach.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/summary/job_conclude.h"
#include "daemon/graind/base/log.h"
#include "daemon/graind/limits/fair_share.h"
#include "daemon/graind/session/session_state.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYMBOLIZE_SECONDS 30
/*
 * The largest number of processes without events that are kept. Each holds some descriptors. If there are
 * more, the oldest is dropped.
 */
#define MOST_IDLE 256
/* When a job finds no room, the first waiting process tries again after this time. */
#define RETRY_NS UINT64_C(50000000)
/* This long after the end of a process, its last events have surely been read. */
#define GONE_NS UINT64_C(1000000000)
/* If there are more held events than this, a thread of the pool writes them. */
#define HELD_AT_ONCE 2048

/* ---- who is not ------------------------------------------------------- */

static struct opening *opening_at(const struct session *session, size_t index)
{
	return opening__of_entry(session->backlog.list[index]);
}

static void forget(struct session *session, struct opening *opening)
{
	session->foreign += opening->entry.held.count;
	backlog__remove(&session->backlog, &opening->entry);
	opening__free(opening);
}

/* A late event of an earlier program says nothing about the current program. */
static void refuse(struct session *session, pid_t pid, uint64_t until_ns, bool by_policy)
{
	if (until_ns == UINT64_MAX)
		refusals__add(&session->refusals, pid, by_policy);
}

static void tell_refused(struct session *session, int priority, pid_t pid, const char *why)
{
	log__line(priority, "job %llu: process %d is not recorded: %s",
		  (unsigned long long)session->job->number, (int)pid, why);
}

static void give_up(struct session *session, struct opening *opening, uint64_t *counter, const char *why)
{
	++*counter;
	tell_refused(session, LOG_WARNING, opening->entry.pid, why);
	refuse(session, opening->entry.pid, opening->entry.until_ns, false);
	forget(session, opening);
}

/* Drops a process that has ended without an event, or had none when the session ends. */
static void forget_idle(struct session *session, struct opening *opening)
{
	if (opening->was_paused && opening__is_wanted(opening)) {
		session->unrecorded.unseen++;
		tell_refused(session, LOG_INFO, opening->entry.pid,
			     "what it did with OpenMP, if anything, was between the ceiling's windows");
	}
	forget(session, opening);
}

/* Counts the account's processes that are recorded or are about to be recorded. */
static size_t count_of_user(const struct session *session, uid_t account)
{
	size_t count = 0;

	for (size_t i = 0; i < session->member_count; i++)
		count += session->members[i].job->account == account;
	for (size_t i = 0; i < session->backlog.count; i++) {
		const struct opening *opening = opening_at(session, i);

		count += (opening->state == OPENING_MAKING || opening->state == OPENING_MADE) &&
			 opening->entry.account == account;
	}
	return count;
}

static bool has_room(const struct session *session, uid_t account)
{
	size_t taken = session->member_count + session->being_made;

	return fair_share__allow(account, count_of_user(session, account),
				 fair_share__left(SESSION_MOST, taken, account ? SESSION_RESERVED : 0));
}

/* Gives up a process that had its first event long ago and still has no job. */
static void give_up_waiting(struct session *session, struct opening *opening)
{
	char why[160];

	if (opening->failure.status)
		snprintf(why, sizeof(why), "given up: %.130s", opening->failure.text);
	else
		snprintf(why, sizeof(why), "given up: %zu others of its user are, of %d in all",
			 count_of_user(session, opening->entry.account), SESSION_OF_USERS);
	give_up(session, opening, &session->unrecorded.crowded, why);
}

/* ---- who is about to be ----------------------------------------------- */

static bool is_idle(const struct opening *opening)
{
	return opening->state == OPENING_KNOWN && !opening->entry.first_ns;
}

static bool has_ended(const struct opening *opening)
{
	return opening->candidate && process__has_ended(opening->candidate->pidfd);
}

static void forget_oldest_idle(struct session *session)
{
	struct opening *oldest = NULL;
	size_t idle = 0;

	for (size_t i = session->backlog.count; i > 0; i--) {
		if (!is_idle(opening_at(session, i - 1)))
			continue;
		oldest = opening_at(session, i - 1);
		idle++;
	}
	if (!oldest || (idle <= MOST_IDLE && session->backlog.count < BACKLOG_MOST))
		return;
	/* If the process still lives, it is opened again at its first event. */
	if (has_ended(oldest))
		forget_idle(session, oldest);
	else
		forget(session, oldest);
}

/* Makes room in the backlog, so that one user's processes do not prevent the recording of others. */
static void make_room(struct session *session)
{
	struct opening *opening = NULL;

	forget_oldest_idle(session);
	if (session->backlog.count == BACKLOG_MOST)
		opening = opening__of_entry(backlog__heaviest(&session->backlog));
	if (opening)
		give_up(session, opening, &session->unrecorded.crowded,
			"given up: its user's processes have most of the places of those that wait for a "
			"job");
}

/* Lets the pool read the process. NULL: there is no room. */
static struct opening *open_process(struct session *session, pid_t pid, uint64_t mapped_ns)
{
	struct opening *opening = opening__new(pid, mapped_ns);

	make_room(session);
	if (!opening || !backlog__add(&session->backlog, &opening->entry)) {
		opening__free(opening);
		return NULL;
	}
	opening->session = session->job;
	opening->was_paused = mapped_ns >= session->paused_ns && mapped_ns < session->resumed_ns;
	capture__losses_of(session->capture, pid, &opening->before);
	opening__read(opening, session->pool);
	return opening;
}

static struct session_member *find_member(struct session *session, pid_t pid, uint64_t time_ns)
{
	for (size_t i = 0; i < session->member_count; i++)
		if (session->members[i].pid == pid && time_ns < session->members[i].until_ns)
			return &session->members[i];
	return NULL;
}

void session_members__look(struct session *session, pid_t pid, uint64_t time_ns)
{
	struct opening *known = opening__of_entry(backlog__find(&session->backlog, pid, time_ns));
	struct opening *opening;
	bool was_paused;

	if (pid == getpid() || session->ending || find_member(session, pid, time_ns) ||
	    refusals__has(&session->refusals, pid) || (known && !is_idle(known)))
		return;
	was_paused = known && known->was_paused;
	if (known)
		forget(session, known);
	opening = open_process(session, pid, time_ns);
	if (opening)
		opening->was_paused |= was_paused;
}

/* Whether the probes may have been set only after the first use of these runtimes. */
static bool are_late(struct session *session, const struct candidate *candidate,
		     const struct execution *executed)
{
	for (int i = 0; executed && i < candidate->runtime_count; i++)
		if (session_files__attached_after(&session->files, &candidate->runtimes[i],
						  executed->time_ns))
			return true;
	return !executed;
}

static void make_member(struct session *session, struct opening *opening)
{
	const struct candidate *candidate = opening->candidate;
	const struct execution *executed =
		executions__find(&session->executions, opening->entry.pid, opening__since_ns(opening));

	opening->about = (struct recorder_capture){
		.runtime = attach__name(candidate->runtimes, candidate->runtime_count),
		.ns_per_event = session->ns_per_event,
		.attach_ns = executed ? executed->time_ns : opening->entry.first_ns,
		.late = are_late(session, candidate, executed),
		.source = "uprobes",
	};
	attach__describe(session->capture, &opening->about);
	opening->parent_job = executed ? executed->parent_job : 0;
	session->being_made++;
	opening__make(opening, session->pool);
}

/* Makes the process a member, when its held events are written or are few. */
static void become_member(struct session *session, struct opening *opening)
{
	struct session_member *member = &session->members[session->member_count++];
	struct held_events held = backlog__release(&session->backlog, &opening->entry);

	*member = (struct session_member){.pid = opening->entry.pid,
					  .job = opening->job,
					  .recorder = opening->recorder,
					  .pace = opening->pace,
					  .before = opening->before,
					  .until_ns = opening->entry.until_ns};
	session->being_made--;
	for (size_t i = 0; i < opening->window_count; i++)
		recorder__window(member->recorder, &opening->windows[i]);
	held_events__feed(&held, member->recorder);
	free(held.list);
	windows__enter(&session->windows, member->job);
	if (member->until_ns != UINT64_MAX)
		executions__inherit(&session->executions, member->pid, member->until_ns, member->job->number);
	forget(session, opening);
}

static void take_made(struct session *session, struct opening *opening)
{
	opening->entry.has_job = opening->answer == OPENING_DONE;
	opening->state = opening->answer == OPENING_DONE ? OPENING_MADE : OPENING_KNOWN;
	if (opening->answer == OPENING_DONE) {
		session->retry_ns = 0;
		return;
	}
	session->being_made--;
	if (opening->answer == OPENING_NO_ROOM) {
		session->retry_ns = clock__now_ns() + RETRY_NS;
	} else if (opening->answer == OPENING_UNWANTED) {
		refuse(session, opening->entry.pid, opening->entry.until_ns, true);
		forget(session, opening);
	} else {
		give_up(session, opening, &session->unrecorded.failed, opening->failure.text);
	}
}

static void take_read(struct session *session, struct opening *opening)
{
	bool is_there =
		opening->candidate && (opening->entry.first_ns || opening->entry.until_ns == UINT64_MAX);

	opening->state = OPENING_KNOWN;
	if (is_there && opening->candidate->search)
		opening__search(opening, session->pool);
	else if (is_there)
		return;
	else if (opening->entry.first_ns)
		give_up(session, opening, &session->unrecorded.ended, "it had ended before it could be read");
	else
		forget_idle(session, opening);
}

static void take_up(struct session *session, struct opening *opening)
{
	opening->entry.working = false;
	if (opening->state == OPENING_READING || opening->state == OPENING_SEARCHING)
		take_read(session, opening);
	else if (opening->state == OPENING_MAKING)
		take_made(session, opening);
}

/* Whether the process waits only for its turn. */
static bool can_be_made(const struct session *session, const struct opening *opening)
{
	return !opening->entry.working && opening->state == OPENING_KNOWN && opening->entry.first_ns &&
	       has_room(session, opening->entry.account) &&
	       !backlog__is_behind(&session->backlog, &opening->entry);
}

/* Makes members, in the order of their arrival. */
static void make_members(struct session *session)
{
	uint64_t now = clock__now_ns();

	for (size_t i = 0; i < session->backlog.count && now >= session->retry_ns; i++) {
		if (!can_be_made(session, opening_at(session, i)))
			continue;
		make_member(session, opening_at(session, i));
		if (session->retry_ns)
			session->retry_ns = now + RETRY_NS;
	}
}

void session_members__advance(struct session *session)
{
	struct pool_work *work;
	struct backlog_entry *overdue;

	while ((work = thread_pool__take(session->pool)))
		take_up(session, opening__of_work(work));
	for (size_t i = session->backlog.count; i > 0; i--) {
		struct opening *opening = opening_at(session, i - 1);

		if (opening->state != OPENING_MADE || opening->entry.working)
			continue;
		if (opening->entry.held.count > HELD_AT_ONCE)
			opening__write(opening, &session->backlog, session->pool);
		else
			become_member(session, opening);
	}
	make_members(session);
	while ((overdue = backlog__overdue(&session->backlog, clock__now_ns())))
		give_up_waiting(session, opening__of_entry(overdue));
}

bool session_members__is_opening(const struct session *session)
{
	for (size_t i = 0; i < session->backlog.count; i++) {
		const struct opening *opening = opening_at(session, i);

		if (opening->entry.first_ns &&
		    (opening->entry.working || (can_be_made(session, opening) && !session->retry_ns)))
			return true;
	}
	return false;
}

void session_members__executed(struct session *session, const struct watch_event *event)
{
	struct execution *executed = executions__add(&session->executions, event->pid, event->time_ns);

	for (size_t i = 0; i < session->member_count; i++) {
		struct session_member *member = &session->members[i];

		if (member->pid != event->pid || member->until_ns != UINT64_MAX)
			continue;
		member->until_ns = event->time_ns;
		executed->parent_job = member->job->number;
	}
	for (size_t i = session->backlog.count; i > 0; i--) {
		struct opening *opening = opening_at(session, i - 1);

		/*
		 * The buffers of the CPUs are read one after another, so an event may be older than this
		 * opening.
		 */
		if (opening->entry.pid != event->pid || opening->entry.until_ns != UINT64_MAX ||
		    opening__since_ns(opening) > event->time_ns)
			continue;
		opening->entry.until_ns = event->time_ns;
		if (is_idle(opening))
			forget_idle(session, opening);
	}
	refusals__forget(&session->refusals, event->pid);
}

/* ---- events ----------------------------------------------------------- */

/* The owner of an event. At most one of these is set. */
struct owner {
	struct session_member *member;
	struct opening *opening;
};

static bool find_owner(struct session *session, pid_t pid, uint64_t time_ns, struct owner *owner)
{
	owner->member = find_member(session, pid, time_ns);
	owner->opening =
		owner->member ? NULL : opening__of_entry(backlog__find(&session->backlog, pid, time_ns));
	return owner->member || owner->opening;
}

/* Finds the owner of an event. If the process was not seen before, begins to open it. */
static struct owner owner_of(struct session *session, pid_t pid, const struct ring_event *event)
{
	uint64_t time_ns = event->time_ns;
	const struct execution *executed;
	struct owner owner;

	if (find_owner(session, pid, time_ns, &owner) || refusals__has(&session->refusals, pid) ||
	    pid == getpid() || session->ending)
		return owner;
	/*
	 * The process may have begun since the news were last read. The kernel reported that before its
	 * first event.
	 */
	session__follow(session);
	if (find_owner(session, pid, time_ns, &owner))
		return owner;
	/*
	 * This is a late event of an earlier program. The meaning of its addresses is not known any more.
	 */
	executed = executions__find(&session->executions, pid, UINT64_MAX);
	if (executed && time_ns < executed->time_ns)
		return owner;
	/* The last switch of a thread may come after the end of its process was seen. */
	if (event->kind == RING_OFF_CPU || event->kind == RING_ON_CPU)
		return owner;
	owner.opening = open_process(session, pid, 0);
	if (!owner.opening) {
		session->unrecorded.crowded++;
		tell_refused(session, LOG_WARNING, pid, "too many others are about to be");
		refuse(session, pid, UINT64_MAX, false);
	}
	return owner;
}

void session_members__feed(struct session *session, unsigned int cpu, const struct ring_event *events,
			   size_t count)
{
	/*
	 * A process may have executed another program since the news were last read. The kernel reported
	 * that before the first event of this program.
	 */
	if (count && !session->ending && events[count - 1].time_ns > session->followed_ns)
		session__follow(session);
	while (count) {
		pid_t pid;
		size_t run = ring_to_trace__same_process(events, count, &pid);
		struct owner owner = owner_of(session, pid, events);
		uint64_t until_ns = owner.member    ? owner.member->until_ns
				    : owner.opening ? owner.opening->entry.until_ns
						    : 0;

		for (size_t i = 1; i < run; i++)
			if (events[i].time_ns >= until_ns)
				run = i;
		if (owner.member)
			recorder__feed(owner.member->recorder, cpu, events, run);
		else if (owner.opening)
			backlog__hold(&session->backlog, &owner.opening->entry, cpu, events, run);
		else
			session->foreign += run;
		events += run;
		count -= run;
	}
}

/* Follows an opening without events. Drops it some time after its process has ended. */
static void follow_idle(struct session *session, struct opening *opening, bool pauses)
{
	uint64_t now = clock__now_ns();

	if (!opening->ended_ns && is_idle(opening) && has_ended(opening))
		opening->ended_ns = now;
	if (!opening->ended_ns && pauses)
		opening->was_paused = true;
	if (opening->ended_ns && now - opening->ended_ns >= GONE_NS)
		forget_idle(session, opening);
}

void session_members__window(struct session *session, const struct recorder_window *window)
{
	if (window->end_ns)
		session->paused_ns = window->end_ns;
	session->resumed_ns = window->end_ns ? UINT64_MAX : window->begin_ns;
	for (size_t i = session->backlog.count; i > 0; i--) {
		struct opening *opening = opening_at(session, i - 1);
		struct recorder_window *windows;

		if (!opening->entry.first_ns) {
			follow_idle(session, opening, window->end_ns);
			continue;
		}
		windows = reallocarray(opening->windows, opening->window_count + 1, sizeof(*windows));
		if (!windows)
			continue;
		windows[opening->window_count++] = *window;
		opening->windows = windows;
	}
}

/* ---- ends ------------------------------------------------------------- */

struct ending {
	struct session_member member;
	enum job_reason reason;
	uint64_t end_ns;
	struct recorder_loss losses[DRAIN_CAUSES];
	size_t causes;
};

static void show_ending(struct job_view *view, const void *ctx)
{
	const struct ending *ending = ctx;

	view->reason = ending->reason;
	view->end_ns = ending->end_ns;
	for (size_t i = 0; i < ending->causes; i++)
		view->lost[i] += ending->losses[i].count;
	view->state = JOB_FINISHING;
}

/* Runs in its own thread, as naming sources takes long and the rings fill meanwhile. */
static void *end_member(void *argument)
{
	struct ending *ending = argument;
	struct session_member *member = &ending->member;
	int unnamed, error;

	pthread_setname_np(pthread_self(), "graind-finish");
	/* The capture may already have been freed. */
	drain_pace__show(&member->pace, member->recorder, NULL, NULL);
	job__change(member->job, show_ending, ending);
	error = recorder__finish(member->recorder, job_reason__name(ending->reason), ending->losses,
				 ending->causes, job__patience(member->job, SYMBOLIZE_SECONDS), &unnamed);
	job__note_unnamed(member->job, unnamed);
	job__conclude(member->job, true, error);
	free(ending);
	return NULL;
}

void session_members__close(struct session *session, size_t index, enum job_reason reason)
{
	struct session_member *member = &session->members[index];
	struct ending *ending = malloc(sizeof(*ending));
	struct ending now = {.member = *member, .reason = reason, .end_ns = clock__now_ns()};

	windows__leave(&session->windows, member->job, member->recorder);
	attach__tell_shares(session->capture, member->recorder);
	drain__tell_lost_samples(session->capture, member->pid, &member->before, member->recorder);
	now.causes = drain__losses(session->capture, member->pid, &member->before,
				   recorder__counts(member->recorder), now.losses);
	if (reason == JOB_EXIT)
		capture__forget_losses(session->capture, member->pid);
	if (ending)
		*ending = now;
	if (!ending || job__start_thread(end_member, ending) != 0) {
		free(ending);
		job__change(member->job, show_ending, &now);
		recorder__free(member->recorder);
		job__conclude(member->job, false, -ENOMEM);
	}
	*member = session->members[--session->member_count];
}

void session_members__end(struct session *session)
{
	struct opening *opening;

	session->ending = true;
	thread_pool__free(session->pool, NULL);
	session->pool = NULL;
	while (session->backlog.count) {
		opening = opening_at(session, 0);
		if (opening->job) {
			recorder__free(opening->recorder);
			job__conclude(opening->job, false, -ECANCELED);
		}
		if (opening->entry.first_ns)
			give_up(session, opening, &session->unrecorded.crowded,
				"the session ended before there was room for it");
		else
			forget_idle(session, opening);
	}
}
