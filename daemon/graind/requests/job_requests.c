// SPDX-License-Identifier: BSD-2-Clause
/* Handles what clients ask about jobs. jobs.c keeps the jobs, tree.c runs them. */
#include "daemon/common/programs/defaults.h"
#include "daemon/graind/limits/account.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/worker/counter_names.h"
#include "daemon/graind/jobs/job.h"
#include "daemon/graind/requests/job_requests.h"
#include "daemon/graind/tree/tree.h"
#include "daemon/graind/base/listen.h"
#include "daemon/graind/base/log.h"
#include "daemon/graind/policy/optout.h"
#include "daemon/graind/policy/policy.h"
#include "daemon/graind/requests/past_job.h"
#include "daemon/graind/session/session.h"
#include "daemon/graind/process/shadow_stack.h"
#include "daemon/graind/spool/spool.h"
#include "daemon/graind/drain/windows.h"
#include "uprobes/capture/capture.h"
#include "uprobes/counters/sampling.h"

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

static int check_process(const struct job_request *request, struct process *process, int *pidfd,
			 struct failure *failure)
{
	pid_t pid = request->pid;
	const char *why;
	int error;

	if (pid == getpid())
		return failure__set(failure, 422, "graind cannot profile itself");
	/* The process is opened before it is read. So another process cannot get its pid unnoticed. */
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
	/* The policy does not bind root, who wrote it. */
	if (request->peer != 0 && policy__decide(process) == POLICY_OFF)
		return failure__set(
			failure, 403,
			"process %d must not be profiled: the administrator has turned that off for "
			"it; grainctl status shows the rules",
			(int)pid);
	why = request->fast || request->samples_only ? NULL : shadow_stack__why_not_process(pid);
	if (why)
		return failure__set(failure, 422, "process %d %s", (int)pid, why);
	return 0;
}

/* Needs the lock. Waits until the job's thread records, waits for OpenMP, or has given up. */
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

/* Finds the set of the requested counters; NULL: none. */
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

/*
 * Samples of tasks also get data addresses, by the processor's own event unless the request names another.
 * NULL: no addresses are wanted.
 */
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
 * Needs the lock. Logs refusals that are not the client's fault. Logs at most one line in ten seconds, as a
 * refused client may ask again at once.
 */
