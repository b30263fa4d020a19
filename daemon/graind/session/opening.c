// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/session/opening.h"
#include "daemon/graind/limits/account.h"
#include "daemon/graind/summary/job_conclude.h"
#include "daemon/graind/policy/optout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opening *opening__new(pid_t pid, uint64_t mapped_ns)
{
	struct opening *opening = calloc(1, sizeof(*opening));

	if (opening)
		*opening = (struct opening){.entry = {.pid = pid,
						      .until_ns = UINT64_MAX,
						      .account = BACKLOG_UNNAMED},
					    .mapped_ns = mapped_ns};
	return opening;
}

void opening__free(struct opening *opening)
{
	if (!opening)
		return;
	candidate__free(opening->candidate);
	free(opening->entry.held.list);
	free(opening->writing.list);
	free(opening->windows);
	free(opening);
}

struct opening *opening__of_entry(struct backlog_entry *entry)
{
	return entry ? (struct opening *)((char *)entry - offsetof(struct opening, entry)) : NULL;
}

struct opening *opening__of_work(struct pool_work *work)
{
	return work ? (struct opening *)((char *)work - offsetof(struct opening, work)) : NULL;
}

uint64_t opening__since_ns(const struct opening *opening)
{
	return opening->mapped_ns ? opening->mapped_ns : opening->entry.first_ns;
}

bool opening__is_wanted(const struct opening *opening)
{
	const struct candidate *candidate = opening->candidate;

	if (!candidate)
		return true;
	if (candidate->process.opted_out || optout__has(candidate->process.uid))
		return false;
	return opening->session->by_policy ? candidate->profile == POLICY_ALWAYS
					   : candidate->profile != POLICY_OFF;
}

static void hand_over(struct opening *opening, struct thread_pool *pool, void (*run)(struct pool_work *work),
		      enum pool_turn turn)
{
	opening->entry.working = true;
	opening->work.run = run;
	opening->work.turn = turn;
	thread_pool__ask(pool, &opening->work);
}

/* ---- what threads of the pool do --------------------------------------------------- */

uid_t opening__account(struct pool_work *work)
{
	struct opening *opening = opening__of_work(work);

	if (opening->state == OPENING_READING)
		atomic_store(&opening->entry.account, account__of_process(opening->entry.pid));
	return opening->entry.account;
}

static void read_process(struct pool_work *work)
{
	struct opening *opening = opening__of_work(work);

	opening->candidate = candidate__read(opening->entry.pid);
	if (opening->candidate)
		atomic_store(&opening->entry.account, account__of(opening->candidate->process.uid));
}

static void look_for_runtimes(struct pool_work *work)
{
	candidate__search(opening__of_work(work)->candidate);
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
	struct candidate *candidate = opening->candidate;
	int error;

	job->pidfd = candidate->pidfd;
	candidate->pidfd = -1;
	error = recorder__new(job->dirfd, &job->process, job__ceiling(job), &opening->recorder);
	if (!error) {
		recorder__take_modules(opening->recorder, &candidate->modules);
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

static void make_job(struct pool_work *work)
{
	struct opening *opening = opening__of_work(work);
	struct candidate *candidate = candidate__refresh(opening->candidate, opening->entry.first_ns);

	opening->candidate = candidate;
	opening->answer = OPENING_FAILED;
	if (!candidate)
		failure__set(&opening->failure, 422, "it has ended");
	else if (!opening__is_wanted(opening))
		opening->answer = OPENING_UNWANTED;
	else if (job__enter(opening->session->jobs,
			    &(struct job_opts){.process = &candidate->process,
					       .pid = opening->entry.pid,
					       .parent_job = opening->parent_job,
					       .origin = JOB_OF_SESSION},
			    &opening->job, &opening->failure) == 0)
		begin(opening);
	else if (opening->failure.status == 503)
		opening->answer = OPENING_NO_ROOM;
	else if (opening->failure.status == 403)
		opening->answer = OPENING_UNWANTED;
}

static void write_held(struct pool_work *work)
{
	struct opening *opening = opening__of_work(work);

	held_events__feed(&opening->writing, opening->recorder);
	free(opening->writing.list);
	opening->writing = (struct held_events){0};
}

/* ---- what the session's thread asks for ------------------------------- */

void opening__read(struct opening *opening, struct thread_pool *pool)
{
	opening->state = OPENING_READING;
	hand_over(opening, pool, read_process, POOL_URGENT);
}

void opening__search(struct opening *opening, struct thread_pool *pool)
{
	opening->state = OPENING_SEARCHING;
	hand_over(opening, pool, look_for_runtimes, POOL_PATIENT);
}

void opening__make(struct opening *opening, struct thread_pool *pool)
{
	opening->state = OPENING_MAKING;
	hand_over(opening, pool, make_job, POOL_ORDINARY);
}

void opening__write(struct opening *opening, struct backlog *backlog, struct thread_pool *pool)
{
	opening->writing = backlog__release(backlog, &opening->entry);
	hand_over(opening, pool, write_held, POOL_ORDINARY);
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
