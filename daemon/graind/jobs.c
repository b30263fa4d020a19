// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/job.h"
#include "daemon/graind/log.h"
#include "daemon/graind/optout.h"
#include "daemon/graind/policy.h"
#include "daemon/graind/urgency.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_JOBS 320
#define MAX_JOBS_OF_A_USER 16
#define OPTED_OUT                                                                                            \
	"process %d is not recorded: its user, %u, has opted out (grainctl optout off, by that user, "       \
	"undoes "                                                                                            \
	"it)"

int failure__set(struct failure *failure, int status, const char *format, ...)
{
	va_list args;

	failure->status = status;
	va_start(args, format);
	vsnprintf(failure->text, sizeof(failure->text), format, args);
	va_end(args);
	return -1;
}

uint64_t job__now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

int jobs__new(struct job_store *store, const char *socket, int idle_fd, struct jobs **out)
{
	struct jobs *jobs = calloc(1, sizeof(*jobs));
	pthread_condattr_t monotonic;

	if (!jobs)
		return -ENOMEM;
	jobs->socket = strdup(socket);
	if (!jobs->socket) {
		free(jobs);
		return -ENOMEM;
	}
	urgency__make_lock(&jobs->lock);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&jobs->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
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

void jobs__end(struct jobs *jobs)
{
	pthread_mutex_lock(&jobs->lock);
	jobs->ending = true;
	for (struct job *job = jobs->first; job; job = job->next)
		job__stop(job, JOB_SHUTDOWN);
	while (jobs->count)
		pthread_cond_wait(&jobs->changed, &jobs->lock);
	pthread_mutex_unlock(&jobs->lock);
}

void jobs__free(struct jobs *jobs)
{
	if (!jobs)
		return;
	pthread_cond_destroy(&jobs->changed);
	pthread_mutex_destroy(&jobs->lock);
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

/* Under the lock. */
static void store_view(const struct job *job)
{
	json_t *json = job_view__json(&job->view);
	int error = -ENOMEM;

	if (json && json_object_set_new(json, "socket", json_string(job->jobs->socket)) == 0)
		error = job_store__write(job->dirfd, json);
	json_decref(json);
	if (error)
		log__line(LOG_WARNING, "job %llu: cannot write " JOB_FILE ": %s",
			  (unsigned long long)job->number, strerror(-error));
}

/* Each job has two lines in the log: this one, and how it ended. */
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
	enum job_state before;

	pthread_mutex_lock(&job->jobs->lock);
	before = job->view.state;
	change(&job->view, ctx);
	if (job->view.state != before) {
		job->jobs->metrics.started += before == JOB_STARTING;
		if (before == JOB_STARTING)
			log_begin(&job->view);
		store_view(job);
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

int job__enter(struct jobs *jobs, const struct process *process, pid_t pid, uint64_t parent_job,
	       bool by_session, struct job **out, struct failure *failure)
{
	struct job *job = calloc(1, sizeof(*job)), *other;
	bool short_of_memory = policy__out_of_memory();
	size_t of_user = 0;
	int error = 0;

	if (!job)
		return failure__set(failure, 503, "graind is out of memory");
	job->jobs = jobs;
	job->dirfd = job->pidfd = job->later = -1;
	job->process = *process;
	job->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_lock(&jobs->lock);
	for (other = jobs->first; other; other = other->next) {
		of_user += other->view.uid == process->uid;
		/* One that is being concluded may have been that of the program before. */
		if (pid && other->view.pid == pid && other->view.state != JOB_FINISHING &&
		    other->number != parent_job)
			break;
	}
	if (job->stop_fd < 0)
		error = failure__set(failure, 503, "graind has no file descriptors left");
	else if (jobs->ending)
		error = failure__set(failure, 503, "graind is shutting down");
	else if (other)
		error = failure__set(failure, 409, "process %d is already profiled by job %llu", (int)pid,
				     (unsigned long long)other->number);
	else if (pid && optout__has(process->uid)) /* under the lock: or jobs__stop_user sees the job */
		error = failure__set(failure, 403, OPTED_OUT, (int)pid, (unsigned int)process->uid);
	else if (short_of_memory)
		error = failure__set(failure, 503,
				     "graind takes more memory than its settings allow; detach a job first");
	else if (jobs->count >= MAX_JOBS)
		error = failure__set(failure, 503, "this graind already runs %zu jobs; detach one first",
				     jobs->count);
	else if (!by_session && process->uid != 0 && of_user >= MAX_JOBS_OF_A_USER)
		error = failure__set(failure, 503, "you already have %zu jobs running; detach one first",
				     of_user);
	if (!error) {
		int claimed = job_store__claim(jobs->store, &job->number, &job->dirfd);

		if (claimed)
			error = failure__set(failure, 503,
					     "cannot make a job in the state directory %.300s: %s",
					     job_store__path(jobs->store), strerror(-claimed));
	}
	if (!error) {
		job->view = (struct job_view){
			.number = job->number,
			.parent = parent_job,
			.state = JOB_STARTING,
			.pid = pid,
			.uid = process->uid,
			.threads = process->threads,
			.mpi = process->mpi,
			.start_ns = job__now_ns(),
			.live = {.busy_threads = NAN, .preempted_share = NAN},
			.measures = {.average_parallelism = NAN, .preempted_share = NAN},
		};
		snprintf(job->view.exe, sizeof(job->view.exe), "%s", process->exe);
		snprintf(job->view.cmd, sizeof(job->view.cmd), "%s", process->cmd);
		snprintf(job->view.batch, sizeof(job->view.batch), "%s", process->batch);
		job_view__name_user(&job->view);
		job->next = jobs->first;
		jobs->first = job;
		jobs->count++;
		*out = job;
	}
	pthread_mutex_unlock(&jobs->lock);
	if (error)
		job__free(job);
	return error;
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
	int error;

	pthread_mutex_lock(&jobs->lock);
	while (job->awaited)
		pthread_cond_wait(&jobs->changed, &jobs->lock);
	jobs->metrics.started += job->view.state == JOB_STARTING;
	change(&job->view, ctx);
	store_view(job);
	metrics__job_ended(&jobs->metrics, &job->view);
	log_end(&job->view);
	error = job_store__hand_over(job->dirfd, job->view.uid, job->process.gid);
	if (error)
		log__line(LOG_WARNING, "job %llu: cannot give it to user %u: %s",
			  (unsigned long long)job->number, (unsigned int)job->view.uid, strerror(-error));
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
	job_store__delete(jobs->store, job->number);
	job__take_out(job);
	pthread_mutex_unlock(&jobs->lock);
	job__free(job);
}
