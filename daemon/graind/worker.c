// SPDX-License-Identifier: BSD-2-Clause
/* The daemon's side: starts a worker, collects what it says, ends it. */
#include "daemon/graind/worker.h"

#include "uprobes/fork_gate.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOBODY 65534u

static uint64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static int spawn(const struct worker *worker, int output, pid_t *pid)
{
	char uid[16], gid[16], job[24];
	char *argv[] = {"graind-worker", (char *)worker->work, uid, gid, job, NULL};
	char *no_environment[] = {NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t signals;
	int error;

	/* Root's data is read by nobody. */
	snprintf(uid, sizeof(uid), "%u", worker->uid ? (unsigned int)worker->uid : NOBODY);
	snprintf(gid, sizeof(gid), "%u", worker->uid ? (unsigned int)worker->gid : NOBODY);
	snprintf(job, sizeof(job), "%" PRIu64, worker->job);
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
		error = posix_spawn(pid, "/proc/self/exe", &actions, &attributes, argv, no_environment);
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

/* Everything until end of file. */
static int collect(int fd, uint64_t deadline_ms, size_t max, char **output, size_t *size)
{
	char *text = NULL;
	size_t used = 0, capacity = 0;
	int error = 0;

	for (;;) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		uint64_t now = now_ms();
		ssize_t got;

		if (used + 1 >= capacity) {
			size_t larger = capacity ? capacity * 2 : 16384;
			char *grown = realloc(text, larger);

			if (!grown) {
				error = -ENOMEM;
				break;
			}
			text = grown;
			capacity = larger;
		}
		if (now >= deadline_ms || poll(&wait, 1, (int)(deadline_ms - now)) == 0) {
			error = -ETIMEDOUT;
			break;
		}
		got = read(fd, text + used, capacity - used - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			error = -errno;
		if (got <= 0)
			break;
		used += (size_t)got;
		if (used > max) {
			error = -EFBIG;
			break;
		}
	}
	if (error) {
		free(text);
		return error;
	}
	text[used] = 0;
	*output = text;
	*size = used;
	return 0;
}

int worker__run(const struct worker *worker, char **output, size_t *size)
{
	uint64_t deadline_ms;
	char *text = NULL;
	size_t used = 0;
	int pipe_fds[2], status = 0, error;
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC) != 0)
		return -errno;
	fork_gate__fork_begin();
	error = spawn(worker, pipe_fds[1], &pid);
	close(pipe_fds[1]);
	deadline_ms = now_ms() + worker->seconds * UINT64_C(1000);
	if (error) {
		fork_gate__fork_end();
		close(pipe_fds[0]);
		return error;
	}
	error = wait_ready(pipe_fds[0], deadline_ms);
	fork_gate__fork_end();
	if (!error)
		error = collect(pipe_fds[0], deadline_ms, worker->max_output, &text, &used);
	close(pipe_fds[0]);
	/* It has closed its output: either it is ending or it misbehaves. */
	if (error)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		const struct timespec nap = {.tv_nsec = 1000000};

		if (now_ms() >= deadline_ms)
			kill(pid, SIGKILL);
		nanosleep(&nap, NULL);
	}
	if (!error && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
		error = -ECHILD;
	if (error) {
		free(text);
		return error;
	}
	*output = text;
	*size = used;
	return 0;
}
