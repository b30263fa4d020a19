// SPDX-License-Identifier: BSD-2-Clause
/* What clients ask of jobs; jobs.c keeps them, job_run.c runs them. */
#include "daemon/common/defaults.h"
#include "daemon/graind/counter_names.h"
#include "daemon/graind/job.h"
#include "daemon/graind/listen.h"
#include "daemon/graind/log.h"
#include "daemon/graind/optout.h"
#include "daemon/graind/policy.h"
#include "daemon/graind/spool.h"
#include "daemon/graind/windows.h"
#include "uprobes/capture.h"
#include "uprobes/sampling.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_DURATION_S (100u * 365 * 86400)
#define DETACH_WAIT_S 300
#define REFUSALS_NS UINT64_C(10000000000)

uint64_t job__ceiling(const struct job *job)
{
	uint64_t asked = job->max_bytes ? job->max_bytes : SPOOL_DEFAULT_BYTES;
	struct policy_limits limits;

	policy__limits(&limits);
	if (limits.job_bytes && (limits.job_bytes < asked || !job->max_bytes))
		asked = limits.job_bytes;
	return asked > SPOOL_LEAST_BYTES ? asked : SPOOL_LEAST_BYTES;
}

static int check_process(const struct job_request *request, struct process *process, int *pidfd,
			 struct failure *failure)
{
	pid_t pid = request->pid;
	int error;

	if (pid == getpid())
		return failure__set(failure, 422, "graind cannot profile itself");
	/* First hold the process, then look: its number cannot become another's in between unnoticed. */
	*pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	error = process__read(pid, process);
	if (error == -ESRCH)
		return failure__set(failure, 404, "there is no process %d", (int)pid);
	if (error)
		return failure__set(failure, 503, "cannot look at process %d: %s", (int)pid,
				    strerror(-error));
	if (!process__belongs_to(process, request->peer)) {
		if (process->uid == request->peer)
			return failure__set(failure, 403,
					    "process %d runs with rights that you do not have; ask root",
					    (int)pid);
		return failure__set(failure, 403, "process %d is not yours; ask its owner or root", (int)pid);
	}
	if (!process->leader)
		return failure__set(failure, 422, "%d is a thread; give the number of its process", (int)pid);
	if (*pidfd < 0)
		return failure__set(failure, 503, "cannot watch process %d: %s", (int)pid, strerror(errno));
	if (process->dead || process__has_ended(*pidfd))
		return failure__set(failure, 404, "process %d has ended", (int)pid);
	if (!process->exe[0])
		return failure__set(failure, 422, "process %d is a part of the kernel", (int)pid);
	if (process->uid == request->peer && optout__has(process->uid))
		return failure__set(failure, 403,
				    "you have opted out of being recorded; grainctl optout off undoes that");
	/* Root, who wrote it, is not bound. */
	if (request->peer != 0 && policy__decide(process) == POLICY_OFF)
		return failure__set(
			failure, 403,
			"process %d must not be profiled: the administrator has turned that off for "
			"it; grainctl status shows the rules",
			(int)pid);
	return 0;
}

/* Under the lock: waits until the job's thread has recorded, waits or gave up. */
static int await_start(struct job *job, json_t **out, struct failure *failure)
{
	struct jobs *jobs = job->jobs;
	int error = 0;

	while (job->view.state == JOB_STARTING && !job->refused.status)
		pthread_cond_wait(&jobs->changed, &jobs->lock);
	if (job->refused.status) {
		*failure = job->refused;
		job__take_out(job);
		error = -1;
	} else {
		*out = job_view__json(&job->view);
		if (!*out)
			error = failure__set(failure, 503, "graind is out of memory");
		job->awaited = false;
		pthread_cond_broadcast(&jobs->changed);
	}
	return error;
}

/* The set of the counters that are asked for; NULL: none. */
static int find_counters(const struct job_request *request, const struct process *process,
			 struct counter_set **out, struct failure *failure)
{
	*out = NULL;
	if (!request->counters || !json_array_size(request->counters))
		return 0;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return failure__set(failure, 503, "graind is out of memory");
	return counter_names__find(request->counters, process->uid, process->gid, *out, failure);
}

