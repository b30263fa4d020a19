// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/scouts.h"
#include "daemon/graind/urgency.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct queue {
	struct scout_work *first, **end;
};

struct scouts {
	pthread_mutex_t lock; /* of all but the descriptors; nobody works while holding it */
	struct queue urgent, other, patient, done;
	bool ending;
	int asked_fd;	/* counts what is in the first two queues */
	int patient_fd; /* and in the third */
	int done_fd;
	unsigned int count;
	pthread_t threads[];
};

static void push(struct queue *queue, struct scout_work *work)
{
	work->next = NULL;
	if (!queue->first)
		queue->end = &queue->first;
	*queue->end = work;
	queue->end = &work->next;
}

static struct scout_work *pop(struct queue *queue)
{
	struct scout_work *work = queue->first;

	if (work)
		queue->first = work->next;
	return work;
}

/* Waits until there is some; NULL: the end. */
static struct scout_work *next(struct scouts *scouts, int asked_fd, struct queue *first, struct queue *second)
{
	struct scout_work *work;
	eventfd_t ignored;

	while (eventfd_read(asked_fd, &ignored) != 0 && errno == EINTR)
		;
	pthread_mutex_lock(&scouts->lock);
	work = scouts->ending ? NULL : pop(first);
	if (!work && !scouts->ending)
		work = pop(second);
	pthread_mutex_unlock(&scouts->lock);
	return work;
}

static void work_on(struct scouts *scouts, int asked_fd, struct queue *first, struct queue *second)
{
	struct scout_work *work;

	urgency__set(URGENCY_SCOUT);
	while ((work = next(scouts, asked_fd, first, second))) {
		work->run(work);
		pthread_mutex_lock(&scouts->lock);
		push(&scouts->done, work);
		pthread_mutex_unlock(&scouts->lock);
		eventfd_write(scouts->done_fd, 1);
	}
}

static void *be_scout(void *argument)
{
	struct scouts *scouts = argument;

	work_on(scouts, scouts->asked_fd, &scouts->urgent, &scouts->other);
	return NULL;
}

static void *be_patient(void *argument)
{
	struct scouts *scouts = argument;

	work_on(scouts, scouts->patient_fd, &scouts->patient, &scouts->patient);
	return NULL;
}

static void drop_all(struct queue *queue, void (*drop)(struct scout_work *work))
{
	struct scout_work *work;

	while ((work = pop(queue)))
		if (drop)
			drop(work);
}

void scouts__free(struct scouts *scouts, void (*drop)(struct scout_work *work))
{
	if (!scouts)
		return;
	pthread_mutex_lock(&scouts->lock);
	scouts->ending = true;
	pthread_mutex_unlock(&scouts->lock);
	if (scouts->asked_fd >= 0)
		eventfd_write(scouts->asked_fd, scouts->count);
	if (scouts->patient_fd >= 0)
		eventfd_write(scouts->patient_fd, scouts->count);
	for (unsigned int i = 0; i < scouts->count; i++)
		pthread_join(scouts->threads[i], NULL);
	drop_all(&scouts->urgent, drop);
	drop_all(&scouts->other, drop);
	drop_all(&scouts->patient, drop);
	drop_all(&scouts->done, drop);
	if (scouts->asked_fd >= 0)
		close(scouts->asked_fd);
	if (scouts->patient_fd >= 0)
		close(scouts->patient_fd);
	if (scouts->done_fd >= 0)
		close(scouts->done_fd);
	pthread_mutex_destroy(&scouts->lock);
	free(scouts);
}

int scouts__new(unsigned int threads, unsigned int patient, struct scouts **out)
{
	unsigned int all = threads + patient;
	struct scouts *scouts = calloc(1, sizeof(*scouts) + all * sizeof(scouts->threads[0]));
	int error = 0;

	if (!scouts)
		return -ENOMEM;
	urgency__make_lock(&scouts->lock);
	scouts->asked_fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	scouts->patient_fd = scouts->asked_fd < 0 ? -1 : eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	scouts->done_fd = scouts->patient_fd < 0 ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (scouts->done_fd < 0)
		error = -errno;
	while (!error && scouts->count < all) {
		error = -pthread_create(&scouts->threads[scouts->count], NULL,
					scouts->count < threads ? be_scout : be_patient, scouts);
		scouts->count += !error;
	}
	if (error) {
		scouts__free(scouts, NULL);
		return error;
	}
	*out = scouts;
	return 0;
}

int scouts__fd(const struct scouts *scouts)
{
	return scouts->done_fd;
}

void scouts__ask(struct scouts *scouts, struct scout_work *work)
{
	bool patient = work->turn == SCOUT_PATIENT;

	pthread_mutex_lock(&scouts->lock);
	push(patient			  ? &scouts->patient
	     : work->turn == SCOUT_URGENT ? &scouts->urgent
					  : &scouts->other,
	     work);
	pthread_mutex_unlock(&scouts->lock);
	eventfd_write(patient ? scouts->patient_fd : scouts->asked_fd, 1);
}

struct scout_work *scouts__take(struct scouts *scouts)
{
	struct scout_work *work;
	eventfd_t ignored;

	/* Before looking: what is done afterwards makes it readable again. */
	eventfd_read(scouts->done_fd, &ignored);
	pthread_mutex_lock(&scouts->lock);
	work = pop(&scouts->done);
	pthread_mutex_unlock(&scouts->lock);
	return work;
}
