// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/grainctl/inject/inject_thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

/* How long it may take at least, even if the caller's patience is over. */
#define STOP_NS UINT64_C(500000000)
/*
 * A function that takes longer may be waiting for another thread that loads a library: then the call is given
 * up, and tried again later.
 */
#define CALL_NS UINT64_C(20000000)
/*
 * A function that takes longer has too much work to do. If the call were given up, the function would keep
 * its locks.
 */
#define WORK_NS UINT64_C(10000000000)
#define LOOK_NS UINT64_C(100000000)
#define LOADER_BYTES (64u << 10)

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Waits for the thread's next change. 0 or a negative errno. */
static int await(pid_t tid, uint64_t until_ns, int *status)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		pid_t got = waitpid(tid, status, __WALL | WNOHANG);

		if (got == tid)
			return WIFSTOPPED(*status) ? 0 : -ESRCH;
		if (got < 0 && errno != EINTR)
			return errno == ECHILD ? -ESRCH : -errno;
		if (now_ns() > until_ns)
			return -ETIMEDOUT;
		sigtimedwait(&child, NULL, &nap);
	}
}

static pid_t inner_tid(pid_t pid, pid_t tid)
{
	char path[64], line[256];
	pid_t inner = tid;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "NSpid:", 6))
			inner = atoi(strrchr(line, '\t'));
	if (file)
		fclose(file);
	return inner;
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int run_until_stopped(pid_t tid, uint64_t until_ns)
{
	int status, error;

	until_ns = later_of(until_ns, now_ns() + STOP_NS);
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0)
		return -errno;
	for (;;) {
		error = await(tid, until_ns, &status);
		if (error)
			return error;
		if (status >> 16 == PTRACE_EVENT_STOP)
			return WSTOPSIG(status) == SIGTRAP ? 0 : -EBUSY;
		/* Another signal, meant for the program, came first: it is delivered. */
		if (ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)WSTOPSIG(status)) != 0)
			return -errno;
	}
}

int inject_thread__stop(const struct inject_target *target, pid_t tid, struct inject_thread *out)
{
	int error;

	out->tid = tid;
	out->target = target;
	out->changed = false;
	out->late_signal = 0;
	out->unfit = NULL;
	out->lock = 0;
	out->inner = inner_tid(target->pid, tid);
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0)
		return -errno;
	error = run_until_stopped(tid, out->until_ns);
	/* The thread is stopped and cannot change any more, so it is checked again. */
	if (!error)
		error = inject_identity__check(target->identity, tid, &out->unfit);
	if (!error)
		error = inject_arch__save(tid, &out->saved);
	if (error)
		ptrace(PTRACE_DETACH, tid, NULL, NULL);
	return error;
}

void inject_thread__release(struct inject_thread *thread)
{
	if (thread->changed)
		inject_arch__restore(thread->tid, &thread->saved);
	thread->changed = false;
	ptrace(PTRACE_DETACH, thread->tid, NULL, (void *)(intptr_t)thread->late_signal);
}

/*
 * Decides what a stop during a call means. 1: the thread goes on with *signal; 0: the function has
 * returned; or a negative errno.
 */
static int judge_stop(struct inject_thread *thread, int status, int *signal)
{
	*signal = 0;
	/* The tracer or a stop of the whole process stopped the thread: the call goes on. */
	if (status >> 16 == PTRACE_EVENT_STOP)
		return 1;
	if (WSTOPSIG(status) == INJECT_SIGNAL) {
		if (inject_arch__returned(thread->tid, thread->target->scratch))
			return 0;
		thread->late_signal = INJECT_SIGNAL;
		return 1;
	}
	if (WSTOPSIG(status) != SIGSTOP)
		return -EFAULT;
	*signal = SIGSTOP;
	return 1;
}

/*
 * Whether the thread holds a lock of the loader. A mutex of glibc begins with three numbers: its lock
 * state, its count and its owner.
 */
static bool holds_loader(const struct inject_thread *thread)
{
	static int32_t words[LOADER_BYTES / sizeof(int32_t)];

	for (size_t i = 0; i < thread->target->loader.count; i++) {
		const struct inject_range *range = &thread->target->loader.all[i];
		size_t size = range->to - range->from;

		if (size > sizeof(words) || !process_memory__read(thread->tid, range->from, words, size))
			return true;
		for (size_t k = 2; k < size / sizeof(words[0]); k++)
			if (words[k] == thread->inner && words[k - 1] > 0 && words[k - 2])
				return true;
	}
	return false;
}

/* Decides about a long call, while its thread is stopped. 1: it goes on; or a negative errno. */
static int judge_long(struct inject_thread *thread, uint64_t took_ns)
{
	uint64_t lock = inject_arch__waits_for(thread->tid);

	if (lock && inject_ranges__have(&thread->target->loader, lock) && !holds_loader(thread)) {
		thread->lock = lock;
		return -ETIMEDOUT;
	}
	if (took_ns < WORK_NS || now_ns() < thread->until_ns)
		return 1;
	thread->changed = false;
	return -EINPROGRESS;
}

static int follow(struct inject_thread *thread)
{
	uint64_t began_ns = now_ns(), until_ns = began_ns + CALL_NS;
	int signal = 0, status, next;
	bool stopped = true;

	do {
		uint64_t took_ns;

		if (stopped && ptrace(PTRACE_CONT, thread->tid, NULL, (void *)(intptr_t)signal) != 0)
			return -errno;
		next = await(thread->tid, until_ns, &status);
		took_ns = now_ns() - began_ns;
		stopped = next != -ETIMEDOUT;
		if (!next)
			next = judge_stop(thread, status, &signal);
		if (next == 1 && took_ns >= CALL_NS && status >> 16 == PTRACE_EVENT_STOP) {
			next = judge_long(thread, took_ns);
			until_ns = now_ns() + LOOK_NS;
		} else if (!stopped && (took_ns < WORK_NS + STOP_NS || now_ns() < thread->until_ns)) {
			next = ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) == 0 ? 1 : -errno;
			until_ns = now_ns() + STOP_NS;
		} else if (!stopped) {
			/*
			 * The thread is in the kernel and cannot be stopped. The kernel releases it when
			 * the tracer ends.
			 */
			thread->changed = false;
			next = -EINPROGRESS;
		}
	} while (next > 0);
	return next;
}

int inject_thread__call(struct inject_thread *thread, uint64_t function, const char *text,
			const uint64_t arguments[2], uint64_t *result)
{
	const struct inject_call call = {
		.function = function,
		.arguments = {arguments[0], arguments[1]},
		.text = text,
		.group = thread->target->inner_pid,
		.thread = thread->inner,
		.scratch = thread->target->scratch,
	};
	uint64_t at;
	int error;

	thread->changed = true;
	error = inject_arch__enter(thread->tid, &thread->saved, &call, &at);
	if (!error)
		error = follow(thread);
	if (!error && !process_memory__read(thread->tid, at, result, sizeof(*result)))
		error = -EFAULT;
	return error;
}