/* With samples of tasks also addresses, by the processor's own event unless another is named. NULL: none are
 * wanted. */
static int find_memory_event(const struct job_request *request, const struct process *process,
			     struct memory_event **out, struct failure *failure)
{
	const char *name = request->memory_event;

	*out = NULL;
	if (!request->sample_hz || request->samples_only || (name && !strcmp(name, "none")))
		return 0;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return failure__set(failure, 503, "graind is out of memory");
	if (!name) {
		memory_event__find(MEMORY_EVENT_DEVICES, *out);
		return 0;
	}
	return counter_names__find_memory(name, process->uid, process->gid, *out, failure);
}

/*
 * With the lock held. What is no fault of who asks is the operator's, too; one
 * line in ten seconds, as whoever is refused may ask again at once.
 */
static void tell_refused(struct jobs *jobs, const struct job_request *request, const struct failure *failure)
{
	static uint64_t silent_until;
	uint64_t now = job__now_ns();

	metrics__refused(&jobs->metrics, failure->status);
	if ((failure->status != 422 && failure->status < 500) || now < silent_until)
		return;
	silent_until = now + REFUSALS_NS;
	if (request->pid)
		log__line(failure->status == 422 ? LOG_INFO : LOG_WARNING,
			  "user %u: no job for process %d: %s", (unsigned int)request->peer,
			  (int)request->pid, failure->text);
	else
		log__line(LOG_WARNING, "user %u: no session of all processes: %s",
			  (unsigned int)request->peer, failure->text);
}

/*
 * Where probes cannot come and go, samples are what is left of a job that exceeds its ceiling: they begin
 * with it, as their programs cannot be loaded later.
 */
static unsigned int hz_of(const struct job_request *request)
{
	if (request->sample_hz || request->fast || windows__percent(request->ceiling_percent) <= 0 ||
	    capture__will_pause())
		return request->sample_hz;
	return SAMPLE_HZ;
}

int jobs__start(struct jobs *jobs, const struct job_request *request, json_t **out, struct failure *failure)
{
	struct process *process = calloc(1, sizeof(*process));
	struct counter_set *counters = NULL;
	struct memory_event *memory_event = NULL;
	struct job *job = NULL;
	int pidfd = -1, error = 0;
	bool refused;

	if (!process)
		return failure__set(failure, 503, "graind is out of memory");
	if (request->duration_s > MAX_DURATION_S)
		error = failure__set(failure, 400, "duration_s is more than a hundred years");
	else if (request->sample_hz > SAMPLE_HZ_MAX)
		error = failure__set(failure, 400, "sample_hz is more than %d", SAMPLE_HZ_MAX);
	else if (request->samples_only && (!request->sample_hz || !request->pid || request->counters))
		error = failure__set(failure, 400,
				     "\"tasks\":false goes with a pid and sample_hz, and without counters");
	else if (request->memory_event && (!request->sample_hz || request->samples_only))
		error = failure__set(failure, 400,
				     "\"memory_event\" (--memory-event) goes with sample_hz "
				     "(--sample), and with tasks");
	else if (request->fast && (request->samples_only || !request->pid))
		error = failure__set(failure, 400, "\"fast\":true goes with a pid and with tasks");
	else if (request->ceiling_percent && (!request->pid || request->samples_only))
		error = failure__set(failure, 400, "\"ceiling_percent\" goes with a pid and with tasks");
	else if (request->lossless && !request->fast)
		error = failure__set(failure, 400, "\"lossless\":true goes with \"fast\":true");
	else if (request->max_bytes && request->max_bytes < SPOOL_LEAST_BYTES)
		error = failure__set(failure, 400, "max_bytes is less than %llu",
				     (unsigned long long)SPOOL_LEAST_BYTES);
	else if (!request->pid && request->peer != 0)
		error = failure__set(failure, 403, "only root may profile every process; give a pid");
	if (!error && request->pid)
		error = check_process(request, process, &pidfd, failure);
	if (!error)
		error = find_counters(request, process, &counters, failure);
	if (!error)
		error = find_memory_event(request, process, &memory_event, failure);
	if (!error)
		error = job__enter(jobs, process, request->pid, 0, false, &job, failure);
	free(process);
	if (error) {
		free(counters);
		free(memory_event);
		if (pidfd >= 0)
			close(pidfd);
		pthread_mutex_lock(&jobs->lock);
		tell_refused(jobs, request, failure);
		pthread_mutex_unlock(&jobs->lock);
		return error;
	}
	job->pidfd = pidfd;
	job->at_start = request->at_start;
	job->duration_s = request->duration_s;
	job->counters = counters;
	job->memory_event = memory_event;
	job->sample_hz = hz_of(request);
	job->samples_only = request->samples_only;
	job->fast = request->fast;
	job->lossless = request->lossless;
	job->by_policy = request->by_policy;
	job->max_bytes = request->max_bytes;
	job->ceiling_percent = request->ceiling_percent;
	job->awaited = true;
	if (job->process.opted_out)
		job__note(job,
			  ENV_OFF " is set in the environment of the process: sessions leave it out; it is "
				  "recorded because it was asked for by its number");
	pthread_mutex_lock(&jobs->lock);
	error = job__start_thread(request->pid ? job_run__thread : session__thread, job);
	if (error)
		failure__set(&job->refused, 503, "cannot start a thread: %s", strerror(-error));
	error = await_start(job, out, failure);
	refused = error && job->refused.status;
	if (refused)
		tell_refused(jobs, request, failure);
	pthread_mutex_unlock(&jobs->lock);
	if (refused) {
		job_store__delete(jobs->store, job->number);
		job__free(job);
	}
	return error;
}

