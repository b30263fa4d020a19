// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/prospects.h"
#include "daemon/graind/drain.h"
#include "daemon/graind/job.h"
#include "daemon/graind/watch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Each holds a few descriptors. */
#define MAX_PROSPECTS 256
#define OPEN_FILES 8

struct prospects {
	struct watch *watch;
	pthread_t thread;
	int end_fd;
	pthread_mutex_t lock;		      /* of the list */
	struct prospect *list[MAX_PROSPECTS]; /* the oldest first */
	size_t count;
};

void prospect__free(struct prospect *prospect)
{
	if (!prospect)
		return;
	module_table__free(&prospect->modules);
	free(prospect->runtimes);
	if (prospect->pidfd >= 0)
		close(prospect->pidfd);
	free(prospect);
}

bool prospect__has_ended(const struct prospect *prospect)
{
	struct pollfd end = {.fd = prospect->pidfd, .events = POLLIN};

	return poll(&end, 1, 0) > 0;
}

/* With the lock held. */
static struct prospect *take_at(struct prospects *prospects, size_t index)
{
	struct prospect *prospect = prospects->list[index];

	prospects->count--;
	for (; index < prospects->count; index++)
		prospects->list[index] = prospects->list[index + 1];
	return prospect;
}

/* Likewise. */
static struct prospect *take(struct prospects *prospects, pid_t pid)
{
	for (size_t i = 0; i < prospects->count; i++)
		if (prospects->list[i]->process.pid == pid)
			return take_at(prospects, i);
	return NULL;
}

struct prospect *prospects__take(struct prospects *prospects, pid_t pid, uint64_t after_ns)
{
	struct prospect *prospect;

	if (!prospects)
		return NULL;
	pthread_mutex_lock(&prospects->lock);
	prospect = take(prospects, pid);
	pthread_mutex_unlock(&prospects->lock);
	if (!prospect || prospect->time_ns > after_ns)
		return prospect;
	prospect__free(prospect);
	return NULL;
}

static void forget(struct prospects *prospects, pid_t pid)
{
	prospect__free(prospects__take(prospects, pid, UINT64_MAX));
}

/* The runtimes that the process has mapped; false: that cannot be known. */
static bool find_runtimes(struct prospect *prospect, pid_t pid)
{
	struct failure ignored;

	prospect->runtimes = calloc(ATTACH_MAX_RUNTIMES, sizeof(*prospect->runtimes));
	prospect->runtime_count = prospect->runtimes ? attach__find(pid, prospect->runtimes, &ignored) : -1;
	return prospect->runtime_count >= 0;
}

/* What is gone first with the process is read first. */
static struct prospect *look(pid_t pid)
{
	struct prospect *prospect = calloc(1, sizeof(*prospect));

	if (!prospect)
		return NULL;
	prospect->time_ns = job__now_ns();
	prospect->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (prospect->pidfd < 0 || process__read(pid, &prospect->process) || prospect->process.dead ||
	    module_table__refresh(&prospect->modules, pid) || !find_runtimes(prospect, pid)) {
		prospect__free(prospect);
		return NULL;
	}
	for (size_t i = 0; i < prospect->modules.count && i < OPEN_FILES; i++)
		module_table__open(&prospect->modules, &prospect->modules.modules[i], pid);
	prospect->profile = policy__decide(&prospect->process);
	return prospect;
}

void prospects__look(struct prospects *prospects, pid_t pid)
{
	struct prospect *prospect = prospects && pid != getpid() ? look(pid) : NULL;

	if (!prospect)
		return;
	forget(prospects, pid);
	pthread_mutex_lock(&prospects->lock);
	if (prospects->count == MAX_PROSPECTS)
		prospect__free(take_at(prospects, 0));
	prospects->list[prospects->count++] = prospect;
	pthread_mutex_unlock(&prospects->lock);
}

static void *look_out(void *argument)
{
	struct prospects *prospects = argument;
	struct pollfd fds[] = {
		{.fd = watch__fd(prospects->watch), .events = POLLIN},
		{.fd = prospects->end_fd, .events = POLLIN},
	};
	struct watch_event event;

	drain__set_urgent(true);
	while ((poll(fds, 2, -1) >= 0 || errno == EINTR) && !fds[1].revents) {
		watch__sync(prospects->watch);
		while (watch__next(prospects->watch, &event)) {
			if (event.kind == WATCH_EXEC)
				forget(prospects, event.pid);
			else if (event.kind == WATCH_KNOWN)
				prospects__look(prospects, event.pid);
		}
	}
	return NULL;
}

int prospects__new(struct prospects **out)
{
	struct prospects *prospects = calloc(1, sizeof(*prospects));
	int error;

	if (!prospects)
		return -ENOMEM;
	drain__make_lock(&prospects->lock);
	prospects->end_fd = eventfd(0, EFD_CLOEXEC);
	error = prospects->end_fd < 0 ? -errno : watch__open(true, &prospects->watch);
	if (!error)
		error = -pthread_create(&prospects->thread, NULL, look_out, prospects);
	if (!error) {
		*out = prospects;
		return 0;
	}
	watch__close(prospects->watch);
	if (prospects->end_fd >= 0)
		close(prospects->end_fd);
	pthread_mutex_destroy(&prospects->lock);
	free(prospects);
	return error;
}

void prospects__know(struct prospects *prospects, uint64_t device, uint64_t inode)
{
	if (prospects)
		watch__know(prospects->watch, device, inode);
}

void prospects__free(struct prospects *prospects)
{
	if (!prospects)
		return;
	eventfd_write(prospects->end_fd, 1);
	pthread_join(prospects->thread, NULL);
	watch__close(prospects->watch);
	close(prospects->end_fd);
	for (size_t i = 0; i < prospects->count; i++)
		prospect__free(prospects->list[i]);
	pthread_mutex_destroy(&prospects->lock);
	free(prospects);
}
