// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/worker/spawner.h"
#include "daemon/graind/base/urgency.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Descriptors in one message. The kernel allows some more. */
#define FDS_AT_ONCE 128
#define NAP_NS 1000000

struct task {
	int (*make)(void *ctx, const int *copies);
	void *ctx;
	int *copies;
	size_t count, come;
	int highest; /* the highest number of the descriptors to copy */
	int result;
	sem_t done;
};

union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(FDS_AT_ONCE * sizeof(int))];
};

static struct {
	pthread_mutex_t
		sending; /* so that the descriptors of one task are sent without others between them */
	int ours;	 /* socket for sending tasks; -1: not started */
	int theirs;	 /* socket where the spawner's thread receives tasks */
} spawner = {.sending = PTHREAD_MUTEX_INITIALIZER, .ours = -1, .theirs = -1};

/* ---- in the threads that have descriptors of their own ------------------ */

/* Moves copies above all target numbers, so that none of them is overwritten in the child. */
static int move_up(struct task *task)
{
	for (size_t i = 0; i < task->count; i++) {
		int moved = fcntl(task->copies[i], F_DUPFD_CLOEXEC, task->highest + 1);

		if (moved < 0)
			return -errno;
		close(task->copies[i]);
		task->copies[i] = moved;
	}
	return 0;
}

static void end_task(struct task *task)
{
	for (size_t i = 0; i < task->come; i++)
		close(task->copies[i]);
	sem_post(&task->done);
}

static void *do_task(void *argument)
{
	struct task *task = argument;

	pthread_setname_np(pthread_self(), "graind-spawn");
	urgency__prefer();
	task->result = move_up(task);
	if (!task->result)
		task->result = task->make(task->ctx, task->copies);
	end_task(task);
	return NULL;
}

static void begin_task(struct task *task)
{
	pthread_t thread;

	if (task->come < task->count)
		task->result = -EMFILE;
	else
		task->result = -pthread_create(&thread, NULL, do_task, task);
	if (task->result)
		end_task(task);
	else
		pthread_detach(thread);
}

/* A message with descriptors of a task. `last`: these are the last descriptors. */
struct part {
	struct task *task;
	bool last;
};

/* Receives a message. False: the sender has closed the socket. */
static bool receive(struct part *part)
{
	union control control;
	struct iovec bytes = {part, sizeof(*part)};
	struct msghdr message = {.msg_iov = &bytes,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	const struct cmsghdr *head;
	ssize_t got;

	do
		got = recvmsg(spawner.theirs, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got != (ssize_t)sizeof(*part))
		return false;
	head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
		size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		memcpy(&part->task->copies[part->task->come], CMSG_DATA(head), count * sizeof(int));
		part->task->come += count;
	}
	return true;
}

struct beginning {
	sem_t up;
	int error;
};

/* Gives the thread its own descriptor table, with only the standard descriptors and the socket. */
static int part_from_others(void)
{
	int error = unshare(CLONE_FILES);

	if (!error && spawner.theirs > STDERR_FILENO + 1)
		error = close_range(STDERR_FILENO + 1, (unsigned int)spawner.theirs - 1, 0);
	if (!error)
		error = close_range((unsigned int)spawner.theirs + 1, ~0u, 0);
	return error ? -errno : 0;
}

static void *serve(void *argument)
{
	struct beginning *beginning = argument;
	int error = part_from_others();
	struct part part;

	pthread_setname_np(pthread_self(), "graind-spawner");
	beginning->error = error;
	sem_post(&beginning->up);
	if (error)
		return NULL;
	urgency__prefer();
	while (receive(&part))
		if (part.last)
			begin_task(part.task);
	return NULL;
}

/* ---- in all others ------------------------------------------------------ */

int spawner__start(void)
{
	struct beginning beginning = {.error = 0};
	int sockets[2], error;
	pthread_t thread;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
		return -errno;
	spawner.ours = sockets[0];
	spawner.theirs = sockets[1];
	sem_init(&beginning.up, 0, 0);
	error = -pthread_create(&thread, NULL, serve, &beginning);
	if (!error) {
		while (sem_wait(&beginning.up) != 0)
			;
		pthread_detach(thread);
		error = beginning.error;
	}
	sem_destroy(&beginning.up);
	close(sockets[1]);
	if (error) {
		close(spawner.ours);
		spawner.ours = -1;
	}
	return error;
}

static int send_part(const struct part *part, const int *fds, size_t count)
{
	struct iovec bytes = {(void *)(uintptr_t)part, sizeof(*part)};
	struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
	union control control = {0};
	ssize_t sent;

	if (count) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, count * sizeof(int));
	}
	do
		sent = sendmsg(spawner.ours, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

/* After a receiver has got some descriptors, it always gets a last message, even after an error. */
static int send_all(struct task *task, const int *fds)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	size_t done = 0;
	int error = 0;

	pthread_mutex_lock(&spawner.sending);
	do {
		size_t count = task->count - done < FDS_AT_ONCE ? task->count - done : FDS_AT_ONCE;

		error = send_part(&(struct part){task, done + count == task->count}, fds + done, count);
		if (!error)
			done += count;
	} while (!error && done < task->count);
	if (error && done)
		while (send_part(&(struct part){task, true}, NULL, 0) != 0)
			nanosleep(&nap, NULL);
	pthread_mutex_unlock(&spawner.sending);
	return done ? 0 : error;
}

int spawner__run(int (*make)(void *ctx, const int *copies), void *ctx, const int *fds, size_t count)
{
	struct task task = {.make = make, .ctx = ctx, .count = count, .highest = STDERR_FILENO};
	int error;

	if (spawner.ours < 0)
		return -ESRCH;
	task.copies = calloc(count, sizeof(*task.copies));
	if (!task.copies)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		task.highest = fds[i] > task.highest ? fds[i] : task.highest;
	sem_init(&task.done, 0, 0);
	error = send_all(&task, fds);
	if (!error) {
		while (sem_wait(&task.done) != 0)
			;
		error = task.result;
	}
	sem_destroy(&task.done);
	free(task.copies);
	return error;
}
