// SPDX-License-Identifier: BSD-2-Clause
/* The processes of a session: who is recorded, who is about to be, who is not. */
#include "daemon/graind/attach.h"
#include "daemon/graind/log.h"
#include "daemon/graind/places.h"
#include "daemon/graind/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYMBOLIZE_SECONDS 30
/* Of processes without events what is known of the oldest is forgotten: each holds a few descriptors. */
#define MOST_IDLE 256
/* When a job finds no room, the first that waits tries again. */
#define RETRY_NS UINT64_C(50000000)
/* More than that a scout writes. */
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

/* What is left of a program that is gone says nothing of the next one. */
static void refuse(struct session *session, pid_t pid, uint64_t until_ns, bool by_policy)
{
	if (until_ns == UINT64_MAX)
		refusals__add(&session->refusals, pid, by_policy);
}

static void tell_refused(struct session *session, pid_t pid, const char *why)
{
	log__line(LOG_WARNING, "job %llu: process %d is not recorded: %s",
		  (unsigned long long)session->job->number, (int)pid, why);
}

static void give_up(struct session *session, struct opening *opening, uint64_t *counter, const char *why)
{
	++*counter;
	tell_refused(session, opening->entry.pid, why);
	refuse(session, opening->entry.pid, opening->entry.until_ns, false);
	forget(session, opening);
}

/* Of the user of whoever waits: who are recorded or about to be. */
static size_t count_of_user(const struct session *session, uid_t uid)
{
	size_t count = 0;

	for (size_t i = 0; i < session->member_count; i++)
		count += session->members[i].job->process.uid == uid;
	for (size_t i = 0; i < session->backlog.count; i++) {
		const struct opening *opening = opening_at(session, i);

		count += (opening->state == OPENING_MAKING || opening->state == OPENING_MADE) &&
			 opening->uid == uid;
	}
	return count;
}

static bool has_room(const struct session *session, uid_t uid)
{
	return places__allow(uid, count_of_user(session, uid),
			     SESSION_MOST - session->member_count - session->being_made);
}

/* It had its first event long ago, and got no job. */
static void give_up_waiting(struct session *session, struct opening *opening)
{
	char why[160];

	if (opening->failure.status)
		snprintf(why, sizeof(why), "given up: %.130s", opening->failure.text);
	else
		snprintf(why, sizeof(why), "given up: %zu others of its user are, of %d in all",
			 count_of_user(session, opening->uid), SESSION_MOST);
	give_up(session, opening, &session->unrecorded.crowded, why);
}

/* ---- who is about to be ----------------------------------------------- */

static bool is_idle(const struct opening *opening)
{
	return opening->state == OPENING_KNOWN && !opening->entry.first_ns;
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
	if (oldest && (idle > MOST_IDLE || session->backlog.count == BACKLOG_MOST))
		forget(session, oldest);
}

/* Asks scouts what the process is; NULL: there is no room. */
static struct opening *open_process(struct session *session, pid_t pid, uint64_t mapped_ns)
{
	struct opening *opening = opening__new(pid, mapped_ns);

	forget_oldest_idle(session);
	if (!opening || !backlog__add(&session->backlog, &opening->entry)) {
		opening__free(opening);
		return NULL;
	}
	opening->session = session->job;
	capture__losses_of(session->capture, pid, &opening->before);
	opening__read(opening, session->scouts);
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

	if (pid == getpid() || session->ending || find_member(session, pid, time_ns) ||
	    refusals__has(&session->refusals, pid) || (known && !is_idle(known)))
		return;
	if (known)
		forget(session, known);
	open_process(session, pid, time_ns);
}

/* Whether probes may have come after the first use of these runtimes. */
static bool are_late(struct session *session, const struct prospect *prospect,
		     const struct execution *executed)
{
	for (int i = 0; executed && i < prospect->runtime_count; i++)
		if (session_files__attached_after(&session->files, &prospect->runtimes[i], executed->time_ns))
			return true;
	return !executed;
}

static void make_member(struct session *session, struct opening *opening)
{
	const struct prospect *prospect = opening->prospect;
	const struct execution *executed =
		executions__find(&session->executions, opening->entry.pid, opening__since_ns(opening));

	opening->about = (struct recorder_capture){
		.runtime = attach__name(prospect->runtimes, prospect->runtime_count),
		.ns_per_event = session->ns_per_event,
		.attach_ns = executed ? executed->time_ns : opening->entry.first_ns,
		.late = are_late(session, prospect, executed),
		.source = "uprobes",
	};
	attach__describe(session->capture, &opening->about);
	opening->parent_job = executed ? executed->parent_job : 0;
	session->being_made++;
	opening__make(opening, session->scouts);
}