int jobs__follow_policy(struct jobs *jobs, struct failure *failure)
{
	const struct job_request request = {.by_policy = true};
	bool wanted = policy__wants_always(), there = false;
	json_t *started = NULL;
	int error;

	pthread_mutex_lock(&jobs->lock);
	/* At the end of graind sessions end, and none begins. */
	there = jobs->ending;
	for (struct job *job = jobs->first; job; job = job->next) {
		if (!job->by_policy)
			continue;
		there = true;
		if (!wanted)
			job__stop(job, JOB_DETACH);
	}
	pthread_mutex_unlock(&jobs->lock);
	if (!wanted || there)
		return 0;
	error = jobs__start(jobs, &request, &started, failure);
	json_decref(started);
	return error;
}

/* Under the lock: the running job that `peer` may see, or NULL. */
static struct job *find_running(struct jobs *jobs, uint64_t number, uid_t peer)
{
	for (struct job *job = jobs->first; job; job = job->next) {
		if (job->number == number && job->view.state != JOB_STARTING &&
		    (peer == 0 || job->view.uid == peer))
			return job;
	}
	return NULL;
}

static int no_such_job(uint64_t number, struct failure *failure)
{
	return failure__set(failure, 404, "there is no job %llu; grainctl jobs --all lists yours",
			    (unsigned long long)number);
}

/* One that is not running here, from the state directory. */
static int read_stored(struct jobs *jobs, uint64_t number, uid_t peer, json_t **out, struct failure *failure)
{
	json_t *json;
	int error = job_store__read(jobs->store, number, &json);

	if (!error && peer != 0 && json_integer_value(json_object_get(json, "uid")) != (json_int_t)peer) {
		json_decref(json);
		error = -ENOENT;
	}
	if (error == -EBADMSG)
		return failure__set(failure, 404, "the description of job %llu is damaged",
				    (unsigned long long)number);
	if (error)
		return no_such_job(number, failure);
	json_object_del(json, "socket");
	*out = json;
	return 0;
}

int jobs__get(struct jobs *jobs, uint64_t number, uid_t peer, json_t **out, struct failure *failure)
{
	struct job *job;
	json_t *json = NULL;

	pthread_mutex_lock(&jobs->lock);
	job = find_running(jobs, number, peer);
	if (job)
		json = job_view__json(&job->view);
	pthread_mutex_unlock(&jobs->lock);
	if (!job)
		return read_stored(jobs, number, peer, out, failure);
	if (!json)
		return failure__set(failure, 503, "graind is out of memory");
	*out = json;
	return 0;
}

