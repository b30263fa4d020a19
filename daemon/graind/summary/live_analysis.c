// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/summary/live_analysis.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/base/deadline.h"
#include "daemon/graind/jobs/job.h"
#include "daemon/graind/summary/trace_part.h"
#include "daemon/graind/worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)
/* The time between a job's beginning and its first analysis, and between two analyses. */
#define FIRST_NS (3 * SECOND_NS)
#define EACH_NS (10 * SECOND_NS)
/* Analyses take at most 1/SHARE of the time of all CPUs. */
#define SHARE 200
/* Fewer events than this are not enough for an analysis. */
#define LEAST_EVENTS 200
#define WORKER_SECONDS 60
#define ANSWER_MAX (64u << 10)

struct live_analysis {
	struct jobs *jobs;
	pthread_t thread;
	bool stop; /* guarded by the registry's lock */
	atomic_bool unwanted;
	uint64_t not_before_ns, cpus;
};

/* A job in the state in which it was chosen. The caller owns the descriptors. */
struct chosen_job {
	uint64_t number, from, events;
	int dirfd, later;
	uid_t uid;
	gid_t gid;
};

static struct job *find(struct jobs *jobs, uint64_t number)
{
	struct job *job = jobs->first;

	while (job && job->number != number)
		job = job->next;
	return job;
}

static uint64_t due_ns(const struct job *job)
{
	return job->analysed_ns ? job->analysed_ns + EACH_NS : job->view.start_ns + FIRST_NS;
}

static bool has_graph(const struct job *job)
{
	return job->view.pid && job->view.state == JOB_RUNNING && !job->samples_only &&
	       !job->view.ceiling.windows;
}

/* Needs the lock. Returns when a job of this account was last analysed. */
static uint64_t served_ns(const struct live_analysis *analysis, uid_t account)
{
	uint64_t last = 0;

	for (const struct job *job = analysis->jobs->first; job; job = job->next)
		if (job->account == account && job->served_ns > last)
			last = job->served_ns;
	return last;
}

/* Accounts take turns. Among one account's jobs, the one that has waited longest is first. */
static bool is_before(const struct live_analysis *analysis, const struct job *job, const struct job *other)
{
	uint64_t mine = served_ns(analysis, job->account), theirs = served_ns(analysis, other->account);

	return job->account == other->account || mine == theirs ? due_ns(job) < due_ns(other) : mine < theirs;
}

/* Needs the lock. Chooses a job. *when: when the next job is due. */
static struct job *choose(const struct live_analysis *analysis, uint64_t now, uint64_t *when)
{
	struct job *chosen = NULL;

	*when = UINT64_MAX;
	for (struct job *job = analysis->jobs->first; job; job = job->next) {
		if (!has_graph(job))
			continue;
		/* A job with too few new events is analysed later. */
		if (due_ns(job) <= now && job->view.events < job->analysed_events + LEAST_EVENTS)
			job->analysed_ns = now;
		/* The job's thread provides the file when it next checks this flag. */
		if (due_ns(job) <= now && job->spooled && job->later < 0) {
			job->later_wanted = true;
			continue;
		}
		if (due_ns(job) < *when)
			*when = due_ns(job);
		if (due_ns(job) <= now && now >= analysis->not_before_ns &&
		    (!chosen || is_before(analysis, job, chosen)))
			chosen = job;
	}
	if (*when < analysis->not_before_ns)
		*when = analysis->not_before_ns;
	return *when <= now ? chosen : NULL;
}

/* Waits until there is a job to analyse. False: graind ends. */
static bool wait_for_one(struct live_analysis *analysis, struct chosen_job *out)
{
	struct jobs *jobs = analysis->jobs;
	struct job *job = NULL;
	bool goes_on;

	pthread_mutex_lock(&jobs->lock);
	while (!analysis->stop) {
		uint64_t when;

		job = choose(analysis, clock__now_ns(), &when);
		if (job)
			break;
		deadline__await(&jobs->changed, &jobs->lock, when);
	}
	goes_on = !analysis->stop;
	if (goes_on) {
		job->analysed_ns = job->served_ns = clock__now_ns();
		*out = (struct chosen_job){.number = job->number,
					   .from = job->analysed_to,
					   .events = job->view.events,
					   .dirfd = fcntl(job->dirfd, F_DUPFD_CLOEXEC, 0),
					   .later = job->later,
					   .uid = job->view.uid,
					   .gid = job->process.gid};
		job->later = -1;
	}
	pthread_mutex_unlock(&jobs->lock);
	return goes_on;
}

