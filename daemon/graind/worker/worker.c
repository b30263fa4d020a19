// SPDX-License-Identifier: BSD-2-Clause
/* graind's side of workers: starts them, collects their output and ends them. */
#include "daemon/graind/worker/worker.h"
#include "daemon/graind/limits/account.h"
#include "daemon/graind/limits/cpu_budget.h"
#include "daemon/graind/worker/spawner.h"
#include "daemon/graind/limits/turns.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_DETAILS 4
#define CHUNK 65536
/* How long it may take until a thread notices that a worker is unwanted. */
#define LOOK_MS 200
/*
 * How long to wait for a killed worker. It ends at once unless it is in a system call that does not return.
 */
#define DEATH_MS 5000
#define KILL_SECONDS 20
#define MOST_LEFT 64
#define NAP_NS 1000000
/* The number of workers in turns at a time is the number of CPUs, but at least this. */
#define LEAST_AT_ONCE ((size_t)4)
#define TURN_SECONDS 600

static struct {
	/* Workers that were killed but did not end in time. */
	struct {
		pthread_mutex_t lock; /* guards what follows */
		pid_t pids[MOST_LEFT];
		size_t count;
	} left_alone;
	/* The turns of workers that need one (in_turn). */
	struct {
		pthread_once_t once;
		struct turns turns; /* made once */
		atomic_bool hurry;  /* workers no longer wait for turns */
	} in_turn;
} workers = {.left_alone = {.lock = PTHREAD_MUTEX_INITIALIZER}, .in_turn = {.once = PTHREAD_ONCE_INIT}};

static uint64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

struct spawned {
	const struct worker *worker;
	pid_t pid;
};

/* Runs in the spawner. `fds` are the worker's input, its output, and further descriptors. */
static int spawn(void *ctx, const int *fds)
{
	struct spawned *spawned = ctx;
	const struct worker *worker = spawned->worker;
	char uid[16], gid[16], job[24];
	char *argv[5 + MOST_DETAILS + 1] = {worker->program ? "graind-render" : "graind-worker",
					    (char *)worker->work, uid, gid, job};
	char *no_environment[] = {NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t signals;
	int error;

	/* For root's data the worker runs as the user nobody. */
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
	error = posix_spawn_file_actions_adddup2(&actions, fds[0], STDIN_FILENO);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	if (!error)
		error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	/* Closes descriptors that were not marked close-on-exec by mistake. */
	if (!error && !worker->keep_count)
		error = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
	for (size_t i = 0; i < worker->keep_count && !error; i++)
		error = posix_spawn_file_actions_adddup2(&actions, fds[2 + i], worker->keep[i]);
	if (!error)
		error = posix_spawn(&spawned->pid, worker->program ? worker->program : "/proc/self/exe",
				    &actions, &attributes, argv, no_environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -error;
}

static int start(const struct worker *worker, int output, pid_t *pid)
{
	struct spawned spawned = {.worker = worker};
	int *fds = calloc(2 + worker->keep_count, sizeof(*fds)), error;

	if (!fds)
		return -ENOMEM;
	fds[0] = worker->input;
	fds[1] = output;
	for (size_t i = 0; i < worker->keep_count; i++)
		fds[2 + i] = worker->keep[i];
	error = spawner__run(spawn, &spawned, fds, 2 + worker->keep_count);
	free(fds);
	*pid = spawned.pid;
	return error;
}

/* Destination of the output: memory or a file. */
struct sink {
	int file; /* -1: memory */
	char *text;
	size_t used, capacity;
};

/* Makes room for more bytes. In memory, one byte is reserved for a NUL. */
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

/* Reads what is available. Returns 0 at the end. */
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

/* Waits for the worker's first byte, which shows that it has executed its program. */
static int wait_ready(int fd, uint64_t deadline_ms, const atomic_bool *unwanted)
{
	int error = await_output(fd, deadline_ms, unwanted);
	char byte;

	if (error)
		return error;
	return read(fd, &byte, 1) == 1 && byte == WORKER_READY ? 0 : -ECHILD;
}

/* Collects everything until the end of file. */
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

/* Reaps abandoned workers that have ended in the meantime. */
static void bury_left(void)
{
	pthread_mutex_lock(&workers.left_alone.lock);
	for (size_t i = workers.left_alone.count; i > 0; i--)
		if (waitpid(workers.left_alone.pids[i - 1], NULL, WNOHANG) != 0)
			workers.left_alone.pids[i - 1] = workers.left_alone.pids[--workers.left_alone.count];
	pthread_mutex_unlock(&workers.left_alone.lock);
}

static void leave_alone(pid_t pid)
{
	pthread_mutex_lock(&workers.left_alone.lock);
	if (workers.left_alone.count < MOST_LEFT)
		workers.left_alone.pids[workers.left_alone.count++] = pid;
	pthread_mutex_unlock(&workers.left_alone.lock);
}

static void pay(struct worker_running *running, const struct rusage *used)
{
	running->spent_ns = (uint64_t)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000000 +
			    (uint64_t)(used->ru_utime.tv_usec + used->ru_stime.tv_usec) * 1000;
	if (running->payer)
		cpu_budget__spend(CPU_OF_WORKERS, account__of(running->payer), running->spent_ns);
}

/*
 * Kills a worker. graind lacks the capability to kill a process of another user, so another worker with
 * that user's rights does it. The pid cannot be reused before the worker is waited for.
 */
static void kill_worker(const struct worker_running *running)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	struct worker killer = {.work = WORKER_KILL,
				.job = (uint64_t)running->pid,
				.uid = running->uid,
				.gid = WORKER_NOBODY,
				.unpaid = true,
				.seconds = KILL_SECONDS};
	struct worker_running killing;
	uint64_t until_ms;

	if (kill(running->pid, SIGKILL) == 0 || errno != EPERM)
		return;
	killer.input = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (killer.input < 0)
		return;
	if (worker__start(&killer, &killing) == 0) {
		close(killing.output);
		until_ms = now_ms() + DEATH_MS;
		while (waitpid(killing.pid, NULL, WNOHANG) == 0 && now_ms() < until_ms)
			nanosleep(&nap, NULL);
		if (now_ms() >= until_ms)
			leave_alone(killing.pid);
	}
	close(killer.input);
}

/* Waits for the end of the worker and returns its status. Kills it at the deadline; 0: now. */
static int await_end(struct worker_running *running, uint64_t deadline_ms)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	struct rusage used = {0};
	uint64_t killed_ms = 0;
	int status = -1;
	pid_t ended;

	for (;;) {
		uint64_t now = now_ms();

		if (!killed_ms && now >= deadline_ms) {
			kill_worker(running);
			killed_ms = now_ms();
		}
		ended = wait4(running->pid, &status, WNOHANG, &used);
		if (ended == running->pid)
			pay(running, &used);
		if (ended == running->pid || (ended < 0 && errno != EINTR))
			return ended < 0 ? -1 : status;
		if (killed_ms && now - killed_ms >= DEATH_MS) {
			leave_alone(running->pid);
			return -1;
		}
		nanosleep(&nap, NULL);
	}
}

