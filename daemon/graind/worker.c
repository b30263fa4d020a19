// SPDX-License-Identifier: BSD-2-Clause
/* The daemon's side: starts a worker, collects what it says, ends it. */
#include "daemon/graind/worker.h"

#include "uprobes/detach_gate.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_DETAILS 4
#define CHUNK 65536
/* How long an unwanted worker may go on. */
#define LOOK_MS 200

static uint64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static int spawn(const struct worker *worker, int output, pid_t *pid)
{
	char uid[16], gid[16], job[24];
	char *argv[5 + MOST_DETAILS + 1] = {worker->program ? "graind-render" : "graind-worker",
					    (char *)worker->work, uid, gid, job};
	char *no_environment[] = {NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t signals;
	int error;

	/* Root's data is read by nobody. */
	snprintf(uid, sizeof(uid), "%u", worker->uid ? (unsigned int)worker->uid : WORKER_NOBODY);
	snprintf(gid, sizeof(gid), "%u", worker->uid ? (unsigned int)worker->gid : WORKER_NOBODY);
	snprintf(job, sizeof(job), "%" PRIu64, worker->job);
	for (size_t i = 0; worker->details && worker->details[i] && i < MOST_DETAILS; i++)
		argv[5 + i] = (char *)worker->details[i];
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	sigemptyset(&signals);
	posix_spawnattr_setsigmask(&attributes, &signals);
	sigfillset(&signals);
	posix_spawnattr_setsigdefault(&attributes, &signals);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes,
				 POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	error = posix_spawn_file_actions_adddup2(&actions, worker->input, STDIN_FILENO);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (!error)
		error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	/* Onto itself: only takes close-on-exec off. */
	for (size_t i = 0; i < worker->keep_count && !error; i++)
		error = posix_spawn_file_actions_adddup2(&actions, worker->keep[i], worker->keep[i]);
	if (!error)
		error = posix_spawn(pid, worker->program ? worker->program : "/proc/self/exe", &actions,
				    &attributes, argv, no_environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -error;
}

/* Its first byte: it has executed its program, and holds no copies of our descriptors any more. */
static int wait_ready(int fd, uint64_t deadline_ms)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	uint64_t now = now_ms();
	char byte;

	if (now >= deadline_ms || poll(&wait, 1, (int)(deadline_ms - now)) == 0)
		return -ETIMEDOUT;
	return read(fd, &byte, 1) == 1 && byte == WORKER_READY ? 0 : -ECHILD;
}

/* Where the output goes: memory, or a file. */
struct sink {
	int file; /* -1: memory */
	char *text;
	size_t used, capacity;
};

/* Room for the next bytes, one kept for a NUL in memory. */
static int make_room(struct sink *sink)
{
	size_t larger = sink->capacity ? sink->capacity * 2 : CHUNK;
	char *grown;

	if (sink->file >= 0 ? sink->text != NULL : sink->used + 1 < sink->capacity)
		return 0;
	grown = realloc(sink->text, larger);
	if (!grown)
		return -ENOMEM;
	sink->text = grown;
	sink->capacity = larger;
	return 0;
}

static int write_all(int file, const char *bytes, size_t count)
{
	while (count) {
		ssize_t done = write(file, bytes, count);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EIO;
		bytes += done;
		count -= (size_t)done;
	}
	return 0;
}

/* What there is to read; 0 at the end. */
static ssize_t take(struct sink *sink, int fd)
{
	bool memory = sink->file < 0;
	ssize_t got = read(fd, sink->text + (memory ? sink->used : 0),
			   memory ? sink->capacity - sink->used - 1 : sink->capacity);
	int error = got < 0 ? -errno : 0;

	if (got > 0 && !memory)
		error = write_all(sink->file, sink->text, (size_t)got);
	if (error)
		return error;
	sink->used += (size_t)got;
	return got;
}

static int await_output(int fd, uint64_t deadline_ms, const atomic_bool *unwanted)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	for (;;) {
		uint64_t now = now_ms(), left = now < deadline_ms ? deadline_ms - now : 0;
		int ready;

		if (unwanted && atomic_load(unwanted))
			return -ECANCELED;
		if (!left)
			return -ETIMEDOUT;
		ready = poll(&wait, 1, (int)(unwanted && left > LOOK_MS ? LOOK_MS : left));
		if (ready > 0 || (ready < 0 && errno != EINTR))
			return ready < 0 ? -errno : 0;
	}
}

/* Everything until end of file. */
static int collect(int fd, uint64_t deadline_ms, const struct worker *worker, struct sink *sink)
{
	for (;;) {
		int error = make_room(sink);
		ssize_t got;

		if (!error)
			error = await_output(fd, deadline_ms, worker->unwanted);
		if (error)
			return error;
		got = take(sink, fd);
		if (got == -EINTR)
			continue;
		if (got <= 0)
			return (int)got;
		if (sink->used > worker->max_output)
			return -EFBIG;
	}
}

int worker__start(const struct worker *worker, struct worker_running *out)
{
	int pipe_fds[2], error;
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC) != 0)
		return -errno;
	detach_gate__hold();
	error = spawn(worker, pipe_fds[1], &pid);
	close(pipe_fds[1]);
	if (error) {
		detach_gate__release();
		close(pipe_fds[0]);
		return error;
	}
	*out = (struct worker_running){.output = pipe_fds[0], .pid = pid};
	error = wait_ready(pipe_fds[0], now_ms() + worker->seconds * UINT64_C(1000));
	detach_gate__release();
	if (error)
		worker__stop(out);
	return error;
}

void worker__stop(struct worker_running *running)
{
	close(running->output);
	kill(running->pid, SIGKILL);
	while (waitpid(running->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static int conclude(const struct worker *worker, struct worker_running *running, struct sink *sink)
{
	uint64_t deadline_ms = now_ms() + worker->seconds * UINT64_C(1000);
	int status = 0, error = collect(running->output, deadline_ms, worker, sink);

	close(running->output);
	/* It has closed its output: either it is ending or it misbehaves. */
	if (error)
		kill(running->pid, SIGKILL);
	while (waitpid(running->pid, &status, WNOHANG) == 0) {
		const struct timespec nap = {.tv_nsec = 1000000};

		if (now_ms() >= deadline_ms)
			kill(running->pid, SIGKILL);
		nanosleep(&nap, NULL);
	}
	if (!error && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
		error = -ECHILD;
	return error;
}

static int run(const struct worker *worker, struct sink *sink)
{
	struct worker_running running;
	int error = worker__start(worker, &running);

	return error ? error : conclude(worker, &running, sink);
}

int worker__collect(const struct worker *worker, struct worker_running *running, char **output, size_t *size)
{
	struct sink sink = {.file = -1};
	int error = conclude(worker, running, &sink);

	if (error) {
		free(sink.text);
		return error;
	}
	sink.text[sink.used] = 0;
	*output = sink.text;
	*size = sink.used;
	return 0;
}

int worker__run(const struct worker *worker, char **output, size_t *size)
{
	struct worker_running running;
	int error = worker__start(worker, &running);

	return error ? error : worker__collect(worker, &running, output, size);
}

int worker__run_into(const struct worker *worker, int file)
{
	struct sink sink = {.file = file};
	int error = run(worker, &sink);

	free(sink.text);
	return error;
}
