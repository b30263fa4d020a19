// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/job_store/job_space.h"
#include "daemon/graind/limits/account.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/base/deadline.h"
#include "daemon/graind/jobs/job.h"
#include "daemon/graind/base/log.h"
#include "daemon/graind/policy/optout.h"
#include "daemon/graind/limits/fair_share.h"
#include "daemon/graind/policy/policy.h"
#include "daemon/graind/spool/spool.h"
#include "daemon/graind/jobs/unstored.h"
#include "daemon/graind/base/urgency.h"
#include "daemon/graind/worker/worker.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_JOBS 320
/* Places that are reserved for root and the admin group. */
#define RESERVED_JOBS 32
#define MAX_JOBS_OF_A_USER 16
/* How long ending may take. It is less than systemd's TimeoutStopSec. */
#define END_SECONDS 80
#define OPTED_OUT                                                                                            \
	"process %d is not recorded: its user, %u, has opted out (grainctl optout off, by that user, "       \
	"undoes "                                                                                            \
	"it)"

int jobs__new(struct job_store *store, const char *socket, int idle_fd, struct jobs **out)
{
	struct jobs *jobs = calloc(1, sizeof(*jobs));

	if (!jobs)
		return -ENOMEM;
	jobs->socket = strdup(socket);
	if (!jobs->socket) {
		free(jobs);
		return -ENOMEM;
	}
	urgency__make_lock(&jobs->lock);
	deadline__make(&jobs->changed);
	if (job_index__new(store, &jobs->index) != 0) {
		jobs__free(jobs);
		return -ENOMEM;
	}
	jobs->store = store;
	jobs->idle_fd = idle_fd;
	strcpy(jobs->method, "auto");
	*out = jobs;
	return 0;
}

void job__stop(struct job *job, enum job_reason reason)
{
	if (job->stop == JOB_GOES_ON)
		job->stop = reason;
	eventfd_write(job->stop_fd, 1);
}

size_t jobs__end(struct jobs *jobs)
{
	struct timespec until;
	size_t left;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += END_SECONDS;
	pthread_mutex_lock(&jobs->lock);
	jobs->ending = true;
	workers__hurry();
	for (struct job *job = jobs->first; job; job = job->next)
		job__stop(job, JOB_SHUTDOWN);
	while (jobs->count && pthread_cond_timedwait(&jobs->changed, &jobs->lock, &until) != ETIMEDOUT)
		;
	left = jobs->count;
	pthread_mutex_unlock(&jobs->lock);
	unstored__retry_last(jobs, &until);
	return left;
}

void jobs__free(struct jobs *jobs)
{
	if (!jobs)
		return;
	unstored__free(jobs);
	pthread_cond_destroy(&jobs->changed);
	pthread_mutex_destroy(&jobs->lock);
	job_index__free(jobs->index);
	free(jobs->socket);
	free(jobs);
}

size_t jobs__stop_user(struct jobs *jobs, uid_t uid)
{
	size_t count = 0;

	pthread_mutex_lock(&jobs->lock);
	for (struct job *job = jobs->first; job; job = job->next) {
		if (!job->view.pid || job->view.uid != uid || job->stop != JOB_GOES_ON ||
		    job->view.state == JOB_FINISHING)
			continue;
		job__stop(job, JOB_OPTOUT);
		count++;
	}
	pthread_mutex_unlock(&jobs->lock);
	return count;
}

struct job *jobs__find_running(struct jobs *jobs, uint64_t number, uid_t peer)
{
	for (struct job *job = jobs->first; job; job = job->next) {
		if (job->number == number && job->view.state != JOB_STARTING &&
		    (peer == 0 || job->view.uid == peer))
			return job;
	}
	return NULL;
}

int jobs__drop(struct jobs *jobs, uint64_t number)
{
	int error = job_store__delete(jobs->store, number);

	if (error && error != -ENOENT)
		return error;
	job_index__forget(jobs->index, number);
	pthread_mutex_lock(&jobs->lock);
	unstored__forget(jobs, number);
	pthread_mutex_unlock(&jobs->lock);
	return error;
}

const char *jobs__state_dir(const struct jobs *jobs)
{
	return job_store__path(jobs->store);
}

size_t jobs__running(struct jobs *jobs)
{
	size_t count;

	pthread_mutex_lock(&jobs->lock);
	count = jobs->count;
	pthread_mutex_unlock(&jobs->lock);
	return count;
}