int worker__start(const struct worker *worker, struct worker_running *out)
{
	int pipe_fds[2], error;
	pid_t pid;

	bury_left();
	if (pipe2(pipe_fds, O_CLOEXEC) != 0)
		return -errno;
	error = start(worker, pipe_fds[1], &pid);
	close(pipe_fds[1]);
	if (error) {
		close(pipe_fds[0]);
		return error;
	}
	*out = (struct worker_running){.output = pipe_fds[0],
				       .pid = pid,
				       .uid = worker->uid ? worker->uid : WORKER_NOBODY,
				       .payer = worker->unpaid ? 0 : worker->uid};
	error = wait_ready(pipe_fds[0], now_ms() + worker->seconds * UINT64_C(1000), worker->unwanted);
	if (error)
		worker__stop(out);
	return error;
}

void worker__stop(struct worker_running *running)
{
	close(running->output);
	await_end(running, 0);
}

static int conclude(const struct worker *worker, struct worker_running *running, struct sink *sink)
{
	uint64_t deadline_ms = now_ms() + worker->seconds * UINT64_C(1000);
	int error = collect(running->output, deadline_ms, worker, sink), status;

	close(running->output);
	/* The worker has closed its output: it is ending, or it misbehaves. */
	status = await_end(running, error ? 0 : deadline_ms);
	if (worker->spent_ns)
		*worker->spent_ns = running->spent_ns;
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

/* ---- turns ---------------------------------------------------------------- */

static void init_turns(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t most = cpus > (long)LEAST_AT_ONCE ? (size_t)cpus : LEAST_AT_ONCE;

	turns__init(&workers.in_turn.turns, most, 1, most / 2, SIZE_MAX);
}

void workers__hurry(void)
{
	atomic_store(&workers.in_turn.hurry, true);
}

/* A worker that has waited for a long time begins without a turn, as this is no reason to fail. */
static bool await_turn(const struct worker *worker, struct turn *turn)
{
	uid_t account = account__of(worker->uid);

	pthread_once(&workers.in_turn.once, init_turns);
	return turns__enter(&workers.in_turn.turns, account, turn, TURN_SECONDS, &workers.in_turn.hurry) == 0;
}

int worker__run(const struct worker *worker, char **output, size_t *size)
{
	struct worker_running running;
	struct turn turn;
	bool has_turn = worker->in_turn && await_turn(worker, &turn);
	int error = worker__start(worker, &running);

	if (!error)
		error = worker__collect(worker, &running, output, size);
	if (has_turn)
		turns__leave(&workers.in_turn.turns, &turn);
	return error;
}

int worker__run_into(const struct worker *worker, int file)
{
	struct sink sink = {.file = file};
	int error = run(worker, &sink);

	free(sink.text);
	return error;
}
