// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/opening.h"
#include "daemon/graind/optout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opening *opening__new(pid_t pid, uint64_t mapped_ns)
{
	struct opening *opening = calloc(1, sizeof(*opening));

	if (opening)
		*opening = (struct opening){.entry = {.pid = pid, .until_ns = UINT64_MAX},
					    .mapped_ns = mapped_ns};
	return opening;
}

void opening__free(struct opening *opening)
{
	if (!opening)
		return;
	prospect__free(opening->prospect);
	free(opening->entry.held.list);
	free(opening->writing.list);
	free(opening->windows);
	free(opening);
}

struct opening *opening__of_entry(struct backlog_entry *entry)
{
	return entry ? (struct opening *)((char *)entry - offsetof(struct opening, entry)) : NULL;
}

struct opening *opening__of_work(struct scout_work *work)
{
	return work ? (struct opening *)((char *)work - offsetof(struct opening, work)) : NULL;
}

uint64_t opening__since_ns(const struct opening *opening)
{
	return opening->mapped_ns ? opening->mapped_ns : opening->entry.first_ns;
}

static void hand_over(struct opening *opening, struct scouts *scouts, void (*run)(struct scout_work *work),
		      enum scout_turn turn)
{
	opening->entry.working = true;
	opening->work.run = run;
	opening->work.turn = turn;
	scouts__ask(scouts, &opening->work);
}

/* ---- what scouts do --------------------------------------------------- */

static void read_process(struct scout_work *work)
{
	struct opening *opening = opening__of_work(work);

	opening->prospect = prospect__read(opening->entry.pid);
}

static void look_for_runtimes(struct scout_work *work)
{
	prospect__search(opening__of_work(work)->prospect);
}

/* Whether the session is to record it. */
static bool is_wanted(const struct job *session, const struct prospect *prospect)
{
	const struct process *process = &prospect->process;

	if (process->opted_out || optout__has(process->uid))
		return false;
	return session->by_policy ? prospect->profile == POLICY_ALWAYS : prospect->profile != POLICY_OFF;
}

static void show_begin(struct job_view *view, const void *ctx)
{
	const struct recorder_capture *about = ctx;

	view->state = JOB_RUNNING;
	snprintf(view->runtime, sizeof(view->runtime), "%s", about->runtime);
	snprintf(view->method, sizeof(view->method), "%s", about->method);
	view->ns_per_event = about->ns_per_event;
}

static void begin(struct opening *opening)
{
	struct job *job = opening->job;
	struct prospect *prospect = opening->prospect;
	int error;

	job->pidfd = prospect->pidfd;
	prospect->pidfd = -1;
	error = recorder__new(job->dirfd, &prospect->process, job__ceiling(job), &opening->recorder);
	if (!error) {
		recorder__take_modules(opening->recorder, &prospect->modules);
		error = recorder__begin(opening->recorder, &opening->about);
	}
	if (error) {
		recorder__free(opening->recorder);
		job__conclude(job, false, error);
		opening->job = NULL;
		opening->answer = OPENING_FAILED;
		failure__set(&opening->failure, 503, "its trace cannot be written: %s", strerror(-error));
		return;
	}
	drain_pace__start(&opening->pace, job, opening->about.attach_ns);
	job__change(job, show_begin, &opening->about);
	opening->answer = OPENING_DONE;
}

static void make_job(struct scout_work *work)
{
	struct opening *opening = opening__of_work(work);
	struct prospect *prospect = prospect__refresh(opening->prospect, opening->entry.first_ns);

	opening->prospect = prospect;
	opening->answer = OPENING_FAILED;
	if (!prospect)
		failure__set(&opening->failure, 422, "it has ended");
	else if (!is_wanted(opening->session, prospect))
		opening->answer = OPENING_UNWANTED;
	else if (job__enter(opening->session->jobs, &prospect->process, opening->entry.pid,
			    opening->parent_job, true, &opening->job, &opening->failure) == 0)
		begin(opening);
	else if (opening->failure.status == 503)
		opening->answer = OPENING_NO_ROOM;
	else if (opening->failure.status == 403)
		opening->answer = OPENING_UNWANTED;
}

static void write_held(struct scout_work *work)
{
	struct opening *opening = opening__of_work(work);

	held_events__feed(&opening->writing, opening->recorder);
	free(opening->writing.list);
	opening->writing = (struct held_events){0};
}

/* ---- what the session's thread asks for ------------------------------- */

void opening__read(struct opening *opening, struct scouts *scouts)
{
	opening->state = OPENING_READING;
	hand_over(opening, scouts, read_process, SCOUT_URGENT);
}

void opening__search(struct opening *opening, struct scouts *scouts)
{
	opening->state = OPENING_SEARCHING;
	hand_over(opening, scouts, look_for_runtimes, SCOUT_PATIENT);
}

void opening__make(struct opening *opening, struct scouts *scouts)
{
	opening->state = OPENING_MAKING;
	hand_over(opening, scouts, make_job, SCOUT_ORDINARY);
}

void opening__write(struct opening *opening, struct backlog *backlog, struct scouts *scouts)
{
	opening->writing = backlog__release(backlog, &opening->entry);
	hand_over(opening, scouts, write_held, SCOUT_ORDINARY);
}

void held_events__feed(const struct held_events *held, struct recorder *recorder)
{
	size_t run;

	for (size_t i = 0; i < held->count; i += run) {
		for (run = 1; i + run < held->count && held->list[i + run].seq == held->list[i].seq; run++)
			;
		recorder__feed(recorder, held->list[i].seq, &held->list[i], run);
	}
}