void jobs__method(struct jobs *jobs, char method[32])
{
	pthread_mutex_lock(&jobs->lock);
	memcpy(method, jobs->method, sizeof(jobs->method));
	pthread_mutex_unlock(&jobs->lock);
}

int job__start_thread(void *(*run)(void *), void *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&thread, &attributes, run, argument);
	pthread_attr_destroy(&attributes);
	return -error;
}

/* ---- for the threads that run jobs ------------------------------------ */

/* Needs the lock. Returns the present content of job.json; NULL: out of memory. */
static json_t *describe(const struct job *job)
{
	json_t *json = job_view__json(&job->view);

	if (json && json_object_set_new(json, "socket", json_string(job->jobs->socket)) != 0) {
		json_decref(json);
		json = NULL;
	}
	return json;
}

/*
 * Call this without the lock, as a disk may be slow. For a job that goes on, a failure does no harm: this
 * graind answers for the job until the job ends (unstored.c keeps the last description).
 */
static void store(const struct job *job, json_t *json)
{
	if (json)
		job_store__write(job->dirfd, json);
	json_decref(json);
	job_store__reserve(job->dirfd);
}

/* Each job has two lines in the log: this one, and one at its end. */
static void log_begin(const struct job_view *view)
{
	if (view->pid)
		log__line(LOG_INFO, "job %llu of %s: process %d, %.300s", (unsigned long long)view->number,
			  view->user, (int)view->pid, view->exe);
	else
		log__line(LOG_INFO, "job %llu of %s: a session", (unsigned long long)view->number,
			  view->user);
}

static void log_end(const struct job_view *view)
{
	double seconds = view->end_ns > view->start_ns ? (double)(view->end_ns - view->start_ns) / 1e9 : 0;

	uint64_t lost = job_view__lost(view);

	log__line(lost || view->error[0] ? LOG_WARNING : LOG_INFO,
		  "job %llu of %s: %s (%s) after %.1f s, %llu grains, %llu events, %llu lost%s%.300s",
		  (unsigned long long)view->number, view->user, job_state__name(view->state),
		  job_reason__name(view->reason), seconds, (unsigned long long)view->grains,
		  (unsigned long long)view->events, (unsigned long long)lost, view->error[0] ? "; " : "",
		  view->error);
}

void job__change(struct job *job, job_change_fn change, const void *ctx)
{
	enum job_state before, after;
	json_t *json;

	pthread_mutex_lock(&job->jobs->lock);
	before = job->view.state;
	change(&job->view, ctx);
	after = job->view.state;
	if (after != before) {
		json = describe(job);
		/* The new state is shown only after it has been written to the file. */
		job->view.state = before;
		pthread_mutex_unlock(&job->jobs->lock);
		store(job, json);
		pthread_mutex_lock(&job->jobs->lock);
		job->view.state = after;
		job->jobs->totals.started += before == JOB_STARTING;
		if (before == JOB_STARTING)
			log_begin(&job->view);
		pthread_cond_broadcast(&job->jobs->changed);
	}
	pthread_mutex_unlock(&job->jobs->lock);
}

bool job__try_change(struct job *job, job_change_fn change, const void *ctx)
{
	if (pthread_mutex_trylock(&job->jobs->lock) != 0)
		return false;
	change(&job->view, ctx);
	pthread_mutex_unlock(&job->jobs->lock);
	return true;
}

static void change_state(struct job_view *view, const void *state)
{
	view->state = *(const enum job_state *)state;
}

void job__set_state(struct job *job, enum job_state state)
{
	job__change(job, change_state, &state);
}

enum job_reason job__wanted_stop(struct job *job)
{
	enum job_reason reason;

	pthread_mutex_lock(&job->jobs->lock);
	reason = job->stop;
	pthread_mutex_unlock(&job->jobs->lock);
	return reason;
}

static void add_note(struct job_view *view, const void *text)
{
	if (!view->notes)
		view->notes = json_array();
	if (json_array_size(view->notes) < 16)
		json_array_append_new(view->notes, json_string(text));
}

void job__note(struct job *job, const char *text)
{
	log__line(LOG_INFO, "job %llu: %s", (unsigned long long)job->number, text);
	job__change(job, add_note, text);
}

void job__note_unnamed(struct job *job, int error)
{
	char text[160];

	if (!error)
		return;
	snprintf(text, sizeof(text), "no source lines: the process that reads debug information %s",
		 error == -ETIMEDOUT ? "took too long"
		 : error == -ECHILD  ? "failed"
				     : strerror(-error));
	job__note(job, text);
}

