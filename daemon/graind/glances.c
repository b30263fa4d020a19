// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/glances.h"
#include "daemon/graind/job.h"
#include "daemon/graind/trace_part.h"
#include "daemon/graind/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)
/* Of a job: after its begin, and between two looks. */
#define FIRST_NS (3 * SECOND_NS)
#define EACH_NS (10 * SECOND_NS)
/* Of the CPU time that there is one part in so many. */
#define SHARE 200
/* Too few to say anything of. */
#define LEAST_EVENTS 200
#define WORKER_SECONDS 60
#define ANSWER_MAX (64u << 10)

struct glances {
	struct jobs *jobs;
	pthread_t thread;
	bool stop; /* under the registry's lock */
	atomic_bool unwanted;
	uint64_t not_before_ns, cpus;
};

/* A job as it was when its trace was opened. */
struct glance {
	uint64_t number, from, events;
	int trace, later;
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
	return job->glanced_ns ? job->glanced_ns + EACH_NS : job->view.start_ns + FIRST_NS;
}

static bool has_graph(const struct job *job)
{
	return job->view.pid && job->view.state == JOB_RUNNING && !job->samples_only &&
	       !job->view.ceiling.windows;
}

/* The one that waits longest. Under the lock; *when: nobody is to be looked at before. */
static struct job *choose(const struct glances *glances, uint64_t now, uint64_t *when)
{
	struct job *chosen = NULL;

	*when = UINT64_MAX;
	for (struct job *job = glances->jobs->first; job; job = job->next) {
		if (!has_graph(job))
			continue;
		/* Whatever has not gone on is looked at later. */
		if (due_ns(job) <= now && job->view.events < job->glanced_events + LEAST_EVENTS)
			job->glanced_ns = now;
		/* The file is there when its thread looks next. */
		if (due_ns(job) <= now && job->spooled && job->later < 0) {
			job->later_wanted = true;
			continue;
		}
		if (due_ns(job) < *when) {
			*when = due_ns(job);
			chosen = job;
		}
	}
	if (*when < glances->not_before_ns)
		*when = glances->not_before_ns;
	return *when <= now ? chosen : NULL;
}

/* Until there is something to look at; false at the end. */
static bool wait_for_one(struct glances *glances, struct glance *out)
{
	struct jobs *jobs = glances->jobs;
	struct job *job = NULL;
	bool goes_on;

	pthread_mutex_lock(&jobs->lock);
	while (!glances->stop) {
		uint64_t when;

		job = choose(glances, job__now_ns(), &when);
		if (job)
			break;
		if (when == UINT64_MAX) {
			pthread_cond_wait(&jobs->changed, &jobs->lock);
		} else {
			const struct timespec until = {.tv_sec = (time_t)(when / SECOND_NS),
						       .tv_nsec = (long)(when % SECOND_NS)};

			pthread_cond_timedwait(&jobs->changed, &jobs->lock, &until);
		}
	}
	goes_on = !glances->stop;
	if (goes_on) {
		job->glanced_ns = job__now_ns();
		*out = (struct glance){.number = job->number,
				       .from = job->glanced_to,
				       .events = job->view.events,
				       .trace = -1,
				       .later = job->later,
				       .uid = job->view.uid,
				       .gid = job->process.gid};
		job->later = -1;
		job_store__open_file(job->dirfd, TRACE_FILE, &out->trace);
	}
	pthread_mutex_unlock(&jobs->lock);
	return goes_on;
}

/* What the worker says of the part; NULL. */
static json_t *analyse(struct glances *glances, struct glance *glance)
{
	struct worker worker = {.work = WORKER_GLANCE,
				.job = glance->number,
				.uid = glance->uid,
				.gid = glance->gid,
				.seconds = WORKER_SECONDS,
				.max_output = ANSWER_MAX,
				.unwanted = &glances->unwanted};
	json_t *answer = NULL;
	char *text;
	size_t size;
	int error = glance->trace < 0 ? -EBADF
				      : trace_part__make(glance->trace, glance->later, glances->cpus,
							 &glance->from, &worker.input);

	/* It has no name any more, and takes room until it is closed. */
	if (glance->later >= 0)
		close(glance->later);
	if (error)
		return NULL;
	if (worker__run(&worker, &text, &size) == 0) {
		answer = json_loadb(text, size, JSON_DECODE_INT_AS_REAL, NULL);
		free(text);
	}
	close(worker.input);
	return answer;
}

static void show(struct glances *glances, const struct glance *glance, const json_t *answer)
{
	struct jobs *jobs = glances->jobs;
	struct job *job;

	pthread_mutex_lock(&jobs->lock);
	job = find(jobs, glance->number);
	/* What its end says is of the whole. */
	if (job && job->view.state == JOB_RUNNING) {
		job->glanced_to = glance->from;
		job->glanced_events = glance->events;
		if (json_is_object(answer))
			job_view__take_glance(&job->view, answer);
	}
	pthread_mutex_unlock(&jobs->lock);
}

/* Of all workers, others' too. */
static uint64_t workers_ns(void)
{
	struct rusage used;

	getrusage(RUSAGE_CHILDREN, &used);
	return (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * SECOND_NS +
	       (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
}

static void *look_around(void *argument)
{
	struct glances *glances = argument;
	struct glance glance;

	while (wait_for_one(glances, &glance)) {
		uint64_t before = workers_ns();
		json_t *answer = analyse(glances, &glance);

		show(glances, &glance, answer);
		json_decref(answer);
		if (glance.trace >= 0)
			close(glance.trace);
		glances->not_before_ns = job__now_ns() + SHARE * (workers_ns() - before) / glances->cpus;
	}
	return NULL;
}

int glances__start(struct jobs *jobs, struct glances **out)
{
	struct glances *glances = calloc(1, sizeof(*glances));
	int error;

	if (!glances)
		return -ENOMEM;
	glances->jobs = jobs;
	glances->cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	error = pthread_create(&glances->thread, NULL, look_around, glances);
	if (error) {
		free(glances);
		return -error;
	}
	*out = glances;
	return 0;
}

void glances__stop(struct glances *glances)
{
	if (!glances)
		return;
	atomic_store(&glances->unwanted, true);
	pthread_mutex_lock(&glances->jobs->lock);
	glances->stop = true;
	pthread_cond_broadcast(&glances->jobs->changed);
	pthread_mutex_unlock(&glances->jobs->lock);
	pthread_join(glances->thread, NULL);
	free(glances);
}