/* What was held of it is written, or little. */
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
	opening->state = opening->answer == OPENING_DONE ? OPENING_MADE : OPENING_KNOWN;
	if (opening->answer == OPENING_DONE) {
		session->retry_ns = 0;
		return;
	}
	session->being_made--;
	if (opening->answer == OPENING_NO_ROOM) {
		session->retry_ns = job__now_ns() + RETRY_NS;
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
		opening->prospect && (opening->entry.first_ns || opening->entry.until_ns == UINT64_MAX);

	opening->state = OPENING_KNOWN;
	opening->uid = opening->prospect ? opening->prospect->process.uid : 0;
	if (is_there && opening->prospect->search)
		opening__search(opening, session->scouts);
	else if (is_there)
		return;
	else if (opening->entry.first_ns)
		give_up(session, opening, &session->unrecorded.ended, "it had ended before it could be read");
	else
		forget(session, opening);
}

static void take_up(struct session *session, struct opening *opening)
{
	opening->entry.working = false;
	if (opening->state == OPENING_READING || opening->state == OPENING_SEARCHING)
		take_read(session, opening);
	else if (opening->state == OPENING_MAKING)
		take_made(session, opening);
}

/* What it waits for is its turn only. */
static bool can_be_made(const struct session *session, const struct opening *opening)
{
	return !opening->entry.working && opening->state == OPENING_KNOWN && opening->entry.first_ns &&
	       has_room(session, opening->uid) && !backlog__is_behind(&session->backlog, &opening->entry);
}

/* In the order of their arrival. */
static void make_members(struct session *session)
{
	uint64_t now = job__now_ns();

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
	struct scout_work *work;
	struct backlog_entry *overdue;

	while ((work = scouts__take(session->scouts)))
		take_up(session, opening__of_work(work));
	for (size_t i = session->backlog.count; i > 0; i--) {
		struct opening *opening = opening_at(session, i - 1);

		if (opening->state != OPENING_MADE || opening->entry.working)
			continue;
		if (opening->entry.held.count > HELD_AT_ONCE)
			opening__write(opening, &session->backlog, session->scouts);
		else
			become_member(session, opening);
	}
	make_members(session);
	while ((overdue = backlog__overdue(&session->backlog, job__now_ns())))
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

		/* The buffers of several CPUs are read one after the other: it may be the one that began so.
		 */
		if (opening->entry.pid != event->pid || opening->entry.until_ns != UINT64_MAX ||
		    opening__since_ns(opening) > event->time_ns)
			continue;
		opening->entry.until_ns = event->time_ns;
		if (is_idle(opening))
			forget(session, opening);
	}
	refusals__forget(&session->refusals, event->pid);
}

/* ---- events ----------------------------------------------------------- */

/* Whose an event is: at most one of them. */
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

/* One that was not seen before is opened. */
static struct owner owner_of(struct session *session, pid_t pid, const struct ring_event *event)
{
	uint64_t time_ns = event->time_ns;
	const struct execution *executed;
	struct owner owner;

	if (find_owner(session, pid, time_ns, &owner) || refusals__has(&session->refusals, pid) ||
	    pid == getpid() || session->ending)
		return owner;
	/* It may have begun since this was last read; the kernel told so before its first event. */
	session__follow(session);
	if (find_owner(session, pid, time_ns, &owner))
		return owner;
	/* What is left of a program that is gone: nobody knows what its addresses mean. */
	executed = executions__find(&session->executions, pid, UINT64_MAX);
	if (executed && time_ns < executed->time_ns)
		return owner;
	/* A thread leaves its CPU for the last time when its process has been seen to end. */
	if (event->kind == RING_OFF_CPU || event->kind == RING_ON_CPU)
		return owner;
	owner.opening = open_process(session, pid, 0);
	if (!owner.opening) {
		session->unrecorded.crowded++;
		tell_refused(session, pid, "too many others are about to be");
		refuse(session, pid, UINT64_MAX, false);
	}
	return owner;
}

void session_members__feed(struct session *session, unsigned int cpu, const struct ring_event *events,
			   size_t count)
{
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

void session_members__window(struct session *session, const struct recorder_window *window)
{
	for (size_t i = 0; i < session->backlog.count; i++) {
		struct opening *opening = opening_at(session, i);
		struct recorder_window *windows;

		if (!opening->entry.first_ns)
			continue;
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

/* In a thread of its own: naming sources takes long, and the rings go on filling. */
static void *end_member(void *argument)
{
	struct ending *ending = argument;
	struct session_member *member = &ending->member;
	int unnamed, error;

	/* The capture may be gone by now. */
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
	struct ending now = {.member = *member, .reason = reason, .end_ns = job__now_ns()};

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
	scouts__free(session->scouts, NULL);
	session->scouts = NULL;
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
			forget(session, opening);
	}
}