void job__note_method(struct job *job, const char *method)
{
	pthread_mutex_lock(&job->jobs->lock);
	snprintf(job->jobs->method, sizeof(job->jobs->method), "%s", method);
	snprintf(job->view.method, sizeof(job->view.method), "%s", method);
	pthread_mutex_unlock(&job->jobs->lock);
}

unsigned int job__patience(struct job *job, unsigned int seconds)
{
	unsigned int most;

	pthread_mutex_lock(&job->jobs->lock);
	most = job->jobs->ending ? 10 : seconds;
	pthread_mutex_unlock(&job->jobs->lock);
	return seconds < most ? seconds : most;
}

uint64_t job__ceiling(const struct job *job)
{
	uint64_t asked = job->max_bytes ? job->max_bytes : SPOOL_DEFAULT_BYTES;
	struct policy_limits limits;

	policy__limits(&limits);
	if (limits.job_bytes && (limits.job_bytes < asked || !job->max_bytes))
		asked = limits.job_bytes;
	return asked > SPOOL_LEAST_BYTES ? asked : SPOOL_LEAST_BYTES;
}

void job__free(struct job *job)
{
	if (job->dirfd >= 0)
		close(job->dirfd);
	if (job->pidfd >= 0)
		close(job->pidfd);
	if (job->stop_fd >= 0)
		close(job->stop_fd);
	if (job->later >= 0)
		close(job->later);
	json_decref(job->view.problems);
	json_decref(job->view.notes);
	free(job->counters);
	free(job->memory_event);
	free(job);
}

/* Needs the lock. A session divides its places among users itself. */
static bool has_place(const struct jobs *jobs, uid_t account, size_t of_user, enum job_origin origin,
		      bool reserved)
{
	size_t left = fair_share__left(MAX_JOBS, jobs->count, reserved ? 0 : RESERVED_JOBS);

	return reserved || origin == JOB_OF_SESSION ? left > 0 : fair_share__allow(account, of_user, left);
}

/*
 * Takes a place for the job, which gets its number later. Returns -1 with *failure set if there is none.
 * Needs the lock.
 */
static int take_place(struct job *job, const struct job_opts *opts, struct failure *failure)
{
	struct jobs *jobs = job->jobs;
	pid_t pid = opts->pid;
	uid_t uid = opts->process->uid;
	struct job *other;
	size_t of_user = 0;

	for (other = jobs->first; other; other = other->next) {
		of_user += other->account == job->account && !other->reserved;
		/*
		 * A finishing job does not count: it may be of the program that the process executed
		 * before.
		 */
		if (pid && other->view.pid == pid && other->view.state != JOB_FINISHING &&
		    (!other->number || other->number != opts->parent_job))
			break;
	}
	if (jobs->ending)
		return failure__set(failure, 503, "graind is shutting down");
	if (other && other->number)
		return failure__set(failure, 409, "process %d is already profiled by job %llu", (int)pid,
				    (unsigned long long)other->number);
	if (other)
		return failure__set(failure, 409, "process %d is already being attached to", (int)pid);
	if (pid && optout__has(uid)) /* this needs the lock: otherwise jobs__stop_user() sees the job */
		return failure__set(failure, 403, OPTED_OUT, (int)pid, (unsigned int)uid);
	if (opts->origin == JOB_OF_USER && !job->reserved && of_user >= MAX_JOBS_OF_A_USER)
		return failure__set(failure, 503, "you already have %zu jobs running; detach one first",
				    of_user);
	if (!has_place(jobs, job->account, of_user, opts->origin, job->reserved))
		return failure__set(failure, 503,
				    "this graind already runs %zu jobs, %zu of them yours; detach one first",
				    jobs->count, of_user);
	job->next = jobs->first;
	jobs->first = job;
	jobs->count++;
	return 0;
}

/* Makes a job without place, number and directory. NULL: out of memory. */
static struct job *make_job(struct jobs *jobs, const struct job_opts *opts)
{
	const struct process *process = opts->process;
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->jobs = jobs;
	job->dirfd = job->pidfd = job->later = -1;
	job->process = *process;
	/* Users who may not inspect the process must not see data that were read from it. */
	if (!process->one_user)
		process__make_roots(&job->process);
	job->account = account__of(process->uid);
	job->reserved = process->uid == 0 || opts->origin == JOB_OF_ADMIN;
	job->view = (struct job_view){
		.parent = opts->parent_job,
		.state = JOB_STARTING,
		.pid = opts->pid,
		.uid = job->process.uid,
		.threads = process->threads,
		.mpi = process->mpi,
		.start_ns = clock__now_ns(),
		.live = {.busy_threads = NAN, .preempted_share = NAN},
		.measures = {.average_parallelism = NAN, .preempted_share = NAN},
	};
	snprintf(job->view.exe, sizeof(job->view.exe), "%s", process->exe);
	snprintf(job->view.cmd, sizeof(job->view.cmd), "%s", process->cmd);
	snprintf(job->view.batch, sizeof(job->view.batch), "%s", process->batch);
	job_view__name_user(&job->view);
	job->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return job;
}