/* Returns the worker's answer about the part, or NULL. */
static json_t *analyse(struct live_analysis *analysis, struct chosen_job *chosen)
{
	struct worker worker = {.work = WORKER_LIVE_ANALYSIS,
				.job = chosen->number,
				.uid = chosen->uid,
				.gid = chosen->gid,
				.seconds = WORKER_SECONDS,
				.max_output = ANSWER_MAX,
				.unwanted = &analysis->unwanted};
	json_t *answer = NULL;
	char *text;
	size_t size;
	int trace = -1, error = job_store__open_file(chosen->dirfd, TRACE_FILE, &trace);

	if (!error)
		error = trace_part__make(trace, chosen->later, analysis->cpus, &chosen->from, &worker.input);
	if (trace >= 0)
		close(trace);
	/* The file has no name any more, and takes disk space until it is closed. */
	if (chosen->later >= 0)
		close(chosen->later);
	if (error)
		return NULL;
	if (worker__run(&worker, &text, &size) == 0) {
		answer = json_loadb(text, size, JSON_DECODE_INT_AS_REAL, NULL);
		free(text);
	}
	close(worker.input);
	return answer;
}

static void show(struct live_analysis *analysis, const struct chosen_job *chosen, const json_t *answer)
{
	struct jobs *jobs = analysis->jobs;
	struct job *job;

	pthread_mutex_lock(&jobs->lock);
	job = find(jobs, chosen->number);
	/* If the job has ended, it already has the summary of the whole job. */
	if (job && job->view.state == JOB_RUNNING) {
		job->analysed_to = chosen->from;
		job->analysed_events = chosen->events;
		if (json_is_object(answer))
			job_view__take_analysis(&job->view, answer);
	}
	pthread_mutex_unlock(&jobs->lock);
}

/* Returns the CPU time of all workers, including workers for other work. */
static uint64_t workers_ns(void)
{
	struct rusage used;

	getrusage(RUSAGE_CHILDREN, &used);
	return (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * SECOND_NS +
	       (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
}

static void *look_around(void *argument)
{
	struct live_analysis *analysis = argument;
	struct chosen_job chosen;

	pthread_setname_np(pthread_self(), "graind-live");
	while (wait_for_one(analysis, &chosen)) {
		uint64_t before = workers_ns();
		json_t *answer = analyse(analysis, &chosen);

		show(analysis, &chosen, answer);
		json_decref(answer);
		if (chosen.dirfd >= 0)
			close(chosen.dirfd);
		analysis->not_before_ns = clock__now_ns() + SHARE * (workers_ns() - before) / analysis->cpus;
	}
	return NULL;
}

int live_analysis__start(struct jobs *jobs, struct live_analysis **out)
{
	struct live_analysis *analysis = calloc(1, sizeof(*analysis));
	int error;

	if (!analysis)
		return -ENOMEM;
	analysis->jobs = jobs;
	analysis->cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	error = pthread_create(&analysis->thread, NULL, look_around, analysis);
	if (error) {
		free(analysis);
		return -error;
	}
	*out = analysis;
	return 0;
}

void live_analysis__stop(struct live_analysis *analysis)
{
	if (!analysis)
		return;
	atomic_store(&analysis->unwanted, true);
	pthread_mutex_lock(&analysis->jobs->lock);
	analysis->stop = true;
	pthread_cond_broadcast(&analysis->jobs->changed);
	pthread_mutex_unlock(&analysis->jobs->lock);
	pthread_join(analysis->thread, NULL);
	free(analysis);
}