int jobs__detach(struct jobs *jobs, uint64_t number, uid_t peer, json_t **out, struct failure *failure)
{
	struct timespec until;
	struct job *job;
	int late = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += DETACH_WAIT_S;
	pthread_mutex_lock(&jobs->lock);
	job = find_running(jobs, number, peer);
	if (job)
		job__stop(job, JOB_DETACH);
	while (job && !late) {
		late = pthread_cond_timedwait(&jobs->changed, &jobs->lock, &until);
		job = find_running(jobs, number, peer);
	}
	pthread_mutex_unlock(&jobs->lock);
	return jobs__get(jobs, number, peer, out, failure);
}

int jobs__list(struct jobs *jobs, uid_t peer, bool all, json_t **out, struct failure *failure)
{
	json_t *list = json_array(), *job_json;
	uint64_t *numbers = NULL;
	size_t count = 0;
	struct failure ignored;
	int error = 0;

	if (!list)
		return failure__set(failure, 503, "graind is out of memory");
	if (all) {
		error = job_store__list(jobs->store, &numbers, &count);
		if (error) {
			json_decref(list);
			return failure__set(failure, 503, "cannot read the state directory %.300s: %s",
					    job_store__path(jobs->store), strerror(-error));
		}
		for (size_t i = 0; i < count; i++) {
			if (jobs__get(jobs, numbers[i], peer, &job_json, &ignored) == 0)
				json_array_append_new(list, job_json);
		}
		free(numbers);
	} else {
		pthread_mutex_lock(&jobs->lock);
		for (struct job *job = jobs->first; job; job = job->next) {
			if (job->view.state != JOB_STARTING && (peer == 0 || job->view.uid == peer))
				json_array_insert_new(list, 0, job_view__json(&job->view));
		}
		pthread_mutex_unlock(&jobs->lock);
	}
	*out = list;
	return 0;
}

static bool is_running(struct jobs *jobs, uint64_t number, uid_t peer)
{
	bool running;

	pthread_mutex_lock(&jobs->lock);
	running = find_running(jobs, number, peer) != NULL;
	pthread_mutex_unlock(&jobs->lock);
	return running;
}

/* The directory of a job that `peer` may see, as a descriptor, or -1 with *failure set. */
static int open_directory(struct jobs *jobs, uint64_t number, uid_t peer, struct failure *failure)
{
	uid_t owner;
	int fd;

	if (job_store__open_job(jobs->store, number, &fd, &owner) != 0)
		return no_such_job(number, failure);
	if (peer == 0 || peer == owner)
		return fd;
	close(fd);
	return no_such_job(number, failure);
}

static bool is_over(const json_t *job)
{
	const char *state = json_string_value(json_object_get(job, "state"));

	return state && (!strcmp(state, "finished") || !strcmp(state, "failed"));
}

/* From then on its user may have written anything there. */
static bool is_handed_over(int directory)
{
	struct stat st;

	return fstat(directory, &st) != 0 || st.st_uid != geteuid();
}

/* Does another graind run the job? */
static bool runs_elsewhere(struct jobs *jobs, uint64_t number, int directory)
{
	const char *socket;
	json_t *job;
	bool alive;

	if (is_handed_over(directory) || job_store__read(jobs->store, number, &job) != 0)
		return false;
	socket = json_string_value(json_object_get(job, "socket"));
	alive = !is_over(job) && socket && strcmp(socket, jobs->socket) != 0 && listen__answers(socket);
	json_decref(job);
	return alive;
}