static void tell_refused(struct jobs *jobs, const struct job_request *request, const struct failure *failure)
{
	static uint64_t silent_until;
	uint64_t now = clock__now_ns();

	job_totals__refused(&jobs->totals, failure->status);
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
 * Returns the sampling frequency. If probes cannot be set and removed, a job that exceeds its ceiling keeps
 * only its samples. Such a job begins with samples, as their programs cannot be loaded later.
 */
static unsigned int hz_of(const struct job_request *request)
{
	if (request->sample_hz || request->fast || windows__percent(request->ceiling_percent) <= 0 ||
	    capture__will_pause())
		return request->sample_hz;
	return SAMPLE_HZ;
}

/* Refuses values out of range, settings that exclude each other, and what the user may not ask for. */
static int check_request(const struct job_request *request, struct failure *failure)
{
	if (request->duration_s > MAX_DURATION_S)
		return failure__set(failure, 400, "duration_s is more than a hundred years");
	if (request->sample_hz > SAMPLE_HZ_MAX)
		return failure__set(failure, 400, "sample_hz is more than %d", SAMPLE_HZ_MAX);
	if (request->sample_optional && (!request->sample_hz || request->samples_only))
		return failure__set(failure, 400,
				    "\"sample_optional\" goes with sample_hz (--sample), and with tasks");
	if (request->samples_only && (!request->sample_hz || !request->pid || request->counters))
		return failure__set(failure, 400,
				    "\"tasks\":false goes with a pid and sample_hz, and without counters");
	if (request->memory_event && (!request->sample_hz || request->samples_only))
		return failure__set(failure, 400,
				    "\"memory_event\" (--memory-event) goes with sample_hz "
				    "(--sample), and with tasks");
	if (request->fast && (request->samples_only || !request->pid))
		return failure__set(failure, 400, "\"fast\":true goes with a pid and with tasks");
	if (request->ceiling_percent && (!request->pid || request->samples_only))
		return failure__set(failure, 400, "\"ceiling_percent\" goes with a pid and with tasks");
	if (request->lossless && !request->fast)
		return failure__set(failure, 400, "\"lossless\":true goes with \"fast\":true");
	if (request->max_bytes && request->max_bytes < SPOOL_LEAST_BYTES)
		return failure__set(failure, 400, "max_bytes is less than %llu",
				    (unsigned long long)SPOOL_LEAST_BYTES);
	if (!request->pid && request->peer != 0)
		return failure__set(failure, 403, "only root may profile every process; give a pid");
	return 0;
}

static void take_wishes(struct job *job, const struct job_request *request)
{
	job->asker = account__of(request->peer);
	job->at_start = request->at_start;
	job->duration_s = request->duration_s;
	job->sample_hz = hz_of(request);
	/* A job with a ceiling may need its samples, see hz_of(). */
	job->sample_optional = request->sample_optional &&
			       hz_of(&(struct job_request){.ceiling_percent = request->ceiling_percent,
							   .fast = request->fast}) == 0;
	job->samples_only = request->samples_only;
	job->fast = request->fast;
	job->lossless = request->lossless;
	job->by_policy = request->by_policy;
	job->max_bytes = request->max_bytes;
	job->ceiling_percent = request->ceiling_percent;
}

int jobs__start(struct jobs *jobs, const struct job_request *request, json_t **out, struct failure *failure)
{
	struct process *process = calloc(1, sizeof(*process));
	struct counter_set *counters = NULL;
	struct memory_event *memory_event = NULL;
	struct job *job = NULL;
	int pidfd = -1, error;
	bool refused;

	if (!process)
		return failure__set(failure, 503, "graind is out of memory");
	error = check_request(request, failure);
	if (!error && request->pid)
		error = check_process(request, process, &pidfd, failure);
	if (!error)
		error = find_counters(request, process, &counters, failure);
	if (!error)
		error = find_memory_event(request, process, &memory_event, failure);
	if (!error)
		error = job__enter(jobs,
				   &(struct job_opts){.process = process,
						      .pid = request->pid,
						      .origin = request->peer == 0 ? JOB_OF_ADMIN
										   : JOB_OF_USER},
				   &job, failure);
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
	take_wishes(job, request);
	job->pidfd = pidfd;
	job->counters = counters;
	job->memory_event = memory_event;
	job->awaited = true;
	if (job->process.opted_out)
		job__note(job,
			  ENV_OFF " is set in the environment of the process: sessions leave it out; it is "
				  "recorded because it was asked for by its number");
	pthread_mutex_lock(&jobs->lock);
	error = job__start_thread(request->pid ? tree__thread : session__thread, job);
	if (error)
		failure__set(&job->refused, 503, "cannot start a thread: %s", strerror(-error));
	error = await_start(job, out, failure);
	refused = error && job->refused.status;
	if (refused)
		tell_refused(jobs, request, failure);
	pthread_mutex_unlock(&jobs->lock);
	if (refused) {
		jobs__drop(jobs, job->number);
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
	/* When graind ends, sessions end and no new ones begin. */
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

int jobs__get(struct jobs *jobs, uint64_t number, uid_t peer, json_t **out, struct failure *failure)
{
	struct job *job;
	json_t *json = NULL;

	pthread_mutex_lock(&jobs->lock);
	job = jobs__find_running(jobs, number, peer);
	if (job)
		json = job_view__json(&job->view);
	pthread_mutex_unlock(&jobs->lock);
	if (!job)
		return past_job__read(jobs, number, peer, out, failure);
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
	job = jobs__find_running(jobs, number, peer);
	if (job)
		job__stop(job, JOB_DETACH);
	while (job && !late) {
		late = pthread_cond_timedwait(&jobs->changed, &jobs->lock, &until);
		job = jobs__find_running(jobs, number, peer);
	}
	pthread_mutex_unlock(&jobs->lock);
	return jobs__get(jobs, number, peer, out, failure);
}

int jobs__list(struct jobs *jobs, uid_t peer, json_t **out, struct failure *failure)
{
	json_t *list = json_array();

	if (!list)
		return failure__set(failure, 503, "graind is out of memory");
	pthread_mutex_lock(&jobs->lock);
	for (struct job *job = jobs->first; job; job = job->next) {
		if (job->view.state != JOB_STARTING && (peer == 0 || job->view.uid == peer))
			json_array_insert_new(list, 0, job_view__json(&job->view));
	}
	pthread_mutex_unlock(&jobs->lock);
	*out = list;
	return 0;
}