int job__enter(struct jobs *jobs, const struct job_opts *opts, struct job **out, struct failure *failure)
{
	struct job *job = make_job(jobs, opts);
	uint64_t number = 0;
	int claimed, error = 0;

	if (!job)
		return failure__set(failure, 503, "graind is out of memory");
	if (job->stop_fd < 0)
		error = failure__set(failure, 503, "graind has no file descriptors left");
	else if (policy__out_of_memory())
		error = failure__set(failure, 503,
				     "graind takes more memory than its settings allow; detach a job first");
	if (!error) {
		pthread_mutex_lock(&jobs->lock);
		error = take_place(job, opts, failure);
		pthread_mutex_unlock(&jobs->lock);
	}
	if (error) {
		job__free(job);
		return error;
	}
	/* Claims without the lock, as this may have to wait for other processes that claim a number. */
	claimed = job_store__claim(jobs->store, &number, &job->dirfd);
	if (!claimed)
		job_index__begun(jobs->index, number, job->view.uid, job->account);
	pthread_mutex_lock(&jobs->lock);
	job->number = job->view.number = number;
	if (claimed)
		job__take_out(job);
	pthread_mutex_unlock(&jobs->lock);
	if (claimed) {
		job__free(job);
		return failure__set(failure, 503, "cannot make a job in the state directory %.300s: %s",
				    job_store__path(jobs->store), strerror(-claimed));
	}
	*out = job;
	return 0;
}

void job__take_out(struct job *job)
{
	struct jobs *jobs = job->jobs;

	for (struct job **at = &jobs->first; *at; at = &(*at)->next) {
		if (*at == job) {
			*at = job->next;
			break;
		}
	}
	if (--jobs->count == 0)
		eventfd_write(jobs->idle_fd, 1);
	pthread_cond_broadcast(&jobs->changed);
}

void job__retire(struct job *job, job_change_fn change, const void *ctx)
{
	struct jobs *jobs = job->jobs;
	uint64_t bytes = job_space__bytes(job->dirfd);
	enum job_state before, after;
	json_t *json;
	int error;

	pthread_mutex_lock(&jobs->lock);
	while (job->awaited)
		pthread_cond_wait(&jobs->changed, &jobs->lock);
	before = job->view.state;
	change(&job->view, ctx);
	after = job->view.state;
	job->view.ended_s = (int64_t)time(NULL);
	json = describe(job);
	/* The old state is shown until the file is written, as in job__change(). */
	job->view.state = before;
	pthread_mutex_unlock(&jobs->lock);
	unstored__retry(jobs);
	error = json ? job_store__write_last(job->dirfd, json) : -ENOMEM;
	pthread_mutex_lock(&jobs->lock);
	while (job->awaited)
		pthread_cond_wait(&jobs->changed, &jobs->lock);
	jobs->totals.started += before == JOB_STARTING;
	job->view.state = after;
	job_totals__ended(&jobs->totals, &job->view);
	log_end(&job->view);
	job_index__ended(jobs->index, job->number, job->view.ended_s, bytes);
	unstored__take(jobs, job->number, job->dirfd, json, error);
	job->dirfd = -1;
	job__take_out(job);
	pthread_mutex_unlock(&jobs->lock);
	job__free(job);
}

void job__refuse(struct job *job, const struct failure *failure)
{
	struct jobs *jobs = job->jobs;

	pthread_mutex_lock(&jobs->lock);
	job->refused = *failure;
	pthread_cond_broadcast(&jobs->changed);
	pthread_mutex_unlock(&jobs->lock);
}

void job__discard(struct job *job)
{
	struct jobs *jobs = job->jobs;

	pthread_mutex_lock(&jobs->lock);
	while (job->awaited)
		pthread_cond_wait(&jobs->changed, &jobs->lock);
	pthread_mutex_unlock(&jobs->lock);
	jobs__drop(jobs, job->number);
	pthread_mutex_lock(&jobs->lock);
	job__take_out(job);
	pthread_mutex_unlock(&jobs->lock);
	job__free(job);
}