int jobs__delete(struct jobs *jobs, uint64_t number, uid_t peer, struct failure *failure)
{
	bool elsewhere;
	int error, fd;

	if (is_running(jobs, number, peer))
		return failure__set(failure, 409, "job %llu is running; detach it first",
				    (unsigned long long)number);
	fd = open_directory(jobs, number, peer, failure);
	if (fd < 0)
		return -1;
	elsewhere = runs_elsewhere(jobs, number, fd);
	close(fd);
	if (elsewhere)
		return failure__set(failure, 409, "job %llu is run by another graind; detach it first",
				    (unsigned long long)number);
	error = job_store__delete(jobs->store, number);
	if (error == -ENOTEMPTY)
		return failure__set(failure, 409,
				    "job %llu's directory contains a directory; remove that first",
				    (unsigned long long)number);
	if (error == -ENOENT)
		return no_such_job(number, failure);
	if (error)
		return failure__set(failure, 503, "cannot delete job %llu: %s", (unsigned long long)number,
				    strerror(-error));
	return 0;
}

int jobs__open_summary(struct jobs *jobs, uint64_t number, uid_t peer, int *fd, struct failure *failure)
{
	const char *why;
	json_t *job;
	int directory, error;

	if (is_running(jobs, number, peer))
		return failure__set(failure, 409, "job %llu has not finished; detach it first",
				    (unsigned long long)number);
	directory = open_directory(jobs, number, peer, failure);
	if (directory < 0)
		return -1;
	error = job_store__open_file(directory, SUMMARY_FILE, fd);
	close(directory);
	if (!error)
		return 0;
	if (read_stored(jobs, number, peer, &job, failure) != 0)
		return -1;
	why = json_string_value(json_object_get(job, "error"));
	if (!is_over(job))
		failure__set(failure, 409, "job %llu has not finished", (unsigned long long)number);
	else
		failure__set(failure, 422, "job %llu has no summary: %.400s", (unsigned long long)number,
			     why && *why ? why : strerror(-error));
	json_decref(job);
	return -1;
}

int jobs__open_trace(struct jobs *jobs, uint64_t number, uid_t peer, int *fd, struct failure *failure)
{
	int directory = open_directory(jobs, number, peer, failure), error;

	if (directory < 0)
		return -1;
	error = job_store__open_file(directory, TRACE_FILE, fd);
	close(directory);
	if (error)
		return failure__set(failure, 404, "job %llu has no trace: %s", (unsigned long long)number,
				    strerror(-error));
	return 0;
}

/* What its user has made of it is the user's own affair. */
static void tell_unreadable(struct jobs *jobs, uint64_t number, int error)
{
	int fd;

	if (job_store__open_job(jobs->store, number, &fd, NULL) != 0)
		return;
	if (!is_handed_over(fd))
		log__line(LOG_WARNING,
			  "job %llu of an earlier graind cannot be read (%s): left alone; grainctl delete "
			  "%llu removes it",
			  (unsigned long long)number,
			  error == -ENOENT ? "it has no " JOB_FILE : strerror(-error),
			  (unsigned long long)number);
	close(fd);
}

void jobs__recover(struct jobs *jobs)
{
	uint64_t *numbers;
	size_t count;

	if (job_store__list(jobs->store, &numbers, &count) != 0)
		return;
	for (size_t i = 0; i < count; i++) {
		const char *socket;
		json_t *job;
		int fd, error = job_store__read(jobs->store, numbers[i], &job);

		if (error) {
			tell_unreadable(jobs, numbers[i], error);
			continue;
		}
		socket = json_string_value(json_object_get(job, "socket"));
		if (is_over(job) || !socket || strcmp(socket, jobs->socket) != 0 ||
		    job_store__open_job(jobs->store, numbers[i], &fd, NULL) != 0) {
			json_decref(job);
			continue;
		}
		/* Nothing is written or given away where a user may have put links. */
		if (!is_handed_over(fd)) {
			json_object_set_new(job, "state", json_string("failed"));
			json_object_set_new(job, "error",
					    json_string("its graind ended before the job did; what was "
							"recorded until then is kept"));
			job_store__write(fd, job);
			job_store__hand_over(fd, (uid_t)json_integer_value(json_object_get(job, "uid")),
					     (gid_t)-1);
			log__line(LOG_WARNING, "job %llu was left unfinished by an earlier graind",
				  (unsigned long long)numbers[i]);
		}
		close(fd);
		json_decref(job);
	}
	free(numbers);
}
